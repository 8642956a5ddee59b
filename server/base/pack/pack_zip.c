/* SPDX-License-Identifier: Apache-2.0 */
/* An archive of one file as a packing: what is inside, piece by piece, by base/pack/archive.c.
 *
 * libzip tells no position in the packed bytes: they count as read in step with what came out.
 */
#include <stdlib.h>

#include "base/pack/archive.h"
#include "base/pack/pack_stream.h"

struct one_file {
    struct arena *arena;
    struct archive archive;
    struct archive_file file;
    const uint8_t *start; /* of the archive's bytes; NULL before the first read */
    uint64_t made;
};

static void *one_file_open(void)
{
    struct one_file *one = memory_resize(NULL, 1, sizeof(*one));

    *one = (struct one_file){.arena = arena_create()};
    return one;
}

static void one_file_close(void *state)
{
    struct one_file *one = state;

    archive_file_close(&one->file);
    archive_close(&one->archive);
    arena_destroy(one->arena);
    free(one);
}

static enum status begin(struct one_file *one, const struct pack_stream *stream, struct error *err)
{
    struct bytes whole = {.at = stream->in, .count = pack_stream_left(stream)};

    TRY(archive_open(whole, one->arena, &one->archive, err));
    if (one->archive.count != 1)
        return fail(err, ERR_UNSUPPORTED, "the ZIP archive holds %u files where one is due",
                    one->archive.count);
    one->start = stream->in;
    return archive_file_open(&one->archive, &one->archive.entries[0], &one->file, err);
}

static size_t consumed(const struct one_file *one)
{
    const struct archive_entry *entry = &one->archive.entries[0];

    if (one->made >= entry->size)
        return (size_t)entry->packed_size;
    return (size_t)((double)entry->packed_size * ((double)one->made / (double)entry->size));
}

static enum status one_file_read(void *state, struct pack_stream *stream, struct error *err)
{
    struct one_file *one = state;
    size_t count;

    if (one->start == NULL)
        TRY(begin(one, stream, err));
    while (!stream->ended && pack_stream_room(stream) > 0) {
        TRY(archive_file_read(&one->file, stream->out, pack_stream_room(stream), &count, err));
        stream->out += count;
        one->made += count;
        stream->in = one->start + consumed(one);
        stream->ended = count == 0;
    }
    if (stream->ended)
        stream->in = stream->in_end;
    return OK;
}

const struct pack_reader zip_reader = {
    .open = one_file_open, .read = one_file_read, .close = one_file_close};
