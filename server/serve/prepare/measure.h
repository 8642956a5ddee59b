/* SPDX-License-Identifier: Apache-2.0 */
/* Figures that are kept of each run: measured once, by whoever has time.
 *
 *   ready, not measured ──trend_metrics──> catalog's metrics ──> /api/trend, /metrics
 *
 * A server does it beside its answers (prepare.h), a command before it prints a trend.
 */
#ifndef JVIEWD_SERVE_PREPARE_MEASURE_H
#define JVIEWD_SERVE_PREPARE_MEASURE_H

#include "serve/serve.h"

enum { MEASURE_AT_ONCE = 4 };

/* The next few runs that are ready and were not measured by these rules yet, newest first; a walk
 * begins as {0}. How many there were: 0, it is over. What cannot be measured is kept as unknown,
 * with the reason; a run whose index is not at hand stays as it is, and the walk goes on. */
uint32_t measure_next(const struct services *services, struct unmeasured *walk);

/* The same of one run that is ready, where it was not measured before. */
void measure_one(const struct services *services, const struct run_record *run);

#endif
