/* SPDX-License-Identifier: Apache-2.0 */
/* Serves a page of a table from its kept form, or makes the whole table and keeps it. */
#include "serve/kept/kept.h"

#include "serve/answer/handle.h"
#include "serve/answer/table_out.h"
#include "serve/kept/kept_table.h"
#include "serve/kept/stored.h"

struct keeping {
    struct bytes made;
};

static void keeping_take(const struct request *req, struct str head, const struct table *table)
{
    struct kept_table whole = {.head = head, .table = *table};

    whole.notes[0] = request_notes(req, &whole.note_counts[0]);
    whole.notes[1] = table->notes;
    whole.note_counts[1] = table->note_count;
    req->keeping->made = kept_table_pack(&whole, req->arena);
}

static bool get(struct request *req, const struct run_record *run, struct kept_table *ret)
{
    struct bytes bytes;

    if (stored_get_bytes(req, run, &bytes) && kept_table_open(bytes, req->arena, ret))
        return true;
    *ret = (struct kept_table){0};
    return false;
}

/* Without cells: it cannot be kept. */
static enum status make(struct request *req, const struct run_record *run, struct reply *reply,
                        struct kept_table *ret, struct error *err)
{
    struct keeping keeping = {0};

    req->keeping = &keeping;
    req->keep = keeping_take;

    enum status status = reply_handle(req, reply, err);

    req->keeping = NULL;
    text_free(&reply->body);
    TRY(status);
    if (kept_table_open(keeping.made, req->arena, ret)) {
        stored_put_bytes(req, run, keeping.made);
    } else {
        *ret = (struct kept_table){0};
        stored_refuse(req, run);
    }
    return OK;
}

/* Without cells: it was found before that it cannot be kept. */
static enum status get_or_make(struct request *req, const struct run_record *run,
                               struct reply *reply, struct kept_table *ret, struct error *err)
{
    enum status status = OK;

    if (get(req, run, ret) || stored_is_refused(req, run))
        return OK;

    bool is_ours = stored_take(req, run);

    if (!get(req, run, ret) && !stored_is_refused(req, run))
        status = make(req, run, reply, ret, err);
    if (is_ours)
        stored_leave(req, run);
    return status;
}

static void write_page(struct request *req, const struct kept_table *kept,
                       const struct table *table, struct reply *reply)
{
    if (reply_table_text(req, reply, table))
        return;

    struct json json = reply_json(reply);

    text_put(json.out, kept->head.at, kept->head.count);
    json.after_value = true;
    json_put_table_noted(&json, kept->notes, kept->note_counts, table);
    json_close(&json, '}');
}

enum status kept_answer(struct request *req, const struct run_record *run, struct reply *reply,
                        struct error *err)
{
    struct kept_table kept;
    struct table table;
    struct page page;

    TRY(request_page(req, &page, err));
    TRY(get_or_make(req, run, reply, &kept, err));
    if (kept.cells == NULL || !kept_table_has(&kept, &page))
        return reply_handle(req, reply, err);
    TRY(kept_table_page(&kept, &page, req->arena, &table, err));
    write_page(req, &kept, &table, reply);
    return OK;
}
