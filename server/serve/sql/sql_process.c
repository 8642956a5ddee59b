/* SPDX-License-Identifier: Apache-2.0 */
/* Starts, keeps and ends the worker processes of SQL. */
#include "serve/sql/sql_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/spawn.h"

#define IDLE_NS_MAX (INT64_C(60) * 1000000000)

struct place {
    struct sql_process process;
    bool is_taken;
    int64_t since_ns;
};

static struct waiting {
    pthread_mutex_t lock; /* also while one is started: there is one at most */
    struct place ready, staying;
} waiting = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Its ends become 0 and 1. */
static int spawn(int in, int out, pid_t *ret)
{
    char name[] = "jviewd", verb[] = "sql-worker";
    char *argv[] = {name, verb, NULL};
    const struct spawn_end ends[] = {{in, STDIN_FILENO}, {out, STDOUT_FILENO}};

    return spawn_self(argv, ends, COUNT(ends), ret);
}

void sql_process_close(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void hang_up(struct sql_process *process)
{
    sql_process_close(&process->to);
    sql_process_close(&process->from);
}

static enum status start(struct sql_process *ret, struct error *err)
{
    int job[2], answer[2];

    if (pipe2(job, O_CLOEXEC) != 0)
        return fail(err, ERR_IO, "no pipe for the query: %s", strerror(errno));
    if (pipe2(answer, O_CLOEXEC) != 0) {
        close(job[0]);
        close(job[1]);
        return fail(err, ERR_IO, "no pipe for the query: %s", strerror(errno));
    }
    int error = spawn(job[0], answer[1], &ret->pid);
    close(job[0]);
    close(answer[1]);
    ret->to = job[1];
    ret->from = answer[0];
    ret->is_told = false;
    fcntl(ret->to, F_SETFL, O_NONBLOCK);
    if (error == 0)
        return OK;
    hang_up(ret);
    return fail(err, ERR_IO, "the query's process cannot be started: %s", strerror(error));
}

int sql_process_end(struct sql_process *process, bool is_late)
{
    int ended = 0;

    hang_up(process);
    if (is_late)
        kill(process->pid, SIGKILL);
    while (waitpid(process->pid, &ended, 0) < 0 && errno == EINTR)
        ;
    return ended;
}

static bool is_equal(struct hash128 a, struct hash128 b)
{
    return a.low == b.low && a.high == b.high;
}

/* NULL: whatever it knows. One that somebody else has ended meanwhile answers nothing. */
static bool take_from(struct place *place, const struct hash128 *runs, const struct hash128 *asked,
                      struct sql_process *ret)
{
    pthread_mutex_lock(&waiting.lock);
    *ret = place->process;
    bool taken = place->is_taken && (runs == NULL || is_equal(ret->runs, *runs)) &&
                 (asked == NULL || is_equal(ret->asked, *asked));
    place->is_taken &= !taken;
    pthread_mutex_unlock(&waiting.lock);
    if (!taken)
        return false;
    bool lives = waitpid(ret->pid, NULL, WNOHANG) == 0;
    if (!lives)
        hang_up(ret);
    return lives;
}

bool sql_process_take_asked(struct hash128 asked, struct sql_process *ret)
{
    return take_from(&waiting.staying, NULL, &asked, ret);
}

enum status sql_process_take(struct hash128 runs, struct sql_process *ret, struct error *err)
{
    if (take_from(&waiting.staying, &runs, NULL, ret))
        return OK;
    if (!take_from(&waiting.ready, NULL, NULL, ret))
        TRY(start(ret, err));
    ret->runs = runs;
    return OK;
}

void sql_process_keep(void)
{
    struct error ignored = {0};

    pthread_mutex_lock(&waiting.lock);
    if (!waiting.ready.is_taken)
        waiting.ready.is_taken = start(&waiting.ready.process, &ignored) == OK;
    pthread_mutex_unlock(&waiting.lock);
}

/* Of two that answered at once the later one stays. */
void sql_process_stay(const struct sql_process *process)
{
    pthread_mutex_lock(&waiting.lock);
    struct place before = waiting.staying;
    waiting.staying =
        (struct place){.process = *process, .is_taken = true, .since_ns = clock_monotonic_ns()};
    waiting.staying.process.is_told = true;
    pthread_mutex_unlock(&waiting.lock);
    if (before.is_taken)
        sql_process_end(&before.process, true);
}

void sql_process_end_idle(void)
{
    struct sql_process process;

    pthread_mutex_lock(&waiting.lock);
    bool is_idle =
        waiting.staying.is_taken && clock_monotonic_ns() - waiting.staying.since_ns > IDLE_NS_MAX;
    pthread_mutex_unlock(&waiting.lock);
    if (is_idle && take_from(&waiting.staying, NULL, NULL, &process))
        sql_process_end(&process, true);
}

void sql_process_keep_none(void)
{
    struct sql_process process;

    if (take_from(&waiting.ready, NULL, NULL, &process))
        sql_process_end(&process, true);
    if (take_from(&waiting.staying, NULL, NULL, &process))
        sql_process_end(&process, true);
}
