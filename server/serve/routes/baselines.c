/* SPDX-License-Identifier: Apache-2.0 */
/* GET, POST, DELETE /api/baselines: names for runs that others are held against.
 *
 *   main -> content id of step_500      check?baseline=main, diff?a=main
 */
#include "base/clock.h"
#include "serve/answer/body.h"
#include "serve/answer/run_out.h"
#include "serve/answer/table_out.h"
#include "serve/answer/user_out.h"
#include "serve/routes.h"
#include "store/user.h"

static const struct column columns[] = {
    {"name", "baseline", UNIT_TEXT, true}, {"run", "run", UNIT_TEXT, true},
    {"id", "id", UNIT_TEXT, false},        {"state", "state", UNIT_TEXT, true},
    {"set_at", "set", UNIT_TEXT, true},    {"content_id", "content", UNIT_TEXT, false},
};

static const struct param list_params[] = {PARAMS_FORMAT, {.name = NULL}};
static const struct param set_params[] = {
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000}, {.name = NULL}};
static const struct param remove_params[] = {
    {.name = "name", .kind = PARAM_TEXT, .required = true, .max = USER_NAME_BYTES_MAX},
    {.name = NULL}};

static struct cell text_or_reason(struct str text, const char *reason)
{
    return text.count > 0 ? (struct cell){.kind = CELL_TEXT, .of.text = text}
                          : (struct cell){.kind = CELL_NULL, .of.text = str_of(reason)};
}

/* A run that is not here keeps the name that it had. */
static void fill_row(struct request *req, const struct user_baseline *baseline, struct cell *cells)
{
    static const char *const missing = "no run with that content is below the given directories";
    const struct run_record *run = run_of_content(req, baseline->content_id);
    const struct cell row[COUNT(columns)] = {
        text_or_reason(baseline->name, ""),
        text_or_reason(run != NULL ? run->name : baseline->run_name, "it had no name"),
        text_or_reason(run != NULL ? run->id : STR(""), missing),
        text_or_reason(run != NULL ? str_of(run_state_word(run->state)) : STR(""), missing),
        text_or_reason(unix_ns_iso(req->arena, baseline->set_ns), "its time is out of bounds"),
        text_or_reason(baseline->content_id, ""),
    };

    memcpy(cells, row, sizeof row);
}

static enum status get_baselines(struct request *req, struct reply *reply, struct error *err)
{
    struct user_baseline *baselines;
    struct table table = {.columns = columns, .column_count = COUNT(columns)};

    TRY(user_baselines(req->services->user, req->arena, &baselines, &table.row_count, err));
    struct cell *cells =
        arena_array(req->arena, struct cell, (size_t)table.row_count * COUNT(columns));
    for (uint32_t i = 0; i < table.row_count; i++)
        fill_row(req, &baselines[i], &cells[(size_t)i * COUNT(columns)]);
    table.cells = cells;
    table.row_count_all = table.row_count;
    table.notes = user_answer_notes(req, &table.note_count);
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static enum status post_baseline(struct request *req, struct reply *reply, struct error *err)
{
    struct str name = STR(""), asked = STR("");
    const struct body_member members[] = {{.name = "name", .required = true, .text = &name},
                                          {.name = "run", .required = true, .text = &asked}};
    const struct run_record *run;

    TRY(body_read(req, members, COUNT(members), err));
    TRY(request_content(req, asked, &run, err));
    const struct user_baseline baseline = {name, run->content_id, run->name, clock_unix_ns()};
    TRY(user_set_baseline(req->services->user, &baseline, err));
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "name", name);
    json_key(&json, "run");
    json_open(&json, '{');
    json_put_text(&json, "id", run->id);
    json_put_text(&json, "name", run->name);
    json_close(&json, '}');
    json_put_text(&json, "content_id", run->content_id);
    json_close(&json, '}');
    return OK;
}

static enum status delete_baseline(struct request *req, struct reply *reply, struct error *err)
{
    struct str name = request_text(req, "name");

    TRY(user_remove_baseline(req->services->user, name, err));
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "name", name);
    json_close(&json, '}');
    return OK;
}

static const struct verb_action actions[] = {
    {"list", ""}, {"set", "NAME RUN"}, {"remove", "NAME"}, {NULL, NULL}};
static const struct verb verb = {.name = "baseline",
                                 .summary = "names for runs that others are compared with",
                                 .operands = "list | set NAME RUN | remove NAME",
                                 .actions = actions};

const struct route route_baselines = {.method = "GET",
                                      .path = "/api/baselines",
                                      .handle = get_baselines,
                                      .params = list_params,
                                      .age = AGE_CATALOG,
                                      .verb = &verb};
const struct route route_baseline_set = {
    .method = "POST", .path = "/api/baselines", .handle = post_baseline, .params = set_params};
const struct route route_baseline_remove = {.method = "DELETE",
                                            .path = "/api/baselines",
                                            .handle = delete_baseline,
                                            .params = remove_params};
