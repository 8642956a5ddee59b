/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto traces built packet by packet: slices, clocks, counters, flows, legacy events,
 * damage. */
#include "made_packets.h"
#include "survives.h"

#include <zlib.h>

static const struct made_clock two_clocks[] = {{6, 1000, 0, 0}, {1, 500000, 0, 0}};

static void describe(struct made *made)
{
    put_clocks(made, 1, two_clocks, 2);
    put_process(made, 7, 42, "trainer");
    put_thread(made, 8, 7, 42, 43, "main");
}

static void check_made(const char *what, struct made *made, unsigned with, const char *want)
{
    struct arena *arena = arena_create();

    CHECK_PICTURE(what, made_trace(made, arena), with, want);
    free_made(made);
    arena_destroy(arena);
}

/* Begins and ends nest; times are those of the first snapshot; the wall clock is in it. */
static void slices(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    describe(&made);
    put_event(&made, 1010, BEGIN, 8, "outer");
    put_event(&made, 1020, BEGIN, 8, "inner");
    put_event(&made, 1025, INSTANT, 8, "mark");
    put_event(&made, 1030, END, 8, NULL);
    put_event(&made, 1040, END, 8, NULL);
    put_event(&made, 1050, BEGIN, 8, "open");
    put_event(&made, 1060, INSTANT, 99, "elsewhere");
    put_event(&made, 1070, END, 77, NULL);
    const struct trace *trace = made_trace(&made, arena);
    CHECK_PICTURE(
        "slices", trace, PICTURE_NOTES,
        "trainer / main\n  10000 +30000 outer\n    20000 +10000 inner\n      25000 +0 mark\n  "
        "50000 +20000 open [cut]\nelsewhere\n  60000 +0 elsewhere\nnote unmatched-ends 1 Some ends "
        "have no begin: their slices began before the trace and are left out.\n");
    CHECK("epoch", trace->has_epoch);
    CHECK_INT("epoch", trace->epoch_ns, 500000);
    CHECK_INT("thread", trace->tracks[1].source_id, 43);
    CHECK_INT("thread", trace->tracks[1].kind, TRACK_THREAD);
    free_made(&made);
    arena_destroy(arena);
}

/* Packets of several writers of one track: the order of the file is not that of time. */
static void out_of_order(void **state)
{
    (void)state;
    struct made made = {0};

    put_event(&made, 40, END, 8, NULL);
    put_event(&made, 10, BEGIN, 8, "a");
    put_event(&made, 30, END, 8, NULL);
    put_event(&made, 20, BEGIN, 8, "b");
    put_event(&made, 40, BEGIN, 8, "c");
    put_event(&made, 50, END, 8, NULL);
    put_thread(&made, 8, 0, 1, 2, "late");
    check_made("out of order", &made, 0,
               "process 1 / late\n  -30000 +30000 a\n    -20000 +10000 b\n  0 +10000 c\n");
}

static void put_annotation(struct made *made, int64_t iid, const char *name, uint32_t number,
                           struct text *value)
{
    struct text annotation = {0};

    if (name != NULL)
        put_text(&annotation, 10, name);
    else
        put_number(&annotation, 1, iid);
    if (number == 0)
        text_put(&annotation, value->at, value->count), value->count = 0;
    else
        put_message(&annotation, number, value);
    put_message(&made->event, 4, &annotation);
    text_free(&annotation);
}

/* As rocprofv3 writes kernels: only the event says that its track is a stream of a GPU. */
static void streams_of_gpus(void **state)
{
    (void)state;
    const struct {
        const char *what, *category, *agent, *want;
    } rows[] = {
        {"a kernel", "kernel_dispatch", "Agent-4",
         "GPU Agent-4 / STREAM\n  0 +10000 k (compute)\n"},
        {"a call", "hip_api", "Agent-4", "process 1 / STREAM\n  0 +10000 k (other)\n"},
        {"no number", "kernel_dispatch", "Agent-", "process 1 / STREAM\n  0 +10000 k (compute)\n"},
        {"a number too large", "kernel_dispatch", "Agent-99999999999999999999",
         "process 1 / STREAM\n  0 +10000 k (compute)\n"},
        {"no agent", "kernel_dispatch", NULL, "process 1 / STREAM\n  0 +10000 k (compute)\n"},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made made = {0};
        struct text value = {0};

        put_process(&made, 7, 1, "process 1");
        put_track(&made, 8, 7, "STREAM", 0, NULL);
        put_text(&made.event, 22, rows[i].category);
        if (rows[i].agent != NULL) {
            put_text(&value, 6, rows[i].agent);
            put_annotation(&made, 0, "agent", 0, &value);
        }
        put_event(&made, 100, BEGIN, 8, "k");
        put_event(&made, 110, END, 8, NULL);
        check_made(rows[i].what, &made, PICTURE_KINDS, rows[i].want);
        text_free(&value);
    }
}

