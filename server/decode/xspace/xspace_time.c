/* SPDX-License-Identifier: Apache-2.0 */
/* Time zero and the epoch.
 *
 *   start of an event = line.timestamp_ns * 1000 + offset_ps
 *
 * The collector makes timestamps relative to the start of the profile, whose Unix time stands in
 * the plane "Task Environment"; file time 0 is that start. Old and foreign files hold Unix times
 * or another machine clock, too far from zero for picoseconds in 64 bits: then file time 0 is the
 * earliest line that is far, and near ones, whose clock must be another, count from there too.
 */
#include "decode/xspace/xspace.h"

/* Half of what fits leaves room for offsets: 26 days. */
static const int64_t far_ns = TIME_PS_MAX / 2 / 1000;
/* Unix times in nanoseconds, since 1973. */
static const int64_t unix_from_ns = INT64_C(100000000000000000);

bool time_is_far(int64_t timestamp_ns)
{
    return timestamp_ns > far_ns;
}

void time_choose_zero(struct xspace *space)
{
    for (uint32_t index = 0; index < space->plane_count; index++) {
        int64_t earliest_ns = space->planes[index].far_ns;

        if (earliest_ns != 0 && (space->zero_ns == 0 || earliest_ns < space->zero_ns))
            space->zero_ns = earliest_ns;
    }
}

int64_t time_of_line(struct xspace *space, int64_t timestamp_ns, bool *ret_clamped)
{
    int64_t relative_ns = timestamp_ns, start_ps;

    if (space->zero_ns != 0 && time_is_far(timestamp_ns))
        relative_ns -= space->zero_ns;
    else if (space->zero_ns != 0)
        space->shifted_line_count++;
    *ret_clamped = __builtin_mul_overflow(relative_ns, 1000, &start_ps);
    if (*ret_clamped)
        return relative_ns < 0 ? -TIME_PS_MAX : TIME_PS_MAX;
    return start_ps;
}

void time_say_epoch(struct xspace *space)
{
    int64_t epoch_ns;

    if (space->shifted_line_count > 0)
        sink_note(space->sink, "mixed-clocks", NOTE_WARNING, space->shifted_line_count,
                  "Some lines use another clock than the rest; they are drawn from the start of "
                  "the file.");
    if (space->zero_ns >= unix_from_ns)
        sink_epoch(space->sink, space->zero_ns);
    else if (!space->has_start)
        sink_no_epoch(space->sink,
                      STR("the file holds no profile_start_time, so its date is unknown"));
    else if (__builtin_add_overflow(space->start_ns, space->zero_ns, &epoch_ns))
        sink_no_epoch(space->sink, STR("profile_start_time is out of range"));
    else
        sink_epoch(space->sink, epoch_ns);
}
