/* What one thread of a host did at each moment, from its begin to its end, piece by piece.
 *
 *   python       step ............................    skipped: it says when, not what
 *                load_data ....... PjitFunction ..    depth 1
 *                  sleep ........                      depth 2
 *   line         input ........... dispatch ......    innermost, but what has a meaning keeps it
 *
 * A line is pulled: nothing is kept but what is open, so its memory is that of the thread's depth.
 */
#ifndef JVIEWD_ANALYSE_HOST_LINE_H
#define JVIEWD_ANALYSE_HOST_LINE_H

#include "analyse/host_doing.h"
#include "analyse/restrict.h"

struct host_piece {
    int64_t from_ps, to_ps; /* file time; disjoint, ascending */
    enum host_doing doing;
};

struct skipped { /* step slices, ascending: they say when, not what */
    const slice_id *slices;
    uint32_t count;
};

/* What each name means, found out at its first slice; several lines may share it. */
struct doing_names {
    const struct trace *trace;
    bool has_devices;
    uint8_t *known; /* by name: doing + 1; 0 not looked at */
};
struct doing_names doing_names_create(const struct trace *trace, bool has_devices);
void doing_names_free(struct doing_names *names);

struct host_line;
/* Of what touches the window. */
struct host_line *host_line_open(const struct trace *trace, track_id thread, struct window window,
                                 const struct skipped *skipped, const struct doing_names *names);
bool host_line_next(struct host_line *line, struct host_piece *ret);
void host_line_close(struct host_line *line);

#endif
