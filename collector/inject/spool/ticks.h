/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of a thread: a few nanoseconds a look, tied to the wall clock by the writer. */
#ifndef JVIEWD_INJECT_TICKS_H
#define JVIEWD_INJECT_TICKS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

extern bool ticks_are_tsc; /* set once, before the first look */

/* Takes the processor's counter where it never stops and is the same on all cores. */
void ticks_choose(void);

struct ticks_tie { /* both clocks at one moment */
    int64_t ticks, realtime_ns, monotonic_ns;
};
struct ticks_tie ticks_tie(void);

static inline int64_t clock_ns(clockid_t clock)
{
    struct timespec at;

    clock_gettime(clock, &at);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

/* That long from now, by the clock that nobody sets: all waits are by it. */
static inline struct timespec clock_deadline(int64_t wait_ms)
{
    int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + wait_ms * 1000000;

    return (struct timespec){.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};
}

static inline int64_t ticks_now(void)
{
#if defined(__x86_64__)
    if (ticks_are_tsc)
        return (int64_t)__builtin_ia32_rdtsc();
#endif
    return clock_ns(CLOCK_MONOTONIC);
}

#endif
