/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the recording: each with a run that triggers it and one that does not. */
#include "unit/analyse/findings_of.h"

static void told(void **state)
{
    (void)state;
    const struct {
        const char *rule, *kind, *message;
        enum note_severity severity;
        bool finds;
    } rows[] = {
        {"profile-cut-off", "truncated", "the file ends at byte 7", NOTE_ERROR, true},
        {"profile-cut-off", "truncated", "the closing bracket is missing", NOTE_INFO, false},
        {"profile-damaged", "corrupt", "parts could not be read", NOTE_ERROR, true},
        {"profile-damaged", "corrupt", "a module of an archive", NOTE_WARNING, false},
        {"events-dropped", "capped", "the file holds a million events", NOTE_WARNING, true},
        {"events-dropped", "collector-warning", "The collector warned: 12 events were dropped",
         NOTE_WARNING, true},
        {"events-dropped", "collector-warning", "The collector warned: no NVTX", NOTE_WARNING,
         false},
        {"events-dropped", "odd", "dropped", NOTE_WARNING, false},
        {"two-profilers", "collector-error",
         "The collector reported: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED", NOTE_ERROR,
         true},
        {"two-profilers", "collector-error", "The collector reported: no driver", NOTE_ERROR,
         false},
        {"profiler-error", "collector-error", "The collector reported: no driver", NOTE_ERROR,
         true},
        {"profiler-error", "collector-error", "The collector reported: 12 events lost", NOTE_ERROR,
         false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        sink_note(run.made.sink, rows[i].kind, rows[i].severity, 3, "%s", rows[i].message);
        run_finish(&run);
        const struct finding *finding = run_finding(&run, rows[i].rule);
        CHECK(rows[i].message, (finding != NULL) == rows[i].finds);
        if (finding != NULL) {
            CHECK_HAS(rows[i].message, str_c(run.made.arena, finding->text), rows[i].message);
            CHECK_INT(rows[i].message, finding->evidence[0].value.of.uint, 3);
            CHECK(rows[i].message, !finding->has_win);
        }
        run_end(&run);
    }
}

static track_id device(struct made_run *run, const char *name, int32_t ordinal)
{
    return sink_track(run->made.sink, (struct sink_track){.parent = NO_TRACK,
                                                          .kind = TRACK_DEVICE,
                                                          .name = str_of(name),
                                                          .device = ordinal});
}

static void no_device(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 10, "PjitFunction", KIND_HOST);
    run_finish(&run);
    CHECK_SAYS(&run, "no-device-events", "although programs were dispatched");
    CHECK_FINDS(&run, "no-step-markers");
    run_end(&run);

    run_begin(&run);
    python = run_thread(&run, "python");
    device(&run, "/device:GPU:0", 0);
    run_slice(&run, python, 0, 10, "cuLaunchKernel", KIND_HOST);
    run_finish(&run);
    CHECK_SAYS(&run, "no-device-events", "planes of devices");
    run_end(&run);

    run_begin(&run);
    python = run_thread(&run, "python");
    run_cpu_op(&run, python, 0, 10, "dot", 7, 1, 0, 0);
    run_finish(&run);
    CHECK_FINDS_NOT(&run, "no-device-events");
    run_end(&run);

    run_begin(&run); /* TensorFlow without any plane of a device: the processor ran it */
    python = run_thread(&run, "python");
    run_slice(&run, python, 0, 10, "EagerKernelExecute", KIND_HOST);
    run_finish(&run);
    run.made.trace.format = "xplane";
    CHECK_FINDS_NOT(&run, "no-device-events");
    run_end(&run);

    run_begin(&run); /* with one, it should have been there */
    python = run_thread(&run, "python");
    device(&run, "/device:GPU:0", 0);
    run_slice(&run, python, 0, 10, "EagerKernelExecute", KIND_HOST);
    run_finish(&run);
    run.made.trace.format = "xplane";
    CHECK_FINDS(&run, "no-device-events");
    run_end(&run);

    run_begin(&run); /* a timeline of something else */
    python = run_thread(&run, "main");
    run_slice(&run, python, 0, 10, "draw", KIND_HOST);
    run_finish(&run);
    CHECK_FINDS_NOT(&run, "no-device-events");
    CHECK_FINDS_NOT(&run, "no-step-markers");
    run_end(&run);
}

static void derived_only(void **state)
{
    (void)state;
    for (int derived = 0; derived < 2; derived++) {
        struct made_run run;

        run_begin(&run);
        track_id line = sink_track(run.made.sink, (struct sink_track){.parent = NO_TRACK,
                                                                      .kind = TRACK_STREAM,
                                                                      .name = STR("XLA Ops"),
                                                                      .role = ROLE_OPS,
                                                                      .derived = derived == 1});
        run_slice(&run, line, 0, 10, "dot", KIND_COMPUTE);
        run_finish(&run);
        CHECK("derived lines", (run_finding(&run, "derived-lines-only") != NULL) == (derived == 1));
        run_end(&run);
    }
}

