/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows, from their ends as they come to the two tables.
 *
 *   given    (kind, id, end, time, place of the slice), set aside in PARTS parts by (kind, id):
 *            a part is a chain of blocks in one file, so that joining it stays in the cache
 *   bound    a place becomes a slice id when rows have theirs; a track that was sorted again has
 *            lost its places: its slices are found by event, many at once
 *   joined   part by part, ends of one (kind, id) in order of time (flow_join.c)
 *
 *       from --> to             from --> step --> to           from --> to   from --> to
 *          \---> to                                           the id is used again
 *
 * An end without a slice is dropped, and so is one without a counterpart.
 */
#include <stdlib.h>

#include "trace/events/flow_ends.h"
#include "trace/readers.h"

enum { PART_BITS = 8, PARTS = 1 << PART_BITS, BLOCK_ENDS = 128 };

struct flow_part {
    uint32_t *blocks; /* of BLOCK_ENDS ends, in order: numbers in the file */
    uint32_t block_count, block_capacity;
    uint32_t gathered_count; /* ends of the next block */
};

struct flow_writer {
    struct part_tools tools;
    struct flow_part parts[PARTS];
    struct flow_given (*gathered)[BLOCK_ENDS]; /* by part */
    struct spill *ends;                        /* blocks of all parts */
    struct spill *flows;                       /* joined */
};

static struct spill *new_spill(const struct part_tools *tools)
{
    return spill_create(tools->temporary_dir, tools->budget->spill_bytes_max);
}

struct flow_writer *flow_writer_create(const struct part_tools *tools)
{
    struct flow_writer *writer = memory_resize(NULL, 1, sizeof(*writer));

    *writer =
        (struct flow_writer){.tools = *tools,
                             .gathered = memory_resize(NULL, PARTS, sizeof(*writer->gathered)),
                             .ends = new_spill(tools),
                             .flows = new_spill(tools)};
    return writer;
}

void flow_writer_destroy(struct flow_writer *writer)
{
    if (writer == NULL)
        return;
    for (int i = 0; i < PARTS; i++)
        free(writer->parts[i].blocks);
    spill_destroy(writer->ends);
    spill_destroy(writer->flows);
    free(writer->gathered);
    free(writer);
}

static enum status put_block(struct flow_writer *writer, uint32_t index)
{
    struct flow_part *part = &writer->parts[index];
    struct bytes bytes = {.at = (const uint8_t *)writer->gathered[index],
                          .count = sizeof(writer->gathered[index])};
    uint64_t offset;

    if (part->block_count == part->block_capacity) {
        part->block_capacity = part->block_capacity == 0 ? 16 : part->block_capacity * 2;
        part->blocks = memory_resize(part->blocks, part->block_capacity, sizeof(*part->blocks));
    }
    part->gathered_count = 0;
    TRY(spill_append(writer->ends, bytes, &offset, writer->tools.err));
    part->blocks[part->block_count++] = (uint32_t)(offset / bytes.count);
    return OK;
}

/* Neighbouring ids go to one part: what belongs together is often together. */
static uint32_t part_of(uint64_t id, name_id kind)
{
    uint64_t mixed = ((id >> 8) ^ (uint64_t)kind << 40) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed >> (64 - PART_BITS));
}

static void put(struct flow_writer *writer, const struct flow_given *given)
{
    uint32_t index = part_of(given->id, flow_kind_of(given->kind_end));
    struct flow_part *part = &writer->parts[index];

    if (part->gathered_count == BLOCK_ENDS && put_block(writer, index) != OK)
        return; /* the failure stays in the sink's error */
    writer->gathered[index][part->gathered_count++] = *given;
}

void flow_writer_end(struct flow_writer *writer, enum flow_end end, name_id kind, uint64_t id,
                     event_id event, int64_t start_ps, struct slice_place place)
{
    put(writer, &(struct flow_given){.id = id,
                                     .at_ps = start_ps,
                                     .kind_end = flow_kind_end(kind, end),
                                     .event = event,
                                     .place = place});
}

void flow_writer_at(struct flow_writer *writer, enum flow_end end, name_id kind, uint64_t id,
                    track_id track, int64_t at_ps, bool next)
{
    put(writer, &(struct flow_given){.id = id,
                                     .at_ps = at_ps,
                                     .kind_end = flow_kind_end(kind, end),
                                     .event = track,
                                     .place = {.row = next ? FLOW_NEXT : FLOW_AT}});
}

