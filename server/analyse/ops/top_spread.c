/* SPDX-License-Identifier: Apache-2.0 */
/* The second walk: quantiles and deviation, for the rows of a page alone. */
#include <stdlib.h>

#include "analyse/ops/top_parts.h"

struct spread_part { /* of one host's walk */
    struct top_work *work;
    struct top_host *host;
    struct quantiles **spreads; /* by group; NULL: not of the page */
    struct top_span span;
    struct quantiles *of_place[CHUNK_SLICES];
};

static void spread_entry(struct spread_part *part, const struct scanned *slice,
                         const struct attributed *entry)
{
    uint32_t group = top_group_of(part->work, part->host, slice, entry);

    if (group != NO_GROUP && part->spreads[group] != NULL)
        quantiles_add(part->spreads[group], slice->dur_ps);
}

static void spread_slice(void *data, const struct scanned *slice)
{
    spread_entry(data, slice, NULL);
}

static void spread_one_by_one(struct spread_part *part, const struct span *span)
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

        struct scanned slice = {
            .slice = entry->slice,
            .track = span->track,
            .name = chunk->dictionary_name[chunk->place[at]],
            .kind = (enum kind)chunk->dictionary_kind[chunk->place[at]],
            .dur_ps = chunk->dur_ps[at],
        };

        if (span->wanted == NULL || span->wanted[chunk->place[at]])
            spread_entry(part, &slice, entry);
    }
}

static void spread_span(void *data, const struct span *span)
{
    struct spread_part *part = data;
    const struct chunk *chunk = span->chunk;
    bool any = false;

    if (top_one_by_one(part->work, part->host, span->track)) {
        spread_one_by_one(part, span);
        return;
    }
    if (!top_groups_of(part->work, part->host, span, &part->span))
        return;
    for (uint32_t i = 0; i < chunk->dictionary_count; i++) {
        uint32_t group = part->span.group[i];

        part->of_place[i] = group == NO_GROUP ? NULL : part->spreads[group];
        any |= part->of_place[i] != NULL;
    }
    for (uint32_t at = span->first; any && at < span->end; at++) {
        struct quantiles *spread = part->of_place[chunk->place[at]];

        if (spread != NULL && (!part->span.some || part->span.taken[at]))
            quantiles_add(spread, chunk->dur_ps[at]);
    }
}

/* What is not of the page need not be unpacked. */
static bool skip_whole_block(void *data, const struct whole_block *block)
{
    struct spread_part *part = data;

    if (top_one_by_one(part->work, part->host, block->track))
        return false;
    for (uint32_t i = 0; i < block->sum_count; i++) {
        const struct name_sum *sum = &block->sums[i];
        uint32_t group = top_group_of_name(part->work, part->host, block->track, sum->name,
                                           (enum kind)sum->kind, &part->span.name_fits[sum->name]);

        if (group != NO_GROUP && part->spreads[group] != NULL)
            return false;
    }
    return true;
}

static void spread_block(void *data, const struct op_block *block)
{
    struct spread_part *part = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);

        if (block->inside_ps[i] >= 0 && part->spreads[entry->op] != NULL)
            quantiles_add(part->spreads[entry->op], entry->dur_ps);
    }
}

static struct spread_part *open_part(struct top_work *work, struct top_host *host)
{
    struct spread_part *part = memory_resize(NULL, 1, sizeof(*part));
    size_t groups = (size_t)top_group_count(work, host) + 1;

    part->work = work;
    part->host = host;
    part->spreads = memory_zeroed(groups, sizeof(*part->spreads));
    part->span.name_fits = memory_zeroed((size_t)host->selection->host->trace->name_count + 1, 1);
    return part;
}

/* A part's own spread of each row of the page, for all of the row's groups. `all` are the rows'. */
static void open_spreads(const struct top_host *host, struct spread_part *part,
                         struct quantiles **all, struct quantiles **own)
{
    const struct tallies *tallies = &host->tallies[0];

    for (uint32_t i = 0; i < tallies->seen_count; i++) {
        uint32_t group = tallies->seen[i], row = host->row_of[group] - 1;

        if (all[row] == NULL)
            continue;
        if (own[row] == NULL)
            own[row] = quantiles_create_like(all[row]);
        part->spreads[group] = own[row];
    }
}

static void spread_host(struct top_work *work, struct top_host *host, struct quantiles **all)
{
    struct quantiles **own[SPLIT_PARTS_MAX];
    struct scan_visitor visitor = {.visit = spread_slice,
                                   .span = spread_span,
                                   .block = skip_whole_block,
                                   .part_count = host->part_count};

    for (uint32_t i = 0; i < host->part_count; i++) {
        struct spread_part *part = open_part(work, host);

        own[i] = memory_zeroed((size_t)work->row_count + 1, sizeof(*own[i]));
        open_spreads(host, part, all, own[i]);
        visitor.data[i] = part;
    }
    if (work->by <= BY_CATEGORY)
        scan_ops(host->selection, ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DUR), spread_block,
                 visitor.data, host->part_count);
    else
        scan_slices(host->selection, &visitor);
    for (uint32_t i = 0; i < host->part_count; i++) {
        struct spread_part *part = visitor.data[i];

        for (uint32_t row = 0; row < work->row_count; row++) {
            if (own[i][row] != NULL)
                quantiles_take(all[row], own[i][row]);
        }
        free(own[i]);
        free(part->spreads);
        free(part->span.name_fits);
        free(part);
    }
}

void top_spread(struct top_work *work, const uint32_t *order, uint32_t first, uint32_t end)
{
    struct quantiles **all = memory_zeroed((size_t)work->row_count + 1, sizeof(*all));
    for (uint32_t i = first; i < end; i++) {
        const struct top_row *row = &work->rows[order[i]];

        if (row->spread_known)
            continue;
        all[order[i]] = quantiles_create(
            row->event_count, row->event_count > 0 ? row->whole_ps / (int64_t)row->event_count : 0);
    }
    for (uint32_t i = 0; i < work->host_count; i++)
        spread_host(work, &work->hosts[i], all);
    for (uint32_t i = first; i < end; i++) {
        struct top_row *row = &work->rows[order[i]];
        struct quantiles *spread = all[order[i]];

        if (spread == NULL)
            continue;
        row->p50_ps = quantiles_at(spread, 50);
        row->p95_ps = quantiles_at(spread, 95);
        row->stdev_ps = quantiles_stdev(spread);
        row->approximate = !quantiles_exact(spread);
        row->spread_known = true;
        quantiles_free(spread);
    }
    free(all);
}
