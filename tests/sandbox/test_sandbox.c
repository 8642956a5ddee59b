/* SPDX-License-Identifier: Apache-2.0 */
/* From inside each sandbox: what it is for is done, all else is refused. A try is a process of its
 * own, which says how it went by how it ends. */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sandbox/sandbox.h"
#include "check.h"

enum { DONE = 0, NOT_CONFINED = 100 }; /* between them: the errno of a refusal */

static char own[64] = "/tmp/jviewd-sandbox-XXXXXX", outside[96], inside[96], moved[96];
static pid_t test_process;

static int result(long value)
{
    return value >= 0 ? DONE : errno;
}

static int try_open(const char *path, int flags)
{
    return result(open(path, flags | O_CLOEXEC, 0600));
}

static int read_passwd(void)
{
    return try_open("/etc/passwd", O_RDONLY);
}

static int read_outside(void)
{
    return try_open(outside, O_RDONLY);
}

static int list_root(void)
{
    return try_open("/", O_RDONLY | O_DIRECTORY);
}

static int read_memory_of_others(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/mem", (int)test_process);
    return try_open(path, O_RDONLY);
}

static int write_own_memory(void)
{
    return try_open("/proc/self/mem", O_RDWR);
}

static int write_outside(void)
{
    return try_open(outside, O_WRONLY);
}

static int make_outside(void)
{
    return try_open("/tmp/jviewd-sandbox-made", O_CREAT | O_WRONLY);
}

static int make_nameless_outside(void)
{
    return try_open("/tmp", O_TMPFILE | O_RDWR);
}

static int move_out(void)
{
    return result(rename(inside, "/tmp/jviewd-sandbox-moved"));
}

static int remove_outside(void)
{
    return result(unlink(outside));
}

static int climb_out(void)
{
    char path[128];

    snprintf(path, sizeof path, "%s/../../etc/passwd", own);
    return try_open(path, O_RDONLY);
}

static int make_inside(void)
{
    return try_open(moved, O_CREAT | O_RDWR);
}

static int make_nameless(void)
{
    return try_open(own, O_TMPFILE | O_RDWR);
}

static int read_inside(void)
{
    return try_open(inside, O_RDONLY);
}

static int write_inside(void)
{
    return try_open(inside, O_WRONLY);
}

static int move_inside(void)
{
    return result(rename(inside, moved));
}

static int make_directory_inside(void)
{
    return result(mkdirat(AT_FDCWD, moved, 0700));
}

static int make_directory_outside(void)
{
    return result(mkdirat(AT_FDCWD, "/tmp/jviewd-sandbox-made", 0700));
}

static int connect_out(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(80)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return fd < 0 ? errno : result(connect(fd, (const struct sockaddr *)&to, sizeof to));
}

static int speak_to_neighbours(void)
{
    int ends[2];

    return result(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}

static int run_program(void)
{
    char *words[] = {(char[]){"true"}, NULL};

    execv("/bin/true", words);
    return errno;
}

static int trace_parent(void)
{
    return result(ptrace(PTRACE_ATTACH, test_process, NULL, NULL));
}

static int peek(void)
{
    char byte;
    const struct iovec here = {&byte, 1}, there = {own, 1};

    return result(process_vm_readv(test_process, &here, 1, &there, 1, 0));
}

static int kill_parent(void)
{
    return result(kill(test_process, 0));
}

static int kill_thread_of_parent(void)
{
    return result(syscall(SYS_tgkill, test_process, test_process, 0));
}

static int fork_one(void)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    return result(pid);
}

static void *nothing(void *data)
{
    return data;
}

static int start_thread(void)
{
    pthread_t thread;
    int failure = pthread_create(&thread, NULL, nothing, NULL);

    return failure != 0 ? failure : pthread_join(thread, NULL);
}

static int new_namespace(void)
{
    return result(unshare(CLONE_NEWUSER));
}

static int mount_one(void)
{
    return result(mount("none", own, "tmpfs", 0, NULL));
}

static int make_code(void)
{
    void *at =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return at == MAP_FAILED ? errno : DONE;
}

static int make_memory_code(void)
{
    static char page[8192] __attribute__((aligned(4096)));

    return result(mprotect(page, 4096, PROT_READ | PROT_EXEC));
}

static int change_rights(void)
{
    return result(chmod(outside, 0644));
}

static int change_times(void)
{
    return result(utimes(outside, NULL));
}

static int change_times_inside(void)
{
    int fd = open(inside, O_RDWR | O_CLOEXEC);

    return fd < 0 ? errno : result(futimens(fd, NULL));
}

static int change_times_by_name(void)
{
    return result(utimensat(AT_FDCWD, outside, NULL, 0));
}

static int queue_calls(void)
{
    struct io_uring_params parameters = {0};

    return result(syscall(SYS_io_uring_setup, 1, &parameters));
}

