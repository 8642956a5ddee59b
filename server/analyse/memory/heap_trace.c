/* SPDX-License-Identifier: Apache-2.0 */
/* The compiler's own heap simulations, each for itself.
 *
 *   ALLOC b           b is used once more; its bytes are in use
 *   FREE b            where b lies is used once less; at zero its bytes are free
 *   SHARE b with c    b lies where c does, which is used once more; had c been freed, it is in use
 *                     again, and b stands for it
 *
 * Only temporary buffers change the sum: whole allocations of the other classes are in it anyway.
 */
#include "analyse/memory/heap_parts.h"

struct slot { /* of a buffer in a trace */
    const struct hlo_buffer *buffer;
    struct heap_place place;
    uint32_t root; /* the slot where it lies */
    uint32_t users;
    uint32_t life; /* of work->buffers, while in use; HLO_NONE */
};

struct replay {
    struct heap_work *work;
    struct map64 slot_of;
    struct slot *slots;
    uint32_t slot_count;
    uint32_t position; /* never goes back */
};

/* HLO_NONE: nothing temporary of this memory space. */
static uint32_t slot_of(struct replay *replay, uint64_t id)
{
    const struct hlo_buffer *buffer = hlo_module_buffer(replay->work->module, id);
    const struct heap_place *place = buffer == NULL ? NULL : heap_temporary(replay->work, buffer);

    if (buffer == NULL)
        replay->work->heap->unknown_count++;
    if (place == NULL)
        return HLO_NONE;

    uint32_t *slot = map64_at(&replay->slot_of, id, replay->slot_count);

    if (*slot == replay->slot_count)
        replay->slots[replay->slot_count++] =
            (struct slot){.buffer = buffer, .place = *place, .root = *slot, .life = HLO_NONE};
    replay->work->followed[place->allocation] = true;
    return *slot;
}

static void begin(struct replay *replay, uint32_t root, const struct slot *shown)
{
    struct hlo_buffer told = *shown->buffer;

    told.size_bytes = replay->slots[root].buffer->size_bytes;
    if (replay->slots[root].life != HLO_NONE)
        heap_end(replay->work, replay->slots[root].life, replay->position);
    replay->slots[root].life =
        heap_begin(replay->work, &told, &replay->slots[root].place, replay->position);
}

static void release(struct replay *replay, uint32_t root)
{
    struct slot *slot = &replay->slots[root];

    if (slot->users == 0) {
        replay->work->heap->unknown_count++; /* freed more often than allocated */
        return;
    }
    if (--slot->users > 0 || slot->life == HLO_NONE)
        return;
    heap_end(replay->work, slot->life, replay->position);
    slot->life = HLO_NONE;
}

static void replay_event(struct replay *replay, const struct hlo_heap_event *event)
{
    uint32_t slot = slot_of(replay, event->buffer), with;

    if (slot == HLO_NONE)
        return;
    switch (event->kind) {
    case HLO_HEAP_ALLOC:
        replay->slots[slot].root = slot;
        if (replay->slots[slot].users++ == 0)
            begin(replay, slot, &replay->slots[slot]);
        return;
    case HLO_HEAP_FREE:
        release(replay, replay->slots[slot].root);
        return;
    case HLO_HEAP_SHARE:
        with = slot_of(replay, event->shared_with);
        if (with == HLO_NONE)
            return;
        with = replay->slots[with].root;
        replay->slots[slot].root = with;
        if (replay->slots[with].users++ == 0)
            begin(replay, with, &replay->slots[slot]);
        return;
    }
}

static void replay_trace(struct heap_work *work, const struct hlo_heap_trace *trace)
{
    struct replay replay = {.work = work};
    uint32_t position;

    /* At most two buffers an event. */
    replay.slots = arena_array(work->arena, struct slot, 2 * (size_t)trace->event_count + 1);
    for (uint32_t i = 0; i < trace->event_count; i++) {
        const struct hlo_heap_event *event = &work->module->heap_events[trace->first_event + i];

        position =
            event->instruction == HLO_NONE ? HLO_NONE : work->order.position[event->instruction];
        if (position != HLO_NONE && position > replay.position)
            replay.position = position;
        replay_event(&replay, event);
    }
    map64_free(&replay.slot_of);
}

void heap_replay_traces(struct heap_work *work)
{
    for (uint32_t i = 0; i < work->module->heap_trace_count; i++)
        replay_trace(work, &work->module->heap_traces[i]);
}
