/* Tables with a row for each thing: activities in order of time, ranges on their devices. */
#include "unit/analyse/made_run.h"

#include "analyse/kernels.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(activities), cmocka_unit_test(ranges)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
