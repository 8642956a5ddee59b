/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd prune [DIR]`: what eats the disk, and which profiles may go.
 *
 *   every run ─> protected? (pinned, baseline, being written, not read yet, the newest N) ─> kept
 *            └─> old enough, or too much in all ─> would go; with --delete goes
 *
 * Without --delete nothing is touched. A run whose content is not known yet is kept, for it may be
 * pinned; where the user database cannot be read, nothing goes at all. What is removed are the
 * run's own files, by name, below the profile directory and through no link; then the directories
 * that this left empty.
 */
#ifndef JVIEWD_PRUNE_PRUNE_H
#define JVIEWD_PRUNE_PRUNE_H

#include "app/rooms.h"

struct prune_wish { /* what was asked */
    bool has_keep;
    uint64_t keep;  /* the newest so many runs */
    int64_t age_ns; /* older than this; 0: any age */
    bool has_size;
    uint64_t size; /* bytes of all profiles together */
};

struct prune_run {
    struct str id, name;
    int64_t modified_ns;
    uint64_t bytes;
    const char *kept; /* why it stays; NULL: it goes */
    bool is_protected;
};

/* Decides for runs that come newest first, with `kept` set where they are protected; pure. */
void prune_choose(struct prune_run *runs, uint32_t count, const struct prune_wish *wish,
                  int64_t now_ns);
/* "20G" -> bytes. */
bool prune_size(struct str text, uint64_t *ret);

/* Removes a file below the root, if it is still as it was judged (inode, size, time), and the
 * directories above it that are empty then, not the root. ERR_CONFLICT: it changed. */
MUST_CHECK enum status prune_file(const char *root, struct str path,
                                  const struct file_stamp *judged, struct error *err);

/* The directory that holds it, reached through no link, and its name there. */
MUST_CHECK enum status prune_open_directory(const char *root, struct str path, int *ret_fd,
                                            char ret_name[256], struct error *err);

/* Which indexes of the store that was opened no run below the roots needs; removes them where it is
 * known of all. The exit code. */
int prune_store(struct app *app, bool delete);

/* argv[0] is the verb. */
int prune_main(int argc, char **argv);

#endif
