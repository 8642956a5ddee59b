/* SPDX-License-Identifier: Apache-2.0 */
/*   submit ->  [ task | task | task |  ...  ]  -> threads
 *               ring of queue_length, one mutex, two conditions
 */
#include "base/queue.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/memory.h"

/* Folds, SQL and decoding need more than the 100 KB a connection's thread has; sanitizers
 * need a few times as much. */
enum { STACK_BYTES = 1 << 20, STACK_BYTES_CHECKED = 8 << 20 };

struct job {
    task *run;
    void *data;
};

struct pool {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    pthread_t *threads;
    unsigned thread_count;
    struct job *ring;
    size_t length, first, count;
    bool closing;
};

static _Thread_local const struct pool *own_pool; /* of a pool's thread */

static bool take_job(struct pool *pool, struct job *ret)
{
    pthread_mutex_lock(&pool->mutex);
    while (pool->count == 0 && !pool->closing)
        pthread_cond_wait(&pool->not_empty, &pool->mutex);

    bool any = pool->count > 0;

    if (any) {
        *ret = pool->ring[pool->first];
        pool->first = (pool->first + 1) % pool->length;
        pool->count--;
        pthread_cond_signal(&pool->not_full);
    }
    pthread_mutex_unlock(&pool->mutex);
    return any;
}

static void *work(void *data)
{
    struct pool *pool = data;

    own_pool = pool;
    for (struct job job; take_job(pool, &job);)
        job.run(job.data);
    return NULL;
}

/* Without the first one nothing would be done: it is tried again for as long as memory is. */
static bool start_thread(struct pool *pool, const pthread_attr_t *attributes)
{
    pthread_t *thread = &pool->threads[pool->thread_count];
    bool is_first = pool->thread_count == 0;
    int error = pthread_create(thread, attributes, work, pool);

    for (unsigned i = 0; error != 0 && is_first && memory_try_again(i); i++)
        error = pthread_create(thread, attributes, work, pool);
    return error == 0;
}

static void start_threads(struct pool *pool, unsigned thread_count)
{
    pthread_attr_t attributes;

    pthread_attr_init(&attributes);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    pthread_attr_setstacksize(&attributes, STACK_BYTES_CHECKED);
#else
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
#endif
    pool->threads = memory_resize(NULL, thread_count, sizeof(*pool->threads));
    while (pool->thread_count < thread_count && start_thread(pool, &attributes))
        pool->thread_count++; /* a limit on threads: fewer of them do the same work */
    pthread_attr_destroy(&attributes);
    if (pool->thread_count == 0)
        memory_refused(1, STACK_BYTES); /* no thread at all is no system to run on */
}

struct pool *pool_create(unsigned thread_count, size_t queue_length)
{
    struct pool *pool = memory_resize(NULL, 1, sizeof(*pool));

    *pool = (struct pool){.length = queue_length > 0 ? queue_length : 1};
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->not_empty, NULL);
    pthread_cond_init(&pool->not_full, NULL);
    pool->ring = memory_resize(NULL, pool->length, sizeof(*pool->ring));
    start_threads(pool, thread_count > 0 ? thread_count : 1);
    return pool;
}

bool pool_submit(struct pool *pool, task *run, void *data)
{
    pthread_mutex_lock(&pool->mutex);
    while (pool->count == pool->length && !pool->closing)
        pthread_cond_wait(&pool->not_full, &pool->mutex);

    bool taken = !pool->closing;

    if (taken) {
        pool->ring[(pool->first + pool->count) % pool->length] =
            (struct job){.run = run, .data = data};
        pool->count++;
        pthread_cond_signal(&pool->not_empty);
    }
    pthread_mutex_unlock(&pool->mutex);
    return taken;
}

struct waited {
    task *run;
    void *data;
    pthread_mutex_t mutex;
    pthread_cond_t ended;
    bool over;
};

static void run_waited(void *data)
{
    struct waited *waited = data;

    waited->run(waited->data);
    pthread_mutex_lock(&waited->mutex);
    waited->over = true;
    pthread_cond_signal(&waited->ended);
    pthread_mutex_unlock(&waited->mutex);
}

void pool_run(struct pool *pool, task *run, void *data)
{
    /* A pool's thread that waited for its own pool might wait for itself. */
    if (own_pool == pool) {
        run(data);
        return;
    }

    struct waited waited = {.run = run, .data = data};

    pthread_mutex_init(&waited.mutex, NULL);
    pthread_cond_init(&waited.ended, NULL);
    if (pool_submit(pool, run_waited, &waited)) {
        pthread_mutex_lock(&waited.mutex);
        while (!waited.over)
            pthread_cond_wait(&waited.ended, &waited.mutex);
        pthread_mutex_unlock(&waited.mutex);
    }
    pthread_cond_destroy(&waited.ended);
    pthread_mutex_destroy(&waited.mutex);
}

void pool_destroy(struct pool *pool)
{
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->not_empty);
    pthread_cond_broadcast(&pool->not_full);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->not_full);
    pthread_cond_destroy(&pool->not_empty);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool->ring);
    free(pool);
}
