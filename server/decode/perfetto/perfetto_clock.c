/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of a Perfetto trace, and one time for all of them.
 *
 *   ClockSnapshot  1 clocks*  2 primary clock
 *   Clock          1 id  2 timestamp  3 is incremental  4 nanoseconds a unit
 *
 *   snapshot 0    BOOTTIME 100     REALTIME 7100     sequence's own clock 64: 0
 *   snapshot 1    BOOTTIME 300     REALTIME 7310
 *
 * A packet tells its time on some clock. What two clocks showed in one snapshot joins them: a time
 * is moved from one to the other by the last snapshot before it. Clocks 64 to 127 belong to one
 * sequence; an incremental clock tells how much later than the packet before. All times end on the
 * clock of the trace: the primary one, else BOOTTIME.
 */
#include "base/bisect.h"
#include "decode/perfetto/perfetto.h"

#include <stdlib.h>

enum { READINGS_MAX = 1 << 22, CLOCKS_MAX = 1 << 16, HOPS_MAX = 1024, ROUTE_HOPS = 2 };

struct reading { /* of a snapshot; those of one are contiguous */
    uint32_t snapshot, clock;
    int64_t ns;
};

struct clock {
    uint64_t key;
    bool is_incremental, is_routed, is_reachable;
    int64_t unit_ns;
    int64_t now_ns; /* of incremental ones: where the last packet stood */
    uint32_t hops[ROUTE_HOPS], hop_count;
};

struct point {
    int64_t from_ns, to_ns;
};

struct hop { /* what both clocks showed, by `from` */
    uint32_t from, to, first, count;
};

struct clocks {
    struct scratch *scratch;
    struct list readings, points; /* in scratch */
    struct clock *clocks;
    struct hop *hops;
    bool is_crowded; /* more pairs were asked for than there is room */
    uint32_t clock_count, clock_capacity, hop_count, snapshot_count;
    struct id_map clock_of;
    uint32_t primary; /* a number; 0 unsaid */
    bool is_alone;    /* nothing was ever joined: the first event's clock is the trace's */
    uint32_t target;  /* the clock of the trace */
};

struct clocks *perfetto_clocks_create(struct scratch *scratch)
{
    struct clocks *clocks = memory_resize(NULL, 1, sizeof *clocks);

    *clocks = (struct clocks){.scratch = scratch};
    clocks->hops = memory_resize(NULL, HOPS_MAX, sizeof *clocks->hops);
    return clocks;
}

void perfetto_clocks_destroy(struct clocks *clocks)
{
    if (clocks == NULL)
        return;
    id_map_free(&clocks->clock_of);
    free(clocks->clocks);
    free(clocks->hops);
    free(clocks);
}

static uint32_t clock_at(struct clocks *clocks, uint32_t number, uint32_t sequence)
{
    bool is_own = number >= CLOCK_OF_SEQUENCE && number < 128, is_new;
    uint64_t key = is_own ? (uint64_t)sequence << 32 | number : number;
    uint32_t found = id_map_add(&clocks->clock_of, key, clocks->clock_count, &is_new);

    if (!is_new)
        return found;
    if (clocks->clock_count == clocks->clock_capacity) {
        clocks->clock_capacity = clocks->clock_capacity == 0 ? 16 : clocks->clock_capacity * 2;
        clocks->clocks =
            memory_resize(clocks->clocks, clocks->clock_capacity, sizeof *clocks->clocks);
    }
    clocks->clocks[clocks->clock_count] = (struct clock){.key = key, .unit_ns = 1};
    return clocks->clock_count++;
}

/* Far from overflow, so that differences and sums fit. */
static int64_t tame(uint64_t value, int64_t unit_ns)
{
    int64_t ns;

    if (value > INT64_MAX || __builtin_mul_overflow((int64_t)value, unit_ns, &ns) ||
        ns > INT64_MAX / 4 || ns < INT64_MIN / 4)
        return INT64_MAX / 4;
    return ns;
}

static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);

    return sum > INT64_MAX / 4 ? INT64_MAX / 4 : sum < INT64_MIN / 4 ? INT64_MIN / 4 : sum;
}

struct told { /* a Clock message */
    uint32_t number;
    uint64_t timestamp;
    bool is_incremental;
    int64_t unit_ns;
};

