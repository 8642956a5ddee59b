/* SPDX-License-Identifier: Apache-2.0 */
/* Rings, texts, free ranges and the pool under ThreadSanitizer: eight threads tell, one reads as
 * the writer does. What was told is what was read or lost, and nothing is a race. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject/cupti/cupti_pool.h"
#include "inject/nvtx/free_ranges.h"
#include "inject/process/recorder.h"
#include "inject/process/texts.h"
#include "inject/process/threads.h"
#include "inject/spool/ticks.h"

enum { THREADS = 8, RANGES = 20000, BUFFERS = 500 };

static _Atomic uint32_t at_work = THREADS;

/* What threads.c asks of the writer. */
void recorder_wake(void)
{
}

bool recorder_is_awake(void)
{
    return true;
}

static _Atomic uint32_t switch_on = 1;
_Atomic uint32_t *recorder_switch_word = &switch_on;

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void tell(struct thread *thread, long number)
{
    char name[32];
    struct range range = {.start = ticks_now(), .payload = (uint64_t)number}, ended;
    int count = snprintf(name, sizeof name, "range %ld", number % 500);

    range.name = text_id(name, (size_t)count);
    thread_push(thread, &range);
    if (!thread_pop(thread, 0, &ended) || ended.payload != (uint64_t)number || ended.name == 0)
        fail("a range is another's");
    thread_put(thread, &ended);
    range.form = FORM_FREE;
    uint64_t id = free_range_start(&range);
    if (!free_range_end(id, &ended) || ended.payload != (uint64_t)number)
        fail("a free range is another's");
}

static void *work(void *unused)
{
    struct thread *thread = thread_own();
    size_t size;

    for (long number = 0; number < RANGES; number++) {
        tell(thread, number);
        uint8_t *buffer = number % (RANGES / BUFFERS) == 0 ? pool_take(&size) : NULL;
        if (buffer != NULL) {
            memset(buffer, 7, 64);
            pool_give(buffer, 64);
        }
    }
    at_work--;
    return unused;
}

static uint64_t read_all(void)
{
    static struct range open[OPEN_MAX];
    struct pool_buffer buffer;
    uint64_t seen = 0;
    const char *text;
    size_t size;

    for (uint32_t index = 0; index < threads_begun(); index++) {
        struct thread *thread = thread_at(index);
        if (thread == NULL)
            continue;
        uint32_t head = atomic_load_explicit(&thread->head, memory_order_acquire);
        uint32_t tail = atomic_load_explicit(&thread->tail, memory_order_relaxed);
        for (; tail != head; tail++, seen++)
            if (thread->ring[tail % RING_RANGES].name == 0)
                fail("a range without its name");
        atomic_store_explicit(&thread->tail, tail, memory_order_release);
        thread_open_ranges(thread, open);
    }
    free_ranges_open(open, OPEN_MAX);
    for (uint32_t id = 1; id <= text_count(); id++)
        if (text_at(id, &text, &size) && memcmp(text, "range ", 6) != 0)
            fail("a text is another's");
    while (pool_next(&buffer)) {
        if (buffer.at[0] != 7 || buffer.at[63] != 7)
            fail("a buffer is another's");
        pool_free(&buffer);
    }
    return seen;
}

static uint64_t lost_ranges(void)
{
    uint64_t lost = 0;

    for (uint32_t index = 0; index < threads_begun(); index++)
        lost += thread_at(index)->lost[LOST_RING_FULL];
    return lost;
}

static int distinct_texts(void)
{
    bool is_seen[500] = {false};
    const char *text;
    size_t size;
    int count = 0;

    for (uint32_t id = 1; id <= text_count(); id++) {
        if (!text_at(id, &text, &size))
            fail("an id without its text");
        long number = strtol(text + strlen("range "), NULL, 10);
        count += !is_seen[number];
        is_seen[number] = true;
    }
    return count;
}

int main(void)
{
    pthread_t threads[THREADS];
    uint64_t seen = 0;

    ticks_choose();
    if (!texts_open() || !threads_open() || !pool_open())
        fail("no memory");
    for (int index = 0; index < THREADS; index++)
        pthread_create(&threads[index], NULL, work, NULL);
    while (at_work > 0)
        seen += read_all();
    for (int index = 0; index < THREADS; index++)
        pthread_join(threads[index], NULL);
    seen += read_all();
    if (seen + lost_ranges() != (uint64_t)THREADS * RANGES)
        fail("what was told is neither there nor lost");
    if (distinct_texts() != 500 || texts_refused() != 0)
        fail("a text is missing");
    printf("%llu ranges read, %llu lost\n", (unsigned long long)seen,
           (unsigned long long)lost_ranges());
    return 0;
}
