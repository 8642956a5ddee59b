/* SPDX-License-Identifier: Apache-2.0 */
/* --sample=cpu: what the processor does in the program and all that it starts, by the kernel's
 * perf_event_open. A thread of the launcher takes what the kernel wrote out of its rings.
 *
 *   a ring a processor   | mmap2: 7f12.. libm.so | fork | comm | sample: thread, time, chain |
 *
 * Chains are the kernel's, along frame pointers: a library without them shows its innermost call,
 * and maybe its callers' callers.
 */
#ifndef JVIEWD_LAUNCH_CPU_SAMPLE_H
#define JVIEWD_LAUNCH_CPU_SAMPLE_H

#include <stdint.h>

#include "collector/control.h"

/* Of control->child, which waits in front of its exec. What forbids it is told on stderr, and the
 * program goes on. */
void cpu_sample_start(const struct control *control, uint32_t hz);
void cpu_sample_stop(void);

#endif
