/* SPDX-License-Identifier: Apache-2.0 */
/* How a change alters what lies where.
 *
 *   donate   the i-th output takes the first argument of its shape that no other took, as JAX pairs
 *            them; it needs no memory where the argument's last use comes before it is made
 *   half     what has the batch among its sizes needs half; a weight of such a size leaves it open
 *   waiting  what a scope made that its backward pass uses: the most that computing the scope again
 *            could save
 */
#include "analyse/memory/heap_fit_parts.h"

static bool same_shape(struct bytes a, struct bytes b)
{
    return a.count > 0 && a.count == b.count && memcmp(a.at, b.at, a.count) == 0;
}

/* May the result lie where an operand lies that it reads? */
static bool works_in_place(const struct hlo_instruction *instruction)
{
    return !str_equal(instruction->opcode, STR("dot")) &&
           !str_equal(instruction->opcode, STR("convolution")) &&
           !str_equal(instruction->opcode, STR("custom-call")) &&
           !str_equal(instruction->opcode, STR("transpose")) &&
           !str_equal(instruction->opcode, STR("gather"));
}

static uint32_t parameter_for(const struct fit_work *work, const struct fit_value *output,
                              const bool *is_taken)
{
    uint32_t best = HLO_NONE;

    for (uint32_t i = 0; i < work->value_count; i++) {
        const struct fit_value *value = &work->values[i];

        if (value->is_parameter && !is_taken[i] && same_shape(value->shape, output->shape) &&
            !work->module->allocations[value->allocation].is_live_out &&
            (best == HLO_NONE || value->parameter < work->values[best].parameter))
            best = i;
    }
    return best;
}

static bool is_copy_of(const struct fit_work *work, uint32_t instruction,
                       const struct fit_value *argument)
{
    const struct hlo_module *module = work->module;
    const struct hlo_instruction *copy = &module->instructions[instruction];

    return str_equal(copy->opcode, STR("copy")) && copy->operand_count > 0 &&
           fit_source_of(module, module->operands[copy->first_operand]) == argument->instruction;
}

/* The output lies in an argument that is read until `read_until`. What it is made from in place
 * keeps memory of its own until then. */
static void put_into(const struct fit_work *work, struct fit_value *output,
                     const struct fit_value *argument)
{
    const uint32_t read_until = argument->last;
    bool fits =
        read_until < output->made ||
        (read_until == output->made && works_in_place(&work->module->instructions[output->maker]));

    if (is_copy_of(work, output->first_instruction, argument)) {
        output->bytes = 0; /* the copy was made because the argument had to stay */
        return;
    }
    if (!fits)
        return;
    if (output->made <= output->first)
        output->bytes = 0;
    else
        output->last = output->made;
}

bool fit_donate(const struct fit_work *work, struct fit_value *values, uint32_t *ret_count,
                struct str *ret_reason)
{
    bool *is_taken = arena_array(work->arena, bool, work->value_count + 1u);
    uint32_t outputs = 0;

    for (uint32_t i = 0; i < work->value_count; i++)
        if (values[i].is_output && values[i].output >= outputs)
            outputs = values[i].output + 1;
    *ret_count = 0;
    for (uint32_t number = 0; number < outputs; number++)
        for (uint32_t i = 0; i < work->value_count; i++) {
            uint32_t found;

            if (!values[i].is_output || values[i].output != number || values[i].bytes == 0 ||
                (found = parameter_for(work, &values[i], is_taken)) == HLO_NONE)
                continue;
            is_taken[found] = true;
            ++*ret_count;
            put_into(work, &values[i], &work->values[found]);
        }
    *ret_reason = STR("no output has the shape of an argument that is not donated yet");
    return *ret_count > 0;
}

enum { SIZES_MAX = 64 };
struct batch_sizes { /* of dimensions that hold the batch: itself, and merged with what follows */
    uint64_t sizes[SIZES_MAX];
    uint32_t count;
};

static bool has_size(const struct batch_sizes *batch, uint64_t size)
{
    for (uint32_t i = 0; i < batch->count; i++)
        if (batch->sizes[i] == size)
            return true;
    return false;
}

static void add_size(struct batch_sizes *batch, uint64_t size)
{
    if (!has_size(batch, size) && batch->count < SIZES_MAX)
        batch->sizes[batch->count++] = size;
}

/* An argument of data has it first; behind that it may be merged with the sizes that follow. */
static bool find_sizes(const struct fit_work *work, uint64_t batch, struct batch_sizes *ret)
{
    *ret = (struct batch_sizes){0};
    for (uint32_t i = 0; i < work->value_count; i++) {
        struct hlo_sizes sizes;
        uint64_t merged = 1;

        if (!work->values[i].is_parameter)
            continue;
        hlo_sizes_read(work->module->form, work->values[i].shape, &sizes);
        if (sizes.rank == 0 || sizes.sizes[0] != batch)
            continue;
        for (uint32_t k = 0; k < sizes.rank && k < HLO_RANK_MAX; k++)
            if (!__builtin_mul_overflow(merged, sizes.sizes[k], &merged))
                add_size(ret, merged);
    }
    return ret->count > 0;
}

