/* SPDX-License-Identifier: Apache-2.0 */
/* XSpaces built field by field against drawn traces, and samples against an independent reader's
 * numbers. */
#include "made_space.h"
#include "trace/args/args.h"

static void nested(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, 7, "Stream #7(Kernel)", 1);
    put_event(&made, 1, 0, 30);
    put_event(&made, 2, 10, 5);
    put_event(&made, 3, 20, 8);
    put_event(&made, 2, 25, 10);
    put_event(&made, 3, 40, 0);
    put_event(&made, 3, -1500, 4);
    end_line(&made);
    name_event(&made, 1, "step 1");
    name_event(&made, 2, "fusion.3");
    name_event(&made, 3, "all-reduce.1");
    end_plane(&made, "/device:GPU:0");
    CHECK_PICTURE("nested", made_trace(&made, arena), PICTURE_KINDS | PICTURE_NOTES,
                  "/device:GPU:0 / Stream #7(Kernel)\n"
                  "  -500 +4 all-reduce.1 (communication)\n"
                  "  1000 +30 step 1 (compute)\n"
                  "    1010 +5 fusion.3 (compute)\n"
                  "    1020 +8 all-reduce.1 (communication)\n"
                  "      1025 +10 fusion.3 (compute) [partial]\n"
                  "  1040 +0 all-reduce.1 (communication)\n");
    free_made(&made);
    arena_destroy(arena);
}

static void args(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, 1, "python", 0);
    put_stat(&made, 1, 4, -1);
    put_stat(&made, 2, 3, -1);
    put_stat(&made, 3, 7, 1);
    put_stat(&made, 1, 4, INT64_MIN);
    put_number(&made.stat, 1, 4);
    put_double(&made.stat, 2, 0.5);
    put_message(&made.event, 4, &made.stat);
    put_number(&made.stat, 1, 3);
    put_text(&made.stat, 5, "text");
    put_message(&made.event, 4, &made.stat);
    put_number(&made.stat, 1, 2);
    put_message(&made.event, 4, &made.stat);
    put_stat(&made, 9, 7, 8);
    put_text(&made.event, 14, "a field of tomorrow");
    put_number(&made.event, 200, 5);
    put_event(&made, 1, 0, 5);
    put_event(&made, 1, 10, 5);
    end_line(&made);
    name_event(&made, 1, "call");
    name_stat(&made, 1, "int");
    name_stat(&made, 2, "uint");
    name_stat(&made, 3, "text");
    name_stat(&made, 4, "real");
    end_plane(&made, "/host:CPU");
    CHECK_PICTURE("args", made_trace(&made, arena), PICTURE_ARGS,
                  "/host:CPU / python\n"
                  "  0 +5 call {int: -1, uint: 18446744073709551615u, text: \"int\", "
                  "int: -9223372036854775808, real: 0.5, text: \"text\", uint: null, "
                  "stat 9: \"stat 8\"}\n"
                  "  10 +5 call\n");
    free_made(&made);
    arena_destroy(arena);
}

static void type_args(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct text stats = {0};

    line_head(&made, 3, "XLA Ops", 0);
    put_event(&made, 1, 0, 5);
    put_event(&made, 1, 5, 5);
    end_line(&made);
    put_text(&stats, 4, "fusion.3");
    put_number(&made.stat, 1, 1);
    put_number(&made.stat, 4, 77);
    put_message(&stats, 5, &made.stat);
    put_named(&made.names, 4, 1, "%fusion.3 = f32[8] fusion()", &stats);
    name_stat(&made, 1, "flops");
    end_plane(&made, "/device:TPU:2");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_PICTURE("the short name", trace, PICTURE_ARGS,
                  "/device:TPU:2 / XLA Ops\n  0 +5 fusion.3\n  5 +5 fusion.3\n");
    type_id type = trace_type(trace, trace_slice(trace, 0).event);
    CHECK("one type", type != 0 && type == trace_type(trace, trace_slice(trace, 1).event));
    CHECK_INT("type args", trace->types[type].arg_count, 2);
    const struct arg *arg = &trace->type_args[trace->types[type].first_arg];
    CHECK_STR("long name", trace_name(trace, arg[0].key), "long_name");
    CHECK_STR("long name", trace_name(trace, (name_id)arg[0].bits), "%fusion.3 = f32[8] fusion()");
    CHECK_STR("flops", trace_name(trace, arg[1].key), "flops");
    CHECK_INT("flops", arg[1].bits, 77);
    CHECK_INT("device", trace->tracks[1].device, 2);
    CHECK_INT("role", trace->tracks[1].role, ROLE_OPS);
    text_free(&stats);
    free_made(&made);
    arena_destroy(arena);
}

