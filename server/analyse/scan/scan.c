/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the slices that a selection lets through in parts, whole blocks by their sums where
 * those suffice. */
#include "analyse/scan/scan.h"

#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "base/bisect.h"
#include "trace/ps.h"

struct range { /* whole slices of a row */
    track_id track;
    row_id row;
    uint32_t first, end;
    bool below_cut; /* a parent of theirs may be cut */
};

struct listing { /* what there is to walk over */
    const struct selection *selection;
    const struct trace *trace;
    const struct scan_visitor *visitor;
    struct range *ranges;
    uint32_t range_count, range_capacity;
    uint64_t slice_count; /* of the ranges */
    struct scanned *cuts;
    uint32_t cut_count, cut_capacity;
    struct map64 cut_of; /* slice -> index */
};

struct part {
    const struct listing *listing;
    void *data;
    uint64_t begin, end; /* of the ranges' slices, one after the other */
    struct chunk *chunk;
    uint8_t *name_seen;        /* by name: 0 not looked at, 1 wanted, 2 not */
    bool wanted[CHUNK_SLICES]; /* by place in the chunk's dictionary */
    int64_t *covered_ps;       /* by cut: what its children hold inside */
    slice_id last_parent;      /* siblings stand together: looked up once */
    uint32_t last_cut;         /* its index, or UINT32_MAX */
};

static bool wants_name(const struct listing *listing, name_id name)
{
    return !listing->selection->by_name ||
           selection_has_name(listing->selection, trace_name(listing->trace, name));
}

/* Is the slice an op that the selection lets through? */
static bool wants_entry(const struct selection *selection, const struct attributed *entry)
{
    return entry != NULL && selection_has_device(selection, entry->device) &&
           selection_has_op(selection, &selection->host->attribution->ops[entry->op]);
}

static bool wants_op(const struct selection *selection, slice_id slice)
{
    const struct attribution *attribution = selection->host->attribution;

    if (!selection->ops_only)
        return true;

    struct attributed room;

    return attribution != NULL && wants_entry(selection, attribution_of(attribution, slice, &room));
}

static void keep_cut(struct listing *listing, const struct scanned *slice)
{
    uint32_t *known = map64_at(&listing->cut_of, slice->slice, UINT32_MAX);

    /* A slice that several windows cut is one slice. */
    if (*known != UINT32_MAX) {
        ps_add(&listing->cuts[*known].inside_ps, slice->inside_ps);
        ps_add(&listing->cuts[*known].self_ps, slice->inside_ps);
        return;
    }
    *known = listing->cut_count;
    if (listing->cut_count == listing->cut_capacity) {
        listing->cut_capacity = listing->cut_capacity == 0 ? 64 : 2 * listing->cut_capacity;
        listing->cuts = memory_resize(listing->cuts, listing->cut_capacity, sizeof(*listing->cuts));
    }
    listing->cuts[listing->cut_count] = *slice;
    listing->cuts[listing->cut_count++].self_ps = slice->inside_ps;
}

/* The slice at an end of what touches a window: true when it is cut, and kept. */
static bool take_cut(struct listing *listing, const struct window *window, track_id track,
                     slice_id id)
{
    struct slice slice = trace_slice(listing->trace, id);
    int64_t end_ps = slice.start_ps + slice.dur_ps;
    uint32_t above;

    if (slice.start_ps >= window->from_ps && end_ps <= window->to_ps)
        return false;

    int64_t from_ps = slice.start_ps > window->from_ps ? slice.start_ps : window->from_ps;
    int64_t to_ps = end_ps < window->to_ps ? end_ps : window->to_ps;
    struct scanned cut = {
        .slice = id,
        .track = track,
        .name = slice.name,
        .kind = slice.kind,
        .dur_ps = slice.dur_ps,
        .inside_ps = to_ps > from_ps ? to_ps - from_ps : 0,
    };

    if (slice.parent != NO_SLICE && map64_get(&listing->cut_of, slice.parent, &above))
        ps_add(&listing->cuts[above].self_ps, -cut.inside_ps);
    keep_cut(listing, &cut);
    return true;
}

static void list_row(struct listing *listing, row_id index, const struct window *window,
                     uint32_t cuts_before)
{
    const struct row *row = &listing->trace->rows[index];
    struct range range = {.track = row->track, .row = index, .end = row->count};

    if (listing->selection->cut_in_time) {
        row_window(listing->trace, row, window->from_ps, window->to_ps, &range.first, &range.end);
        range.below_cut = listing->cut_count > cuts_before;
        if (range.first < range.end &&
            take_cut(listing, window, row->track, row->first_slice + range.first))
            range.first++;
        if (range.first < range.end &&
            take_cut(listing, window, row->track, row->first_slice + range.end - 1))
            range.end--;
    }
    if (range.first == range.end)
        return;
    if (listing->range_count == listing->range_capacity) {
        listing->range_capacity = listing->range_capacity == 0 ? 64 : 2 * listing->range_capacity;
        listing->ranges =
            memory_resize(listing->ranges, listing->range_capacity, sizeof(*listing->ranges));
    }
    listing->ranges[listing->range_count++] = range;
    listing->slice_count += range.end - range.first;
}

