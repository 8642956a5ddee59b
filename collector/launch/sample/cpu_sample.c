/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that opens the rings of all processors, reads them, and says why where the kernel
 * refuses. */
#include "launch/sample/cpu_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "launch/sample/cpu_record.h"
#include "launch/sample/cpu_ring.h"
#include "launch/sample/cpu_symbols.h"
#include "launch/sample/sample_log.h"

enum { PROCESSORS_MAX = 1024, LOOK_MS = 50, FLUSH_LOOKS = 5 };

static struct {
    pthread_t thread;
    bool is_running;
    atomic_bool is_stopping;
    const struct control *control;
    uint32_t ring_count, processors_lost;
    struct cpu_ring *rings;
    struct cpu_records records;
} sampler;

static void drain(void)
{
    bool is_kept = atomic_load_explicit(&sampler.control->is_on, memory_order_relaxed) != 0;

    cpu_records_begin(&sampler.records);
    for (uint32_t ring = 0; ring < sampler.ring_count; ring++)
        for (const struct perf_event_header *record;
             (record = ring_next(&sampler.rings[ring])) != NULL;)
            cpu_records_take(&sampler.records, record, is_kept);
}

static void *run(void *unused)
{
    struct pollfd *polled = memory_resize(NULL, sampler.ring_count, sizeof *polled);
    int looks = 0;

    (void)unused;
    for (uint32_t ring = 0; ring < sampler.ring_count; ring++)
        polled[ring] = (struct pollfd){.fd = sampler.rings[ring].fd, .events = POLLIN};
    while (!atomic_load(&sampler.is_stopping)) {
        poll(polled, sampler.ring_count, LOOK_MS);
        drain();
        if (++looks % FLUSH_LOOKS == 0)
            sample_logs_flush();
        for (uint32_t ring = 0; ring < sampler.ring_count; ring++)
            if ((polled[ring].revents & (POLLHUP | POLLERR)) != 0)
                polled[ring].fd = -1; /* nobody is left there */
    }
    drain();
    free(polled);
    return NULL;
}

static int paranoia(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int level = 2;

    if (file != NULL && fscanf(file, "%d", &level) != 1)
        level = 2;
    if (file != NULL)
        fclose(file);
    return level;
}

static void tell_files(void)
{
    fprintf(stderr, "  It needs one file per CPU: ulimit -n %ld\n",
            sysconf(_SC_NPROCESSORS_CONF) + 64);
}

/* What forbids it, and the line that would allow it. */
static void explain(int why)
{
    int level = paranoia();

    fprintf(stderr, "jview-collect: --sample=cpu records nothing: perf_event_open says \"%s\".\n",
            strerror(why));
    if (why == ENOSYS)
        fprintf(stderr, "  This system has no perf events, or hides them (gVisor).\n");
    else if (why == EMFILE)
        tell_files();
    else if (level > 2)
        fprintf(stderr,
                "  kernel.perf_event_paranoid is %d: sysctl kernel.perf_event_paranoid=2, or\n"
                "  setcap cap_perfmon+ep /path/to/jview-collect\n",
                level);
    else if (why == EACCES || why == EPERM)
        fprintf(
            stderr,
            "  kernel.perf_event_paranoid is %d and allows it, so it is the container's seccomp "
            "profile:\n"
            "  docker run --cap-add PERFMON, or --security-opt seccomp=unconfined\n",
            level);
}

static void tell_refused(uint32_t processors, int why)
{
    fprintf(stderr,
            "jview-collect: --sample=cpu samples %" PRIu32 " of %" PRIu32
            " CPUs; the others are not sampled: perf_event_open says \"%s\".\n",
            sampler.ring_count, processors, strerror(why));
    if (why == EMFILE)
        tell_files();
}

/* With what is spent in the kernel where that is allowed. */
static bool open_rings(pid_t process, uint32_t hz)
{
    long processors = sysconf(_SC_NPROCESSORS_CONF);
    bool has_kernel = true;
    uint32_t refused = 0;
    int why = 0;

    if (processors > PROCESSORS_MAX)
        processors = PROCESSORS_MAX;
    sampler.rings = memory_resize(NULL, (size_t)processors, sizeof *sampler.rings);
    for (int processor = 0; processor < processors; processor++) {
        struct cpu_ring *ring = &sampler.rings[sampler.ring_count];
        bool is_open = ring_open(ring, process, processor, hz, has_kernel);

        if (!is_open && has_kernel && (errno == EACCES || errno == EPERM)) {
            has_kernel = false;
            is_open = ring_open(ring, process, processor, hz, has_kernel);
        }
        if (is_open) {
            sampler.ring_count++;
        } else if (errno != ENODEV) { /* a processor that is off */
            why = errno;
            refused++;
        }
    }
    sampler.processors_lost = refused;
    if (refused > 0 && sampler.ring_count > 0)
        tell_refused(sampler.ring_count + refused, why);
    errno = why;
    return sampler.ring_count > 0;
}

void cpu_sample_start(const struct control *control, uint32_t hz)
{
    sigset_t all, before;

    sampler.control = control;
    sampler.records = (struct cpu_records){.hz = hz};
    if (!open_rings(control->child, hz)) {
        explain(errno);
        free(sampler.rings);
        return;
    }
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    sampler.is_running = pthread_create(&sampler.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void tell_losses(void)
{
    sample_log_lost(sampler.records.any, LOST_SAMPLES, sampler.records.lost);
    sample_log_lost(sampler.records.any, LOST_PROCESSORS, sampler.processors_lost);
}

void cpu_sample_stop(void)
{
    if (!sampler.is_running)
        return;
    atomic_store(&sampler.is_stopping, true);
    pthread_join(sampler.thread, NULL);
    if (sampler.records.any != NULL)
        tell_losses();
    for (uint32_t ring = 0; ring < sampler.ring_count; ring++)
        ring_close(&sampler.rings[ring]);
    free(sampler.rings);
    symbols_free();
    sampler.is_running = false;
}