/* Planes of one name are one process; lines of one id one thread, unless their names differ. */
static void merged(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    one_event_line(&made, 1, "python", 0);
    one_event_line(&made, 2, "python", 10);
    one_event_line(&made, 1, "", 20);
    one_event_line(&made, 1, "main", 30);
    name_event(&made, 1, "a");
    end_plane(&made, "/host:CPU");
    one_event_line(&made, 2, "python", 40);
    name_event(&made, 1, "b");
    end_plane(&made, "/host:CPU");
    one_event_line(&made, 2, "python", 50);
    name_event(&made, 1, "c");
    end_plane(&made, "/host:CUPTI");
    CHECK_PICTURE("merged", made_trace(&made, arena), 0,
                  "/host:CPU / python\n  0 +5 a\n  20 +5 a\n"
                  "/host:CPU / python\n  10 +5 a\n  40 +5 b\n"
                  "/host:CPU / main\n  30 +5 a\n"
                  "/host:CUPTI / python\n  50 +5 c\n");
    free_made(&made);
    arena_destroy(arena);
}

static void display_name_behind_the_events(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, 1, "7", 0);
    put_event(&made, 1, 0, 5);
    put_text(&made.line, 11, "python");
    end_line(&made);
    name_event(&made, 1, "a");
    end_plane(&made, "/host:CPU");
    CHECK_PICTURE("renamed", made_trace(&made, arena), 0, "/host:CPU / python\n  0 +5 a\n");
    free_made(&made);
    arena_destroy(arena);
}

/* Any order of fields is one: what a line is called may stand behind an event of it. */
static void head_behind_an_event(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    for (int i = 0; i < 2; i++) { /* two lines of one thread */
        put_event(&made, 1, i * 10, 5);
        line_head(&made, 7, "python", 1);
        put_event(&made, 1, i * 10 + 5, 5);
        end_line(&made);
    }
    name_event(&made, 1, "a");
    end_plane(&made, "/host:CPU");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_PICTURE("one thread", trace, 0,
                  "/host:CPU / python\n  1000 +5 a\n  1005 +5 a\n  1010 +5 a\n  1015 +5 a\n");
    CHECK_INT("its id", trace->tracks[1].source_id, 7);
    free_made(&made);
    arena_destroy(arena);
}

static void about_the_file(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    put_number(&made.stat, 1, 1);
    put_number(&made.stat, 3, 1590000);
    put_message(&made.plane, 6, &made.stat);
    name_stat(&made, 1, "clock_rate");
    end_plane(&made, "/device:GPU:3");
    put_text(&made.file, 2, "no rights");
    put_text(&made.file, 3, "7 events dropped");
    put_text(&made.file, 4, "rack2.lan");
    put_text(&made.file, 4, "rack2.lan");
    put_text(&made.file, 4, "rack3.lan");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_STR("hostname", trace->hostname, "rack2.lan");
    CHECK_STR("format", str_of(trace->format), "xplane");
    CHECK_INT("an idle device is a track", trace->track_count, 1);
    CHECK_INT("its ordinal", trace->tracks[0].device, 3);
    CHECK_INT("its property", trace->properties[0].track, 0);
    CHECK_INT("its property", trace->properties[0].arg.bits, 1590000);
    CHECK_PICTURE(
        "notes", trace, PICTURE_NOTES,
        "note collector-error 1 The collector reported: no rights\nnote collector-warning 1 The "
        "collector warned: 7 events dropped\nnote several-hosts 1 The file holds profiles of "
        "several hosts, which are shown as one; another is rack3.lan.\n");
    free_made(&made);
    arena_destroy(arena);
}

