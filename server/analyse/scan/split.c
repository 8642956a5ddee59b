/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a thread a part, and waits for all of them. */
#include "analyse/scan/split.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/lost.h"

uint64_t split_items_a_part = 100000;

struct running {
    split_part *run;
    void *data;
    uint32_t part;
    bool whole; /* no page was lost on its thread */
    pthread_t thread;
    bool is_thread;
};

uint32_t split_count(uint64_t items)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t count = items / split_items_a_part;

    if (processors < 1)
        processors = 1;
    if (count > (uint64_t)processors)
        count = (uint64_t)processors;
    if (count > SPLIT_PARTS_MAX)
        count = SPLIT_PARTS_MAX;
    return count > 0 ? (uint32_t)count : 1;
}

static void run_guarded(void *data)
{
    struct running *running = data;

    running->run(running->data, running->part);
}

static void *run_part(void *data)
{
    struct running *running = data;

    running->whole = lost_guard(run_guarded, running);
    return NULL;
}

void split_run(uint32_t count, split_part *run, void *data)
{
    struct running running[SPLIT_PARTS_MAX];

    for (uint32_t part = 1; part < count; part++) {
        running[part] = (struct running){.run = run, .data = data, .part = part, .whole = true};
        running[part].is_thread =
            pthread_create(&running[part].thread, NULL, run_part, &running[part]) == 0;
    }
    running[0] = (struct running){.run = run, .data = data};
    bool whole = lost_guard(run_guarded, &running[0]);
    for (uint32_t part = 1; part < count; part++) {
        if (running[part].is_thread)
            pthread_join(running[part].thread, NULL);
        else
            run_part(&running[part]); /* no thread to be had: one after the other */
        whole &= running[part].whole;
    }
    if (!whole)
        lost_leave();
}

uint64_t split_begin(uint64_t items, uint32_t part, uint32_t count)
{
    return items / count * part + items % count * part / count;
}
