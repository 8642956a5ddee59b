/* SPDX-License-Identifier: Apache-2.0 */
/* The writer's loop: drains the rings, batches and CUPTI's records, and closes frames in the
 * order in which they refer to one another. */
#include "inject/writer/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_say.h"
#include "inject/nvtx/free_ranges.h"
#include "inject/nvtx/payload.h"
#include "inject/process/recorder.h"
#include "inject/process/recording_switch.h"
#include "inject/process/session.h"
#include "inject/process/system.h"
#include "inject/process/texts.h"
#include "inject/process/threads.h"
#include "inject/process/told_names.h"
#include "inject/spool/about.h"
#include "inject/spool/batch.h"
#include "inject/spool/frame.h"
#include "inject/spool/ticks.h"

enum { LOOK_MS = 1000, RETRY_MS = 1000, FLUSH_MS = 500 };

static struct {
    pthread_t thread;
    struct session session;
    struct batch ranges, nodes;
    struct spool *spool;        /* NULL until there is something to write */
    bool is_begun;              /* its first frames stand */
    struct ticks_tie first_tie; /* of the start: two make a line */
    bool has_open;              /* the last look found open ranges */
    bool has_complained;
    uint8_t about[ABOUT_BYTES_MAX];
    size_t about_size;
    uint32_t texts_out, flush_seen;
    uint64_t lost_on_disk, lost_to_limit, lost_told[LOST_CAUSES], bytes_told;
    int64_t framed_ms, looked_ms, refused_ms, flushed_ms;
} writer = {.ranges = {.type = SPOOL_RANGE, .columns = RANGE_COLUMNS},
            .nodes = {.type = SPOOL_NODE, .columns = NODE_COLUMNS}};

const struct control_asked *writer_asked(void)
{
    return &writer.session.control->asked;
}

static void complain(const char *what)
{
    if (writer.has_complained)
        return;
    writer.has_complained = true;
    fprintf(stderr, "jview-collect: %s %s: %s; process %ld is not recorded until this is fixed\n",
            what, writer.session.directory, strerror(errno), (long)getpid());
}

static bool put_clock(struct ticks_tie tie)
{
    int64_t row[CLOCK_COLUMNS] = {tie.ticks, tie.realtime_ns, tie.monotonic_ns};

    return spool_rows(writer.spool, SPOOL_CLOCK, row, 1, CLOCK_COLUMNS);
}

/* The file, its first frames: once there is something to say. A disk that refused is asked again a
 * second later. */
static bool begin_spool(void)
{
    if (writer.is_begun)
        return true;
    if (writer.spool == NULL && clock_ns(CLOCK_MONOTONIC) / 1000000 - writer.refused_ms < RETRY_MS)
        return false;
    if (writer.spool == NULL) {
        if (session_make(&writer.session))
            writer.spool = spool_open(writer.session.directory);
        if (writer.spool == NULL) {
            complain("no spool in");
            writer.refused_ms = clock_ns(CLOCK_MONOTONIC) / 1000000;
            return false;
        }
        atomic_fetch_add(&writer.session.control->processes, 1);
    }
    writer.is_begun = spool_bytes(writer.spool, SPOOL_ABOUT, writer.about, writer.about_size, 1) &&
                      put_clock(writer.first_tie) && put_clock(ticks_tie());
    return writer.is_begun;
}

/* All texts that have an id by now, at most about a megabyte a frame. */
static bool put_texts(void)
{
    enum { FRAME_BYTES = 1 << 20 };
    static uint8_t frame[FRAME_BYTES + TEXT_BYTES_MAX + 64];

    for (uint32_t count = text_count(); writer.texts_out < count;) {
        uint32_t id = writer.texts_out;
        size_t used = 32, size; /* room for the two numbers in front */
        const char *at;
        while (id < count && used < FRAME_BYTES && text_at(id + 1, &at, &size)) {
            used += varint_put(frame + used, size);
            memcpy(frame + used, at, size);
            used += size;
            id++;
        }
        if (id == writer.texts_out)
            return true;
        uint8_t front[32];
        size_t front_size = varint_put(front, writer.texts_out + 1);
        front_size += varint_put(front + front_size, id - writer.texts_out);
        memcpy(frame + 32 - front_size, front, front_size);
        if (!spool_bytes(writer.spool, SPOOL_TEXT, frame + 32 - front_size, used - 32 + front_size,
                         id - writer.texts_out))
            return false;
        writer.texts_out = id;
    }
    return true;
}

