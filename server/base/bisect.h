/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a place in what is in order.
 *
 *   at     0 1 2 3 4 5
 *   value  1 3 3 3 7 9
 *   BISECT(0, 6, i, value[i] < 3)    1, the first 3             (lower bound)
 *   BISECT(0, 6, i, value[i] <= 3)   4, the first behind them   (upper bound)
 *   BISECT(0, 6, i, value[i] < 10)   6, the end: none is there
 *
 * BISECT(first, end, i, is_before) is the first index of [first, end) of which `is_before`, an
 * expression of the index `i`, is false; `end` where it is true of all, `first` where the range is
 * empty. All of which it is true stand before all of which it is false. Both bounds are evaluated
 * once; the type is that of their sum.
 */
#ifndef JVIEWD_BASE_BISECT_H
#define JVIEWD_BASE_BISECT_H

#define BISECT(first, end, i, is_before)                                                           \
    __extension__({                                                                                \
        __typeof__((first) + (end)) low_ = (first), high_ = (end);                                 \
                                                                                                   \
        while (low_ < high_) {                                                                     \
            const __typeof__((first) + (end)) i = low_ + (high_ - low_) / 2;                       \
                                                                                                   \
            if (is_before)                                                                         \
                low_ = i + 1;                                                                      \
            else                                                                                   \
                high_ = i;                                                                         \
        }                                                                                          \
        low_;                                                                                      \
    })

#endif
