/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog's own connection: statements prepared once, bound and read with few words.
 *
 *   catalog.sqlite   runs 1-n files, 1-n hosts, 1-1 contents; facts by content; metrics by kept id
 *
 * `db_statement` yields a statement ready to bind; it stays prepared until the connection ends, so
 * the SQL has to be a literal. Everything here expects catalog->lock to be held.
 */
#ifndef JVIEWD_STORE_CATALOG_DB_H
#define JVIEWD_STORE_CATALOG_DB_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/catalog.h"

struct sqlite3;
struct sqlite3_stmt;

enum { CATALOG_VERSION = 10, CATALOG_STATEMENTS_MAX = 40, CATALOG_PATH_SIZE = 4200 };

extern const char catalog_schema[]; /* catalog_schema.c */

struct catalog {
    pthread_mutex_t lock;
    char path[CATALOG_PATH_SIZE]; /* of the file, whether or not it is used */
    struct sqlite3 *db;
    bool in_memory; /* changes go with this process */
    int lock_fd;    /* holds the flock of who may write; -1: another process does */
    struct {
        const char *sql;
        struct sqlite3_stmt *statement;
    } statements[CATALOG_STATEMENTS_MAX];
    uint32_t statement_count;
    _Atomic uint64_t generation;
    struct scan_state scan;
    char note[480];
    struct arena *arena; /* of the roots */
    struct str *roots;   /* only runs below these are shown; none: all */
    uint32_t root_count;
    struct root_troubles *troubles; /* catalog_troubles.c */
};

/* NULL with err set when the text does not compile: a foreign or damaged file. */
struct sqlite3_stmt *db_statement(struct catalog *catalog, const char *sql, struct error *err);
/* The same for a text made for one question; the caller ends it with db_finish. */
struct sqlite3_stmt *db_question(struct catalog *catalog, const char *sql, struct error *err);
void db_finish(struct sqlite3_stmt *statement);

void db_bind_text(struct sqlite3_stmt *statement, int at, struct str text);
void db_bind_i64(struct sqlite3_stmt *statement, int at, int64_t value);
void db_bind_double(struct sqlite3_stmt *statement, int at, double value);
/* NULL unless known. */
void db_bind_known(struct sqlite3_stmt *statement, int at, bool known, int64_t value);

/* True while there is a row; false at the end and on a failure, which stands in err. */
bool db_row(struct catalog *catalog, struct sqlite3_stmt *statement, struct error *err);
/* Runs a statement that yields nothing, and resets it. */
MUST_CHECK enum status db_run(struct catalog *catalog, struct sqlite3_stmt *statement,
                              struct error *err);
void db_reset(struct sqlite3_stmt *statement);
MUST_CHECK enum status db_exec(struct catalog *catalog, const char *sql, struct error *err);

struct str db_text(struct sqlite3_stmt *statement, int column, struct arena *arena);
int64_t db_i64(struct sqlite3_stmt *statement, int column);
double db_double(struct sqlite3_stmt *statement, int column);
bool db_is_null(struct sqlite3_stmt *statement, int column);
/* 32 hex digits, or "" when the column holds anything else. */
void db_content(struct sqlite3_stmt *statement, int column, char ret[33]);

/* Lists of texts in one column: each ends with a unit separator. */
struct str db_join(struct arena *arena, const struct str *texts, uint32_t count);
void db_split(struct str joined, struct arena *arena, const struct str **ret, uint32_t *ret_count);

/* One change, all or nothing. When the disk refuses it, the catalog moves into memory and the
 * change is made there; it may therefore run twice. Takes the lock. */
typedef enum status db_change(struct catalog *catalog, const void *data, struct error *err);
MUST_CHECK enum status catalog_change(struct catalog *catalog, db_change *change, const void *data,
                                      struct error *err);
/* catalog.c, for catalog_promote.c: the file as its only writer, or NULL. */
struct sqlite3 *catalog_open_writer(struct catalog *catalog);
bool catalog_take_lock(struct catalog *catalog);
void catalog_exchange(struct catalog *catalog, struct sqlite3 *db, bool in_memory);
/* catalog_sums.c: the layer of sums by its name, once it is prepared; a new file has room for them
 * when that is said before its first page. */
#define CATALOG_SUMS "jviewd-sums"
void catalog_sums_prepare(void);
bool catalog_sums_begin(struct sqlite3 *db);
void catalog_free_troubles(struct catalog *catalog);
bool catalog_shows(const struct catalog *catalog, struct str root);

#endif
