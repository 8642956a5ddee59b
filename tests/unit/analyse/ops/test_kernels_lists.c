/* SPDX-License-Identifier: Apache-2.0 */
/* Tables with a row for each thing: activities in order of time, ranges on their devices. */
#include "unit/analyse/made_run.h"

#include "analyse/ops/kernels.h"

static struct table ask(struct made_run *run, const char *by, const char *annotation,
                        struct restriction restriction)
{
    const struct kernels_question question = {.by = str_of(by), .annotation = str_of(annotation)};
    struct kernels_summary summary;
    struct table table;

    CHECK_OK(by,
             kernels(&run->run, &restriction, &question, &(struct page){.limit = 10000},
                     run->made.arena, &table, &summary, &run->made.err),
             &run->made.err);
    return table;
}

static int64_t number(const struct table *table, uint32_t row, const char *column)
{
    return cell_of(table, row, column)->of.integer;
}

static void call(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                 int64_t correlation)
{
    struct sink *sink = run->made.sink;

    run_slice(run, track, start_ps, dur_ps, "cudaLaunchKernel", KIND_HOST);
    run_int(run, "correlation_id", correlation);
    sink_flow(sink, FLOW_FROM, sink_name(sink, STR("kernel launch")), (uint64_t)correlation);
}

static void work(struct made_run *run, track_id track, int64_t start_ps, int64_t dur_ps,
                 const char *name, int64_t correlation)
{
    run_slice(run, track, start_ps, dur_ps, name,
              strncmp(name, "Memcpy", 6) == 0 ? KIND_COPY : KIND_COMPUTE);
    run_int(run, "correlation_id", correlation);
    sink_flow(run->made.sink, FLOW_TO, sink_name(run->made.sink, STR("kernel launch")),
              (uint64_t)correlation);
}

/*  NVTX    train |------------------|      load inside of it launches nothing
 *            layer |------|
 *  calls      c1 c2      c3       c4
 *  stream 7      |k1| |copy|   |k1|   |k2|
 */
static void draw(struct made_run *run)
{
    run_begin(run);
    track_id thread = run_thread(run, "main");
    track_id nvtx = made_track(&run->made, "NVTX", thread, TRACK_THREAD, ROLE_HOST, false);
    track_id calls = made_track(&run->made, "CUDA API", thread, TRACK_THREAD, ROLE_HOST, false);
    track_id stream = run_stream(run, "Stream 7", ROLE_NONE, 0);

    run_slice(run, nvtx, 0, 100, "train", KIND_HOST);
    run_slice(run, nvtx, 5, 45, "layer", KIND_HOST);
    run_slice(run, nvtx, 60, 10, "load", KIND_INPUT);
    call(run, calls, 10, 5, 1);
    call(run, calls, 30, 5, 2);
    call(run, calls, 80, 5, 3);
    call(run, calls, 110, 5, 4);
    work(run, stream, 20, 8, "k1", 1);
    run_text(run, "kernel_details",
             "regs:32 static_shared:16 dynamic_shared:64 grid:2,1,1 block:256,1,1 occ_pct:50");
    work(run, stream, 40, 10, "MemcpyH2D", 2);
    run_text(run, "memcpy_details", "kind_src:pinned kind_dst:device size:2048 dest:0 async:1");
    work(run, stream, 90, 20, "k1", 3);
    work(run, stream, 130, 5, "k2", 4);
    run_finish(run);
}

