/* SPDX-License-Identifier: Apache-2.0 */
/* zstd: streams of others in, and our own one-frame blocks in and out.
 *
 * A foreign frame may ask for a window of at most 128 MiB. Contexts of our own blocks are kept per
 * thread, because making one costs more than a small block.
 */
#include <pthread.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory.h"
#include "base/pack/pack_stream.h"

enum { WINDOW_LOG_MAX = 27, LEVEL_REPLY = 1 };

struct zstd {
    ZSTD_DCtx *context;
    bool inside, any; /* a frame is open; one was read */
};

static ZSTD_DCtx *unpacking(void)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();

    for (unsigned i = 0; context == NULL && memory_try_again(i); i++)
        context = ZSTD_createDCtx();
    if (context == NULL)
        memory_refused(0, 0);
    return context;
}

static ZSTD_CCtx *packing(void)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();

    for (unsigned i = 0; context == NULL && memory_try_again(i); i++)
        context = ZSTD_createCCtx();
    if (context == NULL)
        memory_refused(0, 0);
    return context;
}

static void *zstd_open(void)
{
    struct zstd *zstd = memory_resize(NULL, 1, sizeof(*zstd));

    *zstd = (struct zstd){.context = unpacking()};
    ZSTD_DCtx_setParameter(zstd->context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    return zstd;
}

static void zstd_close(void *state)
{
    struct zstd *zstd = state;

    ZSTD_freeDCtx(zstd->context);
    free(zstd);
}

static enum status next_frame(struct zstd *zstd, struct pack_stream *stream, struct error *err)
{
    static const uint8_t magic[] = {0x28, 0xB5, 0x2F, 0xFD}, skip[] = {0x2A, 0x4D, 0x18};
    size_t left = pack_stream_left(stream);

    if (left == 0 && zstd->any) {
        stream->ended = true;
        return OK;
    }
    if (left < sizeof(magic))
        return zstd->any ? fail(err, ERR_FORMAT, "%zu bytes after the end of the zstd data", left)
                         : fail(err, ERR_TRUNCATED, "the zstd data is cut off");
    if (memcmp(stream->in, magic, sizeof(magic)) != 0 &&
        !((stream->in[0] & 0xF0) == 0x50 && memcmp(stream->in + 1, skip, sizeof(skip)) == 0))
        return fail(err, ERR_FORMAT,
                    zstd->any ? "%zu bytes after the end of the zstd data are not zstd"
                              : "%zu bytes that do not begin as zstd does",
                    left);
    zstd->inside = zstd->any = true;
    return OK;
}

static enum status broken(size_t code, struct error *err)
{
    if (ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge)
        return fail(err, ERR_LIMIT, "the zstd data asks for a window of more than %u MiB",
                    (1u << WINDOW_LOG_MAX) >> 20);
    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        return fail(err, ERR_IO, "the system refuses the memory that unpacking zstd data takes");
    return fail(err, ERR_FORMAT, "the zstd data is corrupt: %s", ZSTD_getErrorName(code));
}

static enum status read_some(struct zstd *zstd, struct pack_stream *stream, struct error *err)
{
    ZSTD_inBuffer in = {.src = stream->in, .size = pack_stream_left(stream)};
    ZSTD_outBuffer out = {.dst = stream->out, .size = pack_stream_room(stream)};
    size_t left = ZSTD_decompressStream(zstd->context, &out, &in);

    stream->in += in.pos;
    stream->out += out.pos;
    if (ZSTD_isError(left))
        return broken(left, err);
    if (left == 0)
        zstd->inside = false;
    else if (in.pos == 0 && out.pos == 0)
        return fail(err, ERR_TRUNCATED, "the zstd data is cut off");
    return OK;
}

static enum status zstd_read(void *state, struct pack_stream *stream, struct error *err)
{
    struct zstd *zstd = state;

    while (!stream->ended && pack_stream_room(stream) > 0) {
        if (zstd->inside)
            TRY(read_some(zstd, stream, err));
        else
            TRY(next_frame(zstd, stream, err));
    }
    return OK;
}

const struct pack_reader zstd_reader = {.open = zstd_open, .read = zstd_read, .close = zstd_close};

struct contexts { /* of one thread */
    ZSTD_CCtx *pack;
    ZSTD_DCtx *unpack;
};

static pthread_key_t contexts_key;
static pthread_once_t contexts_once = PTHREAD_ONCE_INIT;

static void free_contexts(void *data)
{
    struct contexts *contexts = data;

    ZSTD_freeCCtx(contexts->pack);
    ZSTD_freeDCtx(contexts->unpack);
    free(contexts);
}

static void make_contexts_key(void)
{
    if (pthread_key_create(&contexts_key, free_contexts) != 0)
        memory_refused(0, 0);
}

static struct contexts *thread_contexts(void)
{
    pthread_once(&contexts_once, make_contexts_key);

    struct contexts *contexts = pthread_getspecific(contexts_key);

    if (contexts == NULL) {
        contexts = memory_resize(NULL, 1, sizeof(*contexts));
        *contexts = (struct contexts){.pack = packing(), .unpack = unpacking()};
        for (unsigned i = 0; pthread_setspecific(contexts_key, contexts) != 0; i++)
            if (!memory_try_again(i))
                memory_refused(0, 0);
    }
    return contexts;
}

size_t zstd_bound(size_t count)
{
    return ZSTD_compressBound(count);
}

size_t zstd_pack(void *to, size_t capacity, struct bytes from, int level)
{
    ZSTD_CCtx *context = thread_contexts()->pack;
    size_t count = ZSTD_compressCCtx(context, to, capacity, from.at, from.count, level);

    for (unsigned i = 0;
         ZSTD_getErrorCode(count) == ZSTD_error_memory_allocation && memory_try_again(i); i++)
        count = ZSTD_compressCCtx(context, to, capacity, from.at, from.count, level);
    if (ZSTD_getErrorCode(count) == ZSTD_error_memory_allocation)
        memory_refused(0, 0);
    if (ZSTD_isError(count))
        abort(); /* our own mistake: less room than zstd_bound says */
    return count;
}

enum status zstd_unpack(void *to, size_t count, struct bytes from, struct error *err)
{
    size_t made = ZSTD_decompressDCtx(thread_contexts()->unpack, to, count, from.at, from.count);

    if (ZSTD_getErrorCode(made) == ZSTD_error_memory_allocation)
        return fail(err, ERR_IO, "the system refuses the memory that unpacking a block takes");
    if (ZSTD_isError(made))
        return fail(err, ERR_FORMAT, "a packed block is damaged: %s", ZSTD_getErrorName(made));
    if (made != count)
        return fail(err, ERR_FORMAT, "a packed block holds %zu bytes where %zu are due", made,
                    count);
    return OK;
}

struct bytes pack_zstd(struct arena *arena, struct bytes from)
{
    size_t capacity = zstd_bound(from.count);
    uint8_t *room = memory_resize(NULL, capacity, 1);
    size_t count = zstd_pack(room, capacity, from, LEVEL_REPLY);
    uint8_t *packed = arena_array(arena, uint8_t, count);

    memcpy(packed, room, count);
    free(room);
    return (struct bytes){.at = packed, .count = count};
}

const char *pack_zstd_library(void)
{
    return ZSTD_versionString();
}
