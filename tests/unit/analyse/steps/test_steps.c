/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of steps on drawn traces, the breakdown of steps, warm-up, outliers; sums at random. */
#include "unit/analyse/made_run.h"

#include "analyse/steps/steps.h"

static struct steps find(const struct made_run *run, const struct restriction *restriction)
{
    static const struct restriction nothing;
    struct error err = {0};
    struct steps steps;

    CHECK_OK("find",
             steps_find(&run->run, restriction != NULL ? restriction : &nothing, run->made.arena,
                        &steps, &err),
             &err);
    steps_breakdown(&run->run, &steps);
    return steps;
}

struct kept_lanes { /* of the last step */
    uint32_t count;
    struct device_time lanes[8];
};

static void keep_lanes(void *data, const struct step *step, const struct host_devices *devices,
                       const struct device_time *lanes)
{
    struct kept_lanes *kept = data;

    (void)step;
    kept->count = host_lane_count(devices);
    memcpy(kept->lanes, lanes, kept->count * sizeof(*lanes));
}

static struct kept_lanes lanes_of(const struct made_run *run, struct steps *steps)
{
    struct kept_lanes kept = {0};

    steps_walk(&run->run, steps, keep_lanes, &kept);
    return kept;
}

static void check_sums(const char *what, const struct steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        int64_t sum_ps = 0;

        for (int kind = 0; kind <= KIND_COUNT; kind++) {
            sum_ps += steps->items[i].time.kinds_ps[kind];
            CHECK(what, steps->items[i].time.kinds_ps[kind] >= 0);
        }
        CHECK_INT(what, sum_ps, steps->items[i].dur_ps);
    }
}

static void annotated(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                      int64_t number)
{
    run_slice(run, track, start_ps, dur_ps, "train", KIND_HOST);
    run_int(run, "_r", 1);
    if (number >= 0)
        run_int(run, "step_num", number);
}

/*  python  train |----------------------------|  100 .. 200
 *            input |----|      host |-----|        110 .. 130, 150 .. 190
 *                                compile |-|       160 .. 170, in the host's
 *  pool  0     dot |-------|                       120 .. 145
 *        1    copy      |-----|                    140 .. 155
 *
 * Each device by itself; what is said of both is their mean. */
static void breakdown(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    annotated(&run, python, 100, 100, 36);
    run_slice(&run, python, 110, 20, "next", KIND_INPUT);
    run_slice(&run, python, 150, 40, "frame", KIND_HOST);
    run_slice(&run, python, 160, 10, "compile", KIND_COMPILE);
    run_cpu_op(&run, pool, 120, 25, "dot", 7, 1, 0, 0);
    run_slice(&run, pool, 140, 15, "copy", KIND_COPY);
    run_text(&run, "hlo_op", "copy");
    run_text(&run, "hlo_module", "jit_f");
    run_int(&run, "device_ordinal", 1);
    run_finish(&run);

    struct steps steps = find(&run, NULL);
    struct kept_lanes kept = lanes_of(&run, &steps);
    const struct {
        const char *what;
        enum kind kind;
        int64_t first, second, mean;
    } rows[] = {
        {"compute", KIND_COMPUTE, 25, 0, 12},
        {"copy, also under the other's compute", KIND_COPY, 0, 15, 8},
        {"input before the ops", KIND_INPUT, 10, 20, 15},
        {"compile inside the host's", KIND_COMPILE, 10, 10, 10},
        {"host without it", KIND_HOST, 30, 25, 27},
        {"idle", KIND_IDLE, 25, 30, 28},
    };

    CHECK_INT("rule", steps.rule, STEP_ANNOTATION);
    CHECK_INT("sure", steps.confidence, TRUST_HIGH);
    CHECK_INT("one", steps.count, 1);
    CHECK_INT("number", steps.items[0].number, 36);
    CHECK("the file said it", steps.items[0].numbered);
    CHECK_STR("name", steps.items[0].name, "train");
    CHECK_INT("both count", kept.count, 2);
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].what, kept.lanes[0].kinds_ps[rows[i].kind], rows[i].first);
        CHECK_INT(rows[i].what, kept.lanes[1].kinds_ps[rows[i].kind], rows[i].second);
        CHECK_INT(rows[i].what, steps.items[0].time.kinds_ps[rows[i].kind], rows[i].mean);
    }
    check_sums("sum", &steps);
    run_end(&run);
}

/* PyTorch's marks may lie on a line that holds nothing else: another thread tells what was done. */
static void marks_apart(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id marks = run_thread(&run, "marks"), worker = run_thread(&run, "worker");
    run_slice(&run, marks, 0, 100, "ProfilerStep#1", KIND_HOST);
    run_slice(&run, marks, 200, 100, "ProfilerStep#2", KIND_HOST);
    run_slice(&run, worker, 0, 350, "aten::mm", KIND_HOST);
    run_slice(&run, worker, 20, 30, "load", KIND_INPUT);
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("without a device it computes", steps.items[0].time.kinds_ps[KIND_COMPUTE], 70);
    CHECK_INT("input", steps.items[0].time.kinds_ps[KIND_INPUT], 30);
    run_end(&run);
}

/* PyTorch's last mark begins where its profiler is stopped. */
static void stub(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t last_ps;
        uint32_t count;
    } rows[] = {{"a stub", 4, 2}, {"a short step", 5, 3}, {"a long one", 200, 3}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id marks = run_thread(&run, "marks");
        run_slice(&run, marks, 0, 120, "ProfilerStep#1", KIND_HOST);
        run_slice(&run, marks, 120, 100, "ProfilerStep#2", KIND_HOST);
        run_slice(&run, marks, 220, rows[i].last_ps, "ProfilerStep#3", KIND_HOST);
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[i].what, steps.count, rows[i].count);
        CHECK_STR(rows[i].what, steps.rule_text,
                  "step annotations \"ProfilerStep\" of the program");
        run_end(&run);
    }
}

