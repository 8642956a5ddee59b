/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the stack frames of HLO modules, and joins those of all programs into one tree of calls. */
#include "analyse/hlo/op_stacks.h"

#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "decode/hlo/hlo_module.h"

enum {
    STACK_FRAMES_MAX = 512, /* calls of one stack */
    FRAMES_MAX = 1 << 20,   /* of all stacks together */
    CUT_DEPTH_MIN = 10,     /* what JAX keeps unless told otherwise */
    SEVERAL = UINT32_MAX - 1,
};

struct raw_stack {         /* as the file has it, innermost call first */
    uint32_t first, count; /* into sites */
};

struct reading {
    const struct host_trace *host;
    struct arena *arena;
    struct names *texts;
    struct map64 call_of;   /* (function, file) -> call */
    struct map64 site_of;   /* (call, line) -> site */
    struct map64 stack_of;  /* (program, frame of HLO) -> stack */
    struct map64 op_of;     /* name of the program at hand -> op, plus one */
    struct map64 node_of;   /* (caller's node plus one, site) -> node */
    struct map64 caller_of; /* (site, call below it) -> the only node of that site, or SEVERAL */
    uint32_t call_count;
    struct op_frame *sites; /* parent: the call */
    uint32_t site_count, site_capacity;
    uint32_t *raw; /* sites of all stacks */
    uint32_t raw_count, raw_capacity;
    struct raw_stack *stacks;
    uint32_t stack_count, stack_capacity;
    struct op_frame *nodes;
    uint32_t *site_of_node;
    uint32_t node_count, node_capacity;
    uint32_t *next_op; /* by op: another of the same program and name, plus one */
    uint32_t *of_op;   /* the stack, later the node */
};

#define GROW(items, count, capacity)                                                               \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            (capacity) = (capacity) == 0 ? 256 : 2 * (capacity);                                   \
            (items) = memory_resize((items), (capacity), sizeof(*(items)));                        \
        }                                                                                          \
    } while (0)

/* Texts of a module go with it, so each is copied once. */
static struct str keep_text(struct reading *reading, struct str text, name_id *ret)
{
    *ret = names_add(reading->texts, text);
    return names_get(reading->texts, *ret);
}

static uint32_t site_find(struct reading *reading, const struct hlo_frame *frame)
{
    name_id function_id, file_id;
    struct str function = keep_text(reading, frame->function, &function_id);
    struct str file = keep_text(reading, frame->file, &file_id);
    uint32_t line = frame->line <= UINT32_MAX ? (uint32_t)frame->line : 0;
    uint32_t *call = map64_at(&reading->call_of, map64_pair(function_id, file_id), UINT32_MAX);

    if (*call == UINT32_MAX)
        *call = reading->call_count++;

    uint32_t the_call = *call;
    uint32_t *site = map64_at(&reading->site_of, map64_pair(the_call, line), UINT32_MAX);

    if (*site == UINT32_MAX) {
        *site = reading->site_count;
        GROW(reading->sites, reading->site_count, reading->site_capacity);
        reading->sites[reading->site_count++] =
            (struct op_frame){.function = function, .file = file, .line = line, .parent = the_call};
    }
    return *site;
}

/* NO_FRAME: the chain is empty, or there are too many frames already. */
static uint32_t stack_find(struct reading *reading, const struct hlo_module *module,
                           uint32_t program, uint64_t id)
{
    struct hlo_frame frame;

    if (id == 0 || id > HLO_FRAMES_MAX)
        return NO_FRAME;

    uint32_t *known =
        map64_at(&reading->stack_of, map64_pair(program, (uint32_t)id), reading->stack_count);
    struct raw_stack stack = {.first = reading->raw_count};

    if (*known != reading->stack_count)
        return *known;
    if (reading->raw_count > FRAMES_MAX)
        return *known = NO_FRAME;
    while (stack.count < STACK_FRAMES_MAX && hlo_frame_get(&module->frames, id, &frame)) {
        GROW(reading->raw, reading->raw_count, reading->raw_capacity);
        reading->raw[reading->raw_count++] = site_find(reading, &frame);
        stack.count++;
        id = frame.parent;
    }
    if (stack.count == 0 || reading->raw_count > FRAMES_MAX)
        return *known = NO_FRAME;
    GROW(reading->stacks, reading->stack_count, reading->stack_capacity);
    reading->stacks[reading->stack_count] = stack;
    return reading->stack_count++;
}

#define NOT_LOOKED_AT UINT64_MAX

/* Where a fusion's root stands, or the last inside that stands anywhere; 0: none does. Fusions may
 * share a computation, so each is looked through once. */
