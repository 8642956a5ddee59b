/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that reads /proc and NVML, and puts the figures on the session's page. Facts:
 * proc(5). */
#include "launch/child/system.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api/record.h"
#include "base/clock.h"
#include "launch/child/nvml.h"

enum { STOP_SECONDS = 1, SECTOR_BYTES = 512 };

static struct {
    pthread_t thread;
    bool is_running;
    pthread_mutex_t lock;
    pthread_cond_t stops;
    bool is_stopping;
    struct control *control;
    struct totals { /* ever; two looks make a rate */
        int64_t at_ns;
        uint64_t busy, all;     /* in ticks of all processors */
        uint64_t read, written; /* bytes */
        bool has_cpu, has_disks;
    } before;
} looker = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(int64_t at_ns, uint32_t what, uint32_t place, int64_t value)
{
    struct control_system *system = &looker.control->system;
    uint64_t count = atomic_load_explicit(&system->sample_count, memory_order_relaxed);
    struct control_sample *sample = &system->samples[count % SAMPLES_MAX];

    atomic_store_explicit(&sample->at_ns, at_ns, memory_order_relaxed);
    atomic_store_explicit(&sample->what, what, memory_order_relaxed);
    atomic_store_explicit(&sample->place, place, memory_order_relaxed);
    atomic_store_explicit(&sample->value, value, memory_order_relaxed);
    atomic_store_explicit(&system->sample_count, count + 1, memory_order_release);
}

/* "cpu  user nice system idle iowait irq softirq steal ...": all processors, first line. */
static void read_cpu(struct totals *ret)
{
    uint64_t user, nice, system, idle, wait, irq, soft, steal;
    FILE *file = fopen("/proc/stat", "re");

    if (file == NULL)
        return;
    ret->has_cpu = fscanf(file,
                          "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                          " %" SCNu64 " %" SCNu64,
                          &user, &nice, &system, &idle, &wait, &irq, &soft, &steal) == 8;
    fclose(file);
    if (!ret->has_cpu)
        return;
    ret->busy = user + nice + system + irq + soft + steal;
    ret->all = ret->busy + idle + wait;
}

/* Whole disks alone: their partitions, and what is mapped onto them, would count twice. */
static bool is_disk(const char *name)
{
    static const char *const not_disks[] = {"loop", "ram", "dm-", "md", "zram", "sr"};
    char path[300];

    for (size_t index = 0; index < sizeof not_disks / sizeof not_disks[0]; index++)
        if (strncmp(name, not_disks[index], strlen(not_disks[index])) == 0)
            return false;
    snprintf(path, sizeof path, "/sys/block/%s", name);
    return access(path, F_OK) == 0;
}

/* "8 0 sda reads merged sectors ms writes merged sectors ..." a line. */
static void read_disks(struct totals *ret)
{
    FILE *file = fopen("/proc/diskstats", "re");
    char line[512], name[64];
    uint64_t read, written;

    ret->has_disks = file != NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "%*u %*u %63s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64, name, &read,
                   &written) == 3 &&
            is_disk(name)) {
            ret->read += read * SECTOR_BYTES;
            ret->written += written * SECTOR_BYTES;
        }
    if (file != NULL)
        fclose(file);
}

/* What programs can no longer have. */
static bool read_memory(int64_t *ret)
{
    FILE *file = fopen("/proc/meminfo", "re");
    int64_t total = -1, available = -1;
    char line[256];

    while (file != NULL && fgets(line, sizeof line, file) != NULL && (total < 0 || available < 0)) {
        sscanf(line, "MemTotal: %" SCNd64 " kB", &total);
        sscanf(line, "MemAvailable: %" SCNd64 " kB", &available);
    }
    if (file != NULL)
        fclose(file);
    *ret = (total - available) * 1024;
    return total >= 0 && available >= 0;
}

static int64_t rate_of(uint64_t before, uint64_t now, int64_t ns)
{
    return now < before || ns <= 0 ? 0 : (int64_t)((double)(now - before) * 1e9 / (double)ns);
}

static void look_at_machine(void)
{
    const struct totals before = looker.before;
    struct totals now = {.at_ns = clock_monotonic_ns()};
    int64_t memory;

    read_cpu(&now);
    read_disks(&now);
    if (now.has_cpu && before.has_cpu && now.all > before.all && now.busy >= before.busy)
        put(now.at_ns, FIGURE_CPU, 0,
            (int64_t)((now.busy - before.busy) * 100000 / (now.all - before.all)));
    if (now.has_disks && before.has_disks) {
        put(now.at_ns, FIGURE_DISK_READ, 0,
            rate_of(before.read, now.read, now.at_ns - before.at_ns));
        put(now.at_ns, FIGURE_DISK_WRITE, 0,
            rate_of(before.written, now.written, now.at_ns - before.at_ns));
    }
    if (read_memory(&memory))
        put(now.at_ns, FIGURE_MEMORY, 0, memory);
    looker.before = now;
}

static void look_at_gpus(void)
{
    int64_t value;

    for (uint32_t gpu = 0; gpu < looker.control->system.gpu_count; gpu++)
        for (uint32_t figure = FIGURE_GPU_CLOCK; figure <= FIGURE_GPU_THROTTLE; figure++)
            if (nvml_figure(gpu, figure, &value))
                put(clock_monotonic_ns(), figure, gpu, value);
}

/* False where it is time to go. */
static bool rest(int64_t until_ns)
{
    pthread_mutex_lock(&looker.lock);
    while (!looker.is_stopping && clock_wait(&looker.stops, &looker.lock, until_ns))
        ;
    bool goes_on = !looker.is_stopping;
    pthread_mutex_unlock(&looker.lock);
    return goes_on;
}

static void *run(void *unused)
{
    struct control_system *system = &looker.control->system;
    int64_t step_ns = 1000000000 / looker.control->asked.system_hz, next_ns = clock_monotonic_ns();

    (void)unused;
    system->gpu_count = nvml_open(system->note, sizeof system->note);
    for (uint32_t gpu = 0; gpu < system->gpu_count; gpu++)
        nvml_about(gpu, &system->gpus[gpu]);
    atomic_store_explicit(&system->is_told, 1, memory_order_release);
    do {
        look_at_machine();
        look_at_gpus();
        next_ns += step_ns;
        if (next_ns < clock_monotonic_ns()) /* a look that took long is not made good */
            next_ns = clock_monotonic_ns() + step_ns;
    } while (rest(next_ns));
    return NULL;
}

/* Signals are the launcher's own thread's. */
void system_start(struct control *control)
{
    sigset_t all, before;

    if (control->asked.system_hz == 0)
        return;
    looker.control = control;
    pthread_cond_init(&looker.stops, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    looker.is_running = pthread_create(&looker.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A driver that hangs does not hold the launcher. */
void system_stop(void)
{
    if (!looker.is_running)
        return;
    pthread_mutex_lock(&looker.lock);
    looker.is_stopping = true;
    pthread_cond_signal(&looker.stops);
    pthread_mutex_unlock(&looker.lock);
    clock_join(looker.thread, clock_deadline_ns(STOP_SECONDS * 1000));
}
