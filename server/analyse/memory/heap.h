/* SPDX-License-Identifier: Apache-2.0 */
/* What the compiler planned for a module: its memory over the program, and who is in it.
 *
 *   allocation   a block the module asks for at its start: a parameter, an output, temporaries
 *   buffer       a value in it, at an offset, from one instruction to another
 *
 *   bytes   ______      ____
 *          |      |____|    |__     temporary buffers, as they begin and end
 *          |___________________|    fixed: parameters, outputs, constants
 *           position 0 ...          program order, called computations inlined before their caller
 *
 * Where the compiler's own simulation is in the file, it is replayed, each trace for itself, and
 * summed by position; else a temporary buffer lives from the instruction that defines it to the
 * last that uses it or what aliases it. The peak is the first of equal ones. An allocation counts
 * once, as what it is first of: parameter, output, thread-local, constant, temporary. What is
 * thread-local stands on threads' stacks: it is told and in no sum.
 */
#ifndef JVIEWD_ANALYSE_MEMORY_HEAP_H
#define JVIEWD_ANALYSE_MEMORY_HEAP_H

#include "analyse/hlo/hlo.h"

enum heap_class { HEAP_PARAMETER, HEAP_OUTPUT, HEAP_THREAD_LOCAL, HEAP_CONSTANT, HEAP_TEMPORARY };
enum { HEAP_CLASS_COUNT = HEAP_TEMPORARY + 1, HEAP_POINTS_MAX = 2000 };
const char *heap_class_word(enum heap_class class);

enum heap_basis { HEAP_TRACE, HEAP_RANGES, HEAP_SIZES };
const char *heap_basis_word(enum heap_basis basis); /* "heap-trace", "live-ranges", "sizes" */

struct heap_buffer {         /* a temporary buffer, or a fixed allocation by its largest value */
    uint64_t id;             /* of the value */
    uint32_t instruction;    /* HLO_NONE: not known */
    uint32_t allocation;     /* ordinal in the module */
    uint64_t offset;         /* in it */
    int64_t bytes, unpadded; /* unpadded: elements times their size; -1 unknown */
    struct bytes shape;      /* proto */
    struct str part;         /* "{1}": of a tuple; "" all of it */
    enum heap_class class;
    uint32_t first, last; /* positions, both included */
    uint32_t begin, end;  /* changes of the heap: alive from `begin` on, before `end` */
    bool could_rematerialise;
    uint32_t producer_distance, user_distance; /* positions from the peak to either */
    uint32_t reuses;                           /* an output: the parameter's buffer; HLO_NONE */
};

struct heap_point {
    uint32_t position, instruction;
    int64_t bytes, unpadded;
};

struct heap {
    enum heap_basis basis;
    uint32_t space;
    uint32_t position_count;
    uint32_t peak_position, peak_instruction; /* HLO_NONE: nothing temporary */
    uint32_t peak_change;
    int64_t peak_bytes, peak_unpadded, fixed_bytes, total_bytes;
    int64_t class_bytes[HEAP_CLASS_COUNT];                      /* of whole allocations */
    int64_t padding_bytes, rematerialise_bytes, donation_bytes; /* the first two at the peak */
    struct heap_buffer *buffers; /* fixed ones first, then by the change that begins them */
    uint32_t buffer_count;
    const struct heap_point *points; /* by position; of each of 2,000 boxes the fullest */
    uint32_t point_count;
    const uint32_t *order;     /* instructions by position */
    const uint32_t *change_at; /* by position: the change after which it is fullest */
    uint32_t unknown_count;    /* events and buffers that name what is not there */
};

/* ERR_NOT_FOUND: the module has no buffer assignment. */
MUST_CHECK enum status heap_of(const struct hlo_module *module, uint32_t space, struct arena *arena,
                               struct heap *ret, struct error *err);
bool heap_is_alive(const struct heap_buffer *buffer, uint32_t change);

struct heap_question {
    bool has_position, all;
    uint32_t position; /* else the peak */
};

/* Columns: name part opcode shape bytes unpadded_bytes padding_bytes share class allocation offset
 * first last scope source rematerialise reuse from_point to_point. Default sort "-bytes,name". */
MUST_CHECK enum status heap_table(const struct hlo_module *module, const struct heap *heap,
                                  const struct heap_question *question, const struct page *page,
                                  struct arena *arena, struct table *ret, int64_t *ret_bytes,
                                  struct error *err);

/* The module that ran longest among those with a buffer assignment, else the first; NULL: none. */
const struct hlo_listed *heap_default(const struct hlo_modules *modules);

#endif
