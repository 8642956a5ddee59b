/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of CUDA graphs get the words of the range that built their node. */
#include "check.h"
#include "fed_spool.h"
#include "made_spool.h"
#include "picture.h"

#define SECOND INT64_C(1000000000000) /* of the spool's opening, in ns of the epoch */
#define SET(at, correlation, node)                                                                 \
    SECOND + (at), SECOND + (at) + 5, 0, 1, 7, (correlation), (node), 0, 64, 0, 3

enum { TSL = 1, MODULE, FUSION, BUFFER, STEP, FIELDS, IN_FUSION, IN_STEP, IN_NONE, ODD, COMPUTE };
static const char *const texts[] = {"TSL",
                                    "XlaModule:#hlo_module=jit_f#",
                                    "Thunk:#hlo_op=fusion.3#",
                                    "Thunk:#hlo_op=command_buffer.9#",
                                    "step",
                                    "sName=jit_f\x1fiUnique ID=7",
                                    "1.2.6 1.3.0",
                                    "0.5.0",
                                    "1.2.6 1.4.0",
                                    "1.2 99999999999.3.x..",
                                    "compute"};

/* Node 1 was built within fusion.3, 2 within a range that says no op, 3 where nothing was open, 4
 * within what nobody can read; 11 to 14 are their copies, 25 of one that was never told. */
static const int64_t nodes[] = {
    1,  0, 466, 1100, IN_FUSION, 2,  0, 466, 1110, IN_STEP, 3,  0,  466, 1120, 0,
    4,  0, 466, 1130, ODD,       11, 1, 466, 1200, 0,       12, 2,  466, 1200, 0,
    13, 3, 466, 1200, 0,         14, 4, 466, 1200, 0,       25, 24, 466, 1200, IN_NONE,
};

static void begin(struct made_spool *made)
{
    spool_begin(made);
    spool_ties(made);
    spool_texts(made, SPOOL_TEXT, 1, texts, COUNT(texts));
}

static void check_gpu(const char *what, const struct made_spool *made, const char *name,
                      const char *want)
{
    struct arena *arena = arena_create();
    struct text file = made->file;
    struct str picture = picture_of(picture_fed(spool_feed, &file, arena), PICTURE_ARGS, arena);
    const char *at = memmem(picture.at, picture.count, name, strlen(name));

    CHECK(what, at != NULL);
    picture = str_skip(picture, (size_t)(at - picture.at) + strlen(name));
    at = memmem(picture.at, picture.count, "process (", 9);
    CHECK_STR(what,
              ((struct str){picture.at, at != NULL ? (size_t)(at - picture.at) : picture.count}),
              want);
    arena_destroy(arena);
}

#define OF_MODULE "hlo_module: \"jit_f\", program_id: 7u, "
#define SLICE(at, correlation, node, words)                                                        \
    "  " #at "000 +5000 [CUDA memset] {correlation_id: " #correlation node ", " words              \
    "bytes: 64, value: 0, memory: \"Device\"}\n"
#define NODE(number) ", graph_node_id: " #number
#define LAUNCHED                                                                                   \
    "tf_op: \"XlaModule:\", hlo_op: \"command_buffer.9\", hlo_module: \"jit_f\", program_id: 7u, "

