/* SPDX-License-Identifier: Apache-2.0 */
/* The sink's second thread: what a decoder gives is written down, and taken in that order.
 *
 *   decoder's thread     [ slice | args | flow | slice | ... ]    the batch that is filled
 *                             |
 *   queue                [ batch ] [ batch ] ...                  BATCHES_QUEUED at most
 *                             |
 *   own thread           sink_take.c: nesting, packing, writing
 *
 * The calls that are taken are those that were given, in their order, so the segment is the same
 * byte for byte as without a thread. A batch is used again after BATCHES others: by then it was
 * taken, for no more than BATCHES_QUEUED wait and one is in work.
 */
#include <stdlib.h>

#include "base/queue.h"
#include "trace/sink/sink_state.h"

enum { BATCH_BYTES = 1 << 17, BATCHES_QUEUED = 6, BATCHES = BATCHES_QUEUED + 2 };
enum { ARGS_AT_ONCE = 4096 };

enum what { SLICE, ARGS, FLOW, TRACK, TRACK_NAME, TRACK_END };

struct record { /* its payload follows, in multiples of 8 bytes */
    uint32_t what;
    uint32_t count; /* of args; else a track */
};

struct batch {
    struct sink *sink;
    size_t filled;
    uint8_t bytes[BATCH_BYTES];
};

struct sink_thread {
    struct pool *pool;
    struct batch *batches; /* BATCHES */
    uint32_t filling;
};

_Static_assert(sizeof(struct record) == 8 && sizeof(struct sink_slice) % 8 == 0 &&
                   sizeof(struct given_flow) % 8 == 0 && sizeof(struct track) % 8 == 0 &&
                   sizeof(struct arg) % 8 == 0,
               "payloads stand aligned, one behind the other");
_Static_assert(sizeof(struct record) + ARGS_AT_ONCE * sizeof(struct arg) <= BATCH_BYTES,
               "every record fits a batch");

/* Takes the record at `at`; returns the size of its payload. */
static size_t take_record(struct sink *sink, const uint8_t *at)
{
    const struct record *record = (const struct record *)(const void *)at;
    const void *payload = record + 1;

    switch ((enum what)record->what) {
    case SLICE:
        sink_take_slice(sink, payload);
        return sizeof(struct sink_slice);
    case ARGS:
        sink_take_args(sink, payload, record->count);
        return record->count * sizeof(struct arg);
    case FLOW:
        sink_take_flow(sink, payload);
        return sizeof(struct given_flow);
    case TRACK:
        sink_take_track(sink, payload);
        return sizeof(struct track);
    case TRACK_NAME:
        sink_take_rename(sink, record->count, *(const uint32_t *)payload);
        return sizeof(uint64_t);
    case TRACK_END:
        sink_take_track_end(sink, record->count);
        return 0;
    }
    return 0;
}

static void take_batch(void *data)
{
    const struct batch *batch = data;
    struct sink *sink = batch->sink;

    for (size_t at = 0; at < batch->filled;)
        at += sizeof(struct record) + take_record(sink, batch->bytes + at);
    if (sink->take_err->code != OK)
        atomic_store_explicit(&sink->take_failed, true, memory_order_relaxed);
}

static void submit(struct sink_thread *thread)
{
    pool_submit(thread->pool, take_batch, &thread->batches[thread->filling]);
    thread->filling = (thread->filling + 1) % BATCHES;
    thread->batches[thread->filling].filled = 0;
}

/* Room for a record's payload. */
static inline void *write_down(struct sink_thread *thread, enum what what, uint32_t count,
                               size_t bytes)
{
    struct batch *batch = &thread->batches[thread->filling];

    if (__builtin_expect(bytes + sizeof(struct record) > BATCH_BYTES - batch->filled, 0)) {
        submit(thread);
        batch = &thread->batches[thread->filling];
    }

    struct record *record = (struct record *)(void *)(batch->bytes + batch->filled);

    *record = (struct record){.what = what, .count = count};
    batch->filled += sizeof(*record) + bytes;
    return record + 1;
}

void sink_thread_slice(struct sink_thread *thread, const struct sink_slice *slice)
{
    memcpy(write_down(thread, SLICE, 0, sizeof(*slice)), slice, sizeof(*slice));
}

void sink_thread_args(struct sink_thread *thread, const struct arg *args, uint32_t count)
{
    while (count > 0) {
        uint32_t part = count < ARGS_AT_ONCE ? count : ARGS_AT_ONCE;

        memcpy(write_down(thread, ARGS, part, part * sizeof(*args)), args, part * sizeof(*args));
        args += part;
        count -= part;
    }
}

void sink_thread_flow(struct sink_thread *thread, const struct given_flow *flow)
{
    memcpy(write_down(thread, FLOW, 0, sizeof(*flow)), flow, sizeof(*flow));
}

void sink_thread_track(struct sink_thread *thread, const struct track *track)
{
    memcpy(write_down(thread, TRACK, 0, sizeof(*track)), track, sizeof(*track));
}

void sink_thread_rename(struct sink_thread *thread, track_id track, name_id name)
{
    *(uint64_t *)write_down(thread, TRACK_NAME, track, sizeof(uint64_t)) = name;
}

void sink_thread_track_end(struct sink_thread *thread, track_id track)
{
    write_down(thread, TRACK_END, track, 0);
}

void sink_thread_run(struct sink_thread *thread, void (*run)(void *data), void *data)
{
    pool_submit(thread->pool, run, data);
}

static void nothing(void *data)
{
    (void)data;
}

void sink_thread_wait(struct sink_thread *thread)
{
    if (thread == NULL)
        return;
    submit(thread);
    pool_run(thread->pool, nothing, NULL);
}

struct sink_thread *sink_thread_create(struct sink *sink)
{
    struct sink_thread *thread = memory_resize(NULL, 1, sizeof(*thread));

    *thread = (struct sink_thread){
        .pool = pool_create(1, BATCHES_QUEUED),
        .batches = memory_resize(NULL, BATCHES, sizeof(*thread->batches)),
    };
    for (uint32_t i = 0; i < BATCHES; i++) {
        thread->batches[i].sink = sink;
        thread->batches[i].filled = 0;
    }
    return thread;
}

void sink_thread_destroy(struct sink_thread *thread)
{
    if (thread == NULL)
        return;
    pool_destroy(thread->pool);
    free(thread->batches);
    free(thread);
}
