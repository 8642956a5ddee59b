/* SPDX-License-Identifier: Apache-2.0 */
/* What base/clock.h says, by clock_gettime and the waits of glibc that take a clock. */
#include "base/clock.h"

#include <time.h>

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t clock_monotonic_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

int64_t clock_monotonic_ms(void)
{
    return clock_monotonic_ns() / NS_PER_MS;
}

int64_t clock_unix_ns(void)
{
    return now_ns(CLOCK_REALTIME);
}

int64_t clock_deadline_ns(int64_t wait_ms)
{
    int64_t wait_ns, ret;

    if (wait_ms < 0)
        wait_ms = 0;
    if (__builtin_mul_overflow(wait_ms, NS_PER_MS, &wait_ns) ||
        __builtin_add_overflow(clock_monotonic_ns(), wait_ns, &ret))
        return INT64_MAX;
    return ret;
}

static struct timespec moment(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

bool clock_wait(pthread_cond_t *changed, pthread_mutex_t *lock, int64_t deadline_ns)
{
    struct timespec until = moment(deadline_ns);

    return pthread_cond_clockwait(changed, lock, CLOCK_MONOTONIC, &until) == 0;
}

bool clock_join(pthread_t thread, int64_t deadline_ns)
{
    struct timespec until = moment(deadline_ns);

    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}
