/* SPDX-License-Identifier: Apache-2.0 */
/* What several changes would win: each step is made once and replayed with each of them.
 *
 *   gain of a change   the time of the steps less what they would take, as a share of it
 *
 * So many steps are looked at, evenly taken, as a tenth of a second holds.
 */
#ifndef JVIEWD_ANALYSE_CRITICAL_GAINS_H
#define JVIEWD_ANALYSE_CRITICAL_GAINS_H

#include "analyse/critical/edits.h"
#include "analyse/steps/steps.h"

enum { GAINS_SLICES = 40000, GAINS_STEPS_SLICES_MAX = 400000 };

/* Shares of the steps' time, one for each change; below 0 it would take longer. False: there are no
 * steps that count, or one is too large. Ops' factors may stand in `ops` of a change. */
bool gains_find(const struct run_traces *run, const struct steps *steps,
                const struct edits *const *changes, uint32_t count, double *ret_shares);

#endif
