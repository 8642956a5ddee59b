/* SPDX-License-Identifier: Apache-2.0 */
/* The first walk: sums by group, then by row. */
#include <stdlib.h>

#include "analyse/hlo/phase.h"
#include "analyse/ops/top_parts.h"
#include "trace/ps.h"

struct place_sum {
    int64_t total_ps, self_ps, min_ps, max_ps;
    uint32_t count, first;
};

struct slice_part { /* of one host's walk */
    struct top_work *work;
    struct top_host *host;
    struct tallies *tallies;
    struct top_span span;
    struct place_sum places[CHUNK_SLICES];
};

static void add_slice(struct slice_part *part, const struct scanned *slice,
                      const struct attributed *entry)
{
    uint32_t group = top_group_of(part->work, part->host, slice, entry);

    if (group == NO_GROUP)
        return;

    struct tally *tally = tally_of(part->tallies, group);

    if (slice->slice < tally->first) {
        tally->first = slice->slice;
        tally->track = slice->track;
        tally->name = slice->name;
        tally->kind = (uint8_t)slice->kind;
    }
    tally->count++;
    tally_add(tally, slice->dur_ps, slice->inside_ps, slice->self_ps);
}

static void sum_slice(void *data, const struct scanned *slice)
{
    add_slice(data, slice, NULL);
}

/* Sums by place in the chunk's dictionary, which stay at hand. */
static void sum_places(const struct span *span, const struct top_span *groups,
                       struct place_sum *places)
{
    const struct chunk *chunk = span->chunk;

    for (uint32_t i = 0; i < chunk->dictionary_count; i++)
        places[i] = (struct place_sum){.min_ps = INT64_MAX};
    for (uint32_t at = span->first; at < span->end; at++) {
        struct place_sum *sum = &places[chunk->place[at]];
        int64_t dur_ps = chunk->dur_ps[at];

        if (groups->some && !groups->taken[at])
            continue;
        sum->first = sum->count == 0 ? at : sum->first;
        sum->count++;
        ps_add(&sum->total_ps, dur_ps);
        ps_add(&sum->self_ps, chunk->self_ps[at]);
        sum->min_ps = dur_ps < sum->min_ps ? dur_ps : sum->min_ps;
        sum->max_ps = dur_ps > sum->max_ps ? dur_ps : sum->max_ps;
    }
}

static void add_places(struct slice_part *part, const struct span *span)
{
    const struct chunk *chunk = span->chunk;

    for (uint32_t i = 0; i < chunk->dictionary_count; i++) {
        const struct place_sum *sum = &part->places[i];

        if (sum->count == 0 || part->span.group[i] == NO_GROUP)
            continue;

        struct tally of_place = {
            .count = sum->count,
            .event_count = sum->count,
            .total_ps = sum->total_ps,
            .self_ps = sum->self_ps,
            .whole_ps = sum->total_ps,
            .parts = sum->count * TALLY_WHOLE,
            .min_ps = sum->min_ps,
            .max_ps = sum->max_ps,
            .first = chunk->first_slice + sum->first,
            .track = span->track,
            .name = chunk->dictionary_name[i],
            .kind = chunk->dictionary_kind[i],
        };

        tally_join(tally_of(part->tallies, part->span.group[i]), &of_place);
    }
}

static void add_one_by_one(struct slice_part *part, const struct span *span)
{
    const struct attribution *attribution = part->host->selection->host->attribution;
    const struct chunk *chunk = span->chunk;
    struct entry_reader reader;

    if (attribution == NULL)
        return;
    entry_reader_open(&reader, attribution, ENTRY_ALL);
    for (uint32_t i = attribution_from(attribution, chunk->first_slice + span->first);
         i < attribution->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);
        uint32_t at = entry->slice - chunk->first_slice;

        if (at >= span->end)
            return;
        if (span->wanted != NULL && !span->wanted[chunk->place[at]])
            continue;
        add_slice(part,
                  &(struct scanned){
                      .slice = entry->slice,
                      .track = span->track,
                      .name = chunk->dictionary_name[chunk->place[at]],
                      .kind = (enum kind)chunk->dictionary_kind[chunk->place[at]],
                      .dur_ps = chunk->dur_ps[at],
                      .inside_ps = chunk->dur_ps[at],
                      .self_ps = chunk->self_ps[at],
                  },
                  entry);
    }
}

