/* SPDX-License-Identifier: Apache-2.0 */
/* Flushes of CUPTI that take long: told once five seconds are over, by a clock that the test turns;
 * no more than one waits behind the one at work. */
#include "inject/cupti/cupti_flush.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "inject/cupti/cupti_abi.h"
#include "inject/cupti/cupti_say.h"

int __real_clock_gettime(clockid_t clock, struct timespec *ret);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret);

static _Atomic int64_t away_s = -6; /* of our clock from the system's, by which waits end */
static sem_t has_begun, may_end;
static _Atomic uint32_t flush_count, last_flags;
static int said_count;
static const char *said;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret)
{
    int result = __real_clock_gettime(clock, ret);

    if (clock == CLOCK_MONOTONIC)
        ret->tv_sec += away_s;
    return result;
}

void cupti_say(const char *format, ...)
{
    said = format;
    said_count++;
}

static int flush(uint32_t flags)
{
    last_flags = flags;
    flush_count++;
    sem_post(&has_begun);
    sem_wait(&may_end);
    return CUPTI_OK;
}

static void slow(void **state)
{
    (void)state;
    cupti_flush_ask(false);
    sem_wait(&has_begun);
    away_s += 4;
    cupti_flush_ask(false);
    assert_int_equal(said_count, 0);
    away_s += 2;
    cupti_flush_ask(false);
    assert_int_equal(said_count, 1);
    assert_non_null(strstr(said, "takes longer than %d s"));
    assert_false(cupti_flush_wait(1));
}

/* What was asked for meanwhile is one more; it begins by the clock as it is now. */
static void over(void **state)
{
    (void)state;
    sem_post(&may_end);
    sem_wait(&has_begun);
    cupti_flush_ask(true);
    assert_int_equal(said_count, 1);
    assert_int_equal(last_flags, 0);
    sem_post(&may_end);
    sem_post(&may_end);
    assert_true(cupti_flush_wait(100000));
    assert_int_equal(flush_count, 3);
    assert_int_equal(last_flags, CUPTI_FLUSH_FORCED);
}

static int open_flusher(void **state)
{
    (void)state;
    return sem_init(&has_begun, 0, 0) == 0 && sem_init(&may_end, 0, 0) == 0 &&
                   cupti_flush_open(flush)
               ? 0
               : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slow), cmocka_unit_test(over)};

    return cmocka_run_group_tests(tests, open_flusher, NULL);
}
