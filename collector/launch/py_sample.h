/* --py-sample: a thread of the launcher looks, so many times a second, where all threads of the
 * program's Pythons are. Nothing is put into them, and none is stopped. */
#ifndef JVIEWD_LAUNCH_PY_SAMPLE_H
#define JVIEWD_LAUNCH_PY_SAMPLE_H

#include "launch/session.h"

enum { PY_SAMPLE_HZ = 100, PY_SAMPLE_HZ_MAX = 1000 };

/* Of the process `session` watches and of those below it. What forbids it is told on stderr. */
void py_sample_start(const struct launched *session, uint32_t hz);
void py_sample_stop(void);
/* When it has stopped: it was asked for, and there was no Python. */
bool py_sample_found_none(void);

#endif
