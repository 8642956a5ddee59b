/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an attribution's file. Its entries are filled in the mapped file, where they stand: to
 * write them as well would be the same pages twice. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/scratch.h"
#include "store/attribution_parts.h"
#include "store/cache.h"

struct attribution_writer {
    struct file_out out;
    uint8_t *map; /* head and entries; NULL: the entries stand elsewhere */
    size_t mapped;
};

static const void *records_of(const struct attribution *from, int part)
{
    const void *const records[PART_COUNT] = {
        [PART_OPS] = from->ops,
        [PART_EXECUTIONS] = from->executions,
        [PART_ENTRIES] = from->entries,
        [PART_BY_TIME] = from->by_device_time,
        [PART_TOTALS] = from->totals,
        [PART_DEVICES] = from->devices,
        [PART_SPREADS] = from->spreads,
        [PART_KERNELS] = from->kernels,
        [PART_KERNEL_OF] = from->kernel_of,
        [PART_KERNEL_TOTALS] = from->kernel_totals,
        [PART_KERNEL_NAMES] = from->kernel_by_name,
        [PART_COSTS] = from->costs,
        [PART_NEEDS] = from->needs,
        [PART_TEXTS] = from->texts,
        [PART_TEXT_ENDS] = from->text_ends,
    };

    return records[part];
}

/* Sum and file in one walk, piece by piece, so that memory is read once. */
static enum status write_part(struct attribution_writer *writer, const struct attribution *from,
                              int part, uint64_t *at, struct attribution_head *head,
                              struct error *err)
{
    static const uint8_t zeros[8];
    const uint8_t *records = records_of(from, part);
    const bool stands = writer->map != NULL && records == writer->map + *at;
    const size_t size = head->count[part] * attribution_record_size[part];
    struct hasher *hasher = hasher_create();
    enum status status = OK;

    for (size_t done = 0; done < size && status == OK;) {
        size_t count = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;

        hasher_put(hasher, (struct bytes){.at = records + done, .count = count});
        if (!stands)
            status = file_write_all(writer->out.fd, records + done, count, *at + done, err);
        done += count;
    }
    if (size % 8 != 0) {
        hasher_put(hasher, (struct bytes){.at = zeros, .count = 8 - size % 8});
        if (status == OK)
            status = file_write_all(writer->out.fd, zeros, 8 - size % 8, *at + size, err);
    }
    head->sum[part] = hasher_end(hasher).low;
    *at += attribution_part_bytes(head, part);
    return status;
}

static enum status write_all(struct attribution_writer *writer, const char content[33],
                             const struct attribution *from, struct error *err)
{
    struct attribution_head head = {
        .version = ATTRIBUTION_VERSION,
        .kind_rules = KIND_RULES_VERSION,
        .count = {[PART_ENTRIES] = from->entry_count,
                  [PART_OPS] = from->op_count,
                  [PART_EXECUTIONS] = from->execution_count,
                  [PART_BY_TIME] = from->entry_count,
                  [PART_TOTALS] = from->totals == NULL ? 0 : from->op_count,
                  [PART_DEVICES] = from->device_count,
                  [PART_SPREADS] = from->spread_count,
                  [PART_KERNELS] = from->kernel_count,
                  [PART_KERNEL_OF] = from->kernel_of == NULL ? 0 : from->entry_count,
                  [PART_KERNEL_TOTALS] = from->kernel_count,
                  [PART_KERNEL_NAMES] = from->kernel_name_count,
                  [PART_COSTS] = from->costs == NULL ? 0 : from->op_count,
                  [PART_NEEDS] = from->need_count,
                  [PART_TEXTS] = from->text_bytes,
                  [PART_TEXT_ENDS] = from->text_count},
    };
    uint64_t at = sizeof head;

    memcpy(head.magic, attribution_magic, sizeof attribution_magic);
    memcpy(head.content, content, sizeof head.content);
    for (int part = 0; part < PART_COUNT; part++)
        TRY(write_part(writer, from, part, &at, &head, err));
    if (writer->map != NULL && ftruncate(writer->out.fd, (off_t)at) != 0)
        return fail(err, ERR_IO, "its end cannot be cut: %s", strerror(errno));
    head.head_sum = attribution_head_sum(head);
    return file_write_all(writer->out.fd, &head, sizeof head, 0, err);
}

enum status attribution_writer_open(const char *path, struct attribution_writer **ret,
                                    struct error *err)
{
    struct attribution_writer *writer = memory_resize(NULL, 1, sizeof *writer);

    *writer = (struct attribution_writer){0};
    enum status status = file_out_open(&writer->out, path, err);
    if (status == OK)
        *ret = writer;
    else
        free(writer);
    return status;
}

/* Blocks first: a hole that a full disk has no room for would end the process. */
static uint8_t *map_room(int fd, size_t bytes)
{
    int failure;

    do
        failure = posix_fallocate(fd, 0, (off_t)bytes);
    while (failure == EINTR);
    if (failure != 0)
        return NULL;

    uint8_t *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (map == MAP_FAILED)
        return NULL;
    (void)madvise(map, bytes, MADV_POPULATE_WRITE); /* a fault a page costs several times more */
    return map;
}

struct attributed *attribution_writer_entries(struct attribution_writer *writer, uint32_t count)
{
    size_t bytes = sizeof(struct attribution_head) + count * sizeof(struct attributed);

    if (bytes < SCRATCH_FILE_BYTES_MIN || writer->map != NULL)
        return NULL;
    writer->map = map_room(writer->out.fd, bytes);
    if (writer->map == NULL)
        return NULL;
    writer->mapped = bytes;
    return (struct attributed *)(void *)(writer->map + sizeof(struct attribution_head));
}

enum status attribution_writer_commit(struct attribution_writer *writer, const char content[33],
                                      const struct attribution *attribution, struct error *err)
{
    enum status status = write_all(writer, content, attribution, err);

    if (status == OK)
        return file_out_commit(&writer->out, err);
    error_context(err, "%s: ", writer->out.final);
    file_out_abandon(&writer->out);
    return status;
}

void attribution_writer_close(struct attribution_writer *writer)
{
    if (writer == NULL)
        return;
    file_out_abandon(&writer->out);
    if (writer->map != NULL)
        munmap(writer->map, writer->mapped);
    free(writer);
}

enum status attribution_write(const char *path, const char content[33],
                              const struct attribution *attribution, struct error *err)
{
    struct attribution_writer *writer;

    TRY(attribution_writer_open(path, &writer, err));
    enum status status = attribution_writer_commit(writer, content, attribution, err);
    attribution_writer_close(writer);
    return status;
}

static enum status bind_open(int fd, uint64_t segment, struct error *err)
{
    struct attribution_head head;

    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head ||
        attribution_head_sum(head) != head.head_sum)
        return fail(err, ERR_FORMAT, "the head of the attribution is damaged");
    head.segment = segment;
    head.head_sum = attribution_head_sum(head);
    return file_write_all(fd, &head, sizeof head, 0, err);
}

enum status attribution_bind(const char *path, uint64_t segment, struct error *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return fail(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO, "%s: %s", path, strerror(errno));

    enum status status = bind_open(fd, segment, err);

    file_close(fd);
    if (status != OK)
        error_context(err, "%s: ", path);
    return status;
}
