/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd index FILE --out SEGMENT`: one profile file -> one segment, and its attribution beside
 * it.
 *
 *   FILE -> map -> what is it? -> decoder -> sink -> SEGMENT -> attribution -> SEGMENT's .attr
 *
 * A pure function of the file's bytes. It runs as a process of its own, under limits, so that no
 * file can harm more than this process; the server starts it, and so may any scheduler. The last
 * line on stdout is what was learned (result.h); stderr says in words what went wrong.
 */
#ifndef JVIEWD_INDEX_INDEX_H
#define JVIEWD_INDEX_INDEX_H

#include <stdint.h>

struct index_progress { /* one record on --progress-fd: bytes of the file */
    uint64_t done, total;
};

/* argv[0] is "index". The exit code: 0 done, 2 usage, 3 no profile, 4 I/O, 6 corrupt. */
int index_main(int argc, char **argv);

#endif
