/* SPDX-License-Identifier: Apache-2.0 */
/* What changed between two runs, or two parts of one: which op made the step slower.
 *
 *   run a   steps 3 4 5 6      op fusion.3   18.2 ms a step ─┐
 *   run b   steps 7 8 9        op fusion.12  20.1 ms a step ─┴─ +1.9 ms: called as often, longer
 *
 * A step's time is split over its ops (self time, the mean over a host's devices), what the host
 * did while none ran (input, compile, ...), `idle`, where that was nothing, and `other`, which is
 * the rest: less than nothing where ops overlap. So the rows' differences sum to that of the mean
 * step to the picosecond. Warm-up steps count only where
 * they are asked for by number; without steps on both sides the captures themselves are compared.
 *
 * A difference has two causes that sum to it: how often (the change of count at a's mean duration)
 * and how long (the change of the mean at b's count). What is counted are events: a loop's body
 * counts as often as it ran.
 */
#ifndef JVIEWD_ANALYSE_COMPARE_DIFF_H
#define JVIEWD_ANALYSE_COMPARE_DIFF_H

#include "analyse/analyse.h"
#include "analyse/device/host_doing.h"
#include "analyse/stats/stats.h"

/* Where bytes that were measured of a run are kept: by its steps, and of its captures, apart. */
struct diff_keeper {
    void *data;
    /* False: there are none. */
    bool (*get)(void *data, bool by_steps, struct arena *arena, struct bytes *ret);
    void (*put)(void *data, bool by_steps, struct bytes bytes);
};

struct diff_side { /* what is compared */
    const struct run_traces *run;
    const struct restriction *restriction;
    const struct diff_keeper *keeper; /* of a whole run; NULL: it is measured each time */
};

struct diff_measured {     /* of a side */
    uint32_t step_count;   /* counted steps, over all hosts; 0: the capture */
    uint32_t warmup_count; /* left out, and those that the capture cuts */
    uint32_t cut_count;
    struct str basis; /* "11 steps by StepTraceAnnotation \"train\"" */
    int64_t mean_ps;
    int64_t kinds_ps[KIND_COUNT + 1]; /* of the mean step; sums to mean_ps but for rounding */
    int64_t doing_ps[DOING_COUNT];    /* of the host while no op ran */
};

struct diff_shapes { /* count 0: no op that matters makes another shape than before */
    struct str name, a, b;
};

struct diff {
    struct str by;
    bool by_steps; /* false: the captures are compared */
    struct diff_measured a, b;
    struct shift step;         /* of the steps' durations; only by_steps */
    struct diff_shapes shapes; /* of the op that changed most of those that make another shape */
    double matched_share;      /* of the ops' time on both sides, what is matched at all */
    double sure_share;         /* and by the rules that are right nine times of ten */
    struct table table;
};

/* `by`: "" or "op", "scope", "module", "category", "source", "kind". Columns: key name state kind
 * category module scope source a_name b_name a_shape b_shape a_self_ps b_self_ps delta_ps share
 * a_count b_count often_ps longer_ps a_on_path_ps b_on_path_ps p match confidence. States: slower
 * faster same new gone. Rows that are no op have the keys `idle`, `other` and the words of
 * host_doing.h. Default sort: by the size of the difference. */
MUST_CHECK enum status diff_runs(const struct diff_side *a, const struct diff_side *b,
                                 struct str by, const struct page *page, struct arena *arena,
                                 struct diff *ret, struct error *err);

/* What differences with a side like itself need of it is measured and kept, unless it is. */
MUST_CHECK enum status diff_prepare(const struct diff_side *side, struct arena *arena,
                                    struct error *err);

#endif
