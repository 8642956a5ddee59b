/* SPDX-License-Identifier: Apache-2.0 */
/* Segments, written: small pieces gather in a buffer, large ones go straight to the file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "store/segment.h"
#include "store/segment_file.h"

enum { BUFFER_BYTES = 1 << 18, READERS_MAX = 4 };

struct reader { /* one who reads what was written so far */
    struct file_map file;
    struct segment_map map;
};

struct segment_writer {
    struct file_out file;
    bool open;
    uint64_t written; /* in the file; the buffer follows */
    uint8_t *buffer;
    size_t buffered;
    struct segment_table tables[TABLE_KIND_COUNT_]; /* in the order of writing */
    uint32_t table_count;
    uint8_t *reserved; /* a table that is being filled: the last of tables; NULL none */
    void *reserved_map;
    size_t reserved_map_bytes;
    uint8_t *scratch; /* what view hands out */
    size_t scratch_bytes;
    struct reader *readers[READERS_MAX];
    uint32_t reader_count;
};

static uint64_t position(const struct segment_writer *writer)
{
    return writer->written + writer->buffered;
}

static enum status flush(struct segment_writer *writer, struct error *err)
{
    if (writer->buffered == 0)
        return OK;
    TRY(file_write_all(writer->file.fd, writer->buffer, writer->buffered, writer->written, err));
    writer->written += writer->buffered;
    writer->buffered = 0;
    return OK;
}

/* A table that was filled in place is complete with the next call. */
static void settle(struct segment_writer *writer)
{
    if (!writer->reserved)
        return;
    struct segment_table *table = &writer->tables[writer->table_count - 1];
    table->hash = hash64((struct bytes){.at = writer->reserved, .count = (size_t)table->size});
    munmap(writer->reserved_map, writer->reserved_map_bytes);
    writer->reserved = NULL;
}

static enum status append(struct segment_writer *writer, struct bytes bytes, struct error *err)
{
    if (bytes.count >= BUFFER_BYTES / 8) {
        TRY(flush(writer, err));
        TRY(file_write_all(writer->file.fd, bytes.at, bytes.count, writer->written, err));
        writer->written += bytes.count;
        return OK;
    }
    if (bytes.count > BUFFER_BYTES - writer->buffered)
        TRY(flush(writer, err));
    if (bytes.count > 0)
        memcpy(writer->buffer + writer->buffered, bytes.at, bytes.count);
    writer->buffered += bytes.count;
    return OK;
}

static enum status put_data(void *to, struct bytes bytes, uint64_t *ret_offset, struct error *err)
{
    static const uint8_t zeros[8];
    struct segment_writer *writer = to;

    settle(writer);
    *ret_offset = position(writer);
    TRY(append(writer, bytes, err));
    return append(writer, (struct bytes){.at = zeros, .count = -bytes.count & 7}, err);
}

static enum status add_table(struct segment_writer *writer, enum table_kind kind, size_t size,
                             struct error *err)
{
    for (uint32_t i = 0; i < writer->table_count; i++)
        if (writer->tables[i].kind == (uint32_t)kind)
            return fail(err, ERR_INVALID, "table %d was written before", (int)kind);
    if (kind <= 0 || kind >= TABLE_KIND_COUNT_)
        return fail(err, ERR_INVALID, "there is no table %d", (int)kind);
    writer->tables[writer->table_count++] =
        (struct segment_table){.kind = (uint32_t)kind, .offset = position(writer), .size = size};
    return OK;
}

static enum status put_table(void *to, enum table_kind kind, struct bytes bytes, struct error *err)
{
    struct segment_writer *writer = to;
    uint64_t offset;

    settle(writer);
    TRY(add_table(writer, kind, bytes.count, err));
    writer->tables[writer->table_count - 1].hash = hash64(bytes);
    return put_data(writer, bytes, &offset, err);
}

/* Maps the last table, all pages at once: a fault for every page costs several times more. */
static enum status map_last(struct segment_writer *writer, uint8_t **ret, struct error *err)
{
    const struct segment_table *table = &writer->tables[writer->table_count - 1];
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t from = table->offset / page * page;
    const size_t map_bytes = (size_t)(table->offset - from + table->size);

    if (table->size == 0) {
        *ret = writer->buffer; /* of which nothing is used */
        return OK;
    }
    void *map = mmap(NULL, map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                     writer->file.fd, (off_t)from);
    if (map == MAP_FAILED)
        return fail(err, ERR_IO, "the segment cannot be mapped: %s", strerror(errno));
    writer->reserved_map = map;
    writer->reserved_map_bytes = map_bytes;
    *ret = writer->reserved = (uint8_t *)map + (table->offset - from);
    return OK;
}

