/* SPDX-License-Identifier: Apache-2.0 */
/* The heap of a module from drawn allocations: replayed traces, live ranges, padding, advice. */
#include "unit/analyse/made_run.h"

#include "analyse/memory/heap.h"
#include "analyse/memory/heap_fit.h"

/* One computation of instructions i0, i1, ..., each using the one before unless told otherwise. */
enum { INSTRUCTIONS = 40, BUFFERS_MAX = 64, EVENTS_MAX = 256 };

struct made_module {
    struct hlo_module module;
    struct hlo_computation computations[2];
    struct hlo_instruction instructions[INSTRUCTIONS];
    uint32_t operands[INSTRUCTIONS];
    struct hlo_buffer buffers[BUFFERS_MAX];
    struct hlo_allocation allocations[4];
    struct hlo_assigned assigned[BUFFERS_MAX];
    struct hlo_heap_event events[EVENTS_MAX];
    struct hlo_heap_trace traces[4];
    char names[INSTRUCTIONS][8];
};

static void make_module(struct made_module *made)
{
    *made = (struct made_module){0};
    for (uint32_t i = 0; i < INSTRUCTIONS; i++) {
        snprintf(made->names[i], sizeof made->names[i], "i%u", i);
        made->operands[i] = i - 1;
        made->instructions[i] = (struct hlo_instruction){.name = str_of(made->names[i]),
                                                         .opcode = STR("add"),
                                                         .first_operand = i,
                                                         .operand_count = i > 0};
    }
    made->computations[0] =
        (struct hlo_computation){.name = STR("main"), .count = INSTRUCTIONS, .is_entry = true};
    made->module = (struct hlo_module){.computations = made->computations,
                                       .computation_count = 1,
                                       .instructions = made->instructions,
                                       .instruction_count = INSTRUCTIONS,
                                       .operands = made->operands,
                                       .operand_count = INSTRUCTIONS,
                                       .has_buffers = true,
                                       .buffers = made->buffers,
                                       .allocations = made->allocations,
                                       .assigned = made->assigned,
                                       .heap_events = made->events,
                                       .heap_traces = made->traces};
}

static struct hlo_allocation *add_allocation(struct made_module *made, uint64_t bytes)
{
    struct hlo_module *module = &made->module;
    struct hlo_allocation *added = &made->allocations[module->allocation_count];

    *added = (struct hlo_allocation){.index = module->allocation_count++,
                                     .size_bytes = bytes,
                                     .first_assigned = module->assigned_count};
    return added;
}

static void add_buffer(struct made_module *made, uint64_t id, uint64_t bytes, uint32_t instruction,
                       uint64_t offset)
{
    struct hlo_module *module = &made->module;

    made->buffers[module->buffer_count++] =
        (struct hlo_buffer){.id = id, .size_bytes = bytes, .instruction = instruction};
    made->assigned[module->assigned_count++] =
        (struct hlo_assigned){.buffer = id, .offset = offset, .size_bytes = bytes};
    made->allocations[module->allocation_count - 1].assigned_count++;
}

static void add_event(struct made_module *made, enum hlo_heap_kind kind, uint64_t buffer,
                      uint32_t instruction, uint64_t with)
{
    made->events[made->module.heap_event_count++] = (struct hlo_heap_event){
        .kind = (uint8_t)kind, .buffer = buffer, .instruction = instruction, .shared_with = with};
    made->traces[0].event_count++;
    made->module.heap_trace_count = 1;
}

static struct heap heap_ok(const struct made_module *made, struct arena *arena)
{
    struct heap heap;
    struct error err = {0};

    CHECK_OK("heap", heap_of(&made->module, 0, arena, &heap, &err), &err);
    return heap;
}

/* A parameter of 1,000; temporaries 1 and 2 overlap at i2; 3 lies where 2 does. */
static void make_small(struct made_module *made)
{
    make_module(made);
    add_allocation(made, 1000)->is_parameter = true;
    add_buffer(made, 1, 1000, 0, 0);
    add_allocation(made, 77)->is_thread_local = true;
    add_allocation(made, 300);
    add_buffer(made, 2, 100, 1, 0);
    add_buffer(made, 3, 200, 2, 100);
    add_buffer(made, 4, 200, 3, 100);
}

