/* SPDX-License-Identifier: Apache-2.0 */
/* HLO: what XLA compiled. A program's instructions, by name, with where each came from.
 *
 *   HloProto     1 module
 *   HloModule    1 name  3 computations*  17 stack frames
 *   Computation  1 name  2 instructions*  7 is fused
 *   Instruction  1 name  2 opcode  3 shape  7 metadata  11 fusion kind  28 custom-call target
 *   OpMetadata   1 op type  2 op name (the scope)  3 source file  4 source line  15 stack frame
 *   StackFrames  1 file names*  3 locations* { 1 file  3 line }  4 frames* { 1 location }
 *
 * Names of instructions are unique within a module. Ids of stack frames count from 1. The
 * fingerprint covers the module's name and what its instructions compute, constants and replica
 * groups among it, in file order; not ids, scopes, sources or how they were tuned: the same
 * program has the same one on every host.
 */
#ifndef JVIEWD_DECODE_HLO_HLO_H
#define JVIEWD_DECODE_HLO_HLO_H

#include "decode/id_map.h"
#include "trace/sink.h"

struct hlo_facts { /* of one instruction, for the kind of its slices */
    name_id opcode, category;
};

/* Names of a program's instructions are mostly new, and so numbered on from the first: those are
 * found by position, the others by a map. */
struct hlo_range {
    name_id first_name;         /* of `count` names in a row */
    uint32_t first_fact, count; /* into facts; an empty one is a name of something else */
};

struct hlo_index {                 /* all programs of a file */
    struct id_map programs;        /* program id -> ordinal */
    struct hlo_range *ranges;      /* by ordinal */
    struct id_map old_names;       /* ordinal << 32 | name -> into old */
    struct hlo_facts *facts, *old; /* of ranges, of old names; without an opcode: empty */
    uint32_t range_capacity, fact_count, fact_capacity, old_count, old_capacity;
};

struct hlo_parts {        /* of a HloProto, or of a module that stands alone */
    struct bytes module;  /* no address: there is none */
    struct bytes buffers; /* the buffer assignment; empty: none */
    bool is_cut;          /* the proto ends inside of one of them */
};
struct hlo_parts hlo_parts_of(struct bytes proto);

struct hlo_source { /* what is known of a program from outside */
    uint64_t id;
    struct str name; /* where the proto says none */
    enum program_stage stage;
};

/* Pushes the program and its instructions, and remembers them. A damaged proto yields what is
 * whole and false. */
bool hlo_decode(struct hlo_index *index, struct sink *sink, const struct hlo_source *source,
                struct bytes proto);
/* NULL when the program or the instruction is not known. */
const struct hlo_facts *hlo_find(const struct hlo_index *index, uint64_t id, name_id instruction);
void hlo_index_free(struct hlo_index *index);

#endif
