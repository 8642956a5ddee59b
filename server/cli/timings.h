/* SPDX-License-Identifier: Apache-2.0 */
/* Timings of functions, as benchmark_function of api/python writes them:
 *
 *   {"mean": 12.1, "std": 0.4, "min": 11.6, "max": 13.9, "median": 12.0, "count": 100}      or
 *   {"forward": {"mean": 4.2, "std": 0.1}, "backward": {...}}
 *
 * in milliseconds a call. Mean and deviation are what is judged; the rest is checked where it is
 * there, and other members are left alone. Whoever wrote the file may have meant harm: it is of
 * bounded size, depth and number of names, and what is no such result is refused with the reason.
 */
#ifndef JVIEWD_CLI_TIMINGS_H
#define JVIEWD_CLI_TIMINGS_H

#include "analyse/stats/judge.h"
#include "base/bytes.h"
#include "base/error.h"

enum { TIMINGS_MAX = 10000, TIMINGS_BYTES_MAX = 8 << 20 };

struct timing {
    struct str name;      /* "" of a file that holds one result */
    struct summary calls; /* in picoseconds */
};

struct timings {
    const struct timing *items; /* as the file has them */
    uint32_t count;
    bool is_single;
};

/* A small .json file that is an object and no trace: a profile says "traceEvents" at its start. */
bool timings_are(const char *path);
/* ERR_FORMAT with the reason; ERR_LIMIT for too much of it. */
MUST_CHECK enum status timings_read(const char *path, struct arena *arena, struct timings *ret,
                                    struct error *err);

#endif