static void traces_are_replayed(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_module made;

    make_small(&made);
    add_event(&made, HLO_HEAP_ALLOC, 2, 1, 0);
    add_event(&made, HLO_HEAP_ALLOC, 3, 2, 0);
    add_event(&made, HLO_HEAP_FREE, 2, 2, 0);
    add_event(&made, HLO_HEAP_SHARE, 4, 3, 3);
    add_event(&made, HLO_HEAP_FREE, 3, 3, 0);
    add_event(&made, HLO_HEAP_FREE, 4, 5, 0);
    add_event(&made, HLO_HEAP_FREE, 4, 6, 0);
    add_event(&made, HLO_HEAP_ALLOC, 99, 6, 0);
    struct heap heap = heap_ok(&made, arena);

    CHECK_STR("basis", str_of(heap_basis_word(heap.basis)), "heap-trace");
    CHECK_INT("peak", heap.peak_bytes, 1300);
    CHECK_INT("where", heap.peak_position, 2);
    CHECK_INT("fixed", heap.fixed_bytes, 1000);
    CHECK_INT("on stacks, in no sum", heap.class_bytes[HEAP_THREAD_LOCAL], 77);
    CHECK_INT("all", heap.total_bytes, 1300);
    CHECK_INT("before", heap.points[0].bytes, 1000);
    CHECK_INT("shared: still in use", heap.points[4].bytes, 1200);
    CHECK_INT("freed", heap.points[6].bytes, 1000);
    CHECK_INT("freed once too often, and a stranger", heap.unknown_count, 2);
    arena_destroy(arena);
}

/* Elements times their size, and what the tiles of a layout add; without a shape nobody knows. */
static void padding(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_module made;

    make_module(&made);
    made.module.form = PROGRAM_TEXT;
    add_allocation(&made, 4096);
    add_buffer(&made, 2, 512, 1, 0);
    add_buffer(&made, 3, 1024, 1, 512);
    add_buffer(&made, 4, 256, 1, 1536);
    made.buffers[0].shape = BYTES("f32[]{:T(256)}");
    made.buffers[1].shape = BYTES("f32[2,128]{1,0}");
    add_event(&made, HLO_HEAP_ALLOC, 2, 1, 0);
    add_event(&made, HLO_HEAP_ALLOC, 3, 1, 0);
    add_event(&made, HLO_HEAP_ALLOC, 4, 1, 0);
    struct heap heap = heap_ok(&made, arena);

    CHECK_INT("peak", heap.peak_bytes, 1792);
    CHECK_INT("a scalar in a tile of 128", heap.peak_unpadded, 1792 - 508);
    CHECK_INT("padding", heap.padding_bytes, 508);
    CHECK_INT("no shape", heap.buffers[2].unpadded, -1);
    arena_destroy(arena);
}

static void lives_without_traces(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_module made;

    make_small(&made);
    made.operands[9] = 1; /* i9 uses i1 */
    struct heap heap = heap_ok(&made, arena);

    CHECK_STR("basis", str_of(heap_basis_word(heap.basis)), "live-ranges");
    CHECK_INT("peak", heap.peak_bytes, 1300);
    CHECK_INT("where", heap.peak_position, 2);
    CHECK_INT("3 gave its place to 4", heap.points[3].bytes, 1300);
    CHECK_INT("4 ends with its last use", heap.points[5].bytes, 1100);
    CHECK_INT("2 is used by i9", heap.points[9].bytes, 1100);
    CHECK_INT("and no longer", heap.points[10].bytes, 1000);
    arena_destroy(arena);
}

static void called_computations_stand_before_their_caller(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_module made;
    uint32_t called = 1, schedule[] = {1, 0, 2, HLO_NONE};

    make_module(&made);
    made.computations[0].count = 3;
    made.computations[0].scheduled_count = 4;
    made.computations[1] = (struct hlo_computation){.first = 3, .count = 2};
    made.instructions[3].computation = made.instructions[4].computation = 1;
    made.instructions[2].opcode = STR("while");
    made.instructions[2].called_count = 1;
    made.module.computation_count = 2;
    made.module.called = &called;
    made.module.called_count = 1;
    made.module.schedule = schedule;
    made.module.schedule_count = 4;
    struct heap heap = heap_ok(&made, arena);
    const uint32_t want[] = {1, 0, 3, 4, 2};

    CHECK_INT("positions", heap.position_count, COUNT(want));
    for (uint32_t i = 0; i < COUNT(want); i++)
        CHECK_INT("order", heap.order[i], want[i]);
    arena_destroy(arena);
}