/* What the node says comes first, what the launch says fills it; whatever order frames come in. */
static void built(void **state)
{
    (void)state;
    static const int64_t ranges[] = {
        466, 1300, 1400, TSL, BUFFER, 0, 0, FORM_NESTED, PAYLOAD_NONE,   0,      0,
        466, 1290, 1410, TSL, MODULE, 0, 0, FORM_NESTED, PAYLOAD_FIELDS, FIELDS, 0,
    };
    static const int64_t calls[] = {SECOND + 350, SECOND + 360, 466, 8, 0, 307, 1, 0};
    static const int64_t sets[] = {SET(2010, 8, 11), SET(2020, 8, 12), SET(2030, 8, 13),
                                   SET(2040, 8, 14), SET(2050, 8, 25), SET(2060, 8, 99),
                                   SET(2070, 9, 11), SET(2080, 9, 0)};
    static const char want[] =
        SLICE(2010, 8, NODE(11),
              "built_in: \"Thunk:#hlo_op=fusion.3#\", tf_op: \"XlaModule:\", "
              "hlo_op: \"fusion.3\", " OF_MODULE) SLICE(2020, 8, NODE(12),
                                                        "built_in: \"step\", " LAUNCHED)
            SLICE(2030, 8, NODE(13), LAUNCHED) SLICE(2040, 8, NODE(14), LAUNCHED)
                SLICE(2050, 8, NODE(25), "built_in: \"Thunk:#hlo_op=command_buffer.9#\", " LAUNCHED)
                    SLICE(2060, 8, NODE(99), LAUNCHED)
                        SLICE(2070, 9, NODE(11),
                              "built_in: \"Thunk:#hlo_op=fusion.3#\", tf_op: \"XlaModule:\", "
                              "hlo_op: \"fusion.3\", " OF_MODULE) SLICE(2080, 9, "", "");

    for (int order = 0; order < 2; order++) {
        struct made_spool made = {0};
        begin(&made);
        if (order == 1)
            spool_rows(&made, SPOOL_SET, sets, 8, SET_COLUMNS);
        spool_rows(&made, SPOOL_NODE, nodes, 9, NODE_COLUMNS);
        spool_rows(&made, SPOOL_CALL, calls, 1, CALL_COLUMNS);
        spool_rows(&made, SPOOL_RANGE, ranges, 2, RANGE_COLUMNS);
        if (order == 0)
            spool_rows(&made, SPOOL_SET, sets, 8, SET_COLUMNS);
        check_gpu("built", &made, "/device:GPU:0 / Stream #7\n", want);
        text_free(&made.file);
    }
}

/* A graph as a whole, on a stream that has a name. */
static void whole(void **state)
{
    (void)state;
    static const int64_t graph[] = {SECOND + 2010, SECOND + 2110, 0, 1, 7, 8, 0, 5};
    static const int64_t streams[] = {7, COMPUTE, 7, STEP, 8, 0};
    struct made_spool made = {0};

    begin(&made);
    spool_rows(&made, SPOOL_GRAPH, graph, 1, WORK_COLUMNS);
    spool_rows(&made, SPOOL_STREAM, streams, 3, STREAM_COLUMNS);
    check_gpu("whole", &made, "/device:GPU:0 / Stream #7 (compute)\n",
              "  2010000 +100000 CUDA graph 5 {correlation_id: 8, graph_id: 5}\n");
    text_free(&made.file);
}

/* Numbers of every kind in every column. */
static void hostile(void **state)
{
    (void)state;
    static const int64_t odd[] = {0, -1, 1, INT64_MAX, INT64_MIN, ODD, 1 << 30};
    struct made_spool made = {0};

    begin(&made);
    for (size_t a = 0; a < COUNT(odd); a++)
        for (size_t b = 0; b < COUNT(odd); b++) {
            int64_t node[] = {odd[a], odd[b], odd[b], odd[a], odd[b]};
            int64_t stream[] = {odd[a], odd[b]};
            int64_t graph[] = {odd[a], odd[b], odd[b], odd[a], odd[b], odd[a], odd[b], odd[a]};
            spool_rows(&made, SPOOL_NODE, node, 1, NODE_COLUMNS);
            spool_rows(&made, SPOOL_STREAM, stream, 1, STREAM_COLUMNS);
            spool_rows(&made, SPOOL_GRAPH, graph, 1, WORK_COLUMNS);
        }
    struct arena *arena = arena_create();
    CHECK("read", picture_fed(spool_feed, &made.file, arena) != NULL);
    arena_destroy(arena);
    text_free(&made.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built),
        cmocka_unit_test(whole),
        cmocka_unit_test(hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
