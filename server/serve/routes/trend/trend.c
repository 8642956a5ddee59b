/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/trend?metric=&path=&over=: a metric over the runs, and where it jumped.
 *
 * Asks the catalog alone, whose records hold what indexing told of a run: two thousand runs cost
 * what their list costs. Levels and noise: analyse/stats/changes.h.
 */
#include <stdlib.h>

#include "analyse/stats/stats.h"
#include "analyse/table.h"
#include "serve/answer/run_out.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"
#include "serve/routes/trend/trend.h"
#include "serve/tool.h"

static const struct param params[] = {
    {.name = "metric", .kind = PARAM_TEXT, .max = 256},
    {.name = "over", .kind = PARAM_WORD, .words = "step|time|commit"},
    {.name = "names", .kind = PARAM_WORD, .words = "all|none"},
    {.name = "path", .kind = PARAM_TEXT},
    {.name = "like", .kind = PARAM_TEXT, .max = 1024},
    {.name = "q", .kind = PARAM_TEXT},
    {.name = "sort", .kind = PARAM_TEXT, .max = 64},
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = NULL},
};

enum { NAMES_MAX = 2000 };
enum { NOISE_RUNS_MIN = 3 }; /* of two, the median deviation is half of what they are apart */

enum trend_column {
    TREND_ID,
    TREND_NAME,
    TREND_STATE,
    TREND_STEP,
    TREND_AT,
    TREND_COMMIT,
    TREND_VALUE,
    TREND_LEVEL,
    TREND_LOW,
    TREND_HIGH,
    TREND_JUMP,
    TREND_ORDINAL, /* only to sort by */
    TREND_COUNT
};

/* Does a new level begin with this point? *ret_before is the last one of the level before. */
static bool is_jump(const struct trend *trend, uint32_t index, uint32_t *ret_before)
{
    uint32_t level = trend->level_of[index];

    if (level == UINT32_MAX || level == 0)
        return false;
    for (uint32_t i = index; i-- > 0;) {
        if (trend->level_of[i] == UINT32_MAX)
            continue;
        *ret_before = i;
        return trend->level_of[i] != level;
    }
    return false;
}

