/* SPDX-License-Identifier: Apache-2.0 */
/* A damaged segment: opened or refused, and whatever opens can be read to the end.
 *
 *   input   edits of 12 bytes { table u8, width u8, offset u16, value u64 } over a sound trace
 *
 * The trace is made once through the sink: nested slices over several chunks, instants, args,
 * flows, counters, a program. Edits go past the container's sums on purpose: they are what a
 * checksum cannot catch, so every count and range must hold by itself.
 */
#include <stdlib.h>

#include "trace/args/args.h"
#include "trace/events/counter.h"
#include "trace/levels/tile.h"
#include "trace/names/by_name.h"
#include "trace/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count);

enum { EDIT_SIZE = 12, EDITS_MAX = 16, SLICE_COUNT = 5000, LOOKS_MAX = 12 };

struct damaged { /* the sound tables, with private copies of those that were edited */
    struct block_in sound;
    struct bytes edited[TABLE_KIND_COUNT_];
};

static struct memory_blocks *sound_blocks;

static void feed(struct sink *sink)
{
    track_id process = sink_track(sink, (struct sink_track){.parent = NO_TRACK,
                                                            .kind = TRACK_DEVICE,
                                                            .name = STR("/device:GPU:0")});
    track_id stream = sink_track(sink, (struct sink_track){.parent = process,
                                                           .kind = TRACK_STREAM,
                                                           .role = ROLE_OPS,
                                                           .name = STR("Stream #7")});
    track_id counter = sink_track(
        sink, (struct sink_track){.parent = process, .kind = TRACK_COUNTER, .name = STR("memory")});
    name_id names[3] = {sink_name(sink, STR("dot.1")), sink_name(sink, STR("step")),
                        sink_name(sink, STR("copy"))};
    type_id type = sink_type(sink, names[0]);

    sink_type_arg(sink, type, (struct arg){.key = names[1], .type = ARG_INT64, .bits = 7});
    for (int64_t i = 0; i < SLICE_COUNT; i++) {
        sink_slice(sink, (struct sink_slice){.track = stream,
                                             .start_ps = i / 3 * 1000 + i % 3,
                                             .dur_ps = i % 11 == 10 ? 0 : 900 - i % 3 * 400,
                                             .name = names[i % 3],
                                             .kind = KIND_COMPUTE,
                                             .type = i % 2 ? type : 0});
        sink_arg(sink, (struct arg){.key = names[1], .type = ARG_UINT64, .bits = (uint64_t)i});
        if (i % 16 == 0)
            sink_flow(sink, i % 32 ? FLOW_TO : FLOW_FROM, names[2], (uint64_t)i / 32);
        sink_counter(sink, counter, i * 500, (double)i);
    }
    program_id program = sink_program(sink, 3, names[0], 5, BYTES("proto"));
    sink_instruction(sink, (struct instruction){.program = program, .name = names[0]});
    sink_note(sink, "made", NOTE_INFO, 1, "made by hand");
    sink_sample_type(sink, names[0], names[1]);
    stack_id outer = sink_stack(sink, NO_STACK, (struct frame){.function = names[0], .line = 3});
    stack_id inner = sink_stack(sink, outer, (struct frame){.function = names[1]});
    for (int64_t i = 0; i < 9; i++)
        sink_sample(sink, (struct sample){.at_ps = i, .track = stream, .stack = inner}, &i,
                    &(struct arg){.key = names[2], .type = ARG_INT64, .bits = (uint64_t)i}, 1);
}

static void make_sound(void)
{
    struct error err = {0};

    sound_blocks = memory_blocks_create(arena_create());
    struct sink *sink = sink_create(memory_blocks_out(sound_blocks), &budget_default,
                                    (struct sink_hooks){0}, NULL, &err);
    feed(sink);
    if (sink_finish(sink, &err) != OK)
        abort();
    sink_destroy(sink);
}

static struct bytes damaged_table(void *from, enum table_kind kind)
{
    struct damaged *damaged = from;

    if (kind < TABLE_KIND_COUNT_ && damaged->edited[kind].at != NULL)
        return damaged->edited[kind];
    return damaged->sound.table(damaged->sound.from, kind);
}

static struct bytes damaged_data(void *from, uint64_t offset, size_t size)
{
    struct damaged *damaged = from;

    return damaged->sound.data(damaged->sound.from, offset, size);
}

