/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of SPOOL_THREAD, SPOOL_CATEGORY and SPOOL_STREAM, kept under a lock until they are taken. */
#include "inject/process/told_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "inject/process/recorder.h"

enum { NAMES_MAX = 4096, OF_THREADS = 0, OF_CATEGORIES, OF_STREAMS };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct batch waiting[TOLD_NAMES_KINDS] = {
    [OF_THREADS] = {.type = SPOOL_THREAD, .columns = THREAD_COLUMNS},
    [OF_CATEGORIES] = {.type = SPOOL_CATEGORY, .columns = CATEGORY_COLUMNS},
    [OF_STREAMS] = {.type = SPOOL_STREAM, .columns = STREAM_COLUMNS}};

bool told_names_open(void)
{
    bool has_room = true;

    for (int kind = 0; kind < TOLD_NAMES_KINDS; kind++) {
        struct batch *batch = &waiting[kind];
        batch->numbers = malloc((size_t)NAMES_MAX * batch->columns * sizeof *batch->numbers);
        has_room = has_room && batch->numbers != NULL;
    }
    return has_room;
}

static void keep_row(struct batch *batch, const int64_t *numbers)
{
    if (!recorder_is_awake())
        return;
    pthread_mutex_lock(&lock);
    if (batch->numbers != NULL && batch->count < NAMES_MAX)
        memcpy(batch_row(batch), numbers, batch->columns * sizeof *numbers);
    pthread_mutex_unlock(&lock);
}

void told_name_of_thread(uint32_t thread, uint32_t name)
{
    keep_row(&waiting[OF_THREADS], (const int64_t[]){thread, name});
}

void told_name_of_category(uint32_t domain, uint32_t category, uint32_t name)
{
    keep_row(&waiting[OF_CATEGORIES], (const int64_t[]){domain, category, name});
}

void told_name_of_stream(uint32_t stream, uint32_t name)
{
    keep_row(&waiting[OF_STREAMS], (const int64_t[]){stream, name});
}

/* The disk is written to without the lock: who names a thread never waits for it. */
uint32_t told_names_take(struct batch ret[TOLD_NAMES_KINDS])
{
    static int64_t numbers[TOLD_NAMES_KINDS][NAMES_MAX * CATEGORY_COLUMNS];
    uint32_t count = 0;

    pthread_mutex_lock(&lock);
    for (int kind = 0; kind < TOLD_NAMES_KINDS; kind++) {
        struct batch *batch = &waiting[kind];
        ret[kind] = *batch;
        ret[kind].numbers = numbers[kind];
        memcpy(numbers[kind], batch->numbers,
               (size_t)batch->count * batch->columns * sizeof *batch->numbers);
        count += batch->count;
        batch->count = 0;
    }
    pthread_mutex_unlock(&lock);
    return count;
}
