/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics of two runs as a check measures them. */
#include "unit/analyse/made_run.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/compare/check.h"

enum { STEPS = 8 };

/* Steps with two ops each; `dot_ps` is the first one's time, and what the step takes beside. */
static void make_run(struct made_run *run, const char *dot, int64_t dot_ps)
{
    run_begin(run);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
    int64_t at_ps = 0;

    for (int64_t step = 0; step < STEPS; step++) {
        int64_t noise_ps = step % 3 * 1000;

        run_slice(run, python, at_ps, dot_ps + 200000 + noise_ps, "train", KIND_HOST);
        run_int(run, "_r", 1);
        run_int(run, "step_num", step);
        run_cpu_op(run, pool, at_ps, dot_ps + noise_ps, dot, 7, step, 0, 0);
        run_cpu_op(run, pool, at_ps + dot_ps + noise_ps, 100000, "add.2", 7, step, 0, 0);
        at_ps += dot_ps + 300000;
    }
    run_finish(run);
}

static struct check ask(const struct run_traces *a, const struct run_traces *b, const char *metric,
                        int64_t limit, struct arena *arena)
{
    const struct judge_rule rule = {.max_regress = 0.03, .confidence = 0.99};
    const struct restriction all = {0};
    const struct diff_side sides[2] = {{a, &all, NULL}, {b, &all, NULL}};
    const struct diff_side *const baseline[] = {&sides[0]};
    struct check_question question;
    struct error err = {0};
    struct check ret;

    CHECK(metric, check_metric_parse(str_of(metric), &question));
    question.has_limit = limit > 0;
    question.limit = limit;
    CHECK_OK(metric,
             check_run(baseline, a == NULL ? 0 : 1, &sides[1], &question, &rule, arena, &ret, &err),
             &err);
    return ret;
}

/* What each step of a program with HLO does: so many dots, one sort or none, then nothing. */
struct work {
    int dots;
    int64_t dot_ps, sort_ps, wait_ps;
    uint64_t fingerprint; /* 0: the profile holds none */
    int stacked;          /* rows of the array that each dot takes whole; below 0: one row of it */
    int64_t noise_ps;     /* by which some steps wait longer */
};

