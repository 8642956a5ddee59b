/* SPDX-License-Identifier: Apache-2.0 */
/* The tables `slices` and `derived_slices`: columns, and the cells of a row. */
#include <stdio.h>
#include <stdlib.h>

#include "serve/sql/sql_slices_parts.h"

static const char columns_text[] =
    "run host track track_name #depth id #start_ps #end_ps #dur_ps #self_ps name kind flags parent";

/* `by_places`: names of slices are looked at in their chunks. */
static unsigned columns_of(uint64_t asked, bool by_places)
{
    static const unsigned needs[] = {
        [AT_START] = COLUMN_START, [AT_END] = COLUMN_START | COLUMN_DUR,
        [AT_DUR] = COLUMN_DUR,     [AT_SELF] = COLUMN_SELF,
        [AT_NAME] = COLUMN_PLACE,  [AT_KIND] = COLUMN_PLACE,
        [AT_FLAGS] = COLUMN_FLAGS, [AT_PARENT] = COLUMN_PARENT,
    };
    unsigned columns = by_places ? COLUMN_PLACE : 0;

    for (size_t i = 0; i < COUNT(needs); i++)
        columns |= asked >> i & 1 ? needs[i] : 0;
    return columns;
}

static enum status slices_open(const struct sql_table *source, const struct sql_scan *scan,
                               void **ret, struct error *err)
{
    struct arena *arena = arena_create();
    struct slices_cursor *cursor = arena_new(arena, struct slices_cursor);

    (void)err;
    cursor->arena = arena;
    cursor->table = source->data;
    slices_ask(cursor, scan);
    cursor->columns = columns_of(scan->columns, cursor->asked.name_count > 0);
    for (unsigned i = 0; i < COUNT(cursor->flag_words) && cursor->columns & COLUMN_FLAGS; i++)
        cursor->flag_words[i] = slice_flags_text(arena, i);
    slices_begin(cursor, scan);
    if (cursor->by_name) /* which tells the name */
        cursor->columns = columns_of(scan->columns & ~(UINT64_C(1) << AT_NAME), false);
    *ret = cursor;
    return OK;
}

static void slices_close(void *data)
{
    struct slices_cursor *cursor = data;

    free((void *)(uintptr_t)cursor->names);
    arena_destroy(cursor->arena);
}

static bool slices_next(void *data, struct error *err)
{
    (void)err;
    return slices_walk(data);
}

static void put_slice_id(struct sql_cell *ret, const struct slices_cursor *cursor, slice_id id)
{
    char text[ID_MAX];
    int size;

    if (id == NO_SLICE) {
        sql_put_null(ret);
        return;
    }
    size = snprintf(text, sizeof text, "%.*s-%u", STR_ARG(cursor->at_host->key), id);
    sql_put_text_copy(ret, (struct str){.at = text, .count = (size_t)size});
}

static slice_id id_of(const struct slices_cursor *cursor)
{
    return cursor->by_name ? cursor->ids[cursor->id_at] : cursor->chunk->first_slice + cursor->at;
}

static int64_t start_of(const struct slices_cursor *cursor)
{
    return run_time(cursor->at_host,
                    cursor->by_name ? cursor->slice.start_ps : cursor->chunk->start_ps[cursor->at]);
}

static int64_t dur_of(const struct slices_cursor *cursor)
{
    return cursor->by_name ? cursor->slice.dur_ps : cursor->chunk->dur_ps[cursor->at];
}

static struct str track_name_of(const struct slices_cursor *cursor)
{
    return trace_name(cursor->trace, cursor->trace->tracks[cursor->at_row->track].name);
}

static void put_flags(struct sql_cell *ret, const struct slices_cursor *cursor)
{
    uint8_t flags = cursor->by_name ? cursor->slice.flags : cursor->chunk->flags[cursor->at];

    sql_put_text(ret, cursor->flag_words[flags % COUNT(cursor->flag_words)]);
}

static void slices_cell(const void *data, uint32_t column, struct sql_cell *ret)
{
    const struct slices_cursor *cursor = data;
    const struct chunk *chunk = cursor->chunk;
    uint32_t at = cursor->at;

    switch (column) {
    case AT_RUN:
        sql_put_text(ret, cursor->table->work->runs[cursor->run].name);
        break;
    case AT_HOST:
        sql_put_text(ret, cursor->at_host->name);
        break;
    case AT_TRACK:
        sql_put_text_copy(ret, (struct str){.at = cursor->track, .count = cursor->track_size});
        break;
    case AT_TRACK_NAME:
        sql_put_text(ret, track_name_of(cursor));
        break;
    case AT_DEPTH:
        sql_put_integer(ret, cursor->at_row->depth);
        break;
    case AT_ID:
        put_slice_id(ret, cursor, id_of(cursor));
        break;
    case AT_START:
        sql_put_integer(ret, start_of(cursor));
        break;
    case AT_END:
        sql_put_integer(ret, start_of(cursor) + dur_of(cursor));
        break;
    case AT_DUR:
        sql_put_integer(ret, dur_of(cursor));
        break;
    case AT_SELF:
        sql_put_integer(ret, cursor->by_name ? cursor->slice.self_ps : chunk->self_ps[at]);
        break;
    case AT_NAME:
        sql_put_text(ret, cursor->by_name ? cursor->name_text : cursor->texts[chunk->place[at]]);
        break;
    case AT_KIND:
        sql_put_text(ret,
                     str_of(kind_word(cursor->by_name
                                          ? cursor->slice.kind
                                          : (enum kind)chunk->dictionary_kind[chunk->place[at]])));
        break;
    case AT_FLAGS:
        put_flags(ret, cursor);
        break;
    case AT_PARENT:
        put_slice_id(ret, cursor, cursor->by_name ? cursor->slice.parent : chunk->parent[at]);
        break;
    }
}

void sql_add_slices(struct sql_work *work, struct sql_table *ret, uint32_t *count)
{
    uint32_t column_count;
    struct sql_column *columns = sql_columns_of(work->arena, columns_text, &column_count);

    columns[AT_RUN].helps = columns[AT_HOST].helps = columns[AT_TRACK].helps = SQL_EQUAL;
    columns[AT_DEPTH].helps = columns[AT_ID].helps = SQL_EQUAL;
    columns[AT_START].helps = columns[AT_END].helps = SQL_RANGE;
    columns[AT_NAME].helps = SQL_EQUAL | SQL_LIKE | SQL_GLOB;
    for (int derived = 0; derived < 2; derived++) {
        struct slices_table *table = arena_new(work->arena, struct slices_table);
        struct sql_column *own = arena_array(work->arena, struct sql_column, column_count);

        memcpy(own, columns, column_count * sizeof *own);
        own[AT_NAME].grouped = !derived;
        *table = (struct slices_table){.work = work, .derived = derived};
        ret[(*count)++] = (struct sql_table){.name = derived ? "derived_slices" : "slices",
                                             .columns = own,
                                             .column_count = column_count,
                                             .row_count = work->slice_count,
                                             .data = table,
                                             .open = slices_open,
                                             .next = slices_next,
                                             .cell = slices_cell,
                                             .close = slices_close};
    }
}