static int load_program_into_kernel(void)
{
    return result(syscall(SYS_bpf, 0, NULL, 0));
}

static int type_into_terminal(void)
{
    return result(syscall(SYS_ioctl, 0, 0x5412, "x")); /* TIOCSTI */
}

static int lift_limit(void)
{
    const struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

    return result(setrlimit(RLIMIT_FSIZE, &all));
}

static int handle_refusals(void)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};

    return result(sigaction(SIGSYS, &ignore, NULL));
}

/* The kernel looks at 32 bits of it, a filter at 64. */
static int handle_refusals_by_long_number(void)
{
    return result(syscall(SYS_rt_sigaction, (UINT64_C(1) << 32) | SIGSYS, NULL, NULL, 8));
}

static int end_by_abort(void)
{
    abort();
}

static int take_memory(void)
{
    void *volatile at = malloc(64 << 20);

    free(at);
    return at != NULL ? DONE : errno;
}

enum { SYS = 1000, ABORT }; /* ended by SIGSYS, by SIGABRT */

struct row {
    const char *name;
    int (*attempt)(void);
    int decoder, unpacker, query, finalizer; /* how it ends there */
};

static const struct row rows[] = {
    {"read /etc/passwd", read_passwd, EACCES, EACCES, EACCES, EACCES},
    {"read a file outside", read_outside, EACCES, EACCES, EACCES, EACCES},
    {"climb out", climb_out, EACCES, EACCES, EACCES, EACCES},
    {"list /", list_root, EACCES, EACCES, EACCES, EACCES},
    {"read another's memory", read_memory_of_others, EACCES, EACCES, EACCES, EACCES},
    {"write its memory as a file", write_own_memory, EACCES, EACCES, EACCES, EACCES},
    {"write a file outside", write_outside, EACCES, EACCES, EACCES, EACCES},
    {"make a file outside", make_outside, EACCES, EACCES, EACCES, EACCES},
    {"make a nameless file outside", make_nameless_outside, EACCES, EACCES, EACCES, EACCES},
    {"move a file out", move_out, EACCES, EACCES, SYS, EACCES},
    {"remove a file outside", remove_outside, EACCES, EACCES, SYS, EACCES},
    {"make a file inside", make_inside, DONE, DONE, EACCES, DONE},
    {"make a nameless file inside", make_nameless, DONE, DONE, EACCES, DONE},
    {"read inside", read_inside, DONE, DONE, DONE, DONE},
    {"write inside", write_inside, DONE, DONE, EACCES, DONE},
    {"make a directory inside", make_directory_inside, SYS, DONE, SYS, DONE},
    {"make a directory outside", make_directory_outside, SYS, EACCES, SYS, EACCES},
    {"move inside", move_inside, DONE, DONE, SYS, DONE},
    {"connect", connect_out, SYS, SYS, SYS, EPERM},
    {"a socket to itself", speak_to_neighbours, SYS, SYS, SYS, EPERM},
    {"run a program", run_program, SYS, SYS, SYS, EACCES},
    {"ptrace", trace_parent, SYS, SYS, SYS, EPERM},
    {"read another's memory by a call", peek, SYS, SYS, SYS, EPERM},
    {"kill", kill_parent, SYS, SYS, SYS, EPERM},
    {"kill by thread", kill_thread_of_parent, SYS, SYS, SYS, EPERM},
    {"fork", fork_one, SYS, SYS, SYS, DONE},
    {"start a thread", start_thread, DONE, DONE, SYS, DONE},
    {"a namespace", new_namespace, SYS, SYS, SYS, DONE},
    {"mount", mount_one, SYS, SYS, SYS, EPERM},
    {"code in new memory", make_code, SYS, SYS, SYS, DONE},
    {"code in old memory", make_memory_code, SYS, SYS, SYS, DONE},
    {"change rights", change_rights, SYS, SYS, SYS, EPERM},
    {"change times", change_times, SYS, SYS, SYS, EPERM},
    {"change times by a name", change_times_by_name, SYS, SYS, SYS, EPERM},
    {"change times of what is open", change_times_inside, SYS, DONE, EACCES, EPERM},
    {"io_uring", queue_calls, SYS, SYS, SYS, EPERM},
    {"bpf", load_program_into_kernel, SYS, SYS, SYS, EPERM},
    {"type into the terminal", type_into_terminal, SYS, SYS, SYS, EPERM},
    {"lift a limit", lift_limit, SYS, SYS, SYS, DONE},
    {"handle refusals", handle_refusals, SYS, SYS, SYS, DONE},
    {"handle refusals, number of 64 bits", handle_refusals_by_long_number, SYS, SYS, SYS, DONE},
    {"abort", end_by_abort, ABORT, ABORT, ABORT, ABORT},
    {"take memory", take_memory, DONE, DONE, DONE, DONE},
};

