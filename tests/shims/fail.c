/* SPDX-License-Identifier: Apache-2.0 */
/* LD_PRELOAD: one call of the whole session fails, the one that the page names.
 *
 * $SHIM_ONLY holds parts of file names with ":" between them: only calls from those objects count.
 * Calls within libc are not seen; those of every other library are, SQLite's among them. The
 * allocations are left out of the object for sanitized programs (SHIM_WITHOUT_ALLOC).
 *
 * clock_gettime is not among them: it does not fail for a clock that there is.
 *
 * No header declares what is defined here: their prototypes are variadic or renamed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "shim_page.h"

#define EXPORTED __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum { FD_FIRST = 3, PROT_BOTH = 3, SHARED = 1, OBJECTS_MAX = 64 };

extern int getpid(void);
extern void *mmap(void *, size_t, int, int, int, off_t);

static struct shim_page *page;
static const char *only;
static _Thread_local int is_inside;

/* The page is mapped by the kernel's own door: our doors are not open yet. */
__attribute__((constructor)) static void shim_begin(void)
{
    const char *path = getenv("SHIM_PAGE");
    long (*raw)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");

    only = getenv("SHIM_ONLY");
    if (path == NULL)
        return;
    long fd = raw(SYS_open, path, 2 | 02000000, 0);
    if (fd < 0)
        return;
    void *at =
        (void *)raw(SYS_mmap, NULL, (long)SHIM_PAGE_BYTES, (long)PROT_BOTH, (long)SHARED, fd, 0L);
    raw(SYS_close, fd);
    if (at != (void *)-1)
        page = at;
}

static int is_named(const char *object)
{
    char words[512], *rest = words;

    snprintf(words, sizeof words, "%s", only);
    for (char *word; (word = strsep(&rest, ":")) != NULL;)
        if (word[0] != '\0' && strstr(object, word) != NULL)
            return 1;
    return 0;
}

/* Which object an address lies in is asked once a page of code. */
static int is_counted(const void *caller)
{
    static _Atomic uintptr_t known[4096]; /* page | 1 counted, | 2 not */
    uintptr_t at = (uintptr_t)caller & ~(uintptr_t)4095, slot = (at >> 12) % 4096, told;
    Dl_info info;

    if (only == NULL)
        return 1;
    told = atomic_load(&known[slot]);
    if ((told & ~(uintptr_t)4095) == at && (told & 3) != 0)
        return told & 1;
    int counted = dladdr(caller, &info) != 0 && info.dli_fname != NULL && is_named(info.dli_fname);
    atomic_store(&known[slot], at | (counted ? 1 : 2));
    return counted;
}

static int is_hit(uint32_t kind, const char *what, const void *caller)
{
    Dl_info info;

    if (page == NULL || is_inside || (page->kinds & kind) == 0)
        return 0;
    is_inside = 1;
    uint64_t at = is_counted(caller) ? atomic_fetch_add(&page->count, 1) + 1 : 0;
    int is_first = at > 0 && at == page->fail_at;
    int hit = is_first || (page->way == SHIM_FAILS_ON && page->fail_at > 0 && at > page->fail_at);
    if (is_first) {
        page->process = getpid();
        snprintf(page->what, sizeof page->what, "%s", what);
        if (dladdr(caller, &info) != 0 && info.dli_fname != NULL)
            snprintf(page->where, sizeof page->where, "%s+0x%zx", info.dli_fname,
                     (size_t)((const char *)caller - (const char *)info.dli_fbase));
        atomic_store(&page->fired, 1);
    }
    is_inside = 0;
    return hit;
}

static int errno_of(int otherwise)
{
    return page->way == SHIM_IS_INTERRUPTED ? EINTR
           : page->way == SHIM_IS_STALE     ? ESTALE
                                            : otherwise;
}

