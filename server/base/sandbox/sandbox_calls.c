/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp, by libseccomp: the system calls that are left, and a last word of whoever makes another.
 *
 *   of a list             done
 *   another               SIGSYS: "jviewd: system call 41 is not allowed here", and the end
 *   clone3, and newer     ENOSYS: libc then takes the older call, whose flags can be looked at
 *
 * The lists are what decoders, queries and libc were seen to call (strace, over all formats), and
 * what libc of other versions calls in their stead.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/sandbox/sandbox.h"
#include "base/sandbox/sandbox_parts.h"

enum { OF_A_FILTER = 1 };      /* si_code; the kernel calls it SYS_SECCOMP, where libc does not */
enum { MAKE_SECONDS_MAX = 1 }; /* of a processor; it takes a millisecond */
static const unsigned load_flags[] = {SECCOMP_FILTER_FLAG_SPEC_ALLOW, 0};

#define SAID_BEFORE "jviewd: system call "
#define SAID_BEHIND " is not allowed here"

/* Memory, open descriptors, time, and the end. None of them opens, makes or tells anything. */
static const int everybody[] = {
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev),
    SCMP_SYS(lseek),
    SCMP_SYS(close),
    SCMP_SYS(fstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(fstatfs),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(msync),
    SCMP_SYS(mincore),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(membarrier),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(getcpu),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getrandom),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(times),
    SCMP_SYS(time),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(uname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(open), /* of files that Landlock gives */
    SCMP_SYS(openat),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(getcwd),
    SCMP_SYS(fadvise64),
};

/* Files of its own directory. */
static const int decoder[] = {
    SCMP_SYS(fsync),    SCMP_SYS(fdatasync), SCMP_SYS(fallocate), SCMP_SYS(ftruncate),
    SCMP_SYS(rename),   SCMP_SYS(renameat),  SCMP_SYS(renameat2), SCMP_SYS(unlink),
    SCMP_SYS(unlinkat), SCMP_SYS(fchmod),    SCMP_SYS(umask),
};

/* Trees, with the times that they had. */
static const int unpacker[] = {SCMP_SYS(mkdirat), SCMP_SYS(dup)};

/* It gives up more once it was told its files. */
static const int query[] = {
    SCMP_SYS(landlock_create_ruleset),
    SCMP_SYS(landlock_add_rule),
    SCMP_SYS(landlock_restrict_self),
};

