/* SPDX-License-Identifier: Apache-2.0 */
/* A sink with a thread of its own writes what a sink without one writes. */
#include <stdlib.h>

#include "made_trace.h"
#include "trace/args/args_block.h"

enum { TRACKS = 12, EVENTS = 60000 };

struct seen_beside {
    uint32_t calls, rows;
    uint64_t events;
};

static void look_beside(void *data, const struct trace *trace)
{
    struct seen_beside *seen = data;

    seen->calls++;
    seen->events = trace->event_count;
    for (row_id row = 0; row < trace->row_count; row++)
        seen->rows += trace_slice(trace, trace->rows[row].first_slice).row == row;
}

static void begin(struct made *made, bool two_threads, struct seen_beside *seen)
{
    const struct sink_hooks hooks = {
        .beside = look_beside, .data = seen, .two_threads = two_threads};

    *made = (struct made){.arena = arena_create()};
    made->blocks = memory_blocks_create(made->arena);
    made->sink =
        sink_create(memory_blocks_out(made->blocks), &budget_default, hooks, NULL, &made->err);
    sink_format(made->sink, "made");
}

static void give_args(struct sink *sink, struct dice *dice)
{
    struct arg args[8];
    uint32_t count = (uint32_t)dice_below(dice, COUNT(args));

    for (uint32_t i = 0; i < count; i++)
        args[i] = (struct arg){.key = sink_name(sink, i % 2 ? STR("odd") : STR("even")),
                               .type = i % 3 ? ARG_UINT64 : ARG_INT64,
                               .bits = dice_below(dice, 1000)};
    sink_args(sink, args, count);
    for (uint32_t i = 0; dice_below(dice, 3000) == 0 && i < 5000; i++) /* more than are kept */
        sink_arg(sink, (struct arg){.key = i % 7, .type = ARG_BOOL});
}

/* What else a decoder may say between two slices. */
static void give_other(struct sink *sink, struct dice *dice, track_id track, int64_t at_ps)
{
    name_id kind = sink_name(sink, STR("kind"));
    uint64_t id = dice_below(dice, 500);
    char text[32] = "";

    switch (dice_below(dice, 60)) {
    case 0:
        snprintf(text, sizeof text, "renamed %d", (int)id);
        sink_track_rename(sink, track, str_of(text));
        break;
    case 1:
        sink_program(sink, id, kind, id, (struct bytes){(const uint8_t *)text, sizeof text});
        break;
    case 2:
        sink_flow_at(sink, FLOW_TO, kind, id, track, at_ps, id % 2 == 0);
        break;
    case 3:
        sink_memory(sink, (struct memory_event){.at_ps = at_ps, .bytes = 7});
        break;
    case 4:
        sink_note(sink, "odd", NOTE_INFO, 1, "something is odd");
        break;
    default:
        sink_flow(sink, id % 2 ? FLOW_FROM : FLOW_TO, kind, id);
        break;
    }
}

static void give(struct sink *sink)
{
    struct dice dice = {.state = 11};
    track_id tracks[TRACKS];
    int64_t at_ps[TRACKS] = {0};
    char text[32] = {0};

    for (uint32_t i = 0; i < EVENTS; i++) {
        uint32_t at = i < TRACKS ? i : (uint32_t)dice_below(&dice, TRACKS);

        if (i < TRACKS)
            tracks[at] = sink_track(sink, (struct sink_track){.parent = NO_TRACK,
                                                              .kind = TRACK_THREAD,
                                                              .name = STR("a track"),
                                                              .device = -1,
                                                              .derived = i == 3});
        if (at == 5 && i > EVENTS / 2) {
            sink_track_end(sink, tracks[at]);
            continue;
        }
        at_ps[at] += (int64_t)dice_below(&dice, 100) - (at == 7 ? 5 : 0); /* one is unsorted */
        snprintf(text, sizeof text, "name %d", (int)dice_below(&dice, 300));
        sink_slice(sink, (struct sink_slice){.track = tracks[at],
                                             .start_ps = at_ps[at],
                                             .dur_ps = (int64_t)dice_below(&dice, 400) - 2,
                                             .name = sink_name(sink, str_of(text)),
                                             .kind = (enum kind)dice_below(&dice, KIND_COUNT)});
        give_args(sink, &dice);
        give_other(sink, &dice, tracks[at], at_ps[at]);
        sink_counter(sink, tracks[0], at_ps[at], 1.5);
    }
}

static bool equal(struct bytes a, struct bytes b)
{
    return a.count == b.count && (a.count == 0 || memcmp(a.at, b.at, a.count) == 0);
}

static void the_bytes_are_equal(void **state)
{
    (void)state;
    struct made made[2];
    struct seen_beside seen[2] = {0};

    for (int i = 0; i < 2; i++) {
        begin(&made[i], i == 1, &seen[i]);
        give(made[i].sink);
        made_finish(&made[i]);
        CHECK_INT("called once", seen[i].calls, 1);
        CHECK_INT("with all rows", seen[i].rows, made[i].trace.row_count);
        CHECK_INT("with all events", seen[i].events, made[i].trace.event_count);
    }

    struct block_in one = memory_blocks_in(made[0].blocks), two = memory_blocks_in(made[1].blocks);

    for (int kind = 1; kind < TABLE_KIND_COUNT_; kind++) {
        char what[32];

        snprintf(what, sizeof what, "table %d", kind);
        CHECK(what, equal(one.table(one.from, (enum table_kind)kind),
                          two.table(two.from, (enum table_kind)kind)));
    }

    struct bytes table = one.table(one.from, TABLE_ARG_BLOCKS); /* chunks have sums in theirs */
    const struct args_block_record *blocks = (const void *)table.at;

    CHECK("there are args", table.count >= 3 * sizeof(*blocks));
    for (size_t i = 0; i < table.count / sizeof(*blocks); i++)
        CHECK("a block of args", equal(one.data(one.from, blocks[i].offset, blocks[i].bytes),
                                       two.data(two.from, blocks[i].offset, blocks[i].bytes)));
    made_end(&made[0]);
    made_end(&made[1]);
}

/* What goes wrong on the thread is told by the decoder's side, however late. */
static void failures_come_back(void **state)
{
    (void)state;
    struct made made;
    struct seen_beside seen = {0};

    begin(&made, true, &seen);
    track_id track = made_track(&made, "ended", NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
    sink_track_end(made.sink, track);
    for (int i = 0; i < 100000; i++)
        made_slice(&made, track, i, 1, "late", KIND_HOST);
    CHECK_INT("the error", sink_error(made.sink)->code, ERR_INVALID);
    CHECK("it failed", sink_failed(made.sink));
    CHECK_HAS("its words", sink_error(made.sink)->message, "after the end of its track 0");
    CHECK_INT("the finish", sink_finish(made.sink, &made.err), ERR_INVALID);
    CHECK_INT("nothing beside", seen.calls, 0);
    made_end(&made);
}

static void a_sink_may_be_given_up(void **state)
{
    (void)state;
    struct made made;
    struct seen_beside seen = {0};

    begin(&made, true, &seen);
    give(made.sink);
    made_end(&made);
    CHECK_INT("nothing beside", seen.calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_equal),
        cmocka_unit_test(failures_come_back),
        cmocka_unit_test(a_sink_may_be_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
