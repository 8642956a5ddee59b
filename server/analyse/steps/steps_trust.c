/* SPDX-License-Identifier: Apache-2.0 */
/* How sure it is that what was found are the steps.
 *
 *   high     the program, or the device, or who asks, says so
 *   medium   inferred, and regular: four of five take within a quarter of the median
 *   low      inferred, and half of them do, or too few to tell
 *
 * Where not even half do, they are no steps: that is not said at all. Nor is it where what a
 * program's executions have between them differs from one to the next:
 *
 *   device   |f|g|f|g|h|f|g|f|g|h|     f to f holds g, then g and h: is a step one f or two?
 */
#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "analyse/stats/stats.h"
#include "analyse/steps/steps_parts.h"
#include "base/bisect.h"

enum { REGULAR_PERCENT = 80, SAID_PERCENT = 50, COUNT_MIN = 3 };
enum { ALIKE_PERCENT = 60, ALIKE_MIN = 4 };

/* Percent of the counted steps within a quarter of their host's median; -1 of too few. */
static int regular_percent(const struct run_traces *run, const struct step_list *list)
{
    int64_t *durs_ps = memory_resize(NULL, list->count, sizeof(*durs_ps));
    uint64_t near = 0, counted = 0;

    for (uint32_t host = 0; host < run->host_count; host++) {
        uint32_t count = 0;

        for (uint32_t i = 0; i < list->count; i++) {
            if (list->items[i].host == host && !list->items[i].warmup && !list->items[i].cut)
                durs_ps[count++] = list->items[i].dur_ps;
        }
        if (count < COUNT_MIN)
            continue;

        int64_t median_ps = median_of(durs_ps, count);

        for (uint32_t i = 0; i < count; i++)
            near +=
                durs_ps[i] >= median_ps - median_ps / 4 && durs_ps[i] <= median_ps + median_ps / 4;
        counted += count;
    }
    free(durs_ps);
    return counted == 0 ? -1 : (int)(near * 100 / counted);
}

/* Do all hosts that have steps have as many? */
static bool hosts_agree(const struct run_traces *run, const struct step_list *list)
{
    uint32_t *counts = memory_zeroed((size_t)run->host_count + 1, sizeof(*counts));
    uint32_t first = 0;
    bool agree = true;
    for (uint32_t i = 0; i < list->count; i++)
        counts[list->items[i].host]++;
    for (uint32_t host = 0; host < run->host_count; host++) {
        first = first == 0 ? counts[host] : first;
        agree &= counts[host] == 0 || counts[host] == first;
    }
    free(counts);
    return agree;
}

static int32_t device_of_most(const struct attribution *of)
{
    struct map64 counts = {0};
    int32_t device = 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < of->execution_count; i++) {
        uint32_t count = ++*map64_at(&counts, (uint32_t)of->executions[i].device, 0);

        if (count > most) {
            most = count;
            device = of->executions[i].device;
        }
    }
    map64_free(&counts);
    return device;
}

/* The last of them that begins by then, or `count`; they follow each other. */
static uint32_t step_of_time(const struct step *const *steps, uint32_t count, int64_t at_ps)
{
    uint32_t low = BISECT(0, count, i, steps[i]->start_ps <= at_ps);

    return low > 0 && at_ps < steps[low - 1]->start_ps + steps[low - 1]->dur_ps ? low - 1 : count;
}

