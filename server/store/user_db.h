/* SPDX-License-Identifier: Apache-2.0 */
/* Inside user*.c: the one connection, and one question or change at a time.
 *
 *   user_ask      lock, connection there? statement -> rows -> unlock
 *   user_change   lock, connection made, BEGIN IMMEDIATE, change, COMMIT, unlock
 */
#ifndef JVIEWD_STORE_USER_DB_H
#define JVIEWD_STORE_USER_DB_H

#include "store/user.h"

struct sqlite3;
struct sqlite3_stmt;

/* A statement ready to bind and step; NULL with err set. The caller finishes it. */
struct sqlite3_stmt *user_statement(struct user *user, const char *sql, struct error *err);
void user_bind_text(struct sqlite3_stmt *statement, int at, struct str text);
struct str user_column(struct sqlite3_stmt *statement, int column, struct arena *arena);
/* True while there is a row; a damaged page ends them, and is told by user_trouble. */
bool user_row(struct user *user, struct sqlite3_stmt *statement, struct error *err);
/* Runs a statement that yields nothing and finishes it; ret_changes may be NULL. */
MUST_CHECK enum status user_run(struct user *user, struct sqlite3_stmt *statement, int *ret_changes,
                                struct error *err);

typedef enum status user_work(struct user *user, void *data, struct error *err);
/* Where there is no file, or none that can be read, `work` is not called: there is nothing. */
MUST_CHECK enum status user_ask(struct user *user, user_work *work, void *data, struct error *err);
/* All or nothing. */
MUST_CHECK enum status user_change(struct user *user, user_work *work, void *data,
                                   struct error *err);
/* ERR_LIMIT where a row more stands there than may. Within a change, after the write: one that
 * takes the place of another needs no room. */
MUST_CHECK enum status user_has_room(struct user *user, const char *count_sql, const char *what,
                                     struct error *err);
int64_t user_last_id(struct user *user);

#endif