static uint64_t frame_inside(const struct hlo_module *module, uint64_t *known, uint32_t computation)
{
    const struct hlo_computation *fused = &module->computations[computation];
    uint64_t found = 0;
    bool at_root = false;

    if (known[computation] != NOT_LOOKED_AT)
        return known[computation];
    for (uint32_t i = 0; i < fused->count && !at_root; i++) {
        const struct hlo_instruction *inside = &module->instructions[fused->first + i];

        found = inside->frame != 0 ? inside->frame : found;
        at_root = inside->is_root && inside->frame != 0;
    }
    return known[computation] = found;
}

/* A fusion without a frame of its own stands where what it holds does. */
static uint64_t frame_of(const struct hlo_module *module, uint64_t *known,
                         const struct hlo_instruction *of)
{
    if (of->frame != 0 || !str_equal(of->opcode, STR("fusion")) || of->called_count == 0 ||
        module->called[of->first_called] == HLO_NONE)
        return of->frame;
    return frame_inside(module, known, module->called[of->first_called]);
}

static void read_module(struct reading *reading, program_id program,
                        const struct hlo_module *module)
{
    const struct trace *trace = reading->host->trace;
    uint64_t *known = memory_resize(NULL, (size_t)module->computation_count + 1, sizeof(*known));

    for (uint32_t i = 0; i < module->computation_count; i++)
        known[i] = NOT_LOOKED_AT;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *instruction = &module->instructions[i];
        name_id name;
        uint32_t op;

        if (!trace_find_name(trace, instruction->name, &name) ||
            !map64_get(&reading->op_of, name, &op))
            continue;

        uint32_t stack = stack_find(reading, module, program, frame_of(module, known, instruction));

        for (; op != 0; op = reading->next_op[op - 1])
            reading->of_op[op - 1] = stack;
    }
    free(known);
}

static void read_program(struct reading *reading, program_id id)
{
    const struct trace *trace = reading->host->trace;
    struct arena *arena = arena_create(); /* of the module */
    struct hlo_module module;
    struct error err = {0};

    if (hlo_module_of(trace, &trace->programs[id], arena, &module, &err) == OK)
        read_module(reading, id, &module);
    arena_destroy(arena);
}

/* Program by program, each opened once. */
static void read_stacks(struct reading *reading, const bool *wanted)
{
    const struct attribution *attribution = reading->host->attribution;
    uint32_t *order = memory_resize(NULL, (size_t)attribution->op_count + 1, sizeof(*order));
    uint32_t count = 0;

    for (uint32_t i = 0; i < attribution->op_count; i++) {
        if ((wanted == NULL || wanted[i]) &&
            attribution->ops[i].program < reading->host->trace->program_count)
            order[count++] = i;
    }
    ops_by_program(attribution->ops, order, count);
    for (uint32_t first = 0, end; first < count; first = end) {
        program_id program = attribution->ops[order[first]].program;

        for (end = first; end < count && attribution->ops[order[end]].program == program; end++) {
            uint32_t *at = map64_at(&reading->op_of, attribution->ops[order[end]].name, 0);

            reading->next_op[order[end]] = *at;
            *at = order[end] + 1;
        }
        read_program(reading, program);
        map64_free(&reading->op_of);
        reading->op_of = (struct map64){0};
    }
    free(order);
}

static uint32_t add_node(struct reading *reading, uint32_t site, struct op_frame node)
{
    if (reading->node_count == reading->node_capacity) {
        reading->node_capacity = reading->node_capacity == 0 ? 256 : 2 * reading->node_capacity;
        reading->nodes =
            memory_resize(reading->nodes, reading->node_capacity, sizeof(*reading->nodes));
        reading->site_of_node = memory_resize(reading->site_of_node, reading->node_capacity,
                                              sizeof(*reading->site_of_node));
    }
    reading->site_of_node[reading->node_count] = site;
    reading->nodes[reading->node_count] = node;
    return reading->node_count++;
}

static uint32_t child_of(struct reading *reading, uint32_t parent, uint32_t site)
{
    uint32_t *node = map64_at(&reading->node_of, map64_pair(parent + 1, site), UINT32_MAX);

    if (*node == UINT32_MAX) {
        struct op_frame frame = reading->sites[site];

        frame.parent = parent;
        *node = add_node(reading, site, frame);
    }
    return *node;
}

static bool is_rooted(const struct reading *reading, const struct raw_stack *stack)
{
    uint32_t outermost = reading->raw[stack->first + stack->count - 1];

    return str_equal(reading->sites[outermost].function, STR("<module>"));
}

/* Below a node come the calls [0, count) of a stack, the outermost first. */
static uint32_t put_calls(struct reading *reading, const struct raw_stack *stack, uint32_t count,
                          uint32_t node, bool is_whole)
{
    for (uint32_t i = count; i-- > 0;) {
        uint32_t site = reading->raw[stack->first + i], child = child_of(reading, node, site);

        if (is_whole && node != NO_FRAME) {
            uint32_t call = reading->sites[site].parent, above = reading->site_of_node[node];
            uint32_t *caller = map64_at(&reading->caller_of, map64_pair(above, call), node);

            if (*caller != node)
                *caller = SEVERAL;
        }
        node = child;
    }
    return node;
}

