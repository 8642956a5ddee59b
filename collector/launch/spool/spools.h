/* SPDX-License-Identifier: Apache-2.0 */
/* The spools in a directory. A process holds a lock (flock) on its own as long as it lives. */
#ifndef JVIEWD_LAUNCH_SPOOLS_H
#define JVIEWD_LAUNCH_SPOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/file.h"

struct spools {
    uint32_t moved, busy;
    char **profiles; /* the directories that they lie in now */
    uint32_t profile_count;
};

bool spools_is_one(const char *name);                         /* by its ending */
bool spools_is_held(const char *directory, const char *name); /* someone holds its lock */
void spools_count(const char *directory, struct spools *ret); /* as they would be */
void spools_free(struct spools *spools);
/* One of them, whatever it holds; to be given to file_unmap. */
bool spools_map(const char *path, struct file_map *ret);
/* Waits until none is busy. */
void spools_wait(const char *directory);

#endif
