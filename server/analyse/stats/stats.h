/* SPDX-License-Identifier: Apache-2.0 */
/* Are two lists of measurements different, and by how much? For steps of two runs.
 *
 *   a  |   | |||  |            the difference of the medians, between which bounds it lies 95 times
 *   b          |  ||| | |      of 100 (bootstrap), and how likely such lists come from one
 *                              distribution (Mann-Whitney)
 *
 * Nothing is assumed of how the values are spread. The same lists always get the same answer: the
 * bootstrap draws from a seed of its own.
 */
#ifndef JVIEWD_ANALYSE_STATS_STATS_H
#define JVIEWD_ANALYSE_STATS_STATS_H

#include <stdbool.h>
#include <stdint.h>

struct shift { /* from a to b */
    int64_t a_median, b_median;
    int64_t delta;     /* of the medians */
    int64_t low, high; /* of the delta; equal to it where either list has one value */
    double p;          /* two-sided; 1 where either list is empty */
};

enum { SHIFT_DRAWS = 2000 };

/* The interval holds the difference with probability `confidence` (0.95). Lists may be in any
 * order. */
struct shift shift_of(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count,
                      double confidence);
/* The middle one, or between both, rounded down; 0 of none. Moves the values about. */
int64_t median_of(int64_t *values, uint32_t count);
/* Mann-Whitney's U test, two-sided: exact for small lists without ties, else by the normal
 * approximation, corrected for ties and continuity. */
double mann_whitney(const int64_t *a, uint32_t a_count, const int64_t *b, uint32_t b_count);
/* The number of values of U, from 0 on, that chance brings with probability `p` at most: exact, for
 * products of the counts up to some thousands. */
uint32_t mann_whitney_rank(uint32_t a_count, uint32_t b_count, double p);

#endif
