/* SPDX-License-Identifier: Apache-2.0 */
/* Which runs there are, what they are made of, and how far each one is: SQLite.
 *
 * The catalog lives in the cache directory. Whoever holds the flock on it writes; another process
 * opens it read-only and keeps its own changes in memory. It holds never one row per event. Every
 * call takes and gives back the one connection under its own mutex; no other lock is held inside.
 * Texts returned live in the arena handed in.
 */
#ifndef JVIEWD_STORE_CATALOG_H
#define JVIEWD_STORE_CATALOG_H

#include "base/bytes.h"
#include "base/error.h"
#include "base/file.h"
#include "trace/part.h"

enum run_state {
    RUN_WRITING, /* files still change */
    RUN_QUEUED,
    RUN_INDEXING,
    RUN_READY,
    RUN_PARTIAL, /* some files failed */
    RUN_FAILED,
    RUN_GONE, /* no longer on disk */
};

enum file_state {
    FILE_QUEUED,
    FILE_INDEXING,
    FILE_WRITING,
    FILE_READY,
    FILE_PARTIAL, /* what is whole was read; notes say what is missing */
    FILE_FAILED,
    FILE_COVERED, /* another file of that host says more */
    FILE_IGNORED, /* no profile, or recognised and not readable; `error` is the reason */
    FILE_GONE,
};

const char *run_state_word(enum run_state state);
const char *file_state_word(enum file_state state);

struct run_file {
    struct str path;   /* below the profile directory */
    struct str host;   /* the file's name without its suffix */
    struct str format; /* "" until it was looked at */
    uint64_t bytes;
    enum file_state state;
    struct str error;
    char content[33];        /* hex; "" until hashed */
    enum decode_part part;   /* of a file with a content: a host, or what lies beside the hosts */
    struct file_stamp stamp; /* of the file that was looked at; zero before, and where it failed of
                                what may pass */
    bool has_window;
    int64_t start_ns, end_ns; /* Unix time of its first and last event */
    struct str group;         /* equal for the ranks of one job; "" none */
    int64_t rank;             /* -1 unknown */
    bool run_is_gone;         /* of catalog_files alone */
};

struct run_host {
    struct str name, hostname;
    bool has_epoch;
    int64_t epoch_ns;  /* Unix time of file time 0 */
    int64_t offset_ps; /* run time = file time + offset_ps */
    char content[33];
};

struct run_about {           /* of jview.json, beside the profile: serve/bundle/about.h */
    uint64_t stamp;          /* of the file; 0: there is none */
    struct str name, commit; /* "" unknown */
    bool has_step, has_commit_time;
    int64_t step, commit_ns; /* Unix time of the commit */
};

struct run_record {
    struct str id, content_id; /* content_id "" until ready */
    /* The same of what this cache keeps of it: content_id itself where every file was read here,
     * but not of a bundle, which may claim any. */
    struct str kept_id;
    /* What content_id is the hash of: lines of host and content, in order. Of a record that is
     * written; "" elsewhere, and where what was told before is to stay. */
    struct str members;
    struct str root; /* the profile directory, absolute */
    struct str name, dir;
    const struct str *dirs;
    uint32_t dir_count;
    enum run_state state;
    double progress; /* 0..1 while indexing */
    struct str error;
    bool has_epoch;
    int64_t epoch_ns, duration_ps; /* of run time 0; of the hull */
    int64_t modified_ns;           /* newest file */
    int64_t captured_ns; /* when it was captured, as far as is known; 0: by the two above */
    int64_t latest_ns;   /* ... and of one that was not read yet: at the latest */
    bool is_unread;
    struct str device_kind, framework; /* "" unknown */
    uint32_t device_count;
    bool device_count_known;
    uint64_t file_count, file_bytes, slice_count;
    int64_t step_count, step_median_ps; /* -1 unknown */
    const struct str *formats;
    uint32_t format_count;
    const struct str *badges;
    uint32_t badge_count;
    struct run_about about;
    const struct run_file *files; /* only from catalog_run */
    uint32_t run_file_count;
    const struct run_host *hosts; /* only those with a trace */
    uint32_t host_count;
};

/* By its clock, else as told by its name or its files. Clocks of 1970 say nothing. */
int64_t run_captured_ns(const struct run_record *run);

enum { RUN_ID_SIZE = 24 };
/* The id of what is a run in this directory: of its first sight on. */
void run_id_of(struct str root, struct str dir, char ret[RUN_ID_SIZE]);

struct run_query {
    struct str path;  /* a prefix of whole components of `dir` */
    struct str state; /* a word, "" any */
    struct str q;     /* part of name, dir, host, framework */
    struct str sort;  /* "-started_at" (default), "name", "duration_ps", "step_median_ps", ... */
    uint64_t offset, limit;
};

struct scan_state {
    bool active, done_once;
    uint64_t directories, files;
};

struct catalog;
MUST_CHECK enum status catalog_open(const char *cache_dir, struct catalog **ret, struct error *err);
void catalog_close(struct catalog *catalog);
bool catalog_writable(struct catalog *catalog);
/* Writes to the file what is kept in memory, where that has become possible; true when it was done.
 * Cheap to try. */
bool catalog_promote(struct catalog *catalog);
/* Why changes are lost with this process, or what was rebuilt; "" when all is well. */
struct str catalog_note(struct catalog *catalog, struct arena *arena);
/* One cache serves many profile directories; only runs below these are listed and resolved. None:
 * all. */
MUST_CHECK enum status catalog_show_roots(struct catalog *catalog, const struct str *roots,
                                          uint32_t count, struct error *err);

MUST_CHECK enum status catalog_runs(struct catalog *catalog, const struct run_query *query,
                                    struct arena *arena, struct run_record **ret,
                                    uint32_t *ret_count, uint64_t *ret_all, struct error *err);
