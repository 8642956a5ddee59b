/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines, and waits that end at them or with news. */
#include "base/clock.h"

#include <limits.h>
#include <unistd.h>

#include "check.h"

static void a_deadline_is_that_far_away(void **state)
{
    (void)state;
    int64_t before_ns = clock_monotonic_ns(), deadline_ns = clock_deadline_ns(250);

    assert_true(deadline_ns >= before_ns + 250000000);
    assert_true(deadline_ns <= clock_monotonic_ns() + 250000000);
    assert_true(clock_deadline_ns(-5) <= clock_monotonic_ns());
    assert_true(clock_deadline_ns(INT64_MAX) == INT64_MAX);
    assert_true(clock_deadline_ns(INT64_MAX / 1000000) == INT64_MAX);
}

static void a_wait_ends_at_its_deadline_and_not_before(void **state)
{
    (void)state;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t never = PTHREAD_COND_INITIALIZER;
    int64_t deadline_ns = clock_deadline_ns(20);

    pthread_mutex_lock(&lock);
    while (clock_wait(&never, &lock, deadline_ns))
        ;
    pthread_mutex_unlock(&lock);
    assert_true(clock_monotonic_ns() >= deadline_ns);
}

struct told {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_there;
};

static void *tell(void *data)
{
    struct told *told = data;

    pthread_mutex_lock(&told->lock);
    told->is_there = true;
    pthread_cond_signal(&told->changed);
    pthread_mutex_unlock(&told->lock);
    return NULL;
}

static void news_ends_a_wait(void **state)
{
    (void)state;
    struct told told = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t thread;

    pthread_mutex_lock(&told.lock);
    assert_int_equal(pthread_create(&thread, NULL, tell, &told), 0);
    while (!told.is_there)
        assert_true(clock_wait(&told.changed, &told.lock, clock_deadline_ns(INT64_MAX)));
    pthread_mutex_unlock(&told.lock);
    assert_true(clock_join(thread, clock_deadline_ns(60000)));
}

static void *wait_for_end(void *data)
{
    struct told *told = data;

    pthread_mutex_lock(&told->lock);
    while (!told->is_there)
        pthread_cond_wait(&told->changed, &told->lock);
    pthread_mutex_unlock(&told->lock);
    return NULL;
}

static void a_thread_that_goes_on_is_left(void **state)
{
    (void)state;
    struct told told = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_end, &told), 0);
    assert_false(clock_join(thread, clock_deadline_ns(10)));
    tell(&told);
    assert_true(clock_join(thread, clock_deadline_ns(60000)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_is_that_far_away),
        cmocka_unit_test(a_wait_ends_at_its_deadline_and_not_before),
        cmocka_unit_test(news_ends_a_wait),
        cmocka_unit_test(a_thread_that_goes_on_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
