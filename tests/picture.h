/* SPDX-License-Identifier: Apache-2.0 */
/* Traces as text: what a test draws, and what it sees.
 *
 *   GPU:0 / Stream #7              a track, with those above it
 *     0 +30 step 1                 start, length, name: indented by depth
 *       10 +5 fusion.3
 *       20 +8 all-reduce.1 [cut]   flags but those of instants, which are +0
 *   GPU:0 / memory
 *     5 = 1024                     a sample
 *   samples space/bytes            stacks, where there are samples of them
 *     7 main:3; f:7 {k: 1}         values, calls from the outermost, labels; "@5 on python": time
 *
 * Times are picoseconds of file time. Slices stand by start, then by depth. Drawing reads the same:
 * slices go to the sink in the order of the text, whatever the indentation; "partial" is for the
 * sink to find out.
 */
#ifndef JVIEWD_TESTS_PICTURE_H
#define JVIEWD_TESTS_PICTURE_H

#include "check.h"
#include "trace/sink.h"
#include "trace/trace.h"

enum picture_with {                    /* what else a picture shows */
                    PICTURE_ARGS = 1,  /* {key: value, ...} behind a slice */
                    PICTURE_KINDS = 2, /* (compute) behind a name */
                    PICTURE_FLOWS = 4, /* "name -> name" lines at the end */
                    PICTURE_NOTES = 8, /* "note kind count message" at the end */
};

struct str picture_of(const struct trace *trace, unsigned with, struct arena *arena);
#define CHECK_PICTURE(what, trace, with, want)                                                     \
    check_picture(__FILE__, __LINE__, (what), (trace), (with), (want))
void check_picture(const char *file, int line, const char *what, const struct trace *trace,
                   unsigned with, const char *want);

/* Feeds a drawing to a sink; fails the test where it cannot be read. */
void picture_draw(struct sink *sink, const char *picture);
/* A whole trace from a drawing, in memory of the arena. */
const struct trace *picture_trace(const char *picture, struct arena *arena);
/* What `feed` pushes into a fresh sink, as a trace in memory of the arena. */
typedef void picture_feed(struct sink *sink, void *data);
const struct trace *picture_fed(picture_feed *feed, void *data, struct arena *arena);

#endif
