/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an attribution's file. Its entries are packed on the way. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "store/attribution_parts.h"
#include "store/cache.h"

static const void *records_of(const struct attribution *from, int part)
{
    const void *const records[PART_COUNT] = {
        [PART_OPS] = from->ops,
        [PART_EXECUTIONS] = from->executions,
        [PART_TOTALS] = from->totals,
        [PART_DEVICES] = from->devices,
        [PART_SPREADS] = from->spreads,
        [PART_KERNELS] = from->kernels,
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
static enum status write_records(int fd, const void *from, int part, uint64_t *at,
                                 struct attribution_head *head, struct error *err)
{
    static const uint8_t zeros[8];
    const uint8_t *records = from;
    const size_t size = head->count[part] * attribution_record_size[part];
    struct hasher *hasher = hasher_create();
    enum status status = OK;

    for (size_t done = 0; done < size && status == OK;) {
        size_t count = size - done < PIECE_BYTES ? size - done : PIECE_BYTES;

        hasher_put(hasher, (struct bytes){.at = records + done, .count = count});
        status = file_write_all(fd, records + done, count, *at + done, err);
        done += count;
    }
    if (size % 8 != 0) {
        hasher_put(hasher, (struct bytes){.at = zeros, .count = 8 - size % 8});
        if (status == OK)
            status = file_write_all(fd, zeros, 8 - size % 8, *at + size, err);
    }
    head->sum[part] = hasher_end(hasher).low;
    *at += attribution_part_bytes(head, part);
    return status;
}

/* What is packed, until it is enough to be written. */
struct pieces {
    int fd;
    uint64_t at; /* in the file */
    struct hasher *hasher;
    size_t bytes;
    uint8_t *room;
};

static enum status write_piece(struct pieces *pieces, struct error *err)
{
    hasher_put(pieces->hasher, (struct bytes){.at = pieces->room, .count = pieces->bytes});
    TRY(file_write_all(pieces->fd, pieces->room, pieces->bytes, pieces->at, err));
    pieces->at += pieces->bytes;
    pieces->bytes = 0;
    return OK;
}

/* Sets what each block says of its columns. */
static enum status pack_blocks(struct pieces *pieces, const struct attribution *from,
                               struct entry_columns *blocks, struct error *err)
{
    uint64_t offset = 0;

    for (uint32_t first = 0; first < from->entry_count; first += ENTRY_BLOCK) {
        struct entry_columns *block = &blocks[first / ENTRY_BLOCK];
        uint32_t rest = from->entry_count - first;

        entries_pack(from->entries, from->kernel_count > 0 ? from->kernel_of : NULL,
                     from->by_device_time, first, rest < ENTRY_BLOCK ? rest : ENTRY_BLOCK,
                     pieces->room + pieces->bytes, block);
        block->offset = offset;
        offset += (uint64_t)block->words * COLUMN_WORD;
        pieces->bytes += (size_t)block->words * COLUMN_WORD;
        if (pieces->bytes >= PIECE_BYTES)
            TRY(write_piece(pieces, err));
    }
    memset(pieces->room + pieces->bytes, 0, ENTRY_DATA_PAD);
    pieces->bytes += ENTRY_DATA_PAD;
    return write_piece(pieces, err);
}

/* The columns first, for what they are is known when they are packed; they stand behind. */
static enum status write_entries(int fd, const struct attribution *from, uint64_t *at,
                                 struct attribution_head *head, struct error *err)
{
    const uint32_t block_count = entry_block_count(from->entry_count);
    struct entry_columns *blocks = memory_resize(NULL, (size_t)block_count + 1, sizeof *blocks);
    struct pieces pieces = {
        .fd = fd,
        .hasher = hasher_create(),
        .room = memory_resize(NULL, PIECE_BYTES + ENTRY_BLOCK_BYTES_MAX + ENTRY_DATA_PAD, 1),
    };

    head->count[PART_BLOCKS] = block_count;
    pieces.at = *at + attribution_part_bytes(head, PART_BLOCKS);

    const uint64_t begin = pieces.at;
    enum status status = pack_blocks(&pieces, from, blocks, err);

    head->count[PART_COLUMNS] = (uint32_t)((pieces.at - begin) / COLUMN_WORD);
    head->sum[PART_COLUMNS] = hasher_end(pieces.hasher).low;
    if (status == OK)
        status = write_records(fd, blocks, PART_BLOCKS, at, head, err);
    *at = pieces.at;
    free(pieces.room);
    free(blocks);
    return status;
}

struct attribution_out {
    struct file_out file;
    struct attribution_head head;
    uint64_t at; /* behind the entries */
};

/* Of what is not told by the entries. */
static void count_records(struct attribution_head *head, const struct attribution *from)
{
    head->count[PART_OPS] = from->op_count;
    head->count[PART_EXECUTIONS] = from->execution_count;
    head->count[PART_TOTALS] = from->totals == NULL ? 0 : from->op_count;
    head->count[PART_DEVICES] = from->device_count;
    head->count[PART_SPREADS] = from->spread_count;
    head->count[PART_KERNELS] = from->kernel_count;
    head->count[PART_KERNEL_TOTALS] = from->kernel_count;
    head->count[PART_KERNEL_NAMES] = from->kernel_name_count;
    head->count[PART_COSTS] = from->costs == NULL ? 0 : from->op_count;
    head->count[PART_NEEDS] = from->need_count;
    head->count[PART_TEXTS] = from->text_bytes;
    head->count[PART_TEXT_ENDS] = from->text_count;
}

static enum status write_rest(struct attribution_out *out, const struct attribution *from,
                              struct error *err)
{
    int fd = out->file.fd;

    count_records(&out->head, from);
    for (int part = PART_COLUMNS + 1; part < PART_COUNT; part++)
        TRY(write_records(fd, records_of(from, part), part, &out->at, &out->head, err));
    out->head.head_sum = attribution_head_sum(out->head);
    return file_write_all(fd, &out->head, sizeof out->head, 0, err);
}

enum status attribution_begin(const char *path, const char content[33],
                              const struct attribution *entries, struct attribution_out **ret,
                              struct error *err)
{
    struct attribution_out *out = memory_resize(NULL, 1, sizeof *out);

    *ret = NULL;
    *out = (struct attribution_out){
        .head = {.version = ATTRIBUTION_VERSION,
                 .kind_rules = KIND_RULES_VERSION,
                 .entry_count = entries->entry_count},
        .at = sizeof out->head,
    };
    memcpy(out->head.magic, attribution_magic, sizeof attribution_magic);
    memcpy(out->head.content, content, sizeof out->head.content);
    enum status status = file_out_open(&out->file, path, err);
    if (status != OK) {
        free(out);
        return status;
    }
    status = write_entries(out->file.fd, entries, &out->at, &out->head, err);
    if (status != OK) {
        error_context(err, "%s: ", out->file.final);
        attribution_abandon(out);
        return status;
    }
    *ret = out;
    return OK;
}

enum status attribution_end(struct attribution_out *out, const struct attribution *attribution,
                            struct error *err)
{
    enum status status = write_rest(out, attribution, err);

    if (status != OK) {
        error_context(err, "%s: ", out->file.final);
        attribution_abandon(out);
        return status;
    }
    status = file_out_commit(&out->file, err);
    free(out);
    return status;
}

void attribution_abandon(struct attribution_out *out)
{
    if (out == NULL)
        return;
    file_out_abandon(&out->file);
    free(out);
}

enum status attribution_write(const char *path, const char content[33],
                              const struct attribution *attribution, struct error *err)
{
    struct attribution_out *out;

    TRY(attribution_begin(path, content, attribution, &out, err));
    return attribution_end(out, attribution, err);
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
