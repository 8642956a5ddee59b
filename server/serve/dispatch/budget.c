/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what questions may hold, and lets them wait for one another. */
#include "serve/dispatch/budget.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/memory.h"

enum {
    QUESTION_BYTES = 16 << 20, /* of any */
    SLICE_BYTES = 32,          /* 300 MB for ten million were measured */
    WAIT_MS = 30000,
    LOOK_MS = 100,
    MIB = 1 << 20,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static uint64_t bytes_max, bytes_taken; /* 0: no limit */
static const char *bytes_rule;
static _Thread_local unsigned depth;

void budget_set(uint64_t max, const char *rule)
{
    pthread_mutex_lock(&lock);
    bytes_max = max;
    bytes_rule = rule;
    pthread_mutex_unlock(&lock);
}

uint64_t budget_estimate(uint64_t slice_count)
{
    return QUESTION_BYTES + slice_count * SLICE_BYTES;
}

/* With the lock held. */
static bool has_room(uint64_t bytes)
{
    return bytes_max == 0 ||
           (!memory_is_short() && (bytes_taken == 0 || bytes_taken + bytes <= bytes_max));
}

enum status budget_enter(uint64_t bytes, struct error *err)
{
    int64_t until_ns = clock_deadline_ns(WAIT_MS);

    if (depth++ > 0)
        return OK;
    pthread_mutex_lock(&lock);
    bool fits = bytes_max == 0 || bytes <= bytes_max;
    while (fits && !has_room(bytes) && clock_monotonic_ns() < until_ns)
        clock_wait(&left, &lock, clock_deadline_ns(LOOK_MS)); /* memory comes back unsaid, too */
    bool enters = fits && has_room(bytes);
    if (enters)
        bytes_taken += bytes;
    unsigned long long most = bytes_max / MIB;
    const char *rule = bytes_rule;
    pthread_mutex_unlock(&lock);
    if (enters)
        return OK;
    depth--;
    return fail(err, ERR_BUSY,
                "this request needs about %llu MiB of memory, and all requests together may use "
                "%llu MiB (%s): %s",
                (unsigned long long)(bytes / MIB), most, rule,
                fits ? "other requests used it for 30 s; try again"
                     : "raise --memory-max, or use a machine with more memory");
}

void budget_leave(uint64_t bytes)
{
    if (--depth > 0)
        return;
    pthread_mutex_lock(&lock);
    bytes_taken -= bytes < bytes_taken ? bytes : bytes_taken;
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}
