/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by the ops of PyTorch that launched them, in traces made as Kineto's are. */
#include "check.h"
#include "unit/analyse/made_run.h"

#include <math.h>

#include "analyse/ops/top.h"

static void thing(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                  const char *name, const char *cat)
{
    struct sink *sink = run->made.sink;
    name_id id = sink_name(sink, str_of(name));
    type_id type = sink_type(sink, id);

    sink_type_arg(sink, type,
                  (struct arg){.key = sink_name(sink, STR("cat")),
                               .type = ARG_STRING,
                               .bits = sink_name(sink, str_of(cat))});
    sink_slice(sink, (struct sink_slice){.track = track,
                                         .start_ps = start_ps,
                                         .dur_ps = dur_ps,
                                         .name = id,
                                         .kind = KIND_HOST,
                                         .type = type});
}

static void arrow(struct made_run *run, enum flow_end end, const char *kind, uint64_t id)
{
    sink_flow(run->made.sink, end, sink_name(run->made.sink, str_of(kind)), id);
}

static void launch(struct made_run *run, track_id thread, int64_t start_ps, uint64_t id)
{
    thing(run, thread, start_ps, 2, "cudaLaunchKernel", "cuda_runtime");
    arrow(run, FLOW_FROM, "kernel launch", id);
}

static void kernel(struct made_run *run, track_id stream, int64_t start_ps, int64_t dur_ps,
                   const char *name, uint64_t id)
{
    run_slice(run, stream, start_ps, dur_ps, name, KIND_COMPUTE);
    arrow(run, FLOW_TO, "kernel launch", id);
}

static void product(struct made_run *run, track_id thread, int64_t start_ps, int64_t dur_ps,
                    const char *dims)
{
    thing(run, thread, start_ps, dur_ps, "aten::mm", "cpu_op");
    run_text(run, "Input Dims", dims);
    run_text(run, "Input type", "[\"float\",\"float\"]");
}

/* A layer and its gradient; the second product is of two kernels, one of them as the first's. */
static void make(struct made_run *run)
{
    run_begin(run);

    track_id thread = run_thread(run, "python"), autograd = run_thread(run, "autograd");
    track_id stream = run_stream(run, "stream 7", ROLE_OPS, 0);

    thing(run, thread, 0, 100, "nn.Module: Net_0", "python_function");
    thing(run, thread, 10, 80, "nn.Module: Linear_0", "python_function");
    product(run, thread, 20, 20, "[[2,3],[3,5]]");
    arrow(run, FLOW_FROM, "fwdbwd", 9);
    launch(run, thread, 25, 1);
    product(run, thread, 50, 30, "[[4,3],[3,5]]");
    launch(run, thread, 55, 2);
    launch(run, thread, 65, 3);
    thing(run, autograd, 200, 50, "autograd::engine::evaluate_function: MmBackward0", "cpu_op");
    arrow(run, FLOW_TO, "fwdbwd", 9);
    product(run, autograd, 210, 20, "[[3,2],[2,5]]");
    launch(run, autograd, 212, 4);
    thing(run, thread, 300, 50, "Optimizer.step#SGD.step", "user_annotation");
    thing(run, thread, 310, 20, "custom::update", "cpu_op");
    launch(run, thread, 312, 5);
    kernel(run, stream, 1000, 10, "gemm", 1);
    kernel(run, stream, 1100, 30, "gemm", 2);
    kernel(run, stream, 1200, 10, "reduce", 3);
    kernel(run, stream, 1300, 10, "gemm", 4);
    kernel(run, stream, 1400, 10, "update", 5);
    thing(run, thread, 400, 10, "aten::clip", "cpu_op");
    launch(run, thread, 402, 6);
    thing(run, thread, 420, 20, "aten::loss", "cpu_op");
    arrow(run, FLOW_FROM, "fwdbwd", 10);
    thing(run, thread, 422, 10, "aten::sub", "cpu_op");
    launch(run, thread, 424, 7);
    thing(run, autograd, 450, 20, "LossBackward0", "cpu_op");
    arrow(run, FLOW_TO, "fwdbwd", 10);
    kernel(run, stream, 1500, 10, "clip", 6);
    kernel(run, stream, 1600, 10, "sub", 7);
    run_slice(run, stream, 1700, 10, "alone", KIND_COMPUTE);
    run_finish(run);
}

static const struct op *op_of(const struct made_run *run, uint32_t entry)
{
    return &run->attribution.ops[run->attribution.entries[entry].op];
}

static struct str text(const struct made_run *run, name_id name)
{
    uint32_t at = name - run->host.trace->name_count;

    if (name < run->host.trace->name_count)
        return trace_name(run->host.trace, name);

    uint32_t from = at == 0 ? 0 : run->attribution.text_ends[at - 1];

    return (struct str){run->attribution.texts + from, run->attribution.text_ends[at] - from};
}

static void callers(void **state)
{
    (void)state;
    const struct {
        const char *what, *caller, *module, *scope;
        enum op_phase phase;
        double flops; /* of a launch; -1 unknown */
        enum cost_rule rule;
    } rows[] = {
        {"a kernel of its own", "aten::mm", "Net_0/Linear_0", "Net_0/Linear_0/aten::mm",
         OP_PHASE_FORWARD, 60, COST_SHAPES},
        {"three quarters of the time", "aten::mm", "Net_0/Linear_0", "Net_0/Linear_0/aten::mm",
         OP_PHASE_FORWARD, 90, COST_SHAPES},
        {"one quarter", "aten::mm", "Net_0/Linear_0", "Net_0/Linear_0/aten::mm", OP_PHASE_FORWARD,
         30, COST_SHAPES},
        {"where its forward op is", "aten::mm", "Net_0/Linear_0", "Net_0/Linear_0/aten::mm",
         OP_PHASE_BACKWARD, 60, COST_SHAPES},
        {"nobody counts it", "custom::update", "", "custom::update", OP_PHASE_OPTIMIZER, -1,
         COST_NO_FORMULA},
        {"no module, no gradient", "aten::clip", "", "aten::clip", OP_PHASE_UNKNOWN, -1,
         COST_NO_FORMULA},
        {"in what has a gradient", "aten::sub", "", "aten::sub", OP_PHASE_FORWARD, -1,
         COST_NO_SHAPES},
        {"no call", "", "", "", OP_PHASE_UNKNOWN, -1, COST_NO_CALLER},
    };
    struct made_run run;

    make(&run);
    CHECK_INT("kernels", run.attribution.entry_count, COUNT(rows));
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        const struct op *op = op_of(&run, i);
        const struct op_cost *cost = &run.attribution.costs[run.attribution.entries[i].op];

        CHECK_STR(rows[i].what, text(&run, op->caller), rows[i].caller);
        CHECK_STR(rows[i].what, text(&run, op->module), rows[i].module);
        CHECK_STR(rows[i].what, text(&run, op->scope), rows[i].scope);
        CHECK_INT(rows[i].what, op->phase, rows[i].phase);
        CHECK_INT(rows[i].what, cost->flops_rule, rows[i].rule);
        CHECK_INT(rows[i].what, isnan(cost->flops) ? -1 : (int64_t)cost->flops, rows[i].flops);
        CHECK_INT(rows[i].what, (cost->flags & COST_DIVIDED) != 0, i == 1 || i == 2);
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(callers)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
