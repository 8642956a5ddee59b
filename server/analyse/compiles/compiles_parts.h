/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of compiles.h among themselves. */
#ifndef JVIEWD_ANALYSE_COMPILES_COMPILES_PARTS_H
#define JVIEWD_ANALYSE_COMPILES_COMPILES_PARTS_H

#include "analyse/compiles/compiles.h"

#define NO_COMPILE UINT32_MAX

struct compile_mark { /* a slice that speaks of compiling; file time */
    track_id track;
    slice_id slice;
    name_id name;
    uint32_t depth; /* of its row: of two that begin and end together the deeper is inside */
    uint32_t owner; /* index of its compile; NO_COMPILE */
    int64_t start_ps, end_ps;
    struct compile_word word;
};

struct compile_marks {
    struct compile_mark *items;
    uint32_t count, capacity;
};

/* All of the host's slices with one of the roles, by (track, start, longest first). Devices' and
 * derived tracks have none. */
void compile_marks_find(const struct trace *trace, unsigned roles, struct compile_marks *ret);
/* Those of the role COMPILE_PART inside of the given marks, which are disjoint on each track. */
void compile_parts_find(const struct trace *trace, const struct compile_marks *inside,
                        struct compile_marks *ret);
void compile_marks_add(struct compile_marks *marks, const struct compile_mark *mark);
void compile_marks_sort(struct compile_marks *marks);
void compile_marks_free(struct compile_marks *marks);

/* Shares the time of the marks' tracks among their owners' phases. `own` stand on the threads that
 * asked, `worked` on those that worked for them: what these did counts where the former only
 * waited. Both are sorted. */
void compiles_paint(struct compile *compiles, const struct compile_marks *own,
                    const struct compile_marks *worked);

struct argument {
    struct str name;  /* "state['w']"; "" unknown */
    struct str shape; /* "f32[8,16]" */
};

struct arguments {
    bool is_read, is_known;
    struct argument *items;
    uint32_t count;
};

struct program_run { /* an execution; run time */
    program_id program;
    int64_t start_ps;
};

struct comparing { /* one host's */
    const struct host_trace *host;
    const struct trace *trace;
    struct arena *arena;
    struct arguments *arguments; /* by program */
    bool *wanted;                /* by program: one of a compile's name */
    struct program_run *runs;    /* of those, by (program, start) */
    uint32_t run_count;
    uint64_t bytes_left;
};

/* Fills change and changed from the module before the compile's own. */
void compile_compare(struct comparing *comparing, struct compile *compile, program_id before_id);

/* Fills program, nth, change and changed of one host's compiles, which stand in order of time. */
void compiles_compare(const struct host_trace *host, struct compile *compiles, uint32_t count,
                      struct arena *arena);

#endif
