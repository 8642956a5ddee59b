/* SPDX-License-Identifier: Apache-2.0 */
/* The samplers begin, run and end around the program, in this order. */
#include "launch/sample/sampling.h"

#include <fcntl.h>
#include <unistd.h>

#include "launch/sample/cpu_sample.h"
#include "launch/sample/py_sample.h"
#include "launch/sample/sample_log.h"

const bool sampling_is_built = true;

static int go[2] = {-1, -1}; /* closed: the program may begin */

void sampling_prepare(const struct sampling *asked)
{
    if (asked->cpu_hz > 0 && pipe2(go, O_CLOEXEC) != 0)
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

void sampling_begin(const struct sampling *asked, const struct control *control,
                    const char *directory)
{
    sample_logs_begin(directory, control->asked.spool_bytes_max);
    if (go[0] < 0)
        return;
    if (control->child > 0)
        cpu_sample_start(control, asked->cpu_hz);
    close(go[0]);
    close(go[1]);
    go[0] = go[1] = -1;
}

void sampling_start(const struct sampling *asked, const struct control *control)
{
    if (asked->py_hz > 0)
        py_sample_start(control, asked->py_hz);
}

void sampling_stop(void)
{
    py_sample_stop();
    cpu_sample_stop();
    sample_logs_end();
}

bool sampling_found_no_python(void)
{
    return py_sample_found_none();
}
