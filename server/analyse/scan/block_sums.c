/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the sums of each block of a trace in parts, joins them, and finds the block of a slice. */
#include "analyse/scan/block_sums.h"

#include <stdlib.h>

#include "analyse/scan/scan.h"
#include "analyse/scan/split.h"
#include "base/arena.h"
#include "trace/ps.h"

/* A block of more names is looked at: there is little to join. */
enum { SUMS_A_BLOCK_MAX = CHUNK_SLICES / 4, RUNS_A_BLOCK_MAX = 256 };

struct maker { /* one of several, each of some rows */
    const struct trace *trace;
    const struct attribution *attribution;
    row_id first_row, end_row;
    struct block_sums sums; /* indexes count from this maker's own first */
    uint32_t place_capacity, entry_capacity, op_capacity, run_capacity;
    struct chunk *chunk;
    uint32_t *sum_of_op; /* of the block: index of its sum, plus one */
};

/* Room for one record more. */
static void *room(void *records, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return records;
    *capacity = *capacity == 0 ? 1024 : 2 * *capacity;
    return memory_resize(records, *capacity, size);
}

/* What the parents of a chunk's slices say of it. */
static void add_parents(const struct chunk *chunk, struct slice_block *block)
{
    block->parent_min = NO_SLICE;
    for (uint32_t at = 0; at < chunk->count; at++) {
        slice_id parent = chunk->parent[at];

        if (parent == NO_SLICE)
            continue;
        block->parent_min = parent < block->parent_min ? parent : block->parent_min;
        block->parent_max = parent > block->parent_max ? parent : block->parent_max;
        ps_add(&block->below_ps, chunk->dur_ps[at]);
    }
}

static void add_places(const struct chunk *chunk, struct name_sum *places)
{
    for (uint32_t i = 0; i < chunk->dictionary_count; i++)
        places[i] = (struct name_sum){.name = chunk->dictionary_name[i],
                                      .kind = (unsigned)chunk->dictionary_kind[i] & 15U,
                                      .min_ps = INT64_MAX};
    for (uint32_t at = 0; at < chunk->count; at++) {
        struct name_sum *sum = &places[chunk->place[at]];
        int64_t dur_ps = chunk->dur_ps[at];

        if (sum->count++ == 0)
            sum->first = at & (CHUNK_SLICES - 1);
        ps_add(&sum->total_ps, dur_ps);
        ps_add(&sum->self_ps, chunk->self_ps[at]);
        sum->min_ps = dur_ps < sum->min_ps ? dur_ps : sum->min_ps;
        sum->max_ps = dur_ps > sum->max_ps ? dur_ps : sum->max_ps;
    }
}

static bool are_kernels(const struct attribution *of, const struct chunk *chunk)
{
    uint32_t first = of == NULL ? 0 : attribution_from(of, chunk->first_slice);

    if (of == NULL ||
        attribution_from(of, chunk->first_slice + chunk->count) - first != chunk->count)
        return false;
    for (uint32_t at = 0; at < chunk->count; at++) {
        if (chunk->dictionary_kind[chunk->place[at]] == KIND_COPY &&
            entry_kernel(of, first + at) == NO_KERNEL)
            return false;
    }
    return true;
}

/* A damaged chunk is empty, and has no sums. */
static void make_slice_block(struct maker *maker, uint32_t index)
{
    struct chunk *chunk = maker->chunk;
    struct slice_block *block = &maker->sums.slices[index];
    struct block_sums *sums = &maker->sums;

    chunk_unpack(maker->trace, index, COLUMN_DUR | COLUMN_SELF | COLUMN_PLACE | COLUMN_PARENT,
                 chunk);
    *block = (struct slice_block){.first = sums->place_count,
                                  .all_kernels = are_kernels(maker->attribution, chunk)};
    add_parents(chunk, block);
    if (chunk->count == 0 || chunk->dictionary_count > SUMS_A_BLOCK_MAX)
        return;
    block->count = chunk->dictionary_count & INT32_MAX;
    while (maker->place_capacity - sums->place_count < block->count)
        sums->places =
            room(sums->places, maker->place_capacity, &maker->place_capacity, sizeof *sums->places);
    add_places(chunk, &sums->places[sums->place_count]);
    sums->place_count += block->count;
}

