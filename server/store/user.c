/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the user database, and when it may be written.
 *
 *   no file          nothing is read; the first write makes it
 *   directory gone   that it was open in: neither, and said, until it is back
 *   ours             read and written
 *   ours, newer      read as far as its tables are those of this version; never written
 *   ours, damaged    read as far as it goes; never written
 *   not ours         neither; what it is stays untouched
 *   held by another  waited for, then told; tried again by the next call
 */
#include "store/user_db.h"

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"

enum {
    APPLICATION_ID = 0x6a767564, /* "jvud" */
    USER_VERSION = 1,
    READ_WAIT_MS = 200, /* a list is not held up by who writes for long */
    WRITE_WAIT_MS = 4000,
    PATH_SIZE = 4200,
    HEADER_BYTES = 100, /* of an SQLite file; it takes a shorter one for an empty database */
};

/* How long a file that could not be opened, or may not be written, is believed to be so. */
static const int64_t BELIEVED_NS = 500000000;

static const char not_a_database[] =
    "it is damaged or not a database; move it away to start a new one";
static const char damaged[] =
    "it is damaged; the readable part is shown. `sqlite3 user.db .recover` may save the rest";

static const char gone[] =
    "its directory disappeared while in use; restore it, or restart jviewd to create a new one";

static const char schema[] =
    "CREATE TABLE baselines(name TEXT PRIMARY KEY, content_id TEXT NOT NULL,"
    " run_name TEXT NOT NULL, set_ns INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE notes(id INTEGER PRIMARY KEY AUTOINCREMENT, content_id TEXT NOT NULL,"
    " run_name TEXT NOT NULL, start_ps INTEGER, end_ps INTEGER, track TEXT NOT NULL,"
    " text TEXT NOT NULL, made_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL);"
    "CREATE INDEX notes_of ON notes(content_id, start_ps);"
    "CREATE TABLE tags(content_id TEXT NOT NULL, tag TEXT NOT NULL, made_ns INTEGER NOT NULL,"
    " PRIMARY KEY(content_id, tag)) WITHOUT ROWID;"
    "CREATE TABLE links(id TEXT PRIMARY KEY, address TEXT NOT NULL UNIQUE,"
    " made_ns INTEGER NOT NULL) WITHOUT ROWID;";

struct user {
    pthread_mutex_t lock;
    char path[PATH_SIZE];
    struct sqlite3 *db; /* NULL: no file, or none that can be read */
    dev_t device;       /* of the open file: another one may have taken its place */
    ino_t inode;
    dev_t place_device;  /* of the directory in which it was open */
    ino_t place_inode;   /* 0: it never was */
    char why[400];       /* nothing can be written; "" it can */
    bool is_held;        /* because another program holds it just now */
    bool is_partly_read; /* damaged, or of a newer version: what cannot be read is not there */
    bool is_in_the_way;  /* what failed may succeed by itself: held, no memory, the disk */
    int wait_ms;
    int64_t looked_ns;
    uint64_t changes; /* connections made, and changes made through them */
};

void user_open(const char *data_dir, struct user **ret)
{
    struct user *user = memory_resize(NULL, 1, sizeof *user);
    const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");

    *user = (struct user){.wait_ms = READ_WAIT_MS};
    pthread_mutex_init(&user->lock, NULL);
    if (data_dir[0] != '\0')
        snprintf(user->path, sizeof user->path, "%s/user.db", data_dir);
    else if (data != NULL && data[0] == '/')
        snprintf(user->path, sizeof user->path, "%s/jviewd/user.db", data);
    else if (home != NULL && home[0] == '/')
        snprintf(user->path, sizeof user->path, "%s/.local/share/jviewd/user.db", home);
    *ret = user;
}

static void disconnect(struct user *user)
{
    sqlite3_close(user->db);
    user->db = NULL;
}

void user_close(struct user *user)
{
    if (user == NULL)
        return;
    disconnect(user);
    pthread_mutex_destroy(&user->lock);
    free(user);
}

static void deny(struct user *user, const char *why)
{
    snprintf(user->why, sizeof user->why, "%s", why);
}

/* A page that nobody had looked at is none, or not what it should be: no more is read, and nothing
 * written from here on. */
