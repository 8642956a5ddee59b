/* SPDX-License-Identifier: Apache-2.0 */
/* A profile file as its decoder sees it: a span when whole, pieces when streamed, packed or not.
 *
 *   plain     bytes = head ... whole; pieces are steps of 1 MiB through the same span
 *   packed    head and pieces come from the unpacker; whole is an unlinked temporary file, mapped,
 *             because binary formats refer backwards and forwards
 *   zipped    an archive of one file is that file; what is packed inside once more is unpacked
 *             from a temporary file of its own
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/pack/archive.h"
#include "decode/decode.h"

enum { HEAD_BYTES = 64 << 10, PIECE_BYTES = 1 << 20 };

/* Real traces pack to a tenth or, when very regular, a hundredth; deflate ends at 1 : 1,032. */
static const struct unpack_budget stream_budget = {
    .bytes_max = UINT64_C(64) << 30,
    .ratio_max = 400,
};
/* What is mapped whole lies on disk meanwhile. */
static const struct unpack_budget whole_budget = {
    .bytes_max = UINT64_C(16) << 30,
    .ratio_max = 400,
};

struct input_state {
    const char *temporary_dir;
    struct unpack *stream; /* of the pieces; NULL before the first */
    bool stream_ended;
    size_t next;                  /* of a plain file: where the next piece starts */
    struct file_map whole, inner; /* inner: the packed file of an archive */
};

static struct bytes unpack_head(const struct input *input, struct arena *arena)
{
    struct error ignored = {0}; /* whoever reads the content meets it again */
    struct unpack *unpack = unpack_open(input->bytes, input->packing, stream_budget, &ignored);
    uint8_t *head = arena_array(arena, uint8_t, HEAD_BYTES);
    size_t count = 0;

    while (unpack != NULL && count < HEAD_BYTES) {
        struct bytes piece = unpack_next(unpack);
        size_t take = piece.count < HEAD_BYTES - count ? piece.count : HEAD_BYTES - count;
        if (take == 0)
            break;
        memcpy(head + count, piece.at, take);
        count += take;
    }
    unpack_close(unpack);
    return (struct bytes){.at = head, .count = count};
}

/* An archive of one file is that file; one that is damaged or holds more stays what it is. */
static void look_into_archive(struct str *name, struct bytes bytes, enum packing *packing,
                              struct arena *arena)
{
    struct error ignored = {0};
    struct archive archive;

    if (!archive_is(bytes) || archive_open(bytes, arena, &archive, &ignored) != OK)
        return;
    if (archive.count == 1) {
        *name = path_base(archive.entries[0].name);
        *packing = PACKING_ZIP;
    }
    archive_close(&archive);
}

/* A file without a name: it is gone when the process is. */
static enum status open_nameless(const char *dir, int *ret_fd, struct error *err)
{
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
        char path[4096];
        int size = snprintf(path, sizeof path, "%s/jviewd-unpacked-XXXXXX", dir);
        if (size < 0 || (size_t)size >= sizeof path)
            return fail(err, ERR_INVALID, "the temporary directory's name is too long");
        fd = mkostemp(path, O_CLOEXEC);
        if (fd >= 0)
            unlink(path);
    }
    if (fd < 0)
        return fail(err, ERR_IO, "cannot make a temporary file in %s: %s", dir, strerror(errno));
    *ret_fd = fd;
    return OK;
}

/* Unpacks into fd. A stream that ends early, or breaks after it has yielded something, is cut. */
static enum status unpack_into(const struct input *input, int fd, uint64_t *ret_size, bool *ret_cut,
                               struct error *err)
{
    struct error packing_err = {0};
    struct unpack *unpack = unpack_open(input->bytes, input->packing, whole_budget, &packing_err);
    enum status written = OK;

    *ret_size = 0;
    while (unpack != NULL && written == OK) {
        struct bytes piece = unpack_next(unpack);
        if (piece.count == 0)
            break;
        written = file_write_all(fd, piece.at, piece.count, *ret_size, err);
        *ret_size += piece.count;
    }
    unpack_close(unpack);
    TRY(written);
    *ret_cut =
        *ret_size > 0 && (packing_err.code == ERR_TRUNCATED || packing_err.code == ERR_FORMAT);
    if (packing_err.code != OK && !*ret_cut)
        return fail(err, packing_err.code, "%s", packing_err.message);
    return OK;
}