static bool enter_decoder(struct error *err)
{
    return sandbox_decoder(own, err) == OK;
}

static bool enter_unpacker(struct error *err)
{
    return sandbox_unpacker(own, err) == OK;
}

static bool enter_query(struct error *err)
{
    const char *const directories[] = {own};

    return sandbox_query(err) == OK && sandbox_query_files(directories, 1, err) == OK;
}

static bool enter_finalizer(struct error *err)
{
    const struct sandbox_finalizer finalizer = {.program = "/proc/self/exe", .writes = own};

    return sandbox_finalizer(&finalizer, err) == OK;
}

/* How a process of its own ends that enters and tries; what it says goes to `said`. */
static int end_of(bool (*enter)(struct error *), int (*attempt)(void), int said)
{
    pid_t pid = fork();
    int ended;

    assert_true(pid >= 0);
    if (pid == 0) {
        const struct rlimit none = {0};
        struct error err = {0};

        dup2(said, STDERR_FILENO);
        setrlimit(RLIMIT_CORE, &none);
        _exit(enter(&err) ? attempt() : NOT_CONFINED);
    }
    assert_int_equal(waitpid(pid, &ended, 0), pid);
    if (WIFSIGNALED(ended))
        return WTERMSIG(ended) == SIGSYS ? SYS : WTERMSIG(ended) == SIGABRT ? ABORT : 2000;
    return WEXITSTATUS(ended);
}

static void touch(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    close(fd);
}

static void tries(bool (*enter)(struct error *), size_t expected)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC), wrong = 0;

    for (size_t i = 0; i < COUNT(rows); i++) {
        const int *wanted = (const int *)(const void *)((const char *)&rows[i] + expected);

        touch(inside);
        touch(outside);
        (void)remove(moved);
        int ended = end_of(enter, rows[i].attempt, nowhere);
        if (ended == *wanted)
            continue;
        print_error("%s: ends with %d (%s), not %d\n", rows[i].name, ended,
                    ended < 200 ? strerror(ended) : "a signal", *wanted);
        wrong++;
    }
    close(nowhere);
    assert_int_equal(wrong, 0);
}

static void needs(unsigned parts)
{
    if ((sandbox_parts() & parts) != parts) {
        print_message("this kernel lacks what is tried: parts %u\n", sandbox_parts());
        skip();
    }
}

static void from_a_decoder(void **state)
{
    (void)state;
    needs(SANDBOX_FILES | SANDBOX_CALLS);
    tries(enter_decoder, offsetof(struct row, decoder));
}

static void from_an_unpacker(void **state)
{
    (void)state;
    needs(SANDBOX_FILES | SANDBOX_CALLS);
    tries(enter_unpacker, offsetof(struct row, unpacker));
}

static void from_a_query(void **state)
{
    (void)state;
    needs(SANDBOX_FILES | SANDBOX_CALLS);
    tries(enter_query, offsetof(struct row, query));
}

static void from_a_finalizer(void **state)
{
    (void)state;
    needs(SANDBOX_FILES | SANDBOX_CALLS);
    tries(enter_finalizer, offsetof(struct row, finalizer));
}

static void last_words(void **state)
{
    struct arena *arena = arena_create();
    char said[256] = "";
    int ends[2];
    (void)state;

    needs(SANDBOX_CALLS);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(end_of(enter_decoder, connect_out, ends[1]), SYS);
    close(ends[1]);
    ssize_t count = read(ends[0], said, sizeof said - 1);
    close(ends[0]);
    assert_true(count > 0 && said[count - 1] == '\n');
    struct str words = {.at = said, .count = (size_t)count - 1};
    CHECK_STR("told", sandbox_told(words, arena), "socket");
    CHECK_STR("told", sandbox_told(STR("jviewd: system call x is not allowed here"), arena), "");
    CHECK_STR("told", sandbox_told(STR("jviewd: system call 9999 is not allowed here"), arena),
              "system call 9999");
    CHECK_STR("told", sandbox_told(STR("something else"), arena), "");
    arena_destroy(arena);
}

static int make_places(void **state)
{
    (void)state;
    test_process = getpid();
    if (mkdtemp(own) == NULL)
        return -1;
    snprintf(outside, sizeof outside, "%s.outside", own);
    snprintf(inside, sizeof inside, "%s/inside", own);
    snprintf(moved, sizeof moved, "%s/moved", own);
    return 0;
}

static int remove_places(void **state)
{
    (void)state;
    unlink(outside);
    unlink(inside);
    unlink(moved);
    return rmdir(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_a_decoder), cmocka_unit_test(from_an_unpacker),
        cmocka_unit_test(from_a_query),   cmocka_unit_test(from_a_finalizer),
        cmocka_unit_test(last_words),
    };
    return cmocka_run_group_tests(tests, make_places, remove_places);
}
