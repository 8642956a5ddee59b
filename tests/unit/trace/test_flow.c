/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows: which ends meet, and where they stand. */
#include <stdlib.h>

#include "made_trace.h"
#include "trace/writers.h"

enum { CALLS, STREAM, OTHER, TRACK_COUNT };

/* An end by event stands at the start of its slice, which is found by its name. */
struct given {
    enum flow_end end;
    uint64_t id;
    const char *slice; /* NULL: at a time */
    track_id track;
    int64_t at_ps;
    bool next;
};

/*  CALLS    launch a (0 +10)   launch b (20 +10, inner b 22 +3)   launch c (40 +10)
 *  STREAM   kernel a (5 +10)   kernel b (25 +10)                  kernel c (60 +10)
 *  OTHER    late (100 +0)      outer (200 +10, inner 200 +5)
 */
static void begin(struct made *made)
{
    made_begin(made);
    for (int i = 0; i < TRACK_COUNT; i++)
        made_track(made, "track", NO_TRACK, TRACK_THREAD, ROLE_HOST, false);
}

static const struct {
    track_id track;
    int64_t start_ps, dur_ps;
    const char *name;
} slices[] = {
    {CALLS, 0, 10, "launch a"},   {CALLS, 20, 10, "launch b"}, {CALLS, 22, 3, "inner b"},
    {CALLS, 40, 10, "launch c"},  {STREAM, 5, 10, "kernel a"}, {STREAM, 25, 10, "kernel b"},
    {STREAM, 60, 10, "kernel c"}, {OTHER, 100, 0, "late"},     {OTHER, 200, 10, "outer"},
    {OTHER, 200, 5, "inner"},
};

static void give(struct made *made, const struct given *given)
{
    name_id kind = sink_name(made->sink, STR("kind"));

    if (given->slice == NULL)
        sink_flow_at(made->sink, given->end, kind, given->id, given->track, given->at_ps,
                     given->next);
    else
        sink_flow(made->sink, given->end, kind, given->id);
}

static void build(struct made *made, const struct given *given, size_t given_count)
{
    begin(made);
    for (size_t i = 0; i < given_count; i++)
        if (given[i].slice == NULL)
            give(made, &given[i]);
    for (size_t i = 0; i < COUNT(slices); i++) {
        made_slice(made, slices[i].track, slices[i].start_ps, slices[i].dur_ps, slices[i].name,
                   KIND_HOST);
        for (size_t j = 0; j < given_count; j++)
            if (given[j].slice != NULL && strcmp(given[j].slice, slices[i].name) == 0)
                give(made, &given[j]);
    }
    made_finish(made);
}

/* "launch a 0 > kernel a 5; ..." */
static void tell(const struct made *made, struct text *ret)
{
    char from[64], to[64];

    for (uint64_t i = 0; i < made->trace.flow_count; i++) {
        const struct flow *flow = &made->trace.flows[i];

        text_putf(ret, "%s%s %lld > %s %lld", i == 0 ? "" : "; ",
                  made_name(made, trace_slice(&made->trace, flow->from).name, from),
                  (long long)flow->from_ps,
                  made_name(made, trace_slice(&made->trace, flow->to).name, to),
                  (long long)flow->to_ps);
    }
}

