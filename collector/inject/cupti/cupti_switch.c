/* SPDX-License-Identifier: Apache-2.0 */
/* Decides by its times whether a record of CUPTI was under way while the switch was on. */
#include "inject/cupti/cupti_switch.h"

#include "inject/process/recording_switch.h"

enum { CALLS_KEPT = 1 << 16 }; /* the last ones: work comes within seconds of its call */

static struct switch_spans kept;
static uint32_t kept_calls[CALLS_KEPT]; /* by correlation */

void cupti_switch_look(void)
{
    switch_spans(&kept);
}

bool cupti_switch_keeps(int64_t start_ns, int64_t end_ns)
{
    if (start_ns <= 0 || end_ns < start_ns)
        return kept.is_open;
    for (uint64_t at = kept.count; at > 0 && at + SWITCH_SPANS_MAX > kept.count; at--) {
        const struct switch_span *span = &kept.spans[(at - 1) % SWITCH_SPANS_MAX];
        if (end_ns >= span->from_ns && start_ns <= span->to_ns)
            return true;
    }
    return false;
}

bool cupti_switch_keeps_call(int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
    bool is_kept = cupti_switch_keeps(start_ns, end_ns);

    if (is_kept)
        kept_calls[correlation % CALLS_KEPT] = correlation;
    return is_kept;
}

bool cupti_switch_keeps_work(int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
    return cupti_switch_keeps(start_ns, end_ns) ||
           (correlation != 0 && kept_calls[correlation % CALLS_KEPT] == correlation);
}
