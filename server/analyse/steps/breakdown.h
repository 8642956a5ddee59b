/* SPDX-License-Identifier: Apache-2.0 */
/* Where time went: each device of a host, and what the host did where a device had nothing to do.
 *
 *   device 0   | compute |  communication  |      gap       | copy |
 *                  | communication |                                  hidden: under other work
 *   host          input |   host          | input |  host  |  wait
 *   said of 0  | compute |  communication  | input |  host  | copy |   sums to the window
 *
 * At each moment of a device the most telling kind of its own ops counts: compute, communication,
 * copy, input, compile, host, other; work before ops that only wait (`copy-done`), and a loop or a
 * call only where nothing in it runs. Where none of its ops runs, what the host's stepping thread
 * did innermost counts; a host that waits or has nothing recorded leaves it idle.
 *
 * What is said of a host joins its devices by their mean, to the picosecond: devices that are busy
 * for less than a hundredth of the busiest are left out. One computing device hides no other's
 * collective. A host without devices is said by its threads: what the stepping one did, and where
 * that waits or has nothing recorded, the most telling of what the others did.
 */
#ifndef JVIEWD_ANALYSE_STEPS_BREAKDOWN_H
#define JVIEWD_ANALYSE_STEPS_BREAKDOWN_H

#include "analyse/steps/host_line.h"

struct device_time {                  /* of one device in one window */
    int64_t kinds_ps[KIND_COUNT + 1]; /* sums to the window; communication is the exposed one */
    int64_t busy_ps;                  /* the union of its own ops */
    int64_t hidden_ps;                /* communication beneath other work; in no kind */
    int64_t wait_ps;                  /* of busy_ps: nothing ran but ops that wait */
    int64_t doing_ps[DOING_COUNT];    /* of the host while the device had nothing: the rest */
};

struct host_devices { /* of one host, those that ran ops */
    const int32_t *devices;
    uint32_t count;      /* 0: the host's threads, told as one device of ordinal -1 */
    uint32_t dropped;    /* beyond HOST_DEVICES_MAX: not looked at */
    const bool *counted; /* those that the host's mean is over */
    uint32_t counted_count;
};

enum { HOST_DEVICES_MAX = 4096 }; /* ordinals come from the file and may be any number */

struct host_devices host_devices_of(const struct host_trace *host, struct arena *arena);
/* The same; of those that count only those that `works` says, by device of the attribution. NULL:
 * all. */
struct host_devices host_devices_among(const struct host_trace *host, const bool *works,
                                       struct arena *arena);
/* How many device_time there are for each window: devices, or 1 for a host without. */
static inline uint32_t host_lane_count(const struct host_devices *devices)
{
    return devices->count > 0 ? devices->count : 1;
}

/* What a window held: one device_time a lane. Windows come in the order given. */
typedef void breakdown_visit(void *data, uint32_t window, const struct device_time *lanes);

struct breakdown_question {
    const struct host_trace *host;
    const struct host_devices *devices;
    track_id thread; /* whose doing counts in gaps; NO_TRACK: none */
    const struct skipped *skipped;
    const struct window *windows; /* file time, by start */
    uint32_t window_count;
    bool host_alone; /* one lane: what the thread did, whatever ran on devices meanwhile */
};
/* Do all of the host's threads count, for it has no device? */
static inline bool breakdown_of_pool(const struct breakdown_question *question)
{
    return question->devices->count == 0 && !question->host_alone;
}
void breakdown_walk(const struct breakdown_question *question, breakdown_visit *visit, void *data);

/* The mean over the counted lanes; kinds_ps, and the rest of it, sum as each lane's do. */
struct device_time breakdown_mean(const struct host_devices *devices,
                                  const struct device_time *lanes);

/* Where [start, end) of a host (run time) went: breakdown_thread speaks for the host. */
struct device_time breakdown_of(const struct host_trace *host, int64_t start_ps, int64_t end_ps);
/* The thread that stands for a host where no step says which: of those that launch, or of all where
 * none does, the one that lasts longest. Of a thread in lanes its first lane. */
track_id breakdown_thread(const struct trace *trace);

#endif
