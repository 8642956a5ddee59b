/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the HLO instruction of each op and takes its cost, else the figure that the op's events
 * carry. */
#include "analyse/hlo/cost.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/hlo/cost_parts.h"
#include "analyse/stats/map64.h"
#include "base/hash.h"
#include "trace/args/args.h"

static const struct {
    bool known;
    const char *words;
} rules[COST_RULE_COUNT] = {
    [COST_UNKNOWN] = {false,
                      "the profile holds neither the HLO of this op nor the compiler's estimate"},
    [COST_HLO] = {true, "counted from the HLO"},
    [COST_TARGET] = {true, "a custom call, counted as what its target computes"},
    [COST_TOLD] = {true, "a custom call, as its author estimated it"},
    [COST_EVENT] = {true, "the compiler's own estimate, from the profile"},
    [COST_CONTROL] = {true, "control flow: the ops in its body are counted on their own"},
    [COST_PARTNER] = {true, "counted where the transfer starts"},
    [COST_CUSTOM_CALL] = {false, "what this custom call computes is not known"},
    [COST_TRIPS] = {false,
                    "a loop or branch whose body has no events: how often the body ran is unknown"},
    [COST_SEVERAL] =
        {false,
         "one of several kernels of its op; the cost is known for the op as a whole: group by op"},
    [COST_SHAPES] = {true, "counted from the shapes that PyTorch recorded"},
    [COST_NO_CALLER] = {false, "the profile does not say which op of PyTorch launched it"},
    [COST_NO_SHAPES] = {false, "PyTorch recorded no shapes: profile with record_shapes=True"},
    [COST_BAD_SHAPES] = {false, "the recorded shapes do not fit the op"},
    [COST_NO_VALUES] = {false, "its arguments that are not tensors were not recorded; PyTorch 2.0 "
                               "and later records them with record_shapes=True"},
    [COST_NO_LENGTHS] =
        {false, "the lengths of its sequences are values of a tensor, which were not recorded"},
    [COST_NO_TYPES] = {false, "PyTorch does not record the type of tensors in lists"},
    [COST_NO_FORMULA] = {false, "what this op computes is not known"},
    [COST_NO_INSTRUCTION] = {false, "the module in the profile has no instruction of this name"},
};

struct str cost_rule_words(enum cost_rule rule)
{
    return str_of(rules[(unsigned)rule < COST_RULE_COUNT ? rule : COST_UNKNOWN].words);
}

bool cost_is_known(enum cost_rule rule)
{
    return (unsigned)rule < COST_RULE_COUNT && rules[rule].known;
}

static struct op_cost unknown_cost(enum cost_rule rule)
{
    return (struct op_cost){
        .flops = NAN,
        .matrix_flops = NAN,
        .transcendentals = NAN,
        .bytes = NAN,
        .flops_rule = (uint8_t)rule,
        .bytes_rule = (uint8_t)rule,
    };
}

static uint64_t key_of(struct str name)
{
    return hash64((struct bytes){.at = (const uint8_t *)name.at, .count = name.count});
}

static void find_instructions(struct cost_program *work)
{
    struct map64 by_name = {0};
    const struct hlo_module *module = work->module;

    map64_reserve(&by_name, module->instruction_count);
    for (uint32_t i = 0; i < module->instruction_count; i++)
        map64_at(&by_name, key_of(module->instructions[i].name), i);
    for (uint32_t i = 0; i < work->count; i++) {
        struct str name = trace_name(work->trace, work->of->ops[work->ops[i]].name);
        uint32_t found;

        work->instructions[i] = HLO_NONE;
        if (!map64_get(&by_name, key_of(name), &found) ||
            !str_equal(module->instructions[found].name, name))
            continue;
        work->instructions[i] = found;
        if (module->instructions[found].computation < module->computation_count)
            work->with_events[module->instructions[found].computation] = true;
    }
    map64_free(&by_name);
}

static void cost_ops(struct cost_program *work, struct op_cost *costs, struct needs *needs)
{
    work->instructions = memory_resize(NULL, work->count, sizeof(*work->instructions));
    work->with_events = memory_zeroed((size_t)work->module->computation_count + 1, 1);
    find_instructions(work);
    cost_correct_runs(work, costs);
    needs_add(work, needs);

    struct cost_work *cost = cost_work_create(work->module, work->with_events);

    for (uint32_t i = 0; i < work->count; i++) {
        struct op_cost *to = &costs[work->ops[i]], found = unknown_cost(COST_NO_INSTRUCTION);

        if (work->instructions[i] != HLO_NONE)
            cost_of_instruction(cost, work->instructions[i], &found);
        found.run_count = to->run_count;
        *to = found;
    }
    cost_work_free(cost);
    free(work->instructions);
    free(work->with_events);
}

