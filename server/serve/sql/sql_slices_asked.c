/* SPDX-License-Identifier: Apache-2.0 */
/* What a query's bounds leave of all slices. */
#include "serve/sql/sql_slices_parts.h"

bool slices_want_host(const struct slices_cursor *cursor, const struct host_trace *host)
{
    return !cursor->asked.has_host || str_equal(cursor->asked.host, host->name);
}

/* A track of this host, by its id. */
bool slices_track_of(const struct host_trace *host, struct str id, track_id *ret)
{
    uint64_t number;

    if (!str_starts(id, host->key) || id.count < host->key.count + 2 ||
        id.at[host->key.count] != '.')
        return false;
    if (!str_to_u64(str_skip(id, host->key.count + 1), &number) ||
        number >= host->trace->track_count)
        return false;
    *ret = (track_id)number;
    return true;
}

bool slices_id_of(const struct host_trace *host, struct str id, slice_id *ret)
{
    uint64_t number;

    if (!str_starts(id, host->key) || id.count < host->key.count + 2 ||
        id.at[host->key.count] != '-')
        return false;
    if (!str_to_u64(str_skip(id, host->key.count + 1), &number) ||
        number >= host->trace->slice_count)
        return false;
    *ret = (slice_id)number;
    return true;
}

bool slices_want_row(const struct slices_cursor *cursor, const struct row *row)
{
    const struct track *track = &cursor->trace->tracks[row->track];
    track_id wanted;

    if (track->derived != cursor->table->derived)
        return false;
    if (cursor->asked.has_depth && cursor->asked.depth != (int64_t)row->depth)
        return false;
    return !cursor->asked.has_track ||
           (slices_track_of(cursor->at_host, cursor->asked.track, &wanted) && wanted == row->track);
}

static bool name_matches(const struct slices_asked *asked, struct str name, struct text *buffer)
{
    for (uint32_t i = 0; i < asked->name_count; i++) {
        const struct name_bound *bound = &asked->names[i];

        if (bound->comparison == SQL_EQUAL && str_equal(bound->equal, name))
            continue;
        if (bound->comparison == SQL_EQUAL)
            return false;
        buffer->count = 0;
        text_put(buffer, name.at, name.count);
        if (!sql_matches(bound->comparison, bound->text, buffer->at == NULL ? "" : buffer->at))
            return false;
    }
    return true;
}

/* One look at each name of a host; how many slices have one that is wanted. */
uint64_t slices_want_names(const struct slices_asked *asked, const struct trace *trace, bool *ret)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);
    struct text buffer = {0};
    uint64_t slices = 0;
    name_id equal;

    if (asked->name_count == 1 && asked->names[0].comparison == SQL_EQUAL) {
        if (!trace_find_name(trace, asked->names[0].equal, &equal))
            return 0;
        const struct name_stats *one = trace_stats_of(trace, equal);

        ret[equal] = one != NULL;
        return one != NULL ? one->count : 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        ret[stats[i].name] = name_matches(asked, trace_name(trace, stats[i].name), &buffer);
        slices += ret[stats[i].name] ? stats[i].count : 0;
    }
    text_free(&buffer);
    return slices;
}

/* The bound of a whole number, rounded outwards by at most one; false: it bounds nothing here. */
static bool whole_of(const struct sql_value *value, int64_t *ret)
{
    if (value->kind == SQL_IS_INTEGER) {
        *ret = value->integer;
        return true;
    }
    if (value->kind != SQL_IS_REAL || !(value->real > -9e18 && value->real < 9e18))
        return false;
    *ret = (int64_t)value->real;
    return true;
}

static int64_t plus(int64_t value, int64_t more)
{
    int64_t sum;

    if (__builtin_add_overflow(value, more, &sum))
        return more < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* Slices that the comparison may be true for touch [from, to); SQLite looks closer. */
static void take_time(struct slices_asked *asked, const struct sql_bound *bound)
{
    int64_t at_ps;

    if (!whole_of(&bound->value, &at_ps))
        return;
    if (bound->comparison & (SQL_EQUAL | SQL_GREATER | SQL_AT_LEAST)) {
        int64_t from_ps = plus(at_ps, -2);

        asked->from_ps = from_ps > asked->from_ps ? from_ps : asked->from_ps;
    }
    if (bound->comparison & (SQL_EQUAL | SQL_LESS | SQL_AT_MOST) &&
        (bound->column == AT_START || bound->comparison != SQL_EQUAL)) {
        int64_t to_ps = plus(at_ps, 2);

        asked->to_ps = to_ps < asked->to_ps ? to_ps : asked->to_ps;
    }
}

static void take_text(struct slices_cursor *cursor, const struct sql_bound *bound, bool *ret_has,
                      struct str *ret)
{
    if (bound->value.kind != SQL_IS_TEXT)
        return; /* SQLite may make a text of it */
    *ret_has = true;
    *ret = str_copy(cursor->arena, bound->value.text);
}

static void take_name(struct slices_cursor *cursor, const struct sql_bound *bound)
{
    struct slices_asked *asked = &cursor->asked;
    struct str text = bound->value.text;

    if (bound->value.kind != SQL_IS_TEXT || asked->name_count == NAME_BOUNDS_MAX)
        return;
    asked->names[asked->name_count++] = (struct name_bound){
        .comparison = bound->comparison,
        .text = str_c(cursor->arena, text),
        .equal = str_copy(cursor->arena, text),
    };
}

void slices_ask(struct slices_cursor *cursor, const struct sql_scan *scan)
{
    struct slices_asked *asked = &cursor->asked;
    bool has_run = false;
    struct str run;

    *asked = (struct slices_asked){.from_ps = INT64_MIN, .to_ps = INT64_MAX};
    sql_pick_runs(cursor->table->work, scan, AT_RUN, &asked->first_run, &asked->end_run);
    for (uint32_t i = 0; i < scan->bound_count; i++) {
        const struct sql_bound *bound = &scan->bounds[i];

        switch (bound->column) {
        case AT_RUN:
            take_text(cursor, bound, &has_run, &run);
            break;
        case AT_HOST:
            take_text(cursor, bound, &asked->has_host, &asked->host);
            break;
        case AT_TRACK:
            take_text(cursor, bound, &asked->has_track, &asked->track);
            break;
        case AT_ID:
            take_text(cursor, bound, &asked->has_id, &asked->id);
            break;
        case AT_DEPTH:
            asked->has_depth |= whole_of(&bound->value, &asked->depth);
            break;
        case AT_START:
        case AT_END:
            take_time(asked, bound);
            break;
        case AT_NAME:
            take_name(cursor, bound);
            break;
        }
    }
}
