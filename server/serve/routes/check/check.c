/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/check?run=&baseline=&max_regress=&metric=&max=: did it become slower than is allowed?
 *
 * Answers ok, maybe, regressed or unknown, by the rule of analyse/stats/judge.h; the header
 * X-Jviewd-Answer says it, too, in every format. The baseline is one run or several: A,B,C, or
 * last:5, the five that were captured before the run.
 */
#include "analyse/compare/check.h"

#include "analyse/table.h"
#include "serve/answer/table_out.h"
#include "serve/kept/side.h"
#include "serve/routes.h"
#include "serve/routes/check/check.h"

static const struct param params[] = {
    {.name = "run", .kind = PARAM_TEXT, .required = true, .max = 1024},
    {.name = "baseline", .kind = PARAM_TEXT},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    {.name = "max_regress", .kind = PARAM_TEXT, .max = 32},
    {.name = "confidence", .kind = PARAM_TEXT, .max = 32},
    {.name = "min_effect", .kind = PARAM_TEXT, .max = 32},
    {.name = "must_see", .kind = PARAM_TEXT, .max = 32},
    {.name = "metric", .kind = PARAM_TEXT},
    {.name = "max", .kind = PARAM_TEXT},
    {.name = "format", .kind = PARAM_WORD, .words = "json|text|md|junit"},
    {.name = NULL},
};

struct baselines { /* the one, or several */
    struct asked_side **sides;
    uint32_t count;
};

static void put_baseline(struct json *json, const char *key, const struct asked_side *baseline)
{
    if (key != NULL)
        json_key(json, key);
    json_open(json, '{');
    json_put_text(json, "id", baseline->run.id);
    json_put_text(json, "name", baseline->run.name);
    json_close(json, '}');
}

static void put_json(struct reply *reply, const struct asked_side *run,
                     const struct baselines *baselines, const struct checked *checked,
                     struct arena *arena)
{
    struct json json = reply_json(reply);

    json_open(&json, '{');
    json_put_run(&json, &run->run);
    if (baselines->count == 1)
        put_baseline(&json, "baseline", baselines->sides[0]);
    else
        json_put_null(&json, "baseline");
    json_key(&json, "baselines");
    json_open(&json, '[');
    for (uint32_t i = 0; i < baselines->count; i++)
        put_baseline(&json, NULL, baselines->sides[i]);
    json_close(&json, ']');
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

static struct str names_of(const struct baselines *baselines, struct arena *arena)
{
    struct text names = {0};

    for (uint32_t i = 0; i < baselines->count; i++)
        text_putf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(baselines->sides[i]->called));
    struct str ret = str_copy(arena, text_str(&names));
    text_free(&names);
    return ret;
}

static enum status check_all(const struct baselines *baselines, const struct asked_side *run,
                             const struct asked_check *asked, struct arena *arena,
                             struct checked *ret, struct error *err)
{
    struct check *checks = arena_array(arena, struct check, asked->count);
    struct str *sentences = arena_array(arena, struct str, asked->count);
    const struct diff_side **sides = arena_array(arena, const struct diff_side *, baselines->count);

    for (uint32_t i = 0; i < baselines->count; i++)
        sides[i] = &baselines->sides[i]->side;
    *ret = (struct checked){.run = run->called,
                            .baseline = names_of(baselines, arena),
                            .checks = checks,
                            .sentences = sentences,
                            .count = asked->count,
                            .confidence = asked->rule.confidence};
    for (uint32_t i = 0; i < asked->count; i++) {
        TRY(check_run(sides, baselines->count, &run->side, &asked->questions[i], &asked->rule,
                      arena, &checks[i], err));
        sentences[i] = check_sentence(&checks[i], asked->rule.confidence, arena);
        if (checks[i].judged.answer > ret->answer)
            ret->answer = checks[i].judged.answer;
    }
    /* Who did it is told against the last of several: the nearest in time. */
    return baselines->count == 0 || ret->answer == JUDGED_OK
               ? OK
               : take_ops(baselines->sides[baselines->count - 1], run, arena, &ret->ops, err);
}

static void answer(struct request *req, struct reply *reply, const struct asked_side *run,
                   const struct baselines *baselines, const struct checked *checked)
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
        put_json(reply, run, baselines, checked, req->arena);
    reply_header(reply, STR("X-Jviewd-Answer"), str_of(judged_word(checked->answer)));
}

static enum status add_baseline(struct request *req, struct str text, struct baselines *ret,
                                struct error *err)
{
    struct asked_side *side = arena_new(req->arena, struct asked_side);

    if (ret->count == BASELINE_RUNS_MAX)
        return fail(err, ERR_INVALID, "at most %d runs of a baseline", BASELINE_RUNS_MAX);
    TRY(request_baseline(req, text, side, err));
    ret->sides[ret->count++] = side;
    return OK;
}

