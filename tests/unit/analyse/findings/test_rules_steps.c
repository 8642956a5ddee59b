/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about steps, idle devices, hosts: each with a run that triggers it and one that does
 * not. */
#include "unit/analyse/findings_of.h"

static void step(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                 int64_t number)
{
    run_slice(run, track, start_ps, dur_ps, "train", KIND_HOST);
    run_int(run, "_r", 1);
    run_int(run, "step_num", number);
}

struct lengths { /* of each of ten steps */
    int64_t step_ps, op_ps, gap_ps, other_ps;
    const char *gap; /* the name of what the host does in the gap */
    enum kind kind;
};

/*  python  train |-------------------|      step_ps
 *            gap   |-----|                  gap_ps, from 10 on
 *  pool  0          dot   |-----------|     op_ps, behind the gap
 *        1          dot   |--|              other_ps */
static void make_steps(struct made_run *run, struct lengths usual, struct lengths last)
{
    run_begin(run);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
    for (int64_t i = 0; i < 10; i++) {
        const struct lengths *now = i == 9 ? &last : &usual;
        int64_t at_ps = i * 10000;

        step(run, python, at_ps, now->step_ps, i);
        if (now->gap_ps > 0)
            run_slice(run, python, at_ps + 10, now->gap_ps, now->gap, now->kind);
        if (now->op_ps > 0)
            run_cpu_op(run, pool, at_ps + 10 + now->gap_ps, now->op_ps, "dot", 7, i, 0, 0);
        if (now->other_ps > 0)
            run_cpu_op(run, pool, at_ps + 10 + now->gap_ps, now->other_ps, "dot", 7, i, 1, 0);
    }
    run_finish(run);
}

static void of_usual_steps(void **state)
{
    (void)state;
    const struct {
        const char *what, *rule, *says; /* says NULL: finds nothing */
        struct lengths usual;
    } rows[] = {
        {"half of it input",
         "input-bound",
         "50 % of its time, in load_data",
         {1000, 490, 500, 0, "load_data", KIND_INPUT}},
        {"hardly any", "input-bound", NULL, {1000, 940, 40, 0, "load_data", KIND_INPUT}},
        {"the host launches",
         "device-idle",
         "dispatch",
         {1000, 490, 500, 0, "PjitFunction(f)", KIND_HOST}},
        {"busy", "device-idle", NULL, {1000, 940, 40, 0, "PjitFunction(f)", KIND_HOST}},
        {"input has a rule of its own",
         "device-idle",
         NULL,
         {1000, 490, 500, 0, "load_data", KIND_INPUT}},
        {"Python", "python-overhead", "50 %", {1000, 490, 500, 0, "$train.py:3 f", KIND_HOST}},
        {"no Python", "python-overhead", NULL, {1000, 490, 500, 0, "PjitFunction(f)", KIND_HOST}},
        {"saved in each step",
         "checkpoint-in-steps",
         "save_checkpoint",
         {1000, 900, 80, 0, "save_checkpoint", KIND_HOST}},
        {"nothing saved", "checkpoint-in-steps", NULL, {1000, 900, 80, 0, "augment", KIND_HOST}},
        {"logs", "logging-in-steps", "wandb.log", {1000, 900, 80, 0, "wandb.log", KIND_HOST}},
        {"no logs", "logging-in-steps", NULL, {1000, 900, 80, 0, "augment", KIND_HOST}},
        {"a callback",
         "host-callbacks",
         "xla_python_cpu_callback",
         {1000, 900, 80, 0, "xla_python_cpu_callback", KIND_HOST}},
        {"none", "host-callbacks", NULL, {1000, 900, 80, 0, "augment", KIND_HOST}},
        {"one works twice the other",
         "device-imbalance",
         "of 2 would work",
         {1000, 800, 80, 400, "augment", KIND_HOST}},
        {"both alike", "device-imbalance", NULL, {1000, 800, 80, 790, "augment", KIND_HOST}},
        {"all alike", "outlier-step", NULL, {1000, 800, 80, 0, "augment", KIND_HOST}},
        {"all alike", "steps-growing", NULL, {1000, 800, 80, 0, "augment", KIND_HOST}},
        {"no device at all",
         "cpu-fallback",
         NULL,
         {1000, 800, 80, 0, "ThunkExecutor::Execute", KIND_HOST}},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        make_steps(&run, rows[i].usual, rows[i].usual);

        const struct finding *finding = run_finding(&run, rows[i].rule);

        CHECK(rows[i].what, (finding != NULL) == (rows[i].says != NULL));
        if (finding != NULL) {
            CHECK_HAS(rows[i].what, str_c(run.made.arena, finding->text), rows[i].says);
            CHECK(rows[i].what, finding->has_win && finding->win_ps > 0);
            CHECK(rows[i].what, finding->win_ps <= 10 * rows[i].usual.step_ps);
            CHECK(rows[i].what, finding->evidence_count > 0);
        }
        run_end(&run);
    }
}

