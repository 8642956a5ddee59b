/* SPDX-License-Identifier: Apache-2.0 */
/* What rules about communication share: sums over counted steps, each host's by the mean of its
 * devices, and the executions that prove them.
 *
 *   rules_comm.c        what is exposed, too small, synchronous
 *   rules_comm_wait.c   who waits for whom, and whose clock is off
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_RULES_COMM_PARTS_H
#define JVIEWD_ANALYSE_FINDINGS_RULES_COMM_PARTS_H

#include "analyse/comm/collectives.h"
#include "analyse/findings/findings.h"
#include "base/human.h"

enum measure { MEASURE_TOTAL, MEASURE_EXPOSED, MEASURE_WAIT, MEASURE_BLOCKED, MEASURE_COUNT };

struct comm_asked { /* what a rule looks at; found once */
    struct memo *memo;
    const struct collectives *found;
    const struct counted *counted;
    const uint32_t *device_counts; /* by host: those that communicate */
    const int64_t *inside_ps;      /* by run: in counted steps */
};

MUST_CHECK enum status comm_look(struct memo *memo, struct comm_asked *ret, struct error *err);
/* What of a run lies in counted steps, by one measure, and at most that. */
int64_t comm_measured(const struct comm_asked *asked, const struct collective_run *run,
                      enum measure measure);
/* Which runs a rule is about; NULL: all. */
typedef bool comm_matters(const struct collective *item, const struct collective_run *run);
/* Over all hosts, each by the mean of its devices. */
int64_t comm_mean(const struct comm_asked *asked, enum measure measure, comm_matters *matters);
bool comm_is_share(const struct comm_asked *asked, int64_t ps, int percent);
struct human comm_share(const struct comm_asked *asked, int64_t ps);
/* The collectives that have most of a measure, each with its longest execution. */
void comm_prove(const struct comm_asked *asked, struct finding *finding, enum measure measure,
                comm_matters *matters, const char *what);

#endif
