/* Figures that are kept of each run: measured once, by whoever has time.
 *
 *   ready, not measured ──analyse/trend_metrics.h──> catalog's metrics ──> /api/trend, /metrics
 *
 * A server does it beside its answers (prepare.h), a command before it prints a trend.
 */
#ifndef JVIEWD_SERVE_MEASURE_H
#define JVIEWD_SERVE_MEASURE_H

#include "serve/serve.h"

/* Runs that are ready and were not measured by these rules yet, newest first. */
void measure_missing(const struct services *services, struct arena *arena, struct str **ret_ids,
                     uint32_t *ret_count);
/* One of them. What cannot be measured is kept as unknown, with the reason; a run whose index is
 * not at hand stays missing. */
void measure_run(const struct services *services, struct str run_id);

#endif
