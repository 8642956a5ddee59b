/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/top?run=: what took the time, by one property. */
#include "analyse/ops/top.h"

#include "analyse/critical/critical.h"
#include "analyse/ops/annotations.h"
#include "analyse/steps/steps.h"
#include "serve/answer/table_out.h"
#include "serve/kept/sums.h"
#include "serve/routes.h"
#include "serve/tool.h"

#define TOP_BY                                                                                     \
    "op|name|kernel|api|category|module|scope|source|phase|host|device|track|kind|annotation"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_RESTRICTION,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "by", .kind = PARAM_WORD, .words = TOP_BY},
    {.name = "depth", .kind = PARAM_INTEGER, .min = 0, .max = 64},
    {.name = "fold", .kind = PARAM_WORD, .words = "siblings"},
    {.name = "spread", .kind = PARAM_WORD, .words = "none"},
    {.name = "path", .kind = PARAM_WORD, .words = "no|yes"},
    {.name = "min_self_ps", .kind = PARAM_INTEGER, .min = 0, .max = INT64_MAX},
    PARAM_SORT,
    {.name = NULL},
};

/* Spans of the program are no sums of slices: they have a table of their own, and one meaning. */
static enum status make_table(const struct run_traces *run, const struct restriction *restriction,
                              const struct top_question *question, const struct page *page,
                              struct arena *arena, struct table *ret, struct error *err)
{
    if (!str_equal(question->by, STR("annotation")))
        return top(run, restriction, question, page, arena, ret, err);
    if (question->min_self_ps > 0)
        return fail(err, ERR_INVALID, "min_self_ps= is not for by=annotation");
    return annotations(run, restriction, page, arena, ret, err);
}

/* Of more slices paths are found where they are asked for: it takes up to a second. */
enum { PATH_SLICES = 100000 };

static bool is_small(const struct run_traces *run)
{
    uint64_t slices = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        slices += run->hosts[i].trace->slice_count;
    return slices <= PATH_SLICES;
}

/* What lies on the paths of the steps asked for; a window cuts them. */
static enum status find_paths(const struct run_traces *run, const struct restriction *restriction,
                              bool wanted, struct arena *arena, struct top_question *question,
                              struct error *err)
{
    struct top_paths *paths = arena_new(arena, struct top_paths);
    struct critical_sums sums;
    struct steps steps;

    if (restriction->has_window)
        question->without_paths = "a window has no path: ask for steps";
    else if (!wanted)
        question->without_paths = "the run is large: ask with path=yes";
    if (question->without_paths != NULL || str_equal(question->by, STR("annotation")))
        return OK;
    TRY(steps_find(run, restriction, arena, &steps, err));
    critical_sums_make(run, &steps, &sums);
    critical_top_paths(run, &sums, arena, paths);
    critical_sums_free(&sums);
    question->paths = paths;
    return OK;
}

