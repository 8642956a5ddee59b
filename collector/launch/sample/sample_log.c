/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps texts, stacks and rows of samples a process, and writes them as frames of its spool. */
#include "launch/sample/sample_log.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "decode/id_map.h"
#include "inject/spool/about.h"
#include "inject/spool/frame.h"
#include "launch/spool/sample_join.h"

enum {
    TEXTS_MAX = 1 << 18,
    STACKS_MAX = 1 << 19,
    TEXT_MAX = 1024, /* bytes of one */
    ROWS = 1024,     /* of a kind that wait at most */
    LOGS_MAX = 128,
    TASKS_MAX = 1 << 16, /* whose name is told */
    PENDING_MAX = 1 << 20
};

struct rows {
    enum spool_type type;
    uint32_t columns, count;
    int64_t *at; /* ROWS of them */
};

struct sample_log {
    pid_t process;
    uint64_t start; /* tells it from another of the same number */
    pthread_mutex_t lock;
    struct spool *spool;
    uint64_t bytes_max;
    bool is_told[SAMPLERS];
    bool is_refused;             /* the disk took no more */
    struct id_map texts, stacks; /* hash -> id */
    struct id_map known;         /* threads */
    struct text pending;         /* texts that were not written yet */
    uint32_t pending_count;
    struct rows calls, samples, tasks;
    uint64_t lost[LOST_CAUSES];
};

static struct rows rows_of(enum spool_type type, uint32_t columns)
{
    return (struct rows){.type = type,
                         .columns = columns,
                         .at = memory_resize(NULL, (size_t)ROWS * columns, sizeof(int64_t))};
}

static struct {
    pthread_mutex_t lock;
    const char *directory;
    uint64_t bytes_max;
    struct sample_log *at[LOGS_MAX];
    uint32_t count;
} logs = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct sample_log *open_log(pid_t process, uint64_t start)
{
    struct spool *spool = spool_open_of(logs.directory, process, SAMPLES_KIND);

    if (spool == NULL)
        return NULL;
    struct sample_log *log = memory_resize(NULL, 1, sizeof *log);
    uint8_t *about = memory_resize(NULL, ABOUT_BYTES_MAX, 1);

    *log = (struct sample_log){.process = process,
                               .start = start,
                               .lock = PTHREAD_MUTEX_INITIALIZER,
                               .spool = spool,
                               .bytes_max = logs.bytes_max,
                               .calls = rows_of(SPOOL_STACK, STACK_COLUMNS),
                               .samples = rows_of(SPOOL_SAMPLE, SAMPLE_COLUMNS),
                               .tasks = rows_of(SPOOL_TASK, TASK_COLUMNS)};
    log->is_refused = !spool_bytes(spool, SPOOL_ABOUT, about, about_put_of(about, process), 1);
    free(about);
    return log;
}

/* A process that has ended keeps its log: what was seen of it may come late. */
static struct sample_log *find_log(pid_t process, uint64_t start)
{
    for (uint32_t index = logs.count; index-- > 0;)
        if (logs.at[index]->process == process && (start == 0 || logs.at[index]->start == start))
            return logs.at[index];
    return NULL;
}

static struct sample_log *open_next(pid_t process, uint64_t start)
{
    errno = logs.count == LOGS_MAX ? ENOSPC : ESRCH;
    struct sample_log *log = logs.count < LOGS_MAX && start != 0 ? open_log(process, start) : NULL;
    if (log != NULL)
        logs.at[logs.count++] = log;
    return log;
}

struct sample_log *sample_log_of(pid_t process)
{
    uint64_t start = process_start(process);

    pthread_mutex_lock(&logs.lock);
    struct sample_log *log = find_log(process, start);
    if (log == NULL)
        log = open_next(process, start);
    pthread_mutex_unlock(&logs.lock);
    return log;
}

struct sample_log *sample_log_find(pid_t process)
{
    uint64_t start = process_start(process);

    pthread_mutex_lock(&logs.lock);
    struct sample_log *log = find_log(process, start);
    pthread_mutex_unlock(&logs.lock);
    return log;
}

