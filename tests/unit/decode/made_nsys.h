/* SPDX-License-Identifier: Apache-2.0 */
/* Builds exports of Nsight Systems for tests from SQL, and decodes them in memory. */
#ifndef JVIEWD_TESTS_MADE_NSYS_H
#define JVIEWD_TESTS_MADE_NSYS_H

#include "check.h"

#include <sqlite3.h>
#include <stdio.h>

#include "decode/decode.h"
#include "decoded.h"
#include "picture.h"

/* Process 7 with threads 8 and 9, as globalPid and globalTid of host 1. */
#define PID "281474976710656 + 117440512" /* 1 << 48 | 7 << 24 */
#define TID_8 PID " + 8"
#define TID_9 PID " + 9"

static inline struct bytes sql_file(const char *const *scripts, size_t count, struct arena *arena)
{
    sqlite3 *db = NULL;
    sqlite3_int64 size = 0;
    char *why = NULL;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (size_t at = 0; at < count; at++) {
        if (sqlite3_exec(db, scripts[at], NULL, NULL, &why) != SQLITE_OK)
            check_failed(__FILE__, __LINE__, scripts[at], "%s", why);
    }
    unsigned char *file = sqlite3_serialize(db, "main", &size, 0);
    uint8_t *copy = arena_array(arena, uint8_t, (size_t)size);
    memcpy(copy, file, (size_t)size);
    sqlite3_free(file);
    sqlite3_close(db);
    return (struct bytes){.at = copy, .count = (size_t)size};
}

static inline const struct trace *nsys_trace_of(struct bytes bytes, struct arena *arena,
                                                struct error *err)
{
    return decoded(&decode_nsys, STR("a.sqlite"), bytes, arena, err);
}

static inline const struct trace *sql_trace(const char *const *scripts, size_t count,
                                            struct arena *arena)
{
    struct error err = {0};
    const struct trace *trace = nsys_trace_of(sql_file(scripts, count, arena), arena, &err);

    CHECK_OK("decode", err.code, &err);
    return trace;
}

#define NAMES                                                                                      \
    "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"               \
    "INSERT INTO StringIds VALUES (1, 'python'), (2, 'void gemm<float>(float *)'), (3, 'gemm'),"   \
    " (4, 'cudaLaunchKernel_v7000'), (5, 'cudaMemcpyAsync_v3020'), (6, 'step'), (7, 'load'),"      \
    " (8, 'main'), (9, 'libc.so'), (10, 'API_TOKEN=this-must-never-be-shown'), (11, 'poll');"      \
    "CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);"                          \
    "INSERT INTO PROCESSES VALUES (99, 1, 'init'), (" PID ", 7, 'train');"                         \
    "CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);"              \
    "INSERT INTO ThreadNames VALUES (1, 0, " TID_8 ");"

#define KERNELS                                                                                    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"       \
    " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"              \
    " demangledName INTEGER, shortName INTEGER, registersPerThread INTEGER, gridX INTEGER,"        \
    " gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"               \
    " graphNodeId INTEGER);"                                                                       \
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"                                                \
    " (50, 70, 0, 1, 7, 101, " PID ", 2, 3, 32, 4, 1, 1, 128, 1, 1, NULL),"                        \
    " (80, 90, 0, 1, 7, 102, " PID ", 2, 3, 32, 4, 1, 1, 128, 1, 1, NULL);"

#define CALLS                                                                                      \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"    \
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER,"              \
    " callchainId INTEGER);"                                                                       \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"                                               \
    " (10, 15, 0, " TID_8 ", 101, 4, 0, NULL), (20, 25, 0, " TID_8 ", 102, 4, 0, NULL),"           \
    " (30, 38, 0, " TID_8 ", 103, 5, 0, NULL);"

#define RANGES                                                                                     \
    "CREATE TABLE NVTX_EVENTS (start INTEGER NOT NULL, end INTEGER, eventType INTEGER,"            \
    " rangeId INTEGER, category INTEGER, color INTEGER, text TEXT, globalTid INTEGER,"             \
    " endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, int64Value INTEGER,"                 \
    " jsonText TEXT);"

#endif