/* Where the two outermost calls of a cut stack stand in whole ones; NO_FRAME: nowhere, or in
 * several places. */
static uint32_t find_callers(const struct reading *reading, const struct raw_stack *stack)
{
    uint32_t node;

    if (stack->count < 2)
        return NO_FRAME;

    uint32_t outermost = reading->raw[stack->first + stack->count - 1];
    uint32_t below = reading->sites[reading->raw[stack->first + stack->count - 2]].parent;

    return map64_get(&reading->caller_of, map64_pair(outermost, below), &node) && node != SEVERAL
               ? node
               : NO_FRAME;
}

static uint32_t put_cut(struct reading *reading, const struct raw_stack *stack, uint32_t *unknown,
                        struct op_stacks *ret)
{
    uint32_t above = find_callers(reading, stack);

    ret->cut_count++;
    if (above != NO_FRAME) {
        ret->completed_count++;
        return put_calls(reading, stack, stack->count - 1, above, false);
    }
    if (*unknown == NO_FRAME)
        *unknown =
            add_node(reading, UINT32_MAX,
                     (struct op_frame){
                         .function = STR("(callers cut off)"), .parent = NO_FRAME, .is_cut = true});
    return put_calls(reading, stack, stack->count, *unknown, false);
}

/* Stacks become nodes: whole ones first, for cut ones are completed by them. */
static uint32_t *join_stacks(struct reading *reading, struct op_stacks *ret)
{
    uint32_t *node_of = memory_resize(NULL, (size_t)reading->stack_count + 1, sizeof(*node_of));
    uint32_t deepest = 0, unknown = NO_FRAME;

    for (uint32_t i = 0; i < reading->stack_count; i++) {
        if (reading->stacks[i].count > deepest)
            deepest = reading->stacks[i].count;
    }
    for (int cut = 0; cut < 2; cut++) {
        for (uint32_t i = 0; i < reading->stack_count; i++) {
            const struct raw_stack *stack = &reading->stacks[i];
            bool is_cut = stack->count == deepest && (deepest >= CUT_DEPTH_MIN || deepest == 1) &&
                          !is_rooted(reading, stack);

            if (is_cut != (cut != 0))
                continue;
            node_of[i] = is_cut ? put_cut(reading, stack, &unknown, ret)
                                : put_calls(reading, stack, stack->count, NO_FRAME, true);
        }
    }
    return node_of;
}

static struct str kept(const struct reading *reading, struct str *copies, struct str text)
{
    name_id id;

    if (!names_find(reading->texts, text, &id))
        return text;
    if (copies[id].at == NULL)
        copies[id] = str_copy(reading->arena, text);
    return copies[id];
}

static void keep_frames(const struct reading *reading, struct op_stacks *ret)
{
    struct op_frame *frames =
        arena_array(reading->arena, struct op_frame, (size_t)reading->node_count + 1);
    struct str *copies = arena_array(reading->arena, struct str, names_count(reading->texts));

    for (uint32_t i = 0; i < reading->node_count; i++) {
        frames[i] = reading->nodes[i];
        frames[i].function = kept(reading, copies, frames[i].function);
        frames[i].file = kept(reading, copies, frames[i].file);
    }
    ret->frames = frames;
    ret->frame_count = reading->node_count;
}

static void reading_free(struct reading *reading)
{
    struct map64 *const maps[] = {&reading->call_of, &reading->site_of, &reading->stack_of,
                                  &reading->op_of,   &reading->node_of, &reading->caller_of};

    for (size_t i = 0; i < COUNT(maps); i++)
        map64_free(maps[i]);
    names_destroy(reading->texts);
    free(reading->sites);
    free(reading->raw);
    free(reading->stacks);
    free(reading->nodes);
    free(reading->site_of_node);
}

void op_stacks_read(const struct host_trace *host, const bool *wanted, struct arena *arena,
                    struct op_stacks *ret)
{
    struct reading reading = {.host = host, .arena = arena};

    *ret = (struct op_stacks){0};
    if (host->attribution == NULL)
        return;

    uint32_t count = host->attribution->op_count;

    reading.texts = names_create();
    reading.next_op = arena_array(arena, uint32_t, (size_t)count + 1);
    reading.of_op = arena_array(arena, uint32_t, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++)
        reading.of_op[i] = NO_FRAME;
    read_stacks(&reading, wanted);

    uint32_t *node_of = join_stacks(&reading, ret);

    for (uint32_t i = 0; i < count; i++)
        reading.of_op[i] = reading.of_op[i] == NO_FRAME ? NO_FRAME : node_of[reading.of_op[i]];
    keep_frames(&reading, ret);
    ret->of_op = reading.of_op;
    ret->stack_count = reading.stack_count;
    free(node_of);
    reading_free(&reading);
}
