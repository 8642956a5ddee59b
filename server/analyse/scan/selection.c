/* Tests windows, slices, names, devices and scopes against what a selection lets through. */
#include "analyse/scan/selection.h"

bool restriction_has_device(const struct restriction *restriction, int32_t device)
{
    for (uint32_t i = 0; i < restriction->device_count; i++) {
        if (restriction->devices[i] == device)
            return true;
    }
    return restriction->device_count == 0;
}

/* The first window that a moment is not behind; windows do not overlap and ascend. */
static uint32_t window_from(const struct selection *selection, int64_t at_ps)
{
    uint32_t low = 0, high = selection->window_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (selection->windows[middle].to_ps <= at_ps)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Is it the window that window_from tells? */
static bool is_window_from(const struct selection *selection, uint32_t at, int64_t at_ps)
{
    return at < selection->window_count && selection->windows[at].to_ps > at_ps &&
           (at == 0 || selection->windows[at - 1].to_ps <= at_ps);
}

int64_t selection_inside_near(const struct selection *selection, uint32_t *near, int64_t start_ps,
                              int64_t dur_ps)
{
    int64_t inside_ps = -1, end_ps = start_ps + dur_ps;

    if (!is_window_from(selection, *near, start_ps) &&
        !is_window_from(selection, ++*near, start_ps))
        *near = window_from(selection, start_ps);
    for (uint32_t i = *near; i < selection->window_count; i++) {
        const struct window *window = &selection->windows[i];

        if (end_ps < window->from_ps || (end_ps == window->from_ps && dur_ps > 0))
            break;

        int64_t from_ps = start_ps > window->from_ps ? start_ps : window->from_ps;
        int64_t to_ps = end_ps < window->to_ps ? end_ps : window->to_ps;

        inside_ps = (inside_ps < 0 ? 0 : inside_ps) + (to_ps - from_ps);
    }
    return inside_ps;
}

int64_t selection_inside_entry(const struct selection *selection, uint32_t index)
{
    const struct attributed *entry = &selection->host->attribution->entries[index];
    int64_t from_ps = entry->start_ps, to_ps = from_ps + entry->dur_ps;

    if (selection->owners == NULL)
        return selection->cut_in_time ? selection_inside(selection, from_ps, entry->dur_ps)
                                      : entry->dur_ps;
    if (selection->owners[index] == NO_OWNER)
        return -1;
    from_ps = from_ps > selection->within.from_ps ? from_ps : selection->within.from_ps;
    to_ps = to_ps < selection->within.to_ps ? to_ps : selection->within.to_ps;
    if (entry->dur_ps == 0)
        return from_ps == to_ps ? 0 : -1;
    return from_ps < to_ps ? to_ps - from_ps : -1;
}

uint32_t selection_windows_of(const struct selection *selection, track_id track,
                              const struct window **ret)
{
    bool spans = selection->steps_on != NULL && selection->steps_on[track];

    *ret = spans ? selection->spans : selection->windows;
    return spans ? selection->span_count : selection->window_count;
}

int64_t selection_inside(const struct selection *selection, int64_t start_ps, int64_t dur_ps)
{
    uint32_t near = 0;

    return selection_inside_near(selection, &near, start_ps, dur_ps);
}

bool selection_is_whole(const struct selection *selection)
{
    return !selection->cut_in_time && selection->all_tracks && !selection->ops_only &&
           !selection->by_name && selection->asked->device_count == 0;
}

bool selection_begins_inside(const struct selection *selection, int64_t at_ps)
{
    if (!selection->cut_in_time)
        return true;

    uint32_t at = window_from(selection, at_ps);

    return at < selection->window_count && selection->windows[at].from_ps <= at_ps;
}

static bool contains_any_case(struct str text, struct str part)
{
    for (size_t at = 0; at + part.count <= text.count; at++) {
        size_t same = 0;

        while (same < part.count && ascii_lower(text.at[at + same]) == ascii_lower(part.at[same]))
            same++;
        if (same == part.count)
            return true;
    }
    return false;
}

bool selection_has_name(const struct selection *selection, struct str name)
{
    const struct restriction *asked = selection->asked;

    return (asked->name.count == 0 || str_equal(asked->name, name)) &&
           (asked->q.count == 0 || contains_any_case(name, asked->q));
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

    return (asked->module.count == 0 || str_equal(asked->module, trace_name(trace, op->module))) &&
           (asked->scope.count == 0 || scope_asked(trace_name(trace, op->scope), asked->scope)) &&
           selection_has_name(selection, trace_name(trace, op->name));
}