/* Input that takes 253 of 261 ms is named whatever a step is: marks beside it, marks around it,
 * none. */
static void input_beside_steps(void **state)
{
    enum { BESIDE, AROUND, NO_MARKS, RULES };
    static const char *const says[RULES] = {
        "spends 253 ms of the 261 ms recorded (97 %) loading data",
        "Each step waits 63.2 ms for input, 97 % of its time",
        "Each step waits 63.2 ms for input, 97 % of its time"};
    const int64_t ms = 1000000000, load_ps = 63250000000, work_ps = 2 * ms;
    (void)state;

    for (int rule = 0; rule < RULES; rule++) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "tf_XLAEigen/1");
        for (int i = 0; i < 4; i++) {
            int64_t start_ps = i * (load_ps + work_ps);

            if (rule != NO_MARKS) {
                run_slice(&run, python, rule == AROUND ? start_ps : start_ps + load_ps,
                          rule == AROUND ? load_ps + work_ps : work_ps, "train", KIND_HOST);
                run_int(&run, "step_num", i);
                run_int(&run, "_r", 1);
            }
            run_slice(&run, python, start_ps, load_ps, "DataLoader.__next__", KIND_INPUT);
            run_slice(&run, python, start_ps + load_ps, work_ps, "PjitFunction(f)", KIND_HOST);
            run_cpu_op(&run, pool, start_ps + load_ps, work_ps, "dot.1", 7, i + 1, 0, 0);
        }
        run_finish(&run);
        CHECK_SAYS(&run, "input-bound", says[rule]);
        /* No win is larger than what the counted steps hold of it: four marks, four, three from
         * work to work. */
        const int64_t wins_ps[RULES] = {4 * work_ps, 253 * ms, 3 * load_ps};
        CHECK_INT("what it wins", run_finding(&run, "input-bound")->win_ps, wins_ps[rule]);
        run_end(&run);
    }
}

static void an_outlier(void **state)
{
    (void)state;
    struct made_run run;
    struct lengths usual = {1000, 800, 80, 0, "augment", KIND_HOST}, last = usual;

    last.step_ps = 3000;
    last.op_ps = 2800;
    make_steps(&run, usual, last);
    CHECK_SAYS(&run, "outlier-step",
               "Step 9 took 3 ns, 2 ns longer than the median: dot was "
               "2 ns longer.");
    CHECK_INT("win", run_finding(&run, "outlier-step")->win_ps, 2000);
    CHECK_FINDS_NOT(&run, "steps-growing");
    run_end(&run);
    last = usual;
    last.step_ps = 3000;
    last.gap_ps = 2080;
    make_steps(&run, usual, last);
    CHECK_SAYS(&run, "outlier-step", "augment was 2 ns longer");
    run_end(&run);
}

static void growing(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    for (int64_t i = 0; i < 12; i++)
        step(&run, python, i * 1000, 500 + 20 * i, i);
    run_finish(&run);
    CHECK_SAYS(&run, "steps-growing", "Steps become slower: from");
    run_end(&run);
}

