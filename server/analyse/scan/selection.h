/* SPDX-License-Identifier: Apache-2.0 */
/* What a restriction lets through of one host.
 *
 *   time      windows: disjoint, ascending, in file time, half open
 *   space     tracks, devices
 *   matter    names, modules, scopes
 */
#ifndef JVIEWD_ANALYSE_SCAN_SELECTION_H
#define JVIEWD_ANALYSE_SCAN_SELECTION_H

#include "analyse/analyse.h"

struct window {
    int64_t from_ps, to_ps; /* file time */
};

struct row_windows { /* disjoint, ascending */
    const struct window *items;
    uint32_t count;
};

#define NO_OWNER UINT32_MAX

struct selection { /* of one host */
    const struct host_trace *host;
    uint32_t index;   /* of the host in the run */
    bool cut_in_time; /* else the one window holds the whole trace: stored totals may answer */
    const struct window *windows; /* the steps' times, where steps are asked for */
    uint32_t window_count;
    struct window within; /* asked for, besides steps */
    /* Where steps are asked for: by row, when their work was done there; NULL: time tells. */
    const struct row_windows *of_rows;
    const uint32_t *owners; /* by entry: NO_OWNER is no work of the steps; NULL: time tells */
    const bool *tracks;     /* by id; derived tracks and counters never */
    bool all_tracks;        /* every other one is let through */
    bool ops_only; /* asked by what only ops have: module, scope, an ordinal on host threads */
    bool by_name;  /* name or q is asked for */
    const struct restriction *asked;
};

/* Is the device let through? */
bool restriction_has_device(const struct restriction *restriction, int32_t device);
/* The part of [start, start + dur) inside the windows; -1 when nothing touches them. */
int64_t selection_inside(const struct selection *selection, int64_t start_ps, int64_t dur_ps);
/* The first window that ends behind a moment; their number where none does. */
uint32_t window_from(struct row_windows windows, int64_t at_ps);
int64_t windows_inside(struct row_windows windows, int64_t start_ps, int64_t dur_ps);
/* The same of what lies in a row: where steps are asked for, the part that is their work. */
int64_t selection_inside_row(const struct selection *selection, row_id row, int64_t start_ps,
                             int64_t dur_ps);
/* The same of one after another, where mostly each is in the window of the last one or in the next:
 * `*near` is 0 before the first. */
int64_t selection_inside_near(const struct selection *selection, uint32_t *near, int64_t start_ps,
                              int64_t dur_ps);
/* What is let through of an op by step and time: all or a part of its time; -1: nothing. */
int64_t selection_inside_entry(const struct selection *selection, int64_t start_ps, int64_t dur_ps,
                               uint32_t index);
/* Sorts, joins what overlaps or touches; returns how many are left. */
uint32_t windows_join(struct window *windows, uint32_t count);
/* Fills `of_rows` of a selection with owners: `steps_on` are by track the threads on which the
 * steps are marked, `spans` the marks. */
void selection_by_work(struct selection *selection, const bool *steps_on, struct row_windows spans,
                       struct arena *arena);
/* The windows that hold for a row. */
struct row_windows selection_windows_of(const struct selection *selection, row_id row);
/* Those of a thread, for what is known of it but by row. */
struct row_windows selection_windows_of_track(const struct selection *selection, track_id track);
/* Does what begins at this moment begin inside of a window? */
bool selection_begins_inside(const struct selection *selection, int64_t at_ps);
bool selection_begins_inside_row(const struct selection *selection, row_id row, int64_t at_ps);
/* Is every op of the host let through, whole? Then totals of ops say all of them. */
bool selection_is_whole(const struct selection *selection);
bool selection_has_device(const struct selection *selection, int32_t device);
bool selection_has_name(const struct selection *selection, struct str name);
/* Module, scope and name of an op; its device and time aside. */
bool selection_has_op(const struct selection *selection, const struct op *op);

#endif
