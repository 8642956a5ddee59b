/* SPDX-License-Identifier: Apache-2.0 */
/* Questions and answers: every analysis takes the traces of a run and a restriction, and ends in
 * plain data that knows nothing of JSON, files or HTTP.
 *
 * Times that leave an analysis are run time: file time + host->offset_ps, so 0 is the run's
 * earliest event floored to a whole nanosecond.
 */
#ifndef JVIEWD_ANALYSE_ANALYSE_H
#define JVIEWD_ANALYSE_ANALYSE_H

#include "base/error.h"
#include "trace/attribution.h"
#include "trace/trace.h"

struct block_sums; /* analyse/scan/block_sums.h */
struct steps;      /* analyse/steps/steps.h */

struct host_trace {
    const struct trace *trace;
    const struct attribution *attribution; /* NULL while it is not made: then no ops */
    struct str name;                       /* of the file without its suffix */
    struct str key;                /* 8 hex digits of its content: prefix of track and slice ids */
    int64_t offset_ps;             /* run time = file time + offset_ps */
    const struct block_sums *sums; /* NULL: windows are walked slice by slice */
};

struct run_traces {
    const struct host_trace *hosts;
    uint32_t host_count;
    /* Traces of files that are no hosts, as programs and snapshots: `.name` is the file's path
     * below the profile directory, times are file times. Only where they are asked for. */
    const struct host_trace *others;
    uint32_t other_count;
    struct str id, name;
    bool has_epoch;
    int64_t epoch_ns; /* of run time 0 */
};

/* Hosts, then others: index < host_count + other_count. */
static inline const struct host_trace *run_trace(const struct run_traces *run, uint32_t index)
{
    return index < run->host_count ? &run->hosts[index] : &run->others[index - run->host_count];
}

struct track_ref {
    uint32_t host;
    track_id track;
};

/* Everything empty: the whole run. Lists are alternatives, fields are joined. */
struct restriction {
    bool has_window;
    int64_t start_ps, end_ps; /* run time */
    const struct str *hosts;
    uint32_t host_count;
    const int64_t *devices; /* ordinals */
    uint32_t device_count;
    const struct track_ref *tracks;
    uint32_t track_count;
    const int64_t *steps; /* ranges: pairs first, last */
    uint32_t step_range_count;
    struct str module, scope, name; /* exact; scope: a prefix of whole path elements */
    struct str q;                   /* a part of the name, ASCII case aside */
    struct str family;     /* of steps that are marked: their name; "": the one that trains */
    struct str step_regex; /* steps are the slices that it matches; "": recognised */
    /* All steps of the run, as they are recognised, where they are at hand; NULL: who asks for
     * steps looks for them. */
    const struct steps *found;
};

enum cell_kind {
    CELL_NULL,
    CELL_INTEGER,
    CELL_UNSIGNED,
    CELL_REAL,
    CELL_TEXT,
    CELL_BOOL,
    CELL_KINDS
};

struct cell {
    enum cell_kind kind;
    union {
        int64_t integer;
        uint64_t uint;
        double real;
        struct str text; /* also the reason of CELL_NULL; "" none */
        bool boolean;
        const int64_t *kinds; /* self_ps by kind, KIND_COUNT and idle: [KIND_COUNT + 1] */
    } of;
};

enum unit { UNIT_NONE, UNIT_PS, UNIT_BYTES, UNIT_COUNT, UNIT_SHARE, UNIT_PER_S, UNIT_TEXT };

struct column {
    const char *key;   /* the name in JSON and CSV */
    const char *title; /* in terminals and Markdown */
    enum unit unit;
    bool by_default; /* shown in a terminal unless asked otherwise */
};

struct answer_note { /* as in replies */
    const char *kind;
    enum note_severity severity;
    struct str message;
    struct str host; /* "" the run */
    uint64_t count;
};

struct table { /* rows of one page; lives in the arena of the request */
    const struct column *columns;
    uint32_t column_count;
    const struct cell *cells; /* row by row */
    uint32_t row_count;       /* in this page */
    uint64_t row_count_all;   /* of all pages */
    uint64_t next;            /* ordinal of the first row after this page; 0: none */
    const struct answer_note *notes;
    uint32_t note_count;
    const char *const *approx; /* columns that are not exact */
    uint32_t approx_count;
    const bool *inexact;     /* rows of the page whose columns `approx` these are; NULL: all */
    const uint32_t *numbers; /* of the page's rows in their own order: equal ones stand by it */
    /* What some tables say beside their rows; sums are over all rows, not the page. */
    struct str by, of;
    int64_t total_ps, total_self_ps;
};

struct page {
    uint64_t offset, limit; /* limit 1 ... 10,000 */
    struct str sort;        /* "-self_ps,name" */
};

#endif
