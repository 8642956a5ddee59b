/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the program with the collector in its environment, passes signals on, opens and closes
 * the switch in time, and waits. */
#include "launch/child/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "launch/child/jax.h"
#include "launch/child/progress.h"
#include "launch/child/system.h"
#include "launch/child/witness.h"
#include "launch/sample/sampling.h"
#include "launch/spool/spools.h"

#define LIBRARY "libjview-collector.so"

enum { NAP_MS_MAX = 1000, LOOK_MS = 50, WRITE_MS = 5000, EXIT_MS = 5000 };

static const char *const injections[] = {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH"};

/* Beside the program, or where it is installed: ../lib/jviewd. */
static enum status find_library(char ret[4096], struct error *err)
{
    static const char *const places[] = {"%.*s/" LIBRARY, "%.*s/../lib/jviewd/" LIBRARY,
                                         "%.*s/../lib/" LIBRARY};
    char own[4096];
    ssize_t count = readlink("/proc/self/exe", own, sizeof own);
    const char *slash = count > 0 ? memrchr(own, '/', (size_t)count) : NULL;

    for (size_t place = 0; slash != NULL && place < sizeof places / sizeof places[0]; place++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int wrote = snprintf(ret, 4096, places[place], (int)(slash - own), own);
#pragma GCC diagnostic pop
        if (wrote < 4096 && access(ret, R_OK) == 0)
            return OK;
    }
    return fail(err, ERR_NOT_FOUND,
                LIBRARY " is neither beside jview-collect nor in ../lib/jviewd: install it there");
}

static enum status set(const char *name, const char *value, struct error *err)
{
    if (setenv(name, value, 1) != 0)
        return fail(err, ERR_IO, "cannot set %s: %s", name, strerror(errno));
    return OK;
}

/* By what other profilers leave in the environment of what they run. */
static void warn_of_others(void)
{
    static const char *const signs[] = {"NSYS_PROFILING_SESSION_ID", "CUDA_PROFILE",
                                        "COMPUTE_PROFILE", "KINETO_CONFIG"};

    for (size_t sign = 0; sign < sizeof signs / sizeof signs[0]; sign++)
        if (getenv(signs[sign]) != NULL)
            fprintf(stderr,
                    "jview-collect: %s is set: another profiler seems to record this program, and "
                    "only one gets its CUDA activity\n",
                    signs[sign]);
}

/* "A=B,C=D", as nsys has it. */
static enum status set_variables(const char *words, struct error *err)
{
    char name[256], value[4096];

    while (words != NULL && *words != '\0') {
        size_t count = strcspn(words, ","), equals = strcspn(words, "=");

        if (equals == 0 || equals >= count || equals >= sizeof name ||
            count - equals > sizeof value)
            return fail(err, ERR_INVALID, "-e takes NAME=VALUE[,NAME=VALUE], not \"%s\"", words);
        snprintf(name, sizeof name, "%.*s", (int)equals, words);
        snprintf(value, sizeof value, "%.*s", (int)(count - equals - 1), words + equals + 1);
        TRY(set(name, value, err));
        words += words[count] == ',' ? count + 1 : count;
    }
    return OK;
}

enum status child_prepare(const struct options *options, const struct launched *session,
                          struct error *err)
{
    char library[4096];

    for (uint32_t index = 0; index < options->variable_count; index++)
        TRY(set_variables(options->variables[index], err));
    TRY(find_library(library, err));
    for (size_t index = 0; index < sizeof injections / sizeof injections[0]; index++) {
        const char *taken = getenv(injections[index]);
        if (taken != NULL && taken[0] != '\0' && strcmp(taken, library) != 0 && !options->replaces)
            return fail(err, ERR_CONFLICT,
                        "%s is set to %s, and a program can load only one such library; unset it, "
                        "or give --replace-injection",
                        injections[index], taken);
    }
    if (options->asked.no_activity == 0)
        warn_of_others();
    TRY(set(injections[0], library, err));
    if (options->asked.no_activity == 0 || options->asked.range == CAPTURE_CUDA)
        TRY(set(injections[1], library, err)); /* the driver calls it at cuInit */
    TRY(jax_prepare(options, session, err));
    return set(ENV_SESSION, session->directory, err);
}

void child_unset(void)
{
    for (size_t index = 0; index < sizeof injections / sizeof injections[0]; index++)
        unsetenv(injections[index]);
    unsetenv(ENV_SESSION);
}

static void (*on_file_limit)(int) = SIG_DFL;

void child_guard(void)
{
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);

    on_file_limit = before == SIG_ERR ? SIG_DFL : before;
}

