/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a spool frame by frame, checks each, and finds the next one after damage. Facts:
 * api/record.h. */
#include "decode/record/record_read.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/pack/pack.h"

enum { CHECK_BYTES = sizeof(uint64_t), VAIN_TIMES = 4 };

bool record_is(struct bytes head)
{
    return head.count >= sizeof(struct spool_head) &&
           memcmp(head.at, SPOOL_MAGIC, sizeof SPOOL_MAGIC - 1) == 0;
}

static bool checks(struct bytes bytes)
{
    uint64_t check;

    memcpy(&check, bytes.at + bytes.count - CHECK_BYTES, CHECK_BYTES);
    return hash64((struct bytes){.at = bytes.at, .count = bytes.count - CHECK_BYTES}) == check;
}

enum status record_open(struct bytes bytes, struct record_file *ret, struct error *err)
{
    *ret = (struct record_file){.bytes = bytes};
    if (bytes.count < sizeof ret->head)
        return fail(err, ERR_TRUNCATED, "the spool is cut off within its head");
    memcpy(&ret->head, bytes.at, sizeof ret->head);
    if (ret->head.version != SPOOL_VERSION)
        return fail(err, ERR_UNSUPPORTED,
                    "a spool of version %u, of a newer jview-collect; this jviewd reads version %d",
                    ret->head.version, SPOOL_VERSION);
    if (!checks((struct bytes){.at = bytes.at, .count = sizeof ret->head}))
        return fail(err, ERR_FORMAT, "the spool's header is damaged: its checksum does not match");
    record_rewind(ret);
    return OK;
}

void record_close(struct record_file *file)
{
    free(file->raw);
    free(file->numbers);
}

void record_rewind(struct record_file *file)
{
    file->at = sizeof file->head;
    file->next_sequence = file->frames_lost = file->bytes_skipped = file->hashed_in_vain = 0;
    file->has_end = false;
}

/* The frame that begins there, if one does. Heads that lie about what follows cost a look at all of
 * it, so they have a budget together. */
static bool frame_at(struct record_file *file, size_t at, struct record_frame *ret)
{
    size_t left = file->bytes.count - at;

    if (left < sizeof ret->head + CHECK_BYTES)
        return false;
    memcpy(&ret->head, file->bytes.at + at, sizeof ret->head);
    if (ret->head.magic != SPOOL_FRAME_MAGIC || ret->head.raw_bytes > SPOOL_RAW_MAX ||
        ret->head.packed_bytes > zstd_bound(ret->head.raw_bytes) || ret->head.zero != 0 ||
        ret->head.zero2 != 0 || ret->head.packed_bytes > left - sizeof ret->head - CHECK_BYTES ||
        file->hashed_in_vain / VAIN_TIMES > file->bytes.count)
        return false;
    ret->packed = (struct bytes){.at = file->bytes.at + at + sizeof ret->head,
                                 .count = ret->head.packed_bytes};
    struct bytes all = {.at = file->bytes.at + at,
                        .count = sizeof ret->head + ret->packed.count + CHECK_BYTES};
    if (checks(all))
        return true;
    file->hashed_in_vain += all.count;
    return false;
}

/* Where the magic of a frame stands next, behind `at`; the end where it does not. */
static size_t next_magic(struct bytes bytes, size_t at)
{
    const uint32_t magic = SPOOL_FRAME_MAGIC;
    const uint8_t *found =
        at + 1 < bytes.count ? memmem(bytes.at + at + 1, bytes.count - at - 1, &magic, sizeof magic)
                             : NULL;

    return found != NULL ? (size_t)(found - bytes.at) : bytes.count;
}

bool record_next(struct record_file *file, struct record_frame *ret)
{
    while (file->at < file->bytes.count) {
        if (!frame_at(file, file->at, ret)) {
            size_t next = next_magic(file->bytes, file->at);
            file->bytes_skipped += next - file->at;
            file->at = next;
            continue;
        }
        file->at += sizeof ret->head + ret->packed.count + CHECK_BYTES;
        if (ret->head.sequence > file->next_sequence)
            file->frames_lost += ret->head.sequence - file->next_sequence;
        file->next_sequence = ret->head.sequence + 1;
        file->has_end |= ret->head.type == SPOOL_END;
        return true;
    }
    return false;
}

static void make_room(void **at, size_t *capacity, size_t wanted, size_t each)
{
    if (wanted <= *capacity)
        return;
    free(*at);
    *at = memory_calloc(wanted, each);
    if (*at == NULL)
        memory_refused(wanted, each);
    *capacity = wanted;
}

struct bytes record_payload(struct record_file *file, const struct record_frame *frame)
{
    struct error ignored = {0};
    void *raw = file->raw;

    make_room(&raw, &file->raw_capacity, (size_t)frame->head.raw_bytes + 1, 1);
    file->raw = raw;
    if (zstd_unpack(file->raw, frame->head.raw_bytes, frame->packed, &ignored) != OK)
        return (struct bytes){0};
    return (struct bytes){.at = file->raw, .count = frame->head.raw_bytes};
}

static bool take_varint(struct bytes *rest, uint64_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; shift < 64 && rest->count > 0; shift += 7) {
        uint8_t byte = *rest->at++;
        rest->count--;
        *ret |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool take_column(struct bytes *rest, int64_t *ret, uint32_t count)
{
    uint64_t value = 0, step;

    for (uint32_t row = 0; row < count; row++) {
        if (rest->count > 0 && *rest->at < 0x80) { /* nearly all are short */
            step = *rest->at++;
            rest->count--;
        } else if (!take_varint(rest, &step)) {
            return false;
        }
        value += step >> 1 ^ -(step & 1);
        ret[row] = (int64_t)value;
    }
    return true;
}

/* Every number takes a byte at least, so a short payload cannot ask for much room. No rows have no
 * numbers, whatever columns they would have had. */
bool record_columns(struct record_file *file, const struct record_frame *frame,
                    struct record_columns *ret)
{
    struct bytes rest = record_payload(file, frame);
    uint64_t count, columns;
    void *numbers = file->numbers;

    *ret = (struct record_columns){0};
    if (!take_varint(&rest, &count) || !take_varint(&rest, &columns))
        return false;
    if (count == 0)
        return true;
    if (count > SPOOL_RECORDS_MAX || columns == 0 || columns > rest.count ||
        count * columns > rest.count)
        return false;
    if (columns > SPOOL_COLUMNS_MAX)
        columns = SPOOL_COLUMNS_MAX;
    make_room(&numbers, &file->numbers_capacity, count * columns + 1, sizeof *file->numbers);
    file->numbers = numbers;
    for (uint64_t column = 0; column < columns; column++) {
        int64_t *to = file->numbers + column * count;
        if (!take_column(&rest, to, (uint32_t)count))
            return false;
        ret->column[column] = to;
    }
    ret->count = (uint32_t)count;
    return true;
}

bool record_texts(struct record_file *file, const struct record_frame *frame,
                  struct record_texts *ret)
{
    ret->rest = record_payload(file, frame);
    return take_varint(&ret->rest, &ret->id) && take_varint(&ret->rest, &ret->left);
}

bool record_text(struct record_texts *texts, struct str *ret)
{
    uint64_t count;

    if (texts->left == 0 || !take_varint(&texts->rest, &count) || count > texts->rest.count)
        return false;
    *ret = (struct str){.at = (const char *)texts->rest.at, .count = (size_t)count};
    texts->rest.at += count;
    texts->rest.count -= (size_t)count;
    texts->left--;
    texts->id++;
    return true;
}