static void numbers_and_nesting(void **state)
{
    (void)state;
    struct made_run run;
    static const int64_t range[] = {7, 9};

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    annotated(&run, python, 0, 10, 7);
    annotated(&run, python, 20, 20, -1);
    annotated(&run, python, 25, 5, 99); /* inside the one before */
    annotated(&run, python, 50, 10, 9);
    run_slice(&run, python, 70, 10, "train", KIND_HOST); /* no mark */
    run_slice(&run, python, 90, 10, "train", KIND_HOST);
    run_int(&run, "_r", 2);
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("three", steps.count, 3);
    CHECK_INT("by ordinal", steps.items[1].number, 1);
    CHECK("not said", !steps.items[1].numbered);
    steps = find(&run, &(struct restriction){.steps = range, .step_range_count = 1});
    CHECK_INT("by number", steps.count, 2);
    steps = find(&run, &(struct restriction){.has_window = true, .start_ps = 45, .end_ps = 1000});
    CHECK_INT("by window", steps.count, 1);
    steps = find(&run, &(struct restriction){.hosts = &STR("hostB"), .host_count = 1});
    CHECK_INT("by host", steps.count, 0);
    run_end(&run);
}

/* Each that warms up is compared with all behind it: of very many only the first few can. */
static void many_slow_steps(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    for (int i = 0; i < STEPS; i++)
        annotated(&run, python, 100 * i, i < STEPS / 2 - 10 ? 90 : 10, i);
    run_finish(&run);

    struct steps steps = find(&run, &(struct restriction){0});

    CHECK_INT("all", steps.count, STEPS);
    CHECK_INT("not half of them", steps.warmup_count, 256);
    run_end(&run);
}

static void warmup_and_outliers(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t durs_ps[8];
        int compiles; /* the step that does; -1 none; 10 * N all before step N */
        const char *marks;
    } rows[] = {
        {"all alike", {10, 10, 10, 10}, -1, "...."},
        {"a slow first", {50, 10, 10, 10}, -1, "w..."},
        {"two and a half times", {25, 10, 10, 10}, -1, "w..."},
        {"two slow first", {90, 50, 10, 10, 10}, -1, "ww..."},
        {"half of them stay", {35, 26, 3, 45, 1}, -1, "ww.o."},
        {"not slow enough", {19, 10, 10, 10}, -1, "o..."},
        {"a first that compiles", {11, 10, 10, 10}, 0, "w..."},
        {"a later one that compiles is none", {10, 10, 50, 10}, 2, "..o."},
        {"an outlier", {10, 10, 10, 16}, -1, "...o"},
        {"one step is never left out", {50}, 0, "."},
        {"half of them compile", {90, 40, 30, 10, 10, 10}, 30, "www..."},
        {"five of six compile", {90, 11, 10, 12, 11, 10}, 50, "w....."},
        {"of two too few to tell", {10, 40}, -1, ".."},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        char marks[9] = {0};
        int64_t at_ps = 0;

        run_begin(&run);
        track_id python = run_thread(&run, "python"), other = run_thread(&run, "compiler");
        for (int j = 0; j < 8 && rows[i].durs_ps[j] > 0; j++) {
            annotated(&run, python, at_ps, rows[i].durs_ps[j], j);
            if (j == rows[i].compiles || (rows[i].compiles >= 10 && j < rows[i].compiles / 10))
                run_slice(&run, other, at_ps + 1, 2, "compile", KIND_COMPILE);
            at_ps += 100;
        }
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        for (uint32_t j = 0; j < steps.count; j++)
            marks[j] = steps.items[j].warmup ? 'w' : steps.items[j].outlier ? 'o' : '.';
        CHECK_STR(rows[i].what, str_of(marks), rows[i].marks);
        run_end(&run);
    }
}

static const char *const instructions[] = {"dot.1", "jit(f)/dot", NULL};

static void by_executions(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    run_program(&run, 7, "jit_step", 99, instructions);
    run_program(&run, 8, "jit_small", 98, instructions);
    track_id pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 4; i++) {
        run_cpu_op(&run, pool, i * 100, 60, "dot.1", 7, i, 0, 0);
        run_cpu_op(&run, pool, i * 100 + 70, 5, "dot.1", 8, i, 0, 0);
    }
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("rule", steps.rule, STEP_MODULE);
    CHECK_INT("four", steps.count, 4);
    CHECK_STR("the dominant one", steps.items[0].name, "jit_step");
    CHECK_INT("up to the next", steps.items[0].dur_ps, 100);
    CHECK_INT("the last to its end", steps.items[3].dur_ps, 60);
    CHECK_INT("compute of both", steps.items[0].time.kinds_ps[KIND_COMPUTE], 65);
    CHECK_INT("idle", steps.items[0].time.kinds_ps[KIND_IDLE], 35);
    check_sums("sum", &steps);
    run_end(&run);
}

/* Executions between which other programs run by turns: one of them is a step, or two are; which,
 * nothing tells. An occasional one, as each third step's, is no doubt. */
static void by_executions_unlike(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int each; /* so many executions, one of the other program */
        enum step_rule rule;
    } rows[] = {
        {"in all", 1, STEP_MODULE}, {"by turns", 2, STEP_NONE}, {"in each third", 3, STEP_MODULE}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run run;

        run_begin(&run);
        run_program(&run, 7, "jit_step", 99, instructions);
        run_program(&run, 8, "jit_small", 98, instructions);
        track_id pool = run_thread(&run, "pool");
        for (int64_t i = 0; i < 13; i++) {
            run_cpu_op(&run, pool, i * 100, 60, "dot.1", 7, i, 0, 0);
            if (i % rows[row].each == 0)
                run_cpu_op(&run, pool, i * 100 + 70, 5, "dot.1", 8, i, 0, 0);
        }
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[row].what, steps.rule, rows[row].rule);
        CHECK_INT(rows[row].what, str_contains(steps.rule_text, STR("other programs run between")),
                  rows[row].rule == STEP_NONE);
        run_end(&run);
    }
}

/* Behind each fourth execution another program runs: one that gives back what it takes may be the
 * update for which the others only add up gradients. */
