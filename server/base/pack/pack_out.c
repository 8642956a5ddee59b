/* SPDX-License-Identifier: Apache-2.0 */
/* gzip out, by isa-l at its level 1: about zlib's level 3 in size at five times its speed. */
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "base/pack/pack.h"

enum { OUT_BYTES = 1 << 16, FEED_MAX = 1 << 30 };

struct gzip_out {
    pack_write *write;
    void *to;
    struct isal_zstream stream;
    uint8_t level_buffer[ISAL_DEF_LVL1_DEFAULT];
    uint8_t out[OUT_BYTES];
};

struct gzip_out *gzip_out_open(pack_write *write, void *to)
{
    struct gzip_out *out = memory_resize(NULL, 1, sizeof(*out));

    out->write = write;
    out->to = to;
    isal_deflate_init(&out->stream);
    out->stream.level = 1;
    out->stream.level_buf = out->level_buffer;
    out->stream.level_buf_size = sizeof(out->level_buffer);
    out->stream.gzip_flag = IGZIP_GZIP;
    return out;
}

/* Hands on what came out until the stream asks for more, or has ended. */
static enum status pump(struct gzip_out *out, struct error *err)
{
    do {
        out->stream.next_out = out->out;
        out->stream.avail_out = OUT_BYTES;
        if (isal_deflate(&out->stream) != COMP_OK)
            abort(); /* our own mistake: only wrong parameters fail */

        struct bytes made = {.at = out->out, .count = OUT_BYTES - out->stream.avail_out};

        if (made.count > 0)
            TRY(out->write(out->to, made, err));
    } while (out->stream.avail_out == 0 || out->stream.avail_in > 0);
    return OK;
}

enum status gzip_out_put(struct gzip_out *out, struct bytes piece, struct error *err)
{
    while (piece.count > 0) {
        size_t fed = piece.count < FEED_MAX ? piece.count : FEED_MAX;

        out->stream.next_in = (uint8_t *)(uintptr_t)piece.at;
        out->stream.avail_in = (uint32_t)fed;
        TRY(pump(out, err));
        piece.at += fed;
        piece.count -= fed;
    }
    return OK;
}

enum status gzip_out_close(struct gzip_out *out, struct error *err)
{
    out->stream.end_of_stream = 1;
    out->stream.avail_in = 0;

    enum status status = err != NULL && err->code != OK ? err->code : pump(out, err);

    free(out);
    return status;
}

static enum status append(void *to, struct bytes piece, struct error *err)
{
    (void)err;
    text_put(to, (const char *)piece.at, piece.count);
    return OK;
}

struct bytes pack_gzip(struct arena *arena, struct bytes from)
{
    struct text packed = {0};
    struct gzip_out *out = gzip_out_open(append, &packed);

    /* Writing to memory cannot fail. */
    if (gzip_out_put(out, from, NULL) != OK || gzip_out_close(out, NULL) != OK)
        abort();

    struct str copy = str_copy(arena, text_str(&packed));

    text_free(&packed);
    return (struct bytes){.at = (const uint8_t *)copy.at, .count = copy.count};
}