static void put_args(struct made *made)
{
    struct text value = {0}, inner = {0}, item = {0};

    put_number(&value, 2, 1);
    put_annotation(made, 0, "bool", 0, &value);
    put_number(&value, 3, -1);
    put_annotation(made, 0, "uint", 0, &value);
    put_number(&value, 4, -5);
    put_annotation(made, 0, "int", 0, &value);
    put_double(&value, 5, 0.5);
    put_annotation(made, 0, "double", 0, &value);
    put_text(&value, 6, "text");
    put_annotation(made, 3, NULL, 0, &value);
    put_number(&value, 17, 1);
    put_annotation(made, 0, "interned", 0, &value);
    /* entries: {"a": 1, "b": [true, "q\""]} */
    put_text(&inner, 10, "a");
    put_number(&inner, 4, 1);
    put_message(&value, 11, &inner);
    put_number(&item, 2, 1);
    put_message(&inner, 12, &item);
    put_text(&item, 6, "q\"");
    put_message(&inner, 12, &item);
    put_text(&inner, 10, "b");
    put_message(&value, 11, &inner);
    put_annotation(made, 0, "dict", 0, &value);
    /* the older way: {"k": [7, null]} */
    put_number(&item, 5, 7);
    put_message(&inner, 4, &item);
    put_message(&inner, 4, &item);
    put_number(&inner, 1, 2);
    put_number(&value, 1, 1);
    put_text(&value, 2, "k");
    put_message(&value, 3, &inner);
    put_annotation(made, 0, "nested", 8, &value);
    put_annotation(made, 0, "nothing", 0, &value);
    text_free(&value);
    text_free(&inner);
    text_free(&item);
}

static void arguments(void **state)
{
    (void)state;
    struct made made = {0};
    struct text interned = {0}, place = {0}, log = {0};

    put_interned(&interned, 1, 1, "cat.a");
    put_interned(&interned, 2, 1, "step");
    put_interned(&interned, 3, 3, "key");
    put_interned(&interned, 20, 4, "went wrong");
    put_interned(&interned, 29, 1, "a text");
    put_number(&place, 1, 9);
    put_text(&place, 2, "train.py");
    put_text(&place, 3, "main");
    put_number(&place, 4, 12);
    put_message(&interned, 4, &place);
    put_message(&made.packet, 12, &interned);
    put_number(&made.packet, 13, 1);
    put_number(&made.event, 10, 1);
    put_number(&made.event, 3, 1);
    put_text(&made.event, 22, "b");
    put_args(&made);
    put_number(&made.event, 34, 9);
    put_event(&made, 10, BEGIN, 8, NULL);
    put_number(&log, 2, 4);
    put_message(&made.event, 21, &log);
    put_event(&made, 15, INSTANT, 8, NULL);
    put_number(&made.event, 52, 77);
    put_event(&made, 20, END, 8, NULL);
    check_made("arguments", &made, PICTURE_ARGS,
               "step\n"
               "  0 +10000 step {cat: \"cat.a,b\", bool: true, uint: 18446744073709551615u, "
               "int: -5, double: 0.5, key: \"text\", interned: \"a text\", "
               "dict: {\"a\":1,\"b\":[true,\"q\\\"\"]}, nested: {\"k\":[7,null]}, nothing: null, "
               "source: \"train.py:12\", function: \"main\", correlation_id: 77u}\n"
               "    5000 +0 went wrong {log_message: \"went wrong\"}\n");
    text_free(&interned);
    text_free(&place);
    text_free(&log);
}

