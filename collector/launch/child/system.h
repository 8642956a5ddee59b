/* SPDX-License-Identifier: Apache-2.0 */
/* The machine beside the program: a thread of the launcher looks at processors, memory, disks and
 * GPUs, and puts what it sees on the session's page, from where each process takes it.
 *
 *   /proc/stat, meminfo, diskstats \
 *                                   > looks, 1 to 10 a second -> control_system -> SPOOL_COUNTER
 *   NVML                           /
 *
 * The program itself is not touched: where a look takes long, only the figures come later. */
#ifndef JVIEWD_LAUNCH_SYSTEM_H
#define JVIEWD_LAUNCH_SYSTEM_H

#include "collector/control.h"

void system_start(struct control *control);
void system_stop(void);

#endif
