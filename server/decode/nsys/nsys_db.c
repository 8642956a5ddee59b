/* SPDX-License-Identifier: Apache-2.0 */
/* Opens bytes as a read-only SQLite database that can run nothing but reads, and walks its
 * tables. */
#include "decode/nsys/nsys_db.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>

enum {
    TABLES_MAX = 4096, /* real exports have about a hundred */
    COLUMNS_MAX = 512,
    TEXT_BYTES_MAX = 4 << 20,
    SQL_BYTES_MAX = 1 << 20,
    OPS_BETWEEN_LOOKS = 100000, /* steps of SQLite's machine between two looks at the sink */
    ROW_COST = 4,               /* a row takes at least its cell and the pointer to it */
    SCANS_MAX = 8,              /* how often a byte of the file may pay for a row or a text */
    OPS_PER_BYTE = 16,          /* of the file; a scan of a real one takes about one */
    OPS_MIN = 20000000,
    ROWS_BETWEEN_PROGRESS = 1 << 16,
};

static enum status db_failed(const struct nsys_db *db, struct error *err)
{
    return fail(err, ERR_FORMAT,
                "the SQLite file cannot be read: %s; it was probably truncated while copied or is "
                "still being written: copy it again, or export the report again",
                sqlite3_errmsg(db->db));
}

/* Rows that a condition sorts out are paid for here. */
static int look_around(void *data)
{
    struct nsys_db *db = data;

    db->ops_left -= db->ops_left < OPS_BETWEEN_LOOKS ? db->ops_left : OPS_BETWEEN_LOOKS;
    return db->ops_left == 0 || sink_failed(db->sink);
}

/* Only reading is ever asked for; whatever a schema would slip in is refused. */
static int authorize(void *data, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    (void)data;
    (void)a;
    (void)b;
    (void)c;
    (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_PRAGMA
               ? SQLITE_OK
               : SQLITE_DENY;
}

static void harden(struct nsys_db *db)
{
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
        {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
        {SQLITE_DBCONFIG_DQS_DDL, 0},
        {SQLITE_DBCONFIG_DQS_DML, 0},
    };

    for (size_t index = 0; index < COUNT(options); index++)
        sqlite3_db_config(db->db, options[index].option, options[index].value, NULL);
    sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX);
    sqlite3_limit(db->db, SQLITE_LIMIT_SQL_LENGTH, SQL_BYTES_MAX);
    sqlite3_limit(db->db, SQLITE_LIMIT_COLUMN, COLUMNS_MAX);
    sqlite3_limit(db->db, SQLITE_LIMIT_EXPR_DEPTH, 100);
    sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db->db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
    sqlite3_progress_handler(db->db, OPS_BETWEEN_LOOKS, look_around, db);
    sqlite3_set_authorizer(db->db, authorize, NULL);
}

/* What the header says the file holds: fewer bytes are a copy that was cut off. */
static uint64_t size_in_header(struct bytes file)
{
    const uint8_t *at = file.at;

    if (file.count < 100)
        return 0;
    uint64_t page = (uint64_t)(at[16] << 8 | at[17]);
    uint64_t pages =
        (uint64_t)at[28] << 24 | (uint64_t)at[29] << 16 | (uint64_t)at[30] << 8 | (uint64_t)at[31];

    return pages * (page == 1 ? 65536 : page);
}

/* SQLite refuses a file that is cut off unless it is told that its schema is under repair. Nothing
 * can be written in any case. */
static bool allow_cut(struct nsys_db *db)
{
    uint64_t size = size_in_header(db->file);

    if (size <= db->file.count)
        return true;
    sink_note(db->sink, "truncated", NOTE_ERROR, 1,
              "The file should have %" PRIu64
              " bytes but has %zu; rows are missing. Copy it again.",
              size, db->file.count);
    sqlite3_db_config(db->db, SQLITE_DBCONFIG_DEFENSIVE, 0, NULL);
    return sqlite3_exec(db->db, "PRAGMA writable_schema=ON", NULL, NULL, NULL) == SQLITE_OK;
}

static bool run_pragmas(struct nsys_db *db)
{
    return sqlite3_exec(db->db,
                        "PRAGMA cell_size_check=1; PRAGMA query_only=1; PRAGMA cache_size=-16384;",
                        NULL, NULL, NULL) == SQLITE_OK;
}

/* Bytes 18 and 19 of the header are 2 where writers keep a log beside the file. */
static bool has_log(struct bytes file)
{
    return file.count > 19 && file.at[18] == 2 && file.at[19] == 2;
}

static int compare_tables(const void *one, const void *other)
{
    const struct nsys_table *a = one, *b = other;

    return str_compare(a->name, b->name);
}

static struct str column_text(sqlite3_stmt *statement, int column)
{
    const char *at = (const char *)sqlite3_column_text(statement, column);
    int count = sqlite3_column_bytes(statement, column);

    return (struct str){.at = at, .count = at == NULL || count < 0 ? 0 : (size_t)count};
}

