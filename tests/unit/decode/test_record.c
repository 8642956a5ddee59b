/* SPDX-License-Identifier: Apache-2.0 */
/* Spools built frame by frame: ranges, captures, losses, gaps, clocks that were set. */
#include "check.h"
#include "decode/decode.h"
#include "decode/record/record_clock.h"
#include "decode/record/record_read.h"
#include "made_spool.h"
#include "picture.h"

struct spool_feed {
    struct bytes bytes;
    enum status status;
    struct error err;
};

static void feed(struct sink *sink, void *data)
{
    struct spool_feed *spool = data;
    struct arena *arena = arena_create();
    struct input input;

    CHECK_OK("open", input_open(STR("1-2.jvs"), spool->bytes, NULL, arena, &input, &spool->err),
             &spool->err);
    CHECK("told by content", !record_is(spool->bytes) || decode_record.sniff(&input));
    spool->status = decode_record.decode(&input, sink, &spool->err);
    input_close(&input);
    arena_destroy(arena);
}

static const struct trace *trace_of(const struct made_spool *made, struct arena *arena)
{
    struct spool_feed spool = {.bytes = {(const uint8_t *)made->file.at, made->file.count}};
    const struct trace *trace = picture_fed(feed, &spool, arena);

    CHECK_OK("decoded", spool.status, &spool.err);
    return trace;
}

static const char *const texts[] = {"train", "step", "load", "epoch", "io", "checkpoint"};
static const char *const about[] = {"host", "gpu-07",  "program", "python3",  "ticks",
                                    "tsc",  "version", "0.1.0",   "env RANK", "3"};

#define RANGE(thread, start, end, domain, name, category, color, form, kind, payload, ender)       \
    (thread), (start), (end), (domain), (name), (category), (color), (form), (kind), (payload),    \
        (ender)

static void put_front(struct made_spool *made)
{
    spool_begin(made);
    spool_texts(made, SPOOL_ABOUT, 0, about, COUNT(about));
    spool_ties(made);
    spool_texts(made, SPOOL_TEXT, 1, texts, COUNT(texts));
}

static void put_ranges(struct made_spool *made)
{
    static const int64_t rows[] = {
        RANGE(468, 3000, 9000, 0, 3, 7, 0xff00ff00, FORM_NESTED, PAYLOAD_NONE, 0, 0),
        RANGE(468, 2000, 11000, 1, 2, 0, 0, FORM_NESTED, PAYLOAD_INT64, -4, 0),
        RANGE(466, 5000, 5000, 0, 6, 0, 0, FORM_MARK, PAYLOAD_NONE, 0, 0),
        RANGE(466, 4000, 12000, 0, 4, 0, 0, FORM_FREE, PAYLOAD_UINT64, 5, 468),
    };

    spool_rows(made, SPOOL_RANGE, rows, 4, RANGE_COLUMNS);
}

/* Names behind what they are of; a child before its parent; threads; an end on another thread. */
static void ranges(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_front(&made);
    put_ranges(&made);
    spool_rows(&made, SPOOL_THREAD, (const int64_t[]){468, 5}, 1, THREAD_COLUMNS);
    spool_rows(&made, SPOOL_CATEGORY, (const int64_t[]){0, 7, 5}, 1, CATEGORY_COLUMNS);
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    const struct trace *trace = trace_of(&made, arena);
    CHECK_PICTURE("ranges", trace, PICTURE_ARGS | PICTURE_NOTES,
                  "python3 (466) / io (468)\n"
                  "  1000000 +9000000 step {domain: \"train\", payload: -4}\n"
                  "    2000000 +6000000 load {category: \"io\", color: \"#ff00ff00\"}\n"
                  "python3 (466) / main thread (466)\n"
                  "  4000000 +0 checkpoint\n"
                  "python3 (466) / NVTX start/end\n"
                  "  3000000 +8000000 epoch [async] {payload: 5u}\n");
    CHECK_STR("host", trace->hostname, "gpu-07");
    CHECK("epoch", trace->has_epoch && trace->epoch_ns == INT64_C(1000000000000));
    text_free(&made.file);
    arena_destroy(arena);
}

/* Of a payload of fields those that have a type and a key are args. */
static void fields(void **state)
{
    (void)state;
    static const char *const texts_of[] = {"step", "=1\x1fi=2\x1fikey=-3\x1fs\x1fsnone="};
    static const int64_t row[] = {
        RANGE(466, 3000, 9000, 0, 1, 0, 0, FORM_NESTED, PAYLOAD_FIELDS, 2, 0)};
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    spool_begin(&made);
    spool_ties(&made);
    spool_texts(&made, SPOOL_TEXT, 1, texts_of, COUNT(texts_of));
    spool_rows(&made, SPOOL_RANGE, row, 1, RANGE_COLUMNS);
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    CHECK_PICTURE("fields", trace_of(&made, arena), PICTURE_ARGS,
                  "process (466) / main thread (466)\n"
                  "  2000000 +6000000 step {key: -3, none: \"\"}\n");
    text_free(&made.file);
    arena_destroy(arena);
}

