/* SPDX-License-Identifier: Apache-2.0 */
/* From slice to slice: along the rows of chunks, or along the index by name. */
#include <stdio.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "serve/sql/sql_slices_parts.h"

static void begin_host(struct slices_cursor *cursor, uint32_t run, uint32_t host)
{
    cursor->run = run;
    cursor->host = host;
    cursor->traces = sql_traces(cursor->table->work, run);
    cursor->at_host = &cursor->traces->hosts[host];
    cursor->trace = cursor->at_host->trace;
    cursor->at_row = NULL;
}

static void begin_row(struct slices_cursor *cursor, const struct row *row)
{
    if (cursor->at_row == NULL || cursor->at_row->track != row->track)
        cursor->track_size = (size_t)snprintf(cursor->track, sizeof cursor->track, "%.*s.%u",
                                              STR_ARG(cursor->at_host->key), row->track);
    cursor->at_row = row;
}

static bool next_host(struct slices_cursor *cursor)
{
    for (;;) {
        cursor->host++;
        while (cursor->run < cursor->asked.end_run &&
               cursor->host >= sql_traces(cursor->table->work, cursor->run)->host_count) {
            cursor->run++;
            cursor->host = 0;
        }
        if (cursor->run >= cursor->asked.end_run)
            return false;
        begin_host(cursor, cursor->run, cursor->host);
        if (!slices_want_host(cursor, cursor->at_host))
            continue;
        cursor->row = 0;
        cursor->end_row = cursor->trace->row_count;
        track_id track;
        if (cursor->asked.has_track) {
            if (!slices_track_of(cursor->at_host, cursor->asked.track, &track))
                continue;
            cursor->row = cursor->trace->tracks[track].first_row;
            cursor->end_row = cursor->row + cursor->trace->tracks[track].row_count;
        }
        if (cursor->asked.name_count > 0) {
            bool *wanted = arena_array(cursor->arena, bool, (size_t)cursor->trace->name_count + 1);

            if (slices_want_names(&cursor->asked, cursor->trace, wanted) == 0 &&
                !cursor->table->derived)
                continue;
            cursor->wanted = wanted;
        }
        return true;
    }
}

static bool next_row(struct slices_cursor *cursor)
{
    while (cursor->row < cursor->end_row) {
        const struct row *row = &cursor->trace->rows[cursor->row++];

        if (!slices_want_row(cursor, row))
            continue;
        row_window(cursor->trace, row, file_time(cursor->at_host, cursor->asked.from_ps),
                   file_time(cursor->at_host, cursor->asked.to_ps), &cursor->ordinal, &cursor->end);
        if (cursor->ordinal >= cursor->end)
            continue;
        begin_row(cursor, row);
        return true;
    }
    return false;
}

static bool look_at_dictionary(struct slices_cursor *cursor)
{
    bool any = cursor->wanted == NULL;

    if ((cursor->columns & COLUMN_PLACE) == 0)
        return true;
    for (uint32_t i = 0; i < cursor->chunk->dictionary_count; i++) {
        name_id name = cursor->chunk->dictionary_name[i];

        cursor->texts[i] = trace_name(cursor->trace, name);
        cursor->wanted_place[i] = cursor->wanted == NULL || cursor->wanted[name];
        any |= cursor->wanted_place[i];
    }
    return any;
}

static bool next_chunk(struct slices_cursor *cursor)
{
    for (;;) {
        while (cursor->at_row == NULL || cursor->ordinal >= cursor->end) {
            while (cursor->at_host == NULL || !next_row(cursor)) {
                if (!next_host(cursor))
                    return false;
            }
        }
        uint32_t first = cursor->ordinal / CHUNK_SLICES * CHUNK_SLICES;
        uint32_t end = cursor->end - first < CHUNK_SLICES ? cursor->end - first : CHUNK_SLICES;

        chunk_unpack(cursor->trace, cursor->at_row->first_chunk + first / CHUNK_SLICES,
                     cursor->columns, cursor->chunk);
        cursor->at = cursor->ordinal - first;
        cursor->chunk_end = end < cursor->chunk->count ? end : cursor->chunk->count;
        cursor->ordinal = first + CHUNK_SLICES;
        if (cursor->at < cursor->chunk_end && look_at_dictionary(cursor))
            return true;
    }
}

