/* xz in: a dictionary of at most 256 MiB, several streams and padding as one. */
#include <lzma.h>
#include <stdlib.h>

#include "base/pack_stream.h"

static const uint64_t memory_bytes_max = 256ULL << 20;

static void *xz_open(void)
{
    lzma_stream *xz = memory_resize(NULL, 1, sizeof(*xz));

    *xz = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(xz, memory_bytes_max, LZMA_CONCATENATED) != LZMA_OK)
        abort(); /* out of memory: as base/arena.h says */
    return xz;
}

static void xz_close(void *state)
{
    lzma_end(state);
    free(state);
}

static enum status broken(lzma_ret code, bool any, struct error *err)
{
    switch (code) {
    case LZMA_BUF_ERROR:
        return fail(err, ERR_TRUNCATED, "the xz data is cut off");
    case LZMA_MEMLIMIT_ERROR:
        return fail(err, ERR_LIMIT, "the xz data asks for more than %u MiB of memory",
                    (unsigned)(memory_bytes_max >> 20));
    case LZMA_FORMAT_ERROR:
        return fail(err, ERR_FORMAT,
                    any ? "what stands behind the end of the xz data is no xz"
                        : "the data does not begin as xz does");
    case LZMA_MEM_ERROR:
        abort(); /* out of memory: as base/arena.h says */
    default:
        return fail(err, ERR_FORMAT, "the xz data is corrupt");
    }
}

static enum status xz_read(void *state, struct pack_stream *stream, struct error *err)
{
    lzma_stream *xz = state;

    while (!stream->ended && pack_stream_room(stream) > 0) {
        xz->next_in = stream->in;
        xz->avail_in = pack_stream_left(stream);
        xz->next_out = stream->out;
        xz->avail_out = pack_stream_room(stream);

        lzma_ret code = lzma_code(xz, LZMA_FINISH);

        stream->in = xz->next_in;
        stream->out = xz->next_out;
        if (code == LZMA_STREAM_END)
            stream->ended = true;
        else if (code != LZMA_OK)
            return broken(code, xz->total_out > 0, err);
    }
    return OK;
}

const struct pack_reader xz_reader = {.open = xz_open, .read = xz_read, .close = xz_close};
