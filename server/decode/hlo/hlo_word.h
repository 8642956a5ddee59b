/* SPDX-License-Identifier: Apache-2.0 */
/* Words of HLO's text: names, quotes, brackets. All of it borrows from the text that is given. */
#ifndef JVIEWD_DECODE_HLO_HLO_WORD_H
#define JVIEWD_DECODE_HLO_HLO_WORD_H

#include "base/bytes.h"

enum { HLO_DEPTH_MAX = 32 }; /* brackets within brackets that a reader follows */

/* Text without blanks around it; a name without its %; "x" without quotes; {x} without brackets. */
struct str hlo_trimmed(struct str text);
struct str hlo_bare_name(struct str name);
struct str hlo_unquoted(struct str text);
struct str hlo_inside(struct str text);
/* How far to the first of `stops` outside of brackets and quotes; the whole text without one. */
size_t hlo_span_to(struct str text, const char *stops);
/* Takes the text up to one of `stops`, and the stop. */
struct str hlo_take_to(struct str *text, const char *stops);

#endif
