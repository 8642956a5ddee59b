/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about launches: each with a run that triggers it and one that does not. */
#include "unit/analyse/findings_of.h"

static void launch(struct made_run *run, track_id host, track_id stream, int64_t call_us,
                   int64_t start_us, int64_t dur_us, const char *details)
{
    static uint64_t id;
    struct sink *sink = run->made.sink;
    name_id kind = sink_name(sink, STR("kernel launch"));

    run_slice(run, host, call_us * 1000000, 2000000, "cuLaunchKernel", KIND_HOST);
    sink_flow(sink, FLOW_FROM, kind, ++id);
    run_slice(run, stream, start_us * 1000000, dur_us * 1000000, "kernel", KIND_COMPUTE);
    run_text(run, "kernel_details", details);
    sink_flow(sink, FLOW_TO, kind, id);
}

#define FULL "regs:16 static_shared:0 dynamic_shared:0 grid:99,1,1 block:256,1,1 occ_pct:100"
#define QUARTER "regs:255 static_shared:0 dynamic_shared:0 grid:99,1,1 block:256,1,1 occ_pct:25"

/* `count` kernels of `dur_us` with `gap_us` between them, each called `ahead_us` before; a step of
 * `step_us` around each, 0: none. */
static void make_stepping(struct made_run *run, int count, int64_t dur_us, int64_t gap_us,
                          int64_t ahead_us, const char *details, int64_t step_us)
{
    run_begin(run);
    track_id host = run_thread(run, "python"), steps = run_thread(run, "steps");
    track_id stream = run_stream(run, "Stream #7", ROLE_NONE, 0);

    for (int i = 0; i < count; i++) {
        int64_t start_us = 1000 + i * (dur_us + gap_us);

        if (step_us > 0) {
            run_slice(run, steps, start_us * 1000000, step_us * 1000000, "train", KIND_HOST);
            run_int(run, "step_num", i);
            run_int(run, "_r", 1);
        }
        launch(run, host, stream, start_us - ahead_us, start_us, dur_us, details);
    }
    run_finish(run);
}

static void make(struct made_run *run, int count, int64_t dur_us, int64_t gap_us, int64_t ahead_us,
                 const char *details)
{
    make_stepping(run, count, dur_us, gap_us, ahead_us, details, 0);
}

