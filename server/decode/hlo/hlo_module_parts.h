/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a module's readers: arrays that grow in an arena, within a bound.
 *
 *   hlo_module.c          the door, lines, lookups
 *   hlo_module_proto.c    from protobuf
 *   hlo_module_buffers.c  its buffer assignment
 *   hlo_module_heap.c     the heap simulations in it, and the schedule they follow
 *   hlo_module_text.c     from text
 *   hlo_shape.c           shapes of protos as text
 *   hlo_print.c           instructions of protos as text
 *   hlo_attribute.c       attributes that are messages of their own
 *   hlo_word.c            words of texts: brackets, quotes, names
 *   hlo_literal.c         their constants
 */
#ifndef JVIEWD_DECODE_HLO_HLO_MODULE_PARTS_H
#define JVIEWD_DECODE_HLO_HLO_MODULE_PARTS_H

#include "base/hash.h"
#include "decode/hlo/hlo_module.h"
#include "decode/hlo/hlo_word.h"
#include "decode/id_map.h"
#include "decode/protobuf.h"

/* The largest modules have some 100,000 instructions. A part takes two bytes in a hostile file,
 * and up to 256 in memory. */
enum { HLO_PARTS_MAX = 1 << 22 };

struct hlo_reader {
    struct hlo_module *module;
    struct arena *arena;
    struct error *err;
    uint32_t computation_capacity, instruction_capacity, operand_capacity, called_capacity;
    uint32_t buffer_capacity, allocation_capacity, assigned_capacity, heap_trace_capacity;
    uint32_t heap_event_capacity, schedule_capacity;
    struct id_map ids, names; /* of instructions: by id; by hash of the name, to be compared */
    struct id_map computations;
};

/* Room for one more; NULL, and the error is set, beyond the bound. */
void *hlo_room(struct hlo_reader *reader, void *array, uint32_t count, uint32_t *capacity,
               size_t size);
#define HLO_ROOM(reader, array, count, capacity)                                                   \
    ((array) = hlo_room((reader), (array), (count), &(capacity), sizeof((array)[0])))

struct hlo_computation *hlo_add_computation(struct hlo_reader *reader); /* NULL: beyond the bound */
struct hlo_instruction *hlo_add_instruction(struct hlo_reader *reader);
bool hlo_add_operand(struct hlo_reader *reader, uint32_t instruction);
bool hlo_add_called(struct hlo_reader *reader, uint32_t computation);

/* By name, of those that were added to reader->names; HLO_NONE. */
uint32_t hlo_named(const struct hlo_reader *reader, struct str name);

void hlo_read_proto(struct hlo_reader *reader);
void hlo_read_buffers(struct hlo_reader *reader, struct bytes message);
void hlo_read_heap_trace(struct hlo_reader *reader, struct bytes message);
void hlo_read_schedule(struct hlo_reader *reader, struct bytes message);
void hlo_read_text(struct hlo_reader *reader);

void hlo_print_instruction(struct text *out, const struct hlo_module *module, uint32_t instruction);
void hlo_print_computation(struct text *out, const struct hlo_module *module, uint32_t computation);
void hlo_print_shape(struct text *out, struct bytes message, bool with_layout, unsigned depth);
void hlo_print_literal(struct text *out, struct bytes message);
/* The numbers of all fields `number` of a message: "1,0". */
void hlo_print_list(struct text *out, struct bytes message, uint32_t number);
void hlo_print_slices(struct text *out, struct bytes instruction);
void hlo_print_groups(struct text *out, struct bytes instruction);
/* Pairs of a permute, and the newer ways to write groups. */
void hlo_print_partners(struct text *out, struct bytes instruction);
void hlo_print_window(struct text *out, struct bytes message);
void hlo_print_dot(struct text *out, struct bytes message);
void hlo_print_device_list(struct text *out, struct bytes message, unsigned depth);
void hlo_print_sharding(struct text *out, struct bytes message, unsigned depth);
bool hlo_has_field(struct bytes message, uint32_t number);
/* The last such number of a message. */
uint64_t hlo_number_in(struct bytes message, uint32_t number, uint64_t otherwise);

static inline uint64_t hlo_name_key(struct str name)
{
    return hash64((struct bytes){.at = (const uint8_t *)name.at, .count = name.count});
}

/* The next number of a repeated field, packed or not; false at its end. */
static inline bool hlo_next_number(struct pb *numbers, uint64_t *ret)
{
    if (numbers->at >= numbers->end)
        return false;
    *ret = pb_varint(numbers);
    return numbers->err->code == OK;
}

#endif
