/* SPDX-License-Identifier: Apache-2.0 */
/* Times each op in the counted steps, and reads the instructions of the heaviest ones for rules
 * about arithmetic. */
#include "analyse/findings/compute_facts.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/hlo/fault.h"
#include "decode/hlo/hlo_detail.h"
#include "trace/ps.h"

enum {
    ENTRIES_LOOKED_AT = 1 << 20, /* of more, the counted part is taken to be that of the time */
    OPS_LOOKED_AT = 64,
    BLOB_BYTES_MAX = 16 << 20, /* of one module */
    SCORES_SIDE_MIN = 256
};

static void time_ops(struct memo *memo, uint32_t index, const struct counted *counted,
                     struct compute_host *ret)
{
    const struct host_trace *host = &memo->run->hosts[index];
    const struct attribution *of = host->attribution;
    int64_t hull_ps = 0, counted_ps = 0;
    struct entry_reader reader;

    for (uint32_t i = 0; i < of->device_count; i++) {
        ps_add(&hull_ps, of->devices[i].end_ps - of->devices[i].start_ps);
        ps_add(&counted_ps,
               counted_inside_ps(counted, index, of->devices[i].start_ps + host->offset_ps,
                                 of->devices[i].end_ps + host->offset_ps));
    }
    if (of->entry_count > ENTRIES_LOOKED_AT) {
        for (uint32_t op = 0; op < of->op_count && hull_ps > 0; op++)
            ret->ops[op].self_ps =
                (int64_t)((double)of->totals[op].self_ps * ((double)counted_ps / (double)hull_ps));
        return;
    }
    entry_reader_open(&reader, of, ENTRY_ALL);
    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);
        int64_t start_ps = entry->start_ps + host->offset_ps;
        int64_t inside_ps = counted_inside_ps(counted, index, start_ps, start_ps + entry->dur_ps);

        if (inside_ps > 0)
            ps_add(&ret->ops[entry->op].self_ps,
                   (int64_t)((double)entry->self_ps * ((double)inside_ps / (double)entry->dur_ps)));
    }
}

static bool is_constant(const struct hlo_module *module, uint32_t instruction)
{
    return instruction != HLO_NONE &&
           (str_equal(module->instructions[instruction].opcode, STR("constant")) ||
            str_equal(module->instructions[instruction].opcode, STR("iota")));
}

/* Control flow and what the compiler calls for its effects is not meant. */
static bool is_of_constants(const struct hlo_module *module, const struct hlo_instruction *of,
                            struct arena *arena)
{
    static const char *const meant[] = {"fusion", "broadcast", "dot", "convolution", "iota"};
    bool found = false;

    for (size_t i = 0; i < COUNT(meant); i++)
        found |= str_equal(of->opcode, str_of(meant[i]));
    for (uint32_t i = 0; i < of->operand_count; i++)
        found &= is_constant(module, module->operands[of->first_operand + i]);
    return found && !fault_is_written_over(module, (uint32_t)(of - module->instructions), arena);
}

static double filled(uint64_t size, uint64_t tile)
{
    uint64_t tiles = (size + tile - 1) / tile;

    return tiles == 0 ? 1 : (double)size / (double)(tiles * tile);
}

/* Sizes of a product that the matrix units cut into tiles: its last two, and how deep it is. */
static void look_at_dot(const struct hlo_module *module, const struct hlo_instruction *dot,
                        bool is_tpu, struct op_shapes *ret)
{
    struct hlo_sizes lhs, result;
    struct hlo_detail detail;
    uint64_t depth = 1, tile = is_tpu ? 128 : 8;
    uint32_t first = dot->operand_count > 0 ? module->operands[dot->first_operand] : HLO_NONE;

    if (first == HLO_NONE)
        return;
    hlo_detail_read(module, dot, &detail);
    hlo_sizes_read(module->form, module->instructions[first].shape, &lhs);
    hlo_sizes_read(module->form, dot->shape, &result);
    for (uint32_t i = 0; i < detail.lhs_contracting.count; i++)
        if (detail.lhs_contracting.items[i] < lhs.rank)
            depth *= lhs.sizes[detail.lhs_contracting.items[i]];
    if (result.rank < 2)
        return;

    uint64_t rows = result.sizes[result.rank - 2], columns = result.sizes[result.rank - 1];
    double waste = 1 - filled(rows, 8) * filled(columns, tile) * filled(depth, tile);

    ret->wasted = waste > ret->wasted ? waste : ret->wasted;
    if (result.rank >= 3 && rows == columns && rows >= SCORES_SIDE_MIN && depth * 2 <= rows) {
        ret->is_scores = true;
        ret->side = rows;
    }
}

static void look_at(const struct hlo_module *module, uint32_t instruction, bool is_tpu,
                    struct arena *arena, struct op_shapes *ret)
{
    const struct hlo_instruction *of = &module->instructions[instruction];
    uint32_t called = of->called_count > 0 ? module->called[of->first_called] : HLO_NONE;