static void list_track(struct listing *listing, const struct track *track)
{
    uint32_t cuts_before = listing->cut_count;

    /* Parents lie in earlier rows: a cut one is known before its children come. */
    for (row_id row = track->first_row; row < track->first_row + track->row_count; row++) {
        struct row_windows windows = selection_windows_of(listing->selection, row);

        for (uint32_t i = 0; i < windows.count; i++) {
            const struct window *window = &windows.items[i];

            if (track->start_ps < window->to_ps && track->end_ps >= window->from_ps)
                list_row(listing, row, window, cuts_before);
        }
    }
}

static void take_from_parent(struct part *part, slice_id parent, int64_t inside_ps)
{
    if (parent != part->last_parent) {
        part->last_parent = parent;
        if (parent == NO_SLICE || !map64_get(&part->listing->cut_of, parent, &part->last_cut))
            part->last_cut = UINT32_MAX;
    }
    if (part->last_cut != UINT32_MAX)
        ps_add(&part->covered_ps[part->last_cut], inside_ps);
}

/* Which places of the chunk's dictionary are asked for; false: none. */
static bool look_at_names(struct part *part)
{
    const struct chunk *chunk = part->chunk;
    bool any = false;

    for (uint32_t i = 0; i < chunk->dictionary_count; i++) {
        uint8_t *seen = &part->name_seen[chunk->dictionary_name[i]];

        if (*seen == 0)
            *seen = wants_name(part->listing, chunk->dictionary_name[i]) ? 1 : 2;
        part->wanted[i] = *seen == 1;
        any |= part->wanted[i];
    }
    return any;
}

/* Those of the span that are ops, one by one. */
static void give_ops(struct part *part, const struct span *span)
{
    const struct selection *selection = part->listing->selection;
    const struct attribution *attribution = selection->host->attribution;
    const struct chunk *chunk = span->chunk;
    struct entry_reader reader;

    if (attribution == NULL)
        return;
    entry_reader_open(&reader, attribution,
                      ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DEVICE));
    for (uint32_t i = attribution_from(attribution, chunk->first_slice + span->first);
         i < attribution->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);
        uint32_t at = entry->slice - chunk->first_slice;

        if (at >= span->end)
            return;
        if ((span->wanted != NULL && !span->wanted[chunk->place[at]]) ||
            !wants_entry(selection, entry))
            continue;
        part->listing->visitor->visit(
            part->data, &(struct scanned){
                            .slice = entry->slice,
                            .track = span->track,
                            .name = chunk->dictionary_name[chunk->place[at]],
                            .kind = (enum kind)chunk->dictionary_kind[chunk->place[at]],
                            .dur_ps = chunk->dur_ps[at],
                            .inside_ps = chunk->dur_ps[at],
                            .self_ps = chunk->self_ps[at],
                        });
    }
}

/* Slices [first, end) of the chunk that is unpacked. */
static void give_span(struct part *part, const struct range *range, uint32_t first, uint32_t end,
                      bool all_kernels)
{
    const struct chunk *chunk = part->chunk;
    const struct selection *selection = part->listing->selection;
    struct span span = {.track = range->track,
                        .chunk = chunk,
                        .first = first,
                        .end = end,
                        .all_kernels = all_kernels};

    for (uint32_t at = first; range->below_cut && at < end; at++)
        take_from_parent(part, chunk->parent[at], chunk->dur_ps[at]);
    if (selection->by_name && !look_at_names(part))
        return;
    span.wanted = selection->by_name ? part->wanted : NULL;
    if (selection->ops_only)
        give_ops(part, &span);
    else
        part->listing->visitor->span(part->data, &span);
}

/* Do the sums of a block say what its slices take from parents that are cut? */
static bool knows_parents(const struct listing *listing, const struct slice_block *block)
{
    for (uint32_t i = 0; block->parent_min < block->parent_max && i < listing->cut_count; i++) {
        if (listing->cuts[i].slice >= block->parent_min &&
            listing->cuts[i].slice <= block->parent_max)
            return false;
    }
    return true;
}

/* The ordinals of a row from `at` on, where they are a block that the sums tell all of; 0, else how
 * many. */
static uint32_t give_block(struct part *part, const struct range *range, uint32_t at, uint32_t end)
{
    const struct listing *listing = part->listing;
    const struct block_sums *sums = listing->selection->host->sums;
    const struct row *row = &listing->trace->rows[range->row];
    uint32_t count = row->count - at < CHUNK_SLICES ? row->count - at : CHUNK_SLICES;

    if (sums == NULL || listing->visitor->block == NULL || listing->selection->ops_only ||
        listing->selection->by_name || at % CHUNK_SLICES != 0 || end - at < count)
        return 0;

    const struct slice_block *block = &sums->slices[row->first_chunk + at / CHUNK_SLICES];
    const struct whole_block whole = {.track = range->track,
                                      .first_slice = row->first_slice + at,
                                      .slice_count = count,
                                      .sums = &sums->places[block->first],
                                      .sum_count = block->count,
                                      .all_kernels = block->all_kernels};

    if (block->count == 0 || (range->below_cut && !knows_parents(listing, block)) ||
        !listing->visitor->block(part->data, &whole))
        return 0;
    if (range->below_cut && block->parent_min == block->parent_max)
        take_from_parent(part, block->parent_min, block->below_ps);
    return count;
}

