/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an op's scope for the transformation that made it, and its calls for an optimizer. */
#include "analyse/hlo/phase.h"

#include "analyse/hlo/scope.h"

enum { CALLS_MAX = 64 };

static bool is_letter(char letter)
{
    return ascii_lower(letter) >= 'a' && ascii_lower(letter) <= 'z';
}

/* Does a word of the text begin so, as in "fused_adamw"? Inside "FusedAdam", too, if asked. */
static bool has_word(struct str text, const char *lower, bool inside)
{
    size_t count = strlen(lower);

    for (size_t at = 0; at + count <= text.count; at++) {
        size_t same = 0;
        bool begins = at == 0 || !is_letter(text.at[at - 1]) ||
                      (inside && ascii_lower(text.at[at]) != text.at[at] &&
                       ascii_lower(text.at[at - 1]) == text.at[at - 1]);

        while (begins && same < count && ascii_lower(text.at[at + same]) == lower[same])
            same++;
        if (begins && same == count)
            return true;
    }
    return false;
}

/* What JAX calls the program: all of it stands below. */
static bool is_program(struct str element)
{
    return str_starts(element, STR("jit(")) || str_starts(element, STR("pjit(")) ||
           str_starts(element, STR("pmap("));
}

static bool is_of_optimizer(struct str scope)
{
    static const struct {
        const char *word;
        bool inside; /* "ArithmeticOptimizer" is a pass of TensorFlow's compiler */
    } words[] = {{"optimizer", false},     {"optax", false},           {"adam", true},
                 {"apply_updates", false}, {"apply_gradients", false}, {"resourceapply", true}};
    struct str rest = scope, element;

    for (bool first = true; scope_next(&rest, &element); first = false) {
        if (first && is_program(element))
            continue;
        for (size_t i = 0; i < COUNT(words); i++)
            if (has_word(element, words[i].word, words[i].inside))
                return true;
    }
    return false;
}

static enum op_phase phase_of_one(struct str scope)
{
    if (str_contains(scope, STR("rematted_computation")))
        return OP_PHASE_RECOMPUTATION;
    if (str_contains(scope, STR("transpose(")) || str_contains(scope, STR("gradient_tape/")))
        return OP_PHASE_BACKWARD;
    if (str_contains(scope, STR("jvp(")))
        return OP_PHASE_FORWARD;
    return is_of_optimizer(scope) ? OP_PHASE_OPTIMIZER : OP_PHASE_UNKNOWN;
}

enum op_phase phase_of_scope(struct str scope)
{
    enum op_phase phase = OP_PHASE_COUNT;

    while (scope.count > 0) {
        const char *joint = memchr(scope.at, ';', scope.count);
        size_t count = joint == NULL ? scope.count : (size_t)(joint - scope.at);
        enum op_phase part = phase_of_one((struct str){scope.at, count});

        if (phase != OP_PHASE_COUNT && part != phase)
            return OP_PHASE_UNKNOWN;
        phase = part;
        scope = str_skip(scope, joint == NULL ? count : count + 1);
    }
    return phase == OP_PHASE_COUNT ? OP_PHASE_UNKNOWN : phase;
}

enum op_phase phase_of_op(const struct trace *trace, const struct op *op)
{
    if (op->kind == KIND_COMMUNICATION)
        return OP_PHASE_COMMUNICATION;
    if (op->phase != OP_PHASE_UNKNOWN || op->caller != 0)
        return op->phase;
    return phase_of_scope(scope_of_op(trace, op));
}

enum library { LIBRARY_NONE, LIBRARY_HELPS, LIBRARY_OPTIMIZES, LIBRARY_ELSE };

/* Whose code a file is. What losses may call as well helps only; a package's losses are else. */
static enum library library_of(struct str file)
{
    static const struct {
        const char *part;
        enum library library;
    } parts[] = {
        {"/optax/losses/", LIBRARY_ELSE},
        {"/optax/_src/loss", LIBRARY_ELSE},
        {"/optax/tree_utils/", LIBRARY_HELPS},
        {"/optax/projections/", LIBRARY_HELPS},
        {"/optax/_src/numerics", LIBRARY_HELPS},
        {"/optax/_src/linear_algebra", LIBRARY_HELPS},
        {"/optax/_src/utils", LIBRARY_HELPS},
        {"/optax/", LIBRARY_OPTIMIZES},
        {"/flax/nnx/training/optimizer.py", LIBRARY_OPTIMIZES},
        {"/flax/training/train_state.py", LIBRARY_OPTIMIZES},
        {"/flax/optim/", LIBRARY_OPTIMIZES},
        {"/keras/src/optimizers/", LIBRARY_OPTIMIZES},
        {"/jax/example_libraries/optimizers.py", LIBRARY_OPTIMIZES},
    };

    for (size_t i = 0; i < COUNT(parts); i++)
        if (str_contains(file, str_of(parts[i].part)))
            return parts[i].library;
    return LIBRARY_NONE;
}

enum op_phase phase_of_calls(const struct hlo_frames *frames, uint64_t frame)
{
    struct hlo_frame call;

    for (int i = 0; i < CALLS_MAX && frame != 0 && hlo_frame_get(frames, frame, &call); i++) {
        enum library library = library_of(call.file);

        if (library == LIBRARY_OPTIMIZES)
            return OP_PHASE_OPTIMIZER;
        if (library != LIBRARY_HELPS)
            return OP_PHASE_UNKNOWN;
        frame = call.parent;
    }
    return OP_PHASE_UNKNOWN;
}

const char *phase_word(enum op_phase phase)
{
    static const char *const words[OP_PHASE_COUNT] = {
        [OP_PHASE_UNKNOWN] = "unknown",     [OP_PHASE_FORWARD] = "forward",
        [OP_PHASE_BACKWARD] = "backward",   [OP_PHASE_RECOMPUTATION] = "recomputation",
        [OP_PHASE_OPTIMIZER] = "optimizer", [OP_PHASE_COMMUNICATION] = "communication",
    };

    return words[(unsigned)phase < OP_PHASE_COUNT ? phase : OP_PHASE_UNKNOWN];
}
