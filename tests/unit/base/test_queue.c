/* SPDX-License-Identifier: Apache-2.0 */
/* All work runs once, waits are waited for, stacks are as large as asked. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/queue.h"

static _Atomic int ran;
static struct pool *pool;

static void count_up(void *data)
{
    (void)data;
    ran++;
}

static void all_run(void **state)
{
    (void)state;
    ran = 0;
    pool = pool_create(3, 4);
    for (int i = 0; i < 1000; i++)
        CHECK("taken", pool_submit(pool, count_up, NULL));
    pool_destroy(pool);
    CHECK_INT("ran before the end", ran, 1000);
    pool_destroy(NULL);
}

static void set_flag(void *data)
{
    struct timespec a_little = {.tv_nsec = 2000000};

    nanosleep(&a_little, NULL);
    *(bool *)data = true;
}

static void run_inside(void *data)
{
    pool_run(pool, set_flag, data);
}

static void waited_for(void **state)
{
    (void)state;
    bool one = false, nested = false;

    pool = pool_create(1, 1);
    pool_run(pool, set_flag, &one);
    CHECK("over when it returns", one);
    pool_run(pool, run_inside, &nested);
    CHECK("a pool's own thread does not wait for itself", nested);
    pool_destroy(pool);
}

static void use_stack(void *data)
{
    volatile char *room = __builtin_alloca(700000);

    for (size_t i = 0; i < 700000; i += 4096)
        room[i] = 1;
    *(int *)data = room[4096];
}

static void large_stack(void **state)
{
    (void)state;
    int got = 0;

    pool = pool_create(1, 1);
    pool_run(pool, use_stack, &got);
    CHECK_INT("700 kB of stack", got, 1);
    pool_destroy(pool);
}

static _Atomic bool go;

static void wait_for_go(void *data)
{
    (void)data;
    struct timespec a_little = {.tv_nsec = 100000};

    while (!go)
        nanosleep(&a_little, NULL);
}

static void *submit_one_more(void *data)
{
    pool_submit(pool, count_up, NULL);
    *(_Atomic bool *)data = true;
    return NULL;
}

static void bounded(void **state)
{
    (void)state;
    static _Atomic bool submitted;
    struct timespec a_while = {.tv_nsec = 20000000};
    pthread_t thread;

    ran = 0;
    go = submitted = false;
    pool = pool_create(1, 2);
    /* The thread takes the first, the queue the next two; a fourth waits. */
    pool_submit(pool, wait_for_go, NULL);
    nanosleep(&a_while, NULL);
    pool_submit(pool, count_up, NULL);
    pool_submit(pool, count_up, NULL);
    pthread_create(&thread, NULL, submit_one_more, (void *)&submitted);
    nanosleep(&a_while, NULL);
    CHECK("waits while the queue is full", !submitted);
    go = true;
    pthread_join(thread, NULL);
    pool_destroy(pool);
    CHECK_INT("all ran", ran, 3);
}

static void clocks(void **state)
{
    (void)state;
    int64_t a = clock_monotonic_ns(), b = clock_monotonic_ns();

    CHECK("never back", b >= a);
    CHECK("after 2020", clock_unix_ns() > 1577836800LL * 1000000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_run), cmocka_unit_test(waited_for), cmocka_unit_test(large_stack),
        cmocka_unit_test(bounded), cmocka_unit_test(clocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
