/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the end's report: counts from the spools, losses with their causes, the longest names. */
#include "launch/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "launch/others.h"
#include "launch/sample/sampling.h"
#include "launch/spool/summary.h"

static void print_seen(const struct control *control)
{
    uint32_t count = atomic_load(&control->seen_count);

    if (count > SEEN_MAX)
        count = SEEN_MAX;
    if (count == 0)
        fprintf(stderr, "  the program entered no other range\n");
    for (uint32_t index = 0; index < count; index++)
        fprintf(stderr, "%s%.*s%s", index == 0 ? "  met were " : ", ", SEEN_NAME_MAX - 1,
                control->seen[index], index + 1 == count ? "\n" : "");
}

/* The switch that never opened. */
static void print_waited(const struct control *control)
{
    const struct control_asked *asked = &control->asked;
    const char *at = asked->domain[0] != '\0' ? "@" : "";

    if (asked->range == CAPTURE_SIGNAL)
        fprintf(stderr, "  recording waits for SIGUSR2 to jview-collect, or for `jview-collect ctl "
                        "start`; neither came\n");
    else if (asked->range == CAPTURE_NONE)
        fprintf(stderr, "  the program ended before the --delay was over\n");
    else if (asked->range == CAPTURE_CUDA)
        fprintf(stderr, "  recording waits for cudaProfilerStart or cuProfilerStart; the program "
                        "called neither\n");
    if (asked->range != CAPTURE_NVTX && asked->range != CAPTURE_STEPS)
        return;
    fprintf(stderr, "  the capture range never opened: waited for %s%s%s", asked->name, at,
            asked->domain);
    if (asked->range == CAPTURE_STEPS)
        fprintf(stderr, ", the %" PRIu32 ". of them", asked->first_step);
    fprintf(stderr, "\n");
    print_seen(control);
}

static void print_nothing(const struct control *control)
{
    fprintf(stderr, "jview-collect: nothing was recorded");
    if (atomic_load(&control->loaded) == 0) {
        fprintf(stderr, ": no process loaded the collector.\n"
                        "  The first NVTX call (or CUDA's start) loads it; a program without any, "
                        "a static or a\n"
                        "  set-user-id program never does. A Python program can record ranges with "
                        "`pip install nvtx`.\n");
        return;
    }
    fprintf(stderr, ": the program entered no NVTX range while recording was on.\n");
    if (atomic_load(&control->capture) == 0)
        print_waited(control);
    else
        fprintf(stderr, "  A Python program can record ranges with `pip install nvtx`; JAX on a "
                        "GPU records its modules and ops.\n");
}

/* What was lost, why, and what helps. */
static void print_losses(const struct summary *summary)
{
    static const struct {
        const char *cause, *help;
    } losses[LOST_CAUSES] = {
        [LOST_RING_FULL] = {"recorded faster than they could be written",
                            "fewer ranges, or --nvtx-domain-exclude of the busiest domain"},
        [LOST_TEXTS_FULL] = {"without a name: more distinct strings than are kept",
                             "put changing numbers into the payload of a range, not into its name"},
        [LOST_TOO_DEEP] = {"more open at once than are kept", NULL},
        [LOST_NO_PUSH] = {"ended without a beginning", NULL},
        [LOST_DISK] = {"the disk was full, or writing failed", "room where -o is"},
        [LOST_THREADS] = {"from more threads than are kept", NULL},
        [LOST_LIMIT] = {"beyond --max-spool", "a larger disk, or a --capture-range"},
        [LOST_POOL] = {"CUDA records: all buffers were full",
                       "--cuda-graph-trace=graph, or a --capture-range"},
        [LOST_CUPTI] = {"CUDA records that CUPTI dropped",
                        "--cuda-graph-trace=graph, or a --capture-range"},
        [LOST_PAYLOADS] = {"payloads: more distinct ones than are kept", NULL},
        [LOST_TORN] = {"Python stacks that changed while they were read", NULL},
        [LOST_LATE] = {"samples of threads: the machine was too busy for this rate",
                       "a smaller --py-sample"},
        [LOST_STACKS] = {"samples reduced to their callers: more distinct stacks than are kept",
                         NULL},
        [LOST_SAMPLES] = {"samples that the system dropped, or of processes that had just ended",
                          "a smaller --sampling-frequency"},
        [LOST_PROCESSORS] = {"CPUs that were not sampled", "ulimit -n above the number of CPUs"},
    };

    for (int cause = 0; cause < LOST_CAUSES; cause++) {
        const char *why = losses[cause].cause, *help = losses[cause].help;

        if (summary->lost[cause] == 0)
            continue;
        fprintf(stderr, "  %-8s %" PRIu64 ": %s\n", cause == LOST_NO_PUSH ? "odd" : "lost",
                summary->lost[cause], why != NULL ? why : "the profile's notes say why");
        if (help != NULL)
            fprintf(stderr, "  %-8s %s\n", "", help);
    }
}

