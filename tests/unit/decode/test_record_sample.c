/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of stacks in a spool, of one sampler and of both, odd and damaged. */
#include "check.h"
#include "fed_spool.h"
#include "made_spool.h"
#include "picture.h"

static const char *const about[] = {"host", "gpu-07", "program", "python3"};
static const char *const texts[] = {"main",      "train.py", "step",   "matmul",
                                    "layers.py", "worker",   "libm.so"};

static const int64_t stacks[] = {
    /* id, caller, function, file, line, module */
    1, 0, 1, 2, 40, 0, 2, 1, 3, 2, 12, 0, 3, 2, 4, 5, 7, 0, 4, 0, 4, 0, 0, 7,
};

static void put_front(struct made_spool *made)
{
    spool_begin(made);
    spool_texts(made, SPOOL_ABOUT, 0, about, COUNT(about));
    spool_rows(made, SPOOL_SAMPLER, (const int64_t[]){SAMPLER_PYTHON, 100}, 1, SAMPLER_COLUMNS);
    spool_texts(made, SPOOL_STACK_TEXT, 1, texts, COUNT(texts));
    spool_rows(made, SPOOL_STACK, stacks, 4, STACK_COLUMNS);
    spool_rows(made, SPOOL_TASK, (const int64_t[]){468, 6}, 1, TASK_COLUMNS);
}

static void put_samples(struct made_spool *made)
{
    const int64_t rows[] = {
        /* at, thread, stack, kind, time, CPU time */
        1005, 466, 3, SAMPLER_PYTHON, 10, 9,  /**/
        1005, 468, 2, SAMPLER_PYTHON, 10, -1, /**/
        2005, 466, 1, SAMPLER_PYTHON, 12, 0,
    };

    spool_rows(made, SPOOL_SAMPLE, rows, 3, SAMPLE_COLUMNS);
    spool_rows(made, SPOOL_END, NULL, 0, 0);
}

static const struct trace *trace_of(struct made_spool *made, struct arena *arena)
{
    return picture_fed(spool_feed, &made->file, arena);
}

/* Each on its thread, at its time after the opening; what is not known counts 0. */
static void python(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_front(&made);
    put_samples(&made);
    const struct trace *trace = trace_of(&made, arena);
    CHECK_PICTURE(
        "samples", trace, PICTURE_NOTES,
        "samples Python time/nanoseconds Python CPU time/nanoseconds\n  10 9 main train.py:40; "
        "step train.py:12; matmul layers.py:7 @1000000 on python3 (466) / main thread (466)\n  10 "
        "0 main train.py:40; step train.py:12 @1000000 on python3 (466) / worker (468)\n  12 0 "
        "main train.py:40 @2000000 on python3 (466) / main thread (466)\nnote samples 3 3 samples "
        "of Python stacks, taken 100 times per second per thread: shares are estimates.\n");
    text_free(&made.file);
    arena_destroy(arena);
}

/* Both samplers in one spool: of the other's types a sample has 0. */
static void both(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_front(&made);
    spool_rows(&made, SPOOL_SAMPLER, (const int64_t[]){SAMPLER_CPU, 199}, 1, SAMPLER_COLUMNS);
    spool_rows(
        &made, SPOOL_SAMPLE,
        (const int64_t[]){3005, 468, 4, SAMPLER_CPU, 5, 0, 3005, 466, 2, SAMPLER_PYTHON, 7, 7}, 2,
        SAMPLE_COLUMNS);
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    const struct trace *trace = trace_of(&made, arena);
    CHECK_PICTURE(
        "both", trace, 0,
        "samples Python time/nanoseconds Python CPU time/nanoseconds CPU time/nanoseconds\n"
        "  0 0 5 matmul in libm.so @3000000 on python3 (466) / worker (468)\n"
        "  7 7 0 main train.py:40; step train.py:12 @3000000 on python3 (466) / main thread "
        "(466)\n");
    text_free(&made.file);
    arena_destroy(arena);
}

/* Ids out of bounds, callers that are missing, kinds of tomorrow: left out, and told. */
static void odd(void **state)
{
    (void)state;
    const int64_t calls[] = {
        9,         7, 1, 2, 1,         0, /* its caller was never told */
        -3,        0, 1, 0, 0,         0, /**/
        INT64_MAX, 1, 1, 1, INT64_MAX, 1,
    };
    const int64_t rows[] = {
        1005, 466, 9,         SAMPLER_PYTHON, -5,        INT64_MIN, /**/
        1006, 466, INT64_MAX, SAMPLER_PYTHON, INT64_MAX, 1,         /**/
        1007, 466, 1,         SAMPLERS,       1,         1,         /**/
        1008, 466, 1,         SAMPLER_CPU,    1,         1,         /* no such sampler was told */
    };
    struct arena *arena = arena_create();
    struct made_spool made = {0};

    put_front(&made);
    spool_rows(&made, SPOOL_STACK, calls, 3, STACK_COLUMNS);
    spool_rows(&made, SPOOL_SAMPLE, rows, 4, SAMPLE_COLUMNS);
    spool_rows(&made, SPOOL_END, NULL, 0, 0);
    const struct trace *trace = trace_of(&made, arena);
    CHECK_PICTURE(
        "odd", trace, PICTURE_NOTES,
        "samples Python time/nanoseconds Python CPU time/nanoseconds\n  0 0 main train.py:1 "
        "@1000000 on python3 (466) / main thread (466)\n  9223372036854775807 1  @1001000 on "
        "python3 (466) / main thread (466)\nnote samples 2 2 samples of Python stacks, taken 100 "
        "times per second per thread: shares are estimates.\nnote lost-frames 1 1 call of stacks "
        "without callers, which are lost.\nnote unread 4 This version does not know the kinds of 4 "
        "samples or stacks.\n");
    text_free(&made.file);
    arena_destroy(arena);
}

/* What a torn or changed spool holds is some of it, never anything else. */
static void damaged(void **state)
{
    (void)state;
    struct made_spool made = {0};

    put_front(&made);
    put_samples(&made);
    struct text whole = made.file;
    for (size_t count = 0; count < whole.count; count++) {
        struct arena *arena = arena_create();
        struct text prefix = {.at = whole.at, .count = count};
        const struct trace *trace = picture_fed(spool_feed, &prefix, arena);
        CHECK("a prefix", trace == NULL || trace->stack_sample_count <= 3);
        arena_destroy(arena);
    }
    for (size_t bit = 0; bit < whole.count * 8; bit += 3) {
        struct arena *arena = arena_create();
        whole.at[bit / 8] ^= (char)(1 << bit % 8);
        const struct trace *trace = picture_fed(spool_feed, &whole, arena);
        CHECK("a bit", trace == NULL || trace->stack_sample_count <= 3);
        whole.at[bit / 8] ^= (char)(1 << bit % 8);
        arena_destroy(arena);
    }
    text_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python),
        cmocka_unit_test(both),
        cmocka_unit_test(odd),
        cmocka_unit_test(damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
