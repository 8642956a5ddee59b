/* SPDX-License-Identifier: Apache-2.0 */
/* Lines through the ties of a spool's clocks, and picoseconds by them. */
#include "decode/record/record_clock.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/bisect.h"
#include "trace/trace.h"

__extension__ typedef __int128 wide; /* ticks times picoseconds do not fit 64 bits */

enum {
    TIES_MAX = 1 << 20,
    OFFSETS_MAX = 1 << 12,
    STEP_NS = 1000000, /* two looks at two clocks differ by less */
    PS_PER_NS = 1000
};

static int64_t distance(int64_t a, int64_t b)
{
    int64_t ns;

    if (__builtin_sub_overflow(a, b, &ns) || ns == INT64_MIN)
        return INT64_MAX;
    return ns < 0 ? -ns : ns;
}

static void take_offset(struct record_clock *clock, int64_t realtime_ns, int64_t monotonic_ns)
{
    int64_t ns = realtime_ns - monotonic_ns; /* neither is negative */
    struct record_offset *last =
        clock->offset_count > 0 ? &clock->offsets[clock->offset_count - 1] : NULL;

    if (last != NULL && (distance(last->ns, ns) < STEP_NS || clock->offset_count == OFFSETS_MAX)) {
        last->to_ns = realtime_ns > last->to_ns ? realtime_ns : last->to_ns;
        return;
    }
    clock->offsets =
        memory_resize(clock->offsets, (size_t)clock->offset_count + 1, sizeof *clock->offsets);
    clock->offsets[clock->offset_count++] =
        (struct record_offset){.ns = ns, .from_ns = realtime_ns, .to_ns = realtime_ns};
}

bool record_clock_tie(struct record_clock *clock, int64_t ticks, int64_t realtime_ns,
                      int64_t monotonic_ns)
{
    const struct record_tie *last = clock->count > 0 ? &clock->ties[clock->count - 1] : NULL;

    if (clock->count == TIES_MAX || ticks < 0 || realtime_ns < 0 || monotonic_ns < 0 ||
        (last != NULL && (ticks <= last->ticks || monotonic_ns < last->monotonic_ns)))
        return false;
    if (clock->count == clock->capacity) {
        clock->capacity = clock->capacity == 0 ? 64 : clock->capacity * 2;
        clock->ties = memory_resize(clock->ties, clock->capacity, sizeof *clock->ties);
    }
    clock->ties[clock->count++] = (struct record_tie){.ticks = ticks, .monotonic_ns = monotonic_ns};
    take_offset(clock, realtime_ns, monotonic_ns);
    return true;
}

/* The pair whose line holds the ticks: its first tie. */
static uint32_t find_pair(const struct record_clock *clock, int64_t ticks)
{
    return BISECT(1, clock->count - 1, i, clock->ties[i].ticks <= ticks) - 1;
}

static bool holds(const struct record_clock *clock, uint32_t pair, int64_t ticks)
{
    return (pair == 0 || clock->ties[pair].ticks <= ticks) &&
           (pair == clock->count - 2 || ticks < clock->ties[pair + 1].ticks);
}

static int64_t clamp(wide ps)
{
    return ps > TIME_PS_MAX ? TIME_PS_MAX : ps < -TIME_PS_MAX ? -TIME_PS_MAX : (int64_t)ps;
}

bool record_clock_ps(struct record_clock *clock, int64_t ticks, int64_t *ret)
{
    if (clock->count < 2)
        return false;
    if (!holds(clock, clock->last, ticks))
        clock->last = find_pair(clock, ticks);

    const struct record_tie *a = &clock->ties[clock->last], *b = a + 1;
    wide ps = ((wide)a->monotonic_ns - clock->epoch_monotonic_ns) * PS_PER_NS;
    wide after = (wide)ticks - a->ticks,
         rise = ((wide)b->monotonic_ns - a->monotonic_ns) * PS_PER_NS;
    if (__builtin_mul_overflow(after, rise, &rise))
        ps = after < 0 ? -TIME_PS_MAX : TIME_PS_MAX;
    else
        ps += rise / (b->ticks - a->ticks);
    *ret = clamp(ps);
    return true;
}

int64_t record_clock_ps_of_monotonic(const struct record_clock *clock, int64_t ns)
{
    return clamp(((wide)ns - clock->epoch_monotonic_ns) * PS_PER_NS);
}

/* How far it lies outside of the times at which the offset was seen. */
static int64_t away(const struct record_offset *offset, int64_t ns)
{
    return ns < offset->from_ns ? distance(ns, offset->from_ns)
           : ns > offset->to_ns ? distance(ns, offset->to_ns)
                                : 0;
}

int64_t record_clock_ps_of_realtime(struct record_clock *clock, int64_t ns)
{
    if (clock->offset_count == 0)
        return clamp(((wide)ns - clock->epoch_ns) * PS_PER_NS);

    uint32_t nearest = clock->last_offset;
    for (uint32_t index = 0; index < clock->offset_count && away(&clock->offsets[nearest], ns) > 0;
         index++)
        if (away(&clock->offsets[index], ns) < away(&clock->offsets[nearest], ns))
            nearest = index;
    clock->last_offset = nearest;
    return clamp(((wide)ns - clock->offsets[nearest].ns - clock->epoch_monotonic_ns) * PS_PER_NS);
}

uint32_t record_clock_steps(const struct record_clock *clock)
{
    return clock->offset_count > 0 ? clock->offset_count - 1 : 0;
}

void record_clock_free(struct record_clock *clock)
{
    free(clock->ties);
    free(clock->offsets);
}
