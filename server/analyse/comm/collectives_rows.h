/* SPDX-License-Identifier: Apache-2.0 */
/* Executions of collectives summed by one property; the rows of a table, and what rules ask. */
#ifndef JVIEWD_ANALYSE_COMM_COLLECTIVES_ROWS_H
#define JVIEWD_ANALYSE_COMM_COLLECTIVES_ROWS_H

#include "analyse/comm/collectives.h"

enum collective_by {
    COLLECTIVE_BY_OP,
    COLLECTIVE_BY_KIND,
    COLLECTIVE_BY_AXIS,
    COLLECTIVE_BY_SIZE,
    COLLECTIVE_BY_GROUP,
    COLLECTIVE_BY_DEVICE,
    COLLECTIVE_BY_HOST,
};

struct collective_row {
    struct str name;
    uint32_t item; /* whose words stand for all of the row: see `same_*` */
    uint32_t host;
    int32_t device;
    bool same_item;                                   /* all of one collective */
    bool same_kind, same_axis, same_size, same_bytes; /* all alike */
    uint64_t count;
    int64_t total_ps, exposed_ps, hidden_ps, min_ps, max_ps, blocked_ps;
    uint64_t done_count;
    slice_id longest; /* of longest_host */
    uint32_t longest_host;
    int64_t longest_start_ps;
    uint64_t bytes_sum; /* of those whose size is known; saturates */
    uint64_t rated_count;
    int64_t rated_ps; /* whole executions of known size */
    double rated_bytes, rated_bus_bytes;
    int64_t moving_ps; /* of those whose wait is known too: without it */
    double moving_bus_bytes;
    uint64_t known_count; /* waits */
    int64_t known_ps, wait_ps;
    uint64_t turn_count; /* that had a last one */
    int64_t spread_ps;   /* from first to last to come, summed over turns */
    uint32_t last_host;  /* who was last most often */
    int32_t last_device;
    uint64_t last_count;
};

struct collective_rows {
    struct collective_row *items;
    uint32_t count;
    int64_t total_ps, exposed_ps, wait_ps;
};

/* False: no such property. */
bool collective_by_read(struct str word, enum collective_by *ret);
void collectives_rows(const struct run_traces *run, const struct collectives *collectives,
                      enum collective_by by, struct arena *arena, struct collective_rows *ret);

/* Notes: how clocks are apart, what lies outside of counted steps, why waits or sizes are not
 * known, what bandwidths mean. */
MUST_CHECK enum status collectives_note(const struct run_traces *run,
                                        const struct collectives *found,
                                        const struct steps *all_steps, struct arena *arena,
                                        struct table *ret, struct error *err);

#endif
