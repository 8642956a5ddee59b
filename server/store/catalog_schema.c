/* SPDX-License-Identifier: Apache-2.0 */
/* The tables. One that is changed raises CATALOG_VERSION; an older file is made anew, for all it
 * holds is found again on disk. */
#include "store/catalog_db.h"

const char catalog_schema[] =
    "CREATE TABLE runs("
    "  id TEXT PRIMARY KEY, root TEXT NOT NULL, content_id TEXT NOT NULL, kept_id TEXT NOT NULL,"
    "  name TEXT NOT NULL,"
    "  dir TEXT NOT NULL, dirs TEXT NOT NULL, state INTEGER NOT NULL, progress REAL NOT NULL,"
    "  error TEXT NOT NULL, epoch_ns INTEGER, duration_ps INTEGER NOT NULL,"
    "  modified_ns INTEGER NOT NULL, order_ns INTEGER NOT NULL, device_kind TEXT NOT NULL,"
    "  framework TEXT NOT NULL, device_count INTEGER, file_count INTEGER NOT NULL,"
    "  file_bytes INTEGER NOT NULL, slice_count INTEGER NOT NULL, step_count INTEGER,"
    "  step_median_ps INTEGER, formats TEXT NOT NULL, badges TEXT NOT NULL,"
    "  about_stamp INTEGER NOT NULL, about_name TEXT NOT NULL, about_commit TEXT NOT NULL,"
    "  about_step INTEGER, about_commit_ns INTEGER, latest_ns INTEGER NOT NULL,"
    "  is_unread INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX runs_by_order ON runs(order_ns DESC, id DESC, state, kept_id, root);"
    "CREATE INDEX runs_by_content ON runs(content_id);"
    "CREATE INDEX runs_by_name ON runs(name);"
    "CREATE TABLE files("
    "  run TEXT NOT NULL, path TEXT NOT NULL, host TEXT NOT NULL, format TEXT NOT NULL,"
    "  bytes INTEGER NOT NULL, state INTEGER NOT NULL, error TEXT NOT NULL,"
    "  content TEXT NOT NULL, part INTEGER NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT "
    "NULL,"
    "  modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL, start_ns INTEGER,"
    "  end_ns INTEGER, job TEXT NOT NULL, rank INTEGER NOT NULL,"
    "  PRIMARY KEY(run, path)) WITHOUT ROWID;"
    "CREATE INDEX files_by_bytes ON files(bytes);"
    "CREATE TABLE hosts("
    "  run TEXT NOT NULL, ordinal INTEGER NOT NULL, name TEXT NOT NULL, hostname TEXT NOT NULL,"
    "  epoch_ns INTEGER, offset_ps INTEGER NOT NULL, content TEXT NOT NULL,"
    "  PRIMARY KEY(run, ordinal)) WITHOUT ROWID;"
    "CREATE TABLE contents(" /* of a run when it was last ready or partial */
    "  run TEXT PRIMARY KEY, content_id TEXT NOT NULL, members TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE metrics(" /* of what is kept; the one without a name tells by which rules */
    "  name TEXT NOT NULL, kept_id TEXT NOT NULL, unit TEXT NOT NULL, value INTEGER,"
    "  reason TEXT NOT NULL, PRIMARY KEY(name, kept_id)) WITHOUT ROWID;"
    "CREATE TABLE facts(content TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;";
