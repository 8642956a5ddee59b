/* SPDX-License-Identifier: Apache-2.0 */
/* What questions that compute over whole runs may take of memory together.
 *
 * A question enters with an estimate, by the slices of its run, and waits while others hold what it
 * needs; alone it may take all. One that is beyond the limit by itself, or has waited too long, is
 * told so: 503, with both numbers.
 */
#ifndef JVIEWD_SERVE_DISPATCH_BUDGET_H
#define JVIEWD_SERVE_DISPATCH_BUDGET_H

#include "base/bytes.h"
#include "base/error.h"

/* `rule` says where the limit comes from, in words; borrowed. Without it there is none. */
void budget_set(uint64_t bytes_max, const char *rule);
/* The estimate for a run. */
uint64_t budget_estimate(uint64_t slice_count);
/* ERR_BUSY: not now. Within another question of this thread it enters at once. */
MUST_CHECK enum status budget_enter(uint64_t bytes, struct error *err);
void budget_leave(uint64_t bytes);

#endif