static void by_executions_of_parts(void **state)
{
    (void)state;
    const struct {
        const char *what;
        struct bytes other;
        enum step_rule rule;
    } rows[] = {{"it gives one number", HLO_PROTO("\x01"), STEP_MODULE},
                {"it gives what it takes", HLO_PROTO("\x40"), STEP_NONE}};

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run run;

        run_begin(&run);
        struct sink *sink = run.made.sink;

        sink_program(sink, 7, sink_name(sink, STR("jit_grad")), 99, HLO_PROTO("\x40"));
        sink_program(sink, 8, sink_name(sink, STR("jit_other")), 98, rows[row].other);
        track_id pool = run_thread(&run, "pool");
        for (int64_t i = 0; i < 25; i++) {
            run_cpu_op(&run, pool, i * 100, 60, "dot.1", 7, i, 0, 0);
            if (i % 4 == 3)
                run_cpu_op(&run, pool, i * 100 + 70, 5, "dot.1", 8, i, 0, 0);
        }
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[row].what, steps.rule, rows[row].rule);
        CHECK_INT(rows[row].what,
                  str_contains(steps.rule_text, STR("jit_other gives back what it takes")),
                  rows[row].rule == STEP_NONE);
        run_end(&run);
    }
}

static void on_lines(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id first = run_stream(&run, "Steps", ROLE_STEPS, 0);
    track_id second = run_stream(&run, "Steps", ROLE_STEPS, 1);
    for (int64_t i = 0; i < 3; i++) {
        char name[2] = {(char)('4' + i), 0};

        run_slice(&run, first, i * 100, 60, name, KIND_OTHER);
        run_slice(&run, second, i * 100 + 5, 60, name, KIND_OTHER);
    }
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("rule", steps.rule, STEP_LINE);
    CHECK_INT("of both devices one", steps.count, 3);
    CHECK_INT("number", steps.items[2].number, 6);
    CHECK_INT("hull", steps.items[0].dur_ps, 65);
    check_sums("sum", &steps);
    run_end(&run);
}

/* Devices of workers that do not wait for each other: each one's idle time is that within its own
 * steps, 28 of 100; over what both take it would be 60 and more. */
static void lines_apart(void **state)
{
    (void)state;
    struct made_run run;
    const int64_t delays[] = {0, 80};

    run_begin(&run);
    for (int device = 0; device < 2; device++) {
        track_id line = sink_track(run.made.sink, (struct sink_track){.parent = NO_TRACK,
                                                                      .kind = TRACK_STREAM,
                                                                      .role = ROLE_STEPS,
                                                                      .name = STR("Steps"),
                                                                      .device = device,
                                                                      .derived = true});
        track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, device);

        for (int64_t i = 0; i < 3; i++) {
            char name[2] = {(char)('4' + i), 0};

            run_slice(&run, line, delays[device] + i * 100, 100, name, KIND_OTHER);
            run_slice(&run, ops, delays[device] + i * 100 + 10, 72, "dot.1", KIND_COMPUTE);
        }
    }
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("rule", steps.rule, STEP_LINE);
    CHECK_INT("each device's own", steps.count, 6);
    for (uint32_t i = 0; i < steps.count; i++) {
        CHECK_INT("as long as its line says", steps.items[i].dur_ps, 100);
        CHECK_INT("idle", steps.items[i].time.kinds_ps[KIND_IDLE], 28);
    }
    CHECK_INT("the last number", steps.items[5].number, 6);
    for (uint32_t i = 0; i < run.attribution.entry_count; i++)
        CHECK_INT("whose work", steps.items[steps.owners[0][i]].device,
                  run.attribution.entries[i].device);
    run_end(&run);
}

/* A device that ran the program once, before all others, tells no steps of theirs. */
static void by_executions_of_most(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    for (int device = 0; device < 2; device++) {
        track_id modules = run_stream(&run, "XLA Modules", ROLE_MODULES, device);
        track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, device);

        for (int64_t i = 0; i < (device == 0 ? 1 : 5); i++) {
            int64_t at_ps = device == 0 ? 0 : 100 + 100 * i;

            run_slice(&run, modules, at_ps, 60, "jit_step", KIND_COMPUTE);
            run_slice(&run, ops, at_ps, 60, "dot.1", KIND_COMPUTE);
        }
    }
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("rule", steps.rule, STEP_MODULE);
    CHECK_INT("five", steps.count, 5);
    for (uint32_t i = 0; i + 1 < steps.count; i++)
        CHECK_INT("up to the next", steps.items[i].dur_ps, 100);
    CHECK("the last has none that ends it", steps.items[4].cut);
    run_end(&run);
}

/* A line that a tool derived tells steps where nothing else does. */
static void on_derived_lines(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id line = sink_track(run.made.sink, (struct sink_track){.parent = NO_TRACK,
                                                                  .kind = TRACK_STREAM,
                                                                  .role = ROLE_STEPS,
                                                                  .name = STR("Steps"),
                                                                  .derived = true});
    run_slice(&run, line, 10, 80, "0", KIND_OTHER);
    run_slice(&run, run_thread(&run, "main"), 0, 100, "train_function", KIND_HOST);
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("rule", steps.rule, STEP_LINE);
    CHECK_INT("one", steps.count, 1);
    CHECK_INT("number", steps.items[0].number, 0);
    CHECK_INT("as long", steps.items[0].dur_ps, 80);
    run_end(&run);
}

/* Programs in files of their own: the trace knows the names of its modules. */
static void by_module_names(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id modules = run_stream(&run, "XLA Modules", ROLE_MODULES, 0);
    track_id ops = run_stream(&run, "XLA Ops", ROLE_OPS, 0);
    run_slice(&run, modules, 0, 500, "jit_init", KIND_COMPUTE); /* once: longer, and no step */
    for (int64_t i = 0; i < 3; i++) {
        const char *name = i == 0 ? "jit_init" : "jit_step";

        if (i > 0)
            run_slice(&run, modules, 500 + i * 110, 70, name, KIND_COMPUTE); /* by another clock */
        run_slice(&run, ops, i == 0 ? 10 : 500 + i * 100, 60, "dot.1", KIND_COMPUTE);
        run_text(&run, "hlo_op", "dot.1");
        run_text(&run, "hlo_module", name);
    }
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("rule", steps.rule, STEP_MODULE);
    CHECK_INT("two", steps.count, 2);
    CHECK_STR("name", steps.items[0].name, "jit_step");
    CHECK_INT("up to the next", steps.items[0].dur_ps, 100);
    CHECK_INT("the last to its end", steps.items[1].dur_ps, 60);
    run_end(&run);
}

