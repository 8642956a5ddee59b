/* Connects to our own port, so that CivetWeb's accepting thread wakes and ends. */
#include "serve/http/wake.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"

struct wake {
    struct sockaddr_in at;
    pthread_t thread;
    atomic_bool ends;
};

/* Never waits: what the queue of connections does not take at once is woken by what fills it. */
static bool knock(const struct sockaddr_in *at)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return false;
    bool answered =
        connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 || errno == EINPROGRESS;
    close(fd);
    return answered;
}

static void *run(void *data)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    struct wake *wake = data;

    while (!atomic_load(&wake->ends) && knock(&wake->at))
        nanosleep(&pause, NULL);
    return NULL;
}

struct wake *wake_begin(const char *address, int port)
{
    struct wake *wake = memory_resize(NULL, 1, sizeof *wake);

    *wake = (struct wake){.at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)}};
    if (inet_pton(AF_INET, address, &wake->at.sin_addr) == 1 &&
        pthread_create(&wake->thread, NULL, run, wake) == 0)
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
