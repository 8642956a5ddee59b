/* SPDX-License-Identifier: Apache-2.0 */
/* Every text once: names, domains, messages, as ids from 1 on.
 *
 *   slots      hash -> entry        open addressing, filled by compare-and-swap, never emptied
 *   entries    id - 1 -> entry      in the order in which the writer puts them out
 *   arena      entries and their bytes, taken by one addition
 *
 * Any thread may ask at any time, none ever waits for another. Two that bring one new text at once
 * may leave it behind twice, under two ids of which one is used. Its places are reserved once and
 * touched as they fill: at most 64 MiB.
 */
#ifndef JVIEWD_INJECT_TEXTS_H
#define JVIEWD_INJECT_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

enum { TEXT_BYTES_MAX = 4096 }; /* a longer one is cut, at a character */

bool texts_open(void);
void texts_forget(
    void); /* in a forked child, where the table may be half written for ever: no ids */
/* 0 where the table is full: counted. */
uint32_t text_id(const char *text, size_t count);
uint32_t text_id_wide(const wchar_t *text);
uint64_t texts_refused(void);
uint32_t text_count(void);
/* The text of an id; false of 0, of one that nobody has, and while its last instructions are not
 * done. */
bool text_at(uint32_t id, const char **ret, size_t *ret_count);

#endif