/* Its HLO, where shapes matter: the array that layers are stacked in. */
static void put_stack(struct made_run *run, const struct work *work)
{
    static const char *const ops[] = {
        "%%dot.1 = f32[%d,64]{1,0} add(%%a, %%a)",
        "%%dot.1 = f32[1,64]{1,0} dynamic-slice(%%a, %%i, %%i), dynamic_slice_sizes={1,64}"};
    struct sink *sink = run->made.sink;
    int rows = abs(work->stacked);
    struct text text = {0};

    text_putf(&text,
              "HloModule jit_f\n\nENTRY %%main () -> f32[] {\n  %%a = f32[%d,64]{1,0} "
              "parameter(0)\n  %%i = s32[] parameter(1)\n  ROOT ",
              rows);
    text_putf(&text, ops[work->stacked < 0], rows);
    text_puts(&text, "\n}\n");
    program_id program =
        sink_program(sink, 7, sink_name(sink, STR("jit_f")), work->fingerprint,
                     (struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
    sink_program_about(sink, program, (struct program_about){.form = PROGRAM_TEXT});
    text_free(&text);
}

static void make_work(struct made_run *run, const struct work *work)
{
    int64_t at_ps = 0;

    run_begin(run);
    if (work->stacked != 0) {
        put_stack(run, work);
    } else if (work->fingerprint != 0) {
        run_program(run, 7, "jit_f", work->fingerprint, (const char *const[]){"dot.1", "", NULL});
        run_program(run, 8, "jit_g", 901, (const char *const[]){"sort.1", "", NULL});
    }
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
    for (int64_t step = 0; step < STEPS; step++) {
        int64_t busy_ps = work->dots * work->dot_ps + work->sort_ps;
        int64_t wait_ps = work->wait_ps + step % 3 * work->noise_ps;

        run_slice(run, python, at_ps, busy_ps + wait_ps, "train", KIND_HOST);
        run_int(run, "_r", 1);
        run_int(run, "step_num", step);
        for (int i = 0; i < work->dots; i++)
            run_cpu_op(run, pool, at_ps + i * work->dot_ps, work->dot_ps - 1, "dot.1", 7, step, 0,
                       0);
        if (work->sort_ps > 0)
            run_cpu_op(run, pool, at_ps + busy_ps - work->sort_ps, work->sort_ps - 1, "sort.1", 8,
                       step, 0, 0);
        at_ps += busy_ps + wait_ps + 10;
    }
    run_finish(run);
}

/* On a processor that others use, too, all ops are slower by any factor: that is no regression, and
 * hides none. */
static void a_busy_machine_changes_no_work(void **state)
{
    static const struct work usual = {
        .dots = 100, .dot_ps = 1000, .wait_ps = 1000, .fingerprint = 9};
    static const struct {
        const char *what;
        struct work work;
        enum judged answer;
        bool known, is_same;
        double more; /* work, in hundredths */
    } rows[] = {
        {"the same", {100, 1000, 0, 1000, 9, 0, 0}, JUDGED_OK, true, true, 0},
        {"the same, twice as slow", {100, 2000, 0, 2000, 9, 0, 0}, JUDGED_MAYBE, true, true, 0},
        {"more often", {104, 1000, 0, 1000, 9, 0, 0}, JUDGED_REGRESSED, true, false, 4},
        {"more often, twice as slow",
         {104, 2000, 0, 2000, 9, 0, 0},
         JUDGED_REGRESSED,
         true,
         false,
         4},
        {"more often, on a machine so much faster",
         {104, 500, 0, 500, 9, 0, 0},
         JUDGED_MAYBE,
         true,
         false,
         4},
        {"less often, twice as slow", {90, 2000, 0, 2000, 9, 0, 0}, JUDGED_MAYBE, true, false, -10},
        {"something new", {100, 2000, 10000, 2000, 9, 0, 0}, JUDGED_REGRESSED, true, false, 5},
        {"it waits longer", {100, 1000, 0, 90000, 9, 0, 0}, JUDGED_REGRESSED, true, true, 0},
        {"nothing in common", {100, 2000, 0, 1000, 10, 0, 0}, JUDGED_REGRESSED, false, false, 0},
        {"no program is known", {100, 2000, 0, 1000, 0, 0, 0}, JUDGED_REGRESSED, false, false, 0},
    };
    struct made_run before;
    (void)state;

    make_work(&before, &usual);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made_run after;

        make_work(&after, &rows[i].work);
        struct check check = ask(&before.run, &after.run, "step_time", 0, arena);
        const struct check_work *work = &check.work;

        CHECK_INT(rows[i].what, check.judged.answer, rows[i].answer);
        CHECK(rows[i].what, work->known == rows[i].known && work->is_same == rows[i].is_same);
        CHECK(rows[i].what, (check.judged.answer == JUDGED_MAYBE) == (check.reason.count > 0));
        double more = work->known
                          ? 100 * (double)work->more.shift.delta / (double)work->more.shift.a_median
                          : 0;

        CHECK(rows[i].what, fabs(more - rows[i].more) < 0.2);
        arena_destroy(arena);
        run_end(&after);
    }
    run_end(&before);
}

/* One layer more is another shape of what all layers are stacked in, in each op that takes it:
 * FLOPs and bytes tell how much more that is. Where steps wait, too, more work may be hidden. */
static void other_shapes_and_hidden_work(void **state)
{
    static const struct {
        const char *what;
        struct work before, after;
        enum judged answer;
        double more; /* in hundredths */
        const char *told;
    } rows[] = {
        {"the same stack, twice as slow",
         {100, 1000, 0, 1000, 9, 100, 0},
         {100, 2000, 0, 2000, 9, 100, 0},
         JUDGED_MAYBE,
         0,
         ""},
        {"a larger stack",
         {100, 1000, 0, 1000, 9, 100, 0},
         {100, 1040, 0, 1000, 8, 104, 0},
         JUDGED_REGRESSED,
         4,
         "dot.1 does 1.04 times as much a call"},
        {"a larger stack, twice as slow",
         {100, 1000, 0, 1000, 9, 100, 0},
         {100, 2080, 0, 2000, 8, 104, 0},
         JUDGED_REGRESSED,
         4,
         "dot.1 does 1.04 times as much a call"},
        {"a smaller stack, twice as slow",
         {100, 1000, 0, 1000, 9, 100, 0},
         {100, 1800, 0, 2000, 8, 90, 0},
         JUDGED_MAYBE,
         -10,
         "dot.1 does 0.9 times as much a call"},
        {"a row of a larger stack, more often, twice as slow",
         {100, 1000, 0, 1000, 9, -100, 0},
         {104, 2000, 0, 2000, 8, -104, 0},
         JUDGED_REGRESSED,
         4,
         "dot.1 ran 104 times instead of 100"},
        {"more often, but waits hide it",
         {100, 1000, 0, 50000, 9, 0, 20000},
         {104, 1000, 0, 46000, 9, 0, 20000},
         JUDGED_MAYBE,
         4,
         "dot.1 ran 104 times instead of 100"},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made_run before, after;

        make_work(&before, &rows[i].before);
        make_work(&after, &rows[i].after);
        struct check check = ask(&before.run, &after.run, "step_time", 0, arena);
        const struct check_work *work = &check.work;

        CHECK(rows[i].what, work->known);
        CHECK_INT(rows[i].what, check.judged.answer, rows[i].answer);
        CHECK(rows[i].what,
              fabs(100 * (double)work->more.shift.delta / (double)work->more.shift.a_median -
                   rows[i].more) < 0.2);
        CHECK_STR(rows[i].what, work->what, rows[i].told);
        arena_destroy(arena);
        run_end(&after);
        run_end(&before);
    }
}

/* A name that no run has was mistyped: that is no answer, and never ok. */
static void a_mistyped_op_fails(void **state)
{
    const struct judge_rule rule = {.max_regress = 0.03, .confidence = 0.99};
    const struct restriction all = {0};
    struct arena *arena = arena_create();
    struct check_question question;
    struct made_run run;
    struct check check;
    (void)state;

    make_run(&run, "dot.1", 300000);
    const struct diff_side side = {&run.run, &all, NULL};
    const struct diff_side *const sides[] = {&side};
    for (uint32_t count = 0; count < 2; count++) {
        struct error err = {0};

        CHECK("a metric", check_metric_parse(STR("op:dot.l"), &question));
        question.has_limit = count == 0;
        CHECK_INT("refused", check_run(sides, count, &side, &question, &rule, arena, &check, &err),
                  ERR_INVALID);
        CHECK_HAS("the nearest", err.message, "the nearest is \"op:dot.1\"");
    }
    arena_destroy(arena);
    run_end(&run);
}

/* Runs that differ among themselves by more than the run does from them. */
static void several_runs_of_a_baseline(void **state)
{
    static const int64_t dots_ps[] = {300000, 310000, 305000, 320000, 295000, 340000, 900000};
    enum { RUNS = COUNT(dots_ps) };
    const struct judge_rule rule = {.max_regress = 0.01, .confidence = 0.99};
    const struct restriction all = {0};
    struct arena *arena = arena_create();
    struct made_run runs[RUNS];
    struct diff_side sides[RUNS];
    const struct diff_side *pointers[RUNS];
    struct error err = {0};
    (void)state;

    for (int i = 0; i < RUNS; i++) {
        make_run(&runs[i], "dot.1", dots_ps[i]);
        sides[i] = (struct diff_side){&runs[i].run, &all, NULL};
        pointers[i] = &sides[i];
    }
    for (int metric = 0; metric < 2; metric++) {
        struct check_question question;
        struct check one, several, slow;

        CHECK("a metric",
              check_metric_parse(metric == 0 ? STR("step_time") : STR("op:dot.1"), &question));
        CHECK_OK("one", check_run(pointers, 1, &sides[5], &question, &rule, arena, &one, &err),
                 &err);
        CHECK_OK("five", check_run(pointers, 5, &sides[5], &question, &rule, arena, &several, &err),
                 &err);
        CHECK_OK("five", check_run(pointers, 5, &sides[6], &question, &rule, arena, &slow, &err),
                 &err);
        CHECK_INT("against one", one.judged.answer, JUDGED_REGRESSED);
        CHECK_INT("against five", several.judged.answer, JUDGED_MAYBE);
        CHECK_INT("five", several.run_count, 5);
        CHECK_INT("their steps", several.a_count, 5 * STEPS);
        CHECK_INT("three times slower", slow.judged.answer, JUDGED_REGRESSED);
    }
    for (int i = 0; i < RUNS; i++)
        run_end(&runs[i]);
    arena_destroy(arena);
}

static void metrics(void **state)
{
    static const struct {
        const char *what, *metric;
        int64_t limit;
        enum judged answer;
        int64_t value;
    } rows[] = {
        {"steps", "step_time", 0, JUDGED_REGRESSED, 601000},
        {"the op, which is called otherwise", "op:gemm<4>", 0, JUDGED_REGRESSED, 401000},
        {"by its old name", "op:gemm<3>", 0, JUDGED_REGRESSED, 401000},
        {"another op", "op:add.2", 0, JUDGED_OK, 100000},
        {"no allocator", "memory_peak", 0, JUDGED_UNKNOWN, 0},
        {"no compile", "compile_time", 0, JUDGED_UNKNOWN, 0},
        {"below a limit", "step_time", 700000, JUDGED_OK, 601000},
        {"above a limit", "op:gemm<4>", 300000, JUDGED_REGRESSED, 401000},
    };
    struct made_run a, b;
    (void)state;

    make_run(&a, "gemm<3>", 300000);
    make_run(&b, "gemm<4>", 400000);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct check check =
            ask(rows[i].limit > 0 ? NULL : &a.run, &b.run, rows[i].metric, rows[i].limit, arena);

        CHECK_INT(rows[i].what, check.judged.answer, rows[i].answer);
        CHECK_INT(rows[i].what, check.judged.shift.b_median, rows[i].value);
        CHECK(rows[i].what, check.is_measured == (rows[i].value > 0));
        CHECK(rows[i].what, (check.reason.count > 0) == (check.judged.answer == JUDGED_UNKNOWN));
        arena_destroy(arena);
    }
    run_end(&a);
    run_end(&b);
}