/* Recorded in parts: each is a slice; the last one, which nothing closed, lasts as the ranges do. A
 * recording that is on throughout shows none. */
static void captures(void **state)
{
    (void)state;
    static const int64_t turns[] = {2000, 1, 1, 3000, 0, 1, 5000, 1, 2};
    static const int64_t ranges_in[] = {
        RANGE(466, 2000, 3000, 0, 2, 0, 0, FORM_NESTED, PAYLOAD_NONE, 0, 0),
        RANGE(466, 5000, 9000, 0, 3, 0, 0, FORM_NESTED, PAYLOAD_NONE, 0, 0),
    };
    struct arena *arena = arena_create();

    for (uint32_t count = 1; count <= 3; count += 2) {
        struct made_spool made = {0};
        put_front(&made);
        spool_rows(&made, SPOOL_RANGE, ranges_in, 2, RANGE_COLUMNS);
        spool_rows(&made, SPOOL_SWITCH, turns, count, SWITCH_COLUMNS);
        spool_rows(&made, SPOOL_END, NULL, 0, 0);
        CHECK_PICTURE("captures", trace_of(&made, arena), PICTURE_NOTES,
                      count == 1
                          ? "python3 (466) / main thread (466)\n"
                            "  1000000 +1000000 step\n"
                            "  4000000 +4000000 load\n"
                          : "python3 (466) / main thread (466)\n  1000000 +1000000 step\n  4000000 "
                            "+4000000 load\npython3 (466) / captures\n  1000000 +1000000 capture "
                            "1\n  4000000 +4000000 capture 2\nnote captures 2 2 captures recorded, "
                            "drawn as a track; nothing was recorded outside.\n");
        text_free(&made.file);
    }
    arena_destroy(arena);
}

/* Killed: what was open at the last look and did not end behind it is shown, as cut. */
static void killed(void **state)
{
    (void)state;
    static const int64_t open[] = {
        RANGE(466, 1000, 8000, 0, 2, 0, 0, FORM_NESTED, PAYLOAD_NONE, 0, 0),
        RANGE(466, 6000, 8000, 0, 3, 0, 0, FORM_NESTED, PAYLOAD_NONE, 0, 0),
    };
    static const int64_t ended[] = {
        RANGE(466, 6000, 9000, 0, 3, 0, 0, FORM_NESTED, PAYLOAD_NONE, 0, 0),
    };
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_front(&made);
    spool_rows(&made, SPOOL_OPEN, open, 2, RANGE_COLUMNS);
    spool_rows(&made, SPOOL_RANGE, ended, 1, RANGE_COLUMNS);
    CHECK_PICTURE("killed", trace_of(&made, arena), PICTURE_NOTES,
                  "python3 (466) / main thread (466)\n  0 +8000000 step [cut]\n    5000000 "
                  "+3000000 load\nnote truncated 1 The program was killed or is still running: up "
                  "to the last quarter of a second of its recording is missing.\nnote open-ranges "
                  "1 Ranges without an end are shown until the end of the recording.\n");
    text_free(&made.file);
    arena_destroy(arena);
}

static void lost(void **state)
{
    (void)state;
    static const int64_t losses[] = {
        LOST_RING_FULL, 12, 1000, 2000, LOST_NO_PUSH, 2, 1000, 2000, 99, 5, 0, 0};
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_front(&made);
    put_ranges(&made);
    spool_rows(&made, SPOOL_LOSS, losses, 3, LOSS_COLUMNS);
    spool_frame(&made, 77, BYTES("of tomorrow"));
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    const struct trace *trace = trace_of(&made, arena);
    CHECK_INT("notes", trace->note_count, 3);
    CHECK_PICTURE(
        "losses", trace, PICTURE_NOTES,
        "python3 (466) / thread (468)\n  1000000 +9000000 step\n    2000000 +6000000 load\npython3 "
        "(466) / main thread (466)\n  4000000 +0 checkpoint\npython3 (466) / NVTX start/end\n  "
        "3000000 +8000000 epoch [async]\nnote unread 1 This version does not know the type of 1 "
        "frame.\nnote events-dropped 12 12 ranges are missing: a thread recorded them faster than "
        "they could be written. Use fewer ranges, or --nvtx-domain-exclude.\nnote "
        "unbalanced-ranges 2 2 ends of ranges have no begin: they began before the recording, or "
        "the program ends more ranges than it begins.\n");
    text_free(&made.file);
    arena_destroy(arena);
}

static bool has_note(const struct trace *trace, const char *kind)
{
    for (uint32_t note = 0; note < trace->note_count; note++)
        if (str_equal(trace_name(trace, trace->notes[note].kind), str_of(kind)))
            return true;
    return false;
}

