/* SPDX-License-Identifier: Apache-2.0 */
/* xz in: a dictionary of at most 256 MiB; several streams and the padding between them as one. */
#include <lzma.h>
#include <stdlib.h>

#include "base/pack/pack_stream.h"

static const uint64_t memory_bytes_max = 256ULL << 20;

struct xz {
    lzma_stream stream;
    bool inside, any; /* a stream is open; one was read */
};

static void *xz_open(void)
{
    struct xz *xz = memory_resize(NULL, 1, sizeof(*xz));

    *xz = (struct xz){.stream = LZMA_STREAM_INIT};
    return xz;
}

static void xz_close(void *state)
{
    struct xz *xz = state;

    lzma_end(&xz->stream);
    free(xz);
}

static enum status memory_fails(struct error *err)
{
    return fail(err, ERR_IO, "the system refuses the memory that unpacking xz data takes");
}

static enum status next_stream(struct xz *xz, struct pack_stream *stream, struct error *err)
{
    static const uint8_t magic[] = {0xFD, '7', 'z', 'X', 'Z', 0};

    while (xz->any && pack_stream_left(stream) > 0 && stream->in[0] == 0)
        stream->in++;

    size_t left = pack_stream_left(stream);
    size_t seen = left < sizeof(magic) ? left : sizeof(magic);

    if (left == 0 && xz->any) {
        stream->ended = true;
        return OK;
    }
    if (seen > 0 && memcmp(stream->in, magic, seen) != 0)
        return fail(err, ERR_FORMAT,
                    xz->any ? "%zu bytes after the end of the xz data are not xz"
                            : "%zu bytes that do not begin as xz does",
                    left);
    if (lzma_stream_decoder(&xz->stream, memory_bytes_max, 0) != LZMA_OK)
        return memory_fails(err);
    xz->inside = xz->any = true;
    return OK;
}

static enum status broken(lzma_ret code, struct error *err)
{
    switch (code) {
    case LZMA_BUF_ERROR:
        return fail(err, ERR_TRUNCATED, "the xz data is cut off");
    case LZMA_MEMLIMIT_ERROR:
        return fail(err, ERR_LIMIT, "the xz data asks for more than %u MiB of memory",
                    (unsigned)(memory_bytes_max >> 20));
    case LZMA_MEM_ERROR:
        return memory_fails(err);
    default:
        return fail(err, ERR_FORMAT, "the xz data is corrupt");
    }
}

static enum status read_some(struct xz *xz, struct pack_stream *stream, struct error *err)
{
    xz->stream.next_in = stream->in;
    xz->stream.avail_in = pack_stream_left(stream);
    xz->stream.next_out = stream->out;
    xz->stream.avail_out = pack_stream_room(stream);

    lzma_ret code = lzma_code(&xz->stream, LZMA_FINISH);

    stream->in = xz->stream.next_in;
    stream->out = xz->stream.next_out;
    if (code == LZMA_STREAM_END)
        xz->inside = false;
    else if (code != LZMA_OK)
        return broken(code, err);
    return OK;
}

static enum status xz_read(void *state, struct pack_stream *stream, struct error *err)
{
    struct xz *xz = state;

    while (!stream->ended && pack_stream_room(stream) > 0) {
        if (xz->inside)
            TRY(read_some(xz, stream, err));
        else
            TRY(next_stream(xz, stream, err));
    }
    return OK;
}

const struct pack_reader xz_reader = {.open = xz_open, .read = xz_read, .close = xz_close};

const char *pack_xz_library(void)
{
    return lzma_version_string();
}
