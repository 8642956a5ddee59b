/* SPDX-License-Identifier: Apache-2.0 */
/* Tests windows, slices, names, devices and scopes against what a selection lets through. */
#include "analyse/scan/selection.h"

#include <stdlib.h>

#include "analyse/scan/module_names.h"
#include "base/bisect.h"

static int by_from(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    return (a->from_ps > b->from_ps) - (a->from_ps < b->from_ps);
}

uint32_t windows_join(struct window *windows, uint32_t count)
{
    uint32_t kept = 0;

    if (count > 1)
        qsort(windows, count, sizeof(*windows), by_from);
    for (uint32_t i = 0; i < count; i++) {
        if (kept > 0 && windows[i].from_ps <= windows[kept - 1].to_ps) {
            if (windows[i].to_ps > windows[kept - 1].to_ps)
                windows[kept - 1].to_ps = windows[i].to_ps;
        } else {
            windows[kept++] = windows[i];
        }
    }
    return kept;
}

bool restriction_has_device(const struct restriction *restriction, int32_t device)
{
    for (uint32_t i = 0; i < restriction->device_count; i++) {
        if (restriction->devices[i] == device)
            return true;
    }
    return restriction->device_count == 0;
}

uint32_t window_from(struct row_windows windows, int64_t at_ps)
{
    return BISECT(0, windows.count, i, windows.items[i].to_ps <= at_ps);
}

/* Is it the window that window_from tells? */
static bool is_window_from(struct row_windows windows, uint32_t at, int64_t at_ps)
{
    return at < windows.count && windows.items[at].to_ps > at_ps &&
           (at == 0 || windows.items[at - 1].to_ps <= at_ps);
}

static struct row_windows windows_of_time(const struct selection *selection)
{
    return (struct row_windows){selection->windows, selection->window_count};
}

static int64_t inside_near(struct row_windows windows, uint32_t *near, int64_t start_ps,
                           int64_t dur_ps)
{
    int64_t inside_ps = -1, end_ps = start_ps + dur_ps;

    if (!is_window_from(windows, *near, start_ps) && !is_window_from(windows, ++*near, start_ps))
        *near = window_from(windows, start_ps);
    for (uint32_t i = *near; i < windows.count; i++) {
        const struct window *window = &windows.items[i];

        if (end_ps < window->from_ps || (end_ps == window->from_ps && dur_ps > 0))
            break;

        int64_t from_ps = start_ps > window->from_ps ? start_ps : window->from_ps;
        int64_t to_ps = end_ps < window->to_ps ? end_ps : window->to_ps;

        inside_ps = (inside_ps < 0 ? 0 : inside_ps) + (to_ps - from_ps);
    }
    return inside_ps;
}

int64_t selection_inside_near(const struct selection *selection, uint32_t *near, int64_t start_ps,
                              int64_t dur_ps)
{
    return inside_near(windows_of_time(selection), near, start_ps, dur_ps);
}

int64_t selection_inside_entry(const struct selection *selection, int64_t start_ps, int64_t dur_ps,
                               uint32_t index)
{
    int64_t from_ps = start_ps, to_ps = from_ps + dur_ps;

    if (selection->owners == NULL)
        return selection->cut_in_time ? selection_inside(selection, from_ps, dur_ps) : dur_ps;
    if (selection->owners[index] == NO_OWNER)
        return -1;
    from_ps = from_ps > selection->within.from_ps ? from_ps : selection->within.from_ps;
    to_ps = to_ps < selection->within.to_ps ? to_ps : selection->within.to_ps;
    if (dur_ps == 0)
        return from_ps == to_ps ? 0 : -1;
    return from_ps < to_ps ? to_ps - from_ps : -1;
}

struct row_windows selection_windows_of(const struct selection *selection, row_id row)
{
    return selection->of_rows != NULL ? selection->of_rows[row] : windows_of_time(selection);
}

struct row_windows selection_windows_of_track(const struct selection *selection, track_id track)
{
    const struct track *of = &selection->host->trace->tracks[track];

    return of->row_count > 0 ? selection_windows_of(selection, of->first_row)
                             : windows_of_time(selection);
}

int64_t selection_inside(const struct selection *selection, int64_t start_ps, int64_t dur_ps)
{
    uint32_t near = 0;

    return selection_inside_near(selection, &near, start_ps, dur_ps);
}

int64_t windows_inside(struct row_windows windows, int64_t start_ps, int64_t dur_ps)
{
    uint32_t near = 0;

    return inside_near(windows, &near, start_ps, dur_ps);
}

int64_t selection_inside_row(const struct selection *selection, row_id row, int64_t start_ps,
                             int64_t dur_ps)
{
    return windows_inside(selection_windows_of(selection, row), start_ps, dur_ps);
}

bool selection_is_whole(const struct selection *selection)
{
    return !selection->cut_in_time && selection->all_tracks && !selection->ops_only &&
           !selection->by_name && selection->asked->device_count == 0;
}

static bool begins_inside(struct row_windows windows, int64_t at_ps)
{
    uint32_t at = window_from(windows, at_ps);

    return at < windows.count && windows.items[at].from_ps <= at_ps;
}

bool selection_begins_inside(const struct selection *selection, int64_t at_ps)
{
    return !selection->cut_in_time || begins_inside(windows_of_time(selection), at_ps);
}

bool selection_begins_inside_row(const struct selection *selection, row_id row, int64_t at_ps)
{
    return !selection->cut_in_time || begins_inside(selection_windows_of(selection, row), at_ps);
}

bool selection_has_name(const struct selection *selection, struct str name)
{
    const struct restriction *asked = selection->asked;

    return (asked->name.count == 0 || str_equal(asked->name, name)) &&
           (asked->q.count == 0 || str_contains_fold(name, asked->q));
}

bool selection_has_device(const struct selection *selection, int32_t device)
{
    return restriction_has_device(selection->asked, device);
}

/* A prefix of whole path elements: "jit(f)/layer_1" is not in front of "jit(f)/layer_10". */
static bool scope_asked(struct str scope, struct str prefix)
{
    if (str_ends(prefix, STR("/")))
        prefix.count--;
    return str_starts(scope, prefix) &&
           (scope.count == prefix.count || scope.at[prefix.count] == '/');
}

bool selection_has_op(const struct selection *selection, const struct op *op)
{
    const struct restriction *asked = selection->asked;
    const struct trace *trace = selection->host->trace;

    return (asked->module.count == 0 || module_is(trace, op, asked->module)) &&
           (asked->scope.count == 0 || scope_asked(trace_name(trace, op->scope), asked->scope)) &&
           (selection_has_name(selection, trace_name(trace, op->name)) ||
            (op->caller != 0 && selection_has_name(selection, trace_name(trace, op->caller))));
}
