/* SPDX-License-Identifier: Apache-2.0 */
/* Whose record it is that says what a host did, and who else recorded.
 *
 *   the step's    step ..............................      nothing in it: the breakdown says so,
 *   another          all_reduce ......  all_reduce ...     which does not mean that nothing ran
 */
#include "analyse/findings/overview.h"

static bool row_has_work(const struct trace *trace, const struct row *row, struct window window)
{
    for (uint32_t at = row_find(trace, row, window.from_ps); at < row->count; at++) {
        struct slice slice = trace_slice_times(trace, row, at, COLUMN_START | COLUMN_DUR);

        if (slice.start_ps >= window.to_ps)
            return false;
        if (slice.dur_ps > 0)
            return true;
    }
    return false;
}

static bool track_has_work(const struct trace *trace, const struct track *track,
                           struct window window)
{
    if (track->start_ps >= window.to_ps || track->end_ps <= window.from_ps)
        return false;
    for (uint32_t i = 0; i < track->row_count; i++) {
        if (row_has_work(trace, &trace->rows[track->first_row + i], window))
            return true;
    }
    return false;
}

/* From the first that counts to the last, in the file's time. */
static struct window hull_of(const struct counted *counted, uint32_t host, int64_t offset_ps)
{
    const struct window *windows = counted->windows[host];

    return (struct window){windows[0].from_ps - offset_ps,
                           windows[counted->window_counts[host] - 1].to_ps - offset_ps};
}

void overview_threads(const struct run_traces *run, const struct steps *steps,
                      const struct counted *counted, struct arena *arena, struct overview *ret)
{
    uint32_t host_count = 0;

    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct host_trace *item = &run->hosts[host];
        const struct trace *trace = item->trace;
        track_id told;

        if (counted->window_counts[host] == 0)
            continue;
        struct window hull = hull_of(counted, host, item->offset_ps);
        struct host_devices devices = host_devices_of(item, arena);

        if (devices.count == 0) /* all of its threads tell */
            continue;
        told = counted->of_steps ? steps_question(item, host, steps, &devices, arena)->thread
                                 : breakdown_thread(trace);
        if (told == NO_TRACK)
            continue;
        ret->thread = host_count++ == 0
                          ? trace_name(trace, trace->tracks[host_thread_of(trace, told)].name)
                          : STR("");
        for (track_id id = 0; id < trace->track_count; id++)
            ret->other_threads += host_thread_of(trace, id) != host_thread_of(trace, told) &&
                                  tells_of_host(trace, id) &&
                                  track_has_work(trace, &trace->tracks[id], hull);
    }
}