static uint64_t scattered(uint64_t program)
{
    uint64_t mixed = (program + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return mixed ^ mixed >> 31;
}

/* By step which programs ran in it on the device that ran most, and how often each: a sum of what
 * stands for them. */
static uint64_t *programs_in(const struct host_trace *host, const struct step *const *steps,
                             uint32_t count)
{
    const struct attribution *of = host->attribution;
    uint64_t *sums = memory_zeroed((size_t)count + 1, sizeof *sums);
    int32_t device = device_of_most(of);

    for (uint32_t i = 0; i < of->execution_count; i++) {
        const struct execution *execution = &of->executions[i];

        if (execution->device == device && execution->program != NO_PROGRAM)
            sums[step_of_time(steps, count, execution->start_ps + host->offset_ps)] +=
                scattered(execution->program);
    }
    return sums;
}

/* Percent of the host's counted steps that hold the programs that most do; -1 of too few. */
static int alike_percent(const struct run_traces *run, uint32_t host, const struct step_list *list)
{
    const struct step **steps = memory_resize(NULL, (size_t)list->count + 1, sizeof *steps);
    uint32_t count = 0, most = 0;
    struct map64 counts = {0};

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].host == host && !list->items[i].warmup && !list->items[i].cut)
            steps[count++] = &list->items[i];
    }
    if (count >= ALIKE_MIN) {
        uint64_t *sums = programs_in(&run->hosts[host], steps, count);

        for (uint32_t i = 0; i < count; i++) {
            uint32_t same = ++*map64_at(&counts, sums[i], 0);

            most = same > most ? same : most;
        }
        free(sums);
    }
    map64_free(&counts);
    free(steps);
    return count < ALIKE_MIN ? -1 : (int)((uint64_t)most * 100 / count);
}

/* The least of all hosts. */
static int least_alike(const struct run_traces *run, const struct step_list *list)
{
    int least = -1;

    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct attribution *of = run->hosts[host].attribution;
        int percent = of != NULL && of->execution_count > 0 ? alike_percent(run, host, list) : -1;

        if (percent >= 0 && (least < 0 || percent < least))
            least = percent;
    }
    return least;
}

static enum step_trust trust_executions(const struct run_traces *run, const struct step_list *list,
                                        struct arena *arena, struct str *ret_why,
                                        bool *ret_contradicted, enum step_trust trust)
{
    int percent = least_alike(run, list);

    if (*ret_contradicted || percent < 0 || percent >= ALIKE_PERCENT)
        return trust;
    *ret_contradicted = true;
    *ret_why = str_format(
        arena, "other programs run between them, and only %d %% contain the same ones", percent);
    return TRUST_LOW;
}

static enum step_trust trust_inferred(const struct run_traces *run, const struct step_list *list,
                                      struct arena *arena, struct str *ret_why,
                                      bool *ret_contradicted)
{
    int percent = regular_percent(run, list);

    if (percent < 0) {
        *ret_why = STR("inferred from too few repetitions to tell whether they are regular");
        return TRUST_LOW;
    }
    *ret_contradicted = percent < SAID_PERCENT;
    *ret_why =
        str_format(arena, "inferred; %d %% of them take within a quarter of the median", percent);
    return percent >= REGULAR_PERCENT ? TRUST_MEDIUM : TRUST_LOW;
}

enum step_trust steps_trust(const struct run_traces *run, enum step_rule rule, bool derived,
                            const struct step_list *list, struct arena *arena, struct str *ret_why,
                            bool *ret_contradicted)
{
    *ret_contradicted = false;
    switch (rule) {
    case STEP_ANNOTATION:
        if (hosts_agree(run, list)) {
            *ret_why = STR("the program marks them");
            return TRUST_HIGH;
        }
        *ret_why = STR("the program marks them, but not as many on each host");
        return TRUST_MEDIUM;
    case STEP_LINE:
        *ret_why = derived ? STR("the tool that wrote the file drew them")
                           : STR("the device recorded them");
        return derived ? TRUST_MEDIUM : TRUST_HIGH;
    case STEP_REGEX:
        *ret_why = STR("chosen by step_regex");
        return TRUST_HIGH;
    case STEP_MODULE:
        return trust_executions(run, list, arena, ret_why, ret_contradicted,
                                trust_inferred(run, list, arena, ret_why, ret_contradicted));
    case STEP_OPTIMIZER: {
        enum step_trust trust = trust_inferred(run, list, arena, ret_why, ret_contradicted);

        return list->unsure ? TRUST_LOW : trust;
    }
    case STEP_REPEATED:
        return trust_inferred(run, list, arena, ret_why, ret_contradicted);
    default:
        *ret_why = STR("none were found");
        return TRUST_LOW;
    }
}
