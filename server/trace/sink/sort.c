/* SPDX-License-Identifier: Apache-2.0 */
/* External merge sort.
 *
 *   put    buffer full -> sorted -> set aside as a run
 *   next   one run in memory, or a heap of the runs' heads, each with a window of its run
 */
#include "trace/sink/sort.h"

#include <stdlib.h>

#include "trace/spill.h"

enum {
    RUN_SLICES = 1 << 18,     /* 8 MiB, and as much again to merge into */
    RUN_SLICES_MIN = 1 << 10, /* what the buffer starts with */
    WINDOW_BYTES_ALL = 8 << 20,
    WINDOW_SLICES_MIN = 32,
};

struct run {
    uint64_t offset; /* of what is not in the window yet */
    uint64_t slices_left;
    struct unsorted *window;
    uint32_t at, count;
};

struct sorter {
    struct spill *spill;
    struct unsorted *buffer, *scratch;
    uint32_t count, capacity, next;
    struct run *runs;
    uint32_t run_count, run_capacity;
    struct unsorted *windows;
    uint32_t window_slices;
    uint32_t *heap; /* indexes of runs, the smallest head first */
    uint32_t heap_count;
};

static bool is_before(const struct unsorted *a, const struct unsorted *b)
{
    if (a->track != b->track)
        return a->track < b->track;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps;
    return a->event < b->event;
}

static void merge(const struct unsorted *from, uint32_t middle, uint32_t count, struct unsorted *to)
{
    uint32_t left = 0, right = middle;

    for (uint32_t i = 0; i < count; i++) {
        bool take_left = right == count || (left < middle && !is_before(&from[right], &from[left]));
        to[i] = from[take_left ? left++ : right++];
    }
}

static void sort_few(struct unsorted *at, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct unsorted moved = at[i];
        uint32_t to = i;
        for (; to > 0 && is_before(&moved, &at[to - 1]); to--)
            at[to] = at[to - 1];
        at[to] = moved;
    }
}

/* Bottom up; what is in order already is only copied. */
static void sort_buffer(struct sorter *sorter)
{
    enum { FEW = 16 };
    struct unsorted *from = sorter->buffer, *to = sorter->scratch;
    const uint32_t count = sorter->count;

    for (uint32_t first = 0; first < count; first += FEW)
        sort_few(from + first, count - first < FEW ? count - first : FEW);
    for (uint32_t width = FEW; width < count; width *= 2) {
        for (uint32_t first = 0; first < count; first += 2 * width) {
            uint32_t pair = count - first < 2 * width ? count - first : 2 * width;
            if (pair <= width || is_before(&from[first + width - 1], &from[first + width]))
                memcpy(to + first, from + first, pair * sizeof(*to));
            else
                merge(from + first, width, pair, to + first);
        }
        struct unsorted *swapped = from;
        from = to;
        to = swapped;
    }
    sorter->buffer = from;
    sorter->scratch = to;
}

static enum status set_run_aside(struct sorter *sorter, struct error *err)
{
    struct bytes bytes;
    struct run run = {.slices_left = sorter->count};

    sort_buffer(sorter);
    bytes = (struct bytes){.at = (const uint8_t *)sorter->buffer,
                           .count = sorter->count * sizeof(*sorter->buffer)};
    TRY(spill_append(sorter->spill, bytes, &run.offset, err));
    if (sorter->run_count == sorter->run_capacity) {
        sorter->run_capacity = sorter->run_capacity ? sorter->run_capacity * 2 : 16;
        sorter->runs = memory_resize(sorter->runs, sorter->run_capacity, sizeof(*sorter->runs));
    }
    sorter->runs[sorter->run_count++] = run;
    sorter->count = 0;
    return OK;
}

static void grow_buffer(struct sorter *sorter)
{
    sorter->capacity = sorter->capacity ? sorter->capacity * 2 : RUN_SLICES_MIN;
    sorter->buffer = memory_resize(sorter->buffer, sorter->capacity, sizeof(*sorter->buffer));
    sorter->scratch = memory_resize(sorter->scratch, sorter->capacity, sizeof(*sorter->scratch));
}

