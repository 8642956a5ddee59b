/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's ring of one processor's records, as a stream of whole ones. */
#ifndef JVIEWD_LAUNCH_CPU_RING_H
#define JVIEWD_LAUNCH_CPU_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { RING_RECORD_MAX = 1 << 16 };

struct cpu_ring {
    int fd;
    void *pages; /* the head's, then the ring's */
    uint64_t bytes;
    uint8_t *record; /* room for one, put together where it goes around */
};

/* Of a process and all that it starts, from its exec on; false: errno. */
bool ring_open(struct cpu_ring *ring, pid_t process, int processor, uint32_t hz, bool has_kernel);
/* The next record (struct perf_event_header and what follows), NULL: there is none. */
const void *ring_next(struct cpu_ring *ring);
void ring_close(struct cpu_ring *ring);

#endif
