/* SPDX-License-Identifier: Apache-2.0 */
/* Files: found below a root, mapped, and written so that nobody sees half of one.
 *
 * Profile files belong to others and may change while they are read. Only a process that may die
 * of SIGBUS maps them (the indexing child); `file_stamp` before and after tells whether what was
 * read was one file. Our own files are made under a temporary name beside the final one, synced
 * and renamed.
 */
#ifndef JVIEWD_BASE_FILE_H
#define JVIEWD_BASE_FILE_H

#include "base/bytes.h"
#include "base/error.h"

struct file_stamp { /* who a file is and when it last changed */
    uint64_t device, inode, size;
    int64_t modified_ns, changed_ns;
};

/* Opens a regular file for reading, never blocking on a FIFO, never a device. */
MUST_CHECK enum status file_open(const char *path, int *ret_fd, struct file_stamp *ret,
                                 struct error *err);
/* The same below a directory: no "..", and no link unless follow_symlinks; those that are followed
 * may lead anywhere; with openat2, not by what /proc pretends to be links. */
MUST_CHECK enum status file_open_beneath(int root_fd, const char *path, bool follow_symlinks,
                                         int *ret_fd, struct file_stamp *ret, struct error *err);
MUST_CHECK enum status file_stamp_of(int fd, struct file_stamp *ret, struct error *err);
/* How many of the first `size` bytes are there and no hole, counted until there are `enough`. */
uint64_t file_data_bytes(int fd, uint64_t size, uint64_t enough);
bool file_stamp_equal(const struct file_stamp *a, const struct file_stamp *b);
void file_close(int fd);

struct file_map {
    struct bytes bytes;
};
/* Maps the first `size` bytes read-only; an empty file maps to no bytes. */
MUST_CHECK enum status file_map(int fd, size_t size, struct file_map *ret, struct error *err);
void file_unmap(struct file_map *map);
/* MADV_WILLNEED for a part of a map. */
void file_will_need(const void *at, size_t count);

/* The whole file in an arena, at most limit bytes (ERR_LIMIT). */
MUST_CHECK enum status file_read(const char *path, struct arena *arena, size_t limit,
                                 struct bytes *ret, struct error *err);

struct file_out { /* a file in the making */
    int fd;
    char temporary[4096], final[4096];
};
/* Makes "<path>.<random>.tmp" with O_EXCL and mode 0600. */
MUST_CHECK enum status file_out_open(struct file_out *out, const char *path, struct error *err);
MUST_CHECK enum status file_out_commit(struct file_out *out, struct error *err); /* sync, rename */
void file_out_abandon(struct file_out *out);
MUST_CHECK enum status file_write_all(int fd, const void *at, size_t count, uint64_t offset,
                                      struct error *err);
/* The path by a directory that is reached through no link; its last part as it is. False: there is
 * no such directory, or the path is too long. */
bool file_without_links(const char *path, char *ret, size_t size);
/* mkdir -p with mode 0700 for what it makes. */
MUST_CHECK enum status directory_make(const char *path, struct error *err);

#endif
