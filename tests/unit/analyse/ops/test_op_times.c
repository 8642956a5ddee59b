/* SPDX-License-Identifier: Apache-2.0 */
/* When an op ran: by step, outside of all, the longest, the spread; and of names. */
#include "unit/analyse/made_run.h"

#include "analyse/ops/op_times.h"
#include "analyse/ops/top.h"

static const char *const instructions[] = {"dot.1", "jit(f)/layer_0/dot", "dot.2",
                                           "jit(f)/layer_1/dot", NULL};

/* Times in ns; the last dot.1 lies behind all steps.
 *
 *  python   train 0 |------------|  train 1 |------------|     0 .. 100, 100 .. 200
 *             f |-|                   f |--|                   10 .. 20, 110 .. 130
 *  pool       dot.1 |-| dot.2 |-|     dot.1 |---|  dot.1 |-|   20, 40, 120, 250 */
static void make(struct made_run *run)
{
    run_begin(run);
    run_program(run, 7, "jit_f", 99, instructions);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");

    for (int i = 0; i < 2; i++) {
        run_slice(run, python, i * 100000, 100000, "train", KIND_HOST);
        run_int(run, "step_num", i);
        run_int(run, "_r", 1);
        run_slice(run, python, i * 100000 + 10000, 10000 + i * 10000, "f", KIND_HOST);
    }
    run_cpu_op(run, pool, 20000, 10000, "dot.1", 7, 1, 0, 0);
    run_cpu_op(run, pool, 40000, 10000, "dot.2", 7, 1, 0, 0);
    run_cpu_op(run, pool, 120000, 30000, "dot.1", 7, 2, 0, 0);
    run_cpu_op(run, pool, 250000, 10000, "dot.1", 7, 3, 0, 0);
    run_finish(run);
}

static struct op_times ask(const struct made_run *run, const struct restriction *restriction,
                           bool of_ops)
{
    struct error err = {0};
    struct op_times times;

    CHECK_OK("it answers", op_times(&run->run, restriction, of_ops, run->made.arena, &times, &err),
             &err);
    return times;
}

static void of_an_op(void **state)
{
    struct made_run run;

    (void)state;
    make(&run);

    const struct restriction dot = {.name = STR("dot.1")};
    struct op_times times = ask(&run, &dot, true);
    uint64_t spread = 0;

    CHECK_INT("all of it", times.slice_count, 3);
    CHECK_INT("its time", times.self_ps, 50000);
    CHECK_INT("the shortest", times.min_ps, 10000);
    CHECK_INT("the longest", times.max_ps, 30000);
    CHECK_INT("which is that of the second step",
              trace_slice(run.run.hosts[0].trace, times.longest).start_ps, 120000);
    CHECK_INT("steps", times.step_count, 2);
    CHECK_INT("in the first", times.steps[0].self_ps, 10000);
    CHECK_INT("in the second", times.steps[1].self_ps, 30000);
    CHECK_INT("behind them", times.outside.self_ps, 10000);
    CHECK_INT("so often", times.outside.count, 1);
    CHECK("durations differ", times.has_spread);
    for (int i = 0; i < OP_TIMES_BUCKETS; i++)
        spread += times.counts[i];
    CHECK_INT("each is counted once", spread, 3);
    CHECK_INT("the shortest first", times.counts[0], 2);
    CHECK_INT("the longest last", times.counts[OP_TIMES_BUCKETS - 1], 1);
    run_end(&run);
}

static void of_steps(void **state)
{
    static const int64_t second[] = {1, 1};
    struct made_run run;

    (void)state;
    make(&run);

    const struct restriction dot = {.name = STR("dot.1"), .steps = second, .step_range_count = 1};
    struct op_times times = ask(&run, &dot, true);

    CHECK_INT("of the step alone", times.slice_count, 1);
    CHECK_INT("one step", times.step_count, 1);
    CHECK_INT("nothing beside it", times.outside.count, 0);
    CHECK("one duration has no spread", !times.has_spread);
    run_end(&run);
}

static void of_a_name(void **state)
{
    struct made_run run;

    (void)state;
    make(&run);

    const struct restriction f = {.name = STR("f")}, none = {.name = STR("g")};
    struct op_times times = ask(&run, &f, false);

    CHECK_INT("calls of the host", times.slice_count, 2);
    CHECK_INT("their time", times.self_ps, 30000);
    CHECK_INT("in the second step", times.steps[1].self_ps, 20000);
    CHECK_INT("as ops there are none", ask(&run, &f, true).slice_count, 0);
    CHECK_INT("of a name that nothing bears", ask(&run, &none, false).slice_count, 0);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_an_op),
        cmocka_unit_test(of_steps),
        cmocka_unit_test(of_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
