/* SPDX-License-Identifier: Apache-2.0 */
/* Both samplers around one program: Python's stacks (py_sample.h) and the processor's
 * (cpu_sample.h). The latter must be there before the program begins, so it waits for it. */
#ifndef JVIEWD_LAUNCH_SAMPLING_H
#define JVIEWD_LAUNCH_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collector/control.h"

enum {
    CPU_SAMPLE_HZ = 199,
    CPU_SAMPLE_HZ_MAX = 10000,
    PY_SAMPLE_HZ = 100,
    PY_SAMPLE_HZ_MAX = 1000
};

/* False of a build without samplers: then nothing below does anything. */
extern const bool sampling_is_built;

struct sampling {
    uint32_t py_hz, cpu_hz; /* 0: no samples of Python stacks, of the processor */
};

/* Before the fork; in the child, in front of exec; in the parent, at once. */
void sampling_prepare(const struct sampling *asked);
void sampling_await(void);
/* Spools go into `directory`, each of so many bytes at most; 0: any number. */
void sampling_begin(const struct sampling *asked, const struct control *control,
                    const char *directory);
/* When the program runs, and when it has ended. */
void sampling_start(const struct sampling *asked, const struct control *control);
void sampling_stop(void);
/* When it has stopped: Python's stacks were asked for, and there was no Python. */
bool sampling_found_no_python(void);

#endif
