/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: threads lose their turn at random moments, another way with each $SHIM_SEED.
 *
 *   before a lock is taken, after it is given back, as a thread begins:
 *       1 in 8 gives its turn away    1 in 64 sleeps up to 2 ms, but a tenth of its time at most
 *
 * No header declares what is defined here: that of threads has other attributes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))

int sched_yield(void);

static int (*lock)(void *), (*unlock)(void *);
static int (*create)(void *, const void *, void *(*)(void *), void *);
static uint64_t seed;
static _Atomic uint64_t threads;
static _Thread_local uint64_t state;
static _Thread_local int64_t may_from_ns;

struct begun {
    void *(*run)(void *);
    void *data;
};

__attribute__((constructor)) static void shim_begin(void)
{
    const char *told = getenv("SHIM_SEED");

    seed = told == NULL ? 0 : strtoull(told, NULL, 10);
    lock = (int (*)(void *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
    unlock = (int (*)(void *))dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    create = (int (*)(void *, const void *, void *(*)(void *), void *))dlsym(RTLD_NEXT,
                                                                             "pthread_create");
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void doze(void)
{
    const int64_t now = now_ns(), dur_ns = (int64_t)(state >> 32) % 2000000;

    if (now < may_from_ns)
        return;
    nanosleep(&(struct timespec){.tv_nsec = dur_ns}, NULL);
    may_from_ns = now + 10 * dur_ns;
}

static void dally(void)
{
    if (state == 0)
        state = (seed * UINT64_C(0x9e3779b97f4a7c15) + ++threads) | 1;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    if (state % 64 == 0)
        doze();
    else if (state % 8 == 0)
        sched_yield();
}

EXPORTED int pthread_mutex_lock(void *mutex)
{
    if (lock == NULL) /* before the constructor */
        shim_begin();
    dally();
    return lock(mutex);
}

EXPORTED int pthread_mutex_unlock(void *mutex)
{
    if (unlock == NULL)
        shim_begin();
    int ret = unlock(mutex);

    dally();
    return ret;
}

static void *begin(void *data)
{
    struct begun begun = *(struct begun *)data;

    free(data);
    dally();
    return begun.run(begun.data);
}

EXPORTED int pthread_create(void *thread, const void *attributes, void *(*run)(void *), void *data)
{
    struct begun *begun = malloc(sizeof *begun);

    if (begun == NULL)
        return 11; /* EAGAIN */
    *begun = (struct begun){run, data};
    int ret = create(thread, attributes, begin, begun);
    if (ret != 0)
        free(begun);
    return ret;
}
