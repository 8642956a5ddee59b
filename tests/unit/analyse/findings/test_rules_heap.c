/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about planned and saved memory: each with a run that triggers it and one that does not. */
#include "unit/analyse/findings_of.h"
#include "unit/decode/proto.h"

enum { INSTRUCTIONS = 40, ELEMENTS = 1 << 20 /* of 4 bytes */ };

struct plan {           /* of the module that is made */
    const char *opcode; /* of all */
    int64_t long_bytes; /* of the buffer that lives from 1 to 38 */
    int64_t peak_bytes; /* of the one that lives at 20 */
    bool gives_output;  /* of the parameter's shape */
    bool is_donated;
    int64_t runs;
};

static void put_shape(struct text *to, uint32_t number)
{
    struct text shape = {0}, sizes = {0};

    put_number(&shape, 2, 11);
    put_varint(&sizes, ELEMENTS);
    put_message(&shape, 3, &sizes);
    put_message(to, number, &shape);
    text_free(&shape);
    text_free(&sizes);
}

static void put_module(struct text *to, const struct plan *plan)
{
    struct text module = {0}, computation = {0}, instruction = {0}, ids = {0};
    char name[16];

    put_text(&module, 1, "jit_f");
    put_text(&module, 2, "main");
    put_text(&computation, 1, "main");
    for (int64_t i = 0; i < INSTRUCTIONS; i++) {
        snprintf(name, sizeof name, "i%d", (int)i);
        put_text(&instruction, 1, name);
        put_text(&instruction, 2, i == 0 ? "parameter" : plan->opcode);
        put_shape(&instruction, 3);
        put_number(&instruction, 35, i + 1);
        if (i > 0)
            put_varint(&ids, i == 1 ? 1 : (uint64_t)i);
        put_message(&instruction, 36, &ids);
        put_message(&computation, 2, &instruction);
    }
    put_number(&computation, 5, 9);
    put_number(&computation, 6, INSTRUCTIONS);
    put_message(&module, 3, &computation);
    put_number(&module, 5, 36);
    put_message(to, 1, &module);
    text_free(&module);
    text_free(&computation);
    text_free(&instruction);
    text_free(&ids);
}

static void put_buffer(struct text *all, int64_t id, int64_t bytes, int64_t instruction)
{
    struct text buffer = {0}, inner = {0};

    put_number(&buffer, 1, id);
    put_number(&buffer, 2, bytes);
    put_number(&inner, 4, instruction + 1);
    put_message(&buffer, 3, &inner);
    put_message(all, 1, &buffer);
    text_free(&buffer);
    text_free(&inner);
}

/* `flag` is a field that is set: 5 parameter, 7 live out. */
static void put_allocation(struct text *all, int64_t bytes, int64_t first, int64_t last,
                           uint32_t flag, uint32_t other_flag)
{
    struct text allocation = {0}, inner = {0};

    put_number(&allocation, 2, bytes);
    if (flag != 0)
        put_number(&allocation, flag, 1);
    if (other_flag != 0)
        put_number(&allocation, other_flag, 1);
    for (int64_t id = first; id <= last; id++) {
        put_number(&inner, 1, id);
        put_number(&inner, 3, bytes);
        put_message(&allocation, 9, &inner);
    }
    put_message(all, 3, &allocation);
    text_free(&allocation);
    text_free(&inner);
}

static void put_events(struct text *all)
{
    static const struct {
        int64_t kind, buffer;
        const char *at;
    } events[] = {{0, 3, "i1"}, {0, 4, "i20"}, {1, 4, "i20"}, {1, 3, "i38"}};
    struct text trace = {0}, event = {0};

    for (size_t i = 0; i < COUNT(events); i++) {
        put_number(&event, 1, events[i].kind);
        put_number(&event, 2, events[i].buffer);
        put_text(&event, 4, events[i].at);
        put_message(&trace, 1, &event);
    }
    put_message(all, 4, &trace);
    text_free(&trace);
    text_free(&event);
}

static void make_run(struct made_run *run, const struct plan *plan)
{
    struct text proto = {0}, all = {0};
    int64_t bytes = INT64_C(4) * ELEMENTS;

    put_module(&proto, plan);
    put_buffer(&all, 1, bytes, 0);
    put_buffer(&all, 2, bytes, INSTRUCTIONS - 1);
    put_buffer(&all, 3, plan->long_bytes, 1);
    put_buffer(&all, 4, plan->peak_bytes, 20);
    put_allocation(&all, bytes, 1, 1, 5, plan->is_donated ? 7 : 0);
    put_allocation(&all, plan->gives_output ? bytes : 4, 2, 2, 7, 0);
    put_allocation(&all, plan->long_bytes + plan->peak_bytes, 3, 4, 0, 0);
    put_events(&all);
    put_message(&proto, 3, &all);
    run_begin(run);
    struct sink *sink = run->made.sink;
    program_id program =
        sink_program(sink, 36, sink_name(sink, STR("jit_f")), 7,
                     (struct bytes){.at = (const uint8_t *)proto.at, .count = proto.count});

    sink_program_about(sink, program,
                       (struct program_about){.form = PROGRAM_PROTO, .has_buffers = true});
    sink_instruction(sink, (struct instruction){.program = program,
                                                .name = sink_name(sink, STR("i1")),
                                                .opcode = sink_name(sink, STR("add"))});
    track_id track = run_thread(run, "tf_XLAEigen/1");
    for (int64_t i = 0; i < plan->runs; i++)
        run_cpu_op(run, track, 100 * i, 50, "i1", 36, i + 1, 0, 0);
    run_finish(run);
    text_free(&proto);
    text_free(&all);
}

