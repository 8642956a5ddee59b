/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a bundle as a ZIP archive, and checks each part against the manifest while it is read. */
#include "export/bundle.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pack/zip_out.h"

enum { PIECE_BYTES = 1 << 20 };

typedef enum status piece_taker(void *to, struct bytes piece, struct error *err);

struct copy { /* one walk over a file */
    int fd;
    piece_taker *take;
    void *to;
    const struct bundle_parts *parts; /* NULL: nobody cancels */
    uint64_t bytes;
    struct hasher *hasher;
};

static bool is_cancelled(const struct bundle_parts *parts)
{
    return parts != NULL && parts->cancelled != NULL && parts->cancelled(parts->cancelled_data);
}

static enum status copy_pieces(struct copy *copy, uint8_t *room, struct error *err)
{
    for (;;) {
        ssize_t got = pread(copy->fd, room, PIECE_BYTES, (off_t)copy->bytes);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fail(err, ERR_IO, "it cannot be read: %s", strerror(errno));
        if (got == 0)
            return OK;
        if (is_cancelled(copy->parts))
            return fail(err, ERR_CANCELLED, "the request for the bundle was cancelled");
        struct bytes piece = {.at = room, .count = (size_t)got};
        hasher_put(copy->hasher, piece);
        copy->bytes += piece.count;
        TRY(copy->take(copy->to, piece, err));
    }
}

static enum status copy_file(struct copy *copy, struct hash128 *ret, struct error *err)
{
    uint8_t *room = memory_resize(NULL, PIECE_BYTES, 1);

    copy->hasher = hasher_create();
    enum status status = copy_pieces(copy, room, err);
    *ret = hasher_end(copy->hasher);
    free(room);
    return status;
}

static enum status take_nothing(void *to, struct bytes piece, struct error *err)
{
    (void)to;
    (void)piece;
    (void)err;
    return OK;
}

enum status bundle_measure(int fd, const struct bundle_parts *parts, struct bundle_part *ret,
                           struct error *err)
{
    struct copy copy = {.fd = fd, .take = take_nothing, .parts = parts};
    struct hash128 hash;

    TRY(copy_file(&copy, &hash, err));
    ret->bytes = copy.bytes;
    hash128_hex(hash, ret->hash);
    return OK;
}

static enum status pack_piece(void *to, struct bytes piece, struct error *err)
{
    return zip_out_put(to, piece, err);
}

static enum status put_part(const struct bundle_parts *parts, uint32_t index, struct zip_out *out,
                            struct error *err)
{
    const struct bundle_part *part = &parts->parts[index];
    struct copy copy = {.take = pack_piece, .to = out, .parts = parts};
    struct hash128 hash;
    char hex[33];

    TRY(zip_out_begin(out, part->name, part->bytes, err));
    TRY(parts->open(parts->data, index, &copy.fd, err));
    enum status status = copy_file(&copy, &hash, err);
    file_close(copy.fd);
    TRY(status);
    hash128_hex(hash, hex);
    if (copy.bytes != part->bytes || strcmp(hex, part->hash) != 0)
        return fail(err, ERR_CONFLICT, "it has changed since it was read; try again");
    return zip_out_end(out, err);
}

static enum status put_all(const struct bundle_parts *parts, struct zip_out *out, struct error *err)
{
    TRY(zip_out_stored(out, parts->manifest_name,
                       (struct bytes){(const uint8_t *)parts->manifest.at, parts->manifest.count},
                       err));
    for (uint32_t i = 0; i < parts->count; i++) {
        if (put_part(parts, i, out, err) == OK)
            continue;
        error_context(err, "%.*s: ", STR_ARG(parts->parts[i].name));
        return err->code;
    }
    return OK;
}

enum status export_bundle(const struct bundle_parts *parts, pack_write *write, void *to,
                          struct error *err)
{
    struct zip_out *out = zip_out_open(write, to);
    enum status status = put_all(parts, out, err);
    enum status closed = zip_out_close(out, err);

    return status != OK ? status : closed;
}