static struct cell text_or_null(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell jump_cell(const struct trend *trend, uint32_t index)
{
    uint32_t before;

    if (!is_jump(trend, index, &before))
        return cell_null(STR("the level does not change here"));
    int64_t from = trend->levels[trend->level_of[index] - 1].median;
    int64_t to = trend->levels[trend->level_of[index]].median;
    return from == 0 ? cell_null(STR("the previous level was 0"))
                     : cell_real(((double)to - (double)from) / (double)from);
}

/* Shares are kept in billionths. */
static struct cell value_cell(const struct trend *trend, int64_t value)
{
    return trend->metric.unit == UNIT_SHARE ? cell_real((double)value / METRIC_SHARE_WHOLE)
                                            : cell_integer(value);
}

static struct cell level_cell(const struct trend *trend, uint32_t index, enum trend_column column)
{
    const struct trend_point *point = &trend->points[index];

    if (!point->has_value)
        return cell_null(point->reason);
    const struct level *level = &trend->levels[trend->level_of[index]];
    bool is_noise = column == TREND_LOW || column == TREND_HIGH;

    if (is_noise && level->end - level->first < NOISE_RUNS_MIN)
        return cell_null(STR("fewer than three runs show no noise level"));
    switch (column) {
    case TREND_VALUE:
        return value_cell(trend, point->value);
    case TREND_LEVEL:
        return value_cell(trend, level->median);
    case TREND_LOW:
        return level->low >= 0 ? value_cell(trend, level->low) /* no metric is below 0 */
                               : cell_null(STR("the noise is larger than the level"));
    default:
        return value_cell(trend, level->high);
    }
}

struct shown {
    const struct trend *trend;
    struct arena *arena;
};

static struct cell cell_at(const void *data, uint32_t index, uint32_t column)
{
    const struct shown *shown = data;
    const struct trend_point *point = &shown->trend->points[index];

    switch ((enum trend_column)column) {
    case TREND_ID:
        return cell_text(point->run->id);
    case TREND_NAME:
        return cell_text(point->run->name);
    case TREND_STATE:
        return cell_text(str_of(run_state_word(point->run->state)));
    case TREND_STEP:
        return point->has_step ? (struct cell){.kind = CELL_UNSIGNED, .of.uint = point->step}
                               : cell_null(STR("its name contains no step number"));
    case TREND_AT:
        return text_or_null(unix_ns_iso(shown->arena, point->at_ns), "its time is not known");
    case TREND_COMMIT:
        return text_or_null(point->run->about.commit, "no jview.json gives one");
    case TREND_JUMP:
        return jump_cell(shown->trend, index);
    case TREND_ORDINAL:
        return cell_integer(index);
    default:
        return level_cell(shown->trend, index, column);
    }
}

/* The metric's unit is that of four columns. */
static const struct column *columns_of(const struct trend *trend, struct arena *arena)
{
    enum unit unit = trend->metric.unit;
    bool has_commit = false;

    for (uint32_t i = 0; i < trend->count; i++)
        has_commit |= trend->points[i].run->about.commit.count > 0;
    const struct column all[TREND_COUNT] = {
        [TREND_ID] = {"id", "id", UNIT_TEXT, false},
        [TREND_NAME] = {"name", "run", UNIT_TEXT, true},
        [TREND_STATE] = {"state", "state", UNIT_TEXT, false},
        [TREND_STEP] = {"step", "step", UNIT_NONE, true},
        [TREND_AT] = {"at", "at", UNIT_TEXT, true},
        [TREND_COMMIT] = {"commit", "commit", UNIT_TEXT, has_commit},
        [TREND_VALUE] = {"value", str_c(arena, trend->metric.word), unit, true},
        [TREND_LEVEL] = {"level", "level", unit, true},
        [TREND_LOW] = {"low", "noise from", unit, true},
        [TREND_HIGH] = {"high", "noise to", unit, true},
        [TREND_JUMP] = {"jump", "jump", UNIT_SHARE, true},
        [TREND_ORDINAL] = {"ordinal", "ordinal", UNIT_COUNT, false},
    };
    struct column *ret = arena_array(arena, struct column, TREND_COUNT);

    memcpy(ret, all, sizeof all);
    return ret;
}

static enum status table_of(struct request *req, const struct trend *trend, struct table *ret,
                            struct error *err)
{
    const struct column *columns = columns_of(trend, req->arena);
    struct shown shown = {trend, req->arena};
    struct table_source source = {.columns = columns,
                                  .column_count = TREND_COUNT,
                                  .row_count = trend->count,
                                  .cell = cell_at,
                                  .data = &shown};
    struct page page;
    uint32_t *order;

    TRY(request_page(req, &page, err));
    if (!request_has(req, "limit"))
        page.limit = PAGE_LIMIT_MAX; /* half a trend is none */
    TRY(table_order(&source, page.sort, "ordinal", req->arena, &order, err));
    *ret = (struct table){.columns = columns,
                          .column_count = TREND_ORDINAL,
                          .row_count_all = trend->count,
                          .notes = trend->notes,
                          .note_count = trend->note_count};
    source.column_count = TREND_ORDINAL;
    table_fill(&source, order, &page, req->arena, ret);
    return OK;
}

static void put_run(struct json *json, const char *key, const struct trend_point *point)
{
    json_key(json, key);
    json_open(json, '{');
    json_put_text(json, "id", point->run->id);
    json_put_text(json, "name", point->run->name);
    json_close(json, '}');
}

/* The p of a jump: are the runs of both levels alike? */
static double p_of(const struct trend *trend, uint32_t level, struct arena *arena)
{
    const struct level *a = &trend->levels[level - 1], *b = &trend->levels[level];
    int64_t *values = arena_array(arena, int64_t, (size_t)b->end - a->first);
    uint32_t count = 0;

    for (uint32_t i = 0; i < trend->count; i++) {
        if (trend->level_of[i] == level - 1 || trend->level_of[i] == level)
            values[count++] = trend->points[i].value;
    }
    return mann_whitney(values, a->end - a->first, values + (a->end - a->first), b->end - b->first);
}

static void put_value(struct json *json, const char *key, const struct trend *trend, int64_t value)
{
    if (trend->metric.unit == UNIT_SHARE)
        json_put_real(json, key, (double)value / METRIC_SHARE_WHOLE);
    else
        json_put_integer(json, key, value);
}

/* Each with the runs on its two sides: what to compare. */
static void put_jumps(struct json *json, const struct trend *trend, struct arena *arena)
{
    json_key(json, "jumps");
    json_open(json, '[');
    for (uint32_t i = 0; i < trend->count; i++) {
        uint32_t before, level = trend->level_of[i];

        if (!is_jump(trend, i, &before))
            continue;
        int64_t from = trend->levels[level - 1].median, to = trend->levels[level].median;
        json_open(json, '{');
        put_run(json, "before", &trend->points[before]);
        put_run(json, "run", &trend->points[i]);
        put_value(json, "from", trend, from);
        put_value(json, "to", trend, to);
        if (from != 0)
            json_put_real(json, "share", ((double)to - (double)from) / (double)from);
        else
            json_put_null(json, "share");
        json_put_real(json, "p", p_of(trend, level, arena));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static int by_text(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static void put_name(struct json *json, struct str name, struct str unit, bool counted,
                     uint64_t runs)
{
    json_open(json, '{');
    json_put_text(json, "name", name);
    json_put_text(json, "unit", unit);
    if (counted)
        json_put_unsigned(json, "runs", runs);
    else
        json_put_null(json, "runs");
    json_close(json, '}');
}

/* Ops that some of these runs spend most in. Other directories' runs share the catalog. */
static void put_op_names(struct request *req, struct json *json, const struct trend *trend,
                         const struct metric_of *all, uint32_t count)
{
    struct str *kept = arena_array(req->arena, struct str, trend->count);
    uint32_t named = 0;

    for (uint32_t i = 0; i < trend->count; i++)
        kept[i] = trend->points[i].run->kept_id;
    if (trend->count > 0)
        qsort(kept, trend->count, sizeof *kept, by_text);
    for (uint32_t i = 0, end; i < count && named < NAMES_MAX; i = end) {
        uint64_t runs = 0;

        for (end = i; end < count && str_equal(all[end].metric.name, all[i].metric.name); end++)
            runs += trend->count > 0 &&
                    bsearch(&all[end].kept_id, kept, trend->count, sizeof *kept, by_text) != NULL;
        if (runs == 0 || !str_starts(all[i].metric.name, STR("op:")))
            continue;
        put_name(json, all[i].metric.name, all[i].metric.unit, true, runs);
        named++;
    }
}

/* "names": what may be asked as metric=. */
static enum status put_names(struct request *req, struct json *json, const struct trend *trend,
                             struct error *err)
{
    struct trend_metric metric;
    struct metric_of *all;
    uint32_t count;

    TRY(catalog_metrics(req->services->catalog, req->arena, &all, &count, err));
    json_key(json, "names");
    json_open(json, '[');
    for (size_t i = 0; trend_metric_at(i, &metric); i++)
        put_name(json, metric.word, trend_unit_word(metric.unit), false, 0);
    put_op_names(req, json, trend, all, count);
    json_close(json, ']');
    return OK;
}

static enum status get_trend(struct request *req, struct reply *reply, struct error *err)
{
    struct trend trend;
    struct table table;

    TRY(trend_points(req, &trend, err));
    TRY(table_of(req, &trend, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "metric", trend.metric.word);
    json_put_text(&json, "unit", trend_unit_word(trend.metric.unit));
    json_put_text(&json, "over", str_of(trend_over_word(trend.over)));
    if (request_is(req, "names", "all"))
        TRY(put_names(req, &json, &trend, err));
    put_jumps(&json, &trend, req->arena);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static const struct verb verb = {.name = "trend",
                                 .summary = "a metric over the runs, and where it jumped",
                                 .operands = "[PATH]"};

static const struct tool_argument arguments[] = {
    {"metric", TOOL_TEXT, false, "step_time (default), step_count, duration, ...", NULL},
    {"path", TOOL_TEXT, false, "Only runs below this directory", NULL},
    {"q", TOOL_TEXT, false, "A part of name, directory, host or framework", NULL},
    TOOL_PAGE,
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {{.name = "trend",
                                     .title = "Trend",
                                     .text = "A metric over the runs, and where it jumped.",
                                     .arguments = arguments,
                                     .fixed = "limit=100",
                                     .rank = 8},
                                    {.name = NULL}};

const struct route route_trend = {.method = "GET",
                                  .path = "/api/trend",
                                  .handle = get_trend,
                                  .params = params,
                                  .heavy = true,
                                  .age = AGE_CATALOG,
                                  .verb = &verb,
                                  .tools = tools};
