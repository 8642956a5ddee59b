/* SPDX-License-Identifier: Apache-2.0 */
/* The rings and open ranges of threads, each in memory of its own that outlives its thread. */
#include "inject/process/threads.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "inject/process/recorder.h"
#include "inject/spool/ticks.h"

enum { ASK_AGAIN = 256, LOOKS_MAX = 16 };

static _Atomic(struct thread *) threads[THREADS_MAX];
static _Atomic uint32_t thread_count;
static _Atomic uint64_t refused;
static pthread_key_t at_exit;
_Thread_local struct thread *thread_mine;
static _Thread_local bool is_gone;         /* its last destructors still tell ranges */
static _Thread_local uint32_t was_refused; /* as often as it asked for a place */

static void open_store(struct open_ranges *open, uint32_t index, const struct range *range)
{
    uint64_t words[sizeof *range / 8];

    memcpy(words, range, sizeof words);
    for (size_t word = 0; word < sizeof words / 8; word++)
        atomic_store_explicit(&open->words[index][word], words[word], memory_order_relaxed);
}

static void open_load(struct open_ranges *open, uint32_t index, struct range *ret)
{
    uint64_t words[sizeof *ret / 8];

    for (size_t word = 0; word < sizeof words / 8; word++)
        words[word] = atomic_load_explicit(&open->words[index][word], memory_order_relaxed);
    memcpy(ret, words, sizeof words);
}

static void open_changes(struct open_ranges *open)
{
    uint32_t turn = atomic_load_explicit(&open->turn, memory_order_relaxed);

    atomic_store_explicit(&open->turn, turn + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static void open_changed(struct open_ranges *open)
{
    uint32_t turn = atomic_load_explicit(&open->turn, memory_order_relaxed);

    atomic_store_explicit(&open->turn, turn + 1, memory_order_release);
}

void thread_lose(struct thread *thread, enum spool_cause cause)
{
    atomic_fetch_add_explicit(&thread->lost[cause], 1, memory_order_relaxed);
}

bool thread_put(struct thread *thread, const struct range *range)
{
    uint32_t head = atomic_load_explicit(&thread->head, memory_order_relaxed);
    uint32_t held = head - atomic_load_explicit(&thread->tail, memory_order_acquire);

    if (held == RING_RANGES) {
        thread_lose(thread, LOST_RING_FULL);
        return false;
    }
    thread->ring[head % RING_RANGES] = *range;
    atomic_store_explicit(&thread->head, head + 1, memory_order_release);
    if (held == RING_RANGES / 4)
        recorder_wake();
    return true;
}

/* What is open still ends with it. */
static void thread_ends(void *data)
{
    struct thread *thread = data;
    struct range range;

    thread_mine = NULL;
    is_gone = true;
    for (uint32_t left = atomic_load(&thread->open.count); left > 0 && recorder_is_on(); left--) {
        open_load(&thread->open, left - 1, &range);
        range.end = ticks_now();
        thread_put(thread, &range);
    }
    atomic_store_explicit(&thread->is_over, 1, memory_order_release);
    recorder_wake();
}

bool threads_open(void)
{
    return pthread_key_create(&at_exit, thread_ends) == 0;
}

/* One that another thread left behind. */
static struct thread *take_left(void)
{
    for (uint32_t index = 0; index < atomic_load(&thread_count) && index < THREADS_MAX; index++) {
        struct thread *thread = atomic_load(&threads[index]);
        uint32_t is_free = 2;
        if (thread != NULL && atomic_compare_exchange_strong(&thread->is_over, &is_free, 0))
            return thread;
    }
    return NULL;
}

static struct thread *make_thread(void)
{
    if (atomic_load(&thread_count) >= THREADS_MAX)
        return NULL;
    struct thread *thread =
        mmap(NULL, sizeof *thread, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (thread == MAP_FAILED)
        return NULL;
    uint32_t index = atomic_fetch_add(&thread_count, 1);
    if (index >= THREADS_MAX) {
        munmap(thread, sizeof *thread);
        return NULL;
    }
    thread->id = (uint32_t)syscall(SYS_gettid);
    atomic_store_explicit(&threads[index], thread, memory_order_release);
    return thread;
}

static struct thread *take_thread(void)
{
    struct thread *thread = take_left();

    if (thread != NULL)
        thread->id = (uint32_t)syscall(SYS_gettid);
    else
        thread = make_thread();
    if (thread != NULL)
        pthread_setspecific(at_exit, thread);
    return thread;
}

struct thread *thread_find(void)
{
    if (!recorder_is_awake() || is_gone)
        return NULL;
    if (was_refused % ASK_AGAIN == 0)
        thread_mine = take_thread();
    if (thread_mine == NULL) {
        was_refused++;
        atomic_fetch_add(&refused, 1);
    }
    return thread_mine;
}

void thread_push(struct thread *thread, const struct range *range)
{
    struct open_ranges *open = &thread->open;
    uint32_t count = atomic_load_explicit(&open->count, memory_order_relaxed);

    if (count == OPEN_MAX) {
        open->too_deep++;
        thread_lose(thread, LOST_TOO_DEEP);
        return;
    }
    open_changes(open);
    open_store(open, count, range);
    atomic_store_explicit(&open->count, count + 1, memory_order_relaxed);
    open_changed(open);
}

bool thread_pop(struct thread *thread, uint32_t domain, struct range *ret)
{
    struct open_ranges *open = &thread->open;
    uint32_t count = atomic_load_explicit(&open->count, memory_order_relaxed), index = count;

    if (open->too_deep > 0) {
        open->too_deep--;
        return false;
    }
    while (index > 0) {
        open_load(open, --index, ret);
        if (ret->domain == domain)
            break;
        if (index == 0)
            count = 0;
    }
    if (count == 0) {
        thread_lose(thread, LOST_NO_PUSH);
        return false;
    }
    open_changes(open);
    for (struct range above; index + 1 < count; index++) {
        open_load(open, index + 1, &above);
        open_store(open, index, &above);
    }
    atomic_store_explicit(&open->count, count - 1, memory_order_relaxed);
    open_changed(open);
    return true;
}

uint32_t thread_open_ranges(struct thread *thread, struct range ret[OPEN_MAX])
{
    struct open_ranges *open = &thread->open;

    for (int look = 0; look < LOOKS_MAX; look++, sched_yield()) {
        uint32_t turn = atomic_load_explicit(&open->turn, memory_order_acquire);
        uint32_t count = atomic_load_explicit(&open->count, memory_order_relaxed);
        if (count > OPEN_MAX || turn % 2 != 0)
            continue;
        for (uint32_t index = 0; index < count; index++)
            open_load(open, index, &ret[index]);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&open->turn, memory_order_relaxed) == turn)
            return count;
    }
    return NOT_SEEN;
}

uint32_t threads_begun(void)
{
    uint32_t count = atomic_load_explicit(&thread_count, memory_order_acquire);

    return count < THREADS_MAX ? count : THREADS_MAX;
}

struct thread *thread_at(uint32_t index)
{
    return index < THREADS_MAX ? atomic_load_explicit(&threads[index], memory_order_acquire) : NULL;
}

void thread_free(struct thread *thread)
{
    thread->open.too_deep = 0;
    thread->unseen = 0;
    atomic_store(&thread->open.count, 0);
    atomic_store_explicit(&thread->is_over, 2, memory_order_release);
}

uint64_t threads_refused(void)
{
    return atomic_load(&refused);
}

void threads_forget(void)
{
    thread_mine = NULL;
    is_gone = true;
}
