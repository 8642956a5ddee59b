/* SPDX-License-Identifier: Apache-2.0 */
/* Steps against the rest of the recording; what is compared stands in the header. */
#include "analyse/steps/steps_doubt.h"

#include <stdlib.h>

#include "analyse/stats/stats.h"
#include "analyse/steps/host_line.h"
#include "analyse/steps/steps_parts.h"
#include "base/human.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

static const double slack = 1.01;    /* clocks and cut edges */
static const double rests = 0.1;     /* busy in steps, of what devices are outside of them */
static const double works = 0.5;     /* from here on devices are busy outside of steps */
static const double held_min = 0.25; /* of what devices did, by steps that nobody marked */
static const double calls_min = 0.5; /* of the steps: then they hold little but calls */
enum { LONGER_WORK = 2 };            /* work so many times as long as its span is not inside it */

struct host_sum { /* of one host, over its devices' mean */
    int64_t hull_ps;
    int64_t steps_ps, all_steps_ps;           /* counted; all */
    int64_t busy_in_ps, busy_in_all_steps_ps; /* counted; all */
    int64_t busy_ps;                          /* of the whole trace */
    int64_t dispatch_ps;                      /* in the counted ones: calls of the host */
    uint32_t counted;
    bool has_devices, one_thread;
};

/* Busy time of the whole trace: the mean over the devices that count. */
static int64_t busy_of(const struct host_trace *host, const struct host_devices *devices)
{
    int64_t sum_ps = 0;

    for (uint32_t i = 0; i < devices->count; i++) {
        const struct attribution *attribution = host->attribution;

        for (uint32_t at = 0; devices->counted[i] && at < attribution->device_count; at++) {
            if (attribution->devices[at].device == devices->devices[i])
                ps_add(&sum_ps, attribution->devices[at].busy_ps / devices->counted_count);
        }
    }
    return sum_ps;
}

static struct host_sum sum_of(const struct run_traces *run, const struct steps *steps,
                              uint32_t index, struct arena *arena)
{
    const struct host_trace *host = &run->hosts[index];
    const struct host_devices devices = steps_devices_of(run, steps, index, arena);
    struct host_sum sum = {.hull_ps = host->trace->end_ps - host->trace->start_ps,
                           .has_devices = devices.counted_count > 0,
                           .one_thread = true};
    track_id thread = NO_TRACK;

    if (sum.has_devices)
        sum.busy_ps = busy_of(host, &devices);
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host != index)
            continue;
        sum.one_thread &= thread == NO_TRACK || thread == step->thread;
        thread = step->thread;
        ps_add(&sum.all_steps_ps, step->dur_ps);
        ps_add(&sum.busy_in_all_steps_ps, step->time.busy_ps);
        if (!step_counts(steps, step))
            continue;
        sum.counted++;
        ps_add(&sum.steps_ps, step->dur_ps);
        ps_add(&sum.busy_in_ps, step->time.busy_ps);
        ps_add(&sum.dispatch_ps, step->time.doing_ps[DOING_DISPATCH]);
    }
    return sum;
}

/* The median of what a step's work takes, of steps that are as long as their spans; -1: none. */
static int64_t median_work(const struct steps *steps, uint32_t host, int64_t *ret_span_ps,
                           struct arena *arena)
{
    int64_t *work_ps = arena_array(arena, int64_t, steps->count);
    int64_t *span_ps = arena_array(arena, int64_t, steps->count);
    uint32_t count = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host != host || step->time_rule != STEP_TIME_SPAN || !step_counts(steps, step) ||
            step->work_end_ps <= step->work_start_ps)
            continue;
        work_ps[count] = step->work_end_ps - step->work_start_ps;
        span_ps[count++] = step->dur_ps;
    }
    if (count == 0)
        return -1;
    *ret_span_ps = median_of(span_ps, count);
    return median_of(work_ps, count);
}

/* Devices rest in the steps and work outside of them. */
static bool rests_inside(const struct host_sum *sum)
{
    int64_t outside_ps = sum->hull_ps - sum->all_steps_ps;
    double inside, outside;

    if (!sum->has_devices || sum->steps_ps <= 0 || outside_ps <= 0)
        return false;
    inside = (double)sum->busy_in_ps / (double)sum->steps_ps;
    outside = (double)(sum->busy_ps - sum->busy_in_all_steps_ps) / (double)outside_ps;
    return outside > works && inside < rests * outside &&
           (double)(sum->busy_ps - sum->busy_in_all_steps_ps) > works * (double)sum->busy_ps;
}

static bool holds_little(const struct steps *steps, const struct host_sum *sum)
{
    if (steps->confidence == TRUST_HIGH || sum->all_steps_ps <= 0)
        return false;
    if (sum->has_devices && sum->busy_ps > 0)
        return (double)sum->busy_in_all_steps_ps < held_min * (double)sum->busy_ps;
    return (double)sum->all_steps_ps < held_min * (double)sum->hull_ps;
}

