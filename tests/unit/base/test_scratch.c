/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow from the heap into files keep what they held, and use no private memory. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scratch.h"

enum { LARGE = SCRATCH_FILE_BYTES_MIN };

static bool holds(const unsigned char *at, size_t begin, size_t end, unsigned char value)
{
    for (size_t i = begin; i < end; i++) {
        if (at[i] != value)
            return false;
    }
    return true;
}

static void where_arrays_stand(void **state)
{
    (void)state;
    const struct {
        const char *what, *dir;
        size_t bytes, file_bytes;
        int refusal;
    } rows[] = {
        {"nothing", NULL, 0, 0, 0},
        {"small", NULL, LARGE - 1, 0, 0},
        {"large", NULL, LARGE, LARGE, 0},
        {"odd", NULL, LARGE + 7, LARGE + 7, 0},
        {"nowhere, small", "/no/such", LARGE - 1, 0, 0},
        {"nowhere, in memory", "/no/such", LARGE, 0, ENOENT},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct scratch *scratch = scratch_create(rows[i].dir);
        unsigned char *at = scratch_array(scratch, unsigned char, rows[i].bytes);

        CHECK(rows[i].what, (uintptr_t)at % 16 == 0);
        CHECK(rows[i].what, holds(at, 0, rows[i].bytes, 0));
        CHECK_INT(rows[i].what, scratch_file_bytes(scratch), rows[i].file_bytes);
        CHECK_INT(rows[i].what, scratch_refusal(scratch), rows[i].refusal);
        scratch_destroy(scratch);
    }
    scratch_destroy(NULL);
}

/* Two arrays grow in turn, from the heap into files; what they held stays, what is new is zero. */
static void growth(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 100, 100, 50, LARGE - 1, LARGE, LARGE + 1, 5 * LARGE + 13};
    struct scratch *scratch = scratch_create(NULL);
    unsigned char *at[2] = {NULL, NULL};
    size_t count = 0;

    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (int which = 0; which < 2; which++) {
            at[which] = scratch_resize(scratch, at[which], sizes[i], 1);
            CHECK("kept", holds(at[which], 0, count, (unsigned char)(which + 1)));
            CHECK("zeroed", holds(at[which], count, sizes[i], 0));
            memset(at[which], which + 1, sizes[i]);
        }
        count = sizes[i] > count ? sizes[i] : count;
    }
    CHECK_INT("in files", scratch_file_bytes(scratch), 2 * count);
    scratch_free(scratch, at[0]);
    CHECK_INT("one left", scratch_file_bytes(scratch), count);
    CHECK("the other stays", holds(at[1], 0, count, 2));
    scratch_free(scratch, NULL);
    scratch_destroy(scratch);
}

static int descriptor_next(void)
{
    int fd = dup(STDERR_FILENO);

    close(fd);
    return fd;
}

static void all_leave_at_once(void **state)
{
    (void)state;
    int before = descriptor_next();
    struct scratch *scratch = scratch_create(NULL);
    void *middle = NULL;

    for (int i = 0; i < 5; i++) {
        void *at = scratch_array(scratch, unsigned char, i % 2 == 0 ? LARGE : 10);

        middle = i == 2 ? at : middle;
    }
    scratch_free(scratch, middle);
    CHECK("files are open", descriptor_next() > before || scratch_file_bytes(scratch) > 0);
    scratch_destroy(scratch);
    CHECK_INT("descriptors", descriptor_next(), before);
}

/* A file that may not grow stands for a disk that is full: the system says no to both alike. */
static void no_room(void **state)
{
    (void)state;
    struct rlimit before, tight;
    struct scratch *scratch = scratch_create(NULL);

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    tight = before;
    tight.rlim_cur = 2 * LARGE;
    setrlimit(RLIMIT_FSIZE, &tight);

    unsigned char *at = scratch_array(scratch, unsigned char, LARGE);

    CHECK_INT("fits", scratch_file_bytes(scratch), LARGE);
    memset(at, 7, LARGE);
    at = scratch_resize(scratch, at, 3 * LARGE, 1);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_INT("moved to memory", scratch_file_bytes(scratch), 0);
    CHECK_INT("and said why", scratch_refusal(scratch), EFBIG);
    CHECK("kept", holds(at, 0, LARGE, 7));
    CHECK("zeroed", holds(at, LARGE, 3 * LARGE, 0));
    memset(at, 7, 3 * LARGE);
    at = scratch_resize(scratch, at, 4 * LARGE, 1);
    CHECK_INT("it stays there", scratch_file_bytes(scratch), 0);
    CHECK("kept again", holds(at, 0, 3 * LARGE, 7));
    CHECK("zeroed again", holds(at, 3 * LARGE, 4 * LARGE, 0));
    scratch_destroy(scratch);
}

/* A file is used again by what fits, and what is used again is zero. */
static void files_are_used_again(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_create(NULL);
    unsigned char *small = scratch_array(scratch, unsigned char, 2 * LARGE);
    unsigned char *large = scratch_array(scratch, unsigned char, 5 * LARGE);
    int next = descriptor_next();

    memset(small, 1, 2 * LARGE);
    memset(large, 2, 5 * LARGE);
    scratch_free(scratch, small);
    scratch_free(scratch, large);
    CHECK_INT("none in use", scratch_file_bytes(scratch), 0);

    unsigned char *again = scratch_array(scratch, unsigned char, LARGE);

    CHECK("the smallest that has room", again == small);
    CHECK("zeroed", holds(again, 0, LARGE, 0));
    again = scratch_resize(scratch, again, 2 * LARGE, 1);
    CHECK("zeroed where it grew within its room", holds(again, 0, 2 * LARGE, 0));
    again = scratch_resize(scratch, again, 3 * LARGE, 1);
    CHECK("and beyond", holds(again, 0, 3 * LARGE, 0));
    CHECK("the other is free still", scratch_array(scratch, unsigned char, 4 * LARGE) == large);
    CHECK_INT("no file is new", descriptor_next(), next);
    CHECK_INT("bytes in use", scratch_file_bytes(scratch), 7 * LARGE);
    scratch_destroy(scratch);
}

static int64_t private_kib(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;

    while (file != NULL && kib < 0 && fgets(line, sizeof line, file) != NULL)
        (void)sscanf(line, "RssAnon: %ld", &kib);
    if (file != NULL)
        fclose(file);
    return kib;
}

static void is_no_private_memory(void **state)
{
    (void)state;
    struct scratch *scratch = scratch_create(NULL);
    int64_t before = private_kib();
    unsigned char *at = NULL;

    for (size_t mib = 1; mib <= 64; mib++) {
        at = scratch_resize(scratch, at, mib, LARGE);
        memset(at + (mib - 1) * LARGE, 1, LARGE);
    }
    CHECK("told", before > 0);
    CHECK("64 MiB written, less than 8 MiB private", private_kib() - before < 8 * 1024);
    scratch_destroy(scratch);
}

static void too_much_ends_the_process(void **state)
{
    (void)state;
    pid_t child = fork();

    if (child == 0) {
        close(STDERR_FILENO);
        scratch_resize(scratch_create(NULL), NULL, SIZE_MAX / 4, 8);
        _exit(0);
    }

    int status = 0;

    waitpid(child, &status, 0);
    CHECK_INT("overflow", WIFSIGNALED(status) ? WTERMSIG(status) : 0, SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_arrays_stand),        cmocka_unit_test(growth),
        cmocka_unit_test(all_leave_at_once),         cmocka_unit_test(no_room),
        cmocka_unit_test(files_are_used_again),      cmocka_unit_test(is_no_private_memory),
        cmocka_unit_test(too_much_ends_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