/* Ordinals [first, end) of a row, chunk by chunk. */
static void walk_range(struct part *part, const struct range *range, uint32_t first, uint32_t end)
{
    const struct listing *listing = part->listing;
    const struct block_sums *sums = listing->selection->host->sums;
    const struct row *row = &listing->trace->rows[range->row];
    bool with_self = listing->visitor->with_self || listing->selection->ops_only;
    unsigned columns = COLUMN_DUR | COLUMN_PLACE | (with_self ? COLUMN_SELF : 0u) |
                       (range->below_cut ? COLUMN_PARENT : 0u);

    for (uint32_t at = first; at < end;) {
        uint32_t offset = at / CHUNK_SLICES * CHUNK_SLICES;
        uint32_t index = row->first_chunk + at / CHUNK_SLICES;
        uint32_t given = give_block(part, range, at, end);

        if (given > 0) {
            at += given;
            continue;
        }
        chunk_unpack(listing->trace, index, columns, part->chunk);

        uint32_t to = end - offset < part->chunk->count ? end - offset : part->chunk->count;

        if (at - offset >= to)
            break; /* a damaged chunk reads as empty */
        give_span(part, range, at - offset, to, sums != NULL && sums->slices[index].all_kernels);
        at = offset + to;
    }
}

static void walk_part(void *data, uint32_t index)
{
    struct part *part = &((struct part *)data)[index];
    uint64_t before = 0;

    for (uint32_t i = 0; i < part->listing->range_count && before < part->end; i++) {
        const struct range *range = &part->listing->ranges[i];
        uint64_t count = range->end - range->first;
        uint64_t from = part->begin > before ? part->begin - before : 0;
        uint64_t to = part->end - before < count ? part->end - before : count;

        if (from < to)
            walk_range(part, range, range->first + (uint32_t)from, range->first + (uint32_t)to);
        before += count;
    }
}

static void open_part(struct part *part, const struct listing *listing, uint32_t index,
                      uint32_t part_count)
{
    *part = (struct part){
        .listing = listing,
        .data = listing->visitor->data[index],
        .begin = split_begin(listing->slice_count, index, part_count),
        .end = split_begin(listing->slice_count, index + 1, part_count),
        .chunk = memory_resize(NULL, 1, sizeof(*part->chunk)), /* 190 KB: not on a stack */
        .covered_ps = memory_zeroed((size_t)listing->cut_count + 1, sizeof(*part->covered_ps)),
        .name_seen = memory_zeroed((size_t)listing->trace->name_count + 1, 1),
        .last_parent = NO_SLICE,
        .last_cut = UINT32_MAX,
    };
}

static void close_part(struct part *part, struct listing *listing)
{
    for (uint32_t i = 0; i < listing->cut_count; i++)
        ps_add(&listing->cuts[i].self_ps, -part->covered_ps[i]);
    free(part->chunk);
    free(part->covered_ps);
    free(part->name_seen);
}

static void give_cuts(const struct listing *listing)
{
    for (uint32_t i = 0; i < listing->cut_count; i++) {
        const struct scanned *cut = &listing->cuts[i];

        if (wants_name(listing, cut->name) && wants_op(listing->selection, cut->slice))
            listing->visitor->visit(listing->visitor->data[0], cut);
    }
}

uint32_t scan_parts(const struct selection *selection)
{
    const struct trace *trace = selection->host->trace;
    uint64_t slices = 0;

    for (track_id id = 0; id < trace->track_count; id++)
        slices += selection->tracks[id] ? trace->tracks[id].slice_count : 0;
    return split_count(slices);
}

void scan_slices(const struct selection *selection, const struct scan_visitor *visitor)
{
    const struct trace *trace = selection->host->trace;
    struct listing listing = {.selection = selection, .trace = trace, .visitor = visitor};
    struct part *parts = memory_resize(NULL, visitor->part_count, sizeof(*parts));

    for (track_id id = 0; id < trace->track_count; id++) {
        if (selection->tracks[id])
            list_track(&listing, &trace->tracks[id]);
    }
    for (uint32_t i = 0; i < visitor->part_count; i++)
        open_part(&parts[i], &listing, i, visitor->part_count);
    split_run(visitor->part_count, walk_part, parts);
    for (uint32_t i = 0; i < visitor->part_count; i++)
        close_part(&parts[i], &listing);
    give_cuts(&listing);
    map64_free(&listing.cut_of);
    free(listing.cuts);
    free(listing.ranges);
    free(parts);
}
