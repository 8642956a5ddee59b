/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and devices against each other: who is last, by how much, how often.
 *
 *   step 4   host A   work | all-reduce, waiting ......... |     4.2 ms of communication
 *            host B   work ............. | all-reduce ..... |     1.1 ms: came last, and made A
 *                                                                wait 3.1 ms
 *
 * What takes part in a collective leaves it when the last has come, so who communicates least in a
 * step came last: the others' time beyond that is waiting, and its lag is what the longest of them
 * waited. Steps are those counted, aligned over hosts by their number where the files say it, else
 * by their turn. Where nothing communicates, who ends last lags, by how much after the first.
 *
 * A lane that is last in more than half of three steps or more, by at least a hundredth of the
 * median step in the middle, is a straggler.
 */
#ifndef JVIEWD_ANALYSE_STEPS_HOSTS_H
#define JVIEWD_ANALYSE_STEPS_HOSTS_H

#include "analyse/steps/align.h"
#include "analyse/steps/steps.h"

struct lane_step { /* of a lane in one aligned step */
    bool there;
    int64_t start_ps, dur_ps; /* run time */
    int64_t communication_ps; /* exposed */
    int64_t busy_ps, op_wait_ps, hidden_ps;
    int64_t wait_ps; /* for who came last; 0 where nothing is compared */
    int64_t lag_ps;  /* that others waited for it, or that it ended after the first */
    bool last;
};

struct lane_total { /* of a host, or of one of its devices */
    uint32_t host;
    int32_t device; /* -1: the host, the mean of its devices */
    uint32_t device_count;
    uint32_t step_count;               /* counted */
    int64_t total_ps;                  /* their durations */
    int64_t median_ps, min_ps, max_ps; /* of them; step_count > 0 */
    int64_t busy_ps, communication_ps, hidden_ps, op_wait_ps, wait_ps;
    uint32_t last_count;   /* of the aligned steps */
    int64_t lag_median_ps; /* where it was last */
    bool straggler;
};

enum lanes_by { LANES_BY_HOST, LANES_BY_DEVICE };
enum lanes_basis { BASIS_NONE, BASIS_COMMUNICATION, BASIS_END }; /* what tells who is last */

const char *lanes_basis_word(enum lanes_basis basis); /* "none", "communication", "end" */

struct lanes {
    enum lanes_by by;
    enum lanes_basis basis;
    bool by_number; /* aligned by the steps' numbers, else by their turn */
    const struct lane_total *lanes;
    uint32_t lane_count;
    const int64_t *numbers; /* of the aligned steps, by start */
    uint32_t step_count;
    uint32_t compared_count;       /* steps in which two lanes or more are there */
    uint64_t dropped;              /* later steps that were too many to compare */
    const struct lane_step *cells; /* [step * lane_count + lane] */
};

void lanes_find(const struct run_traces *run, struct steps *steps, enum lanes_by by,
                struct arena *arena, struct lanes *ret);

/* Columns: name host device device_count step_count step_median_ps step_min_ps step_max_ps busy_ps
 * idle_ps busy_share communication_ps hidden_communication_ps op_wait_ps wait_ps wait_share
 * last_count compared_count lag_ps skew_ps straggler. A row a lane; default sort "host,device".
 * `alignments`: of each host. */
MUST_CHECK enum status lanes_table(const struct run_traces *run, const struct lanes *lanes,
                                   const struct alignment *alignments, const struct page *page,
                                   struct arena *arena, struct table *ret, struct error *err);
/* Columns: step host device start_ps end_ps dur_ps end_lag_ps communication_ps wait_ps lag_ps last.
 * A row a step and lane that is there; default sort "step,host,device". */
MUST_CHECK enum status lanes_grid(const struct run_traces *run, const struct lanes *lanes,
                                  const struct page *page, struct arena *arena, struct table *ret,
                                  struct error *err);

#endif
