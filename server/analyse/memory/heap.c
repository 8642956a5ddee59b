/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations by class, the sum of what is temporary over program order, and its peak. */
#include "analyse/memory/heap.h"

#include <stdlib.h>

#include "analyse/memory/heap_parts.h"
#include "base/sort.h"
#include "decode/hlo/hlo_sizes.h"

const char *heap_class_word(enum heap_class class)
{
    static const char *const words[] = {"parameter", "output", "thread-local", "constant",
                                        "temporary"};
    return words[class];
}

const char *heap_basis_word(enum heap_basis basis)
{
    static const char *const words[] = {"heap-trace", "live-ranges", "sizes"};
    return words[basis];
}

static enum heap_class class_of(const struct hlo_allocation *allocation)
{
    if (allocation->is_parameter)
        return HEAP_PARAMETER;
    if (allocation->is_live_out)
        return HEAP_OUTPUT;
    if (allocation->is_thread_local)
        return HEAP_THREAD_LOCAL;
    return allocation->is_constant ? HEAP_CONSTANT : HEAP_TEMPORARY;
}

/* Sizes come from a file: sums stop at the largest number. */
static int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t bytes_of(uint64_t size)
{
    return size > (UINT64_C(1) << 50) ? INT64_C(1) << 50 : (int64_t)size;
}

static int64_t unpadded_of(const struct hlo_module *module, struct bytes shape, int64_t bytes)
{
    struct hlo_sizes sizes;

    if (shape.count == 0)
        return -1;
    hlo_sizes_read(module->form, shape, &sizes);
    if (sizes.type == HLO_TUPLE || !(sizes.bytes >= 0 && sizes.bytes < (double)bytes))
        return bytes; /* a table of pointers; nothing beyond the elements */
    return (int64_t)sizes.bytes;
}

const struct heap_place *heap_temporary(struct heap_work *work, const struct hlo_buffer *buffer)
{
    uint32_t found;

    if (buffer->color != work->heap->space || !map64_get(&work->place_of, buffer->id, &found))
        return NULL;
    return work->classes[work->places[found].allocation] == HEAP_TEMPORARY ? &work->places[found]
                                                                           : NULL;
}

static struct heap_buffer *add_buffer(struct heap_work *work)
{
    if (work->buffer_count == work->buffer_capacity) {
        work->buffer_capacity = work->buffer_capacity == 0 ? 64 : 2 * work->buffer_capacity;
        work->buffers = memory_resize(work->buffers, work->buffer_capacity, sizeof *work->buffers);
    }
    return &work->buffers[work->buffer_count++];
}

static void add_change(struct heap_work *work, uint32_t buffer, uint32_t position, bool begins)
{
    if (work->change_count == work->change_capacity) {
        work->change_capacity = work->change_capacity == 0 ? 64 : 2 * work->change_capacity;
        work->changes = memory_resize(work->changes, work->change_capacity, sizeof *work->changes);
    }
    work->changes[work->change_count] = (struct heap_change){
        .position = position, .at = work->change_count, .buffer = buffer, .begins = begins};
    work->change_count++;
}

uint32_t heap_begin(struct heap_work *work, const struct hlo_buffer *buffer,
                    const struct heap_place *place, uint32_t position)
{
    struct heap_buffer *born = add_buffer(work);
    int64_t bytes = bytes_of(buffer->size_bytes);

    *born = (struct heap_buffer){
        .id = buffer->id,
        .instruction = buffer->instruction,
        .allocation = place->allocation,
        .offset = place->offset,
        .bytes = bytes,
        .unpadded = unpadded_of(work->module, buffer->shape, bytes),
        .shape = buffer->shape,
        .part = buffer->part,
        .class = HEAP_TEMPORARY,
        .first = position,
        .last = work->order.count > 0 ? work->order.count - 1 : 0,
        .end = UINT32_MAX,
        .reuses = HLO_NONE,
    };
    add_change(work, work->buffer_count - 1, position, true);
    return work->buffer_count - 1;
}

void heap_end(struct heap_work *work, uint32_t buffer, uint32_t position)
{
    work->buffers[buffer].last = position;
    add_change(work, buffer, position, false);
}

