/* SPDX-License-Identifier: Apache-2.0 */
/* What slices waited for: which edge is taken, that covers and gaps add up, where it ends. */
#include "analyse/steps/chain.h"
#include "unit/analyse/made_run.h"

enum { MOST = 16 };

/*   host     [call       0 +30           ]
 *              [launch a 2 +4] [launch b 10 +15 ]
 *   stream        [a 8 +20            ] [b 30 +10][c 40 +5]     [d 70 +5]
 *   other                                                [late 50 +8]--'
 */

static slice_id find(const struct trace *trace, const char *name)
{
    for (slice_id id = 0; id < trace->slice_count; id++) {
        if (str_equal(trace_name(trace, trace_slice(trace, id).name), str_of(name)))
            return id;
    }
    check_failed(__FILE__, __LINE__, name, "no such slice");
    return NO_SLICE;
}

static void arrow(struct made *made, enum flow_end end, uint64_t id)
{
    sink_flow(made->sink, end, sink_name(made->sink, STR("launch")), id);
}

static void draw(struct made *made)
{
    made_begin(made);
    track_id host = made_track(made, "host", NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
    track_id stream = made_track(made, "stream", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);
    track_id other = made_track(made, "other", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);

    made_slice(made, host, 0, 30, "call", KIND_HOST);
    made_slice(made, host, 2, 4, "launch a", KIND_HOST);
    arrow(made, FLOW_FROM, 1);
    made_slice(made, host, 10, 15, "launch b", KIND_HOST);
    arrow(made, FLOW_FROM, 2);
    made_slice(made, stream, 8, 20, "a", KIND_COMPUTE);
    arrow(made, FLOW_TO, 1);
    made_slice(made, stream, 30, 10, "b", KIND_COMPUTE);
    arrow(made, FLOW_TO, 2);
    made_slice(made, stream, 40, 5, "c", KIND_COMPUTE);
    made_slice(made, stream, 42, 0, "mark", KIND_COMPUTE);
    made_slice(made, stream, 70, 5, "d", KIND_COMPUTE);
    arrow(made, FLOW_TO, 3);
    made_slice(made, other, 50, 8, "late", KIND_COMPUTE);
    arrow(made, FLOW_FROM, 3);
    made_finish(made);
}

/* "before c 5+0, ..." : the nearest first. */
static void tell(const struct trace *trace, const struct chain_link *links, uint32_t count,
                 char *ret, size_t size)
{
    size_t at = 0;

    ret[0] = '\0';
    for (uint32_t i = 0; i < count && at < size; i++) {
        struct str name = trace_name(trace, trace_slice(trace, links[i].slice).name);

        at += (size_t)snprintf(ret + at, size - at, "%s%s %.*s %lld+%lld", i > 0 ? ", " : "",
                               chain_via_word(links[i].via), STR_ARG(name),
                               (long long)links[i].covered_ps, (long long)links[i].gap_ps);
    }
}

static void what_was_ready_last(void **state)
{
    (void)state;
    struct made made;
    const struct {
        const char *of, *want;
        uint32_t most;
        bool more;
    } rows[] = {
        {"c", "before b 10+0, before a 20+2, flow launch a 4+2, inside call 0+2", MOST, false},
        {"d", "flow late 8+12", MOST, false},
        {"a", "flow launch a 4+2, inside call 0+2", MOST, false},
        {"launch b", "before launch a 4+4, inside call 0+2", MOST, false},
        {"call", "", MOST, false},
        {"c", "before b 10+0", 1, true},
    };

    draw(&made);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct chain_link links[MOST];
        char told[512];
        bool more;
        slice_id focus = find(&made.trace, rows[i].of);
        uint32_t count = chain_find(&made.trace, NULL, focus, rows[i].most, links, &more);

        tell(&made.trace, links, count, told, sizeof told);
        CHECK_STR(rows[i].of, str_of(told), rows[i].want);
        CHECK_INT(rows[i].of, more, rows[i].more);
    }
    made_end(&made);
}

/* Of 300 arrows that end at one slice, the one ready last is taken, wherever it stands. */
static void the_best_of_many_arrows(void **state)
{
    (void)state;
    enum { SENDERS = 300, LATEST = 290 };
    struct made made;
    struct chain_link link;
    char told[64];
    bool more;

    made_begin(&made);
    track_id host = made_track(&made, "host", NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
    track_id stream = made_track(&made, "stream", NO_TRACK, TRACK_STREAM, ROLE_OPS, false);
    for (int i = 0; i < SENDERS; i++) {
        char name[16];

        snprintf(name, sizeof name, "s%d", i);
        made_slice(&made, host, i * 10, i == LATEST ? 100 : 1, name, KIND_HOST);
        arrow(&made, FLOW_FROM, (uint64_t)i + 1);
    }
    made_slice(&made, stream, 5000, 5, "all", KIND_COMPUTE);
    for (int i = 0; i < SENDERS; i++)
        arrow(&made, FLOW_TO, (uint64_t)i + 1);
    made_finish(&made);
    uint32_t count = chain_find(&made.trace, NULL, find(&made.trace, "all"), 1, &link, &more);
    tell(&made.trace, &link, count, told, sizeof told);
    CHECK_STR("of many", str_of(told), "flow s290 100+2000");
    made_end(&made);
}

/* The time from the first link's begin to the focus is what its links cover, and their gaps. */
static void covers_and_gaps_add_up(void **state)
{
    (void)state;
    struct made made;

    draw(&made);
    for (slice_id id = 0; id < made.trace.slice_count; id++) {
        struct chain_link links[MOST];
        bool more;
        uint32_t count = chain_find(&made.trace, NULL, id, MOST, links, &more);
        int64_t sum_ps = 0;

        for (uint32_t i = 0; i < count; i++)
            sum_ps += links[i].covered_ps + links[i].gap_ps;
        if (count > 0)
            CHECK_INT("sum", sum_ps,
                      trace_slice(&made.trace, id).start_ps -
                          trace_slice(&made.trace, links[count - 1].slice).start_ps);
    }
    made_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_ready_last),
        cmocka_unit_test(the_best_of_many_arrows),
        cmocka_unit_test(covers_and_gaps_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
