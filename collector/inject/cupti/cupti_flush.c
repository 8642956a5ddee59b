/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that calls cuptiActivityFlushAll, so that a flush that hangs holds nobody else. */
#include "inject/cupti/cupti_flush.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "inject/cupti/cupti_abi.h"
#include "inject/cupti/cupti_say.h"
#include "inject/spool/ticks.h"

enum { SLOW_S = 5, NS_PER_S = 1000000000, STACK_BYTES = 256 << 10 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t rings;
    cupti_flush_all *flush_all;
    uint64_t asked, done; /* how many; done follows, several may be one */
    uint32_t flags;
    int64_t began_ns; /* of the one at work, 0 none */
    bool is_open;
} flusher = {.lock = PTHREAD_MUTEX_INITIALIZER, .rings = PTHREAD_COND_INITIALIZER};

static void *run(void *unused)
{
    (void)unused;
    pthread_setname_np(pthread_self(), "jview-flush");
    pthread_mutex_lock(&flusher.lock);
    for (;;) {
        while (flusher.done == flusher.asked)
            pthread_cond_wait(&flusher.rings, &flusher.lock);
        uint64_t asked = flusher.asked;
        uint32_t flags = flusher.flags;
        flusher.flags = 0;
        flusher.began_ns = clock_ns(CLOCK_MONOTONIC);
        pthread_mutex_unlock(&flusher.lock);
        flusher.flush_all(flags);
        pthread_mutex_lock(&flusher.lock);
        flusher.began_ns = 0;
        flusher.done = asked;
        pthread_cond_broadcast(&flusher.rings);
    }
    return NULL;
}

/* Signals are the program's: none is handled on our thread. */
bool cupti_flush_open(cupti_flush_all *flush_all)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;

    flusher.flush_all = flush_all;
    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    flusher.is_open = pthread_create(&thread, &attributes, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return flusher.is_open;
}

void cupti_flush_ask(bool is_whole)
{
    pthread_mutex_lock(&flusher.lock);
    bool is_slow = flusher.began_ns != 0 &&
                   clock_ns(CLOCK_MONOTONIC) - flusher.began_ns > (int64_t)SLOW_S * NS_PER_S;
    if (is_whole)
        flusher.flags = CUPTI_FLUSH_FORCED;
    /* While one is at work a second one waits, and no more than that. */
    if (is_whole || flusher.asked - flusher.done < 2)
        flusher.asked++;
    pthread_cond_broadcast(&flusher.rings);
    pthread_mutex_unlock(&flusher.lock);
    if (is_slow)
        cupti_say("A CUPTI flush takes longer than %d s: later CUDA activity arrives late, or is "
                  "missing.",
                  SLOW_S);
}

bool cupti_flush_wait(int most_ms)
{
    struct timespec until = clock_deadline(most_ms);
    int result = 0;

    pthread_mutex_lock(&flusher.lock);
    while (flusher.is_open && flusher.done != flusher.asked && result == 0)
        result = pthread_cond_clockwait(&flusher.rings, &flusher.lock, CLOCK_MONOTONIC, &until);
    bool is_done = flusher.done == flusher.asked;
    pthread_mutex_unlock(&flusher.lock);
    return is_done;
}