static void put_batch(struct batch *batch)
{
    if (batch->count > 0 &&
        spool_rows(writer.spool, batch->type, batch->numbers, batch->count, batch->columns))
        batch->count = 0;
}

/* Ranges that the disk refuses are lost and counted: memory does not grow. */
static void put_ranges(void)
{
    struct control *control = writer.session.control;
    uint32_t count = writer.ranges.count;

    if (count == 0)
        return;
    if (writer.is_begun && session_is_full(&writer.session, spool_size(writer.spool))) {
        writer.lost_to_limit += count;
    } else if (begin_spool() && put_texts() &&
               spool_rows(writer.spool, SPOOL_RANGE, writer.ranges.numbers, count, RANGE_COLUMNS)) {
        atomic_fetch_add(&control->records, count);
    } else {
        writer.lost_on_disk += count;
        complain("cannot write to");
    }
    writer.ranges.count = 0;
}

/* The same for rows of CUDA activity, and for what only stands beside such: sentences, GPUs,
 * figures wait until there is something. */
static void put_activity(struct batch *batch)
{
    struct control *control = writer.session.control;
    bool is_log = batch->type == SPOOL_LOG || batch->type == SPOOL_DEVICE;
    bool is_beside = is_log || batch->type == SPOOL_COUNTER;

    if (is_beside && !writer.is_begun)
        return;
    if (!is_log && writer.is_begun && session_is_full(&writer.session, spool_size(writer.spool))) {
        writer.lost_to_limit += is_beside ? 0 : batch->count;
    } else if (begin_spool() && put_texts() &&
               spool_rows(writer.spool, batch->type, batch->numbers, batch->count,
                          batch->columns)) {
        atomic_fetch_add(&control->activity, is_beside ? 0 : batch->count);
    } else if (is_log) {
        return;
    } else {
        writer.lost_on_disk += is_beside ? 0 : batch->count;
        complain("cannot write to");
    }
    batch->count = 0;
}

static void range_row(struct batch *batch, uint32_t thread, const struct range *range)
{
    int64_t *row = batch_row(batch);

    row[RANGE_THREAD] = range->form == FORM_FREE ? range->end_thread : thread;
    row[RANGE_START] = range->start;
    row[RANGE_END] = range->end;
    row[RANGE_DOMAIN] = range->domain;
    row[RANGE_NAME] = range->name;
    row[RANGE_CATEGORY] = range->category;
    row[RANGE_COLOR] = range->color;
    row[RANGE_FORM] = range->form;
    row[RANGE_PAYLOAD_KIND] = range->payload_kind;
    row[RANGE_PAYLOAD] = (int64_t)range->payload;
    row[RANGE_END_THREAD] = range->form == FORM_FREE ? thread : 0;
}

/* Nodes wait for work beside which they stand: alone they make no profile. */
static void put_nodes(void)
{
    if (writer.nodes.count == 0 || !writer.is_begun)
        return;
    if (!put_texts() || !spool_rows(writer.spool, SPOOL_NODE, writer.nodes.numbers,
                                    writer.nodes.count, NODE_COLUMNS))
        complain("cannot write to");
    writer.nodes.count = 0;
}

static void node_row(uint32_t thread, const struct range *told)
{
    if (writer.nodes.count == batch_capacity(&writer.nodes) && begin_spool())
        put_nodes();
    if (writer.nodes.count == batch_capacity(&writer.nodes)) {
        writer.lost_on_disk++;
        return;
    }
    int64_t *row = batch_row(&writer.nodes);
    row[NODE_ID] = (int64_t)told->payload;
    row[NODE_FROM] = told->end;
    row[NODE_THREAD] = thread;
    row[NODE_AT] = told->start;
    row[NODE_STACK] = told->name;
}

static void drain_thread(struct thread *thread)
{
    bool is_over = atomic_load_explicit(&thread->is_over, memory_order_acquire) == 1;
    uint32_t head = atomic_load_explicit(&thread->head, memory_order_acquire);
    uint32_t tail = atomic_load_explicit(&thread->tail, memory_order_relaxed);

    for (; tail != head; tail++) {
        const struct range *range = &thread->ring[tail % RING_RANGES];
        if (range->form == FORM_NODE) {
            node_row(thread->id, range);
            continue;
        }
        if (writer.ranges.count == batch_capacity(&writer.ranges))
            put_ranges();
        range_row(&writer.ranges, thread->id, range);
    }
    atomic_store_explicit(&thread->tail, tail, memory_order_release);
    if (is_over)
        thread_free(thread);
}

