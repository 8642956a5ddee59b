/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/oom?run=&module=&batch=&remat=: what a module needs, who holds it, what would fit.
 *
 *   {"module": "jit_step(36)", "total_bytes": 4096,
 *    "rows": [{"row_kind": "now", "what": "arguments", "bytes": 1024, ...},
 *             {"row_kind": "option", "what": "donate", "bytes": 3072, "less_bytes": 1024, ...},
 *             {"row_kind": "holder", "what": "temporary dot.3 f32[8,32]", "bytes": 1024, ...}]}
 *
 * A run without modules answers with what its newest message, snapshot or memory profile tells:
 * "module" and "total_bytes" are null then.
 *
 * Without module= the one that ran longest among those with a buffer assignment, or, where none
 * ran, the one that needs most.
 */
#include "analyse/memory/heap_fit.h"
#include "analyse/memory/snapshot.h"

#include "analyse/table.h"
#include "serve/answer/table_out.h"
#include "serve/routes.h"
#include "serve/routes/memory/memory.h"
#include "serve/tool.h"

static const struct param params[] = {
    PARAMS_RUN,
    PARAMS_PAGE,
    PARAMS_FORMAT,
    {.name = "module", .kind = PARAM_TEXT, .max = 1024},
    {.name = "batch", .kind = PARAM_INTEGER, .min = 1, .max = UINT32_MAX},
    {.name = "remat", .kind = PARAM_TEXT, .max = 1024},
    {.name = NULL},
};

struct told {
    const struct hlo_listed *listed; /* NULL: no module has a buffer assignment */
    uint32_t others;
    struct fit fit;
    struct table table;
};

static enum status tell(struct request *req, const struct run_traces *run,
                        const struct hlo_listed *listed, struct told *ret, struct error *err)
{
    const struct fit_question question = {.batch = (uint64_t)request_integer(req, "batch", 0),
                                          .remat = request_text(req, "remat")};
    struct hlo_module module;
    struct heap heap;
    struct page page;

    ret->listed = listed;
    TRY(request_page(req, &page, err));
    TRY(hlo_open(run, listed, req->arena, &module, err));
    TRY(heap_of(&module, 0, req->arena, &heap, err));
    TRY(fit_of(&module, &question, req->arena, &ret->fit, err));
    fit_table(&module, &heap, &ret->fit, &page, req->arena, &ret->table);
    return OK;
}

/* Where no module ran the files are a dump: then the one that needs most is meant. */
static enum status choose(struct request *req, const struct run_traces *run,
                          const struct hlo_modules *modules, const struct hlo_listed **ret,
                          struct error *err)
{
    enum { LOOKED_AT_MAX = 200 };
    const struct fit_question nothing = {0};
    int64_t most = -1;

    *ret = heap_default(modules);
    if (*ret == NULL || (*ret)->self_ps > 0)
        return OK;
    for (uint32_t i = 0; i < modules->count && i < LOOKED_AT_MAX; i++) {
        struct hlo_module module;
        struct fit fit;

        if (!modules->items[i].has_buffers)
            continue;
        TRY(hlo_open(run, &modules->items[i], req->arena, &module, err));
        TRY(fit_of(&module, &nothing, req->arena, &fit, err));
        if (fit.total > most) {
            most = fit.total;
            *ret = &modules->items[i];
        }
    }
    return OK;
}

static enum status make(struct request *req, const struct run_traces *run, struct told *ret,
                        struct error *err)
{
    struct hlo_modules modules;
    struct snapshots snapshots;
    struct page page;
    const struct hlo_listed *listed;

    *ret = (struct told){0};
    hlo_modules(run, req->arena, &modules);
    if (request_has(req, "module"))
        TRY(hlo_pick(&modules, request_text(req, "module"), req->arena, &listed, &ret->others,
                     err));
    else
        TRY(choose(req, run, &modules, &listed, err));
    if (listed != NULL)
        return tell(req, run, listed, ret, err);
    TRY(request_page(req, &page, err));
    snapshots_of(run, req->arena, &snapshots);
    if (snapshots.count > 0 &&
        oom_told_table(snapshots.items[snapshots.count - 1]->trace, &page, req->arena, &ret->table))
        return OK;
    table_tell_missing(
        &ret->table, "no-buffers",
        STR("no file of the run holds a compiled module with its buffer assignment, nor a "
            "message, snapshot or profile of memory: "
            "XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_proto\" writes them, "
            "and JAX's profiler unless its option enable_hlo_proto is off"),
        req->arena);
    return OK;
}

/* What it is not, rather than that a run failed: any text is tried here. */
static enum status refuse_other(struct request *req, struct error *err)
{
    const struct run_record *run;

    TRY(request_run(req, &run, err));
    return run->state == RUN_FAILED && run->error.count > 0
               ? fail(err, ERR_FORMAT,
                      "no message, snapshot, profile or module tells here who held memory: %.*s",
                      STR_ARG(run->error))
               : OK;
}

static enum status get_oom(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct told told;

    TRY(refuse_other(req, err));
    TRY(request_all_traces(req, &run, err));
    TRY(make(req, run, &told, err));
    if (reply_table_text(req, reply, &told.table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    if (told.listed == NULL) {
        json_put_null(&json, "module");
        json_put_null(&json, "total_bytes");
    } else {
        json_put_text(&json, "module", told.listed->key);
        json_put_integer(&json, "total_bytes", told.fit.total);
    }
    json_put_table(&json, req, &told.table);
    json_close(&json, '}');
    return OK;
}

static const struct verb verb = {
    .name = "oom",
    .summary = "what a module needs, who holds it, what would fit",
    .operands = "RUN|-",
    .reads_stdin = true,
    .note = "RUN may be the text of an error (- reads it from a pipe), a memory snapshot or\n"
            "profile, a *.hlo.pb, or the directory that XLA_FLAGS=\"--xla_dump_to=DIR\n"
            "--xla_dump_hlo_as_proto\" filled. --batch 32 is the first dimension of the data\n"
            "arguments, --remat layer_ the prefix of the scopes that could be recomputed.\n"};

static const struct tool_argument arguments[] = {
    TOOL_RUN,
    {"module", TOOL_TEXT, false, "A module (default: the one that ran longest)", NULL},
    {"batch", TOOL_INTEGER, false,
     "The current batch size: the first dimension of the data arguments", NULL},
    {"remat", TOOL_TEXT, false, "Prefix of the scopes to recompute", NULL},
    TOOL_PAGE,
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {
    {.name = "oom",
     .title = "Memory that ran out",
     .text = "What a module needs, what it would need with donated arguments or half the batch, or "
             "why that cannot be said, and who holds memory at its peak, by scope and line. Of an "
             "error's text or a memory snapshot: what it tells.",
     .arguments = arguments,
     .fixed = "limit=20"},
    {.name = NULL}};

const struct route route_oom = {.method = "GET",
                                .path = "/api/oom",
                                .handle = get_oom,
                                .params = params,
                                .heavy = true,
                                .verb = &verb,
                                .tools = tools};
