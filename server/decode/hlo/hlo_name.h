/* SPDX-License-Identifier: Apache-2.0 */
/* What the name of a file says of the module inside.
 *
 *   module_0041.jit_step.sm_8.0_gpu_after_optimizations.hlo.pb.xz     XLA's dumps
 *          0041 jit_step sm_8.0_gpu_after_optimizations
 *   module_0041.jit_step.0000.spmd-partitioner.after_a.before_b.txt   between two passes
 *   jit_step(13).hlo_proto.pb                                         XProf's copies
 *
 * A module's name may hold dots, and so may a stage: the module's own name, where its content
 * tells it, parts them; else the first word that stages begin with; else the first dot.
 */
#ifndef JVIEWD_DECODE_HLO_HLO_NAME_H
#define JVIEWD_DECODE_HLO_HLO_NAME_H

#include "base/bytes.h"
#include "trace/trace.h"

struct hlo_name {
    bool is_dump; /* module_NNNN. */
    bool has_number;
    uint64_t number;
    struct str module;     /* "" unknown */
    struct str stage_name; /* "" none: what a document is, or where in the pipeline the module is */
    enum program_stage stage;
};

/* Points into `file`. `module` is the name that the content tells, or "". */
struct hlo_name hlo_name_of(struct str file, struct str module);

#endif
