/* SPDX-License-Identifier: Apache-2.0 */
/* A track's slices in the order of time: its rows, merged.
 *
 *   row 0   a-------------- d----          a b c d
 *   row 1     b--- c---
 *
 * Of those that start together the outermost comes first, so a parent stands before its children.
 * Each row is read a window at a time; all windows together take a fixed share of memory.
 */
#ifndef JVIEWD_EXPORT_ROW_MERGE_H
#define JVIEWD_EXPORT_ROW_MERGE_H

#include "export/export.h"

struct merged_slice {
    slice_id id;
    name_id name;
    int64_t start_ps, dur_ps;
    event_id event;
    uint8_t flags;
};

struct row_merge;
/* `scratch` is used as long as the merge is. Slices outside of the run's window are left out. */
struct row_merge *row_merge_open(const struct export_run *run, const struct export_host *host,
                                 const struct track *track, struct chunk *scratch);
/* NULL behind the last; valid until the next call. */
const struct merged_slice *row_merge_next(struct row_merge *merge);
void row_merge_close(struct row_merge *merge);

#endif
