/* SPDX-License-Identifier: Apache-2.0 */
/* Inside op_placement*.c. */
#ifndef JVIEWD_ANALYSE_OPS_OP_PLACEMENT_PARTS_H
#define JVIEWD_ANALYSE_OPS_OP_PLACEMENT_PARTS_H

#include "analyse/ops/op_placement.h"
#include "base/names.h"

struct place_sum {
    int64_t self_ps;
    uint64_t count;
};

struct op_placement_work {
    struct arena *arena;
    struct op_placement *ret;
    struct names *keys; /* "2:GatherV2" -> movable */
    struct movable *movable;
    uint32_t movable_count, movable_capacity;
    bool any, host_known, callback_known;
};

void op_placement_add_time(struct op_placement_work *work, enum place place, struct place_sum sum);
void op_placement_add_movable(struct op_placement_work *work, struct str name, enum place place,
                              const char *why, struct place_sum sum);

bool op_placement_has_devices(const struct trace *trace);

/* op_placement_host.c. Did ops of the host call back? Then its threads' slices tell that again. */
bool op_placement_add_host_ops(struct op_placement_work *work, const struct selection *selection);
void op_placement_add_callbacks(struct op_placement_work *work, const struct selection *selection);

#endif