static void sum_span(void *data, const struct span *span)
{
    struct slice_part *part = data;

    if (top_one_by_one(part->work, part->host, span->track)) {
        add_one_by_one(part, span);
    } else if (top_groups_of(part->work, part->host, span, &part->span)) {
        sum_places(span, &part->span, part->places);
        add_places(part, span);
    }
}

static bool sum_whole_block(void *data, const struct whole_block *block)
{
    struct slice_part *part = data;

    if (!top_takes_whole(part->work, part->host, block))
        return false;
    for (uint32_t i = 0; i < block->sum_count; i++)
        part->span.group[i] = top_group_of_name(part->work, part->host, block->track,
                                                block->sums[i].name, (enum kind)block->sums[i].kind,
                                                &part->span.name_fits[block->sums[i].name]);
    top_sum_block(part->tallies, block, part->span.group);
    return true;
}

/* All parts' tallies into the first part's. */
static void join_parts(struct top_host *host)
{
    struct tallies *to = &host->tallies[0];

    for (uint32_t i = 1; i < host->part_count; i++) {
        const struct tallies *from = &host->tallies[i];

        for (uint32_t k = 0; k < from->seen_count; k++)
            tally_join(tally_of(to, from->seen[k]), &from->items[from->seen[k]]);
    }
}

static void sum_slices(struct top_work *work, struct top_host *host)
{
    struct slice_part *parts[SPLIT_PARTS_MAX];
    struct scan_visitor visitor = {.visit = sum_slice,
                                   .span = sum_span,
                                   .block = sum_whole_block,
                                   .with_self = true,
                                   .part_count = host->part_count};

    for (uint32_t i = 0; i < host->part_count; i++) {
        parts[i] = memory_resize(NULL, 1, sizeof(*parts[i]));
        parts[i]->work = work;
        parts[i]->host = host;
        parts[i]->tallies = &host->tallies[i];
        parts[i]->span.name_fits =
            memory_zeroed((size_t)host->selection->host->trace->name_count + 1, 1);
        visitor.data[i] = parts[i];
    }
    scan_slices(host->selection, &visitor);
    join_parts(host);
    for (uint32_t i = 0; i < host->part_count; i++) {
        free(parts[i]->span.name_fits);
        free(parts[i]);
    }
}

/* Of modules it is executions that count, and all parts must be asked. */
static bool counts(struct op_part *part, const struct attributed *entry)
{
    if (part->work->by != BY_MODULE || entry->execution == NO_EXECUTION)
        return true;
    if (part->op_of[entry->execution] == 0)
        part->op_of[entry->execution] = entry->op + 1;
    return false;
}

static void sum_block(void *data, const struct op_block *block)
{
    struct op_part *part = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);

        if (block->inside_ps[i] < 0)
            continue;

        struct tally *tally = tally_of(part->tallies, entry->op);

        tally->first = entry->slice < tally->first ? entry->slice : tally->first;
        tally_add(tally, entry->dur_ps, block->inside_ps[i], block->self_ps[i]);
        tally->count += counts(part, entry);
    }
}

/* What several parts may have seen of one execution counts once. */
static void count_executions(struct top_host *host, struct op_part *parts)
{
    const struct attribution *attribution = host->selection->host->attribution;

    for (uint32_t i = 0; parts[0].op_of != NULL && i < attribution->execution_count; i++) {
        uint32_t part = 0;

        while (part + 1 < host->part_count && parts[part].op_of[i] == 0)
            part++;
        if (parts[part].op_of[i] != 0)
            host->tallies[0].items[parts[part].op_of[i] - 1].count++;
    }
}

