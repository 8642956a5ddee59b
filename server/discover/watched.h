/* SPDX-License-Identifier: Apache-2.0 */
/* The directories an inotify instance watches: watch descriptor -> path below the root. */
#ifndef JVIEWD_DISCOVER_WATCHED_H
#define JVIEWD_DISCOVER_WATCHED_H

#include "base/bytes.h"

struct watched {
    int inotify_fd;
    const char *root;
    bool follow_symlinks;
    unsigned count, count_max, depth_max;
    char **paths; /* by watch descriptor; NULL: not one of ours */
    size_t path_capacity;
    const char *lost; /* why some directory is not watched; a literal, NULL while all are */
};

/* False of file systems that other machines write to, or that do not tell. */
bool watched_tells_changes(const char *path);
/* Watches a directory and all below it. */
void watched_add(struct watched *watched, const char *path, unsigned depth);
/* Is a file of this name in the directory, a path below the root, news? */
bool watched_wants(const struct watched *watched, const char *directory, const char *name);
/* A link came that leads to a file: what happens to that file is told to nobody here. */
void watched_lose_linked_file(struct watched *watched);
/* The path of a watch descriptor; NULL: unknown. Valid until the table changes. */
const char *watched_path(const struct watched *watched, int descriptor);
bool watched_knows(const struct watched *watched, const char *path);
void watched_forget(struct watched *watched, int descriptor); /* the kernel dropped it */
void watched_free(struct watched *watched);

#endif
