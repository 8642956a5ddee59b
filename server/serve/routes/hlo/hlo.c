/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/hlo?run=: the compiled modules of a run.
 *
 *   (nothing more)            the list of modules, with their files and documents
 *   module=                   one module: its text, line by line, with the time each line took
 *   module= view=computations | instructions | buffers     the same as tables
 *   module= view=graph        instructions and operands as nodes and edges (hlo_graph_out.c)
 *   module= instruction=      everything known of one instruction
 *   module= q=                instructions that hold the text
 *   module= format=txt        the whole text, as a file
 *   document=                 a text that lies beside: buffer assignment, thunk sequence, MLIR
 */
#include "base/human.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"
#include "serve/routes/hlo/hlo_parts.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_PAGE,
    {.name = "format", .kind = PARAM_WORD, .words = "json|csv|md|txt"},
    {.name = "module", .kind = PARAM_TEXT, .max = 1024},
    {.name = "view", .kind = PARAM_WORD, .words = "text|computations|instructions|buffers|graph"},
    {.name = "instruction", .kind = PARAM_TEXT, .max = 4096},
    {.name = "computation", .kind = PARAM_TEXT, .max = 4096},
    {.name = "line", .kind = PARAM_INTEGER, .min = 1, .max = UINT32_MAX},
    {.name = "q", .kind = PARAM_TEXT, .max = 1024},
    {.name = "document", .kind = PARAM_TEXT, .max = 2048},
    {.name = "hops", .kind = PARAM_INTEGER, .min = 1, .max = 8},
    {.name = "inside", .kind = PARAM_TEXT, .max = 8192},
    {.name = NULL},
};

static enum status reply_list(struct hlo_question *question, struct reply *reply, struct error *err)
{
    struct request *req = question->req;
    struct page page;

    TRY(request_page(req, &page, err));
    struct table table = hlo_module_table(question, &page);
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, question->run);
    json_put_unsigned(&json, "row_count", table.row_count_all);
    json_put_next(&json, table.next);
    json_key(&json, "modules");
    json_open(&json, '[');
    for (uint32_t i = 0; i < table.row_count; i++)
        json_put_module(&json, question, &question->modules.items[page.offset + i]);
    json_close(&json, ']');
    json_put_unsigned(&json, "document_count", question->modules.document_count);
    json_key(&json, "reasons");
    json_open(&json, '{');
    if (table.row_count_all == 0)
        json_put_text(&json, "modules",
                      STR("no file of the run holds a compiled module; JAX's profiler stores them "
                          "unless its option enable_hlo_proto is off"));
    json_close(&json, '}');
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

/* format=txt: what a file of the dump would hold. */
static enum status reply_text(const struct hlo_question *question, struct reply *reply,
                              struct error *err)
{
    uint32_t computation, instruction;

    if (question->listed == NULL)
        return fail(err, ERR_INVALID, "format=txt is the text of one module: name it with module=");
    reply->status = 200;
    reply->type = TYPE_TEXT;
    for (uint32_t line = 0; line < question->module.line_count; line++) {
        hlo_put_line(&reply->body, &question->module, line, &computation, &instruction);
        text_puts(&reply->body, "\n");
    }
    return OK;
}

static enum status make_table(struct hlo_question *question, struct table *ret, struct error *err)
{
    struct request *req = question->req;
    const struct hlo_shown shown = {
        .run = question->run,
        .listed = question->listed,
        .module = &question->module,
        .measure = &question->measure,
        .arena = req->arena,
    };
    uint32_t computation = HLO_NONE;
    struct page page;

