/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of one process on their way into a spool of its own, beside the one that the collector
 * within the process writes:
 *
 *   466-3444070.jvs           of the process, where it loaded the collector
 *   466-3444070-samples.jvs   of the launcher; joined to it at the end (sample_join.h)
 *
 * Texts and stacks are told once and known by their hashes from then on; what waits for its frame
 * is bounded. Frames stand in the order in which they refer to one another. Any thread may call.
 */
#ifndef JVIEWD_LAUNCH_SAMPLE_LOG_H
#define JVIEWD_LAUNCH_SAMPLE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/record.h"

/* Before any other, and behind all others. 0 bytes at most: any number, of each process. */
void sample_logs_begin(const char *directory, uint64_t bytes_max);
void sample_logs_flush(void);
/* Writes what waits, and that this was all. */
void sample_logs_end(void);

struct sample_log;
/* The log of a process, the same for all samplers; NULL where it is gone, where there is no room
 * for it (errno), or where there are too many (ENOSPC). */
struct sample_log *sample_log_of(pid_t process);
/* The log that it has already; NULL: none. */
struct sample_log *sample_log_find(pid_t process);
/* Once is enough; again is nothing. */
void sample_log_sampler(struct sample_log *log, enum spool_sampler kind, uint32_t hz);
/* 0 where there are too many; a longer one is cut. */
uint32_t sample_log_text(struct sample_log *log, const char *at, size_t count);

struct sample_call { /* texts; 0 unknown */
    uint32_t function, file, line, module;
};
/* The call below its caller (0: the outermost); the caller where there are too many: counted. */
uint32_t sample_log_stack(struct sample_log *log, uint32_t caller, struct sample_call call);

struct sample_row {
    int64_t at_ns, thread;
    uint32_t stack;
    enum spool_sampler kind;
    int64_t time_ns, cpu_ns;
};
void sample_log_put(struct sample_log *log, const struct sample_row *row);
void sample_log_task(struct sample_log *log, int64_t thread, const char *name);
/* False once for each thread: then its name is to be told; true for what is beyond TASKS_MAX. */
bool sample_log_knows(struct sample_log *log, int64_t thread);
void sample_log_lost(struct sample_log *log, enum spool_cause cause, uint64_t count);

#endif
