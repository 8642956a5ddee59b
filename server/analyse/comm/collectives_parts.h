/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of collectives*.c.
 *
 *   ops of a host  --collectives_facts.c-->   what each is: compute, or which collective's half
 *                  --collectives_modules.c  its module
 *                  --collectives_devices.c  which device runs which partition
 *   entries        --collectives_find.c-->    executions, asynchronous halves put together
 *   calls          --collectives_call.c-->    sizes of kernels without HLO, from who launched them
 *   devices        --collectives_hidden.c-->  what compute covers
 *   hosts          --collectives_waits.c-->   who came last
 *                  --collectives_local.c      its group, where ids are each host's own
 *   rows           --collectives_table.c
 */
#ifndef JVIEWD_ANALYSE_COMM_COLLECTIVES_PARTS_H
#define JVIEWD_ANALYSE_COMM_COLLECTIVES_PARTS_H

#include "analyse/comm/collective_text.h"
#include "analyse/hlo/hlo.h"
#include "analyse/scan/module_names.h"
#include "analyse/stats/map64.h"
#include "analyse/steps/restrict.h"
#include "trace/ps.h"

enum collective_role { OP_OTHER, OP_COMPUTE, OP_COLLECTIVE };

struct op_facts {   /* of one op of a host */
    uint8_t role;   /* enum collective_role */
    uint8_t half;   /* enum collective_half */
    bool by_kernel; /* nothing but a kernel's name and its caller tell of it */
    uint32_t collective;
};

enum { CALLS_TOLD = 1, CALLS_TORN }; /* torn: they contradict each other */

struct collective_devices { /* as the runtime's calls tell them */
    bool is_read;
    struct map64 of;     /* (module's name, partition) -> device */
    struct map64 states; /* module's name -> CALLS_TOLD, CALLS_TORN; absent: nothing tells */
};
void collective_devices_read(const struct run_traces *run, struct arena *arena,
                             struct collective_devices *ret);
void collective_devices_free(struct collective_devices *devices);
/* Devices in the place of partitions; torn, or with a partition that no call tells: unknown ids. */
void collective_devices_put(const struct collective_devices *devices, struct str module,
                            struct arena *arena, struct replica_groups *groups);

/* In which of these runs are asked for: all times, where steps are, for then their ops tell. */
static inline struct row_windows collectives_windows(const struct selection *selection)
{
    return selection->owners != NULL
               ? (struct row_windows){&selection->within, 1}
               : (struct row_windows){selection->windows, selection->window_count};
}

struct finding_work {
    const struct run_traces *run;
    struct arena *arena;
    struct arena *scratch; /* of one op: what of it is kept is copied */
    struct collectives *ret;
    uint64_t member_count; /* of all groups that were read */
    uint32_t item_capacity, run_capacity;
    struct hlo_modules *modules; /* only where some lie beside the profile */
    struct map64 by_identity;    /* -> item */
    struct map64 by_groups;      /* -> the first item with those groups */
    struct collective_devices devices;
    struct module_names names;  /* of modules of the host at hand */
    struct op_facts **op_facts; /* by host, by op; NULL: the host has no collectives */
};

struct opened_module { /* a module that was read for its collectives */
    const struct program *program;
    struct arena *arena; /* of it and its blob */
    bool readable, has_mesh;
    uint64_t fingerprint;
    struct hlo_module module;
    struct mesh mesh;
};
/* The module of an op; false where it is nowhere. Ops of one program should follow each other. */
bool collectives_open(struct finding_work *work, const struct host_trace *host, const struct op *op,
                      struct opened_module *opened);

/* The item of an identity: the one that is there, or a copy of `fresh`. */
uint32_t collectives_item(struct finding_work *work, const struct collective *fresh);
struct collective_run *collectives_add_run(struct finding_work *work);
/* Fills work->op_facts[host]. */
void collectives_facts(struct finding_work *work, uint32_t host);
/* Sizes and groups of runs from `first` on, of a host's ops that are kernels alone, from the args
 * of the kernel or of the calls around its launch; their items become those of one size each. By
 * run: is it such a kernel, and what launched it. */
void collectives_calls(struct finding_work *work, uint32_t host, uint32_t first,
                       const bool *by_kernel, const slice_id *launches);

/* Fills hidden_ps of a host's runs, those from `first` on, which stand by device and start, in the
 * windows of the selection; of those with inside_ps < 0 nobody asks. */
void collectives_hide(struct finding_work *work, const struct selection *selection, uint32_t first);

/* Groups of the runs of one item, which stand by host and device and number the devices of each
 * host from 0; false: the file does not tell them. */
bool collectives_local_groups(const struct run_traces *run, const struct replica_groups *groups,
                              struct collective_run *runs, uint32_t count);

/* Fills group, wait, late and last of the runs, which stand by host, device and start; those with
 * inside_ps >= 0 are what is left, in the arena, sorted. */
void collectives_match(struct finding_work *work);

#endif