/* A command that reads a directory of profiles into a cache, and starts decoders. */
static const int finalizer[] = {
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(fallocate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rmdir),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(fchmod),
    SCMP_SYS(umask),
    SCMP_SYS(statfs),
    SCMP_SYS(getdents64),
    SCMP_SYS(flock),
    SCMP_SYS(fcntl),
    SCMP_SYS(openat2),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(memfd_create),
    SCMP_SYS(inotify_init1),
    SCMP_SYS(inotify_add_watch),
    SCMP_SYS(inotify_rm_watch),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(sendfile),
    SCMP_SYS(mmap), /* libraries of the program that is started */
    SCMP_SYS(mprotect),
    SCMP_SYS(execve),
    SCMP_SYS(clone),
    SCMP_SYS(vfork),
    SCMP_SYS(wait4),
    SCMP_SYS(waitid),
    SCMP_SYS(kill), /* Landlock: its own processes */
    SCMP_SYS(tgkill),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(signalfd4),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(setpgid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(prctl),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(prlimit64),
    SCMP_SYS(setrlimit),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(unshare),
    SCMP_SYS(seccomp),
    SCMP_SYS(landlock_create_ruleset),
    SCMP_SYS(landlock_add_rule),
    SCMP_SYS(landlock_restrict_self),
};

struct filter {
    scmp_filter_ctx context;
    pid_t process; /* that it is for */
    int failure;   /* the first; 0 none. Then nothing is added any more */
};

/* The library does not always tell that an allocation was refused to it, and leaves a rule out;
 * errno tells. */
static void note(struct filter *filter, int result)
{
    /* A call that this processor does not have needs no rule. */
    if (result < 0 && result != -EDOM && result != -EEXIST)
        filter->failure = -result;
    else if (errno == ENOMEM)
        filter->failure = ENOMEM;
}

static void add_rule(struct filter *filter, uint32_t action, int call,
                     const struct scmp_arg_cmp *arguments, unsigned count)
{
    if (filter->failure != 0)
        return;
    errno = 0;
    note(filter, seccomp_rule_add_array(filter->context, action, call, count, arguments));
}

static void allow_list(struct filter *filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_rule(filter, SCMP_ACT_ALLOW, calls[i], NULL, 0);
}

static void allow_if(struct filter *filter, int call, struct scmp_arg_cmp argument)
{
    add_rule(filter, SCMP_ACT_ALLOW, call, &argument, 1);
}

/* `call` is then as if the kernel did not have it. */
static void lacks(struct filter *filter, int call)
{
    add_rule(filter, SCMP_ACT_ERRNO(ENOSYS), call, NULL, 0);
}

static struct scmp_arg_cmp is(unsigned argument, uint64_t value)
{
    return (struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value};
}

static struct scmp_arg_cmp is_masked(unsigned argument, uint64_t mask, uint64_t value)
{
    return (struct scmp_arg_cmp){
        .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value};
}

/* Of abort; of a file that was cut; the two that libc keeps for threads. */
static const int handled[] = {SIGABRT, SIGBUS, 32, 33};

/* Calls that are harmless with some arguments only. */
static void allow_narrow(struct filter *filter)
{
    allow_if(filter, SCMP_SYS(mmap), is_masked(2, PROT_EXEC, 0));
    allow_if(filter, SCMP_SYS(mprotect), is_masked(2, PROT_EXEC, 0));
    allow_if(filter, SCMP_SYS(tgkill), is(0, (uint64_t)filter->process)); /* of abort */
    allow_if(filter, SCMP_SYS(prlimit64), is(2, 0));                      /* limits are looked at */
    allow_if(filter, SCMP_SYS(ioctl), is(1, TCGETS));                     /* is it a terminal? */
    for (size_t i = 0; i < COUNT(handled); i++)
        allow_if(filter, SCMP_SYS(rt_sigaction), is(0, (uint64_t)handled[i]));
}

static void allow_decoder(struct filter *filter)
{
    allow_list(filter, decoder, COUNT(decoder));
    allow_if(filter, SCMP_SYS(clone), is_masked(0, CLONE_THREAD, CLONE_THREAD));
}

/* Times of what is open, and of nothing by its name: Landlock does not look at them. */
static void allow_unpacker(struct filter *filter)
{
    allow_list(filter, unpacker, COUNT(unpacker));
    allow_if(filter, SCMP_SYS(utimensat), is(1, 0));
}

static void allow_query(struct filter *filter)
{
    const struct scmp_arg_cmp cpu[] = {is(0, 0), is(1, RLIMIT_CPU)};

    allow_list(filter, query, COUNT(query));
    add_rule(filter, SCMP_ACT_ALLOW, SCMP_SYS(prlimit64), cpu,
             COUNT(cpu)); /* a limit of each query, below its own */
    allow_if(filter, SCMP_SYS(prctl), is(0, PR_SET_NO_NEW_PRIVS));
}

static void fill(struct filter *filter, enum calls calls)
{
    allow_list(filter, everybody, COUNT(everybody));
    lacks(filter, SCMP_SYS(clone3));
    if (calls == CALLS_FINALIZER) {
        allow_list(filter, finalizer, COUNT(finalizer));
        allow_if(filter, SCMP_SYS(ioctl), is(1, TCGETS));
    } else {
        allow_narrow(filter);
    }
    if (calls == CALLS_DECODER || calls == CALLS_UNPACKER)
        allow_decoder(filter);
    if (calls == CALLS_UNPACKER)
        allow_unpacker(filter);
    if (calls == CALLS_QUERY)
        allow_query(filter);
    (void)seccomp_attr_set(filter->context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    errno = 0;
    if (filter->failure == 0)
        note(filter,
             seccomp_attr_set(filter->context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
}

/* The number is all that can be said here: names take memory. */
static void on_refused(int signal_number, siginfo_t *info, void *context)
{
    char text[sizeof SAID_BEFORE + sizeof SAID_BEHIND + 16] = SAID_BEFORE, digits[16];
    size_t count = sizeof SAID_BEFORE - 1, digit_count = 0;
    unsigned number = (unsigned)info->si_syscall;

    (void)signal_number;
    (void)context;
    do {
        digits[digit_count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (digit_count > 0)
        text[count++] = digits[--digit_count];
    memcpy(text + count, SAID_BEHIND "\n", sizeof SAID_BEHIND);
    ssize_t ignored = info->si_code == OF_A_FILTER /* or somebody has sent it */
                          ? write(STDERR_FILENO, text, count + sizeof SAID_BEHIND)
                          : 0;

    (void)ignored;
    /* Refused while SIGSYS is blocked: the kernel ends the process by it. */
    syscall(SYS_kill, getpid(), SIGSYS);
    _exit(128 + SIGSYS);
}

static bool has_filters(void)
{
    return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 &&
           (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 && errno == EFAULT);
}

static int make(enum calls calls, pid_t process, int fd)
{
    const uint32_t otherwise = calls == CALLS_FINALIZER ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP;
    struct filter filter = {.context = seccomp_init(otherwise), .process = process};

    if (filter.context == NULL)
        return ENOMEM;
    fill(&filter, calls);
    errno = 0;
    if (filter.failure == 0)
        note(&filter, seccomp_export_bpf(filter.context, fd));
    return filter.failure;
}

struct made {
    struct sock_filter steps[BPF_MAXINSNS];
    size_t bytes;
};

/* Until its end; 0, or errno of what failed. */
static int take(int fd, struct made *made)
{
    ssize_t count = 1;

    while (count > 0 && made->bytes < sizeof made->steps) {
        count = read(fd, (char *)made->steps + made->bytes, sizeof made->steps - made->bytes);
        made->bytes += count > 0 ? (size_t)count : 0;
        if (count < 0 && errno == EINTR)
            count = 1;
    }
    return count < 0 ? errno : 0;
}

_Noreturn static void make_and_end(enum calls calls, pid_t process, int fd)
{
    const struct rlimit seconds = {MAKE_SECONDS_MAX, MAKE_SECONDS_MAX}, none = {0, 0};

    close(STDERR_FILENO); /* what libc says of a crash */
    setrlimit(RLIMIT_CORE, &none);
    _exit(setrlimit(RLIMIT_CPU, &seconds) == 0 ? make(calls, process, fd) : errno);
}

static int how_it_ended(pid_t pid)
{
    int ended = 0;

    while (waitpid(pid, &ended, 0) < 0)
        if (errno != EINTR)
            return errno;
    return WIFEXITED(ended) ? WEXITSTATUS(ended) : ENOMEM;
}

/* In a process of its own: where memory is refused, libseccomp 2.5 may also crash, or not come
 * back. Through a pipe, for whoever is confined may perhaps write no file. 0, or errno of what
 * failed. */
static int make_apart(enum calls calls, struct made *made)
{
    const pid_t process = getpid();
    int ends[2], failure;

    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    signal(SIGCHLD, SIG_DFL);
    pid_t pid = fork();
    if (pid == 0)
        make_and_end(calls, process, ends[1]);
    failure = pid < 0 ? errno : 0;
    close(ends[1]);
    if (pid > 0) {
        int untaken = take(ends[0], made);

        failure = how_it_ended(pid);
        failure = failure != 0 ? failure : untaken;
    }
    close(ends[0]);
    return failure != 0 || made->bytes > 0 ? failure : ENODATA;
}

static int load(struct made *made)
{
    const struct sock_fprog program = {.len = (unsigned short)(made->bytes / sizeof made->steps[0]),
                                       .filter = made->steps};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return errno;
    /* A filter may cost a processor's guard against another kind of attack, which is aimed at code
     * that others wrote; there is none in here. Kernels before 4.17 do not know that flag. */
    for (unsigned i = 0; i < COUNT(load_flags); i++)
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, load_flags[i], &program) == 0)
            return 0;
    return errno;
}

/* 0, or errno of what failed; then the process may do what it could before. */
static int make_and_load(enum calls calls)
{
    static struct made made; /* 32 KiB: not on a stack */

    made.bytes = 0;
    int failure = make_apart(calls, &made);
    return failure != 0 ? failure : load(&made);
}

enum status sandbox_calls(enum calls calls, bool *ret, struct error *err)
{
    const struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};

    *ret = has_filters();
    if (!*ret)
        return OK;
    if (calls != CALLS_FINALIZER && sigaction(SIGSYS, &action, NULL) != 0)
        return fail(err, ERR_IO, "SIGSYS cannot be handled: %s", strerror(errno));
    int failure = make_and_load(calls);
    if (failure != 0)
        return fail(err, ERR_IO, "system calls cannot be given up: %s", strerror(failure));
    return OK;
}

const char *sandbox_library(void)
{
    static char text[32];
    const struct scmp_version *version = seccomp_version();

    snprintf(text, sizeof text, "%u.%u.%u", version->major, version->minor, version->micro);
    return text;
}

struct str sandbox_told(struct str words, struct arena *arena)
{
    const struct str before = STR(SAID_BEFORE), behind = STR(SAID_BEHIND);
    int64_t number;

    if (!str_starts(words, before) || !str_ends(words, behind) ||
        words.count <= before.count + behind.count)
        return STR("");
    words = str_skip(words, before.count);
    words.count -= behind.count;
    if (!str_to_i64(words, &number) || number < 0 || number > INT32_MAX)
        return STR("");
    char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, (int)number);
    struct str ret = name != NULL ? str_copy(arena, str_of(name))
                                  : str_format(arena, "system call %d", (int)number);

    free(name);
    return ret;
}
