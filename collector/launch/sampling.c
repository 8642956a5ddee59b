#include "launch/sampling.h"

#include <fcntl.h>
#include <unistd.h>

#include "launch/cpu_sample.h"
#include "launch/py_sample.h"
#include "launch/sample_log.h"

static int go[2] = {-1, -1}; /* closed: the program may begin */

void sampling_prepare(const struct options *options)
{
    if (options->cpu_sample_hz > 0 && pipe2(go, O_CLOEXEC) != 0)
        go[0] = go[1] = -1;
}

void sampling_await(void)
{
    char nothing;

    if (go[0] < 0)
        return;
    close(go[1]);
    while (read(go[0], &nothing, 1) > 0)
        ;
}

void sampling_begin(const struct options *options, const struct launched *session, pid_t child)
{
    sample_logs_begin(session->directory, options->asked.spool_bytes_max);
    if (go[0] < 0)
        return;
    if (child > 0)
        cpu_sample_start(session, child, options->cpu_sample_hz);
    close(go[0]);
    close(go[1]);
    go[0] = go[1] = -1;
}

void sampling_start(const struct options *options, const struct launched *session)
{
    if (options->py_sample_hz > 0)
        py_sample_start(session, options->py_sample_hz);
}

void sampling_stop(void)
{
    py_sample_stop();
    cpu_sample_stop();
    sample_logs_end();
}
