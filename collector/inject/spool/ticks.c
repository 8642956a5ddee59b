/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the clock: the processor's time stamp counter where the system trusts it, else
 * CLOCK_MONOTONIC; ties it to the wall clock. */
#include "inject/spool/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdio.h>
#include <string.h>
#endif

enum { TIE_LOOKS = 20 };

bool ticks_are_tsc;

#if defined(__x86_64__)
/* The processors of several sockets need not agree; the system has looked. */
static bool system_trusts_tsc(void)
{
    char text[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");

    if (file != NULL && fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    return strncmp(text, "tsc", 3) == 0 || strncmp(text, "kvm-clock", 9) == 0;
}
#endif

void ticks_choose(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;

    /* Bit 8 of EDX: the counter runs at one rate in all states. */
    ticks_are_tsc =
        __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0 && system_trusts_tsc();
#endif
}

/* The looks that lie closest together win: between two of them the thread may be put aside. */
struct ticks_tie ticks_tie(void)
{
    struct ticks_tie best = {0};
    int64_t closest = INT64_MAX;

    for (int look = 0; look < TIE_LOOKS; look++) {
        int64_t before = ticks_now();
        int64_t realtime_ns = clock_ns(CLOCK_REALTIME);
        int64_t monotonic_ns = clock_ns(CLOCK_MONOTONIC);
        int64_t after = ticks_now();
        if (after - before >= closest)
            continue;
        closest = after - before;
        best = (struct ticks_tie){.ticks = before + closest / 2,
                                  .realtime_ns = realtime_ns,
                                  .monotonic_ns = monotonic_ns};
    }
    return best;
}