void nsys_sql_name(struct text *sql, struct str identifier)
{
    text_put(sql, "\"", 1);
    for (size_t index = 0; index < identifier.count; index++) {
        if (identifier.at[index] == '"')
            text_put(sql, "\"", 1);
        text_put(sql, &identifier.at[index], 1);
    }
    text_put(sql, "\"", 1);
}

/* PRAGMA table_info leaves out what is generated or hidden. */
static enum status read_columns(struct nsys_db *db, struct nsys_table *table, struct error *err)
{
    struct str *columns = arena_array(db->arena, struct str, COLUMNS_MAX);
    struct text sql = {0};
    sqlite3_stmt *statement = NULL;
    uint32_t keys = 0;
    int code;

    text_puts(&sql, "PRAGMA table_info(");
    nsys_sql_name(&sql, table->name);
    text_puts(&sql, ")");
    code = sqlite3_prepare_v2(db->db, sql.at, (int)sql.count, &statement, NULL);
    text_free(&sql);
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct str name = str_copy(db->arena, column_text(statement, 1));

        code = SQLITE_OK;
        if (table->column_count == COLUMNS_MAX)
            break;
        columns[table->column_count++] = name;
        if (sqlite3_column_int(statement, 5) == 0)
            continue;
        bool is_integer = str_equal(column_text(statement, 2), STR("INTEGER"));
        table->row_number = keys++ == 0 && is_integer ? name : STR("");
    }
    sqlite3_finalize(statement);
    table->columns = columns;
    return code == SQLITE_OK || code == SQLITE_DONE ? OK : db_failed(db, err);
}

static enum status read_tables(struct nsys_db *db, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    uint32_t capacity = 0;
    int code = sqlite3_prepare_v2(db->db,
                                  "SELECT name FROM sqlite_master WHERE type = 'table' AND "
                                  "rootpage > 0 ORDER BY rowid",
                                  -1, &statement, NULL);

    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        struct str name = column_text(statement, 0);

        code = SQLITE_OK;
        if (db->table_count == TABLES_MAX)
            break;
        if (name.count == 0 || memchr(name.at, '\0', name.count) != NULL)
            continue;
        if (db->table_count == capacity) {
            capacity = capacity == 0 ? 128 : capacity * 2;
            db->tables = memory_resize(db->tables, capacity, sizeof *db->tables);
        }
        db->tables[db->table_count++] = (struct nsys_table){.name = str_copy(db->arena, name)};
    }
    sqlite3_finalize(statement);
    if (code != SQLITE_OK && code != SQLITE_DONE)
        return db_failed(db, err);
    for (uint32_t index = 0; index < db->table_count; index++)
        TRY(read_columns(db, &db->tables[index], err));
    if (db->table_count > 0)
        qsort(db->tables, db->table_count, sizeof *db->tables, compare_tables);
    return OK;
}

