/* SPDX-License-Identifier: Apache-2.0 */
/* The handler of SIGBUS, and what it knows of maps.
 *
 *   watches -> [ from, end, lost ] -> [ 0, 0, - ] -> ...     never freed, taken again when free
 *
 * The handler walks the list without a lock. Nodes are only ever put in front, and a free one
 * covers no address.
 */
#include "base/lost.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"

struct lost_watch {
    _Atomic uintptr_t from, end; /* 0: free */
    atomic_bool taken, lost;
    struct lost_watch *next;
};

/* The handler blocks no signal, so there is no mask to bring back; but ThreadSanitizer blocks all
 * of them in every handler, and one that is left by a jump would never come again. */
#ifdef __SANITIZE_THREAD__
enum { BRINGS_MASK_BACK = 1 };
#else
enum { BRINGS_MASK_BACK = 0 };
#endif

struct guard {
    sigjmp_buf back;
    struct guard *outer;
};

static _Atomic(struct lost_watch *) watches;
static _Thread_local struct guard *innermost;

struct lost_watch *lost_watch(const void *at, size_t count)
{
    struct lost_watch *watch = atomic_load(&watches);
    bool is_taken = false;

    while (watch != NULL && !atomic_compare_exchange_strong(&watch->taken, &is_taken, true)) {
        is_taken = false;
        watch = watch->next;
    }
    if (watch == NULL) {
        watch = memory_zeroed(1, sizeof *watch);
        atomic_store(&watch->taken, true);
        watch->next = atomic_load(&watches);
        while (!atomic_compare_exchange_weak(&watches, &watch->next, watch))
            ;
    }
    atomic_store(&watch->lost, false);
    atomic_store(&watch->from, (uintptr_t)at);
    atomic_store(&watch->end, (uintptr_t)at + count);
    return watch;
}

bool lost_marked(const struct lost_watch *watch)
{
    return watch != NULL && atomic_load(&watch->lost);
}

void lost_unwatch(struct lost_watch *watch)
{
    if (watch == NULL)
        return;
    atomic_store(&watch->end, 0);
    atomic_store(&watch->from, 0);
    atomic_store(&watch->taken, false);
}

bool lost_guard(void (*run)(void *data), void *data)
{
    struct guard guard = {.outer = innermost};
    bool whole = sigsetjmp(guard.back, BRINGS_MASK_BACK) == 0;

    if (whole) {
        innermost = &guard;
        run(data);
    }
    innermost = guard.outer;
    return whole;
}

void lost_leave(void)
{
    if (innermost != NULL)
        siglongjmp(innermost->back, 1);
}

/* A line of /proc/self/maps: "from-end perms ... path". */
static bool line_is_of(const char *line, size_t count, uintptr_t address)
{
    static const char suffix[] = "-shm";
    uintptr_t numbers[2] = {0};
    size_t at = 0;

    for (size_t i = 0; i < 2; i++, at++) {
        for (; at < count && line[at] != '-' && line[at] != ' '; at++)
            numbers[i] = numbers[i] * 16 +
                         (uintptr_t)(line[at] <= '9' ? line[at] - '0' : line[at] - 'a' + 10);
    }
    return address >= numbers[0] && address < numbers[1] && count > sizeof suffix &&
           memcmp(line + count - (sizeof suffix - 1), suffix, sizeof suffix - 1) == 0;
}

/* SQLite's memory beside a database in WAL mode. Only what is safe in a handler is called. */
static bool is_index_of_wal(uintptr_t address)
{
    char line[512], piece[1024];
    size_t count = 0;
    bool found = false;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);

    for (ssize_t got; fd >= 0 && !found && (got = read(fd, piece, sizeof piece)) > 0;) {
        for (ssize_t i = 0; i < got && !found; i++) {
            if (piece[i] != '\n') {
                /* Of a long path its end is kept. */
                if (count == sizeof line) {
                    memmove(line + 64, line + 65, sizeof line - 65);
                    count--;
                }
                line[count++] = piece[i];
                continue;
            }
            found = line_is_of(line, count, address);
            count = 0;
        }
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Zeros in its place are an index that SQLite makes anew from the WAL, as after a crash; there is
 * one process that writes it, this one. */
static bool put_zeros(uintptr_t address)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    return mmap((void *)(address / page * page), page, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void end(void)
{
    signal(SIGBUS, SIG_DFL); /* what was read is read again, and ends the process */
}

static void lose(int number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t)info->si_addr;

    (void)number;
    (void)context;
    for (struct lost_watch *watch = atomic_load(&watches); watch != NULL; watch = watch->next) {
        if (address < atomic_load(&watch->from) || address >= atomic_load(&watch->end))
            continue;
        atomic_store(&watch->lost, true);
        if (innermost != NULL)
            siglongjmp(innermost->back, 1);
        end();
        return;
    }

    int error = errno;

    if (!is_index_of_wal(address) || !put_zeros(address))
        end();
    errno = error;
}

void lost_prepare(void)
{
    struct sigaction action = {.sa_sigaction = lose, .sa_flags = SA_SIGINFO | SA_NODEFER};

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
