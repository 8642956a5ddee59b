/* SPDX-License-Identifier: Apache-2.0 */
/* A whole HLO module, read from the blob that a segment keeps: for questions about one module.
 *
 *   HloModule jit_f                      module
 *   ENTRY %main (p: f32[8]) -> f32[8] {    computation
 *     %p = f32[8] parameter(0)               instruction
 *     ROOT %e = f32[8] fusion(%p), calls=%c  instruction: operands, called computations
 *
 * The blob is a HloProto, a bare HloModuleProto, or the text above; what is read is the same.
 * Computations and instructions stand in file order and are known by their ordinal; those of one
 * computation are contiguous. Texts point into the blob, the rest lives in the arena.
 *
 *   HloProto         1 module  3 buffer assignment
 *   HloModule        1 name  2 entry's name  3 computations*  5 id  6 entry's id  7 schedule
 *                    17 stack frames
 *   Schedule         1 { 1 computation's id  2 { 1 instructions' ids* } }*
 *   Computation      1 name  2 instructions*  5 id  6 root's id  7 is fused
 *   Instruction      1 name  2 opcode  3 shape  7 metadata  35 id  36 operands*  38 called*  ...
 *   BufferAssignment 1 logical buffers*  3 allocations*  4 heap simulator traces*
 *   LogicalBuffer    1 id  2 size  3 { 2 instruction's name  3 shape index*  4 its id }  4 colour
 *   Allocation       1 index  2 size  3 thread-local  4 entry parameter  6 its number  7 live out
 *                    8 colour  9 { 1 buffer  2 offset  3 size }*  11 tuple  12 constant
 *   HeapTrace        1 { 1 kind  2 buffer  3 computation  4 instruction  5 shared with }*
 *                    2 whole module  3 allocation
 *                    kinds: 0 allocates, 1 frees, 2 lies where another does
 *
 * Field numbers: xla/service/hlo.proto of the XLA project; checked on protos of real compilations.
 */
#ifndef JVIEWD_DECODE_HLO_HLO_MODULE_H
#define JVIEWD_DECODE_HLO_HLO_MODULE_H

#include "base/bytes.h"
#include "base/error.h"
#include "decode/hlo/hlo_frames.h"
#include "trace/trace.h"

#define HLO_NONE UINT32_MAX

struct hlo_computation {
    struct str name;
    uint64_t id;
    uint32_t first, count; /* instructions */
    uint32_t line;         /* of its head in the text, from 0 */
    bool is_entry, is_fused;
    struct bytes head;                         /* as text: its line; as proto: the program shape */
    uint32_t first_scheduled, scheduled_count; /* into module.schedule; none: file order */
};

struct hlo_instruction {
    struct str name, opcode;
    struct str scope, op_type, file, fusion_kind, target;
    uint64_t source_line, frame;
    uint32_t computation;
    uint32_t first_operand, operand_count; /* into module.operands */
    uint32_t first_called, called_count;   /* into module.called */
    uint32_t line;                         /* in the text, from 0 */
    bool is_root;
    uint64_t id;
    struct bytes shape;  /* proto or text */
    struct bytes source; /* the message or the line */
};

struct hlo_buffer { /* a value that needs memory */
    uint64_t id, size_bytes;
    uint32_t instruction; /* that defines it; HLO_NONE */
    uint32_t color;       /* memory space */
    struct bytes shape;   /* of the value: of a part, where the instruction makes a tuple */
    struct str part;      /* "{1,0}": which part that is; "" all of it */
};

struct hlo_assigned {
    uint64_t buffer; /* id */
    uint64_t offset, size_bytes;
};

struct hlo_allocation {
    uint64_t index, size_bytes, parameter;
    uint32_t color, first_assigned, assigned_count;
    bool is_thread_local, is_parameter, is_live_out, is_tuple, is_constant;
};

enum hlo_heap_kind { HLO_HEAP_ALLOC, HLO_HEAP_FREE, HLO_HEAP_SHARE };

struct hlo_heap_event {
    uint64_t buffer, shared_with; /* ids */
    uint32_t instruction;         /* at which it happens; HLO_NONE */
    uint8_t kind;                 /* enum hlo_heap_kind, or a number that is not known */
};

struct hlo_heap_trace { /* what the compiler's own simulation did, in program order */
    uint64_t allocation;
    uint32_t first_event, event_count; /* into module.heap_events */
    bool is_whole_module;
};

struct hlo_module {
    enum program_form form;
    struct str name, entry;
    uint64_t id; /* 0: it says none */
    bool has_id;
    struct bytes blob;
    struct bytes head; /* as text: the first line */
    uint32_t line_count;
    struct hlo_computation *computations;
    uint32_t computation_count;
    struct hlo_instruction *instructions;
    uint32_t instruction_count;
    uint32_t *operands; /* instructions; HLO_NONE: one that is not there */
    uint32_t operand_count;
    uint32_t *called; /* computations; HLO_NONE */
    uint32_t called_count;
    bool has_buffers;
    struct hlo_buffer *buffers; /* by id */
    uint32_t buffer_count;
    struct hlo_allocation *allocations;
    uint32_t allocation_count;
    struct hlo_assigned *assigned;
    uint32_t assigned_count;
    struct hlo_heap_trace *heap_traces;
    uint32_t heap_trace_count;
    struct hlo_heap_event *heap_events;
    uint32_t heap_event_count;
    uint32_t *schedule; /* instructions in the order they run; HLO_NONE: one that is not there */
    uint32_t schedule_count;
    struct hlo_frames frames;
    uint32_t damaged_count; /* parts left out */
};

/* ERR_LIMIT: more parts than anyone compiles; ERR_FORMAT: nothing of a module in it. What is
 * damaged is left out and counted. */
MUST_CHECK enum status hlo_module_read(struct bytes blob, enum program_form form,
                                       struct arena *arena, struct hlo_module *ret,
                                       struct error *err);
/* That of a program of the trace, from its blob. */
MUST_CHECK enum status hlo_module_of(const struct trace *trace, const struct program *program,
                                     struct arena *arena, struct hlo_module *ret,
                                     struct error *err);
/* Of names, opcodes and shapes in file order; texts and protos of one module differ. */
uint64_t hlo_module_fingerprint(const struct hlo_module *module);
/* The buffer with that id; NULL. */
const struct hlo_buffer *hlo_module_buffer(const struct hlo_module *module, uint64_t id);
/* The ordinal of a name; HLO_NONE. */
uint32_t hlo_module_find(const struct hlo_module *module, struct str instruction);
uint32_t hlo_module_find_computation(const struct hlo_module *module, struct str name);

/* As text, close to what XLA prints. Lines of a text are given back as they stand. */
void hlo_put_shape(struct text *out, const struct hlo_module *module, struct bytes shape);
void hlo_put_instruction(struct text *out, const struct hlo_module *module, uint32_t instruction);
/* Line `line` of the module, from 0, without its end; *ret_instruction is HLO_NONE on others. */
void hlo_put_line(struct text *out, const struct hlo_module *module, uint32_t line,
                  uint32_t *ret_computation, uint32_t *ret_instruction);

#endif
