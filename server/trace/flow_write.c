/* Arrows, joined at the finish.
 *
 *   ends     wait in a spill file: (kind, id, end, event) or (kind, id, end, track, time)
 *   bound    each gets its slice and its time from the readable trace
 *   joined   ends of one (kind, id) in order of time: one that receives comes from the latest one
 *            before it that sends; one that is before all senders comes from the first
 *
 *       from --> to             from --> step --> to           from --> to   from --> to
 *          \---> to                                           the id is used again
 *
 * An end without a slice is dropped, and so is one without a counterpart. More ends than
 * ENDS_IN_MEMORY are joined in several passes over the spill file, each of which takes the ids that
 * fall to it, so that memory does not grow with their number.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/sort.h"
#include "trace/sink_parts.h"
#include "trace/trace_parts.h"

enum { ENDS_IN_MEMORY = 1 << 19, READ_ENDS = 4096 };

enum found_by { BY_EVENT, BY_TIME, BY_TIME_NEXT };

struct end {
    uint64_t id;
    int64_t at_ps; /* given, or of the event's slice */
    name_id kind;
    uint32_t event_or_track;
    slice_id slice;
    uint8_t end, found_by; /* enum flow_end, enum found_by */
    uint16_t zero;
};

struct flow_writer {
    struct part_tools tools;
    struct spill *ends, *flows;
    uint64_t end_count, flow_count;
};

struct ends { /* of one pass */
    struct end *at;
    uint32_t count, capacity;
};

struct flow_writer *flow_writer_create(const struct part_tools *tools)
{
    struct flow_writer *writer = memory_resize(NULL, 1, sizeof(*writer));

    *writer = (struct flow_writer){
        .tools = *tools,
        .ends = spill_create(tools->temporary_dir, tools->budget->spill_bytes_max),
        .flows = spill_create(tools->temporary_dir, tools->budget->spill_bytes_max)};
    return writer;
}

void flow_writer_destroy(struct flow_writer *writer)
{
    if (writer == NULL)
        return;
    spill_destroy(writer->ends);
    spill_destroy(writer->flows);
    free(writer);
}

static void put_end(struct flow_writer *writer, const struct end *end)
{
    struct bytes bytes = {.at = (const uint8_t *)end, .count = sizeof(*end)};
    uint64_t offset;

    if (spill_append(writer->ends, bytes, &offset, writer->tools.err) == OK)
        writer->end_count++;
}

void flow_writer_end(struct flow_writer *writer, enum flow_end end, name_id kind, uint64_t id,
                     event_id event)
{
    put_end(writer, &(struct end){.id = id,
                                  .kind = kind,
                                  .event_or_track = event,
                                  .end = (uint8_t)end,
                                  .found_by = BY_EVENT});
}

void flow_writer_at(struct flow_writer *writer, enum flow_end end, name_id kind, uint64_t id,
                    track_id track, int64_t at_ps, bool next)
{
    put_end(writer, &(struct end){.id = id,
                                  .at_ps = at_ps,
                                  .kind = kind,
                                  .event_or_track = track,
                                  .end = (uint8_t)end,
                                  .found_by = next ? BY_TIME_NEXT : BY_TIME});
}

static uint64_t pass_of(const struct end *end, uint64_t pass_count)
{
    struct { /* without padding */
        uint64_t id, kind;
    } key = {.id = end->id, .kind = end->kind};

    return pass_count == 1
               ? 0
               : hash64((struct bytes){(const uint8_t *)&key, sizeof(key)}) % pass_count;
}

static void keep_end(struct ends *ends, const struct end *end)
{
    if (ends->count == ends->capacity) {
        ends->capacity = ends->capacity == 0 ? READ_ENDS : ends->capacity * 2;
        ends->at = memory_resize(ends->at, ends->capacity, sizeof(*ends->at));
    }
    ends->at[ends->count++] = *end;
}

static enum status read_ends(struct flow_writer *writer, uint64_t pass, uint64_t pass_count,
                             struct ends *ret, struct error *err)
{
    struct end *room = memory_resize(NULL, READ_ENDS, sizeof(*room));
    enum status status = OK;

    ret->count = 0;
    for (uint64_t i = 0; i < writer->end_count && status == OK; i += READ_ENDS) {
        uint64_t left = writer->end_count - i, count = left < READ_ENDS ? left : READ_ENDS;

        status = spill_read(writer->ends, i * sizeof(*room), room, count * sizeof(*room), err);
        for (uint64_t j = 0; j < count && status == OK; j++)
            if (pass_of(&room[j], pass_count) == pass)
                keep_end(ret, &room[j]);
    }
    free(room);
    return status;
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

static bool by_event(const struct end *a, const struct end *b)
{
    return a->found_by != b->found_by ? a->found_by < b->found_by
                                      : a->event_or_track < b->event_or_track;
}
SORT_DEFINE(sort_by_event, struct end, by_event)

/* Ends given by event stand in front, by event. */
static void bind_events(const struct trace *trace, struct ends *ends)
{
    event_id *events = memory_resize(NULL, ends->count + 1, sizeof(*events));
    slice_id *slices = memory_resize(NULL, ends->count + 1, sizeof(*slices));
    uint32_t count = 0, at = 0;

    for (uint32_t i = 0; i < ends->count && ends->at[i].found_by == BY_EVENT; i++)
        if (count == 0 || events[count - 1] != ends->at[i].event_or_track)
            events[count++] = ends->at[i].event_or_track;
    trace_slices_of_events(trace, events, count, slices);
    for (uint32_t i = 0; i < ends->count && ends->at[i].found_by == BY_EVENT; i++) {
        if (events[at] != ends->at[i].event_or_track)
            at++;
        ends->at[i].slice = slices[at];
        if (slices[at] != NO_SLICE)
            ends->at[i].at_ps = trace_slice(trace, slices[at]).start_ps;
    }
    free(events);
    free(slices);
}

static void bind_ends(const struct trace *trace, struct ends *ends)
{
    sort_by_event(ends->at, ends->count);
    bind_events(trace, ends);
    for (uint32_t i = 0; i < ends->count; i++) {
        struct end *end = &ends->at[i];

        if (end->found_by == BY_EVENT)
            continue;
        if (end->event_or_track >= trace->track_count)
            end->slice = NO_SLICE;
        else if (end->found_by == BY_TIME)
            end->slice = slice_at(trace, end->event_or_track, end->at_ps);
        else
            end->slice = slice_next(trace, end->event_or_track, end->at_ps);
    }
}

static bool same_arrow(const struct end *a, const struct end *b)
{
    return a->kind == b->kind && a->id == b->id;
}

/* By (kind, id), then time; at one time senders first. */
static bool by_arrow(const struct end *a, const struct end *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->id != b->id)
        return a->id < b->id;
    if (a->at_ps != b->at_ps)
        return a->at_ps < b->at_ps;
    return a->end != b->end ? a->end < b->end : a->slice < b->slice;
}
SORT_DEFINE(sort_by_arrow, struct end, by_arrow)

