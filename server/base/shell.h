/* SPDX-License-Identifier: Apache-2.0 */
/* Lines that a user copies into a shell: how a name stands in them.
 *
 *   it's p          'it'\''s p'
 *   -rf             './-rf'          no option
 *   a<newline>b     $'a\012b'        also bytes that are no UTF-8, and `: the line can be shown
 */
#ifndef JVIEWD_BASE_SHELL_H
#define JVIEWD_BASE_SHELL_H

#include "base/bytes.h"

struct str shell_quoted(struct arena *arena, struct str name);
/* Without quotes where it needs none. */
struct str shell_word(struct arena *arena, struct str name);
/* Any text as one argument: quoted, and a leading - stays, for it is no file. */
struct str shell_argument(struct arena *arena, struct str text);

#endif
