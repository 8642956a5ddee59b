/* Steps that stand on lines of their own, as the devices' or a tool's. */
#include <stdlib.h>

#include "analyse/steps/steps_parts.h"

/* The Steps lines of a host's devices: what has one name and overlaps is one step. */
static void find_on_lines_of(const struct host_trace *host, uint32_t index, bool derived,
                             struct step_list *list)
{
    const struct trace *trace = host->trace;
    struct step_list all = {0};
    uint32_t from = list->count;

    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->role != ROLE_STEPS || track->derived != derived || track->row_count == 0)
            continue;
        for (uint32_t at = 0; at < trace->rows[track->first_row].count; at++) {
            struct slice slice = trace_slice(trace, trace->rows[track->first_row].first_slice + at);

            if (slice.dur_ps > 0)
                step_list_add(&all, step_of(host, index, &slice));
        }
    }
    if (all.count > 0)
        qsort(all.items, all.count, sizeof(*all.items), step_by_start);
    for (uint32_t i = 0; i < all.count; i++) {
        struct step *step = &all.items[i];
        struct step *same = NULL;

        for (uint32_t j = list->count; j > from && same == NULL && j + 16 > list->count; j--) {
            struct step *earlier = &list->items[j - 1];

            if (str_equal(earlier->name, step->name) &&
                step->start_ps < earlier->start_ps + earlier->dur_ps)
                same = earlier;
        }
        if (same == NULL) {
            step->numbered = step_number_at_end(step->name, &step->number);
            step_list_add(list, *step);
        } else if (step->start_ps + step->dur_ps > same->start_ps + same->dur_ps) {
            same->dur_ps = step->start_ps + step->dur_ps - same->start_ps;
        }
    }
    free(all.items);
    step_list_settle(list, from);
}

void find_on_lines(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_on_lines_of(host, index, false, list);
}

void find_on_derived_lines(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_on_lines_of(host, index, true, list);
}
