/* SPDX-License-Identifier: Apache-2.0 */
/* Packs a file by zstd with a trailer that tells what it was, and unpacks it again. Facts:
 * zstd's skippable frames. */
#include "base/pack/pack_cold.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/pack/pack.h"

enum {
    PIECE_BYTES = 1 << 20,
    SAMPLES = 4,
    LEVEL = 10, /* of zstd: an XPlane packs to a tenth at 50 MB/s, and hardly smaller at 19 */
    WINDOW_LOG_MAX = 27,
    RATIO_MAX = 400, /* as for any packed profile */
    HEAD_BYTES = 8,
    TAIL_BYTES = HEAD_BYTES + 48,
};

#define SLACK_BYTES (UINT64_C(64) << 20)
#define UNPACKED_BYTES_MAX (UINT64_C(64) << 30)

static const uint8_t tail_head[HEAD_BYTES + 8] = {0x5E, 0x2A, 0x4D, 0x18, 48,  0,   0,   0,
                                                  'j',  'v',  'i',  'e',  'w', 'd', '0', '1'};

/* Up to `count` bytes: fewer at the end of the file; -1 with err set. */
static ssize_t read_at(int fd, void *to, size_t count, uint64_t at, struct error *err)
{
    ssize_t got;

    do
        got = pread(fd, to, count, (off_t)at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        (void)fail(err, ERR_IO, "it cannot be read: %s", strerror(errno));
    return got;
}

static bool is_hex(const char *digits)
{
    for (int i = 0; i < 32; i++) {
        if (memchr("0123456789abcdef", digits[i], 16) == NULL)
            return false;
    }
    return true;
}

bool cold_of(int fd, struct cold *ret)
{
    uint8_t tail[TAIL_BYTES];
    struct error ignored = {0};
    struct stat info;

    if (fstat(fd, &info) != 0 || info.st_size <= TAIL_BYTES ||
        read_at(fd, tail, TAIL_BYTES, (uint64_t)info.st_size - TAIL_BYTES, &ignored) !=
            TAIL_BYTES ||
        memcmp(tail, tail_head, sizeof tail_head) != 0)
        return false;
    memcpy(ret->content, tail + TAIL_BYTES - 32, 32);
    ret->content[32] = '\0';
    memcpy(&ret->bytes, tail + sizeof tail_head, sizeof ret->bytes);
    return is_hex(ret->content);
}

static void make_tail(const struct cold *cold, uint8_t ret[TAIL_BYTES])
{
    memcpy(ret, tail_head, sizeof tail_head);
    memcpy(ret + sizeof tail_head, &cold->bytes, sizeof cold->bytes);
    memcpy(ret + TAIL_BYTES - 32, cold->content, 32);
}

struct packing_out { /* one file on its way into its packing */
    ZSTD_CCtx *context;
    uint8_t *in, *out;
    int to;
    uint64_t written;
};

static enum status pack_piece(struct packing_out *packing, size_t count, bool last,
                              struct error *err)
{
    ZSTD_inBuffer in = {.src = packing->in, .size = count};
    size_t left;

    do {
        ZSTD_outBuffer out = {.dst = packing->out, .size = PIECE_BYTES};

        left =
            ZSTD_compressStream2(packing->context, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return fail(err, ERR_IO, "it cannot be packed: %s", ZSTD_getErrorName(left));
        TRY(file_write_all(packing->to, packing->out, out.pos, packing->written, err));
        packing->written += out.pos;
    } while (in.pos < in.size || (last && left > 0));
    return OK;
}

static enum status pack_all(struct packing_out *packing, int from, struct cold *cold,
                            struct error *err)
{
    struct hasher *hasher = hasher_create();
    enum status status = OK;
    uint64_t done = 0;

    for (bool last = false; status == OK && !last;) {
        ssize_t got = read_at(from, packing->in, PIECE_BYTES, done, err);

        if (got >= 0)
            done += (uint64_t)got;
        last = done >= cold->bytes;
        if (got < 0)
            status = err->code;
        else if (done > cold->bytes || (got == 0 && !last))
            status = fail(err, ERR_CONFLICT, "it changed while it was read");
        else
            status = pack_piece(packing, (size_t)got, last, err);
        if (status == OK)
            hasher_put(hasher, (struct bytes){.at = packing->in, .count = (size_t)got});
    }
    hash128_hex(hasher_end(hasher), cold->content);
    return status;
}

enum status cold_pack(int from, uint64_t bytes, int to, struct cold *ret,
                      uint64_t *ret_packed_bytes, struct error *err)
{
    struct packing_out packing = {.context = ZSTD_createCCtx(),
                                  .in = memory_resize(NULL, PIECE_BYTES, 1),
                                  .out = memory_resize(NULL, PIECE_BYTES, 1),
                                  .to = to};
    uint8_t tail[TAIL_BYTES];

    if (packing.context == NULL)
        memory_refused(0, 0);
    ZSTD_CCtx_setParameter(packing.context, ZSTD_c_compressionLevel, LEVEL);
    ZSTD_CCtx_setParameter(packing.context, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setPledgedSrcSize(packing.context, bytes);
    *ret = (struct cold){.bytes = bytes};
    enum status status = pack_all(&packing, from, ret, err);
    if (status == OK) {
        make_tail(ret, tail);
        status = file_write_all(to, tail, sizeof tail, packing.written, err);
    }
    *ret_packed_bytes = packing.written + sizeof tail;
    ZSTD_freeCCtx(packing.context);
    free(packing.in);
    free(packing.out);
    return status;
}

struct unpacking { /* and back */
    ZSTD_DCtx *context;
    uint8_t *in, *out;
    int to;
    uint64_t done, bytes_max;
    struct hasher *hasher;
    bool inside; /* of a frame */
};

static enum status take_out(struct unpacking *unpacking, size_t count, struct error *err)
{
    if (unpacking->done + count > unpacking->bytes_max)
        return fail(err, ERR_FORMAT, "it unpacks to more than it says");
    if (unpacking->to >= 0)
        TRY(file_write_all(unpacking->to, unpacking->out, count, unpacking->done, err));
    hasher_put(unpacking->hasher, (struct bytes){.at = unpacking->out, .count = count});
    unpacking->done += count;
    return OK;
}

static enum status unpack_piece(struct unpacking *unpacking, size_t count, struct error *err)
{
    ZSTD_inBuffer in = {.src = unpacking->in, .size = count};
    bool is_full = true;

    while (in.pos < in.size || (is_full && unpacking->inside)) {
        ZSTD_outBuffer out = {.dst = unpacking->out, .size = PIECE_BYTES};
        size_t left = ZSTD_decompressStream(unpacking->context, &out, &in);

        if (ZSTD_isError(left))
            return fail(err, ERR_FORMAT, "the zstd data is corrupt: %s", ZSTD_getErrorName(left));
        unpacking->inside = left > 0;
        is_full = out.pos == out.size;
        TRY(take_out(unpacking, out.pos, err));
    }
    return OK;
}

static enum status unpack_all(struct unpacking *unpacking, int from, struct error *err)
{
    uint64_t read = 0;

    for (;;) {
        ssize_t got = read_at(from, unpacking->in, PIECE_BYTES, read, err);

        if (got < 0)
            return err->code;
        if (got == 0)
            break;
        read += (uint64_t)got;
        TRY(unpack_piece(unpacking, (size_t)got, err));
    }
    if (unpacking->inside)
        return fail(err, ERR_TRUNCATED, "the zstd data is cut off");
    return OK;
}

static enum status check_bound(int from, const struct cold *cold, struct error *err)
{
    struct stat info;

    if (fstat(from, &info) != 0)
        return fail(err, ERR_IO, "it cannot be read: %s", strerror(errno));
    uint64_t packed = (uint64_t)info.st_size;
    if (cold->bytes > UNPACKED_BYTES_MAX ||
        (cold->bytes > SLACK_BYTES && cold->bytes / RATIO_MAX > packed))
        return fail(err, ERR_LIMIT,
                    "it says that it unpacks to %" PRIu64 " bytes, more than %d times its size",
                    cold->bytes, (int)RATIO_MAX);
    return OK;
}

enum status cold_unpack(int from, const struct cold *cold, int to, struct error *err)
{
    char content[33];

    TRY(check_bound(from, cold, err));
    struct unpacking unpacking = {.context = ZSTD_createDCtx(),
                                  .in = memory_resize(NULL, PIECE_BYTES, 1),
                                  .out = memory_resize(NULL, PIECE_BYTES, 1),
                                  .to = to,
                                  .bytes_max = cold->bytes,
                                  .hasher = hasher_create()};
    if (unpacking.context == NULL)
        memory_refused(0, 0);
    ZSTD_DCtx_setParameter(unpacking.context, ZSTD_d_windowLogMax, WINDOW_LOG_MAX);
    enum status status = unpack_all(&unpacking, from, err);
    hash128_hex(hasher_end(unpacking.hasher), content);
    ZSTD_freeDCtx(unpacking.context);
    free(unpacking.in);
    free(unpacking.out);
    TRY(status);
    if (unpacking.done != cold->bytes || strcmp(content, cold->content) != 0)
        return fail(err, ERR_FORMAT, "it does not unpack to the file that it says it was");
    return OK;
}

uint64_t cold_guess(int fd, uint64_t bytes)
{
    uint8_t *in = memory_resize(NULL, PIECE_BYTES, 1);
    size_t capacity = zstd_bound(PIECE_BYTES);
    uint8_t *out = memory_resize(NULL, capacity, 1);
    uint64_t taken = 0, packed = 0;
    struct error ignored = {0};

    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t at = bytes <= SAMPLES * (uint64_t)PIECE_BYTES
                          ? i * PIECE_BYTES
                          : i * ((bytes - PIECE_BYTES) / (SAMPLES - 1));
        ssize_t got = at < bytes ? read_at(fd, in, PIECE_BYTES, at, &ignored) : 0;

        if (got <= 0)
            break;
        taken += (uint64_t)got;
        packed += zstd_pack(out, capacity, (struct bytes){.at = in, .count = (size_t)got}, LEVEL);
    }
    free(in);
    free(out);
    return taken == 0 ? bytes : (uint64_t)((double)bytes * ((double)packed / (double)taken));
}
