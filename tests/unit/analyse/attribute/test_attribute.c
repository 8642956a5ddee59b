/* SPDX-License-Identifier: Apache-2.0 */
/* Attribution of drawn traces: ops of XLA:CPU, TPUs, GPU kernels and Kineto, each with its
 * program, device and execution. */
#include "analyse/hlo/scope.h"
#include "unit/analyse/made_run.h"

static const char *const instructions[] = {
    "dot.1", "jit(f)/layer_0/dot", "while.5", "jit(f)/while", "copy.2", "", NULL};

static const struct attributed *entry(const struct made_run *run, uint32_t at)
{
    CHECK("there is such an entry", at < run->attribution.entry_count);
    return &run->attribution.entries[at];
}

static const struct op *op_of(const struct made_run *run, uint32_t at)
{
    return &run->attribution.ops[entry(run, at)->op];
}

static struct str text(const struct made_run *run, name_id id)
{
    return trace_name(&run->made.trace, id);
}

/*  pool 1   while.5  |----------------------|        0 .. 100
 *             dot.1    |---|                          10 .. 20
 *  pool 2   dot.1             |---|                   30 .. 40, of the while too
 *           copy.2                          |--|      95 .. 105, sticks out                  */
static void cpu_ops_nest_across_threads(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    track_id one = run_thread(&run, "pool/1"), two = run_thread(&run, "pool/2");
    run_cpu_op(&run, one, 0, 100, "while.5", 7, 1, 0, 0);
    run_cpu_op(&run, one, 10, 10, "dot.1", 7, 1, 0, 0);
    run_cpu_op(&run, two, 30, 10, "dot.1", 7, 1, 0, 0);
    run_cpu_op(&run, two, 95, 10, "copy.2", 7, 1, 0, 0);
    run_slice(&run, two, 200, 5, "not an op", KIND_HOST);
    run_finish(&run);

    CHECK_INT("entries", run.attribution.entry_count, 4);
    CHECK_INT("ops", run.attribution.op_count, 3);
    CHECK_INT("executions", run.attribution.execution_count, 1);
    CHECK_INT("while", entry(&run, 0)->self_ps, 80);
    CHECK_INT("dot", entry(&run, 1)->self_ps, 10);
    CHECK_INT("dot of the other thread", entry(&run, 2)->self_ps, 10);
    CHECK_INT("copy", entry(&run, 3)->self_ps, 10);
    CHECK("first of two", entry(&run, 1)->first && !entry(&run, 2)->first);
    CHECK_STR("scope", text(&run, op_of(&run, 1)->scope), "jit(f)/layer_0/dot");
    CHECK_STR("no scope", text(&run, op_of(&run, 3)->scope), "");
    CHECK_STR("module", text(&run, op_of(&run, 1)->module), "jit_f");
    CHECK_STR("source", text(&run, op_of(&run, 1)->source), "model.py:41");
    CHECK_STR("category", text(&run, op_of(&run, 1)->category), "loop fusion");
    CHECK_INT("execution begins", run.attribution.executions[0].start_ps, 0);
    CHECK_INT("execution ends", run.attribution.executions[0].end_ps, 105);
    CHECK("no entry of what is no op", attribution_find(&run.attribution, 4) == NO_ENTRY);
    run_end(&run);
}

/* The launch is short; the op lasts until its partner's end, wherever and whenever that is told. */
static void partners(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id one = run_thread(&run, "pool/1"), two = run_thread(&run, "pool/2");
    run_cpu_end(&run, two, 90, 10, "end: early", 1);
    run_cpu_op(&run, one, 10, 5, "early", 7, 1, 0, 1);
    run_cpu_op(&run, one, 20, 30, "whole", 7, 1, 0, 2);
    run_cpu_end(&run, one, 49, 1, "end: whole", 2);
    run_cpu_op(&run, one, 60, 1, "alone", 7, 1, 0, 3);
    run_cpu_end(&run, one, 70, 1, "end: nobody", 4);
    run_finish(&run);

    CHECK_INT("partners are no ops", run.attribution.entry_count, 3);
    CHECK_INT("up to the end elsewhere", entry(&run, 0)->dur_ps, 90);
    CHECK_INT("an end inside changes nothing", entry(&run, 1)->dur_ps, 30);
    CHECK_INT("no partner", entry(&run, 2)->dur_ps, 1);
    CHECK_INT("self less what it holds", entry(&run, 0)->self_ps, 90 - 30 - 1);
    run_end(&run);
}

