/* SPDX-License-Identifier: Apache-2.0 */
/* A run got files that it did not have: what people said of it goes along. */
#include <sqlite3.h>

#include "store/user_db.h"

struct move {
    struct str from, to;
    bool has_any;
};

static enum status look(struct user *user, void *data, struct error *err)
{
    struct move *move = data;
    struct sqlite3_stmt *ask =
        user_statement(user,
                       "SELECT 1 FROM notes WHERE content_id = ?1 UNION ALL "
                       "SELECT 1 FROM tags WHERE content_id = ?1 UNION ALL "
                       "SELECT 1 FROM baselines WHERE content_id = ?1 LIMIT 1",
                       err);

    if (ask == NULL)
        return err->code;
    user_bind_text(ask, 1, move->from);
    move->has_any = user_row(user, ask, err);
    sqlite3_finalize(ask);
    return err->code;
}

static enum status rename_all(struct user *user, void *data, struct error *err)
{
    static const char *const changes[] = {
        "UPDATE notes SET content_id = ?2 WHERE content_id = ?1",
        "UPDATE OR REPLACE tags SET content_id = ?2 WHERE content_id = ?1",
        "UPDATE baselines SET content_id = ?2 WHERE content_id = ?1",
    };
    const struct move *move = data;

    for (size_t i = 0; i < COUNT(changes); i++) {
        struct sqlite3_stmt *change = user_statement(user, changes[i], err);

        if (change == NULL)
            return err->code;
        user_bind_text(change, 1, move->from);
        user_bind_text(change, 2, move->to);
        TRY(user_run(user, change, NULL, err));
    }
    return OK;
}

enum status user_move(struct user *user, struct str from, struct str to, struct error *err)
{
    struct move move = {.from = from, .to = to};

    TRY(user_ask(user, look, &move, err));
    return move.has_any ? user_change(user, rename_all, &move, err) : OK;
}
