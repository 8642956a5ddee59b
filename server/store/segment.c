/* SPDX-License-Identifier: Apache-2.0 */
/* Segments, read. */
#include "store/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "store/segment_file.h"

struct segment {
    struct file_map file;
    struct segment_map map;
    struct lost_watch *watch;
    struct arena *arena;
    struct trace trace;
    char kept_as[33];
};

static struct bytes map_data(void *from, uint64_t offset, size_t size)
{
    const struct segment_map *map = from;

    if (offset > map->bytes.count || size > map->bytes.count - offset)
        return (struct bytes){0};
    return (struct bytes){.at = map->bytes.at + offset, .count = size};
}

static struct bytes map_table(void *from, enum table_kind kind)
{
    struct segment_map *map = from;

    if (kind <= 0 || kind >= TABLE_KIND_COUNT_)
        return (struct bytes){0};
    const struct segment_table *table = &map->tables[kind];
    struct bytes bytes = map_data(map, table->offset, (size_t)table->size);
    if (map->checked_elsewhere)
        map->checked[kind] = SEGMENT_WHOLE;
    if (map->checked[kind] == SEGMENT_UNTOUCHED && bytes.count > 0)
        file_will_need(bytes.at, bytes.count);
    if (map->checked[kind] == SEGMENT_UNTOUCHED)
        map->checked[kind] =
            bytes.count == 0 || hash64(bytes) == table->hash ? SEGMENT_WHOLE : SEGMENT_DAMAGED;
    if (map->checked[kind] == SEGMENT_WHOLE)
        return bytes;
    map->damaged = true;
    return (struct bytes){0};
}

static bool map_damaged(void *from)
{
    const struct segment_map *map = from;

    return map->damaged || lost_marked(map->watch);
}

struct block_in segment_map_in(struct segment_map *map)
{
    return (struct block_in){.from = map,
                             .table = map_table,
                             .data = map_data,
                             .damaged = map_damaged,
                             .checked = map->checked_elsewhere};
}

static enum status check_header(struct bytes bytes, struct segment_header *ret, struct error *err)
{
    if (bytes.count < sizeof(*ret))
        return fail(err, ERR_FORMAT, "a segment of %zu bytes is truncated", bytes.count);
    memcpy(ret, bytes.at, sizeof(*ret));
    if (memcmp(ret->magic, SEGMENT_MAGIC, sizeof(ret->magic)) != 0)
        return fail(err, ERR_FORMAT, "this is not a segment");
    if (ret->version != SEGMENT_VERSION || ret->kind_rules_version != KIND_RULES_VERSION)
        return fail(err, ERR_FORMAT, "a segment of version %u.%u, this program writes %d.%d",
                    ret->version, ret->kind_rules_version, SEGMENT_VERSION, KIND_RULES_VERSION);
    if (ret->hash != segment_header_hash(ret))
        return fail(err, ERR_FORMAT, "the segment's header is damaged");
    if (ret->file_bytes != bytes.count)
        return fail(err, ERR_FORMAT, "the segment has %zu of %llu bytes", bytes.count,
                    (unsigned long long)ret->file_bytes);
    return OK;
}

/* Tables of kinds we do not know are skipped. */
static enum status read_directory(struct segment_map *map, const struct segment_header *header,
                                  struct error *err)
{
    const size_t size = (size_t)header->table_count * sizeof(struct segment_table);
    struct bytes directory = map_data(map, header->directory_offset, size);

    if ((!directory.at && size > 0) || header->directory_offset % 8 != 0 ||
        hash64(directory) != header->directory_hash)
        return fail(err, ERR_FORMAT, "the segment's directory is damaged");
    for (uint32_t i = 0; i < header->table_count; i++) {
        struct segment_table table;
        memcpy(&table, directory.at + i * sizeof(table), sizeof(table));
        if (table.kind == 0 || table.kind >= TABLE_KIND_COUNT_)
            continue;
        if (!map_data(map, table.offset, (size_t)table.size).at || table.offset % 8 != 0 ||
            map->tables[table.kind].offset != 0)
            return fail(err, ERR_FORMAT, "table %u of the segment lies outside of it", table.kind);
        map->tables[table.kind] = table;
    }
    return OK;
}

