/* SPDX-License-Identifier: Apache-2.0 */
/* MFU: what the devices' peaks need for the FLOPs of the counted steps' model, over the time of
 * those steps on all devices. A share of which FLOPs are unknown for some of the time is a least;
 * where most of the time has none, it is not stated. */
#include <math.h>

#include "analyse/findings/overview.h"
#include "analyse/ops/efficiency.h"
#include "base/human.h"
#include "trace/ps.h"

static const double known_min = 0.5, least_below = 0.99;

/* Steps of all hosts, each as long on every device of its host. */
static double device_seconds(const struct steps *steps, const struct overview *overview)
{
    double seconds = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        if (!counted_step(steps, &steps->items[i]))
            continue;
        for (uint32_t k = 0; k < overview->device_count; k++)
            if (overview->devices[k].host == steps->items[i].host)
                seconds += (double)steps->items[i].dur_ps * 1e-12;
    }
    return seconds;
}

static void restrict_to_counted(const struct steps *steps, struct arena *arena,
                                struct restriction *restriction)
{
    int64_t *ranges = arena_array(arena, int64_t, 2 * (size_t)steps->count + 2);

    restriction->step_range_count = 0;
    restriction->steps = ranges;
    for (uint32_t i = 0; i < steps->count; i++) {
        uint32_t last = 2 * restriction->step_range_count;
        int64_t number = steps->items[i].number;

        if (!counted_step(steps, &steps->items[i]))
            continue;
        if (last > 0 && number >= ranges[last - 2] && number <= ranges[last - 1] + 1) {
            ranges[last - 1] = number > ranges[last - 1] ? number : ranges[last - 1];
            continue;
        }
        ranges[last] = ranges[last + 1] = number;
        restriction->step_range_count++;
    }
}

static struct str why_no_mfu(const struct efficiency *found, double seconds, double mfu,
                             struct arena *arena)
{
    if (found->compute_ps <= 0)
        return STR("no op of a program computed on a device in the steps");
    if (found->known_ps <= 0)
        return STR("no op has FLOPs: the roofline says why");
    if (isnan(found->model_s))
        return found->reason;
    if (found->peak.count == 0)
        return STR("no op of the steps works at a peak of its device: none multiplies matrices");
    if ((double)found->known_ps < known_min * (double)found->compute_ps)
        return str_format(arena, "FLOPs are known for %s of the time of ops only",
                          human_share((double)found->known_ps / (double)found->compute_ps).text);
    if (seconds <= 0)
        return STR("the steps ran on no device");
    return mfu > 1 ? STR("the FLOPs are more than the device's peak allows: the peak or the count "
                         "is wrong")
                   : STR("");
}

static void fill(const struct efficiency *found, double seconds, struct arena *arena,
                 struct overview_efficiency *ret)
{
    double mfu = seconds > 0 ? found->model_s / seconds : 0;
    double roof_share = found->roof_ps > 0 ? found->roof_s / ((double)found->roof_ps * 1e-12) : NAN;

    ret->has_flops = found->known_ps > 0;
    ret->flops = found->flops;
    ret->recomputed_flops = found->recomputed_flops;
    ret->known_share =
        found->compute_ps > 0 ? (double)found->known_ps / (double)found->compute_ps : 0;
    ret->mfu_reason = why_no_mfu(found, seconds, mfu, arena);
    ret->has_mfu = ret->mfu_reason.count == 0;
    ret->mfu = ret->has_mfu ? mfu : 0;
    ret->is_least = ret->has_mfu && ret->known_share < least_below;
    ret->peak = ret->has_mfu ? found->peak : STR("");
    ret->has_roof_share =
        (double)found->roof_ps >= known_min * (double)found->compute_ps && roof_share <= 1;
    ret->roof_share = ret->has_roof_share ? roof_share : 0;
    if (ret->has_roof_share)
        return;
    if (isnan(found->model_s))
        ret->roof_reason = found->reason;
    else if (roof_share > 1)
        ret->roof_reason = STR("ops were faster than memory allows: caches moved what they read");
    else
        ret->roof_reason =
            STR("FLOPs, bytes and both peaks are known for less than half of the time of ops");
}

/* NULL: no step counts, or a window cuts them. */
static enum status make_efficiency(struct memo *memo, const void **ret, struct error *err)
{
    struct restriction asked = *memo->restriction;
    const struct steps *steps;
    bool any = false;

    TRY(memo_steps(memo, &steps, err));
    for (uint32_t i = 0; i < steps->count; i++)
        any |= counted_step(steps, &steps->items[i]);
    if (!any || asked.has_window)
        return OK;

    struct efficiency *found = arena_new(memo->arena, struct efficiency);

    *ret = found;
    TRY(memo_all_steps(memo, &asked.found, err));
    restrict_to_counted(steps, memo->arena, &asked);
    return efficiency_find(memo->run, &asked, memo->arena, found, err);
}

enum status memo_efficiency(struct memo *memo, const struct efficiency **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_efficiency, &made, err));
    *ret = made;
    return OK;
}

enum status overview_efficiency(struct memo *memo, const struct steps *steps, struct overview *ret,
                                struct error *err)
{
    const struct efficiency *found;

    TRY(memo_efficiency(memo, &found, err));
    if (found == NULL)
        ret->efficiency.mfu_reason = ret->efficiency.roof_reason =
            memo->restriction->has_window ? STR("a window cuts steps: ask for steps")
                                          : STR("no steps were found");
    else
        fill(found, device_seconds(steps, ret), memo->arena, &ret->efficiency);
    return OK;
}
