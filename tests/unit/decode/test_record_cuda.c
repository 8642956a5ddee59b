/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA activity of a spool on its streams and threads, and every damage. */
#include "check.h"
#include "fed_spool.h"
#include "made_spool.h"
#include "picture.h"

#define SECOND INT64_C(1000000000000) /* of the spool's opening, in ns of the epoch */
#define WORK(start, end, device, context, stream, correlation, node, graph)                        \
    SECOND + (start), SECOND + (end), (device), (context), (stream), (correlation), (node), (graph)

static const char *const texts[] = {"matmul", "cuLaunchKernel",
                                    "Copies are not recorded: it rains."};

static void put_all(struct made_spool *made)
{
    static const int64_t kernels[] = {
        WORK(500, 900, 1, 2, 7, 41, 0, 0), 1, 8, 4, 2, 128, 2, 1, 32, 1024, 2048, 16, /* */
        WORK(950, 960, 1, 3, 7, 42, 9, 5), 9, 1, 1, 1, 32,  1, 1, 16, 0,    0,    0,
    };
    static const int64_t copies[] = {
        WORK(1000, 1500, 0, 2, 13, 43, 0, 0), 4096, 1,  2, 3, -1, -1, /* */
        WORK(1600, 1700, 0, 2, 13, 44, 0, 0), 64,   10, 3, 3, 0,  1,
    };
    static const int64_t sets[] = {WORK(1800, 1900, 0, 2, 13, 0, 0, 0), 64, 255, 3};
    static const int64_t calls[] = {
        SECOND + 100, SECOND + 300, 466, 41, 2, 307, 1, 0, /* */
        SECOND + 400, SECOND + 450, 466, 0,  0, 31,  0, 2,
    };

    spool_begin(made);
    spool_ties(made);
    spool_rows(made, SPOOL_KERNEL, kernels, 2, KERNEL_COLUMNS);
    spool_texts(made, SPOOL_TEXT, 1, texts, COUNT(texts));
    spool_rows(made, SPOOL_COPY, copies, 2, COPY_COLUMNS);
    spool_rows(made, SPOOL_SET, sets, 1, SET_COLUMNS);
    spool_rows(made, SPOOL_CALL, calls, 2, CALL_COLUMNS);
    spool_rows(made, SPOOL_OVERHEAD,
               (const int64_t[]){SECOND + 600, SECOND + 650, 65536, 466, /* */
                                 SECOND + 610, SECOND + 620, 1, 0,       /* */
                                 SECOND + 700, SECOND + 710, 99, 0},
               3, OVERHEAD_COLUMNS);
    spool_rows(made, SPOOL_LOG, (const int64_t[]){2000, 3, 0}, 1, LOG_COLUMNS);
    spool_rows(made, SPOOL_END, NULL, 0, 0);
}

static void activity(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_all(&made);
    CHECK_PICTURE(
        "activity", picture_fed(spool_feed, &made.file, arena),
        PICTURE_ARGS | PICTURE_NOTES | PICTURE_FLOWS,
        "/device:GPU:1 / Stream #7\n"
        "  500000 +400000 matmul {correlation_id: 41, grid: \"8,4,2\", block: \"128,2,1\", "
        "registers_per_thread: 32, static_shared_memory_bytes: 1024, dynamic_shared_memory_bytes: "
        "2048, local_memory_per_thread_bytes: 16}\n"
        "/device:GPU:1 / Stream #7 (context 3)\n"
        "  950000 +10000 (no name) {correlation_id: 42, graph_id: 5, graph_node_id: 9, grid: "
        "\"1,1,1\", block: \"32,1,1\", registers_per_thread: 16, static_shared_memory_bytes: 0, "
        "dynamic_shared_memory_bytes: 0, local_memory_per_thread_bytes: 0}\n"
        "/device:GPU:0 / Stream #13\n"
        "  1000000 +500000 [CUDA memcpy Host-to-Device] {correlation_id: 43, bytes: 4096, "
        "source_memory: \"Pinned\", destination_memory: \"Device\"}\n"
        "  1600000 +100000 [CUDA memcpy Peer-to-Peer] {correlation_id: 44, bytes: 64, "
        "source_memory: \"Device\", destination_memory: \"Device\", srcDeviceId: 0, dstDeviceId: "
        "1}\n"
        "  1800000 +100000 [CUDA memset] {bytes: 64, value: 255, memory: \"Device\"}\n"
        "process (466) / main thread (466) / CUDA API\n"
        "  100000 +200000 cuLaunchKernel {correlation_id: 41}\n"
        "  400000 +50000 CUDA runtime call 31 {return_value: 2}\n"
        "process (466) / CUDA overhead\n"
        "  600000 +50000 CUPTI buffer flush [async] {thread: 466}\n"
        "    610000 +10000 driver compiler [async]\n"
        "  700000 +10000 99 [async]\n"
        "cuLaunchKernel -> matmul\n"
        "note collector 1 Copies are not recorded: it rains.\n");
    text_free(&made.file);
    arena_destroy(arena);
}

