/* SPDX-License-Identifier: Apache-2.0 */
/* What stats of an XSpace mean: flows, memory, counters, scopes, programs, kinds. */
#include <inttypes.h>
#include <stdio.h>

#include "made_space.h"

static void put_flow_stats(struct made *made, int64_t type, int64_t id, int64_t first_stat)
{
    put_stat(made, first_stat, 4, type);
    put_stat(made, first_stat + 1, 4, id);
}

static void flows(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    const char *stats[] = {"_pt", "_p", "_ct", "_c", "correlation_id", "flow"};

    for (size_t i = 0; i < COUNT(stats); i++)
        name_stat(&made, (int64_t)i + 1, stats[i]);
    line_head(&made, 1, "python", 0);
    put_flow_stats(&made, 15, 77, 1);
    put_event(&made, 1, 0, 5);
    put_flow_stats(&made, 15, 77, 3);
    put_event(&made, 2, 10, 5);
    put_flow_stats(&made, 99, 77, 3);
    put_event(&made, 3, 20, 5);
    put_stat(&made, 5, 3, 1234);
    put_event(&made, 4, 30, 5);
    put_stat(&made, 6, 3, (int64_t)(UINT64_C(11) << 58 | 5 << 2 | 2));
    put_event(&made, 5, 40, 5);
    end_line(&made);
    const char *names[] = {"record", "region", "other", "cuLaunchKernel", "out"};
    for (size_t i = 0; i < COUNT(names); i++)
        name_event(&made, (int64_t)i + 1, names[i]);
    end_plane(&made, "/host:CPU");

    line_head(&made, 7, "Stream #7(Kernel)", 0);
    put_stat(&made, 1, 3, 1234);
    put_event(&made, 1, 50, 5);
    put_stat(&made, 2, 3, (int64_t)(UINT64_C(11) << 58 | 5 << 2 | 1));
    put_event(&made, 2, 60, 5);
    end_line(&made);
    name_stat(&made, 1, "correlation_id");
    name_stat(&made, 2, "flow");
    name_event(&made, 1, "gemm");
    name_event(&made, 2, "in");
    end_plane(&made, "/device:GPU:0");

    const struct trace *trace = made_trace(&made, arena);
    struct text got = {0};
    for (uint64_t i = 0; i < trace->flow_count; i++) {
        const struct flow *flow = &trace->flows[i];
        struct str words[] = {trace_name(trace, trace_slice(trace, flow->from).name),
                              trace_name(trace, trace_slice(trace, flow->to).name),
                              trace_name(trace, flow->kind)};
        text_putf(&got, "%.*s -> %.*s: %.*s %" PRIu64 "\n", STR_ARG(words[0]), STR_ARG(words[1]),
                  STR_ARG(words[2]), flow->id);
    }
    CHECK_STR("flows", text_str(&got),
              "record -> region: thread pool 77\n"
              "cuLaunchKernel -> gemm: kernel launch 1234\n"
              "out -> in: tpu stream 5\n");
    text_free(&got);
    free_made(&made);
    arena_destroy(arena);
}

static void memory(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, 1, "python", 0);
    put_stat(&made, 1, 7, 9);
    put_stat(&made, 2, 4, 256);
    put_stat(&made, 3, 4, 8);
    put_stat(&made, 4, 4, 1024);
    put_stat(&made, 5, 4, 4096);
    put_event(&made, 1, 10, 0);
    put_stat(&made, 3, 4, 8);
    put_stat(&made, 6, 4, 3);
    put_event(&made, 2, 20, 0);
    end_line(&made);
    const char *stats[] = {"allocator_name",  "allocation_bytes",  "requested_bytes",
                           "bytes_allocated", "peak_bytes_in_use", "index_on_host"};
    for (size_t i = 0; i < COUNT(stats); i++)
        name_stat(&made, (int64_t)i + 1, stats[i]);
    name_stat(&made, 9, "GPU_0_bfc");
    name_event(&made, 1, "MemoryAllocation");
    name_event(&made, 2, "MemoryDeallocation");
    end_plane(&made, "/host:CPU");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_INT("memory events", trace->memory_event_count, 2);
    const struct memory_event *events = trace->memory_events;
    CHECK_STR("allocator", trace_name(trace, events[0].allocator), "GPU_0_bfc");
    CHECK_INT("at", events[0].at_ps, 10);
    CHECK_INT("bytes", events[0].bytes, 256);
    CHECK_INT("allocated", events[0].bytes_allocated, 1024);
    CHECK_INT("peak", events[0].peak_bytes, 4096);
    CHECK_INT("unknown", events[0].bytes_available, -1);
    CHECK("allocation", !events[0].is_free && events[1].is_free);
    CHECK_STR("by number", trace_name(trace, events[1].allocator), "device 3");
    CHECK_INT("only requested", events[1].bytes, 8);
    free_made(&made);
    arena_destroy(arena);
}

