/* SPDX-License-Identifier: Apache-2.0 */
/* The process that runs queries of SQL under limits, and answers over its standard streams. */
#include "serve/sql/sql_worker.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/lost.h"
#include "base/sandbox/sandbox.h"
#include "serve/sql/sql_job.h"
#include "serve/sql/sql_parts.h"

#define MIB (UINT64_C(1) << 20)

/* Sanitizers reserve terabytes of addresses for themselves. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_MEMORY false
#else
#define LIMITS_MEMORY true
#endif

enum { DESCRIPTORS_MAX = 64, JOB_BYTES_MAX = 256 << 20, HEAP_MIB = 512, PRIVATE_MIB = 2048 };
/* Whoever has spent more does not stay for the next query. */
enum { QUERIES_MAX = 1000, CPU_S_MAX = 60, CPU_S_HARD = CPU_S_MAX + 70, KEPT_BYTES_MAX = 64 << 20 };

static void limit(int what, uint64_t most)
{
    const struct rlimit both = {.rlim_cur = most, .rlim_max = most};

    setrlimit(what, &both);
}

/* Of the process so far and of the query to come; the system ends it where it takes more. */
static void limit_cpu(int64_t seconds)
{
    const struct rlimit soft = {.rlim_cur = (uint64_t)seconds, .rlim_max = CPU_S_HARD};

    setrlimit(RLIMIT_CPU, &soft);
}

static bool is_confined(enum status status, const struct error *err)
{
    if (status != OK)
        fprintf(stderr, "jviewd: a query's process: %s\n", err->message);
    return status == OK;
}

/* What a query may cost at most, whatever it finds to do: the system ends the process. */
static bool guard(void)
{
    struct error err = {0};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0); /* pipes are no files: nothing can be written */
    limit(RLIMIT_NOFILE, DESCRIPTORS_MAX);
    limit(RLIMIT_CPU, CPU_S_HARD);
    if (LIMITS_MEMORY)
        limit(RLIMIT_DATA, PRIVATE_MIB * MIB);
    sql_guard_process(HEAP_MIB * MIB);
    return is_confined(sandbox_query(&err), &err);
}

static bool open_tables(struct sql_work *work, const json_t *description)
{
    const json_t *list = json_object_get(description, "runs"), *told;
    struct error ignored = {0};
    size_t i;

    work->run_member = sql_told(description, "run");
    work->run_count = (uint32_t)json_array_size(list);
    work->runs = arena_array(work->arena, struct sql_run, (size_t)work->run_count + 1);
    json_array_foreach(list, i, told)
    {
        work->runs[i] = (struct sql_run){.name = sql_told(told, "name"), .told = told};
        work->slice_count += (uint64_t)json_integer_value(json_object_get(told, "slice_count"));
    }
    sql_add_runs(work, work->tables, &work->table_count);
    sql_add_slices(work, work->tables, &work->table_count);
    sql_add_views(work, work->tables, &work->table_count);
    sql_add_columns(work, work->tables, &work->table_count);
    return sql_open(work->tables, work->table_count, &work->sql, &ignored) == OK;
}

static void close_tables(struct sql_work *work)
{
    sql_close(work->sql);
    arena_destroy(work->arena);
}

static void begin_query(struct sql_work *work, struct arena *arena)
{
    work->query_arena = arena;
    work->note_count = work->lost_count = 0;
    for (uint32_t i = 0; i < work->run_count; i++)
        work->runs[i].was_asked = false;
}

static const char *type_of(struct str format)
{
    if (str_equal(format, STR("csv")))
        return "text/csv; charset=utf-8; header=present";
    return str_equal(format, STR("md")) ? "text/markdown; charset=utf-8" : TYPE_JSON;
}

struct answer {
    int status;
    const char *type;
    struct text body;
};

static void make_answer(struct sql_work *work, const json_t *job, struct answer *ret)
{
    struct sql_result result = {.arena = work->query_arena};
    struct sql_sink sink = sql_result_sink(&result);
    struct sql_outcome outcome;
    struct error err = {0};
    struct str query = sql_told(job, "query"), format = sql_told(job, "format");
    const struct sql_limits limits = {
        .rows_max = (uint64_t)json_integer_value(json_object_get(job, "rows_max")),
        .bytes_max = (uint64_t)json_integer_value(json_object_get(job, "bytes_max")),
        .run_ms = json_integer_value(json_object_get(job, "run_ms"))};

    if (sql_ask(work->sql, query, &limits, &sink, &outcome, &err) == OK) {
        *ret = (struct answer){.status = 200, .type = type_of(format)};
        sql_put_answer(work, &result, &outcome, format, work->run_member, &ret->body);
    } else {
        *ret = (struct answer){.type = TYPE_PROBLEM};
        sql_put_problem(work, work->tables, work->table_count, query, &outcome, &err, &ret->status,
                        &ret->body);
    }
    if (sql_damaged(work)) {
        text_free(&ret->body);
        *ret = (struct answer){.status = SQL_STATUS_DAMAGED, .type = TYPE_PROBLEM};
    }
    sql_result_free(&result);
}