enum status nsys_db_open(struct nsys_db *db, struct bytes file, struct sink *sink,
                         struct arena *arena, struct error *err)
{
    *db = (struct nsys_db){.sink = sink, .arena = arena, .file = file};
    db->budget_left = (uint64_t)file.count * SCANS_MAX;
    db->ops_left = (uint64_t)file.count * OPS_PER_BYTE + OPS_MIN;
    if (has_log(file))
        return fail(err, ERR_UNSUPPORTED,
                    "the SQLite file is set to keep a log beside it (WAL); run `sqlite3 FILE "
                    "'PRAGMA journal_mode=DELETE'` on it");
    if (sqlite3_open_v2(":memory:", &db->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE,
                        NULL) != SQLITE_OK)
        return db_failed(db, err);
    /* Read-only: SQLite never writes where the pointer leads. */
    if (sqlite3_deserialize(db->db, "main", (unsigned char *)(uintptr_t)file.at,
                            (sqlite3_int64)file.count, (sqlite3_int64)file.count,
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        return db_failed(db, err);
    harden(db);
    if (!allow_cut(db) || !run_pragmas(db))
        return db_failed(db, err);
    return read_tables(db, err);
}

void nsys_db_close(struct nsys_db *db)
{
    sqlite3_close(db->db);
    free(db->tables);
    db->db = NULL;
    db->tables = NULL;
}

struct nsys_table *nsys_table_find(struct nsys_db *db, struct str name)
{
    struct nsys_table wanted = {.name = name};

    return db->table_count == 0
               ? NULL
               : bsearch(&wanted, db->tables, db->table_count, sizeof wanted, compare_tables);
}

bool nsys_table_has(const struct nsys_table *table, struct str column)
{
    for (uint32_t index = 0; index < table->column_count; index++)
        if (str_equal(table->columns[index], column))
            return true;
    return false;
}

static void tell_damage(struct nsys_rows *rows, const char *why)
{
    sink_note(rows->db->sink, "corrupt", NOTE_ERROR, 1,
              "Table %.*s could be read up to row %" PRIu64 " only (%s); copy the file again if "
              "the original is whole.",
              STR_ARG(rows->table->name), rows->table->rows_read, why);
}

struct nsys_rows nsys_rows_open(struct nsys_db *db, struct nsys_table *table, const char *columns,
                                const char *tail)
{
    struct nsys_rows rows = {.db = db, .table = table};
    struct text sql = {0};

    text_putf(&sql, "SELECT %s FROM ", columns);
    nsys_sql_name(&sql, table->name);
    text_putf(&sql, " %s", tail);
    table->is_read = true;
    if (sqlite3_prepare_v3(db->db, sql.at, (int)sql.count, SQLITE_PREPARE_PERSISTENT,
                           &rows.statement, NULL) != SQLITE_OK)
        tell_damage(&rows, sqlite3_errmsg(db->db));
    text_free(&sql);
    return rows;
}

struct nsys_rows nsys_rows_of(struct nsys_db *db, const char *name, const char *const *columns,
                              size_t count, const char *tail)
{
    struct nsys_table *table = nsys_table_find(db, str_of(name));
    struct text sql = {0};

    if (table == NULL)
        return (struct nsys_rows){0};
    for (size_t index = 0; index < count; index++) {
        if (!nsys_table_has(table, str_of(columns[index]))) {
            text_free(&sql);
            return (struct nsys_rows){0};
        }
        text_puts(&sql, index > 0 ? ", " : "");
        nsys_sql_name(&sql, str_of(columns[index]));
    }
    struct nsys_rows rows = nsys_rows_open(db, table, sql.at, tail);
    text_free(&sql);
    return rows;
}

static void end_reading(struct nsys_rows *rows)
{
    if (!rows->db->over_budget)
        tell_damage(rows, "its pages form a loop");
    rows->db->over_budget = true;
}

/* False once the budget is gone. */
static bool pay(struct nsys_rows *rows, uint64_t bytes)
{
    struct nsys_db *db = rows->db;

    if (db->budget_left >= bytes) {
        db->budget_left -= bytes;
        return true;
    }
    end_reading(rows);
    return false;
}

/* Where the reading is, told by the share of the rows that the file could hold. */
static void tell_progress(const struct nsys_rows *rows)
{
    uint64_t total = rows->db->file.count;

    sink_progress(rows->db->sink, total - rows->db->budget_left / SCANS_MAX, total);
}

bool nsys_rows_next(struct nsys_rows *rows)
{
    if (rows->statement == NULL || rows->db->over_budget || sink_failed(rows->db->sink))
        return false;
    int code = sqlite3_step(rows->statement);

    if (code == SQLITE_ROW && pay(rows, ROW_COST)) {
        if (rows->counts && ++rows->table->rows_read % ROWS_BETWEEN_PROGRESS == 0)
            tell_progress(rows);
        return true;
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE && !sink_failed(rows->db->sink)) {
        if (rows->db->ops_left == 0)
            end_reading(rows);
        else
            tell_damage(rows, sqlite3_errmsg(rows->db->db));
    }
    nsys_rows_close(rows);
    return false;
}

void nsys_rows_close(struct nsys_rows *rows)
{
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

bool nsys_rows_seek(struct nsys_rows *rows, int64_t value)
{
    if (rows->statement == NULL || rows->db->over_budget)
        return false;
    sqlite3_reset(rows->statement);
    sqlite3_bind_int64(rows->statement, 1, value);
    return sqlite3_step(rows->statement) == SQLITE_ROW && pay(rows, ROW_COST);
}

bool nsys_integer(const struct nsys_rows *rows, int column, int64_t *ret)
{
    if (sqlite3_column_type(rows->statement, column) != SQLITE_INTEGER)
        return false;
    *ret = sqlite3_column_int64(rows->statement, column);
    return true;
}

bool nsys_number(const struct nsys_rows *rows, int column, double *ret)
{
    int type = sqlite3_column_type(rows->statement, column);

    *ret = sqlite3_column_double(rows->statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

struct str nsys_text(struct nsys_rows *rows, int column)
{
    if (sqlite3_column_type(rows->statement, column) != SQLITE_TEXT)
        return (struct str){0};
    struct str text = column_text(rows->statement, column);

    return pay(rows, text.count) ? text : (struct str){0};
}

struct arg nsys_value(struct nsys_rows *rows, int column)
{
    double real;
    struct arg arg = {.type = ARG_NONE};
    struct str text;

    switch (sqlite3_column_type(rows->statement, column)) {
    case SQLITE_INTEGER:
        arg.type = ARG_INT64;
        arg.bits = (uint64_t)sqlite3_column_int64(rows->statement, column);
        break;
    case SQLITE_FLOAT:
        real = sqlite3_column_double(rows->statement, column);
        arg.type = ARG_DOUBLE;
        memcpy(&arg.bits, &real, sizeof real);
        break;
    case SQLITE_TEXT:
        text = nsys_text(rows, column);
        arg.type = ARG_STRING;
        arg.bits = sink_name(rows->db->sink, text);
        break;
    default:
        break;
    }
    return arg;
}

uint64_t nsys_table_count(struct nsys_db *db, struct nsys_table *table)
{
    struct nsys_rows rows = nsys_rows_open(db, table, "NULL", "");
    uint64_t count = 0;

    while (nsys_rows_next(&rows))
        count++;
    return count;
}
