/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of Nsight Systems that are odd, foreign, cut or hostile: a trace or a sentence. */
#include "made_nsys.h"

#include <stdlib.h>

#define ODD_COLUMNS                                                                                \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, streamId, correlationId,"      \
    " globalPid, demangledName);"

/* Rows that are no events of a sound export: kept as far as they make sense, and told. */
static void odd_rows(void **state)
{
    (void)state;
    const struct {
        const char *what, *row, *picture;
    } rows[] = {
        {"sound", "(10, 20, 0, 7, 1, 0, 2)",
         "/device:GPU:0 / Stream #7\n  10000 +10000 void gemm<float>(float *)\n"},
        {"a time as text", "('10', 20, 0, 7, 1, 0, 2)",
         "note without-time 1 Rows that have no time are left out.\n"},
        {"no time", "(NULL, 20, 0, 7, 1, 0, 2)",
         "note without-time 1 Rows that have no time are left out.\n"},
        {"no device", "(10, 20, NULL, 7, 1, 0, 2)",
         "note without-place 1 Rows that name no thread or device are left out.\n"},
        {"device -1", "(10, 20, -1, 7, 1, 0, 2)",
         "note without-place 1 Rows that name no thread or device are left out.\n"},
        {"device 2^40", "(10, 20, 1099511627776, 7, 1, 0, 2)",
         "note without-place 1 Rows that name no thread or device are left out.\n"},
        {"no stream, no cause", "(10, 20, 0, NULL, NULL, NULL, 2)",
         "/device:GPU:0 / Stream #0\n  10000 +10000 void gemm<float>(float *)\n"},
        {"a name that is not there", "(10, 20, 0, 7, 1, 0, 4000)",
         "/device:GPU:0 / Stream #7\n  10000 +10000 4000\nnote unnamed-events 1 Some names are "
         "missing from the file's table of strings.\n"},
        {"no name", "(10, 20, 0, 7, 1, 0, NULL)",
         "/device:GPU:0 / Stream #7\n  10000 +10000 kernel\n"},
        {"ends before it starts", "(20, 10, 0, 7, 1, 0, 2)",
         "/device:GPU:0 / Stream #7\n  20000 +0 void gemm<float>(float *) [clamped]\n"
         "note clamped-times 1 Times that are negative lengths or lie more than 53 days from the "
         "others were cut to what can be shown.\n"},
        {"out of range", "(-9223372036854775808, 9223372036854775807, 0, 7, 1, 0, 2)",
         "/device:GPU:0 / Stream #7\n"
         "  -4611686018427387903 +9223372036854775806 void gemm<float>(float *) [clamped]\n"
         "note clamped-times 1 Times that are negative lengths or lie more than 53 days from the "
         "others were cut to what can be shown.\n"},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct arena *arena = arena_create();
        struct str insert =
            str_format(arena, "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES %s;", rows[at].row);
        const char *const scripts[] = {NAMES, ODD_COLUMNS, insert.at};

        CHECK_PICTURE(rows[at].what, sql_trace(scripts, COUNT(scripts), arena), PICTURE_NOTES,
                      rows[at].picture);
        arena_destroy(arena);
    }
}

/* What is no table of rows is never read, whatever it is called. */
static void foreign_schema(void **state)
{
    (void)state;
    const struct {
        const char *what, *script;
    } rows[] = {
        {"a view",
         "CREATE TABLE a (b); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT 1 AS start,"
         " 2 AS end, 0 AS deviceId, 0 AS streamId;"},
        {"a generated column", "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (end, deviceId, streamId,"
                               " start AS (abs(-5)) STORED);"
                               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2, 0, 0);"},
        {"an empty schema", "CREATE TABLE a (b); DROP TABLE a;"},
        {"a table without rows", ODD_COLUMNS},
    };

    for (size_t at = 0; at < COUNT(rows); at++) {
        struct arena *arena = arena_create();
        const char *const scripts[] = {rows[at].script};
        const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);

        CHECK_INT(rows[at].what, trace->slice_count, 0);
        arena_destroy(arena);
    }
}

/* A trace, or an error with a sentence. */
static void survives(const char *what, struct bytes bytes)
{
    struct arena *arena = arena_create();
    struct error err = {0};

    if (nsys_trace_of(bytes, arena, &err) == NULL)
        CHECK(what, err.code != OK && err.message[0] != '\0');
    arena_destroy(arena);
}

static struct bytes sound_file(struct arena *arena)
{
    static const char *const scripts[] = {
        "PRAGMA page_size = 512;" NAMES, CALLS, KERNELS,
        RANGES "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)"
               " INSERT INTO NVTX_EVENTS SELECT i, i + 50, 59, NULL, 1, 5, 'range ' || i, " TID_8
               ", NULL, NULL, 0, i, NULL FROM n;"};

