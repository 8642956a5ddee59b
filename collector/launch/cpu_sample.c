#include "launch/cpu_sample.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "launch/cpu_ring.h"
#include "launch/cpu_symbols.h"
#include "launch/sample_log.h"
#include "launch/sample_processes.h"

enum {
    PROCESSORS_MAX = 1024,
    DEPTH_MAX = 127,
    LOOK_MS = 50,
    FLUSH_LOOKS = 5,
    PATH_MAX_BYTES = 4096,
    LATELY = 256
};

/* Of which process a sample is, found out once while a ring's records are read. */
struct lately {
    pid_t process;
    uint64_t drain;
    struct sample_log *log;
};

static struct {
    pthread_t thread;
    bool is_running;
    atomic_bool is_stopping;
    const struct launched *session;
    uint32_t hz, ring_count, processors_lost;
    struct cpu_ring *rings;
    uint64_t lost;          /* by the kernel, or of processes that have ended or are too many */
    struct sample_log *any; /* where losses are told */
    uint64_t drain;         /* counts from 1 */
    struct lately lately[LATELY];
} sampler;

/* Reads fields in turn; past the end they are 0. */
struct fields {
    const uint8_t *at, *end;
};

static uint64_t take(struct fields *fields, size_t count)
{
    uint64_t value = 0;

    if ((size_t)(fields->end - fields->at) < count) {
        fields->at = fields->end;
        return 0;
    }
    memcpy(&value, fields->at, count);
    fields->at += count;
    return value;
}

/* pid tid address length offset  major minor inode generation  protection flags  path */
static void take_map(struct fields *fields)
{
    char path[PATH_MAX_BYTES];
    pid_t process = (pid_t)take(fields, 4);
    struct cpu_map map;

    take(fields, 4);
    map.from = take(fields, 8);
    map.count = take(fields, 8);
    map.offset = take(fields, 8);
    for (int word = 0; word < 4; word++) /* two of 4, two of 8 bytes; then two of 4 */
        take(fields, 8 - 4 * (word < 2));
    take(fields, 8);
    size_t count = (size_t)(fields->end - fields->at);
    if (count >= sizeof path)
        count = sizeof path - 1;
    memcpy(path, fields->at, count);
    path[count] = '\0';
    symbols_mapped(process, map, path);
}

/* pid ppid tid ptid time */
static void take_fork(struct fields *fields)
{
    pid_t process = (pid_t)take(fields, 4), parent = (pid_t)take(fields, 4);

    if (process != parent)
        symbols_forked(process, parent);
}

/* pid tid name. What was not sampled yet gets no log for it: most of what a shell starts never is.
 */
static void take_comm(struct fields *fields, bool is_exec)
{
    pid_t process = (pid_t)take(fields, 4);
    int64_t thread = (int64_t)take(fields, 4);
    char name[32] = "";
    size_t count = (size_t)(fields->end - fields->at);

    memcpy(name, fields->at, count < sizeof name - 1 ? count : sizeof name - 1);
    if (is_exec)
        symbols_became(process);
    struct sample_log *log = sample_log_find(process);
    if (log != NULL && name[0] != '\0')
        sample_log_task(log, thread, name);
}

static uint32_t put_call(struct sample_log *log, pid_t process, uint64_t address, uint32_t caller)
{
    struct symbol_at at = symbols_find(process, address);
    char unknown[64];

    if (at.function.count == 0 && at.file.count == 0)
        at.function = STR("[unknown]");
    else if (at.function.count == 0) {
        snprintf(unknown, sizeof unknown, "[%.*s]", (int)(at.file.count < 48 ? at.file.count : 48),
                 at.file.at);
        at.function = str_of(unknown);
    }
    return sample_log_stack(
        log, caller,
        (struct sample_call){.function = sample_log_text(log, at.function.at, at.function.count),
                             .module = sample_log_text(log, at.file.at, at.file.count)});
}

/* Innermost first, with marks between what is the kernel's and the user's; a caller's address is
 * that behind its call. */
