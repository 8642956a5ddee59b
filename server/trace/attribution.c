/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entry of a slice, and the first of a device from a moment on; sorts ops. */
#include "trace/attribution.h"

#include <stdlib.h>

#include "base/bisect.h"

void attribution_lend(const struct attribution *attribution, const struct trace *trace,
                      struct str *room, struct trace *ret)
{
    uint32_t from = 0;

    *ret = *trace;
    if (attribution == NULL || attribution->text_count == 0)
        return;
    for (uint32_t i = 0; i < attribution->text_count; i++) {
        room[i] = (struct str){attribution->texts + from, attribution->text_ends[i] - from};
        from = attribution->text_ends[i];
    }
    ret->lent_names = room;
    ret->lent_name_count = attribution->text_count;
}

uint32_t needs_from(const struct attribution *attribution, uint32_t op)
{
    return BISECT(0, attribution->need_count, i, attribution->needs[i].op < op);
}

const struct attributed *attribution_of(const struct attribution *attribution, slice_id slice)
{
    uint32_t low = BISECT(0, attribution->entry_count, i, attribution->entries[i].slice < slice);

    return low < attribution->entry_count && attribution->entries[low].slice == slice
               ? &attribution->entries[low]
               : NULL;
}

static bool is_before(const struct attributed *entry, int64_t device, int64_t start_ps)
{
    return entry->device < device || (entry->device == device && entry->start_ps < start_ps);
}

uint32_t attribution_time_from(const struct attribution *attribution, int64_t device,
                               int64_t start_ps)
{
    return BISECT(
        0, attribution->entry_count, i,
        is_before(&attribution->entries[attribution->by_device_time[i]], device, start_ps));
}

static int by_program(const void *left, const void *right, void *data)
{
    const struct op *ops = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (ops[a].program != ops[b].program)
        return ops[a].program < ops[b].program ? -1 : 1;
    return (a > b) - (a < b);
}

void ops_by_program(const struct op *ops, uint32_t *order, uint32_t count)
{
    qsort_r(order, count, sizeof(*order), by_program, (void *)(uintptr_t)ops);
}