static void put_by_iid(struct made *made, int64_t at_ns, int64_t flags, bool dropped, int64_t iid)
{
    put_number(&made->packet, 13, flags);
    if (dropped)
        put_number(&made->packet, 42, 1);
    put_number(&made->event, 10, iid);
    put_event(made, at_ns, INSTANT, 8, NULL);
}

/* Names live from a clearing to the next; what needs lost ones is left out. */
static void incremental_state(void **state)
{
    (void)state;
    struct made made = {0};
    struct text interned = {0};

    put_thread(&made, 8, 0, 1, 2, "main");
    put_by_iid(&made, 5, 2, true, 1); /* before any clearing */
    put_interned(&interned, 2, 1, "first");
    put_message(&made.packet, 12, &interned);
    put_by_iid(&made, 10, 1, false, 1);
    put_by_iid(&made, 20, 2, false, 1);
    put_by_iid(&made, 30, 2, true, 1); /* packets were lost */
    put_by_iid(&made, 40, 2, false, 1);
    put_interned(&interned, 2, 1, "second");
    put_message(&made.packet, 12, &interned);
    put_by_iid(&made, 50, 1, false, 1);
    put_by_iid(&made, 60, 2, false, 2); /* never told */
    check_made("state", &made, PICTURE_NOTES,
               "process 1 / main\n  5000 +0 first\n  15000 +0 first\n  45000 +0 second\n  55000 +0 "
               "\nnote lost-packets 2 The recorder lost packets, because its buffer was full; "
               "record with a larger one.\nnote lost-state 3 Some packets come before the packets "
               "that they depend on, as in a ring buffer, and are left out.\nnote lost-names 1 "
               "Some names are not in the file.\n");
    text_free(&interned);
}

/* A clock in each of many sequences, each joined with the first clock. */
static void many_clocks(void **state)
{
    (void)state;
    enum { SEQUENCES = 1100, JOINED = 1024 };
    struct made made = {0};
    struct arena *arena = arena_create();
    uint64_t left_out = 0;

    for (int sequence = 1; sequence <= SEQUENCES; sequence++) {
        const struct made_clock clocks[] = {{64, 5, 0, 0}, {6, 1000, 0, 0}};

        put_clocks(&made, sequence, clocks, 2);
        put_number(&made.packet, 58, 64);
        put_number(&made.packet, 8, 10);
        put_number(&made.event, 9, INSTANT);
        put_number(&made.event, 11, 8);
        put_text(&made.event, 23, "a");
        put_message(&made.packet, 11, &made.event);
        end_packet(&made, sequence);
    }
    const struct trace *trace = made_trace(&made, arena);
    for (uint32_t i = 0; i < trace->note_count; i++)
        if (str_contains(trace_name(trace, trace->notes[i].message), STR("1,024 pairs")))
            left_out = trace->notes[i].count;
    CHECK_INT("all are there", trace->slice_count, SEQUENCES);
    CHECK("a few pairs are of the wall clock", left_out >= SEQUENCES - JOINED && left_out < 100);
    arena_destroy(arena);
    free_made(&made);
}

/* A clock of its own sequence, in deltas of 10 ns; one that is joined over another; one unknown. */
static void clocks(void **state)
{
    (void)state;
    struct made made = {0};
    const struct made_clock own[] = {{64, 5, 1, 10}, {6, 2000, 0, 0}};
    const struct made_clock over[] = {{3, 100, 0, 0}, {6, 5000, 0, 0}};
    const struct made_clock chain[] = {{130, 7, 0, 0}, {3, 200, 0, 0}};
    const struct {
        int64_t clock, at;
        const char *name;
    } events[] = {
        {64, 1, "10 later"},   {64, 2, "30 later"},      {6, 2500, "boottime"},
        {3, 110, "monotonic"}, {130, 8, "over another"}, {131, 900, "unknown"},
    };

    put_clocks(&made, 1, own, 2);
    put_clocks(&made, 2, over, 2);
    put_clocks(&made, 2, chain, 2);
    for (size_t i = 0; i < COUNT(events); i++) {
        put_number(&made.packet, 58, events[i].clock);
        put_event(&made, events[i].at, INSTANT, 8, events[i].name);
    }
    check_made(
        "clocks", &made, PICTURE_NOTES,
        "unknown\n  -1100000 +0 unknown\n  10000 +0 10 later\n  30000 +0 30 later\n  500000 +0 "
        "boottime\n  3010000 +0 monotonic\n  3101000 +0 over another\nnote clocks 1 Some times are "
        "on a clock that no snapshot relates to the others; they are shown unchanged.\n");
}