static void counters_and_sums(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, INT64_MAX, "_counters_", 0);
    put_stat(&made, 1, 3, 40);
    put_event(&made, 1, 10, 0);
    put_number(&made.stat, 1, 1);
    put_double(&made.stat, 2, 0.5);
    put_message(&made.event, 4, &made.stat);
    put_event(&made, 1, 20, 0);
    put_stat(&made, 1, 4, -3);
    put_event(&made, 2, 15, 0);
    put_event(&made, 2, 16, 0);
    put_stat(&made, 1, 3, 1);
    put_stat(&made, 2, 3, 7);
    put_stat(&made, 1, 3, 1);
    put_event(&made, 2, 17, 0);
    end_line(&made);
    line_head(&made, 1, "Stream #1", 0);
    for (int i = 1; i <= 2; i++) {
        struct text event = {0};
        put_number(&event, 1, 3);
        put_number(&event, 3, 50 * i);
        put_number(&event, 5, 4 * i);
        put_message(&made.line, 4, &event);
        text_free(&event);
    }
    end_line(&made);
    name_stat(&made, 1, "value");
    name_stat(&made, 2, "counter_value");
    name_event(&made, 1, "sm active");
    name_event(&made, 2, "dram");
    name_event(&made, 3, "sum");
    end_plane(&made, "/device:GPU:0");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_PICTURE("counters", trace, 0,
                  "/device:GPU:0 / sm active\n  10 = 40\n  20 = 0.5\n"
                  "/device:GPU:0 / dram\n  15 = -3\n  17 = 7\n");
    CHECK_INT("properties", trace->property_count, 3); /* two say how much is described */
    CHECK_STR("sum", trace_name(trace, trace->properties[2].arg.key), "aggregated sum");
    CHECK_STR("sum", trace_name(trace, (name_id)trace->properties[2].arg.bits),
              "{\"count\":12,\"total_ps\":150}");
    CHECK_STR("note", trace_name(trace, trace->notes[0].kind), "aggregated-events");
    CHECK_STR("note", trace_name(trace, trace->notes[1].kind), "empty-samples");
    CHECK_INT("note", trace->notes[1].count, 1);
    free_made(&made);
    arena_destroy(arena);
}

/* The scaled value counts, and what the counter says of itself is told once. */
static void performance_counters(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    line_head(&made, 7, "_counters_", 0);
    for (int i = 1; i <= 2; i++) {
        put_stat(&made, 1, 3, 77);
        put_text(&made.stat, 5, "cycles of all SMs");
        put_number(&made.stat, 1, 2);
        put_message(&made.event, 4, &made.stat);
        put_stat(&made, 3, 3, 1000 * i);
        put_stat(&made, 4, 3, i);
        put_event(&made, 1, 10 * i, 0);
    }
    put_stat(&made, 1, 3, 78);
    put_stat(&made, 3, 3, 5);
    put_event(&made, 2, 30, 0);
    end_line(&made);
    name_stat(&made, 1, "performance_counter_id");
    name_stat(&made, 2, "performance_counter_description");
    name_stat(&made, 3, "Raw Value");
    name_stat(&made, 4, "Scaled Value");
    name_event(&made, 1, "cycles");
    name_event(&made, 2, "stalls");
    end_plane(&made, "/device:GPU:0");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_PICTURE("samples", trace, 0,
                  "/device:GPU:0 / cycles\n  10 = 1\n  20 = 2\n"
                  "/device:GPU:0 / stalls\n  30 = 5\n");
    CHECK_INT("properties", trace->property_count, 5); /* two say how much is described */
    CHECK_STR("of the counter", trace_name(trace, trace->tracks[trace->properties[1].track].name),
              "cycles");
    CHECK_STR("description", trace_name(trace, (name_id)trace->properties[1].arg.bits),
              "cycles of all SMs");
    free_made(&made);
    arena_destroy(arena);
}

static void scope_ranges(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    for (int64_t child = 3; child >= 1; child--) {
        put_number(&made.stat, 1, child);
        if (child != 2) /* one without a value has no parent */
            put_number(&made.stat, 4, child - 1);
        put_message(&made.plane, 6, &made.stat);
    }
    end_plane(&made, "/host:__ScopeRangeCallStack__");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_INT("properties", trace->property_count, 1);
    CHECK_STR("key", trace_name(trace, trace->properties[0].arg.key), "scope_range_parents");
    CHECK_STR("parents", trace_name(trace, (name_id)trace->properties[0].arg.bits),
              "{\"3\":\"2\",\"1\":\"0\"}");
    CHECK_INT("of the file", trace->properties[0].track, NO_TRACK);
    free_made(&made);
    arena_destroy(arena);
}

/* Programs 10 and 20, whose only instruction is op.1: a dot in one, a collective in the other. */
static void put_programs_in(struct made *made, const char *plane)
{
    const char *opcodes[] = {"dot", "all-reduce"};
    struct text proto = {0}, module = {0}, computation = {0}, instruction = {0};

    for (int64_t program = 1; program <= 2; program++) {
        char name[16];
        put_text(&instruction, 1, "op.1");
        put_text(&instruction, 2, opcodes[program - 1]);
        put_message(&computation, 2, &instruction);
        put_text(&module, 1, "jit_f");
        put_message(&module, 3, &computation);
        put_message(&proto, 1, &module);
        put_number(&made->stat, 1, 1);
        put_bytes(&made->stat, 6, text_str(&proto));
        proto.count = 0;
        put_message(&made->event, 5, &made->stat);
        snprintf(name, sizeof name, "jit_f(%d)", (int)program * 10);
        put_named(&made->names, 4, program, name, &made->event);
    }
    name_stat(made, 1, "Hlo Proto");
    end_plane(made, plane);
    text_free(&proto);
    text_free(&module);
    text_free(&computation);
    text_free(&instruction);
}