static enum status get_top(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct table table;
    struct top_question question = {
        .by = request_text(req, "by"),
        .depth = (uint32_t)request_integer(req, "depth", 0),
        .fold_siblings = request_is(req, "fold", "siblings"),
        .min_self_ps = request_integer(req, "min_self_ps", 0),
        .without_spread = request_is(req, "spread", "none"),
    };

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(find_paths(run, &restriction,
                   request_has(req, "path") ? request_is(req, "path", "yes")
                                            : is_small(run) && !request_is(req, "spread", "none"),
                   req->arena, &question, err));
    run = sums_take(req, run);
    enum status status = make_table(run, &restriction, &question, &page, req->arena, &table, err);
    sums_return(req, run);
    TRY(status);
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", table.by);
    json_put_counted(&json, req, &restriction);
    json_put_text(&json, "of", table.of);
    json_put_integer(&json, "total_ps", table.total_ps);
    json_put_integer(&json, "total_self_ps", table.total_self_ps);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static const struct restriction whole = {0};

static enum status make_by(const struct run_traces *run, const char *by, const struct page *page,
                           struct arena *arena, struct table *ret, struct error *err)
{
    struct top_question question = {.by = str_of(by)};

    TRY(find_paths(run, &whole, is_small(run), arena, &question, err));
    return top(run, &whole, &question, page, arena, ret, err);
}

static enum status make_ops(const struct run_traces *run, const struct page *page,
                            struct arena *arena, struct table *ret, struct error *err)
{
    return make_by(run, "op", page, arena, ret, err);
}

static enum status make_names(const struct run_traces *run, const struct page *page,
                              struct arena *arena, struct table *ret, struct error *err)
{
    return make_by(run, "name", page, arena, ret, err);
}

static enum status make_scopes(const struct run_traces *run, const struct page *page,
                               struct arena *arena, struct table *ret, struct error *err)
{
    return make_by(run, "scope", page, arena, ret, err);
}

static enum status make_modules(const struct run_traces *run, const struct page *page,
                                struct arena *arena, struct table *ret, struct error *err)
{
    return make_by(run, "module", page, arena, ret, err);
}

#define VIEW_COLUMNS                                                                               \
    "key name kind category module scope source phase #count #event_count #total_ps #self_ps "     \
    "%share %cumulative_share #mean_ps #stdev_ps #min_ps #p50_ps #p95_ps #max_ps %flops %bytes "   \
    "%flops_per_s %bytes_per_s bound_by %peak_share #on_path_ps #slack_ps"

static const struct view views[] = {
    {.name = "ops", .columns = VIEW_COLUMNS, .make = make_ops, .kept = "by=op", .rank = 3},
    {.name = "names", .columns = VIEW_COLUMNS, .make = make_names, .kept = "by=name", .rank = 3},
    {.name = "scopes", .columns = VIEW_COLUMNS, .make = make_scopes, .kept = "by=scope", .rank = 3},
    {.name = "modules",
     .columns = VIEW_COLUMNS,
     .make = make_modules,
     .kept = "by=module",
     .rank = 3},
    {.name = NULL},
};

static const struct ahead ahead[] = {{.params = "by=op&step=counted"},
                                     {.params = "by=op"},
                                     {.params = "by=name"},
                                     {.params = "by=kernel"},
                                     {.params = "by=category"},
                                     {.params = "by=module"},
                                     {.params = "by=scope"},
                                     {.params = "by=source"},
                                     {.params = "by=phase"},
                                     {.params = "by=device"},
                                     {.params = "by=track"},
                                     {.params = "by=host"},
                                     {.params = "by=annotation"},
                                     {.params = "by=api"},
                                     {.params = "by=kind"},
                                     {.params = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "by=op", .limit = 500, .what = "ops", .rank = 7},
    {.params = "by=scope", .limit = 500, .what = "scopes", .rank = 9},
    {.params = "by=category", .limit = 500, .what = "categories", .rank = 11},
    {.params = "by=module", .limit = 500, .what = "modules", .rank = 12},
    {.params = "by=name", .limit = 500, .what = "names", .rank = 13},
    {.params = "by=source", .limit = 500, .what = "source lines", .rank = 14},
    {.params = "by=device", .limit = 500, .what = "devices", .rank = 15},
    {.params = NULL}};

static const struct verb verb = {
    .name = "top", .summary = "ops, kernels, scopes, ... by self time", .operands = "RUN"};

static const struct tool_argument arguments[] = {
    TOOL_RUN,
    {"by", TOOL_WORD, false, "What a row is (default op)", TOP_BY},
    {"step", TOOL_TEXT, false, "Only these steps: 3 or 1-11, by comma", NULL},
    {"device", TOOL_TEXT, false, "Only these device ordinals, by comma", NULL},
    {"host", TOOL_TEXT, false, "Only these hosts, by comma", NULL},
    {"module", TOOL_TEXT, false, "Only this compiled module", NULL},
    {"scope", TOOL_TEXT, false, "Only this scope, a prefix of whole path elements", NULL},
    {"q", TOOL_TEXT, false, "Only names that contain this text", NULL},
    {"sort", TOOL_TEXT, false, "A column, - in front for descending (default -self_ps)", NULL},
    TOOL_WINDOW,
    TOOL_PAGE,
    TOOL_TOKENS,
    TOOL_END};
static const struct tool_argument op_arguments[] = {
    TOOL_RUN,
    {"name", TOOL_TEXT, true, "The op's, kernel's or slice's exact name", NULL},
    TOOL_TOKENS,
    TOOL_END};
static const struct tool_part parts[] = {
    {.member = "top", .path = "/api/top", .fixed = "limit=8"},
    {.member = "names", .path = "/api/top", .fixed = "by=name&limit=4"},
    {.member = "longest", .path = "/api/slices", .fixed = "sort=-dur_ps&limit=5"},
    {.path = NULL}};
static const struct tool tools[] = {
    {.name = "top",
     .title = "Top table",
     .text = "What took the time in a run: ops, kernels, scopes, modules, ... by self time.",
     .arguments = arguments,
     .fixed = "limit=20",
     .columns = TOOL_OP_COLUMNS,
     .rank = 4},
    {.name = "explain_op",
     .title = "One op",
     .text =
         "One op or kernel by its name: its totals, scope, source line, FLOPs, bytes and bound, "
         "and its longest executions.",
     .arguments = op_arguments,
     .parts = parts,
     .rank = 6},
    {.name = NULL}};

const struct route route_top = {.method = "GET",
                                .path = "/api/top",
                                .handle = get_top,
                                .params = params,
                                .heavy = true,
                                .is_table = true,
                                .views = views,
                                .ahead = ahead,
                                .in_bundle = in_bundle,
                                .verb = &verb,
                                .tools = tools};
