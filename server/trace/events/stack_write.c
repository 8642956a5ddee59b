/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks and their samples, written.
 *
 *   stacks    [ parent frame ]*     found again through slots of a hash table: both in scratch
 *   samples   [ time track stack labels ]*    \
 *   values    [ one a type ]*                  in spill files until the finish
 *   labels    [ key value ]*                  /  a list equal to the one before is not kept twice
 */
#include <stdlib.h>

#include "base/hash.h"
#include "base/scratch.h"
#include "trace/writers.h"

enum { STACKS_MIN = 64, SAMPLE_TYPES_MAX = 256 };

struct stack_writer {
    struct part_tools tools;
    struct scratch *scratch; /* NULL until there is a stack */
    struct stack *stacks;
    uint32_t stack_count, stack_capacity;
    uint32_t *slots; /* twice the capacity, a power of two; id + 1, 0 free */

    struct sample_type types[SAMPLE_TYPES_MAX];
    uint32_t type_count;

    struct spill *samples, *values, *labels; /* NULL until there is a sample */
    uint64_t sample_count, label_count;
    struct arg *last_labels;
    uint32_t last_first, last_count, last_capacity;
};

_Static_assert(sizeof(struct stack) == 20 && sizeof(struct sample) == 24 &&
                   sizeof(struct arg) == 16 && sizeof(struct sample_type) == 8,
               "records without hidden padding");

struct stack_writer *stack_writer_create(const struct part_tools *tools)
{
    struct stack_writer *writer = memory_resize(NULL, 1, sizeof(*writer));

    *writer = (struct stack_writer){.tools = *tools};
    return writer;
}

void stack_writer_destroy(struct stack_writer *writer)
{
    if (!writer)
        return;
    spill_destroy(writer->samples);
    spill_destroy(writer->values);
    spill_destroy(writer->labels);
    scratch_destroy(writer->scratch);
    free(writer->last_labels);
    free(writer);
}

static bool is_same(const struct stack *a, const struct stack *b)
{
    return a->parent == b->parent && a->frame.function == b->frame.function &&
           a->frame.line == b->frame.line && a->frame.file == b->frame.file &&
           a->frame.module == b->frame.module;
}

/* Where the stack is, or would be. */
static uint32_t *slot_of(const struct stack_writer *writer, const struct stack *stack)
{
    const uint64_t mask = (uint64_t)writer->stack_capacity * 2 - 1;
    uint64_t at =
        hash64((struct bytes){.at = (const uint8_t *)stack, .count = sizeof(*stack)}) & mask;

    while (writer->slots[at] != 0 && !is_same(&writer->stacks[writer->slots[at] - 1], stack))
        at = (at + 1) & mask;
    return &writer->slots[at];
}

static void grow(struct stack_writer *writer)
{
    if (!writer->scratch)
        writer->scratch = scratch_create(writer->tools.temporary_dir);
    writer->stack_capacity = writer->stack_capacity ? writer->stack_capacity * 2 : STACKS_MIN;
    writer->stacks = scratch_resize(writer->scratch, writer->stacks, writer->stack_capacity,
                                    sizeof(*writer->stacks));
    scratch_free(writer->scratch, writer->slots);
    writer->slots = scratch_array(writer->scratch, uint32_t, (size_t)writer->stack_capacity * 2);
    for (uint32_t id = 0; id < writer->stack_count; id++)
        *slot_of(writer, &writer->stacks[id]) = id + 1;
}

stack_id stack_writer_stack(struct stack_writer *writer, stack_id parent, struct frame frame)
{
    const struct stack stack = {.parent = parent, .frame = frame};

    if (parent != NO_STACK && parent >= writer->stack_count) {
        fail(writer->tools.err, ERR_INVALID, "there is no stack %u", parent);
        return NO_STACK;
    }
    if (writer->stack_count == writer->stack_capacity)
        grow(writer);
    uint32_t *slot = slot_of(writer, &stack);
    if (*slot != 0)
        return *slot - 1;
    if (writer->stack_count == writer->tools.budget->stacks_max) {
        fail(writer->tools.err, ERR_LIMIT, "the file has more than %u different stacks",
             writer->tools.budget->stacks_max);
        return NO_STACK;
    }
    writer->stacks[writer->stack_count] = stack;
    *slot = ++writer->stack_count;
    return *slot - 1;
}