/* Cut anywhere, or with any bit turned, it yields whole frames or a sentence. */
static void damaged(void **state)
{
    (void)state;
    struct made_spool made = {0};

    put_front(&made);
    put_ranges(&made);
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    for (size_t count = 0; count <= made.file.count; count++) {
        struct arena *arena = arena_create();
        struct spool_feed spool = {.bytes = {(const uint8_t *)made.file.at, count}};
        const struct trace *trace = picture_fed(feed, &spool, arena);
        if (count < sizeof(struct spool_head))
            CHECK("a cut head", spool.status != OK && spool.err.message[0] != '\0');
        else
            CHECK("whole frames only", trace->event_count == 0 || trace->event_count == 4);
        arena_destroy(arena);
    }
    for (size_t bit = 0; bit < made.file.count * 8; bit += 3) {
        struct arena *arena = arena_create();
        struct spool_feed spool = {.bytes = {(const uint8_t *)made.file.at, made.file.count}};
        made.file.at[bit / 8] ^= (char)(1 << bit % 8);
        const struct trace *trace = picture_fed(feed, &spool, arena);
        made.file.at[bit / 8] ^= (char)(1 << bit % 8);
        CHECK("a sentence, or a note that something is damaged",
              spool.status != OK ? spool.err.message[0] != '\0'
                                 : trace->event_count <= 4 && has_note(trace, "damaged"));
        arena_destroy(arena);
    }
    text_free(&made.file);
}

/* A frame is missing in the middle: the rest stands, and it is said. */
static void gap(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_front(&made);
    text_puts(&made.file, "\x1eJVF torn");
    made.sequence += 2;
    put_ranges(&made);
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    const struct trace *trace = trace_of(&made, arena);
    CHECK_INT("ranges", trace->event_count, 4);
    CHECK_HAS("said", str_c(arena, trace_name(trace, trace->notes[0].message)),
              "9 bytes belong to no frame, 2 frames are missing");
    text_free(&made.file);
    arena_destroy(arena);
}

static void clocks(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        int64_t ticks, want_ps;
    } rows[] = {
        {"at the first", 100, 1000000},  {"between", 150, 2000000},
        {"at the second", 200, 3000000}, {"the slower half", 300, 3500000},
        {"before all", 0, -1000000},     {"behind all", 500, 4500000},
        {"far", INT64_MAX, TIME_PS_MAX}, {"far before", INT64_MIN, -TIME_PS_MAX},
    };
    struct record_clock clock = {.epoch_ns = 0}, steep = {.epoch_ns = 0};
    int64_t ps;

    CHECK("one tie is no line",
          record_clock_tie(&clock, 100, 0, 1000) && !record_clock_ps(&clock, 100, &ps));
    CHECK("two", record_clock_tie(&clock, 200, 0, 3000) && record_clock_tie(&clock, 400, 0, 4000));
    CHECK("no way back",
          !record_clock_tie(&clock, 400, 0, 5000) && !record_clock_tie(&clock, 500, 0, 3999));
    for (size_t row = 0; row < COUNT(rows); row++)
        CHECK(rows[row].what,
              record_clock_ps(&clock, rows[row].ticks, &ps) && ps == rows[row].want_ps);
    record_clock_free(&clock);
    CHECK("a line too steep for 128 bits",
          record_clock_tie(&steep, 1, 0, 0) && record_clock_tie(&steep, 2, 0, INT64_MAX) &&
              record_clock_ps(&steep, INT64_MAX, &ps) && ps == TIME_PS_MAX);
    record_clock_free(&steep);
}

/* The wall clock set back by five seconds, then on by an hour: ranges go on as if nothing was, and
 * times of the wall clock find their way by when it showed them. */
static void clock_set(void **state)
{
    (void)state;
    const int64_t second = INT64_C(1000000000), hour = 3600 * second;
    struct record_clock clock = {.epoch_ns = 100 * second, .epoch_monotonic_ns = 10 * second};
    const struct {
        const char *what;
        int64_t realtime_ns, want_ps;
    } rows[] = {
        {"before", 101 * second, 1000 * second},
        {"set back, seen once only", 98 * second + 7, 3000 * second + 7000},
        {"set on", hour + 105 * second, 10000 * second},
        {"far behind", 2 * hour, 10000 * second + 1000 * (hour - 105 * second)},
    };
    int64_t ps;

    for (int64_t at = 0; at <= 10; at++) {
        int64_t step = at < 3 ? 0 : at < 8 ? -5 * second : hour - 5 * second;
        CHECK("tied",
              record_clock_tie(&clock, at * 1000, (100 + at) * second + step, (10 + at) * second));
    }
    CHECK("ticks go on", record_clock_ps(&clock, 4500, &ps) && ps == 4500 * second);
    for (size_t row = 0; row < COUNT(rows); row++)
        CHECK_INT(rows[row].what, record_clock_ps_of_realtime(&clock, rows[row].realtime_ns),
                  rows[row].want_ps);
    CHECK_INT("monotonic", record_clock_ps_of_monotonic(&clock, 12 * second), 2000 * second);
    CHECK_INT("set twice", record_clock_steps(&clock), 2);
    record_clock_free(&clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges), cmocka_unit_test(fields), cmocka_unit_test(captures),
        cmocka_unit_test(killed), cmocka_unit_test(lost),   cmocka_unit_test(damaged),
        cmocka_unit_test(gap),    cmocka_unit_test(clocks), cmocka_unit_test(clock_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
