/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas zero, align and poison their memory, and end the process where too much is asked. */
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

static bool all_zero(const unsigned char *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (at[i] != 0)
            return false;
    }
    return true;
}

static void zeroed_and_aligned(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 15, 16, 17, 1000, 1016, 5000, 100000, 3 << 20};
    struct arena *arena = arena_create();

    for (int round = 0; round < 4; round++) {
        for (size_t i = 0; i < 200; i++) {
            size_t size = sizes[i % COUNT(sizes)];
            unsigned char *at = arena_alloc(arena, size, 1);

            CHECK("aligned", (uintptr_t)at % 16 == 0);
            CHECK("zeroed", all_zero(at, size));
            if (size > 0)
                memset(at, 0xEE, size);
        }
        CHECK("used", arena_used(arena) >= 20 * (3 << 20));
        if (round % 2 == 0)
            arena_reset(arena);
        else
            arena_reset_small(arena);
        CHECK_INT("reset", arena_used(arena), 0);
    }
    arena_destroy(arena);
    arena_destroy(NULL);
}

static void apart(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    unsigned char *at[500];

    for (size_t i = 0; i < COUNT(at); i++) {
        at[i] = arena_alloc(arena, i % 40 + 1, 1);
        memset(at[i], (int)(i & 0xFF), i % 40 + 1);
    }
    for (size_t i = 0; i < COUNT(at); i++) {
        for (size_t j = 0; j < i % 40 + 1; j++)
            CHECK_INT("kept", at[i][j], i & 0xFF);
    }
    arena_destroy(arena);
}

/* The sanitizer tells what is left behind. */
static void within(void **state)
{
    (void)state;
    struct arena *arena = arena_create();

    for (int round = 0; round < 3; round++) {
        struct arena *first = arena_within(arena), *second = arena_within(arena);
        struct arena *inner = arena_within(first);

        memset(arena_alloc(inner, 5000, 1), 1, 5000);
        memset(arena_alloc(second, 100, 1), 2, 100);
        CHECK("used by all", arena_used(arena) >= 5100);
        arena_reset(arena);
        CHECK_INT("left with it", arena_used(arena), 0);
    }
    memset(arena_alloc(arena_within(arena), 100, 1), 3, 100);
    arena_destroy(arena);
}

/* What `call` does to a process of its own. */
static int signal_of(void (*call)(void))
{
    pid_t child = fork();

    if (child == 0) {
        close(STDERR_FILENO);
        call();
        _exit(0);
    }

    int status = 0;

    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void alloc_overflow(void)
{
    arena_alloc(arena_create(), SIZE_MAX / 4, 8);
}

static void alloc_near_end(void)
{
    arena_alloc(arena_create(), SIZE_MAX - 3, 1);
}

static void resize_overflow(void)
{
    free(memory_resize(NULL, SIZE_MAX / 4, 8));
}

static void too_much_ends_the_process(void **state)
{
    (void)state;
    CHECK_INT("overflow", signal_of(alloc_overflow), SIGABRT);
    CHECK_INT("near the end", signal_of(alloc_near_end), SIGABRT);
    CHECK_INT("resize", signal_of(resize_overflow), SIGABRT);
}

#if defined(__SANITIZE_ADDRESS__)
static void write_behind(void)
{
    struct arena *arena = arena_create();
    volatile char *at = arena_alloc(arena, 24, 1);

    arena_alloc(arena, 24, 1);
    at[24] = 1;
}

static void read_after_reset(void)
{
    struct arena *arena = arena_create();
    volatile char *at = arena_alloc(arena, 24, 1);

    arena_reset(arena);
    (void)at[0];
}

static void poisoned(void **state)
{
    (void)state;
    CHECK("behind an allocation", signal_of(write_behind) != 0);
    CHECK("after a reset", signal_of(read_after_reset) != 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroed_and_aligned),
        cmocka_unit_test(apart),
        cmocka_unit_test(within),
        cmocka_unit_test(too_much_ends_the_process),
#if defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test(poisoned),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
