/* SPDX-License-Identifier: Apache-2.0 */
/* Inside top*.c.
 *
 *   slices ─┐
 *           ├─> group ─> tallies ─> row of each group ─> order ─> page ─> its spread ─> cells
 *   ops    ─┘        top_sums.c      top_rows.c                       top_spread.c  top_cells.c
 *
 * A group is what one host tells apart by number: an op, a name, a track, a device. A row joins the
 * groups of all hosts that have one text.
 */
#ifndef JVIEWD_ANALYSE_OPS_TOP_PARTS_H
#define JVIEWD_ANALYSE_OPS_TOP_PARTS_H

#include "analyse/device/device_spec.h"
#include "analyse/hlo/cost.h"
#include "analyse/ops/top.h"
#include "analyse/scan/module_names.h"
#include "analyse/scan/scan.h"
#include "analyse/stats/map64.h"
#include "analyse/stats/quantile.h"
#include "analyse/stats/tally.h"
#include "analyse/table.h"

const char *top_by_word(enum top_by by);

enum top_column {
    TOP_KEY,
    TOP_NAME,
    TOP_KIND,
    TOP_CATEGORY,
    TOP_MODULE,
    TOP_SCOPE,
    TOP_SOURCE,
    TOP_PHASE,
    TOP_COUNT,
    TOP_EVENT_COUNT,
    TOP_TOTAL,
    TOP_SELF,
    TOP_SHARE,
    TOP_CUMULATIVE,
    TOP_MEAN,
    TOP_STDEV,
    TOP_MIN,
    TOP_P50,
    TOP_P95,
    TOP_MAX,
    TOP_FLOPS,
    TOP_BYTES,
    TOP_FLOP_RATE,
    TOP_BYTE_RATE,
    TOP_BOUND_BY,
    TOP_PEAK_SHARE,
    TOP_ON_PATH,
    TOP_SLACK,
    TOP_COLUMN_COUNT,
};

#define NO_GROUP UINT32_MAX
#define NO_ROW_OF_TOP UINT32_MAX

struct top_cost { /* of the ops of a row whose costs are known */
    double flops, bytes;
    double compute_s, memory_s;            /* what the device would need at its best */
    uint32_t flops_known, bytes_known;     /* ops with */
    uint32_t flops_unknown, bytes_unknown; /* and without */
    uint32_t async_count;                  /* those that only start or await a transfer */
    uint8_t flops_rule, bytes_rule; /* enum cost_rule, of the first that is known, else why not */
};

struct top_row {
    uint32_t host;  /* whose ids the next three are */
    uint32_t place; /* of that host among those asked for */
    uint32_t op;    /* NO_OP: none */
    track_id track;
    int32_t device;
    struct str key, name;
    enum kind kind;              /* of the first of it */
    uint32_t phases;             /* a bit each, enum op_phase, of its ops */
    int64_t kind_ps[KIND_COUNT]; /* of its self time */
    uint64_t count, event_count;
    int64_t total_ps, self_ps, whole_ps; /* inside; inside; of whole slices */
    int64_t min_ps, max_ps, stdev_ps, p50_ps, p95_ps;
    bool spread_known, approximate;
    struct top_cost cost;
    struct path_of path;
    double cumulative;
};

struct top_host {
    const struct selection *selection;
    uint32_t *row_of;                        /* by group, plus one; 0 not yet */
    struct tallies tallies[SPLIT_PARTS_MAX]; /* of each part; the first are those of all */
    uint32_t part_count;
    struct map64 device_groups; /* device -> ordinal behind the tracks, less those */
    const int32_t *devices;     /* by that ordinal */
    uint32_t device_count;
    const struct op_cost *costs; /* by op; NULL: not made, or not asked for */
    struct device_spec spec;
    struct module_names modules; /* of tables by op or module */
};

struct top_work {
    const struct run_traces *run;
    const struct top_question *question;
    enum top_by by;
    bool every_kind; /* by kernel where ops were asked for: copies and fills count as well */
    struct arena *arena;
    struct top_host *hosts;
    uint32_t host_count;
    struct names *keys; /* key -> row */
    struct top_row *rows;
    uint32_t row_count, row_capacity;
    bool approximate; /* a row of the page has quantiles from a histogram */
    int64_t total_ps, total_self_ps;
};

/* top_groups.c: which group of its host a slice belongs to. */
struct top_span { /* what a span's slices belong to, by place in the chunk's dictionary */
    uint32_t group[CHUNK_SLICES]; /* NO_GROUP: none */
    bool taken[CHUNK_SLICES];     /* by slice, where `some`: the others are left out */
    bool some;
    uint8_t *name_fits; /* by name: 0 not looked at, 1, 2 no */
};
uint32_t top_group_count(const struct top_work *work, const struct top_host *host);
/* `entry`: of the slice, where it is at hand; else NULL. */
uint32_t top_group_of(const struct top_work *work, const struct top_host *host,
                      const struct scanned *slice, const struct attributed *entry);