/* What two hosts do in one step is one measurement: of time the longer, of an op the mean. */
static void hosts_are_one(void **state)
{
    struct arena *arena = arena_create();
    struct made_run fast, slow;
    (void)state;

    make_run(&fast, "dot.1", 300000);
    make_run(&slow, "dot.1", 400000);
    const struct host_trace hosts[] = {fast.host, slow.host};
    const struct run_traces both = {.hosts = hosts, .host_count = 2, .name = STR("both")};
    struct check check = ask(&both, &both, "step_time", 0, arena);

    CHECK_INT("as many as steps", check.b_count, STEPS);
    CHECK_INT("the longer", check.judged.shift.b_median, 601000);
    CHECK_INT("the mean", ask(NULL, &both, "op:dot.1", 1000000, arena).judged.shift.b_median,
              351000);
    arena_destroy(arena);
    run_end(&fast);
    run_end(&slow);
}

static void a_run_without_steps_is_not_ok(void **state)
{
    struct arena *arena = arena_create();
    struct made_run run, empty;
    (void)state;

    make_run(&run, "dot.1", 300000);
    run_begin(&empty);
    run_slice(&empty, run_thread(&empty, "python"), 0, 5, "nothing", KIND_HOST);
    run_finish(&empty);
    struct check check = ask(&empty.run, &run.run, "step_time", 0, arena);

    CHECK_INT("cannot be told", check.judged.answer, JUDGED_UNKNOWN);
    CHECK("and says why", str_ends(check.reason, STR("has no steps")));
    CHECK_INT("no number", check.judged.steps_needed, STEPS_UNKNOWN);
    arena_destroy(arena);
    run_end(&run);
    run_end(&empty);
}