static void planned(void **state)
{
    (void)state;
    const int64_t mib = 1 << 20;
    const struct {
        const char *what;
        struct plan plan;
        bool again, donation, temporary;
    } rows[] = {
        {"a cheap value that lives long",
         {"add", 8 * mib, mib, false, false, 2},
         true,
         false,
         false},
        {"a product", {"dot", 2 * mib, mib, false, false, 2}, false, false, false},
        {"an output among much more", {"dot", 12 * mib, mib, true, false, 2}, false, false, false},
        {"an output like the input", {"dot", mib, mib, true, false, 2}, false, true, false},
        {"donated already", {"dot", mib, mib, true, true, 2}, false, false, false},
        {"ran once", {"dot", mib, mib, true, false, 1}, false, false, false},
        {"never ran", {"add", 8 * mib, mib, true, false, 0}, false, false, false},
        {"one large value at the peak",
         {"dot", mib, 20 * mib, false, false, 1},
         false,
         false,
         true},
        {"a small module", {"add", 1000, 1000, false, false, 2}, false, false, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        make_run(&run, &rows[i].plan);
        CHECK(rows[i].what, (run_finding(&run, "memory-rematerialise") != NULL) == rows[i].again);
        CHECK(rows[i].what, (run_finding(&run, "memory-donation") != NULL) == rows[i].donation);
        CHECK(rows[i].what,
              (run_finding(&run, "memory-large-temporary") != NULL) == rows[i].temporary);
        run_end(&run);
    }
}

enum { SNAPSHOTS_MAX = 3 };

static void make_snapshot(struct made *made, int64_t kept_bytes, int64_t other_bytes,
                          const char *unit)
{
    const char *const functions[] = {"keep", "borrow"};
    const int64_t bytes[] = {kept_bytes, other_bytes};

    made_begin(made);
    sink_sample_type(made->sink, sink_name(made->sink, STR("space")),
                     sink_name(made->sink, str_of(unit)));
    for (size_t i = 0; i < COUNT(functions); i++) {
        stack_id stack =
            sink_stack(made->sink, NO_STACK,
                       (struct frame){.function = sink_name(made->sink, str_of(functions[i])),
                                      .file = sink_name(made->sink, STR("/home/u/train.py")),
                                      .line = 3});
        sink_sample(made->sink,
                    (struct sample){.at_ps = SAMPLE_NO_TIME, .track = NO_TRACK, .stack = stack},
                    &bytes[i], NULL, 0);
    }
    made_finish(made);
}

static void leak(void **state)
{
    (void)state;
    const int64_t mib = 1 << 20;
    const struct {
        const char *what;
        const char *names[SNAPSHOTS_MAX];
        int64_t kept[SNAPSHOTS_MAX], other[SNAPSHOTS_MAX];
        const char *unit;
        uint32_t count;
        bool finds;
    } rows[] = {
        {"grows",
         {"m1.prof", "m2.prof", "m10.prof"},
         {mib, 5 * mib, 9 * mib},
         {mib, mib, mib},
         "bytes",
         3,
         true},
        {"comes and goes",
         {"m1.prof", "m2.prof", "m3.prof"},
         {mib, 9 * mib, 5 * mib},
         {mib, mib, mib},
         "bytes",
         3,
         false},
        {"little",
         {"m1.prof", "m2.prof", "m3.prof"},
         {1, 2, 3},
         {mib, mib, mib},
         "bytes",
         3,
         false},
        {"other names",
         {"a.prof", "b.prof", "c.prof"},
         {mib, 5 * mib, 9 * mib},
         {mib, mib, mib},
         "bytes",
         3,
         false},
        {"no bytes",
         {"m1.prof", "m2.prof", "m3.prof"},
         {mib, 5 * mib, 9 * mib},
         {mib, mib, mib},
         "count",
         3,
         false},
        {"one", {"m1.prof"}, {9 * mib}, {mib}, "bytes", 1, false},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;
        struct made made[SNAPSHOTS_MAX];
        struct host_trace others[SNAPSHOTS_MAX];

        run_begin(&run);
        run_finish(&run);
        for (uint32_t k = 0; k < rows[i].count; k++) {
            make_snapshot(&made[k], rows[i].kept[k], rows[i].other[k], rows[i].unit);
            others[k] =
                (struct host_trace){.trace = &made[k].trace, .name = str_of(rows[i].names[k])};
        }
        run.run.others = others;
        run.run.other_count = rows[i].count;
        CHECK(rows[i].what, (run_finding(&run, "memory-leak") != NULL) == rows[i].finds);
        if (rows[i].finds)
            CHECK_SAYS(&run, "memory-leak", "memory held by keep");
        for (uint32_t k = 0; k < rows[i].count; k++)
            made_end(&made[k]);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planned),
        cmocka_unit_test(leak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