/* JAX's programs were called, nothing that they launched is in the file, and the calls are most of
 * the spans: their work came later. */
static bool only_calls(const struct host_trace *host, const struct host_sum *sum)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(host->trace, &stats);

    if (sum->has_devices || sum->steps_ps <= 0 ||
        (double)sum->dispatch_ps < calls_min * (double)sum->steps_ps)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (str_starts(trace_name(host->trace, stats[i].name), STR("PjitFunction(")))
            return true;
    }
    return false;
}

/* How many of the host's spans, of so many, begin while another one of their thread is open. */
static uint32_t spans_beside(const struct run_traces *run, const struct steps *steps, uint32_t host,
                             uint32_t *ret_all)
{
    const struct trace *trace = run->hosts[host].trace;
    int64_t *open_until_ps =
        memory_resize(NULL, (size_t)trace->track_count + 1, sizeof *open_until_ps);
    uint32_t count = 0;

    for (track_id id = 0; id < trace->track_count; id++)
        open_until_ps[id] = INT64_MIN;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host != host || step->slice == NO_SLICE || step->host_dur_ps < 0 ||
            step->time_rule != STEP_TIME_SPAN)
            continue;

        int64_t end_ps = step->host_start_ps + step->host_dur_ps;
        int64_t *until_ps = &open_until_ps[host_thread_of(trace, step->thread)];

        ++*ret_all;
        count += steps_are_beside(*until_ps, step);
        *until_ps = end_ps > *until_ps ? end_ps : *until_ps;
    }
    free(open_until_ps);
    return count;
}

/* Of spans and of when their work lies, whatever devices did meanwhile. */
static struct str doubt_of_spans(const struct run_traces *run, const struct steps *steps,
                                 const struct host_sum *sum, uint32_t index, struct arena *arena)
{
    const struct host_trace *host = &run->hosts[index];
    uint32_t all = 0, beside = spans_beside(run, steps, index, &all);
    int64_t span_ps = 0, work_ps = median_work(steps, index, &span_ps, arena);

    if (beside * BESIDE_SHARE > all)
        return str_format(arena,
                          "%u of %u spans on %.*s begin while another one of their thread is open, "
                          "so none is the time of the loop",
                          beside, all, STR_ARG(host->name));
    if (sum->one_thread && (double)sum->steps_ps > slack * (double)sum->hull_ps)
        return str_format(arena, "the steps add up to %s on %.*s, but the capture lasts %s",
                          human_ps(sum->steps_ps).text, STR_ARG(host->name),
                          human_ps(sum->hull_ps).text);
    if (span_ps > 0 && work_ps / LONGER_WORK > span_ps)
        return str_format(arena, "a span takes %s on %.*s, and what it launched takes %s",
                          human_ps(span_ps).text, STR_ARG(host->name), human_ps(work_ps).text);
    return STR("");
}

/* Of what devices and the host did in steps. */
static struct str doubt_of_work(const struct steps *steps, const struct host_trace *host,
                                const struct host_sum *sum, struct arena *arena)
{
    if (steps->confidence == TRUST_HIGH && only_calls(host, sum))
        return str_format(
            arena, "the spans on %.*s call programs, but nothing that they launched was recorded",
            STR_ARG(host->name));
    if (rests_inside(sum))
        return str_format(arena,
                          "devices of %.*s are busy %s in the steps, and %s in the whole capture "
                          "of %s",
                          STR_ARG(host->name), human_ps(sum->busy_in_all_steps_ps).text,
                          human_ps(sum->busy_ps).text, human_ps(sum->hull_ps).text);
    if (holds_little(steps, sum))
        return str_format(arena,
                          "what repeats on %.*s takes %s, but the capture lasts %s, and most of "
                          "the work lies outside",
                          STR_ARG(host->name), human_ps(sum->all_steps_ps).text,
                          human_ps(sum->hull_ps).text);
    return STR("");
}

static struct str doubt(const struct run_traces *run, const struct steps *steps, bool spans_alone,
                        struct arena *arena)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct host_sum sum = sum_of(run, steps, host, arena);
        struct str ret = STR("");

        if (sum.counted > 0)
            ret = doubt_of_spans(run, steps, &sum, host, arena);
        if (sum.counted > 0 && ret.count == 0 && !spans_alone)
            ret = doubt_of_work(steps, &run->hosts[host], &sum, arena);
        if (ret.count > 0)
            return ret;
    }
    return STR("");
}

struct str steps_doubt(const struct run_traces *run, const struct steps *steps, struct arena *arena)
{
    return doubt(run, steps, false, arena);
}

struct str steps_doubt_spans(const struct run_traces *run, const struct steps *steps,
                             struct arena *arena)
{
    return doubt(run, steps, true, arena);
}

bool steps_may_be_doubted(const struct restriction *asked)
{
    return !asked->has_window && asked->step_range_count == 0 && asked->device_count == 0 &&
           asked->track_count == 0 && asked->family.count == 0;
}
