/* What was done at each moment of a host, from its begin to its end, piece by piece.
 *
 *   device ops     compute   --  copy --     at each moment the most telling kind of all devices
 *   host thread   host input host host host  at each moment the innermost slice of one thread
 *   line          compute input copy host    the devices' before the host's; holes are idle
 *
 * A line is pulled: nothing is kept but what is open, so its memory is that of the thread's depth.
 */
#ifndef JVIEWD_ANALYSE_BREAKDOWN_LINE_H
#define JVIEWD_ANALYSE_BREAKDOWN_LINE_H

#include "analyse/restrict.h"

struct piece {
    int64_t from_ps, to_ps; /* file time; disjoint, ascending */
    enum kind kind;
};

struct skipped { /* step slices, ascending: they say when, not what */
    const slice_id *slices;
    uint32_t count;
};

struct line;
/* Of what touches the window; `thread` may be NO_TRACK. */
struct line *line_open(const struct host_trace *host, track_id thread, struct window window,
                       const struct skipped *skipped);
bool line_next(struct line *line, struct piece *ret);
void line_close(struct line *line);

#endif
