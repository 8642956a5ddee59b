/* SPDX-License-Identifier: Apache-2.0 */
/* Drawn traces, written as XSpaces and decoded again: what XProf is told, and what readers see. */
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/protobuf.h"
#include "decode/xspace/xspace.h"
#include "export/export.h"
#include "picture.h"
#include "trace/args/args.h"

static enum status gather(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    text_put(to, (const char *)piece.at, piece.count);
    return OK;
}

static enum status refuse(void *to, struct bytes piece, struct error *err)
{
    (void)to;
    (void)piece;
    (void)err;
    return ERR_IO;
}

static struct text written(const struct export_run *run)
{
    struct text text = {0};
    struct error err = {0};

    CHECK_OK("written", export_xspace(run, gather, &text, &err), &err);
    return text;
}

static void feed_space(struct sink *sink, void *data)
{
    const struct text *text = data;
    struct arena *arena = arena_create();
    struct error err = {0};
    struct input input;

    CHECK_OK("open",
             input_open(STR("a.xplane.pb"), (struct bytes){(const uint8_t *)text->at, text->count},
                        NULL, arena, &input, &err),
             &err);
    CHECK_OK("decode", decode_xspace.decode(&input, sink, &err), &err);
    input_close(&input);
    arena_destroy(arena);
}

/* What is seen of a trace once it was written and read. */
static const struct trace *again(const struct export_run *run, struct arena *arena)
{
    struct text text = written(run);
    const struct trace *trace = picture_fed(feed_space, &text, arena);

    text_free(&text);
    return trace;
}

static struct export_run run_of(struct export_host *host, const struct trace *trace)
{
    *host = (struct export_host){.trace = trace, .name = STR("hostA")};
    return (struct export_run){.hosts = host, .host_count = 1, .name = STR("r")};
}

static void whole_and_window(void **state)
{
    (void)state;
    static const char drawing[] = "/device:GPU:0 / Stream #7\n"
                                  "  1000001 +5000400 step\n"
                                  "    1000001 +2000900 a\n"
                                  "    3000901 +2999500 b\n"
                                  "  9000000 +0 mark\n"
                                  "/device:GPU:0 / memory\n"
                                  "  2000000 = 0.1\n"
                                  "  7000001 = 1024\n"
                                  "/host:CPU / python\n"
                                  "  500 +1 tiny\n";
    struct arena *arena = arena_create();
    struct export_host host;
    struct export_run run = run_of(&host, picture_trace(drawing, arena));

    CHECK_PICTURE("whole", again(&run, arena), 0, drawing);
    run.has_window = true;
    run.start_ps = 6500000;
    run.end_ps = 8000000;
    CHECK_PICTURE("window", again(&run, arena), 0,
                  "/device:GPU:0 / memory\n"
                  "  7000001 = 1024\n");
    arena_destroy(arena);
}

/* The process that did most is the host; a device that was called otherwise is a GPU; what stands
 * below a track bears both names. */
static void names(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host;
    struct export_run run = run_of(&host, picture_trace("small (1) / t\n"
                                                        "  0 +1 x\n"
                                                        "python (7) / main\n"
                                                        "  0 +9 a\n"
                                                        "python (7) / main / CUDA API\n"
                                                        "  2 +3 b\n",
                                                        arena));

    CHECK_PICTURE("names", again(&run, arena), 0,
                  "small (1) / t\n"
                  "  0 +1 x\n"
                  "/host:CPU / main\n"
                  "  0 +9 a\n"
                  "/host:CPU / main/CUDA API\n"
                  "  2 +3 b\n");
    arena_destroy(arena);
}

/* Times before zero, after 26 days, and as far as a trace goes; names that are no text; nothing. */
static void feed_hostile(struct sink *sink, void *data)
{
    (void)data;
    track_id root = sink_track(sink, (struct sink_track){.parent = NO_TRACK,
                                                         .kind = TRACK_PROCESS,
                                                         .name = STR("/host:CPU"),
                                                         .device = -1});
    track_id track = sink_track(
        sink, (struct sink_track){
                  .parent = root, .kind = TRACK_THREAD, .name = {"t\0u", 3}, .source_id = -5});
    name_id odd = sink_name(sink, (struct str){"a\0b\xff", 4});

    sink_slice(sink,
               (struct sink_slice){.track = track, .start_ps = -1500, .dur_ps = 4, .name = odd});
    sink_arg(sink, (struct arg){.key = odd, .type = ARG_BYTES, .bits = odd});
    sink_arg(sink, (struct arg){.key = odd, .type = ARG_INT64, .bits = (uint64_t)INT64_MIN});
    sink_slice(sink, (struct sink_slice){.track = track,
                                         .start_ps = INT64_C(3000000000000000001),
                                         .dur_ps = 7,
                                         .name = sink_name(sink, STR(""))});
    sink_track(sink,
               (struct sink_track){
                   .parent = root, .kind = TRACK_THREAD, .name = STR("empty"), .source_id = -5});
}