void child_become(const struct options *options)
{
    signal(SIGXFSZ, on_file_limit);
    execvp(options->command[0], options->command);
}

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

/* The terminal and who sends to a group reach the program themselves; what only we got goes on. The
 * witness is asked in any case: what waits for it would be taken for the next of its kind. */
static void pass_on(pid_t pid, const siginfo_t *info)
{
    const struct timespec none = {0};
    sigset_t same;

    bool is_of_group = witness_saw(info->si_signo);
    if (info->si_code > 0)
        return;
    if (is_of_group && getpgid(pid) == getpgrp()) {
        sigemptyset(&same);
        sigaddset(&same, info->si_signo);
        sigtimedwait(&same, NULL, &none); /* of both ways the second */
    } else {
        kill(pid, info->si_signo);
    }
}

/* Once the program is over they end nothing of us. */
static void swallow(int number)
{
    (void)number;
}

static void swallow_signals(void)
{
    struct sigaction action = {.sa_handler = swallow, .sa_flags = SA_RESTART};

    for (size_t index = 0; index < sizeof passed_on / sizeof passed_on[0]; index++)
        sigaction(passed_on[index], &action, NULL);
}

static sigset_t awaited_signals(void)
{
    sigset_t awaited;

    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    for (size_t index = 0; index < sizeof passed_on / sizeof passed_on[0]; index++)
        sigaddset(&awaited, passed_on[index]);
    return awaited;
}

/* Turns the switch when its time has come; when that is next, INT64_MAX: never. */
static int64_t turn_switch(const struct options *options, struct control *control, int64_t after_ms)
{
    static bool has_begun, has_ended;
    int64_t begin = options->delay_ms, end = begin + options->duration_ms;
    bool has_end = options->duration_ms > 0;

    if (options->asked.range != CAPTURE_NONE)
        return INT64_MAX;
    if (!has_begun && after_ms >= begin) {
        has_begun = true;
        control_turn(control, true);
    }
    if (!has_ended && has_end && after_ms >= end) {
        has_ended = true;
        control_turn(control, false);
    }
    return !has_begun ? begin : has_end && !has_ended ? end : INT64_MAX;
}

static int code_of(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* SIGUSR2: the switch turns, as often as the captures that were asked for allow. */
static void toggle(const struct options *options, struct control *control)
{
    uint32_t most = options->asked.captures_max;

    if (atomic_load(&control->is_on) != 0)
        control_turn(control, false);
    else if (most == 0 || atomic_load(&control->capture) < most)
        control_turn(control, true);
}

static bool is_over(pid_t pid, int *ret_status)
{
    pid_t over = waitpid(pid, ret_status, WNOHANG);

    if (over < 0 && errno == EINTR)
        return false;
    if (over < 0) /* someone else waited for it: how it ended is not known */
        *ret_status = 127 << 8;
    return over != 0;
}

/* Is recording over, where the program is to end with it? */
static bool wants_end(const struct options *options, const struct control *control,
                      int64_t after_ms)
{
    uint32_t most = options->asked.captures_max;
    uint32_t capture =
        atomic_load(&control->capture); /* in front of the switch: the last has begun */

    if (options->kill_signal == 0 || atomic_load(&control->is_on) != 0)
        return false;
    if (options->asked.range == CAPTURE_NONE)
        return options->duration_ms > 0 && after_ms >= options->delay_ms + options->duration_ms;
    return most > 0 && capture >= most;
}

static bool is_written(const struct control *control)
{
    for (size_t at = 0; at < WRITERS_MAX; at++) {
        const struct control_writer *writer = &control->writers[at];
        int32_t process = atomic_load(&writer->process);
        if (process > 1 && atomic_load(&writer->is_done) == 0 && kill(process, 0) == 0)
            return false;
    }
    return true;
}

/* The program may be a shell around those that record. Of these the ones that just answered get it:
 * their numbers are no others' by now. */
static void signal_all(pid_t pid, int number, const struct control *control)
{
    kill(pid, number);
    for (size_t at = 0; at < WRITERS_MAX; at++) {
        const struct control_writer *writer = &control->writers[at];
        int32_t process = atomic_load(&writer->process);
        if (process > 1 && process != pid && atomic_load(&writer->is_done) != 0)
            kill(process, number);
    }
}

/* What was told is written down first: a signal may leave no time for that. True once it is
 * sent. */
static bool end_program(pid_t pid, const struct options *options, struct control *control,
                        int64_t after_ms)
{
    static int64_t until_ms; /* 0: not yet */

    if (until_ms == 0 && wants_end(options, control, after_ms)) {
        until_ms = clock_monotonic_ms() + WRITE_MS;
        atomic_store(&control->is_ending, 1);
    }
    if (until_ms == 0)
        return false;
    bool is_all = is_written(control);
    if (!is_all && clock_monotonic_ms() < until_ms)
        return false;
    if (!is_all)
        fprintf(stderr,
                "jview-collect: the program is ended before it wrote all records: that took more "
                "than %d s\n",
                WRITE_MS / 1000);
    signal_all(pid, options->kill_signal, control);
    return true;
}

/* Those that got the signal besides the program write their last. */
static void await_others(const char *directory)
{
    const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000};
    int64_t until_ms = clock_monotonic_ms() + EXIT_MS;
    struct spools spools;

    for (spools_count(directory, &spools); spools.busy > 0 && clock_monotonic_ms() < until_ms;
         spools_count(directory, &spools))
        nanosleep(&nap, NULL);
}

