/* SPDX-License-Identifier: Apache-2.0 */
/* What the HLO tells of ops on host threads: whose body each is of, and by when its value was
 * there.
 *
 *   pool 1   while  |-----|                                 launched here, went on there
 *              a      |--|
 *   pool 2        b        |-----| a |---| b |----|  "end: while" comes after c, which it let run
 *                                                 c |--|
 *
 * A thread that ends a loop runs what waited for it before it says so. So an op ends at its mark,
 * but never later than the first op that uses its value begins, and never later than the op whose
 * body it is of. Its body is what ran of the computations that it calls, on whatever thread; what
 * else ran meanwhile is not inside of it.
 *
 * Between user and op may stand instructions that leave no events. A loop's body uses what its last
 * turn left:
 *
 *   body (p)  { x = get-tuple-element(p), index=1   u = f(x)   r = g(...)   ROOT tuple(i, r) }
 *             u uses the r of the turn before
 */
#include <stdlib.h>

#include "analyse/attribute/attribute_parts.h"
#include "base/hash.h"
#include "decode/hlo/hlo_detail.h"
#include "trace/ps.h"

/* Beyond is what only a hostile module asks for, whose instructions all use all. */
enum { STEPS_AN_INSTRUCTION = 256 };

struct op_body {           /* of one op */
    bool told;             /* its instruction is known */
    uint32_t caller;       /* whose body it is of; NO_OP */
    uint32_t first, count; /* into sources: the ops whose values it uses */
    uint32_t execution;    /* where the last of its entries is of */
    uint32_t entry;        /* that one */
    int64_t covered_to_ps; /* by its body */
};

struct bodies {
    struct op_body *ops;
    uint32_t *sources;
    uint32_t source_count, source_capacity;
};

struct program_walk { /* of one module */
    const struct hlo_module *module;
    uint32_t *op_of;     /* by instruction, NO_OP */
    uint32_t *caller_of; /* by computation: an instruction, HLO_NONE */
    uint32_t *root_of;   /* by computation, HLO_NONE */
    uint32_t *seen;      /* by instruction: the op that met it, + 1 */
    uint32_t *waiting;   /* instructions */
    uint32_t waiting_count;
    uint64_t steps_left;
};

static uint64_t key_of(struct str name)
{
    return hash64((struct bytes){.at = (const uint8_t *)name.at, .count = name.count});
}

static const struct hlo_instruction *at(const struct program_walk *walk, uint32_t instruction)
{
    return &walk->module->instructions[instruction];
}

static bool is_a(const struct program_walk *walk, uint32_t instruction, const char *opcode)
{
    return str_equal(at(walk, instruction)->opcode, str_of(opcode));
}

static uint32_t operand_of(const struct program_walk *walk, uint32_t instruction, uint64_t index)
{
    const struct hlo_instruction *of = at(walk, instruction);

    return index < of->operand_count ? walk->module->operands[of->first_operand + index] : HLO_NONE;
}

static void meet(struct program_walk *walk, uint32_t instruction, uint32_t op)
{
    if (instruction == HLO_NONE || walk->seen[instruction] == op + 1 || walk->steps_left == 0)
        return;
    walk->seen[instruction] = op + 1;
    walk->steps_left--;
    walk->waiting[walk->waiting_count++] = instruction;
}

static void meet_operands(struct program_walk *walk, uint32_t instruction, uint32_t op)
{
    for (uint32_t i = 0; i < at(walk, instruction)->operand_count; i++)
        meet(walk, operand_of(walk, instruction, i), op);
}

/* What the turn before left in that part of the loop's state. Only what is the same memory is
 * looked through: there it is certain that the old value was used before the new one was made. */
static void meet_carried(struct program_walk *walk, uint32_t computation, uint64_t part,
                         uint32_t op)
{
    uint32_t caller = walk->caller_of[computation], root = walk->root_of[computation];

    if (caller == HLO_NONE || root == HLO_NONE || !is_a(walk, caller, "while") ||
        !is_a(walk, root, "tuple"))
        return;

    uint32_t left = operand_of(walk, root, part);

    for (uint32_t hop = 0; left != HLO_NONE && walk->op_of[left] == NO_OP && hop < 8; hop++)
        left = is_a(walk, left, "bitcast") ? operand_of(walk, left, 0) : HLO_NONE;
    if (left != HLO_NONE && walk->op_of[left] != NO_OP)
        meet(walk, left, op);
}