static void devices_and_executions(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id one = run_thread(&run, "pool/1"), two = run_thread(&run, "pool/2");
    run_cpu_op(&run, one, 0, 10, "a", 7, 1, 0, 0);
    run_cpu_op(&run, two, 2, 4, "a", 7, 1, INT32_MAX, 0); /* any number may stand there */
    run_cpu_op(&run, one, 20, 10, "a", 7, -5, 0, 0);
    run_cpu_op(&run, one, 40, 10, "a", 8, -5, 0, 0);
    run_cpu_op(&run, one, 60, 10, "a", 7, 1, 1LL << 40, 0); /* no ordinal */
    run_finish(&run);

    CHECK_INT("executions", run.attribution.execution_count, 4);
    CHECK_INT("devices do not nest", entry(&run, 0)->self_ps, 10);
    CHECK_INT("the other device", entry(&run, 4)->device, INT32_MAX);
    CHECK("another run", entry(&run, 0)->execution != entry(&run, 1)->execution);
    CHECK("another program", entry(&run, 1)->execution != entry(&run, 2)->execution);
    CHECK_INT("no ordinal is the first", entry(&run, 3)->device, 0);
    CHECK_INT("by device, then time", run.attribution.by_device_time[4], 4);
    run_end(&run);
}

static void kernel(struct made_run *run, track_id track, int64_t start_ps, const char *name,
                   const char *hlo_op)
{
    run_slice(run, track, start_ps, 5, name, KIND_COMPUTE);
    if (hlo_op != NULL) {
        run_text(run, "hlo_op", hlo_op);
        run_text(run, "hlo_module", "jit_f");
        run_int(run, "program_id", 7);
    }
}

static void gpu_kernels(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    track_id host = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 3);
    run_slice(&run, host, 0, 1, "cuLaunchKernel", KIND_HOST);
    run_text(&run, "hlo_op", "dot.1");
    kernel(&run, stream, 10, "gemm", "while.5::dot.1");
    kernel(&run, stream, 20, "gemm_part_2", "while.5::dot.1");
    kernel(&run, stream, 30, "copy_kernel", "copy.2");
    kernel(&run, stream, 40, "memcpy", NULL);
    kernel(&run, stream, 50, "gemm", "while.5::dot.1");
    run_finish(&run);

    CHECK_INT("the launch is no op", run.attribution.entry_count, 5);
    CHECK_STR("the last of the list", text(&run, op_of(&run, 0)->name), "dot.1");
    CHECK_STR("its scope", text(&run, op_of(&run, 0)->scope), "jit(f)/layer_0/dot");
    CHECK("two kernels of one op", entry(&run, 0)->op == entry(&run, 1)->op);
    CHECK_STR("by its own name", text(&run, op_of(&run, 3)->name), "memcpy");
    CHECK_INT("of no execution", entry(&run, 3)->execution, NO_EXECUTION);
    CHECK_INT("device", entry(&run, 0)->device, 3);
    /* Without run ids the first op tells: it is two kernels, and comes again once. */
    CHECK_INT("executions", run.attribution.execution_count, 2);
    CHECK_INT("both kernels are of one", entry(&run, 1)->execution, entry(&run, 0)->execution);
    run_end(&run);
}

/* TensorFlow names the op in the outermost level of a kernel's annotation; XLA's ops win. */
static void tensorflow_ops(void **state)
{
    (void)state;
    const struct {
        const char *level, *op, *scope;
    } rows[] = {
        {"tower/conv2d_1/Conv2D:Conv2D", "tower/conv2d_1/Conv2D:Conv2D", "tower/conv2d_1/Conv2D"},
        {"tower/conv2d_2/Conv2D:Conv2D", "tower/conv2d_2/Conv2D:Conv2D", "tower/conv2d_2/Conv2D"},
        {"Cast:Cast", "Cast:Cast", ""},
        {"a range of the program", "gemm", ""},
        {"lane::Conv2D", "gemm", ""},
        {"train.py:41", "gemm", ""},
        {"ends:", "gemm", ""},
        {":Conv2D", "gemm", ""},
        {"", "gemm", ""},
    };
    struct made_run run;

    run_begin(&run);
    track_id stream = run_stream(&run, "Stream #13", ROLE_OPS, 0);
    track_id host = run_thread(&run, "python");
    run_slice(&run, host, 0, 1, "Conv2D", KIND_HOST);
    for (size_t i = 0; i < COUNT(rows); i++) {
        kernel(&run, stream, 10 * (int64_t)(i + 1), "gemm", NULL);
        run_text(&run, "level 0", rows[i].level);
    }
    kernel(&run, stream, 900, "gemm", "dot.1");
    run_text(&run, "level 0", "tower/conv2d_1/Conv2D:Conv2D");
    run_finish(&run);

    for (uint32_t i = 0; i < COUNT(rows); i++) {
        const struct op *op = op_of(&run, i);
        struct str scope = scope_of_op(&run.made.trace, op);

        CHECK_STR(rows[i].level, text(&run, op->name), rows[i].op);
        CHECK_STR(rows[i].level, scope, rows[i].scope);
    }
    CHECK_STR("its type", text(&run, op_of(&run, 0)->category), "Conv2D");
    CHECK_INT("a type that is no name here", op_of(&run, 2)->category, 0);
    CHECK_STR("XLA's op", text(&run, op_of(&run, COUNT(rows))->name), "dot.1");
    run_end(&run);
}

