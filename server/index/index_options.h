/* SPDX-License-Identifier: Apache-2.0 */
/* What `jviewd index` was asked to do. */
#ifndef JVIEWD_INDEX_INDEX_OPTIONS_H
#define JVIEWD_INDEX_INDEX_OPTIONS_H

#include <stdbool.h>

enum { UNLESS_MAX = 16 };

struct index_options {
    const char *file, *out;
    const char *root;     /* the file's name is a path below it, and may not lead out; else NULL */
    bool follow_symlinks; /* wherever they lead */
    bool identify;        /* say what the file is, and read it no further */
    bool convert;         /* reports that only another program reads, by that program */
    int progress_fd;      /* -1: nobody asks; else the server is our parent */
    int thread_count;     /* 1 or 2 */
    bool xplane;          /* of a spool: XPlane instead of a segment */
    bool growing;         /* the file may grow meanwhile: what it held at first is read */
    const char *unless[UNLESS_MAX]; /* contents that are there already */
    int unless_count;
};

/* False: the process ends with *ret_exit; what is wrong, or the help that was asked for, is
 * said. */
bool index_options_parse(int argc, char **argv, struct index_options *ret, int *ret_exit);

#endif