static void put_counter(struct made *made, int64_t at_ns, int64_t track, int64_t value)
{
    put_number(&made->event, 30, value);
    put_event(made, at_ns, COUNTER, track, NULL);
}

static void counters(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct text about = {0}, defaults = {0}, event = {0};

    describe(&made);
    put_number(&about, 4, 1024);
    put_text(&about, 6, "KiB");
    put_track(&made, 20, 7, "memory", 8, &about);
    put_number(&about, 1, 1);
    put_number(&about, 5, 1);
    put_track(&made, 21, 8, NULL, 8, &about);
    put_number(&event, 11, 8);
    put_number(&event, 31, 21);
    put_message(&defaults, 11, &event);
    put_message(&made.packet, 59, &defaults);
    put_number(&made.packet, 13, 1);
    end_packet(&made, 1);
    put_counter(&made, 1000, 20, 3);
    put_double(&made.event, 44, 0.5);
    put_event(&made, 1010, COUNTER, 20, NULL);
    put_number(&made.event, 12, 100);
    put_event(&made, 1020, BEGIN, 8, "f");
    put_number(&made.event, 12, 11);
    put_event(&made, 1030, END, 8, NULL);
    put_number(&made.packet, 13, 1); /* cleared: counts from zero, and has no defaults */
    put_number(&made.event, 31, 21);
    put_number(&made.event, 12, 5);
    put_event(&made, 1040, INSTANT, 8, "g");
    put_counter(&made, 1050, 8, 3);
    const struct trace *trace = made_trace(&made, arena);
    CHECK_PICTURE("counters", trace, PICTURE_NOTES,
                  "trainer / memory\n  0 = 3072\n  10000 = 512\ntrainer / main\n  20000 +10000 f\n "
                  " 40000 +0 g\ntrainer / main / thread time\n  20000 = 100\n  30000 = 111\n  "
                  "40000 = 5\nnote orphan-counters 1 Some counter values name a track that is not "
                  "a counter, and are left out.\n");
    text_free(&about);
    text_free(&defaults);
    text_free(&event);
    free_made(&made);
    arena_destroy(arena);
}

/* The first event of an id starts an arrow, the next ones hand it on, a terminating one ends it. */
static void flows(void **state)
{
    (void)state;
    struct made made = {0};

    put_fixed64(&made.event, 47, 5);
    put_event(&made, 10, BEGIN, 8, "a");
    put_event(&made, 15, END, 8, NULL);
    put_fixed64(&made.event, 47, 5);
    put_event(&made, 20, BEGIN, 9, "b");
    put_event(&made, 25, END, 9, NULL);
    put_fixed64(&made.event, 48, 5);
    put_event(&made, 30, BEGIN, 8, "c");
    put_event(&made, 35, END, 8, NULL);
    put_number(&made.event, 36, 6);
    put_event(&made, 40, INSTANT, 8, "d");
    put_number(&made.event, 42, 6);
    put_event(&made, 50, INSTANT, 9, "e");
    check_made("flows", &made, PICTURE_FLOWS,
               "a\n  0 +5000 a\n  20000 +5000 c\n  30000 +0 d\n"
               "b\n  10000 +5000 b\n  40000 +0 e\n"
               "a -> b\nd -> e\nb -> c\n");
}

/* Beyond what an event may have: counted. */
static void too_much(void **state)
{
    (void)state;
    struct made made = {0};

    for (int i = 0; i < 4096 + 2; i++)
        put_fixed64(&made.event, 47, 5);
    for (int i = 0; i < 64 + 3; i++)
        put_number(&made.event, 12, 1);
    put_event(&made, 10, INSTANT, 8, "a");
    check_made("too much", &made, PICTURE_NOTES,
               "a\n  0 +0 a\nnote args-left-out 5 Some events have too many arguments, flow "
               "arrows, categories or counters; the last ones are left out.\n");
}

