/* SPDX-License-Identifier: Apache-2.0 */
/* How fast an SQLite export of Nsight Systems becomes a trace, against a bare SELECT of its
 * columns.
 *
 *   bench_nsys [ROWS]      select_rows_per_s, decode_rows_per_s, share
 *
 * ROWS launches, as many kernels, and as many ranges around them, in a database in memory. CPU
 * time, best of five rounds, both in turn. The SELECT reads every column of every row of the same
 * tables and keeps nothing; decoding does everything up to the finished trace.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "decode/decode.h"

enum { ROWS = 300000, ROUNDS = 5 };

static const char schema[] =
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
    " contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, demangledName INTEGER, shortName INTEGER, mangledName INTEGER,"
    " launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER, gridX INTEGER,"
    " gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
    " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER,"
    " localMemoryTotal INTEGER, gridId INTEGER, sharedMemoryExecuted INTEGER,"
    " graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,"
    " callchainId INTEGER);"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER,"
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER,"
    " textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER,"
    " doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL,"
    " jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);";

static void run(sqlite3 *db, const char *sql)
{
    char *why = NULL;

    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fprintf(stderr, "bench_nsys: %s\n", why);
        exit(1);
    }
}

static struct bytes make_export(int rows)
{
    static const char series[] = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
                                 "WHERE i + 1 < %d) INSERT INTO %s SELECT %s FROM n";
    static const char *const tables[][2] = {
        {"StringIds", "i, 'kernel_' || i"},
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         "i * 4000 + 9000, i * 4000 + 9000 + 1000 + i % 700, i % 4, 1, NULL, 7 + i % 3, i + 1,"
         " 281474993487872, i % 200, i % 200, i % 200, 1, 1, 32, 4 + i % 8, 1, 1, 128, 1, 1, 0, 0,"
         " 0, 250871808, i, 32768, NULL, 0"},
        {"CUPTI_ACTIVITY_KIND_RUNTIME",
         "i * 4000, i * 4000 + 1500, 0, 281474993487880, i + 1, 200, 0, NULL"},
        {"NVTX_EVENTS", "i * 4000 - 100, i * 4000 + 1600, 59, NULL, NULL, NULL, NULL,"
                        " 281474993487880, NULL, i % 50, 0, NULL, NULL, NULL, NULL, NULL, NULL,"
                        " NULL, NULL, NULL"},
    };
    sqlite3 *db = NULL;
    sqlite3_int64 size;

    sqlite3_open(":memory:", &db);
    run(db, schema);
    for (size_t at = 0; at < COUNT(tables); at++) {
        char *sql = sqlite3_mprintf(series, at == 0 ? 300 : rows, tables[at][0], tables[at][1]);

        run(db, sql);
        sqlite3_free(sql);
    }
    struct bytes file = {.at = sqlite3_serialize(db, "main", &size, 0)};
    file.count = (size_t)size;
    sqlite3_close(db);
    return file;
}

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static uint64_t select_table(sqlite3 *db, const char *sql, uint64_t *sum)
{
    sqlite3_stmt *statement = NULL;
    uint64_t rows = 0;

    sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    int count = sqlite3_column_count(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        for (int column = 0; column < count; column++)
            if (sqlite3_column_type(statement, column) == SQLITE_INTEGER)
                *sum += (uint64_t)sqlite3_column_int64(statement, column);
        rows++;
    }
    sqlite3_finalize(statement);
    return rows;
}

static uint64_t select_all(struct bytes file)
{
    sqlite3 *db = NULL;
    uint64_t rows = 0, sum = 0;

    sqlite3_open(":memory:", &db);
    sqlite3_deserialize(db, "main", (unsigned char *)(uintptr_t)file.at, (sqlite3_int64)file.count,
                        (sqlite3_int64)file.count, SQLITE_DESERIALIZE_READONLY);
    rows += select_table(db, "SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL", &sum);
    rows += select_table(db, "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME", &sum);
    rows += select_table(db, "SELECT * FROM NVTX_EVENTS", &sum);
    sqlite3_close(db);
    return sum == 0 ? 0 : rows;
}

static void decode_all(struct bytes file)
{
    struct arena *arena = arena_create();
    struct memory_blocks *blocks = memory_blocks_create(arena);
    struct error err = {0};
    struct input input;

    if (input_open(STR("bench"), file, NULL, arena, &input, &err) != OK)
        exit(1);
    struct sink *sink =
        sink_create(memory_blocks_out(blocks), &budget_default, (struct sink_hooks){0}, NULL, &err);
    if (decode_nsys.decode(&input, sink, &err) != OK || sink_finish(sink, &err) != OK) {
        fprintf(stderr, "bench_nsys: %s\n", err.message);
        exit(1);
    }
    sink_destroy(sink);
    input_close(&input);
    arena_destroy(arena);
}

int main(int argc, char **argv)
{
    struct bytes file = make_export(argc > 1 ? atoi(argv[1]) : ROWS);
    double select_s = 1e9, decode_s = 1e9;
    uint64_t rows = 0;

    for (int round = 0; round < ROUNDS; round++) {
        double start = cpu_s();
        rows = select_all(file);
        double between = cpu_s();
        decode_all(file);
        double end = cpu_s();
        select_s = between - start < select_s ? between - start : select_s;
        decode_s = end - between < decode_s ? end - between : decode_s;
    }
    printf("select_rows_per_s %.0f\ndecode_rows_per_s %.0f\nshare %.3f\n", (double)rows / select_s,
           (double)rows / decode_s, select_s / decode_s);
    sqlite3_free((void *)(uintptr_t)file.at);
    return 0;
}
