/* SPDX-License-Identifier: Apache-2.0 */
/* What the catalog tells: rows become records, in the order and the bounds that were asked for. */
#include <stdio.h>

#include "store/catalog_db.h"

enum { PART_BYTES_MAX = 16384 };

#define FILE_COLUMNS                                                                               \
    "path, host, format, bytes, files.state, files.error, content, device, inode,"                 \
    " files.modified_ns, changed_ns, part, start_ns, end_ns, job, rank"
#define RUN_COLUMNS                                                                                \
    "id, root, content_id, name, dir, dirs, state, progress, error, epoch_ns, duration_ps,"        \
    " modified_ns, device_kind, framework, device_count, file_count, file_bytes, slice_count,"     \
    " step_count, step_median_ps, formats, badges, about_stamp, about_name, about_commit,"         \
    " about_step, about_commit_ns, kept_id, order_ns, latest_ns, is_unread"

static const char *const run_words[] = {
    [RUN_WRITING] = "writing", [RUN_QUEUED] = "queued",   [RUN_INDEXING] = "indexing",
    [RUN_READY] = "ready",     [RUN_PARTIAL] = "partial", [RUN_FAILED] = "failed",
    [RUN_GONE] = "gone",
};

static const char *const file_words[] = {
    [FILE_QUEUED] = "queued",   [FILE_INDEXING] = "indexing", [FILE_WRITING] = "writing",
    [FILE_READY] = "ready",     [FILE_PARTIAL] = "partial",   [FILE_FAILED] = "failed",
    [FILE_COVERED] = "covered", [FILE_IGNORED] = "ignored",   [FILE_GONE] = "gone",
};

static const struct {
    const char *word, *column;
} sort_words[] = {
    {"started_at", "order_ns"},
    {"name", "name"},
    {"duration_ps", "duration_ps"},
    {"step_median_ps", "step_median_ps"},
    {"step_count", "step_count"},
    {"slice_count", "slice_count"},
    {"file_bytes", "file_bytes"},
    {"device_count", "device_count"},
    {"state", "state"},
};

const char *run_state_word(enum run_state state)
{
    return (size_t)state < COUNT(run_words) ? run_words[state] : "failed";
}

const char *file_state_word(enum file_state state)
{
    return (size_t)state < COUNT(file_words) ? file_words[state] : "failed";
}

int64_t run_captured_ns(const struct run_record *run)
{
    return run->captured_ns != 0                 ? run->captured_ns
           : run->has_epoch && run->epoch_ns > 0 ? run->epoch_ns
                                                 : run->modified_ns;
}

static void read_run(struct sqlite3_stmt *row, struct arena *arena, struct run_record *ret)
{
    int64_t state = db_i64(row, 6), devices = db_i64(row, 14);

    *ret = (struct run_record){
        .id = db_text(row, 0, arena),
        .root = db_text(row, 1, arena),
        .content_id = db_text(row, 2, arena),
        .kept_id = db_text(row, 27, arena),
        .name = db_text(row, 3, arena),
        .dir = db_text(row, 4, arena),
        .state = state >= 0 && state < (int64_t)COUNT(run_words) ? (enum run_state)state : RUN_GONE,
        .progress = db_double(row, 7),
        .error = db_text(row, 8, arena),
        .has_epoch = !db_is_null(row, 9),
        .epoch_ns = db_i64(row, 9),
        .duration_ps = db_i64(row, 10),
        .modified_ns = db_i64(row, 11),
        .device_kind = db_text(row, 12, arena),
        .framework = db_text(row, 13, arena),
        .device_count = devices > 0 && devices <= UINT32_MAX ? (uint32_t)devices : 0,
        .device_count_known = !db_is_null(row, 14),
        .file_count = (uint64_t)db_i64(row, 15),
        .file_bytes = (uint64_t)db_i64(row, 16),
        .slice_count = (uint64_t)db_i64(row, 17),
        .step_count = db_is_null(row, 18) ? -1 : db_i64(row, 18),
        .step_median_ps = db_is_null(row, 19) ? -1 : db_i64(row, 19),
    };
    ret->captured_ns = db_i64(row, 28);
    ret->latest_ns = db_i64(row, 29);
    ret->is_unread = db_i64(row, 30) != 0;
    ret->about = (struct run_about){
        .stamp = (uint64_t)db_i64(row, 22),
        .name = db_text(row, 23, arena),
        .commit = db_text(row, 24, arena),
        .has_step = !db_is_null(row, 25),
        .has_commit_time = !db_is_null(row, 26),
        .step = db_i64(row, 25),
        .commit_ns = db_i64(row, 26),
    };
    db_split(db_text(row, 5, arena), arena, &ret->dirs, &ret->dir_count);
    db_split(db_text(row, 20, arena), arena, &ret->formats, &ret->format_count);
    db_split(db_text(row, 21, arena), arena, &ret->badges, &ret->badge_count);
}