/* A size of the batch in an argument at another place: then no size tells the batch. */
static bool is_open(const struct fit_work *work, const struct batch_sizes *batch)
{
    for (uint32_t i = 0; i < work->value_count; i++) {
        struct hlo_sizes sizes;

        if (!work->values[i].is_parameter)
            continue;
        hlo_sizes_read(work->module->form, work->values[i].shape, &sizes);
        for (uint32_t k = 0; k < sizes.rank && k < HLO_RANK_MAX; k++)
            if (has_size(batch, sizes.sizes[k]) && (k > 0 || sizes.sizes[0] != batch->sizes[0]))
                return true;
    }
    return false;
}

/* Of these the compiler copies, fuses and transposes operands as their sizes make it worth. */
static bool multiplies_batches(const struct hlo_module *module)
{
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        struct hlo_sizes sizes;

        if (!str_equal(module->instructions[i].opcode, STR("dot")))
            continue;
        hlo_sizes_read(module->form, module->instructions[i].shape, &sizes);
        if (sizes.rank > 2)
            return true;
    }
    return false;
}

bool fit_half(const struct fit_work *work, struct fit_value *values, uint64_t batch,
              struct str *ret_reason)
{
    struct batch_sizes found;

    *ret_reason = STR("batch= tells no size yet: the first size of the data's arguments");
    if (batch == 0)
        return false;
    *ret_reason = STR("this is not the first dimension of any argument");
    if (batch < 2 || !find_sizes(work, batch, &found))
        return false;
    *ret_reason = STR("an argument has this size, or one that the batch is merged into, at another "
                      "place too: which sizes are the batch cannot be told");
    if (is_open(work, &found))
        return false;
    *ret_reason = STR("the module multiplies matrices in batches, and how the compiler lowers that "
                      "depends on their sizes");
    if (multiplies_batches(work->module))
        return false;
    for (uint32_t i = 0; i < work->value_count; i++) {
        struct hlo_sizes sizes;
        bool holds = false;

        hlo_sizes_read(work->module->form, values[i].shape, &sizes);
        for (uint32_t k = 0; sizes.type != HLO_TUPLE && k < sizes.rank && k < HLO_RANK_MAX; k++)
            holds = holds || has_size(&found, sizes.sizes[k]);
        if (holds)
            values[i].bytes -= values[i].bytes / 2;
    }
    return true;
}

static bool is_backward(const struct hlo_instruction *instruction)
{
    return str_contains(instruction->scope, STR("transpose("));
}

/* The part of the scope that begins with the word: "layer_0" of "jit(f)/jvp(layer_0)/tanh". */
static struct str part_of(struct str scope, struct str word)
{
    for (size_t at = 0; at + word.count <= scope.count; at++) {
        size_t end = at;

        if ((at > 0 && scope.at[at - 1] != '/' && scope.at[at - 1] != '(') ||
            memcmp(scope.at + at, word.at, word.count) != 0)
            continue;
        while (end < scope.count && scope.at[end] != '/' && scope.at[end] != ')')
            end++;
        return (struct str){.at = scope.at + at, .count = end - at};
    }
    return STR("");
}

enum { PARTS_MAX = 1024 };
struct part {
    struct str name;
    uint32_t backward; /* position at which its backward pass begins */
};
struct parts {
    struct part items[PARTS_MAX];
    uint32_t count;
};

static struct part *find_part(struct parts *parts, struct str name)
{
    for (uint32_t i = 0; i < parts->count; i++)
        if (str_equal(parts->items[i].name, name))
            return &parts->items[i];
    return NULL;
}

static void find_parts(const struct fit_work *work, struct str word, struct parts *ret)
{
    for (uint32_t position = 0; position < work->order.count; position++) {
        const struct hlo_instruction *instruction =
            &work->module->instructions[work->order.order[position]];
        struct str name = part_of(instruction->scope, word);

        if (name.count > 0 && is_backward(instruction) && ret->count < PARTS_MAX &&
            find_part(ret, name) == NULL)
            ret->items[ret->count++] = (struct part){.name = name, .backward = position};
    }
}

int64_t fit_waiting(const struct fit_work *work, struct str word, uint32_t peak)
{
    struct parts *parts = arena_new(work->arena, struct parts);
    int64_t waiting = 0;

    find_parts(work, word, parts);
    for (uint32_t i = 0; i < work->value_count; i++) {
        const struct fit_value *value = &work->values[i];
        const struct hlo_instruction *maker = &work->module->instructions[value->instruction];
        const struct part *part = find_part(parts, part_of(maker->scope, word));

        if (part != NULL && !is_backward(maker) && !value->is_parameter && !value->is_output &&
            value->first <= peak && peak <= value->last && value->last >= part->backward &&
            value->bytes < INT64_MAX - waiting)
            waiting += value->bytes;
    }
    return waiting;
}
