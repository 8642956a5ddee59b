/* SPDX-License-Identifier: Apache-2.0 */
/* gzip and zlib in, by isa-l.
 *
 *   stream  member+ zero*
 *   member  1f 8b 08 flags time(4) extra os  [extra]  [name]  [comment]  [header crc]
 *           deflate blocks   crc32(4)   size(4)
 *
 *   zlib    78 ..  deflate blocks  adler32(4): one, and nothing behind it
 *
 * The header is ours to read: all packed bytes are at hand, and a cut-off header is then told from
 * a wrong one. Zeros behind the last member are padding (tapes, tar), as in gzip itself.
 */
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

#include "base/pack/pack_stream.h"

enum {
    FLAG_HEADER_CRC = 2,
    FLAG_EXTRA = 4,
    FLAG_NAME = 8,
    FLAG_COMMENT = 16,
    FLAG_RESERVED = 0xE0
};
enum { FIXED_HEADER = 10, FEED_MAX = 1 << 30 };

struct gzip {
    struct inflate_state inflate;
    bool inside, any; /* a member is open; one was read */
};

static void *gzip_open(void)
{
    struct gzip *gzip = memory_resize(NULL, 1, sizeof(*gzip));

    isal_inflate_init(&gzip->inflate);
    gzip->inside = gzip->any = false;
    return gzip;
}

static enum status cut_off(struct error *err)
{
    return fail(err, ERR_TRUNCATED, "the gzip data is cut off");
}

/* Skips a text that ends with a NUL. */
static enum status skip_text(const uint8_t **at, const uint8_t *end, struct error *err)
{
    const uint8_t *nul = memchr(*at, 0, (size_t)(end - *at));

    if (nul == NULL)
        return cut_off(err);
    *at = nul + 1;
    return OK;
}

static enum status skip_bytes(const uint8_t **at, const uint8_t *end, size_t count,
                              struct error *err)
{
    if ((size_t)(end - *at) < count)
        return cut_off(err);
    *at += count;
    return OK;
}

static enum status read_header(struct pack_stream *stream, struct error *err)
{
    const uint8_t *at = stream->in, *end = stream->in_end;

    if (pack_stream_left(stream) < FIXED_HEADER)
        return cut_off(err);

    unsigned method = at[2], flags = at[3];

    if (method != 8 || (flags & FLAG_RESERVED) != 0)
        return fail(err, ERR_FORMAT, "the gzip header is broken (method %u, flags 0x%02X)", method,
                    flags);
    at += FIXED_HEADER;
    if ((flags & FLAG_EXTRA) != 0) {
        const uint8_t *size = at;

        TRY(skip_bytes(&at, end, 2, err));
        TRY(skip_bytes(&at, end, size[0] | (size_t)size[1] << 8, err));
    }
    if ((flags & FLAG_NAME) != 0)
        TRY(skip_text(&at, end, err));
    if ((flags & FLAG_COMMENT) != 0)
        TRY(skip_text(&at, end, err));
    if ((flags & FLAG_HEADER_CRC) != 0)
        TRY(skip_bytes(&at, end, 2, err));
    stream->in = at;
    return OK;
}

static bool only_zeros(const uint8_t *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (at[i] != 0)
            return false;
    }
    return true;
}

/* Between members: the next one, the end, or what does not belong there. */
static enum status next_member(struct gzip *gzip, struct pack_stream *stream, struct error *err)
{
    static const uint8_t magic[] = {0x1F, 0x8B};
    size_t left = pack_stream_left(stream);
    size_t seen = left < sizeof(magic) ? left : sizeof(magic);

    if (gzip->any && only_zeros(stream->in, left)) {
        stream->in = stream->in_end;
        stream->ended = true;
        return OK;
    }
    if (seen > 0 && memcmp(stream->in, magic, seen) != 0)
        return fail(err, ERR_FORMAT,
                    gzip->any ? "%zu bytes after the end of the gzip data are not gzip"
                              : "%zu bytes that do not begin as gzip does",
                    left);
    TRY(read_header(stream, err));
    isal_inflate_reset(&gzip->inflate);
    gzip->inflate.crc_flag = ISAL_GZIP_NO_HDR_VER;
    gzip->inside = gzip->any = true;
    return OK;
}

