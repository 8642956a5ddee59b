/* SPDX-License-Identifier: Apache-2.0 */
/* By how much is one list of measurements above another? Hodges and Lehmann's answer, and how sure.
 *
 *   b - a of every pair, sorted   |  | || ||||x|||| || |   |    x: the middle one
 *                                      low         high         as many pairs below `low` as chance
 *                                                               brings with Mann and Whitney's U
 *
 * Nothing is assumed of how the values are spread, and a stray one weighs no more than any other.
 * The bounds are those of the rank test itself (Moses): `low` is above an amount exactly where the
 * test is sure that the difference is larger. Of ten and ten values with normal noise the bounds
 * are as narrow as Student's to within a tenth, where those of the medians are a quarter wider.
 */
#ifndef JVIEWD_ANALYSE_STATS_RANK_SHIFT_H
#define JVIEWD_ANALYSE_STATS_RANK_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

struct rank_shift { /* from a to b */
    int64_t middle;
    bool bounded;      /* false: too few values for that confidence; the bounds are the middle */
    int64_t low, high; /* the shift is above `low`, and below `high`, with `confidence` each */
};

/* `widening`: what the variance is more than that of independent values; 1 of those. Lists may be
 * in any order; differences beyond 64 bits are as large as can be said. */
struct rank_shift rank_shift_of(const int64_t *a, uint32_t a_count, const int64_t *b,
                                uint32_t b_count, double confidence, double widening);

/* How much more the mean of lists varies than of independent values, where what follows each other
 * is alike: (1 + r) / (1 - r) of the correlation r of neighbours in both lists, in their order of
 * time. 1 where that correlation may be chance, as in one of twelve pairs of lists without any. */
double rank_shift_widening(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count);

/* What a standard normal value is above with that probability. */
double normal_above(double probability);

#endif