/* A function that fails by a value and errno. */
#define WRAP(kind, error, type, failed, name, parameters, arguments)                               \
    EXPORTED type name parameters;                                                                 \
    type name parameters                                                                           \
    {                                                                                              \
        static type(*next) parameters;                                                             \
        if (next == NULL)                                                                          \
            next = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                    \
        if (is_hit(kind, #name, CALLER)) {                                                         \
            errno = errno_of(error);                                                               \
            return failed;                                                                         \
        }                                                                                          \
        return next arguments;                                                                     \
    }

/* One that moves `count` bytes: half of them, in that way. */
#define WRAP_MOVE(kind, error, name, parameters, arguments)                                        \
    EXPORTED ssize_t name parameters;                                                              \
    ssize_t name parameters                                                                        \
    {                                                                                              \
        static ssize_t(*next) parameters;                                                          \
        if (next == NULL)                                                                          \
            next = (ssize_t(*) parameters)dlsym(RTLD_NEXT, #name);                                 \
        if (is_hit(kind, #name, CALLER)) {                                                         \
            if (page->way != SHIM_IS_SHORT || count < 2) {                                         \
                errno = errno_of(error);                                                           \
                return -1;                                                                         \
            }                                                                                      \
            count /= 2;                                                                            \
        }                                                                                          \
        return next arguments;                                                                     \
    }

#ifndef SHIM_WITHOUT_ALLOC
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static int refused(const void *caller, const char *what)
{
    if (!is_hit(SHIM_ALLOC, what, caller))
        return 0;
    errno = ENOMEM;
    return 1;
}

EXPORTED void *malloc(size_t size)
{
    return refused(CALLER, "malloc") ? NULL : __libc_malloc(size);
}

EXPORTED void *calloc(size_t count, size_t size)
{
    return refused(CALLER, "calloc") ? NULL : __libc_calloc(count, size);
}

EXPORTED void *realloc(void *old, size_t size)
{
    return refused(CALLER, "realloc") ? NULL : __libc_realloc(old, size);
}

EXPORTED void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;

    if (refused(CALLER, "reallocarray") || __builtin_mul_overflow(count, size, &bytes))
        return NULL;
    return __libc_realloc(old, bytes);
}

EXPORTED int posix_memalign(void **ret, size_t align, size_t size)
{
    void *memory = refused(CALLER, "posix_memalign") ? NULL : __libc_memalign(align, size);

    if (memory != NULL)
        *ret = memory;
    return memory != NULL ? 0 : ENOMEM;
}

WRAP(SHIM_ALLOC, ENOMEM, char *, NULL, strdup, (const char *text), (text))
#endif

WRAP(SHIM_OPEN, EMFILE, int, -1, open, (const char *path, int flags, mode_t mode),
     (path, flags, mode))
WRAP(SHIM_OPEN, EMFILE, int, -1, open64, (const char *path, int flags, mode_t mode),
     (path, flags, mode))
WRAP(SHIM_OPEN, EMFILE, int, -1, openat, (int at, const char *path, int flags, mode_t mode),
     (at, path, flags, mode))
WRAP(SHIM_OPEN, EMFILE, FILE *, NULL, fopen, (const char *path, const char *mode), (path, mode))
WRAP(SHIM_OPEN, EMFILE, void *, NULL, opendir, (const char *path), (path))
WRAP(SHIM_OPEN, ENOMEM, void *, NULL, fdopendir, (int fd), (fd))
WRAP(SHIM_OPEN, EMFILE, int, -1, mkostemp, (char *path, int flags), (path, flags))
WRAP(SHIM_OPEN, EMFILE, int, -1, memfd_create, (const char *name, unsigned flags), (name, flags))

WRAP_MOVE(SHIM_READ, EIO, read, (int fd, void *to, size_t count), (fd, to, count))
WRAP_MOVE(SHIM_READ, EIO, pread, (int fd, void *to, size_t count, off_t at), (fd, to, count, at))
WRAP_MOVE(SHIM_READ, EIO, pread64, (int fd, void *to, size_t count, off_t at), (fd, to, count, at))
WRAP(SHIM_READ, EIO, ssize_t, -1, getdents64, (int fd, void *to, size_t count), (fd, to, count))
WRAP(SHIM_READ, EIO, void *, NULL, readdir, (void *directory), (directory))
WRAP(SHIM_READ, EIO, size_t, 0, fread, (void *to, size_t size, size_t count, FILE *file),
     (to, size, count, file))
WRAP(SHIM_READ, EIO, char *, NULL, fgets, (char *to, int size, FILE *file), (to, size, file))
WRAP(SHIM_READ, EIO, ssize_t, -1, readlink, (const char *path, char *to, size_t size),
     (path, to, size))
WRAP(SHIM_READ, EIO, ssize_t, -1, readlinkat, (int at, const char *path, char *to, size_t size),
     (at, path, to, size))
WRAP(SHIM_READ, ENOMEM, char *, NULL, realpath, (const char *path, char *to), (path, to))
WRAP(SHIM_READ, EIO, char *, NULL, getcwd, (char *to, size_t size), (to, size))

WRAP_MOVE(SHIM_WRITE, ENOSPC, write, (int fd, const void *from, size_t count), (fd, from, count))
WRAP_MOVE(SHIM_WRITE, ENOSPC, pwrite, (int fd, const void *from, size_t count, off_t at),
          (fd, from, count, at))
WRAP_MOVE(SHIM_WRITE, ENOSPC, pwrite64, (int fd, const void *from, size_t count, off_t at),
          (fd, from, count, at))

WRAP(SHIM_SYNC, EIO, int, -1, fsync, (int fd), (fd))
WRAP(SHIM_SYNC, EIO, int, -1, fdatasync, (int fd), (fd))
WRAP(SHIM_SYNC, EIO, int, -1, msync, (void *at, size_t size, int flags), (at, size, flags))

WRAP(SHIM_NAME, EIO, int, -1, rename, (const char *from, const char *to), (from, to))
WRAP(SHIM_NAME, EIO, int, -1, renameat, (int from_at, const char *from, int to_at, const char *to),
     (from_at, from, to_at, to))
WRAP(SHIM_NAME, EIO, int, -1, renameat2,
     (int from_at, const char *from, int to_at, const char *to, unsigned flags),
     (from_at, from, to_at, to, flags))
WRAP(SHIM_NAME, EIO, int, -1, link, (const char *from, const char *to), (from, to))
WRAP(SHIM_NAME, EIO, int, -1, linkat,
     (int from_at, const char *from, int to_at, const char *to, int flags),
     (from_at, from, to_at, to, flags))
WRAP(SHIM_NAME, EIO, int, -1, symlink, (const char *from, const char *to), (from, to))
WRAP(SHIM_NAME, EIO, int, -1, unlink, (const char *path), (path))
WRAP(SHIM_NAME, EIO, int, -1, unlinkat, (int at, const char *path, int flags), (at, path, flags))
WRAP(SHIM_NAME, EIO, int, -1, rmdir, (const char *path), (path))
WRAP(SHIM_NAME, ENOSPC, int, -1, mkdir, (const char *path, mode_t mode), (path, mode))
WRAP(SHIM_NAME, ENOSPC, int, -1, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode))
WRAP(SHIM_NAME, ENOSPC, char *, NULL, mkdtemp, (char *path), (path))

#define MAP_FAILED_HERE ((void *)-1)
WRAP(SHIM_MAP, ENOMEM, void *, MAP_FAILED_HERE, mmap,
     (void *at, size_t size, int prot, int flags, int fd, off_t offset),
     (at, size, prot, flags, fd, offset))
WRAP(SHIM_MAP, ENOMEM, void *, MAP_FAILED_HERE, mmap64,
     (void *at, size_t size, int prot, int flags, int fd, off_t offset),
     (at, size, prot, flags, fd, offset))
WRAP(SHIM_MAP, ENOMEM, void *, MAP_FAILED_HERE, mremap,
     (void *at, size_t size, size_t to, int flags, void *place), (at, size, to, flags, place))

WRAP(SHIM_SIZE, EIO, int, -1, ftruncate, (int fd, off_t size), (fd, size))
WRAP(SHIM_SIZE, EIO, int, -1, ftruncate64, (int fd, off_t size), (fd, size))
WRAP(SHIM_SIZE, EIO, off_t, -1, lseek, (int fd, off_t at, int from), (fd, at, from))
WRAP(SHIM_SIZE, EIO, int, ENOSPC, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size))

