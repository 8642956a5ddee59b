/* SPDX-License-Identifier: Apache-2.0 */
/* Where a series of measurements jumped: change points.
 *
 *   12.1 12.3 12.0 | 14.0 14.2 13.9 14.1 | 12.2 12.1 12.4
 *        level          after the jump         and back
 *
 * Optimal partitioning (Jackson and others 2005; what PELT prunes) of the values' ranks: the
 * segments whose ranks differ least, in squares, from their segment's mean, each segment more
 * costing 3 ln n of the ranks' variance. Ranks, so that one stray run is no jump and spreads are
 * alike; then each split is moved to where the values themselves part. What may be drift is joined
 * again, the two levels that differ least first: Student's t of their means, of which stray values
 * are pulled near, with an error wider by the root of (1 + r) / (1 - r), as runs that follow each
 * other are alike. r is measured about all levels, and taken a deviation larger than measured. A
 * segment has three values at least; a lasting jump needs about ln n of them.
 */
#ifndef JVIEWD_ANALYSE_STATS_CHANGES_H
#define JVIEWD_ANALYSE_STATS_CHANGES_H

#include "base/bytes.h"

struct level { /* of a segment: [first, end) */
    uint32_t first, end;
    int64_t median;
    int64_t low, high; /* of the noise: two standard deviations, from the median deviation */
};

enum { CHANGES_VALUES_MAX = 10000 };

/* At least one segment of any value, none of none; at most CHANGES_VALUES_MAX values. */
uint32_t changes_find(const int64_t *values, uint32_t count, struct arena *arena,
                      struct level **ret);

#endif