/* A blob that cannot be read leaves its ops unknown: the table of modules tells why. */
static void cost_module_ops(const struct trace *trace, const struct attribution *of, program_id id,
                            const uint32_t *ops, uint32_t count, struct op_cost *costs,
                            struct needs *needs)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;

    if (hlo_module_of(trace, &trace->programs[id], arena, &module, &err) == OK)
        cost_ops(
            &(struct cost_program){
                .trace = trace, .of = of, .module = &module, .ops = ops, .count = count},
            costs, needs);
    arena_destroy(arena);
}

static void cost_programs(const struct trace *trace, struct attribution *of, struct op_cost *costs,
                          struct needs *needs)
{
    uint32_t *order = memory_resize(NULL, of->op_count, sizeof(*order));

    for (uint32_t i = 0; i < of->op_count; i++)
        order[i] = i;
    ops_by_program(of->ops, order, of->op_count);
    for (uint32_t i = 0, end; i < of->op_count; i = end) {
        program_id program = of->ops[order[i]].program;

        for (end = i + 1; end < of->op_count && of->ops[order[end]].program == program; end++)
            ;
        if (program < trace->program_count)
            cost_module_ops(trace, of, program, &order[i], end - i, costs, needs);
    }
    free(order);
}

/* A number that every event of the op's type carries; NAN where it does not. */
static double type_number(const struct trace *trace, type_id type, name_id key)
{
    if (type >= trace->type_count)
        return NAN;
    for (uint32_t i = 0; i < trace->types[type].arg_count; i++) {
        const struct arg *arg = &trace->type_args[trace->types[type].first_arg + i];
        double real;

        if (arg->key != key)
            continue;
        switch (arg->type) {
        case ARG_INT64:
            return (double)(int64_t)arg->bits;
        case ARG_UINT64:
            return (double)arg->bits;
        case ARG_DOUBLE:
            memcpy(&real, &arg->bits, sizeof(real));
            return real;
        default:
            break;
        }
    }
    return NAN;
}

/* What the compiler says of ops that the HLO does not tell. */
static void cost_by_events(const struct trace *trace, const struct attribution *of,
                           struct op_cost *costs)
{
    name_id flops_key, bytes_key;
    bool has_flops = trace_find_name(trace, STR("flops"), &flops_key);
    bool has_bytes = trace_find_name(trace, STR("bytes_accessed"), &bytes_key);

    for (uint32_t op = 0; (has_flops || has_bytes) && op < of->op_count; op++) {
        struct op_cost *cost = &costs[op];

        if (of->totals[op].event_count == 0 || (cost_is_known((enum cost_rule)cost->flops_rule) &&
                                                cost_is_known((enum cost_rule)cost->bytes_rule)))
            continue;

        type_id type = trace_type(trace, trace_slice(trace, of->totals[op].first).event);
        double flops = has_flops ? type_number(trace, type, flops_key) : NAN;
        double bytes = has_bytes ? type_number(trace, type, bytes_key) : NAN;

        if (!cost_is_known((enum cost_rule)cost->flops_rule) && flops >= 0) {
            cost->flops = flops;
            cost->flops_rule = COST_EVENT;
        }
        if (!cost_is_known((enum cost_rule)cost->bytes_rule) && bytes >= 0) {
            cost->bytes = bytes;
            cost->bytes_rule = COST_EVENT;
        }
    }
}

/* What was counted where the ops were found stands; what their names say is added. */
static void take_told(const struct attribution *of, struct op_cost *costs)
{
    for (uint32_t op = 0; of->costs != NULL && op < of->op_count; op++)
        if (of->costs[op].run_count > 0 && !cost_is_known((enum cost_rule)costs[op].flops_rule))
            costs[op] = of->costs[op];
}

void costs_make(const struct trace *trace, struct scratch *scratch, struct attribution *of)
{
    if (of->op_count == 0)
        return;

    struct op_cost *costs = scratch_array(scratch, struct op_cost, of->op_count);
    struct needs needs = {0};

    for (uint32_t op = 0; op < of->op_count; op++)
        costs[op] = unknown_cost(COST_UNKNOWN);
    cost_count_runs(trace, of, costs);
    cost_programs(trace, of, costs, &needs);
    needs_end(&needs, scratch, of);
    cost_by_events(trace, of, costs);
    take_told(of, costs);
    for (uint32_t op = 0; op < of->op_count; op++)
        if (of->ops[op].category == 0)
            costs[op].family = cost_family_of(trace_name(trace, of->ops[op].name));
    of->costs = costs;
}
