/* SPDX-License-Identifier: Apache-2.0 */
/* The list that rules of steps fill: numbers from names, order, overlaps. */
#include "analyse/steps/steps_parts.h"

#include <stdlib.h>

void step_list_add(struct step_list *list, struct step step)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->items = memory_resize(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = step;
}

struct step step_of(const struct host_trace *host, uint32_t index, const struct slice *slice)
{
    return (struct step){
        .host = index,
        .name = trace_name(host->trace, slice->name),
        .slice = slice->id,
        .thread = host->trace->rows[slice->row].track,
        .cut = (slice->flags & SLICE_CUT) != 0,
        .start_ps = slice->start_ps + host->offset_ps,
        .dur_ps = slice->dur_ps,
    };
}

bool step_number_at_end(struct str name, int64_t *ret)
{
    size_t digits = 0;

    while (digits < name.count && name.at[name.count - 1 - digits] >= '0' &&
           name.at[name.count - 1 - digits] <= '9')
        digits++;
    return str_to_i64(str_skip(name, name.count - digits), ret);
}

int step_by_start(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->dur_ps < b->dur_ps) - (a->dur_ps > b->dur_ps);
}

void step_list_settle(struct step_list *list, uint32_t from)
{
    uint32_t kept = from;
    int64_t open_to_ps = INT64_MIN;

    if (list->count > from)
        qsort(list->items + from, list->count - from, sizeof(*list->items), step_by_start);
    for (uint32_t i = from; i < list->count; i++) {
        struct step step = list->items[i];

        if (step.start_ps + step.dur_ps <= open_to_ps)
            continue;
        open_to_ps = step.start_ps + step.dur_ps;
        if (!step.numbered)
            step.number = kept - from;
        list->items[kept++] = step;
    }
    list->count = kept;
}
