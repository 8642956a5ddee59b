/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the pieces of device and host lines by kind, for windows of time. */
#include "analyse/steps/breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/device/annotation_names.h"
#include "analyse/stats/quantile.h"

struct host_devices host_devices_of(const struct host_trace *host, struct arena *arena)
{
    return host_devices_among(host, NULL, arena);
}

struct host_devices host_devices_among(const struct host_trace *host, const bool *works,
                                       struct arena *arena)
{
    enum { BUSIEST_SHARE = 100 };
    const struct attribution *attribution = host->attribution;
    uint32_t all = attribution == NULL ? 0 : attribution->device_count;
    uint32_t count = all > HOST_DEVICES_MAX ? HOST_DEVICES_MAX : all;
    int32_t *devices = arena_array(arena, int32_t, count);
    bool *counted = arena_array(arena, bool, count);
    struct host_devices ret = {
        .devices = devices, .count = count, .dropped = all - count, .counted = counted};
    int64_t busiest_ps = 0;

    for (uint32_t i = 0; i < count; i++) {
        devices[i] = attribution->devices[i].device;
        if (attribution->devices[i].busy_ps > busiest_ps)
            busiest_ps = attribution->devices[i].busy_ps;
    }
    for (uint32_t i = 0; i < count; i++) {
        counted[i] = attribution->devices[i].busy_ps >= busiest_ps / BUSIEST_SHARE &&
                     (works == NULL || works[i]);
        ret.counted_count += counted[i];
    }
    return ret;
}

/* Sums over many devices of long windows fit no 64 bits. */
struct wide_time {
    wide_int kinds_ps[KIND_COUNT + 1], doing_ps[DOING_COUNT], busy_ps, hidden_ps, wait_ps;
};

static void add_wide(struct wide_time *to, const struct device_time *by)
{
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        to->kinds_ps[kind] += by->kinds_ps[kind];
    for (int doing = 0; doing < DOING_COUNT; doing++)
        to->doing_ps[doing] += by->doing_ps[doing];
    to->busy_ps += by->busy_ps;
    to->hidden_ps += by->hidden_ps;
    to->wait_ps += by->wait_ps;
}

/* The running sum is divided, so that what is rounded off never adds up: parts of a whole that all
 * lanes share sum to it exactly. */
static int64_t share_of(wide_int *running_ps, wide_int add_ps, uint32_t count)
{
    wide_int before_ps = *running_ps / count;

    *running_ps += add_ps;
    return (int64_t)(*running_ps / count - before_ps);
}

struct device_time breakdown_mean(const struct host_devices *devices,
                                  const struct device_time *lanes)
{
    struct wide_time sum = {0};
    struct device_time mean;
    uint32_t count = devices->counted_count > 0 ? devices->counted_count : 1;
    wide_int kinds_ps = 0, rest_ps = 0;

    if (devices->count == 0)
        return lanes[0];
    for (uint32_t i = 0; i < devices->count; i++) {
        if (devices->counted[i])
            add_wide(&sum, &lanes[i]);
    }
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        mean.kinds_ps[kind] = share_of(&kinds_ps, sum.kinds_ps[kind], count);
    mean.busy_ps = share_of(&rest_ps, sum.busy_ps, count);
    for (int doing = 0; doing < DOING_COUNT; doing++)
        mean.doing_ps[doing] = share_of(&rest_ps, sum.doing_ps[doing], count);
    mean.hidden_ps = (int64_t)(sum.hidden_ps / count);
    mean.wait_ps = (int64_t)(sum.wait_ps / count);
    return mean;
}

struct host_thread { /* by track; of a thread with lanes, all of them */
    uint64_t launches;
    int64_t start_ps, end_ps;
    track_id first; /* with slices */
    bool of_runtime;
};

/* Of so many arrows at most, for files have millions. */
enum { LOOKED_AT_ARROWS = 1 << 16, LAUNCHES_ONE_OF = 20 };

/* Returns the most launches of a thread. XLA launches from threads of its own, which say nothing of
 * what the program does: there all threads are alike. */