static void look_through(struct program_walk *walk, uint32_t instruction, uint32_t op)
{
    uint32_t from = operand_of(walk, instruction, 0);
    struct hlo_detail detail;

    if (from == HLO_NONE || !is_a(walk, instruction, "get-tuple-element")) {
        meet_operands(walk, instruction, op);
        return;
    }
    hlo_detail_read(walk->module, at(walk, instruction), &detail);
    if (is_a(walk, from, "tuple") && walk->op_of[from] == NO_OP)
        meet(walk, operand_of(walk, from, detail.tuple_part), op);
    else if (is_a(walk, from, "parameter"))
        meet_carried(walk, at(walk, from)->computation, detail.tuple_part, op);
    else
        meet(walk, from, op);
}

static void find_sources(struct attribute_work *work, struct bodies *bodies,
                         struct program_walk *walk, uint32_t instruction)
{
    uint32_t op = walk->op_of[instruction];
    struct op_body *body = &bodies->ops[op];

    body->first = bodies->source_count;
    meet_operands(walk, instruction, op);
    while (walk->waiting_count > 0) {
        uint32_t met = walk->waiting[--walk->waiting_count];

        if (walk->op_of[met] == NO_OP) {
            look_through(walk, met, op);
            continue;
        }
        WORK_GROW(work, bodies->sources, bodies->source_count, bodies->source_capacity);
        bodies->sources[bodies->source_count++] = walk->op_of[met];
    }
    body->count = bodies->source_count - body->first;
}

/* The nearest op around that has events. A module that calls itself is hostile. */
static uint32_t find_caller(const struct program_walk *walk, uint32_t instruction)
{
    for (uint32_t depth = 0; depth < 64; depth++) {
        uint32_t computation = at(walk, instruction)->computation;

        if (computation >= walk->module->computation_count)
            return NO_OP;
        instruction = walk->caller_of[computation];
        if (instruction == HLO_NONE)
            return NO_OP;
        if (walk->op_of[instruction] != NO_OP)
            return walk->op_of[instruction];
    }
    return NO_OP;
}

static void find_computations(struct program_walk *walk)
{
    const struct hlo_module *module = walk->module;

    for (uint32_t i = 0; i < module->computation_count; i++)
        walk->caller_of[i] = walk->root_of[i] = HLO_NONE;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const struct hlo_instruction *instruction = &module->instructions[i];

        if (instruction->is_root && instruction->computation < module->computation_count)
            walk->root_of[instruction->computation] = i;
        for (uint32_t k = 0; k < instruction->called_count; k++) {
            uint32_t called = module->called[instruction->first_called + k];

            if (called != HLO_NONE)
                walk->caller_of[called] = i;
        }
    }
}

static void find_ops(const struct attribute_work *work, struct program_walk *walk,
                     const uint32_t *ops, uint32_t count)
{
    const struct hlo_module *module = walk->module;
    struct map64 by_name = {0};

    map64_reserve(&by_name, count);
    for (uint32_t i = 0; i < count; i++)
        map64_at(&by_name, key_of(trace_name(work->trace, work->ops[ops[i]].name)), ops[i]);
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        uint32_t op;

        walk->op_of[i] = NO_OP;
        if (map64_get(&by_name, key_of(module->instructions[i].name), &op) &&
            str_equal(trace_name(work->trace, work->ops[op].name), module->instructions[i].name))
            walk->op_of[i] = op;
    }
    map64_free(&by_name);
}

static void tell_ops(struct attribute_work *work, struct bodies *bodies, struct program_walk *walk)
{
    for (uint32_t i = 0; i < walk->module->instruction_count; i++) {
        if (walk->op_of[i] == NO_OP || bodies->ops[walk->op_of[i]].told)
            continue;
        bodies->ops[walk->op_of[i]].told = true;
        bodies->ops[walk->op_of[i]].caller = find_caller(walk, i);
        find_sources(work, bodies, walk, i);
    }
}

static void read_module(struct attribute_work *work, struct bodies *bodies,
                        const struct hlo_module *module, const uint32_t *ops, uint32_t count)
{
    uint32_t instructions = module->instruction_count, computations = module->computation_count;
    struct program_walk walk = {
        .module = module,
        .op_of = memory_resize(NULL, instructions, sizeof(uint32_t)),
        .caller_of = memory_resize(NULL, computations, sizeof(uint32_t)),
        .root_of = memory_resize(NULL, computations, sizeof(uint32_t)),
        .seen = memory_resize(NULL, instructions, sizeof(uint32_t)),
        .waiting = memory_resize(NULL, instructions, sizeof(uint32_t)),
        .steps_left = (uint64_t)instructions * STEPS_AN_INSTRUCTION,
    };

    for (uint32_t i = 0; i < instructions; i++)
        walk.seen[i] = 0;
    find_ops(work, &walk, ops, count);
    find_computations(&walk);
    tell_ops(work, bodies, &walk);
    free(walk.op_of);
    free(walk.caller_of);
    free(walk.root_of);
    free(walk.seen);
    free(walk.waiting);
}

