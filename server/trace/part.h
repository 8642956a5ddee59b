/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is to its run. */
#ifndef JVIEWD_TRACE_PART_H
#define JVIEWD_TRACE_PART_H

enum decode_part {
    PART_TIMELINE, /* a host: its tracks are the run's */
    PART_PROGRAMS, /* compiled modules, without a timeline */
    PART_SNAPSHOT, /* samples of one moment, or sums: memory or CPU profiles */
    PART_COUNT
};

const char *decode_part_word(enum decode_part part); /* "timeline", "programs", "snapshot" */

#endif