WRAP(SHIM_STAT, EIO, int, -1, stat, (const char *path, void *ret), (path, ret))
WRAP(SHIM_STAT, EIO, int, -1, stat64, (const char *path, void *ret), (path, ret))
WRAP(SHIM_STAT, EIO, int, -1, lstat, (const char *path, void *ret), (path, ret))
WRAP(SHIM_STAT, EIO, int, -1, lstat64, (const char *path, void *ret), (path, ret))
WRAP(SHIM_STAT, EIO, int, -1, fstat, (int fd, void *ret), (fd, ret))
WRAP(SHIM_STAT, EIO, int, -1, fstat64, (int fd, void *ret), (fd, ret))
WRAP(SHIM_STAT, EIO, int, -1, fstatat, (int at, const char *path, void *ret, int flags),
     (at, path, ret, flags))
WRAP(SHIM_STAT, EIO, int, -1, statfs, (const char *path, void *ret), (path, ret))
WRAP(SHIM_STAT, EIO, int, -1, statvfs, (const char *path, void *ret), (path, ret))
WRAP(SHIM_STAT, EIO, int, -1, access, (const char *path, int mode), (path, mode))
WRAP(SHIM_STAT, EIO, int, -1, fchmod, (int fd, mode_t mode), (fd, mode))
WRAP(SHIM_STAT, EIO, int, -1, futimens, (int fd, const void *times), (fd, times))
WRAP(SHIM_STAT, EIO, int, -1, utimensat, (int at, const char *path, const void *times, int flags),
     (at, path, times, flags))