    return sql_file(scripts, COUNT(scripts), arena);
}

static void cut_off(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes file = sound_file(arena);
    struct error err = {0};
    const struct trace *trace =
        nsys_trace_of((struct bytes){file.at, file.count - 1024}, arena, &err);

    CHECK_OK("cut", err.code, &err);
    CHECK("what is whole", trace->slice_count > 4);
    CHECK_STR("told", trace_name(trace, trace->notes[0].kind), "truncated");
    trace = nsys_trace_of((struct bytes){file.at, 300}, arena, &err);
    CHECK("nothing whole", trace == NULL);
    CHECK_HAS("nothing whole", err.message, "copy it again");
    arena_destroy(arena);
}

static void kept_with_a_log(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes file = sound_file(arena);
    uint8_t *copy = arena_array(arena, uint8_t, file.count);
    struct error err = {0};

    memcpy(copy, file.at, file.count);
    copy[18] = copy[19] = 2;
    CHECK("refused", nsys_trace_of((struct bytes){copy, file.count}, arena, &err) == NULL);
    CHECK_HAS("refused", err.message, "PRAGMA journal_mode=DELETE");
    arena_destroy(arena);
}

enum { PAGE = 512, LEVELS = 5 };

static void put_page_number(uint8_t *at, size_t page)
{
    at[0] = at[1] = 0;
    at[2] = (uint8_t)(page >> 8);
    at[3] = (uint8_t)page;
}

/* All children of an interior page become one. */
static void lead_to(uint8_t *page, size_t child)
{
    size_t cells = (size_t)(page[3] << 8 | page[4]);

    put_page_number(page + 8, child);
    for (size_t cell = 0; cell < cells; cell++)
        put_page_number(page + (page[12 + 2 * cell] << 8 | page[13 + 2 * cell]), child);
}

/* A tree of a few pages that lead to one another holds more rows than anyone could read. */
static void pages_that_repeat(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "PRAGMA page_size = 512;" NAMES,
        RANGES "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
               " INSERT INTO NVTX_EVENTS SELECT i, i, 34, NULL, NULL, NULL, 'm', " TID_8
               ", NULL, NULL, 0, NULL, NULL FROM n;"};
    struct arena *arena = arena_create();
    struct bytes file = sql_file(scripts, COUNT(scripts), arena);
    uint8_t *copy = arena_array(arena, uint8_t, file.count);
    size_t interior[LEVELS], count = 0, leaf = 0;
    struct error err = {0};

    memcpy(copy, file.at, file.count);
    for (size_t at = file.count - PAGE; at > PAGE; at -= PAGE) { /* the newest: of the big table */
        if (copy[at] == 13 && leaf == 0)
            leaf = at / PAGE + 1;
        if (copy[at] == 5 && count < LEVELS)
            interior[count++] = at;
    }
    CHECK_INT("a tree", count, LEVELS);
    for (size_t at = 0; at < count; at++)
        lead_to(copy + interior[at], at + 1 < count ? interior[at + 1] / PAGE + 1 : leaf);

    const struct trace *trace = nsys_trace_of((struct bytes){copy, file.count}, arena, &err);
    CHECK_OK("pages that repeat", err.code, &err);
    CHECK("told", trace->note_count > 0);
    CHECK_HAS("told", str_c(arena, trace_name(trace, trace->notes[0].message)),
              "its pages form a loop");
    arena_destroy(arena);
}

static void prefixes(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes file = sound_file(arena);

    for (size_t count = 1; count < file.count; count += count < 600 ? 7 : 131)
        survives("a prefix", (struct bytes){file.at, count});
    arena_destroy(arena);
}

static void bit_flips(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct bytes file = sound_file(arena);
    uint8_t *copy = arena_array(arena, uint8_t, file.count);
    uint64_t random = 1;

    for (int round = 0; round < 250; round++) {
        memcpy(copy, file.at, file.count);
        for (int flip = 0; flip < 6; flip++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            copy[(random >> 33) % file.count] ^= (uint8_t)(1 << (random >> 30 & 7));
        }
        survives("flipped bits", (struct bytes){copy, file.count});
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_rows),          cmocka_unit_test(foreign_schema),
        cmocka_unit_test(cut_off),           cmocka_unit_test(kept_with_a_log),
        cmocka_unit_test(pages_that_repeat), cmocka_unit_test(prefixes),
        cmocka_unit_test(bit_flips),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
