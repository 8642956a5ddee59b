/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/memory?run=&view=heap&module=&space=&position=&buffers=: what the compiler planned.
 *
 *   {"module": "jit_step(36)", "basis": "heap-trace", "peak_bytes": 4096, "fixed_bytes": 1024, ...,
 *    "points": [{"position": 0, "bytes": 1024, ...}, ...],
 *    "rows": [{"name": "dot.3", "bytes": 3072, "class": "temporary", "first": 3, "last": 9, ...}]}
 *
 * Without module= the one that ran longest among those with a buffer assignment.
 */
#include "analyse/memory/heap.h"

#include "base/human.h"
#include "serve/answer/table_out.h"
#include "serve/routes/memory/memory.h"

struct plan {                        /* what is answered */
    const struct hlo_listed *listed; /* NULL: no module has a buffer assignment */
    uint32_t others;                 /* further modules of its name */
    struct hlo_module module;
    struct heap heap;
    struct heap_question question;
    struct table table;
    int64_t rows_bytes;
};

static enum status make_plan(struct request *req, const struct run_traces *run, struct plan *ret,
                             struct error *err)
{
    struct hlo_modules modules;
    struct page page;

    *ret = (struct plan){.question = {.has_position = request_has(req, "position"),
                                      .all = request_is(req, "buffers", "all"),
                                      .position = (uint32_t)request_integer(req, "position", 0)}};
    hlo_modules(run, req->arena, &modules);
    if (request_has(req, "module"))
        TRY(hlo_pick(&modules, request_text(req, "module"), req->arena, &ret->listed, &ret->others,
                     err));
    else
        ret->listed = heap_default(&modules);
    if (ret->listed == NULL)
        return OK;
    TRY(request_page(req, &page, err));
    TRY(hlo_open(run, ret->listed, req->arena, &ret->module, err));
    TRY(heap_of(&ret->module, (uint32_t)request_integer(req, "space", 0), req->arena, &ret->heap,
                err));
    return heap_table(&ret->module, &ret->heap, &ret->question, &page, req->arena, &ret->table,
                      &ret->rows_bytes, err);
}

static void put_position(struct json *json, const char *key, uint32_t position)
{
    if (position == HLO_NONE)
        json_put_null(json, key);
    else
        json_put_unsigned(json, key, position);
}

static void put_instruction(struct json *json, const char *key, const struct plan *plan,
                            uint32_t instruction)
{
    if (instruction == HLO_NONE)
        json_put_null(json, key);
    else
        json_put_text_or_null(json, key, plan->module.instructions[instruction].name);
}

static void put_sums(struct json *json, const struct plan *plan)
{
    const struct heap *heap = &plan->heap;

    json_put_text(json, "basis", str_of(heap_basis_word(heap->basis)));
    json_put_integer(json, "peak_bytes", heap->peak_bytes);
    json_put_integer(json, "peak_unpadded_bytes", heap->peak_unpadded);
    json_put_integer(json, "fixed_bytes", heap->fixed_bytes);
    json_put_integer(json, "total_allocation_bytes", heap->total_bytes);
    json_put_integer(json, "parameter_bytes", heap->class_bytes[HEAP_PARAMETER]);
    json_put_integer(json, "output_bytes", heap->class_bytes[HEAP_OUTPUT]);
    json_put_integer(json, "constant_bytes", heap->class_bytes[HEAP_CONSTANT]);
    json_put_integer(json, "thread_local_bytes", heap->class_bytes[HEAP_THREAD_LOCAL]);
    json_put_integer(json, "temporary_bytes", heap->class_bytes[HEAP_TEMPORARY]);
    json_put_integer(json, "fragmentation_bytes",
                     heap->total_bytes > heap->peak_bytes ? heap->total_bytes - heap->peak_bytes
                                                          : 0);
    json_put_integer(json, "padding_bytes", heap->padding_bytes);
    json_put_integer(json, "rematerialise_bytes", heap->rematerialise_bytes);
    json_put_integer(json, "donation_bytes", heap->donation_bytes);
    put_position(json, "peak_position", heap->peak_position);
    put_instruction(json, "peak_instruction", plan, heap->peak_instruction);
    json_put_unsigned(json, "position_count", heap->position_count);
}

static void put_points(struct json *json, const struct plan *plan)
{
    json_key(json, "points");
    json_open(json, '[');
    for (uint32_t i = 0; i < plan->heap.point_count; i++) {
        const struct heap_point *point = &plan->heap.points[i];

        json_open(json, '{');
        json_put_unsigned(json, "position", point->position);
        json_put_integer(json, "bytes", point->bytes);
        json_put_integer(json, "unpadded_bytes", point->unpadded);
        put_instruction(json, "instruction", plan, point->instruction);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_plan(struct json *json, const struct plan *plan)
{
    json_put_text(json, "module", plan->listed->key);
    json_put_unsigned(json, "space", plan->heap.space);
    put_sums(json, plan);
    if (plan->question.all)
        json_put_null(json, "position");
    else
        put_position(json, "position",
                     plan->question.has_position ? plan->question.position
                                                 : plan->heap.peak_position);
    json_put_integer(json, "alive_bytes", plan->rows_bytes);
    put_points(json, plan);
}

static void put_reasons(struct json *json, const struct plan *plan)
{
    json_key(json, "reasons");
    json_open(json, '{');
    if (plan->listed == NULL)
        json_put_text(json, "module",
                      STR("no file of the run holds a compiled module with its buffer assignment; "
                          "JAX's profiler keeps them unless its option enable_hlo_proto is off"));
    else if (plan->heap.peak_position == HLO_NONE)
        json_put_text(
            json, "peak_position",
            STR("nothing is temporary: the module needs the same amount at every instruction"));
    json_close(json, '}');
}

static void add_notes(const struct request *req, struct plan *plan)
{
    struct answer_note *notes = arena_array(req->arena, struct answer_note, 3);
    uint32_t count = 0;

    if (plan->others > 0)
        notes[count++] = (struct answer_note){
            .kind = "several-modules",
            .severity = NOTE_INFO,
            .message = str_format(req->arena, "%u more module%s of this name; shown is %.*s.",
                                  plan->others, plural_s(plan->others), STR_ARG(plan->listed->key)),
            .count = plan->others};
    if (plan->listed != NULL && plan->heap.basis == HEAP_RANGES)
        notes[count++] = (struct answer_note){
            .kind = "live-ranges",
            .severity = NOTE_INFO,
            .message = STR("The file holds no heap simulation: buffers are taken to live from the "
                           "instruction that defines them to the last one that uses them."),
            .count = 1};
    if (plan->listed != NULL && plan->heap.unknown_count > 0)
        notes[count++] =
            (struct answer_note){.kind = "unknown-buffers",
                                 .severity = NOTE_WARNING,
                                 .message = STR("Some heap events name buffers or instructions "
                                                "that do not exist; they are left out."),
                                 .count = plan->heap.unknown_count};
    plan->table.notes = notes;
    plan->table.note_count = count;
}

enum status reply_heap(struct request *req, struct reply *reply, struct error *err)
{
    const struct run_traces *run;
    struct plan plan;

    TRY(request_all_traces(req, &run, err));
    TRY(make_plan(req, run, &plan, err));
    add_notes(req, &plan);
    if (reply_table_text(req, reply, &plan.table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_run(&json, run);
    json_put_text(&json, "view", STR("heap"));
    if (plan.listed != NULL)
        put_plan(&json, &plan);
    else
        json_put_null(&json, "module");
    put_reasons(&json, &plan);
    json_put_table(&json, req, &plan.table);
    json_close(&json, '}');
    return OK;
}