static void hostile(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host;
    struct export_run run = run_of(&host, picture_fed(feed_hostile, NULL, arena));
    const struct trace *trace = again(&run, arena);

    CHECK_INT("both", trace->slice_count, 2);
    struct slice first = trace_slice(trace, 0), second = trace_slice(trace, 1);

    CHECK_INT("between", second.start_ps - first.start_ps, INT64_C(3000000000000001501));
    CHECK("not before zero", first.start_ps >= 0);
    CHECK_INT("length", second.dur_ps, 7);
    CHECK("name", str_equal(trace_name(trace, first.name), (struct str){"a\0b\xef\xbf\xbd", 6}));
    CHECK_INT("lines of one id stay two", trace->track_count, 3);

    run = run_of(&host, picture_trace("", arena));
    CHECK_INT("nothing", again(&run, arena)->slice_count, 0);
    arena_destroy(arena);
}

/* What XProf reads of kernels and copies as one text; arrows; what did not end. */
static void feed_kernel(struct sink *sink, void *data)
{
    (void)data;
    track_id gpu = sink_track(
        sink, (struct sink_track){
                  .parent = NO_TRACK, .kind = TRACK_DEVICE, .name = STR("GPU zero"), .device = 0});
    track_id stream = sink_track(
        sink, (struct sink_track){
                  .parent = gpu, .kind = TRACK_STREAM, .role = ROLE_OPS, .name = STR("Stream #7")});
    track_id cpu = sink_track(
        sink, (struct sink_track){
                  .parent = NO_TRACK, .kind = TRACK_PROCESS, .name = STR("p"), .device = -1});
    track_id thread = sink_track(
        sink,
        (struct sink_track){.parent = cpu, .kind = TRACK_THREAD, .name = STR("t"), .device = -1});
    name_id launch = sink_name(sink, STR("kernel launch"));

    sink_slice(sink, (struct sink_slice){.track = thread,
                                         .start_ps = 0,
                                         .dur_ps = 5,
                                         .name = sink_name(sink, STR("cuLaunchKernel")),
                                         .flags = SLICE_CUT});
    sink_flow(sink, FLOW_FROM, launch, 77);
    sink_slice(sink, (struct sink_slice){.track = stream,
                                         .start_ps = 10,
                                         .dur_ps = 5,
                                         .name = sink_name(sink, STR("matmul"))});
    sink_flow(sink, FLOW_TO, launch, 77);
    sink_arg(sink, (struct arg){.key = sink_name(sink, STR("grid")),
                                .type = ARG_STRING,
                                .bits = sink_name(sink, STR("8,4,2"))});
    sink_arg(sink, (struct arg){.key = sink_name(sink, STR("block")),
                                .type = ARG_STRING,
                                .bits = sink_name(sink, STR("128,2,1"))});
    sink_arg(sink, (struct arg){.key = sink_name(sink, STR("registers_per_thread")),
                                .type = ARG_INT64,
                                .bits = 32});
}

static void kernels(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host;
    struct export_run run = run_of(&host, picture_fed(feed_kernel, NULL, arena));

    CHECK_PICTURE("kernel", again(&run, arena), PICTURE_ARGS | PICTURE_FLOWS,
                  "/device:GPU:0 / Stream #7\n"
                  "  10 +5 matmul {grid: \"8,4,2\", block: \"128,2,1\", registers_per_thread: 32, "
                  "kernel_details: \"regs:32 static_shared:0 dynamic_shared:0 grid:8,4,2 "
                  "block:128,2,1\", correlation_id: 2u}\n"
                  "/host:CPU / t\n"
                  "  0 +5 cuLaunchKernel {correlation_id: 2u, unfinished: 1u}\n"
                  "cuLaunchKernel -> matmul\n");
    arena_destroy(arena);
}

static bool is_stopped(void *data)
{
    return *(bool *)data;
}

