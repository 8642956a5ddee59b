/* SPDX-License-Identifier: Apache-2.0 */
/* Looking things up by name: texts, programs, instructions. */
#include "trace/trace.h"

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
    uint32_t from = 0, to = trace->name_count;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        name_id id = trace->parts->name_order[middle];
        int order = str_compare(trace_name(trace, id), text);

        if (order == 0) {
            *ret = id;
            return true;
        }
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

const struct instruction *trace_instruction(const struct trace *trace, program_id program,
                                            name_id name)
{
    if (program >= trace->program_count)
        return NULL;

    const struct instruction *of_program =
        &trace->instructions[trace->programs[program].first_instruction];
    uint32_t from = 0, to = trace->programs[program].instruction_count;
    const uint32_t count = to;

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (of_program[middle].name < name)
            from = middle + 1;
        else
            to = middle;
    }
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
