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
#ifndef JVIEWD_ANALYSE_TREND_METRICS_H
#define JVIEWD_ANALYSE_TREND_METRICS_H

#include "analyse/analyse.h"

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

/* The figures that every run has, known or not: name and unit. NULL: that was the last. */
const char *trend_figure_name(size_t index, enum unit *ret_unit);

#endif