static void an_op_of_one_run_is_not_ok(void **state)
{
    struct arena *arena = arena_create();
    struct made_run a, b;
    (void)state;

    make_run(&a, "dot.1", 300000);
    make_run(&b, "convolution.7", 400000);
    struct check gone = ask(&a.run, &b.run, "op:dot.1", 0, arena);
    struct check fresh = ask(&a.run, &b.run, "op:convolution.7", 0, arena);

    CHECK_INT("gone", gone.judged.answer, JUDGED_UNKNOWN);
    CHECK_INT("new", fresh.judged.answer, JUDGED_UNKNOWN);
    CHECK("why", str_contains(gone.reason, STR("and none that matches it")));
    arena_destroy(arena);
    run_end(&a);
    run_end(&b);
}

static void words(void **state)
{
    static const struct {
        const char *text;
        bool is_metric;
    } rows[] = {{"step_time", true}, {"op:x", true}, {"op:", false}, {"", false}, {"step", false}};
    struct check_question question;
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK(rows[i].text,
              check_metric_parse(str_of(rows[i].text), &question) == rows[i].is_metric);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mistyped_op_fails),
        cmocka_unit_test(several_runs_of_a_baseline),
        cmocka_unit_test(a_busy_machine_changes_no_work),
        cmocka_unit_test(other_shapes_and_hidden_work),
        cmocka_unit_test(metrics),
        cmocka_unit_test(hosts_are_one),
        cmocka_unit_test(a_run_without_steps_is_not_ok),
        cmocka_unit_test(an_op_of_one_run_is_not_ok),
        cmocka_unit_test(words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
