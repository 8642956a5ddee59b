/* What a restriction lets through of one host.
 *
 *   time      windows: disjoint, ascending, in file time, half open
 *   space     tracks, devices
 *   matter    names, modules, scopes
 */
#ifndef JVIEWD_ANALYSE_SELECTION_H
#define JVIEWD_ANALYSE_SELECTION_H

#include "analyse/analyse.h"

struct window {
    int64_t from_ps, to_ps; /* file time */
};

struct selection { /* of one host */
    const struct host_trace *host;
    uint32_t index;   /* of the host in the run */
    bool cut_in_time; /* else the one window holds the whole trace: stored totals may answer */
    const struct window *windows;
    uint32_t window_count;
    const bool *tracks; /* by id; derived tracks and counters never */
    bool all_tracks;    /* every other one is let through */
    bool ops_only;      /* asked by what only ops have: module, scope, an ordinal on host threads */
    bool by_name;       /* name or q is asked for */
    const struct restriction *asked;
};

/* Is the device let through? */
bool restriction_has_device(const struct restriction *restriction, int32_t device);
/* The part of [start, start + dur) inside the windows; -1 when nothing touches them. */
int64_t selection_inside(const struct selection *selection, int64_t start_ps, int64_t dur_ps);
/* The same of one after another, where mostly each is in the window of the last one or in the next:
 * `*near` is 0 before the first. */
int64_t selection_inside_near(const struct selection *selection, uint32_t *near, int64_t start_ps,
                              int64_t dur_ps);
/* Does what begins at this moment begin inside of a window? */
bool selection_begins_inside(const struct selection *selection, int64_t at_ps);
/* Is every op of the host let through, whole? Then totals of ops say all of them. */
bool selection_is_whole(const struct selection *selection);
bool selection_has_device(const struct selection *selection, int32_t device);
bool selection_has_name(const struct selection *selection, struct str name);
/* Module, scope and name of an op; its device and time aside. */
bool selection_has_op(const struct selection *selection, const struct op *op);

#endif
