/* SPDX-License-Identifier: Apache-2.0 */
/* Turns what a question asks into windows, tracks and devices of each host. */
#include "analyse/steps/restrict.h"

#include <stdlib.h>

#include "analyse/scan/module_names.h"
#include "analyse/steps/steps.h"

static bool host_asked(const struct restriction *restriction, const struct host_trace *host)
{
    for (uint32_t i = 0; i < restriction->host_count; i++) {
        if (str_equal(restriction->hosts[i], host->name) ||
            str_equal(restriction->hosts[i], host->key))
            return true;
    }
    return restriction->host_count == 0;
}

/* Asked for itself, or below one that is. */
static bool track_asked(const struct restriction *restriction, const struct trace *trace,
                        uint32_t host, track_id track)
{
    if (restriction->track_count == 0)
        return true;
    for (track_id at = track; at != NO_TRACK; at = trace->tracks[at].parent) {
        for (uint32_t i = 0; i < restriction->track_count; i++) {
            if (restriction->tracks[i].host == host && restriction->tracks[i].track == at)
                return true;
        }
    }
    return false;
}

static bool has_device_tracks(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].device >= 0)
            return true;
    }
    return false;
}

static void select_tracks(struct selection *selection, struct arena *arena)
{
    const struct trace *trace = selection->host->trace;
    const struct restriction *asked = selection->asked;
    bool *tracks = arena_array(arena, bool, trace->track_count);
    bool by_track_device = asked->device_count > 0 && has_device_tracks(trace);

    selection->all_tracks = true;
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->derived || track->kind == TRACK_COUNTER)
            continue;
        tracks[id] = track_asked(asked, trace, selection->index, id) &&
                     (!by_track_device || restriction_has_device(asked, track->device));
        selection->all_tracks &= tracks[id];
    }
    selection->tracks = tracks;
    selection->ops_only = asked->module.count > 0 || asked->scope.count > 0 ||
                          (asked->device_count > 0 && !by_track_device);
    selection->by_name = asked->name.count > 0 || asked->q.count > 0;
}

static int64_t to_file_time(int64_t run_ps, int64_t offset_ps)
{
    int64_t file_ps;

    if (__builtin_sub_overflow(run_ps, offset_ps, &file_ps))
        return run_ps < 0 ? INT64_MIN : INT64_MAX;
    return file_ps;
}

static struct window window_of(const struct host_trace *host, int64_t start_ps, int64_t dur_ps,
                               struct window within)
{
    struct window window = {
        .from_ps = to_file_time(start_ps, host->offset_ps),
        .to_ps = to_file_time(start_ps + dur_ps, host->offset_ps),
    };

    window.from_ps = window.from_ps < within.from_ps ? within.from_ps : window.from_ps;
    window.to_ps = window.to_ps > within.to_ps ? within.to_ps : window.to_ps;
    return window;
}

static struct window asked_window(const struct selection *selection)
{
    const struct restriction *asked = selection->asked;
    int64_t offset_ps = selection->host->offset_ps;

    if (!asked->has_window)
        return (struct window){INT64_MIN, INT64_MAX};
    return (struct window){to_file_time(asked->start_ps, offset_ps),
                           to_file_time(asked->end_ps, offset_ps)};
}

/* Lanes of a thread are the thread. */
static bool is_on(const struct trace *trace, const bool *on, track_id track)
{
    while (!on[track] && trace->tracks[track].parent != NO_TRACK &&
           trace->tracks[trace->tracks[track].parent].kind == TRACK_THREAD)
        track = trace->tracks[track].parent;
    return on[track];
}

/* The work of steps, wherever it lies; on the threads on which the program marks them, what lies
 * in the marks. */
static void select_work(struct selection *selection, const struct steps *steps, struct arena *arena)
{
    const struct trace *trace = selection->host->trace;
    struct window *spans = arena_array(arena, struct window, (size_t)steps->count + 1);
    bool *marked = arena_array(arena, bool, (size_t)trace->track_count + 1);
    bool *on = arena_array(arena, bool, (size_t)trace->track_count + 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        struct window span =
            window_of(selection->host, step->host_start_ps, step->host_dur_ps, selection->within);

        if (step->host != selection->index || step->host_dur_ps < 0 || step->slice == NO_SLICE)
            continue;
        marked[trace->rows[trace_row_of(trace, step->slice)].track] = true;
        if (span.from_ps < span.to_ps)
            spans[count++] = span;
    }
    for (track_id id = 0; id < trace->track_count; id++)
        on[id] = is_on(trace, marked, id);
    count = windows_join(spans, count);
    selection_by_work(selection, on, (struct row_windows){spans, count}, arena);
}

static void select_windows(struct selection *selection, const struct steps *steps,
                           struct arena *arena)
{
    const struct host_trace *host = selection->host;
    const struct restriction *asked = selection->asked;
    struct window all = asked_window(selection);
    struct window *windows = arena_array(arena, struct window, (size_t)steps->count + 1);
    uint32_t count = 0;

    if (asked->step_range_count == 0)
        windows[count++] = all;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        struct window window = window_of(host, step->start_ps, step->dur_ps, all);

        if (step->host == selection->index && window.from_ps < window.to_ps)
            windows[count++] = window;
    }
    selection->window_count = windows_join(windows, count);
    selection->windows = windows;
    selection->within = all;
    if (asked->step_range_count > 0 && steps->owners != NULL)
        selection->owners = steps->owners[selection->index];
    if (selection->owners != NULL)
        select_work(selection, steps, arena);
    /* An end at the hull's end still leaves out the instants there, so it must lie behind. */
    selection->cut_in_time = selection->owners != NULL || selection->window_count != 1 ||
                             windows[0].from_ps > host->trace->start_ps ||
                             windows[0].to_ps <= host->trace->end_ps;
}

static enum status find_module(const struct run_traces *run, const struct restriction *restriction,
                               struct arena *arena, struct error *err)
{
    const struct host_trace **hosts =
        arena_array(arena, const struct host_trace *, (size_t)run->host_count + 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < run->host_count; i++) {
        if (host_asked(restriction, &run->hosts[i]))
            hosts[count++] = &run->hosts[i];
    }
    return module_find(hosts, count, restriction->module, err);
}

enum status restrict_run(const struct run_traces *run, const struct restriction *restriction,
                         struct arena *arena, struct selection **ret, uint32_t *ret_count,
                         struct error *err)
{
    struct steps steps = {0};
    struct selection *selections = arena_array(arena, struct selection, run->host_count);
    uint32_t count = 0;

    if (restriction->has_window && restriction->start_ps > restriction->end_ps)
        return fail(err, ERR_INVALID, "the window ends before it starts");
    if (restriction->module.count > 0)
        TRY(find_module(run, restriction, arena, err));
    if (restriction->step_range_count > 0) {
        TRY(steps_find(run, restriction, arena, &steps, err));
        if (steps.count == 0)
            return fail(err, ERR_NOT_FOUND, "no step has that number (%.*s)",
                        STR_ARG(steps.rule_text));
    }
    for (uint32_t i = 0; i < run->host_count; i++) {
        struct selection *selection = &selections[count];

        if (!host_asked(restriction, &run->hosts[i]))
            continue;
        *selection = (struct selection){.host = &run->hosts[i], .index = i, .asked = restriction};
        select_tracks(selection, arena);
        select_windows(selection, &steps, arena);
        if (selection->window_count > 0)
            count++;
    }
    *ret = selections;
    *ret_count = count;
    return OK;
}