static void put_legacy(struct made *made, int phase, int64_t id, int64_t dur_us)
{
    struct text legacy = {0};

    put_number(&legacy, 2, phase);
    if (dur_us != 0)
        put_number(&legacy, 3, dur_us);
    if (id != 0)
        put_number(&legacy, 11, id);
    put_message(&made->event, 6, &legacy);
    text_free(&legacy);
}

/* Events of the old JSON's phases, with times relative to the thread's descriptor. */
static void legacy(void **state)
{
    (void)state;
    struct made made = {0};
    struct text thread = {0};
    const struct {
        int phase;
        int64_t delta_us, id, dur_us;
        const char *name;
    } events[] = {
        {'X', 10, 0, 5, "complete"}, {'B', 10, 0, 0, "begin"},   {'b', 1, 9, 0, "async"},
        {'E', 4, 0, 0, NULL},        {'e', 5, 9, 0, NULL},       {'i', 0, 0, 0, "mark"},
        {'M', 0, 0, 0, "metadata"},  {'b', 1, 10, 0, "another"}, {'n', 1, 10, 0, "inside"},
        {'e', 1, 10, 0, NULL},
    };

    put_number(&thread, 1, 42);
    put_number(&thread, 2, 43);
    put_text(&thread, 5, "old thread");
    put_number(&thread, 6, 1000);
    put_message(&made.packet, 44, &thread);
    put_number(&made.packet, 13, 1);
    end_packet(&made, 1);
    for (size_t i = 0; i < COUNT(events); i++) {
        put_legacy(&made, events[i].phase, events[i].id, events[i].dur_us);
        put_number(&made.event, 1, events[i].delta_us);
        if (events[i].name != NULL)
            put_text(&made.event, 23, events[i].name);
        put_message(&made.packet, 11, &made.event);
        end_packet(&made, 1);
    }
    check_made("legacy", &made, 0,
               "process 42 / old thread\n"
               "  1010000000 +5000000 complete\n"
               "  1020000000 +5000000 begin\n"
               "  1030000000 +0 mark\n"
               "process 42 / async\n"
               "  1021000000 +9000000 async\n"
               "process 42 / another\n"
               "  1031000000 +2000000 another\n"
               "    1032000000 +0 inside\n");
    text_free(&thread);
}

/* Bundles, names of the process tree, and what is not read. */
static void packed(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0}, inner = {0};
    struct text tree = {0}, entry = {0};

    put_thread(&inner, 8, 0, 42, 43, NULL);
    put_event(&inner, 10, INSTANT, 8, "zipped");
    uLongf count = compressBound(inner.file.count);
    uint8_t *at = arena_array(arena, uint8_t, count);
    assert_int_equal(compress2(at, &count, (const Bytef *)inner.file.at, inner.file.count, 6),
                     Z_OK);
    put_bytes(&made.packet, 50, (struct str){(const char *)at, count});
    end_packet(&made, 1);
    inner.file.count = 0;
    put_event(&inner, 20, INSTANT, 8, "squeezed");
    struct bytes zstd = pack_zstd(arena, proto_bytes(&inner.file));
    put_bytes(&made.packet, 133, (struct str){(const char *)zstd.at, zstd.count});
    end_packet(&made, 1);
    put_bytes(&made.packet, 50, STR("no zlib"));
    end_packet(&made, 1);
    put_number(&entry, 1, 42);
    put_text(&entry, 3, "/usr/bin/python3");
    put_text(&entry, 3, "train.py");
    put_message(&tree, 1, &entry);
    put_number(&entry, 1, 43);
    put_text(&entry, 2, "worker");
    put_message(&tree, 2, &entry);
    put_message(&made.packet, 2, &tree);
    end_packet(&made, 1);
    for (uint32_t i = 0; i < 31; i++) {
        put_text(&made.packet, 1, "");
        end_packet(&made, 1);
    }
    put_text(&made.packet, 104, "");
    end_packet(&made, 1);
    CHECK_PICTURE("packed", made_trace(&made, arena), PICTURE_NOTES,
                  "python3 / worker\n  0 +0 zipped\n  10000 +0 squeezed\nnote not-read 32 Packets "
                  "of these kinds are not read: 31 ftrace, 1 of kind 104.\nnote corrupt 1 Some "
                  "compressed packets could not be unpacked completely.\n");
    text_free(&tree);
    text_free(&entry);
    free_made(&inner);
    free_made(&made);
    arena_destroy(arena);
}

