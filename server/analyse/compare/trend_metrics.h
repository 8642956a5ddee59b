/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of one run that are kept, so that a trend over thousands needs no run opened.
 *
 *   step_min step_mean step_p95 step_max       of the counted steps
 *   share_compute ... share_idle               of the mean step (without steps, of the capture)
 *   memory_peak  compile_time  compile_count  utilisation
 *   op:dot.63    op:fusion.12 ...              self time a step of the 32 that take most
 *
 * They are those of compare.h and roofline.h. `utilisation` is how much of the peak rate of the
 * device's arithmetic the ops reached while they ran. What a run does not tell is unknown, with the
 * reason; an op that is not among the most is left out.
 */
#ifndef JVIEWD_ANALYSE_COMPARE_TREND_METRICS_H
#define JVIEWD_ANALYSE_COMPARE_TREND_METRICS_H

#include "analyse/compare/diff.h"

enum { TREND_OPS_MAX = 32 };

struct trend_figure {
    struct str name;
    enum unit unit;
    bool known;
    int64_t value; /* a share in billionths */
    struct str reason;
};

struct trend_figures {
    struct trend_figure *items;
    uint32_t count;
};

MUST_CHECK enum status trend_figures(const struct run_traces *run, struct arena *arena,
                                     struct trend_figures *ret, struct error *err);

/* The one of that name, of a run or a part of it; not known where there is none. */
MUST_CHECK enum status trend_figure_of(const struct diff_side *side, struct str name,
                                       struct arena *arena, struct trend_figure *ret,
                                       struct error *err);

/* Is more of it worse? Of all but compute's share and the utilisation. */
bool trend_more_is_worse(struct str name);

/* The figures that every run has, known or not: name and unit. NULL: that was the last. */
const char *trend_figure_name(size_t index, enum unit *ret_unit);

#endif
