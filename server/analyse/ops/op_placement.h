/* SPDX-License-Identifier: Apache-2.0 */
/* Where ops ran: on devices, on hosts, or in calls back into Python.
 *
 *   device    ops and kernels of devices; of XLA:CPU, whose device is the processor, its ops
 *   host      ops that a host ran beside its devices: programs of XLA's CPU client, TensorFlow's
 *   callback  what programs call back into Python: the custom calls where a host's processor is the
 *             device, else the union of their slices on hosts
 *
 * Self times, so that a place sums to its ops. What of hosts and callbacks might be on a device is
 * listed, longest first.
 */
#ifndef JVIEWD_ANALYSE_OPS_OP_PLACEMENT_H
#define JVIEWD_ANALYSE_OPS_OP_PLACEMENT_H

#include "analyse/steps/restrict.h"

enum place { PLACE_DEVICE, PLACE_HOST, PLACE_CALLBACK, PLACE_COUNT };
const char *place_word(enum place place); /* "device", "host", "callback" */

struct place_time {
    struct str reason; /* why it is not known; "" it is */
    int64_t self_ps;
    uint64_t count;
};

struct movable { /* an op that did not run on a device */
    struct str name;
    enum place place;
    uint64_t count;
    int64_t self_ps;
    const char *why; /* what keeps it from there */
};

struct op_placement {
    struct str reason; /* why nothing is known; "" there are ops */
    int64_t total_ps;  /* of the places that are known */
    struct place_time of[PLACE_COUNT];
    const struct movable *movable; /* the first MOVABLE_MAX */
    uint32_t movable_count, movable_count_all;
    int64_t movable_ps; /* of all of them */
};
enum { MOVABLE_MAX = 20 };

/* Selections of hosts that are let through. */
void op_placement_find(const struct selection *selections, uint32_t count, struct arena *arena,
                       struct op_placement *ret);

#endif
