/* Steps of a run: where they begin and end, and where their time went.
 *
 * Recognised by the first rule that finds any, per run:
 *
 *   annotation   slices with the arg _r = 1 (StepTraceAnnotation); number = step_num
 *   steps-line   slices of ROLE_STEPS tracks
 *   module       executions of the program with the most device time, when there are two or more
 *   repeated     a top-level host slice that repeats and covers most of its thread
 *   none
 *
 * A step's breakdown sums to its duration: at each moment the most telling kind that runs anywhere
 * on its host counts (the devices' compute, communication, copy, ...; then what the stepping thread
 * does innermost); the rest is idle.
 *
 * Warm-up: steps at the beginning that compile, or take more than twice the median of the rest.
 */
#ifndef JVIEWD_ANALYSE_STEPS_H
#define JVIEWD_ANALYSE_STEPS_H

#include "analyse/analyse.h"

struct step {
    uint32_t host;            /* index into run->hosts */
    int64_t number;           /* step_num, or the ordinal among the host's steps */
    bool numbered;            /* the file said the number */
    struct str name;          /* "train" */
    slice_id slice;           /* NO_SLICE for executions */
    int64_t start_ps, dur_ps; /* run time */
    bool warmup, outlier;
    int64_t kinds_ps[KIND_COUNT + 1]; /* by kind and idle; only from steps_breakdown */
};

enum step_rule { STEP_ANNOTATION, STEP_LINE, STEP_MODULE, STEP_REPEATED, STEP_NONE };
const char *step_rule_word(enum step_rule rule); /* "annotation" ... "none" */

struct steps {
    struct step *items; /* by start, then host */
    uint32_t count, warmup_count;
    enum step_rule rule;
    struct str rule_text; /* a sentence: how they were recognised */
};

/* All steps of the run's hosts that `restriction` lets through (hosts, window, steps). */
MUST_CHECK enum status steps_find(const struct run_traces *run,
                                  const struct restriction *restriction, struct arena *arena,
                                  struct steps *ret, struct error *err);
/* Fills kinds_ps of each. */
void steps_breakdown(const struct run_traces *run, struct steps *steps);
/* Where [start, end) of a host (run time) went, by the same rule. */
void breakdown_of(const struct host_trace *host, int64_t start_ps, int64_t end_ps,
                  int64_t ret[KIND_COUNT + 1]);

/* Columns: step name host start_ps dur_ps warmup outlier breakdown (CELL_KINDS). Default sort:
 * "start_ps". */
MUST_CHECK enum status steps_table(const struct run_traces *run,
                                   const struct restriction *restriction, const struct page *page,
                                   struct arena *arena, struct table *ret, struct error *err);

#endif