static bool is_before(const struct run_record *run, const struct run_record *than)
{
    return !str_equal(run->id, than->id) && run->state != RUN_GONE && run->state != RUN_FAILED &&
           run_captured_ns(run) <= run_captured_ns(than);
}

/* "last:5" */
static bool last_of(struct str text, uint64_t *ret)
{
    return str_starts(text, STR("last:")) && str_to_u64(str_skip(text, 5), ret);
}

/* Those that were captured before the run, the oldest first. */
static enum status take_last(struct request *req, uint64_t wanted, struct baselines *ret,
                             struct error *err)
{
    const struct run_query newest_first = {.limit = UINT32_MAX};
    struct str ids[BASELINE_RUNS_MAX];
    const struct run_record *run;
    struct run_record *runs;
    uint32_t count, found = 0;
    uint64_t all;

    if (wanted < BASELINE_RUNS_MIN || wanted > BASELINE_RUNS_MAX)
        return fail(err, ERR_INVALID, "baseline=last:%llu: from last:%d to last:%d",
                    (unsigned long long)wanted, BASELINE_RUNS_MIN, BASELINE_RUNS_MAX);
    request_choose(req, request_text(req, "run"));
    TRY(request_run(req, &run, err));
    TRY(catalog_runs(req->services->catalog, &newest_first, req->arena, &runs, &count, &all, err));
    for (uint32_t i = 0; i < count && found < wanted; i++) {
        if (is_before(&runs[i], run))
            ids[found++] = runs[i].id;
    }
    if (found < wanted)
        return fail(err, ERR_NOT_FOUND, "baseline=last:%llu: %u run%s %s before \"%.*s\"",
                    (unsigned long long)wanted, found, found == 1 ? "" : "s",
                    found == 1 ? "was captured" : "were captured", STR_ARG(run->name));
    while (found > 0)
        TRY(add_baseline(req, ids[--found], ret, err));
    return OK;
}

/* One run, where the whole text is one; else the list's. */
static enum status take_baselines(struct request *req, struct baselines *ret, struct error *err)
{
    struct str rest = request_text(req, "baseline"), text;
    uint64_t wanted;

    *ret = (struct baselines){.sides =
                                  arena_array(req->arena, struct asked_side *, BASELINE_RUNS_MAX)};
    if (rest.count == 0)
        return OK;
    if (last_of(rest, &wanted))
        return take_last(req, wanted, ret, err);
    if (memchr(rest.at, ',', rest.count) == NULL || request_is_run(req, rest))
        return add_baseline(req, rest, ret, err);
    while (list_next(&rest, &text))
        TRY(add_baseline(req, text, ret, err));
    return OK;
}

static void tell_apart(struct asked_side *run, const struct baselines *baselines,
                       struct arena *arena)
{
    struct asked_side **all = arena_array(arena, struct asked_side *, baselines->count + 1);

    all[0] = run;
    for (uint32_t i = 0; i < baselines->count; i++)
        all[i + 1] = baselines->sides[i];
    sides_tell_apart(all, baselines->count + 1, arena);
}

static enum status get_check(struct request *req, struct reply *reply, struct error *err)
{
    struct asked_side run;
    struct baselines baselines;
    struct asked_check *asked = arena_new(req->arena, struct asked_check);
    struct checked checked;

    TRY(check_args(req, request_has(req, "baseline"), asked, err));
    TRY(take_baselines(req, &baselines, err));
    TRY(request_side(req, "run", &run, err));
    tell_apart(&run, &baselines, req->arena);
    TRY(check_all(&baselines, &run, asked, req->arena, &checked, err));
    answer(req, reply, &run, &baselines, &checked);
    return OK;
}

static const struct verb verb = {
    .name = "check",
    .summary = "did it become slower than allowed? exit code 1 if so, 7 if that cannot be decided",
    .operands = "RUN",
    .other_run = "baseline",
    .own_flag = "maybe-exit",
    .own_flag_text = "exit code if it may or may not be slower (0)",
    .note = "exit codes: 0 not slower than allowed, with the stated power; 1 slower; 2 no "
            "such\nmetric; 7 cannot be decided: a run lacks the metric, or has no steps or too "
            "few.\n--baseline takes several runs: A,B,C, or last:5, the five before RUN. RUN may "
            "then\ndiffer from them as much as they differ from each other. Use several runs on a "
            "machine\nthat others use too.\n\nRUN and the baseline may be two files of timings, "
            "{\"mean\", \"std\", \"count\"} in ms, or\nmappings of names to them, as written by "
            "benchmark_function of the module jviewd.\n--count N gives the number of timed calls "
            "where the files do not."};

const struct route route_check = {.method = "GET",
                                  .path = "/api/check",
                                  .handle = get_check,
                                  .params = params,
                                  .heavy = true,
                                  .age = AGE_CATALOG,
                                  .verb = &verb};
