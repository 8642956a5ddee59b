/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that stand on lines of their own, as the devices' or a tool's.
 *
 *   device 0   |1     |2     |         |1     |2     |3     |
 *   device 1   | 1     | 2    |              |1     |2     |3     |
 *   steps      |1     |2     |         each device's own: what lies elsewhere shares no time
 */
#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "analyse/steps/steps_parts.h"
#include "base/hash.h"

enum { NEAR_STEPS = 16 };

static int64_t end_of(const struct step *step)
{
    return step->start_ps + step->dur_ps;
}

static void add_lines(const struct host_trace *host, uint32_t index, bool derived,
                      struct step_list *list)
{
    const struct trace *trace = host->trace;

    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->role != ROLE_STEPS || track->derived != derived || track->row_count == 0)
            continue;
        for (uint32_t at = 0; at < trace->rows[track->first_row].count; at++) {
            struct slice slice = trace_slice(trace, trace->rows[track->first_row].first_slice + at);
            struct step step = step_of(host, index, &slice);

            step.device = track->device;
            step.numbered = step_number_at_end(step.name, &step.number);
            if (slice.dur_ps > 0)
                step_list_add(list, step);
        }
    }
    if (list->count > 0)
        qsort(list->items, list->count, sizeof(*list->items), step_by_start);
}

/* Do most steps of one name lie mostly elsewhere on the next device that has it? */
static bool lie_apart(const struct step_list *all)
{
    struct map64 last = {0}; /* name -> of the list, the last one so far */
    uint64_t pairs = 0, apart = 0;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct step *step = &all->items[i];
        struct bytes name = {(const uint8_t *)step->name.at, step->name.count};
        uint32_t *before = map64_at(&last, hash64(name), i);
        const struct step *other = &all->items[*before];

        if (other->device != step->device) {
            int64_t end_ps = end_of(other) < end_of(step) ? end_of(other) : end_of(step);
            int64_t shorter_ps = other->dur_ps < step->dur_ps ? other->dur_ps : step->dur_ps;

            pairs++;
            apart += end_ps - step->start_ps < shorter_ps / 2;
        }
        *before = i;
    }
    map64_free(&last);
    return apart * 2 > pairs;
}

static void take_apart(const struct step_list *all, struct step_list *list)
{
    uint32_t from = list->count;

    for (uint32_t i = 0; i < all->count; i++) {
        struct step step = all->items[i];

        step.on_device = true;
        if (!step.numbered)
            step.number = i - from;
        step_list_add(list, step);
    }
}

/* What has one name and overlaps is one step. */
static void join_same(const struct step_list *all, struct step_list *list)
{
    uint32_t from = list->count;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct step *step = &all->items[i];
        struct step *same = NULL;

        for (uint32_t j = list->count; j > from && same == NULL && j + NEAR_STEPS > list->count;
             j--) {
            struct step *earlier = &list->items[j - 1];

            if (str_equal(earlier->name, step->name) && step->start_ps < end_of(earlier))
                same = earlier;
        }
        if (same == NULL)
            step_list_add(list, *step);
        else if (end_of(step) > end_of(same))
            same->dur_ps = end_of(step) - same->start_ps;
    }
    step_list_settle(list, from);
}

static void find_on_lines_of(const struct host_trace *host, uint32_t index, bool derived,
                             struct step_list *list)
{
    struct step_list all = {0};

    add_lines(host, index, derived, &all);
    if (lie_apart(&all))
        take_apart(&all, list);
    else
        join_same(&all, list);
    free(all.items);
}

void find_on_lines(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_on_lines_of(host, index, false, list);
}

void find_on_derived_lines(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_on_lines_of(host, index, true, list);
}
