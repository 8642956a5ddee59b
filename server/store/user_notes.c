/* SPDX-License-Identifier: Apache-2.0 */
/* Notes on runs and on windows of them; tags, which are words on runs. */
#include "store/user_db.h"

#include <sqlite3.h>

#include "base/clock.h"

struct written {
    const struct user_note *note;
    int64_t id;
};

static void bind_note(struct sqlite3_stmt *put, const struct user_note *note)
{
    user_bind_text(put, 1, note->text);
    user_bind_text(put, 2, note->track);
    if (note->has_window) {
        sqlite3_bind_int64(put, 3, note->start_ps);
        sqlite3_bind_int64(put, 4, note->end_ps);
    }
    sqlite3_bind_int64(put, 5, clock_unix_ns());
}

static enum status insert(struct user *user, struct written *written, struct error *err)
{
    struct sqlite3_stmt *put = user_statement(
        user,
        "INSERT INTO notes(text, track, start_ps, end_ps, made_ns, changed_ns, content_id, "
        "run_name) VALUES(?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7)",
        err);
    if (put == NULL)
        return err->code;
    bind_note(put, written->note);
    user_bind_text(put, 6, written->note->content_id);
    user_bind_text(put, 7, written->note->run_name);
    TRY(user_run(user, put, NULL, err));
    written->id = user_last_id(user);
    return user_has_room(user, "SELECT count(*) FROM notes", "notes", err);
}

static enum status update(struct user *user, struct written *written, struct error *err)
{
    int changes = 0;
    struct sqlite3_stmt *put =
        user_statement(user,
                       "UPDATE notes SET text = ?1, track = ?2, start_ps = ?3, end_ps = ?4, "
                       "changed_ns = ?5 WHERE id = ?6 AND content_id = ?7",
                       err);

    if (put == NULL)
        return err->code;
    bind_note(put, written->note);
    sqlite3_bind_int64(put, 6, written->note->id);
    user_bind_text(put, 7, written->note->content_id);
    TRY(user_run(user, put, &changes, err));
    written->id = written->note->id;
    return changes > 0
               ? OK
               : fail(err, ERR_NOT_FOUND, "that run has no note %lld", (long long)written->id);
}

static enum status put_note(struct user *user, void *data, struct error *err)
{
    struct written *written = data;

    return written->note->id == 0 ? insert(user, written, err) : update(user, written, err);
}

enum status user_put_note(struct user *user, const struct user_note *note, int64_t *ret_id,
                          struct error *err)
{
    struct written written = {.note = note};

    if (note->text.count == 0 || note->text.count > USER_TEXT_BYTES_MAX)
        return fail(err, ERR_INVALID, "a note must be a text of 1 to %d bytes, not %zu",
                    USER_TEXT_BYTES_MAX, note->text.count);
    if (note->has_window && note->end_ps < note->start_ps)
        return fail(err, ERR_INVALID, "the note's time range ends before it begins");
    TRY(user_change(user, put_note, &written, err));
    *ret_id = written.id;
    return OK;
}

static enum status drop_note(struct user *user, void *data, struct error *err)
{
    const int64_t *id = data;
    int changes = 0;
    struct sqlite3_stmt *remove = user_statement(user, "DELETE FROM notes WHERE id = ?1", err);

    if (remove == NULL)
        return err->code;
    sqlite3_bind_int64(remove, 1, *id);
    TRY(user_run(user, remove, &changes, err));
    return changes > 0 ? OK : fail(err, ERR_NOT_FOUND, "there is no note %lld", (long long)*id);
}

enum status user_remove_note(struct user *user, int64_t id, struct error *err)
{
    return user_change(user, drop_note, &id, err);
}

struct wanted {
    struct str content_id; /* "" all */
    struct arena *arena;
    struct user_note *notes;
    struct user_tag *tags;
    uint32_t count, capacity;
};

/* Room for one row more. What a damaged file says of their number is not believed. */
static void *with_room(struct wanted *wanted, void *rows, size_t row_bytes)
{
    if (wanted->count < wanted->capacity)
        return rows;
    uint32_t capacity = wanted->capacity == 0 ? 16 : wanted->capacity * 2;
    void *larger = arena_alloc(wanted->arena, capacity, row_bytes);

    if (wanted->count > 0)
        memcpy(larger, rows, wanted->count * row_bytes);
    wanted->capacity = capacity;
    return larger;
}

static struct user_note note_of(struct sqlite3_stmt *ask, struct arena *arena)
{
    return (struct user_note){
        .id = sqlite3_column_int64(ask, 0),
        .content_id = user_column(ask, 1, arena),
        .run_name = user_column(ask, 2, arena),
        .has_window = sqlite3_column_type(ask, 3) != SQLITE_NULL,
        .start_ps = sqlite3_column_int64(ask, 3),
        .end_ps = sqlite3_column_int64(ask, 4),
        .track = user_column(ask, 5, arena),
        .text = user_column(ask, 6, arena),
        .made_ns = sqlite3_column_int64(ask, 7),
        .changed_ns = sqlite3_column_int64(ask, 8),
    };
}

