/* SPDX-License-Identifier: Apache-2.0 */
/* Each text once.
 *
 * Ids are dense, start at 0 and never change; 0 is "". The table owns its texts, and they never
 * move: a span is good as long as the table. Texts are bytes:
 * a name with a NUL or broken UTF-8 inside is kept as it is.
 */
#ifndef JVIEWD_BASE_NAMES_H
#define JVIEWD_BASE_NAMES_H

#include "base/bytes.h"

typedef uint32_t name_id;

enum { NAME_COUNT_MAX = 1 << 28 }; /* four bits of a cell's name column hold the kind */

struct names;

struct names *names_create(void);
void names_destroy(struct names *names);
name_id names_add(struct names *names, struct str text);
/* Finds without adding; false when the text is not there. */
bool names_find(const struct names *names, struct str text, name_id *ret);
struct str names_get(const struct names *names, name_id id);
uint32_t names_count(const struct names *names);
uint64_t names_bytes(const struct names *names); /* of all texts */

#endif
