/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the rows of a track by a heap of their next slices. */
#include "export/row_merge.h"

#include <stdlib.h>

#include "export/slice_rows.h"

enum {
    WINDOWS_BYTES = 16 << 20,
    WINDOW_SLICES_MIN = 4,
    COLUMNS = COLUMN_START | COLUMN_DUR | COLUMN_NAME | COLUMN_EVENT | COLUMN_FLAGS
};

struct cursor { /* of one row */
    const struct row *row;
    uint32_t next, end; /* ordinals that are not read yet */
    uint32_t at, count; /* in the window */
    struct merged_slice *slices;
};

struct row_merge {
    const struct trace *trace;
    struct chunk *scratch;
    struct cursor *cursors;
    struct merged_slice *slices;
    uint32_t window;
    uint32_t *heap; /* cursors that have a slice, the earliest first */
    uint32_t heap_count;
    bool is_begun;
};

/* Reads the next window; false at the end, and where the segment is damaged. */
static bool fill(struct row_merge *merge, struct cursor *cursor)
{
    if (cursor->next >= cursor->end)
        return false;
    const struct chunk *chunk = merge->scratch;
    uint32_t first = cursor->next % CHUNK_SLICES, count = cursor->end - cursor->next;

    chunk_unpack(merge->trace, cursor->row->first_chunk + cursor->next / CHUNK_SLICES, COLUMNS,
                 merge->scratch);
    if (count > merge->window)
        count = merge->window;
    if (first >= chunk->count)
        return false;
    if (count > chunk->count - first)
        count = chunk->count - first;
    for (uint32_t index = 0; index < count; index++)
        cursor->slices[index] = (struct merged_slice){
            .id = chunk->first_slice + first + index,
            .name = chunk->name[first + index],
            .start_ps = chunk->start_ps[first + index],
            .dur_ps = chunk->dur_ps[first + index],
            .event = chunk->event[first + index],
            .flags = chunk->flags[first + index],
        };
    cursor->next += count;
    cursor->at = 0;
    cursor->count = count;
    return true;
}

static bool is_before(const struct row_merge *merge, uint32_t a, uint32_t b)
{
    const struct cursor *first = &merge->cursors[a], *second = &merge->cursors[b];
    int64_t first_ps = first->slices[first->at].start_ps;
    int64_t second_ps = second->slices[second->at].start_ps;

    return first_ps != second_ps ? first_ps < second_ps : a < b;
}

static void sink_down(struct row_merge *merge, uint32_t place)
{
    uint32_t *heap = merge->heap, moved = heap[place];

    for (uint32_t child; (child = 2 * place + 1) < merge->heap_count; place = child) {
        if (child + 1 < merge->heap_count && is_before(merge, heap[child + 1], heap[child]))
            child++;
        if (!is_before(merge, heap[child], moved))
            break;
        heap[place] = heap[child];
    }
    heap[place] = moved;
}

/* Puts the slice that was handed out last behind us. */
static void step(struct row_merge *merge)
{
    struct cursor *cursor = &merge->cursors[merge->heap[0]];

    if (++cursor->at == cursor->count && !fill(merge, cursor))
        merge->heap[0] = merge->heap[--merge->heap_count];
    if (merge->heap_count > 0)
        sink_down(merge, 0);
}

struct row_merge *row_merge_open(const struct export_run *run, const struct export_host *host,
                                 const struct track *track, struct chunk *scratch)
{
    struct row_merge *merge = memory_resize(NULL, 1, sizeof *merge);
    uint32_t rows = track->row_count;
    size_t share = WINDOWS_BYTES / sizeof(struct merged_slice) / (rows > 0 ? rows : 1);

    *merge = (struct row_merge){.trace = host->trace, .scratch = scratch};
    merge->window = share > CHUNK_SLICES        ? CHUNK_SLICES
                    : share < WINDOW_SLICES_MIN ? WINDOW_SLICES_MIN
                                                : (uint32_t)share;
    merge->cursors = memory_resize(NULL, (size_t)rows + 1, sizeof *merge->cursors);
    merge->heap = memory_resize(NULL, (size_t)rows + 1, sizeof *merge->heap);
    merge->slices = memory_resize(NULL, ((size_t)rows + 1) * merge->window, sizeof *merge->slices);
    for (uint32_t index = 0; index < rows; index++) {
        struct cursor *cursor = &merge->cursors[index];

        *cursor = (struct cursor){.row = &host->trace->rows[track->first_row + index],
                                  .slices = merge->slices + (size_t)index * merge->window};
        slice_rows_asked(run, host, cursor->row, &cursor->next, &cursor->end);
        if (fill(merge, cursor))
            merge->heap[merge->heap_count++] = index;
    }
    for (uint32_t place = merge->heap_count / 2; place > 0; place--)
        sink_down(merge, place - 1);
    return merge;
}

const struct merged_slice *row_merge_next(struct row_merge *merge)
{
    if (merge->is_begun && merge->heap_count > 0)
        step(merge);
    merge->is_begun = true;
    if (merge->heap_count == 0)
        return NULL;
    const struct cursor *cursor = &merge->cursors[merge->heap[0]];

    return &cursor->slices[cursor->at];
}

void row_merge_close(struct row_merge *merge)
{
    free(merge->slices);
    free(merge->heap);
    free(merge->cursors);
    free(merge);
}
