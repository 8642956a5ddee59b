/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of an attribution: their launches' shapes, the calls they came from, their totals. */
#include "unit/analyse/made_run.h"

static void flow(struct made_run *run, enum flow_end end, uint64_t id)
{
    sink_flow(run->made.sink, end, sink_name(run->made.sink, STR("kernel launch")), id);
}

static void call(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                 uint64_t id)
{
    run_slice(run, track, start_ps, dur_ps, "cuLaunchKernel", KIND_HOST);
    flow(run, FLOW_FROM, id);
}

static void kernel(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                   const char *name, const char *details, uint64_t id)
{
    run_slice(run, track, start_ps, dur_ps, name, KIND_COMPUTE);
    if (details != NULL)
        run_text(run, "kernel_details", details);
    if (id != 0)
        flow(run, FLOW_TO, id);
}

#define SHAPE_A                                                                                    \
    "regs:32 static_shared:16 dynamic_shared:49152 grid:128,1,1 block:256,1,1 occ_pct:62.5"
#define SHAPE_B                                                                                    \
    "regs:32 static_shared:16 dynamic_shared:49152 grid:64,1,1 block:256,1,1 occ_pct:62.5"

/*  python    call 1 |10..14|  call 2 |20..22|  call 3 |90..95|
 *  stream    gemm A |12..42|  gemm B |50..60|  add |60..61|  copy |70..80|  gemm A |100..120|    */
static void totals(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id host = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    call(&run, host, 10, 4, 1);
    call(&run, host, 20, 2, 2);
    call(&run, host, 90, 5, 3);
    kernel(&run, stream, 12, 30, "gemm", SHAPE_A, 1);
    kernel(&run, stream, 50, 10, "gemm", SHAPE_B, 2);
    kernel(&run, stream, 60, 1, "add", NULL, 0);
    run_slice(&run, stream, 70, 10, "MemcpyD2H", KIND_COPY);
    kernel(&run, stream, 100, 20, "gemm", SHAPE_A, 3);
    run_finish(&run);

    const struct attribution *of = &run.attribution;

    CHECK_INT("entries", of->entry_count, 5);
    CHECK_INT("kernels: two shapes of one, and add", of->kernel_count, 3);
    CHECK_INT("names", of->kernel_name_count, 2);
    CHECK_INT("a copy is no kernel", of->kernel_of[3], NO_KERNEL);
    CHECK_INT("the same shape again", of->kernel_of[4], of->kernel_of[0]);
    CHECK_INT("grid", of->kernels[0].grid[0], 128);
    CHECK_INT("of the other", of->kernels[1].grid[0], 64);
    CHECK_INT("block", of->kernels[0].block[0], 256);
    CHECK_INT("registers", of->kernels[0].registers, 32);
    CHECK_INT("shared", of->kernels[0].dynamic_shared_bytes, 49152);
    CHECK_INT("occupancy", of->kernels[0].occupancy, 6250);
    CHECK_INT("nothing said", of->kernels[2].registers, NOT_RECORDED);
    CHECK_INT("launch", of->entries[4].launch, 2);
    CHECK_INT("no launch", of->entries[2].launch, NO_SLICE);

    const struct kernel_total *a = &of->kernel_totals[0], *gemm = &of->kernel_by_name[0];

    CHECK_INT("A: count", a->count, 2);
    CHECK_INT("A: total", a->total_ps, 50);
    CHECK_INT("A: longest", a->longest, of->entries[0].slice);
    CHECK_INT("A: no waiting where the call ended later", a->queue_p50_ps, 0);
    CHECK_INT("A: launches after 2 and 10", a->launch_p50_ps, 2);
    CHECK_INT("A: calls of 4 and 5", a->call_p50_ps, 4);
    CHECK_INT("A: idle before the second, none before the first", a->gap_p50_ps, 20);
    CHECK_INT("gemm: count", gemm->count, 3);
    CHECK_INT("gemm: total", gemm->total_ps, 60);
    CHECK_INT("gemm: least", gemm->min_ps, 10);
    CHECK_INT("gemm: middle", gemm->p50_ps, 20);
    CHECK_INT("gemm: queue 0, 28, 5", gemm->queue_p50_ps, 5);
    CHECK_INT("B: one of its name before", of->kernel_totals[1].longest_skip, 1);
    CHECK_INT("add: no call", of->kernel_by_name[1].launch_count, 0);
    run_end(&run);
}

static void shapes(void **state)
{
    (void)state;
    const struct {
        const char *what, *details;
        uint32_t registers, shared, occupancy, grid;
    } rows[] = {
        {"of 2023", "regs:16 shm:128 grid:1,2,3 block:1024,1,1", 16, 128, NOT_RECORDED, 1},
        {"ROCm", " grid:6240,1,1 block:256,1,1 private_mem:0 group_mem:2112 occ_pct:0",
         NOT_RECORDED, 2112, NOT_RECORDED, 6240},
        {"what no machine has",
         "regs:2191500840 static_shared:32462 dynamic_shared:0 grid:5,1,1 block:256,1,1 occ_pct:0",
         NOT_RECORDED, NOT_RECORDED, NOT_RECORDED, 5},
        {"by lines", "regs:8\nstatic_shared:0\ngrid:7,1,1\nocc_pct:100", 8, 0, 10000, 7},
        {"too large for any number", "regs:99999999999999999999 grid:9,1,1", NOT_RECORDED,
         NOT_RECORDED, NOT_RECORDED, 9},
        {"cut", "grid:4,", NOT_RECORDED, NOT_RECORDED, NOT_RECORDED, NOT_RECORDED},
        {"a grid of nothing", "grid:0,1,1", NOT_RECORDED, NOT_RECORDED, NOT_RECORDED, NOT_RECORDED},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
        kernel(&run, stream, 10, 5, "k", rows[i].details, 0);
        run_finish(&run);
        const struct kernel *told = &run.attribution.kernels[0];

        CHECK_INT(rows[i].what, told->registers, rows[i].registers);
        CHECK_INT(rows[i].what, told->static_shared_bytes, rows[i].shared);
        CHECK_INT(rows[i].what, told->occupancy, rows[i].occupancy);
        CHECK_INT(rows[i].what, told->grid[0], rows[i].grid);
        run_end(&run);
    }
}