/* What others noted of a thread repeats, and is no step of the program. */
static void lanes_below_a_thread(void **state)
{
    (void)state;
    const struct {
        const char *lane;
        enum step_rule rule;
    } rows[] = {
        {"NVTX", STEP_REPEATED}, {"CPU", STEP_NONE},           {"OS runtime", STEP_NONE},
        {"CUDA API", STEP_NONE}, {"NVTX NCCL", STEP_REPEATED},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id lane = made_track(&run.made, rows[i].lane, run_thread(&run, "main"), TRACK_THREAD,
                                   ROLE_HOST, false);
        for (int j = 0; j < 5; j++)
            run_slice(&run, lane, j * 100, 80, "CPU 8", KIND_HOST);
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[i].lane, steps.rule, rows[i].rule);
        run_end(&run);
    }
}

/* Turns of a loop of PyTorch: `loads` of data, then an update of each optimizer, `insides` slices
 * each, and `more` of them each turn. */
struct loop {
    const char *optimizers[2];
    int turns, loads, insides[2], more;
};

static void run_loop(struct made_run *run, const struct loop *loop)
{
    track_id python = run_thread(run, "thread 7 (python)");

    for (int turn = 0; turn < loop->turns; turn++) {
        int64_t at_ps = 1000 * turn;

        for (int i = 0; i < loop->loads; i++)
            run_slice(run, python, at_ps + 40 * i, 20,
                      "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", KIND_INPUT);
        for (int i = 0; i < 2 && loop->optimizers[i] != NULL; i++) {
            int count = loop->insides[i] + loop->more * turn;

            run_slice(run, python, at_ps + 500 + 200 * i, 100, loop->optimizers[i], KIND_HOST);
            for (int at = 0; at < count; at++)
                run_slice(run, python, at_ps + 510 + 200 * i + 4 * at, 2, "aten::add_",
                          KIND_COMPUTE);
        }
    }
}

/* An optimizer that tries more often at first, as LBFGS does: that is no warm-up where it is more
 * than a quarter of its updates. */
static void updates_that_settle(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int slow; /* of nine, the first ones */
        uint32_t warm;
    } rows[] = {{"none", 0, 0}, {"two", 2, 2}, {"four", 4, 0}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "thread 7 (python)");
        int64_t at_ps = 0;

        for (int turn = 0; turn < 10; turn++) {
            run_slice(&run, python, at_ps, 500, "Optimizer.step#LBFGS.step", KIND_HOST);
            run_slice(&run, python, at_ps + 100, 200, "aten::mm", KIND_COMPUTE);
            at_ps += turn < rows[i].slow ? 5000 : 1000;
        }
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[i].what, steps.count, 9);
        CHECK_INT(rows[i].what, steps.warmup_count, rows[i].warm);
        run_end(&run);
    }
}

static void by_updates(void **state)
{
    (void)state;
    static const char adam[] = "Optimizer.step#Adam.step", sgd[] = "Optimizer.step#SGD.step";
    const struct {
        const char *what;
        struct loop loop;
        enum step_rule rule;
        enum step_trust trust;
        uint32_t count;
        int64_t dur_ps;
    } rows[] = {
        {"nothing else tells", {{adam}, 5, 0, {4}, 0}, STEP_OPTIMIZER, TRUST_LOW, 4, 1000},
        {"a load a turn", {{adam}, 5, 1, {4}, 0}, STEP_OPTIMIZER, TRUST_MEDIUM, 4, 1000},
        {"gradients are summed", {{adam}, 5, 3, {4}, 0}, STEP_OPTIMIZER, TRUST_MEDIUM, 4, 1000},
        {"each does other things", {{adam}, 5, 0, {4}, 3}, STEP_OPTIMIZER, TRUST_LOW, 4, 1000},
        {"two optimizers", {{adam, sgd}, 5, 0, {4, 4}, 0}, STEP_OPTIMIZER, TRUST_LOW, 4, 1000},
        {"of one kind for two models",
         {{adam, adam}, 5, 0, {4, 7}, 0},
         STEP_OPTIMIZER,
         TRUST_LOW,
         4,
         1000},
        {"alike, but data is loaded once",
         {{adam, adam}, 5, 1, {4, 4}, 0},
         STEP_OPTIMIZER,
         TRUST_MEDIUM,
         4,
         1000},
        {"two turns of two", {{adam, sgd}, 2, 0, {4, 4}, 0}, STEP_NONE, TRUST_LOW, 0, 0},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        run_loop(&run, &rows[i].loop);
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[i].what, steps.rule, rows[i].rule);
        CHECK_INT(rows[i].what, steps.confidence, rows[i].trust);
        CHECK_INT(rows[i].what, steps.count, rows[i].count);
        for (uint32_t at = 0; at < steps.count; at++)
            CHECK_INT(rows[i].what, steps.items[at].dur_ps, rows[i].dur_ps);
        CHECK(rows[i].what,
              steps.count == 0 || steps.items[0].start_ps % 1000 ==
                                      (rows[i].loop.optimizers[1] == NULL ? 600 : 800));
        run_end(&run);
    }
}

static void repeated_or_none(void **state)
{
    (void)state;
    const struct {
        const char *what, *name;
        int count;
        int64_t dur_ps;
        enum step_rule rule;
    } rows[] = {
        {"repeats and covers", "iteration", 5, 80, STEP_REPEATED},
        {"ProfilerStep of PyTorch", "ProfilerStep#3", 2, 80, STEP_ANNOTATION},
        {"covers too little", "iteration", 5, 20, STEP_NONE},
        {"too few", "iteration", 2, 80, STEP_NONE},
        {"a Python frame", "$train.py:3 step", 5, 80, STEP_NONE},
        {"a call of a driver", "cuStreamSynchronize", 5, 80, STEP_NONE},
        {"a word that begins like one", "custom_step", 5, 80, STEP_REPEATED},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id main_thread = run_thread(&run, "main");
        for (int j = 0; j < rows[i].count; j++)
            run_slice(&run, main_thread, j * 100, rows[i].dur_ps, rows[i].name, KIND_HOST);
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[i].what, steps.rule, rows[i].rule);
        CHECK_INT(rows[i].what, steps.count, rows[i].rule == STEP_NONE ? 0 : rows[i].count);
        CHECK(rows[i].what, steps.rule_text.count > 0);
        check_sums(rows[i].what, &steps);
        run_end(&run);
    }
}

