/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the catalog, and who may write it.
 *
 *   lock held by us        catalog.sqlite, WAL             changes stay
 *   lock held elsewhere    a copy of it in memory          changes go with this process
 *   disk full, gone, ...   a copy of it in memory, a note  changes go with this process
 *
 * Nothing in the file is trusted: another program's, another version's, a damaged one is removed
 * and made anew, for all it says is found again on disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/file.h"
#include "store/catalog_db.h"

enum { APPLICATION_ID = 0x6a766965, BUSY_MS = 5000 };

static void note(struct catalog *catalog, const char *text, const char *why)
{
    snprintf(catalog->note, sizeof catalog->note, "%.150s%s%.320s", text,
             why[0] != '\0' ? ": " : "", why);
}

static int64_t pragma(struct sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t ret = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        ret = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return ret;
}

/* One text of a statement's first row equals another connection's, or a literal. */
static bool says(struct sqlite3 *db, const char *sql, const char *want)
{
    sqlite3_stmt *statement = NULL;
    bool same = false;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);

        same = text != NULL && strcmp(text, want) == 0;
    }
    sqlite3_finalize(statement);
    return same;
}

static bool create_tables(struct sqlite3 *db)
{
    char numbers[120];

    snprintf(numbers, sizeof numbers, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             APPLICATION_ID, CATALOG_VERSION);
    return sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_exec(db, catalog_schema, NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_exec(db, numbers, NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

static struct sqlite3 *open_memory(void)
{
    sqlite3 *db = NULL;

    if (sqlite3_open_v2(":memory:", &db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) == SQLITE_OK)
        return db;
    sqlite3_close(db);
    return NULL;
}

/* Tables and indexes are exactly those that this program makes: no trigger, no view, no
 * stranger. */
static bool schema_is_ours(struct sqlite3 *db)
{
    static const char all[] =
        "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY type, name)";
    sqlite3 *model = open_memory();
    sqlite3_stmt *statement = NULL;
    bool ours = false;

    if (model != NULL && create_tables(model) &&
        sqlite3_prepare_v2(model, all, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        ours = says(db, all, (const char *)sqlite3_column_text(statement, 0));
    sqlite3_finalize(statement);
    sqlite3_close(model);
    return ours;
}

static bool is_sound(struct sqlite3 *db)
{
    return pragma(db, "PRAGMA application_id") == APPLICATION_ID &&
           pragma(db, "PRAGMA user_version") == CATALOG_VERSION && schema_is_ours(db) &&
           says(db, "PRAGMA quick_check(1)", "ok");
}

static void be_careful(struct sqlite3 *db)
{
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_exec(db, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
}

static struct sqlite3 *open_file(const char *path, int flags)
{
    sqlite3 *db = NULL;

    catalog_sums_prepare();

    char real[CATALOG_PATH_SIZE]; /* NOFOLLOW refuses a link anywhere on the way */

    if (file_without_links(path, real, sizeof real) &&
        sqlite3_open_v2(real, &db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
                        CATALOG_SUMS) == SQLITE_OK &&
        catalog_sums_begin(db)) {
        be_careful(db);
        return db;
    }
    sqlite3_close(db);
    return NULL;
}

/* The file as its only writer; NULL when it is not ours or not whole. */
static struct sqlite3 *open_writer(const char *path)
{
    sqlite3 *db = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

    if (db == NULL)
        return NULL;

    bool is_new = pragma(db, "SELECT count(*) FROM sqlite_master") == 0 &&
                  pragma(db, "PRAGMA application_id") == 0;

    if (says(db, "PRAGMA journal_mode=WAL", "wal") &&
        sqlite3_exec(db, "PRAGMA synchronous=NORMAL", NULL, NULL, NULL) == SQLITE_OK &&
        (is_new ? create_tables(db) : is_sound(db)))
        return db;
    sqlite3_close(db);
    return NULL;
}

static void remove_file(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[4200];

    for (size_t i = 0; i < COUNT(suffixes); i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* A copy in memory of what `from` holds, or empty tables. */
static struct sqlite3 *copy_to_memory(struct sqlite3 *from)
{
    sqlite3 *memory = open_memory();

    if (memory == NULL)
        return NULL;
    if (from != NULL) {
        sqlite3_backup *backup = sqlite3_backup_init(memory, "main", from, "main");

        if (backup != NULL)
            sqlite3_backup_step(backup, -1);
        if (sqlite3_backup_finish(backup) == SQLITE_OK && is_sound(memory))
            return memory;
        sqlite3_close(memory);
        memory = open_memory();
    }
    if (memory != NULL && !create_tables(memory)) {
        sqlite3_close(memory);
        memory = NULL;
    }
    return memory;
}

static uint32_t big_endian(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* By the file's head alone, for SQLite may not get as far: a catalog of ours, in another form than
 * today's. https://sqlite.org/fileformat.html#the_database_header */
static bool is_of_another_version(const char *path)
{
    enum { HEAD_BYTES = 72, VERSION_AT = 60, APPLICATION_AT = 68 };
    uint8_t head[HEAD_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    bool is_read = fd >= 0 && pread(fd, head, sizeof head, 0) == HEAD_BYTES;

    if (fd >= 0)
        close(fd);
    return is_read && big_endian(head + APPLICATION_AT) == APPLICATION_ID &&
           big_endian(head + VERSION_AT) != CATALOG_VERSION;
}

struct sqlite3 *catalog_open_writer(struct catalog *catalog)
{
    bool was_there = access(catalog->path, F_OK) == 0;
    bool is_other = was_there && is_of_another_version(catalog->path);
    sqlite3 *db = open_writer(catalog->path);

    if (db != NULL)
        return db;
    remove_file(catalog->path);
    db = open_writer(catalog->path);
    if (db != NULL && is_other)
        note(catalog, "the catalog of runs came from another version of jviewd and was rebuilt",
             "");
    else if (db != NULL && was_there)
        note(catalog,
             "the catalog of runs was damaged or belonged to another program, and was rebuilt", "");
    return db;
}

static void open_as_writer(struct catalog *catalog)
{
    catalog->db = catalog_open_writer(catalog);
    if (catalog->db != NULL)
        return;
    catalog->db = copy_to_memory(NULL);
    catalog->in_memory = true;
    note(catalog, "the catalog of runs cannot be written and is kept in memory", catalog->path);
}

static void open_as_reader(struct catalog *catalog)
{
    sqlite3 *file = open_file(catalog->path, SQLITE_OPEN_READONLY);

    catalog->db = copy_to_memory(file);
    catalog->in_memory = true;
    sqlite3_close(file);
}

bool catalog_take_lock(struct catalog *catalog)
{
    char path[CATALOG_PATH_SIZE];
    const char *slash = strrchr(catalog->path, '/');

    snprintf(path, sizeof path, "%.*s/lock", (int)(slash - catalog->path), catalog->path);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0) {
        close(fd);
        fd = -1;
    }
    catalog->lock_fd = fd;
    return fd >= 0;
}

enum status catalog_open(const char *cache_dir, struct catalog **ret, struct error *err)
{
    struct catalog *catalog = memory_resize(NULL, 1, sizeof *catalog);

    memset(catalog, 0, sizeof *catalog);
    pthread_mutex_init(&catalog->lock, NULL);
    catalog->arena = arena_create();
    snprintf(catalog->path, sizeof catalog->path, "%s/catalog.sqlite", cache_dir);
    if (catalog_take_lock(catalog))
        open_as_writer(catalog);
    else
        open_as_reader(catalog);
    if (catalog->db == NULL) {
        catalog_close(catalog);
        return fail(err, ERR_IO, "SQLite cannot open a database, not even in memory");
    }
    *ret = catalog;
    return OK;
}

static void close_connection(struct catalog *catalog)
{
    for (uint32_t i = 0; i < catalog->statement_count; i++)
        db_finish(catalog->statements[i].statement);
    catalog->statement_count = 0;
    sqlite3_close(catalog->db);
    catalog->db = NULL;
}

void catalog_close(struct catalog *catalog)
{
    if (catalog == NULL)
        return;
    close_connection(catalog);
    catalog_free_troubles(catalog);
    if (catalog->lock_fd >= 0)
        close(catalog->lock_fd);
    pthread_mutex_destroy(&catalog->lock);
    arena_destroy(catalog->arena);
    free(catalog);
}

bool catalog_writable(struct catalog *catalog)
{
    pthread_mutex_lock(
        &catalog->lock); /* the scanner may be taking the place of a server that ended */
    bool is_writable = catalog->lock_fd >= 0 && !catalog->in_memory;
    pthread_mutex_unlock(&catalog->lock);
    return is_writable;
}

struct str catalog_note(struct catalog *catalog, struct arena *arena)
{
    pthread_mutex_lock(&catalog->lock);
    struct str ret = str_copy(arena, str_of(catalog->note));
    pthread_mutex_unlock(&catalog->lock);
    return ret;
}

static enum status change_once(struct catalog *catalog, db_change *change, const void *data,
                               struct error *err)
{
    TRY(db_exec(catalog, "BEGIN IMMEDIATE", err));
    enum status status = change(catalog, data, err);

    if (status == OK)
        status = db_exec(catalog, "COMMIT", err);
    if (status != OK)
        sqlite3_exec(catalog->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

void catalog_exchange(struct catalog *catalog, struct sqlite3 *db, bool in_memory)
{
    close_connection(catalog);
    catalog->db = db;
    catalog->in_memory = in_memory;
}

static bool move_to_memory(struct catalog *catalog, const char *why)
{
    sqlite3 *memory = copy_to_memory(catalog->db);

    if (memory == NULL)
        return false;
    catalog_exchange(catalog, memory, true);
    note(catalog, "information about runs is lost when this server ends", why);
    return true;
}

enum status catalog_change(struct catalog *catalog, db_change *change, const void *data,
                           struct error *err)
{
    struct error refused = {0};

    pthread_mutex_lock(&catalog->lock);
    enum status status = change_once(catalog, change, data, &refused);

    if (status != OK && !catalog->in_memory && move_to_memory(catalog, refused.message)) {
        refused = (struct error){0};
        status = change_once(catalog, change, data, &refused);
    }
    atomic_fetch_add(&catalog->generation, 1);
    pthread_mutex_unlock(&catalog->lock);
    return status == OK ? OK : fail(err, status, "%s", refused.message);
}

uint64_t catalog_generation(struct catalog *catalog)
{
    return atomic_load(&catalog->generation);
}

void catalog_set_scan(struct catalog *catalog, struct scan_state scan)
{
    pthread_mutex_lock(&catalog->lock);
    catalog->scan = scan;
    atomic_fetch_add(&catalog->generation, 1);
    pthread_mutex_unlock(&catalog->lock);
}

struct scan_state catalog_scan(struct catalog *catalog)
{
    pthread_mutex_lock(&catalog->lock);
    struct scan_state scan = catalog->scan;
    pthread_mutex_unlock(&catalog->lock);
    return scan;
}

enum status catalog_show_roots(struct catalog *catalog, const struct str *roots, uint32_t count,
                               struct error *err)
{
    enum { ROOTS_MAX = 500 };

    if (count > ROOTS_MAX)
        return fail(err, ERR_LIMIT, "%u profile directories were given; the maximum is %d", count,
                    ROOTS_MAX);
    pthread_mutex_lock(&catalog->lock);
    catalog->roots = arena_array(catalog->arena, struct str, count + 1);
    for (uint32_t i = 0; i < count; i++)
        catalog->roots[i] = str_copy(catalog->arena, roots[i]);
    catalog->root_count = count;
    pthread_mutex_unlock(&catalog->lock);
    return OK;
}

bool catalog_shows(const struct catalog *catalog, struct str root)
{
    for (uint32_t i = 0; i < catalog->root_count; i++) {
        if (str_equal(catalog->roots[i], root))
            return true;
    }
    return catalog->root_count == 0;
}
