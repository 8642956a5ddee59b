/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels get the words of the XLA range around their launch, whatever order frames come in. */
#include "check.h"
#include "fed_spool.h"
#include "made_spool.h"
#include "picture.h"

#define SECOND INT64_C(1000000000000) /* of the spool's opening, in ns of the epoch */
#define RANGE(thread, start, end, domain, name, kind, payload)                                     \
    (thread), (start), (end), (domain), (name), 0, 0, FORM_NESTED, (kind), (payload), 0
#define CALL(at, thread, correlation)                                                              \
    SECOND + (at), SECOND + (at) + 10, (thread), (correlation), 0, 307, 1, 0
#define SET(at, correlation)                                                                       \
    SECOND + (at), SECOND + (at) + 5, 0, 1, 7, (correlation), 0, 0, 64, 0, 3

enum { TSL = 1, MODULE, LOOP, FUSION, OTHER, UNIQUE, NAMED };
static const char *const texts[] = {"TSL",
                                    "XlaModule:#hlo_module=jit_f#",
                                    "Thunk:#hlo_op=while.1#",
                                    "Thunk:#hlo_op=fusion.3#",
                                    "step",
                                    "sName=jit_f\x1fiUnique ID=7",
                                    "sHLO Op=dot.9\x1fsHLO Module=jit_g"};

/* A tick is a nanosecond after the ties' first, 1,000. */
static void begin(struct made_spool *made)
{
    spool_begin(made);
    spool_ties(made);
    spool_texts(made, SPOOL_TEXT, 1, texts, COUNT(texts));
}

/*   thread 466   [ module ------------------------------- ]          thread 468
 *                  [ while.1 ------------- ]                           [ dot.9 ]
 *                    [ fusion.3 ]  [ step ]
 *                       ^1   ^2(b)   ^3        ^4            ^5           ^6
 */
static const int64_t ranges[] = {
    RANGE(466, 1300, 1400, TSL, FUSION, PAYLOAD_NONE, 0), /* children end first */
    RANGE(466, 1450, 1500, 0, OTHER, PAYLOAD_NONE, 0),
    RANGE(466, 1200, 1600, TSL, LOOP, PAYLOAD_NONE, 0),
    RANGE(466, 1100, 1900, TSL, MODULE, PAYLOAD_FIELDS, UNIQUE),
    RANGE(468, 1100, 1900, 0, OTHER, PAYLOAD_FIELDS, NAMED),
};
static const int64_t calls[] = {
    CALL(350, 466, 1), CALL(395, 466, 2),  CALL(470, 466, 3),
    CALL(700, 466, 4), CALL(1000, 466, 5), CALL(350, 468, 6),
};

static void put_work(struct made_spool *made)
{
    static const int64_t sets[] = {
        SET(2010, 1), SET(2020, 2), SET(2030, 3),  SET(2040, 4),
        SET(2050, 5), SET(2060, 6), SET(2070, 77),
    };

    spool_rows(made, SPOOL_SET, sets, 7, SET_COLUMNS);
}

/* The slices of the GPU alone, with the args that the ranges gave them. */
static void check_gpu(const char *what, const struct made_spool *made, const char *want)
{
    struct arena *arena = arena_create();
    struct text file = made->file;
    struct str picture = picture_of(picture_fed(spool_feed, &file, arena), PICTURE_ARGS, arena);
    struct str gpu = STR("/device:GPU:0 / Stream #7\n");
    const char *at = memmem(picture.at, picture.count, gpu.at, gpu.count);

    CHECK(what, at != NULL);
    picture = str_skip(picture, (size_t)(at - picture.at) + gpu.count);
    at = memmem(picture.at, picture.count, "process (", 9);
    CHECK_STR(what,
              ((struct str){picture.at, at != NULL ? (size_t)(at - picture.at) : picture.count}),
              want);
    arena_destroy(arena);
}

#define IN_MODULE "tf_op: \"XlaModule:\", "
#define OF_MODULE "hlo_module: \"jit_f\", program_id: 7u, "
#define SLICE(at, correlation, words)                                                              \
    "  " #at "000 +5000 [CUDA memset] {correlation_id: " #correlation ", " words                   \
    "bytes: 64, value: 0, memory: \"Device\"}\n"

