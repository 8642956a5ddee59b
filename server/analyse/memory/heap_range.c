/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of temporary buffers by the schedule, where the file holds no simulation of them.
 *
 *   offset 0    [a.....)[c...........)
 *   offset 64       [b.........)
 *               defined ... last use of it or of what aliases it
 *
 * Two buffers at one place cannot live at once: the later one ends the earlier.
 */
#include <stdlib.h>

#include "analyse/memory/heap_parts.h"

enum { COMPARED_MAX = 1 << 24 }; /* of a module: beyond, lives may overlap */

struct range {
    const struct hlo_buffer *buffer;
    struct heap_place place;
    uint32_t first, last;
    bool is_gone; /* it lies in another that begins where it does */
};

static int by_first(const void *a, const void *b)
{
    const struct range *one = a, *other = b;

    if (one->first != other->first)
        return one->first < other->first ? -1 : 1;
    if (one->place.size_bytes != other->place.size_bytes)
        return one->place.size_bytes > other->place.size_bytes ? -1 : 1;
    return (one->buffer->id > other->buffer->id) - (one->buffer->id < other->buffer->id);
}

static bool overlap(const struct heap_place *a, const struct heap_place *b)
{
    return a->offset < b->offset ? b->offset - a->offset < a->size_bytes
                                 : a->offset - b->offset < b->size_bytes;
}

/* `live` holds numbers of ranges that may reach further. */
static void end_covered(struct range *ranges, uint32_t count, uint32_t *live, uint32_t *budget)
{
    uint32_t live_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t kept = 0;

        for (uint32_t k = 0; k<live_count && * budget> 0; k++, --*budget) {
            struct range *before = &ranges[live[k]];

            if (before->last >= ranges[i].first && overlap(&before->place, &ranges[i].place)) {
                if (before->first == ranges[i].first)
                    ranges[i].is_gone = true;
                else
                    before->last = ranges[i].first - 1;
            }
            if (before->last >= ranges[i].first)
                live[kept++] = live[k];
        }
        live_count = *budget > 0 ? kept : live_count;
        if (!ranges[i].is_gone)
            live[live_count++] = i;
    }
}

static uint32_t gather(struct heap_work *work, const struct hlo_allocation *allocation,
                       struct range *ranges)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        const struct hlo_assigned *assigned =
            &work->module->assigned[allocation->first_assigned + i];
        const struct hlo_buffer *buffer = hlo_module_buffer(work->module, assigned->buffer);
        const struct heap_place *place = buffer == NULL ? NULL : heap_temporary(work, buffer);

        if (place == NULL || buffer->instruction == HLO_NONE ||
            work->order.position[buffer->instruction] == HLO_NONE) {
            work->heap->unknown_count++;
            continue;
        }
        ranges[count++] = (struct range){
            .buffer = buffer,
            .place = *place,
            .first = work->order.position[buffer->instruction],
            .last = work->order.last_use[buffer->instruction],
        };
    }
    return count;
}

static void follow(struct heap_work *work, const struct hlo_allocation *allocation,
                   uint32_t *budget)
{
    struct range *ranges = arena_array(work->arena, struct range, allocation->assigned_count + 1u);
    uint32_t *live = arena_array(work->arena, uint32_t, allocation->assigned_count + 1u);
    uint32_t count = gather(work, allocation, ranges);

    qsort(ranges, count, sizeof *ranges, by_first);
    end_covered(ranges, count, live, budget);
    for (uint32_t i = 0; i < count; i++) {
        if (ranges[i].is_gone)
            continue;
        uint32_t life = heap_begin(work, ranges[i].buffer, &ranges[i].place, ranges[i].first);
        work->buffers[life].last = ranges[i].last;
    }
}

void heap_follow_ranges(struct heap_work *work)
{
    uint32_t budget = COMPARED_MAX, first = work->buffer_count;

    for (uint32_t i = 0; i < work->module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &work->module->allocations[i];

        if (work->classes[i] != HEAP_TEMPORARY || work->followed[i] ||
            allocation->color != work->heap->space || allocation->assigned_count == 0)
            continue;
        if (work->order.last_use == NULL)
            heap_order_uses(work->module, &work->order, work->arena);
        follow(work, allocation, &budget);
    }
    /* What an instruction uses for the last time lives beside what it makes. */
    for (uint32_t i = first; i < work->buffer_count; i++)
        heap_end(work, i, work->buffers[i].last);
}
