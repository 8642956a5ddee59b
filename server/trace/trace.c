/* SPDX-License-Identifier: Apache-2.0 */
/* Looking things up by name: texts, programs, instructions. */
#include "trace/trace.h"

#include "base/bisect.h"
#include "trace/readers.h"

struct str trace_name(const struct trace *trace, name_id id)
{
    const struct trace_parts *parts = trace->parts;

    if (id >= trace->name_count)
        return id - trace->name_count < trace->lent_name_count
                   ? trace->lent_names[id - trace->name_count]
                   : STR("");
    return (struct str){.at = parts->name_texts + parts->name_offsets[id],
                        .count = (size_t)(parts->name_offsets[id + 1] - parts->name_offsets[id])};
}

bool trace_find_name(const struct trace *trace, struct str text, name_id *ret)
{
    const name_id *order = trace->parts->name_order;
    uint32_t from =
        BISECT(0, trace->name_count, i, str_compare(trace_name(trace, order[i]), text) < 0);

    if (from == trace->name_count || !str_equal(trace_name(trace, order[from]), text))
        return false;
    *ret = order[from];
    return true;
}

const struct instruction *trace_instruction(const struct trace *trace, program_id program,
                                            name_id name)
{
    if (program >= trace->program_count)
        return NULL;

    const struct instruction *of_program =
        &trace->instructions[trace->programs[program].first_instruction];
    uint32_t count = trace->programs[program].instruction_count;
    uint32_t from = BISECT(0, count, i, of_program[i].name < name);

    return from < count && of_program[from].name == name ? &of_program[from] : NULL;
}

program_id trace_program(const struct trace *trace, uint64_t id)
{
    for (program_id i = 0; i < trace->program_count; i++)
        if (trace->programs[i].id == id)
            return i;
    return NO_PROGRAM;
}

bool trace_damaged(const struct trace *trace)
{
    const struct block_in *in = &trace->parts->in;

    return trace->parts->damaged || (in->damaged && in->damaged(in->from));
}

bool trace_arg_valid(const struct trace *trace, const struct arg *arg)
{
    bool is_text = arg->type == ARG_STRING || arg->type == ARG_BYTES || arg->type == ARG_JSON;

    return arg->key < trace->name_count && arg->type <= ARG_DIGITS &&
           (!is_text || arg->bits < trace->name_count);
}
