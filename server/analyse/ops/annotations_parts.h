/* SPDX-License-Identifier: Apache-2.0 */
/* Inside annotations*.c.
 *
 *   names -> spans       annotations_find.c     the spans of each thread, and who is innermost when
 *   entries -> spans     annotations_device.c   the work that was launched inside
 *   threads -> recorded  annotations_host.c     when they had anything open, spans or not
 *   spans -> rows        annotations.c
 *   rows -> cells        annotations_cells.c
 */
#ifndef JVIEWD_ANALYSE_OPS_ANNOTATIONS_PARTS_H
#define JVIEWD_ANALYSE_OPS_ANNOTATIONS_PARTS_H

#include "analyse/ops/annotations.h"
#include "analyse/stats/map64.h"
#include "analyse/steps/restrict.h"
#include "analyse/table.h"

#define NO_SPAN UINT32_MAX

struct span_mark { /* one annotation that was running */
    name_id name;
    uint32_t group, parent; /* NO_SPAN at the top */
    int64_t start_ps, end_ps;
    int64_t first_ps, last_ps; /* of the device's work inside; none: first > last */
    slice_id slice;
    int64_t device_ps; /* of all the device's work inside, spans inside included */
    uint64_t launch_count;
};

struct innermost { /* from here on in its group */
    int64_t from_ps;
    uint32_t span;
};

struct marks { /* of one trace */
    const struct trace *trace;
    struct span_mark *spans; /* by group, then start */
    uint32_t count, capacity;
    struct innermost *changes; /* by group, then time */
    uint32_t change_count, change_capacity;
    uint32_t *first_change; /* by group, and behind the last */
    uint32_t group_count;   /* tracks: a group is that of its thread */
    track_id *groups;       /* by track: its thread */
};

/* `of` may be NULL. */
void marks_find(const struct trace *trace, const struct attribution *of, struct marks *ret);
void marks_free(struct marks *marks);
/* The innermost span then; *ret_change is its change, and stays where there is none. */
uint32_t marks_at(const struct marks *marks, uint32_t group, int64_t at_ps, uint32_t *ret_change);

/* How long the host's threads had slices open inside the windows, each thread for itself; false
 * where a thread has more lanes than are walked together. */
bool marks_recorded(const struct marks *marks, const struct selection *selection, int64_t *ret_ps);

struct device_sum { /* of a name */
    int64_t device_ps, device_self_ps, total_ps, self_ps;
    uint64_t launch_count;
};

/* Adds the device's work, by name; *ret_none is what no span launched. */
void marks_add_device(struct marks *marks, const struct selection *selection,
                      struct device_sum *by_name, struct device_sum *ret_none);

/* By entry: the innermost span that launched it, or NO_SPAN; the caller frees it. */
uint32_t *marks_launched_by(struct marks *marks, const struct selection *selection);

/* Sets the bit of each entry that was launched inside a span of that name. */
void marks_launched_inside(struct marks *marks, const struct selection *selection, struct str name,
                           uint8_t *bits);

struct lengths { /* of spans */
    int64_t *items;
    uint64_t count, capacity;
    int64_t total_ps;
};

struct note_row {
    struct str name;
    bool is_rest;             /* what no span launched */
    struct lengths whole;     /* on the host */
    struct lengths projected; /* on devices: of each from its first op there to its last */
    struct device_sum sum;
};

struct note_table {
    struct arena *arena;
    struct names *keys;
    struct note_row *rows;
    uint32_t row_count, row_capacity;
    int64_t device_ps, host_self_ps;
    bool has_devices;     /* the run has work of devices, asked for or not */
    bool is_rest_unknown; /* of a host: what was recorded outside of all spans is in no row */
};

extern const struct column annotation_columns[];
extern const uint32_t annotation_column_count;
table_cell
    annotation_cell; /* data is the note_table; of spans the quantiles may move their items */

#endif