static void rows_sum_to_the_peak(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_module made;
    struct error err = {0};
    struct table table;
    int64_t bytes, sum = 0;

    make_small(&made);
    struct heap heap = heap_ok(&made, arena);
    static const struct {
        const char *what;
        struct heap_question question;
        int64_t bytes;
        uint32_t rows;
    } cases[] = {
        {"the peak", {0}, 1300, 3},
        {"a position", {.has_position = true, .position = 30}, 1000, 1},
        {"far behind", {.has_position = true, .position = UINT32_MAX}, 1000, 1},
        {"all", {.all = true}, 1577, 5},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        sum = 0;
        CHECK_OK(cases[i].what,
                 heap_table(&made.module, &heap, &cases[i].question, &(struct page){.limit = 100},
                            arena, &table, &bytes, &err),
                 &err);
        for (uint32_t row = 0; row < table.row_count; row++)
            sum += cell_of(&table, row, "bytes")->of.integer;
        CHECK_INT(cases[i].what, sum, cases[i].bytes);
        CHECK_INT(cases[i].what, bytes, cases[i].bytes);
        CHECK_INT(cases[i].what, table.row_count, cases[i].rows);
    }
    arena_destroy(arena);
}

static void advice(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_module made;

    make_module(&made);
    add_allocation(&made, 1000)->is_parameter = true;
    add_buffer(&made, 1, 1000, 0, 0);
    add_allocation(&made, 1000)->is_live_out = true;
    add_buffer(&made, 2, 1000, 39, 0);
    made.buffers[0].shape = made.buffers[1].shape = BYTES("\x10\x0b");
    add_allocation(&made, 600);
    add_buffer(&made, 3, 400, 1, 0);
    add_buffer(&made, 4, 200, 20, 400);
    add_event(&made, HLO_HEAP_ALLOC, 3, 1, 0);
    add_event(&made, HLO_HEAP_ALLOC, 4, 20, 0);
    add_event(&made, HLO_HEAP_FREE, 4, 20, 0);
    add_event(&made, HLO_HEAP_FREE, 3, 38, 0);
    struct heap heap = heap_ok(&made, arena);

    CHECK_INT("made at 1, used at 38", heap.rematerialise_bytes, 400);
    CHECK_INT("an output like the input", heap.donation_bytes, 1000);
    made.instructions[1].opcode = STR("dot");
    made.allocations[0].is_live_out = true; /* donated already */
    heap = heap_ok(&made, arena);
    CHECK_INT("a product is not cheap", heap.rematerialise_bytes, 0);
    CHECK_INT("nothing is left to donate", heap.donation_bytes, 0);
    arena_destroy(arena);
}

