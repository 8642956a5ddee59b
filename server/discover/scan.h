/* SPDX-License-Identifier: Apache-2.0 */
/* Which files below a directory belong together: found by walking, told by their names.
 *
 *   scan_walk    DIR, or one file                      -> files: path, size, times
 *   scan_objects paths, as a bucket lists them         -> the same
 *   scan_group   files                                 -> runs: name, directories, files, hosts
 *
 *   runs/profiles/                                     the root
 *     step_1000/plugins/profile/2026_11_21_09_30_00/   a session: one run "step_1000"
 *       hostA.xplane.pb                                  SCAN_TRACE  host "hostA"
 *       hostA.trace.json.gz                              SCAN_COPY   of it
 *       jit_step(3).hlo_proto.pb                         SCAN_OTHER
 *     step_1000/memory.prof                              SCAN_BESIDE that session
 *     bench/worker0.pt.trace.json.gz                   a run of its own: "bench/worker0"
 *
 * Names are hints: what a file holds is told by whoever opens it. Grouping is a pure function of
 * paths, sizes, times and what is known of files that were read, so that it can be tested without
 * a file. Everything returned lives in the
 * arena handed in.
 */
#ifndef JVIEWD_DISCOVER_SCAN_H
#define JVIEWD_DISCOVER_SCAN_H

#include "base/bytes.h"
#include "base/error.h"

struct scan_options {
    bool follow_symlinks;
    unsigned depth_max;            /* directories below the root; 0: the default, 12 */
    uint64_t entries_max;          /* names looked at; 0: the default, 1,000,000 */
    bool (*cancelled)(void *data); /* may be NULL */
    void *data;
};

struct scan_known { /* what a file turned out to be, once it was read */
    bool has_window;
    int64_t start_ns, end_ns; /* Unix time of its first and last event */
    struct str group;         /* equal for the ranks of one job; "" none */
    int64_t rank;             /* -1 unknown; only where there is a group */
};

struct scan_file {   /* a regular file that may be part of a run */
    struct str path; /* below the root, no leading slash */
    uint64_t bytes, device, inode;
    int64_t modified_ns, changed_ns;
    struct scan_known known; /* filled in by who knows, before grouping */
};

struct scan_note { /* what could not be looked at, and why */
    struct str path;
    struct str reason;
};

struct scan {
    struct str root;         /* absolute, of a directory */
    struct scan_file *files; /* by path, bytewise */
    uint32_t file_count;
    uint64_t directories, entries; /* seen */
    uint64_t passed;               /* regular files whose names promise nothing */
    uint64_t event_files;          /* ... that TensorBoard keeps its scalars in */
    bool may_say;                  /* a jview.json was seen, or not everything was looked at */
    uint64_t links_left;           /* symbolic links that were not followed */
    struct str first_link;         /* one of them */
    struct scan_note *notes;
    uint32_t note_count;
};

/* Walks everything below `root`, a directory at any level or a single file. Symbolic links are
 * followed only when asked, wherever they lead; a directory is entered once. What cannot be read
 * becomes a note; only a root that cannot be opened fails (ERR_NOT_FOUND, ERR_PERMISSION,
 * ERR_IO). */
MUST_CHECK enum status scan_walk(const char *root, const struct scan_options *options,
                                 struct arena *arena, struct scan *ret, struct error *err);

/* The same of a place whose files are told one by one, by their paths below it: a bucket. Paths
 * that no directory could hold, as "a//b" and "../b", become notes. */
struct scan_objects;
struct scan_objects *scan_objects_begin(struct str root, const struct scan_options *options,
                                        struct arena *arena, struct scan *ret);
/* False: there are too many, and a note says so. Texts are copied. */
bool scan_objects_add(struct scan_objects *objects, const struct scan_file *file);
/* True: the last file that was added is part of the scan. */
bool scan_objects_took(const struct scan_objects *objects);
void scan_objects_end(struct scan_objects *objects);

/* The directory whose files may be ranks of one job with this one: its own, or the one above where
 * that is called after one process, as "rank0". */
struct str scan_neighbourhood(struct str path);

enum scan_role {
    SCAN_TRACE,  /* the best there is for its host */
    SCAN_COPY,   /* says less about a host than its SCAN_TRACE: used where that is unreadable */
    SCAN_BESIDE, /* belongs to the run and holds no trace: memory profiles, HLO beside plugins/ */
    SCAN_OTHER,  /* lies in the session's directory; content tells what it is */
};

struct scan_run_file {
    uint32_t file; /* index into the files that were grouped */
    enum scan_role role;
    uint32_t rank;   /* of copies: the lowest readable one is used */
    struct str host; /* the name without its suffix; of a copy: whose; "" unknown */
};

struct scan_run {
    struct str name;
    struct str dir; /* of its first session; of a run of one file: that file */
    const struct str *dirs;
    uint32_t dir_count;
    const struct str *homes; /* the `dir` of each part, as long as it was a run of its own */
    uint32_t home_count;
    const struct scan_run_file *files; /* by role, host, rank, path */
    uint32_t file_count;
    uint32_t host_count;
    uint64_t bytes;
    int64_t modified_ns; /* newest file */
    bool certain;  /* a name says profile; else only content can tell, and "no" is no failure */
    bool joinable; /* there are others that it may be joined with, or parted from, once all of them
                    * were read */
};

/* Newest first; equal times by name. */
void scan_group(struct str root, const struct scan_file *files, uint32_t file_count,
                struct arena *arena, struct scan_run **ret, uint32_t *ret_count);

#endif