static void read_file(struct sqlite3_stmt *row, struct arena *arena, struct run_file *ret)
{
    int64_t state = db_i64(row, 4), part = db_i64(row, 11);

    *ret = (struct run_file){
        .path = db_text(row, 0, arena),
        .host = db_text(row, 1, arena),
        .format = db_text(row, 2, arena),
        .bytes = (uint64_t)db_i64(row, 3),
        .state =
            state >= 0 && state < (int64_t)COUNT(file_words) ? (enum file_state)state : FILE_QUEUED,
        .error = db_text(row, 5, arena),
        .part = part >= 0 && part < PART_COUNT ? (enum decode_part)part : PART_TIMELINE,
        .stamp = {.device = (uint64_t)db_i64(row, 7),
                  .inode = (uint64_t)db_i64(row, 8),
                  .size = (uint64_t)db_i64(row, 3),
                  .modified_ns = db_i64(row, 9),
                  .changed_ns = db_i64(row, 10)},
        .has_window = !db_is_null(row, 12) && !db_is_null(row, 13),
        .start_ns = db_i64(row, 12),
        .end_ns = db_i64(row, 13),
        .group = db_text(row, 14, arena),
        .rank = db_i64(row, 15),
    };
    db_content(row, 6, ret->content);
}

static void read_host(struct sqlite3_stmt *row, struct arena *arena, struct run_host *ret)
{
    *ret = (struct run_host){
        .name = db_text(row, 0, arena),
        .hostname = db_text(row, 1, arena),
        .has_epoch = !db_is_null(row, 2),
        .epoch_ns = db_i64(row, 2),
        .offset_ps = db_i64(row, 3),
    };
    db_content(row, 4, ret->content);
}

/* Rows of one run or one answer, in an array that doubles in the arena. */
struct rows {
    void *at;
    uint32_t count, capacity;
};

static void *rows_add(struct rows *rows, struct arena *arena, size_t size)
{
    if (rows->count == rows->capacity) {
        uint32_t capacity = rows->capacity == 0 ? 4 : 2 * rows->capacity;
        void *more = arena_alloc(arena, capacity, size);

        if (rows->count > 0)
            memcpy(more, rows->at, rows->count * size);
        rows->at = more;
        rows->capacity = capacity;
    }
    return (char *)rows->at + size * rows->count++;
}

static enum status read_hosts(struct catalog *catalog, struct arena *arena, struct run_record *run,
                              struct error *err)
{
    struct error failed = {0};
    struct rows rows = {0};
    struct sqlite3_stmt *ask =
        db_statement(catalog,
                     "SELECT name, hostname, epoch_ns, offset_ps, content FROM hosts"
                     " WHERE run = ? ORDER BY ordinal",
                     &failed);

    if (ask == NULL)
        return fail(err, failed.code, "%s", failed.message);
    db_bind_text(ask, 1, run->id);
    while (db_row(catalog, ask, &failed))
        read_host(ask, arena, rows_add(&rows, arena, sizeof(struct run_host)));
    db_reset(ask);
    run->hosts = rows.at;
    run->host_count = rows.count;
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}

static enum status read_files(struct catalog *catalog, struct arena *arena, struct run_record *run,
                              struct error *err)
{
    struct error failed = {0};
    struct rows rows = {0};
    struct sqlite3_stmt *ask = db_statement(
        catalog, "SELECT " FILE_COLUMNS " FROM files WHERE run = ? ORDER BY path", &failed);

