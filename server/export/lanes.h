/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of one track that only nest, lane by lane.
 *
 *   row 0   [ a                ]                 lane 0   a with its children
 *   row 1     [ b ]    [ c partial    ]          lane 1   c with its children
 *   row 2               [ d ]
 *
 * A slice that overlaps another without lying inside it begins a lane, named by its row; what lies
 * inside it follows. On asynchronous tracks every row is a lane.
 */
#ifndef JVIEWD_EXPORT_LANES_H
#define JVIEWD_EXPORT_LANES_H

#include "trace/trace.h"

struct lanes { /* of one track */
    const struct trace *trace;
    const struct track *track;
    slice_id first;
    uint16_t *by_slice; /* NULL: all in lane 0, or by row */
};

void lanes_open(struct lanes *lanes, const struct trace *trace, const struct track *track,
                struct chunk *scratch);
void lanes_close(struct lanes *lanes);
uint32_t lane_of(const struct lanes *lanes, slice_id slice, uint32_t depth);

#endif
