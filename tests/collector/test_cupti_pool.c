/* SPDX-License-Identifier: Apache-2.0 */
/* The pool of CUPTI's buffers: what is taken comes back once, whole, and no more than there is. */
#include "inject/cupti/cupti_pool.h"

#include <pthread.h>
#include <string.h>

#include "check.h"

static void test_dry(void **state)
{
    struct pool_buffer buffer;
    uint8_t *taken[POOL_BUFFERS + RESERVE_BUFFERS];
    uint32_t reserves = 0, count = 0;
    size_t size;

    (void)state;
    for (uint32_t at = 0; at < POOL_BUFFERS + RESERVE_BUFFERS; at++) {
        taken[at] = pool_take(&size);
        assert_non_null(taken[at]);
        assert_int_equal(size, at < POOL_BUFFERS ? POOL_BUFFER_BYTES : RESERVE_BUFFER_BYTES);
        taken[at][0] = taken[at][size - 1] = 1;
    }
    assert_null(pool_take(&size));
    assert_int_equal(size, 0);
    assert_false(pool_next(&buffer));
    for (uint32_t at = 0; at < POOL_BUFFERS + RESERVE_BUFFERS; at++)
        pool_give(taken[at], at + 1);
    while (pool_next(&buffer)) {
        reserves += buffer.is_reserve;
        assert_int_equal(buffer.valid, buffer.index + 1 + (buffer.is_reserve ? POOL_BUFFERS : 0));
        pool_free(&buffer);
        assert_int_equal(buffer.at[0], 0);
        count++;
    }
    assert_int_equal(count, POOL_BUFFERS + RESERVE_BUFFERS);
    assert_int_equal(reserves, RESERVE_BUFFERS);
    assert_false(pool_give((const uint8_t *)&size, 8)); /* not one of ours */
    assert_false(pool_next(&buffer));
    uint8_t *again = pool_take(&size);
    assert_int_equal(again[size - 1], 0);
    pool_give(again, size + 1); /* more than it holds */
    assert_true(pool_next(&buffer));
    assert_int_equal(buffer.valid, size);
    pool_free(&buffer);
}

enum { THREADS = 4, TURNS = 250 };
static _Atomic uint32_t given;

static void *take_and_give(void *data)
{
    size_t size;

    (void)data;
    for (uint32_t turn = 0; turn < TURNS;) {
        uint8_t *at = pool_take(&size);
        if (at == NULL)
            continue;
        memset(at, 7, 64);
        pool_give(at, 64);
        given++;
        turn++;
    }
    return NULL;
}

/* Four threads take and give, one empties: none is given out twice, none is lost. */
static void test_threads(void **state)
{
    struct pool_buffer buffer;
    pthread_t threads[THREADS];
    uint32_t seen = 0;

    (void)state;
    for (int index = 0; index < THREADS; index++)
        pthread_create(&threads[index], NULL, take_and_give, NULL);
    while (seen < THREADS * TURNS) {
        if (!pool_next(&buffer))
            continue;
        assert_int_equal(buffer.at[0] + buffer.at[63], 14);
        pool_free(&buffer);
        seen++;
    }
    for (int index = 0; index < THREADS; index++)
        pthread_join(threads[index], NULL);
    assert_int_equal(seen, given);
    assert_false(pool_next(&buffer));
}

static int open_pool(void **state)
{
    (void)state;
    return pool_open() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dry), cmocka_unit_test(test_threads)};

    return cmocka_run_group_tests(tests, open_pool, NULL);
}
