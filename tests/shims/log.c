/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: what a session does to files, in order, into the file that $SHIM_LOG names.
 *
 *   record   8 words of 8 bytes: kind, file, directory, other directory, offset, length,
 *            bytes of the first name | of the second << 32, 0
 *            both names, then `length` bytes of data
 *
 * Files and directories are told by their inodes, for names change. A write is logged when it has
 * been done. Of a file that is mapped to be written, the whole content is logged before each sync.
 *
 * No header declares what is defined here: their prototypes are variadic or renamed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>

struct stat_like { /* of x86-64 and aarch64: only the first two are the same */
    unsigned long device, inode;
    char rest[256];
};
struct vector {
    const void *at;
    size_t count;
};

#define EXPORTED __attribute__((visibility("default")))

enum {
    AT_HERE = -100,
    CREATES = 0100,
    TRUNCATES = 01000,
    SHARED = 1,
    WRITABLE = 2,
    MAPPED_MAX = 256
};
enum { PIECE_BYTES = 1 << 16 };
enum kind { WRITE = 1, SIZE, ENTRY, GONE, RENAME, SYNC, DIRECTORY, NEW = 9 }; /* 8: the test's */

static int log_fd = -1;
static unsigned long mapped[MAPPED_MAX];
static _Atomic unsigned mapped_count;
static long (*raw)(long, ...);

__attribute__((constructor)) static void shim_begin(void)
{
    const char *path = getenv("SHIM_LOG");

    raw = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (path != NULL)
        log_fd = (int)raw(SYS_openat, AT_HERE, path, 1 | 02000 | 02000000, 0600);
}

static unsigned long inode_at(int at, const char *path)
{
    struct stat_like info;

    return raw(SYS_newfstatat, at, path, &info, 0x100) == 0 ? info.inode : 0; /* no link followed */
}

static unsigned long inode_of(int fd)
{
    struct stat_like info;

    return raw(SYS_fstat, fd, &info) == 0 ? info.inode : 0;
}

/* The directory of a path, and the name in it. */
static unsigned long split(int at, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    char directory[4096];

    *ret_name = slash == NULL ? path : slash + 1;
    if (slash == NULL)
        return inode_at(at, ".");
    snprintf(directory, sizeof directory, "%.*s/.", (int)(slash - path), path);
    return inode_at(at, directory);
}

struct entry {
    unsigned long directory;
    const char *name;
};

static void put(enum kind kind, unsigned long file, struct entry first, struct entry second,
                unsigned long offset, struct vector data)
{
    size_t a = first.name != NULL ? strlen(first.name) : 0,
           b = second.name != NULL ? strlen(second.name) : 0;
    uint64_t words[8] = {kind,   file,       first.directory, second.directory,
                         offset, data.count, a | b << 32,     0};
    struct vector parts[4] = {{words, sizeof words}, {first.name, a}, {second.name, b}, data};
    int error = errno;

    if (log_fd >= 0 && kind != 0)
        raw(SYS_writev, log_fd, parts, 4);
    errno = error;
}

static struct entry none(void)
{
    return (struct entry){0, NULL};
}

/* What has no offset is no file. */
static void put_data(int fd, unsigned long offset, const void *at, size_t count)
{
    if ((long)offset >= 0)
        put(WRITE, inode_of(fd), none(), none(), offset, (struct vector){at, count});
}

static void put_size(unsigned long inode, unsigned long size)
{
    put(SIZE, inode, none(), none(), size, (struct vector){NULL, 0});
}

static void put_entry(enum kind kind, int at, const char *path)
{
    struct entry entry;

    entry.directory = split(at, path, &entry.name);
    put(kind, kind == GONE ? 0 : inode_at(at, path), entry, none(), 0, (struct vector){NULL, 0});
}

static void put_rename(int from_at, const char *from, int to_at, const char *to)
{
    struct entry old, new;

    old.directory = split(from_at, from, &old.name);
    new.directory = split(to_at, to, &new.name);
    put(RENAME, inode_at(to_at, to), old, new, 0, (struct vector){NULL, 0});
}

static void put_mapped(int fd, unsigned long inode)
{
    static _Thread_local char piece[PIECE_BYTES];
    int is_mapped = 0;

    for (unsigned i = 0; i < mapped_count && i < MAPPED_MAX; i++)
        is_mapped |= mapped[i] == inode;
    for (unsigned long at = 0; is_mapped;) {
        long count = raw(SYS_pread64, fd, piece, (long)sizeof piece, at);

        if (count <= 0)
            return;
        put_data(fd, at, piece, (size_t)count);
        at += (unsigned long)count;
    }
}

static void put_sync(int fd)
{
    unsigned long inode = inode_of(fd);

    put_mapped(fd, inode);
    put(SYNC, inode, none(), none(), 0, (struct vector){NULL, 0});
}

/* An inode may be one that another file had. */
static void put_new(int fd, int at, const char *path)
{
    put(NEW, inode_of(fd), none(), none(), 0, (struct vector){NULL, 0});
    put_entry(ENTRY, at, path);
}

