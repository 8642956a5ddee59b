/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts what mostly is in order: stretches that ascend are found and merged, pair by pair.
 *
 *   1 4 9 | 2 3 8 | 5       stretches, as they come from rows of a trace
 *   1 2 3 4 8 9 | 5         each pass halves their number
 *   1 2 3 4 5 8 9           stable; k stretches cost log k passes, none where all is in order
 *
 *   static bool earlier(const struct end *a, const struct end *b) { return a->at_ps < b->at_ps; }
 *   ORDER_DEFINE(order_ends, struct end, earlier)  makes  order_ends(struct end *at, size_t count)
 */
#ifndef JVIEWD_ANALYSE_STATS_ORDER_H
#define JVIEWD_ANALYSE_STATS_ORDER_H

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define ORDER_DEFINE(name, type, before)                                                           \
    static size_t *name##_stretches_(const type *at, size_t count, size_t *ret_count)              \
    {                                                                                              \
        size_t *ends = NULL, end_count = 0, capacity = 0;                                          \
                                                                                                   \
        for (size_t i = 1; i <= count; i++) {                                                      \
            if (i < count && !before(&at[i], &at[i - 1]))                                          \
                continue;                                                                          \
            if (end_count == capacity) {                                                           \
                capacity = capacity == 0 ? 64 : 2 * capacity;                                      \
                ends = (size_t *)memory_resize(ends, capacity, sizeof(*ends));                     \
            }                                                                                      \
            ends[end_count++] = i;                                                                 \
        }                                                                                          \
        *ret_count = end_count;                                                                    \
        return ends;                                                                               \
    }                                                                                              \
                                                                                                   \
    static void name##_merge_(const type *left, const type *middle, const type *end, type *to)     \
    {                                                                                              \
        const type *right = middle;                                                                \
                                                                                                   \
        while (left < middle && right < end)                                                       \
            *to++ = before(right, left) ? *right++ : *left++;                                      \
        for (; left < middle; left++)                                                              \
            *to++ = *left;                                                                         \
        for (; right < end; right++)                                                               \
            *to++ = *right;                                                                        \
    }                                                                                              \
                                                                                                   \
    static void name(type *at, size_t count)                                                       \
    {                                                                                              \
        size_t end_count, *ends = name##_stretches_(at, count, &end_count);                        \
        type *from = at, *to = NULL, *spare = NULL;                                                \
                                                                                                   \
        if (end_count > 1)                                                                         \
            to = spare = (type *)memory_resize(NULL, count, sizeof(*at));                          \
        while (end_count > 1) {                                                                    \
            size_t merged = 0, first = 0;                                                          \
                                                                                                   \
            for (size_t i = 0; i < end_count; i += 2) {                                            \
                size_t middle = ends[i], end = i + 1 < end_count ? ends[i + 1] : middle;           \
                                                                                                   \
                name##_merge_(from + first, from + middle, from + end, to + first);                \
                ends[merged++] = first = end;                                                      \
            }                                                                                      \
            end_count = merged;                                                                    \
                                                                                                   \
            type *swap = from;                                                                     \
                                                                                                   \
            from = to;                                                                             \
            to = swap;                                                                             \
        }                                                                                          \
        if (from != at)                                                                            \
            memcpy(at, from, count * sizeof(*at));                                                 \
        free(spare);                                                                               \
        free(ends);                                                                                \
    }

#endif
