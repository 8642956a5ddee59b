/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of profiles on a terminal: names come from files, and may hold what moves a cursor,
 * renames a window or types. */
#ifndef JVIEWD_CLI_PLAIN_H
#define JVIEWD_CLI_PLAIN_H

#include "base/arena.h"
#include "base/bytes.h"

struct json_t; /* of Jansson */

/* An answer's JSON for people: signs of control in its texts are blanks. NULL: it is none. */
struct json_t *json_plain(struct bytes body);
/* A copy of a text, by the same rule. */
struct str str_plain(struct arena *arena, struct str text);

#endif
