/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges that one thread starts and any other ends, by id. */
#ifndef JVIEWD_INJECT_FREE_RANGES_H
#define JVIEWD_INJECT_FREE_RANGES_H

#include "inject/process/threads.h"

enum { FREE_RANGES_MAX = 1 << 16 };

/* 0 where too many are open. */
uint64_t free_range_start(const struct range *range);
/* False where none of that id is open. */
bool free_range_end(uint64_t id, struct range *ret);
/* For the writer: those open now, at most `max`. */
uint32_t free_ranges_open(struct range *ret, uint32_t max);

#endif
