/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is refused memory ends, and whoever started it is told which refusal it was. The
 * reserve is short only as long as there is none to have. */
#include "base/memory.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MIB = 1 << 20 };

/* The last line of a process that does this, without its end; how it ended. */
static struct str last_words(void (*call)(void), struct arena *arena, int *ret_signal)
{
    char said[512];
    int ends[2], ended = 0;

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        call();
        _exit(0);
    }
    close(ends[1]);
    ssize_t count = read(ends[0], said, sizeof said);
    close(ends[0]);
    waitpid(child, &ended, 0);
    *ret_signal = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
    while (count > 0 && said[count - 1] == '\n')
        count--;
    return str_copy(arena, (struct str){.at = said, .count = count > 0 ? (size_t)count : 0});
}

static void limit_data(rlim_t bytes)
{
    const struct rlimit limit = {bytes, bytes};

    setrlimit(RLIMIT_DATA, &limit);
}

static void refused(void)
{
    limit_data((rlim_t)4096 * MIB);
    memory_refused(3, 5 * MIB);
}

static void refused_a_library(void)
{
    memory_refused(0, 0);
}

static void too_much(void)
{
    limit_data((rlim_t)64 * MIB);
    memory_refused(1, 100 * MIB);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* theirs does not tell */
static void too_much_in_all(void)
{
    limit_data((rlim_t)64 * MIB);
    for (int i = 0; i < 10; i++)
        memset(memory_resize(NULL, 4 * MIB, 1), 1, 4 * MIB);
    memory_refused(1, 20 * MIB);
}
#endif

static void another_reason(void)
{
    abort();
}

static void the_end_says_why(void **state)
{
    (void)state;
    const struct {
        const char *what;
        void (*call)(void);
        enum memory_refusal refusal;
    } rows[] = {
        {"by the system", refused, MEMORY_REFUSED},
        {"to a library", refused_a_library, MEMORY_REFUSED},
        {"at once above its limit", too_much, MEMORY_TOO_MUCH},
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        {"by and by at its limit", too_much_in_all, MEMORY_TOO_MUCH},
#endif
        {"no refusal", another_reason, MEMORY_NOT_REFUSED},
    };
    struct arena *arena = arena_create();

    for (size_t i = 0; i < COUNT(rows); i++) {
        int by_signal;
        struct str words = last_words(rows[i].call, arena, &by_signal);

        CHECK_INT(rows[i].what, by_signal, SIGABRT);
        CHECK_INT(rows[i].what, memory_refusal_of(words), rows[i].refusal);
    }
    arena_destroy(arena);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* theirs asks for gigabytes   \
                                                                     */
static void use_and_regain(void)
{
    struct rlimit few, all;

    memory_prepare();
    getrlimit(RLIMIT_AS, &all);
    few = all;
    few.rlim_cur = MIB;
    setrlimit(RLIMIT_AS, &few);
    bool tries = memory_try_again(0);
    bool is_short = memory_is_short();
    setrlimit(RLIMIT_AS, &all);
    if (!tries || !is_short || memory_is_short())
        abort();
}

static void the_reserve_comes_back(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    int by_signal;

    last_words(use_and_regain, arena, &by_signal);
    assert_int_equal(by_signal, 0);
    arena_destroy(arena);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_says_why),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(the_reserve_comes_back),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