static void no_events(void **state)
{
    (void)state;
    struct made made = {0};

    put_clocks(&made, 1, two_clocks, 2);
    check_made("no events", &made, PICTURE_NOTES,
               "note no-events 1 The trace holds no track events; what it recorded is of kinds "
               "that jviewd does not read.\n");
}

static void cut_off(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct error err = {0};

    put_event(&made, 10, INSTANT, 8, "a");
    size_t whole = made.file.count;
    put_event(&made, 20, INSTANT, 8, "b");
    const struct trace *trace =
        trace_of((struct bytes){(const uint8_t *)made.file.at, whole + 5}, arena, &err);
    CHECK_OK("cut", err.code, &err);
    CHECK_PICTURE("what is whole", trace, 0, "a\n  0 +0 a\n");
    CHECK_STR("note", trace_name(trace, trace->notes[0].kind), "truncated");
    CHECK_HAS("no epoch", str_c(arena, trace->epoch_reason), "wall clock");
    trace = trace_of((struct bytes){(const uint8_t *)made.file.at, 5}, arena, &err);
    CHECK("nothing whole", trace == NULL);
    CHECK_INT("nothing whole", err.code, ERR_TRUNCATED);
    CHECK_HAS("nothing whole", err.message, "copy it again");
    free_made(&made);
    arena_destroy(arena);
}

static void damaged(void **state)
{
    (void)state;
    struct made made = {0};

    describe(&made);
    put_args(&made);
    put_fixed64(&made.event, 47, 5);
    put_event(&made, 1010, BEGIN, 8, "f");
    put_legacy(&made, 'b', 9, 0);
    put_event(&made, 1010, INSTANT, 7, "g");
    put_counter(&made, 1010, 20, -1);
    put_event(&made, 1020, END, 8, NULL);
    uint8_t *at = (uint8_t *)made.file.at;
    for (size_t count = 0; count <= made.file.count; count++)
        survives(trace_of, "a prefix", (struct bytes){at, count});
    for (size_t bit = 0; bit < made.file.count * 8; bit++) {
        at[bit / 8] ^= (uint8_t)(1 << bit % 8);
        survives(trace_of, "a flipped bit", (struct bytes){at, made.file.count});
        at[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    free_made(&made);
}

/* Parents in a ring and in a long chain, slices that never end, values inside each other. */
static void hostile(void **state)
{
    (void)state;
    struct made made = {0};
    struct text nest = {0}, outer = {0};

    put_track(&made, 1, 2, "a", 0, NULL);
    put_track(&made, 2, 1, "b", 0, NULL);
    put_track(&made, 3, 3, "c", 0, NULL);
    for (int64_t i = 0; i < 1000; i++)
        put_track(&made, 1000 + i, 1001 + i, "d", 0, NULL);
    put_event(&made, 1, INSTANT, 1, "x");
    put_event(&made, 1, INSTANT, 3, "x");
    put_event(&made, 1, INSTANT, 1000, "x");
    for (int64_t i = 0; i < 70000; i++)
        put_event(&made, i, BEGIN, 5, "deep");
    for (int i = 0; i < 1000; i++) {
        outer.count = 0;
        put_message(&outer, 11, &nest);
        text_put(&nest, outer.at, outer.count);
    }
    put_message(&made.event, 4, &nest);
    put_event(&made, INT64_MIN, INSTANT, 1, "far");
    put_event(&made, INT64_MAX, INSTANT, 1, "far");
    survives(trace_of, "hostile", proto_bytes(&made.file));
    text_free(&nest);
    text_free(&outer);
    free_made(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices),
        cmocka_unit_test(out_of_order),
        cmocka_unit_test(streams_of_gpus),
        cmocka_unit_test(arguments),
        cmocka_unit_test(incremental_state),
        cmocka_unit_test(clocks),
        cmocka_unit_test(many_clocks),
        cmocka_unit_test(counters),
        cmocka_unit_test(too_much),
        cmocka_unit_test(flows),
        cmocka_unit_test(legacy),
        cmocka_unit_test(packed),
        cmocka_unit_test(cut_off),
        cmocka_unit_test(no_events),
        cmocka_unit_test(damaged),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
