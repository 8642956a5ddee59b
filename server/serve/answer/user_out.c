/* SPDX-License-Identifier: Apache-2.0 */
/* Writes notes, tags and baselines as JSON. */
#include "serve/answer/user_out.h"

#include "store/user.h"

enum status request_content(struct request *req, struct str run, const struct run_record **ret,
                            struct error *err)
{
    const struct run_traces *traces;

    if (run.count == 0)
        return fail(err, ERR_INVALID, "\"run\" does not name a run");
    request_choose(req, run);
    TRY(request_traces(req, &traces, err));
    TRY(request_run(req, ret, err));
    return (*ret)->content_id.count > 0
               ? OK
               : fail(err, ERR_NOT_READY, "run \"%.*s\" has files that have not been read yet",
                      STR_ARG((*ret)->name));
}

const struct run_record *run_of_content(struct request *req, struct str content_id)
{
    struct run_record *run = arena_new(req->arena, struct run_record);
    struct error ignored = {0};
    struct str id;

    if (content_id.count == 0 ||
        catalog_resolve(req->services->catalog, content_id, req->arena, &id, NULL, &ignored) !=
            OK ||
        catalog_run(req->services->catalog, id, req->arena, run, &ignored) != OK ||
        !str_equal(run->content_id, content_id))
        return NULL;
    return run;
}

const struct answer_note *user_answer_notes(struct request *req, uint32_t *ret_count)
{
    struct answer_note *note = arena_new(req->arena, struct answer_note);

    *note = (struct answer_note){.kind = "user-database",
                                 .severity = NOTE_WARNING,
                                 .message = user_trouble(req->services->user, req->arena),
                                 .count = 1};
    *ret_count = note->message.count > 0;
    return note;
}
