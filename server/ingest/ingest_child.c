/* SPDX-License-Identifier: Apache-2.0 */
/* One indexing process: started, listened to, waited for.
 *
 *   jviewd index FILE --out SEGMENT --progress-fd 0
 *        stdout  the result, last line        stderr  words, for when it dies        0  progress
 *
 * Progress goes where a filter would read: the one descriptor besides these two that can be in
 * nobody's way.
 *
 * It is a process of the same program, so that a file which breaks a decoder ends nobody else.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sandbox/sandbox.h"
#include "base/spawn.h"
#include "cli/cli.h"
#include "index/index.h"
#include "ingest/ingest_parts.h"

enum { PROGRESS_FD = STDIN_FILENO, STREAM_OUT = 0, STREAM_ERROR, STREAM_PROGRESS, STREAM_COUNT };

enum { TEXT_BYTES_MAX = 4 << 20, ARGUMENTS_MAX = 20 };

struct child {
    pid_t pid;
    int from[STREAM_COUNT]; /* our ends; -1 once ended */
    struct text text[2];    /* of stdout and stderr */
    struct index_progress partial;
    size_t partial_bytes;
};

static enum status open_pipes(int pipes[STREAM_COUNT][2], struct error *err)
{
    for (int i = 0; i < STREAM_COUNT; i++) {
        if (pipe2(pipes[i], O_CLOEXEC) == 0)
            continue;
        int error = errno;
        while (i-- > 0) {
            close(pipes[i][0]);
            close(pipes[i][1]);
        }
        return fail(err, ERR_IO, "no pipe for the indexer: %s", strerror(error));
    }
    return OK;
}

static void fill_arguments(const struct child_job *job, struct arena *arena,
                           char *argv[ARGUMENTS_MAX])
{
    int count = 0;

    argv[count++] = str_c(arena, STR("jviewd"));
    argv[count++] = str_c(arena, STR("index"));
    argv[count++] = str_c(arena, STR("--progress-fd"));
    argv[count++] = str_c(arena, str_format(arena, "%d", PROGRESS_FD));
    argv[count++] = str_c(arena, STR("--root"));
    argv[count++] = str_c(arena, job->read_root.count > 0 ? job->read_root : job->root);
    argv[count++] = str_c(arena, STR("--out"));
    argv[count++] = str_c(arena, str_of(job->segment));
    if (job->growing)
        argv[count++] = str_c(arena, STR("--growing"));
    if (job->identify)
        argv[count++] = str_c(arena, STR("--identify"));
    if (job->follow_symlinks)
        argv[count++] = str_c(arena, STR("--follow-symlinks"));
    if (job->convert)
        argv[count++] = str_c(arena, STR("--convert"));
    if (job->unless != NULL) {
        argv[count++] = str_c(arena, STR("--unless"));
        argv[count++] = str_c(arena, str_of(job->unless));
    }
    argv[count++] = str_c(arena, STR("--"));
    argv[count++] = str_c(arena, job->read_path.count > 0 ? job->read_path : job->path);
}

/* The child's ends become its descriptors 0, 1 and 2. */
static int spawn(int pipes[STREAM_COUNT][2], char *argv[ARGUMENTS_MAX], pid_t *ret)
{
    const struct spawn_end ends[] = {{pipes[STREAM_PROGRESS][1], PROGRESS_FD},
                                     {pipes[STREAM_OUT][1], STDOUT_FILENO},
                                     {pipes[STREAM_ERROR][1], STDERR_FILENO}};

    return spawn_self(argv, ends, COUNT(ends), ret);
}

static enum status start(const struct child_job *job, struct arena *arena, struct child *ret,
                         struct error *err)
{
    char *argv[ARGUMENTS_MAX] = {NULL};
    int pipes[STREAM_COUNT][2];

    *ret = (struct child){0};
    fill_arguments(job, arena, argv);
    TRY(open_pipes(pipes, err));
    int error = spawn(pipes, argv, &ret->pid);
    for (int i = 0; i < STREAM_COUNT; i++) {
        close(pipes[i][1]);
        ret->from[i] = pipes[i][0];
        if (error != 0)
            close(pipes[i][0]);
    }
    if (error != 0)
        return fail(err, ERR_IO, "the indexer cannot be started: %s", strerror(error));
    return OK;
}

static void take_progress(struct child *child, const struct child_job *job, const uint8_t *at,
                          size_t count)
{
    while (count > 0) {
        size_t part = sizeof child->partial - child->partial_bytes;

        if (part > count)
            part = count;
        memcpy((uint8_t *)&child->partial + child->partial_bytes, at, part);
        at += part;
        count -= part;
        child->partial_bytes += part;
        if (child->partial_bytes < sizeof child->partial)
            return;
        child->partial_bytes = 0;
        if (child->partial.total > 0 && child->partial.done <= child->partial.total)
            job->on_progress(job->data, (double)child->partial.done / (double)child->partial.total);
    }
}