/* Whether there was room for the frame. */
static bool put_frame(struct sample_log *log, enum spool_type type, const int64_t *rows,
                      uint32_t count, uint32_t columns)
{
    log->is_refused = log->is_refused || !spool_rows(log->spool, type, rows, count, columns);
    return !log->is_refused;
}

void sample_log_sampler(struct sample_log *log, enum spool_sampler kind, uint32_t hz)
{
    pthread_mutex_lock(&log->lock);
    if (!log->is_told[kind])
        put_frame(log, SPOOL_SAMPLER, (const int64_t[]){kind, hz}, 1, SAMPLER_COLUMNS);
    log->is_told[kind] = true;
    pthread_mutex_unlock(&log->lock);
}

static void put_texts(struct sample_log *log)
{
    uint8_t front[20];
    size_t used = varint_put(front, log->texts.count - log->pending_count + 1);
    struct text raw = {0};

    if (log->pending_count == 0)
        return;
    used += varint_put(front + used, log->pending_count);
    text_put(&raw, (const char *)front, used);
    text_put(&raw, log->pending.at, log->pending.count);
    log->is_refused = log->is_refused || !spool_bytes(log->spool, SPOOL_STACK_TEXT, raw.at,
                                                      raw.count, log->pending_count);
    text_free(&raw);
    log->pending.count = log->pending_count = 0;
}

static void put_rows(struct sample_log *log, struct rows *rows)
{
    if (rows->count > 0)
        put_frame(log, rows->type, rows->at, rows->count, rows->columns);
    rows->count = 0;
}

static bool is_full(const struct sample_log *log)
{
    return log->bytes_max != 0 && spool_size(log->spool) >= log->bytes_max;
}

/* A spool that is as large as was asked for gets what was lost, and nothing else. */
static void flush(struct sample_log *log)
{
    uint32_t count = log->samples.count;
    bool was_full = is_full(log);

    if (was_full) {
        log->pending.count = log->pending_count = 0;
        log->calls.count = log->tasks.count = log->samples.count = 0;
        log->lost[LOST_LIMIT] += count;
        return;
    }
    put_texts(log);
    put_rows(log, &log->calls);
    put_rows(log, &log->tasks);
    put_rows(log, &log->samples);
    log->lost[LOST_DISK] += log->is_refused ? count : 0;
}

static int64_t *next_row(struct sample_log *log, struct rows *rows)
{
    if (rows->count == ROWS)
        flush(log);
    return rows->at + (size_t)rows->count++ * rows->columns;
}

/* At most so many bytes that no character is cut. */
static size_t cut(const char *at, size_t count)
{
    if (count <= TEXT_MAX)
        return count;
    for (count = TEXT_MAX; count > TEXT_MAX - 4 && ((uint8_t)at[count] & 0xc0) == 0x80;)
        count--;
    return count;
}

static uint32_t text_id(struct sample_log *log, const char *at, size_t count)
{
    uint32_t id;
    uint8_t length[10];
    bool is_new;

    count = cut(at, count);
    uint64_t hash = hash64((struct bytes){.at = (const uint8_t *)at, .count = count});
    if (count == 0)
        return 0;
    if (id_map_find(&log->texts, hash, &id))
        return id;
    if (log->texts.count == TEXTS_MAX)
        return 0;
    if (log->pending.count > PENDING_MAX)
        flush(log);
    id = id_map_add(&log->texts, hash, log->texts.count + 1, &is_new);
    text_put(&log->pending, (const char *)length, varint_put(length, count));
    text_put(&log->pending, at, count);
    log->pending_count++;
    return id;
}

uint32_t sample_log_text(struct sample_log *log, const char *at, size_t count)
{
    pthread_mutex_lock(&log->lock);
    uint32_t id = text_id(log, at, count);
    pthread_mutex_unlock(&log->lock);
    return id;
}

