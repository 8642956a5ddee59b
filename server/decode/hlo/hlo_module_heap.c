/* SPDX-License-Identifier: Apache-2.0 */
/* Heap simulations of a module: what the compiler allocated and freed, at which instruction; and
 * the schedule, the order in which instructions run.
 *
 *   HeapTrace  1 Event*  2 whole module  3 allocation
 *   Event      1 kind: 0 allocates, 1 frees, 2 shares  2 buffer  3 computation  4 instruction
 *              5 buffer that it shares with
 *   Schedule   1 { 1 computation's id  2 { 1 instructions' ids*, packed } }*
 *
 * The allocation that a trace names is not reliable: its buffers tell better.
 */
#include "decode/hlo/hlo_module_parts.h"

static void read_event(struct hlo_reader *reader, struct bytes message)
{
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct hlo_heap_event event = {.instruction = HLO_NONE};

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1 && field.wire == PB_VARINT)
            event.kind = field.varint > HLO_HEAP_SHARE ? UINT8_MAX : (uint8_t)field.varint;
        else if (field.number == 2 && field.wire == PB_VARINT)
            event.buffer = field.varint;
        else if (field.number == 4 && field.wire == PB_BYTES)
            event.instruction = hlo_named(reader, pb_text(&field));
        else if (field.number == 5 && field.wire == PB_VARINT)
            event.shared_with = field.varint;
    }
    module->damaged_count += err.code != OK || event.kind == UINT8_MAX;
    HLO_ROOM(reader, module->heap_events, module->heap_event_count, reader->heap_event_capacity);
    if (module->heap_event_count < reader->heap_event_capacity)
        module->heap_events[module->heap_event_count++] = event;
}

void hlo_read_heap_trace(struct hlo_reader *reader, struct bytes message)
{
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_open(message, &err);
    struct hlo_heap_trace trace = {.first_event = module->heap_event_count};

    for (struct pb_field field; reader->err->code == OK && pb_next(&pb, &field);) {
        if (field.number == 1 && field.wire == PB_BYTES)
            read_event(reader, field.bytes);
        else if (field.number == 2 && field.wire == PB_VARINT)
            trace.is_whole_module = field.varint != 0;
        else if (field.number == 3 && field.wire == PB_VARINT)
            trace.allocation = field.varint;
    }
    module->damaged_count += err.code != OK;
    trace.event_count = module->heap_event_count - trace.first_event;
    HLO_ROOM(reader, module->heap_traces, module->heap_trace_count, reader->heap_trace_capacity);
    if (module->heap_trace_count < reader->heap_trace_capacity)
        module->heap_traces[module->heap_trace_count++] = trace;
}

static void add_scheduled(struct hlo_reader *reader, uint64_t id)
{
    struct hlo_module *module = reader->module;
    uint32_t found;

    if (!id_map_find(&reader->ids, id, &found))
        found = HLO_NONE;
    HLO_ROOM(reader, module->schedule, module->schedule_count, reader->schedule_capacity);
    if (module->schedule_count < reader->schedule_capacity)
        module->schedule[module->schedule_count++] = found;
}

static void read_sequence(struct hlo_reader *reader, struct bytes message)
{
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; reader->err->code == OK && pb_next(&pb, &field);) {
        struct pb packed = pb_open(field.bytes, &err);
        uint64_t id;

        if (field.number != 1)
            continue;
        if (field.wire == PB_VARINT)
            add_scheduled(reader, field.varint);
        while (field.wire == PB_BYTES && reader->err->code == OK && hlo_next_number(&packed, &id))
            add_scheduled(reader, id);
    }
    reader->module->damaged_count += err.code != OK;
}

void hlo_read_schedule(struct hlo_reader *reader, struct bytes message)
{
    struct hlo_module *module = reader->module;
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field entry; reader->err->code == OK && pb_next(&pb, &entry);) {
        struct pb inside = pb_open(entry.bytes, &err);
        uint32_t first = module->schedule_count, computation;
        uint64_t id = 0;

        if (entry.number != 1 || entry.wire != PB_BYTES)
            continue;
        for (struct pb_field field; reader->err->code == OK && pb_next(&inside, &field);) {
            if (field.number == 1 && field.wire == PB_VARINT)
                id = field.varint;
            else if (field.number == 2 && field.wire == PB_BYTES)
                read_sequence(reader, field.bytes);
        }
        if (!id_map_find(&reader->computations, id, &computation))
            continue;
        module->computations[computation].first_scheduled = first;
        module->computations[computation].scheduled_count = module->schedule_count - first;
    }
    module->damaged_count += err.code != OK;
}
