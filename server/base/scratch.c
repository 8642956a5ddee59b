/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays of a piece of work: small ones on the heap, large ones in unlinked temporary files. */
#include "base/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/memory.h"

enum { HEADER = 64, ON_HEAP = -1 };

struct array { /* in front of its elements */
    struct array *before, *after;
    size_t bytes; /* of the elements */
    size_t room;  /* >= bytes: of a file's elements, all of its pages met */
    int fd;       /* or ON_HEAP */
};

_Static_assert(sizeof(struct array) <= HEADER, "the elements follow the header");

struct scratch {
    const char *dir;
    pthread_mutex_t lock; /* of all below */
    struct array *first;
    struct array *spare; /* files whose arrays left, linked by `after` */
    size_t file_bytes;
    int refusal;
};

static unsigned char *elements_of(struct array *array)
{
    return (unsigned char *)array + HEADER;
}

static struct array *array_of(void *elements)
{
    return (struct array *)(void *)((unsigned char *)elements - HEADER);
}

static void link_array(struct scratch *scratch, struct array *array)
{
    array->before = NULL;
    array->after = scratch->first;
    if (scratch->first != NULL)
        scratch->first->before = array;
    scratch->first = array;
}

static void unlink_array(struct scratch *scratch, struct array *array)
{
    if (array->before != NULL)
        array->before->after = array->after;
    else
        scratch->first = array->after;
    if (array->after != NULL)
        array->after->before = array->before;
}

static void close_file(struct array *array)
{
    int fd = array->fd;

    munmap(array, HEADER + array->room);
    close(fd);
}

/* A file's pages are kept for the next array: to meet new ones costs more than to fill them. */
static void release(struct scratch *scratch, struct array *array)
{
    if (array->fd == ON_HEAP) {
        free(array);
        return;
    }
    scratch->file_bytes -= array->bytes;
    array->after = scratch->spare;
    scratch->spare = array;
}

static void close_spares(struct scratch *scratch)
{
    while (scratch->spare != NULL) {
        struct array *array = scratch->spare;

        scratch->spare = array->after;
        close_file(array);
    }
}

/* The smallest that has room for so many bytes, zeroed; NULL where none has. */
static struct array *take_spare(struct scratch *scratch, size_t bytes)
{
    struct array **best = NULL;

    for (struct array **at = &scratch->spare; *at != NULL; at = &(*at)->after) {
        if ((*at)->room >= bytes && (best == NULL || (*at)->room < (*best)->room))
            best = at;
    }
    if (best == NULL)
        return NULL;

    struct array *array = *best;

    *best = array->after;
    array->bytes = bytes;
    memset(elements_of(array), 0, bytes);
    scratch->file_bytes += bytes;
    return array;
}