/* By id. */
MUST_CHECK enum status catalog_run(struct catalog *catalog, struct str id, struct arena *arena,
                                   struct run_record *ret, struct error *err);

/* Every file of the runs below a root, by path; of runs that are gone, too. */
MUST_CHECK enum status catalog_files(struct catalog *catalog, struct str root, struct arena *arena,
                                     struct run_file **ret, uint32_t *ret_count, struct error *err);

/* The training step that a run is named after: of "exp/step_00001000" 1000. */
bool run_step_of(struct str name, uint64_t *ret);
/* What `run=` means: an id, a content id, a name, a unique suffix of a name, "latest",
 * "latest-1", a step number, a profile directory. ERR_NOT_FOUND fills `near` with up to five names,
 * ERR_AMBIGUOUS with the candidates. ERR_NOT_READY: which is the latest is not known before the run
 * *ret_id was read. */
struct run_candidates {
    struct str ids[16], names[16];
    uint32_t count;
};
MUST_CHECK enum status catalog_resolve(struct catalog *catalog, struct str run, struct arena *arena,
                                       struct str *ret_id, struct run_candidates *near,
                                       struct error *err);

/* Writing: the ingest's own. */
/* With files and hosts, and instead of what was there; all or none. */
MUST_CHECK enum status catalog_put_runs(struct catalog *catalog, const struct run_record *runs,
                                        uint32_t count, struct error *err);
/* What the run was when its content was last told, also while it is read anew; "" it never was. */
MUST_CHECK enum status catalog_content(struct catalog *catalog, struct str id, struct arena *arena,
                                       struct str *ret_content_id, struct str *ret_members,
                                       struct error *err);
/* Another run than this one has that content. */
bool catalog_has_other(struct catalog *catalog, struct str content_id, struct str id);
MUST_CHECK enum status catalog_set_state(struct catalog *catalog, struct str id,
                                         enum run_state state, double progress, struct str message,
                                         struct error *err);
/* A run and all that hangs on it is forgotten. */
MUST_CHECK enum status catalog_forget(struct catalog *catalog, struct str id, struct error *err);
/* What indexing told of a content: one line of JSON, whatever file held it. "" when unknown. */
MUST_CHECK enum status catalog_facts(struct catalog *catalog, const char content[33],
                                     struct arena *arena, struct str *ret, struct error *err);
/* A content that some file of this size had and whose facts are known; "" none. */
MUST_CHECK enum status catalog_content_of_size(struct catalog *catalog, uint64_t bytes,
                                               char ret[33], struct error *err);
MUST_CHECK enum status catalog_put_facts(struct catalog *catalog, const char content[33],
                                         struct str facts, struct error *err);

/* A figure of a run that was measured once; by what is kept of the run, so copies share it, and a
 * bundle speaks for nothing but itself. */
struct run_metric {
    struct str name; /* "step_p95", "op:dot.3" */
    struct str unit; /* "ps", "bytes", "count", "share" (in parts of METRIC_SHARE_WHOLE) */
    bool known;
    int64_t value;
    struct str reason; /* why it is not known */
};
enum { METRIC_SHARE_WHOLE = 1000000000, METRICS_VERSION = 3 /* what they mean */ };
/* Replaces what was known of it. */
MUST_CHECK enum status catalog_put_metrics(struct catalog *catalog, struct str kept_id,
                                           const struct run_metric *metrics, uint32_t count,
                                           struct error *err);
struct metric_of { /* one metric of what is kept once */
    struct str kept_id;
    struct run_metric metric;
};
/* By kept id; of all that were measured. "" as a name: which those are. */
MUST_CHECK enum status catalog_metric(struct catalog *catalog, struct str name, struct arena *arena,
                                      struct metric_of **ret, uint32_t *ret_count,
                                      struct error *err);
/* Every metric that is known of something, by name, then kept id. */
MUST_CHECK enum status catalog_metrics(struct catalog *catalog, struct arena *arena,
                                       struct metric_of **ret, uint32_t *ret_count,
                                       struct error *err);
/* All of one, by name, with the one that has none; none: it was not measured. */
MUST_CHECK enum status catalog_metrics_of(struct catalog *catalog, struct str kept_id,
                                          struct arena *arena, struct metric_of **ret,
                                          uint32_t *ret_count, struct error *err);
/* A walk over runs that are ready and not measured by these rules, newest first. */
struct unmeasured {
    bool began;
    int64_t order_ns; /* of the last one told */
    char id[RUN_ID_SIZE];
};
/* The next few ids; none: the walk is over. */
MUST_CHECK enum status catalog_unmeasured(struct catalog *catalog, struct unmeasured *walk,
                                          struct arena *arena, struct str *ret_ids,
                                          uint32_t capacity, uint32_t *ret_count,
                                          struct error *err);
/* What the last scan of a root could not look at; replaces what it said before. Not kept. */
struct scan_trouble {
    struct str path; /* below the root */
    struct str reason;
    bool is_remark; /* nothing is wrong: what lies there instead of profiles */
};
void catalog_set_troubles(struct catalog *catalog, struct str root,
                          const struct scan_trouble *troubles, uint32_t count);
/* Of all roots. */
void catalog_troubles(struct catalog *catalog, struct arena *arena, struct scan_trouble **ret,
                      uint32_t *ret_count);
void catalog_set_scan(struct catalog *catalog, struct scan_state scan);
struct scan_state catalog_scan(struct catalog *catalog);
/* Raised by every change: for ETags and event streams. */
uint64_t catalog_generation(struct catalog *catalog);

const char *catalog_library(void); /* the version of SQLite */

#endif
