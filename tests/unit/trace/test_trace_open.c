/* SPDX-License-Identifier: Apache-2.0 */
/* A trace with a wrong byte in any table is refused or harmless to read. */
#include <stdlib.h>

#include "picture.h"
#include "trace/args/args.h"
#include "trace/events/counter.h"
#include "trace/names/by_name.h"
#include "trace/readers.h"

static struct arg an_arg(struct sink *sink, const char *key, enum arg_type type, uint64_t bits)
{
    return (struct arg){sink_name(sink, str_of(key)), type, bits};
}

/* A little of everything a trace can hold. */
static void feed(struct sink *sink)
{
    sink_format(sink, "everything");
    sink_epoch(sink, 5);
    sink_hostname(sink, STR("host"));
    picture_draw(sink, "p / a\n  0 +30 x\n  10 +5 y\n  20 +0 i\np / b\n  5 +5 z\n  0 +40 late\n"
                       "p / c\n  3 = 1\n  9 = 7\n");
    sink_sample_type(sink, 1, 2);
    stack_id outer = sink_stack(sink, NO_STACK, (struct frame){1, 2, 3, 1});
    stack_id inner = sink_stack(sink, outer, (struct frame){2, 2, 4, 1});
    struct arg label = an_arg(sink, "label", ARG_STRING, 1);
    sink_sample(sink, (struct sample){7, 1, inner, 0, 0}, &(int64_t){9}, &label, 1);
    sink_sample(sink, (struct sample){8, 1, outer, 0, 0}, &(int64_t){10}, &label, 1);
    type_id type = sink_type(sink, sink_name(sink, STR("type")));
    sink_type_arg(sink, type, an_arg(sink, "flops", ARG_UINT64, 2));
    sink_type_arg(sink, type, an_arg(sink, "text", ARG_STRING, 1));
    sink_property(sink, 0, an_arg(sink, "peak", ARG_STRING, 1));
    sink_note(sink, "odd", NOTE_INFO, 1, "a note");
    program_id program = sink_program(sink, 9, 1, 5, BYTES("proto"));
    sink_instruction(sink, (struct instruction){.program = program, .name = 1});
    sink_instruction(sink, (struct instruction){.program = program, .name = 2});
    for (uint32_t i = 0; i < 40; i++) {
        sink_slice(sink, (struct sink_slice){.track = 1,
                                             .start_ps = 100 + 10 * i,
                                             .dur_ps = 5,
                                             .name = 1 + i % 3,
                                             .type = type});
        sink_arg(sink, an_arg(sink, "n", ARG_INT64, i * i));
        sink_flow(sink, i % 2 ? FLOW_TO : FLOW_FROM, 1, i / 2);
        sink_memory(sink, (struct memory_event){.at_ps = 100 - i, .allocator = 1, .bytes = i});
    }
}

static struct memory_blocks *make(struct arena *arena)
{
    struct error err = {0};
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default, (struct sink_hooks){0}, NULL, &err);

    feed(sink);
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    return blocks;
}

/* Touches what readers touch; the sanitizer looks on. */
static uint64_t read_all(const struct trace *trace, struct arena *arena, struct chunk *chunk)
{
    uint64_t sum = 0, count;
    uint32_t first, end;
    const struct name_stats *stats;
    struct arg *args;

    for (name_id id = 0; id < trace->name_count; id++)
        for (size_t i = 0; i < trace_name(trace, id).count; i++)
            sum += (uint8_t)trace_name(trace, id).at[i];
    trace_find_name(trace, STR("x"), &first);
    for (slice_id id = 0; id < trace->slice_count; id++) {
        struct slice slice = trace_slice(trace, id);
        sum += slice.parent == NO_SLICE ? 0 : trace_slice(trace, slice.parent).name;
        sum += trace_args(trace, slice.event, arena, &args) + trace_type(trace, slice.event);
        trace_slice_of_event(trace, slice.event);
    }
    for (row_id row = 0; row < trace->row_count; row++) {
        row_window(trace, &trace->rows[row], 5, 200, &first, &end);
        for (uint32_t i = 0; i < trace->rows[row].chunk_count; i++)
            chunk_unpack(trace, trace->rows[row].first_chunk + i, 127, chunk);
        sum += row_samples(trace, row, &first)->longest;
    }
    for (track_id track = 0; track < trace->track_count; track++)
        if (trace_samples(trace, track, &count) && count > 0)
            sum += (uint64_t)trace_samples(trace, track, &count)[count - 1].at_ps;
    for (uint32_t i = 0; i < trace->type_count; i++)
        for (uint32_t j = 0; j < trace->types[i].arg_count; j++)
            sum += trace->type_args[trace->types[i].first_arg + j].bits;
    for (uint64_t i = 0; i < trace->flow_count; i++)
        sum += trace_slice(trace, trace->flows[trace->flow_by_to[i]].from).event;
    for (uint32_t i = 0; i < trace->memory_event_count; i++)
        sum += trace->memory_events[i].is_free;
    for (uint32_t i = 0; i < trace->stack_sample_count; i++) {
        for (stack_id at = trace->samples[i].stack; at != NO_STACK; at = trace->stacks[at].parent)
            sum += trace_name(trace, trace->stacks[at].frame.file).count;
        for (uint32_t j = 0; j < trace->samples[i].label_count; j++)
            sum += trace->sample_labels[trace->samples[i].first_label + j].bits;
        for (uint32_t j = 0; j < trace->sample_type_count; j++)
            sum += (uint64_t)trace->sample_values[(size_t)i * trace->sample_type_count + j];
    }
    sum += trace_instruction(trace, 0, 1) != NULL;
    sum += trace_name_stats(trace, &stats);
    return sum;
}

