/* SPDX-License-Identifier: Apache-2.0 */
/* Every theme of rules, one line each. Their order is the last word where two findings rank
 * alike. */
#include "analyse/findings/findings.h"

extern const struct rule rules_capture[];
extern const struct rule rules_fault[];
extern const struct rule rules_comm[];
extern const struct rule rules_compute[];
extern const struct rule rules_comm_rate[];
extern const struct rule rules_comm_wait[];
extern const struct rule rules_compile[];
extern const struct rule rules_transfer[];
extern const struct rule rules_copy[];
extern const struct rule rules_dispatch[];
extern const struct rule rules_launch[];
extern const struct rule rules_missing[];
extern const struct rule rules_recording[];
extern const struct rule rules_wait[];
extern const struct rule rules_heap[];
extern const struct rule rules_memory[];
extern const struct rule rules_steps[];
extern const struct rule rules_idle[];
extern const struct rule rules_hosts[];
extern const struct rule rules_in_steps[];

/* clang-format off */
const struct rule *const rule_themes[] = {
    rules_capture,
    rules_compute,
    rules_fault,
    rules_launch,
    rules_dispatch,
    rules_comm,
    rules_comm_rate,
    rules_comm_wait,
    rules_missing,
    rules_recording,
    rules_wait,
    rules_heap,
    rules_memory,
    rules_compile,
    rules_transfer,
    rules_copy,
    rules_steps,
    rules_idle,
    rules_hosts,
    rules_in_steps,
};
/* clang-format on */
const uint32_t rule_theme_count = COUNT(rule_themes);