static uint32_t take_chain(struct fields *fields, struct sample_log *log, pid_t process)
{
    uint64_t chain[DEPTH_MAX], count = take(fields, 8);
    bool is_user = false;
    uint32_t depth = 0, stack = 0;

    for (uint64_t index = 0; index < count && fields->at < fields->end; index++) {
        uint64_t address = take(fields, 8);

        if (address >= PERF_CONTEXT_MAX)
            is_user = address == (uint64_t)PERF_CONTEXT_USER;
        else if (is_user && depth < DEPTH_MAX)
            chain[depth++] = address;
    }
    while (depth-- > 0)
        stack = put_call(log, process, chain[depth] - (depth > 0), stack);
    return stack;
}

/* At its first sample: it got its name before, or from who made it. */
static void name_task(struct sample_log *log, pid_t process, int64_t thread)
{
    char name[32];

    if (!sample_log_knows(log, thread) && task_name(process, thread, name))
        sample_log_task(log, thread, name);
}

static struct sample_log *log_of(pid_t process)
{
    struct lately *lately = &sampler.lately[(uint32_t)process % LATELY];

    if (lately->process != process || lately->drain != sampler.drain)
        *lately = (struct lately){process, sampler.drain, sample_log_of(process)};
    return lately->log;
}

/* ip pid tid time period chain */
static void take_sample(struct fields *fields)
{
    take(fields, 8);
    pid_t process = (pid_t)take(fields, 4);
    struct sample_row row = {.thread = (int64_t)take(fields, 4), .kind = SAMPLER_CPU, .cpu_ns = -1};
    row.at_ns = (int64_t)take(fields, 8);
    row.time_ns = (int64_t)take(fields, 8);
    struct sample_log *log = log_of(process);

    if (log == NULL) {
        sampler.lost++;
        return;
    }
    sampler.any = log;
    sample_log_sampler(log, SAMPLER_CPU, sampler.hz);
    name_task(log, process, row.thread);
    row.stack = take_chain(fields, log, process);
    sample_log_put(log, &row);
}

static void take_record(const struct perf_event_header *record, bool is_kept)
{
    struct fields fields = {(const uint8_t *)(record + 1), (const uint8_t *)record + record->size};

    switch (record->type) {
    case PERF_RECORD_MMAP2:
        take_map(&fields);
        break;
    case PERF_RECORD_FORK:
        take_fork(&fields);
        break;
    case PERF_RECORD_COMM:
        take_comm(&fields, (record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0);
        break;
    case PERF_RECORD_LOST:
        take(&fields, 8);
        sampler.lost += take(&fields, 8);
        break;
    case PERF_RECORD_SAMPLE:
        if (is_kept)
            take_sample(&fields);
        break;
    default:
        break;
    }
}

static void drain(void)
{
    bool is_kept = atomic_load_explicit(&sampler.session->control->gate, memory_order_relaxed) != 0;

    sampler.drain++;
    for (uint32_t ring = 0; ring < sampler.ring_count; ring++)
        for (const struct perf_event_header *record;
             (record = ring_next(&sampler.rings[ring])) != NULL;)
            take_record(record, is_kept);
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
    fprintf(stderr, "  It takes a file a processor: ulimit -n %ld\n",
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
            "jview-collect: --sample=cpu sees %" PRIu32 " of %" PRIu32
            " processors, what runs on the others is not sampled: perf_event_open says \"%s\".\n",
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

void cpu_sample_start(const struct launched *session, pid_t process, uint32_t hz)
{
    sigset_t all, before;

    sampler.session = session;
    sampler.hz = hz;
    if (!open_rings(process, hz)) {
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
    sample_log_lost(sampler.any, LOST_SAMPLES, sampler.lost);
    sample_log_lost(sampler.any, LOST_PROCESSORS, sampler.processors_lost);
}

void cpu_sample_stop(void)
{
    if (!sampler.is_running)
        return;
    atomic_store(&sampler.is_stopping, true);
    pthread_join(sampler.thread, NULL);
    if (sampler.any != NULL)
        tell_losses();
    for (uint32_t ring = 0; ring < sampler.ring_count; ring++)
        ring_close(&sampler.rings[ring]);
    free(sampler.rings);
    symbols_free();
    sampler.is_running = false;
}