/* Random allocations, frees and shares: the sum at each event, told simply. */
static void any_trace(void **state)
{
    (void)state;
    enum { SEEDS = 3000, IDS = 20 };

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct dice dice = {.state = seed};
        struct arena *arena = arena_create();
        static struct made_module made;
        uint32_t users[IDS] = {0}, root[IDS], instruction = 0;
        int64_t level = 500, peak = 500;

        make_module(&made);
        add_allocation(&made, 500)->is_constant = true;
        add_allocation(&made, 1 << 20);
        for (uint32_t id = 0; id < IDS; id++) {
            root[id] = id;
            add_buffer(&made, id + 1, 1 + dice_below(&dice, 90), 0, (uint64_t)id * 100);
        }
        for (int i = 0; i < 100; i++) {
            uint32_t id = (uint32_t)dice_below(&dice, IDS), with = (uint32_t)dice_below(&dice, IDS);

            instruction += (uint32_t)dice_below(&dice, 3) == 0 && instruction + 1 < INSTRUCTIONS;
            switch (dice_below(&dice, 3)) {
            case 0:
                if (users[id] > 0 || root[id] != id)
                    continue;
                level += users[id]++ == 0 ? (int64_t)made.buffers[id].size_bytes : 0;
                add_event(&made, HLO_HEAP_ALLOC, id + 1, instruction, 0);
                break;
            case 1:
                if (users[root[id]] == 0)
                    continue;
                level -= --users[root[id]] == 0 ? (int64_t)made.buffers[root[id]].size_bytes : 0;
                add_event(&made, HLO_HEAP_FREE, id + 1, instruction, 0);
                break;
            default:
                if (users[id] > 0 || root[id] != id || id == with)
                    continue;
                root[id] = root[with];
                level += users[root[id]]++ == 0 ? (int64_t)made.buffers[root[id]].size_bytes : 0;
                add_event(&made, HLO_HEAP_SHARE, id + 1, instruction, with + 1);
            }
            peak = level > peak ? level : peak;
        }
        struct heap heap = heap_ok(&made, arena);
        int64_t sum = 0;

        for (uint32_t i = 0; i < heap.buffer_count; i++)
            sum += heap_is_alive(&heap.buffers[i], heap.peak_change) ? heap.buffers[i].bytes : 0;
        CHECK_INT("peak", heap.peak_bytes, peak);
        CHECK_INT("rows", sum, peak);
        CHECK_INT("known", heap.unknown_count, 0);
        arena_destroy(arena);
    }
}

static void a_schedule_that_runs_its_own_caller(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_module made;
    uint32_t called[] = {1}, schedule[] = {INSTRUCTIONS - 1};

    make_small(&made);
    made.module.called = called;
    made.module.called_count = 1;
    made.module.schedule = schedule;
    made.module.schedule_count = 1;
    made.instructions[INSTRUCTIONS - 1].opcode = STR("call");
    made.instructions[INSTRUCTIONS - 1].called_count = 1;
    made.computations[1] = (struct hlo_computation){.name = STR("sub"), .scheduled_count = 1};
    made.module.computation_count = 2;

    CHECK_INT("each once", heap_ok(&made, arena).position_count, INSTRUCTIONS);
    arena_destroy(arena);
}

static void no_assignment(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct hlo_module module = {0};
    struct heap heap;
    struct error err = {0};

    CHECK_INT("refused", heap_of(&module, 0, arena, &heap, &err), ERR_NOT_FOUND);
    module.has_buffers = true;
    err = (struct error){0};
    CHECK_OK("empty", heap_of(&module, 0, arena, &heap, &err), &err);
    CHECK_INT("nothing", heap.peak_bytes, 0);
    arena_destroy(arena);
}

/* f32[32,16], or f32[32,32] where the second size is 32. */
static void shape_buffer(struct made_module *made, const char *proto)
{
    made->buffers[made->module.buffer_count - 1].shape =
        (struct bytes){.at = (const uint8_t *)proto, .count = 6};
}
#define F32_32_16 "\x10\x0b\x1a\x02\x20\x10"
#define F32_32_32 "\x10\x0b\x1a\x02\x20\x20"
#define F32_8_8 "\x10\x0b\x1a\x02\x08\x08"

/* An argument read by i1, an output that i39 makes, temporaries of i10 and i20 where it will be. */
static void make_fit(struct made_module *made, const char *argument)
{
    make_module(made);
    made->instructions[0].opcode = STR("parameter");
    made->instructions[INSTRUCTIONS - 1].is_root = true;
    add_allocation(made, 2048)->is_parameter = true;
    add_buffer(made, 1, 2048, 0, 0);
    shape_buffer(made, argument);
    add_allocation(made, 2048)->is_live_out = true;
    add_buffer(made, 2, 2048, INSTRUCTIONS - 1, 0);
    shape_buffer(made, F32_32_16);
    add_buffer(made, 3, 1024, 10, 0);
    shape_buffer(made, F32_8_8);
    add_buffer(made, 4, 512, 20, 512);
    shape_buffer(made, F32_32_16);
}

static const struct fit_option *option_of(const struct fit *fit, const char *what)
{
    for (uint32_t i = 0; i < fit->option_count; i++)
        if (strcmp(fit->options[i].what, what) == 0)
            return &fit->options[i];
    CHECK("an option of this name", false);
    return NULL;
}

