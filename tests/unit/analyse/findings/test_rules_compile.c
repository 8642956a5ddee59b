/* SPDX-License-Identifier: Apache-2.0 */
/* When rules about compilation speak: recompiles in steps, one cause told once, autotuning. */
#include "unit/analyse/findings_of.h"

static void step(struct made_run *run, track_id python, int64_t start_ps, int64_t dur_ps,
                 int64_t number)
{
    run_slice(run, python, start_ps, dur_ps, "train", KIND_HOST);
    run_int(run, "_r", 1);
    run_int(run, "step_num", number);
}

/* Steps of 1000; those of the list compile f for `compile_ps`. */
static void draw(struct made_run *run, const char *steps, int64_t compile_ps)
{
    run_begin(run);

    track_id python = run_thread(run, "python");

    for (int64_t i = 0; steps[i] != '\0'; i++) {
        step(run, python, i * 2000, 1000, i);
        if (steps[i] != 'c')
            continue;
        run_slice(run, python, i * 2000 + 10, compile_ps + 20, "PjitFunction(f)", KIND_HOST);
        run_slice(run, python, i * 2000 + 20, compile_ps, "backend_compile", KIND_COMPILE);
    }
    run_finish(run);
}

static void recompiles(void **state)
{
    (void)state;
    const struct {
        const char *what, *steps;
        int64_t compile_ps;
        bool again, in_steps;
    } rows[] = {
        {"once, in a later step", "......c.....", 500, false, true},
        {"once, and short", "......c.....", 5, false, false},
        {"never", "............", 0, false, false},
        {"in the first step only", "c...........", 500, false, false},
        {"over and over", "...c...c..c.", 500, true, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        draw(&run, rows[i].steps, rows[i].compile_ps);
        CHECK_INT(rows[i].what, run_finding(&run, "recompiles") != NULL, rows[i].again);
        CHECK_INT(rows[i].what, run_finding(&run, "compile-in-steps") != NULL, rows[i].in_steps);
        CHECK_FINDS_NOT(&run, "changing-sizes");
        run_end(&run);
    }
}

/* What made the step long is told once. */
static void one_cause(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t compile_ps;
        bool compiles, stands_out;
    } rows[] = {{"compiling is most of it", 4000, true, false},
                {"it is the least of it", 300, true, true},
                {"none", 0, false, true}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python");
        for (int64_t at = 0; at < 12; at++) {
            step(&run, python, at * 10000, at == 6 ? 6000 : 1000, at);
            if (at != 6 || rows[i].compile_ps == 0)
                continue;
            run_slice(&run, python, 60010, rows[i].compile_ps + 20, "PjitFunction(f)", KIND_HOST);
            run_slice(&run, python, 60020, rows[i].compile_ps, "backend_compile", KIND_COMPILE);
        }
        run_finish(&run);
        CHECK_INT(rows[i].what, run_finding(&run, "compile-in-steps") != NULL, rows[i].compiles);
        CHECK_INT(rows[i].what, run_finding(&run, "outlier-step") != NULL, rows[i].stands_out);
        run_end(&run);
    }
}

static void words(void **state)
{
    (void)state;
    struct made_run run;

    draw(&run, "...c...c..c.", 500);
    CHECK_SAYS(&run, "recompiles", "The function f was compiled again 2 times");

    const struct finding *finding = run_finding(&run, "recompiles");

    CHECK("its win is known", finding->has_win && finding->win_ps > 0);
    CHECK("not more than it took", finding->win_ps <= 3 * 520);
    run_end(&run);
}

static void autotuning(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t tuned_ps;
        bool found;
    } rows[] = {{"99 ms", INT64_C(99000000000), false}, {"100 ms", INT64_C(100000000000), true}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id main = run_thread(&run, "main");
        run_slice(&run, main, 0, INT64_C(900000000000), "XlaCompile:#module=jit_f#", KIND_COMPILE);
        run_slice(&run, main, 5, rows[i].tuned_ps, "XlaAutotunerCompilation", KIND_COMPILE);
        run_finish(&run);
        CHECK_INT(rows[i].what, run_finding(&run, "autotuning") != NULL, rows[i].found);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recompiles),
        cmocka_unit_test(one_cause),
        cmocka_unit_test(words),
        cmocka_unit_test(autotuning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