static uint32_t stack_id(struct sample_log *log, uint32_t caller, struct sample_call call)
{
    const uint32_t key[] = {caller, call.function, call.file, call.line, call.module};
    uint64_t hash = hash64((struct bytes){.at = (const uint8_t *)key, .count = sizeof key});
    uint32_t id;
    bool is_new;

    if (id_map_find(&log->stacks, hash, &id))
        return id;
    if (log->stacks.count == STACKS_MAX) {
        log->lost[LOST_STACKS]++;
        return caller;
    }
    int64_t *row = next_row(log, &log->calls);

    id = id_map_add(&log->stacks, hash, log->stacks.count + 1, &is_new);
    row[STACK_ID] = id;
    row[STACK_CALLER] = caller;
    row[STACK_FUNCTION] = call.function;
    row[STACK_FILE] = call.file;
    row[STACK_LINE] = call.line;
    row[STACK_MODULE] = call.module;
    return id;
}

uint32_t sample_log_stack(struct sample_log *log, uint32_t caller, struct sample_call call)
{
    pthread_mutex_lock(&log->lock);
    uint32_t id = stack_id(log, caller, call);
    pthread_mutex_unlock(&log->lock);
    return id;
}

void sample_log_put(struct sample_log *log, const struct sample_row *sample)
{
    pthread_mutex_lock(&log->lock);
    int64_t *row = next_row(log, &log->samples);

    row[SAMPLE_AT_NS] = sample->at_ns;
    row[SAMPLE_THREAD] = sample->thread;
    row[SAMPLE_STACK] = sample->stack;
    row[SAMPLE_KIND] = sample->kind;
    row[SAMPLE_TIME_NS] = sample->time_ns;
    row[SAMPLE_CPU_NS] = sample->cpu_ns;
    pthread_mutex_unlock(&log->lock);
}

void sample_log_task(struct sample_log *log, int64_t thread, const char *name)
{
    pthread_mutex_lock(&log->lock);
    uint32_t text = text_id(log, name, strlen(name));
    int64_t *row = next_row(log, &log->tasks);

    row[TASK_THREAD] = thread;
    row[TASK_NAME] = text;
    pthread_mutex_unlock(&log->lock);
}

bool sample_log_knows(struct sample_log *log, int64_t thread)
{
    bool is_new = false;

    pthread_mutex_lock(&log->lock);
    if (log->known.count < TASKS_MAX)
        id_map_add(&log->known, (uint64_t)thread, 1, &is_new);
    pthread_mutex_unlock(&log->lock);
    return !is_new;
}

void sample_log_lost(struct sample_log *log, enum spool_cause cause, uint64_t count)
{
    pthread_mutex_lock(&log->lock);
    log->lost[cause] += count;
    pthread_mutex_unlock(&log->lock);
}

static void put_losses(struct sample_log *log)
{
    for (int cause = 0; cause < LOST_CAUSES; cause++) {
        const int64_t row[LOSS_COLUMNS] = {
            [LOSS_CAUSE] = cause, [LOSS_COUNT] = (int64_t)log->lost[cause]};

        if (log->lost[cause] > 0)
            spool_rows(log->spool, SPOOL_LOSS, row, 1, LOSS_COLUMNS);
    }
}

static void close_log(struct sample_log *log)
{
    flush(log);
    put_losses(log);
    put_frame(log, SPOOL_END, NULL, 0, 0);
    spool_close(log->spool);
    id_map_free(&log->texts);
    id_map_free(&log->stacks);
    id_map_free(&log->known);
    text_free(&log->pending);
    free(log->calls.at);
    free(log->samples.at);
    free(log->tasks.at);
    free(log);
}

void sample_logs_begin(const char *directory, uint64_t bytes_max)
{
    logs.directory = directory;
    logs.bytes_max = bytes_max;
}

void sample_logs_flush(void)
{
    pthread_mutex_lock(&logs.lock);
    for (uint32_t index = 0; index < logs.count; index++) {
        pthread_mutex_lock(&logs.at[index]->lock);
        flush(logs.at[index]);
        pthread_mutex_unlock(&logs.at[index]->lock);
    }
    pthread_mutex_unlock(&logs.lock);
}

void sample_logs_end(void)
{
    for (; logs.count > 0; logs.count--)
        close_log(logs.at[logs.count - 1]);
}
