/* SPDX-License-Identifier: Apache-2.0 */
/* The sink refuses what is wrong or too much, once, and keeps order that breaks late. */
#include <stdio.h>
#include <stdlib.h>

#include "base/pack/pack.h"
#include "picture.h"
#include "trace/readers.h"

static const struct sink_track a_track = {
    .parent = NO_TRACK, .kind = TRACK_THREAD, .name = {"t", 1}, .device = -1};

static void put(struct sink *sink, track_id track, int64_t start_ps, int64_t dur_ps)
{
    sink_slice(sink, (struct sink_slice){.track = track,
                                         .start_ps = start_ps,
                                         .dur_ps = dur_ps,
                                         .name = sink_name(sink, STR("x"))});
}

static void feed_slices(struct sink *sink)
{
    track_id track = sink_track(sink, a_track);

    for (int i = 0; i < 20; i++)
        put(sink, track, i, 1);
}

static void feed_tracks(struct sink *sink)
{
    for (int i = 0; i < 20; i++)
        sink_track(sink, a_track);
}

static void feed_names(struct sink *sink)
{
    char text[32];

    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof(text), "name %d", i);
        sink_name(sink, str_of(text));
    }
}

static void feed_unknown_track(struct sink *sink)
{
    put(sink, 7, 0, 1);
}

static void feed_ended_track(struct sink *sink)
{
    track_id track = sink_track(sink, a_track);

    put(sink, track, 0, 1);
    sink_track_end(sink, track);
    sink_track_end(sink, track);
    put(sink, track, 1, 1);
}

static void feed_unsorted(struct sink *sink)
{
    track_id track = sink_track(sink, a_track);

    for (int i = 0; i < 300000; i++)
        put(sink, track, i % 1000, 1);
}

static bool always(void *data)
{
    (void)data;
    return true;
}

/* What is too much, or wrong, fails once, and everything after it is quiet. */
static void refuses(void **state)
{
    (void)state;
    const struct {
        const char *what;
        void (*feed)(struct sink *sink);
        struct budget budget;
        bool cancelled;
        enum status status;
        const char *message;
    } rows[] = {
        {"slices", feed_slices, {.slices_max = 10, .tracks_max = 9}, false, ERR_LIMIT, "10 events"},
        {"tracks", feed_tracks, {.tracks_max = 10}, false, ERR_LIMIT, "10 tracks"},
        {"names", feed_names, {.names_bytes_max = 1000}, false, ERR_LIMIT, "1000 bytes"},
        {"no such track", feed_unknown_track, {.tracks_max = 9}, false, ERR_INVALID, "track 7"},
        {"track ended",
         feed_ended_track,
         {.tracks_max = 9},
         false,
         ERR_INVALID,
         "end of its track"},
        {"sorting",
         feed_unsorted,
         {.tracks_max = 9, .spill_bytes_max = 1 << 20},
         false,
         ERR_LIMIT,
         "set aside"},
        {"cancelled", feed_slices, {.tracks_max = 9}, true, ERR_CANCELLED, "stopped"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0}, other = {0};
        struct budget budget = budget_default;
        struct sink_hooks hooks = {.cancelled = rows[i].cancelled ? always : NULL};

        budget.tracks_max = rows[i].budget.tracks_max ? rows[i].budget.tracks_max : 9;
        if (rows[i].budget.slices_max)
            budget.slices_max = rows[i].budget.slices_max;
        if (rows[i].budget.names_bytes_max)
            budget.names_bytes_max = rows[i].budget.names_bytes_max;
        if (rows[i].budget.spill_bytes_max)
            budget.spill_bytes_max = rows[i].budget.spill_bytes_max;
        struct sink *sink =
            sink_create(memory_blocks_out(memory_blocks_create(arena)), &budget, hooks, NULL, &err);
        rows[i].feed(sink);
        CHECK_INT(rows[i].what, sink_failed(sink), true);
        feed_slices(sink);
        CHECK_INT(rows[i].what, sink_finish(sink, &other), rows[i].status);
        CHECK_HAS(rows[i].what, other.message, rows[i].message);
        CHECK_HAS(rows[i].what, sink_error(sink)->message, rows[i].message);
        sink_destroy(sink);
        arena_destroy(arena);
    }
}

/* Deeper than rows may be: counted, kept as instants, and said aloud. */
static void too_deep(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    struct budget budget = budget_default;
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct trace trace;

    budget.depth_max = 3;
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget, (struct sink_hooks){0}, NULL, &err);
    picture_draw(sink, "t\n  0 +100 a\n  1 +50 b\n  2 +40 c\n  3 +30 d\n  4 +20 e\n  60 +1 f\n"
                       "u\n  0 +9 a [async]\n  1 +9 b [async]\n  2 +9 c [async]\n  3 +9 d [async]\n"
                       "  9 +1 e [async]\n");
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    CHECK_OK("open", trace_open(memory_blocks_in(blocks), arena, &trace, &err), &err);
    CHECK_PICTURE("too deep", &trace, PICTURE_NOTES,
                  "t\n"
                  "  0 +100 a\n"
                  "    1 +50 b\n"
                  "      2 +40 c\n"
                  "        3 +0 d [clamped]\n"
                  "        4 +0 e [clamped]\n"
                  "    60 +1 f\n"
                  "u\n"
                  "  0 +9 a [async]\n"
                  "    1 +9 b [async]\n"
                  "      2 +9 c [async]\n"
                  "        3 +0 d [async] [clamped]\n"
                  "  9 +1 e [async]\n"
                  "note too-deep 3 Slices nested or overlapping more than 3 deep are kept as "
                  "instants in the last row of their track.\n");
    arena_destroy(arena);
}

