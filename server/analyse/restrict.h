/* What a restriction lets through of one host.
 *
 *   time      windows: disjoint, ascending, in file time; one that is the whole trace counts as
 *             none, so that stored totals may answer
 *   space     tracks, devices
 *   matter    names, modules, scopes
 */
#ifndef JVIEWD_ANALYSE_RESTRICT_H
#define JVIEWD_ANALYSE_RESTRICT_H

#include "analyse/analyse.h"

struct window {
    int64_t from_ps, to_ps; /* file time, half open */
};

struct selection { /* of one host */
    const struct host_trace *host;
    uint32_t index; /* of the host in the run */
    bool cut_in_time;
    const struct window *windows; /* one from INT64_MIN to INT64_MAX where not cut in time */
    uint32_t window_count;
    const bool *tracks; /* by track id: let through, recorded, not derived; counters never are */
    bool all_tracks;    /* every track that is not derived */
    const struct restriction *asked;
    bool by_name; /* name or q is asked for */
};

/* Hosts that are let through, each with something left in time. */
MUST_CHECK enum status restrict_run(const struct run_traces *run,
                                    const struct restriction *restriction, struct arena *arena,
                                    struct selection **ret, uint32_t *ret_count, struct error *err);

/* The part of [start, start + dur) inside the windows. An instant counts as inside or not: -1 when
 * nothing touches. */
int64_t selection_inside(const struct selection *selection, int64_t start_ps, int64_t dur_ps);
bool selection_has_device(const struct selection *selection, int32_t device);
bool selection_has_name(const struct selection *selection, struct str name);
/* Op, device, module, scope and name; time aside. */
bool selection_has_op(const struct selection *selection, const struct op *op);

#endif