    ret->known = true;
    ret->is_of_constants = is_of_constants(module, of, arena);
    if (str_equal(of->opcode, STR("dot")))
        look_at_dot(module, of, is_tpu, ret);
    if (!str_equal(of->opcode, STR("fusion")) || called == HLO_NONE)
        return;
    for (uint32_t i = 0; i < module->computations[called].count; i++) {
        const struct hlo_instruction *inside =
            &module->instructions[module->computations[called].first + i];

        if (str_equal(inside->opcode, STR("dot")))
            look_at_dot(module, inside, is_tpu, ret);
    }
}

static int by_time(const void *left, const void *right, void *data)
{
    const struct op_facts *ops = data;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (ops[a].self_ps != ops[b].self_ps)
        return ops[a].self_ps < ops[b].self_ps ? 1 : -1;
    return (a > b) - (a < b);
}

/* The ops of one program among those that are looked at; modules that cannot be read say
 * nothing. */
static void look_at_program(const struct host_trace *host, program_id id, const uint32_t *order,
                            uint32_t count, struct compute_host *ret)
{
    const struct program *program = &host->trace->programs[id];
    bool is_tpu = ret->spec.sheet != NULL && ret->spec.sheet->vendor == 'G';
    struct arena *arena = arena_create();
    struct error err = {0};
    struct hlo_module module;

    if (program->blob_bytes <= BLOB_BYTES_MAX &&
        hlo_module_of(host->trace, program, arena, &module, &err) == OK)
        for (uint32_t i = 0; i < count; i++) {
            uint32_t found = host->attribution->ops[order[i]].program == id
                                 ? hlo_module_find(&module, ret->ops[order[i]].name)
                                 : HLO_NONE;

            if (found != HLO_NONE)
                look_at(&module, found, is_tpu, arena, &ret->ops[order[i]].shapes);
        }
    arena_destroy(arena);
}

static void look_at_heaviest(struct memo *memo, const struct host_trace *host,
                             struct compute_host *ret)
{
    uint32_t *order = arena_array(memo->arena, uint32_t, ret->op_count + 1);
    uint32_t count = ret->op_count < OPS_LOOKED_AT ? ret->op_count : OPS_LOOKED_AT;

    for (uint32_t i = 0; i < ret->op_count; i++)
        order[i] = i;
    qsort_r(order, ret->op_count, sizeof(*order), by_time, ret->ops);
    for (uint32_t i = 0; i < count; i++) {
        program_id id = host->attribution->ops[order[i]].program;
        bool seen = id >= host->trace->program_count || ret->ops[order[i]].self_ps == 0;

        for (uint32_t k = 0; k < i && !seen; k++)
            seen = host->attribution->ops[order[k]].program == id;
        if (!seen)
            look_at_program(host, id, order, count, ret);
    }
}

static void put_host(struct memo *memo, uint32_t index, const struct counted *counted,
                     struct compute_host *ret)
{
    const struct host_trace *host = &memo->run->hosts[index];
    const struct attribution *of = host->attribution;

    if (of == NULL || of->costs == NULL || of->totals == NULL || of->device_count == 0)
        return;
    device_spec_of(host->trace, of, memo->arena, &ret->spec);
    ret->ops = arena_array(memo->arena, struct op_facts, of->op_count);
    ret->op_count = of->op_count;
    time_ops(memo, index, counted, ret);
    for (uint32_t op = 0; op < of->op_count; op++) {
        struct op_facts *put = &ret->ops[op];

        put->name = trace_name(host->trace, op_called(&of->ops[op]));
        put->category = trace_name(host->trace, of->ops[op].category);
        put->scope = trace_name(host->trace, of->ops[op].scope);
        put->cost = &of->costs[op];
        put->total = &of->totals[op];
        put->self_ps /= of->device_count;
        put->seconds = (double)of->totals[op].total_ps * 1e-12;
        ps_add(&ret->self_ps, put->self_ps);
    }
    look_at_heaviest(memo, host, ret);
}

static enum status make_compute(struct memo *memo, const void **ret, struct error *err)
{
    struct compute_facts *made = arena_new(memo->arena, struct compute_facts);
    const struct counted *counted;

    TRY(memo_counted(memo, &counted, err));
    made->hosts = arena_array(memo->arena, struct compute_host, memo->run->host_count + 1);
    for (uint32_t i = 0; i < memo->run->host_count; i++)
        put_host(memo, i, counted, &made->hosts[i]);
    *ret = made;
    return OK;
}

enum status memo_compute(struct memo *memo, const struct compute_facts **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_compute, &made, err));
    *ret = made;
    return OK;
}

double op_compute_s(const struct compute_host *host, const struct op_facts *op)
{
    return cost_is_known((enum cost_rule)op->cost->flops_rule)
               ? device_compute_s(&host->spec, op->cost) * op->cost->run_count
               : NAN;
}

double op_memory_s(const struct compute_host *host, const struct op_facts *op)
{
    return op->cost->bytes * op->cost->run_count / host->spec.bytes_per_s;
}
