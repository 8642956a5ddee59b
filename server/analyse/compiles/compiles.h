/* SPDX-License-Identifier: Apache-2.0 */
/* What was compiled in a run, why, and what that took.
 *
 *   by name    slices that speak of compiling (compile_words.h)      compiles_marks.c
 *   painted    at each moment of a compile, the innermost tells      compiles_paint.c
 *   joined     with steps, modules, and the compile before it        compiles_find.c, _changed.c
 *
 * A compile is one request of one function: tracing, lowering, and what the compiler did on the
 * thread that asked and on those that worked for it meanwhile. Its phases are parts of one line of
 * time, so they sum to its total; a compile inside another (a constant that is computed while a
 * function is traced) has its own time, which the outer one does not count.
 */
#ifndef JVIEWD_ANALYSE_COMPILES_COMPILES_H
#define JVIEWD_ANALYSE_COMPILES_COMPILES_H

#include "analyse/analyse.h"
#include "analyse/device/compile_words.h"
#include "trace/ps.h"

enum compile_cached { CACHED_UNKNOWN, CACHED_NO, CACHED_YES };

enum compile_change { /* against the compile, or the module, of the same name before it */
                      CHANGE_UNKNOWN,
                      CHANGE_FIRST,     /* there is none */
                      CHANGE_SHAPE,     /* of arguments */
                      CHANGE_DTYPE,     /* of arguments, and perhaps their shapes */
                      CHANGE_ARGUMENTS, /* how many there are */
                      CHANGE_PROGRAM,   /* the same arguments, other instructions */
                      CHANGE_NOTHING,   /* the same module once more */
};
const char *compile_change_word(enum compile_change change); /* NULL: unknown */

struct compile {
    uint32_t host;
    track_id track;           /* of the thread that asked */
    slice_id slice;           /* that stands for it: the link */
    struct str function;      /* "train_step"; "" unknown */
    struct str module;        /* "jit_train_step"; "" unknown */
    program_id program;       /* of its host; NO_PROGRAM */
    int64_t start_ps, end_ps; /* run time: from its call to the end of compiling */
    int64_t backend_start_ps; /* of compiling proper: decides its step */
    int64_t phases_ps[PHASE_COUNT];
    unsigned seen; /* 1 << phase: recorded, so that 0 means none */
    enum compile_cached cached;
    bool in_step;
    bool in_warmup;
    int64_t step; /* number, where in_step */
    uint32_t nth; /* of its function on its host, from 1 */
    enum compile_change change;
    struct str changed; /* "x: f32[8,16] -> f32[12,16]"; or why that is not known */
};

static inline int64_t compile_total(const struct compile *compile)
{
    int64_t sum_ps = 0;

    for (int phase = 0; phase < PHASE_COUNT; phase++)
        ps_add(&sum_ps, compile->phases_ps[phase]);
    return sum_ps;
}
/* The compiler's own part: what a breakdown of steps calls compile. */
static inline int64_t compile_backend(const struct compile *compile)
{
    return compile->phases_ps[PHASE_PASSES] + compile->phases_ps[PHASE_CODEGEN] +
           compile->phases_ps[PHASE_AUTOTUNE] + compile->phases_ps[PHASE_BACKEND];
}

struct compiles { /* by start, then host */
    struct compile *items;
    uint32_t count;
    bool has_steps;
};

struct steps;
/* Those that began in what the restriction lets through (hosts, tracks, window, steps; name and q
 * are of functions, module of modules). `all`: the steps of the run, NULL:
 * they are found. */
MUST_CHECK enum status compiles_find(const struct run_traces *run,
                                     const struct restriction *restriction, const struct steps *all,
                                     struct arena *arena, struct compiles *ret, struct error *err);

/* Why there are none; "" where there are. */
struct str compiles_missing(const struct run_traces *run);

/* `by` "function" (also ""): columns function module host count cached_count total_ps first_ps
 * later_ps share, a column a phase (trace_ps ... other_ps), backend_ps steps change changed slice
 * start_ps. "compile": function module program_id host track slice start_ps dur_ps total_ps share,
 * phases, backend_ps step nth cached change changed. Default sort: "-total_ps,start_ps" and
 * "start_ps". `all` steps of the run, or NULL. */
MUST_CHECK enum status compiles_table(const struct run_traces *run,
                                      const struct restriction *restriction,
                                      const struct steps *all, struct str by,
                                      const struct page *page, struct arena *arena,
                                      struct table *ret, struct error *err);

#endif