uint32_t stack_writer_type(struct stack_writer *writer, struct sample_type type)
{
    for (uint32_t i = 0; i < writer->type_count; i++)
        if (writer->types[i].name == type.name && writer->types[i].unit == type.unit)
            return i;
    if (writer->sample_count > 0) {
        fail(writer->tools.err, ERR_INVALID, "a sample type came after the first sample");
        return 0;
    }
    if (writer->type_count == SAMPLE_TYPES_MAX) {
        fail(writer->tools.err, ERR_LIMIT, "the file has more than %d sample types",
             SAMPLE_TYPES_MAX);
        return 0;
    }
    writer->types[writer->type_count] = type;
    return writer->type_count++;
}

static void append(struct stack_writer *writer, struct spill **spill, const void *records,
                   size_t bytes)
{
    uint64_t offset;

    if (!*spill)
        *spill = spill_create(writer->tools.temporary_dir, writer->tools.budget->spill_bytes_max);
    if (spill_append(*spill, (struct bytes){.at = records, .count = bytes}, &offset,
                     writer->tools.err) != OK)
        return; /* the failure stays in the sink's err */
}

static bool are_last_labels(const struct stack_writer *writer, const struct arg *labels,
                            uint32_t count)
{
    if (count != writer->last_count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (writer->last_labels[i].key != labels[i].key ||
            writer->last_labels[i].type != labels[i].type ||
            writer->last_labels[i].bits != labels[i].bits)
            return false;
    return true;
}

static void put_labels(struct stack_writer *writer, const struct arg *labels, uint32_t count)
{
    if (are_last_labels(writer, labels, count))
        return;
    if (count > writer->last_capacity) {
        writer->last_capacity = count;
        writer->last_labels = memory_resize(writer->last_labels, count, sizeof(*labels));
    }
    memcpy(writer->last_labels, labels, count * sizeof(*labels));
    writer->last_first = (uint32_t)writer->label_count;
    writer->last_count = count;
    writer->label_count += count;
    append(writer, &writer->labels, labels, count * sizeof(*labels));
}

void stack_writer_sample(struct stack_writer *writer, struct sample sample, const int64_t *values,
                         const struct arg *labels, uint32_t label_count)
{
    if (sample.stack != NO_STACK && sample.stack >= writer->stack_count) {
        fail(writer->tools.err, ERR_INVALID, "there is no stack %u", sample.stack);
        return;
    }
    if (writer->sample_count == UINT32_MAX - 1 || label_count > UINT32_MAX - writer->label_count) {
        fail(writer->tools.err, ERR_LIMIT, "the file has more than %u samples or labels",
             UINT32_MAX - 1);
        return;
    }
    if (label_count > 0)
        put_labels(writer, labels, label_count);
    sample.first_label = label_count > 0 ? writer->last_first : 0;
    sample.label_count = label_count;
    append(writer, &writer->samples, &sample, sizeof(sample));
    append(writer, &writer->values, values, writer->type_count * sizeof(*values));
    writer->sample_count++;
}

static enum status write_spill(struct stack_writer *writer, enum table_kind kind,
                               struct spill *spill, struct error *err)
{
    const struct block_out *out = &writer->tools.out;
    uint8_t *table;

    if (!spill || spill_bytes(spill) == 0)
        return OK;
    TRY(out->table_reserve(out->to, kind, (size_t)spill_bytes(spill), &table, err));
    return spill_read(spill, 0, table, (size_t)spill_bytes(spill), err);
}

static enum status write_array(struct stack_writer *writer, enum table_kind kind,
                               const void *records, size_t bytes, struct error *err)
{
    if (bytes == 0)
        return OK;
    return writer->tools.out.table(writer->tools.out.to, kind,
                                   (struct bytes){.at = records, .count = bytes}, err);
}

enum status stack_writer_finish(struct stack_writer *writer, struct error *err)
{
    TRY(write_array(writer, TABLE_STACKS, writer->stacks,
                    writer->stack_count * sizeof(struct stack), err));
    TRY(write_array(writer, TABLE_SAMPLE_TYPES, writer->types,
                    writer->type_count * sizeof(struct sample_type), err));
    TRY(write_spill(writer, TABLE_STACK_SAMPLES, writer->samples, err));
    TRY(write_spill(writer, TABLE_SAMPLE_VALUES, writer->values, err));
    return write_spill(writer, TABLE_SAMPLE_LABELS, writer->labels, err);
}
