/* SPDX-License-Identifier: Apache-2.0 */
/* Steps held against a recording in which one device is busy for 900 of 1,000 ps: what fits, and
 * each way not to. */
#include "unit/analyse/made_run.h"

#include "analyse/steps/steps_doubt.h"

enum { COUNT_OF_STEPS = 4 };

static void record(struct made_run *run)
{
    run_begin(run);

    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");

    run_slice(run, python, 0, 1000, "main", KIND_HOST);
    run_cpu_op(run, pool, 100, 900, "dot", 7, 1, 0, 0);
    run_finish(run);
}

static void doubts(void **state)
{
    (void)state;
    const struct {
        const char *what;
        enum step_trust confidence;
        enum step_time rule;
        int64_t each_ps, apart_ps, busy_ps, work_ps;
        const char *said; /* "" they fit */
    } rows[] = {
        {"they fit", TRUST_HIGH, STEP_TIME_SPAN, 200, 200, 180, 180, ""},
        {"work follows, and is what counts", TRUST_HIGH, STEP_TIME_WORK, 200, 200, 180, 600, ""},
        {"marked ones may be few", TRUST_HIGH, STEP_TIME_SPAN, 10, 200, 9, 9, ""},
        {"more than the capture", TRUST_HIGH, STEP_TIME_WORK, 300, 200, 180, 180, "add up to"},
        {"a span beside its work", TRUST_HIGH, STEP_TIME_SPAN, 10, 200, 9, 90, "launched"},
        {"rest while devices work", TRUST_HIGH, STEP_TIME_WORK, 10, 200, 0, 200, "are busy"},
        {"a guess beside the work", TRUST_LOW, STEP_TIME_NEXT, 10, 200, 9, 9, "outside"},
        {"a guess that holds it", TRUST_MEDIUM, STEP_TIME_NEXT, 100, 200, 90, 90, ""},
    };
    struct made_run run;

    record(&run);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct step items[COUNT_OF_STEPS] = {0};
        struct steps steps = {
            .items = items, .count = COUNT_OF_STEPS, .confidence = rows[i].confidence};

        for (int64_t at = 0; at < COUNT_OF_STEPS; at++) {
            items[at] = (struct step){.start_ps = at * rows[i].apart_ps,
                                      .dur_ps = rows[i].each_ps,
                                      .time_rule = rows[i].rule,
                                      .work_start_ps = at * rows[i].apart_ps,
                                      .work_end_ps = at * rows[i].apart_ps + rows[i].work_ps,
                                      .time = {.busy_ps = rows[i].busy_ps}};
        }

        struct str doubt = steps_doubt(&run.run, &steps, run.made.arena);

        CHECK_INT(rows[i].what, doubt.count == 0, rows[i].said[0] == '\0');
        CHECK(rows[i].what, str_contains(doubt, str_of(rows[i].said)));
    }
    run_end(&run);
}

/* Programs are called in spans, and nothing was recorded of what they launched: calls that fill the
 * spans tell no step's time, calls that are little of what was waited in do. */
static void calls_without_work(void **state)
{
    (void)state;
    const struct {
        const char *what, *call;
        int64_t call_ps;
        bool doubted;
    } rows[] = {
        {"calls", "PjitFunction(train)", 80, true},
        {"a wait beside a call", "PjitFunction(train)", 20, false},
        {"another runtime's", "EagerKernelExecute", 80, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct step items[COUNT_OF_STEPS] = {0};
        const struct steps steps = {
            .items = items, .count = COUNT_OF_STEPS, .confidence = TRUST_HIGH};
        struct made_run run;

        run_begin(&run);

        track_id python = run_thread(&run, "python");

        for (int64_t at = 0; at < COUNT_OF_STEPS; at++) {
            run_slice(&run, python, 100 * at, rows[i].call_ps, rows[i].call, KIND_HOST);
            items[at] = (struct step){.start_ps = 100 * at, .dur_ps = 100};
            items[at].time.doing_ps[DOING_DISPATCH] = rows[i].call_ps;
        }
        run_slice(&run, python, 400, 100, "rest", KIND_HOST);
        run_finish(&run);

        struct str doubt = steps_doubt(&run.run, &steps, run.made.arena);

        CHECK_INT(rows[i].what, str_contains(doubt, STR("call programs")), rows[i].doubted);
        CHECK_INT(rows[i].what, doubt.count > 0, rows[i].doubted);
        run_end(&run);
    }
}

/* Devices mostly rest in the steps, and what runs between them is less than what runs in them. */
static void little_between(void **state)
{
    (void)state;
    struct made_run run;
    struct step items[COUNT_OF_STEPS] = {0};
    const struct steps steps = {.items = items, .count = COUNT_OF_STEPS, .confidence = TRUST_HIGH};

    run_begin(&run);

    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");

    run_slice(&run, python, 0, 1000, "main", KIND_HOST);
    run_cpu_op(&run, pool, 100, 24, "dot", 7, 1, 0, 0);
    for (int64_t at = 0; at < COUNT_OF_STEPS; at++) {
        items[at] = (struct step){
            .start_ps = 250 * at, .dur_ps = 245, .time = {.busy_ps = at == 0 ? 24 : 0}};
        if (at > 0)
            run_cpu_op(&run, pool, 250 * at - 5, 5, "late", 7, 1 + at, 0, 0);
    }
    run_finish(&run);
    CHECK_INT("they fit", steps_doubt(&run.run, &steps, run.made.arena).count, 0);
    run_end(&run);
}

/*  python   |request 0      |
 *                |request 1      |         four tasks of one thread: each begins within the others
 *  pool       |0 |1  |2 |3 |
 *
 * Each lasts as long as its span, and none is a step of a series. */
static void requests_beside_each_other(void **state)
{
    (void)state;
    static const struct restriction nothing;
    struct made_run run;
    struct error err = {0};
    struct steps steps;

    for (int64_t apart_ps = 10; apart_ps <= 30; apart_ps += 20) {
        run_begin(&run);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");

        for (int64_t i = 0; i < 8; i++) {
            run_slice(&run, python, apart_ps * i, 30, "request", KIND_HOST);
            run_int(&run, "_r", 1);
            run_int(&run, "step_num", i);
            run_cpu_op(&run, pool, apart_ps * i + 4, 9, "dot", 7, 40 + i, 0, 0);
        }
        run_finish(&run);
        CHECK_OK("find", steps_find(&run.run, &nothing, run.made.arena, &steps, &err), &err);
        CHECK_INT("requests", steps.count, 8);
        for (uint32_t i = 0; i < steps.count; i++) {
            CHECK_INT("their spans", steps.items[i].time_rule, STEP_TIME_SPAN);
            CHECK_INT("as long", steps.items[i].dur_ps, 30);
        }
        steps_breakdown(&run.run, &steps);
        CHECK("doubted where they overlap",
              str_contains(steps_doubt(&run.run, &steps, run.made.arena),
                           STR("begin while another one")) == (apart_ps < 30));
        run_end(&run);
    }
}

static void no_steps(void **state)
{
    (void)state;
    struct made_run run;
    const struct steps none = {.rule = STEP_NONE};

    record(&run);
    CHECK_INT("nothing to doubt", steps_doubt(&run.run, &none, run.made.arena).count, 0);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubts),         cmocka_unit_test(calls_without_work),
        cmocka_unit_test(little_between), cmocka_unit_test(requests_beside_each_other),
        cmocka_unit_test(no_steps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
