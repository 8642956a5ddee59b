/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting in place, without memory, in n log n whatever the input.
 *
 *   static bool earlier(const struct end *a, const struct end *b) { return a->at_ps < b->at_ps; }
 *   SORT_DEFINE(sort_ends, struct end, earlier)   makes   sort_ends(struct end *at, size_t count)
 *
 * Not stable: who needs one outcome for equal input gives an order without ties that matter. qsort
 * copies the array first, which a table of a hundred megabytes in a mapped file cannot afford.
 */
#ifndef JVIEWD_BASE_SORT_H
#define JVIEWD_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>

enum { SORT_SMALL = 16 };

/* Quicksort around the median of three, insertion for the small, heaps where a range was split
 * badly too often. */
#define SORT_DEFINE(name, type, before)                                                            \
    static void name##_small_(type *at, size_t count)                                              \
    {                                                                                              \
        for (size_t i = 1; i < count; i++) {                                                       \
            type one = at[i];                                                                      \
            size_t to = i;                                                                         \
                                                                                                   \
            for (; to > 0 && before(&one, &at[to - 1]); to--)                                      \
                at[to] = at[to - 1];                                                               \
            at[to] = one;                                                                          \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void name##_sift_(type *at, size_t root, size_t count)                                  \
    {                                                                                              \
        type one = at[root];                                                                       \
                                                                                                   \
        for (size_t child; (child = 2 * root + 1) < count; root = child) {                         \
            if (child + 1 < count && before(&at[child], &at[child + 1]))                           \
                child++;                                                                           \
            if (!before(&one, &at[child]))                                                         \
                break;                                                                             \
            at[root] = at[child];                                                                  \
        }                                                                                          \
        at[root] = one;                                                                            \
    }                                                                                              \
                                                                                                   \
    static void name##_heap_(type *at, size_t count)                                               \
    {                                                                                              \
        for (size_t i = count / 2; i-- > 0;)                                                       \
            name##_sift_(at, i, count);                                                            \
        for (size_t i = count; i-- > 1;) {                                                         \
            type one = at[0];                                                                      \
                                                                                                   \
            at[0] = at[i];                                                                         \
            at[i] = one;                                                                           \
            name##_sift_(at, 0, i);                                                                \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static type name##_median_(const type *a, const type *b, const type *c)                        \
    {                                                                                              \
        if (before(a, b))                                                                          \
            return before(b, c) ? *b : before(a, c) ? *c : *a;                                     \
        return before(a, c) ? *a : before(b, c) ? *c : *b;                                         \
    }                                                                                              \
                                                                                                   \
    static void name##_split_(type *at, size_t count, unsigned depth_left)                         \
    {                                                                                              \
        while (count > SORT_SMALL) {                                                               \
            if (depth_left-- == 0) {                                                               \
                name##_heap_(at, count);                                                           \
                return;                                                                            \
            }                                                                                      \
                                                                                                   \
            type pivot = name##_median_(&at[0], &at[count / 2], &at[count - 1]);                   \
            size_t low = 0, high = count - 1;                                                      \
                                                                                                   \
            for (;; low++, high--) {                                                               \
                while (before(&at[low], &pivot))                                                   \
                    low++;                                                                         \
                while (before(&pivot, &at[high]))                                                  \
                    high--;                                                                        \
                if (low >= high)                                                                   \
                    break;                                                                         \
                                                                                                   \
                type one = at[low];                                                                \
                                                                                                   \
                at[low] = at[high];                                                                \
                at[high] = one;                                                                    \
            }                                                                                      \
            if (low < count - low) { /* the smaller part by recursion */                           \
                name##_split_(at, low, depth_left);                                                \
                at += low;                                                                         \
                count -= low;                                                                      \
            } else {                                                                               \
                name##_split_(at + low, count - low, depth_left);                                  \
                count = low;                                                                       \
            }                                                                                      \
        }                                                                                          \
        name##_small_(at, count);                                                                  \
    }                                                                                              \
                                                                                                   \
    static void name(type *at, size_t count)                                                       \
    {                                                                                              \
        unsigned depth_left = 4;                                                                   \
                                                                                                   \
        for (size_t left = count; left > 1; left /= 2)                                             \
            depth_left += 2;                                                                       \
        if (count > 1)                                                                             \
            name##_split_(at, count, depth_left);                                                  \
    }

#endif