static void graphs(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    kernel(&run, stream, 0, 5, "alone", SHAPE_A, 0);
    kernel(&run, stream, 10, 5, "node", SHAPE_A, 0);
    run_int(&run, "cuda_graph_id", 3);
    run_int(&run, "cuda_graph_node_id", 17);
    run_slice(&run, stream, 20, 5, "graph 3", KIND_COMPUTE);
    run_int(&run, "cuda_graph_exec_id", 3);
    run_finish(&run);
    CHECK_INT("no graph", run.attribution.entries[0].graph, GRAPH_NONE);
    CHECK_INT("of a graph", run.attribution.entries[1].graph, GRAPH_NODE);
    CHECK_INT("all of a graph", run.attribution.entries[2].graph, GRAPH_WHOLE);
    CHECK_INT("counted", run.attribution.kernel_totals[1].graph_count, 1);
    run_end(&run);
}

/* HIP's kernels are of a graph where hipGraphLaunch launched them: two of one call. */
static void graphs_of_hip(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    for (uint64_t id = 1; id <= 2; id++) {
        run_slice(&run, python, (int64_t)id * 10, 5, id == 1 ? "hipLaunchKernel" : "hipGraphLaunch",
                  KIND_HOST);
        flow(&run, FLOW_FROM, id);
    }
    for (int64_t i = 0; i < 3; i++) {
        run_slice(&run, stream, 50 + 10 * i, 5, "gemm", KIND_COMPUTE);
        flow(&run, FLOW_TO, i == 0 ? 1 : 2);
    }
    run_finish(&run);
    CHECK_INT("launched alone", run.attribution.entries[0].graph, GRAPH_NONE);
    CHECK_INT("first of the graph", run.attribution.entries[1].graph, GRAPH_NODE);
    CHECK_INT("second of it", run.attribution.entries[2].graph, GRAPH_NODE);
    CHECK("one call", run.attribution.entries[1].launch == run.attribution.entries[2].launch);
    CHECK_INT("counted", run.attribution.kernel_totals[0].graph_count, 2);
    run_end(&run);
}

/* A device that shows its modules runs ops, not kernels. */
static void no_kernels(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id modules = run_stream(&run, "XLA Modules", ROLE_MODULES, 0);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    run_slice(&run, modules, 0, 100, "jit_f", KIND_OTHER);
    run_slice(&run, ops, 10, 10, "dot.1", KIND_COMPUTE);
    run_finish(&run);
    CHECK_INT("entries", run.attribution.entry_count, 1);
    CHECK_INT("kernels", run.attribution.kernel_count, 0);
    CHECK("none of them", run.attribution.kernel_of == NULL);
    run_end(&run);
}

/* An op may be two kernels, and one without a name of its op makes no execution of its own. */
static void executions(void **state)
{
    (void)state;
    const struct {
        const char *what, *kernels[8]; /* "kernel op" */
        uint32_t count;
    } rows[] = {
        {"one kernel", {"a op", "a op", "a op"}, 3},
        {"two kernels an op", {"a op", "b op", "a op", "b op"}, 2},
        {"two of the first op, then another",
         {"a op", "b op", "c next", "a op", "b op", "c next"},
         2},
        {"one that lost its op", {"a op", "b op", "c next", "a", "b op", "c next"}, 2},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
        for (int at = 0; at < 8 && rows[i].kernels[at] != NULL; at++) {
            char name[8] = {rows[i].kernels[at][0]};

            kernel(&run, stream, 10 * at, 5, name, NULL, 0);
            if (rows[i].kernels[at][1] == ' ') {
                run_text(&run, "hlo_op", rows[i].kernels[at] + 2);
                run_text(&run, "hlo_module", "jit_f");
            }
        }
        run_finish(&run);
        CHECK_INT(rows[i].what, run.attribution.execution_count, rows[i].count);
        run_end(&run);
    }
}

/* More launches than are kept one by one, of a name that has another shape with few. */
static void many(void **state)
{
    (void)state;
    enum { MANY = 70000, FEW = 100 };
    struct made_run run;

    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 0);
    for (int i = 0; i < MANY + FEW; i++)
        kernel(&run, stream, i * 2000, 1000, "k", i < MANY ? SHAPE_A : SHAPE_B, 0);
    run_finish(&run);
    const struct kernel_total *all = &run.attribution.kernel_by_name[0];

    CHECK_INT("names", run.attribution.kernel_name_count, 1);
    CHECK_INT("count", all->count, MANY + FEW);
    CHECK_INT("total", all->total_ps, (MANY + FEW) * INT64_C(1000));
    CHECK("about 1000", all->p50_ps >= 990 && all->p50_ps <= 1010 && all->approximate == 1);
    CHECK("gaps too", all->gap_p50_ps >= 990 && all->gap_p50_ps <= 1010);
    CHECK_INT("few are exact", run.attribution.kernel_totals[1].p50_ps, 1000);
    CHECK_INT("and say so", run.attribution.kernel_totals[1].approximate, 0);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(totals),        cmocka_unit_test(shapes),     cmocka_unit_test(graphs),
        cmocka_unit_test(graphs_of_hip), cmocka_unit_test(no_kernels), cmocka_unit_test(executions),
        cmocka_unit_test(many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
