/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an op's scope for the transformation that made it. */
#include "analyse/hlo/phase.h"

#include "analyse/hlo/scope.h"

static bool holds_folded(struct str text, const char *lower)
{
    size_t count = strlen(lower);

    for (size_t at = 0; at + count <= text.count; at++) {
        size_t same = 0;

        while (same < count && ascii_lower(text.at[at + same]) == lower[same])
            same++;
        if (same == count)
            return true;
    }
    return false;
}

static bool is_of_optimizer(struct str scope)
{
    static const char *const words[] = {"optimizer",     "optax",           "adam",
                                        "apply_updates", "apply_gradients", "resourceapply"};

    for (size_t i = 0; i < COUNT(words); i++)
        if (holds_folded(scope, words[i]))
            return true;
    return false;
}

enum op_phase phase_of_op(const struct trace *trace, const struct op *op)
{
    struct str scope = scope_of_op(trace, op);

    if (op->kind == KIND_COMMUNICATION)
        return OP_PHASE_COMMUNICATION;
    if (op->phase != OP_PHASE_UNKNOWN || op->caller != 0)
        return op->phase;
    if (str_contains(scope, STR("rematted_computation")))
        return OP_PHASE_RECOMPUTATION;
    if (str_contains(scope, STR("transpose(")) || str_contains(scope, STR("gradient_tape/")))
        return OP_PHASE_BACKWARD;
    if (str_contains(scope, STR("jvp(")))
        return OP_PHASE_FORWARD;
    return is_of_optimizer(scope) ? OP_PHASE_OPTIMIZER : OP_PHASE_UNKNOWN;
}

const char *phase_word(enum op_phase phase)
{
    static const char *const words[OP_PHASE_COUNT] = {
        [OP_PHASE_UNKNOWN] = "other",       [OP_PHASE_FORWARD] = "forward",
        [OP_PHASE_BACKWARD] = "backward",   [OP_PHASE_RECOMPUTATION] = "recomputation",
        [OP_PHASE_OPTIMIZER] = "optimizer", [OP_PHASE_COMMUNICATION] = "communication",
    };

    return words[(unsigned)phase < OP_PHASE_COUNT ? phase : OP_PHASE_UNKNOWN];
}
