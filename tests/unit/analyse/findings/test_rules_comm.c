/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule about communication on a run that it is about, and on one that it is not. */
#include "unit/analyse/findings_of.h"
#include "unit/analyse/made_collectives.h"

struct drawn_op {
    int64_t start_ps, dur_ps;
    const char *name;
    int32_t device;
};

/* Ops on a stream each; times in the text are microseconds. */
static void make(struct made_run *run, const struct drawn_op *ops, size_t count)
{
    enum { US = 1000000 };

    run_begin(run);
    add_program(run);
    for (size_t i = 0; i < count; i++) {
        track_id track = run_stream(run, "Stream", ROLE_NONE, ops[i].device);

        add_op(run, track, ops[i].start_ps * US, ops[i].dur_ps * US, ops[i].name, 1);
    }
    run_finish(run);
}

static const struct drawn_op late[] = {{0, 60, "dot.1", 0},
                                       {0, 90, "dot.1", 1},
                                       {60, 40, "ar", 0},
                                       {90, 10, "ar", 1},
                                       {100, 400, "dot.1", 0}};
static const struct drawn_op quiet[] = {
    {0, 1000, "dot.1", 0}, {0, 1000, "dot.1", 1}, {60, 40, "ar", 0}, {61, 39, "ar", 1}};
static const struct drawn_op bare[] = {{0, 500, "dot.1", 0},
                                       {500, 100, "ar", 0},
                                       {0, 500, "dot.1", 1},
                                       {500, 100, "ar", 1},
                                       {600, 400, "dot.1", 0}};
static const struct drawn_op exchange[] = {
    {0, 60, "aa", 0}, {40, 20, "aa", 1}, {60, 40, "dot.1", 0}};
static const struct drawn_op even[] = {{0, 60, "aa", 0}, {1, 59, "aa", 1}, {60, 40, "dot.1", 0}};
static const struct drawn_op bubble[] = {
    {0, 2, "pp-start", 0}, {2, 50, "dot.1", 0}, {52, 20, "pp-done", 0}, {72, 28, "dot.1", 0}};
static const struct drawn_op filled[] = {
    {0, 2, "pp-start", 0}, {2, 68, "dot.1", 0}, {70, 2, "pp-done", 0}, {72, 28, "dot.1", 0}};

static void rules(void **state)
{
    (void)state;
    const struct {
        const char *rule, *says;
        const struct drawn_op *yes, *no;
        size_t yes_count, no_count;
    } rows[] = {
        {"exposed-collectives", "100 µs of 100 µs of communication is exposed.", bare, quiet,
         COUNT(bare), COUNT(quiet)},
        {"synchronous-collectives", "100 µs exposed, 10 % of the time", bare, quiet, COUNT(bare),
         COUNT(quiet)},
        {"collective-stragglers", "The straggler is device 1: it is last in 1 of 1", late, quiet,
         COUNT(late), COUNT(quiet)},
        {"uneven-all-to-all", "All-to-alls spend 50 % of their time", exchange, even,
         COUNT(exchange), COUNT(even)},
        {"pipeline-bubbles", "For 20 % of the time (20 µs)", bubble, filled, COUNT(bubble),
         COUNT(filled)},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        const struct finding *finding;

        make(&run, rows[i].yes, rows[i].yes_count);
        finding = run_finding(&run, rows[i].rule);
        CHECK(rows[i].rule, finding != NULL);
        if (finding != NULL) {
            CHECK_HAS(rows[i].rule, str_c(run.made.arena, finding->text), rows[i].says);
            CHECK(rows[i].rule, finding->evidence_count > 0 && finding->has_win);
        }
        run_end(&run);
        make(&run, rows[i].no, rows[i].no_count);
        CHECK(rows[i].rule, run_finding(&run, rows[i].rule) == NULL);
        run_end(&run);
    }
}

static void small(void **state)
{
    (void)state;
    struct drawn_op many[240];
    struct made_run run;

    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = (struct drawn_op){(int64_t)i / 2 * 10, 4, "ar", (int32_t)(i % 2)};
    make(&run, many, COUNT(many));
    CHECK_SAYS(&run, "small-collectives", "240 of 240 collectives move less than 256 KiB");
    run_end(&run);
    make(&run, many, 90);
    CHECK_FINDS_NOT(&run, "small-collectives");
    run_end(&run);
}

static const char large_text[] =
    "HloModule jit_f\n"
    "\n"
    "ENTRY %main (p: f32[8388608]) -> f32[8388608] {\n"
    "  %p = f32[8388608]{0} parameter(0)\n"
    "  ROOT %ar = f32[8388608]{0} all-reduce(f32[8388608]{0} %p), replica_groups={{0,1}}, "
    "to_apply=%s\n"
    "}\n";

