/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time for rules: found once, asked by several. */
#ifndef JVIEWD_ANALYSE_FINDINGS_RULES_IDLE_H
#define JVIEWD_ANALYSE_FINDINGS_RULES_IDLE_H

#include "analyse/findings/memo.h"
#include "analyse/steps/idle.h"

MUST_CHECK enum status memo_idle(struct memo *memo, const struct idle **ret, struct error *err);
/* The same as rules may win it: without steps, only from the first to the last work of devices. */
MUST_CHECK enum status memo_kept_waiting(struct memo *memo, const struct idle **ret,
                                         struct error *err);
/* How long devices of the host had nothing to do in the counted time: the mean of those that
 * count. */
int64_t unoccupied_ps(const struct idle *idle, uint32_t host);

#endif
