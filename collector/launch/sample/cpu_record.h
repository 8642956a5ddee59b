/* SPDX-License-Identifier: Apache-2.0 */
/* What a record of the kernel's tells: mappings, processes, names and samples.
 *
 *   MMAP2   pid tid address length offset major minor inode generation protection flags path
 *   FORK    pid ppid tid ptid time        COMM   pid tid name
 *   SAMPLE  ip pid tid time period count address...        LOST   id count
 *
 * Innermost call first. Names and paths are the programs' own: none of it is believed.
 */
#ifndef JVIEWD_LAUNCH_CPU_RECORD_H
#define JVIEWD_LAUNCH_CPU_RECORD_H

#include <linux/perf_event.h>

#include "launch/sample/sample_log.h"

enum { CPU_LATELY = 256 };

struct cpu_records {
    uint32_t hz;
    uint64_t lost;          /* by the kernel, or of processes that have ended or are too many */
    struct sample_log *any; /* where losses are told */
    uint64_t drain;         /* counts from 1 */
    struct cpu_lately {     /* of which process a sample is, found out once a drain */
        pid_t process;
        uint64_t drain;
        struct sample_log *log;
    } lately[CPU_LATELY];
};

/* Before the rings are read once more. */
void cpu_records_begin(struct cpu_records *records);
/* Samples only where they are kept. */
void cpu_records_take(struct cpu_records *records, const struct perf_event_header *record,
                      bool is_kept);

#endif
