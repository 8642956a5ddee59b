/* How sure it is that what was found are the steps.
 *
 *   high     the program, or the device, or who asks, says so
 *   medium   inferred, and regular: four of five take within a quarter of the median
 *   low      inferred, and half of them do, or too few to tell
 *
 * Where not even half do, they are no steps: that is not said at all.
 */
#include <stdlib.h>

#include "analyse/stats/stats.h"
#include "analyse/steps/steps_parts.h"

enum { REGULAR_PERCENT = 80, SAID_PERCENT = 50, COUNT_MIN = 3 };

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

static enum step_trust trust_inferred(const struct run_traces *run, const struct step_list *list,
                                      struct arena *arena, struct str *ret_why,
                                      bool *ret_contradicted)
{
    int percent = regular_percent(run, list);

    if (percent < 0) {
        *ret_why = STR("inferred, and too few to tell whether they are regular");
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
        *ret_why = STR("the question names them");
        return TRUST_HIGH;
    case STEP_MODULE:
    case STEP_REPEATED:
        return trust_inferred(run, list, arena, ret_why, ret_contradicted);
    default:
        *ret_why = STR("none were found");
        return TRUST_LOW;
    }
}