/* A width of 0 cuts the table off at the offset. */
static void edit(struct damaged *damaged, const uint8_t *at, struct arena *arena)
{
    enum table_kind kind = 1 + at[0] % (TABLE_KIND_COUNT_ - 1);
    size_t width = at[1] % 9, offset = (size_t)at[2] | (size_t)at[3] << 8;
    struct bytes table = damaged_table(damaged, kind);

    if (table.count == 0)
        return;
    uint8_t *copy = arena_alloc(arena, table.count, 1);
    memcpy(copy, table.at, table.count);
    offset %= table.count;
    if (width == 0)
        table.count = offset;
    else if (width <= table.count - offset)
        memcpy(copy + offset, at + 4, width < 8 ? width : 8);
    damaged->edited[kind] = (struct bytes){copy, table.count};
}

static void look_at_row(const struct trace *trace, row_id row, struct chunk *chunk,
                        struct tile *tile)
{
    const struct row *at = &trace->rows[row];
    uint32_t first, end;

    for (uint32_t i = 0; i < at->chunk_count && i < LOOKS_MAX; i++)
        chunk_unpack(trace, at->first_chunk + i, 127, chunk);
    row_window(trace, at, at->start_ps, at->end_ps, &first, &end);
    for (int level = 0; level <= TILE_LEVEL_MAX; level += 9)
        tile_fold(trace, row, level, (at->start_ps >> level) / TILE_QUANTA, tile);
    for (uint32_t i = 0; i < at->count && i < LOOKS_MAX; i++) {
        struct slice slice = trace_slice(trace, at->first_slice + i);
        struct arena *arena = arena_create();
        struct arg *args;

        trace_args(trace, slice.event, arena, &args);
        trace_slice_of_event(trace, slice.event);
        arena_destroy(arena);
    }
}

static void look_at_names(const struct trace *trace)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats), run_count;

    for (uint32_t i = 0; i < count && i < LOOKS_MAX; i++) {
        trace_name(trace, stats[i].name);
        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);
        for (uint32_t run = 0; run < run_count && run < LOOKS_MAX; run++)
            trace_name_slices(trace, &runs[run]);
    }
}

static void look_at_track(const struct trace *trace, track_id track)
{
    static struct tile_summary summary;
    struct counter_bucket buckets[32];
    uint64_t count;

    tile_summary(trace, track, 20, 0, &summary);
    trace_samples(trace, track, &count);
    counter_fold(trace, track, trace->start_ps, trace->end_ps, COUNT(buckets), buckets);
}

static void look_at_samples(const struct trace *trace)
{
    volatile uint64_t sum = 0;

    for (uint32_t i = 0; i < trace->stack_sample_count && i < LOOKS_MAX; i++) {
        const struct sample *sample = &trace->samples[i];

        for (uint32_t type = 0; type < trace->sample_type_count; type++)
            sum += (uint64_t)trace->sample_values[(uint64_t)i * trace->sample_type_count + type];
        for (uint32_t label = 0; label < sample->label_count; label++)
            sum += trace->sample_labels[sample->first_label + label].bits;
        for (stack_id at = sample->stack; at != NO_STACK; at = trace->stacks[at].parent)
            sum += trace_name(trace, trace->stacks[at].frame.function).count;
    }
}

static void look(const struct trace *trace)
{
    static struct chunk chunk;
    static struct tile tile;
    static struct arg_column column;

    for (row_id row = 0; row < trace->row_count && row < LOOKS_MAX; row++)
        look_at_row(trace, row, &chunk, &tile);
    for (track_id track = 0; track < trace->track_count && track < LOOKS_MAX; track++)
        look_at_track(trace, track);
    look_at_names(trace);
    look_at_samples(trace);
    for (uint32_t i = 0; i < trace_arg_block_count(trace) && i < 4; i++)
        trace_arg_column(trace, i, 2, &column);
    for (uint64_t i = 0; i < trace->flow_count && i < LOOKS_MAX; i++)
        trace_slice(trace, trace->flows[i].to);
}

int LLVMFuzzerTestOneInput(const uint8_t *at, size_t count)
{
    struct arena *arena = arena_create();
    struct damaged damaged = {0};
    struct trace trace;
    struct error err = {0};

    if (sound_blocks == NULL)
        make_sound();
    damaged.sound = memory_blocks_in(sound_blocks);
    for (size_t i = 0; i + EDIT_SIZE <= count && i < EDIT_SIZE * EDITS_MAX; i += EDIT_SIZE)
        edit(&damaged, at + i, arena);
    struct block_in in = {.from = &damaged, .table = damaged_table, .data = damaged_data};
    if (trace_open(in, arena, &trace, &err) == OK)
        look(&trace);
    else if (err.message[0] == '\0')
        abort();
    arena_destroy(arena);
    return 0;
}
