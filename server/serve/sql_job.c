/* One worker: taken, given its job, read, waited for; ended where it takes too long. */
#include "serve/sql_job.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "serve/sql_process.h"

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

/* Some of the job; its end closed once all of it was taken, or nobody takes it. */
static void give(struct sql_process *process, struct str *text)
{
    ssize_t count = write(process->to, text->at, text->count);

    if (count < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    *text = str_skip(*text, count > 0 ? (size_t)count : text->count);
    if (text->count == 0)
        sql_process_close(&process->to);
}

static void take(struct sql_process *process, struct text *ret)
{
    char buffer[32768];
    ssize_t count = read(process->from, buffer, sizeof buffer);

    if (count < 0 && errno == EINTR)
        return;
    if (count > 0 && ret->count + (size_t)count <= ANSWER_BYTES_MAX)
        text_put(ret, buffer, (size_t)count);
    else
        sql_process_close(&process->from);
}

/* Until it has answered; false: it took too long. */
static bool talk(struct sql_process *process, struct str *text, int64_t until_ns, struct text *ret)
{
    while (process->from >= 0) {
        struct pollfd polled[2] = {{.fd = process->from, .events = POLLIN},
                                   {.fd = process->to, .events = POLLOUT}};
        int64_t left_ns = until_ns - clock_monotonic_ns();

        if (left_ns <= 0)
            return false;
        if (poll(polled, 2, (int)(left_ns / 1000000) + 1) <= 0)
            continue;
        if (polled[0].revents != 0)
            take(process, ret);
        if (process->to >= 0 && polled[1].revents != 0)
            give(process, text);
    }
    return true;
}

static enum status why_ended(int ended, bool in_time, struct error *err)
{
    if (!in_time || (WIFSIGNALED(ended) && WTERMSIG(ended) == SIGXCPU))
        return fail(err, ERR_LIMIT,
                    "the query took too long and was stopped: ask for fewer rows, a "
                    "window of start_ps, or one name");
    if (WIFSIGNALED(ended))
        return fail(err, ERR_LIMIT,
                    "the query was stopped (signal %d): it needs more memory than "
                    "it may have, or broke its process",
                    WTERMSIG(ended));
    return fail(err, ERR_IO, "the query's process ended with %d and did not answer",
                WEXITSTATUS(ended));
}

/* The head's line, then the body. */
static enum status parse(const struct text *text, struct arena *arena, struct sql_answer *ret)
{
    const char *end = text->count == 0 ? NULL : memchr(text->at, '\n', text->count);

    if (end == NULL)
        return ERR_TRUNCATED;
    json_t *head = json_loadb(text->at, (size_t)(end - text->at), 0, NULL);
    *ret = (struct sql_answer){
        .status = (int)json_integer_value(json_object_get(head, "status")),
        .type = str_copy(arena, str_of(json_string_value(json_object_get(head, "type")))),
        .body = str_copy(arena, str_skip(text_str(text), (size_t)(end - text->at) + 1))};
    json_decref(head);
    return ret->status >= 200 ? OK : ERR_TRUNCATED;
}

/* The next one is started while this one works. */
static enum status run(struct str text, int64_t run_ms, bool keeps_one, struct arena *arena,
                       struct sql_answer *ret, struct error *err)
{
    struct sql_process process;
    struct text answer = {0};

    TRY(sql_process_take(&process, err));
    int64_t until_ns = clock_monotonic_ns() + (run_ms + GRACE_MS) * 1000000;
    give(&process, &text);
    if (keeps_one)
        sql_process_keep();
    bool in_time = talk(&process, &text, until_ns, &answer);
    int ended = sql_process_end(&process, !in_time);
    bool whole =
        in_time && WIFEXITED(ended) && WEXITSTATUS(ended) == 0 && parse(&answer, arena, ret) == OK;
    text_free(&answer);
    return whole ? OK : why_ended(ended, in_time, err);
}

enum status sql_job(struct str text, int64_t run_ms, bool keeps_one, struct arena *arena,
                    struct sql_answer *ret, struct error *err)
{
    if (!turn_take())
        return fail(err, ERR_CONFLICT, "two queries run and eight wait: ask again in a second");
    enum status status = run(text, run_ms, keeps_one, arena, ret, err);
    turn_give();
    return status;
}
