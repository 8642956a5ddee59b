#include "decode/record_clock.h"

#include <stdlib.h>

#include "trace/trace.h"

__extension__ typedef __int128 wide; /* ticks times picoseconds do not fit 64 bits */

enum { TIES_MAX = 1 << 20, PS_PER_NS = 1000 };

bool record_clock_tie(struct record_clock *clock, int64_t ticks, int64_t realtime_ns)
{
    if (clock->count == TIES_MAX || ticks < 0 || realtime_ns < 0 ||
        (clock->count > 0 && ticks <= clock->ties[clock->count - 1].ticks))
        return false;
    if (clock->count == clock->capacity) {
        clock->capacity = clock->capacity == 0 ? 64 : clock->capacity * 2;
        clock->ties = reallocarray(clock->ties, clock->capacity, sizeof *clock->ties);
        if (clock->ties == NULL)
            abort();
    }
    clock->ties[clock->count++] = (struct record_tie){.ticks = ticks, .realtime_ns = realtime_ns};
    return true;
}

/* The pair whose line holds the ticks: its first tie. */
static uint32_t find_pair(const struct record_clock *clock, int64_t ticks)
{
    uint32_t low = 0, high = clock->count - 2;

    while (low < high) {
        uint32_t middle = low + (high - low + 1) / 2;
        if (clock->ties[middle].ticks <= ticks)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static bool holds(const struct record_clock *clock, uint32_t pair, int64_t ticks)
{
    return (pair == 0 || clock->ties[pair].ticks <= ticks) &&
           (pair == clock->count - 2 || ticks < clock->ties[pair + 1].ticks);
}

bool record_clock_ps(struct record_clock *clock, int64_t ticks, int64_t *ret)
{
    if (clock->count < 2)
        return false;
    if (!holds(clock, clock->last, ticks))
        clock->last = find_pair(clock, ticks);

    const struct record_tie *a = &clock->ties[clock->last], *b = a + 1;
    wide ps = ((wide)a->realtime_ns - clock->epoch_ns) * PS_PER_NS;
    wide after = (wide)ticks - a->ticks, rise = ((wide)b->realtime_ns - a->realtime_ns) * PS_PER_NS;
    if (__builtin_mul_overflow(after, rise, &rise))
        ps = (after < 0) == (b->realtime_ns < a->realtime_ns) ? TIME_PS_MAX : -TIME_PS_MAX;
    else
        ps += rise / (b->ticks - a->ticks);
    *ret = ps > TIME_PS_MAX ? TIME_PS_MAX : ps < -TIME_PS_MAX ? -TIME_PS_MAX : (int64_t)ps;
    return true;
}

void record_clock_free(struct record_clock *clock)
{
    free(clock->ties);
}
