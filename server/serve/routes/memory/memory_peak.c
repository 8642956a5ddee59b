/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/memory?run=&view=peak&allocator=&at_ps=&by=: who held memory.
 *
 *   {"allocator": {"name": "GPU_0_bfc", "peak_bytes": 4096, ...}, "at_ps": 1200,
 *    "total_bytes": 4096,
 *    "rows": [{"name": "dot.3", "bytes": 3072, "row_kind": "owner", ...},
 *             {"name": "(allocated before the capture)", "bytes": 1024, "row_kind": "before"}]}
 *
 * The rows of all pages sum to total_bytes.
 */
#include "serve/answer/table_out.h"
#include "serve/routes/memory/memory.h"

static void put_subject(struct json *json, const struct memory_alive *alive)
{
    json_key(json, "allocator");
    if (alive->reason.count > 0) {
        json_add_null(json);
        json_put_null(json, "at_ps");
        json_put_null(json, "total_bytes");
        return;
    }
    json_open(json, '{');
    json_put_allocator(json, &alive->allocator);
    json_key(json, "reasons");
    json_open(json, '{');
    json_put_allocator_reasons(json, &alive->allocator);
    json_close(json, '}');
    json_close(json, '}');
    json_put_integer(json, "at_ps", alive->at_ps);
    json_put_integer(json, "total_bytes", alive->total_bytes);
}

enum status reply_peak(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct restriction restriction;
    struct memory_alive alive;
    struct page page;
    const struct memory_question question = {
        .allocator = request_text(req, "allocator"),
        .has_at = request_has(req, "at_ps"),
        .at_ps = request_integer(req, "at_ps", 0),
        .by = request_text(req, "by"),
    };

    TRY(request_traces(req, &run, err));
    TRY(request_restriction(req, &restriction, err));
    TRY(request_page(req, &page, err));
    TRY(memory_alive(run, &restriction, &question, &page, req->arena, &alive, err));
    if (reply_table_text(req, reply, &alive.table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "view", STR("peak"));
    json_put_text(&json, "by", alive.by);
    put_subject(&json, &alive);
    json_key(&json, "reasons");
    json_open(&json, '{');
    if (alive.reason.count > 0)
        json_put_text(&json, "allocator", alive.reason);
    json_close(&json, '}');
    json_put_table(&json, req, &alive.table);
    json_close(&json, '}');
    return OK;
}