static struct op_sum *sum_of(struct maker *maker, const struct entry_block *block,
                             const struct attributed *entry)
{
    struct block_sums *sums = &maker->sums;
    uint32_t *known = &maker->sum_of_op[entry->op];

    if (*known == 0) {
        sums->ops = room(sums->ops, sums->op_count, &maker->op_capacity, sizeof *sums->ops);
        sums->ops[sums->op_count++] = (struct op_sum){

            .op = entry->op, .first = entry->slice, .min_ps = INT64_MAX};
        *known = sums->op_count - block->first_sum;
    }
    return &sums->ops[block->first_sum + *known - 1];
}

/* Entries of one execution mostly stand together. */
static void add_run(struct maker *maker, struct entry_block *block, const struct attributed *entry)
{
    struct block_sums *sums = &maker->sums;

    for (uint32_t i = sums->run_count; i-- > block->first_run;) {
        if (sums->runs[i].execution == entry->execution)
            return;
    }
    if (sums->run_count - block->first_run > RUNS_A_BLOCK_MAX)
        return; /* its sums are dropped below */
    sums->runs = room(sums->runs, sums->run_count, &maker->run_capacity, sizeof *sums->runs);
    sums->runs[sums->run_count++] = (struct block_run){entry->execution, entry->op};
}

static void add_entry(struct maker *maker, struct entry_block *block,
                      const struct attributed *entry)
{
    struct op_sum *sum = sum_of(maker, block, entry);
    int64_t end_ps = entry->start_ps + entry->dur_ps;

    block->start_ps = entry->start_ps < block->start_ps ? entry->start_ps : block->start_ps;
    block->last_ps = entry->start_ps > block->last_ps ? entry->start_ps : block->last_ps;
    block->end_ps = end_ps > block->end_ps ? end_ps : block->end_ps;
    sum->event_count++;
    ps_add(&sum->total_ps, entry->dur_ps);
    ps_add(&sum->self_ps, entry->self_ps);
    sum->min_ps = entry->dur_ps < sum->min_ps ? entry->dur_ps : sum->min_ps;
    sum->max_ps = entry->dur_ps > sum->max_ps ? entry->dur_ps : sum->max_ps;
    if (entry->execution == NO_EXECUTION) {
        sum->free_count++;
        return;
    }
    add_run(maker, block, entry);
}

static void make_entry_block(struct maker *maker, track_id track, uint32_t begin, uint32_t end)
{
    struct block_sums *sums = &maker->sums;
    struct entry_reader reader;
    struct entry_block block = {.begin = begin,
                                .end = end,
                                .track = track,
                                .first_sum = sums->op_count,
                                .first_run = sums->run_count,
                                .start_ps = INT64_MAX,
                                .last_ps = INT64_MIN,
                                .end_ps = INT64_MIN};

    entry_reader_open(&reader, maker->attribution,
                      ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_EXECUTION) |
                          ENTRY_BIT(ENTRY_START) | ENTRY_BIT(ENTRY_DUR) | ENTRY_BIT(ENTRY_COVERED));
    for (uint32_t i = begin; i < end; i++)
        add_entry(maker, &block, ENTRY_READ(&reader, i));
    block.sum_count = sums->op_count - block.first_sum;
    block.run_count = sums->run_count - block.first_run;
    for (uint32_t i = block.first_sum; i < sums->op_count; i++)
        maker->sum_of_op[sums->ops[i].op] = 0;
    if (block.sum_count > SUMS_A_BLOCK_MAX || block.run_count > RUNS_A_BLOCK_MAX) {
        block.sum_count = block.run_count = 0;
        sums->op_count = block.first_sum;
        sums->run_count = block.first_run;
    }
    sums->entries =
        room(sums->entries, sums->entry_block_count, &maker->entry_capacity, sizeof *sums->entries);
    sums->entries[sums->entry_block_count++] = block;
}

static void make_row(struct maker *maker, const struct row *row)
{
    const struct track *track = &maker->trace->tracks[row->track];

    for (uint32_t i = 0; i < row->chunk_count; i++) {
        if (track->derived || track->kind == TRACK_COUNTER) /* nobody sums them */
            maker->sums.slices[row->first_chunk + i] = (struct slice_block){0};
        else
            make_slice_block(maker, row->first_chunk + i);
    }
    if (maker->attribution == NULL)
        return;

    uint32_t end = attribution_from(maker->attribution, row->first_slice + row->count);

    for (uint32_t at = attribution_from(maker->attribution, row->first_slice); at < end;) {
        uint32_t to = end - at > CHUNK_SLICES ? at + CHUNK_SLICES : end;

        make_entry_block(maker, row->track, at, to);
        at = to;
    }
}