static void drain(void)
{
    struct thread *thread;

    for (uint32_t index = 0; index < threads_begun(); index++)
        if ((thread = thread_at(index)) != NULL)
            drain_thread(thread);
    cupti_drain(put_activity);
    system_look(&writer.session, recorder_is_on());
}

/* What is open now, so that a program killed inside of it still shows it. */
static void put_open(void)
{
    enum { FREE_OPEN_MAX = 1024 };
    static struct range open[FREE_OPEN_MAX];
    static int64_t numbers[BATCH_NUMBERS];
    struct batch batch = {.type = SPOOL_OPEN, .columns = RANGE_COLUMNS, .numbers = numbers};
    int64_t now = ticks_now();
    struct thread *thread;

    for (uint32_t index = 0; index < threads_begun(); index++) {
        thread = thread_at(index);
        uint32_t count = thread != NULL ? thread_open_ranges(thread, open) : 0;
        if (count == NOT_SEEN) /* the look before stands */
            return;
        if (batch.count + count > batch_capacity(&batch))
            break;
        for (uint32_t at = 0; at < count; at++) {
            open[at].end = now;
            range_row(&batch, thread->id, &open[at]);
        }
    }
    uint32_t room = batch_capacity(&batch) - batch.count;
    uint32_t free_open = free_ranges_open(open, room < FREE_OPEN_MAX ? room : FREE_OPEN_MAX);
    for (uint32_t at = 0; at < free_open; at++) {
        open[at].end = now;
        range_row(&batch, 0, &open[at]);
    }
    /* An empty look tells that those of the one before have ended. */
    if ((batch.count > 0 || writer.has_open) && begin_spool() && put_texts() &&
        spool_rows(writer.spool, SPOOL_OPEN, numbers, batch.count, RANGE_COLUMNS))
        writer.has_open = batch.count > 0;
}

static void sum_losses(uint64_t ret[LOST_CAUSES])
{
    struct thread *thread;

    memset(ret, 0, LOST_CAUSES * sizeof *ret);
    for (uint32_t index = 0; index < threads_begun(); index++)
        for (int cause = 0; (thread = thread_at(index)) != NULL && cause < LOST_CAUSES; cause++)
            ret[cause] += atomic_load_explicit(&thread->lost[cause], memory_order_relaxed);
    ret[LOST_DISK] = writer.lost_on_disk;
    ret[LOST_LIMIT] = writer.lost_to_limit;
    ret[LOST_THREADS] = threads_refused();
    ret[LOST_TEXTS_FULL] = texts_refused();
    ret[LOST_POOL] = cupti_lost_in_pool();
    ret[LOST_CUPTI] = cupti_lost_in_cupti();
    ret[LOST_PAYLOADS] = payloads_refused();
}

/* What was lost since the last look, and between which two looks. */
static void put_losses(int64_t since)
{
    int64_t numbers[LOST_CAUSES * LOSS_COLUMNS];
    struct batch batch = {.type = SPOOL_LOSS, .columns = LOSS_COLUMNS, .numbers = numbers};
    uint64_t lost[LOST_CAUSES];

    sum_losses(lost);
    for (int cause = 0; cause < LOST_CAUSES; cause++) {
        if (lost[cause] == writer.lost_told[cause])
            continue;
        int64_t *row = batch_row(&batch);
        row[LOSS_CAUSE] = cause;
        row[LOSS_COUNT] = (int64_t)(lost[cause] - writer.lost_told[cause]);
        row[LOSS_FIRST] = since;
        row[LOSS_LAST] = ticks_now();
    }
    if (batch.count == 0 || !writer.is_begun) /* alone they make no profile */
        return;
    put_batch(&batch);
    for (int cause = 0; batch.count == 0 && cause < LOST_CAUSES; cause++) {
        atomic_fetch_add(&writer.session.control->lost, lost[cause] - writer.lost_told[cause]);
        writer.lost_told[cause] = lost[cause];
    }
}

static void put_switch(void)
{
    int64_t rows[64 * SWITCH_COLUMNS];
    uint32_t count;

    while ((count = switch_turns(rows, 64)) > 0 &&
           spool_rows(writer.spool, SPOOL_SWITCH, rows, count, SWITCH_COLUMNS))
        switch_told(count);
}