static void activities(void **state)
{
    (void)state;
    struct made_run run;

    draw(&run);
    struct table all = ask(&run, "activity", "", (struct restriction){0});

    CHECK_INT("all of them", all.row_count, 4);
    CHECK_INT("their time", all.total_ps, 8 + 10 + 20 + 5);
    CHECK_STR("in order of time", cell_of(&all, 1, "name")->of.text, "MemcpyH2D");
    CHECK_STR("what", cell_of(&all, 0, "what")->of.text, "kernel");
    CHECK_STR("what", cell_of(&all, 1, "what")->of.text, "copy");
    CHECK_STR("grid", cell_of(&all, 0, "grid")->of.text, "2,1,1");
    CHECK_INT("shared, both", number(&all, 0, "dynamic_shared_bytes"), 64);
    CHECK_INT("registers", number(&all, 0, "registers"), 32);
    CHECK("not recorded", cell_of(&all, 2, "grid")->kind == CELL_NULL);
    CHECK_INT("bytes", number(&all, 1, "bytes"), 2048);
    CHECK_STR("which way", cell_of(&all, 1, "direction")->of.text, "h2d");
    CHECK("a kernel moves none", cell_of(&all, 0, "bytes")->kind == CELL_NULL);
    CHECK_INT("correlation", number(&all, 3, "correlation"), 4);
    CHECK_INT("call", number(&all, 0, "call_start_ps"), 10);
    CHECK_INT("queue", number(&all, 0, "queue_ps"), 5);
    CHECK_INT("call to end", number(&all, 0, "launch_to_end_ps"), 18);
    CHECK_STR("stream", cell_of(&all, 0, "stream")->of.text, "Stream 7");

    struct table inside = ask(&run, "activity", "layer", (struct restriction){0});

    CHECK_INT("inside of a span", inside.row_count, 2);
    inside = ask(&run, "activity", "", (struct restriction){.name = STR("k1")});
    CHECK_INT("of a name", inside.row_count, 2);
    inside = ask(&run, "activity", "",
                 (struct restriction){.has_window = true, .start_ps = 45, .end_ps = 95});
    CHECK_INT("in a window", inside.row_count, 2);
    CHECK_INT("what lies inside", inside.total_ps, 5 + 5);
    run_end(&run);
}

static void ranges(void **state)
{
    (void)state;
    struct made_run run;

    draw(&run);
    struct table all = ask(&run, "range", "", (struct restriction){0});

    CHECK_INT("those that launched something", all.row_count, 2);
    CHECK_INT("what they launched", all.total_ps, 8 + 10 + 20);
    CHECK_STR("the outer first", cell_of(&all, 0, "name")->of.text, "train");
    CHECK_INT("projected", number(&all, 0, "start_ps"), 20);
    CHECK_INT("to its last op's end", number(&all, 0, "dur_ps"), 90);
    CHECK_INT("on the host", number(&all, 0, "range_ps"), 100);
    CHECK_INT("children, also without work", number(&all, 0, "child_count"), 2);
    CHECK_INT("ops of both", number(&all, 0, "launch_count"), 3);
    CHECK_INT("inner", number(&all, 1, "level"), 1);
    CHECK_INT("its projection", number(&all, 1, "dur_ps"), 30);
    CHECK_INT("its ops' time", number(&all, 1, "device_ps"), 18);
    CHECK_STR("stack", cell_of(&all, 1, "stack")->of.text, "train/layer");
    CHECK_STR("whose", cell_of(&all, 1, "parent")->of.text,
              str_c(run.made.arena, cell_of(&all, 0, "slice")->of.text));
    all = ask(&run, "range", "", (struct restriction){.name = STR("layer")});
    CHECK_INT("of a name", all.row_count, 1);
    run_end(&run);
}

/*  NVTX    step |----------------|  step |----------|  idle |-|     after: no range
 *            layer |----||-layer-|        step |----|
 *  calls          1  2      3        4       5                    6
 *  stream         k1:10 k2:20 k1:30  k1:50   k1:70                k2:5        */
static void draw_steps(struct made_run *run)
{
    run_begin(run);
    track_id thread = run_thread(run, "main");
    track_id nvtx = made_track(&run->made, "NVTX", thread, TRACK_THREAD, ROLE_HOST, false);
    track_id calls = made_track(&run->made, "CUDA API", thread, TRACK_THREAD, ROLE_HOST, false);
    track_id stream = run_stream(run, "Stream 7", ROLE_NONE, 0);

    run_slice(run, nvtx, 0, 100, "step", KIND_HOST);
    run_slice(run, nvtx, 5, 35, "layer", KIND_HOST);
    run_slice(run, nvtx, 50, 40, "layer", KIND_HOST);
    run_slice(run, nvtx, 110, 80, "step", KIND_HOST);
    run_slice(run, nvtx, 140, 40, "step", KIND_HOST);
    run_slice(run, nvtx, 195, 5, "idle", KIND_HOST);
    for (int64_t i = 0; i < 6; i++)
        call(run, calls, (const int64_t[]){10, 20, 60, 120, 150, 210}[i], 5, i + 1);
    work(run, stream, 300, 10, "k1", 1);
    work(run, stream, 320, 20, "k2", 2);
    work(run, stream, 340, 30, "k1", 3);
    work(run, stream, 400, 50, "k1", 4);
    work(run, stream, 460, 70, "k1", 5);
    work(run, stream, 600, 5, "k2", 6);
    run_finish(run);
}

