/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a compiled module: what its instructions do that the program need not ask for.
 *
 *   copy(%parameter) written over by a dynamic-update-slice     an argument that is not donated
 *   all-gather(convert(bf16 -> f32))                            twice the bytes that are needed
 *   dot(convert(compare(%ids, iota)), %table)                   a lookup written as a product
 *
 * Each is told of the instruction whose time it costs (one that runs by itself, so that events show
 * it) and says what part of that time is won at most. Nothing here knows times: a fault of an
 * instruction that takes none is one, too.
 */
#ifndef JVIEWD_ANALYSE_HLO_FAULT_H
#define JVIEWD_ANALYSE_HLO_FAULT_H

#include "decode/hlo/hlo_module.h"

enum fault_kind {
    FAULT_UNDONATED_COPY,  /* an argument copied because it is written over and not given up */
    FAULT_OVERWRITE_COPY,  /* a value copied because it is written over and read afterwards */
    FAULT_RETURNED_COPY,   /* an argument, or a result once more, copied to be returned */
    FAULT_ONE_HOT_PRODUCT, /* a matrix product with a one-hot matrix */
    FAULT_LARGE_CONSTANT,  /* data that stands in the program itself */
    FAULT_UNUSED_VECTORS,  /* a factorisation whose vectors nobody reads */
    FAULT_LOOP,            /* no fault by itself: a loop, whose turns only events tell */
    FAULT_DOUBLE_CAST,     /* 8-bit floats unpacked and packed again */
    FAULT_WIDENED_TO_F64,  /* arithmetic in f64 over values that were f32 */
    FAULT_REPEATED_GATHER, /* an all-gather of what another one gathers already */
    FAULT_WIDE_COLLECTIVE, /* a collective that moves more bytes than its users need */
    FAULT_KIND_COUNT
};

struct fault {
    enum fault_kind kind;
    uint32_t instruction; /* whose time it is */
    uint32_t beside;      /* the other one that it is about: who writes over; HLO_NONE */
    double won;           /* at most, of the instruction's time; NAN: not known */
    double bytes;         /* of the value that it is about */
    bool is_of_type;      /* it is about a collective's type, which compilers for CPUs widen
                             themselves */
};

struct faults {
    struct fault *items; /* by kind, then in file order */
    uint32_t count;
};

/* Does anything write over the value, as loops do over what they begin with? Copies of it count. */
bool fault_is_written_over(const struct hlo_module *module, uint32_t value, struct arena *arena);

void faults_find(const struct hlo_module *module, struct arena *arena, struct faults *ret);

#endif
