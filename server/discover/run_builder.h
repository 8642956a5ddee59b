/* SPDX-License-Identifier: Apache-2.0 */
/* Runs while they are put together.
 *
 *   places -> sessions -> joined -> the rest -> joined -> named
 *
 * A builder begins as what one directory, or one file, holds; builders of one capture become one.
 */
#ifndef JVIEWD_DISCOVER_RUN_BUILDER_H
#define JVIEWD_DISCOVER_RUN_BUILDER_H

#include "discover/hint.h"
#include "discover/scan.h"

struct group { /* one grouping: what all its steps see */
    struct str root;
    const struct scan_file *files;
    const struct hint *hints; /* of the files' names */
    struct arena *arena;
    bool has_nsys_jax; /* anywhere */
    bool is_one_file;  /* there is no other: it was named, whatever its name promises */
};

struct place { /* the files of one directory: order[first ... first + count) */
    struct str dir;
    const uint32_t *order; /* file indexes, by name */
    uint32_t count;
};

struct run_builder {
    struct scan_run run;
    struct scan_run_file *files;
    struct str *dirs, *homes;
    size_t file_capacity, dir_capacity, home_capacity;
    struct str log;      /* absolute log directory of its sessions; "" of other runs */
    struct str session;  /* name of its first session; "" where the directory itself is one */
    struct str unfolded; /* the name with a repeated last component kept */
    struct str key;      /* of a run without sessions: its stem's path, or its directory */
    struct str own_key;  /* ... its first rank's, where several were joined */
    enum hint_kind kind; /* ... and its format's */
    bool has_time;
    int64_t time;
    bool is_wide;   /* its sessions lie in log directories side by side; `log` holds these */
    bool is_joined; /* into another: no run of its own */
};

struct run_builders {
    const struct group *group;
    struct run_builder *items;
    size_t count, capacity;
};

/* run_builder.c */
struct run_builder *run_builder_add(struct run_builders *builders, struct str home);
void run_builder_add_dir(const struct group *group, struct run_builder *builder, struct str dir);
void run_builder_add_file(const struct group *group, struct run_builder *builder,
                          struct scan_run_file file);
/* Moves all that `from` holds. */
void run_builder_join(const struct group *group, struct run_builder *into,
                      struct run_builder *from);
/* Drops what was joined into another, from `first` on. */
void run_builders_pack(struct run_builders *builders, size_t first);

/* The roles of the files of one session, in the place's order. */
void roles_of_session(const struct group *group, const struct place *place,
                      struct scan_run_file *ret);

/* captures.c: of which capture each file of a place is that is no session by its place; returns how
 * many there are, 1 at least. What is recorded twice becomes a copy. `ret_of`: zeroed. */
uint32_t captures_of(const struct group *group, struct scan_run_file *files, uint32_t count,
                     uint32_t *ret_of);

/* join.c: builders of one capture become one. */
void join_sessions(struct run_builders *builders);
void join_ranks(struct run_builders *builders, size_t first);
/* "worker0", "rank-3", "node_12": a directory or a file of one process among many. */
bool names_a_place(struct str name);

/* name.c: gives every builder its name. */
void name_runs(struct run_builders *builders);

#endif