/* A module that cannot be read leaves its ops to their times, as those without HLO are. */
static void read_program(struct attribute_work *work, struct bodies *bodies, program_id id,
                         const uint32_t *ops, uint32_t count)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;

    if (hlo_module_of(work->trace, &work->trace->programs[id], arena, &module, &err) == OK)
        read_module(work, bodies, &module, ops, count);
    arena_destroy(arena);
}

static void read_programs(struct attribute_work *work, struct bodies *bodies)
{
    uint32_t *order = memory_resize(NULL, work->op_count, sizeof(*order));

    for (uint32_t i = 0; i < work->op_count; i++)
        order[i] = i;
    ops_by_program(work->ops, order, work->op_count);
    for (uint32_t i = 0, end; i < work->op_count; i = end) {
        program_id program = work->ops[order[i]].program;

        for (end = i + 1; end < work->op_count && work->ops[order[end]].program == program; end++)
            ;
        if (program < work->trace->program_count)
            read_program(work, bodies, program, &order[i], end - i);
    }
    free(order);
}

struct bodies *bodies_read(struct attribute_work *work)
{
    if (work->has_devices || work->op_count == 0)
        return NULL;

    struct bodies *bodies = memory_resize(NULL, 1, sizeof(*bodies));

    *bodies = (struct bodies){
        .ops = scratch_array(work->scratch, struct op_body, work->op_count),
    };
    for (uint32_t op = 0; op < work->op_count; op++)
        bodies->ops[op] = (struct op_body){.caller = NO_OP, .execution = NO_EXECUTION};
    read_programs(work, bodies);
    return bodies;
}

void bodies_free(struct attribute_work *work, struct bodies *bodies)
{
    if (bodies == NULL)
        return;
    scratch_free(work->scratch, bodies->ops);
    scratch_free(work->scratch, bodies->sources);
    free(bodies);
}

bool bodies_tell(const struct bodies *bodies, const struct attributed *entry)
{
    return bodies != NULL && entry->execution != NO_EXECUTION && bodies->ops[entry->op].told;
}

/* The last one of that op in the execution of `entry`, which began before; NULL. */
static struct attributed *last_of(struct attribute_work *work, const struct bodies *bodies,
                                  uint32_t op, const struct attributed *entry)
{
    if (op == NO_OP || bodies->ops[op].execution != entry->execution)
        return NULL;
    return &work->entries[bodies->ops[op].entry];
}

static void end_by(struct attributed *entry, int64_t end_ps)
{
    if (end_ps < entry->start_ps + entry->dur_ps)
        entry->dur_ps = end_ps > entry->start_ps ? end_ps - entry->start_ps : 0;
}

static void remember(const struct attribute_work *work, struct bodies *bodies,
                     const struct attributed *entry)
{
    struct op_body *body = &bodies->ops[entry->op];

    body->execution = entry->execution;
    body->entry = (uint32_t)(entry - work->entries);
    body->covered_to_ps = entry->start_ps;
}

/* `order` has the entries by execution, in time order. */
void bodies_end(struct attribute_work *work, struct bodies *bodies, const uint32_t *order,
                uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct attributed *entry = &work->entries[order[i]];
        const struct op_body *body = &bodies->ops[entry->op];

        for (uint32_t k = 0; k < body->count; k++) {
            struct attributed *source =
                last_of(work, bodies, bodies->sources[body->first + k], entry);

            if (source != NULL)
                end_by(source, entry->start_ps);
        }
        remember(work, bodies, entry);
    }
    for (uint32_t op = 0; op < work->op_count; op++)
        bodies->ops[op].execution = NO_EXECUTION;
}

void bodies_nest(struct attribute_work *work, struct bodies *bodies, const uint32_t *order,
                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct attributed *entry = &work->entries[order[i]];
        struct attributed *around = last_of(work, bodies, bodies->ops[entry->op].caller, entry);

        if (!bodies->ops[entry->op].told)
            continue;
        if (around != NULL) {
            int64_t *covered_to_ps = &bodies->ops[around->op].covered_to_ps;

            end_by(entry, around->start_ps + around->dur_ps);

            int64_t end_ps = entry->start_ps + entry->dur_ps;
            int64_t from_ps = entry->start_ps > *covered_to_ps ? entry->start_ps : *covered_to_ps;

            if (end_ps > from_ps) {
                ps_add(&around->self_ps, from_ps - end_ps);
                *covered_to_ps = end_ps;
            }
        }
        entry->self_ps = entry->dur_ps;
        remember(work, bodies, entry);
    }
}