static enum status open_mapped(struct segment *segment, struct error *err)
{
    struct segment_header header;

    TRY(check_header(segment->map.bytes, &header, err));
    TRY(read_directory(&segment->map, &header, err));
    TRY(trace_open(segment_map_in(&segment->map), segment->arena, &segment->trace, err));
    if (segment->map.damaged)
        return fail(err, ERR_FORMAT, "a table of the segment is damaged");
    segment->trace.sum = header.directory_hash;
    memcpy(segment->trace.content, header.content, sizeof(header.content));
    memcpy(segment->kept_as, header.kept_as[0] != '\0' ? header.kept_as : header.content,
           sizeof(header.kept_as));
    return OK;
}

static enum status map_file(const char *path, struct segment *segment, struct error *err)
{
    struct file_stamp stamp;
    int fd;

    TRY(file_open(path, &fd, &stamp, err));
    enum status status = file_map(fd, (size_t)stamp.size, &segment->file, err);
    file_close(fd);
    if (status == OK && segment->file.bytes.count > 0)
        madvise((void *)(uintptr_t)segment->file.bytes.at, segment->file.bytes.count, MADV_RANDOM);
    segment->map.bytes = segment->file.bytes;
    if (status == OK)
        segment->watch = lost_watch(segment->map.bytes.at, segment->map.bytes.count);
    segment->map.watch = segment->watch;
    return status;
}

struct opening {
    struct segment *segment;
    enum status status;
    struct error *err;
};

static void open_guarded(void *data)
{
    struct opening *opening = data;

    opening->status = open_mapped(opening->segment, opening->err);
}

static enum status open_path(const char *path, bool is_checked, struct segment **ret,
                             struct error *err)
{
    struct segment *segment = memory_calloc(1, sizeof(*segment));

    if (!segment)
        memory_refused(1, sizeof(*segment));
    segment->map.checked_elsewhere = is_checked;
    segment->arena = arena_create();
    struct opening opening = {.segment = segment, .err = err};
    enum status status = map_file(path, segment, err);
    if (status == OK)
        status = lost_guard(open_guarded, &opening)
                     ? opening.status
                     : fail(err, ERR_FORMAT, "the segment was truncated while it was read");
    segment->map.checked_elsewhere = false;
    if (status != OK) {
        error_context(err, "%s: ", path);
        segment_close(segment);
        return status;
    }
    *ret = segment;
    return OK;
}

enum status segment_open(const char *path, struct segment **ret, struct error *err)
{
    return open_path(path, false, ret, err);
}

enum status segment_open_checked(const char *path, struct segment **ret, struct error *err)
{
    return open_path(path, true, ret, err);
}

const struct trace *segment_trace(const struct segment *segment)
{
    return &segment->trace;
}

const char *segment_kept_as(const struct segment *segment)
{
    return segment->kept_as;
}

enum status segment_check(struct segment *segment, struct error *err)
{
    return trace_check(&segment->trace) ? OK : fail(err, ERR_FORMAT, "the segment is damaged");
}

static enum status rename_open(int fd, const char kept_as[33], struct error *err)
{
    struct segment_header header;

    if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
        return fail(err, ERR_FORMAT, "the segment is truncated");
    if (header.hash != segment_header_hash(&header))
        return fail(err, ERR_FORMAT, "the segment's header is damaged");
    memcpy(header.kept_as, kept_as, sizeof(header.kept_as));
    header.hash = segment_header_hash(&header);
    return file_write_all(fd, &header, sizeof(header), 0, err);
}

enum status segment_rename(const char *path, const char kept_as[33], struct error *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);

    if (fd < 0)
        return fail(err, ERR_IO, "%s: %s", path, strerror(errno));
    enum status status = rename_open(fd, kept_as, err);
    file_close(fd);
    return status;
}

void segment_close(struct segment *segment)
{
    if (!segment)
        return;
    lost_unwatch(segment->watch);
    file_unmap(&segment->file);
    arena_destroy(segment->arena);
    free(segment);
}