static void ends_meet(void **state)
{
    (void)state;
    const struct {
        const char *what, *flows;
        struct given given[6];
        size_t count;
    } rows[] = {
        {"one to one",
         "launch a 0 > kernel a 5",
         {{FLOW_FROM, 7, "launch a", 0, 0, false}, {FLOW_TO, 7, "kernel a", 0, 0, false}},
         2},
        {"one to many",
         "launch a 0 > kernel a 5; launch a 0 > kernel c 60",
         {{FLOW_FROM, 7, "launch a", 0, 0, false},
          {FLOW_TO, 7, "kernel a", 0, 0, false},
          {FLOW_TO, 7, "kernel c", 0, 0, false}},
         3},
        {"ids apart",
         "launch a 0 > kernel c 60; launch c 40 > kernel a 5",
         {{FLOW_FROM, 7, "launch a", 0, 0, false},
          {FLOW_FROM, 8, "launch c", 0, 0, false},
          {FLOW_TO, 8, "kernel a", 0, 0, false},
          {FLOW_TO, 7, "kernel c", 0, 0, false}},
         4},
        {"a chain",
         "launch a 0 > launch c 40; launch c 40 > kernel c 60",
         {{FLOW_FROM, 7, "launch a", 0, 0, false},
          {FLOW_STEP, 7, "launch c", 0, 0, false},
          {FLOW_TO, 7, "kernel c", 0, 0, false}},
         3},
        {"an id used again",
         "launch a 0 > kernel a 5; launch b 20 > kernel b 25",
         {{FLOW_FROM, 7, "launch a", 0, 0, false},
          {FLOW_FROM, 7, "launch b", 0, 0, false},
          {FLOW_TO, 7, "kernel a", 0, 0, false},
          {FLOW_TO, 7, "kernel b", 0, 0, false}},
         4},
        {"sent twice before it is received",
         "launch a 0 > kernel b 25; launch b 20 > kernel c 60",
         {{FLOW_FROM, 7, "launch a", 0, 0, false},
          {FLOW_FROM, 7, "launch b", 0, 0, false},
          {FLOW_TO, 7, "kernel b", 0, 0, false},
          {FLOW_TO, 7, "kernel c", 0, 0, false}},
         4},
        {"consumer first, clocks apart",
         "launch c 40 > kernel a 5",
         {{FLOW_TO, 7, "kernel a", 0, 0, false}, {FLOW_FROM, 7, "launch c", 0, 0, false}},
         2},
        {"no producer", "", {{FLOW_TO, 7, "kernel a", 0, 0, false}}, 1},
        {"no consumer", "", {{FLOW_FROM, 7, "launch a", 0, 0, false}}, 1},
        {"a chain without its start",
         "launch c 40 > kernel c 60",
         {{FLOW_STEP, 7, "launch c", 0, 0, false}, {FLOW_TO, 7, "kernel c", 0, 0, false}},
         2},
        {"at times: the innermost",
         "inner b 23 > kernel b 30",
         {{FLOW_FROM, 7, NULL, CALLS, 23, false}, {FLOW_TO, 7, NULL, STREAM, 30, false}},
         2},
        {"at a start",
         "launch c 40 > kernel b 25",
         {{FLOW_FROM, 7, NULL, CALLS, 40, false}, {FLOW_TO, 7, NULL, STREAM, 25, false}},
         2},
        {"at an end",
         "launch b 30 > kernel c 70",
         {{FLOW_FROM, 7, NULL, CALLS, 30, false}, {FLOW_TO, 7, NULL, STREAM, 70, false}},
         2},
        {"the next one",
         "launch a 5 > kernel c 36",
         {{FLOW_FROM, 7, NULL, CALLS, 5, false}, {FLOW_TO, 7, NULL, STREAM, 36, true}},
         2},
        {"the next one, inside another",
         "launch a 5 > kernel b 6",
         {{FLOW_FROM, 7, NULL, CALLS, 5, false}, {FLOW_TO, 7, NULL, STREAM, 6, true}},
         2},
        {"the next one is the outer",
         "launch a 5 > launch b 11",
         {{FLOW_FROM, 7, NULL, CALLS, 5, false}, {FLOW_TO, 7, NULL, CALLS, 11, true}},
         2},
        {"at an instant",
         "launch a 5 > late 100",
         {{FLOW_FROM, 7, NULL, CALLS, 5, false}, {FLOW_TO, 7, NULL, OTHER, 100, false}},
         2},
        {"the next ones begin together: the outer",
         "launch a 5 > outer 150",
         {{FLOW_FROM, 7, NULL, CALLS, 5, false}, {FLOW_TO, 7, NULL, OTHER, 150, true}},
         2},
        {"where nothing runs",
         "",
         {{FLOW_FROM, 7, NULL, CALLS, 5, false}, {FLOW_TO, 7, NULL, OTHER, 50, false}},
         2},
        {"nothing comes next",
         "",
         {{FLOW_FROM, 7, NULL, CALLS, 5, false}, {FLOW_TO, 7, NULL, CALLS, 500, true}},
         2},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made made;
        struct text got = {0};

        build(&made, rows[i].given, rows[i].count);
        tell(&made, &got);
        CHECK_STR(rows[i].what, text_str(&got), rows[i].flows);
        text_free(&got);
        made_end(&made);
    }
}