/* Calls of a thread at 10, 20, 30 and, behind a time that nothing covers, at 90. */
static void feed_samples(struct sink *sink, void *data)
{
    static const struct {
        int64_t at_ns, value_ns;
        int stack;
    } samples[] = {{30, 10, 1}, {10, 10, 1}, {20, 10, 2}, {90, 10, 0}, {95, 0, 2}};
    track_id process = sink_track(sink, (struct sink_track){.parent = NO_TRACK,
                                                            .kind = TRACK_PROCESS,
                                                            .name = STR("python (4)"),
                                                            .device = -1});
    track_id thread = sink_track(
        sink, (struct sink_track){
                  .parent = process, .kind = TRACK_THREAD, .name = STR("main"), .device = -1});
    name_id file = sink_name(sink, STR("train.py"));
    stack_id stacks[3];

    (void)data;
    stacks[0] =
        sink_stack(sink, NO_STACK,
                   (struct frame){.function = sink_name(sink, STR("f")), .file = file, .line = 1});
    stacks[1] =
        sink_stack(sink, stacks[0],
                   (struct frame){.function = sink_name(sink, STR("g")), .file = file, .line = 7});
    stacks[2] =
        sink_stack(sink, stacks[1], (struct frame){.module = sink_name(sink, STR("libm.so"))});
    sink_sample_type(sink, sink_name(sink, STR("Python time")),
                     sink_name(sink, STR("nanoseconds")));
    sink_sample_type(sink, sink_name(sink, STR("CPU time")), sink_name(sink, STR("nanoseconds")));
    for (size_t index = 0; index < COUNT(samples); index++)
        sink_sample(
            sink,
            (struct sample){.at_ps = samples[index].at_ns * 1000,
                            .track = thread,
                            .stack = stacks[samples[index].stack]},
            (const int64_t[]){samples[index].value_ns, samples[index].value_ns == 0 ? 5 : 0}, NULL,
            0);
    sink_sample(sink, (struct sample){.at_ps = SAMPLE_NO_TIME, .track = thread, .stack = stacks[0]},
                (const int64_t[]){1, 0}, NULL, 0);
}

/* A call lasts while samples of its thread find it; samplers have a line each. */
static void samples(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host host;
    struct export_run run = run_of(&host, picture_fed(feed_samples, NULL, arena));
    struct text text = written(&run);

    CHECK_PICTURE("samples", again(&run, arena), PICTURE_ARGS,
                  "/host:CPU / main: Python time\n"
                  "  10000 +30000 f {file: \"train.py\", line: 1u}\n"
                  "    10000 +30000 g {file: \"train.py\", line: 7u}\n"
                  "      20000 +10000 libm.so\n"
                  "  90000 +10000 f {file: \"train.py\", line: 1u}\n"
                  "/host:CPU / main: CPU time\n"
                  "  95000 +5000 f {file: \"train.py\", line: 1u}\n"
                  "    95000 +5000 g {file: \"train.py\", line: 7u}\n"
                  "      95000 +5000 libm.so\n");
    CHECK("those without a time are told", memmem(text.at, text.count, "1 stack sample left", 19));
    text_free(&text);
    arena_destroy(arena);
}

static void refused(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct export_host hosts[2];
    struct export_run run = run_of(&hosts[0], picture_trace("P / t\n  0 +1 a\n", arena));
    struct text text = {0};
    struct error err = {0};
    bool stop = true;

    CHECK_INT("no room", export_xspace(&run, refuse, NULL, &err), ERR_IO);
    err = (struct error){0};
    run.cancelled = is_stopped;
    run.data = &stop;
    CHECK_INT("stopped", export_xspace(&run, gather, &text, &err), ERR_CANCELLED);
    err = (struct error){0};
    hosts[1] = hosts[0];
    run.host_count = 2;
    CHECK_INT("two hosts", export_xspace(&run, gather, &text, &err), ERR_INVALID);
    text_free(&text);
    arena_destroy(arena);
}

enum { TOLD = 150000, EACH = 10 };

/* A line in order; one where each tenth came before what follows it for long, as copies behind
 * kernels do; one that a slice encloses which ends, and comes, last. */
static void feed_told(struct sink *sink, void *data)
{
    static const char *const names[] = {"in order", "mixed", "enclosed"};
    track_id tracks[3], root = sink_track(sink, (struct sink_track){.parent = NO_TRACK,
                                                                    .kind = TRACK_PROCESS,
                                                                    .name = STR("/host:CPU"),
                                                                    .device = -1});
    name_id key = sink_name(sink, STR("n"));
    (void)data;

    for (int track = 0; track < 3; track++)
        tracks[track] = sink_track(sink, (struct sink_track){.parent = root,
                                                             .kind = TRACK_THREAD,
                                                             .name = str_of(names[track]),
                                                             .source_id = track + 1,
                                                             .device = -1});
    for (int64_t index = 0; index <= TOLD; index++) {
        int64_t at[3] = {index * 1001, index * 1001, index * 1001};

        if (index % EACH == 0 && index >= 3000)
            at[1] -= 3000 * 1001 - 1;
        if (index == TOLD) /* what it encloses went long ago, but for the first */
            at[2] = 500;
        if (index == 0)
            at[1] = -1500;
        for (int track = 0; track < 3; track++) {
            const struct sink_slice slice = {.track = tracks[track],
                                             .start_ps = at[track],
                                             .dur_ps = track == 1 ? 0
                                                       : track == 2 && index == TOLD
                                                           ? TOLD * INT64_C(1001)
                                                           : 1 + index % 7,
                                             .name = sink_name(sink, str_of(names[index % 3]))};
            const struct arg arg = {.key = key, .type = ARG_INT64, .bits = (uint64_t)index};

            sink_slice_args(sink, &slice, &arg, 1);
        }
    }
}