    if (ask == NULL)
        return fail(err, failed.code, "%s", failed.message);
    db_bind_text(ask, 1, run->id);
    while (db_row(catalog, ask, &failed))
        read_file(ask, arena, rows_add(&rows, arena, sizeof(struct run_file)));
    db_reset(ask);
    run->files = rows.at;
    run->run_file_count = rows.count;
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}

enum status catalog_files(struct catalog *catalog, struct str root, struct arena *arena,
                          struct run_file **ret, uint32_t *ret_count, struct error *err)
{
    struct error failed = {0};
    struct rows rows = {0};

    pthread_mutex_lock(&catalog->lock);
    struct sqlite3_stmt *ask = db_statement(catalog,
                                            "SELECT " FILE_COLUMNS ", runs.state"
                                            " FROM files JOIN runs ON runs.id = files.run"
                                            " WHERE runs.root = ? ORDER BY path",
                                            &failed);
    if (ask != NULL) {
        db_bind_text(ask, 1, root);
        while (db_row(catalog, ask, &failed)) {
            struct run_file *file = rows_add(&rows, arena, sizeof *file);

            read_file(ask, arena, file);
            file->run_is_gone = db_i64(ask, 16) == RUN_GONE;
        }
        db_reset(ask);
    }
    pthread_mutex_unlock(&catalog->lock);
    *ret = rows.at;
    *ret_count = rows.count;
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}

static enum status run_in(struct catalog *catalog, struct str id, struct arena *arena,
                          struct run_record *ret, struct error *err)
{
    struct error failed = {0};
    struct sqlite3_stmt *ask =
        db_statement(catalog, "SELECT " RUN_COLUMNS " FROM runs WHERE id = ?", &failed);

    if (ask == NULL)
        return fail(err, failed.code, "%s", failed.message);
    db_bind_text(ask, 1, id);
    bool found = db_row(catalog, ask, &failed);
    if (found)
        read_run(ask, arena, ret);
    db_reset(ask);
    if (failed.code != OK)
        return fail(err, failed.code, "%s", failed.message);
    if (!found)
        return fail(err, ERR_NOT_FOUND, "no run has the id \"%.*s\"", STR_ARG(id));
    TRY(read_files(catalog, arena, ret, err));
    return read_hosts(catalog, arena, ret, err);
}

enum status catalog_run(struct catalog *catalog, struct str id, struct arena *arena,
                        struct run_record *ret, struct error *err)
{
    pthread_mutex_lock(&catalog->lock);
    enum status status = run_in(catalog, id, arena, ret, err);
    pthread_mutex_unlock(&catalog->lock);
    return status;
}

enum status catalog_facts(struct catalog *catalog, const char content[33], struct arena *arena,
                          struct str *ret, struct error *err)
{
    struct error failed = {0};

    *ret = STR("");
    pthread_mutex_lock(&catalog->lock);
    struct sqlite3_stmt *ask =
        db_statement(catalog, "SELECT facts FROM facts WHERE content = ?", &failed);
    if (ask != NULL) {
        db_bind_text(ask, 1, str_of(content));
        if (db_row(catalog, ask, &failed))
            *ret = db_text(ask, 0, arena);
        db_reset(ask);
    }
    pthread_mutex_unlock(&catalog->lock);
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}

enum status catalog_content_of_size(struct catalog *catalog, uint64_t bytes, char ret[33],
                                    struct error *err)
{
    struct error failed = {0};