static void sum_ops(struct top_work *work, struct top_host *host)
{
    const struct attribution *attribution = host->selection->host->attribution;
    struct op_part parts[SPLIT_PARTS_MAX];
    void *data[SPLIT_PARTS_MAX];

    if (attribution == NULL)
        return;

    for (uint32_t i = 0; i < host->part_count; i++) {
        parts[i] = (struct op_part){.work = work, .host = host, .tallies = &host->tallies[i]};
        if (work->by == BY_MODULE) {
            parts[i].op_of =
                memory_zeroed((size_t)attribution->execution_count + 1, sizeof(*parts[i].op_of));
        }
        data[i] = &parts[i];
    }

    const unsigned columns = ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DUR) |
                             ENTRY_BIT(ENTRY_COVERED) |
                             (work->by == BY_MODULE ? ENTRY_BIT(ENTRY_EXECUTION) : 0);
    uint32_t left_count;
    const struct entry_range *left = top_sum_op_blocks(&parts[0], work->arena, &left_count);

    if (left != NULL)
        scan_ops_in(host->selection, left, left_count, columns, sum_block, data, host->part_count);
    else
        scan_ops(host->selection, columns, sum_block, data, host->part_count);
    join_parts(host);
    count_executions(host, parts);
    for (uint32_t i = 0; i < host->part_count; i++) {
        free(parts[i].op_of);
    }
}

static void add_to_row(struct top_row *row, const struct tally *tally, enum kind kind)
{
    row->count += tally->count;
    row->event_count += tally->event_count;
    ps_add(&row->kind_ps[kind % KIND_COUNT], tally->self_ps);
    ps_add(&row->total_ps, tally->total_ps);
    ps_add(&row->self_ps, tally->self_ps);
    ps_add(&row->whole_ps, tally->whole_ps);
    row->min_ps = tally->min_ps < row->min_ps ? tally->min_ps : row->min_ps;
    row->max_ps = tally->max_ps > row->max_ps ? tally->max_ps : row->max_ps;
}

/* Rows stand in the order of their first slices: where equal ones were sorted, that is seen. */
static int by_first(const void *left, const void *right, void *data)
{
    const struct tally *items = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (items[a].first != items[b].first)
        return items[a].first < items[b].first ? -1 : 1;
    return (a > b) - (a < b);
}

static void add_path(const struct top_work *work, const struct top_host *host, uint32_t group,
                     struct path_of *to)
{
    const struct path_of *const *lists =
        work->by <= BY_CATEGORY ? work->question->paths->ops : work->question->paths->names;
    const struct path_of *own = lists[host->selection->index];

    if (own == NULL || own[group].count == 0)
        return;
    own += group;
    if (to->count == 0 || own->slack_ps < to->slack_ps)
        to->slack_ps = own->slack_ps;
    ps_add(&to->on_path_ps, own->on_path_ps);
    to->count += own->count;
}

static void add_groups(struct top_work *work, struct top_host *host)
{
    const struct tallies *tallies = &host->tallies[0];

    qsort_r(tallies->seen, tallies->seen_count, sizeof(*tallies->seen), by_first, tallies->items);
    for (uint32_t i = 0; i < tallies->seen_count; i++) {
        uint32_t group = tallies->seen[i];
        const struct tally *tally = &tallies->items[group];
        uint32_t row = top_row_of(work, host, group, tally);

        bool is_op = work->by <= BY_CATEGORY;

        add_to_row(&work->rows[row], tally,
                   is_op ? host->selection->host->attribution->ops[group].kind
                         : (enum kind)tally->kind);
        if (is_op)
            work->rows[row].phases |=
                1u << phase_of_op(host->selection->host->trace,
                                  &host->selection->host->attribution->ops[group]);
        if (work->question->paths != NULL && work->by <= BY_API)
            add_path(work, host, group, &work->rows[row].path);
        if (work->by <= BY_CATEGORY && host->costs != NULL)
            top_add_costs(host, &work->rows[row], group, tally);
    }
}

void top_sum(struct top_work *work)
{
    for (uint32_t i = 0; i < work->host_count; i++) {
        struct top_host *host = &work->hosts[i];
        bool ops = work->by <= BY_CATEGORY, stored = top_is_stored(work, host);

        host->part_count = ops ? scan_op_parts(host->selection) : scan_parts(host->selection);
        for (uint32_t part = 0; part < (stored ? 1 : host->part_count); part++)
            host->tallies[part] = tallies_create(top_group_count(work, host));
        if (stored)
            top_sum_stored(work, host);
        else if (ops)
            sum_ops(work, host);
        else
            sum_slices(work, host);
        add_groups(work, host);
        if (stored && work->host_count == 1)
            top_take_stored_spreads(work, host);
    }
}