static void put_programs(struct made *made)
{
    put_programs_in(made, "/host:metadata");
}

static void programs_of_a_tpu(void **state)
{
    (void)state;
    const struct {
        const char *plane;
        uint32_t programs;
    } rows[] = {{"/host:metadata", 2}, {"/device:TPU:0", 2}, {"/device:GPU:0", 0}};

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena *arena = arena_create();
        struct made made = {0};
        put_programs_in(&made, rows[i].plane);
        const struct trace *trace = made_trace(&made, arena);
        CHECK_INT(rows[i].plane, trace->program_count, rows[i].programs);
        free_made(&made);
        arena_destroy(arena);
    }
}

static void put_op(struct made *made, int64_t event, int64_t op, int64_t program, int64_t at)
{
    put_stat(made, 1, 7, op);
    put_stat(made, 2, 4, program);
    put_event(made, event, at, 5);
}

static void name_op_stats(struct made *made)
{
    name_stat(made, 1, "hlo_op");
    name_stat(made, 2, "program_id");
    name_stat(made, 3, "op.1");
    name_stat(made, 4, "command_buffer::op.1");
    name_stat(made, 5, "correlation_id");
}

static void kinds_by_program(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};

    put_programs(&made);
    line_head(&made, 1, "tf_XLAEigen/1", 0);
    for (int64_t i = 0; i < 4; i++)
        put_op(&made, 1, 3, i % 2 == 0 ? 10 : 20, i * 10);
    put_event(&made, 1, 40, 5);
    put_event(&made, 2, 50, 5);
    put_op(&made, 3, 4, 20, 60);
    put_stat(&made, 5, 3, 7);
    put_op(&made, 1, 3, 20, 70);
    end_line(&made);
    name_event(&made, 1, "op.1");
    name_event(&made, 2, "end: op.1");
    name_event(&made, 3, "kernel");
    name_op_stats(&made);
    end_plane(&made, "/host:CPU");
    const struct trace *trace = made_trace(&made, arena);

    CHECK_PICTURE("kinds", trace, PICTURE_KINDS,
                  "/host:CPU / tf_XLAEigen/1\n"
                  "  0 +5 op.1 (compute)\n  10 +5 op.1 (communication)\n"
                  "  20 +5 op.1 (compute)\n  30 +5 op.1 (communication)\n"
                  "  40 +5 op.1 (host)\n  50 +5 end: op.1 (host)\n"
                  "  60 +5 kernel (communication)\n  70 +5 op.1 (host)\n");
    CHECK_INT("programs", trace->program_count, 2);
    CHECK("by id",
          trace_program(trace, 10) != NO_PROGRAM && trace_program(trace, 20) != NO_PROGRAM);
    free_made(&made);
    arena_destroy(arena);
}

/* TPUs name the op in the metadata of events, and the program too. */
static void kinds_by_metadata(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made made = {0};
    struct text rest = {0};

    put_programs(&made);
    line_head(&made, 3, "XLA Ops", 0);
    for (int64_t i = 1; i <= 3; i++)
        put_event(&made, i, i * 10, 5);
    end_line(&made);
    for (int64_t i = 1; i <= 2; i++) {
        put_number(&made.stat, 1, 2);
        put_number(&made.stat, 3, i * 10);
        put_message(&rest, 5, &made.stat);
        put_named(&made.names, 4, i, "%op.1 = f32[8] op()", &rest);
    }
    put_number(&made.stat, 1, 6);
    put_text(&made.stat, 5, "all-gather");
    put_message(&rest, 5, &made.stat);
    put_named(&made.names, 4, 3, "%other = f32[8] other()", &rest);
    name_stat(&made, 6, "hlo_category");
    name_op_stats(&made);
    end_plane(&made, "/device:TPU:0");
    CHECK_PICTURE("kinds", made_trace(&made, arena), PICTURE_KINDS,
                  "/device:TPU:0 / XLA Ops\n"
                  "  10 +5 %op.1 = f32[8] op() (compute)\n"
                  "  20 +5 %op.1 = f32[8] op() (communication)\n"
                  "  30 +5 %other = f32[8] other() (communication)\n");
    text_free(&rest);
    free_made(&made);
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(performance_counters),
        cmocka_unit_test(scope_ranges),
        cmocka_unit_test(programs_of_a_tpu),
        cmocka_unit_test(flows),
        cmocka_unit_test(memory),
        cmocka_unit_test(counters_and_sums),
        cmocka_unit_test(kinds_by_program),
        cmocka_unit_test(kinds_by_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
