/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables there are: those that endpoints declare as views of SQL, and the catalog's. */
#include "serve/answer/route_table.h"
#include "serve/answer/run_out.h"
#include "serve/tables/tables_parts.h"

/* In front of each row, where the table has no column of the name. */
static const char whose_columns[] =
    "run content_id #run_step captured_at device_kind host #device #step";
static const char slice_columns[] = "host track track_name #depth id #start_ps #end_ps #dur_ps "
                                    "#self_ps name kind flags parent";
static const char finding_columns[] = "#rank rule theme severity confidence text #win_ps "
                                      "%win_share #same_time_as #more_count remedy";

static const struct {
    const char *name, *columns;
    bool is_large, needs_no_timeline;
} own_tables[] = {
    {"runs", RUN_COLUMNS, false, true},
    {"files", RUN_FILE_COLUMNS, false, true},
    {"metrics", RUN_METRIC_COLUMNS, false, false},
    {"findings", finding_columns, false, false},
    {"slices", slice_columns, true, false},
    {"derived_slices", slice_columns, true, false},
};

static struct str next_word(const char **at)
{
    struct str ret = {.at = *at, .count = strcspn(*at, " ")};

    *at += ret.count;
    *at += **at == ' ';
    return ret;
}

static enum data_type take_type(struct str *word)
{
    enum data_type ret = word->at[0] == '#'   ? DATA_INTEGER
                         : word->at[0] == '%' ? DATA_REAL
                                              : DATA_TEXT;

    if (ret != DATA_TEXT)
        *word = str_skip(*word, 1);
    return ret;
}

static bool has_word(const char *words, struct str name)
{
    while (*words != '\0') {
        struct str word = next_word(&words);

        (void)take_type(&word);
        if (str_equal(word, name))
            return true;
    }
    return false;
}

static void add_columns(struct arena *arena, const char *words, const char *but_not,
                        struct data_column *ret, uint32_t *count)
{
    while (*words != '\0' && *count < DATA_COLUMNS_MAX) {
        struct str word = next_word(&words);
        enum data_type type = take_type(&word);

        if (!has_word(but_not, word))
            ret[(*count)++] = (struct data_column){.name = str_c(arena, word), .type = type};
    }
}

static void fill(struct arena *arena, struct data_table *ret, const char *own)
{
    struct data_column *columns = arena_array(arena, struct data_column, DATA_COLUMNS_MAX);

    ret->columns = columns;
    add_columns(arena, whose_columns, own, columns, &ret->column_count);
    uint32_t first = ret->column_count;
    add_columns(arena, own, "", columns, &ret->column_count);
    ret->own_count = ret->column_count - first;
    add_columns(arena, "reasons", "", columns, &ret->column_count);
}

uint32_t data_tables(const struct route_table *routes, struct arena *arena,
                     struct data_table ret[TABLES_MAX])
{
    struct offers views;
    uint32_t count = 0;

    for (size_t i = 0; i < COUNT(own_tables); i++) {
        ret[count] = (struct data_table){.name = own_tables[i].name,
                                         .is_large = own_tables[i].is_large,
                                         .needs_no_timeline = own_tables[i].needs_no_timeline};
        fill(arena, &ret[count++], own_tables[i].columns);
    }
    route_views(routes, &views);
    for (uint32_t i = 0; i < views.count && count < TABLES_MAX; i++) {
        const struct view *view = views.items[i].what;

        ret[count] = (struct data_table){.name = view->name, .view = view};
        fill(arena, &ret[count++], view->columns);
    }
    return count;
}

const char *data_type_word(enum data_type type)
{
    static const char *const words[] = {
        [DATA_TEXT] = "text", [DATA_INTEGER] = "integer", [DATA_REAL] = "real"};

    return words[type];
}

static void put_table(struct json *json, const struct data_table *table)
{
    json_open(json, '{');
    json_put_text(json, "name", str_of(table->name));
    json_put_bool(json, "is_large", table->is_large);
    json_key(json, "columns");
    json_open(json, '[');
    for (uint32_t i = 0; i < table->column_count; i++) {
        json_open(json, '{');
        json_put_text(json, "name", str_of(table->columns[i].name));
        json_put_text(json, "type", str_of(data_type_word(table->columns[i].type)));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

void data_put_schema(const struct route_table *routes, struct text *out)
{
    struct arena *arena = arena_create();
    struct data_table *tables = arena_array(arena, struct data_table, TABLES_MAX);
    uint32_t count = data_tables(routes, arena, tables);
    struct json json = json_into(out);

    json_open(&json, '{');
    json_put_integer(&json, "version", TABLES_VERSION);
    json_key(&json, "tables");
    json_open(&json, '[');
    for (uint32_t i = 0; i < count; i++)
        put_table(&json, &tables[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    arena_destroy(arena);
}