static enum status fill_window(struct sorter *sorter, struct run *run, struct error *err)
{
    run->at = 0;
    run->count = run->slices_left < sorter->window_slices ? (uint32_t)run->slices_left
                                                          : sorter->window_slices;
    size_t bytes = run->count * sizeof(*run->window);
    TRY(spill_read(sorter->spill, run->offset, run->window, bytes, err));
    run->offset += bytes;
    run->slices_left -= run->count;
    return OK;
}

static bool run_is_before(const struct sorter *sorter, uint32_t a, uint32_t b)
{
    const struct run *runs = sorter->runs;

    return is_before(&runs[a].window[runs[a].at], &runs[b].window[runs[b].at]);
}

static void sift_down(struct sorter *sorter, uint32_t at)
{
    uint32_t *heap = sorter->heap;
    const uint32_t moved = heap[at];

    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= sorter->heap_count)
            break;
        if (child + 1 < sorter->heap_count && run_is_before(sorter, heap[child + 1], heap[child]))
            child++;
        if (!run_is_before(sorter, heap[child], moved))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static enum status start_merge(struct sorter *sorter, struct error *err)
{
    if (sorter->count > 0)
        TRY(set_run_aside(sorter, err));
    free(sorter->buffer);
    free(sorter->scratch);
    sorter->buffer = sorter->scratch = NULL;
    sorter->window_slices =
        WINDOW_BYTES_ALL / (sorter->run_count * (uint32_t)sizeof(*sorter->windows));
    if (sorter->window_slices < WINDOW_SLICES_MIN)
        sorter->window_slices = WINDOW_SLICES_MIN;
    sorter->windows = memory_resize(NULL, (size_t)sorter->run_count * sorter->window_slices,
                                    sizeof(*sorter->windows));
    sorter->heap = memory_resize(NULL, sorter->run_count, sizeof(*sorter->heap));
    for (uint32_t i = 0; i < sorter->run_count; i++) {
        sorter->runs[i].window = sorter->windows + (size_t)i * sorter->window_slices;
        TRY(fill_window(sorter, &sorter->runs[i], err));
        sorter->heap[i] = i;
    }
    sorter->heap_count = sorter->run_count;
    for (uint32_t i = sorter->heap_count / 2; i-- > 0;)
        sift_down(sorter, i);
    return OK;
}

static bool next_merged(struct sorter *sorter, struct unsorted *ret, struct error *err)
{
    if (sorter->heap_count == 0)
        return false;
    struct run *run = &sorter->runs[sorter->heap[0]];
    *ret = run->window[run->at++];
    if (run->at == run->count && run->slices_left > 0 && fill_window(sorter, run, err) != OK) {
        sorter->heap_count = 0;
        return false;
    }
    if (run->at == run->count)
        sorter->heap[0] = sorter->heap[--sorter->heap_count];
    if (sorter->heap_count > 0)
        sift_down(sorter, 0);
    return true;
}

struct sorter *sorter_create(const char *temporary_dir, uint64_t bytes_max)
{
    struct sorter *sorter = memory_resize(NULL, 1, sizeof(*sorter));

    *sorter = (struct sorter){.spill = spill_create(temporary_dir, bytes_max)};
    return sorter;
}

void sorter_destroy(struct sorter *sorter)
{
    if (!sorter)
        return;
    spill_destroy(sorter->spill);
    free(sorter->buffer);
    free(sorter->scratch);
    free(sorter->runs);
    free(sorter->windows);
    free(sorter->heap);
    free(sorter);
}

enum status sorter_put(struct sorter *sorter, const struct unsorted *slice, struct error *err)
{
    if (sorter->count == RUN_SLICES)
        TRY(set_run_aside(sorter, err));
    if (sorter->count == sorter->capacity)
        grow_buffer(sorter);
    sorter->buffer[sorter->count++] = *slice;
    return OK;
}

enum status sorter_start(struct sorter *sorter, struct error *err)
{
    if (sorter->run_count > 0)
        return start_merge(sorter, err);
    sort_buffer(sorter);
    return OK;
}

bool sorter_next(struct sorter *sorter, struct unsorted *ret, struct error *err)
{
    if (sorter->run_count > 0)
        return next_merged(sorter, ret, err);
    if (sorter->next == sorter->count)
        return false;
    *ret = sorter->buffer[sorter->next++];
    return true;
}