static void take(struct child *child, const struct child_job *job, int stream)
{
    uint8_t buffer[4096];
    ssize_t count = read(child->from[stream], buffer, sizeof buffer);

    if (count < 0 && errno == EINTR)
        return;
    if (count <= 0) {
        close(child->from[stream]);
        child->from[stream] = -1;
    } else if (stream == STREAM_PROGRESS) {
        take_progress(child, job, buffer, (size_t)count);
    } else if (child->text[stream].count + (size_t)count <= TEXT_BYTES_MAX) {
        text_put(&child->text[stream], (const char *)buffer, (size_t)count);
    }
}

/* Until all its streams have ended. */
static void listen_to(struct child *child, const struct child_job *job)
{
    for (;;) {
        struct pollfd polled[STREAM_COUNT];
        int open = 0;

        for (int i = 0; i < STREAM_COUNT; i++) {
            polled[i] = (struct pollfd){.fd = child->from[i], .events = POLLIN};
            open += child->from[i] >= 0;
        }
        if (open == 0)
            return;
        if (poll(polled, STREAM_COUNT, -1) < 0)
            continue;
        for (int i = 0; i < STREAM_COUNT; i++) {
            if (child->from[i] >= 0 && polled[i].revents != 0)
                take(child, job, i);
        }
    }
}

static struct str last_line(const struct text *text)
{
    struct str all = text_str(text);

    while (all.count > 0 && all.at[all.count - 1] == '\n')
        all.count--;
    const char *before = all.count == 0 ? NULL : memrchr(all.at, '\n', all.count);
    return before == NULL ? all : str_skip(all, (size_t)(before - all.at) + 1);
}

static struct str why_killed(int signal_number, struct str words, struct arena *arena)
{
    const char *why = signal_number == SIGXCPU ? "it took too long for a file of this size"
                      : signal_number == SIGKILL
                          ? "a user, or the system running out of memory, ended it"
                      : signal_number == SIGTERM ? "it was ended from outside"
                                                 : "this file crashes it";

    if (signal_number == SIGSYS) {
        struct str call = sandbox_told(words, arena);

        return str_format(
            arena,
            "the indexer tried %.*s, which is forbidden, and was ended: this file misuses it, "
            "perhaps on purpose; if you trust its source, please report it",
            STR_ARG(call.count > 0 ? call : STR("a system call")));
    }
    if (words.count > 300)
        words.count = 300;
    return str_format(arena, "the indexer was killed (signal %d); %s%s%.*s", signal_number, why,
                      words.count > 0 ? ": " : "", STR_ARG(words));
}

/* Memory that the system did not have now, it may have later. */
static bool was_refused_memory(int ended, struct str words, struct arena *arena, struct str *ret)
{
    enum memory_refusal why = WIFSIGNALED(ended) && WTERMSIG(ended) == SIGABRT
                                  ? memory_refusal_of(words)
                                  : MEMORY_NOT_REFUSED;

    if (why == MEMORY_REFUSED)
        *ret = str_format(arena, "there was not enough memory to read the file (%.*s)",
                          STR_ARG(words));
    else if (why == MEMORY_TOO_MUCH)
        *ret =
            str_format(arena, "reading the file takes more memory than an indexer may use (%.*s)",
                       STR_ARG(words));
    return why == MEMORY_REFUSED;
}

/* What the end of the process means: its own words, or ours about its death. */
static void judge(const struct child *child, int ended, struct arena *arena,
                  struct index_result *ret, bool *ret_transient)
{
    struct error unreadable = {0};
    struct str words = str_copy(arena, last_line(&child->text[STREAM_ERROR]));

    *ret_transient = false;
    *ret = (struct index_result){.outcome = OUTCOME_FAILED};
    if (WIFSIGNALED(ended)) {
        ret->error = why_killed(WTERMSIG(ended), words, arena);
        *ret_transient = was_refused_memory(ended, words, arena, &ret->error);
        return;
    }
    int code = WEXITSTATUS(ended);
    bool is_told =
        index_result_parse(last_line(&child->text[STREAM_OUT]), arena, ret, &unreadable) == OK;
    if (!is_told)
        *ret = (struct index_result){
            .outcome = OUTCOME_FAILED,
            .error = str_format(arena, "the indexer ended with %d: %s", code,
                                words.count > 0 ? str_c(arena, words) : unreadable.message),
        };
    *ret_transient = ret->outcome == OUTCOME_FAILED && (code == EXIT_IO || (code == 0 && !is_told));
}

enum status child_index(const struct child_job *job, struct arena *arena, struct index_result *ret,
                        bool *ret_transient, struct error *err)
{
    struct child child;
    int ended = 0;

    TRY(start(job, arena, &child, err));
    job->on_start(job->data, child.pid);
    listen_to(&child, job);
    siginfo_t seen;
    while (waitid(P_PID, (id_t)child.pid, &seen, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    job->on_start(job->data, 0); /* before the number can mean another process */
    while (waitpid(child.pid, &ended, 0) < 0 && errno == EINTR)
        ;
    judge(&child, ended, arena, ret, ret_transient);
    text_free(&child.text[STREAM_OUT]);
    text_free(&child.text[STREAM_ERROR]);
    return OK;
}
