/* SPDX-License-Identifier: Apache-2.0 */
/* The readable trace over its blocks.
 *
 * Every table is checked here for what later code relies on: sizes, ids, ranges that follow each
 * other without a gap. After that nobody checks again, and what is damaged is refused.
 */
#include "trace/readers.h"

#include "trace/args/args.h"
#include "trace/args/args_block.h"
#include "trace/writers.h"

struct opening {
    struct block_in in;
    struct arena *arena;
    struct trace *trace;
    struct trace_parts *parts;
    struct error *err;
};

/* A table as records of one size. */
static enum status records(struct opening *opening, enum table_kind kind, size_t size,
                           const char *what, const void **ret, uint32_t *ret_count)
{
    struct bytes bytes = opening->in.table(opening->in.from, kind);

    if (bytes.count % size != 0 || bytes.count / size >= UINT32_MAX)
        return fail(opening->err, ERR_FORMAT, "the table of %s has %zu bytes", what, bytes.count);
    *ret = bytes.at;
    *ret_count = (uint32_t)(bytes.count / size);
    return OK;
}

/* In the functions below: the table's rule number `i` does not hold. */
static enum status broken(struct opening *opening, const char *what, uint32_t i)
{
    return fail(opening->err, ERR_FORMAT, "%s %u breaks the rules of its table", what, i);
}

static enum status open_names(struct opening *opening)
{
    struct trace_parts *parts = opening->parts;
    const void *offsets, *order;
    uint32_t offset_count, order_count;
    struct bytes texts = opening->in.table(opening->in.from, TABLE_NAME_TEXTS);

    TRY(records(opening, TABLE_NAME_OFFSETS, sizeof(uint64_t), "names", &offsets, &offset_count));
    TRY(records(opening, TABLE_NAME_ORDER, sizeof(name_id), "names in order", &order,
                &order_count));
    parts->name_offsets = offsets;
    parts->name_texts = (const char *)texts.at;
    parts->name_order = order;
    if (offset_count < 2 || order_count != offset_count - 1 || order_count > NAME_COUNT_MAX ||
        parts->name_offsets[0] != 0 || parts->name_offsets[1] != 0 ||
        parts->name_offsets[order_count] != texts.count)
        return fail(opening->err, ERR_FORMAT, "the tables of names do not fit each other");
    for (uint32_t i = 0; i < order_count && !opening->in.checked; i++)
        if (parts->name_offsets[i + 1] < parts->name_offsets[i] ||
            parts->name_order[i] >= order_count)
            return broken(opening, "name", i);
    opening->trace->name_count = order_count;
    return OK;
}

static enum status open_meta(struct opening *opening)
{
    struct trace *trace = opening->trace;
    struct bytes bytes = opening->in.table(opening->in.from, TABLE_META);
    struct meta meta;

    if (bytes.count != sizeof(meta))
        return fail(opening->err, ERR_FORMAT, "the table about the file is missing");
    memcpy(&meta, bytes.at, sizeof(meta));
    if (meta.format >= trace->name_count || meta.hostname >= trace->name_count ||
        meta.epoch_reason >= trace->name_count || meta.event_count >= NO_SLICE ||
        meta.start_ps > meta.end_ps || meta.start_ps < -TIME_PS_MAX || meta.end_ps > TIME_PS_MAX)
        return broken(opening, "record", 0);
    trace->format = str_c(opening->arena, trace_name(trace, meta.format));
    trace->hostname = trace_name(trace, meta.hostname);
    trace->has_epoch = meta.has_epoch != 0;
    trace->epoch_ns = meta.epoch_ns;
    trace->epoch_reason = trace_name(trace, meta.epoch_reason);
    trace->start_ps = meta.start_ps;
    trace->end_ps = meta.end_ps;
    trace->slice_count = meta.slice_count;
    trace->event_count = meta.event_count;
    trace->sample_count = meta.sample_count;
    return OK;
}

static enum status open_chunks(struct opening *opening)
{
    struct trace_parts *parts = opening->parts;
    const void *chunks;

    TRY(records(opening, TABLE_CHUNKS, sizeof(struct chunk_entry), "chunks", &chunks,
                &parts->chunk_count));
    parts->chunks = chunks;
    for (uint32_t i = 0; i < parts->chunk_count; i++) {
        const struct chunk_entry *entry = &parts->chunks[i];
        if (!chunk_entry_valid(entry) || entry->event_max >= opening->trace->event_count ||
            entry->offset % 8 != 0 ||
            !opening->in.data(opening->in.from, entry->offset, entry->size).at)
            return broken(opening, "chunk", i);
    }
    parts->chunk_checked = arena_alloc(opening->arena, parts->chunk_count + 1u, 1);
    return OK;
}

