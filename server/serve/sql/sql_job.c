/* SPDX-License-Identifier: Apache-2.0 */
/* One worker: taken, given its job, read, waited for; ended where it takes too long. */
#include "serve/sql/sql_job.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/sql/sql_process.h"

enum {
    AT_ONCE_MAX = 2,
    WAITING_MAX = 8,
    GRACE_MS = 10000, /* beside its CPU time: a busy machine, pages from a disk */
    ANSWER_BYTES_MAX = 64 << 20,
};

static struct turns {
    pthread_mutex_t lock;
    pthread_cond_t free;
    int running, waiting;
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .free = PTHREAD_COND_INITIALIZER};

static bool turn_take(void)
{
    pthread_mutex_lock(&turns.lock);
    bool taken = turns.running < AT_ONCE_MAX || turns.waiting < WAITING_MAX;
    if (taken) {
        turns.waiting++;
        while (turns.running >= AT_ONCE_MAX)
            pthread_cond_wait(&turns.free, &turns.lock);
        turns.waiting--;
        turns.running++;
    }
    pthread_mutex_unlock(&turns.lock);
    return taken;
}

static void turn_give(void)
{
    pthread_mutex_lock(&turns.lock);
    turns.running--;
    pthread_cond_signal(&turns.free);
    pthread_mutex_unlock(&turns.lock);
}

/* Some of the job, until all of it was taken or nobody takes it. */
static void give(struct sql_process *process, struct str *text)
{
    ssize_t count = write(process->to, text->at, text->count);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    *text = str_skip(*text, count > 0 ? (size_t)count : text->count);
}

/* False: there is no more. */
static bool take(const struct sql_process *process, struct text *ret)
{
    char buffer[32768];
    ssize_t count = read(process->from, buffer, sizeof buffer);

    if (count < 0 && errno == EINTR)
        return true;
    if (count <= 0 || ret->count + (size_t)count > ANSWER_BYTES_MAX)
        return false;
    text_put(ret, buffer, (size_t)count);
    return true;
}

struct told { /* by the process */
    struct text text;
    size_t head_bytes, body_bytes; /* 0 0: not known yet */
    int status;
    struct str type;
    bool stays; /* it waits for another query */
};

/* {"status": 200, "type": "...", "bytes": 17, "stays": true} and the end of the line. */
static void read_head(struct told *told, struct arena *arena)
{
    const char *end = told->text.count == 0 ? NULL : memchr(told->text.at, '\n', told->text.count);

    if (end == NULL || told->head_bytes > 0)
        return;
    told->head_bytes = (size_t)(end - told->text.at) + 1;
    json_t *head = json_loadb(told->text.at, told->head_bytes, 0, NULL);
    told->status = (int)json_integer_value(json_object_get(head, "status"));
    told->type = str_copy(arena, str_of(json_string_value(json_object_get(head, "type"))));
    told->body_bytes = (size_t)json_integer_value(json_object_get(head, "bytes"));
    told->stays = json_is_true(json_object_get(head, "stays"));
    json_decref(head);
}

static bool is_whole(const struct told *told)
{
    return told->status >= 200 && told->text.count == told->head_bytes + told->body_bytes;
}

/* Until it has answered, or ended; false: it took too long. */
static bool talk(struct sql_process *process, struct str text, int64_t until_ns,
                 struct arena *arena, struct told *ret)
{
    while (!is_whole(ret)) {
        struct pollfd polled[2] = {{.fd = process->from, .events = POLLIN},
                                   {.fd = text.count > 0 ? process->to : -1, .events = POLLOUT}};
        int64_t left_ns = until_ns - clock_monotonic_ns();

        if (left_ns <= 0)
            return false;
        if (poll(polled, 2, (int)(left_ns / 1000000) + 1) <= 0)
            continue;
        if (polled[0].revents != 0 && !take(process, &ret->text))
            return true;
        if (polled[1].revents != 0)
            give(process, &text);
        read_head(ret, arena);
    }
    return true;
}

static enum status why_ended(int ended, bool in_time, struct error *err)
{
    if (!in_time || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU))
        return fail(err, ERR_LIMIT,
                    "the query took too long and was stopped: select fewer rows, a range of "
                    "start_ps, or one name");
    if (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGSYS)
        return fail(err, ERR_LIMIT,
                    "the query's process tried a forbidden system call and was ended; the server's "
                    "log says which: please report the query");
    if (WIFSIGNALED(ended))
        return fail(err, ERR_LIMIT,
                    "the query was stopped (signal %d): it needs more memory than allowed, or "
                    "crashed its process",
                    WTERMSIG(ended));
    return fail(err, ERR_IO, "the query's process ended with %d and did not answer",
                WEXITSTATUS(ended));
}

static void put_part(struct text *job, struct str part)
{
    uint64_t count = part.count;

    text_put(job, (const char *)&count, sizeof count);
    text_put(job, part.at, part.count);
}

/* A process for the task, and what it is to be given. */
static enum status begin(const struct sql_task *task, struct text *job, struct sql_process *ret,
                         struct error *err)
{
    struct text runs = {0};
    enum status status = OK;

    if (!sql_process_take_asked(task->asked, ret)) {
        status = task->describe(task->data, &runs, err);
        const struct bytes bytes = {.at = (const uint8_t *)runs.at, .count = runs.count};
        if (status == OK)
            status = sql_process_take(hash128(bytes), ret, err);
        if (status == OK && !ret->is_told)
            put_part(job, text_str(&runs));
    }
    ret->asked = task->asked;
    put_part(job, task->query);
    text_free(&runs);
    return status;
}

/* The next one is started while this one works. */
static enum status run(const struct sql_task *task, bool keeps, struct arena *arena,
                       struct sql_answer *ret, struct error *err)
{
    struct sql_process process;
    struct told told = {0};
    struct text job = {0};
    enum status status = begin(task, &job, &process, err);

    if (status != OK) {
        text_free(&job);
        return status;
    }
    if (keeps)
        sql_process_keep();
    bool in_time = talk(&process, text_str(&job),
                        clock_monotonic_ns() + (task->run_ms + GRACE_MS) * 1000000, arena, &told);
    bool whole = in_time && is_whole(&told);
    int ended = 0;
    if (whole && told.stays && keeps)
        sql_process_stay(&process);
    else
        ended = sql_process_end(&process, !in_time);
    *ret = (struct sql_answer){.status = told.status, .type = told.type};
    if (whole)
        ret->body = str_copy(arena, str_skip(text_str(&told.text), told.head_bytes));
    text_free(&told.text);
    text_free(&job);
    return whole ? OK : why_ended(ended, in_time, err);
}

enum status sql_job(const struct sql_task *task, bool keeps, struct arena *arena,
                    struct sql_answer *ret, struct error *err)
{
    if (!turn_take())
        return fail(err, ERR_CONFLICT,
                    "two queries are running and eight are waiting: try again in a second");
    enum status status = run(task, keeps, arena, ret, err);
    turn_give();
    return status;
}