/* By hand: 2048 of the argument, then 1024 alive at i10 and i11, 512 at i20, 2048 at i39. */
static void what_would_fit(void **state)
{
    (void)state;
    struct made_module made;
    struct arena *arena = arena_create();
    struct fit fit;
    struct error err = {0};

    make_fit(&made, F32_32_16);
    CHECK_OK("fit", fit_of(&made.module, &(struct fit_question){.batch = 32}, arena, &fit, &err),
             &err);
    CHECK_INT("all", fit.total, 4096);
    CHECK_INT("arguments", fit.arguments, 2048);
    CHECK_INT("outputs", fit.outputs, 2048);
    CHECK_INT("donated: the output is in the argument, the largest temporary stays",
              option_of(&fit, "donate")->bytes, 2048 + 1024);
    CHECK_INT("half: argument and output", option_of(&fit, "half-batch")->bytes, 1024 + 1024);

    made.instructions[INSTRUCTIONS - 1].opcode = STR("dot");
    made.operands[INSTRUCTIONS - 1] = 0;
    CHECK_OK("fit", fit_of(&made.module, &(struct fit_question){0}, arena, &fit, &err), &err);
    CHECK_INT("read by what makes the output, not in place", option_of(&fit, "donate")->bytes,
              4096);
    CHECK_INT("no batch", option_of(&fit, "half-batch")->bytes, -1);
    CHECK_HAS("no batch", option_of(&fit, "half-batch")->reason.at, "batch= tells no size");
    arena_destroy(arena);
}

/* Rather no number than a wrong one. */
static void what_cannot_be_said(void **state)
{
    (void)state;
    struct made_module made;
    struct arena *arena = arena_create();
    struct fit fit;
    struct error err = {0};
    const struct fit_question question = {.batch = 32, .remat = STR("layer_")};

    make_fit(&made, F32_32_32);
    made.instructions[10].scope = STR("jit(f)/jvp(layer_0)/tanh");
    made.instructions[11].scope = STR("jit(f)/transpose(jvp(layer_0))/mul");
    CHECK_OK("fit", fit_of(&made.module, &question, arena, &fit, &err), &err);
    CHECK_INT("a weight of the batch's size", option_of(&fit, "half-batch")->bytes, -1);
    CHECK_HAS("a weight of the batch's size", option_of(&fit, "half-batch")->reason.at,
              "at another place too");
    CHECK_INT("other shapes", option_of(&fit, "donate")->bytes, -1);
    CHECK_INT("again", option_of(&fit, "remat")->bytes, -1);
    CHECK_HAS("again", option_of(&fit, "remat")->reason.at, "no value of such scopes is kept");
    CHECK_HAS("types", option_of(&fit, "bf16-arguments")->reason.at, "would need 1 KiB less");

    made.buffers[1].size_bytes = made.assigned[1].size_bytes = 64; /* so the peak is at i10 */
    CHECK_OK("fit", fit_of(&made.module, &question, arena, &fit, &err), &err);
    CHECK_HAS("again", option_of(&fit, "remat")->reason.at, "at the peak 1 KiB of scopes");

    make_fit(&made, F32_32_16);
    made.instructions[5].opcode = STR("dot");
    made.instructions[5].shape = BYTES("\x10\x0b\x1a\x03\x04\x20\x10");
    CHECK_OK("fit", fit_of(&made.module, &question, arena, &fit, &err), &err);
    CHECK_HAS("matrices in batches", option_of(&fit, "half-batch")->reason.at, "in batches");
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_replayed),
        cmocka_unit_test(padding),
        cmocka_unit_test(lives_without_traces),
        cmocka_unit_test(called_computations_stand_before_their_caller),
        cmocka_unit_test(rows_sum_to_the_peak),
        cmocka_unit_test(advice),
        cmocka_unit_test(any_trace),
        cmocka_unit_test(a_schedule_that_runs_its_own_caller),
        cmocka_unit_test(no_assignment),
        cmocka_unit_test(what_would_fit),
        cmocka_unit_test(what_cannot_be_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
