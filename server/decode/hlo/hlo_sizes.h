/* SPDX-License-Identifier: Apache-2.0 */
/* A shape as numbers: what arithmetic over HLO asks of it.
 *
 *   f32[8,128]{1,0:T(8,128)S(1)}    f32, sizes 8 and 128, 1,024 elements, 4,096 bytes, space 1
 *   (f32[2], s8[4096])              a tuple of two leaves; elements and bytes are sums over leaves
 *
 * Elements and bytes are doubles, because sizes come from a file and may be any number. Bits of an
 * element are those of its layout where it says them (4-bit types that are packed), else whole
 * bytes. Tiles and their padding are not counted, as XLA's own cost analysis does not.
 */
#ifndef JVIEWD_DECODE_HLO_HLO_SIZES_H
#define JVIEWD_DECODE_HLO_HLO_SIZES_H

#include "decode/hlo/hlo_module.h"

enum { HLO_RANK_MAX = 16 };

enum hlo_type { /* numbers of xla_data.proto */
                HLO_TYPE_NONE = 0,
                HLO_PRED = 1,
                HLO_S8 = 2,
                HLO_S16,
                HLO_S32,
                HLO_S64,
                HLO_U8,
                HLO_U16,
                HLO_U32,
                HLO_U64,
                HLO_F16,
                HLO_F32,
                HLO_F64,
                HLO_TUPLE,
                HLO_OPAQUE,
                HLO_C64,
                HLO_BF16,
                HLO_TOKEN,
                HLO_C128,
                HLO_F8E5M2,
                HLO_F8E4M3FN,
                HLO_S4,
                HLO_U4,
                HLO_F8E4M3B11FNUZ,
                HLO_F8E5M2FNUZ,
                HLO_F8E4M3FNUZ,
                HLO_S2,
                HLO_U2,
                HLO_F8E4M3,
                HLO_F8E3M4,
                HLO_S1,
                HLO_U1,
                HLO_F4E2M1FN,
                HLO_F8E8M0FNU,
                HLO_BUFFER,
                HLO_TYPE_COUNT
};

struct hlo_sizes {
    enum hlo_type type; /* of the array; HLO_TUPLE */
    uint32_t rank;      /* at most HLO_RANK_MAX: further sizes count as elements only */
    uint64_t sizes[HLO_RANK_MAX];
    uint32_t leaf_count; /* arrays in it, itself included; tokens are none */
    uint32_t part_count; /* of a tuple, its own parts */
    uint32_t space;      /* memory space of an array's layout */
    double elements, bytes;
    double host_bytes; /* of those in the host's memory: space 5 */
};

const char *hlo_type_word(enum hlo_type type); /* "" where there is none */
enum hlo_type hlo_type_of(struct str word);    /* HLO_TYPE_NONE: it is none */
void hlo_sizes_read(enum program_form form, struct bytes shape, struct hlo_sizes *ret);
/* The shape of a tuple's part; empty where there is none. */
struct bytes hlo_shape_part(enum program_form form, struct bytes shape, uint32_t part);

#endif