static bool read_clock(const struct pb *outer, struct bytes message, struct told *ret)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);

    *ret = (struct told){.unit_ns = 1};
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            ret->number = (uint32_t)field.varint;
        else if (field.number == 2)
            ret->timestamp = field.varint;
        else if (field.number == 3)
            ret->is_incremental = field.varint != 0;
        else if (field.number == 4 && field.varint > 0 && field.varint <= 1000000000)
            ret->unit_ns = (int64_t)field.varint;
    }
    return broken.code == OK && ret->number != 0;
}

static void gather(struct perfetto *trace, const struct packet *packet, const struct told *told)
{
    struct clocks *clocks = trace->clocks;

    if (clocks->clock_count >= CLOCKS_MAX)
        return;
    uint32_t clock = clock_at(clocks, told->number, packet->sequence);
    clocks->clocks[clock].is_incremental = told->is_incremental;
    clocks->clocks[clock].unit_ns = told->unit_ns;
    struct reading *reading = perfetto_add(trace, &clocks->readings, sizeof *reading, READINGS_MAX);
    if (reading != NULL)
        *reading = (struct reading){.snapshot = clocks->snapshot_count,
                                    .clock = clock,
                                    .ns = tame(told->timestamp, told->unit_ns)};
}

static bool walk(struct perfetto *trace, const struct packet *packet,
                 void (*take)(struct perfetto *trace, const struct packet *packet,
                              const struct told *told))
{
    struct error broken = {0};
    struct pb pb = pb_inside(packet->pb, packet->data, &broken);
    struct told told;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1 && field.wire == PB_BYTES && read_clock(&pb, field.bytes, &told))
            take(trace, packet, &told);
        else if (field.number == 2 && trace->clocks->primary == 0)
            trace->clocks->primary = (uint32_t)field.varint;
    }
    return broken.code == OK;
}

bool perfetto_clocks_gather(struct perfetto *trace, const struct packet *packet)
{
    bool is_whole = walk(trace, packet, gather);

    trace->clocks->snapshot_count++;
    return is_whole;
}

static void reset(struct perfetto *trace, const struct packet *packet, const struct told *told)
{
    if (trace->clocks->clock_count >= CLOCKS_MAX)
        return;
    uint32_t clock = clock_at(trace->clocks, told->number, packet->sequence);
    trace->clocks->clocks[clock].now_ns = tame(told->timestamp, told->unit_ns);
}

void perfetto_clocks_reset(struct perfetto *trace, const struct packet *packet)
{
    walk(trace, packet, reset);
}