static bool scan_next(struct slices_cursor *cursor)
{
    for (cursor->at++;; cursor->at++) {
        if (cursor->at >= cursor->chunk_end && !next_chunk(cursor))
            return false;
        if (cursor->wanted == NULL || cursor->wanted_place[cursor->chunk->place[cursor->at]])
            return true;
    }
}

static bool is_before(struct slice slice, int64_t at_ps, bool by_start)
{
    return by_start ? slice.start_ps < at_ps : slice.start_ps + slice.dur_ps < at_ps;
}

/* The first of the ids [first, end) that ends after `at`, or begins at or after it. */
static uint32_t find_id(const struct slices_cursor *cursor, uint32_t first, uint32_t end,
                        int64_t at_ps, bool by_start)
{
    return BISECT(first, end, i,
                  is_before(trace_slice(cursor->trace, cursor->ids[i]), at_ps, by_start));
}

static bool begin_ids(struct slices_cursor *cursor, const struct name_run *run)
{
    if (run->row >= cursor->trace->row_count)
        return false;

    const struct row *row = &cursor->trace->rows[run->row];

    if (!slices_want_row(cursor, row))
        return false;
    cursor->ids = trace_name_slices(cursor->trace, run);
    if (cursor->ids == NULL)
        return false;
    cursor->id_at = 0;
    cursor->id_end = run->count;
    if (cursor->asked.from_ps > INT64_MIN)
        cursor->id_at = find_id(cursor, 0, cursor->id_end,
                                file_time(cursor->at_host, cursor->asked.from_ps), false);
    if (cursor->asked.to_ps < INT64_MAX)
        cursor->id_end = find_id(cursor, cursor->id_at, cursor->id_end,
                                 file_time(cursor->at_host, cursor->asked.to_ps), true);
    begin_row(cursor, row);
    return cursor->id_at < cursor->id_end;
}

static bool begin_name(struct slices_cursor *cursor)
{
    if (cursor->name_at == cursor->name_count)
        return false;
    const struct slices_named *named = &cursor->names[cursor->name_at++];

    if (cursor->at_host == NULL || cursor->run != named->run || cursor->host != named->host)
        begin_host(cursor, named->run, named->host);
    cursor->runs = trace_name_runs(cursor->trace, named->name, &cursor->run_count);
    cursor->run_at = 0;
    cursor->name_text = named->text;
    return true;
}

static void look_at(struct slices_cursor *cursor, slice_id id)
{
    const unsigned times = COLUMN_START | COLUMN_DUR | COLUMN_SELF;
    const struct row *row = cursor->at_row;
    uint32_t ordinal = id - row->first_slice;

    cursor->slice = (cursor->columns & ~times) == 0 && ordinal < row->count
                        ? trace_slice_times(cursor->trace, row, ordinal, cursor->columns)
                        : trace_slice(cursor->trace, id);
}

static bool name_next(struct slices_cursor *cursor)
{
    cursor->id_at++;
    while (cursor->id_at >= cursor->id_end) {
        while (cursor->run_at >= cursor->run_count) {
            if (!begin_name(cursor))
                return false;
        }
        cursor->id_end = 0;
        cursor->id_at = 0;
        begin_ids(cursor, &cursor->runs[cursor->run_at++]);
    }
    if (cursor->columns != 0)
        look_at(cursor, cursor->ids[cursor->id_at]);
    return true;
}

static int by_text(const void *left, const void *right)
{
    const struct slices_named *a = left, *b = right;
    int order = str_compare(a->text, b->text);

    if (order != 0)
        return order;
    return a->run != b->run ? (a->run > b->run ? 1 : -1)
                            : (a->host > b->host) - (a->host < b->host);
}