    TRY(request_page(req, &page, err));
    if (request_has(req, "line") && !request_has(req, "cursor"))
        page.offset = (uint64_t)request_integer(req, "line", 1) - 1;
    if (request_has(req, "computation")) {
        struct str name = request_text(req, "computation");
        computation = hlo_module_find_computation(&question->module, name);
        if (computation == HLO_NONE)
            return fail(err, ERR_NOT_FOUND, "the module has no computation \"%.*s\"",
                        STR_ARG(name));
    }
    if (request_is(req, "view", "computations"))
        hlo_computations(&shown, &page, ret);
    else if (request_is(req, "view", "buffers"))
        hlo_allocations(&shown, &page, ret);
    else if (request_is(req, "view", "instructions") || request_has(req, "q") ||
             computation != HLO_NONE)
        hlo_instructions(&shown, request_text(req, "q"), computation, &page, ret);
    else
        hlo_lines(&shown, &page, ret);
    return OK;
}

static enum status reply_module(struct hlo_question *question, uint32_t others, struct reply *reply,
                                struct error *err)
{
    struct request *req = question->req;
    struct table table;
    struct answer_note note = {.kind = "several-modules", .severity = NOTE_INFO, .count = others};

    TRY(make_table(question, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    if (others > 0) {
        note.message = str_format(req->arena, "%u more module%s of this name; shown is %.*s.",
                                  others, plural_s(others), STR_ARG(question->listed->key));
        table.notes = &note;
        table.note_count = 1;
    }
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, question->run);
    json_key(&json, "module");
    json_put_module(&json, question, question->listed);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}

static enum status reply_instruction(struct hlo_question *question, struct reply *reply,
                                     struct error *err)
{
    struct request *req = question->req;
    struct str name = request_text(req, "instruction");
    uint32_t instruction = hlo_module_find(&question->module, name);

    if (instruction == HLO_NONE)
        return fail(err, ERR_NOT_FOUND, "%.*s has no instruction \"%.*s\"",
                    STR_ARG(question->listed->key), name.count > 200 ? 200 : (int)name.count,
                    name.at);
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, question->run);
    json_key(&json, "module");
    json_put_module(&json, question, question->listed);
    json_put_instruction(&json, question, instruction);
    json_put_request_notes(&json, req);
    json_close(&json, '}');
    return OK;
}

static enum status reply_document(const struct hlo_question *question, struct reply *reply,
                                  struct error *err)
{
    struct request *req = question->req;
    const struct hlo_document *document;
    struct bytes content;

    TRY(hlo_pick_document(&question->modules, request_text(req, "document"), &document, err));
    TRY(trace_document_blob(run_trace(question->run, document->trace)->trace, document->document,
                            req->arena, &content, err));
    reply->status = 200;
    reply->type = TYPE_TEXT;
    reply->borrowed = content;
    return OK;
}

static enum status reply_of_module(struct hlo_question *question, struct reply *reply,
                                   struct error *err)
{
    struct request *req = question->req;
    uint32_t others;

    TRY(hlo_pick(&question->modules, request_text(req, "module"), req->arena, &question->listed,
                 &others, err));
    TRY(hlo_open(question->run, question->listed, req->arena, &question->module, err));
    if (request_is(req, "format", "txt"))
        return reply_text(question, reply, err);
    hlo_measure(question->run, question->listed, &question->measure);
    enum status status = request_is(req, "view", "graph") ? reply_graph(question, reply, err)
                         : request_has(req, "instruction")
                             ? reply_instruction(question, reply, err)
                             : reply_module(question, others, reply, err);
    hlo_measure_free(&question->measure);
    return status;
}

static enum status get_hlo(struct request *req, struct reply *reply, struct error *err)
{
    struct hlo_question question = {.req = req};

    TRY(request_all_traces(req, &question.run, err));
    hlo_modules(question.run, req->arena, &question.modules);
    if (request_has(req, "document"))
        return reply_document(&question, reply, err);
    if (request_has(req, "module"))
        return reply_of_module(&question, reply, err);
    if (request_is(req, "format", "txt"))
        return reply_text(&question, reply, err);
    return reply_list(&question, reply, err);
}

static const struct verb verb = {.name = "hlo",
                                 .summary = "compiled modules: their list, text, instructions",
                                 .operands = "RUN"};

const struct route route_hlo = {.method = "GET",
                                .path = "/api/hlo",
                                .handle = get_hlo,
                                .params = params,
                                .heavy = true,
                                .verb = &verb};
