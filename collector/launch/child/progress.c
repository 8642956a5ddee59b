/* SPDX-License-Identifier: Apache-2.0 */
/* Says on a terminal when the recording begins, waits and ends, with the counters of the
 * session's page. */
#include "launch/child/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/human.h"

enum { LOOK_MS = 1000, APART_MS = 5000, LINE_BYTES = 256 };

static struct {
    bool is_told;
    int64_t began_ms, next_ms;
    uint32_t capture; /* as it was told last */
    const char *state;
} progress;

const char *progress_state(const struct control *control)
{
    if (atomic_load(&control->is_on) != 0)
        return "recording";
    return atomic_load(&control->capture) == 0 ? "waiting" : "stopped";
}

void progress_begin(const struct options *options, const struct launched *session)
{
    bool is_ours = tcgetpgrp(STDERR_FILENO) == getpgrp(); /* a terminal, and we stand in front */

    progress.is_told = is_ours && !options->is_quiet;
    progress.began_ms = clock_monotonic_ms();
    progress.state = "";
    if (progress.is_told)
        fprintf(stderr,
                "jview-collect: recording into %s; `jview-collect ctl status %s` shows its state\n",
                session->out, session->out);
}

/* "recording, 12.3 s, 4 321 ranges, 56 CUDA records, 1.2 MiB" */
static void put_state(const struct control *control, char ret[LINE_BYTES])
{
    uint64_t activity = atomic_load(&control->activity), lost = atomic_load(&control->lost);
    uint32_t capture = atomic_load(&control->capture);
    int count = snprintf(ret, LINE_BYTES, "%s, %.1f s", progress_state(control),
                         (double)(clock_monotonic_ms() - progress.began_ms) / 1000);

    if (capture > 1)
        count += snprintf(ret + count, LINE_BYTES - (size_t)count, ", capture %" PRIu32, capture);
    count += snprintf(ret + count, LINE_BYTES - (size_t)count, ", %s ranges",
                      human_count(atomic_load(&control->records)).text);
    if (activity > 0)
        count += snprintf(ret + count, LINE_BYTES - (size_t)count, ", %s CUDA records",
                          human_count(activity).text);
    count += snprintf(ret + count, LINE_BYTES - (size_t)count, ", %s",
                      human_bytes(atomic_load(&control->bytes)).text);
    if (lost > 0)
        snprintf(ret + count, LINE_BYTES - (size_t)count, ", %s lost", human_count(lost).text);
}

int64_t progress_look(const struct control *control)
{
    char line[LINE_BYTES];
    int64_t now = clock_monotonic_ms();
    uint32_t capture = atomic_load(&control->capture);

    if (!progress.is_told)
        return INT64_MAX;
    bool is_other = capture != progress.capture || progress_state(control) != progress.state;

    if (is_other && now >= progress.next_ms) {
        put_state(control, line);
        fprintf(stderr, "jview-collect: %s\n", line);
        progress.capture = capture;
        progress.state = progress_state(control);
        progress.next_ms = now + APART_MS;
    }
    return LOOK_MS;
}

void progress_end(void)
{
    progress.is_told = false;
}