static enum status list_notes(struct user *user, void *data, struct error *err)
{
    struct wanted *wanted = data;
    struct sqlite3_stmt *ask = user_statement(
        user,
        "SELECT id, content_id, run_name, start_ps, end_ps, track, text, made_ns, changed_ns FROM "
        "notes WHERE ?1 = '' OR content_id = ?1 ORDER BY content_id, start_ps, id",
        err);
    if (ask == NULL)
        return err->code;
    user_bind_text(ask, 1, wanted->content_id);
    while (wanted->count < USER_ROWS_MAX && user_row(user, ask, err)) {
        wanted->notes = with_room(wanted, wanted->notes, sizeof *wanted->notes);
        wanted->notes[wanted->count++] = note_of(ask, wanted->arena);
    }
    sqlite3_finalize(ask);
    return err->code;
}

enum status user_notes(struct user *user, struct str content_id, struct arena *arena,
                       struct user_note **ret, uint32_t *ret_count, struct error *err)
{
    struct wanted wanted = {.content_id = content_id, .arena = arena};

    TRY(user_ask(user, list_notes, &wanted, err));
    *ret = wanted.notes;
    *ret_count = wanted.count;
    return OK;
}

static enum status list_tags(struct user *user, void *data, struct error *err)
{
    struct wanted *wanted = data;
    struct sqlite3_stmt *ask =
        user_statement(user,
                       "SELECT content_id, tag FROM tags WHERE ?1 = '' OR content_id = ?1 ORDER "
                       "BY content_id, tag",
                       err);
    if (ask == NULL)
        return err->code;
    user_bind_text(ask, 1, wanted->content_id);
    while (wanted->count < USER_ROWS_MAX && user_row(user, ask, err)) {
        wanted->tags = with_room(wanted, wanted->tags, sizeof *wanted->tags);
        wanted->tags[wanted->count++] = (struct user_tag){user_column(ask, 0, wanted->arena),
                                                          user_column(ask, 1, wanted->arena)};
    }
    sqlite3_finalize(ask);
    return err->code;
}

enum status user_tags(struct user *user, struct str content_id, struct arena *arena,
                      struct user_tag **ret, uint32_t *ret_count, struct error *err)
{
    struct wanted wanted = {.content_id = content_id, .arena = arena};

    TRY(user_ask(user, list_tags, &wanted, err));
    *ret = wanted.tags;
    *ret_count = wanted.count;
    return OK;
}

static enum status add_tag(struct user *user, void *data, struct error *err)
{
    const struct user_tag *tag = data;

    struct sqlite3_stmt *put =
        user_statement(user, "INSERT OR IGNORE INTO tags VALUES(?1, ?2, ?3)", err);
    if (put == NULL)
        return err->code;
    user_bind_text(put, 1, tag->content_id);
    user_bind_text(put, 2, tag->tag);
    sqlite3_bind_int64(put, 3, clock_unix_ns());
    TRY(user_run(user, put, NULL, err));
    return user_has_room(user, "SELECT count(*) FROM tags", "tags", err);
}

/* One word that stands well in a list: no spaces, no controls, no commas. */
static bool tag_is_good(struct str tag)
{
    if (tag.count == 0 || tag.count > USER_NAME_BYTES_MAX)
        return false;
    for (size_t i = 0; i < tag.count; i++) {
        uint8_t c = (uint8_t)tag.at[i];

        if (c <= ' ' || c == 127 || c == ',')
            return false;
    }
    return true;
}

enum status user_add_tag(struct user *user, struct str content_id, struct str tag,
                         struct error *err)
{
    struct user_tag given = {content_id, tag};

    if (!tag_is_good(tag))
        return fail(err, ERR_INVALID,
                    "a tag must be one word of at most %d bytes, without spaces and commas",
                    USER_NAME_BYTES_MAX);
    return user_change(user, add_tag, &given, err);
}

static enum status drop_tag(struct user *user, void *data, struct error *err)
{
    const struct user_tag *tag = data;
    int changes = 0;
    struct sqlite3_stmt *remove =
        user_statement(user, "DELETE FROM tags WHERE content_id = ?1 AND tag = ?2", err);

    if (remove == NULL)
        return err->code;
    user_bind_text(remove, 1, tag->content_id);
    user_bind_text(remove, 2, tag->tag);
    TRY(user_run(user, remove, &changes, err));
    return changes > 0 ? OK
                       : fail(err, ERR_NOT_FOUND, "the run has no tag \"%.*s\"", STR_ARG(tag->tag));
}

enum status user_remove_tag(struct user *user, struct str content_id, struct str tag,
                            struct error *err)
{
    struct user_tag given = {content_id, tag};

    return user_change(user, drop_tag, &given, err);
}