static void no_hlo(void **state)
{
    (void)state;
    static const char *const names[] = {"dot", "jit(f)/dot", NULL};

    for (int with = 0; with < 2; with++) {
        struct made_run run;

        run_begin(&run);
        track_id pool = run_thread(&run, "pool");
        if (with == 1)
            run_program(&run, 7, "jit_f", 1, names);
        run_cpu_op(&run, pool, 0, 10, "dot", 7, 1, 0, 0);
        run_finish(&run);
        CHECK("HLO", (run_finding(&run, "no-hlo") != NULL) == (with == 0));
        run_end(&run);
    }
}

/* Ops may not be known yet, where a line of modules says that XLA ran. */
static void no_ops_yet(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id modules = run_stream(&run, "XLA Modules", ROLE_MODULES, 0);
    run_slice(&run, modules, 0, 10, "jit_f", KIND_OTHER);
    run_finish(&run);
    run.host.attribution = NULL;
    CHECK_FINDS(&run, "no-hlo");
    run_end(&run);
}

static void unused(void **state)
{
    (void)state;
    for (int busy = 0; busy < 3; busy++) {
        struct made_run run;

        run_begin(&run);
        for (int32_t i = 0; i < 2; i++) {
            char name[32];

            snprintf(name, sizeof name, "/device:GPU:%d", i);
            track_id plane = device(&run, name, i);
            track_id stream = sink_track(run.made.sink, (struct sink_track){.parent = plane,
                                                                            .kind = TRACK_STREAM,
                                                                            .name = STR("Stream"),
                                                                            .device = i});
            if (i < busy)
                run_slice(&run, stream, 0, 10, "gemm", KIND_COMPUTE);
        }
        run_finish(&run);
        CHECK("unused", (run_finding(&run, "unused-devices") != NULL) == (busy == 1));
        if (busy == 1)
            CHECK_SAYS(&run, "unused-devices", "1 of 2 devices ran nothing");
        run_end(&run);
    }
}

static void steps(void **state)
{
    (void)state;
    for (int count = 1; count < 5; count++) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python");
        for (int i = 0; i < count; i++) {
            run_slice(&run, python, 100 * i, 50, "train", KIND_HOST);
            run_int(&run, "_r", 1);
        }
        run_cpu_op(&run, python, 10, 10, "dot", 7, 1, 0, 0);
        run_finish(&run);
        CHECK_FINDS_NOT(&run, "no-step-markers");
        CHECK("too short", (run_finding(&run, "capture-too-short") != NULL) == (count < 3));
        struct findings asked = run_findings(
            &run, (struct restriction){.has_window = true, .start_ps = 0, .end_ps = 60});
        for (uint32_t i = 0; i < asked.count; i++)
            CHECK("a window was asked for",
                  strcmp(asked.items[i].rule->name, "capture-too-short") != 0);
        run_end(&run);
    }
}

static void python_tracer(void **state)
{
    (void)state;
    for (int calls = 500; calls <= 2000; calls += 500) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python");
        for (int i = 0; i < 9500; i++)
            run_slice(&run, python, 20 * i, 10, i < calls ? "$model.py:1 f" : "work", KIND_HOST);
        run_finish(&run);
        CHECK("enough of them", (run_finding(&run, "python-tracer") != NULL) == (calls >= 1000));
        run_end(&run);
    }
}

static void dense(void **state)
{
    (void)state;
    for (int64_t every_ps = 1000000; every_ps <= 10000000; every_ps *= 10) {
        struct made_run run;

        run_begin(&run);
        track_id python = run_thread(&run, "python");
        for (int64_t i = 0; i < 20001; i++)
            run_slice(&run, python, every_ps * i, 10, "step", KIND_HOST);
        run_finish(&run);
        CHECK("a slice a microsecond",
              (run_finding(&run, "dense-trace") != NULL) == (every_ps == 1000000));
        run_end(&run);
    }
}

static void clocks(void **state)
{
    (void)state;
    struct made_run run;
    struct host_trace hosts[2];

    run_begin(&run);
    track_id python = run_thread(&run, "python");
    run_slice(&run, python, 0, 10, "f", KIND_HOST);
    run_finish(&run);
    CHECK_FINDS_NOT(&run, "clock-unknown"); /* alone it needs none */
    hosts[0] = hosts[1] = run.host;
    hosts[1].name = STR("hostB");
    run.run.hosts = hosts;
    run.run.host_count = 2;
    CHECK_SAYS(&run, "clock-unknown", "2 of 2 hosts");
    run.made.trace.has_epoch = true;
    CHECK_FINDS_NOT(&run, "clock-unknown");
    run.run.hosts = &run.host;
    run.run.host_count = 1;
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_ops_yet),   cmocka_unit_test(told),   cmocka_unit_test(no_device),
        cmocka_unit_test(derived_only), cmocka_unit_test(no_hlo), cmocka_unit_test(unused),
        cmocka_unit_test(steps),        cmocka_unit_test(dense),  cmocka_unit_test(python_tracer),
        cmocka_unit_test(clocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