static bool is_damage(struct user *user, int code)
{
    if ((code & 0xff) != SQLITE_CORRUPT && (code & 0xff) != SQLITE_NOTADB)
        return false;
    deny(user, damaged);
    user->is_partly_read = true;
    return true;
}

/* Not what the file is, but what befell the reading of it. */
static bool is_passing(int code)
{
    return code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_IOERR ||
           code == SQLITE_NOMEM || code == SQLITE_INTERRUPT || code == SQLITE_CANTOPEN;
}

static bool is_disk_full(struct user *user, int code)
{
    int error = user->db == NULL ? 0 : sqlite3_system_errno(user->db);

    return code == SQLITE_FULL || ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) &&
                                   (error == ENOSPC || error == EDQUOT));
}

static enum status db_failed(struct user *user, struct error *err)
{
    int code = user->db == NULL ? SQLITE_CANTOPEN : sqlite3_errcode(user->db) & 0xff;

    user->is_in_the_way = is_passing(code);
    if (is_damage(user, code))
        return fail(err, ERR_PERMISSION, "nothing was written to %s: %s", user->path, user->why);
    if (is_disk_full(user, code))
        return fail(err, ERR_IO, "nothing was written to %s: the disk is full", user->path);
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return fail(err, ERR_IO,
                    "another program has locked %s; nothing was changed, try again in a moment",
                    user->path);
    return fail(err, code == SQLITE_READONLY || code == SQLITE_PERM ? ERR_PERMISSION : ERR_IO,
                "%s: %s", user->path,
                user->db == NULL ? "it cannot be opened" : sqlite3_errmsg(user->db));
}

struct sqlite3_stmt *user_statement(struct user *user, const char *sql, struct error *err)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(user->db, sql, -1, &statement, NULL) != SQLITE_OK)
        db_failed(user, err);
    return statement;
}

