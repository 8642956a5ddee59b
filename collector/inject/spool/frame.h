/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a spool, appended to a file: see api/record.h. Of one thread alone: the writer's in a
 * program, the sampler's in the launcher. */
#ifndef JVIEWD_INJECT_FRAME_H
#define JVIEWD_INJECT_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "api/record.h"

struct spool;
/* Makes "<directory>/<process>-<start>.jvs"; NULL where the system refuses (errno). */
struct spool *spool_open(const char *directory);
/* The same of another process: "<directory>/<process>-<start><kind>.jvs". */
struct spool *spool_open_of(const char *directory, pid_t process, const char *kind);
/* A new file of that path, which begins as another spool did; its check is made anew. */
struct spool *spool_open_as(const char *path, const struct spool_head *head);
uint64_t process_start(pid_t process); /* in ticks of the boot; 0 where there is none */
/* Rows of `columns` numbers, one after the other. False where the disk refused: nothing of the
 * frame stands in the file then. */
bool spool_rows(struct spool *spool, enum spool_type type, const int64_t *rows, uint32_t count,
                uint32_t columns);
bool spool_bytes(struct spool *spool, enum spool_type type, const void *at, size_t count,
                 uint32_t records);
uint64_t spool_size(const struct spool *spool);
/* Until the disk has what was appended; false (errno) where it refuses. */
bool spool_sync(struct spool *spool);
void spool_close(struct spool *spool);
/* In a forked child: the file is the parent's. */
void spool_forget(struct spool *spool);

/* A number as a varint; returns how many bytes it took, at most 10. */
size_t varint_put(uint8_t *to, uint64_t value);

#endif
