/* SPDX-License-Identifier: Apache-2.0 */
/* What files a process has mapped where: /proc/PID/maps.
 *
 *   7f12a000-7f12f000 r-xp 00002000 fd:01 1234   /usr/lib/libpython3.12.so.1.0
 *   from     to       ^x   offset                path
 */
#ifndef JVIEWD_LAUNCH_SAMPLE_MAPS_H
#define JVIEWD_LAUNCH_SAMPLE_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct map {
    uint64_t from, to, offset;
    bool is_code;
    const char *path; /* "" anonymous */
};

struct maps {
    struct map *at;
    uint32_t count;
    char *text; /* the paths are in it */
};

/* One line, which is changed: its path gets a NUL. */
bool maps_line(char *line, struct map *ret);
/* In ascending order; nothing where the process is gone or not to be seen. */
void maps_read(pid_t process, struct maps *ret);
void maps_free(struct maps *maps);

#endif