/* False: none of the span belongs to any group. */
bool top_groups_of(const struct top_work *work, const struct top_host *host,
                   const struct span *span, struct top_span *ret);
/* Of a slice of this name, where nothing else tells; `seen` is kept by name, 0 at first. */
uint32_t top_group_of_name(const struct top_work *work, const struct top_host *host, track_id track,
                           name_id name, enum kind kind, uint8_t *seen);
/* Does the table take all slices of the block alike, by their names? */
bool top_takes_whole(const struct top_work *work, const struct top_host *host,
                     const struct whole_block *block);
/* Ops on threads belong to devices, whatever the span's track: so they are asked for one by one. */
bool top_one_by_one(const struct top_work *work, const struct top_host *host, track_id track);

/* top_sums.c: fills the rows. */
void top_sum(struct top_work *work);

struct op_part { /* of a walk over one host's ops */
    const struct top_work *work;
    const struct top_host *host;
    struct tallies *tallies;
    uint32_t *op_of; /* by module: of the first op seen of each execution, plus one */
};
/* top_blocks.c: adds what whole blocks sum to. Of ops: what is left to be looked at, in the arena;
 * NULL: all of them, for no sums are at hand. */
void top_sum_block(struct tallies *tallies, const struct whole_block *block,
                   const uint32_t *groups);
const struct entry_range *top_sum_op_blocks(struct op_part *part, struct arena *arena,
                                            uint32_t *ret_count);

/* top_stored.c: the whole trace's figures, where they are stored: is that what is asked for? */
bool top_is_stored(const struct top_work *work, const struct top_host *host);
void top_sum_stored(const struct top_work *work, struct top_host *host);
/* Quantiles of those rows that have stored ones. */
void top_take_stored_spreads(struct top_work *work, struct top_host *host);
/* top_costs.c: adds what an op of the row costs, as much of it as is inside. */
void top_add_costs(const struct top_host *host, struct top_row *row, uint32_t op,
                   const struct tally *tally);
/* How many of its runs the tally is, cut ones in part. */
double top_runs_of(const struct top_host *host, uint32_t op, const struct tally *tally);
/* An op more, with or without. */
void top_count_cost(struct top_cost *to, const struct op_cost *cost);
struct top_share { /* of an op, for each of its events */
    double flops, bytes, compute_s, memory_s;
    bool has_flops, has_bytes, is_async;
    bool is_of_several; /* kernels: which of them does how much nobody says */
    bool is_divided;    /* among its kernels, by their time */
};
/* top_slice_costs.c: one an op, to be freed; the attribution has costs and totals. */
struct top_share *top_shares_of(const struct attribution *of, const struct device_spec *spec);
/* What kernels and devices cost, by the ops that their slices are. */
void top_cost_slices(struct top_work *work);
/* Cells of flops, bytes, their rates, what bounds the row. */
struct cell top_cost_cell(const struct top_work *work, const struct top_row *row,
                          enum top_column column);
/* Does it only start or await transfers, whose bytes move elsewhere? */
bool top_is_waiting(const struct top_row *row);
/* Seconds that its FLOPs and bytes took, by the clock of its rates. */
int64_t top_cost_time(const struct top_work *work, const struct top_row *row);
/* What is left out of the sums, and which figure of the profile is not believed. */
enum { TOP_COST_NOTES = 4 };
uint32_t top_cost_notes(const struct top_work *work, struct answer_note *ret);
/* top_spread.c: quantiles and deviation of the rows order[first ... end) that have none yet. */
void top_spread(struct top_work *work, const uint32_t *order, uint32_t first, uint32_t end);

/* top_rows.c: the row of a group, made where it is new; `first` is what is known of its slices. */
uint32_t top_row_of(struct top_work *work, struct top_host *host, uint32_t group,
                    const struct tally *first);
/* As the program has it, else by the kernel's name; "" neither. */
struct str top_category(const struct host_trace *host, uint32_t op);
void top_hosts_open(struct top_work *work, const struct selection *selections, uint32_t count);
void top_hosts_close(struct top_work *work);
/* top.c: the rows of a question, for other tables over the same sums; top_free after OK. */
MUST_CHECK enum status top_collect(const struct run_traces *run,
                                   const struct restriction *restriction,
                                   const struct top_question *question, struct arena *arena,
                                   struct top_work *ret, enum top_by *ret_asked, struct error *err);
void top_free(struct top_work *work);

extern const struct column top_columns[];
extern const uint32_t top_column_count;
table_cell top_cell; /* data is the work */

#endif