/* The space is taken first: a write into a mapped hole of a full disk would end the process. */
static enum status reserve_table(void *to, enum table_kind kind, size_t size, uint8_t **ret,
                                 struct error *err)
{
    struct segment_writer *writer = to;
    const size_t padded = (size + 7) & ~(size_t)7;
    int error = 0;

    settle(writer);
    TRY(flush(writer, err));
    TRY(add_table(writer, kind, size, err));
    if (padded > 0)
        error = posix_fallocate(writer->file.fd, (off_t)writer->written, (off_t)padded);
    if (error != 0)
        return fail(err, ERR_IO, "there is no room for %zu bytes of the segment: %s", padded,
                    strerror(error));
    writer->written += padded;
    return map_last(writer, ret, err);
}

static enum status view(void *to, uint64_t offset, size_t size, struct bytes *ret,
                        struct error *err)
{
    struct segment_writer *writer = to;
    size_t done = 0;

    settle(writer);
    TRY(flush(writer, err));
    if (offset > writer->written || size > writer->written - offset)
        return fail(err, ERR_INVALID, "nothing was written there");
    if (size > writer->scratch_bytes) {
        writer->scratch = memory_resize(writer->scratch, size, 1);
        writer->scratch_bytes = size;
    }
    while (done < size) {
        ssize_t got =
            pread(writer->file.fd, writer->scratch + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(err, ERR_IO, "the segment cannot be read back: %s",
                        got < 0 ? strerror(errno) : "it became shorter");
        done += (size_t)got;
    }
    *ret = (struct bytes){.at = writer->scratch, .count = size};
    return OK;
}

static enum status so_far(void *to, struct block_in *ret, struct error *err)
{
    struct segment_writer *writer = to;

    settle(writer);
    TRY(flush(writer, err));
    if (writer->reader_count == READERS_MAX)
        return fail(err, ERR_INVALID, "a segment in the making has too many readers");
    struct reader *reader = memory_calloc(1, sizeof(*reader));
    if (!reader)
        memory_refused(1, sizeof(*reader));
    writer->readers[writer->reader_count++] = reader;
    TRY(file_map(writer->file.fd, (size_t)writer->written, &reader->file, err));
    reader->map.bytes = reader->file.bytes;
    for (uint32_t i = 0; i < writer->table_count; i++) {
        reader->map.tables[writer->tables[i].kind] = writer->tables[i];
        reader->map.checked[writer->tables[i].kind] = SEGMENT_WHOLE; /* written just now */
    }
    *ret = segment_map_in(&reader->map);
    return OK;
}

enum status segment_writer_open(const char *path, struct segment_writer **ret, struct error *err)
{
    struct segment_writer *writer = memory_calloc(1, sizeof(*writer));

    if (!writer)
        memory_refused(1, sizeof(*writer));
    enum status status = file_out_open(&writer->file, path, err);
    if (status != OK) {
        free(writer);
        return status;
    }
    writer->open = true;
    writer->buffer = memory_resize(NULL, BUFFER_BYTES, 1);
    writer->buffered = sizeof(struct segment_header);
    memset(writer->buffer, 0, writer->buffered);
    *ret = writer;
    return OK;
}

struct block_out segment_writer_out(struct segment_writer *writer)
{
    return (struct block_out){.to = writer,
                              .data = put_data,
                              .table = put_table,
                              .table_reserve = reserve_table,
                              .view = view,
                              .so_far = so_far};
}

enum status segment_writer_commit(struct segment_writer *writer, const char content[33],
                                  struct error *err)
{
    struct segment_header header = {
        .magic = {0}, .version = SEGMENT_VERSION, .kind_rules_version = KIND_RULES_VERSION};

    settle(writer);
    struct bytes directory = {.at = (const uint8_t *)writer->tables,
                              .count = writer->table_count * sizeof(*writer->tables)};
    TRY(put_data(writer, directory, &header.directory_offset, err));
    TRY(flush(writer, err));
    memcpy(header.magic, SEGMENT_MAGIC, sizeof(header.magic));
    memcpy(header.content, content, sizeof(header.content));
    header.file_bytes = writer->written;
    header.directory_hash = hash64(directory);
    header.table_count = writer->table_count;
    header.hash = segment_header_hash(&header);
    TRY(file_write_all(writer->file.fd, &header, sizeof(header), 0, err));
    writer->open = false;
    return file_out_commit(&writer->file, err);
}

void segment_writer_abandon(struct segment_writer *writer)
{
    if (!writer)
        return;
    if (writer->reserved)
        munmap(writer->reserved_map, writer->reserved_map_bytes);
    for (uint32_t i = 0; i < writer->reader_count; i++) {
        file_unmap(&writer->readers[i]->file);
        free(writer->readers[i]);
    }
    if (writer->open)
        file_out_abandon(&writer->file);
    free(writer->buffer);
    free(writer->scratch);
    free(writer);
}
