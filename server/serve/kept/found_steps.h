/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of the runs that were asked last. Finding them reads every op of a run; who asks why
 * one step takes as long, and then of the next, needs them each time.
 *
 * What is kept holds nothing of a trace: texts are copies. Which step each op belongs to is left
 * out: it is a number for each op of the run, and who asks for steps alone does not read it. It is
 * called after the run as it is by then, as kept answers are. Any thread may ask.
 */
#ifndef JVIEWD_SERVE_KEPT_FOUND_STEPS_H
#define JVIEWD_SERVE_KEPT_FOUND_STEPS_H

#include "analyse/steps/steps.h"
#include "base/hash.h"

struct found_steps;
struct found_steps *found_steps_create(uint64_t bytes_max);
void found_steps_destroy(struct found_steps *found); /* takes NULL; nobody asks */
/* All steps of the run of this key, copied, without `owners`; false: they are not kept. */
bool found_steps_get(struct found_steps *found, struct hash128 key, const struct run_traces *run,
                     struct arena *arena, struct steps *ret);
/* Keeps a copy, where it is no more than may be kept. */
void found_steps_put(struct found_steps *found, struct hash128 key, const struct run_traces *run,
                     const struct steps *steps);

#endif
