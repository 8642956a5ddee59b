/* SPDX-License-Identifier: Apache-2.0 */
/* The captures of a session, as its spools tell them: when each was opened and closed.
 *
 *   process 466   open 1 ......... close 1      open 2 .. close 2      its range turned the switch
 *   process 468     open 1 .......... close 1     open 2 .. close 2    it saw that a look later
 *                 ^ the first of both   ^ the first of both
 */
#ifndef JVIEWD_LAUNCH_CAPTURE_LIST_H
#define JVIEWD_LAUNCH_CAPTURE_LIST_H

#include <stdint.h>

#include "decode/record/record_clock.h"
#include "decode/record/record_read.h"

struct capture {
    int64_t number;            /* counted from 1 */
    int64_t open_ns, close_ns; /* CLOCK_MONOTONIC; INT64_MAX: nobody closed it */
    int64_t realtime_ns;       /* of open_ns */
};

struct capture_list {
    struct capture *at; /* by number */
    uint32_t count, capacity;
};

/* Of all spools of a directory that nobody writes any more. */
void captures_read(const char *directory, struct capture_list *ret);
void captures_free(struct capture_list *list);

struct spool_open { /* a spool that is read */
    struct bytes mapped;
    struct record_file file;
    struct record_clock clock;
};
/* With all its ties; false where it is none, or cannot be read. */
bool spool_read_open(const char *path, struct spool_open *ret);
void spool_read_close(struct spool_open *spool);
/* False where the spool does not tie its clocks. */
bool spool_monotonic_ns(struct spool_open *spool, int64_t ticks, int64_t *ret);

#endif
