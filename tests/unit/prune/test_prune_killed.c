/* SPDX-License-Identifier: Apache-2.0 */
/* Packing that is stopped at each moment: killed before each call that changes the disk and in the
 * middle of each write, failing at each of them, in a directory that takes nothing.
 *
 *   pwrite  pwrite  ftruncate  fchmod  futimens  fsync  renameat2  fsync  unlinkat
 *     ^ 0     ^ 1      ...        killed or failing at the n-th, for all n
 *
 * Whatever happens, the profile is there, as it was or packed, and packing it again ends well. The
 * calls are ours here, and hand on to the system's.
 */
#include "cold_place.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { NEVER = -1, CALLS_MAX = 200, NOBODY = 65534 };

static int calls_left = NEVER; /* until the one that is stopped */
static int failing_errno;      /* 0: the process is killed instead */
static bool was_stopped;

/* False: this call is not made, and errno says why. `half`, where there is such, is done before a
 * kill. */
static bool may_go(void (*half)(const void *), const void *data)
{
    if (calls_left == NEVER || calls_left-- > 0)
        return true;
    calls_left = NEVER;
    was_stopped = true;
    if (failing_errno == 0) {
        if (half != NULL)
            half(data);
        kill(getpid(), SIGKILL);
    }
    errno = failing_errno;
    return false;
}

struct writing {
    int fd;
    const void *at;
    size_t count;
    off_t offset;
};

static void write_half(const void *data)
{
    const struct writing *writing = data;

    syscall(SYS_pwrite64, writing->fd, writing->at, writing->count / 2, writing->offset);
}

ssize_t pwrite(int fd, const void *at, size_t count, off_t offset)
{
    const struct writing writing = {fd, at, count, offset};

    return may_go(write_half, &writing) ? syscall(SYS_pwrite64, fd, at, count, offset) : -1;
}

int ftruncate(int fd, off_t size)
{
    return may_go(NULL, NULL) ? (int)syscall(SYS_ftruncate, fd, size) : -1;
}

int fchmod(int fd, mode_t mode)
{
    return may_go(NULL, NULL) ? (int)syscall(SYS_fchmod, fd, mode) : -1;
}

int futimens(int fd, const struct timespec times[2])
{
    return may_go(NULL, NULL) ? (int)syscall(SYS_utimensat, fd, NULL, times, 0) : -1;
}

/* Whoever is killed loses nothing that the system holds for the disk, so nothing is waited for. */
int fsync(int fd)
{
    (void)fd;
    return may_go(NULL, NULL) ? 0 : -1;
}

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned int flags)
{
    return may_go(NULL, NULL) ? (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags) : -1;
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    return may_go(NULL, NULL) ? (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags) : -1;
}

int unlinkat(int dir, const char *name, int flags)
{
    return may_go(NULL, NULL) ? (int)syscall(SYS_unlinkat, dir, name, flags) : -1;
}

/* Packs it; the n-th call is stopped. OK where there were fewer. */
static enum status pack_until(struct cold_place *place, int call, int failing, struct error *err)
{
    uint64_t bytes;

    calls_left = call;
    failing_errno = failing;
    was_stopped = false;
    enum status status = prune_cold_pack(".", &place->file, &bytes, err);
    calls_left = NEVER;
    return status;
}

static bool is_whole_raw(void)
{
    struct arena *arena = arena_create();
    struct error err = {0};
    struct bytes bytes = {0};
    bool ret = file_read(COLD_PATH, arena, 2 * COLD_BYTES, &bytes, &err) == OK &&
               bytes.count == COLD_BYTES && memcmp(bytes.at, cold_content, COLD_BYTES) == 0;

    arena_destroy(arena);
    return ret;
}

static bool is_whole_packed(void)
{
    int fd = open(COLD_PATH ".zst", O_RDONLY | O_CLOEXEC);
    struct error err = {0};
    struct cold cold;
    bool ret = fd >= 0 && cold_of(fd, &cold) && cold.bytes == COLD_BYTES &&
               cold_unpack(fd, &cold, -1, &err) == OK;

    if (fd >= 0)
        close(fd);
    return ret;
}