/* The chunks of a row: full but the last, in time order, within the row's own times. */
static bool row_chunks_valid(const struct trace_parts *parts, const struct row *row)
{
    const struct chunk_entry *entry = &parts->chunks[row->first_chunk];

    if (entry->start_ps != row->start_ps || entry[row->chunk_count - 1].end_ps != row->end_ps)
        return false;
    for (uint32_t i = 0; i < row->chunk_count; i++) {
        uint32_t left = row->count - i * CHUNK_SLICES;
        if (entry[i].count != (left < CHUNK_SLICES ? left : CHUNK_SLICES) ||
            (i > 0 && entry[i].start_ps < entry[i - 1].end_ps))
            return false;
    }
    return true;
}

static enum status open_rows(struct opening *opening)
{
    struct trace *trace = opening->trace;
    struct trace_parts *parts = opening->parts;
    const void *rows;
    uint64_t slice = 0, chunk = 0;

    TRY(records(opening, TABLE_ROWS, sizeof(struct row), "rows", &rows, &trace->row_count));
    trace->rows = rows;
    for (uint32_t i = 0; i < trace->row_count; i++) {
        const struct row *row = &trace->rows[i];
        uint32_t chunk_count = row->count / CHUNK_SLICES + (row->count % CHUNK_SLICES != 0);

        if (row->count == 0 || row->first_slice != slice || row->first_chunk != chunk ||
            row->chunk_count != chunk_count || chunk_count > parts->chunk_count - chunk ||
            !row_chunks_valid(parts, row))
            return broken(opening, "row", i);
        slice += row->count;
        chunk += chunk_count;
    }
    if (slice != trace->slice_count || slice > trace->event_count || chunk != parts->chunk_count)
        return fail(opening->err, ERR_FORMAT, "the rows do not cover the slices");
    return OK;
}

static bool track_valid(const struct trace *trace, const struct track *track, track_id id)
{
    uint8_t derived;
    uint64_t slice_count = 0;

    memcpy(&derived, &track->derived, 1);
    if ((track->parent != NO_TRACK && track->parent >= id) || track->name >= trace->name_count ||
        track->kind > TRACK_COUNTER || track->role > ROLE_HOST || derived > 1 ||
        track->first_row > trace->row_count ||
        track->row_count > trace->row_count - track->first_row || track->start_ps > track->end_ps)
        return false;
    for (uint32_t depth = 0; depth < track->row_count; depth++) {
        const struct row *row = &trace->rows[track->first_row + depth];
        if (row->track != id || row->depth != depth || row->start_ps < track->start_ps ||
            row->end_ps > track->end_ps)
            return false;
        slice_count += row->count;
    }
    return slice_count == track->slice_count;
}

static enum status open_tracks(struct opening *opening)
{
    struct trace *trace = opening->trace;
    const void *tracks;
    uint64_t row = 0;

    TRY(records(opening, TABLE_TRACKS, sizeof(struct track), "tracks", &tracks,
                &trace->track_count));
    trace->tracks = tracks;
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].first_row != row || !track_valid(trace, &trace->tracks[id], id))
            return broken(opening, "track", id);
        row += trace->tracks[id].row_count;
    }
    if (row != trace->row_count)
        return fail(opening->err, ERR_FORMAT, "the tracks do not cover the rows");
    return OK;
}

static enum status open_samples(struct opening *opening)
{
    const struct trace *trace = opening->trace;
    struct trace_parts *parts = opening->parts;
    const void *samples;
    uint32_t sample_count;
    uint64_t at = 0;

    TRY(records(opening, TABLE_SAMPLES32, sizeof(struct slice_sample), "samples", &samples,
                &sample_count));
    uint64_t *first = arena_array(opening->arena, uint64_t, trace->row_count + 1u);
    parts->samples = samples;
    parts->row_first_sample = first;
    for (uint32_t i = 0; i < trace->row_count; i++) {
        first[i] = at;
        at += ((uint64_t)trace->rows[i].count + SAMPLE_SLICES - 1) / SAMPLE_SLICES;
    }
    if (at != sample_count)
        return fail(opening->err, ERR_FORMAT, "the samples do not cover the rows");
    for (uint32_t i = 0; i < trace->row_count && !opening->in.checked; i++) {
        const struct row *row = &trace->rows[i];
        for (uint32_t done = 0; done < row->count; done += SAMPLE_SLICES) {
            const struct slice_sample *sample = &parts->samples[first[i] + done / SAMPLE_SLICES];
            if (sample->longest >= SAMPLE_SLICES || sample->longest >= row->count - done ||
                sample->dur_before < 0)
                return broken(opening, "sample", done / SAMPLE_SLICES);
        }
    }
    return OK;
}

static enum status open_types(struct opening *opening)
{
    struct trace *trace = opening->trace;
    const void *types, *args;
    uint32_t arg_count, at = 0;