static int wait_for(pid_t pid, const struct options *options, struct control *control,
                    const sigset_t *awaited, bool *ret_is_ended)
{
    int64_t began = clock_monotonic_ms();
    int status;

    while (!is_over(pid, &status)) {
        int64_t next = turn_switch(options, control, clock_monotonic_ms() - began);
        int64_t left = next == INT64_MAX ? NAP_MS_MAX : began + next - clock_monotonic_ms();
        int64_t told_ms = progress_look(control);
        left = left < told_ms ? left : told_ms;
        if (options->kill_signal != 0 && !*ret_is_ended) {
            left = left < LOOK_MS ? left : LOOK_MS;
            *ret_is_ended = end_program(pid, options, control, clock_monotonic_ms() - began);
        }
        struct timespec nap = {.tv_sec = left > 0 ? left / 1000 : 0,
                               .tv_nsec = left > 0 ? left % 1000 * 1000000 : 1};
        siginfo_t info;
        int number = sigtimedwait(awaited, &info, &nap);
        if (number == SIGUSR2 && options->asked.range == CAPTURE_SIGNAL)
            toggle(options, control);
        else if (number > 0 && number != SIGCHLD)
            pass_on(pid, &info);
    }
    return code_of(status);
}

/* No second process: this one is the program, and nobody records. */
static int become_unrecorded(const struct options *options, const sigset_t *mask, const char *what,
                             struct error *err)
{
    fprintf(stderr, "jview-collect: %s: %s; the program runs without being recorded\n", what,
            strerror(errno));
    witness_stop();
    child_unset();
    sigprocmask(SIG_SETMASK, mask, NULL);
    child_become(options);
    fail(err, ERR_NOT_FOUND, "cannot run %s: %s", options->command[0], strerror(errno));
    return 127;
}

int child_run(const struct options *options, struct launched *session, struct error *err)
{
    sigset_t awaited = awaited_signals(), before;
    int failed[2], why = 0;
    bool is_ended = false;

    sigprocmask(SIG_BLOCK, &awaited, &before);
    witness_start(); /* in front of the pipe, which it would hold open */
    if (pipe2(failed, O_CLOEXEC) != 0)
        return become_unrecorded(options, &before, "no pipe", err);
    /* Where our parent ignores its children's ends, so would we: nothing were left to wait for. */
    void (*on_child)(int) = signal(SIGCHLD, SIG_DFL);
    sampling_prepare(&options->sampling);
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGCHLD, on_child);
        sigprocmask(SIG_SETMASK, &before, NULL);
        sampling_await();
        child_become(options);
        why = errno;
        _exit(write(failed[1], &why, sizeof why) == sizeof why ? 127 : 126);
    }
    if (pid < 0) {
        signal(SIGCHLD, on_child);
        sampling_stop();
        return become_unrecorded(options, &before, "no process", err);
    }
    session->control->child = pid;
    sampling_begin(&options->sampling, session->control, session->directory);
    swallow_signals();
    close(failed[1]);
    ssize_t told = read(failed[0], &why, sizeof why);
    close(failed[0]);
    if (told != sizeof why) {
        system_start(session->control);
        sampling_start(&options->sampling, session->control);
        progress_begin(options, session);
    }
    int code = wait_for(pid, options, session->control, &awaited, &is_ended);
    progress_end();
    system_stop();
    sampling_stop();
    if (is_ended)
        await_others(session->directory);
    witness_stop();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (told == sizeof why)
        fail(err, ERR_NOT_FOUND, "cannot run %s: %s", options->command[0], strerror(why));
    return code;
}
