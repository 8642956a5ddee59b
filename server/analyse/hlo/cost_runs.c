/* SPDX-License-Identifier: Apache-2.0 */
/* How often the ops of an attribution ran: an op may be several events.
 *
 *   a stream of kernels   uninterrupted runs of its kernels
 *   elsewhere             each event
 *   with the module       the entry computation runs once an execution, whatever its events are
 *
 * XLA:CPU copies what it sorts, operand by operand, in events that look as the sort's own; so in a
 * loop or call a sort ran as often as what stands beside it.
 */
#include <stdlib.h>

#include "analyse/hlo/cost_parts.h"
#include "analyse/scan/scan.h"

enum { RUN_NAMES_MAX = 16 };

struct run { /* of one op on a row */
    uint32_t op;
    slice_id first;
    name_id names[RUN_NAMES_MAX]; /* of its kernels; the first is looked at when it must be */
    uint32_t name_count;
};

/* On a stream an op may launch several kernels: as long as the row shows no other op, and none of
 * its kernels again, it is one run. What no program launched, as copies between two kernels of a
 * library, is no other op. */
static bool goes_on(const struct trace *trace, struct run *run, const struct attributed *entry)
{
    if (run->op != entry->op || run->name_count == RUN_NAMES_MAX)
        return false;
    if (run->name_count == 0)
        run->names[run->name_count++] = trace_slice(trace, run->first).name;

    name_id name = trace_slice(trace, entry->slice).name;

    for (uint32_t i = 0; i < run->name_count; i++)
        if (run->names[i] == name)
            return false;
    if (run->name_count < RUN_NAMES_MAX)
        run->names[run->name_count++] = name;
    return true;
}

static uint32_t count_runs(const struct trace *trace, const struct attribution *of,
                           const struct row *row, uint32_t at, struct op_cost *costs)
{
    bool is_stream = track_runs_kernels(trace, row->track);
    struct run run = {.op = NO_OP};

    for (; at < of->entry_count && entry_slice(of, at) - row->first_slice < row->count; at++) {
        const struct attributed *entry = ENTRY_AT(of, at);
        const struct op *op = &of->ops[entry->op];
        bool is_of_program = op->program != NO_PROGRAM || op->module != 0;

        if (is_stream && is_of_program && goes_on(trace, &run, entry))
            continue;
        costs[entry->op].run_count++;
        if (is_of_program)
            run = (struct run){.op = entry->op, .first = entry->slice};
    }
    return at;
}

void cost_count_runs(const struct trace *trace, const struct attribution *of, struct op_cost *costs)
{
    uint32_t at = 0;

    for (row_id id = 0; id < trace->row_count; id++) {
        while (at < of->entry_count && entry_slice(of, at) < trace->rows[id].first_slice)
            at++;
        at = count_runs(trace, of, &trace->rows[id], at, costs);
    }
}

/* NULL: the module has no such instruction. */
static const struct hlo_instruction *instruction_of(const struct cost_program *program, uint32_t i)
{
    uint32_t at = program->instructions[i];

    return at == HLO_NONE ? NULL : &program->module->instructions[at];
}

static bool is_sort(const struct hlo_instruction *instruction)
{
    return str_equal(instruction->opcode, STR("sort"));
}

/* Of the ops of each computation but its sorts; UINT32_MAX: it has none. */
static uint32_t *least_runs(const struct cost_program *program, const struct op_cost *costs)
{
    size_t bytes = ((size_t)program->module->computation_count + 1) * sizeof(uint32_t);
    uint32_t *least = memory_resize(NULL, bytes, 1);

    memset(least, 0xFF, bytes);
    for (uint32_t i = 0; i < program->count; i++) {
        const struct hlo_instruction *instruction = instruction_of(program, i);
        uint32_t runs = costs[program->ops[i]].run_count;

        if (instruction != NULL && !is_sort(instruction) && runs > 0 &&
            runs < least[instruction->computation])
            least[instruction->computation] = runs;
    }
    return least;
}

void cost_correct_runs(const struct cost_program *program, struct op_cost *costs)
{
    uint32_t *least = least_runs(program, costs);

    for (uint32_t i = 0; i < program->count; i++) {
        const struct hlo_instruction *instruction = instruction_of(program, i);
        uint32_t op = program->ops[i];

        if (instruction == NULL)
            continue;
        if (program->module->computations[instruction->computation].is_entry)
            costs[op].run_count = program->of->totals[op].count;
        else if (is_sort(instruction) && least[instruction->computation] < costs[op].run_count)
            costs[op].run_count = least[instruction->computation];
    }
    free(least);
}
