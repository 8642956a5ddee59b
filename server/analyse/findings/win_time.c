/* SPDX-License-Identifier: Apache-2.0 */
/* Which rules win which time, and which findings therefore win the same. */
#include "analyse/findings/win_time.h"

#include <string.h>

#include "analyse/findings/findings.h"

static const struct {
    const char *rule;
    unsigned time;
} wins[] = {
    {"f32-products", WINS_COMPUTE},
    {"tf32-off", WINS_COMPUTE},
    {"no-matrix-units", WINS_COMPUTE},
    {"layout-copies", WINS_COMPUTE},
    {"rematerialisation", WINS_COMPUTE},
    {"same-each-step", WINS_COMPUTE},
    {"off-tile-shapes", WINS_COMPUTE},
    {"small-memory-bound-ops", WINS_COMPUTE},
    {"undonated-copies", WINS_COMPUTE},
    {"overwrite-copies", WINS_COMPUTE},
    {"returned-copies", WINS_COMPUTE},
    {"one-hot-products", WINS_COMPUTE},
    {"loops-of-one-turn", WINS_COMPUTE},
    {"double-casts", WINS_COMPUTE},
    {"widened-to-f64", WINS_COMPUTE},
    {"repeated-gathers", WINS_COMMUNICATION},
    {"wide-collectives", WINS_COMMUNICATION},
    {"exposed-collectives", WINS_COMMUNICATION},
    {"slow-bus", WINS_COMMUNICATION},
    {"small-collectives", WINS_COMMUNICATION},
    {"synchronous-collectives", WINS_COMMUNICATION},
    {"collective-stragglers", WINS_COMMUNICATION},
    {"uneven-all-to-all", WINS_COMMUNICATION},
    {"pipeline-bubbles", WINS_COMMUNICATION},
    {"pipeline-exchanges", WINS_COMMUNICATION},
    {"straggler-host", WINS_COMMUNICATION | WINS_IDLE},
    {"straggler-device", WINS_COMMUNICATION | WINS_IDLE},
    {"device-imbalance", WINS_COMMUNICATION | WINS_IDLE},
    {"waits-for-copies", WINS_COPY},
    {"exposed-transfers", WINS_COPY},
    {"blocking-transfers", WINS_COPY | WINS_IDLE},
    {"small-transfers", WINS_COPY | WINS_IDLE},
    {"pageable-transfers", WINS_COPY | WINS_IDLE},
    {"implicit-transfers", WINS_COPY | WINS_IDLE},
    {"repeated-upload", WINS_COPY | WINS_IDLE},
    {"input-bound", WINS_INPUT},
    {"recompiles", WINS_COMPILE},
    {"compile-in-steps", WINS_COMPILE},
    {"changing-sizes", WINS_COMPILE},
    {"device-idle", WINS_IDLE},
    {"python-overhead", WINS_IDLE},
    {"dispatch-bound", WINS_IDLE},
    {"tiny-kernels", WINS_IDLE},
    {"calls-shorter-than-dispatch", WINS_IDLE},
    {"checkpoint-in-steps", WINS_IDLE},
    {"logging-in-steps", WINS_IDLE},
    {"host-callbacks", WINS_IDLE},
    {"cpu-fallback", WINS_IDLE},
    {"outlier-step", WINS_ANY},
    {"steps-growing", WINS_ANY},
};

unsigned win_time_of(const char *rule)
{
    for (size_t i = 0; i < COUNT(wins); i++)
        if (strcmp(wins[i].rule, rule) == 0)
            return wins[i].time;
    return 0;
}

void win_time_tell(struct finding *findings, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        unsigned time = win_time_of(findings[i].rule->name);

        findings[i].same_time_as = 0;
        for (uint32_t before = 0; before < i && findings[i].win_ps > 0; before++) {
            const struct finding *other = &findings[before];

            if (other->win_ps <= 0 || other->rule == findings[i].rule ||
                (win_time_of(other->rule->name) & time) == 0)
                continue;
            findings[i].same_time_as = other->rank;
            break;
        }
    }
}
