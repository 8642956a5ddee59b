/* SPDX-License-Identifier: Apache-2.0 */
/* What one thread of a host did at each moment, or all of them, from begin to end, piece by piece.
 *
 *   python       step ............................    skipped: it says when, not what
 *                load_data ....... PjitFunction ..    depth 1
 *                  sleep ........                      depth 2
 *   line         input ........... dispatch ......    innermost, but what has a meaning keeps it
 *
 *   pool         compute .......   compute .........      of all threads: where the one that steps
 *   line         input . compute . dispatch .......       waits or has nothing, the others count
 *
 * A line is pulled: nothing is kept but what is open, so its memory is that of the thread's depth.
 */
#ifndef JVIEWD_ANALYSE_STEPS_HOST_LINE_H
#define JVIEWD_ANALYSE_STEPS_HOST_LINE_H

#include "analyse/device/host_doing.h"
#include "analyse/steps/restrict.h"

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
    bool in_place;  /* devices are threads of the host: who takes an array waits for it */
    uint8_t *known; /* by name: doing + 1; 0 not looked at */
};
/* Is it a thread of the host that has slices, and none that a profiler keeps about itself? */
bool tells_of_host(const struct trace *trace, track_id track);

/* The thread that a track is a lane of, as CUDA's calls are one; else the track itself. */
track_id host_thread_of(const struct trace *trace, track_id track);

struct doing_names doing_names_create(const struct trace *trace, bool has_devices);
void doing_names_free(struct doing_names *names);

struct host_line;
/* Of what touches the window: the thread's own rows, and those of all its lanes, later ones inside
 * of earlier ones. */
struct host_line *host_line_open(const struct trace *trace, track_id thread, struct window window,
                                 const struct skipped *skipped, const struct doing_names *names);
/* Of all threads of a host, `thread` (NO_TRACK: none) before the others. */
struct host_line *host_line_open_pool(const struct trace *trace, track_id thread,
                                      struct window window, const struct skipped *skipped,
                                      const struct doing_names *names);
/* How many of the others have too many rows, those of threads before them added, to be walked. */
uint32_t host_pool_left_out(const struct trace *trace, track_id thread);
/* When any of these tracks had a slice open, whatever it says. */
struct host_line *host_line_open_cover(const struct trace *trace, const track_id *tracks,
                                       uint32_t count, struct window window);
bool host_line_next(struct host_line *line, struct host_piece *ret);
void host_line_close(struct host_line *line);

#endif
