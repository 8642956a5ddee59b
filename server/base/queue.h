/* SPDX-License-Identifier: Apache-2.0 */
/* A pool of threads with room on their stacks, fed by one bounded queue. */
#ifndef JVIEWD_BASE_QUEUE_H
#define JVIEWD_BASE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

typedef void task(void *data);

struct pool;
struct pool *pool_create(unsigned thread_count, size_t queue_length);
/* Waits while the queue is full; false once the pool is closing. */
bool pool_submit(struct pool *pool, task *run, void *data);
/* Runs on a pool thread and waits for the end: how a handler on a small stack does heavy work. */
void pool_run(struct pool *pool, task *run, void *data);
/* Finishes what is queued, joins, frees. */
void pool_destroy(struct pool *pool);

#endif