static int compare_points(const void *one, const void *other)
{
    const struct point *a = one, *b = other;

    return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* Snapshots that show both. */
static void join(struct perfetto *trace, struct hop *hop)
{
    struct clocks *clocks = trace->clocks;
    const struct reading *readings = clocks->readings.at;

    hop->first = clocks->points.count;
    for (uint32_t i = 0; i < clocks->readings.count;) {
        const struct reading *from = NULL, *to = NULL;
        uint32_t snapshot = readings[i].snapshot;

        for (; i < clocks->readings.count && readings[i].snapshot == snapshot; i++) {
            if (readings[i].clock == hop->from)
                from = &readings[i];
            if (readings[i].clock == hop->to)
                to = &readings[i];
        }
        if (from == NULL || to == NULL)
            continue;
        struct point *point = perfetto_add(trace, &clocks->points, sizeof *point, READINGS_MAX);
        if (point != NULL)
            *point = (struct point){.from_ns = from->ns, .to_ns = to->ns};
    }
    hop->count = clocks->points.count - hop->first;
    if (hop->count > 1)
        qsort((struct point *)clocks->points.at + hop->first, hop->count, sizeof(struct point),
              compare_points);
}

/* Into hops; HOPS_MAX when they were never seen together. */
static uint32_t hop_between(struct perfetto *trace, uint32_t from, uint32_t to)
{
    struct clocks *clocks = trace->clocks;

    for (uint32_t i = 0; i < clocks->hop_count; i++)
        if (clocks->hops[i].from == from && clocks->hops[i].to == to)
            return clocks->hops[i].count > 0 ? i : HOPS_MAX;
    if (clocks->hop_count == HOPS_MAX) {
        clocks->is_crowded = true;
        return HOPS_MAX;
    }
    struct hop *hop = &clocks->hops[clocks->hop_count];
    *hop = (struct hop){.from = from, .to = to};
    join(trace, hop);
    clocks->hop_count++;
    return hop->count > 0 ? clocks->hop_count - 1 : HOPS_MAX;
}

/* At once, or over one of the clocks that every machine has. */
static bool find_route(struct perfetto *trace, uint32_t from, uint32_t to, uint32_t ret[ROUTE_HOPS],
                       uint32_t *ret_count)
{
    struct clocks *clocks = trace->clocks;

    *ret_count = 1;
    ret[0] = hop_between(trace, from, to);
    if (ret[0] != HOPS_MAX)
        return true;
    *ret_count = 2;
    for (uint32_t via = 0; via < clocks->clock_count; via++) {
        if (clocks->clocks[via].key >= CLOCK_OF_SEQUENCE || via == from || via == to)
            continue;
        ret[0] = hop_between(trace, from, via);
        ret[1] = ret[0] == HOPS_MAX ? HOPS_MAX : hop_between(trace, via, to);
        if (ret[1] != HOPS_MAX)
            return true;
    }
    return false;
}

/* By the last point that is not later, else by the first. */
static int64_t move(const struct clocks *clocks, uint32_t hop, int64_t ns)
{
    const struct point *points = (const struct point *)clocks->points.at + clocks->hops[hop].first;
    uint32_t from = BISECT(1, clocks->hops[hop].count, i, points[i].from_ns <= ns) - 1;

    return plus(points[from].to_ns, ns - points[from].from_ns);
}

static int64_t first_reading(const struct clocks *clocks, uint32_t clock, bool *ret_found)
{
    const struct reading *readings = clocks->readings.at;

    for (uint32_t i = 0; i < clocks->readings.count; i++) {
        if (readings[i].clock == clock) {
            *ret_found = true;
            return readings[i].ns;
        }
    }
    *ret_found = false;
    return 0;
}

/* Time zero is the first snapshot, else the first event. */
void perfetto_clocks_settle(struct perfetto *trace)
{
    struct clocks *clocks = trace->clocks;
    uint32_t number = clocks->primary != 0 ? clocks->primary : CLOCK_BOOTTIME_NUMBER;
    bool is_found;

    clocks->is_alone = clocks->readings.count == 0;
    clocks->target = clock_at(clocks, number, 0);
    trace->zero_ns = first_reading(clocks, clocks->target, &is_found);
    if (!is_found && trace->has_first_event)
        trace->zero_ns = tame(trace->first_event_time, 1);
}

static int64_t on_target(struct perfetto *trace, uint32_t number, int64_t ns)
{
    struct clocks *clocks = trace->clocks;
    struct clock *clock = &clocks->clocks[number];

    if (clocks->is_alone)
        clocks->target = number;
    clocks->is_alone = false;
    if (number == clocks->target)
        return ns;
    if (!clock->is_routed) {
        clock->is_reachable =
            find_route(trace, number, clocks->target, clock->hops, &clock->hop_count);
        clock->is_routed = true;
    }
    if (!clock->is_reachable) { /* what was not tried may well be joined */
        trace->crowded_count += clocks->is_crowded;
        trace->unresolved_count += !clocks->is_crowded;
        return ns;
    }
    for (uint32_t i = 0; i < clock->hop_count; i++)
        ns = move(clocks, clock->hops[i], ns);
    return ns;
}

bool perfetto_clocks_time(struct perfetto *trace, const struct packet *packet,
                          uint32_t default_clock, int64_t *ret_ns)
{
    struct clocks *clocks = trace->clocks;
    uint32_t number = packet->clock != 0   ? packet->clock
                      : default_clock != 0 ? default_clock
                                           : CLOCK_BOOTTIME_NUMBER;

    if (!packet->has_timestamp || clocks->clock_count >= CLOCKS_MAX)
        return false;
    uint32_t index = clock_at(clocks, number, packet->sequence);
    struct clock *clock = &clocks->clocks[index];
    int64_t ns = tame(packet->timestamp, clock->unit_ns);
    if (clock->is_incremental)
        ns = clock->now_ns = plus(clock->now_ns, ns);
    *ret_ns = on_target(trace, index, ns);
    return true;
}

void perfetto_clocks_say_epoch(struct perfetto *trace)
{
    struct clocks *clocks = trace->clocks;
    uint32_t wall = clock_at(clocks, CLOCK_REALTIME_NUMBER, 0), hops[ROUTE_HOPS], hop_count;
    int64_t ns = trace->zero_ns;

    if (wall != clocks->target) {
        if (!find_route(trace, clocks->target, wall, hops, &hop_count)) {
            sink_no_epoch(trace->sink, STR("the trace holds no snapshot of the wall clock"));
            return;
        }
        for (uint32_t i = 0; i < hop_count; i++)
            ns = move(clocks, hops[i], ns);
    }
    sink_epoch(trace->sink, ns);
}