/* Two devices reduce 32 MiB five times, `dur_us` each. */
static bool finds_slow_bus(const char *device, int64_t dur_us, int device_count, char *ret_text)
{
    enum { US = 1000000 };
    struct made_run run;
    const struct finding *finding;

    run_begin(&run);
    struct sink *sink = run.made.sink;
    program_id program =
        sink_program(sink, 7, sink_name(sink, STR("jit_f")), 99, BYTES(large_text));
    sink_program_about(sink, program,
                       (struct program_about){.form = PROGRAM_TEXT, .stage = STAGE_AFTER});
    sink_instruction(sink, (struct instruction){.program = program,
                                                .name = sink_name(sink, STR("ar")),
                                                .opcode = sink_name(sink, STR("all-reduce")),
                                                .category = sink_name(sink, STR("all-reduce"))});
    for (int32_t id = 0; id < device_count; id++) {
        track_id stream = run_stream(&run, "Stream", ROLE_NONE, id);

        sink_property(sink, stream,
                      (struct arg){.key = sink_name(sink, STR("gpu_device_name")),
                                   .type = ARG_STRING,
                                   .bits = sink_name(sink, str_of(device))});
        for (int64_t turn = 0; turn < 5; turn++)
            add_op(&run, stream, turn * 2 * dur_us * US, dur_us * US, "ar", 1 + turn);
    }
    run_finish(&run);
    finding = run_finding(&run, "slow-bus");
    if (finding != NULL)
        snprintf(ret_text, 200, "%.*s", STR_ARG(finding->text));
    run_end(&run);
    return finding != NULL;
}

static void slow_bus(void **state)
{
    (void)state;
    char text[200] = "";

    CHECK("a thirteenth", finds_slow_bus("NVIDIA H100 80GB HBM3", 1000, 2, text));
    CHECK_HAS("what it says", text, "33.6 GB/s over the bus, 7.5 % of the 450 GB/s of NVLink 4");
    CHECK("three quarters", !finds_slow_bus("NVIDIA H100 80GB HBM3", 100, 2, text));
    CHECK("links of that card are not known", !finds_slow_bus("NVIDIA L4", 1000, 2, text));
    CHECK("the other one is not in the file",
          !finds_slow_bus("NVIDIA H100 80GB HBM3", 1000, 1, text));
}

/* Ends of six collectives on two hosts, apart by a constant. */
static bool finds_skew(int64_t skew_ps)
{
    struct made_run runs[2];
    struct host_trace traces[2];
    struct findings all;
    bool found = false;

    for (int host = 0; host < 2; host++) {
        run_begin(&runs[host]);
        add_program(&runs[host]);
        track_id ops = run_stream(&runs[host], "XLA Ops", ROLE_OPS, host);
        for (int turn = 0; turn < 6; turn++)
            add_op(&runs[host], ops, host * skew_ps + turn * INT64_C(1000000000), 1000000, "ar",
                   7 + turn);
        run_finish(&runs[host]);
        traces[host] = runs[host].host;
    }
    struct run_traces run = {.hosts = traces, .host_count = 2};
    struct restriction nothing = {0};
    findings_find(memo_create(&run, &nothing, runs[0].made.arena), &all);
    for (uint32_t i = 0; i < all.count; i++)
        found |= strcmp(all.items[i].rule->name, "clock-skew") == 0;
    for (int host = 0; host < 2; host++)
        run_end(&runs[host]);
    return found;
}

static void skew(void **state)
{
    (void)state;
    CHECK("five milliseconds", finds_skew(INT64_C(5000000000)));
    CHECK("either way", finds_skew(INT64_C(-5000000000)));
    CHECK("a microsecond is none", !finds_skew(1000000));
}

/* Who is last in half of them is not called the straggler. */
static void last_in_half(void **state)
{
    (void)state;
    static const int late_device[2][3] = {{1, 0, 1}, {1, 0, 0}}; /* of turns */
    static const char *const says[] = {
        "The straggler is device 1: it is last in 2 of 3",
        "No device is always last; the latest in total is device 1: it is last in 1 of 2"};
    const int turns[] = {3, 2};

    for (int row = 0; row < 2; row++) {
        struct made_run run;

        run_begin(&run);
        add_program(&run);
        for (int device = 0; device < 2; device++) {
            track_id track = run_stream(&run, "Stream", ROLE_NONE, device);

            for (int turn = 0; turn < turns[row]; turn++) {
                int64_t at_ps = turn * INT64_C(1000000000);
                bool late_one = late_device[row][turn] == device;
                int64_t wait_ps = turn == 0 ? 300000000 : 200000000;

                add_op(&run, track, at_ps + (late_one ? wait_ps : 0),
                       500000000 - (late_one ? wait_ps : 0), "ar", 1 + turn);
            }
        }
        run_finish(&run);
        CHECK_SAYS(&run, "collective-stragglers", says[row]);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules),        cmocka_unit_test(small), cmocka_unit_test(slow_bus),
        cmocka_unit_test(last_in_half), cmocka_unit_test(skew),
    };

    return cmocka_run_group_tests_name("rules_comm", tests, NULL, NULL);
}
