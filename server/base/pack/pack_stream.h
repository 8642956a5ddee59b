/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader of one packing gives to pack.c; included by the pack*.c files only.
 *
 * `read` moves bytes from `in` to `out` until `out` is full, the stream has ended or it failed. It
 * sees all packed bytes from the start, so "no more input" always means "cut off".
 */
#ifndef JVIEWD_BASE_PACK_PACK_STREAM_H
#define JVIEWD_BASE_PACK_PACK_STREAM_H

#include "base/pack/pack.h"

struct pack_stream {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_end;
    bool ended;
};

struct pack_reader {
    void *(*open)(void); /* ends the process when there is no memory */
    enum status (*read)(void *state, struct pack_stream *stream, struct error *err);
    void (*close)(void *state);
};

extern const struct pack_reader gzip_reader, zlib_reader, zip_reader, zstd_reader, xz_reader;

static inline size_t pack_stream_left(const struct pack_stream *stream)
{
    return (size_t)(stream->in_end - stream->in);
}

static inline size_t pack_stream_room(const struct pack_stream *stream)
{
    return (size_t)(stream->out_end - stream->out);
}

#endif