/* A whole allocation, told by its largest value. */
static void add_fixed(struct heap_work *work, uint32_t ordinal)
{
    const struct hlo_module *module = work->module;
    const struct hlo_allocation *allocation = &module->allocations[ordinal];
    const struct hlo_assigned *largest = NULL;
    const struct hlo_buffer *buffer;
    struct heap_buffer *fixed = add_buffer(work);
    int64_t bytes = bytes_of(allocation->size_bytes);

    for (uint32_t i = 0; i < allocation->assigned_count; i++) {
        const struct hlo_assigned *one = &module->assigned[allocation->first_assigned + i];

        if (largest == NULL || one->size_bytes > largest->size_bytes)
            largest = one;
    }
    buffer = largest == NULL ? NULL : hlo_module_buffer(module, largest->buffer);
    *fixed = (struct heap_buffer){
        .id = buffer == NULL ? 0 : buffer->id,
        .instruction = buffer == NULL ? HLO_NONE : buffer->instruction,
        .allocation = ordinal,
        .bytes = bytes,
        .unpadded = bytes,
        .class = work->classes[ordinal],
        .last = work->order.count > 0 ? work->order.count - 1 : 0,
        .end = work->classes[ordinal] == HEAP_THREAD_LOCAL ? 0 : UINT32_MAX,
        .reuses = HLO_NONE,
    };
    if (buffer == NULL)
        return;
    fixed->shape = buffer->shape;
    fixed->part = buffer->part;
    if (buffer->size_bytes == allocation->size_bytes)
        fixed->unpadded = unpadded_of(module, buffer->shape, bytes);
}

static void read_allocations(struct heap_work *work)
{
    const struct hlo_module *module = work->module;
    struct heap *heap = work->heap;
    uint32_t place_count = 0;

    work->places = arena_array(work->arena, struct heap_place, module->assigned_count + 1u);
    work->classes = arena_array(work->arena, enum heap_class, module->allocation_count + 1u);
    work->followed = arena_array(work->arena, bool, module->allocation_count + 1u);
    for (uint32_t i = 0; i < module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &module->allocations[i];

        work->classes[i] = class_of(allocation);
        for (uint32_t k = 0; k < allocation->assigned_count; k++) {
            const struct hlo_assigned *one = &module->assigned[allocation->first_assigned + k];

            map64_at(&work->place_of, one->buffer, place_count);
            work->places[place_count++] = (struct heap_place){
                .allocation = i, .offset = one->offset, .size_bytes = one->size_bytes};
        }
        if (allocation->color != heap->space)
            continue;
        heap->class_bytes[work->classes[i]] =
            add_bytes(heap->class_bytes[work->classes[i]], bytes_of(allocation->size_bytes));
        if (work->classes[i] != HEAP_TEMPORARY)
            add_fixed(work, i);
        if (work->classes[i] == HEAP_THREAD_LOCAL)
            continue;
        heap->total_bytes = add_bytes(heap->total_bytes, bytes_of(allocation->size_bytes));
        if (work->classes[i] != HEAP_TEMPORARY)
            heap->fixed_bytes = add_bytes(heap->fixed_bytes, bytes_of(allocation->size_bytes));
    }
}

static bool change_before(const struct heap_change *a, const struct heap_change *b)
{
    return a->position != b->position ? a->position < b->position : a->at < b->at;
}
SORT_DEFINE(sort_changes, struct heap_change, change_before)

struct level {
    int64_t bytes, unpadded;
    uint32_t change; /* how many changes led to it */
};

static int64_t told_unpadded(const struct heap_buffer *buffer)
{
    return buffer->unpadded >= 0 ? buffer->unpadded : buffer->bytes;
}

static void apply(struct heap_work *work, struct level *level)
{
    const struct heap_change *change = &work->changes[level->change++];
    struct heap_buffer *buffer = &work->buffers[change->buffer];
    int64_t sign = change->begins ? 1 : -1;

    level->bytes = add_bytes(level->bytes, sign * buffer->bytes);
    level->unpadded = add_bytes(level->unpadded, sign * told_unpadded(buffer));
    if (change->begins)
        buffer->begin = level->change;
    else
        buffer->end = level->change;
}

static struct level fixed_level(const struct heap_work *work)
{
    struct level level = {0};

    for (uint32_t i = 0; i < work->buffer_count; i++) {
        if (work->buffers[i].class == HEAP_TEMPORARY || work->buffers[i].class == HEAP_THREAD_LOCAL)
            continue;
        level.bytes = add_bytes(level.bytes, work->buffers[i].bytes);
        level.unpadded = add_bytes(level.unpadded, told_unpadded(&work->buffers[i]));
    }
    return level;
}

