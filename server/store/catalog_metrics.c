/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of runs that were measured once, by what the cache keeps of a run.
 *
 *   name        kept id    unit   value        reason
 *   ""          c09f1...     count  1            ""         by which rules the others were made
 *   "step_p95"  c09f1...     ps     22300000000  ""
 *   "memory_peak" c09f1...   bytes  NULL         "the profile holds no allocator events"
 *
 * Names stand first in the key, so one metric over all runs is one stretch of the table.
 */
#include <stdio.h>

#include "store/catalog_db.h"

#define METRIC_COLUMNS "name, kept_id, unit, value, reason"

struct metrics_change {
    struct str kept_id;
    const struct run_metric *metrics;
    uint32_t count;
};

static enum status put_metric(struct catalog *catalog, struct str kept_id,
                              const struct run_metric *metric, struct error *err)
{
    struct sqlite3_stmt *put = db_statement(
        catalog, "INSERT OR REPLACE INTO metrics(" METRIC_COLUMNS ") VALUES(?,?,?,?,?)", err);

    if (put == NULL)
        return err->code;
    db_bind_text(put, 1, metric->name);
    db_bind_text(put, 2, kept_id);
    db_bind_text(put, 3, metric->unit);
    db_bind_known(put, 4, metric->known, metric->value);
    db_bind_text(put, 5, metric->reason);
    return db_run(catalog, put, err);
}

static enum status change_metrics(struct catalog *catalog, const void *data, struct error *err)
{
    const struct metrics_change *change = data;
    const struct run_metric rules = {.name = STR(""),
                                     .unit = STR("count"),
                                     .known = true,
                                     .value = METRICS_VERSION,
                                     .reason = STR("")};
    struct sqlite3_stmt *remove =
        db_statement(catalog, "DELETE FROM metrics WHERE kept_id = ?", err);

    if (remove == NULL)
        return err->code;
    db_bind_text(remove, 1, change->kept_id);
    TRY(db_run(catalog, remove, err));
    for (uint32_t i = 0; i < change->count; i++)
        TRY(put_metric(catalog, change->kept_id, &change->metrics[i], err));
    return put_metric(catalog, change->kept_id, &rules, err);
}

enum status catalog_put_metrics(struct catalog *catalog, struct str kept_id,
                                const struct run_metric *metrics, uint32_t count, struct error *err)
{
    const struct metrics_change change = {kept_id, metrics, count};

    return catalog_change(catalog, change_metrics, &change, err);
}

static void read_metric(struct sqlite3_stmt *row, struct arena *arena, struct metric_of *ret)
{
    *ret = (struct metric_of){.kept_id = db_text(row, 1, arena),
                              .metric = {.name = db_text(row, 0, arena),
                                         .unit = db_text(row, 2, arena),
                                         .known = !db_is_null(row, 3),
                                         .value = db_i64(row, 3),
                                         .reason = db_text(row, 4, arena)}};
}

/* `sql` takes `bound` where it has a ?. */
static enum status read_metrics(struct catalog *catalog, const char *sql, struct str bound,
                                struct arena *arena, struct metric_of **ret, uint32_t *ret_count,
                                struct error *err)
{
    struct error failed = {0};
    size_t capacity = 0;

    *ret = NULL;
    *ret_count = 0;
    pthread_mutex_lock(&catalog->lock);
    struct sqlite3_stmt *ask = db_statement(catalog, sql, &failed);
    if (ask != NULL)
        db_bind_text(ask, 1, bound);
    while (ask != NULL && db_row(catalog, ask, &failed)) {
        if (*ret_count == capacity) {
            struct metric_of *more;

            capacity = capacity == 0 ? 64 : 2 * capacity;
            more = arena_array(arena, struct metric_of, capacity);
            if (*ret_count > 0)
                memcpy(more, *ret, *ret_count * sizeof *more);
            *ret = more;
        }
        read_metric(ask, arena, &(*ret)[(*ret_count)++]);
    }
    if (ask != NULL)
        db_reset(ask);
    pthread_mutex_unlock(&catalog->lock);
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}

enum status catalog_metric(struct catalog *catalog, struct str name, struct arena *arena,
                           struct metric_of **ret, uint32_t *ret_count, struct error *err)
{
    return read_metrics(catalog,
                        "SELECT " METRIC_COLUMNS " FROM metrics WHERE name = ? ORDER BY kept_id",
                        name, arena, ret, ret_count, err);
}

enum status catalog_metrics(struct catalog *catalog, struct arena *arena, struct metric_of **ret,
                            uint32_t *ret_count, struct error *err)
{
    return read_metrics(catalog,
                        "SELECT " METRIC_COLUMNS
                        " FROM metrics WHERE name > ? AND value IS NOT NULL"
                        " ORDER BY name, kept_id",
                        STR(""), arena, ret, ret_count, err);
}

enum status catalog_metrics_of(struct catalog *catalog, struct str kept_id, struct arena *arena,
                               struct metric_of **ret, uint32_t *ret_count, struct error *err)
{
    return read_metrics(catalog,
                        "SELECT " METRIC_COLUMNS " FROM metrics WHERE kept_id = ? ORDER BY name",
                        kept_id, arena, ret, ret_count, err);
}

static void remember(struct unmeasured *walk, struct str id, int64_t order_ns)
{
    walk->began = true;
    walk->order_ns = order_ns;
    snprintf(walk->id, sizeof walk->id, "%.*s", STR_ARG(id));
}

/* The index runs_by_order answers the runs' part alone. */
enum status catalog_unmeasured(struct catalog *catalog, struct unmeasured *walk,
                               struct arena *arena, struct str *ret_ids, uint32_t capacity,
                               uint32_t *ret_count, struct error *err)
{
    struct error failed = {0};

    *ret_count = 0;
    pthread_mutex_lock(&catalog->lock);
    struct sqlite3_stmt *ask = db_statement(
        catalog,
        "SELECT id, order_ns, root FROM runs WHERE state IN (?, ?) AND kept_id != ''"
        " AND (order_ns, id) < (?, ?) AND NOT EXISTS (SELECT 1 FROM metrics"
        " WHERE metrics.name = '' AND metrics.kept_id = runs.kept_id AND metrics.value = ?)"
        " ORDER BY order_ns DESC, id DESC",
        &failed);
    if (ask != NULL) {
        db_bind_i64(ask, 1, RUN_READY);
        db_bind_i64(ask, 2, RUN_PARTIAL);
        db_bind_i64(ask, 3, walk->began ? walk->order_ns : INT64_MAX);
        db_bind_text(ask, 4, walk->began ? str_of(walk->id) : STR("\x7f"));
        db_bind_i64(ask, 5, METRICS_VERSION);
    }
    while (ask != NULL && *ret_count < capacity && db_row(catalog, ask, &failed)) {
        struct str id = db_text(ask, 0, arena);

        remember(walk, id, db_i64(ask, 1));
        if (catalog_shows(catalog, db_text(ask, 2, arena)))
            ret_ids[(*ret_count)++] = id;
    }
    if (ask != NULL)
        db_reset(ask);
    pthread_mutex_unlock(&catalog->lock);
    return failed.code == OK ? OK : fail(err, failed.code, "%s", failed.message);
}
