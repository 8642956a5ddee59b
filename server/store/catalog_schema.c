/* The tables. One that is changed raises CATALOG_VERSION; an older file is made anew, for all it
 * holds is found again on disk. */
#include "store/catalog_db.h"

const char catalog_schema[] =
    "CREATE TABLE runs("
    "  id TEXT PRIMARY KEY, root TEXT NOT NULL, content_id TEXT NOT NULL, name TEXT NOT NULL,"
    "  dir TEXT NOT NULL, dirs TEXT NOT NULL, state INTEGER NOT NULL, progress REAL NOT NULL,"
    "  error TEXT NOT NULL, epoch_ns INTEGER, duration_ps INTEGER NOT NULL,"
    "  modified_ns INTEGER NOT NULL, order_ns INTEGER NOT NULL, device_kind TEXT NOT NULL,"
    "  framework TEXT NOT NULL, device_count INTEGER, file_count INTEGER NOT NULL,"
    "  file_bytes INTEGER NOT NULL, slice_count INTEGER NOT NULL, step_count INTEGER,"
    "  step_median_ps INTEGER, formats TEXT NOT NULL, badges TEXT NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX runs_by_order ON runs(order_ns DESC, id);"
    "CREATE INDEX runs_by_content ON runs(content_id);"
    "CREATE INDEX runs_by_name ON runs(name);"
    "CREATE TABLE files("
    "  run TEXT NOT NULL, path TEXT NOT NULL, host TEXT NOT NULL, format TEXT NOT NULL,"
    "  bytes INTEGER NOT NULL, state INTEGER NOT NULL, error TEXT NOT NULL,"
    "  content TEXT NOT NULL, part INTEGER NOT NULL, device INTEGER NOT NULL, inode INTEGER NOT "
    "NULL,"
    "  modified_ns INTEGER NOT NULL, changed_ns INTEGER NOT NULL,"
    "  PRIMARY KEY(run, path)) WITHOUT ROWID;"
    "CREATE INDEX files_by_bytes ON files(bytes);"
    "CREATE TABLE hosts("
    "  run TEXT NOT NULL, ordinal INTEGER NOT NULL, name TEXT NOT NULL, hostname TEXT NOT NULL,"
    "  epoch_ns INTEGER, offset_ps INTEGER NOT NULL, content TEXT NOT NULL,"
    "  PRIMARY KEY(run, ordinal)) WITHOUT ROWID;"
    "CREATE TABLE facts(content TEXT PRIMARY KEY, facts TEXT NOT NULL) WITHOUT ROWID;";
