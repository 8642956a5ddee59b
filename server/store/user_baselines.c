/* SPDX-License-Identifier: Apache-2.0 */
/* Named baselines: which run a check compares others with. */
#include "store/user_db.h"

#include <sqlite3.h>

bool user_name_is_good(struct str name)
{
    if (name.count == 0 || name.count > USER_NAME_BYTES_MAX || str_equal(name, STR("latest")) ||
        str_starts(name, STR("latest-")))
        return false;
    for (size_t i = 0; i < name.count; i++) {
        char c = name.at[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!is_word && (i == 0 || memchr("._-+", c, 4) == NULL))
            return false;
    }
    return true;
}

static enum status set(struct user *user, void *data, struct error *err)
{
    const struct user_baseline *baseline = data;

    struct sqlite3_stmt *put =
        user_statement(user, "INSERT OR REPLACE INTO baselines VALUES(?1, ?2, ?3, ?4)", err);
    if (put == NULL)
        return err->code;
    user_bind_text(put, 1, baseline->name);
    user_bind_text(put, 2, baseline->content_id);
    user_bind_text(put, 3, baseline->run_name);
    sqlite3_bind_int64(put, 4, baseline->set_ns);
    TRY(user_run(user, put, NULL, err));
    return user_has_room(user, "SELECT count(*) FROM baselines", "baselines", err);
}

enum status user_set_baseline(struct user *user, const struct user_baseline *baseline,
                              struct error *err)
{
    struct user_baseline given = *baseline;

    if (!user_name_is_good(given.name))
        return fail(err, ERR_INVALID,
                    "\"%.*s\" is not a valid name for a baseline: use at most %d letters, digits, "
                    "\".\", \"_\", \"-\", \"+\", the first a letter or digit, and not \"latest\"",
                    (int)(given.name.count > 80 ? 80 : given.name.count), given.name.at,
                    USER_NAME_BYTES_MAX);
    return user_change(user, set, &given, err);
}

static enum status drop(struct user *user, void *data, struct error *err)
{
    const struct str *name = data;
    struct sqlite3_stmt *remove =
        user_statement(user, "DELETE FROM baselines WHERE name = ?1", err);
    int changes = 0;

    if (remove == NULL)
        return err->code;
    user_bind_text(remove, 1, *name);
    TRY(user_run(user, remove, &changes, err));
    return changes > 0 ? OK
                       : fail(err, ERR_NOT_FOUND, "there is no baseline \"%.*s\"", STR_ARG(*name));
}

enum status user_remove_baseline(struct user *user, struct str name, struct error *err)
{
    return user_change(user, drop, &name, err);
}

struct wanted {
    struct str name; /* "" all */
    struct arena *arena;
    struct user_baseline *rows;
    uint32_t count, capacity;
};

static void take(struct wanted *wanted, struct sqlite3_stmt *ask)
{
    if (wanted->count == wanted->capacity) {
        uint32_t capacity = wanted->capacity == 0 ? 16 : wanted->capacity * 2;
        struct user_baseline *rows = arena_array(wanted->arena, struct user_baseline, capacity);

        if (wanted->count > 0)
            memcpy(rows, wanted->rows, wanted->count * sizeof *rows);
        wanted->rows = rows;
        wanted->capacity = capacity;
    }
    wanted->rows[wanted->count++] =
        (struct user_baseline){.name = user_column(ask, 0, wanted->arena),
                               .content_id = user_column(ask, 1, wanted->arena),
                               .run_name = user_column(ask, 2, wanted->arena),
                               .set_ns = sqlite3_column_int64(ask, 3)};
}

static enum status list(struct user *user, void *data, struct error *err)
{
    struct wanted *wanted = data;
    struct sqlite3_stmt *ask = user_statement(user,
                                              "SELECT name, content_id, run_name, set_ns FROM "
                                              "baselines WHERE ?1 = '' OR name = ?1 ORDER BY name",
                                              err);

    if (ask == NULL)
        return err->code;
    user_bind_text(ask, 1, wanted->name);
    while (wanted->count < USER_ROWS_MAX && user_row(user, ask, err))
        take(wanted, ask);
    sqlite3_finalize(ask);
    return err->code;
}

enum status user_baselines(struct user *user, struct arena *arena, struct user_baseline **ret,
                           uint32_t *ret_count, struct error *err)
{
    struct wanted wanted = {.name = STR(""), .arena = arena};

    TRY(user_ask(user, list, &wanted, err));
    *ret = wanted.rows;
    *ret_count = wanted.count;
    return OK;
}

bool user_baseline(struct user *user, struct str name, struct arena *arena,
                   struct user_baseline *ret)
{
    struct wanted wanted = {.name = name, .arena = arena};
    struct error ignored = {0};

    if (!user_name_is_good(name) || user_ask(user, list, &wanted, &ignored) != OK ||
        wanted.count == 0)
        return false;
    *ret = wanted.rows[0];
    return true;
}
