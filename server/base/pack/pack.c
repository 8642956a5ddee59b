/* SPDX-License-Identifier: Apache-2.0 */
/* The pull side: pieces, budget and the order of data and failure are here; each packing's own
 * bytes are read in pack_gzip.c, pack_zstd.c, pack_xz.c, pack_zip.c. */
#include "base/pack/pack.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/pack/pack_stream.h"

enum { PIECE_BYTES = 1 << 20 };

/* A ratio says little about a small file: one that repeats a line packs a thousandfold. */
static const uint64_t ratio_counts_from_bytes = 32ULL << 20;

struct unpack {
    enum packing packing;
    struct bytes packed;
    struct unpack_budget budget;
    struct error *err;
    struct error failure; /* met, told once the data before it was yielded */
    const struct pack_reader *reader;
    void *state;
    struct pack_stream stream;
    uint64_t out_bytes;
    uint8_t *piece;
};

enum packing packing_of(struct bytes head)
{
    const struct {
        enum packing packing;
        struct bytes magic;
    } known[] = {
        {PACKING_GZIP, BYTES("\x1F\x8B\x08")},
        {PACKING_ZSTD, BYTES("\x28\xB5\x2F\xFD")},
        {PACKING_XZ, BYTES("\xFD\x37\x7A\x58\x5A\x00")},
    };

    for (size_t i = 0; i < COUNT(known); i++) {
        if (head.count >= known[i].magic.count &&
            memcmp(head.at, known[i].magic.at, known[i].magic.count) == 0)
            return known[i].packing;
    }
    return PACKING_NONE;
}

const char *packing_name(enum packing packing)
{
    static const char *const words[] = {
        [PACKING_NONE] = "none", [PACKING_GZIP] = "gzip", [PACKING_ZSTD] = "zstd",
        [PACKING_XZ] = "xz",     [PACKING_ZLIB] = "zlib", [PACKING_ZIP] = "ZIP",
    };

    return words[packing];
}

static const struct pack_reader *reader_of(enum packing packing)
{
    switch (packing) {
    case PACKING_GZIP:
        return &gzip_reader;
    case PACKING_ZSTD:
        return &zstd_reader;
    case PACKING_XZ:
        return &xz_reader;
    case PACKING_ZLIB:
        return &zlib_reader;
    case PACKING_ZIP:
        return &zip_reader;
    case PACKING_NONE:
        break;
    }
    return NULL;
}

struct unpack *unpack_open(struct bytes packed, enum packing packing, struct unpack_budget budget,
                           struct error *err)
{
    struct unpack *unpack = memory_resize(NULL, 1, sizeof(*unpack));

    *unpack = (struct unpack){
        .packing = packing,
        .packed = packed,
        .budget = budget,
        .err = err,
        .reader = reader_of(packing),
        .stream.in = packed.at,
        .stream.in_end = packed.count > 0 ? packed.at + packed.count : packed.at,
    };
    if (unpack->reader != NULL) {
        unpack->state = unpack->reader->open();
        unpack->piece = memory_resize(NULL, PIECE_BYTES, 1);
    }
    return unpack;
}

void unpack_close(struct unpack *unpack)
{
    if (unpack == NULL)
        return;
    if (unpack->reader != NULL)
        unpack->reader->close(unpack->state);
    free(unpack->piece);
    free(unpack);
}

uint64_t unpack_consumed(const struct unpack *unpack)
{
    return unpack->packed.count - pack_stream_left(&unpack->stream);
}

static enum status check_budget(struct unpack *unpack)
{
    uint64_t consumed = unpack_consumed(unpack);

    if (unpack->out_bytes > unpack->budget.bytes_max)
        return fail(&unpack->failure, ERR_LIMIT,
                    "the %s data unpacks to more than the limit of %" PRIu64 " bytes",
                    packing_name(unpack->packing), unpack->budget.bytes_max);
    if (unpack->budget.ratio_max > 0 && unpack->out_bytes > ratio_counts_from_bytes &&
        unpack->out_bytes / unpack->budget.ratio_max > consumed)
        return fail(&unpack->failure, ERR_LIMIT,
                    "the %s data looks like a bomb: %" PRIu64 " packed bytes already gave %" PRIu64
                    ", more than %" PRIu32 " times as many",
                    packing_name(unpack->packing), consumed, unpack->out_bytes,
                    unpack->budget.ratio_max);
    return OK;
}

/* Bytes that are not packed are yielded where they stand. */
static struct bytes next_plain(struct unpack *unpack)
{
    size_t left = pack_stream_left(&unpack->stream);
    struct bytes piece = {
        .at = unpack->stream.in,
        .count = left < PIECE_BYTES ? left : PIECE_BYTES,
    };

    if (piece.count > 0)
        unpack->stream.in += piece.count;
    unpack->out_bytes += piece.count;
    return piece;
}

static struct bytes next_packed(struct unpack *unpack)
{
    struct pack_stream *stream = &unpack->stream;

    stream->out = unpack->piece;
    stream->out_end = unpack->piece + PIECE_BYTES;
    (void)unpack->reader->read(unpack->state, stream, &unpack->failure);

    size_t count = (size_t)(stream->out - unpack->piece);

    unpack->out_bytes += count;
    return (struct bytes){.at = unpack->piece, .count = count};
}

struct bytes unpack_next(struct unpack *unpack)
{
    struct bytes piece = {0};

    if (unpack->failure.code == OK && !unpack->stream.ended)
        piece = unpack->reader == NULL ? next_plain(unpack) : next_packed(unpack);
    if (unpack->out_bytes > 0 && check_budget(unpack) == ERR_LIMIT)
        piece.count = 0;
    if (piece.count == 0 && unpack->failure.code != OK)
        (void)error_set(unpack->err, unpack->failure.code, unpack->failure.file,
                        unpack->failure.line, "%s", unpack->failure.message);
    return piece;
}
