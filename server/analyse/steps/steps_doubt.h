/* SPDX-License-Identifier: Apache-2.0 */
/* Whether steps may be stated: what they say, held against all else that was recorded.
 *
 *   sum       on one thread, steps that do not overlap cannot take longer than the capture
 *   work      a step that is as long as its span holds the work that it launched
 *   idle      steps in which devices rest, in a capture in which the same devices are busy, are
 *             not where the time goes
 *   beside    spans of one thread that are open at one time, as of requests, are no series
 *   held      steps that nobody marked hold a quarter of what devices did, or of the capture
 *
 * A step time that fails one of these is a wrong number that looks sure; the capture is told
 * instead, and why.
 */
#ifndef JVIEWD_ANALYSE_STEPS_STEPS_DOUBT_H
#define JVIEWD_ANALYSE_STEPS_STEPS_DOUBT_H

#include "analyse/steps/steps.h"

/* "" where they fit; else a clause that says what does not: "the steps sum to 3.1 s on hostA, the
 * capture lasts 1.0 s". Of steps of the whole run, with their breakdowns. */
struct str steps_doubt(const struct run_traces *run, const struct steps *steps,
                       struct arena *arena);
/* What needs no breakdowns of it: sum, work, beside. */
struct str steps_doubt_spans(const struct run_traces *run, const struct steps *steps,
                             struct arena *arena);
/* Is this about all there is? Of less nobody knows what there is besides its steps. */
bool steps_may_be_doubted(const struct restriction *asked);

#endif
