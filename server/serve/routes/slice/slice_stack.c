/* SPDX-License-Identifier: Apache-2.0 */
/* The Python calls that made a slice's op, the innermost first: from the stack frames of its HLO,
 * completed by other stacks of the same program where JAX cut it off. */
#include "analyse/hlo/op_stacks.h"
#include "serve/routes/slice/slice_parts.h"

static const bool *ops_of_program(const struct subject *subject, program_id program)
{
    const struct attribution *attribution = subject->host->attribution;
    bool *wanted = arena_array(subject->arena, bool, (size_t)attribution->op_count + 1);

    for (uint32_t i = 0; i < attribution->op_count; i++)
        wanted[i] = attribution->ops[i].program == program;
    return wanted;
}

static bool put_frames(struct json *json, const struct op_stacks *stacks, uint32_t frame)
{
    bool is_cut = false;

    for (; frame != NO_FRAME; frame = stacks->frames[frame].parent) {
        const struct op_frame *at = &stacks->frames[frame];

        is_cut = at->is_cut;
        if (is_cut)
            break;
        json_open(json, '{');
        json_put_text_or_null(json, "function", at->function);
        json_put_text_or_null(json, "file", at->file);
        if (at->line > 0)
            json_put_unsigned(json, "line", at->line);
        else
            json_put_null(json, "line");
        json_close(json, '}');
    }
    return is_cut;
}

void slice_put_stack(struct json *json, const struct subject *subject)
{
    const struct attribution *attribution = subject->host->attribution;
    struct attributed room;
    const struct attributed *entry =
        attribution == NULL ? NULL : attribution_of(attribution, subject->slice.id, &room);
    const char *reason = NULL;
    struct op_stacks stacks = {0};
    uint32_t frame = NO_FRAME;

    if (entry == NULL || entry->op == NO_OP)
        reason = "only ops of a device have one";
    else if (attribution->ops[entry->op].program == NO_PROGRAM)
        reason = "the profile holds no HLO of its program";
    else {
        op_stacks_read(subject->host, ops_of_program(subject, attribution->ops[entry->op].program),
                       subject->arena, &stacks);
        frame = stacks.of_op[entry->op];
        if (frame == NO_FRAME)
            reason = "the compiler recorded no calls for it";
    }
    json_key(json, "stack");
    json_open(json, '{');
    json_key(json, "frames");
    json_open(json, '[');
    bool is_cut = put_frames(json, &stacks, frame);
    json_close(json, ']');
    json_put_bool(json, "cut", is_cut);
    json_put_text_or_null(json, "reason", str_of(reason));
    json_close(json, '}');
}
