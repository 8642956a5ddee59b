/* SPDX-License-Identifier: Apache-2.0 */
/* What is too much to be walked for a breakdown is left out of it, and that is said.
 *
 *   host A    python  pool-1 ... pool-8000 | pool-8001 ...     rows beyond POOL_ROWS_MAX
 *   host B    device 0 ......... device 4095 | device 4096     beyond HOST_DEVICES_MAX
 */
#include "analyse/steps/steps.h"
#include "base/human.h"
#include "trace/ps.h"

static uint32_t threads_left_out(const struct run_traces *run, uint32_t host,
                                 const struct steps *steps, const struct host_devices *devices,
                                 struct arena *arena)
{
    if (devices->count > 0)
        return 0; /* its threads tell only of gaps, and one of them does */
    return host_pool_left_out(
        run->hosts[host].trace,
        steps_question(&run->hosts[host], host, steps, devices, arena)->thread);
}

/* By how much most steps' work begins before the spans that launch it: clocks of host and device
 * that do not agree. 0: it does not. */
static int64_t device_clock_ahead(const struct steps *steps)
{
    uint64_t both = 0, before = 0;
    int64_t least_ps = INT64_MAX;

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t ahead_ps = step->host_start_ps - step->work_start_ps;

        if (step->host_dur_ps < 0 || step->work_count == 0)
            continue;
        both++;
        before += ahead_ps > 0;
        least_ps = ahead_ps > 0 && ahead_ps < least_ps ? ahead_ps : least_ps;
    }
    return before * 2 > both ? least_ps : 0;
}

/* How many devices of a host run ops that no step's calls launched, and nothing for steps. */
static uint32_t working_for_others(const struct run_traces *run, const struct steps *steps,
                                   uint32_t host, struct arena *arena)
{
    return host_devices_of(&run->hosts[host], arena).counted_count -
           steps_devices_of(run, steps, host, arena).counted_count;
}

/* What is called between steps takes, after so many of them. */
static int64_t mean_apart(const struct steps *steps, uint64_t *ret_count)
{
    int64_t sum_ps = 0;

    *ret_count = 0;
    for (uint32_t i = 0; i < steps->count; i++) {
        ps_add(&sum_ps, steps->items[i].apart_ps);
        *ret_count += steps->items[i].apart_ps > 0;
    }
    return ps_mean(sum_ps, *ret_count);
}

uint32_t steps_left_out(const struct run_traces *run, const struct steps *steps,
                        struct arena *arena, struct answer_note *ret)
{
    uint64_t threads = 0, devices = 0, others = 0, apart;
    int64_t apart_ps = mean_apart(steps, &apart);
    uint32_t count = 0;

    for (uint32_t host = 0; host < run->host_count; host++) {
        struct host_devices of_host = host_devices_of(&run->hosts[host], arena);

        devices += of_host.dropped;
        others += working_for_others(run, steps, host, arena);
        threads += threads_left_out(run, host, steps, &of_host, arena);
    }
    int64_t ahead_ps = device_clock_ahead(steps);

    if (ahead_ps > 0)
        ret[count++] = (struct answer_note){
            .kind = "device-clock",
            .severity = NOTE_WARNING,
            .message = str_format(
                arena,
                "The work of steps appears %s or more before the calls that launch it: the "
                "device's clock is ahead of the host's. The times of each are right on their own.",
                human_ps(ahead_ps).text),
            .count = 1,
        };
    if (others > 0)
        ret[count++] = (struct answer_note){
            .kind = "other-work",
            .severity = NOTE_INFO,
            .message = str_format(arena,
                                  "%llu device%s nothing that the steps launched, and other work "
                                  "beside them: %s in no part of the steps' breakdown.",
                                  (unsigned long long)others, others == 1 ? " does" : "s do",
                                  others == 1 ? "it is" : "they are"),
            .count = others,
        };
    if (apart > 0)
        ret[count++] = (struct answer_note){
            .kind = "work-between",
            .severity = NOTE_INFO,
            .message = str_format(arena,
                                  "After %llu of the steps the loop calls %.*s, which takes %s in "
                                  "the mean and is in none of them.",
                                  (unsigned long long)apart, STR_ARG(steps->apart),
                                  human_ps(apart_ps).text),
            .count = apart,
        };
    if (threads > 0)
        ret[count++] = (struct answer_note){
            .kind = "threads-left-out",
            .severity = NOTE_WARNING,
            .message = STR("Threads have more rows than are examined: the rest is in no part of "
                           "the breakdown."),
            .count = threads,
        };
    if (devices > 0)
        ret[count++] = (struct answer_note){
            .kind = "devices-left-out",
            .severity = NOTE_WARNING,
            .message = str_format(arena,
                                  "Only the first %d devices of a host are examined; the others "
                                  "are in no part of the breakdown.",
                                  HOST_DEVICES_MAX),
            .count = devices,
        };
    return count;
}
