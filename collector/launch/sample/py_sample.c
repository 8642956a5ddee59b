/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that finds the program's Pythons and looks at each at the asked frequency. */
#include "launch/sample/py_sample.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "launch/sample/py_target.h"
#include "launch/sample/sample_processes.h"

enum { TARGETS_MAX = 64 };
static const int64_t SECOND_NS = 1000000000, DISCOVER_NS = 100000000, FLUSH_NS = 250000000;
static const int64_t DISCOVER_SLOWLY_NS = 1000000000, START_NS = 5000000000;

static struct {
    pthread_t thread;
    bool is_running, is_stopping;
    pthread_mutex_t lock;
    pthread_cond_t stops;
    const struct control *control;
    struct remote *remote;
    uint32_t hz;
    struct py_target *targets; /* TARGETS_MAX of them */
    uint32_t target_count;
    uint64_t random;
    bool had_python, has_complained;
    int64_t began_ns, discover_ns, flush_ns;
} sampler = {.lock = PTHREAD_MUTEX_INITIALIZER, .random = 0x9e3779b97f4a7c15};

static bool is_watched(pid_t process)
{
    for (uint32_t index = 0; index < sampler.target_count; index++)
        if (sampler.targets[index].process == process)
            return true;
    return false;
}

static void drop_ended(void)
{
    for (uint32_t index = sampler.target_count; index-- > 0;) {
        struct py_target *target = &sampler.targets[index];

        if (target_is_alive(target))
            continue;
        target_close(target);
        *target = sampler.targets[--sampler.target_count];
    }
}

static void discover(int64_t now)
{
    pid_t processes[TARGETS_MAX];
    uint32_t count;

    if (now < sampler.discover_ns)
        return;
    sampler.discover_ns =
        now + (now - sampler.began_ns < START_NS ? DISCOVER_NS : DISCOVER_SLOWLY_NS);
    drop_ended();
    count = processes_below(sampler.control->child, processes, TARGETS_MAX);
    for (uint32_t index = 0; index < count && sampler.target_count < TARGETS_MAX; index++)
        if (!is_watched(processes[index]))
            target_open(&sampler.targets[sampler.target_count++], processes[index]);
}

static void flush(int64_t now)
{
    if (now < sampler.flush_ns)
        return;
    sampler.flush_ns = now + FLUSH_NS;
    sample_logs_flush();
}

static void look(int64_t now, int64_t step_ns)
{
    bool is_open = atomic_load_explicit(&sampler.control->is_on, memory_order_relaxed) != 0;

    for (uint32_t index = 0; index < sampler.target_count; index++) {
        struct py_target *target = &sampler.targets[index];

        char why[WHY_BYTES] = "";
        target_search(target, sampler.remote, sampler.hz, now, why);
        if (why[0] != '\0' && !sampler.has_complained)
            fprintf(stderr, "jview-collect: %s\n", why);
        sampler.has_complained |= why[0] != '\0';
        sampler.had_python |= target->is_known;
        if (target->is_known && is_open)
            target_look(target, sampler.remote, clock_monotonic_ns(), step_ns);
        else
            target->looked_ns = 0;
    }
}

/* False where it is time to go. */
static bool rest(int64_t until_ns)
{
    pthread_mutex_lock(&sampler.lock);
    while (!sampler.is_stopping && clock_wait(&sampler.stops, &sampler.lock, until_ns))
        ;
    bool goes_on = !sampler.is_stopping;
    pthread_mutex_unlock(&sampler.lock);
    return goes_on;
}

/* Half a step more or less, so that a program of the same rhythm is not met always at one place. */
static int64_t jitter(int64_t step_ns)
{
    sampler.random ^= sampler.random << 13;
    sampler.random ^= sampler.random >> 7;
    sampler.random ^= sampler.random << 17;
    return (int64_t)(sampler.random % (uint64_t)step_ns) - step_ns / 2;
}

/* Looks that came too late are left out: their time goes to the next one. */
static void count_late(int64_t *next_ns, int64_t step_ns)
{
    int64_t late = (clock_monotonic_ns() - *next_ns) / step_ns;

    if (late <= 0)
        return;
    *next_ns += late * step_ns;
    for (uint32_t index = 0; index < sampler.target_count; index++)
        if (sampler.targets[index].is_known)
            sample_log_lost(sampler.targets[index].reader.log, LOST_LATE, (uint64_t)late);
}

static void *run(void *unused)
{
    int64_t step_ns = SECOND_NS / sampler.hz, next_ns = clock_monotonic_ns();

    (void)unused;
    sampler.began_ns = next_ns;
    do {
        int64_t now = clock_monotonic_ns();

        discover(now);
        look(now, step_ns);
        flush(now);
        next_ns += step_ns;
        count_late(&next_ns, step_ns);
    } while (rest(next_ns + jitter(step_ns)));
    return NULL;
}

/* Signals are the launcher's own thread's. */
void py_sample_start(const struct control *control, uint32_t hz)
{
    sigset_t all, before;

    sampler.control = control;
    sampler.hz = hz;
    sampler.remote = memory_resize(NULL, 1, sizeof(struct remote));
    sampler.targets = memory_resize(NULL, TARGETS_MAX, sizeof *sampler.targets);
    pthread_cond_init(&sampler.stops, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    sampler.is_running = pthread_create(&sampler.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void py_sample_stop(void)
{
    if (!sampler.is_running)
        return;
    pthread_mutex_lock(&sampler.lock);
    sampler.is_stopping = true;
    pthread_cond_signal(&sampler.stops);
    pthread_mutex_unlock(&sampler.lock);
    pthread_join(sampler.thread, NULL);
    for (uint32_t index = 0; index < sampler.target_count; index++)
        target_close(&sampler.targets[index]);
    free(sampler.targets);
    free(sampler.remote);
    sampler.is_running = false;
}

bool py_sample_found_none(void)
{
    return sampler.hz > 0 && !sampler.had_python && !sampler.has_complained;
}
