/* SPDX-License-Identifier: Apache-2.0 */
/* Compression behind one door: gzip and zlib (isa-l), zstd, xz, snappy in; gzip and zstd out.
 *
 * `unpack` pulls: each call yields the next piece, at most 1 MiB, valid until the next call. It
 * refuses bombs: more than `budget.bytes_max` out, or more than `budget.ratio_max` times what went
 * in once 32 MiB are out. A cut-off stream yields what is whole and then ERR_TRUNCATED; several
 * gzip members are one stream; garbage behind the last one is ERR_FORMAT after all data was
 * yielded.
 */
#ifndef JVIEWD_BASE_PACK_PACK_H
#define JVIEWD_BASE_PACK_PACK_H

#include "base/bytes.h"
#include "base/error.h"

enum packing {
    PACKING_NONE,
    PACKING_GZIP,
    PACKING_ZSTD,
    PACKING_XZ,
    PACKING_ZLIB, /* inside of formats that say so: it has no magic */
    PACKING_ZIP,  /* an archive of one file; packing_of does not look for it */
};

enum packing packing_of(struct bytes head); /* by magic */
const char *packing_name(enum packing packing);

struct unpack_budget {
    uint64_t bytes_max;
    uint32_t ratio_max; /* 0: any */
};

struct unpack;
struct unpack *unpack_open(struct bytes packed, enum packing packing, struct unpack_budget budget,
                           struct error *err);
/* The next piece; no bytes at the end or after a failure (err is set then). */
struct bytes unpack_next(struct unpack *unpack);
uint64_t unpack_consumed(const struct unpack *unpack); /* of the packed bytes: for progress */
void unpack_close(struct unpack *unpack);

/* One zstd frame of known size: our own blocks. */
size_t zstd_bound(size_t count);
size_t zstd_pack(void *to, size_t capacity, struct bytes from, int level); /* never fails */
MUST_CHECK enum status zstd_unpack(void *to, size_t count, struct bytes from, struct error *err);

/* One block of Snappy, as others write it. */
bool snappy_holds(struct bytes from, size_t count); /* says that it unpacks to `count` bytes */
/* Fills exactly `count` bytes; false where the block is broken or holds another number. */
MUST_CHECK bool snappy_unpack(void *to, size_t count, struct bytes from);

/* Replies: whole bodies. */
struct bytes pack_gzip(struct arena *arena, struct bytes from);
struct bytes pack_zstd(struct arena *arena, struct bytes from);

/* A gzip stream written piece by piece: exports. */
typedef enum status pack_write(void *to, struct bytes piece, struct error *err);
struct gzip_out;
struct gzip_out *gzip_out_open(pack_write *write, void *to);
MUST_CHECK enum status gzip_out_put(struct gzip_out *out, struct bytes piece, struct error *err);
/* Ends the stream and frees. */
MUST_CHECK enum status gzip_out_close(struct gzip_out *out, struct error *err);

/* Versions of the libraries behind all that. */
const char *pack_gzip_library(void);
const char *pack_zstd_library(void);
const char *pack_xz_library(void);
const char *pack_snappy_library(void);

#endif
