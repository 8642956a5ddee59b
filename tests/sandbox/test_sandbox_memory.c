/* SPDX-License-Identifier: Apache-2.0 */
/* An allocation within libseccomp is refused: the process is told, in time, and no filter that
 * lacks rules is laid on it. Each in turn where JVIEWD_TORTURES is 0, else some of them. */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"
#include "check.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

enum { IN_TIME_S = 20, TRIES_MAX = 20000, STRIDE = 127 };
enum end { CONFINED, TOLD, CONFINED_THOUGH_REFUSED, TOLD_BUT_CONFINED };

static const char *library_begin, *library_end;
static unsigned refused_at;       /* 0: none */
static _Atomic unsigned *counted; /* of this process and those it starts */

static bool is_refused(const void *caller)
{
    const char *at = caller;

    return refused_at > 0 && at >= library_begin && at < library_end &&
           atomic_fetch_add(counted, 1) + 1 == refused_at;
}

static void *refuse(void)
{
    errno = ENOMEM;
    return NULL;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
    return is_refused(__builtin_return_address(0)) ? refuse() : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t number, size_t size)
{
    return is_refused(__builtin_return_address(0)) ? refuse() : __libc_calloc(number, size);
}

__attribute__((visibility("default"))) void *realloc(void *old, size_t size)
{
    return is_refused(__builtin_return_address(0)) ? refuse() : __libc_realloc(old, size);
}

/* Where the library's code lies: a text of its own. */
static void find_library(void)
{
    const char *inside = dlsym(RTLD_DEFAULT, "seccomp_init");
    Dl_info info;

    assert_non_null(inside);
    assert_int_not_equal(dladdr(inside, &info), 0);
    library_begin = info.dli_fbase;
    library_end = library_begin + (1 << 20);
}

static bool may_open_sockets(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* In a process of its own, which cmocka does not look after. */
static enum end confine(enum status (*enter)(struct error *err))
{
    struct error err = {0};
    enum status status;

    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    alarm(IN_TIME_S);
    status = enter(&err);
    if (status != OK)
        return may_open_sockets() ? TOLD : TOLD_BUT_CONFINED;
    return atomic_load(counted) >= refused_at ? CONFINED_THOUGH_REFUSED : CONFINED;
}

static int end_of(enum status (*enter)(struct error *err), unsigned at)
{
    int ended = 0;

    atomic_store(counted, 0);
    pid_t child = fork();
    if (child == 0) {
        refused_at = at;
        _exit(confine(enter));
    }
    assert_int_equal(waitpid(child, &ended, 0), child);
    return WIFSIGNALED(ended) ? -WTERMSIG(ended) : WEXITSTATUS(ended);
}

static enum status decoder(struct error *err)
{
    return sandbox_decoder("/tmp", err);
}

static void a_refused_allocation_is_told(void **state)
{
    (void)state;
    const char *tortures = getenv("JVIEWD_TORTURES");
    unsigned stride = tortures != NULL && strcmp(tortures, "0") == 0 ? 1 : STRIDE;
    const struct {
        const char *what;
        enum status (*enter)(struct error *err);
    } rows[] = {
        {"a decoder", decoder},
        {"a query", sandbox_query},
    };

    find_library();
    counted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(counted, MAP_FAILED);
    for (size_t i = 0; i < COUNT(rows); i++) {
        unsigned tried = 0;

        int end;

        for (unsigned at = 1; (end = end_of(rows[i].enter, at)) != CONFINED; at += stride) {
            CHECK_INT(rows[i].what, end, TOLD);
            CHECK(rows[i].what, ++tried < TRIES_MAX);
        }
        print_message("%s: %u of %u allocations refused\n", rows[i].what, tried,
                      atomic_load(counted));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_refused_allocation_is_told)};

    return (sandbox_parts() & SANDBOX_CALLS) == 0 ? 77 : cmocka_run_group_tests(tests, NULL, NULL);
}