/* The innermost slice at a time; one that just ended there where none runs. */
static slice_id slice_at(const struct trace *trace, track_id track, int64_t at_ps)
{
    const struct row *rows = &trace->rows[trace->tracks[track].first_row];
    slice_id ended = NO_SLICE;

    for (uint32_t depth = trace->tracks[track].row_count; depth-- > 0;) {
        uint32_t ordinal = row_find(trace, &rows[depth], at_ps);
        slice_id id = rows[depth].first_slice + ordinal;

        if (ordinal < rows[depth].count && trace_slice(trace, id).start_ps <= at_ps)
            return id;
        if (ordinal == 0 || ended != NO_SLICE)
            continue;

        struct slice before = trace_slice(trace, id - 1);

        if (before.start_ps + before.dur_ps == at_ps)
            ended = before.id;
    }
    return ended;
}

/* The next slice to start, the outermost of equals. */
static slice_id slice_next(const struct trace *trace, track_id track, int64_t at_ps)
{
    const struct row *rows = &trace->rows[trace->tracks[track].first_row];
    struct slice best = {.id = NO_SLICE};

    for (uint32_t depth = 0; depth < trace->tracks[track].row_count; depth++) {
        uint32_t ordinal = row_find(trace, &rows[depth], at_ps);
        struct slice slice = {0};

        for (; ordinal < rows[depth].count; ordinal++) {
            slice = trace_slice(trace, rows[depth].first_slice + ordinal);
            if (slice.start_ps >= at_ps)
                break;
        }
        if (ordinal < rows[depth].count && (best.id == NO_SLICE || slice.start_ps < best.start_ps))
            best = slice;
    }
    return best.id;
}

static slice_id slice_of_time(const struct trace *trace, const struct flow_given *given)
{
    if (given->event >= trace->track_count)
        return NO_SLICE;
    return given->place.row == FLOW_NEXT ? slice_next(trace, given->event, given->at_ps)
                                         : slice_at(trace, given->event, given->at_ps);
}

static bool is_timed(const struct flow_given *given)
{
    return given->place.row == FLOW_AT || given->place.row == FLOW_NEXT;
}

/* Where the place still holds; NO_SLICE where the slice must be found by its event. */
static slice_id slice_of_place(const struct written_rows *rows, struct slice_place place)
{
    if (place.row >= rows->count || rows->first_slices[place.row] == NO_SLICE)
        return NO_SLICE;
    return rows->first_slices[place.row] + place.ordinal;
}

/* Ends come by event, so the events that are still wanted ascend. */
static void bind_by_event(const struct trace *trace, const struct flow_given *ends,
                          const uint32_t *lost, uint32_t lost_count, slice_id *ret)
{
    event_id *events = memory_resize(NULL, lost_count + 1u, sizeof(*events));
    slice_id *slices = memory_resize(NULL, lost_count + 1u, sizeof(*slices));
    uint32_t distinct = 0, at = 0;

    for (uint32_t i = 0; i < lost_count; i++)
        if (distinct == 0 || events[distinct - 1] != ends[lost[i]].event)
            events[distinct++] = ends[lost[i]].event;
    trace_slices_of_events(trace, events, distinct, slices);
    for (uint32_t i = 0; i < lost_count; i++) {
        if (events[at] != ends[lost[i]].event)
            at++;
        ret[lost[i]] = slices[at];
    }
    free(events);
    free(slices);
}

/* Every end gets its slice; returns how many ends may become arrows. */
static uint32_t bind(const struct trace *trace, const struct written_rows *rows,
                     const struct flow_given *ends, uint32_t count, slice_id *ret)
{
    uint32_t *lost = NULL, lost_count = 0, lost_capacity = 0, receiver_count = 0;

    for (uint32_t i = 0; i < count; i++) {
        bool timed = is_timed(&ends[i]);
        slice_id slice =
            timed ? slice_of_time(trace, &ends[i]) : slice_of_place(rows, ends[i].place);

        ret[i] = slice;
        receiver_count += flow_end_of(ends[i].kind_end) != FLOW_FROM;
        if (slice != NO_SLICE || timed)
            continue;
        if (lost_count == lost_capacity) {
            lost_capacity = lost_capacity ? lost_capacity * 2 : BLOCK_ENDS;
            lost = memory_resize(lost, lost_capacity, sizeof(*lost));
        }
        lost[lost_count++] = i;
    }
    if (lost_count > 0)
        bind_by_event(trace, ends, lost, lost_count, ret);
    free(lost);
    return receiver_count;
}

