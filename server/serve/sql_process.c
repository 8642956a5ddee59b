#include "serve/sql_process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/spawn.h"

static struct ready {
    pthread_mutex_t lock; /* also while one is started: there is one at most */
    struct sql_process process;
    bool stands_there;
} ready = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* One that somebody else has ended meanwhile answers nothing. */
static bool take_ready(struct sql_process *ret)
{
    pthread_mutex_lock(&ready.lock);
    bool taken = ready.stands_there;
    *ret = ready.process;
    ready.stands_there = false;
    pthread_mutex_unlock(&ready.lock);
    if (!taken)
        return false;
    bool lives = waitpid(ret->pid, NULL, WNOHANG) == 0;
    if (!lives)
        hang_up(ret);
    return lives;
}

enum status sql_process_take(struct sql_process *ret, struct error *err)
{
    return take_ready(ret) ? OK : start(ret, err);
}

void sql_process_keep(void)
{
    struct error ignored = {0};

    pthread_mutex_lock(&ready.lock);
    if (!ready.stands_there)
        ready.stands_there = start(&ready.process, &ignored) == OK;
    pthread_mutex_unlock(&ready.lock);
}

void sql_process_keep_none(void)
{
    struct sql_process process;

    if (take_ready(&process))
        sql_process_end(&process, true);
}