struct answering {
    struct sql_work *work;
    const json_t *job;
    struct answer *answer;
};

static void answer_guarded(void *data)
{
    struct answering *answering = data;

    make_answer(answering->work, answering->job, answering->answer);
}

/* Where a page of an index is lost, SQLite stands in the middle of a step: what is open then is
 * left to the end of the process. */
static void answer(struct sql_work *work, const json_t *job, struct answer *ret)
{
    struct answering answering = {.work = work, .job = job, .answer = ret};

    if (lost_guard(answer_guarded, &answering))
        return;
    work->damaged = work->left = true;
    *ret = (struct answer){.status = SQL_STATUS_DAMAGED, .type = TYPE_PROBLEM};
}

/* All `count` bytes. */
static bool read_exactly(int fd, void *to, size_t count)
{
    for (char *at = to; count > 0;) {
        ssize_t some = read(fd, at, count);

        if (some == 0 || (some < 0 && errno != EINTR))
            return false;
        at += some > 0 ? some : 0;
        count -= some > 0 ? (size_t)some : 0;
    }
    return true;
}

/* A part of the job, and what it says; NULL: nobody asks any more. */
static json_t *read_part(int fd)
{
    json_t *ret = NULL;
    uint64_t count;

    if (!read_exactly(fd, &count, sizeof count) || count > JOB_BYTES_MAX)
        return NULL;
    char *text = memory_resize(NULL, count, 1);
    if (read_exactly(fd, text, count))
        ret = json_loadb(text, count, JSON_ALLOW_NUL, NULL);
    free(text);
    return ret;
}

static bool write_all(int fd, struct str text)
{
    while (text.count > 0) {
        ssize_t count = write(fd, text.at, text.count);

        if (count < 0 && errno != EINTR)
            return false;
        text = str_skip(text, count > 0 ? (size_t)count : 0);
    }
    return true;
}

static int64_t cpu_seconds(void)
{
    struct rusage spent;

    getrusage(RUSAGE_SELF, &spent);
    return spent.ru_utime.tv_sec + spent.ru_stime.tv_sec;
}

/* Once more, on what is open? Not after a query that was refused or stopped: whatever it did to
 * this process is gone with it. */
static bool may_stay(const struct sql_work *work, const struct answer *answer, int query_count)
{
    return answer->status == 200 && work->lost_count == 0 && query_count < QUERIES_MAX &&
           cpu_seconds() < CPU_S_MAX && arena_used(work->arena) < KEPT_BYTES_MAX;
}

static bool answer_query(struct sql_work *work, const json_t *job, int query_count, int out,
                         bool *ret_stays)
{
    struct arena *arena = arena_create();
    struct answer reply;
    struct text text = {0};

    limit_cpu(cpu_seconds() + json_integer_value(json_object_get(job, "run_ms")) / 1000 + 3);
    begin_query(work, arena);
    answer(work, job, &reply);
    *ret_stays = may_stay(work, &reply, query_count);
    text_putf(&text, "{\"status\":%d,\"type\":\"%s\",\"bytes\":%zu,\"stays\":%s}\n", reply.status,
              reply.type, reply.body.count, *ret_stays ? "true" : "false");
    text_put(&text, reply.body.at, reply.body.count);
    bool told = write_all(out, text_str(&text));
    text_free(&text);
    text_free(&reply.body);
    arena_destroy(arena);
    return told;
}

/* Who stands ready has met what a query meets: SQLite is set up, and its pages are in memory. */
static void rehearse(const struct route_table *routes)
{
    static const char words[] =
        "{\"query\":\"select name,count(*),sum(self_ps) from ops group by name order by 2 limit "
        "1\","
        "\"rows_max\":1,\"bytes_max\":1000,\"run_ms\":1000}";
    struct sql_work work = {.arena = arena_create(), .routes = routes};
    json_t *job = json_loadb(words, sizeof words - 1, 0, NULL), *runs = json_object();
    struct answer reply;

    if (open_tables(&work, runs)) {
        begin_query(&work, work.arena);
        answer(&work, job, &reply);
        text_free(&reply.body);
    }
    close_tables(&work);
    json_decref(runs);
    json_decref(job);
}

static bool nobody_asks(int in)
{
    struct pollfd polled = {.fd = in, .events = POLLIN};

    return poll(&polled, 1, 0) == 0;
}

int sql_worker(const struct route_table *routes, int in, int out)
{
    struct sql_work work = {.arena = arena_create(), .routes = routes};
    struct error err = {0};
    json_t *job;

    lost_prepare();
    if (!guard())
        return 1;
    if (nobody_asks(in))
        rehearse(routes);
    json_t *runs = read_part(in);
    bool stays =
        runs != NULL && open_tables(&work, runs) && is_confined(sql_confine(&work, &err), &err);
    bool told = stays;
    for (int count = 1; told && stays && (job = read_part(in)) != NULL; count++) {
        told = answer_query(&work, job, count, out, &stays);
        json_decref(job);
    }
    if (!work.left)
        close_tables(&work);
    json_decref(runs);
    return told ? 0 : 1;
}