/* One byte of one table is another one: refused, or as good as any. The container would have found
 * it out by its sums; here nobody looks, so this is what a hostile file could say. */
static void any_byte_may_lie(void **state)
{
    (void)state;
    const uint8_t changes[] = {0x01, 0x80, 0xff, 0x10};
    struct arena *arena = arena_create(), *scratch = arena_create();
    struct block_in in = memory_blocks_in(make(arena));
    struct chunk *chunk = malloc(sizeof(*chunk));
    uint32_t refused = 0, tried = 0;

    assert_non_null(chunk);
    for (int kind = 1; kind < TABLE_KIND_COUNT_; kind++) {
        struct bytes table = in.table(in.from, (enum table_kind)kind);
        uint8_t *at = (uint8_t *)(uintptr_t)table.at;
        /* Long ones are mostly plain numbers: their heads, and bytes here and there. */
        size_t step = 1;

        for (size_t i = 0; i < table.count * COUNT(changes); i += step) {
            struct error err = {0};
            struct trace trace;

            at[i / COUNT(changes)] ^= changes[i % COUNT(changes)];
            tried++;
            if (trace_open(in, scratch, &trace, &err) == OK)
                read_all(&trace, scratch, chunk);
            else
                refused++;
            CHECK("said why", err.code == OK || err.message[0]);
            at[i / COUNT(changes)] ^= changes[i % COUNT(changes)];
            arena_reset(scratch);
            step = i < 4096 ? 1 : 997;
        }
    }
    CHECK("many are refused", refused > 2000 && tried > refused);

    struct error err = {0};
    struct trace trace;
    CHECK_OK("untouched", trace_open(in, scratch, &trace, &err), &err);
    CHECK("something is read", read_all(&trace, scratch, chunk) > 0);
    CHECK("whole", !trace_damaged(&trace));
    free(chunk);
    arena_destroy(arena);
    arena_destroy(scratch);
}

/* Where fields stand in their records. */
enum {
    TRACK_NAME_AT = offsetof(struct track, name),
    TRACK_PARENT_AT = offsetof(struct track, parent),
    TRACK_FIRST_ROW_AT = offsetof(struct track, first_row),
    ROW_TRACK_AT = offsetof(struct row, track),
    ROW_COUNT_AT = offsetof(struct row, count),
    ROW_START_PS_AT = offsetof(struct row, start_ps),
    CHUNK_ENTRY_OFFSET_AT = offsetof(struct chunk_entry, offset),
    CHUNK_ENTRY_SIZE_AT = offsetof(struct chunk_entry, size),
    CHUNK_ENTRY_EVENT_MAX_AT = offsetof(struct chunk_entry, event_max),
    SAMPLE_LONGEST_AT = offsetof(struct slice_sample, longest),
    TYPE_ARG_COUNT_AT = offsetof(struct type, arg_count),
    ARG_KEY_AT = offsetof(struct arg, key),
    NOTE_MESSAGE_AT = offsetof(struct note, message),
    PROGRAM_INSTRUCTION_COUNT_AT = offsetof(struct program, instruction_count),
    MEMORY_EVENT_SLICE_AT = offsetof(struct memory_event, slice),
    STACK_FUNCTION_AT = offsetof(struct stack, frame.function),
    SAMPLE_TRACK_AT = offsetof(struct sample, track),
    SAMPLE_STACK_AT = offsetof(struct sample, stack),
    SAMPLE_FIRST_LABEL_AT = offsetof(struct sample, first_label),
    SAMPLE_LABEL_COUNT_AT = offsetof(struct sample, label_count),
};

