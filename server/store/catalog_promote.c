/* SPDX-License-Identifier: Apache-2.0 */
/* From memory back to the disk: when the process that wrote before has ended, or the disk has
 * room again. What this process learned goes over what the file says; the rest of the file
 * stays. */
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "store/catalog_db.h"

static bool run_sql(struct sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool copy_rows(struct sqlite3_stmt *from, struct sqlite3_stmt *to)
{
    int code;

    while ((code = sqlite3_step(from)) == SQLITE_ROW) {
        for (int i = 0; i < sqlite3_bind_parameter_count(to); i++)
            sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
        if (sqlite3_step(to) != SQLITE_DONE)
            return false;
        sqlite3_reset(to);
    }
    return code == SQLITE_DONE;
}

/* Every row that `select` yields goes through `change`, column by column. */
static bool transfer(struct sqlite3 *from, const char *select, struct sqlite3 *to,
                     const char *change)
{
    sqlite3_stmt *read = NULL, *write = NULL;
    bool done = sqlite3_prepare_v2(from, select, -1, &read, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(to, change, -1, &write, NULL) == SQLITE_OK &&
                copy_rows(read, write);

    sqlite3_finalize(read);
    sqlite3_finalize(write);
    return done;
}

static bool transfer_table(struct sqlite3 *from, struct sqlite3 *to, const char *table)
{
    char select[64], insert[256];
    sqlite3_stmt *columns = NULL;

    snprintf(select, sizeof select, "SELECT * FROM %s", table);
    if (sqlite3_prepare_v2(from, select, -1, &columns, NULL) != SQLITE_OK)
        return false;
    int count = sqlite3_column_count(columns);
    int at = snprintf(insert, sizeof insert, "INSERT OR REPLACE INTO %s VALUES(?", table);
    sqlite3_finalize(columns);
    while (--count > 0)
        at += snprintf(insert + at, sizeof insert - (size_t)at, ",?");
    snprintf(insert + at, sizeof insert - (size_t)at, ")");
    return transfer(from, select, to, insert);
}

static bool transfer_all(struct sqlite3 *from, struct sqlite3 *to)
{
    static const char ids[] = "SELECT id FROM runs";

    return transfer(from, ids, to, "DELETE FROM files WHERE run = ?") &&
           transfer(from, ids, to, "DELETE FROM hosts WHERE run = ?") &&
           transfer_table(from, to, "runs") && transfer_table(from, to, "files") &&
           transfer_table(from, to, "hosts") && transfer_table(from, to, "facts") &&
           transfer_table(from, to, "metrics");
}

static bool promote(struct catalog *catalog)
{
    struct sqlite3 *file = catalog_open_writer(catalog);

    if (file == NULL)
        return false;
    if (!run_sql(file, "BEGIN IMMEDIATE") || !transfer_all(catalog->db, file) ||
        !run_sql(file, "COMMIT")) {
        sqlite3_close(file);
        return false;
    }
    catalog_exchange(catalog, file, false);
    catalog->note[0] = '\0';
    return true;
}

bool catalog_promote(struct catalog *catalog)
{
    pthread_mutex_lock(&catalog->lock);
    bool held = catalog->lock_fd >= 0, promoted = false;

    if (catalog->in_memory && (held || catalog_take_lock(catalog))) {
        promoted = promote(catalog);
        if (!promoted && !held) {
            close(catalog->lock_fd);
            catalog->lock_fd = -1;
        }
    }
    pthread_mutex_unlock(&catalog->lock);
    return promoted;
}