/* Without HLO in the file: the line of modules names the program, whose ops say its number. */
static void modules_by_number(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id modules = run_stream(&run, "XLA Modules", ROLE_MODULES, 0);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    run_slice(&run, modules, 0, 100, "jit_f(12190760917235)", KIND_OTHER);
    run_slice(&run, ops, 10, 5, "copy-done", KIND_COPY);
    run_int(&run, "program_id", 12190760917235);
    run_slice(&run, ops, 20, 5, "add", KIND_COMPUTE);
    run_int(&run, "program_id", 219);
    run_slice(&run, modules, 200, 1, "file.py(219)", KIND_OTHER);
    run_finish(&run);
    CHECK_STR("its module", text(&run, op_of(&run, 0)->module), "jit_f(12190760917235)");
    CHECK_INT("a line is no number of a module", op_of(&run, 1)->module, 0);
    run_end(&run);
}

/* A fill of one element before a product does not make it a copy. */
static void kinds_by_time(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 3);
    run_slice(&run, stream, 10, 1, "memset", KIND_COPY);
    run_text(&run, "hlo_op", "dot.1");
    run_text(&run, "hlo_module", "jit_f");
    run_int(&run, "program_id", 7);
    kernel(&run, stream, 20, "gemm", "dot.1");
    run_slice(&run, stream, 30, 4, "memcpy", KIND_COPY);
    run_text(&run, "hlo_op", "copy.2");
    run_int(&run, "program_id", 7);
    run_finish(&run);

    CHECK_INT("most of its time", op_of(&run, 1)->kind, KIND_COMPUTE);
    CHECK("one op", entry(&run, 0)->op == entry(&run, 1)->op);
    CHECK_INT("a copy", op_of(&run, 2)->kind, KIND_COPY);
    run_end(&run);
}

static void kineto_marks(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    struct sink *sink = run.made.sink;
    track_id stream = run_stream(&run, "stream 7", ROLE_OPS, 0);
    name_id name = sink_name(sink, STR("ProfilerStep#1"));
    type_id mark = sink_type(sink, name);
    sink_type_arg(sink, mark,
                  (struct arg){.key = sink_name(sink, STR("cat")),
                               .type = ARG_STRING,
                               .bits = sink_name(sink, STR("gpu_user_annotation"))});
    sink_slice(sink,
               (struct sink_slice){
                   .track = stream, .dur_ps = 100, .name = name, .kind = KIND_OTHER, .type = mark});
    kernel(&run, stream, 10, "gemm", NULL);
    run_finish(&run);
    CHECK_INT("the kernel alone", run.attribution.entry_count, 1);
    CHECK_STR("it", text(&run, op_of(&run, 0)->name), "gemm");
    run_end(&run);
}

static void tpu_op(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                   int64_t device_start_ps, int64_t device_dur_ps)
{
    run_slice(run, track, start_ps, dur_ps, "dot.1", KIND_COMPUTE);
    run_int(run, "program_id", 7);
    run_int(run, "device_offset_ps", device_start_ps);
    run_int(run, "device_duration_ps", device_dur_ps);
}