/* Rows without a time, without a device: counted, shown nowhere; others beside them stand. */
static void without(void **state)
{
    (void)state;
    static const int64_t sets[] = {
        0,          0,          0,  1, 7, 0, 0, 0, 1, 0, 0, /* */
        SECOND + 9, SECOND + 8, 0,  1, 7, 0, 0, 0, 2, 0, 0, /* */
        SECOND + 9, SECOND + 9, -1, 1, 7, 0, 0, 0, 3, 0, 0, /* */
        INT64_MIN,  INT64_MAX,  0,  1, 7, 0, 0, 0, 4, 0, 0, /* */
        SECOND + 1, SECOND + 3, 0,  1, 7, 0, 0, 0, 5, 0, 99,
    };
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    spool_begin(&made);
    spool_ties(&made);
    spool_rows(&made, SPOOL_SET, sets, 5, SET_COLUMNS);
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    CHECK_PICTURE(
        "without", picture_fed(spool_feed, &made.file, arena), PICTURE_ARGS | PICTURE_NOTES,

        "/device:GPU:0 / Stream #7\n  1000 +2000 [CUDA memset] {bytes: 5, value: 0, memory: "
        "\"99\"}\nnote no-times 2 Not shown, because CUPTI gave them no time: 2 kernels, copies "
        "and calls. It does so when its memory on the GPU is full.\nnote inverted-times 1 Not "
        "shown, because they end before they begin: 1 kernels, copies and calls.\nnote unplaced 1 "
        "Not shown, because they name no device: 1 kernels and copies.\n");
    text_free(&made.file);
    arena_destroy(arena);
}

/* Cut, bent, and numbers of every kind in every column: nothing but a trace or none. */
static void damage(void **state)
{
    (void)state;
    static const int64_t odd[] = {0, -1, 1, INT64_MAX, INT64_MIN, SECOND, INT64_C(1) << 40};

    spool_feed_damaged(put_all);
    for (uint32_t turn = 0; turn < 5 * KERNEL_COLUMNS * COUNT(odd); turn++) {
        struct arena *arena = arena_create();
        struct made_spool bent = {0};
        int64_t row[KERNEL_COLUMNS] = {WORK(1, 2, 0, 1, 7, 1, 1, 1), 1, 1, 1, 1, 1, 1, 1, 1};
        row[turn % KERNEL_COLUMNS] = odd[turn / KERNEL_COLUMNS % COUNT(odd)];
        spool_begin(&bent);
        spool_ties(&bent);
        spool_rows(&bent, SPOOL_KERNEL + turn / (KERNEL_COLUMNS * COUNT(odd)), row, 1,
                   KERNEL_COLUMNS);
        picture_fed(spool_feed, &bent.file, arena);
        text_free(&bent.file);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(activity), cmocka_unit_test(without),
                                       cmocka_unit_test(damage)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
