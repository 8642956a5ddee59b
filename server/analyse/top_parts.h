/* Inside top*.c.
 *
 *   slices ─┐
 *           ├─> row of its group ─> sums ─> order ─> page ─> spread of the page's rows ─> cells
 *   ops    ─┘     top_rows.c                          second walk              top_cells.c
 */
#ifndef JVIEWD_ANALYSE_TOP_PARTS_H
#define JVIEWD_ANALYSE_TOP_PARTS_H

#include "analyse/map64.h"
#include "analyse/quantile.h"
#include "analyse/scan.h"
#include "analyse/table.h"
#include "analyse/top.h"

enum top_by {
    BY_OP,
    BY_MODULE,
    BY_SCOPE,
    BY_SOURCE,
    BY_CATEGORY, /* up to here attributed ops, from here recorded slices */
    BY_NAME,
    BY_KERNEL,
    BY_API,
    BY_ANNOTATION,
    BY_TRACK,
    BY_HOST,
    BY_DEVICE,
    BY_COUNT,
};
const char *top_by_word(enum top_by by);

struct top_row {
    uint32_t host; /* whose ids the next four are */
    uint32_t op;   /* NO_OP: none */
    track_id track;
    int32_t device;
    slice_id slice; /* the first one seen */
    struct str key, name;
    enum kind kind;
    uint64_t count, event_count;
    int64_t total_ps, self_ps, whole_ps; /* inside; inside; of whole slices */
    int64_t min_ps, max_ps, stdev_ps, p50_ps, p95_ps;
    bool spread_known, approximate;
    bool flops_known, bytes_known;
    double flops, bytes, cumulative;
};

struct top_host {
    const struct selection *selection;
    uint32_t *row_of; /* by op or by name, plus one; 0 not yet */
    uint32_t *row_of_track;
    struct map64 row_of_device;
    struct map64 counted;              /* (execution, op) or executions already counted */
    const double *op_flops, *op_bytes; /* by op, NAN unknown; NULL: the file has none */
};

struct top_work {
    const struct run_traces *run;
    const struct top_question *question;
    enum top_by by;
    struct arena *arena;
    struct top_host *hosts;
    uint32_t host_count;
    struct top_host *host; /* under way */
    struct names *keys;    /* key -> row */
    struct top_row *rows;
    uint32_t row_count, row_capacity;
    struct quantiles **spreads; /* second walk: by row, NULL where not wanted */
    bool approximate;           /* a row of the page has quantiles from a histogram */
    int64_t total_ps, total_self_ps;
};

/* The row of a slice or op; UINT32_MAX: it belongs to none. */
uint32_t top_row_of_op(struct top_work *work, uint32_t op);
uint32_t top_row_of_slice(struct top_work *work, const struct scanned *slice);
void top_hosts_open(struct top_work *work, const struct selection *selections, uint32_t count);
void top_hosts_close(struct top_work *work);
/* Adds flops and bytes of an op's occurrence to its row. */
void top_costs(struct top_work *work, struct top_row *row, uint32_t op);

extern const struct column top_columns[];
extern const uint32_t top_column_count;
table_cell top_cell; /* data is the work */

#endif
