/* SPDX-License-Identifier: Apache-2.0 */
/* The buffer assignment of a module: which value lies where in which allocation. */
#include <stdlib.h>

#include "base/bisect.h"
#include "decode/hlo/hlo_module_parts.h"
#include "decode/hlo/hlo_sizes.h"

struct defined_at {
    uint64_t id;
    struct str name;
    uint64_t path[HLO_DEPTH_MAX]; /* the part of a tuple of tuples */
    uint32_t depth;
};

static void add_index(struct defined_at *at, const struct pb_field *field)
{
    struct error err = {0};
    struct pb packed = pb_open(field->bytes, &err);
    uint64_t number = field->varint;

    if (field->wire == PB_VARINT && at->depth < HLO_DEPTH_MAX)
        at->path[at->depth++] = number;
    while (field->wire == PB_BYTES && at->depth < HLO_DEPTH_MAX &&
           hlo_next_number(&packed, &number))
        at->path[at->depth++] = number;
}

static void read_defined_at(struct hlo_reader *reader, struct bytes message, struct defined_at *ret)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 2 && field.wire == PB_BYTES)
            ret->name = pb_text(&field);
        else if (field.number == 3)
            add_index(ret, &field);
        else if (field.number == 4 && field.wire == PB_VARINT)
            ret->id = field.varint;
    }
    reader->module->damaged_count += err.code != OK;
}

/* Empty where the path leads nowhere. */
static struct bytes shape_at(const struct hlo_module *module, uint32_t instruction,
                             const struct defined_at *at)
{
    struct bytes shape = {0};

    if (instruction == HLO_NONE)
        return shape;
    shape = module->instructions[instruction].shape;
    for (uint32_t i = 0; i < at->depth && shape.count > 0; i++)
        shape = at->path[i] < UINT32_MAX
                    ? hlo_shape_part(module->form, shape, (uint32_t)at->path[i])
                    : (struct bytes){0};
    return shape;
}

static uint32_t instruction_of(const struct hlo_reader *reader, uint64_t id, struct str name)
{
    uint32_t found;

    if (name.count > 0)
        return hlo_named(reader, name);
    return id != 0 && id_map_find(&reader->ids, id, &found) ? found : HLO_NONE;
}

static struct str part_text(const struct hlo_reader *reader, const struct defined_at *at)
{
    struct text text = {0};

    for (uint32_t i = 0; i < at->depth; i++)
        text_putf(&text, "%s%llu", i == 0 ? "{" : ",", (unsigned long long)at->path[i]);
    text_puts(&text, at->depth > 0 ? "}" : "");
    struct str ret = at->depth > 0 ? str_copy(reader->arena, text_str(&text)) : STR("");
    text_free(&text);
    return ret;
}

static void read_buffer(struct hlo_reader *reader, struct bytes message)
{
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct hlo_buffer buffer = {.instruction = HLO_NONE};
    struct defined_at at = {.name = STR("")};

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1 && field.wire == PB_VARINT)
            buffer.id = field.varint;
        else if (field.number == 2 && field.wire == PB_VARINT)
            buffer.size_bytes = field.varint;
        else if (field.number == 3 && field.wire == PB_BYTES)
            read_defined_at(reader, field.bytes, &at);
        else if (field.number == 4 && field.wire == PB_VARINT)
            buffer.color = (uint32_t)field.varint;
    }
    module->damaged_count += err.code != OK;
    buffer.instruction = instruction_of(reader, at.id, at.name);
    buffer.shape = shape_at(module, buffer.instruction, &at);
    buffer.part = part_text(reader, &at);
    HLO_ROOM(reader, module->buffers, module->buffer_count, reader->buffer_capacity);
    if (module->buffer_count < reader->buffer_capacity)
        module->buffers[module->buffer_count++] = buffer;
}

static void read_assigned(struct hlo_reader *reader, struct bytes message)
{
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct hlo_assigned assigned = {0};

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_VARINT)
            continue;
        if (field.number == 1)
            assigned.buffer = field.varint;
        else if (field.number == 2)
            assigned.offset = field.varint;
        else if (field.number == 3)
            assigned.size_bytes = field.varint;
    }
    module->damaged_count += err.code != OK;
    HLO_ROOM(reader, module->assigned, module->assigned_count, reader->assigned_capacity);
    if (module->assigned_count < reader->assigned_capacity)
        module->assigned[module->assigned_count++] = assigned;
}

static void say_of_allocation(struct hlo_allocation *allocation, const struct pb_field *field)
{
    bool is_set = field->varint != 0;

    switch (field->number) {
    case 1:
        allocation->index = field->varint;
        break;
    case 2:
        allocation->size_bytes = field->varint;
        break;
    case 3:
        allocation->is_thread_local = is_set;
        break;
    case 5:
        allocation->is_parameter = is_set;
        break;
    case 6:
        allocation->parameter = field->varint;
        break;
    case 7:
        allocation->is_live_out = is_set;
        break;
    case 8:
        allocation->color = (uint32_t)field->varint;
        break;
    case 11:
        allocation->is_tuple = is_set;
        break;
    case 12:
        allocation->is_constant = is_set;
        break;
    }
}

static void read_allocation(struct hlo_reader *reader, struct bytes message)
{
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct hlo_allocation allocation = {.first_assigned = module->assigned_count};

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 9 && field.wire == PB_BYTES)
            read_assigned(reader, field.bytes);
        else if (field.wire == PB_VARINT)
            say_of_allocation(&allocation, &field);
    }
    module->damaged_count += err.code != OK;
    allocation.assigned_count = module->assigned_count - allocation.first_assigned;
    HLO_ROOM(reader, module->allocations, module->allocation_count, reader->allocation_capacity);
    if (module->allocation_count < reader->allocation_capacity)
        module->allocations[module->allocation_count++] = allocation;
}

static int by_id(const void *a, const void *b)
{
    const struct hlo_buffer *one = a, *other = b;

    return (one->id > other->id) - (one->id < other->id);
}

void hlo_read_buffers(struct hlo_reader *reader, struct bytes message)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; reader->err->code == OK && pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == 1)
            read_buffer(reader, field.bytes);
        else if (field.number == 3)
            read_allocation(reader, field.bytes);
        else if (field.number == 4)
            hlo_read_heap_trace(reader, field.bytes);
    }
    reader->module->damaged_count += err.code != OK;
    if (reader->module->buffer_count > 0)
        qsort(reader->module->buffers, reader->module->buffer_count,
              sizeof *reader->module->buffers, by_id);
}

const struct hlo_buffer *hlo_module_buffer(const struct hlo_module *module, uint64_t id)
{
    uint32_t from = BISECT(0, module->buffer_count, i, module->buffers[i].id < id);

    return from < module->buffer_count && module->buffers[from].id == id ? &module->buffers[from]
                                                                         : NULL;
}