    ret[0] = '\0';
    pthread_mutex_lock(&catalog->lock);
    struct sqlite3_stmt *ask =
        db_statement(catalog,
                     "SELECT content FROM files WHERE bytes = ? AND content IN"
                     " (SELECT content FROM facts) LIMIT 1",
                     &failed);
    if (ask != NULL) {
        db_bind_i64(ask, 1, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
        if (db_row(catalog, ask, &failed))
            db_content(ask, 0, ret);
        db_reset(ask);
    }
    pthread_mutex_unlock(&catalog->lock);
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}

/* A question over runs: its text, and the values of its question marks in order. */
struct question {
    struct text where;
    struct str values[32 + 512];
    int value_count;
};

static void question_value(struct question *question, struct str value)
{
    if (question->value_count < (int)COUNT(question->values))
        question->values[question->value_count++] = value;
}

static void ask_for_roots(struct question *question, const struct catalog *catalog)
{
    text_puts(&question->where, " WHERE 1");
    for (uint32_t i = 0; i < catalog->root_count; i++) {
        text_puts(&question->where, i == 0 ? " AND root IN (?" : ", ?");
        question_value(question, catalog->roots[i]);
    }
    if (catalog->root_count > 0)
        text_puts(&question->where, ")");
}

static bool ask_for_state(struct question *question, struct str state)
{
    if (state.count == 0)
        return true;
    for (size_t i = 0; i < COUNT(run_words); i++) {
        if (str_equal(state, str_of(run_words[i]))) {
            text_putf(&question->where, " AND state = %zu", i);
            return true;
        }
    }
    return false;
}

static void ask_for_path(struct question *question, struct str path)
{
    while (str_ends(path, STR("/")))
        path.count--;
    if (path.count == 0)
        return;
    text_puts(&question->where, " AND (dir = ? OR substr(dir, 1, length(?) + 1) = ? || '/')");
    for (int i = 0; i < 3; i++)
        question_value(question, path);
}

/* "50%_a" -> "%50\%\_a%", as LIKE reads it. */
static struct str pattern_of(struct str part, struct arena *arena)
{
    char *at = arena_alloc(arena, 2 * part.count + 2, 1);
    size_t count = 0;

    at[count++] = '%';
    for (size_t i = 0; i < part.count; i++) {
        if (part.at[i] == '%' || part.at[i] == '_' || part.at[i] == '\\')
            at[count++] = '\\';
        at[count++] = part.at[i];
    }
    at[count++] = '%';
    return (struct str){at, count};
}

/* LIKE compares as lower() does, and makes no text of each row; hosts are looked through once. */
static void ask_for_part(struct question *question, struct str part, struct arena *arena)
{
    if (part.count == 0)
        return;
    if (part.count > PART_BYTES_MAX) { /* longer than any path */
        text_puts(&question->where, " AND 0");
        return;
    }
    text_puts(&question->where,
              " AND (name LIKE ? ESCAPE '\\' OR dir LIKE ? ESCAPE '\\' OR framework LIKE ? ESCAPE "
              "'\\' OR id IN (SELECT run FROM hosts WHERE hosts.name || ' ' || hosts.hostname"
              " LIKE ? ESCAPE '\\'))");
    for (int i = 0; i < 4; i++)
        question_value(question, pattern_of(part, arena));
}

static enum status order_of(struct str sort, struct text *ret, struct error *err)
{
    bool descending = str_starts(sort, STR("-"));
    struct str word = str_skip(sort, descending ? 1 : 0);

    if (sort.count == 0) {
        descending = true;
        word = STR("started_at");
    }
    for (size_t i = 0; i < COUNT(sort_words); i++) {
        if (!str_equal(word, str_of(sort_words[i].word)))
            continue;
        text_putf(ret, " ORDER BY %s %s NULLS LAST, name, id", sort_words[i].column,
                  descending ? "DESC" : "ASC");
        return OK;
    }
    return fail(err, ERR_INVALID,
                "runs cannot be sorted by \"%.*s\": started_at, name, duration_ps, step_median_ps,"
                " step_count, slice_count, file_bytes, device_count or state, with - before it for"
                " the largest first",
                STR_ARG(word));
}

static int bind_values(struct sqlite3_stmt *statement, const struct question *question)
{
    for (int i = 0; i < question->value_count; i++)
        db_bind_text(statement, i + 1, question->values[i]);
    return question->value_count + 1;
}

static enum status count_all(struct catalog *catalog, const struct question *question,
                             uint64_t *ret, struct error *err)
{
    struct text sql = {0};

    text_putf(&sql, "SELECT count(*) FROM runs%s", question->where.at);
    struct sqlite3_stmt *ask = db_question(catalog, sql.at, err);
    text_free(&sql);
    if (ask == NULL)
        return err->code;
    bind_values(ask, question);
    if (db_row(catalog, ask, err))
        *ret = (uint64_t)db_i64(ask, 0);
    db_finish(ask);
    return err->code;
}

static enum status read_page(struct catalog *catalog, const struct question *question,
                             const char *order, const struct run_query *query, struct arena *arena,
                             struct rows *ret, struct error *err)
{
    struct text sql = {0};

