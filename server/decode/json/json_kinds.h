/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that is no trace, told by what its outermost object or array holds. */
#ifndef JVIEWD_DECODE_JSON_JSON_KINDS_H
#define JVIEWD_DECODE_JSON_JSON_KINDS_H

#include "base/bytes.h"

/* What it is and what to do instead; of JSON that is not known, what a trace would be. */
const char *json_kind_reason(struct str head);
/* Did another tool record it? Results that were computed from a profile are none. Where its keys
 * are such as anybody's JSON has, the file's name has to say so too. */
bool json_kind_is_profile(struct str head, struct str name);

#endif
