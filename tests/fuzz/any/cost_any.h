/* SPDX-License-Identifier: Apache-2.0 */
/* What each instruction of any module costs: finite and not negative, or said to be unknown. */
#ifndef JVIEWD_TESTS_COST_ANY_H
#define JVIEWD_TESTS_COST_ANY_H

#include <math.h>
#include <stdlib.h>

#include "analyse/hlo/cost.h"

static inline void cost_any(const struct hlo_module *module)
{
    enum { INSTRUCTIONS_MAX = 1 << 12 };
    struct cost_work *work = cost_work_create(module, NULL);

    for (uint32_t i = 0; i < module->instruction_count && i < INSTRUCTIONS_MAX; i++) {
        struct op_cost cost;

        cost_of_instruction(work, i, &cost);
        if (cost_is_known((enum cost_rule)cost.flops_rule) &&
            !(cost.flops >= 0 && isfinite(cost.flops)))
            abort();
        if (cost_is_known((enum cost_rule)cost.bytes_rule) &&
            !(cost.bytes >= 0 && isfinite(cost.bytes)))
            abort();
    }
    cost_work_free(work);
}

#endif
