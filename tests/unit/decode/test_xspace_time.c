/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of an XSpace: starts of lines, several clocks, times out of range. */
#include "made_space.h"

static void put_start_time(struct made *made, int64_t start_ns)
{
    struct text stat = {0};

    put_number(&stat, 1, 1);
    put_number(&stat, 3, start_ns);
    put_message(&made->plane, 6, &stat);
    name_stat(made, 1, "profile_start_time");
    end_plane(made, "Task Environment");
    text_free(&stat);
}

static void clocks(void **state)
{
    (void)state;
    const int64_t start = 1795000000000000000, unix_ns = 1700000000000000123;
    const struct {
        const char *what;
        int64_t timestamp_ns, offset_ps, dur_ps; /* of one event */
        int64_t start_time_ns;                   /* 0 none */
        int64_t start_ps, got_dur_ps, epoch_ns;  /* epoch 0: none */
        uint8_t flags;
    } rows[] = {
        {"since the start", 5, 7, 1, start, 5007, 1, start, 0},
        {"no start", 5, 7, 1, 0, 5007, 1, 0, 0},
        {"before the start", -5, -7, 1, start, -5007, 1, start, 0},
        {"Unix", unix_ns, 7, 1, 0, 7, 1, unix_ns, 0},
        {"Unix, and a start", unix_ns, 7, 1, start, 7, 1, unix_ns, 0},
        {"time since boot, far", INT64_C(5000000000000000), 7, 1, start, 7, 1,
         start + INT64_C(5000000000000000), 0},
        {"far without a start", INT64_C(5000000000000000), 7, 1, 0, 7, 1, 0, 0},
        {"negative duration", 5, 7, -3, start, 5007, 0, start, SLICE_INSTANT | SLICE_CLAMPED},
        {"offset out of range", 1, INT64_MAX, 5, start, TIME_PS_MAX, 0, start,
         SLICE_INSTANT | SLICE_CLAMPED},
        {"offset far below", 0, INT64_MIN, 5, start, -TIME_PS_MAX, 5, start, SLICE_CLAMPED},
        {"duration out of range", 0, 8, INT64_MAX, start, 8, TIME_PS_MAX - 8, start, SLICE_CLAMPED},
        {"timestamp below all", INT64_MIN, 0, 5, start, -TIME_PS_MAX, 5, start, SLICE_CLAMPED},
        {"start out of range", 0, 7, 1, -1, 7, 1, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made made = {0};
        line_head(&made, 1, "python", rows[i].timestamp_ns);
        put_event(&made, 1, rows[i].offset_ps, rows[i].dur_ps);
        end_line(&made);
        name_event(&made, 1, "a");
        end_plane(&made, "/host:CPU");
        if (rows[i].start_time_ns != 0)
            put_start_time(&made, rows[i].start_time_ns);
        const struct trace *trace = made_trace(&made, arena);
        struct slice slice = trace_slice(trace, 0);
        CHECK_INT(rows[i].what, slice.start_ps, rows[i].start_ps);
        CHECK_INT(rows[i].what, slice.dur_ps, rows[i].got_dur_ps);
        CHECK_INT(rows[i].what, slice.flags, rows[i].flags);
        CHECK_INT(rows[i].what, trace->has_epoch, rows[i].epoch_ns != 0);
        CHECK_INT(rows[i].what, trace->has_epoch ? trace->epoch_ns : 0, rows[i].epoch_ns);
        CHECK(rows[i].what, trace->has_epoch || trace->epoch_reason.count > 0);
        CHECK_INT(rows[i].what, trace->note_count, (rows[i].flags & SLICE_CLAMPED) != 0);
        free_made(&made);
        arena_destroy(arena);
    }
}

/* Lines of Unix time: the earliest one is zero. A near one beside them is of another clock, and a
 * year later is out of range. */
static void several_clocks(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    const int64_t unix_ns = 1700000000000000000, year_ns = 31536000000000000;
    const int64_t timestamps[] = {unix_ns + 2, unix_ns, unix_ns + 1, 3, unix_ns + year_ns};
    const char *const planes[] = {NULL, NULL, "/host:CPU", "/device:GPU:0", "/device:GPU:1"};

    for (size_t i = 0; i < COUNT(timestamps); i++) {
        line_head(&made, (int64_t)i, "python", timestamps[i]);
        put_event(&made, 1, 1, 5);
        end_line(&made);
        name_event(&made, 1, "a");
        if (planes[i] != NULL)
            end_plane(&made, planes[i]);
    }
    const struct trace *trace = made_trace(&made, arena);
    CHECK_PICTURE("several clocks", trace, 0,
                  "/host:CPU / python\n  2001 +5 a\n"
                  "/host:CPU / python\n  1 +5 a\n"
                  "/host:CPU / python\n  1001 +5 a\n"
                  "/device:GPU:0 / python\n  3001 +5 a\n"
                  "/device:GPU:1 / python\n  4611686018427387903 +0 a [clamped]\n");
    CHECK_INT("epoch", trace->epoch_ns, unix_ns);
    CHECK_STR("note", trace_name(trace, trace->notes[0].kind), "mixed-clocks");
    free_made(&made);
    arena_destroy(arena);
}

static void timestamp_behind_the_events(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, 1, "python", 0);
    put_event(&made, 1, 1, 5);
    put_number(&made.line, 3, 4);
    end_line(&made);
    name_event(&made, 1, "a");
    end_plane(&made, "/host:CPU");
    CHECK_PICTURE("late", made_trace(&made, arena), 0, "/host:CPU / python\n  4001 +5 a\n");
    free_made(&made);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clocks),
        cmocka_unit_test(several_clocks),
        cmocka_unit_test(timestamp_behind_the_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