static void launches(void **state)
{
    (void)state;
    const struct {
        const char *what, *rule, *details;
        int count, dur_us, gap_us, ahead_us;
        bool finds;
    } rows[] = {
        {"short, with gaps", "tiny-kernels", FULL, 200, 2, 3, 500, true},
        {"short, without gaps", "tiny-kernels", FULL, 200, 2, 0, 500, false},
        {"long", "tiny-kernels", FULL, 200, 50, 3, 500, false},
        {"too few", "tiny-kernels", FULL, 20, 2, 3, 500, false},
        {"a quarter", "low-occupancy", QUARTER, 10, 50, 0, 500, true},
        {"all of it", "low-occupancy", FULL, 10, 50, 0, 500, false},
        {"called just before", "dispatch-bound", FULL, 50, 20, 30, 4, true},
        {"called long before", "dispatch-bound", FULL, 50, 20, 30, 500, false},
        {"no gaps", "dispatch-bound", FULL, 50, 20, 0, 4, false},
        {"calls of 2 us", "slow-launch-calls", FULL, 200, 20, 0, 500, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        make(&run, rows[i].count, rows[i].dur_us, rows[i].gap_us, rows[i].ahead_us,
             rows[i].details);
        CHECK(rows[i].what, (run_finding(&run, rows[i].rule) != NULL) == rows[i].finds);
        run_end(&run);
    }
}

static void wins(void **state)
{
    (void)state;
    struct made_run run;

    make(&run, 50, 20, 30, 4, FULL);
    const struct finding *finding = run_finding(&run, "dispatch-bound");
    /* The first stands before no other; of 30 us the last 2 are the kernel's own start. */
    CHECK("told", finding != NULL && finding->has_win);
    CHECK_INT("what stood idle until the call's end", finding->win_ps, 49 * INT64_C(28000000));
    run_end(&run);
    make_stepping(&run, 50, 20, 30, 4, FULL, 25);
    finding = run_finding(&run, "dispatch-bound");
    CHECK("told beside steps", finding != NULL && finding->has_win);
    CHECK_INT("what steps have of it at most", finding->win_ps, 50 * INT64_C(5000000));
    run_end(&run);
}

/* Kernels of NCCL fill few multiprocessors by design, whatever else they do without. */
static void kernels_that_communicate_are_not_blamed(void **state)
{
    (void)state;
    const struct {
        const char *name;
        enum kind kind;
        bool finds;
    } rows[] = {
        {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         KIND_COMMUNICATION, false},
        {"void at::native::reduce_kernel<512, 1>(float)", KIND_COMPUTE, true},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
        CHECK_INT("its kind by its name",
                  kind_of(&(struct kind_facts){.plane = STR("/device:GPU:0"),
                                               .line = STR("Stream #7(Kernel)"),
                                               .name = str_of(rows[i].name)}),
                  rows[i].kind);
        for (int at = 0; at < 10; at++) {
            run_slice(&run, stream, at * INT64_C(60000000), 50000000, rows[i].name, rows[i].kind);
            run_text(&run, "kernel_details", QUARTER);
        }
        run_finish(&run);
        CHECK(rows[i].name, (run_finding(&run, "low-occupancy") != NULL) == rows[i].finds);
        run_end(&run);
    }
}

/* What stood idle before kernels is a part of what streams stood idle, by the same measure. */
static void parts_of_a_whole(void **state)
{
    (void)state;
    struct made_run run;
    int64_t whole_ps = 25 * INT64_C(28000000 + 29000000) / 2, sum_ps = 0; /* of two streams */

    run_begin(&run);
    track_id host = run_thread(&run, "python");
    track_id streams[] = {run_stream(&run, "Stream #7", ROLE_NONE, 0),
                          run_stream(&run, "Stream #8", ROLE_NONE, 0)};

    for (int i = 0; i < 52; i++) {
        int64_t start_us = 1000 + i / 2 * 50;

        launch(&run, host, streams[i % 2], start_us - 4 + i % 2, start_us, 20, FULL);
    }
    run_finish(&run);
    const struct finding *finding = run_finding(&run, "dispatch-bound");

    CHECK("told", finding != NULL);
    for (uint32_t i = 0; finding != NULL && i < finding->evidence_count; i++)
        sum_ps += finding->evidence[i].unit == UNIT_PS ? finding->evidence[i].value.of.integer : 0;
    CHECK("has parts", sum_ps > 0);
    CHECK("which are no more than the whole", sum_ps <= whole_ps);
    run_end(&run);
}

static void slow_calls(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id host = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    name_id kind = sink_name(run.made.sink, STR("kernel launch"));
    for (int i = 0; i < 150; i++) {
        run_slice(&run, host, i * INT64_C(100000000), 60000000, "cuLaunchKernel", KIND_HOST);
        sink_flow(run.made.sink, FLOW_FROM, kind, (uint64_t)i + 1);
        run_slice(&run, stream, i * INT64_C(100000000) + 70000000, 90000000, "k", KIND_COMPUTE);
        sink_flow(run.made.sink, FLOW_TO, kind, (uint64_t)i + 1);
    }
    run_finish(&run);
    CHECK_FINDS(&run, "slow-launch-calls");
    run_end(&run);
}

/* 150 calls of 60 us launch graphs of four kernels: no call of one kernel is slow. */
static void graphs_are_no_slow_calls(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id host = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    name_id kind = sink_name(run.made.sink, STR("kernel launch"));
    for (int i = 0; i < 150; i++) {
        int64_t at_ps = i * INT64_C(100000000);

        run_slice(&run, host, at_ps, 60000000, "cudaGraphLaunch", KIND_HOST);
        sink_flow(run.made.sink, FLOW_FROM, kind, (uint64_t)i + 1);
        for (int node = 0; node < 4; node++) {
            run_slice(&run, stream, at_ps + 62000000 + node * INT64_C(9000000), 8000000, "k",
                      KIND_COMPUTE);
            sink_flow(run.made.sink, FLOW_TO, kind, (uint64_t)i + 1);
        }
    }
    run_finish(&run);
    CHECK("no finding", run_finding(&run, "slow-launch-calls") == NULL);
    run_end(&run);
}

static void graphs(void **state)
{
    (void)state;
    for (int whole = 0; whole < 2; whole++) {
        struct made_run run;

        run_begin(&run);
        track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
        run_slice(&run, stream, 0, 100, "graph", KIND_COMPUTE);
        run_int(&run, "cuda_graph_exec_id", 3);
        if (!whole)
            run_int(&run, "cuda_graph_node_id", 7);
        run_finish(&run);
        CHECK("told", (run_finding(&run, "graphs-hide-kernels") != NULL) == whole);
        run_end(&run);
    }
}

static const char *const instructions[] = {"dot.1", "", NULL};

struct made_calls {
    const char *function, *program;
    int count, ran;
    int64_t call_ps, run_ps, inner_ps; /* each call holds one of the same name; 0: none */
};

static void make_calls(struct made_run *run, struct made_calls made)
{
    char name[64];

    (void)snprintf(name, sizeof name, "PjitFunction(%s)", made.function);
    run_begin(run);
    run_program(run, 7, made.program, 99, instructions);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "tf_pool");

    for (int i = 0; i < made.count; i++) {
        run_slice(run, python, i * INT64_C(1000000), made.call_ps, name, KIND_HOST);
        if (made.inner_ps > 0)
            run_slice(run, python, i * INT64_C(1000000) + 1, made.inner_ps, name, KIND_HOST);
    }
    for (int i = 0; i < made.ran; i++)
        run_cpu_op(run, pool, i * INT64_C(1000000), made.run_ps, "dot.1", 7, i + 1, 0, 0);
    run_finish(run);
}

