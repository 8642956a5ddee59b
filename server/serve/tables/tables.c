/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/table?run=&table=&format=: a whole table of a run, every row of it, for other programs.
 * GET /api/tables: which tables there are, and their columns.
 *
 * The first batch is made before anything is sent, so that what fails is told in words.
 */
#include "serve/answer/file_name.h"
#include "serve/routes.h"
#include "serve/tables/tables_parts.h"

static const struct param params[] = {
    PARAMS_RUN,
    {.name = "table", .kind = PARAM_TEXT, .required = true, .max = 64},
    {.name = "format", .kind = PARAM_WORD, .words = "jsonl|csv|arrow"},
    {.name = NULL},
};

struct sending {
    struct data_source source;
    const struct data_format *format;
    struct data_batch first;
};

static enum status put_batches(struct sending *sending, struct data_writer *writer,
                               struct error *err)
{
    struct data_batch batch = sending->first;

    TRY(sending->format->begin(writer, err));
    while (batch.row_count > 0) {
        TRY(sending->format->rows(writer, &batch, err));
        TRY(data_source_next(&sending->source, &batch, err));
    }
    return sending->format->end(writer, err);
}

static enum status stream_table(void *data, pack_write *write, void *to, struct error *err)
{
    struct sending *sending = data;
    struct data_writer writer = {.table = sending->source.table, .write = write, .to = to};
    enum status status = put_batches(sending, &writer, err);

    data_writer_free(&writer);
    data_source_close(&sending->source);
    return status;
}

static enum status find_table(const struct request *req, const struct data_table **ret,
                              struct error *err)
{
    struct data_table *tables = arena_array(req->arena, struct data_table, TABLES_MAX);
    uint32_t count = data_tables(req->services->routes, req->arena, tables);
    struct str wanted = request_text(req, "table"), names = STR("");

    for (uint32_t i = 0; i < count; i++) {
        if (str_equal(str_of(tables[i].name), wanted)) {
            *ret = &tables[i];
            return OK;
        }
        names =
            str_format(req->arena, "%.*s%s%s", STR_ARG(names), i > 0 ? ", " : "", tables[i].name);
    }
    return fail(err, ERR_INVALID, "there is no table \"%.*s\"; there are %.*s", STR_ARG(wanted),
                STR_ARG(names));
}

static bool asks_others(const struct data_table *table)
{
    return table->view != NULL ? table->view->others : strcmp(table->name, "findings") == 0;
}

static enum status open_source(struct request *req, struct data_source *source, struct error *err)
{
    if (!source->table->needs_no_timeline)
        TRY(asks_others(source->table) ? request_all_traces(req, &source->traces, err)
                                       : request_traces(req, &source->traces, err));
    return request_run(req, &source->run, err);
}

static enum status get_table(struct request *req, struct reply *reply, struct error *err)
{
    struct sending *sending = arena_new(req->arena, struct sending);
    struct data_source *source = &sending->source;

    source->req = req;
    TRY(find_table(req, &source->table, err));
    TRY(open_source(req, source, err));
    data_source_open(source);
    enum status status = data_source_next(source, &sending->first, err);
    if (status != OK) {
        data_source_close(source);
        return status;
    }
    sending->format = request_is(req, "format", "csv")     ? &data_csv
                      : request_is(req, "format", "arrow") ? &data_arrow
                                                           : &data_jsonl;
    reply->status = 200;
    reply->type = sending->format->type;
    reply->stream = stream_table;
    reply->stream_data = sending;
    if (sending->first.row_count == 0)
        reply_header(reply, STR("X-Jviewd-Rows"), STR("none"));
    reply_header(reply, STR("Content-Disposition"),
                 attachment(req->arena, source->run->name, sending->format->suffix));
    return OK;
}

static enum status get_tables(struct request *req, struct reply *reply, struct error *err)
{
    (void)err;
    reply->status = 200;
    reply->type = TYPE_JSON;
    data_put_schema(req->services->routes, &reply->body);
    return OK;
}

const struct route route_table = {
    .method = "GET", .path = "/api/table", .handle = get_table, .params = params, .heavy = true};
const struct route route_tables = {
    .method = "GET", .path = "/api/tables", .handle = get_tables, .light = true, .age = AGE_BUILD};