static int open_file(const char *dir)
{
    char path[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0)
        return fd;
    if (snprintf(path, sizeof path, "%s/jviewd-scratch-XXXXXX", dir) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static struct array *refuse(struct scratch *scratch, int reason)
{
    scratch->refusal = reason;
    return NULL;
}

/* 0, or an errno: blocks for all bytes up to `end`. */
static int allot(int fd, size_t begin, size_t end)
{
    int failure;

    do
        failure = posix_fallocate(fd, (off_t)begin, (off_t)(end - begin));
    while (failure == EINTR);
    return failure;
}

/* All pages at once: to be met one by one, a fault each, costs several times more. Where the system
 * does not know how, they are. */
static void populate(struct array *array, size_t begin, size_t end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t from = begin / page * page;

    (void)madvise((unsigned char *)array + from, end - from, MADV_POPULATE_WRITE);
}

/* NULL where the system refuses; the array is then as it was. */
static struct array *lengthen_file(struct scratch *scratch, struct array *array, size_t bytes)
{
    int failure = allot(array->fd, HEADER + array->room, HEADER + bytes);

    if (failure != 0)
        return refuse(scratch, failure);

    struct array *moved = mremap(array, HEADER + array->room, HEADER + bytes, MREMAP_MAYMOVE);

    if (moved == MAP_FAILED)
        return refuse(scratch, errno);
    populate(moved, HEADER + moved->room, HEADER + bytes);
    moved->room = bytes;
    return moved;
}

/* NULL where the system refuses; the array is then as it was. */
static struct array *grow_in_file(struct scratch *scratch, struct array *array, size_t bytes)
{
    size_t within = bytes < array->room ? bytes : array->room;

    memset(elements_of(array) + array->bytes, 0, within - array->bytes);
    if (bytes > array->room)
        array = lengthen_file(scratch, array, bytes);
    if (array != NULL) {
        scratch->file_bytes += bytes - array->bytes;
        array->bytes = bytes;
    }
    return array;
}

static struct array *create_in_file(struct scratch *scratch, size_t bytes)
{
    int fd = open_file(scratch->dir);

    if (fd < 0)
        return refuse(scratch, errno);

    int failure = allot(fd, 0, HEADER + bytes);
    struct array *array = MAP_FAILED;

    if (failure == 0) {
        array = mmap(NULL, HEADER + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        failure = errno;
    }
    if (array == MAP_FAILED) {
        close(fd);
        return refuse(scratch, failure);
    }
    populate(array, 0, HEADER + bytes);
    array->fd = fd;
    array->bytes = array->room = bytes;
    scratch->file_bytes += bytes;
    return array;
}

static void *out_of_memory(void)
{
    return memory_resize(NULL, SIZE_MAX, 2); /* says so and ends the process */
}

static struct array *create_on_heap(size_t bytes)
{
    struct array *array = memory_calloc(1, HEADER + bytes);

    if (array == NULL)
        array = out_of_memory();
    array->fd = ON_HEAP;
    array->bytes = bytes;
    return array;
}

static struct array *lengthen_on_heap(struct array *array, size_t bytes)
{
    array = memory_resize(array, 1, HEADER + bytes);
    memset(elements_of(array) + array->bytes, 0, bytes - array->bytes);
    array->bytes = bytes;
    return array;
}

/* A file that was kept, else a new one; where there is no room for that, what was kept gives
 * way. */
static struct array *find_file(struct scratch *scratch, size_t bytes)
{
    struct array *array = take_spare(scratch, bytes);

    if (array == NULL && scratch->refusal == 0)
        array = create_in_file(scratch, bytes);
    if (array == NULL && scratch->spare != NULL) {
        close_spares(scratch);
        scratch->refusal = 0;
        array = create_in_file(scratch, bytes);
    }
    return array;
}

static struct array *create(struct scratch *scratch, size_t bytes)
{
    struct array *array = NULL;

    if (bytes >= SCRATCH_FILE_BYTES_MIN)
        array = find_file(scratch, bytes);
    return array != NULL ? array : create_on_heap(bytes);
}

static struct array *lengthen(struct scratch *scratch, struct array *array, size_t bytes)
{
    bool in_file = bytes >= SCRATCH_FILE_BYTES_MIN && scratch->refusal == 0;

    if (array->fd == ON_HEAP && !in_file)
        return lengthen_on_heap(array, bytes);
    if (array->fd != ON_HEAP && in_file) {
        struct array *same = grow_in_file(scratch, array, bytes);

        if (same != NULL)
            return same;
    }

    struct array *other = create(scratch, bytes);

    memcpy(elements_of(other), elements_of(array), array->bytes);
    release(scratch, array);
    return other;
}

static struct array *resize(struct scratch *scratch, struct array *array, size_t bytes)
{
    if (array != NULL) {
        unlink_array(scratch, array);
        array = lengthen(scratch, array, bytes);
    } else {
        array = create(scratch, bytes);
    }
    link_array(scratch, array);
    return array;
}

void *scratch_resize(struct scratch *scratch, void *array, size_t count, size_t size)
{
    struct array *one = array == NULL ? NULL : array_of(array);
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX - HEADER)
        return out_of_memory();
    if (one != NULL && bytes <= one->bytes)
        return array;
    pthread_mutex_lock(&scratch->lock);
    one = resize(scratch, one, bytes);
    pthread_mutex_unlock(&scratch->lock);
    return elements_of(one);
}

void scratch_free(struct scratch *scratch, void *array)
{
    if (array == NULL)
        return;
    pthread_mutex_lock(&scratch->lock);
    unlink_array(scratch, array_of(array));
    release(scratch, array_of(array));
    pthread_mutex_unlock(&scratch->lock);
}

struct scratch *scratch_create(const char *dir)
{
    struct scratch *scratch = memory_resize(NULL, 1, sizeof *scratch);

    if (dir == NULL)
        dir = getenv("TMPDIR");
    *scratch = (struct scratch){.dir = dir == NULL || dir[0] == '\0' ? "/tmp" : dir};
    pthread_mutex_init(&scratch->lock, NULL);
    return scratch;
}

void scratch_destroy(struct scratch *scratch)
{
    if (scratch == NULL)
        return;
    while (scratch->first != NULL) {
        struct array *array = scratch->first;

        unlink_array(scratch, array);
        release(scratch, array);
    }
    close_spares(scratch);
    pthread_mutex_destroy(&scratch->lock);
    free(scratch);
}

size_t scratch_file_bytes(const struct scratch *scratch)
{
    return scratch->file_bytes;
}

int scratch_refusal(const struct scratch *scratch)
{
    return scratch->refusal;
}