static void derived(void **state)
{
    (void)state;
    const struct {
        const char *what, *plane, *line;
        int64_t id;
        bool derived;
        enum track_role role;
    } rows[] = {
        {"a stream", "/device:GPU:0", "Stream #7", 7, false, ROLE_OPS},
        {"a stream of another accelerator", "/device:XPU:0", "Stream #7", 7, false, ROLE_OPS},
        {"steps of a GPU", "/device:GPU:0", "Steps", 1, true, ROLE_STEPS},
        {"steps of a TPU", "/device:TPU:0", "Steps", 1, false, ROLE_STEPS},
        {"modules of a TPU", "/device:TPU:0", "XLA Modules", 2, false, ROLE_MODULES},
        {"async ops", "/device:TPU:0", "Async XLA Ops", 4, false, ROLE_ASYNC_OPS},
        {"scopes", "/device:TPU:0", "Framework Name Scope", 9, true, ROLE_SCOPES},
        {"a viewer's id", "/device:GPU:0", "Ops", 0xdeadbef1, true, ROLE_NONE},
        {"a viewer's old id", "/device:GPU:0", "TensorFlow Ops", -559038734, true, ROLE_SCOPES},
        {"a thread called so", "/host:CPU", "Steps", 5, false, ROLE_HOST},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made made = {0};
        one_event_line(&made, rows[i].id, rows[i].line, 0);
        name_event(&made, 1, "a");
        end_plane(&made, rows[i].plane);
        const struct trace *trace = made_trace(&made, arena);
        CHECK_INT(rows[i].what, trace->tracks[1].derived, rows[i].derived);
        CHECK_INT(rows[i].what, trace->tracks[1].role, rows[i].role);
        CHECK_INT(rows[i].what, trace->tracks[1].source_id, rows[i].id);
        CHECK_INT(rows[i].what, trace->tracks[1].device, rows[i].role == ROLE_HOST ? -1 : 0);
        CHECK_INT(rows[i].what, (trace_slice(trace, 0).flags & SLICE_DERIVED) != 0,
                  rows[i].derived);
        free_made(&made);
        arena_destroy(arena);
    }
}

/* Concatenated spaces are one. */
static void concatenated(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    one_event_line(&made, 1, "python", 0);
    name_event(&made, 1, "a");
    end_plane(&made, "/host:CPU");
    struct text twice = {0};
    text_put(&twice, made.file.at, made.file.count);
    text_put(&twice, made.file.at, made.file.count);
    struct error err = {0};
    const struct trace *trace = trace_of(proto_bytes(&twice), arena, &err);
    CHECK_OK("twice", err.code, &err);
    CHECK_INT("slices", trace->slice_count, 2);
    CHECK_INT("tracks", trace->track_count, 2);
    text_free(&twice);
    free_made(&made);
    arena_destroy(arena);
}

/* Numbers counted by an independent reader when the samples were made. */
static void samples(void **state)
{
    (void)state;
    const struct {
        const char *step;
        uint64_t slices, flows;
        uint32_t programs;
        int64_t start_ps, end_ps;
    } rows[] = {
        {"step_500", 2135, 830, 1, 44777000, 49287874000},
        {"step_1000", 2537, 963, 1, 56854000, 168981851000},
        {"step_1500", 5775, 891, 2, 42634000, 910099855000},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct error err = {0};
        const struct trace *trace = trace_of(read_sample(rows[i].step, arena), arena, &err);
        CHECK_OK(rows[i].step, err.code, &err);
        CHECK_INT(rows[i].step, trace->slice_count, rows[i].slices);
        CHECK_INT(rows[i].step, trace->flow_count, rows[i].flows);
        CHECK_INT(rows[i].step, trace->program_count, rows[i].programs);
        CHECK_INT(rows[i].step, trace->start_ps, rows[i].start_ps);
        CHECK_INT(rows[i].step, trace->end_ps, rows[i].end_ps);
        CHECK_INT(rows[i].step, trace->note_count, 0);
        CHECK_STR(rows[i].step, trace->hostname, "trainer-0");
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested),
        cmocka_unit_test(args),
        cmocka_unit_test(type_args),
        cmocka_unit_test(merged),
        cmocka_unit_test(display_name_behind_the_events),
        cmocka_unit_test(head_behind_an_event),
        cmocka_unit_test(about_the_file),
        cmocka_unit_test(derived),
        cmocka_unit_test(concatenated),
        cmocka_unit_test(samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