/* Names that are asked for, of all hosts, by their text. */
static void list_names(struct slices_cursor *cursor)
{
    struct sql_work *work = cursor->table->work;
    struct slices_named *names = NULL;
    size_t count = 0, capacity = 0;

    for (uint32_t run = cursor->asked.first_run; run < cursor->asked.end_run; run++) {
        const struct run_traces *traces = sql_traces(work, run);

        for (uint32_t host = 0; host < traces->host_count; host++) {
            const struct trace *trace = traces->hosts[host].trace;
            const struct name_stats *stats;
            uint32_t all = trace_name_stats(trace, &stats);
            bool *wanted = arena_array(cursor->arena, bool, (size_t)trace->name_count + 1);

            if (!slices_want_host(cursor, &traces->hosts[host]))
                continue;
            slices_want_names(&cursor->asked, trace, wanted);
            for (uint32_t i = 0; i < all; i++) {
                if (!wanted[stats[i].name])
                    continue;
                if (count == capacity) {
                    capacity = capacity * 2 + 64;
                    names = memory_resize(names, capacity, sizeof *names);
                }
                names[count++] = (struct slices_named){.run = run,
                                                       .host = host,
                                                       .name = stats[i].name,
                                                       .text = trace_name(trace, stats[i].name)};
            }
        }
    }
    if (count > 1)
        qsort(names, count, sizeof *names, by_text);
    cursor->names = names;
    cursor->name_count = (uint32_t)count;
}

/* Are there few enough slices of these names that looking each up costs less than passing by? */
static bool are_few(const struct slices_cursor *cursor)
{
    uint64_t wanted = 0, all = 0;

    for (uint32_t run = cursor->asked.first_run; run < cursor->asked.end_run; run++) {
        const struct run_traces *traces = sql_traces(cursor->table->work, run);

        for (uint32_t host = 0; host < traces->host_count; host++) {
            const struct trace *trace = traces->hosts[host].trace;
            bool *names = arena_array(cursor->arena, bool, (size_t)trace->name_count + 1);

            wanted += slices_want_names(&cursor->asked, trace, names);
            all += trace->slice_count;
        }
    }
    return wanted <= all / FEW_SHARE;
}

/* A single slice, by its id: the list of one. */
static void find_slice(struct slices_cursor *cursor)
{
    struct sql_work *work = cursor->table->work;

    for (uint32_t run = cursor->asked.first_run; run < cursor->asked.end_run; run++) {
        const struct run_traces *traces = sql_traces(work, run);

        for (uint32_t host = 0; host < traces->host_count; host++) {
            slice_id id;

            if (!slices_id_of(&traces->hosts[host], cursor->asked.id, &id))
                continue;
            begin_host(cursor, run, host);
            const struct row *row = &cursor->trace->rows[trace_row_of(cursor->trace, id)];
            if (!slices_want_host(cursor, cursor->at_host) || !slices_want_row(cursor, row))
                continue;
            slice_id *ids = arena_new(cursor->arena, slice_id);
            *ids = id;
            begin_row(cursor, row);
            cursor->ids = ids;
            cursor->id_at = UINT32_MAX; /* the next one is the first */
            cursor->id_end = 1;
            cursor->name_text = trace_name(cursor->trace, trace_slice(cursor->trace, id).name);
            return;
        }
    }
}

/* Derived tracks are not in the index by name. */
static bool goes_by_name(const struct slices_cursor *cursor, const struct sql_scan *scan)
{
    if (scan->order == AT_NAME)
        return true;
    return cursor->asked.name_count > 0 && !cursor->table->derived && are_few(cursor);
}

void slices_begin(struct slices_cursor *cursor, const struct sql_scan *scan)
{
    cursor->run = cursor->asked.first_run;
    cursor->host = UINT32_MAX;
    cursor->by_name = cursor->asked.has_id || goes_by_name(cursor, scan);
    if (cursor->asked.has_id)
        find_slice(cursor);
    else if (cursor->by_name)
        list_names(cursor);
    else
        cursor->chunk = arena_new(cursor->arena, struct chunk);
}

bool slices_walk(struct slices_cursor *cursor)
{
    return cursor->by_name ? name_next(cursor) : scan_next(cursor);
}