static void feed_clamped(struct sink *sink, void *data)
{
    const int64_t far = INT64_MAX;
    track_id track = sink_track(sink, a_track);

    (void)data;
    put(sink, track, -far, 5);
    put(sink, track, 0, -7);
    put(sink, track, 3, far);
    put(sink, track, far, 1);
}

static void clamped(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed_clamped, NULL, arena);
    const struct {
        const char *what;
        int64_t start_ps, dur_ps;
    } rows[] = {
        {"far before", -TIME_PS_MAX, 5},
        {"negative length", 0, 0},
        {"endless", 3, TIME_PS_MAX - 3},
        {"far behind", TIME_PS_MAX, 0},
    };

    for (event_id i = 0; i < COUNT(rows); i++) {
        struct slice slice = trace_slice(trace, trace_slice_of_event(trace, i));
        CHECK_INT(rows[i].what, slice.start_ps, rows[i].start_ps);
        CHECK_INT(rows[i].what, slice.dur_ps, rows[i].dur_ps);
        CHECK(rows[i].what, slice.flags & SLICE_CLAMPED);
    }
    CHECK_INT("one note", trace->note_count, 1);
    CHECK_INT("of four", trace->notes[0].count, 4);
    CHECK_STR("kind", trace_name(trace, trace->notes[0].kind), "clamped-times");
    arena_destroy(arena);
}

static void feed_long(struct sink *sink, void *data)
{
    uint32_t count = *(const uint32_t *)data;

    for (uint32_t i = 0; i < count; i++)
        put(sink, sink_track(sink, a_track), 0, INT64_C(4400000000000000000));
}

static void sums_that_end_are_told(void **state)
{
    (void)state;
    struct arena *arena = arena_create();

    for (uint32_t count = 2; count < 4; count++) {
        const struct trace *trace = picture_fed(feed_long, &count, arena);

        CHECK_INT("two fit, three do not", trace->note_count, count - 2);
        if (trace->note_count > 0)
            CHECK_STR("kind", trace_name(trace, trace->notes[0].kind), "sums-cut");
    }
    arena_destroy(arena);
}

static struct arg an_arg(struct sink *sink, const char *key, uint64_t bits)
{
    return (struct arg){sink_name(sink, str_of(key)), ARG_UINT64, bits};
}

static void feed_about(struct sink *sink, void *data)
{
    const char *proto = data;
    struct sink_track given = a_track;

    given.derived = true;
    track_id first = sink_track(sink, a_track), second = sink_track(sink, given);
    type_id one = sink_type(sink, sink_name(sink, STR("one")));
    type_id two = sink_type(sink, sink_name(sink, STR("two")));
    sink_type_arg(sink, two, an_arg(sink, "flops", 2));
    sink_type_arg(sink, one, an_arg(sink, "flops", 1));
    sink_type_arg(sink, two, an_arg(sink, "bytes", 22));
    sink_type_arg(sink, one, an_arg(sink, "bytes", 11));
    sink_property(sink, NO_TRACK, an_arg(sink, "version", 9));
    sink_property(sink, first, an_arg(sink, "peak", 8));
    sink_track_rename(sink, first, STR("late name"));
    for (int i = 0; i < 3; i++)
        sink_note(sink, "cut", NOTE_ERROR, 2, "%s", "it ends early");
    sink_note(sink, "cut", NOTE_ERROR, 1, "%s", "elsewhere");
    sink_no_epoch(sink, STR("no clock"));

    struct bytes bytes = {.at = (const uint8_t *)proto, .count = strlen(proto)};
    program_id late = sink_program(sink, UINT64_C(17342868964687645945), 1, 5, bytes);
    program_id early = sink_program(sink, 7, 1, 6, (struct bytes){0});
    const char *const names[] = {"z", "a", "m", "a"};
    for (uint32_t i = 0; i < 4; i++)
        sink_instruction(sink, (struct instruction){.program = i == 2 ? early : late,
                                                    .name = sink_name(sink, str_of(names[i])),
                                                    .opcode = i});
    put(sink, second, 10, 5);
    put(sink, second, 0, 20); /* out of order */
    sink_memory(sink, (struct memory_event){.at_ps = 9, .bytes = 64, .peak_bytes = -1});
    put(sink, second, 3, 1);
    sink_memory(sink, (struct memory_event){.at_ps = 3, .is_free = true, .bytes = 65});
}