static const char joined[] = SLICE(2010, 1, IN_MODULE "hlo_op: \"while.1::fusion.3\", " OF_MODULE)
    SLICE(2020, 2, IN_MODULE "hlo_op: \"while.1::fusion.3\", " OF_MODULE)
        SLICE(2030, 3, IN_MODULE "hlo_op: \"while.1\", " OF_MODULE)
            SLICE(2040, 4, IN_MODULE OF_MODULE) SLICE(2050, 5, "")
                SLICE(2060, 6, "tf_op: \"step\", hlo_op: \"dot.9\", hlo_module: \"jit_g\", ")
                    SLICE(2070, 77, "");

/* Whatever order the frames come in. */
static void launches(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct made_spool made = {0};
        begin(&made);
        if (order == 1)
            put_work(&made);
        spool_rows(&made, SPOOL_CALL, calls, 6, CALL_COLUMNS);
        spool_rows(&made, SPOOL_RANGE, ranges, 5, RANGE_COLUMNS);
        if (order == 0)
            put_work(&made);
        spool_rows(&made, SPOOL_END, NULL, 0, 0);
        check_gpu("joined", &made, joined);
        text_free(&made.file);
    }
}

/* Killed within: ranges of the last look hold what was launched behind it; those that ended there
 * hold no more than they did. */
static void open_ranges(void **state)
{
    (void)state;
    static const int64_t open[] = {
        RANGE(466, 1100, 1250, TSL, MODULE, PAYLOAD_FIELDS, UNIQUE),
        RANGE(466, 1200, 1250, TSL, LOOP, PAYLOAD_NONE, 0),
    };
    struct made_spool made = {0};

    begin(&made);
    spool_rows(&made, SPOOL_OPEN, open, 2, RANGE_COLUMNS);
    spool_rows(&made, SPOOL_RANGE, ranges, 3, RANGE_COLUMNS);
    spool_rows(&made, SPOOL_CALL, calls, 5, CALL_COLUMNS);
    put_work(&made);
    check_gpu("cut", &made,
              SLICE(2010, 1, IN_MODULE "hlo_op: \"while.1::fusion.3\", " OF_MODULE)
                  SLICE(2020, 2, IN_MODULE "hlo_op: \"while.1::fusion.3\", " OF_MODULE)
                      SLICE(2030, 3, IN_MODULE "hlo_op: \"while.1\", " OF_MODULE)
                          SLICE(2040, 4, IN_MODULE OF_MODULE) SLICE(2050, 5, IN_MODULE OF_MODULE)
                              SLICE(2060, 6, "") SLICE(2070, 77, ""));
    text_free(&made.file);
}

/* Ranges in ranges without end, and numbers of every kind in every column. */
static void hostile(void **state)
{
    (void)state;
    enum { DEEP = 5000 };
    static const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN, SECOND, TSL};
    static int64_t deep[DEEP * RANGE_COLUMNS];
    struct made_spool made = {0};
    struct arena *arena = arena_create();

    for (int64_t at = 0; at < DEEP; at++)
        memcpy(deep + at * RANGE_COLUMNS,
               (const int64_t[]){
                   RANGE(466, 1000 + at, 900000 - at, TSL, LOOP + at % 2, PAYLOAD_NONE, 0)},
               RANGE_COLUMNS * sizeof *deep);
    begin(&made);
    spool_rows(&made, SPOOL_RANGE, deep, DEEP, RANGE_COLUMNS);
    spool_rows(&made, SPOOL_CALL, (const int64_t[]){CALL(90000, 466, 1)}, 1, CALL_COLUMNS);
    put_work(&made);
    struct str picture =
        picture_of(picture_fed(spool_feed, &made.file, arena), PICTURE_ARGS | PICTURE_NOTES, arena);
    CHECK_HAS("too deep", str_c(arena, picture), "note unjoined 4872 ");
    text_free(&made.file);
    arena_destroy(arena);
    for (uint32_t turn = 0; turn < RANGE_COLUMNS * COUNT(odd); turn++) {
        struct made_spool bent = {0};
        int64_t row[] = {RANGE(466, 1100, 1900, TSL, MODULE, PAYLOAD_FIELDS, UNIQUE)};
        row[turn % RANGE_COLUMNS] = odd[turn / RANGE_COLUMNS];
        arena = arena_create();
        begin(&bent);
        spool_rows(&bent, turn % 2 == 0 ? SPOOL_RANGE : SPOOL_OPEN, row, 1, RANGE_COLUMNS);
        spool_rows(&bent, SPOOL_CALL, calls, 6, CALL_COLUMNS);
        put_work(&bent);
        picture_fed(spool_feed, &bent.file, arena);
        text_free(&bent.file);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches), cmocka_unit_test(open_ranges),
                                       cmocka_unit_test(hostile)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
