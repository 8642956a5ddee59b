/* SPDX-License-Identifier: Apache-2.0 */
/* A program and what it starts: the processes below one of ours, of our own user alone. */
#ifndef JVIEWD_LAUNCH_SAMPLE_PROCESSES_H
#define JVIEWD_LAUNCH_SAMPLE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* It and those below it, outermost first; how many. */
uint32_t processes_below(pid_t process, pid_t *ret, uint32_t most);
bool process_is_ours(pid_t process);
/* What a thread ran on processors, ever; false where the system does not tell. The file stays open
 * in *fd (-1: open it). */
bool task_cpu_ns(pid_t process, int64_t task, int *fd, int64_t *ret);
/* What the system calls it. */
bool task_name(pid_t process, int64_t task, char ret[32]);

#endif
