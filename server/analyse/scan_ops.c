#include <stdlib.h>

#include "analyse/map64.h"
#include "analyse/nest.h"
#include "analyse/scan.h"

bool track_is_device_work(const struct track *track)
{
    if (track->derived || track->device < 0 || track->kind == TRACK_COUNTER)
        return false;
    return track->role == ROLE_OPS || (track->role == ROLE_NONE && track->kind == TRACK_STREAM);
}

/* The track of each entry, found along the rows: entries come in slice order. */
struct track_cursor {
    const struct trace *trace;
    slice_id first, end;
    track_id track;
};

static track_id cursor_track(struct track_cursor *cursor, slice_id slice)
{
    if (slice < cursor->first || slice >= cursor->end) {
        const struct row *row = &cursor->trace->rows[trace_row_of(cursor->trace, slice)];

        cursor->first = row->first_slice;
        cursor->end = row->first_slice + row->count;
        cursor->track = row->track;
    }
    return cursor->track;
}

uint32_t *entry_groups(const struct trace *trace, const struct attribution *attribution,
                       uint32_t *ret_group_count)
{
    uint32_t *groups = memory_resize(NULL, attribution->entry_count, sizeof(*groups));
    struct track_cursor cursor = {.trace = trace};
    struct map64 ordinals = {0};
    uint32_t group_count = trace->track_count;

    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = &attribution->entries[i];

        groups[i] = cursor_track(&cursor, entry->slice);
        if (track_is_device_work(&trace->tracks[groups[i]]))
            continue;

        uint32_t *group = map64_at(&ordinals, (uint32_t)entry->device, UINT32_MAX);

        if (*group == UINT32_MAX)
            *group = group_count++;
        groups[i] = *group;
    }
    map64_free(&ordinals);
    *ret_group_count = group_count;
    return groups;
}

/* How much of the windows lies before a moment: inside them it runs like time, outside it stands,
 * so lengths of parts are differences. */
static int64_t inside_before(const struct selection *selection, int64_t at_ps)
{
    int64_t before_ps = 0;

    for (uint32_t i = 0; i < selection->window_count; i++) {
        const struct window *window = &selection->windows[i];

        if (at_ps <= window->from_ps)
            break;
        before_ps += (at_ps < window->to_ps ? at_ps : window->to_ps) -
                     (window->from_ps > -TIME_PS_MAX ? window->from_ps : -TIME_PS_MAX);
    }
    return before_ps;
}

/* Self times of the parts inside, by the nesting of the whole intervals. */
static int64_t *selves_inside(const struct selection *selection)
{
    const struct attribution *attribution = selection->host->attribution;
    int64_t *selves = memory_resize(NULL, attribution->entry_count, sizeof(*selves));
    uint32_t group_count;
    uint32_t *groups = entry_groups(selection->host->trace, attribution, &group_count);
    struct nest nest = nest_create(group_count);

    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        uint32_t index = attribution->by_device_time[i], parent;
        const struct attributed *entry = &attribution->entries[index];
        int64_t covered_ps, end_ps = entry->start_ps + entry->dur_ps;

        selves[index] = selection_inside(selection, entry->start_ps, entry->dur_ps);
        if (selves[index] < 0)
            continue;
        if (nest_push(&nest, groups[index], index, end_ps,
                      inside_before(selection, entry->start_ps), inside_before(selection, end_ps),
                      &parent, &covered_ps))
            selves[parent] -= covered_ps;
    }
    nest_free(&nest);
    free(groups);
    return selves;
}

/* Per op: does the selection let it through? */
static bool *wanted_ops(const struct selection *selection)
{
    const struct attribution *attribution = selection->host->attribution;
    bool *wanted = memory_resize(NULL, attribution->op_count, sizeof(*wanted));

    for (uint32_t i = 0; i < attribution->op_count; i++)
        wanted[i] = selection_has_op(selection, &attribution->ops[i]);
    return wanted;
}

void scan_ops(const struct selection *selection, scan_op *visit, void *data)
{
    const struct attribution *attribution = selection->host->attribution;

    if (attribution == NULL || attribution->entry_count == 0)
        return;

    int64_t *selves = selection->cut_in_time ? selves_inside(selection) : NULL;
    bool *wanted = wanted_ops(selection);
    struct track_cursor cursor = {.trace = selection->host->trace};

    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = &attribution->entries[i];
        struct scanned_op op = {
            .entry = entry, .inside_ps = entry->dur_ps, .self_ps = entry->self_ps};

        if (!wanted[entry->op] || !selection_has_device(selection, entry->device) ||
            (!selection->all_tracks && !selection->tracks[cursor_track(&cursor, entry->slice)]))
            continue;
        if (selves != NULL) {
            op.inside_ps = selection_inside(selection, entry->start_ps, entry->dur_ps);
            op.self_ps = selves[i];
            if (op.inside_ps < 0)
                continue;
        }
        visit(data, &op);
    }
    free(wanted);
    free(selves);
}
