/* From a spool's ticks to picoseconds after its opening.
 *
 *   realtime |            . tie
 *            |      . '       between two ties: the line through both
 *            | . '            outside: the line of the nearest pair
 *            +-------------- ticks
 */
#ifndef JVIEWD_DECODE_RECORD_CLOCK_H
#define JVIEWD_DECODE_RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct record_clock {
    struct record_tie {
        int64_t ticks, realtime_ns;
    } * ties; /* ascending in ticks */
    uint32_t count, capacity;
    uint32_t last; /* the pair that answered last: neighbours ask the same */
    int64_t epoch_ns;
};

/* Those that do not ascend are passed over: false. */
bool record_clock_tie(struct record_clock *clock, int64_t ticks, int64_t realtime_ns);
/* False without two ties. Clamped to +-TIME_PS_MAX. */
bool record_clock_ps(struct record_clock *clock, int64_t ticks, int64_t *ret);
void record_clock_free(struct record_clock *clock);

#endif