/* What fills a moment of a long trace says nothing of the rest. */
static void repeated_in_a_corner(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int64_t rest_ps;
        enum step_rule rule;
    } rows[] = {
        {"a quarter", 1500, STEP_REPEATED},
        {"a tenth", 4500, STEP_NONE},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id main_thread = run_thread(&run, "main");
        for (int j = 0; j < 5; j++)
            run_slice(&run, main_thread, j * 100, 80, "iteration", KIND_HOST);
        run_slice(&run, main_thread, 480, rows[i].rest_ps - 100, "evaluation", KIND_HOST);
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT(rows[i].what, steps.rule, rows[i].rule);
        run_end(&run);
    }
}

/* Any intervals of any kinds: a breakdown is never negative and sums to the step. */
static void sums_at_random(void **state)
{
    (void)state;
    struct dice dice = {1};

    for (int round = 0; round < 50; round++) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
        for (int64_t i = 0; i < 5; i++)
            annotated(&run, python, i * 100, 90, i);
        for (int i = 0; i < 100; i++) {
            int64_t start_ps = (int64_t)dice_below(&dice, 500);
            int64_t dur_ps = (int64_t)dice_below(&dice, 80);

            if (dice_below(&dice, 2) == 0)
                run_slice(&run, python, start_ps, dur_ps, "h",
                          (enum kind)dice_below(&dice, KIND_COUNT));
            else
                run_cpu_op(&run, pool, start_ps, dur_ps, "a", 7, 1, (int64_t)dice_below(&dice, 3),
                           0);
        }
        run_finish(&run);

        struct steps steps = find(&run, NULL);

        CHECK_INT("five", steps.count, 5);
        check_sums("random", &steps);
        run_end(&run);
    }
}

/* Executions of three ops; the last one of those drawn has only so many. */
static struct steps run_executions(struct made_run *run, int last_ops)
{
    static const char *const ops[] = {"dot.1", "add.2", "root.3"};

    run_begin(run);
    run_program(run, 7, "jit_step", 99, instructions);
    track_id pool = run_thread(run, "pool");
    for (int64_t i = 0; i < 5; i++) {
        for (int64_t op = 0; op < (i == 4 ? last_ops : 3); op++)
            run_cpu_op(run, pool, i * 100 + op * 30, 25, ops[op], 7, 1 + i, 0, 0);
    }
    run_finish(run);
    return find(run, NULL);
}

static void cut_by_the_end(void **state)
{
    (void)state;
    const struct {
        const char *what;
        int last_ops;
        uint32_t cut;
    } rows[] = {{"whole, but up to what", 3, 1},
                {"without its last op", 2, 1},
                {"with its first alone", 1, 1}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        struct steps steps = run_executions(&run, rows[i].last_ops);

        CHECK_INT(rows[i].what, steps.count, 5);
        CHECK_INT(rows[i].what, steps.cut_count, rows[i].cut);
        CHECK_INT(rows[i].what, step_counts(&steps, &steps.items[4]), rows[i].cut == 0);
        CHECK_INT(rows[i].what, step_counts(&steps, &steps.items[3]), true);
        run_end(&run);
    }
}

static void as_table(void **state)
{
    (void)state;
    struct made_run run;
    struct page page = {.limit = 2, .sort = STR("-dur_ps")};
    struct error err = {0};
    struct steps steps;
    struct table table;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    annotated(&run, python, 0, 10, 1);
    annotated(&run, python, 100, 30, 2);
    annotated(&run, python, 200, 20, 3);
    run_finish(&run);
    CHECK_OK("table",
             steps_table(&run.run, &(struct restriction){0}, &page, run.made.arena, &steps, &table,
                         &err),
             &err);
    CHECK_INT("all", table.row_count_all, 3);
    CHECK_INT("next", table.next, 2);
    CHECK_INT("longest", cell_of(&table, 0, "step")->of.integer, 2);
    CHECK_STR("host", cell_of(&table, 0, "host")->of.text, "hostA");
    CHECK_INT("breakdown", cell_of(&table, 0, "breakdown")->of.kinds[KIND_IDLE], 30);
    CHECK_INT("sum", table.total_ps, 60);
    CHECK_STR("by", table.by, "annotation");
    run_end(&run);
}

static void family_mark(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                        const char *name, int64_t number)
{
    run_slice(run, track, start_ps, dur_ps, name, KIND_HOST);
    run_int(run, "_r", 1);
    run_int(run, "step_num", number);
}

static void call_of(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps)
{
    run_slice(run, track, start_ps, dur_ps, "PjitFunction(f)", KIND_HOST);
}

static void check_times(const char *what, const struct steps *steps, enum step_time rule,
                        const int64_t (*times)[2], uint32_t count)
{
    CHECK_INT(what, steps->count, count);
    CHECK_INT(what, steps->time_rule, rule);
    for (uint32_t i = 0; i < count && i < steps->count; i++) {
        CHECK_INT(what, steps->items[i].time_rule, rule);
        CHECK_INT(what, steps->items[i].start_ps, times[i][0]);
        CHECK_INT(what, steps->items[i].dur_ps, times[i][1]);
    }
}

/*  python   |train 0|train 1|train 2|            10 each, a call in each
 *  pool         | dot 0      | dot 1      | dot 2      |    from 5 on, 100 each, one after another
 *
 * The loop waits for nothing: times are those of the work. */
