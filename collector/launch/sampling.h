/* Both samplers around one program: Python's stacks (py_sample.h) and the processor's
 * (cpu_sample.h). The latter must be there before the program begins, so it waits for it. */
#ifndef JVIEWD_LAUNCH_SAMPLING_H
#define JVIEWD_LAUNCH_SAMPLING_H

#include <sys/types.h>

#include "launch/options.h"
#include "launch/session.h"

/* Before the fork; in the child, in front of exec; in the parent, at once. */
void sampling_prepare(const struct options *options);
void sampling_await(void);
void sampling_begin(const struct options *options, const struct launched *session, pid_t child);
/* When the program runs, and when it has ended. */
void sampling_start(const struct options *options, const struct launched *session);
void sampling_stop(void);

#endif