WRAP(SHIM_START, EAGAIN, int, -1, fork, (void), ())
WRAP(SHIM_START, EAGAIN, int, EAGAIN, posix_spawn,
     (int *ret, const char *path, const void *actions, const void *attributes, char *const *argv,
      char *const *env),
     (ret, path, actions, attributes, argv, env))
WRAP(SHIM_START, EAGAIN, int, EAGAIN, pthread_create,
     (unsigned long *ret, const void *attributes, void *(*run)(void *), void *with),
     (ret, attributes, run, with))

WRAP(SHIM_OTHER, EMFILE, int, -1, pipe2, (int *ret, int flags), (ret, flags))
WRAP(SHIM_OTHER, EMFILE, int, -1, dup, (int fd), (fd))
WRAP(SHIM_OTHER, EMFILE, int, -1, dup2, (int fd, int as), (fd, as))
WRAP(SHIM_OTHER, EMFILE, int, -1, dup3, (int fd, int as, int flags), (fd, as, flags))
WRAP(SHIM_OTHER, EMFILE, int, -1, eventfd, (unsigned first, int flags), (first, flags))
WRAP(SHIM_OTHER, EMFILE, int, -1, epoll_create1, (int flags), (flags))
WRAP(SHIM_OTHER, ENOMEM, int, -1, epoll_ctl, (int fd, int what, int other, void *event),
     (fd, what, other, event))
WRAP(SHIM_OTHER, EMFILE, int, -1, inotify_init1, (int flags), (flags))
WRAP(SHIM_OTHER, ENOSPC, int, -1, inotify_add_watch, (int fd, const char *path, uint32_t mask),
     (fd, path, mask))
WRAP(SHIM_OTHER, EMFILE, int, -1, socket, (int family, int type, int protocol),
     (family, type, protocol))
WRAP(SHIM_OTHER, EMFILE, int, -1, accept4, (int fd, void *address, void *size, int flags),
     (fd, address, size, flags))
WRAP(SHIM_OTHER, ENOMEM, int, -1, poll, (void *fds, unsigned long count, int wait_ms),
     (fds, count, wait_ms))
WRAP(SHIM_OTHER, ENOLCK, int, -1, flock, (int fd, int how), (fd, how))
WRAP(SHIM_OTHER, ENOLCK, int, -1, fcntl, (int fd, int what, long how), (fd, what, how))
WRAP(SHIM_OTHER, ENOLCK, int, -1, fcntl64, (int fd, int what, long how), (fd, what, how))
WRAP(SHIM_OTHER, ENOMEM, int, -1, setenv, (const char *name, const char *value, int replace),
     (name, value, replace))
WRAP(SHIM_OTHER, EINTR, int, -1, waitpid, (int pid, int *status, int flags), (pid, status, flags))
WRAP(SHIM_OTHER, EINTR, int, -1, sigtimedwait, (const void *set, void *info, const void *until),
     (set, info, until))
WRAP(SHIM_OTHER, EINVAL, int, -1, sigaction, (int number, const void *action, void *old),
     (number, action, old))
WRAP(SHIM_OTHER, EINVAL, int, -1, sigprocmask, (int how, const void *set, void *old),
     (how, set, old))
WRAP(SHIM_OTHER, EPERM, int, -1, prctl, (int what, long a, long b, long c, long d),
     (what, a, b, c, d))
WRAP(SHIM_OTHER, EPERM, int, -1, kill, (int process, int number), (process, number))
WRAP(SHIM_OTHER, EPERM, ssize_t, -1, process_vm_readv,
     (int process, const void *to, unsigned long to_count, const void *from,
      unsigned long from_count, unsigned long flags),
     (process, to, to_count, from, from_count, flags))
WRAP(SHIM_OTHER, EIO, int, -1, gethostname, (char *to, size_t size), (to, size))
WRAP(SHIM_OTHER, EINTR, int, -1, nanosleep, (const void *nap, void *left), (nap, left))
WRAP(SHIM_OTHER, EPERM, int, -1, getrlimit, (int what, void *ret), (what, ret))
WRAP(SHIM_OTHER, EPERM, int, -1, setrlimit, (int what, const void *limit), (what, limit))
WRAP(SHIM_OTHER, ENOSYS, ssize_t, -1, getrandom, (void *to, size_t size, unsigned flags),
     (to, size, flags))

WRAP(SHIM_OPEN, EMFILE, long, -1, syscall,
     (long number, long a, long b, long c, long d, long e, long f), (number, a, b, c, d, e, f))
