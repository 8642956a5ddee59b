/* SPDX-License-Identifier: Apache-2.0 */
/* Two hosts that did the same collectives, by clocks that are apart. */
#include <stdio.h>

#include "analyse/steps/align.h"
#include "check.h"

enum { TURNS_MAX = 12, FIRST_PS = 1000000000 };

struct host { /* an attribution drawn by hand: one op, an execution a turn */
    struct trace trace;
    struct attribution attribution;
    struct op op;
    struct execution executions[TURNS_MAX];
    struct attributed entries[TURNS_MAX];
    struct program program;
};

static void make_host(struct host *host, uint32_t turns, int64_t skew_ps, const int64_t *jitter_ps,
                      uint64_t first_run_id, enum kind kind)
{
    *host = (struct host){.op = {.kind = kind}, .program = {.fingerprint = 7}};
    for (uint32_t i = 0; i < turns; i++) {
        int64_t end_ps =
            INT64_C(1) * FIRST_PS * (i + 1) + skew_ps + (jitter_ps == NULL ? 0 : jitter_ps[i]);

        host->executions[i] = (struct execution){.run_id = first_run_id == 0 ? 0 : first_run_id + i,
                                                 .end_ps = end_ps};
        host->entries[i] =
            (struct attributed){.execution = i, .start_ps = end_ps - 500, .dur_ps = 500};
    }
    host->trace = (struct trace){.programs = &host->program, .program_count = 1};
    host->attribution = (struct attribution){.ops = &host->op,
                                             .op_count = 1,
                                             .executions = host->executions,
                                             .execution_count = turns,
                                             .entries = host->entries,
                                             .entry_count = turns};
}

static void skews(void **state)
{
    (void)state;
    static const int64_t steady[] = {1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000};
    static const int64_t wild[] = {0, 400000000, 0, 500000000, 300000000, 0, 100000000, 0};
    static const int64_t far[] = {INT64_MAX / 2, INT64_MIN / 2, INT64_MAX / 2, INT64_MIN / 2,
                                  INT64_MAX / 2, INT64_MIN / 2, INT64_MAX / 2, INT64_MIN / 2};
    const struct {
        const char *what;
        uint32_t turns[2];
        uint64_t run_ids[2]; /* of the first turns; 0: the file holds none */
        int64_t skew_ps;
        const int64_t *jitter_ps;
        enum kind kind;
        bool known;
        uint32_t pair_count;
    } rows[] = {
        {"equal clocks", {8, 8}, {0, 0}, 0, NULL, KIND_COMMUNICATION, true, 8},
        {"ahead", {8, 8}, {0, 0}, 123456789, NULL, KIND_COMMUNICATION, true, 8},
        {"behind", {8, 8}, {0, 0}, -5000000000, NULL, KIND_COMMUNICATION, true, 8},
        {"ends differ a little", {8, 8}, {0, 0}, 900000, steady, KIND_COMMUNICATION, true, 8},
        {"... or by more than they are apart",
         {8, 8},
         {0, 0},
         9,
         wild,
         KIND_COMMUNICATION,
         false,
         8},
        {"ends as far apart as can be", {8, 8}, {10, 10}, 0, far, KIND_COMMUNICATION, false, 8},
        {"too few", {4, 4}, {0, 0}, 7, NULL, KIND_COMMUNICATION, false, 4},
        {"turns that are only counted, and not as many",
         {8, 7},
         {0, 0},
         7,
         NULL,
         KIND_COMMUNICATION,
         false,
         0},
        {"run ids tell which", {8, 8}, {10, 12}, -2000000000, NULL, KIND_COMMUNICATION, true, 6},
        {"launches of one run id", {8, 8}, {10, 10}, 77000, NULL, KIND_COMPUTE, true, 8},
        {"nothing in common", {8, 8}, {10, 50}, 0, NULL, KIND_COMPUTE, false, 0},
        {"nothing to compare", {8, 8}, {0, 0}, 0, NULL, KIND_COMPUTE, false, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct host *hosts = arena_array(arena, struct host, 2);
        struct host_trace traces[2];

        make_host(&hosts[0], rows[i].turns[0], 0, NULL, rows[i].run_ids[0], rows[i].kind);
        make_host(&hosts[1], rows[i].turns[1], rows[i].skew_ps, rows[i].jitter_ps,
                  rows[i].run_ids[1], rows[i].kind);
        for (size_t k = 0; k < 2; k++)
            traces[k] = (struct host_trace){.trace = &hosts[k].trace,
                                            .attribution = &hosts[k].attribution,
                                            .offset_ps = k == 0 ? 0 : -40};
        struct run_traces run = {.hosts = traces, .host_count = 2};
        struct alignment *got = align_hosts(&run, arena);

        CHECK("the first stands by itself", got[0].known && got[0].skew_ps == 0);
        CHECK_INT(rows[i].what, got[1].known, rows[i].known);
        CHECK_INT(rows[i].what, got[1].pair_count, rows[i].pair_count);
        CHECK_INT(rows[i].what, got[1].reason == NULL, rows[i].known);
        if (rows[i].known) {
            int64_t turns_ps =
                rows[i].run_ids[0] == 10 && rows[i].run_ids[1] == 12 ? -2 * (int64_t)FIRST_PS : 0;
            int64_t median_ps = rows[i].jitter_ps == NULL ? 0 : rows[i].jitter_ps[3];

            CHECK_INT(rows[i].what, got[1].skew_ps, rows[i].skew_ps + turns_ps + median_ps - 40);
        }
        arena_destroy(arena);
    }
}

/* hostA |----| hostB  |--|: who ends has met who begins, so b is at most 300 behind and 400
 * ahead. */
static void bounds(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct host *hosts = arena_array(arena, struct host, 2);
    struct host_trace traces[2];

    for (size_t k = 0; k < 2; k++) {
        make_host(&hosts[k], 6, 0, NULL, 10, KIND_COMMUNICATION);
        traces[k] =
            (struct host_trace){.trace = &hosts[k].trace, .attribution = &hosts[k].attribution};
    }
    hosts[0].entries[2].start_ps += 100; /* 400 long */
    hosts[0].entries[2].dur_ps -= 100;
    hosts[1].entries[4].start_ps += 200; /* 300 long */
    hosts[1].entries[4].dur_ps -= 200;
    struct run_traces run = {.hosts = traces, .host_count = 2};
    struct alignment *got = align_hosts(&run, arena);

    CHECK("bounded", got[1].bounded);
    CHECK_INT("behind", got[1].low_ps, -300);
    CHECK_INT("ahead", got[1].high_ps, 400);
    hosts[0].op.kind = hosts[1].op.kind = KIND_COMPUTE;
    got = align_hosts(&run, arena);
    CHECK("launches bound nothing", !got[1].bounded);
    arena_destroy(arena);
}

static void alone(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct trace trace = {0};
    const struct host_trace host = {.trace = &trace};
    struct run_traces run = {.hosts = &host, .host_count = 1};
    struct alignment *got = align_hosts(&run, arena);

    CHECK("not known, and why", !got[0].known && got[0].reason != NULL);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skews),
        cmocka_unit_test(bounds),
        cmocka_unit_test(alone),
    };

    return cmocka_run_group_tests_name("align", tests, NULL, NULL);
}