static void calls(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct made_calls made;
        int64_t short_win_ps; /* 0: it is not found */
        bool unblocked;
    } rows[] = {
        {"dearer than what runs", {"f", "jit_f", 30, 30, 900, 100, 0}, 30 * 800, false},
        {"of the same cost", {"f", "jit_f", 30, 30, 900, 800, 0}, 0, false},
        {"few", {"f", "jit_f", 10, 10, 900, 100, 0}, 0, false},
        {"not executed", {"f", "jit_f", 10, 2, 900, 100, 0}, 0, true},
        {"a lambda", {"<lambda>", "jit__lambda", 30, 30, 900, 100, 0}, 30 * 800, false},
        {"a lambda of no program", {"<lambda>", "jit_lambda", 30, 2, 900, 100, 0}, 0, false},
        {"two spans a call", {"f", "jit_f", 30, 30, 900, 400, 300}, 30 * 500, false},
        {"two spans a call, executed", {"f", "jit_f", 10, 6, 900, 100, 300}, 0, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        const struct finding *finding;

        make_calls(&run, rows[i].made);
        finding = run_finding(&run, "calls-shorter-than-dispatch");
        CHECK_INT(rows[i].what, finding == NULL ? 0 : finding->win_ps, rows[i].short_win_ps);
        finding = run_finding(&run, "nothing-blocked");
        CHECK(rows[i].what, (finding != NULL) == rows[i].unblocked);
        if (finding != NULL)
            CHECK_INT(rows[i].what, finding->evidence[0].value.of.integer, rows[i].made.count);
        run_end(&run);
    }
}

/* Each call ran, on one of two devices; where both run each call, half of the calls did not. */
static void calls_on_two_devices(void **state)
{
    (void)state;
    const struct {
        const char *what;
        bool both;
        bool unblocked;
    } rows[] = {{"in turn", false, false}, {"half of them on both", true, true}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        run_program(&run, 7, "jit_f", 99, instructions);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "tf_pool");
        for (int call = 0; call < 20; call++)
            run_slice(&run, python, call * INT64_C(1000000), 900, "PjitFunction(f)", KIND_HOST);
        for (int ran = 0; ran < 20; ran++)
            run_cpu_op(&run, pool, ran * INT64_C(1000000), 800, "dot.1", 7,
                       rows[i].both ? ran / 2 : ran, ran % 2, 0);
        run_finish(&run);
        CHECK(rows[i].what, (run_finding(&run, "nothing-blocked") != NULL) == rows[i].unblocked);
        run_end(&run);
    }
}

/* A kernel out of a graph that names the command buffer, or nothing, hides its op. */
static void command_buffers(void **state)
{
    (void)state;
    const struct {
        const char *what, *op;
        bool jax, told;
    } rows[] = {
        {"the buffer's name", "command_buffer.1", true, true},
        {"no name", NULL, true, true},
        {"its op", "dot.1", true, false},
        {"a graph of another framework", NULL, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        run_program(&run, 7, "jit_f", 99, instructions);
        track_id python = run_thread(&run, "python");
        track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
        run_slice(&run, python, 0, 10, rows[i].jax ? "PjitFunction(f)" : "aten::mm", KIND_HOST);
        for (int at = 0; at < 20; at++) {
            run_slice(&run, stream, at * 100, 50, "gemm", KIND_COMPUTE);
            run_text(&run, "kernel_details", "regs:32 grid:1,1,1 block:32,1,1");
            run_int(&run, "cuda_graph_id", 4);
            run_int(&run, "cuda_graph_exec_id", 9);
            if (rows[i].op != NULL) {
                run_text(&run, "hlo_op", rows[i].op);
                run_text(&run, "hlo_module", "jit_f");
                run_int(&run, "program_id", 7);
            }
        }
        run_finish(&run);

        const struct finding *finding = run_finding(&run, "ops-in-command-buffers");

        CHECK(rows[i].what, (finding != NULL) == rows[i].told);
        if (finding != NULL)
            CHECK(rows[i].what,
                  str_contains(finding->remedy, STR("--xla_gpu_enable_command_buffer=`")));
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches),
        cmocka_unit_test(wins),
        cmocka_unit_test(kernels_that_communicate_are_not_blamed),
        cmocka_unit_test(parts_of_a_whole),
        cmocka_unit_test(slow_calls),
        cmocka_unit_test(graphs_are_no_slow_calls),
        cmocka_unit_test(graphs),
        cmocka_unit_test(calls),
        cmocka_unit_test(calls_on_two_devices),
        cmocka_unit_test(command_buffers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
