/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the overview with and without steps, devices and memory. */
#include "unit/analyse/made_run.h"

#include "analyse/findings/overview.h"
#include "analyse/memory/memory.h"
#include "analyse/scan/split.h"

static struct overview ask(const struct made_run *run, struct restriction restriction)
{
    struct error err = {0};
    struct overview ret;

    struct restriction *asked = arena_new(run->made.arena, struct restriction);
    *asked = restriction;
    CHECK_OK("overview", overview(memo_create(&run->run, asked, run->made.arena), &ret, &err),
             &err);

    int64_t sum_ps = 0;

    for (int kind = 0; kind <= KIND_COUNT; kind++)
        sum_ps += ret.time.kinds_ps[kind];
    CHECK_INT("the breakdown sums", sum_ps, ret.time_total_ps);
    return ret;
}

static void annotated(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps)
{
    run_slice(run, track, start_ps, dur_ps, "train", KIND_HOST);
    run_int(run, "_r", 1);
}

static void with_steps(void **state)
{
    (void)state;
    struct made_run run;
    static const int64_t durs_ps[] = {90, 10, 20, 30, 20};

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (size_t i = 0; i < COUNT(durs_ps); i++) {
        annotated(&run, python, (int64_t)i * 100, durs_ps[i]);
        run_cpu_op(&run, pool, (int64_t)i * 100, 5, "dot", 7, (int64_t)i, 0, 0);
        run_cpu_op(&run, pool, (int64_t)i * 100 + 4, 4, "dot", 7, (int64_t)i, 1, 0);
    }
    sink_note(run.made.sink, "truncated", NOTE_WARNING, 2, "the file is cut off");
    run_finish(&run);

    struct overview got = ask(&run, (struct restriction){0});

    CHECK_INT("steps", got.step_count, 5);
    CHECK_INT("warm-up", got.warmup_count, 1);
    CHECK_INT("counted", got.counted, 4);
    CHECK_INT("total", got.total_ps, 80);
    CHECK_INT("mean", got.mean_ps, 20);
    CHECK_INT("median", got.median_ps, 20);
    CHECK_INT("p95", got.p95_ps, 30);
    CHECK_INT("stdev", got.stdev_ps, 7);
    CHECK_INT("least", got.min_ps, 10);
    CHECK_INT("most", got.max_ps, 30);
    CHECK_INT("over the steps", got.time_total_ps, 80);
    CHECK_INT("compute, the mean of both", got.time.kinds_ps[KIND_COMPUTE], 4 * 4);
    CHECK_INT("devices", got.device_count, 2);
    CHECK_STR("by ordinal", got.devices[1].name, "device 1");
    CHECK_INT("busy", got.devices[0].busy_ps, 25);
    CHECK_INT("idle", got.devices[0].idle_ps, 405 - 25);
    CHECK_STR("basis", got.basis, "2 XLA:CPU devices on host threads");
    CHECK_INT("hull", got.duration_ps, 420);
    CHECK_INT("top", got.top.row_count_all, 1);
    CHECK_INT("notes", got.note_count, 1);
    CHECK_STR("note", str_of(got.notes[0].kind), "truncated");
    CHECK_INT("note", got.notes[0].count, 2);
    run_end(&run);
}

/* What is looked for on two threads is the same. */
static void on_two_threads(void **state)
{
    (void)state;
    const uint64_t items_a_part = split_items_a_part;
    struct made_run run;

    run_begin(&run);
    track_id python = run_thread(&run, "python"), pool = run_thread(&run, "pool");
    for (int64_t i = 0; i < 20; i++) {
        annotated(&run, python, i * 1000, 900);
        run_cpu_op(&run, pool, i * 1000, 300, "dot", 7, i, 0, 0);
        run_cpu_op(&run, pool, i * 1000 + 400, 200, "all-reduce", 7, i, 0, 0);
        run_cpu_op(&run, pool, i * 1000 + 4, 400, "dot", 7, i, 1, 0);
    }
    run_finish(&run);
    split_items_a_part = UINT64_MAX;

    const struct overview alone = ask(&run, (struct restriction){0});

    split_items_a_part = 1;

    const struct overview both = ask(&run, (struct restriction){0});

    split_items_a_part = items_a_part;
    CHECK_STR("sentence", both.sentence, alone.sentence.at);
    CHECK_STR("of the path", both.path_sentence, alone.path_sentence.at);
    CHECK_STR("no MFU", both.efficiency.mfu_reason, alone.efficiency.mfu_reason.at);
    CHECK_INT("idle", both.devices[0].idle_ps, alone.devices[0].idle_ps);
    CHECK("some are found", alone.findings.count > 0);
    CHECK_INT("findings", both.findings.count, alone.findings.count);
    for (uint32_t i = 0; i < alone.findings.count; i++)
        CHECK_STR("finding", both.findings.items[i].text, alone.findings.items[i].text.at);
    run_end(&run);
}