/* Nothing is lost, nothing that looks packed is half, and another try ends it. */
static void check_and_finish(struct cold_place *place, const char *what)
{
    struct error err = {0};

    CHECK(what, is_whole_raw() || is_whole_packed());
    CHECK(what, !cold_is_there(COLD_PATH ".zst") || is_whole_packed());
    if (cold_is_there(COLD_PATH))
        CHECK_OK(what, pack_until(place, NEVER, 0, &err), &err);
    cold_check_packed(what);
}

static void begin_again(struct cold_place *place)
{
    unlink(COLD_PATH ".zst");
    cold_place_fill(place);
}

/* In a process of its own; true: it was killed. */
static bool is_killed(struct cold_place *place, int call)
{
    int code;
    pid_t child = fork();

    if (child == 0) {
        struct error err = {0};

        _exit(pack_until(place, call, 0, &err) == OK ? 0 : 1);
    }
    CHECK_INT("wait", waitpid(child, &code, 0), child);
    bool killed = WIFSIGNALED(code) && WTERMSIG(code) == SIGKILL;
    CHECK("it ends well or is killed", killed || (WIFEXITED(code) && WEXITSTATUS(code) == 0));
    return killed;
}

static void killed_at_each_call(void **state)
{
    struct cold_place *place = *state;
    int call = 0;

    for (bool killed = true; killed; call++) {
        char what[64];

        CHECK("an end", call < CALLS_MAX);
        snprintf(what, sizeof what, "killed at call %d", call);
        killed = is_killed(place, call);
        check_and_finish(place, what);
        begin_again(place);
    }
    CHECK("each kind of call was one of them", call > 9);
}

/* A second kill while what the first one left is taken up. */
static void killed_twice(void **state)
{
    struct cold_place *place = *state;

    for (int first = 0; is_killed(place, first); first++) {
        for (int second = 0; cold_is_there(COLD_PATH) && is_killed(place, second); second += 3)
            CHECK("whole", is_whole_raw() || is_whole_packed());
        check_and_finish(place, "after two kills");
        begin_again(place);
    }
}

static void failing_at_each_call(void **state)
{
    static const int reasons[] = {ENOSPC, EIO, EACCES, EROFS};
    struct cold_place *place = *state;

    for (size_t i = 0; i < COUNT(reasons); i++) {
        struct error err = {0};
        int failed = 0;

        was_stopped = true;
        for (int call = 0; was_stopped; call++) {
            char what[96];

            snprintf(what, sizeof what, "%s at call %d", strerror(reasons[i]), call);
            err = (struct error){0};
            enum status status = pack_until(place, call, reasons[i], &err);
            failed += status != OK;
            CHECK(what, status == OK || err.message[0] != '\0');
            CHECK(what, status == OK || is_whole_raw());
            CHECK(what, !cold_is_there(COLD_PART_PATH));
            bool goes_on = was_stopped;
            check_and_finish(place, what);
            begin_again(place);
            was_stopped = goes_on;
        }
        CHECK("it is told", failed >= 8);
    }
}

static void pack_as_nobody(struct cold_place *place)
{
    struct error err = {0};

    if (geteuid() == 0 && (setegid(NOBODY) != 0 || seteuid(NOBODY) != 0))
        _exit(2);
    enum status status = pack_until(place, NEVER, 0, &err);
    _exit(status == ERR_PERMISSION && strstr(err.message, "no file can be made beside it") ? 0 : 1);
}

static void a_directory_that_takes_nothing(void **state)
{
    struct cold_place *place = *state;
    int code;

    CHECK_INT("readable", chmod(".", 0755) | chmod(COLD_PATH, 0644) | chmod("run", 0555), 0);
    pid_t child = fork();
    if (child == 0)
        pack_as_nobody(place);
    CHECK_INT("wait", waitpid(child, &code, 0), child);
    CHECK_INT("refused, and says why", code, 0);
    CHECK("it stays", is_whole_raw() && !cold_is_there(COLD_PATH ".zst"));
    CHECK_INT("writable", chmod(COLD_PATH, 0640) | chmod("run", 0700), 0);
    check_and_finish(place, "once it takes files");
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, cold_place_make, cold_place_leave)
    const struct CMUnitTest tests[] = {
        IN_PLACE(killed_at_each_call),
        IN_PLACE(killed_twice),
        IN_PLACE(failing_at_each_call),
        IN_PLACE(a_directory_that_takes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
