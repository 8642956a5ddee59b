/* SPDX-License-Identifier: Apache-2.0 */
/* Landlock: a process gives up all files but those below some paths. Facts: landlock(7), kernel
 * Documentation/userspace-api/landlock.rst. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sandbox/sandbox_parts.h"

/* The kernel's own header is older than what kernels know: its numbers, by version of the ABI. */
enum {
    RUN = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_DIR = 1 << 4,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_REGULAR = 1 << 8,
    MAKE_LINK = 1 << 12,
    FILES_1 = (1 << 13) - 1, /* with devices, sockets, pipes, which nobody gets */
    MOVE = 1 << 13,          /* 2: between directories */
    TRUNCATE = 1 << 14,      /* 3 */
    IOCTL_DEVICE = 1 << 15,  /* 5 */
    OF_FILES = RUN | WRITE_FILE | READ_FILE | TRUNCATE,
    TCP_BIND_CONNECT = 3,      /* 4 */
    ABSTRACT_SOCKET = 1 << 0,  /* 6 */
    SIGNAL_TO_OTHERS = 1 << 1, /* 6 */
    VERSION_OF_ABI = 1,
    PATH_BENEATH = 1,
};

struct ruleset { /* longer by version; a kernel takes a longer one whose rest is 0 */
    uint64_t files, net, scoped;
};

struct beneath {
    uint64_t rights;
    int32_t fd;
} __attribute__((packed));

static long landlock(long call, long a, const void *b, unsigned long c, unsigned flags)
{
    return call == SYS_landlock_create_ruleset ? syscall(call, b, c, flags)
                                               : syscall(call, a, c, b, flags);
}

static uint64_t files_of(int abi)
{
    return (uint64_t)(FILES_1 | (abi >= 2 ? MOVE : 0) | (abi >= 3 ? TRUNCATE : 0) |
                      (abi >= 5 ? IOCTL_DEVICE : 0));
}

static uint64_t rights_of(const struct place *place)
{
    uint64_t ret = 0;

    if (place->rights & PLACE_READ)
        ret |= READ_FILE | READ_DIR;
    if (place->rights & PLACE_WRITE)
        ret |= READ_FILE | READ_DIR | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR |
               MAKE_REGULAR | MAKE_LINK | MOVE | TRUNCATE;
    if (place->rights & PLACE_RUN)
        ret |= RUN | READ_FILE;
    return ret;
}

static enum status add_place(int ruleset, uint64_t known, const struct place *place,
                             struct error *err)
{
    struct beneath beneath = {.rights = rights_of(place) & known,
                              .fd = open(place->path, O_PATH | O_CLOEXEC)};
    struct stat info;

    if (beneath.fd < 0 && place->is_optional)
        return OK;
    if (beneath.fd < 0 || fstat(beneath.fd, &info) != 0) {
        int error = errno;

        if (beneath.fd >= 0)
            close(beneath.fd);
        return fail(err, ERR_IO, "%s cannot be opened: %s", place->path, strerror(error));
    }
    if (!S_ISDIR(info.st_mode))
        beneath.rights &= OF_FILES;
    long failed = landlock(SYS_landlock_add_rule, ruleset, &beneath, PATH_BENEATH, 0);
    int error = errno;
    close(beneath.fd);
    if (failed != 0)
        return fail(err, ERR_IO, "%s cannot be given to a confined process: %s", place->path,
                    strerror(error));
    return OK;
}

static enum status restrict_self(int ruleset, struct error *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        return fail(err, ERR_IO, "files cannot be given up: %s", strerror(errno));
    return OK;
}

enum status sandbox_files(const struct place *places, size_t count, bool *ret, struct error *err)
{
    long abi = landlock(SYS_landlock_create_ruleset, 0, NULL, 0, VERSION_OF_ABI);
    enum status status = OK;

    *ret = abi > 0;
    if (abi <= 0) /* the kernel lacks it, its start left it out, or a container forbids it */
        return OK;
    const struct ruleset rules = {.files = files_of((int)abi),
                                  .net = abi >= 4 ? TCP_BIND_CONNECT : 0,
                                  .scoped = abi >= 6 ? ABSTRACT_SOCKET | SIGNAL_TO_OTHERS : 0};
    int ruleset = (int)landlock(SYS_landlock_create_ruleset, 0, &rules, sizeof rules, 0);

    if (ruleset < 0)
        return fail(err, ERR_IO, "files cannot be given up: %s", strerror(errno));
    for (size_t i = 0; i < count && status == OK; i++)
        status = add_place(ruleset, rules.files, &places[i], err);
    if (status == OK)
        status = restrict_self(ruleset, err);
    close(ruleset);
    return status;
}