/* What later code relies on. */
static void broken_rules(void **state)
{
    (void)state;
    const struct {
        const char *what;
        enum table_kind kind;
        size_t offset;
        uint32_t value;
    } rows[] = {
        {"a text's end", TABLE_NAME_OFFSETS, 16, 0xffff},
        {"unknown names", TABLE_NAME_ORDER, 4, 9999},
        {"unknown name", TABLE_TRACKS, TRACK_NAME_AT, 9999},
        {"a track above itself", TABLE_TRACKS, TRACK_PARENT_AT, 0},
        {"others' rows", TABLE_TRACKS, TRACK_FIRST_ROW_AT, 1},
        {"a row of another track", TABLE_ROWS, ROW_TRACK_AT, 0},
        {"a row too long", TABLE_ROWS, ROW_COUNT_AT, 9999},
        {"a row's begin", TABLE_ROWS, ROW_START_PS_AT, 17},
        {"beyond the data", TABLE_CHUNKS, CHUNK_ENTRY_OFFSET_AT, 1 << 30},
        {"too large", TABLE_CHUNKS, CHUNK_ENTRY_SIZE_AT, 9992},
        {"unknown events", TABLE_CHUNKS, CHUNK_ENTRY_EVENT_MAX_AT, 9999},
        {"the longest of 40", TABLE_SAMPLES32, SAMPLE_LONGEST_AT, 40},
        {"too many args", TABLE_TYPES, TYPE_ARG_COUNT_AT, 9999},
        {"unknown key", TABLE_TYPE_ARGS, ARG_KEY_AT, 9999},
        {"unknown track", TABLE_PROPERTIES, 0, 77},
        {"unknown text", TABLE_NOTES, NOTE_MESSAGE_AT, 9999},
        {"too long", TABLE_PROGRAMS, PROGRAM_INSTRUCTION_COUNT_AT, 9},
        {"no program", TABLE_INSTRUCTIONS, 0, 9},
        {"no slice", TABLE_MEMORY_EVENTS, MEMORY_EVENT_SLICE_AT, 9999},
        {"a stack that called itself", TABLE_STACKS, 0, 0},
        {"unknown function", TABLE_STACKS, STACK_FUNCTION_AT, 9999},
        {"unknown sample type", TABLE_SAMPLE_TYPES, 0, 9999},
        {"a time out of bounds", TABLE_STACK_SAMPLES, 4, 0x7fffffff},
        {"no thread", TABLE_STACK_SAMPLES, SAMPLE_TRACK_AT, 9999},
        {"no stack", TABLE_STACK_SAMPLES, SAMPLE_STACK_AT, 2},
        {"beyond the labels", TABLE_STACK_SAMPLES, SAMPLE_FIRST_LABEL_AT, 2},
        {"too many labels", TABLE_STACK_SAMPLES, SAMPLE_LABEL_COUNT_AT, UINT32_MAX},
        {"unknown label", TABLE_SAMPLE_LABELS, ARG_KEY_AT, 9999},
    };
    struct arena *arena = arena_create();
    struct block_in in = memory_blocks_in(make(arena));

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct bytes table = in.table(in.from, rows[i].kind);
        uint8_t *at = (uint8_t *)(uintptr_t)table.at + rows[i].offset;
        struct error err = {0};
        struct trace trace;
        uint32_t kept;

        CHECK(rows[i].what, rows[i].offset + 4 <= table.count);
        memcpy(&kept, at, sizeof(kept));
        memcpy(at, &rows[i].value, sizeof(kept));
        CHECK_INT(rows[i].what, trace_open(in, arena, &trace, &err), ERR_FORMAT);
        memcpy(at, &kept, sizeof(kept));
    }
    arena_destroy(arena);
}

static void without_tables(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    struct trace trace;
    struct memory_blocks *empty = memory_blocks_create(arena);

    CHECK_INT("nothing", trace_open(memory_blocks_in(empty), arena, &trace, &err), ERR_FORMAT);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_byte_may_lie),
        cmocka_unit_test(broken_rules),
        cmocka_unit_test(without_tables),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