/* The fullest level at each position; the first of equal ones is the peak of all. */
static void sum_up(struct heap_work *work)
{
    struct heap *heap = work->heap;
    uint32_t count = work->order.count > 0 ? work->order.count : 1;
    uint32_t boxes = count < HEAP_POINTS_MAX ? count : HEAP_POINTS_MAX;
    struct heap_point *points = arena_array(work->arena, struct heap_point, boxes);
    uint32_t *change_at = arena_array(work->arena, uint32_t, count);
    struct level level = fixed_level(work);

    heap->peak_bytes = level.bytes;
    heap->peak_unpadded = level.unpadded;
    heap->peak_position = heap->peak_instruction = HLO_NONE;
    for (uint32_t position = 0; position < count; position++) {
        struct level fullest = level;

        while (level.change < work->change_count &&
               (work->changes[level.change].position <= position || position + 1 == count)) {
            apply(work, &level);
            if (level.bytes > fullest.bytes)
                fullest = level;
        }
        change_at[position] = fullest.change;
        if (fullest.bytes > heap->peak_bytes) {
            heap->peak_bytes = fullest.bytes;
            heap->peak_unpadded = fullest.unpadded;
            heap->peak_change = fullest.change;
            heap->peak_position = position;
            heap->peak_instruction =
                position < work->order.count ? work->order.order[position] : HLO_NONE;
        }

        struct heap_point *point = &points[(uint64_t)position * boxes / count];
        bool is_new = (uint64_t)position * boxes / count == heap->point_count;

        heap->point_count += is_new;
        if (is_new || fullest.bytes > point->bytes)
            *point = (struct heap_point){.position = position,
                                         .instruction = position < work->order.count
                                                            ? work->order.order[position]
                                                            : HLO_NONE,
                                         .bytes = fullest.bytes,
                                         .unpadded = fullest.unpadded};
    }
    heap->points = points;
    heap->change_at = change_at;
    heap->position_count = count;
}

static void hand_over(struct heap_work *work)
{
    struct heap *heap = work->heap;

    heap->buffers = arena_array(work->arena, struct heap_buffer, work->buffer_count + 1u);
    if (work->buffer_count > 0)
        memcpy(heap->buffers, work->buffers, work->buffer_count * sizeof *heap->buffers);
    heap->buffer_count = work->buffer_count;
    heap->order = work->order.order;
    for (uint32_t i = 0; i < heap->buffer_count; i++)
        if (heap_is_alive(&heap->buffers[i], heap->peak_change))
            heap->padding_bytes = add_bytes(
                heap->padding_bytes, heap->buffers[i].bytes - told_unpadded(&heap->buffers[i]));
    free(work->buffers);
    free(work->changes);
    map64_free(&work->place_of);
}

bool heap_is_alive(const struct heap_buffer *buffer, uint32_t change)
{
    return buffer->begin <= change && change < buffer->end;
}

enum status heap_of(const struct hlo_module *module, uint32_t space, struct arena *arena,
                    struct heap *ret, struct error *err)
{
    struct heap_work work = {.module = module, .arena = arena, .heap = ret};

    *ret = (struct heap){.space = space};
    if (!module->has_buffers)
        return fail(
            err, ERR_NOT_FOUND,
            "the module has no buffer assignment: the file holds it uncompiled, or as text");
    heap_order_of(module, arena, &work.order);
    read_allocations(&work);
    heap_replay_traces(&work);

    bool has_traces = work.change_count > 0;

    heap_follow_ranges(&work);
    ret->basis = has_traces ? HEAP_TRACE : work.change_count > 0 ? HEAP_RANGES : HEAP_SIZES;
    sort_changes(work.changes, work.change_count);
    sum_up(&work);
    hand_over(&work);
    work.buffers = ret->buffers;
    heap_advise(&work);
    return OK;
}

const struct hlo_listed *heap_default(const struct hlo_modules *modules)
{
    const struct hlo_listed *best = NULL;

    for (uint32_t i = 0; i < modules->count; i++) {
        const struct hlo_listed *one = &modules->items[i];

        if (one->has_buffers && (best == NULL || one->self_ps > best->self_ps))
            best = one;
    }
    return best;
}
