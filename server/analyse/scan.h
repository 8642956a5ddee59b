/* Walks over what a selection lets through, each slice with the part of it that lies inside.
 *
 *          window |---------------|
 *   a  |--------------|                  cut: inside is what the window holds, self is that less
 *   b     |---|                          what its children hold there; so both add up over a
 *   c            |--|                    partition of time, to the picosecond
 */
#ifndef JVIEWD_ANALYSE_SCAN_H
#define JVIEWD_ANALYSE_SCAN_H

#include "analyse/restrict.h"

struct scanned {
    slice_id slice;
    track_id track;
    name_id name;
    enum kind kind;
    int64_t dur_ps;             /* whole */
    int64_t inside_ps, self_ps; /* inside the windows */
};
typedef void scan_slice(void *data, const struct scanned *slice);

/* Slices [first, end) of a chunk, all of them wholly inside: start, dur, self, name and kind are
 * unpacked. */
typedef void scan_span(void *data, track_id track, const struct chunk *chunk, uint32_t first,
                       uint32_t end);

/* Recorded slices, row by row. `span` takes those that nothing cuts and no name or op selects, many
 * at once; NULL: `visit` takes them too. */
void scan_slices(const struct selection *selection, scan_slice *visit, scan_span *span, void *data);

struct scanned_op {
    const struct attributed *entry;
    int64_t inside_ps, self_ps;
};
typedef void scan_op(void *data, const struct scanned_op *op);

/* Attributed ops, in no promised order. */
void scan_ops(const struct selection *selection, scan_op *visit, void *data);

/* Per entry who nests with whom: the track's id on devices, behind them one per ordinal. Freed by
 * the caller. */
uint32_t *entry_groups(const struct trace *trace, const struct attribution *attribution,
                       uint32_t *ret_group_count);
/* Does the track hold a device's own work? Its containers (steps, modules, scopes) do not, nor does
 * the line of asynchronous ops: what a device waits for of those stands among its ops. */
bool track_is_device_work(const struct track *track);

#endif
