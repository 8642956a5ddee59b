/* SPDX-License-Identifier: Apache-2.0 */
/* What a query may do: read the given tables and call functions that only compute.
 *
 * The list says what is allowed; what a later SQLite brings is refused until it is added here.
 */
#include <time.h>

#include "store/sql_parts.h"

enum {
    STEPS_A_LOOK = 10000, /* of SQLite's machine, between two looks at the clock */
    TEXT_BYTES_MAX = 1 << 20,
};

static const char *const functions[] = {
    "abs",         "acos",      "asin",      "atan",       "atan2",        "avg",
    "ceil",        "ceiling",   "char",      "coalesce",   "cos",          "count",
    "cume_dist",   "date",      "datetime",  "degrees",    "dense_rank",   "exp",
    "first_value", "floor",     "format",    "glob",       "group_concat", "hex",
    "ifnull",      "iif",       "instr",     "julianday",  "lag",          "last_value",
    "lead",        "length",    "like",      "likelihood", "likely",       "ln",
    "log",         "log10",     "log2",      "lower",      "ltrim",        "max",
    "min",         "mod",       "nth_value", "ntile",      "nullif",       "percent_rank",
    "pi",          "pow",       "power",     "printf",     "quote",        "radians",
    "rank",        "replace",   "round",     "row_number", "rtrim",        "sign",
    "sin",         "sqrt",      "strftime",  "substr",     "substring",    "sum",
    "tan",         "time",      "total",     "trim",       "trunc",        "typeof",
    "unicode",     "unixepoch", "unlikely",  "upper",      "zeroblob"};

static bool is_function(const char *name)
{
    for (size_t i = 0; i < COUNT(functions); i++) {
        if (sqlite3_stricmp(functions[i], name) == 0)
            return true;
    }
    return false;
}

static bool is_table(const struct sql *sql, const char *name)
{
    for (uint32_t i = 0; i < sql->table_count; i++) {
        if (sqlite3_stricmp(sql->tables[i].name, name) == 0)
            return true;
    }
    return false;
}

/* SQLite's own tables, and those of its extensions. */
static bool is_foreign(const char *name)
{
    static const char *const starts[] = {"sqlite_", "pragma_", "dbstat",   "fts",
                                         "rtree",   "json_",   "bytecode", "tables_used"};

    for (size_t i = 0; i < COUNT(starts); i++) {
        if (sqlite3_strnicmp(name, starts[i], (int)strlen(starts[i])) == 0)
            return true;
    }
    return false;
}

/* A query's own WITH tables are asked for by name, without a column, and are not ours to know. */
static bool may_read(const struct sql *sql, const char *table, const char *column)
{
    if (is_table(sql, table))
        return true;
    return (column == NULL || column[0] == '\0') && !is_foreign(table);
}

static int refuse(struct sql *sql, const char *what, const char *name)
{
    (void)fail(&sql->refused, ERR_INVALID, "%s%s%s", what, name == NULL ? "" : " ",
               name == NULL ? "" : name);
    return SQLITE_DENY;
}

static int authorize(void *data, int action, const char *first, const char *second,
                     const char *database, const char *inner)
{
    struct sql *sql = data;

    (void)database;
    (void)inner;
    if (sql->declaring)
        return SQLITE_OK;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_READ:
        return first != NULL && may_read(sql, first, second) ? SQLITE_OK
                                                             : refuse(sql, "no such table:", first);
    case SQLITE_FUNCTION:
        return second != NULL && is_function(second)
                   ? SQLITE_OK
                   : refuse(sql, "this function is not available:", second);
    case SQLITE_ATTACH:
    case SQLITE_DETACH:
        return refuse(sql, "no other database can be attached", NULL);
    case SQLITE_PRAGMA:
        return refuse(sql, "there are no settings to ask or change: PRAGMA", first);
    default:
        return refuse(sql, "only SELECT is answered: nothing here can be changed", NULL);
    }
}

int64_t sql_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int look_at_clock(void *data)
{
    struct sql *sql = data;

    if (sql_cpu_ns() < sql->until_ns)
        return 0;
    sql->limit_met = "time";
    return 1;
}

void sql_guard(struct sql *sql)
{
    static const struct {
        int what, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, TEXT_BYTES_MAX},
        {SQLITE_LIMIT_SQL_LENGTH, SQL_QUERY_BYTES_MAX},
        {SQLITE_LIMIT_COLUMN, 200},
        {SQLITE_LIMIT_EXPR_DEPTH, 100},
        {SQLITE_LIMIT_COMPOUND_SELECT, 20},
        {SQLITE_LIMIT_VDBE_OP, 250000},
        {SQLITE_LIMIT_FUNCTION_ARG, 8},
        {SQLITE_LIMIT_ATTACHED, 0},
        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
        {SQLITE_LIMIT_VARIABLE_NUMBER, 100},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
        {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    static const int on[] = {SQLITE_DBCONFIG_DEFENSIVE},
                     off[] = {SQLITE_DBCONFIG_TRUSTED_SCHEMA,
                              SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION,
                              SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER,
                              SQLITE_DBCONFIG_ENABLE_TRIGGER,
                              SQLITE_DBCONFIG_ENABLE_VIEW,
                              SQLITE_DBCONFIG_DQS_DDL,
                              SQLITE_DBCONFIG_DQS_DML,
                              SQLITE_DBCONFIG_WRITABLE_SCHEMA};

    for (size_t i = 0; i < COUNT(limits); i++)
        sqlite3_limit(sql->db, limits[i].what, limits[i].most);
    for (size_t i = 0; i < COUNT(on); i++)
        sqlite3_db_config(sql->db, on[i], 1, NULL);
    for (size_t i = 0; i < COUNT(off); i++)
        sqlite3_db_config(sql->db, off[i], 0, NULL);
    sqlite3_set_authorizer(sql->db, authorize, sql);
    sqlite3_progress_handler(sql->db, STEPS_A_LOOK, look_at_clock, sql);
}
