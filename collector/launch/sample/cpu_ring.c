/* SPDX-License-Identifier: Apache-2.0 */
/* One ring of perf_event_open a processor: opened, mapped, read. Facts: perf_event_open(2). */
#include "launch/sample/cpu_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"

enum { PAGES = 64, PAGES_MIN = 4 };

static int open_event(pid_t process, int processor, uint32_t hz, bool has_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = hz,
        .freq = 1,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD |
                       PERF_SAMPLE_CALLCHAIN,
        .disabled = 1,
        .enable_on_exec = 1,
        .inherit = 1,
        .exclude_kernel = !has_kernel,
        .exclude_hv = 1,
        .exclude_callchain_kernel = 1,
        .mmap = 1,
        .mmap2 = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .watermark = 1,
        .wakeup_watermark = PAGES * 4096 / 4,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };

    return (int)syscall(SYS_perf_event_open, &attr, process, processor, -1, PERF_FLAG_FD_CLOEXEC);
}

/* What a user may lock is little: smaller rings where it is used up. */
bool ring_open(struct cpu_ring *ring, pid_t process, int processor, uint32_t hz, bool has_kernel)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    *ring = (struct cpu_ring){.fd = open_event(process, processor, hz, has_kernel)};
    if (ring->fd < 0)
        return false;
    for (size_t pages = PAGES; pages >= PAGES_MIN; pages /= 2) {
        ring->bytes = pages * page;
        ring->pages =
            mmap(NULL, ring->bytes + page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
        if (ring->pages != MAP_FAILED) {
            ring->record = memory_resize(NULL, RING_RECORD_MAX, 1);
            return true;
        }
    }
    int why = errno;
    close(ring->fd);
    errno = why;
    return false;
}

static void copy_out(const struct cpu_ring *ring, uint64_t at, void *ret, size_t count)
{
    const uint8_t *bytes = (const uint8_t *)ring->pages + sysconf(_SC_PAGESIZE);
    uint64_t from = at % ring->bytes;
    size_t first = count < ring->bytes - from ? count : (size_t)(ring->bytes - from);

    memcpy(ret, bytes + from, first);
    memcpy((uint8_t *)ret + first, bytes, count - first);
}

/* It is taken out at once: what is returned is a copy. */
const void *ring_next(struct cpu_ring *ring)
{
    struct perf_event_mmap_page *head = ring->pages;
    uint64_t end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE), at = head->data_tail;
    struct perf_event_header record;

    if (end - at < sizeof record)
        return NULL;
    copy_out(ring, at, &record, sizeof record);
    if (record.size < sizeof record || record.size > end - at) { /* no record: begin anew */
        __atomic_store_n(&head->data_tail, end, __ATOMIC_RELEASE);
        return NULL;
    }
    copy_out(ring, at, ring->record, record.size);
    __atomic_store_n(&head->data_tail, at + record.size, __ATOMIC_RELEASE);
    return ring->record;
}

void ring_close(struct cpu_ring *ring)
{
    munmap(ring->pages, ring->bytes + (size_t)sysconf(_SC_PAGESIZE));
    close(ring->fd);
    free(ring->record);
}