/* All ends of a part, in the order they were given. */
static enum status read_part(struct flow_writer *writer, uint32_t index, struct flow_room *room,
                             uint32_t *ret_count, struct error *err)
{
    const struct flow_part *part = &writer->parts[index];
    const size_t block_bytes = sizeof(writer->gathered[index]);
    const uint64_t count = (uint64_t)part->block_count * BLOCK_ENDS + part->gathered_count;

    if (count >= UINT32_MAX / 2)
        return fail(err, ERR_LIMIT, "%llu ends of arrows of few ids", (unsigned long long)count);
    room->ends = flow_room_for(room->ends, &room->ends_capacity, count, sizeof(*room->ends));
    for (uint32_t i = 0; i < part->block_count; i++)
        TRY(spill_read(writer->ends, part->blocks[i] * (uint64_t)block_bytes,
                       room->ends + (size_t)i * BLOCK_ENDS, block_bytes, err));
    if (part->gathered_count > 0)
        memcpy(room->ends + (size_t)part->block_count * BLOCK_ENDS, writer->gathered[index],
               part->gathered_count * sizeof(*room->ends));
    *ret_count = (uint32_t)count;
    return OK;
}

static enum status join_part(struct flow_writer *writer, uint32_t index, const struct trace *trace,
                             const struct written_rows *rows, struct flow_room *room,
                             struct error *err)
{
    uint64_t offset;
    uint32_t count = 0;

    TRY(read_part(writer, index, room, &count, err));
    room->slices =
        flow_room_for(room->slices, &room->slices_capacity, count, sizeof(*room->slices));
    uint32_t receiver_count = bind(trace, rows, room->ends, count, room->slices);
    room->flows =
        flow_room_for(room->flows, &room->flows_capacity, receiver_count, sizeof(*room->flows));
    uint32_t flow_count = flow_join(room, count);
    return spill_append(writer->flows,
                        (struct bytes){.at = (const uint8_t *)room->flows,
                                       .count = flow_count * sizeof(*room->flows)},
                        &offset, err);
}

static enum status join_parts(struct flow_writer *writer, const struct trace *trace,
                              const struct written_rows *rows, struct error *err)
{
    struct flow_room room = {0};
    enum status status = OK;

    for (uint32_t i = 0; i < PARTS && status == OK; i++)
        status = join_part(writer, i, trace, rows, &room, err);
    flow_room_free(&room);
    spill_destroy(writer->ends);
    writer->ends = NULL;
    return status;
}

static enum status write_tables(struct flow_writer *writer, struct error *err)
{
    struct block_out out = writer->tools.out;
    struct bytes joined;
    uint8_t *table;

    TRY(spill_map(writer->flows, &joined, err));
    const uint32_t count = (uint32_t)(joined.count / sizeof(struct flow));
    TRY(out.table_reserve(out.to, TABLE_FLOWS, joined.count, &table, err));
    struct flow *flows = (struct flow *)(void *)table;
    uint32_t *by_to = memory_resize(NULL, count + 1u, sizeof(*by_to));
    flow_sort((const struct flow *)(const void *)joined.at, count, flows);
    flow_sort_by_to(flows, count, by_to);
    struct bytes bytes = {.at = (const uint8_t *)by_to, .count = count * sizeof(*by_to)};
    enum status status = out.table(out.to, TABLE_FLOWS_BY_TO, bytes, err);
    free(by_to);
    return status;
}

enum status flow_writer_finish(struct flow_writer *writer, const struct trace *trace,
                               const struct written_rows *rows, struct error *err)
{
    TRY(join_parts(writer, trace, rows, err));
    const uint64_t count = spill_bytes(writer->flows) / sizeof(struct flow);
    if (count >= UINT32_MAX)
        return fail(err, ERR_LIMIT, "%llu arrows", (unsigned long long)count);
    return write_tables(writer, err);
}