static void put_names(void)
{
    struct batch told[TOLD_NAMES_KINDS];

    if (!writer.is_begun || told_names_take(told) == 0 || !put_texts())
        return;
    for (int kind = 0; kind < TOLD_NAMES_KINDS; kind++)
        put_batch(&told[kind]);
}

static void close_frames(int64_t now, bool is_whole)
{
    static int64_t last_look;

    put_ranges();
    put_names();
    cupti_close_frames(put_activity);
    put_nodes();
    if (writer.is_begun)
        system_close_frames(&writer.session, put_activity);
    if (cupti_said(0) != NULL)
        control_complain(writer.session.control, cupti_said(0));
    if (is_whole || now - writer.looked_ms >= LOOK_MS) {
        put_losses(last_look);
        if (recorder_is_on())
            put_open();
        if (writer.is_begun)
            put_clock(ticks_tie());
        writer.looked_ms = now;
        last_look = ticks_now();
    }
    if (writer.is_begun) {
        put_switch();
        uint64_t bytes = spool_size(writer.spool);
        atomic_fetch_add(&writer.session.control->bytes, bytes - writer.bytes_told);
        writer.bytes_told = bytes;
    }
    writer.framed_ms = now;
}

/* All that was told by now, and what CUPTI has. */
static void put_all(void)
{
    cupti_flush_whole(drain);
    switch_follow();
    drain();
    close_frames(clock_ns(CLOCK_MONOTONIC) / 1000000, true);
}

/* Somebody is about to end the program, which may leave it no time: once. */
static void prepare_end(struct control_writer *place)
{
    static bool is_prepared;

    if (is_prepared || atomic_load(&writer.session.control->is_ending) == 0)
        return;
    is_prepared = true;
    put_all();
    if (place != NULL)
        atomic_store(&place->is_done, 1);
}

static void *run(void *unused)
{
    struct control_writer *place = control_join(writer.session.control, getpid());

    (void)unused;
    pthread_setname_np(pthread_self(), "jview-writer");
    while (!recorder_is_ending()) {
        recorder_nap();
        switch_follow();
        drain();
        uint32_t flush = atomic_load(&writer.session.control->flush);
        int64_t now = clock_ns(CLOCK_MONOTONIC) / 1000000;
        if (now - writer.framed_ms >= session_flush_ms(&writer.session) ||
            flush != writer.flush_seen)
            close_frames(now, false);
        if (now - writer.flushed_ms >= FLUSH_MS || flush != writer.flush_seen) {
            cupti_flush();
            writer.flushed_ms = now;
        }
        writer.flush_seen = flush;
        prepare_end(place);
    }
    put_all();
    if (writer.is_begun)
        spool_rows(writer.spool, SPOOL_END, (const int64_t[]){0}, 0, 0);
    if (place != NULL)
        atomic_store(&place->process, 0);
    return NULL;
}

/* Signals are the program's: none is handled on our thread. */
static bool start_thread(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool is_started = pthread_create(&writer.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return is_started;
}

static bool make_batches(void)
{
    writer.ranges.numbers = malloc(BATCH_NUMBERS * sizeof(int64_t));
    writer.nodes.numbers = malloc(BATCH_NUMBERS * sizeof(int64_t));
    return writer.ranges.numbers != NULL && writer.nodes.numbers != NULL && told_names_open();
}

void writer_start(void)
{
    if (!session_open(&writer.session)) {
        if (getenv(ENV_SESSION) != NULL || getenv(ENV_OUT) != NULL)
            complain("no session in");
        return;
    }
    recorder_switch_word = &writer.session.control->is_on;
    ticks_choose();
    writer.first_tie = ticks_tie();
    writer.about_size = about_put(writer.about); /* here: nobody else may look at the environment */
    bool has_room = texts_open() && threads_open() && make_batches();
    if (has_room)
        switch_watch(&writer.session);
    if (has_room && start_thread())
        recorder_begin();
    else
        complain("no memory or thread for");
}

void writer_stop(int budget_ms)
{
    if (!recorder_end())
        return;
    struct timespec until = clock_deadline(budget_ms);
    pthread_clockjoin_np(writer.thread, NULL, CLOCK_MONOTONIC, &until);
}

/* The writer's thread is the parent's, and so is the file. */
void writer_forget(void)
{
    recorder_forget();
    cupti_forget();
    threads_forget();
    texts_forget();
    if (writer.spool != NULL)
        spool_forget(writer.spool);
}