static void runs_ahead(void **state)
{
    (void)state;
    struct made_run run;
    const int64_t times[][2] = {{5, 100}, {105, 100}, {205, 100}};

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 3; i++) {
        annotated(&run, python, 10 * i, 10, 7 + i);
        call_of(&run, python, 10 * i + 1, 8);
    }
    for (int64_t i = 0; i < 3; i++)
        run_cpu_op(&run, pool, 5 + 100 * i, 100, "dot", 7, 40 + i, 0, 0);
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    check_times("ahead", &steps, STEP_TIME_WORK, times, 3);
    CHECK_INT("number kept", steps.items[2].number, 9);
    CHECK_INT("span", steps.items[1].host_dur_ps, 10);
    CHECK_INT("span's begin", steps.items[1].host_start_ps, 10);
    CHECK_INT("work begins", steps.items[1].work_start_ps, 105);
    CHECK_INT("work ends", steps.items[1].work_end_ps, 205);
    CHECK_INT("one op", (int64_t)steps.items[1].work_count, 1);
    CHECK_INT("one ahead", steps.items[0].ahead, 1);
    CHECK_INT("three ahead", steps.items[2].ahead, 3);
    CHECK_INT("at most", steps.ahead_max, 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT("all of it is compute", steps.items[i].time.kinds_ps[KIND_COMPUTE], 100);
    CHECK_INT("owner of the last op", steps.owners[0][2], 2);
    check_sums("ahead", &steps);
    run_end(&run);
}

/* The same program where each step waits for its result. */
static void spans_hold_work(void **state)
{
    (void)state;
    struct made_run run;
    const int64_t times[][2] = {{0, 110}, {120, 110}, {240, 110}};

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 3; i++) {
        annotated(&run, python, 120 * i, 110, i);
        call_of(&run, python, 120 * i + 1, 8);
    }
    for (int64_t i = 0; i < 3; i++)
        run_cpu_op(&run, pool, 120 * i + 5, 100, "dot", 7, 40 + i, 0, 0);
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    check_times("blocks", &steps, STEP_TIME_SPAN, times, 3);
    CHECK_INT("nothing ahead", steps.ahead_max, 0);
    run_end(&run);
}

static void check_owners(const struct made_run *run, const struct steps *got,
                         const struct steps *wanted)
{
    CHECK_INT("steps", got->count, wanted->count);
    CHECK_INT("ordinals", got->ordinal_count, wanted->ordinal_count);
    CHECK_INT("rule of times", got->time_rule, wanted->time_rule);
    for (uint32_t i = 0; i < got->count; i++) {
        CHECK_INT("number", got->items[i].number, wanted->items[i].number);
        CHECK_INT("ordinal", got->items[i].ordinal, wanted->items[i].ordinal);
    }
    for (uint32_t i = 0; i < run->attribution.entry_count; i++)
        CHECK_INT("owner", got->owners[0][i], wanted->owners[0][i]);
}

/* What is asked of steps that were found before is what is found; they stay as they are. */
static void found_before(void **state)
{
    (void)state;
    enum { ALL = 4 };
    struct made_run run;
    static const int64_t range[] = {1, 2, 9, 9};

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < ALL; i++) {
        annotated(&run, python, 120 * i, 110, i);
        call_of(&run, python, 120 * i + 1, 8);
    }
    for (int64_t i = 0; i < ALL; i++)
        run_cpu_op(&run, pool, 120 * i + 5, 100, "dot", 7, 40 + i, 0, 0);
    run_finish(&run);

    const struct steps all = find(&run, NULL), untouched = find(&run, NULL);
    struct restriction asked[] = {
        {.has_window = false},
        {.steps = range, .step_range_count = 2},
        {.has_window = true, .start_ps = 0, .end_ps = 200},
        {.hosts = &STR("hostB"), .host_count = 1},
    };

    CHECK("of each an op", all.owners[0][ALL - 1] == ALL - 1);
    for (size_t i = 0; i < COUNT(asked); i++) {
        struct steps wanted = find(&run, &asked[i]);

        asked[i].found = &all;

        struct steps got = find(&run, &asked[i]);

        check_owners(&run, &got, &wanted);
        check_owners(&run, &all, &untouched);
    }
    run_end(&run);
}

/* Two executions were called before the recording began, the last call was not run within it. */
static void begins_full_ends_early(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 3; i++) {
        annotated(&run, python, 10 * i, 10, i);
        call_of(&run, python, 10 * i + 1, 8);
    }
    /* Executions 40 and 41 of earlier calls, then those of steps 0 and 1. */
    for (int64_t i = 0; i < 5; i++)
        run_cpu_op(&run, pool, 100 * i, 100, "dot", 7, 40 + i, 0, 0);
    run_finish(&run);

    struct steps steps = find(&run, NULL);
    const int64_t times[][2] = {{200, 100}, {300, 100}, {400, 100}};

    check_times("full queue", &steps, STEP_TIME_WORK, times, 3);
    CHECK_INT("nobody's", steps.owners[0][1], NO_OWNER);
    run_end(&run);

    run_begin(&run);
    python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 3; i++) {
        annotated(&run, python, 10 * i, 10, i);
        call_of(&run, python, 10 * i + 1, 8);
    }
    for (int64_t i = 0; i < 2; i++)
        run_cpu_op(&run, pool, 5 + 100 * i, 100, "dot", 7, 40 + i, 0, 0);
    run_finish(&run);
    steps = find(&run, NULL);
    CHECK_INT("three marks", steps.count, 3);
    CHECK_INT("one is cut off", steps.cut_count, 1);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_INT("the last", steps.items[i].cut, steps.items[i].number == 2);
    run_end(&run);
}

/* Of two steps the second may do less than the first, as one does that makes no input; where it did
 * less than half of it, or others were called behind it and did nothing, the recording ended
 * before. */
static void second_of_two(void **state)
{
    (void)state;

    for (int64_t ops = 1; ops <= 8; ops++) {
        struct made_run run;
        int64_t count = ops <= 4 ? 2 : 5, did = ops <= 4 ? ops : ops - 4;

        run_begin(&run);
        track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
        for (int64_t i = 0; i < count; i++) {
            annotated(&run, python, 10 * i, 10, i);
            call_of(&run, python, 10 * i + 1, 8);
            for (int64_t at = 0; i < 2 && at < (i == 0 ? 4 : did); at++)
                run_cpu_op(&run, pool, 50 + 100 * i + 20 * at, 20, "dot", 7, 40 + i, 0, 0);
        }
        run_finish(&run);

        struct steps steps = find(&run, NULL);
        uint32_t cut = 0;

        for (uint32_t i = 0; i < steps.count; i++)
            cut += steps.items[i].cut;
        CHECK_INT("all", steps.count, count);
        CHECK_INT("cut", cut, count - 2 + (did < (count == 2 ? 2 : 4)));
        run_end(&run);
    }
}