/* Of eight devices the last to come communicates least. */
static void late_device(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t late_ps;
        bool finds;
    } rows[] = {{"far behind", 200, true}, {"hardly", 5, false}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
        for (int64_t at = 0; at < 5; at++) {
            step(&run, python, at * 1000, 1000, at);
            for (int64_t device = 0; device < 4; device++) {
                int64_t work_ps = device == 2 ? 400 + rows[i].late_ps : 400;

                run_cpu_op(&run, pool, at * 1000, work_ps, "dot", 7, at, device, 0);
                run_slice(&run, pool, at * 1000 + work_ps, 700 - work_ps, "psum.7",
                          KIND_COMMUNICATION);
                run_text(&run, "hlo_op", "psum.7");
                run_text(&run, "hlo_module", "jit_f");
                run_int(&run, "program_id", 7);
                run_int(&run, "run_id", at);
                run_int(&run, "device_ordinal", device);
            }
        }
        run_finish(&run);
        if (rows[i].finds) {
            CHECK_SAYS(&run, "straggler-device",
                       "device 2 comes last in 5 of 5 steps, by 200 ps in the median");
            CHECK_INT("three wait", run_finding(&run, "straggler-device")->win_ps, 5 * 200 * 3 / 4);
        } else {
            CHECK_FINDS_NOT(&run, "straggler-device");
        }
        run_end(&run);
    }
}

/* Two hosts, told apart by what they communicate. */
static void late_host(void **state)
{
    (void)state;
    struct made_run runs[2];
    struct host_trace hosts[2];

    for (int host = 0; host < 2; host++) {
        struct made_run *run = &runs[host];

        run_begin(run);
        track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
        for (int64_t at = 0; at < 4; at++) {
            step(run, python, at * 1000, 900, at);
            run_slice(run, pool, at * 1000 + (host == 1 ? 600 : 200), host == 1 ? 100 : 500,
                      "psum.7", KIND_COMMUNICATION);
            run_text(run, "hlo_op", "psum.7");
            run_text(run, "hlo_module", "jit_f");
            run_int(run, "device_ordinal", 0);
        }
        run_finish(run);
        hosts[host] = run->host;
        hosts[host].name = host == 0 ? STR("hostA") : STR("hostB");
    }
    runs[0].run.hosts = hosts;
    runs[0].run.host_count = 2;
    CHECK_SAYS(&runs[0], "straggler-host",
               "hostB comes last in 4 of 4 steps, by 400 ps in the median; waiting for it takes 22 "
               "% of all steps.");
    CHECK_INT("win", run_finding(&runs[0], "straggler-host")->win_ps, 4 * 400);
    CHECK_FINDS_NOT(&runs[0], "straggler-device");
    runs[0].run.host_count = 1;
    CHECK_FINDS_NOT(&runs[0], "straggler-host");
    run_end(&runs[0]);
    run_end(&runs[1]);
}

static void bubbles(void **state)
{
    (void)state;
    const struct {
        const char *name;
        bool finds;
    } rows[] = {{"collective-permute-done.3", true}, {"sender", false}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
        for (int64_t at = 0; at < 4; at++) {
            step(&run, python, at * 1000, 1000, at);
            for (int64_t device = 0; device < 2; device++) {
                run_cpu_op(&run, pool, at * 1000, 300, "dot", 7, at, device, 0);
                for (int64_t turn = 0; turn < 3; turn++)
                    run_cpu_op(&run, pool, at * 1000 + 300 + turn * 200, 200, rows[i].name, 7, at,
                               device, 0);
            }
        }
        run_finish(&run);
        if (rows[i].finds)
            CHECK_SAYS(&run, "pipeline-exchanges", "collective-permute-done.3");
        else
            CHECK_FINDS_NOT(&run, "pipeline-exchanges");
        run_end(&run);
    }
}

static void fallback(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id ops = run_stream(&run, "Stream #7(Kernel)", ROLE_OPS, 0);
    for (int64_t at = 0; at < 4; at++) {
        step(&run, python, at * 1000, 900, at);
        run_slice(&run, python, at * 1000 + 100, 300, "TfrtCpuExecutable::Execute", KIND_HOST);
        run_slice(&run, ops, at * 1000 + 500, 300, "gemm", KIND_COMPUTE);
    }
    run_finish(&run);
    CHECK_SAYS(&run, "cpu-fallback", "TfrtCpuExecutable::Execute");
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_usual_steps), cmocka_unit_test(input_beside_steps),
        cmocka_unit_test(an_outlier),     cmocka_unit_test(growing),
        cmocka_unit_test(late_device),    cmocka_unit_test(late_host),
        cmocka_unit_test(bubbles),        cmocka_unit_test(fallback),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