/* XLA's ops have names alone where nothing kept their modules. */
static void print_hint(const struct options *options, const struct summary *summary)
{
    const char *flags = getenv("XLA_FLAGS");

    if (summary->has_xla && options->hlo_dump == NULL &&
        (flags == NULL || strstr(flags, "--xla_dump_to") == NULL))
        fprintf(stderr,
                "  %-8s --hlo-dump stores what XLA compiles: ops get their source and text\n",
                "hint");
}

static void print_top(const struct summary *summary)
{
    for (int index = 0; index < SUMMARY_TOP && summary->top[index].count > 0; index++) {
        const struct summary_name *name = &summary->top[index];
        int64_t ps = name->total_ns > INT64_MAX / 1000 ? INT64_MAX : name->total_ns * 1000;
        fprintf(stderr, "  %-8s %10s  %8" PRIu64 " x  %s\n", index == 0 ? "top" : "",
                human_ps(ps).text, name->count, name->name);
    }
}

void report_print(const struct options *options, const struct launched *session,
                  const struct session_result *result)
{
    struct summary summary;

    if (result->complaint[0] != '\0')
        fprintf(stderr, "jview-collect: %s\n", result->complaint);
    others_tell(session);
    if (sampling_found_no_python())
        fprintf(stderr, "jview-collect: neither the program nor its children run Python, so there "
                        "are no samples of Python stacks.\n  The symbol _PyRuntime was looked for "
                        "in the program's file and in libpython*.\n");
    if (result->busy > 0)
        fprintf(stderr,
                "jview-collect: %" PRIu32
                " %s still being recorded; when they have ended:\n  jview-collect finalize %s\n",
                result->busy, result->busy == 1 ? "process is" : "processes are", session->out);
    if (result->spools == 0) {
        if (result->busy == 0)
            print_nothing(session->control);
        return;
    }
    summary_read(result->profiles, result->profile_count, &summary);
    fprintf(stderr, "jview-collect: %" PRIu64 " ranges", summary.ranges);
    if (result->activity > 0)
        fprintf(stderr, " and %" PRIu64 " CUDA records", result->activity);
    if (summary.samples > 0)
        fprintf(stderr, " and %" PRIu64 " samples of stacks", summary.samples);
    fprintf(stderr, " of %" PRIu32 " %s, %s", result->spools,
            result->spools == 1 ? "process" : "processes", human_bytes(summary.bytes).text);
    if (atomic_load(&session->control->capture) > 1)
        fprintf(stderr, ", in %" PRIu32 " captures", atomic_load(&session->control->capture));
    fprintf(stderr, "\n");
    print_losses(&summary);
    print_top(&summary);
    print_hint(options, &summary);
    for (uint32_t index = 0; index < result->profile_count; index++)
        if (index == 0 || index + 1 == result->profile_count)
            fprintf(stderr, "  %-8s %s\n", index == 0 ? "profile" : "to", result->profiles[index]);
    fprintf(stderr, "  open     jviewd --profile-dir %s\n", session->out);
}
