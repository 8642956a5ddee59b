/* SPDX-License-Identifier: Apache-2.0 */
/* Answers a request for a table that is grouped by a property. */
#include "serve/answer/table_by.h"

enum status reply_table_by(struct request *req, struct reply *reply, table_by *make,
                           struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct page page;
    struct table table;

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(make(req, run, &restriction, &page, &table, err));
    if (reply_table_text(req, reply, &table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "by", table.by);
    json_put_integer(&json, "total_ps", table.total_ps);
    json_put_table(&json, req, &table);
    json_close(&json, '}');
    return OK;
}