static void about(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct error err = {0};
    const char proto[] = "a proto that is kept as it is";
    const struct trace *trace = picture_fed(feed_about, (void *)(uintptr_t)proto, arena);

    CHECK_INT("types", trace->type_count, 3);
    for (type_id type = 1; type < 3; type++) {
        CHECK_INT("args of a type", trace->types[type].arg_count, 2);
        const struct arg *args = &trace->type_args[trace->types[type].first_arg];
        CHECK_INT("first arg", args[0].bits, type);
        CHECK_INT("second arg", args[1].bits, 11 * type);
    }
    CHECK_INT("properties", trace->property_count, 2);
    CHECK_INT("of the file", trace->properties[0].track, NO_TRACK);
    CHECK_INT("of a track", trace->properties[1].track, 0);
    CHECK_STR("renamed", trace_name(trace, trace->tracks[0].name), "late name");
    CHECK_INT("notes", trace->note_count, 2);
    CHECK_INT("counted", trace->notes[0].count, 6);
    CHECK("no epoch", !trace->has_epoch);
    CHECK_STR("why", trace->epoch_reason, "no clock");

    name_id name;
    CHECK("a name", trace_find_name(trace, STR("a"), &name));
    CHECK("no name", !trace_find_name(trace, STR("nowhere"), &name));
    program_id program = trace_program(trace, UINT64_C(17342868964687645945));
    CHECK_INT("program", program, 0);
    CHECK_INT("no program", trace_program(trace, 8), NO_PROGRAM);
    CHECK_INT("instructions", trace->programs[program].instruction_count, 3);
    trace_find_name(trace, STR("z"), &name);
    CHECK_INT("instruction", trace_instruction(trace, program, name)->opcode, 0);
    CHECK("not of this program", !trace_instruction(trace, 1, name));
    trace_find_name(trace, STR("m"), &name);
    CHECK_INT("of the other", trace_instruction(trace, 1, name)->opcode, 2);

    const struct program *kept = &trace->programs[program];
    char back[sizeof(proto)] = "";
    struct bytes packed = trace->parts->in.data(trace->parts->in.from, kept->blob_offset,
                                                (size_t)kept->blob_packed_bytes);
    CHECK_INT("proto", kept->blob_bytes, strlen(proto));
    CHECK_OK("unpack", zstd_unpack(back, strlen(proto), packed, &err), &err);
    CHECK_STR("proto", str_of(back), proto);

    CHECK_INT("memory events", trace->memory_event_count, 2);
    CHECK_INT("by time", trace->memory_events[0].bytes, 65);
    CHECK_INT("its slice", trace_slice(trace, trace->memory_events[0].slice).start_ps, 3);
    CHECK_INT("its slice", trace_slice(trace, trace->memory_events[1].slice).start_ps, 0);
    CHECK_INT("derived", trace_slice(trace, 0).flags, SLICE_DERIVED);
    CHECK_INT("total", trace->tracks[1].duration_sum_ps, 26);
    CHECK_INT("count", trace->tracks[1].slice_count, 3);
    CHECK_INT("start", trace->start_ps, 0);
    CHECK_INT("end", trace->end_ps, 20);
    arena_destroy(arena);
}

static void feed_many_names(struct sink *sink, void *data)
{
    char text[32];

    (void)data;
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "%s%u", i % 3 ? "a common beginning " : "",
                 i * 2654435769u % 100000);
        sink_name(sink, str_of(text));
    }
    sink_name(sink, (struct str){"nul\0inside", 10});
}

static void names_are_found(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed_many_names, NULL, arena);
    name_id found;

    CHECK("many", trace->name_count > 4000);
    for (name_id id = 0; id < trace->name_count; id++) {
        CHECK("found", trace_find_name(trace, trace_name(trace, id), &found));
        CHECK_INT("itself", found, id);
    }
    CHECK("not there", !trace_find_name(trace, (struct str){"nul\0", 4}, &found));
    arena_destroy(arena);
}

/* Chunks that were written already are read back when the order breaks late. */
static void feed_late_disorder(struct sink *sink, void *data)
{
    track_id track = sink_track(sink, a_track);

    (void)data;
    for (int64_t i = 0; i < 20000; i++) {
        put(sink, track, i * 10, 9);
        put(sink, track, i * 10 + 1, 3);
    }
    put(sink, track, 5, 1);
}

static void late_disorder(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = picture_fed(feed_late_disorder, NULL, arena);

    CHECK_INT("all", trace->slice_count, 40001);
    CHECK_INT("rows", trace->row_count, 2);
    CHECK_INT("above", trace->rows[0].count, 20000);
    CHECK_INT("below", trace->rows[1].count, 20001);
    CHECK_INT("self of the one with two", trace_slice(trace, 0).self_ps, 5);
    CHECK_INT("self of another", trace_slice(trace, 1).self_ps, 6);
    CHECK_INT("late", trace_slice(trace, trace->rows[1].first_slice + 1).event, 40000);
    for (event_id event = 0; event < 40001; event += 777)
        CHECK("each event", trace_slice_of_event(trace, event) != NO_SLICE);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses),       cmocka_unit_test(too_deep),
        cmocka_unit_test(clamped),       cmocka_unit_test(sums_that_end_are_told),
        cmocka_unit_test(about),         cmocka_unit_test(names_are_found),
        cmocka_unit_test(late_disorder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