static enum status unpack_to_map(const struct input *input, struct file_map *ret, bool *ret_cut,
                                 struct error *err)
{
    uint64_t size;
    int fd;

    TRY(open_nameless(input->state->temporary_dir, &fd, err));
    enum status status = unpack_into(input, fd, &size, ret_cut, err);
    if (status == OK)
        status = file_map(fd, (size_t)size, ret, err);
    close(fd);
    return status;
}

/* A packed file in an archive: its bytes are the input. */
static enum status enter_archive(struct input *input, struct arena *arena, struct error *err)
{
    enum packing packing = packing_of(input->head);
    bool cut; /* whoever unpacks the rest meets it again */

    if (input->packing != PACKING_ZIP || packing == PACKING_NONE)
        return OK;
    TRY(unpack_to_map(input, &input->state->inner, &cut, err));
    input->bytes = input->state->inner.bytes;
    input->packing = packing;
    input->head = unpack_head(input, arena);
    return OK;
}

enum status input_open(struct str name, struct bytes bytes, const char *temporary_dir,
                       struct arena *arena, struct input *ret, struct error *err)
{
    enum packing packing = packing_of(bytes);

    look_into_archive(&name, bytes, &packing, arena);
    *ret = (struct input){
        .name = str_copy(arena, name),
        .bytes = bytes,
        .packing = packing,
        .head = {.at = bytes.at, .count = bytes.count < HEAD_BYTES ? bytes.count : HEAD_BYTES},
        .state = arena_new(arena, struct input_state),
    };
    ret->state->temporary_dir = temporary_dir != NULL ? temporary_dir : "/tmp";
    if (ret->packing != PACKING_NONE)
        ret->head = unpack_head(ret, arena);
    return enter_archive(ret, arena, err);
}

void input_close(struct input *input)
{
    if (input->state == NULL)
        return;
    if (input->state->stream != NULL)
        unpack_close(input->state->stream);
    file_unmap(&input->state->whole);
    file_unmap(&input->state->inner);
    input->state = NULL;
}

enum status input_whole(struct input *input, struct bytes *ret, bool *ret_cut, struct error *err)
{
    *ret_cut = false;
    *ret = input->bytes;
    if (input->packing == PACKING_NONE)
        return OK;
    enum status status = unpack_to_map(input, &input->state->whole, ret_cut, err);
    *ret = input->state->whole.bytes;
    return status;
}

void input_pass(const struct input *input, struct bytes whole, size_t upto)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)whole.at;
    uintptr_t end = (from + upto) / page * page;

    /* Of a map, which begins with a page. Advice only: a refusal changes nothing but the memory. */
    if ((input->is_map || input->packing != PACKING_NONE) && from < end)
        (void)madvise((void *)from, end - from, MADV_DONTNEED);
}

static struct bytes next_plain(struct input *input)
{
    struct input_state *state = input->state;
    size_t left = input->bytes.count - state->next;
    struct bytes piece = {
        .at = input->bytes.at + state->next,
        .count = left < PIECE_BYTES ? left : PIECE_BYTES,
    };

    state->next += piece.count;
    return piece;
}

struct bytes input_next(struct input *input, struct error *err)
{
    struct input_state *state = input->state;

    if (err->code != OK || state->stream_ended)
        return (struct bytes){0};
    if (input->packing == PACKING_NONE)
        return next_plain(input);
    if (state->stream == NULL)
        state->stream = unpack_open(input->bytes, input->packing, stream_budget, err);
    struct bytes piece = {0};
    if (state->stream != NULL)
        piece = unpack_next(state->stream);
    state->stream_ended = piece.count == 0;
    return piece;
}

uint64_t input_consumed(const struct input *input)
{
    const struct input_state *state = input->state;

    if (input->packing == PACKING_NONE)
        return state->next;
    return state->stream != NULL ? unpack_consumed(state->stream) : 0;
}

const char *input_temporary_dir(const struct input *input)
{
    return input->state->temporary_dir;
}