static void kinds_are_apart(void **state)
{
    (void)state;
    struct made made;

    begin(&made);
    made_slice(&made, CALLS, 0, 1, "a", KIND_HOST);
    sink_flow(made.sink, FLOW_FROM, sink_name(made.sink, STR("one")), 1);
    made_slice(&made, CALLS, 5, 1, "b", KIND_HOST);
    sink_flow(made.sink, FLOW_TO, sink_name(made.sink, STR("other")), 1);
    made_finish(&made);
    CHECK_INT("arrows between kinds", made.trace.flow_count, 0);
    made_end(&made);
}

/* More ends than one pass holds; ids come shuffled, so that both orders are made by sorting. */
static void many_ends_are_joined_in_passes(void **state)
{
    (void)state;
    enum { PAIRS = 400000 };
    struct made made;
    name_id kind;

    begin(&made);
    kind = sink_name(made.sink, STR("launch"));
    for (uint32_t i = 0; i < PAIRS; i++) {
        made_slice(&made, CALLS, 10 * (int64_t)i, 5, "launch", KIND_HOST);
        sink_flow(made.sink, FLOW_FROM, kind, i);
    }
    for (uint32_t i = 0; i < PAIRS; i++) {
        made_slice(&made, STREAM, 10 * (int64_t)i + 3, 5, "kernel", KIND_COMPUTE);
        sink_flow(made.sink, FLOW_TO, kind, (uint64_t)i * 7 % PAIRS);
    }
    made_finish(&made);
    CHECK_INT("arrows", made.trace.flow_count, PAIRS);
    for (uint32_t i = 0; i < PAIRS; i++) {
        const struct flow *flow = &made.trace.flows[i];
        const struct flow *to = &made.trace.flows[made.trace.flow_by_to[i]];

        if (flow->from != i || to->to != PAIRS + i || to->id != (uint64_t)i * 7 % PAIRS)
            CHECK_INT("arrow", i, -1);
    }
    made_end(&made);
}

static void damage_is_refused(void **state)
{
    (void)state;
    const struct given given[] = {{FLOW_FROM, 7, "launch a", 0, 0, false},
                                  {FLOW_TO, 7, "kernel a", 0, 0, false},
                                  {FLOW_TO, 7, "kernel b", 0, 0, false},
                                  {FLOW_FROM, 8, "launch c", 0, 0, false},
                                  {FLOW_TO, 8, "kernel c", 0, 0, false}};
    struct made made;

    build(&made, given, COUNT(given));
    CHECK_INT("arrows", made.trace.flow_count, 3);
    struct flow *flows = (struct flow *)(uintptr_t)made.trace.flows;
    uint32_t *by_to = (uint32_t *)(uintptr_t)made.trace.flow_by_to;
    const struct {
        const char *what;
        uint32_t *at, value;
    } rows[] = {
        {"a slice beyond the last", &flows[0].from, 99},
        {"a target beyond the last", &flows[2].to, 99},
        {"a kind that is no name", &flows[1].kind, 999},
        {"not in order", &flows[0].from, 7},
        {"an index beyond the last", &by_to[1], 3},
        {"indexes not in order", &by_to[0], 2},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t kept = *rows[i].at;

        *rows[i].at = rows[i].value;
        made.err.code = OK;
        CHECK_INT(rows[i].what, flows_open(&made.trace, made.arena, &made.err), ERR_FORMAT);
        *rows[i].at = kept;
    }
    made_end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_meet),
        cmocka_unit_test(kinds_are_apart),
        cmocka_unit_test(many_ends_are_joined_in_passes),
        cmocka_unit_test(damage_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