    TRY(records(opening, TABLE_TYPES, sizeof(struct type), "types", &types, &trace->type_count));
    TRY(records(opening, TABLE_TYPE_ARGS, sizeof(struct arg), "types' args", &args, &arg_count));
    trace->types = types;
    trace->type_args = args;
    for (uint32_t i = 0; i < trace->type_count; i++) {
        const struct type *type = &trace->types[i];
        if (type->name >= trace->name_count || type->first_arg != at ||
            type->arg_count > arg_count - at)
            return broken(opening, "type", i);
        at += type->arg_count;
    }
    if (trace->type_count == 0 || trace->types[0].arg_count != 0 || at != arg_count)
        return fail(opening->err, ERR_FORMAT, "the types do not cover their args");
    for (uint32_t i = 0; i < arg_count; i++)
        if (!trace_arg_valid(trace, &trace->type_args[i]))
            return broken(opening, "type's arg", i);
    return OK;
}

static enum status open_properties(struct opening *opening)
{
    struct trace *trace = opening->trace;
    const void *properties, *notes;

    TRY(records(opening, TABLE_PROPERTIES, sizeof(struct property), "properties", &properties,
                &trace->property_count));
    trace->properties = properties;
    for (uint32_t i = 0; i < trace->property_count; i++) {
        track_id track = trace->properties[i].track;
        if ((track != NO_TRACK && track >= trace->track_count) ||
            !trace_arg_valid(trace, &trace->properties[i].arg))
            return broken(opening, "property", i);
    }
    TRY(records(opening, TABLE_NOTES, sizeof(struct note), "notes", &notes, &trace->note_count));
    trace->notes = notes;
    for (uint32_t i = 0; i < trace->note_count; i++) {
        const struct note *note = &trace->notes[i];
        if (note->kind >= trace->name_count || note->message >= trace->name_count ||
            note->severity > NOTE_ERROR)
            return broken(opening, "note", i);
    }
    return OK;
}

static enum status open_programs(struct opening *opening)
{
    struct trace *trace = opening->trace;
    const void *programs, *instructions, *documents;

    TRY(records(opening, TABLE_PROGRAMS, sizeof(struct program), "programs", &programs,
                &trace->program_count));
    TRY(records(opening, TABLE_INSTRUCTIONS, sizeof(struct instruction), "instructions",
                &instructions, &trace->instruction_count));
    TRY(records(opening, TABLE_DOCUMENTS, sizeof(struct document), "documents", &documents,
                &trace->document_count));
    trace->programs = programs;
    trace->instructions = instructions;
    trace->documents = documents;
    return programs_open(trace, opening->err);
}

static enum status open_memory_events(struct opening *opening)
{
    struct trace *trace = opening->trace;
    const void *events;

    TRY(records(opening, TABLE_MEMORY_EVENTS, sizeof(struct memory_event), "memory events", &events,
                &trace->memory_event_count));
    trace->memory_events = events;
    for (uint32_t i = 0; i < trace->memory_event_count; i++) {
        const struct memory_event *event = &trace->memory_events[i];
        uint8_t is_free;

        memcpy(&is_free, &event->is_free, 1);
        if (event->allocator >= trace->name_count || is_free > 1 ||
            (event->slice != NO_SLICE && event->slice >= trace->slice_count) ||
            (i > 0 && event[-1].at_ps > event->at_ps))
            return broken(opening, "memory event", i);
    }
    return OK;
}

enum status trace_open_core(struct block_in in, struct arena *arena, struct trace *ret,
                            struct error *err)
{
    struct opening opening = {.in = in, .arena = arena, .trace = ret, .err = err};

    memset(ret, 0, sizeof(*ret));
    opening.parts = ret->parts = arena_new(arena, struct trace_parts);
    ret->parts->in = in;
    TRY(open_names(&opening));
    TRY(open_meta(&opening));
    TRY(open_chunks(&opening));
    TRY(open_rows(&opening));
    TRY(open_tracks(&opening));
    TRY(open_samples(&opening));
    TRY(open_types(&opening));
    TRY(open_properties(&opening));
    TRY(open_programs(&opening));
    return open_memory_events(&opening);
}

enum status trace_open(struct block_in in, struct arena *arena, struct trace *ret,
                       struct error *err)
{
    TRY(trace_open_core(in, arena, ret, err));
    TRY(args_open(in, arena, &ret->parts->args, err));
    TRY(counters_open(ret, arena, err));
    TRY(flows_open(ret, arena, err));
    TRY(stacks_open(ret, err));
    for (uint32_t i = 0; trace_parts_made[i]; i++)
        if (trace_parts_made[i]->open)
            TRY(trace_parts_made[i]->open(ret, arena, err));
    return OK;
}

bool trace_check(const struct trace *trace)
{
    const struct trace_parts *parts = trace->parts;
    struct args_block block;
    bool whole = true;

    for (int kind = 1; kind < TABLE_KIND_COUNT_; kind++)
        (void)parts->in.table(parts->in.from, (enum table_kind)kind);
    for (uint32_t i = 0; i < parts->chunk_count; i++)
        whole &= chunk_bytes(trace, i) != NULL;
    for (uint32_t i = 0; i < trace_arg_block_count(trace); i++)
        whole &= args_block_find(trace, i, &block);
    programs_check(trace);
    return whole && !trace_damaged(trace);
}
