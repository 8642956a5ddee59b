/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the launcher's figures of the machine, reads this process's own from /proc/self, and
 * makes rows of both. */
#include "inject/process/system.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inject/process/texts.h"
#include "inject/spool/ticks.h"

enum { ROWS_MAX = SAMPLES_MAX };

static int64_t numbers[ROWS_MAX * COUNTER_COLUMNS];
static struct batch rows = {SPOOL_COUNTER, COUNTER_COLUMNS, 0, numbers};

static struct {
    uint64_t seen; /* of the launcher's samples */
    struct totals {
        int64_t at_ns;
        int64_t cpu_ns;
        int64_t read, written;
        bool has_io;
    } before;
} look;

static void put_figure(int64_t at_ns, uint32_t what, uint32_t place, int64_t value)
{
    if (rows.count == ROWS_MAX) /* nobody took them: the newest stand */
        rows.count = 0;
    int64_t *row = batch_row(&rows);
    row[COUNTER_AT_NS] = at_ns;
    row[COUNTER_WHAT] = what;
    row[COUNTER_PLACE] = place;
    row[COUNTER_VALUE] = value;
}

/* What the launcher wrote over while it was read is none: half of its round is never read. */
static void take_samples(const struct control_system *system, bool is_kept)
{
    uint64_t count = atomic_load_explicit(&system->sample_count, memory_order_acquire);
    uint64_t at = is_kept ? look.seen : count;
    uint32_t rows_before = rows.count;

    if (at + SAMPLES_MAX / 2 < count)
        at = count - SAMPLES_MAX / 2;
    for (; at < count; at++) {
        const struct control_sample *sample = &system->samples[at % SAMPLES_MAX];
        put_figure(atomic_load_explicit(&sample->at_ns, memory_order_relaxed),
                   atomic_load_explicit(&sample->what, memory_order_relaxed),
                   atomic_load_explicit(&sample->place, memory_order_relaxed),
                   atomic_load_explicit(&sample->value, memory_order_relaxed));
    }
    look.seen = count;
    if (atomic_load(&system->sample_count) > count + SAMPLES_MAX / 2 - 1)
        rows.count = rows_before < rows.count ? rows_before : 0;
}

static size_t read_file(const char *path, char *ret, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = fd >= 0 ? read(fd, ret, size - 1) : 0;

    if (fd >= 0)
        close(fd);
    ret[count > 0 ? count : 0] = '\0';
    return count > 0 ? (size_t)count : 0;
}

static bool number_behind(const char *text, const char *key, int64_t *ret)
{
    const char *at = strstr(text, key);

    return at != NULL && sscanf(at + strlen(key), "%" SCNd64, ret) == 1;
}

static int64_t rate_of(int64_t before, int64_t now, int64_t ns)
{
    return now <= before || ns <= 0 ? 0 : (int64_t)((double)(now - before) * 1e9 / (double)ns);
}

/* A clock and two small files: some tens of microseconds of the writer's thread. */
static void look_at_process(void)
{
    const struct totals before = look.before;
    struct totals now = {.at_ns = clock_ns(CLOCK_MONOTONIC)};
    int64_t ns = now.at_ns - before.at_ns, pages;
    char text[1024];

    now.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    now.has_io = read_file("/proc/self/io", text, sizeof text) > 0 &&
                 number_behind(text, "\nread_bytes: ", &now.read) &&
                 number_behind(text, "\nwrite_bytes: ", &now.written);
    if (before.at_ns != 0)
        put_figure(now.at_ns, FIGURE_OWN_CPU, 0, rate_of(before.cpu_ns, now.cpu_ns, ns) / 10000);
    if (before.has_io && now.has_io) {
        put_figure(now.at_ns, FIGURE_OWN_READ, 0, rate_of(before.read, now.read, ns));
        put_figure(now.at_ns, FIGURE_OWN_WRITE, 0, rate_of(before.written, now.written, ns));
    }
    if (read_file("/proc/self/statm", text, sizeof text) > 0 &&
        sscanf(text, "%*d %" SCNd64, &pages) == 1)
        put_figure(now.at_ns, FIGURE_OWN_MEMORY, 0, pages * sysconf(_SC_PAGESIZE));
    look.before = now;
}

void system_look(const struct session *session, bool is_kept)
{
    uint32_t hz = session->control->asked.system_hz;

    if (hz == 0)
        return;
    if (session->is_launched)
        take_samples(&session->control->system, is_kept);
    if (clock_ns(CLOCK_MONOTONIC) - look.before.at_ns < 1000000000 / hz)
        return;
    uint32_t count = rows.count;
    look_at_process();
    if (!is_kept)
        rows.count = count < rows.count ? count : 0;
}

static void put_gpus(const struct control_system *system, system_put *put)
{
    static int64_t about[GPUS_MAX * DEVICE_COLUMNS];
    struct batch devices = {SPOOL_DEVICE, DEVICE_COLUMNS, 0, about};

    for (uint32_t gpu = 0; gpu < system->gpu_count && gpu < GPUS_MAX; gpu++) {
        const struct control_gpu *from = &system->gpus[gpu];
        int64_t *row = batch_row(&devices);
        memset(row, 0, DEVICE_COLUMNS * sizeof *row);
        row[DEVICE_SOURCE] = SOURCE_NVML;
        row[DEVICE_NUMBER] = gpu;
        row[DEVICE_NAME] = text_id(from->name, strnlen(from->name, GPU_TEXT_MAX));
        row[DEVICE_UUID] = text_id(from->uuid, strnlen(from->uuid, GPU_TEXT_MAX));
        row[DEVICE_MEMORY_BYTES] = (int64_t)from->memory_bytes;
    }
    if (devices.count > 0)
        put(&devices);
}

static void put_note(const struct control_system *system, system_put *put)
{
    int64_t row[LOG_COLUMNS] = {ticks_now(), 0, 1};
    struct batch log = {SPOOL_LOG, LOG_COLUMNS, 1, row};

    row[LOG_TEXT] = text_id(system->note, strnlen(system->note, COMPLAINT_MAX));
    if (system->note[0] != '\0')
        put(&log);
}

void system_close_frames(const struct session *session, system_put *put)
{
    static bool is_told;
    const struct control_system *system = &session->control->system;

    if (!is_told && atomic_load_explicit(&system->is_told, memory_order_acquire) != 0) {
        put_gpus(system, put);
        put_note(system, put);
        is_told = true;
    }
    if (rows.count > 0)
        put(&rows);
}
