/* SPDX-License-Identifier: Apache-2.0 */
/* What the ingest tells the catalog: every call is one transaction. */
#include "store/catalog_db.h"

struct runs_change {
    const struct run_record *runs;
    uint32_t count;
};

struct state_change {
    struct str id, message;
    enum run_state state;
    double progress;
};

struct facts_change {
    struct str content, facts;
};

static int64_t bounded(uint64_t value)
{
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static enum status put_row(struct catalog *catalog, const struct run_record *run,
                           struct arena *arena, struct error *err)
{
    struct sqlite3_stmt *put = db_statement(
        catalog,
        "INSERT OR REPLACE INTO runs(id, root, content_id, kept_id, name, dir, dirs, state, "
        "progress, error,"
        " epoch_ns, duration_ps, modified_ns, order_ns, device_kind, framework, device_count,"
        " file_count, file_bytes, slice_count, step_count, step_median_ps, formats, badges,"
        " about_stamp, about_name, about_commit, about_step, about_commit_ns, latest_ns,"
        " is_unread) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        err);
    const struct str texts[] = {run->id,
                                run->root,
                                run->content_id,
                                run->kept_id,
                                run->name,
                                run->dir,
                                db_join(arena, run->dirs, run->dir_count)};
    int at = 1;

    if (put == NULL)
        return err->code;
    for (size_t i = 0; i < COUNT(texts); i++)
        db_bind_text(put, at++, texts[i]);
    db_bind_i64(put, at++, run->state);
    db_bind_double(put, at++, run->progress);
    db_bind_text(put, at++, run->error);
    db_bind_known(put, at++, run->has_epoch, run->epoch_ns);
    db_bind_i64(put, at++, run->duration_ps);
    db_bind_i64(put, at++, run->modified_ns);
    db_bind_i64(put, at++, run_captured_ns(run));
    db_bind_text(put, at++, run->device_kind);
    db_bind_text(put, at++, run->framework);
    db_bind_known(put, at++, run->device_count_known, run->device_count);
    db_bind_i64(put, at++, bounded(run->file_count));
    db_bind_i64(put, at++, bounded(run->file_bytes));
    db_bind_i64(put, at++, bounded(run->slice_count));
    db_bind_known(put, at++, run->step_count >= 0, run->step_count);
    db_bind_known(put, at++, run->step_median_ps >= 0, run->step_median_ps);
    db_bind_text(put, at++, db_join(arena, run->formats, run->format_count));
    db_bind_text(put, at++, db_join(arena, run->badges, run->badge_count));
    db_bind_i64(put, at++, (int64_t)run->about.stamp);
    db_bind_text(put, at++, run->about.name);
    db_bind_text(put, at++, run->about.commit);
    db_bind_known(put, at++, run->about.has_step, run->about.step);
    db_bind_known(put, at++, run->about.has_commit_time, run->about.commit_ns);
    db_bind_i64(put, at++, run->latest_ns);
    db_bind_i64(put, at++, run->is_unread);
    return db_run(catalog, put, err);
}

static enum status put_file(struct catalog *catalog, struct str run, const struct run_file *file,
                            struct error *err)
{
    struct sqlite3_stmt *put = db_statement(
        catalog,
        "INSERT OR REPLACE INTO files(run, path, host, format, bytes, state, error, content,"
        " part, device, inode, modified_ns, changed_ns, start_ns, end_ns, job, rank)"
        " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
        err);

    if (put == NULL)
        return err->code;
    db_bind_text(put, 1, run);
    db_bind_text(put, 2, file->path);
    db_bind_text(put, 3, file->host);
    db_bind_text(put, 4, file->format);
    db_bind_i64(put, 5, bounded(file->bytes));
    db_bind_i64(put, 6, file->state);
    db_bind_text(put, 7, file->error);
    db_bind_text(put, 8, str_of(file->content));
    db_bind_i64(put, 9, file->part);
    db_bind_i64(put, 10, (int64_t)file->stamp.device);
    db_bind_i64(put, 11, (int64_t)file->stamp.inode);
    db_bind_i64(put, 12, file->stamp.modified_ns);
    db_bind_i64(put, 13, file->stamp.changed_ns);
    db_bind_known(put, 14, file->has_window, file->start_ns);
    db_bind_known(put, 15, file->has_window, file->end_ns);
    db_bind_text(put, 16, file->group);
    db_bind_i64(put, 17, file->rank);
    return db_run(catalog, put, err);
}

static enum status put_host(struct catalog *catalog, struct str run, uint32_t ordinal,
                            const struct run_host *host, struct error *err)
{
    struct sqlite3_stmt *put =
        db_statement(catalog,
                     "INSERT INTO hosts(run, ordinal, name, hostname, epoch_ns, offset_ps,"
                     " content) VALUES(?,?,?,?,?,?,?)",
                     err);

    if (put == NULL)
        return err->code;
    db_bind_text(put, 1, run);
    db_bind_i64(put, 2, ordinal);
    db_bind_text(put, 3, host->name);
    db_bind_text(put, 4, host->hostname);
    db_bind_known(put, 5, host->has_epoch, host->epoch_ns);
    db_bind_i64(put, 6, host->offset_ps);
    db_bind_text(put, 7, str_of(host->content));
    return db_run(catalog, put, err);
}

/* Stays while the run is read anew and has no content. */
static enum status put_content(struct catalog *catalog, const struct run_record *run,
                               struct error *err)
{
    if (run->members.count == 0)
        return OK;

    struct sqlite3_stmt *put = db_statement(
        catalog, "INSERT OR REPLACE INTO contents(run, content_id, members) VALUES(?,?,?)", err);

    if (put == NULL)
        return err->code;
    db_bind_text(put, 1, run->id);
    db_bind_text(put, 2, run->content_id);
    db_bind_text(put, 3, run->members);
    return db_run(catalog, put, err);
}

static enum status run_by_id(struct catalog *catalog, const char *sql, struct str id,
                             struct error *err)
{
    struct sqlite3_stmt *statement = db_statement(catalog, sql, err);

    if (statement == NULL)
        return err->code;
    db_bind_text(statement, 1, id);
    return db_run(catalog, statement, err);
}

static enum status put_run_in(struct catalog *catalog, const struct run_record *run,
                              struct arena *arena, struct error *err)
{
    TRY(put_row(catalog, run, arena, err));
    TRY(put_content(catalog, run, err));
    TRY(run_by_id(catalog, "DELETE FROM files WHERE run = ?", run->id, err));
    TRY(run_by_id(catalog, "DELETE FROM hosts WHERE run = ?", run->id, err));
    for (uint32_t i = 0; i < run->run_file_count; i++)
        TRY(put_file(catalog, run->id, &run->files[i], err));
    for (uint32_t i = 0; i < run->host_count; i++)
        TRY(put_host(catalog, run->id, i, &run->hosts[i], err));
    return OK;
}

static enum status change_runs(struct catalog *catalog, const void *data, struct error *err)
{
    const struct runs_change *change = data;
    struct arena *arena = arena_create();
    enum status status = OK;

    for (uint32_t i = 0; i < change->count && status == OK; i++)
        status = put_run_in(catalog, &change->runs[i], arena, err);
    arena_destroy(arena);
    return status;
}

enum status catalog_put_runs(struct catalog *catalog, const struct run_record *runs, uint32_t count,
                             struct error *err)
{
    struct runs_change change = {.runs = runs, .count = count};

    return catalog_change(catalog, change_runs, &change, err);
}

static enum status change_state(struct catalog *catalog, const void *data, struct error *err)
{
    const struct state_change *change = data;
    struct sqlite3_stmt *set = db_statement(
        catalog, "UPDATE runs SET state = ?, progress = ?, error = ? WHERE id = ?", err);

    if (set == NULL)
        return err->code;
    db_bind_i64(set, 1, change->state);
    db_bind_double(set, 2, change->progress);
    db_bind_text(set, 3, change->message);
    db_bind_text(set, 4, change->id);
    return db_run(catalog, set, err);
}

enum status catalog_set_state(struct catalog *catalog, struct str id, enum run_state state,
                              double progress, struct str message, struct error *err)
{
    struct state_change change = {
        .id = id, .message = message, .state = state, .progress = progress};

    return catalog_change(catalog, change_state, &change, err);
}

static enum status change_forget(struct catalog *catalog, const void *data, struct error *err)
{
    const struct str *id = data;

    TRY(run_by_id(catalog, "DELETE FROM runs WHERE id = ?", *id, err));
    TRY(run_by_id(catalog, "DELETE FROM files WHERE run = ?", *id, err));
    TRY(run_by_id(catalog, "DELETE FROM contents WHERE run = ?", *id, err));
    return run_by_id(catalog, "DELETE FROM hosts WHERE run = ?", *id, err);
}

enum status catalog_forget(struct catalog *catalog, struct str id, struct error *err)
{
    return catalog_change(catalog, change_forget, &id, err);
}

static enum status change_facts(struct catalog *catalog, const void *data, struct error *err)
{
    const struct facts_change *change = data;
    struct sqlite3_stmt *put =
        db_statement(catalog, "INSERT OR REPLACE INTO facts(content, facts) VALUES(?,?)", err);

    if (put == NULL)
        return err->code;
    db_bind_text(put, 1, change->content);
    db_bind_text(put, 2, change->facts);
    return db_run(catalog, put, err);
}

enum status catalog_put_facts(struct catalog *catalog, const char content[33], struct str facts,
                              struct error *err)
{
    struct facts_change change = {.content = str_of(content), .facts = facts};

    return catalog_change(catalog, change_facts, &change, err);
}
