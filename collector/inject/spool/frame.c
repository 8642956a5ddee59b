/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the frames of a spool as api/record.h lays them out: rows as varints, packed by zstd,
 * with a check. */
#include "inject/spool/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <zstd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "inject/spool/ticks.h"

enum { PACK_LEVEL = 1, VARINT_MAX = 10, CHECK_BYTES = sizeof(uint64_t) };
enum { PATH_BYTES = 4200, IMAGES_MAX = 100 };

struct spool {
    int fd;
    uint64_t size, sequence;
    ZSTD_CCtx *packer;
    uint8_t *raw, *packed; /* packed: head and payload, written at once */
    size_t raw_capacity, packed_capacity;
};

size_t varint_put(uint8_t *to, uint64_t value)
{
    size_t count = 0;

    for (; value >= 0x80; value >>= 7)
        to[count++] = (uint8_t)(value | 0x80);
    to[count++] = (uint8_t)value;
    return count;
}

/* Field 22 of /proc/PID/stat, behind the name in parentheses, which may hold anything. */
uint64_t process_start(pid_t process)
{
    char text[1024];
    snprintf(text, sizeof text, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(text, "re");
    size_t count = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    const char *at;
    uint64_t start = 0;

    if (file != NULL)
        fclose(file);
    text[count] = '\0';
    at = strrchr(text, ')');
    for (int field = 2; at != NULL && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at != NULL)
        start = strtoull(at, NULL, 10);
    return start;
}

/* Hex digits with dashes between them. */
static void boot_id(uint8_t ret[16])
{
    char text[64] = "";
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    unsigned digits = 0;

    memset(ret, 0, 16);
    if (file == NULL || fgets(text, sizeof text, file) == NULL)
        text[0] = '\0';
    if (file != NULL)
        fclose(file);
    for (const char *at = text; *at != '\0' && digits < 32; at++) {
        const char *hex = "0123456789abcdef", *digit = strchr(hex, *at);
        if (digit == NULL)
            continue;
        ret[digits / 2] = (uint8_t)(ret[digits / 2] * 16 + (digit - hex));
        digits++;
    }
}

static struct spool_head head_of(pid_t process)
{
    struct spool_head head = {.version = SPOOL_VERSION,
                              .process = (uint32_t)process,
                              .realtime_ns = clock_ns(CLOCK_REALTIME),
                              .monotonic_ns = clock_ns(CLOCK_MONOTONIC),
                              .process_start = process_start(process)};

    memcpy(head.magic, SPOOL_MAGIC, sizeof head.magic);
    boot_id(head.boot);
    return head;
}

static bool write_head(struct spool *spool, struct spool_head head)
{
    head.check = XXH3_64bits(&head, sizeof head - sizeof head.check);
    spool->size = sizeof head;
    return pwrite(spool->fd, &head, sizeof head, 0) == (ssize_t)sizeof head;
}

/* A program that calls exec keeps its process and start: its next image takes the next name. */
static int make_file(const char *directory, pid_t process, const char *kind,
                     char ret_path[PATH_BYTES])
{
    unsigned long long start = process_start(process);
    int fd = -1;

    for (int image = 0; fd < 0 && image < IMAGES_MAX; image++) {
        char again[16] = "";
        if (image > 0)
            snprintf(again, sizeof again, "-%d", image);
        snprintf(ret_path, PATH_BYTES, "%s/%ld-%llu%s%s%s", directory, (long)process, start, kind,
                 again, SPOOL_SUFFIX);
        fd = open(ret_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Of a file that was made; NULL where the system refuses (errno), and the file is gone again. */
static struct spool *begin(int fd, const char *path, const struct spool_head *head)
{
    struct spool *spool = calloc(1, sizeof *spool);

    if (spool != NULL) {
        spool->fd = fd;
        spool->packer = ZSTD_createCCtx();
    }
    if (spool == NULL || spool->packer == NULL || fd < 0 || !write_head(spool, *head)) {
        int why = errno;
        if (fd >= 0)
            unlink(path); /* or the next try would find its name taken */
        if (spool != NULL)
            spool_close(spool);
        else if (fd >= 0)
            close(fd);
        errno = why;
        return NULL;
    }
    ZSTD_CCtx_setParameter(spool->packer, ZSTD_c_compressionLevel, PACK_LEVEL);
    flock(spool->fd, LOCK_EX | LOCK_NB); /* held as long as the process lives */
    return spool;
}

struct spool *spool_open_of(const char *directory, pid_t process, const char *kind)
{
    struct spool_head head = head_of(process);
    char path[PATH_BYTES];
    int fd = make_file(directory, process, kind, path);

    return begin(fd, path, &head);
}

struct spool *spool_open_as(const char *path, const struct spool_head *head)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

    return begin(fd, path, head);
}

struct spool *spool_open(const char *directory)
{
    return spool_open_of(directory, getpid(), "");
}

static bool make_room(uint8_t **at, size_t *capacity, size_t wanted)
{
    if (wanted <= *capacity)
        return true;
    uint8_t *room = realloc(*at, wanted);
    if (room == NULL)
        return false;
    *at = room;
    *capacity = wanted;
    return true;
}

/* Whole or not at all: what a full disk took of it is cut off again. */
static bool append(struct spool *spool, size_t count)
{
    size_t done = 0;

    while (done < count) {
        ssize_t wrote =
            pwrite(spool->fd, spool->packed + done, count - done, (off_t)(spool->size + done));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0) {
            if (ftruncate(spool->fd, (off_t)spool->size) != 0)
                return false; /* the reader passes over the torn frame */
            return false;
        }
        done += (size_t)wrote;
    }
    spool->size += count;
    spool->sequence++;
    return true;
}

bool spool_bytes(struct spool *spool, enum spool_type type, const void *at, size_t count,
                 uint32_t records)
{
    struct spool_frame head = {.magic = SPOOL_FRAME_MAGIC,
                               .type = (uint16_t)type,
                               .raw_bytes = (uint32_t)count,
                               .sequence = spool->sequence,
                               .records = records};

    if (count > SPOOL_RAW_MAX || !make_room(&spool->packed, &spool->packed_capacity,
                                            sizeof head + ZSTD_compressBound(count) + CHECK_BYTES))
        return false;
    size_t packed = ZSTD_compress2(spool->packer, spool->packed + sizeof head,
                                   spool->packed_capacity - sizeof head - CHECK_BYTES, at, count);
    if (ZSTD_isError(packed))
        return false;
    head.packed_bytes = (uint32_t)packed;
    memcpy(spool->packed, &head, sizeof head);
    uint64_t check = XXH3_64bits(spool->packed, sizeof head + packed);
    memcpy(spool->packed + sizeof head + packed, &check, CHECK_BYTES);
    return append(spool, sizeof head + packed + CHECK_BYTES);
}

static size_t put_column(uint8_t *to, const int64_t *rows, uint32_t count, uint32_t columns)
{
    size_t used = 0;
    uint64_t before = 0;

    for (uint32_t row = 0; row < count; row++, rows += columns) {
        uint64_t step = (uint64_t)*rows - before;
        used += varint_put(to + used, step << 1 ^ (uint64_t)((int64_t)step >> 63));
        before = (uint64_t)*rows;
    }
    return used;
}

bool spool_rows(struct spool *spool, enum spool_type type, const int64_t *rows, uint32_t count,
                uint32_t columns)
{
    if (!make_room(&spool->raw, &spool->raw_capacity,
                   2 * VARINT_MAX + (size_t)count * columns * VARINT_MAX))
        return false;
    size_t used = varint_put(spool->raw, count);
    used += varint_put(spool->raw + used, columns);
    for (uint32_t column = 0; column < columns; column++)
        used += put_column(spool->raw + used, rows + column, count, columns);
    return spool_bytes(spool, type, spool->raw, used, count);
}

uint64_t spool_size(const struct spool *spool)
{
    return spool->size;
}

bool spool_sync(struct spool *spool)
{
    return fsync(spool->fd) == 0;
}

void spool_close(struct spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    ZSTD_freeCCtx(spool->packer);
    free(spool->raw);
    free(spool->packed);
    free(spool);
}

void spool_forget(struct spool *spool)
{
    close(spool->fd);
    spool->fd = -1;
}