void user_bind_text(struct sqlite3_stmt *statement, int at, struct str text)
{
    sqlite3_bind_text64(statement, at, text.count == 0 ? "" : text.at, text.count, SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

struct str user_column(struct sqlite3_stmt *statement, int column, struct arena *arena)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    int count = sqlite3_column_bytes(statement, column);

    return text == NULL || count <= 0
               ? STR("")
               : str_copy(arena, (struct str){.at = text, .count = (size_t)count});
}

bool user_row(struct user *user, struct sqlite3_stmt *statement, struct error *err)
{
    int code = sqlite3_step(statement);

    if (code != SQLITE_ROW && code != SQLITE_DONE && !is_damage(user, code))
        db_failed(user, err);
    return code == SQLITE_ROW;
}

enum status user_run(struct user *user, struct sqlite3_stmt *statement, int *ret_changes,
                     struct error *err)
{
    enum status status = sqlite3_step(statement) == SQLITE_DONE ? OK : db_failed(user, err);

    if (ret_changes != NULL)
        *ret_changes = sqlite3_changes(user->db);
    sqlite3_finalize(statement);
    return status;
}

int64_t user_last_id(struct user *user)
{
    return sqlite3_last_insert_rowid(user->db);
}

/* A number that a statement yields; false where it fails, with SQLite's code. */
static bool number(struct user *user, const char *sql, int64_t *ret, int *ret_code)
{
    sqlite3_stmt *statement = NULL;

    *ret_code = sqlite3_prepare_v2(user->db, sql, -1, &statement, NULL);
    if (*ret_code == SQLITE_OK)
        *ret_code = sqlite3_step(statement);
    *ret = *ret_code == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return *ret_code == SQLITE_ROW;
}

static bool is_whole(struct user *user)
{
    sqlite3_stmt *statement = NULL;
    bool whole = false;

    if (sqlite3_prepare_v2(user->db, "PRAGMA quick_check(1)", -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(statement, 0);

        whole = text != NULL && strcmp(text, "ok") == 0;
    }
    sqlite3_finalize(statement);
    return whole;
}

static void deny_and_leave(struct user *user, const char *why)
{
    deny(user, why);
    disconnect(user);
}

/* What the open file is, and so what may be done with it. */
static void judge(struct user *user)
{
    int64_t id, version, tables;
    int code;

    if (!number(user, "PRAGMA application_id", &id, &code) ||
        !number(user, "PRAGMA user_version", &version, &code) ||
        !number(user, "SELECT count(*) FROM sqlite_master", &tables, &code)) {
        user->is_held = (code & 0xff) == SQLITE_BUSY;
        if (user->is_held)
            deny_and_leave(user, "another program has locked it");
        else
            deny_and_leave(user, not_a_database);
    } else if (id != APPLICATION_ID && (id != 0 || version != 0 || tables != 0)) {
        deny_and_leave(user, "it belongs to another program; choose another --data-dir");
    } else if (version > USER_VERSION) {
        user->is_partly_read = true;
        deny(user,
             "a newer jviewd created it; this version shows what it knows, and writes nothing");
    } else if (!is_whole(user)) {
        user->is_partly_read = true;
        deny(user, damaged);
    } else if (sqlite3_db_readonly(user->db, "main") == 1) {
        deny(user, "this user may read it, but not write to it");
    } else {
        user->why[0] = '\0';
    }
}

/* Where the path has a directory; false without one. */
static bool directory_of(const struct user *user, char ret[PATH_SIZE])
{
    const char *slash = strrchr(user->path, '/');

    if (slash != NULL)
        snprintf(ret, PATH_SIZE, "%.*s", (int)(slash - user->path), user->path);
    return slash != NULL;
}

static void remember_place(struct user *user)
{
    char directory[PATH_SIZE];
    struct stat info;

    if (directory_of(user, directory) && stat(directory, &info) == 0) {
        user->place_device = info.st_dev;
        user->place_inode = info.st_ino;
    }
}

/* Removed or unmounted; a file that was moved out of it is another matter. */
static bool is_place_gone(const struct user *user)
{
    char directory[PATH_SIZE];
    struct stat info;

    return user->place_inode != 0 && directory_of(user, directory) &&
           (stat(directory, &info) != 0 || info.st_dev != user->place_device ||
            info.st_ino != user->place_inode);
}

static void connect(struct user *user, int flags)
{
    struct stat info;
    char path[PATH_SIZE]; /* NOFOLLOW refuses a link anywhere on the way, and homes may be links */

    disconnect(user);
    user->changes++;
    user->is_held = user->is_partly_read = false;
    if (!file_without_links(user->path, path, sizeof path) ||
        sqlite3_open_v2(path, &user->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
                        NULL) != SQLITE_OK) {
        deny_and_leave(user, "it cannot be opened");
        return;
    }
    sqlite3_busy_timeout(user->db, user->wait_ms);
    sqlite3_db_config(user->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(user->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_exec(user->db, "PRAGMA cell_size_check=ON; PRAGMA synchronous=EXTRA", NULL, NULL, NULL);
    judge(user);
    if (stat(user->path, &info) == 0) {
        if (info.st_size > 0 && info.st_size < HEADER_BYTES)
            deny_and_leave(user, not_a_database);
        user->device = info.st_dev;
        user->inode = info.st_ino;
        remember_place(user);
    }
}

/* The connection, if there is a file: the one at hand where it is of that very file. */
static void look(struct user *user)
{
    struct stat info;
    int64_t now_ns = clock_monotonic_ns();

    if (stat(user->path, &info) != 0) {
        disconnect(user);
        user->inode = 0; /* whatever stands there next is looked at */
        deny(user, is_place_gone(user) ? gone : "");
        return;
    }
    bool same = user->device == info.st_dev && user->inode == info.st_ino;
    bool is_well = user->db != NULL && user->why[0] == '\0';
    if (same && (is_well || (!user->is_held && now_ns < user->looked_ns + BELIEVED_NS)))
        return;
    user->looked_ns = now_ns;
    connect(user, SQLITE_OPEN_READWRITE);
}

static enum status make_directory(struct user *user, struct error *err)
{
    char directory[PATH_SIZE];

    if (!directory_of(user, directory))
        return fail(err, ERR_NOT_FOUND,
                    "there is no home directory for notes and baselines: give --data-dir DIR");
    return directory_make(directory, err);
}

/* Within the change: an empty file becomes ours. Another process may have been quicker. */
static enum status make_tables(struct user *user, struct error *err)
{
    char numbers[96];
    int64_t id;
    int code;

    if (!number(user, "PRAGMA application_id", &id, &code))
        return db_failed(user, err);
    if (id == APPLICATION_ID)
        return OK;
    snprintf(numbers, sizeof numbers, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             APPLICATION_ID, USER_VERSION);
    if (sqlite3_exec(user->db, schema, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(user->db, numbers, NULL, NULL, NULL) != SQLITE_OK)
        return db_failed(user, err);
    return OK;
}

/* Why some of it is not there, user_trouble tells beside the rest; what may be there in a moment is
 * no such thing. */
static enum status ask_locked(struct user *user, user_work *work, void *data, struct error *err)
{
    user->is_in_the_way = false;
    enum status status = work(user, data, err);

    if (status == OK || !user->is_partly_read || user->is_in_the_way)
        return status;
    *err = (struct error){0};
    return OK;
}

enum status user_ask(struct user *user, user_work *work, void *data, struct error *err)
{
    int64_t tables;
    int code;
    enum status status = OK;

    if (user == NULL)
        return OK;
    pthread_mutex_lock(&user->lock);
    look(user);
    if (user->db != NULL &&
        (!number(user, "SELECT count(*) FROM sqlite_master", &tables, &code) || tables > 0))
        status = ask_locked(user, work, data, err);
    pthread_mutex_unlock(&user->lock);
    return status;
}

static enum status change_locked(struct user *user, user_work *work, void *data, struct error *err)
{
    look(user);
    if (user->db == NULL && user->why[0] == '\0') {
        TRY(make_directory(user, err));
        connect(user, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    }
    if (user->why[0] != '\0')
        return fail(err, ERR_PERMISSION, "nothing was written to %s: %s", user->path, user->why);
    if (sqlite3_exec(user->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        return db_failed(user, err);
    enum status status = make_tables(user, err);
    if (status == OK)
        status = work(user, data, err);
    if (status == OK && sqlite3_exec(user->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        status = db_failed(user, err);
    if (status != OK)
        sqlite3_exec(user->db, "ROLLBACK", NULL, NULL, NULL);
    user->changes++;
    return status;
}

static void set_wait(struct user *user, int wait_ms)
{
    user->wait_ms = wait_ms;
    if (user->db != NULL)
        sqlite3_busy_timeout(user->db, wait_ms);
}

enum status user_change(struct user *user, user_work *work, void *data, struct error *err)
{
    if (user == NULL)
        return fail(err, ERR_NOT_FOUND, "no user database is open here");
    pthread_mutex_lock(&user->lock);
    set_wait(user, WRITE_WAIT_MS);
    enum status status = change_locked(user, work, data, err);
    set_wait(user, READ_WAIT_MS);
    pthread_mutex_unlock(&user->lock);
    return status;
}

enum status user_has_room(struct user *user, const char *count_sql, const char *what,
                          struct error *err)
{
    int64_t count;
    int code;

    if (!number(user, count_sql, &count, &code))
        return db_failed(user, err);
    return count <= USER_ROWS_MAX
               ? OK
               : fail(err, ERR_LIMIT, "there are already %d %s, the maximum", USER_ROWS_MAX, what);
}

struct str user_trouble(struct user *user, struct arena *arena)
{
    if (user == NULL)
        return STR("");
    pthread_mutex_lock(&user->lock);
    look(user);
    struct str ret = user->why[0] == '\0'
                         ? STR("")
                         : str_format(arena, "Notes and baselines cannot be written to %s: %s.",
                                      user->path, user->why);
    pthread_mutex_unlock(&user->lock);
    return ret;
}

uint64_t user_generation(struct user *user)
{
    int64_t others = 0;
    int code;

    if (user == NULL)
        return 0;
    pthread_mutex_lock(&user->lock);
    look(user);
    if (user->db != NULL)
        number(user, "PRAGMA data_version", &others, &code);
    uint64_t ret = (user->changes << 32) + (uint64_t)others + (user->db != NULL);
    pthread_mutex_unlock(&user->lock);
    return ret;
}
