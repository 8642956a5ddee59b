/* GET /api/check?run=&baseline=&max_regress=&metric=&max=: did it become slower than is allowed?
 *
 * Answers ok, regressed or noisy, by the rule of analyse/stats/judge.h; the header X-Jviewd-Answer
 * says it, too, in every format.
 */
#include "analyse/compare/check.h"

#include "analyse/table.h"
#include "serve/answer/table_out.h"
#include "serve/kept/side.h"
#include "serve/routes.h"
#include "serve/routes/check/check.h"

static const struct param params[] = {
    {.name = "run", .kind = PARAM_TEXT, .required = true, .max = 1024},
    {.name = "baseline", .kind = PARAM_TEXT, .max = 1024},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    {.name = "max_regress", .kind = PARAM_TEXT, .max = 32},
    {.name = "confidence", .kind = PARAM_TEXT, .max = 32},
    {.name = "min_effect", .kind = PARAM_TEXT, .max = 32},
    {.name = "metric", .kind = PARAM_TEXT},
    {.name = "max", .kind = PARAM_TEXT},
    {.name = "format", .kind = PARAM_WORD, .words = "json|text|md|junit"},
    {.name = NULL},
};

static void put_json(struct reply *reply, const struct asked_side *run,
                     const struct asked_side *baseline, const struct checked *checked,
                     struct arena *arena)
{
    struct json json = reply_json(reply);

    json_open(&json, '{');
    json_put_run(&json, &run->run);
    json_key(&json, "baseline");
    if (baseline == NULL) {
        json_add_null(&json);
    } else {
        json_open(&json, '{');
        json_put_text(&json, "id", baseline->run.id);
        json_put_text(&json, "name", baseline->run.name);
        json_close(&json, '}');
    }
    check_put_members(&json, checked, arena);
    json_key(&json, "ops");
    json_open(&json, '[');
    json_put_row_objects(&json, &checked->ops);
    json_close(&json, ']');
    json_close(&json, '}');
}

static const struct cell *cell_of(const struct table *table, uint32_t row, const char *key)
{
    uint32_t column = 0;

    while (strcmp(table->columns[column].key, key) != 0)
        column++;
    return &table->cells[(size_t)row * table->column_count + column];
}

/* What became slower, the most first. The rest that no op took says nothing of who did it. */
static enum status take_ops(const struct asked_side *baseline, const struct asked_side *run,
                            struct arena *arena, struct table *ret, struct error *err)
{
    const struct page page = {.limit = 4 * CHECK_OPS_MAX, .sort = STR("-delta_ps,name")};
    struct diff diff;

    TRY(diff_runs(&baseline->side, &run->side, STR("op"), &page, arena, &diff, err));
    const struct table *all = &diff.table;
    struct cell *cells = arena_array(arena, struct cell, (size_t)CHECK_OPS_MAX * all->column_count);

    *ret = *all;
    ret->cells = cells;
    ret->row_count = 0;
    for (uint32_t row = 0; row < all->row_count && ret->row_count < CHECK_OPS_MAX; row++) {
        struct str state = cell_of(all, row, "state")->of.text;
        bool is_slower = str_equal(state, STR("slower")) || str_equal(state, STR("new"));

        if (!is_slower || str_equal(cell_of(all, row, "key")->of.text, STR("other")))
            continue;
        memcpy(cells + (size_t)ret->row_count++ * all->column_count,
               all->cells + (size_t)row * all->column_count, all->column_count * sizeof *cells);
    }
    return OK;
}

static enum status check_all(const struct asked_side *baseline, const struct asked_side *run,
                             const struct asked_check *asked, struct arena *arena,
                             struct checked *ret, struct error *err)
{
    struct check *checks = arena_array(arena, struct check, asked->count);
    struct str *sentences = arena_array(arena, struct str, asked->count);

    *ret = (struct checked){.run = run->run.name,
                            .baseline = baseline == NULL ? STR("") : baseline->run.name,
                            .checks = checks,
                            .sentences = sentences,
                            .count = asked->count,
                            .confidence = asked->rule.confidence};
    for (uint32_t i = 0; i < asked->count; i++) {
        TRY(check_run(baseline == NULL ? NULL : &baseline->side, &run->side, &asked->questions[i],
                      &asked->rule, arena, &checks[i], err));
        sentences[i] = check_sentence(&checks[i], asked->rule.confidence, arena);
        if (checks[i].judged.answer > ret->answer)
            ret->answer = checks[i].judged.answer;
    }
    return baseline == NULL || ret->answer == JUDGED_OK
               ? OK
               : take_ops(baseline, run, arena, &ret->ops, err);
}

static void answer(struct request *req, struct reply *reply, const struct asked_side *run,
                   const struct asked_side *baseline, const struct checked *checked)
{
    static const struct {
        const char *word, *type;
        void (*put)(struct text *out, const struct checked *checked, struct arena *arena);
    } forms[] = {{"text", TYPE_TEXT, check_put_text},
                 {"md", "text/markdown; charset=utf-8", check_put_markdown},
                 {"junit", "application/xml; charset=utf-8", check_put_junit}};

    for (size_t i = 0; i < COUNT(forms); i++) {
        if (!request_is(req, "format", forms[i].word))
            continue;
        reply->status = 200;
        reply->type = forms[i].type;
        forms[i].put(&reply->body, checked, req->arena);
    }
    if (reply->type == NULL)
        put_json(reply, run, baseline, checked, req->arena);
    reply_header(reply, STR("X-Jviewd-Answer"), str_of(judged_word(checked->answer)));
}

static enum status get_check(struct request *req, struct reply *reply, struct error *err)
{
    struct asked_side run, baseline;
    struct asked_check *asked = arena_new(req->arena, struct asked_check);
    bool has_baseline = request_has(req, "baseline");
    struct checked checked;

    TRY(check_args(req, has_baseline, asked, err));
    if (has_baseline)
        TRY(request_side(req, "baseline", &baseline, err));
    TRY(request_side(req, "run", &run, err));
    TRY(check_all(has_baseline ? &baseline : NULL, &run, asked, req->arena, &checked, err));
    answer(req, reply, &run, has_baseline ? &baseline : NULL, &checked);
    return OK;
}

const struct route route_check = {.method = "GET",
                                  .path = "/api/check",
                                  .handle = get_check,
                                  .params = params,
                                  .heavy = true,
                                  .age = AGE_CATALOG};
