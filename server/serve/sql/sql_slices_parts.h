/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sql_slices*.c: the tables `slices` and `derived_slices`: every slice of every run, from
 * its segment.
 *
 *   scan      run > host > track > depth > chunk of 4,096 slices, unpacked by column: what is
 *             neither asked for nor inside the window is not looked at
 *   by name   name > run > host > row > slice, along the segment's index: for a name, for few
 *             names, and for rows that shall come name by name (GROUP BY name)
 *
 * Derived tracks repeat what other tracks say, so that they stand in a table of their own, and
 * sums over `slices` are those of every other table.
 *
 *   sql_slices.c        the tables, and the cells of a row
 *   sql_slices_asked.c  what a query's bounds leave: runs, hosts, tracks, names, a window
 *   sql_slices_walk.c   the rows, one after the other
 */
#ifndef JVIEWD_SERVE_SQL_SQL_SLICES_PARTS_H
#define JVIEWD_SERVE_SQL_SQL_SLICES_PARTS_H

#include "serve/answer/slice_out.h"
#include "serve/sql/sql_parts.h"
#include "trace/names/by_name.h"

enum slices_column {
    AT_RUN,
    AT_HOST,
    AT_TRACK,
    AT_TRACK_NAME,
    AT_DEPTH,
    AT_ID,
    AT_START,
    AT_END,
    AT_DUR,
    AT_SELF,
    AT_NAME,
    AT_KIND,
    AT_FLAGS,
    AT_PARENT,
};

enum { NAME_BOUNDS_MAX = 4, FEW_SHARE = 8, ID_MAX = 32 };

struct slices_table {
    struct sql_work *work;
    bool derived;
};

struct name_bound {
    enum sql_comparison comparison;
    const char *text;
    struct str equal;
};

struct slices_asked { /* what the bounds leave */
    uint32_t first_run, end_run;
    bool has_host, has_track, has_depth, has_id;
    struct str host, track, id;
    int64_t depth;
    int64_t from_ps, to_ps; /* run time; slices that touch it */
    struct name_bound names[NAME_BOUNDS_MAX];
    uint32_t name_count;
};

struct slices_named { /* a name of one host that is asked for */
    uint32_t run, host;
    name_id name;
    struct str text;
};

struct slices_cursor {
    const struct slices_table *table;
    struct arena *arena; /* of this cursor */
    struct slices_asked asked;
    unsigned columns; /* of a chunk */
    bool by_name;

    uint32_t run, host; /* where it stands; host UINT32_MAX: before the first */
    const struct run_traces *traces;
    const struct host_trace *at_host;
    const struct trace *trace;
    row_id row, end_row;
    const struct row *at_row;
    char track[ID_MAX];
    size_t track_size;

    uint32_t ordinal, end;  /* scan: of the row, what is left of the window */
    uint32_t at, chunk_end; /* in the chunk */
    const bool *wanted;     /* by name of the host; NULL: all */
    bool wanted_place[CHUNK_SLICES];
    struct str texts[CHUNK_SLICES]; /* of the chunk's dictionary */
    struct chunk *chunk;

    const struct slices_named *names; /* by name */
    uint32_t name_count, name_at;
    const struct name_run *runs;
    uint32_t run_count, run_at;
    const slice_id *ids;
    uint32_t id_at, id_end;
    struct slice slice;
    struct str name_text;

    struct str flag_words[64];
};

/* Into a zeroed cursor with its arena and table. */
void slices_ask(struct slices_cursor *cursor, const struct sql_scan *scan);
bool slices_want_host(const struct slices_cursor *cursor, const struct host_trace *host);
bool slices_want_row(const struct slices_cursor *cursor, const struct row *row);
/* One look at each name of a host; how many slices have one that is wanted. */
uint64_t slices_want_names(const struct slices_asked *asked, const struct trace *trace, bool *ret);
bool slices_track_of(const struct host_trace *host, struct str id, track_id *ret);
bool slices_id_of(const struct host_trace *host, struct str id, slice_id *ret);

/* To where the first call of `slices_walk` begins. */
void slices_begin(struct slices_cursor *cursor, const struct sql_scan *scan);
bool slices_walk(struct slices_cursor *cursor);

#endif