static uint64_t count_launches(const struct trace *trace, struct host_thread *threads)
{
    uint64_t every = trace->flow_count / LOOKED_AT_ARROWS + 1, most = 0;
    name_id kind;

    if (strcmp(trace->format, "xplane") == 0 ||
        !trace_find_name(trace, STR("kernel launch"), &kind))
        return 0;
    for (uint64_t i = 0; i < trace->flow_count; i += every) {
        track_id track = trace->rows[trace_row_of(trace, trace->flows[i].from)].track;

        if (trace->flows[i].kind != kind || !tells_of_host(trace, track))
            continue;

        struct host_thread *thread = &threads[host_thread_of(trace, track)];

        thread->launches++;
        most = thread->launches > most ? thread->launches : most;
    }
    return most;
}

static void join_lanes(const struct trace *trace, struct host_thread *threads)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];
        struct host_thread *thread = &threads[host_thread_of(trace, id)];

        if (!tells_of_host(trace, id))
            continue;
        if (thread->first == NO_TRACK)
            *thread = (struct host_thread){.launches = thread->launches,
                                           .start_ps = track->start_ps,
                                           .end_ps = track->end_ps,
                                           .first = id,
                                           .of_runtime =
                                               is_runtime_thread(trace_name(trace, track->name))};
        thread->start_ps = track->start_ps < thread->start_ps ? track->start_ps : thread->start_ps;
        thread->end_ps = track->end_ps > thread->end_ps ? track->end_ps : thread->end_ps;
    }
}

static bool may_tell(const struct host_thread *thread, uint64_t most_launches)
{
    return thread->first != NO_TRACK && thread->launches * LAUNCHES_ONE_OF >= most_launches;
}

/* Where some launch work of devices, the others only wait for them. A runtime's own thread, which
 * may begin a moment earlier and end a moment later, tells where no other one recorded half as
 * long. */
track_id breakdown_thread(const struct trace *trace)
{
    struct host_thread *threads =
        memory_resize(NULL, (size_t)trace->track_count + 1, sizeof *threads);
    const struct host_thread *best = NULL;
    int64_t longest_ps = 0;

    for (track_id id = 0; id < trace->track_count; id++)
        threads[id] = (struct host_thread){.first = NO_TRACK};
    join_lanes(trace, threads);

    uint64_t most = count_launches(trace, threads);

    for (track_id id = 0; id < trace->track_count; id++) {
        int64_t recorded_ps = threads[id].end_ps - threads[id].start_ps;

        if (may_tell(&threads[id], most) && recorded_ps > longest_ps)
            longest_ps = recorded_ps;
    }
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct host_thread *thread = &threads[id];
        int64_t recorded_ps = thread->end_ps - thread->start_ps;

        if (!may_tell(thread, most) || recorded_ps == 0 || recorded_ps < longest_ps / 2)
            continue;
        if (best == NULL || thread->of_runtime < best->of_runtime ||
            (thread->of_runtime == best->of_runtime && recorded_ps > best->end_ps - best->start_ps))
            best = thread;
    }

    track_id ret = best != NULL ? best->first : NO_TRACK;

    free(threads);
    return ret;
}

struct kept_mean {
    const struct host_devices *devices;
    struct device_time mean;
};

static void keep_mean(void *data, uint32_t window, const struct device_time *lanes)
{
    struct kept_mean *kept = data;

    (void)window;
    kept->mean = breakdown_mean(kept->devices, lanes);
}

struct device_time breakdown_of(const struct host_trace *host, int64_t start_ps, int64_t end_ps)
{
    struct arena *arena = arena_create();
    struct host_devices devices = host_devices_of(host, arena);
    struct skipped none = {0};
    struct window window = {start_ps - host->offset_ps, end_ps - host->offset_ps};
    struct breakdown_question question = {.host = host,
                                          .devices = &devices,
                                          .thread = breakdown_thread(host->trace),
                                          .skipped = &none,
                                          .windows = &window,
                                          .window_count = 1};
    struct kept_mean kept = {.devices = &devices};

    breakdown_walk(&question, keep_mean, &kept);
    arena_destroy(arena);
    return kept.mean;
}