static uint32_t pair_row(const struct table *table, const char *range, const char *kernel)
{
    for (uint32_t row = 0; row < table->row_count; row++) {
        if (str_equal(cell_of(table, row, "range")->of.text, str_of(range)) &&
            str_equal(cell_of(table, row, "name")->of.text, str_of(kernel)))
            return row;
    }
    CHECK(kernel, false);
    return 0;
}

static void pairs(void **state)
{
    (void)state;
    struct made_run run;

    draw_steps(&run);
    struct table all = ask(&run, "range-kernel", "", (struct restriction){0});
    const struct {
        const char *range, *kernel;
        int64_t ranges, count, total_ps, inner_ps, min_ps, p50_ps, max_ps, stdev_ps;
    } rows[] = {
        {"step", "k1", 2, 4, 160, 120, 10, 30, 70, 22}, /* a step in a step counts once */
        {"step", "k2", 1, 1, 20, 0, 20, 20, 20, 0},
        {"layer", "k1", 2, 2, 40, 40, 10, 10, 30, 10},
        {"layer", "k2", 1, 1, 20, 20, 20, 20, 20, 0},
    };
    int64_t inner_ps = 0;

    CHECK_INT("rows", all.row_count, 5);
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint32_t row = pair_row(&all, rows[i].range, rows[i].kernel);

        CHECK_INT("ranges", number(&all, row, "range_count"), rows[i].ranges);
        CHECK_INT("count", number(&all, row, "count"), rows[i].count);
        CHECK_INT("total", number(&all, row, "total_ps"), rows[i].total_ps);
        CHECK_INT("inner", number(&all, row, "inner_ps"), rows[i].inner_ps);
        CHECK_INT("min", number(&all, row, "min_ps"), rows[i].min_ps);
        CHECK_INT("p50", number(&all, row, "p50_ps"), rows[i].p50_ps);
        CHECK_INT("max", number(&all, row, "max_ps"), rows[i].max_ps);
        CHECK_INT("stdev", number(&all, row, "stdev_ps"), rows[i].stdev_ps);
    }
    CHECK("of no range",
          cell_of(&all, pair_row(&all, "(no annotation)", "k2"), "range_count")->kind == CELL_NULL);
    for (uint32_t row = 0; row < all.row_count; row++)
        inner_ps += number(&all, row, "inner_ps");
    CHECK_INT("innermost ones add up", inner_ps, 185);
    CHECK_INT("to all kernels", all.total_ps, 185);
    all = ask(&run, "range-kernel", "", (struct restriction){.name = STR("k2")});
    CHECK_INT("of a kernel", all.row_count, 3);
    all = ask(&run, "range-kernel", "",
              (struct restriction){.has_window = true, .start_ps = 305, .end_ps = 330});
    CHECK_INT("in a window", all.total_ps, 5 + 10);
    run_end(&run);
}

/* Projections of the spans of one name: 300..370 and 400..530, and of the step inside, 460..530. */
static void projections(void **state)
{
    (void)state;
    struct made_run run;

    draw_steps(&run);
    struct table all = ask(&run, "annotation", "", (struct restriction){0});

    for (uint32_t row = 0; row < all.row_count; row++) {
        struct str name = cell_of(&all, row, "name")->of.text;

        if (str_equal(name, STR("idle")))
            CHECK("launched nothing", cell_of(&all, row, "projected_p50_ps")->kind == CELL_NULL);
        if (!str_equal(name, STR("step")))
            continue;
        CHECK_INT("spans", number(&all, row, "projected_count"), 3);
        CHECK_INT("sum", number(&all, row, "projected_ps"), 70 + 130 + 70);
        CHECK_INT("mean", number(&all, row, "projected_mean_ps"), 90);
        CHECK_INT("min", number(&all, row, "projected_min_ps"), 70);
        CHECK_INT("p50", number(&all, row, "projected_p50_ps"), 70);
        CHECK_INT("max", number(&all, row, "projected_max_ps"), 130);
        CHECK_INT("stdev", number(&all, row, "projected_stdev_ps"), 28);
    }
    run_end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(activities), cmocka_unit_test(ranges),
                                       cmocka_unit_test(pairs), cmocka_unit_test(projections)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