/*  python   |train 0 launch 1, 2|train 1 launch 3, 4|
 *  copies   ..................| 3 |                       ahead of its turn
 *  stream            | 1        | 2    | 4             |   and work of the step that called it
 *
 * Kernels by their launches, and a copy that runs early moves no begin. */
static void launches_tell(void **state)
{
    (void)state;
    struct made_run run;
    const int64_t times[][2] = {{10, 90}, {100, 60}};

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    track_id stream = run_stream(&run, "Stream #1", ROLE_NONE, 0);
    track_id copies = run_stream(&run, "Stream #2", ROLE_NONE, 0);
    name_id kind = sink_name(run.made.sink, STR("kernel launch"));

    for (uint64_t i = 0; i < 4; i++) {
        if (i % 2 == 0)
            annotated(&run, python, 5 * (int64_t)i, 10, (int64_t)i / 2);
        run_slice(&run, python, 5 * (int64_t)i + 1, 2, "cuLaunchKernel", KIND_HOST);
        sink_flow(run.made.sink, FLOW_FROM, kind, i + 1);
    }

    const struct {
        track_id track;
        int64_t start_ps, dur_ps;
        const char *name;
        enum kind of;
        uint64_t launch;
    } work[] = {
        {stream, 10, 50, "gemm", KIND_COMPUTE, 1},
        {stream, 60, 40, "relu", KIND_COMPUTE, 2},
        {stream, 100, 60, "gemm", KIND_COMPUTE, 4},
        {copies, 40, 20, "MemcpyHtoD", KIND_COPY, 3},
    };

    for (size_t i = 0; i < COUNT(work); i++) {
        run_slice(&run, work[i].track, work[i].start_ps, work[i].dur_ps, work[i].name, work[i].of);
        sink_flow(run.made.sink, FLOW_TO, kind, work[i].launch);
    }
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    check_times("launches", &steps, STEP_TIME_WORK, times, 2);
    CHECK_INT("its copy", steps.items[1].work_start_ps, 40);
    CHECK_INT("two ops", (int64_t)steps.items[1].work_count, 2);
    run_end(&run);
}

/* train beside eval, both inside epochs: the one that trains, whatever takes longest. */
static void families(void **state)
{
    (void)state;
    struct made_run run;
    struct steps steps;
    struct error err = {0};

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        int64_t at_ps = 1000 * epoch;

        family_mark(&run, python, at_ps, 900, "epoch", epoch);
        for (int64_t i = 0; i < 3; i++)
            family_mark(&run, python, at_ps + 10 * i, 10, "train", 3 * epoch + i);
        for (int64_t i = 0; i < 4; i++)
            family_mark(&run, python, at_ps + 30 + 200 * i, 200, "eval", i);
    }
    run_finish(&run);

    const struct {
        const char *asked, *name;
        uint32_t count;
        int64_t dur_ps;
    } rows[] = {
        {"", "train", 6, 10},
        {"train", "train", 6, 10},
        {"eval", "eval", 8, 200},
        {"epoch", "epoch", 2, 900},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct restriction asked = {.family = str_of(rows[i].asked)};

        steps = find(&run, &asked);
        CHECK_INT(rows[i].asked, steps.count, rows[i].count);
        CHECK_STR(rows[i].asked, steps.items[0].name, rows[i].name);
        CHECK_INT(rows[i].asked, steps.items[1].dur_ps, rows[i].dur_ps);
    }
    steps = find(&run, NULL);
    CHECK_STR("others", steps.others, "\"epoch\" (2), \"eval\" (8)");
    CHECK_INT("numbers", steps.items[5].number, 5);

    struct restriction none = {.family = STR("test")};

    CHECK_INT("no such family", steps_find(&run.run, &none, run.made.arena, &steps, &err),
              ERR_NOT_FOUND);
    CHECK("names what there is", strstr(err.message, "\"train\" (6)") != NULL);
    run_end(&run);
}

/* Two threads that mark "worker_0" and "worker_1": the number at the end is a part of the name
 * where step_num says another, or where a thread bears it again; else it counts. */
static void families_with_numbers(void **state)
{
    (void)state;
    const struct {
        const char *what, *first, *second, *asked, *name, *others;
        bool numbered, counts;
        uint32_t count;
    } rows[] = {
        {"numbered by step_num", "worker_0", "worker_1", "worker_1", "worker_1", "\"worker_0\" (6)",
         true, false, 6},
        {"the other", "worker_0", "worker_1", "worker_0", "worker_0", "\"worker_1\" (6)", true,
         false, 6},
        {"not numbered", "worker_0", "worker_1", "worker_1", "worker_1", "\"worker_0\" (6)", false,
         false, 6},
        {"its number is the step's", "part ", "part ", "part", "part 0", "", true, true, 12},
        {"it counts", "part ", "part ", "part", "part 0", "", false, true, 12},
        {"one of its marks is asked for", "part ", "part ", "part 3", "part 0", "", false, true,
         12},
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run run;
        char name[16];

        run_begin(&run);
        for (int thread = 0; thread < 2; thread++) {
            track_id track = run_thread(&run, thread == 0 ? "thread a" : "thread b");

            for (int64_t i = 0; i < 6; i++) {
                snprintf(name, sizeof name, rows[row].counts ? "%s%d" : "%s",
                         thread == 0 ? rows[row].first : rows[row].second, (int)i);
                run_slice(&run, track, 100 * i + 10 * thread, 90, name, KIND_HOST);
                run_int(&run, "_r", 1);
                if (rows[row].numbered)
                    run_int(&run, "step_num", i);
            }
        }
        run_finish(&run);

        struct steps steps = find(&run, &(struct restriction){.family = str_of(rows[row].asked)});

        CHECK_INT(rows[row].what, steps.count, rows[row].count);
        CHECK_STR(rows[row].what, steps.items[0].name, rows[row].name);
        CHECK_STR(rows[row].what, steps.others, rows[row].others);
        CHECK_INT(rows[row].what, steps.items[steps.count - 1].number,
                  rows[row].numbered ? 5 : steps.count - 1);
        run_end(&run);
    }
}

