/* SPDX-License-Identifier: Apache-2.0 */
/* From a restriction to what it lets through of each host; steps are looked up. */
#ifndef JVIEWD_ANALYSE_STEPS_RESTRICT_H
#define JVIEWD_ANALYSE_STEPS_RESTRICT_H

#include "analyse/scan/selection.h"

/* Hosts that are let through, each with something left in time. ERR_NOT_FOUND for a module that
 * no op is of, for steps that are not there. */
MUST_CHECK enum status restrict_run(const struct run_traces *run,
                                    const struct restriction *restriction, struct arena *arena,
                                    struct selection **ret, uint32_t *ret_count, struct error *err);

#endif