static void opened(int fd, int at, const char *path, int flags, int was_there)
{
    if ((flags & CREATES) != 0 && !was_there)
        put_new(fd, at, path);
    else if ((flags & TRUNCATES) != 0)
        put_size(inode_of(fd), 0);
}

#define WRAP_OPEN(name, parameters, arguments, at)                                                 \
    EXPORTED int name parameters;                                                                  \
    int name parameters                                                                            \
    {                                                                                              \
        static int(*next) parameters;                                                              \
        if (next == NULL)                                                                          \
            next = (int(*) parameters)dlsym(RTLD_NEXT, #name);                                     \
        int was_there = (flags & CREATES) == 0 || inode_at(at, path) != 0;                         \
        int result = next arguments;                                                               \
        if (result >= 0)                                                                           \
            opened(result, at, path, flags, was_there);                                            \
        return result;                                                                             \
    }

/* `name` as it is in libc, `result` and what is logged where it went well. */
#define WRAP(type, name, parameters, arguments, went_well, log)                                    \
    EXPORTED type name parameters;                                                                 \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        if (next == NULL)                                                                          \
            next = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                    \
        type result = next arguments;                                                              \
        if (went_well)                                                                             \
            log;                                                                                   \
        return result;                                                                             \
    }

WRAP_OPEN(open, (const char *path, int flags, mode_t mode), (path, flags, mode), AT_HERE)
WRAP_OPEN(open64, (const char *path, int flags, mode_t mode), (path, flags, mode), AT_HERE)
WRAP_OPEN(openat, (int at, const char *path, int flags, mode_t mode), (at, path, flags, mode), at)
WRAP(int, mkostemp, (char *path, int flags), (path, flags), result >= 0,
     put_new(result, AT_HERE, path))
WRAP(char *, mkdtemp, (char *path), (path), result != NULL, put_entry(DIRECTORY, AT_HERE, path))
WRAP(FILE *, fopen, (const char *path, const char *mode), (path, mode),
     result != NULL && mode[0] != 'r', put_entry(ENTRY, AT_HERE, path))

WRAP(ssize_t, write, (int fd, const void *from, size_t count), (fd, from, count), result > 0,
     put_data(fd, (unsigned long)raw(SYS_lseek, fd, 0, 1) - (unsigned long)result, from,
              (size_t)result))
WRAP(ssize_t, pwrite, (int fd, const void *from, size_t count, off_t at), (fd, from, count, at),
     result > 0, put_data(fd, (unsigned long)at, from, (size_t)result))
WRAP(ssize_t, pwrite64, (int fd, const void *from, size_t count, off_t at), (fd, from, count, at),
     result > 0, put_data(fd, (unsigned long)at, from, (size_t)result))
WRAP(int, ftruncate, (int fd, off_t size), (fd, size), result == 0,
     put_size(inode_of(fd), (unsigned long)size))
WRAP(int, ftruncate64, (int fd, off_t size), (fd, size), result == 0,
     put_size(inode_of(fd), (unsigned long)size))

WRAP(int, fsync, (int fd), (fd), result == 0, put_sync(fd))
WRAP(int, fdatasync, (int fd), (fd), result == 0, put_sync(fd))

WRAP(int, rename, (const char *from, const char *to), (from, to), result == 0,
     put_rename(AT_HERE, from, AT_HERE, to))
WRAP(int, renameat, (int from_at, const char *from, int to_at, const char *to),
     (from_at, from, to_at, to), result == 0, put_rename(from_at, from, to_at, to))
WRAP(int, renameat2, (int from_at, const char *from, int to_at, const char *to, unsigned flags),
     (from_at, from, to_at, to, flags), result == 0, put_rename(from_at, from, to_at, to))
WRAP(int, link, (const char *from, const char *to), (from, to), result == 0,
     put_entry(ENTRY, AT_HERE, to))
WRAP(int, linkat, (int from_at, const char *from, int to_at, const char *to, int flags),
     (from_at, from, to_at, to, flags), result == 0, put_entry(ENTRY, to_at, to))
WRAP(int, unlink, (const char *path), (path), result == 0, put_entry(GONE, AT_HERE, path))
WRAP(int, unlinkat, (int at, const char *path, int flags), (at, path, flags), result == 0,
     put_entry(GONE, at, path))
WRAP(int, rmdir, (const char *path), (path), result == 0, put_entry(GONE, AT_HERE, path))
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), result == 0,
     put_entry(DIRECTORY, AT_HERE, path))
WRAP(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), result == 0,
     put_entry(DIRECTORY, at, path))

static void mapped_at(int fd, int protection, int flags)
{
    if (fd >= 0 && (flags & SHARED) != 0 && (protection & WRITABLE) != 0) {
        unsigned at = mapped_count++;

        mapped[at % MAPPED_MAX] = inode_of(fd);
    }
}

WRAP(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset), result != (void *)-1,
     mapped_at(fd, protection, flags))
WRAP(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     (at, size, protection, flags, fd, offset), result != (void *)-1,
     mapped_at(fd, protection, flags))
