/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/critical?run=&step=&by=: why a step takes as long as it does.
 *
 *   without by=   the critical path of one step, piece by piece: of the step that is asked for, or
 *                 of the one that stands for the others
 *   slice=        of the step in which the slice lies; and its share of the path, its slack
 *   by=op|place|scope|kind|device|host   of all steps asked for what lies on their paths
 */
#include "analyse/critical/critical.h"

#include "serve/answer/table_out.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"
#include "serve/tool.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "step", .kind = PARAM_RANGES},
    {.name = "slice", .kind = PARAM_TEXT, .max = 64},
    {.name = "host", .kind = PARAM_TEXTS},
    {.name = "by", .kind = PARAM_WORD, .words = "op|place|scope|kind|device|host"},
    {.name = "family", .kind = PARAM_TEXT},
    {.name = "step_regex", .kind = PARAM_TEXT, .max = 256},
    PARAM_SORT,
    {.name = NULL},
};

static void put_step(struct json *json, const struct run_traces *run, const struct step *step,
                     int64_t dur_ps)
{
    json_key(json, "step");
    json_open(json, '{');
    if (step == NULL)
        json_put_null(json, "step");
    else
        json_put_integer(json, "step", step->number);
    if (run->host_count == 0)
        json_put_null(json, "host");
    else
        json_put_text(json, "host", run->hosts[step == NULL ? 0 : step->host].name);
    json_put_integer(json, "dur_ps", dur_ps);
    json_close(json, '}');
}

static void put_notes(struct json *json, const struct request *req, const struct table *table)
{
    uint32_t counts[2] = {0, table->note_count};
    const struct answer_note *lists[2] = {request_notes(req, &counts[0]), table->notes};

    json_put_notes(json, lists, counts, 2);
}

/* A slice is of one step; of none it has no path. */
static enum status find_slice(struct request *req, const struct run_traces *run,
                              const struct steps *steps, const struct step **step,
                              struct slice_on_path *ret, struct error *err)
{
    const struct step *own;

    *ret = (struct slice_on_path){.slice = NO_SLICE};
    if (!request_has(req, "slice"))
        return OK;
    TRY(request_slice(req, request_text(req, "slice"), &ret->host, &ret->slice, err));
    own = critical_step_of(run, steps, ret->host, ret->slice);
    if (own == NULL && steps->count > 0)
        ret->reason = STR("it lies in no step");
    else
        *step = own;
    return OK;
}

static void put_slice(struct json *json, struct request *req, const struct slice_on_path *of)
{
    if (of->slice == NO_SLICE)
        return;
    json_key(json, "slice");
    json_open(json, '{');
    json_put_text(json, "id", request_text(req, "slice"));
    if (of->known) {
        json_put_integer(json, "on_path_ps", of->on_path_ps);
        json_put_integer(json, "slack_ps", of->slack_ps);
    } else {
        json_put_null(json, "on_path_ps");
        json_put_null(json, "slack_ps");
    }
    json_put_text_or_null(json, "waits_for", of->waits_for);
    json_put_text_or_null(json, "edge", of->edge);
    json_put_text_or_null(json, "evidence", of->evidence);
    json_put_text_or_null(json, "reason", of->known ? STR("") : of->reason);
    json_close(json, '}');
}

static enum status reply_pieces(struct request *req, struct reply *reply,
                                const struct run_traces *run, const struct steps *steps,
                                const struct page *page, struct error *err)
{
    const struct step *step = critical_typical(steps, req->arena);
    struct slice_on_path of;
    struct table table;

    if (page->sort.count > 0)
        return fail(err, ERR_INVALID, "the pieces of a path are in order of time: sort= needs by=");
    TRY(find_slice(req, run, steps, &step, &of, err));
    TRY(critical_pieces(run, steps, step, page,
                        of.slice == NO_SLICE || of.reason.count > 0 ? NULL : &of, req->arena,
                        &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    put_step(&json, run, step, table.total_ps);
    json_put_unsigned(&json, "row_count", table.row_count_all);
    json_key(&json, "pieces");
    json_open(&json, '[');
    json_put_row_objects(&json, &table);
    json_close(&json, ']');
    put_slice(&json, req, &of);
    json_put_next(&json, table.next);
    put_notes(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static enum status reply_rows(struct request *req, struct reply *reply,
                              const struct run_traces *run, const struct steps *steps,
                              const struct page *page, struct error *err)
{
    struct critical_sums sums;
    struct table table;
    enum status status;

    critical_sums_make(run, steps, &sums);
    status = critical_rows(run, &sums, request_text(req, "by"), page, req->arena, &table, err);
    if (status == OK && !reply_table_text(req, reply, &table)) {
        struct json json = reply_json(reply);

        json_open(&json, '{');
        json_put_run(&json, run);
        json_put_text(&json, "by", table.by);
        json_put_unsigned(&json, "step_count", sums.step_count);
        json_put_integer(&json, "total_ps", table.total_ps);
        json_put_table(&json, req, &table);
        json_close(&json, '}');
    }
    critical_sums_free(&sums);
    return status;
}

static enum status get_critical(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct steps steps;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(request_steps(req, run, &restriction, &steps, err));
    if (restriction.step_range_count > 0 && steps.count == 0)
        return fail(err, ERR_NOT_FOUND, "no step has that number (%.*s)", STR_ARG(steps.rule_text));
    return request_has(req, "by") ? reply_rows(req, reply, run, &steps, &page, err)
                                  : reply_pieces(req, reply, run, &steps, &page, err);
}

static const struct view views[] = {
    {.name = "critical_path",
     .columns = "#step host kind name slice track #start_ps #dur_ps waits_for edge evidence",
     .make = critical_path_view},
    {.name = "slack",
     .columns = "#step host kind name slice track #start_ps #dur_ps #slack_ps",
     .make = slack_view},
    {.name = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "", .limit = 2000, .what = "pieces of the critical path", .rank = 20},
    {.params = "by=place", .limit = 500, .what = "places on the critical path", .rank = 21},
    {.params = "by=op", .limit = 500, .what = "ops on the critical path", .rank = 22},
    {.params = "by=kind", .limit = 100, .what = "kinds on the critical path", .rank = 23},
    {.params = NULL}};

static const struct verb verb = {.name = "why",
                                 .summary =
                                     "why a step takes as long as it does: its critical path",
                                 .operands = "RUN"};

static const struct tool_argument arguments[] = {
    TOOL_RUN,
    {"step", TOOL_TEXT, false,
     "The step's number, or `last`; without it the step nearest to the median", NULL},
    {"by", TOOL_WORD, false,
     "What of all steps lies on their paths, by this; without it the pieces",
     "op|place|scope|kind|device|host"},
    {"host", TOOL_TEXT, false, "Only this host", NULL},
    TOOL_PAGE,
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {
    {.name = "why",
     .title = "Critical path",
     .text = "Why a step takes as long as it does: the chain of work and waits from its start to "
             "its end, each with what it waited for and how that is known. Work off the path has "
             "slack: it can take that much longer at no cost.",
     .arguments = arguments,
     .limit_max = 200},
    {.name = NULL}};

const struct route route_critical = {.method = "GET",
                                     .path = "/api/critical",
                                     .handle = get_critical,
                                     .params = params,
                                     .heavy = true,
                                     .views = views,
                                     .in_bundle = in_bundle,
                                     .verb = &verb,
                                     .tools = tools};