static void make_part(void *data, uint32_t part)
{
    struct maker *maker = &((struct maker *)data)[part];

    for (row_id row = maker->first_row; row < maker->end_row; row++)
        make_row(maker, &maker->trace->rows[row]);
}

static void *joined(void *to, uint32_t *to_count, void *from, uint32_t from_count, size_t size)
{
    if (from_count > 0) {
        to = memory_resize(to, (size_t)*to_count + from_count, size);
        memcpy((char *)to + *to_count * size, from, from_count * size);
    }
    *to_count += from_count;
    free(from);
    return to;
}

/* A further maker's sums behind those at hand. */
static void join(struct block_sums *to, const struct maker *maker)
{
    const struct block_sums *from = &maker->sums;
    uint32_t place = to->place_count, op = to->op_count, run = to->run_count;

    for (row_id row = maker->first_row; row < maker->end_row; row++) {
        const struct row *of = &maker->trace->rows[row];

        for (uint32_t i = 0; i < of->chunk_count; i++)
            to->slices[of->first_chunk + i].first += place;
    }
    for (uint32_t i = 0; i < from->entry_block_count; i++) {
        from->entries[i].first_sum += op;
        from->entries[i].first_run += run;
    }
    to->places =
        joined(to->places, &to->place_count, from->places, from->place_count, sizeof *to->places);
    to->ops = joined(to->ops, &to->op_count, from->ops, from->op_count, sizeof *to->ops);
    to->runs = joined(to->runs, &to->run_count, from->runs, from->run_count, sizeof *to->runs);
    to->entries = joined(to->entries, &to->entry_block_count, from->entries,
                         from->entry_block_count, sizeof *to->entries);
}

/* The row with which a part of all slices begins. */
static row_id row_of_part(const struct trace *trace, uint32_t part, uint32_t count)
{
    uint64_t begin = split_begin(trace->slice_count, part, count), before = 0;
    row_id row = 0;

    while (row < trace->row_count && before < begin)
        before += trace->rows[row++].count;
    return part == count ? trace->row_count : row;
}

static uint32_t chunk_count(const struct trace *trace)
{
    uint32_t count = 0;

    for (row_id row = 0; row < trace->row_count; row++) {
        uint32_t end = trace->rows[row].first_chunk + trace->rows[row].chunk_count;

        count = end > count ? end : count;
    }
    return count;
}

struct block_sums *block_sums_make(const struct trace *trace, const struct attribution *attribution)
{
    struct block_sums *sums = memory_resize(NULL, 1, sizeof *sums);
    struct maker makers[SPLIT_PARTS_MAX];
    uint32_t part_count = split_count(trace->slice_count);

    *sums = (struct block_sums){.slice_block_count = chunk_count(trace)};
    sums->slices = memory_resize(NULL, (size_t)sums->slice_block_count + 1, sizeof *sums->slices);
    for (uint32_t i = 0; i < part_count; i++) {
        makers[i] = (struct maker){.trace = trace,
                                   .attribution = attribution,
                                   .first_row = row_of_part(trace, i, part_count),
                                   .end_row = row_of_part(trace, i + 1, part_count),
                                   .sums = {.slices = sums->slices},
                                   .chunk = memory_resize(NULL, 1, sizeof(struct chunk))};
        makers[i].sum_of_op =
            memory_zeroed(attribution == NULL ? 1 : (size_t)attribution->op_count + 1,
                          sizeof *makers[i].sum_of_op);
    }
    split_run(part_count, make_part, makers);
    for (uint32_t i = 0; i < part_count; i++) {
        join(sums, &makers[i]);
        free(makers[i].chunk);
        free(makers[i].sum_of_op);
    }
    sums->bytes = sizeof *sums + sums->slice_block_count * sizeof *sums->slices +
                  sums->place_count * sizeof *sums->places +
                  sums->entry_block_count * sizeof *sums->entries +
                  sums->op_count * sizeof *sums->ops + sums->run_count * sizeof *sums->runs;
    return sums;
}

void block_sums_free(struct block_sums *sums)
{
    if (sums == NULL)
        return;
    free(sums->slices);
    free(sums->places);
    free(sums->entries);
    free(sums->ops);
    free(sums->runs);
    free(sums);
}
