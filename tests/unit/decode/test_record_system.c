/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of the machine and of GPUs in a spool, and every damage. */
#include "check.h"
#include "fed_spool.h"
#include "made_spool.h"
#include "picture.h"

/* Of the spool's opening, on the clock that is never set. */
#define AT(us) 5 + (us)*INT64_C(1000)

static const char *const texts[] = {"NVIDIA H200", "GPU-aaaa", "GPU-bbbb", "Too warm"};

/* NVML's GPU 1 is CUDA's 0; GPU 0 is not the program's. */
static const int64_t devices[][DEVICE_COLUMNS] = {
    {SOURCE_NVML, 0, 1, 2, 1 << 30},
    {SOURCE_NVML, 1, 1, 3, 1 << 30},
    {SOURCE_CUDA, 0, 1, 3, 1 << 30},
};

static const int64_t figures[] = {
    AT(10),  FIGURE_CPU,
    0,       43210, /* */
    AT(10),  FIGURE_MEMORY,
    0,       4096, /* */
    AT(20),  FIGURE_OWN_CPU,
    0,       150000, /* */
    AT(30),  FIGURE_GPU_POWER,
    1,       699500, /* */
    AT(30),  FIGURE_GPU_CLOCK,
    1,       1980, /* */
    AT(40),  FIGURE_GPU_CLOCK,
    1,       1305, /* */
    AT(40),  FIGURE_GPU_CLOCK,
    0,       300, /* */
    AT(30),  FIGURE_GPU_THROTTLE,
    1,       1, /* idle: none */
    AT(40),  FIGURE_GPU_THROTTLE,
    1,       4, /* */
    AT(50),  FIGURE_GPU_THROTTLE,
    1,       4, /* */
    AT(60),  FIGURE_GPU_THROTTLE,
    1,       4 | 32, /* */
    AT(80),  FIGURE_GPU_THROTTLE,
    1,       0, /* */
    AT(90),  FIGURE_GPU_THROTTLE,
    1,       1024, /* open at the end */
    AT(100), FIGURE_GPU_THROTTLE,
    1,       1024, /* */
    AT(100), FIGURES,
    0,       1, /* of a newer collector */
    AT(100), FIGURE_GPU_CLOCK,
    -1,      1, /* */
    AT(100), FIGURE_GPU_CLOCK,
    99,      1, /* */
};

static void put_all(struct made_spool *made)
{
    spool_begin(made);
    spool_ties(made);
    spool_texts(made, SPOOL_TEXT, 1, texts, COUNT(texts));
    spool_rows(made, SPOOL_COUNTER, figures, COUNT(figures) / COUNTER_COLUMNS, COUNTER_COLUMNS);
    spool_rows(made, SPOOL_DEVICE, devices[0], COUNT(devices), DEVICE_COLUMNS);
    spool_rows(made, SPOOL_LOG, (const int64_t[]){2000, 4, 1}, 1, LOG_COLUMNS);
    spool_rows(made, SPOOL_END, NULL, 0, 0);
}

static void all(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_all(&made);
    CHECK_PICTURE(
        "all", picture_fed(spool_feed, &made.file, arena), PICTURE_NOTES,
        "system / CPU\n  10000000 = 43.21\nsystem / memory in use\n  10000000 = 4096\nprocess "
        "(466) / CPU of the process\n  20000000 = 150\nGPU metrics (GPU 0, NVIDIA H200) / power\n  "
        "30000000 = 699.5\nGPU metrics (GPU 0, NVIDIA H200) / SM clock\n  30000000 = 1980\n  "
        "40000000 = 1305\nGPU metrics (GPU 0 of NVML, not the program's, NVIDIA H200) / SM clock\n "
        " 40000000 = 300\nGPU metrics (GPU 0, NVIDIA H200) / slowed down\n  40000000 +20000000 "
        "power cap [derived]\n  60000000 +20000000 power cap + thermal (software) [derived]\n  "
        "90000000 +10000000 reason 0x400 [derived]\nnote collector 1 Too warm\nnote gpu-slowed 3 "
        "GPU 0, NVIDIA H200 was throttled: of 7 samples, power cap at 3, thermal (software) at "
        "1.\nnote unread 3 3 machine metrics are of kinds that this version does not know.\n");
    text_free(&made.file);
    arena_destroy(arena);
}

/* Cut, bent, and numbers of every kind in every column: nothing but a trace or none. */
static void damage(void **state)
{
    (void)state;
    static const int64_t odd[] = {0, -1, 1, 7, 14, INT64_MAX, INT64_MIN, INT64_C(1) << 40};

    spool_feed_damaged(put_all);
    for (uint32_t turn = 0; turn < 2 * DEVICE_COLUMNS * COUNT(odd); turn++) {
        struct arena *arena = arena_create();
        struct made_spool bent = {0};
        bool is_device = turn / (DEVICE_COLUMNS * COUNT(odd)) != 0;
        int64_t row[2 * DEVICE_COLUMNS] = {AT(1), FIGURE_GPU_THROTTLE, 1, 4};
        row[turn % DEVICE_COLUMNS] = odd[turn / DEVICE_COLUMNS % COUNT(odd)];
        memcpy(row + COUNTER_COLUMNS, row, COUNTER_COLUMNS * sizeof *row);
        row[COUNTER_COLUMNS] = AT(2);
        spool_begin(&bent);
        spool_ties(&bent);
        spool_rows(&bent, is_device ? SPOOL_DEVICE : SPOOL_COUNTER, row, is_device ? 1 : 2,
                   is_device ? DEVICE_COLUMNS : COUNTER_COLUMNS);
        picture_fed(spool_feed, &bent.file, arena);
        text_free(&bent.file);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all), cmocka_unit_test(damage)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
