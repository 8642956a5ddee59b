/* SPDX-License-Identifier: Apache-2.0 */
/* Inside kernels*.c.
 *
 *   whole trace   totals of the attribution ──┐
 *                                             ├─> rows ─> order ─> page ─> its spread ─> cells
 *   a part of it  entries let through ────────┘
 *
 * Rows: kernels_rows.c; spreads: kernels_spread.c; what they cost: kernels_costs.c; cells:
 * kernels_cells.c.
 */
#ifndef JVIEWD_ANALYSE_OPS_KERNELS_PARTS_H
#define JVIEWD_ANALYSE_OPS_KERNELS_PARTS_H

#include "analyse/device/device_spec.h"
#include "analyse/device/occupancy.h"
#include "analyse/ops/kernels.h"
#include "analyse/scan/module_names.h"
#include "analyse/scan/scan.h"
#include "analyse/table.h"

struct kernel_speed { /* of launches whose FLOPs, or bytes, are known */
    double best_s;    /* what the device would need for them */
    int64_t known_ps; /* what they took */
    uint8_t rule;     /* enum cost_rule: why it is unknown of one that is not among them */
};

struct kernel_row {
    uint32_t host, kernel; /* the first of the row, and whose it is */
    uint32_t variant_count;
    struct str key, name;
    uint64_t count, graph_count, launch_count, gap_count;
    int64_t total_ps, self_ps; /* inside the windows */
    int64_t whole_ps, min_ps, max_ps;
    int64_t p50_ps, p95_ps, stdev_ps;
    int64_t queue_p50_ps, launch_p50_ps, call_p50_ps, gap_p50_ps;
    uint64_t starved_count; /* those that their stream stood idle for, by launch_starved_ps, ... */
    int64_t starved_ps;     /* and how long */
    struct kernel_speed compute, memory;
    bool spread_known, approximate;
    slice_id longest; /* of `host` */
    uint32_t longest_skip;
};

struct kernels_work {
    const struct run_traces *run;
    const struct selection *selections;
    uint32_t selection_count;
    struct selection names; /* by kernels' names, which are not those of ops */
    bool by_variant;
    uint8_t **inside; /* [selection], a bit an entry: those that count; NULL: all do */
    struct arena *arena;
    struct names *keys; /* key -> row */
    struct kernel_row *rows;
    uint32_t row_count, row_capacity;
    uint32_t **row_of;                  /* [selection][kernel], plus one; 0: none */
    const struct module_names *modules; /* by host of the run */
    const struct processor *processors; /* by host of the run: of its devices that ran */
    struct device_spec *specs;          /* likewise, where costs are known */
    int64_t total_ps;
    bool approximate;
};

/* Does the entry of a selection count, as far as annotations go? */
static inline bool kernels_counts(const struct kernels_work *work, uint32_t at, uint32_t entry)
{
    return work->inside == NULL || (work->inside[at][entry / 8] >> entry % 8 & 1) != 0;
}

void kernels_sum(struct kernels_work *work);
/* kernels_costs.c: how near the rows come to what their device can do. */
void kernels_cost(struct kernels_work *work);
struct cell kernels_speed_cell(const struct kernels_work *work, const struct kernel_row *row,
                               bool is_memory);
/* Rows whose shares are those of a part of their launches. */
uint32_t kernels_known_in_part(const struct kernels_work *work);
/* Quantiles and waits of the rows order[first ... end) that are not stored. */
void kernels_spread(struct kernels_work *work, const uint32_t *order, uint32_t first, uint32_t end);

const struct kernel *kernel_of_row(const struct kernels_work *work, const struct kernel_row *row);
/* Of the file, else computed. */
struct occupancy kernels_occupancy(const struct kernels_work *work, const struct kernel_row *row);
/* Uses its tensor cores? 1, 0, -1 unknown; *ret_why says what told it, or why nothing does. */
int kernels_tensor_core(const struct kernels_work *work, const struct kernel_row *row,
                        struct str *ret_why);

/* Those of kernels_columns that tell one launch. */
extern const uint32_t kernels_launch_columns[];
extern const uint32_t kernels_launch_column_count;
extern const struct column kernels_columns[];
extern const uint32_t kernels_column_count;
table_cell kernels_cell; /* data is the work */

#endif
