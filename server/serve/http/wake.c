/* SPDX-License-Identifier: Apache-2.0 */
/* Connects to the doorway, so that CivetWeb's accepting thread wakes and ends. */
#include "serve/http/wake.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"

struct wake {
    const struct doorway *doorway;
    pthread_t thread;
    atomic_bool ends;
};

/* Never waits: what the queue of connections does not take at once is woken by what fills it. */
static bool knock(const struct doorway *doorway)
{
    int fd = doorway_connect(doorway);
    bool answered = fd >= 0 || errno == EAGAIN;

    if (fd >= 0)
        close(fd);
    return answered;
}

static void *run(void *data)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    struct wake *wake = data;

    while (!atomic_load(&wake->ends) && knock(wake->doorway))
        nanosleep(&pause, NULL);
    return NULL;
}

struct wake *wake_begin(const struct doorway *doorway)
{
    struct wake *wake = memory_resize(NULL, 1, sizeof *wake);

    *wake = (struct wake){.doorway = doorway};
    if (doorway->place >= 0 && pthread_create(&wake->thread, NULL, run, wake) == 0)
        return wake;
    free(wake);
    return NULL;
}

void wake_end(struct wake *wake)
{
    if (wake == NULL)
        return;
    atomic_store(&wake->ends, true);
    pthread_join(wake->thread, NULL);
    free(wake);
}
