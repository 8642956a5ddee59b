/* SPDX-License-Identifier: Apache-2.0 */
/* --py-sample: a thread of the launcher looks, so many times a second, where all threads of the
 * program's Pythons are. Nothing is put into them, and none is stopped. */
#ifndef JVIEWD_LAUNCH_PY_SAMPLE_H
#define JVIEWD_LAUNCH_PY_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/control.h"

/* Of control->child and of the processes below it. What forbids it is told on stderr. */
void py_sample_start(const struct control *control, uint32_t hz);
void py_sample_stop(void);
/* When it has stopped: it was asked for, and there was no Python. */
bool py_sample_found_none(void);

#endif