/* A host without devices is told by its threads, as many as are walked. */
static void too_many_threads(void **state)
{
    (void)state;
    enum { WALKED = 8192, BEHIND = 3 };
    struct made_run run;

    run_begin(&run);
    for (int i = 0; i < WALKED + BEHIND; i++)
        run_slice(&run, run_thread(&run, "worker"), i, 10, "work", KIND_HOST);
    run_finish(&run);

    struct overview got = ask(&run, (struct restriction){0});

    CHECK_INT("one note", got.note_count, 1);
    CHECK_STR("which", str_of(got.notes[0].kind), "threads-left-out");
    CHECK_INT("the one that speaks first is none of them", got.notes[0].count, BEHIND - 1);
    run_end(&run);
}

static void without_steps(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id main_thread = run_thread(&run, "main");
    run_slice(&run, main_thread, 10, 40, "load", KIND_INPUT);
    run_slice(&run, main_thread, 80, 10, "f", KIND_HOST);
    run_finish(&run);

    struct overview got = ask(&run, (struct restriction){0});

    CHECK_INT("rule", got.rule, STEP_NONE);
    CHECK_INT("none counted", got.counted, 0);
    CHECK_INT("over the capture", got.time_total_ps, 80);
    CHECK_INT("input", got.time.kinds_ps[KIND_INPUT], 40);
    CHECK_INT("idle", got.time.kinds_ps[KIND_IDLE], 30);
    CHECK_INT("no devices", got.device_count, 0);
    CHECK_STR("basis", got.basis, "1 host without devices");
    got = ask(&run, (struct restriction){.has_window = true, .start_ps = 40, .end_ps = 60});
    CHECK_INT("over the window", got.time_total_ps, 20);
    CHECK_INT("input in the window", got.time.kinds_ps[KIND_INPUT], 10);
    run_end(&run);

    run_begin(&run);
    run_finish(&run);
    got = ask(&run, (struct restriction){0});
    CHECK_INT("an empty trace", got.time_total_ps, 0);
    run_end(&run);
}

/*  python   |-- step ----------------------------|     0 .. 100, nothing in it but a wait, 30 .. 40
 *  pool         |-- all_reduce --|                      10 .. 60
 *  loader                     |load|                    55 .. 65
 *  (its own) |-- Profiler overhead -------------|       counts nowhere
 *  device                                    |op|       of the second run: 90 .. 95            */
static void threads_of_a_step(struct made_run *run, bool has_device)
{
    run_begin(run);
    track_id python = run_thread(run, "python"), pool = run_thread(run, "pool");
    track_id loader = run_thread(run, "loader"), own = run_thread(run, "Profiler overhead");
    annotated(run, python, 0, 100);
    run_slice(run, python, 30, 10, "$time sleep", KIND_HOST);
    run_slice(run, pool, 10, 50, "gloo:all_reduce", KIND_HOST);
    run_slice(run, loader, 55, 10, "load_batch", KIND_INPUT);
    run_slice(run, own, 0, 300, "Chunk Allocation", KIND_HOST);
    for (int64_t i = 0; i < 3; i++)
        run_slice(run, python, 200 + 10 * i, 5, "empty", KIND_HOST);
    if (has_device)
        run_cpu_op(run, pool, 90, 5, "dot", 7, 1, 0, 0);
    run_finish(run);
}

static void others_recorded(void **state)
{
    (void)state;
    struct made_run run;

    threads_of_a_step(&run, false);
    struct overview got = ask(&run, (struct restriction){0});

    CHECK_INT("the pool works, though the thread waits", got.time.kinds_ps[KIND_COMMUNICATION], 50);
    CHECK_INT("the loader behind it", got.time.kinds_ps[KIND_INPUT], 5);
    CHECK_INT("nobody", got.time.doing_ps[DOING_NOTHING], 45);
    CHECK_INT("which is all that is idle", got.time.kinds_ps[KIND_IDLE], 45);
    CHECK("all threads tell", got.other_threads == 0 && got.thread.count == 0);
    CHECK("it is not called idle",
          str_contains(got.sentence, STR("50 % is exposed communication, 45 % has nothing")));
    run_end(&run);

    threads_of_a_step(&run, true);
    got = ask(&run, (struct restriction){0});
    CHECK_INT("beside a device one thread tells", got.time.doing_ps[DOING_NOTHING], 85);
    CHECK_INT("that it waits", got.time.doing_ps[DOING_WAIT], 10);
    CHECK_INT("the device", got.time.kinds_ps[KIND_COMPUTE], 5);
    CHECK_STR("told by", got.thread, "python");
    CHECK_INT("but others worked", got.other_threads, 2);
    CHECK("the sentence says so",
          str_contains(got.sentence, STR("That thread is python; 2 other threads "
                                         "recorded something")));
    run_end(&run);
}

