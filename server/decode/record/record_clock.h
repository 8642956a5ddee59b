/* SPDX-License-Identifier: Apache-2.0 */
/* From a spool's clocks to picoseconds after its opening.
 *
 *  monotonic |            . tie
 *            |      . '       between two ties: the line through both
 *            | . '            outside: the line of the nearest pair
 *            +-------------- ticks
 *
 * The wall clock may be set while a program runs, so what counts is the one that never is; times of
 * the wall clock (CUPTI's) go over by the offset that held when they were read.
 */
#ifndef JVIEWD_DECODE_RECORD_RECORD_CLOCK_H
#define JVIEWD_DECODE_RECORD_RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct record_clock {
    struct record_tie {
        int64_t ticks, monotonic_ns;
    } * ties; /* ascending in both */
    uint32_t count, capacity;
    uint32_t last; /* the pair that answered last: neighbours ask the same */
    int64_t epoch_ns, epoch_monotonic_ns;
    struct record_offset {          /* of the wall clock, as long as it went on */
        int64_t ns, from_ns, to_ns; /* to be added to the other; between these times of its own */
    } * offsets;
    uint32_t offset_count, last_offset;
};

/* Those that do not ascend are passed over: false. */
bool record_clock_tie(struct record_clock *clock, int64_t ticks, int64_t realtime_ns,
                      int64_t monotonic_ns);
/* False without two ties. Clamped to +-TIME_PS_MAX. */
bool record_clock_ps(struct record_clock *clock, int64_t ticks, int64_t *ret);
int64_t record_clock_ps_of_monotonic(const struct record_clock *clock, int64_t ns);
int64_t record_clock_ps_of_realtime(struct record_clock *clock, int64_t ns);
/* How often the wall clock was set. */
uint32_t record_clock_steps(const struct record_clock *clock);
void record_clock_free(struct record_clock *clock);

#endif