static enum status broken(int code, struct error *err)
{
    switch (code) {
    case ISAL_INCORRECT_CHECKSUM:
        return fail(err, ERR_FORMAT, "the gzip data is corrupt: its checksum does not match");
    case ISAL_INVALID_LOOKBACK:
        return fail(err, ERR_FORMAT, "the gzip data is corrupt: a match before the beginning");
    default:
        return fail(err, ERR_FORMAT, "the gzip data is corrupt: no valid deflate block or symbol");
    }
}

/* Inflates once; leaves when nothing moves any more. */
static enum status inflate_some(struct gzip *gzip, struct pack_stream *stream, struct error *err)
{
    struct inflate_state *inflate = &gzip->inflate;
    size_t left = pack_stream_left(stream), room = pack_stream_room(stream);
    uint32_t fed = (uint32_t)(left < FEED_MAX ? left : FEED_MAX);

    inflate->next_in = (uint8_t *)(uintptr_t)stream->in;
    inflate->avail_in = fed;
    inflate->next_out = stream->out;
    inflate->avail_out = (uint32_t)room;

    int code = isal_inflate(inflate);
    size_t made = room - inflate->avail_out;
    bool moved = made > 0 || inflate->next_in != stream->in;

    /* It may also step back: bytes of the call before that it held and did not need. */
    stream->in = inflate->next_in;
    stream->out += made;
    if (code < ISAL_DECOMP_OK || code == ISAL_NEED_DICT)
        return broken(code, err);
    if (inflate->block_state == ISAL_BLOCK_FINISH)
        gzip->inside = false;
    else if (!moved)
        return cut_off(err);
    return OK;
}

static enum status gzip_read(void *state, struct pack_stream *stream, struct error *err)
{
    struct gzip *gzip = state;

    while (!stream->ended && pack_stream_room(stream) > 0) {
        if (gzip->inside)
            TRY(inflate_some(gzip, stream, err));
        else
            TRY(next_member(gzip, stream, err));
    }
    return OK;
}

/* Two bytes that are a multiple of 31; no dictionary, because nobody could have it. */
static enum status begin_zlib(struct gzip *gzip, struct pack_stream *stream, struct error *err)
{
    const uint8_t *at = stream->in;

    if (pack_stream_left(stream) < 2)
        return cut_off(err);
    if ((at[0] & 15) != 8 || (at[0] * 256 + at[1]) % 31 != 0 || (at[1] & 32) != 0)
        return fail(err, ERR_FORMAT, "the zlib header is broken");
    stream->in += 2;
    isal_inflate_reset(&gzip->inflate);
    gzip->inflate.crc_flag = ISAL_ZLIB_NO_HDR_VER;
    gzip->inside = gzip->any = true;
    return OK;
}

static enum status zlib_read(void *state, struct pack_stream *stream, struct error *err)
{
    struct gzip *gzip = state;

    while (!stream->ended && pack_stream_room(stream) > 0) {
        if (gzip->inside) {
            TRY(inflate_some(gzip, stream, err));
        } else if (!gzip->any) {
            TRY(begin_zlib(gzip, stream, err));
        } else {
            if (pack_stream_left(stream) > 0)
                return fail(err, ERR_FORMAT, "%zu bytes after the end of the zlib data",
                            pack_stream_left(stream));
            stream->ended = true;
        }
    }
    return OK;
}

const struct pack_reader zlib_reader = {.open = gzip_open, .read = zlib_read, .close = free};
const struct pack_reader gzip_reader = {.open = gzip_open, .read = gzip_read, .close = free};

const char *pack_gzip_library(void)
{
    return ISAL_VERSION; /* of the build: the library does not say */
}
