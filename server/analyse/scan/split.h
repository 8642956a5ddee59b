/* SPDX-License-Identifier: Apache-2.0 */
/* One piece of work on several processors at once.
 *
 * Parts share what they only read and write what is theirs; whoever split joins their results, in
 * the order of the parts, so that an answer does not depend on how many there were.
 */
#ifndef JVIEWD_ANALYSE_SCAN_SPLIT_H
#define JVIEWD_ANALYSE_SCAN_SPLIT_H

#include <stdint.h>

enum { SPLIT_PARTS_MAX = 4 };

typedef void split_part(void *data, uint32_t part);

/* Fewer are done before a thread has begun. Tests lower it, so that small walks are split too. */
extern uint64_t split_items_a_part;

/* How many parts are worth it for so many items: 1 ... SPLIT_PARTS_MAX. */
uint32_t split_count(uint64_t items);
/* Runs the parts 0 ... count - 1 side by side and waits for all of them. */
void split_run(uint32_t count, split_part *run, void *data);
/* Where a part's share of the items begins; that of part `count` is behind the last item. */
uint64_t split_begin(uint64_t items, uint32_t part, uint32_t count);

#endif
