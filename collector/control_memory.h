/* SPDX-License-Identifier: Apache-2.0 */
/* Where the session's page lies: memory of the launcher that can neither shrink nor lie on a disk
 * that is full, so that no program ends for looking at it.
 *
 *   DIR/control        the page as it began, to be read: launcher, memory_fd, what is asked for
 *   /proc/LAUNCHER/fd/MEMORY_FD   the page itself, sealed, to be mapped
 */
#ifndef JVIEWD_COLLECTOR_CONTROL_MEMORY_H
#define JVIEWD_COLLECTOR_CONTROL_MEMORY_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collector/control.h"

enum { CONTROL_HEAD_BYTES = offsetof(struct control, system) };

/* False where the file does not begin as one of ours. */
static inline bool control_read(int fd, struct control *ret)
{
    return pread(fd, ret, CONTROL_HEAD_BYTES, 0) == CONTROL_HEAD_BYTES &&
           ret->magic == CONTROL_MAGIC && ret->version == CONTROL_VERSION;
}

/* NULL where the launcher is gone, or of another machine or container. */
static inline struct control *control_map(const struct control *head)
{
    struct control *control = MAP_FAILED;
    struct stat about;
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", head->launcher, head->memory_fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals >= 0 && (seals & F_SEAL_SHRINK) != 0 && fstat(fd, &about) == 0 &&
        about.st_size >= (off_t)sizeof *control)
        control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (control == MAP_FAILED)
        return NULL;
    if (control->magic == CONTROL_MAGIC && control->version == CONTROL_VERSION &&
        control->launcher == head->launcher && control->token == head->token)
        return control;
    munmap(control, sizeof *control);
    return NULL;
}

#endif
