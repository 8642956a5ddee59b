/* SPDX-License-Identifier: Apache-2.0 */
/* What findings would win, by replay of the steps: what a rule adds up is an upper bound, for other
 * work may take its place on the path.
 *
 *   input-bound        what loads data takes no time
 *   exposed transfers, collectives      nothing but the step's end waits for them
 *   device-imbalance   each device works as long as their mean
 *   dispatch-bound     of calls that launch one remains
 *   an op's own        it takes less by what the finding wins
 *   other              its kind of work takes less by that
 *
 * A finding of which no such change is known keeps its upper bound alone.
 */
#ifndef JVIEWD_ANALYSE_FINDINGS_WIN_REPLAY_H
#define JVIEWD_ANALYSE_FINDINGS_WIN_REPLAY_H

#include "analyse/findings/findings.h"

/* Of more findings that win nothing is replayed: the first in their order. */
enum { REPLAYED_FINDINGS = 8 };

/* Fills has_replay and replay_ps of findings in the order of their bounds. */
void win_replay_find(struct memo *memo, struct finding *findings, uint32_t count);
/* Where two findings together win a tenth less than the sum of what each wins, the later one is of
 * the same time as the first; in the order of ranks, which are set. */
void win_replay_tell(struct memo *memo, struct finding *findings, uint32_t count);

#endif
