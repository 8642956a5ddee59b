/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/findings?run=: what costs the time, in sentences, each with its evidence and remedy;
 * the one that would win the most stands first. */
#include "serve/answer/findings_out.h"

#include "serve/answer/table_out.h"
#include "serve/kept/shared.h"
#include "serve/routes.h"
#include "serve/tool.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_RESTRICTION,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "rule", .kind = PARAM_TEXT, .max = 256},
    PARAM_SORT,
    {.name = NULL},
};

/* Of one rule alone, where it is asked for; ranks stay those of all. */
static enum status narrow(const struct request *req, struct findings *findings, struct error *err)
{
    struct str rule = request_text(req, "rule");
    struct finding *kept = arena_array(req->arena, struct finding, findings->count);
    uint32_t count = 0;

    if (rule.count == 0)
        return OK;
    if (rule_find(rule) == NULL)
        return fail(err, ERR_INVALID, "there is no rule \"%.*s\"", STR_ARG(rule));
    for (uint32_t i = 0; i < findings->count; i++) {
        if (str_equal(rule, str_of(findings->items[i].rule->name)))
            kept[count++] = findings->items[i];
    }
    findings->items = kept;
    findings->count = count;
    return OK;
}

static enum status get_findings(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct findings findings;
    struct table table;

    TRY(request_all_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));

    struct memo *memo = request_memo(req, run, &restriction);

    findings_find(memo, &findings);
    TRY(narrow(req, &findings, err));
    TRY(findings_table(memo, &findings, &page, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    uint32_t counts[2] = {0, table.note_count};
    const struct answer_note *lists[2] = {request_notes(req, &counts[0]), table.notes};
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_unsigned(&json, "rule_count", findings.rule_count);
    json_put_unsigned(&json, "row_count", table.row_count_all);
    json_put_next(&json, table.next);
    json_key(&json, "rows");
    json_open(&json, '[');
    json_put_findings(&json, run, &findings, &table);
    json_close(&json, ']');
    json_put_notes(&json, lists, counts, 2);
    json_close(&json, '}');
    return OK;
}

static const struct ahead ahead[] = {{.params = "limit=200", .shares = true}, {.params = NULL}};

static const struct in_bundle in_bundle[] = {
    {.params = "", .limit = 200, .what = "findings", .rank = 3}, {.params = NULL}};

static const struct verb verb = {
    .name = "findings",
    .summary = "what to do first: each finding with what it saves, its evidence and remedy",
    .operands = "RUN"};

static const struct tool_argument arguments[] = {TOOL_RUN, TOOL_PAGE, TOOL_TOKENS, TOOL_END};
static const struct tool tools[] = {
    {.name = "findings",
     .title = "Findings",
     .text =
         "What to do first in a run: each finding with what it may save, its evidence and remedy.",
     .arguments = arguments,
     .fixed = "limit=10",
     .rank = 3},
    {.name = NULL}};

const struct route route_findings = {.method = "GET",
                                     .path = "/api/findings",
                                     .handle = get_findings,
                                     .params = params,
                                     .heavy = true,
                                     .ahead = ahead,
                                     .in_bundle = in_bundle,
                                     .verb = &verb,
                                     .tools = tools};