    text_putf(&sql, "SELECT " RUN_COLUMNS " FROM runs%s%s LIMIT ? OFFSET ?", question->where.at,
              order);
    struct sqlite3_stmt *ask = db_question(catalog, sql.at, err);
    text_free(&sql);
    if (ask == NULL)
        return err->code;
    int at = bind_values(ask, question);
    db_bind_i64(ask, at, query->limit > INT64_MAX ? INT64_MAX : (int64_t)query->limit);
    db_bind_i64(ask, at + 1, query->offset > INT64_MAX ? INT64_MAX : (int64_t)query->offset);
    while (db_row(catalog, ask, err))
        read_run(ask, arena, rows_add(ret, arena, sizeof(struct run_record)));
    db_finish(ask);
    return err->code;
}

static enum status runs_in(struct catalog *catalog, const struct run_query *query,
                           struct question *question, struct arena *arena, struct rows *ret,
                           uint64_t *ret_all, struct error *err)
{
    struct text order = {0};

    TRY(order_of(query->sort, &order, err));
    enum status status = count_all(catalog, question, ret_all, err);
    if (status == OK)
        status = read_page(catalog, question, order.at, query, arena, ret, err);
    text_free(&order);
    TRY(status);
    for (uint32_t i = 0; i < ret->count; i++)
        TRY(read_hosts(catalog, arena, (struct run_record *)ret->at + i, err));
    return OK;
}

enum status catalog_runs(struct catalog *catalog, const struct run_query *query,
                         struct arena *arena, struct run_record **ret, uint32_t *ret_count,
                         uint64_t *ret_all, struct error *err)
{
    struct error failed = {0};
    struct rows rows = {0};
    struct question *question = arena_new(arena, struct question);

    pthread_mutex_lock(&catalog->lock);
    ask_for_roots(question, catalog);
    ask_for_path(question, query->path);
    ask_for_part(question, query->q, arena);
    if (ask_for_state(question, query->state))
        runs_in(catalog, query, question, arena, &rows, ret_all, &failed);
    else
        fail(&failed, ERR_INVALID,
             "\"%.*s\" is not a state of a run: writing, queued, indexing, ready, partial, failed "
             "or gone",
             STR_ARG(query->state));
    pthread_mutex_unlock(&catalog->lock);
    text_free(&question->where);
    *ret = rows.at;
    *ret_count = rows.count;
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}

enum status catalog_content(struct catalog *catalog, struct str id, struct arena *arena,
                            struct str *ret_content_id, struct str *ret_members, struct error *err)
{
    *ret_content_id = *ret_members = STR("");
    pthread_mutex_lock(&catalog->lock);
    struct sqlite3_stmt *ask =
        db_statement(catalog, "SELECT content_id, members FROM contents WHERE run = ?", err);
    if (ask != NULL) {
        db_bind_text(ask, 1, id);
        if (db_row(catalog, ask, err)) {
            *ret_content_id = db_text(ask, 0, arena);
            *ret_members = db_text(ask, 1, arena);
        }
        db_reset(ask);
    }
    pthread_mutex_unlock(&catalog->lock);
    return err->code;
}

bool catalog_has_other(struct catalog *catalog, struct str content_id, struct str id)
{
    struct error ignored = {0};
    bool ret = true; /* as far as is known */

    pthread_mutex_lock(&catalog->lock);
    struct sqlite3_stmt *ask = db_statement(
        catalog, "SELECT count(*) FROM runs WHERE content_id = ? AND id <> ?", &ignored);
    if (ask != NULL) {
        db_bind_text(ask, 1, content_id);
        db_bind_text(ask, 2, id);
        ret = !db_row(catalog, ask, &ignored) || db_i64(ask, 0) > 0;
        db_reset(ask);
    }
    pthread_mutex_unlock(&catalog->lock);
    return ret;
}
