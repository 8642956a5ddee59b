/* SPDX-License-Identifier: Apache-2.0 */
/* How long the program's threads recorded anything at all: what spans do not cover is the rest.
 *
 *   thread     |---- f ----|      |-- g --|
 *   its lane      |----- NVTX ------|               a thread's lanes are beside it
 *   recorded   |--------------------------|
 *
 * Threads of the runtime hold no spans, and what they do is told where it was launched.
 */
#include <stdlib.h>

#include "analyse/device/annotation_names.h"
#include "analyse/ops/annotations_parts.h"
#include "analyse/steps/host_line.h"
#include "trace/ps.h"

enum { THREAD_ROWS_MAX = 65536 }; /* each keeps a group of slices while it is walked: 52 MB */

static bool is_of_program(const struct trace *trace, track_id id)
{
    return tells_of_host(trace, id) &&
           !is_runtime_thread(trace_name(trace, trace->tracks[id].name));
}

static int64_t recorded_ps(const struct selection *selection, struct row_windows windows,
                           const track_id *tracks, uint32_t count)
{
    const struct window hull = {windows.items[0].from_ps, windows.items[windows.count - 1].to_ps};
    struct host_line *line = host_line_open_cover(selection->host->trace, tracks, count, hull);
    struct host_piece piece;
    int64_t ret_ps = 0;

    while (host_line_next(line, &piece)) {
        int64_t inside_ps = windows_inside(windows, piece.from_ps, piece.to_ps - piece.from_ps);

        ps_add(&ret_ps, inside_ps > 0 ? inside_ps : 0);
    }
    host_line_close(line);
    return ret_ps;
}

static bool may_be_walked(const struct trace *trace, const track_id *tracks, uint32_t count)
{
    uint64_t row_count = 0;

    for (uint32_t i = 0; i < count; i++)
        row_count += trace->tracks[tracks[i]].row_count;
    return row_count <= THREAD_ROWS_MAX;
}

bool marks_recorded(const struct marks *marks, const struct selection *selection, int64_t *ret_ps)
{
    const struct trace *trace = marks->trace;
    track_id *tracks = memory_resize(NULL, (size_t)trace->track_count + 1, sizeof *tracks);
    uint32_t *ends = memory_zeroed((size_t)trace->track_count + 2, sizeof *ends); /* by group */
    bool ret = true;

    *ret_ps = 0;
    for (track_id id = 0; id < trace->track_count; id++)
        ends[marks->groups[id] + 1] += is_of_program(trace, id);
    for (uint32_t group = 0; group < trace->track_count; group++)
        ends[group + 1] += ends[group];
    for (track_id id = 0; id < trace->track_count; id++) {
        if (is_of_program(trace, id)) /* begins become ends */
            tracks[ends[marks->groups[id]]++] = id;
    }
    for (uint32_t group = 0; ret && group < trace->track_count; group++) {
        uint32_t begin = group > 0 ? ends[group - 1] : 0, count = ends[group] - begin;

        struct row_windows windows = selection_windows_of_track(selection, group);

        if (count == 0 || windows.count == 0)
            continue;
        ret = may_be_walked(trace, tracks + begin, count);
        if (ret)
            ps_add(ret_ps, recorded_ps(selection, windows, tracks + begin, count));
    }
    free(ends);
    free(tracks);
    return ret;
}