/* Ranges that only a name marks: NVTX and record_function. */
static void iterations(void **state)
{
    (void)state;
    const struct {
        const char *what, *name, *track, *asked;
        enum step_rule rule;
        uint32_t count;
        int64_t last;
    } rows[] = {
        {"numbered", "iteration %d", "NVTX", "", STEP_ANNOTATION, 4, 10},
        {"on a thread", "train_step#%d", "python", "", STEP_ANNOTATION, 4, 10},
        {"the same name", "train_step", "NVTX", "", STEP_ANNOTATION, 4, 3},
        {"a function's name", "train_step", "python", "", STEP_NONE, 0, 0},
        {"an update, which ends a step", "Optimizer.step#Adam.step", "NVTX", "", STEP_OPTIMIZER, 3,
         2},
        {"layers", "layer %d", "NVTX", "", STEP_NONE, 0, 0},
        {"layers, asked for", "layer %d", "NVTX", "layer", STEP_ANNOTATION, 4, 10},
        {"a name, asked for", "forward", "NVTX", "forward", STEP_ANNOTATION, 4, 3},
        {"no word for one step", "training", "NVTX", "", STEP_NONE, 0, 0},
        {"... but numbered", "epoch %d", "NVTX", "", STEP_ANNOTATION, 4, 10},
        {"what others noted", "iteration %d", "CUDA API", "", STEP_NONE, 0, 0},
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct made_run run;

        run_begin(&run);

        track_id thread = run_thread(&run, "main");
        track_id lane =
            made_track(&run.made, rows[row].track, thread, TRACK_THREAD, ROLE_HOST, false);
        bool own = strcmp(rows[row].track, "python") == 0;

        for (int i = 0; i < 4; i++) {
            char name[32];

            snprintf(name, sizeof name, rows[row].name, 7 + i); /* NOLINT: of the table above */
            run_slice(&run, own ? thread : lane, 1000 * i, 100, name, KIND_HOST);
            run_slice(&run, thread, 1000 * i + 200, 10, "other", KIND_HOST);
        }
        run_finish(&run);

        struct steps steps = find(&run, &(struct restriction){.family = str_of(rows[row].asked)});

        CHECK_INT(rows[row].what, steps.rule, rows[row].rule);
        CHECK_INT(rows[row].what, steps.count, rows[row].count);
        if (steps.count > 0)
            CHECK_INT(rows[row].what, steps.items[steps.count - 1].number, rows[row].last);
        run_end(&run);
    }
}

/* Without a root: a number in text as JSON has it, a name that XProf gave; the runtime's own roots
 * are no steps. */
static void other_marks(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    for (int64_t i = 0; i < 3; i++) {
        run_slice(&run, python, 100 * i, 90, "train", KIND_HOST);
        run_text(&run, "step_num", i == 0 ? "100" : i == 1 ? "101" : "102");
    }
    run_finish(&run);

    struct steps steps = find(&run, NULL);

    CHECK_INT("annotated", steps.rule, STEP_ANNOTATION);
    CHECK_INT("three", steps.count, 3);
    CHECK_INT("its number", steps.items[2].number, 102);
    run_end(&run);

    run_begin(&run);
    python = run_thread(&run, "python");
    for (uint64_t i = 0; i < 3; i++) { /* as the decoder keeps quoted digits */
        run_slice(&run, python, (int64_t)i * 100, 90, "train", KIND_HOST);
        sink_arg(run.made.sink, (struct arg){.key = sink_name(run.made.sink, STR("step_num")),
                                             .type = ARG_DIGITS,
                                             .bits = 100 + i});
    }
    run_finish(&run);
    steps = find(&run, NULL);
    CHECK_INT("quoted digits", steps.items[2].number, 102);
    CHECK("they are said", steps.items[2].numbered);
    run_end(&run);

    run_begin(&run);
    python = run_thread(&run, "python");
    run_slice(&run, python, 0, 90, "EagerKernelExecute", KIND_HOST);
    run_text(&run, "step_name", "0");
    run_slice(&run, python, 10, 3, "FunctionRun", KIND_HOST);
    run_int(&run, "_r", 1);
    run_finish(&run);
    steps = find(&run, NULL);
    CHECK_INT("one", steps.count, 1);
    CHECK_STR("the root", steps.items[0].name, "EagerKernelExecute");
    CHECK_INT("its time", steps.items[0].dur_ps, 90);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breakdown),
        cmocka_unit_test(marks_apart),
        cmocka_unit_test(stub),
        cmocka_unit_test(numbers_and_nesting),
        cmocka_unit_test(many_slow_steps),
        cmocka_unit_test(warmup_and_outliers),
        cmocka_unit_test(by_executions),
        cmocka_unit_test(by_executions_unlike),
        cmocka_unit_test(by_executions_of_parts),
        cmocka_unit_test(on_lines),
        cmocka_unit_test(lines_apart),
        cmocka_unit_test(by_executions_of_most),
        cmocka_unit_test(on_derived_lines),
        cmocka_unit_test(by_module_names),
        cmocka_unit_test(lanes_below_a_thread),
        cmocka_unit_test(updates_that_settle),
        cmocka_unit_test(by_updates),
        cmocka_unit_test(repeated_or_none),
        cmocka_unit_test(repeated_in_a_corner),
        cmocka_unit_test(sums_at_random),
        cmocka_unit_test(cut_by_the_end),
        cmocka_unit_test(runs_ahead),
        cmocka_unit_test(spans_hold_work),
        cmocka_unit_test(found_before),
        cmocka_unit_test(begins_full_ends_early),
        cmocka_unit_test(second_of_two),
        cmocka_unit_test(launches_tell),
        cmocka_unit_test(families),
        cmocka_unit_test(families_with_numbers),
        cmocka_unit_test(iterations),
        cmocka_unit_test(other_marks),
        cmocka_unit_test(as_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