static void tpu_clock_and_modules(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_f", 99, instructions);
    track_id modules = run_stream(&run, "XLA Modules", ROLE_MODULES, 0);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    track_id later = run_stream(&run, "Async XLA Ops", ROLE_ASYNC_OPS, 0);
    run_slice(&run, modules, 1000, 100, "jit_f", KIND_OTHER);
    run_slice(&run, modules, 2000, 100, "jit_f", KIND_OTHER);
    tpu_op(&run, ops, 1001, 50, 501, 49);
    tpu_op(&run, ops, 1051, 49, 552, 47);
    tpu_op(&run, ops, 2001, 50, 1501, 49);
    tpu_op(&run, ops, 5000, 50, 4500, 50);
    run_slice(&run, later, 1001, 99, "dot.1", KIND_COMPUTE);
    run_finish(&run);

    CHECK_INT("no asynchronous ones, no modules", run.attribution.entry_count, 4);
    CHECK_INT("the device's length", entry(&run, 0)->dur_ps, 49);
    CHECK_INT("at the file's place", entry(&run, 0)->start_ps, 1001);
    CHECK_INT("the device's distance", entry(&run, 1)->start_ps, 1052);
    CHECK_INT("executions", run.attribution.execution_count, 2);
    CHECK("one module", entry(&run, 0)->execution == entry(&run, 1)->execution);
    CHECK("first and second", entry(&run, 0)->first && !entry(&run, 1)->first);
    CHECK_INT("outside of modules", entry(&run, 3)->execution, NO_EXECUTION);
    CHECK_STR("module", text(&run, op_of(&run, 0)->module), "jit_f");
    run_end(&run);
}

/* Places in a TPU's op are no ops, and take nothing from it; a kernel may be called anything. */
static void places_in_ops(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    track_id stream = run_stream(&run, "Stream #7", ROLE_NONE, 1);

    run_slice(&run, run_stream(&run, "XLA Modules", ROLE_MODULES, 0), 0, 100, "jit_f", KIND_OTHER);
    run_slice(&run, ops, 0, 100, "fusion.1", KIND_COMPUTE);
    run_slice(&run, ops, 10, 20, "bundle.12", KIND_OTHER);
    run_slice(&run, ops, 40, 20, "bundle.x", KIND_COMPUTE);
    run_slice(&run, stream, 0, 10, "bundle.12", KIND_COMPUTE);
    run_text(&run, "kernel_details", "grid:24,1,1 block:512,1,1");
    run_finish(&run);
    CHECK_INT("an op, one in it, a kernel", run.attribution.entry_count, 3);
    CHECK_INT("less what is an op in it", entry(&run, 0)->self_ps, 80);
    run_end(&run);
}

static void nothing(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_slice(&run, run_thread(&run, "python"), 0, 10, "a", KIND_HOST);
    run_finish(&run);
    CHECK_INT("no ops", run.attribution.op_count, 0);
    CHECK_INT("no entries", run.attribution.entry_count, 0);
    run_end(&run);

    run_begin(&run);
    run_finish(&run);
    CHECK_INT("no slices", run.attribution.entry_count, 0);
    run_end(&run);
}

/* Many blocks of args, ops of two interleaved devices: the order is by device and time. */
static void many(void **state)
{
    (void)state;
    enum { OPS = 40000 };
    struct made_run run;

    run_begin(&run);
    track_id one = run_thread(&run, "pool/1"), two = run_thread(&run, "pool/2");
    for (int64_t i = 0; i < OPS; i++)
        run_cpu_op(&run, i % 3 == 0 ? one : two, i * 10, 7, i % 2 == 0 ? "a" : "b", 7, i / 100,
                   i % 2, 0);
    run_finish(&run);

    CHECK_INT("all", run.attribution.entry_count, OPS);
    CHECK_INT("executions", run.attribution.execution_count, OPS / 100 * 2);
    for (uint32_t i = 1; i < OPS; i++) {
        const struct attributed *a = entry(&run, run.attribution.by_device_time[i - 1]);
        const struct attributed *b = entry(&run, run.attribution.by_device_time[i]);

        if (a->device > b->device || (a->device == b->device && a->start_ps >= b->start_ps))
            CHECK_INT("in order", i, -1);
        if (i > 0 && entry(&run, i)->slice <= entry(&run, i - 1)->slice)
            CHECK_INT("by slice", i, -1);
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_ops_nest_across_threads),
        cmocka_unit_test(partners),
        cmocka_unit_test(devices_and_executions),
        cmocka_unit_test(gpu_kernels),
        cmocka_unit_test(tensorflow_ops),
        cmocka_unit_test(modules_by_number),
        cmocka_unit_test(kinds_by_time),
        cmocka_unit_test(kineto_marks),
        cmocka_unit_test(tpu_clock_and_modules),
        cmocka_unit_test(places_in_ops),
        cmocka_unit_test(nothing),
        cmocka_unit_test(many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