/* Streams of one device overlap: busy is their union. */
static void unions(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id one = run_stream(&run, "Stream #1", ROLE_NONE, 0);
    track_id two = run_stream(&run, "Stream #2", ROLE_NONE, 0);
    run_slice(&run, one, 0, 50, "gemm", KIND_COMPUTE);
    run_slice(&run, two, 40, 30, "nccl", KIND_COMMUNICATION);
    run_slice(&run, two, 90, 10, "nccl", KIND_COMMUNICATION);
    run_finish(&run);

    struct overview got = ask(&run, (struct restriction){0});

    CHECK_INT("busy", got.devices[0].busy_ps, 80);
    CHECK_INT("idle", got.devices[0].idle_ps, 20);
    CHECK("share", got.devices[0].busy_share == 0.8);
    CHECK_INT("exposed communication", got.time.kinds_ps[KIND_COMMUNICATION], 30);
    CHECK_STR("basis", got.basis, "1 device");
    run_end(&run);
}

static void memory_event(struct made_run *run, int64_t at_ps, const char *allocator, int64_t bytes)
{
    struct sink *sink = run->made.sink;

    sink_memory(sink, (struct memory_event){.at_ps = at_ps,
                                            .allocator = sink_name(sink, str_of(allocator)),
                                            .slice = NO_SLICE,
                                            .bytes = 1,
                                            .bytes_allocated = bytes,
                                            .bytes_reserved = -1,
                                            .bytes_available = 1000 - bytes,
                                            .peak_bytes = 900});
}

static void memory(void **state)
{
    (void)state;
    struct made_run run;
    struct memory_timeline got;
    struct error err = {0};

    run_begin(&run);
    track_id main_thread = run_thread(&run, "main");
    run_slice(&run, main_thread, 0, 100000, "f", KIND_HOST);
    for (int64_t i = 0; i < 5000; i++)
        memory_event(&run, i, "GPU_0_bfc", i == 3333 ? 800 : i % 100);
    memory_event(&run, 7, "GPU_1_bfc", 5);
    run_finish(&run);

    CHECK_OK("all", memory_timeline(&run.run, &(struct restriction){0}, run.made.arena, &got, &err),
             &err);
    CHECK_INT("allocators", got.allocator_count, 2);
    CHECK_STR("name", got.allocators[0].name, "GPU_0_bfc");
    CHECK_INT("events", got.allocators[0].event_count, 5000);
    CHECK_INT("samples", got.allocators[0].sample_count, 1000);
    CHECK_INT("peak", got.allocators[0].peak_bytes, 800);
    CHECK_INT("when", got.allocators[0].peak_at_ps, 3333);
    CHECK_INT("its sample stays", got.allocators[0].samples[3333 / 5].allocated_bytes, 800);
    CHECK_INT("capacity", got.allocators[0].capacity_bytes, 1000);
    CHECK_INT("ever", got.allocators[0].lifetime_peak_bytes, 900);
    CHECK_INT("one", got.allocators[1].sample_count, 1);

    CHECK_OK("window",
             memory_timeline(&run.run,
                             &(struct restriction){.has_window = true, .start_ps = 0, .end_ps = 50},
                             run.made.arena, &got, &err),
             &err);
    CHECK_INT("peak there", got.allocators[0].peak_bytes, 49);
    run_end(&run);

    run_begin(&run);
    run_finish(&run);
    CHECK_OK("none",
             memory_timeline(&run.run, &(struct restriction){0}, run.made.arena, &got, &err), &err);
    CHECK("and why", got.allocator_count == 0 && got.reason.count > 0);
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_steps),      cmocka_unit_test(on_two_threads),
        cmocka_unit_test(without_steps),   cmocka_unit_test(too_many_threads),
        cmocka_unit_test(others_recorded), cmocka_unit_test(unions),
        cmocka_unit_test(memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