/* Without rows: its lines are told to the exporter. */
static struct text told(struct arena *arena)
{
    struct error err = {0};
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct trace *trace = arena_new(arena, struct trace);
    struct xspace_lines *lines = xspace_lines_create(NULL);
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default,
                    (struct sink_hooks){.taker = xspace_lines_taker(lines)}, NULL, &err);

    xspace_lines_begin(lines, sink);
    feed_told(sink, NULL);
    CHECK_OK("lines", xspace_lines_end(lines, &err), &err);
    CHECK_OK("finish", sink_finish(sink, &err), &err);
    sink_destroy(sink);
    CHECK_OK("open", trace_open(memory_blocks_in(blocks), arena, trace, &err), &err);
    CHECK_INT("slices in rows", trace->slice_count, 0);
    struct export_host host;
    struct export_run run = run_of(&host, trace);

    run.lines = lines;
    struct text text = written(&run);

    xspace_lines_destroy(lines);
    return text;
}

/* XProf takes events in the order of their line. */
static void check_order(struct pb line)
{
    int64_t last_ps = 0, dur_ps = INT64_MAX;

    for (struct pb_field event; pb_next(&line, &event);) {
        struct pb inside = pb_inside(&line, event.bytes, line.err);
        int64_t times[4] = {0};

        if (event.number != XLINE_EVENTS)
            continue;
        for (struct pb_field field; pb_next(&inside, &field);)
            if (field.number <= XEVENT_DURATION_PS)
                times[field.number] = (int64_t)field.varint;
        CHECK("in order",
              times[XEVENT_OFFSET_PS] > last_ps ||
                  (times[XEVENT_OFFSET_PS] == last_ps && times[XEVENT_DURATION_PS] <= dur_ps));
        last_ps = times[XEVENT_OFFSET_PS];
        dur_ps = times[XEVENT_DURATION_PS];
    }
}

static void check_orders(struct bytes space)
{
    struct error err = {0};
    struct pb file = pb_open(space, &err);

    for (struct pb_field plane; pb_next(&file, &plane);) {
        struct pb inside = pb_inside(&file, plane.bytes, &err);

        for (struct pb_field line; plane.number == 1 && pb_next(&inside, &line);)
            if (line.number == XPLANE_LINES)
                check_order(pb_inside(&inside, line.bytes, &err));
    }
    CHECK_INT("read", err.code, OK);
}

static void lines_that_are_told(void **state)
{
    (void)state;
    struct arena *arena = arena_create(), *scratch = arena_create();
    struct export_host host;
    struct export_run run = run_of(&host, picture_fed(feed_told, NULL, arena));
    const struct trace *want = again(&run, arena);
    struct text text = told(arena);
    const struct trace *got = picture_fed(feed_space, &text, arena);
    check_orders((struct bytes){(const uint8_t *)text.at, text.count});

    CHECK_INT("slices", got->slice_count, 3 * (TOLD + 1));
    CHECK_INT("as many as of rows", got->slice_count, want->slice_count);
    CHECK_INT("their epoch", got->start_ps, want->start_ps);
    for (slice_id id = 0; id < got->slice_count; id += 7) {
        struct slice one = trace_slice(got, id), other = trace_slice(want, id);

        if (one.start_ps != other.start_ps || one.dur_ps != other.dur_ps ||
            !str_equal(trace_name(got, one.name), trace_name(want, other.name)))
            CHECK_INT("a slice", id, NO_SLICE);
    }
    for (slice_id id = 0; id < got->slice_count; id += 4001) {
        struct arg *args, *others;
        uint32_t count = trace_args(got, trace_slice(got, id).event, scratch, &args);

        CHECK_INT("args", count, trace_args(want, trace_slice(want, id).event, scratch, &others));
        CHECK_INT("their number", args[0].bits, others[0].bits);
        arena_reset(scratch);
    }
    text_free(&text);
    arena_destroy(scratch);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_and_window),
        cmocka_unit_test(names),
        cmocka_unit_test(hostile),
        cmocka_unit_test(kernels),
        cmocka_unit_test(refused),
        cmocka_unit_test(samples),
        cmocka_unit_test(lines_that_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
