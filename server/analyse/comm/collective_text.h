/* SPDX-License-Identifier: Apache-2.0 */
/* A collective as its HLO text says it: what it is, who takes part, how large it is.
 *
 *   %all-gather-start.3 = (f32[8], f32[32]) all-gather-start(f32[8] %p), channel_id=1,
 *     replica_groups=[2,4]<=[8], dimensions={0}, use_global_device_ids=true
 *
 * Operands have their shapes in front of them where the text stands alone (events of TPUs); in a
 * module they are looked up.
 */
#ifndef JVIEWD_ANALYSE_COMM_COLLECTIVE_TEXT_H
#define JVIEWD_ANALYSE_COMM_COLLECTIVE_TEXT_H

#include "analyse/comm/collectives.h"
#include "decode/hlo/hlo_module.h"

enum collective_half { HALF_WHOLE, HALF_START, HALF_DONE, HALF_UPDATE };

struct collective_text {
    struct str name, opcode;
    enum collective_kind kind; /* COLLECTIVE_OTHER where the opcode is none */
    enum collective_half half;
    struct str operand; /* name of the first: of a done, its start */
    struct str dtype;   /* of the first array operand */
    bool has_bytes;
    uint64_t operand_bytes; /* of all of them */
    struct replica_groups groups;
};

/* The kind and half of an opcode, "all-gather-start", or of an instruction's name,
 * "all_gather.3"; false where it is no collective. */
bool collective_word_read(struct str word, enum collective_kind *ret_kind,
                          enum collective_half *ret_half);
/* False for what is no instruction. */
bool collective_text_read(struct str line, struct arena *arena, struct collective_text *ret);
/* The same of an instruction of a module; async-start and its like are what they call. */
bool collective_instruction_read(const struct hlo_module *module, uint32_t instruction,
                                 struct arena *arena, struct collective_text *ret);

/* S of nccl-tests, from the bytes of the operands; false where the group's size is needed and
 * unknown. */
bool collective_size(enum collective_kind kind, uint64_t operand_bytes, uint32_t group_size,
                     uint64_t *ret);
/* What bus bandwidth is of algorithm bandwidth; 0 unknown. */
double collective_bus_factor(enum collective_kind kind, uint32_t group_size);

#endif
