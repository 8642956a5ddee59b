/* SPDX-License-Identifier: Apache-2.0 */
/* Appends bytes to memory, and beyond a limit to a temporary file without a name. */
#include "trace/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"

enum { SPILL_MEMORY_BYTES = 1 << 18 };

struct spill {
    const char *dir;
    uint64_t bytes_max;
    uint64_t written; /* in the file */
    int fd;           /* -1: none yet */
    uint8_t *tail;    /* SPILL_MEMORY_BYTES: what is not in the file yet */
    size_t tail_count;
    void *map; /* of the file; NULL until all of it was asked for */
};

struct spill *spill_create(const char *dir, uint64_t bytes_max)
{
    struct spill *spill = memory_resize(NULL, 1, sizeof(*spill));

    *spill = (struct spill){.dir = dir, .bytes_max = bytes_max, .fd = -1};
    return spill;
}

void spill_destroy(struct spill *spill)
{
    if (!spill)
        return;
    if (spill->map)
        munmap(spill->map, (size_t)spill->written);
    if (spill->fd >= 0)
        close(spill->fd);
    free(spill->tail);
    free(spill);
}

uint64_t spill_bytes(const struct spill *spill)
{
    return spill->written + spill->tail_count;
}

/* A file that has no name, or loses it at once where the file system cannot do without. */
static enum status open_file(struct spill *spill, struct error *err)
{
    const char *dir = spill->dir ? spill->dir : getenv("TMPDIR");
    char path[4096];

    if (!dir || !*dir)
        dir = "/tmp";
    spill->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (spill->fd >= 0)
        return OK;
    if (snprintf(path, sizeof(path), "%s/jviewd.XXXXXX", dir) >= (int)sizeof(path))
        return fail(err, ERR_IO, "the temporary directory's path is too long");
    spill->fd = mkostemp(path, O_CLOEXEC);
    if (spill->fd < 0)
        return fail(err, errno == EACCES ? ERR_PERMISSION : ERR_IO,
                    "cannot make a temporary file in %s: %s", dir, strerror(errno));
    unlink(path);
    return OK;
}

static enum status write_out(struct spill *spill, const void *at, size_t count, struct error *err)
{
    if (spill->fd < 0)
        TRY(open_file(spill, err));
    TRY(file_write_all(spill->fd, at, count, spill->written, err));
    spill->written += count;
    return OK;
}

enum status spill_append(struct spill *spill, struct bytes bytes, uint64_t *ret_offset,
                         struct error *err)
{
    if (bytes.count > spill->bytes_max || spill_bytes(spill) > spill->bytes_max - bytes.count)
        return fail(err, ERR_LIMIT, "more than %llu bytes had to be set aside",
                    (unsigned long long)spill->bytes_max);
    *ret_offset = spill_bytes(spill);
    if (bytes.count == 0)
        return OK;
    if (bytes.count > SPILL_MEMORY_BYTES - spill->tail_count && spill->tail_count > 0) {
        TRY(write_out(spill, spill->tail, spill->tail_count, err));
        spill->tail_count = 0;
    }
    if (bytes.count >= SPILL_MEMORY_BYTES)
        return write_out(spill, bytes.at, bytes.count, err);
    if (!spill->tail)
        spill->tail = memory_resize(NULL, SPILL_MEMORY_BYTES, 1);
    memcpy(spill->tail + spill->tail_count, bytes.at, bytes.count);
    spill->tail_count += bytes.count;
    return OK;
}

static enum status read_file(const struct spill *spill, uint64_t offset, uint8_t *to, size_t count,
                             struct error *err)
{
    while (count > 0) {
        ssize_t got = pread(spill->fd, to, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(err, ERR_IO, "cannot read a temporary file back: %s",
                        got < 0 ? strerror(errno) : "it is shorter than what was written");
        to += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return OK;
}

enum status spill_read(struct spill *spill, uint64_t offset, void *to, size_t count,
                       struct error *err)
{
    uint8_t *at = to;

    if (offset > spill_bytes(spill) || count > spill_bytes(spill) - offset)
        return fail(err, ERR_INVALID, "nothing was set aside there");
    size_t in_file = 0;
    if (offset < spill->written)
        in_file = count < spill->written - offset ? count : (size_t)(spill->written - offset);
    TRY(read_file(spill, offset, at, in_file, err));
    if (count > in_file)
        memcpy(at + in_file, spill->tail + (offset + in_file - spill->written), count - in_file);
    return OK;
}

enum status spill_map(struct spill *spill, struct bytes *ret, struct error *err)
{
    *ret = (struct bytes){.at = spill->tail, .count = spill->tail_count};
    if (spill->written == 0)
        return OK;
    if (spill->tail_count > 0)
        TRY(write_out(spill, spill->tail, spill->tail_count, err));
    spill->tail_count = 0;
    void *map =
        mmap(NULL, (size_t)spill->written, PROT_READ, MAP_SHARED | MAP_POPULATE, spill->fd, 0);
    if (map == MAP_FAILED)
        return fail(err, ERR_IO, "a temporary file cannot be mapped: %s", strerror(errno));
    spill->map = map;
    *ret = (struct bytes){.at = map, .count = (size_t)spill->written};
    return OK;
}