static enum status put_flow(struct flow_writer *writer, const struct end *from,
                            const struct end *to, struct error *err)
{
    struct flow flow;
    uint64_t offset;

    memset(&flow, 0, sizeof(flow));
    flow.id = from->id;
    flow.kind = from->kind;
    flow.from = from->slice;
    flow.to = to->slice;
    flow.from_ps = from->at_ps;
    flow.to_ps = to->at_ps;
    writer->flow_count++;
    return spill_append(writer->flows, (struct bytes){(const uint8_t *)&flow, sizeof(flow)},
                        &offset, err);
}

/* All ends of one (kind, id). */
static enum status join_arrow(struct flow_writer *writer, const struct end *ends, uint32_t count,
                              struct error *err)
{
    const struct end *from = NULL;

    for (uint32_t i = 0; i < count && from == NULL; i++)
        if (ends[i].end == FLOW_FROM && ends[i].slice != NO_SLICE)
            from = &ends[i];
    for (uint32_t i = 0; i < count; i++) {
        const struct end *end = &ends[i];

        if (end->slice == NO_SLICE)
            continue;
        if (from != NULL && end->end != FLOW_FROM)
            TRY(put_flow(writer, from, end, err));
        if (end->end != FLOW_TO)
            from = end;
    }
    return OK;
}

static enum status join_ends(struct flow_writer *writer, struct ends *ends, struct error *err)
{
    sort_by_arrow(ends->at, ends->count);
    for (uint32_t first = 0, end; first < ends->count; first = end) {
        for (end = first + 1; end < ends->count && same_arrow(&ends->at[first], &ends->at[end]);)
            end++;
        TRY(join_arrow(writer, &ends->at[first], end - first, err));
    }
    return OK;
}

static bool by_from(const struct flow *a, const struct flow *b)
{
    if (a->from != b->from)
        return a->from < b->from;
    if (a->to != b->to)
        return a->to < b->to;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->id != b->id)
        return a->id < b->id;
    return a->from_ps != b->from_ps ? a->from_ps < b->from_ps : a->to_ps < b->to_ps;
}
SORT_DEFINE(sort_by_from, struct flow, by_from)

struct consumer { /* to, then the flow's index */
    slice_id to;
    uint32_t index;
};

static bool by_to(const struct consumer *a, const struct consumer *b)
{
    return a->to != b->to ? a->to < b->to : a->index < b->index;
}
SORT_DEFINE(sort_by_to, struct consumer, by_to)

static enum status write_flows(struct flow_writer *writer, struct error *err)
{
    struct block_out out = writer->tools.out;
    size_t count = writer->flow_count;
    uint8_t *table;

    if (count >= UINT32_MAX)
        return fail(err, ERR_LIMIT, "%zu arrows", count);
    TRY(out.table_reserve(out.to, TABLE_FLOWS, count * sizeof(struct flow), &table, err));
    TRY(spill_read(writer->flows, 0, table, count * sizeof(struct flow), err));

    struct flow *flows = (struct flow *)(void *)table;
    struct consumer *consumers = memory_resize(NULL, count + 1, sizeof(*consumers));

    sort_by_from(flows, count);
    for (size_t i = 0; i < count; i++)
        consumers[i] = (struct consumer){.to = flows[i].to, .index = (uint32_t)i};
    sort_by_to(consumers, count);

    enum status status =
        out.table_reserve(out.to, TABLE_FLOWS_BY_TO, count * sizeof(uint32_t), &table, err);

    for (size_t i = 0; i < count && status == OK; i++)
        ((uint32_t *)(void *)table)[i] = consumers[i].index;
    free(consumers);
    return status;
}

static enum status join_all(struct flow_writer *writer, const struct trace *trace,
                            struct ends *ends, struct error *err)
{
    uint64_t pass_count = writer->end_count / ENDS_IN_MEMORY + 1;

    for (uint64_t pass = 0; pass < pass_count; pass++) {
        TRY(read_ends(writer, pass, pass_count, ends, err));
        bind_ends(trace, ends);
        TRY(join_ends(writer, ends, err));
    }
    return OK;
}

enum status flow_writer_finish(struct flow_writer *writer, const struct trace *trace,
                               struct error *err)
{
    struct ends ends = {0};
    enum status status = join_all(writer, trace, &ends, err);

    free(ends.at);
    return status == OK ? write_flows(writer, err) : status;
}
