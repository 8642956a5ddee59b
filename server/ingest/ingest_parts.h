/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the ingest: the tree of what was found, and how far each leaf is.
 *
 *   ingest 1-n root 1-n run 1-n file
 *
 * Everything below `struct ingest` is guarded by its lock, and no other room is called under it.
 * Workers and the scanner name runs and files by id and path, for a scan may replace them any
 * time; whoever comes back with news looks them up again.
 */
#ifndef JVIEWD_INGEST_INGEST_PARTS_H
#define JVIEWD_INGEST_INGEST_PARTS_H

#include <pthread.h>
#include <sys/types.h>

#include "base/file.h"
#include "discover/scan.h"
#include "discover/watch.h"
#include "index/index_result.h"
#include "ingest/ingest.h"
#include "store/shared/index_store.h"

enum { PUBLISHING_COUNT = 16 };

struct ingest_file {
    struct str path, host; /* in the run's arena */
    enum scan_role role;
    uint32_t rank;
    struct file_stamp stamp; /* as last seen */
    enum file_state state;
    char content[33];      /* of the segment that stands for it; "" none */
    enum decode_part part; /* ... and what that is to the run */
    char *format, *error;  /* its own; NULL: "" */
    bool has_window;
    int64_t start_ns, end_ns; /* Unix time of its first and last event, once it was read */
    char *group;              /* of the job it is a rank of; its own; NULL: none */
    int64_t job_rank;         /* -1 unknown */
    int64_t seen_ns;          /* since when the stamp is what it is; monotonic, as all here */
    int64_t first_seen_ns;    /* since when it grows */
    int64_t due_ns;           /* while FILE_WRITING, or failed and transient: when to look again */
    int64_t took_ns;          /* the last indexing; 0: none yet */
    int64_t ended_ns;         /* when that was */
    uint32_t attempts;        /* that met a change or a full disk, in a row */
    bool is_whole;            /* nobody writes it piece by piece: an object of a bucket */
    bool growing;             /* to be read though it grows */
    bool transient;  /* failed of something that may pass: a full disk; due_ns: try again */
    double progress; /* while FILE_INDEXING */
    pid_t pid;       /* of its indexing process; 0: none */
};

struct ingest_run {
    struct arena *arena;
    char id[RUN_ID_SIZE];
    struct ingest_root *root;
    struct str name, dir;
    const struct str *dirs;
    uint32_t dir_count;
    struct ingest_file *files; /* by role, host, rank, path */
    uint32_t file_count;
    int64_t modified_ns;
    uint64_t about_stamp; /* of jview.json; 0: none */
    bool certain;         /* listed before its content is known */
    bool joinable;        /* what its files hold may make it another run */
    bool listed;          /* the catalog has it */
    bool told;            /* ... as it is now; the scanner's own */
    int64_t published_ns; /* when the catalog was told last, */
    int64_t publish_ns;   /* and how long that took */
    uint64_t urgency;     /* the last question's ticket; 0: nobody asked */
};

struct ingest_root {
    struct ingest *ingest;
    struct str given;          /* what the user named: a directory, a file, a place; absolute */
    struct bucket *place;      /* NULL: it is a directory or a file */
    char *path;                /* the directory its runs lie below; NULL before the first scan */
    struct ingest_run **runs;  /* newest first */
    struct ingest_run **by_id; /* the same; NULL: not sorted */
    uint32_t run_count;
    struct watch *watch; /* NULL: looked at once */
    pthread_t thread;
    struct error silence; /* of a place: why it was not listed; OK: it was */
    bool has_thread, scanned;
    bool regroup;    /* files turned out to be of other runs than their names say: to be scanned */
    bool regrouping; /* ... and a scan is about to put them there */
    uint64_t directories, files;
};

struct ingest {
    struct ingest_options options;
    struct catalog *catalog;
    struct cache *cache;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a state, the queue, or stopping */
    /* Taken before lock: a run's records reach the catalog in order. One for all would let a scan
     * of thousands keep the workers waiting. */
    pthread_mutex_t publishing[PUBLISHING_COUNT];
    pthread_mutex_t telling; /* taken before lock: what is told last is what holds */
    bool scan_told;          /* the catalog knows that every root's first scan has ended */
    struct ingest_root *roots;
    pthread_t *workers;
    unsigned worker_count;
    uint64_t tickets;
    bool remembers_ignored; /* what this version ignored before, it need not look at again */
    bool stopping;
};

/* ingest_run.c: lock held, except for run_load and run_free. */
struct ingest_run *run_find(const struct ingest *ingest, struct str id);
struct ingest_file *run_file_find(struct ingest_run *run, struct str path);
struct sighting { /* a run as a scan found it */
    const struct scan_run *run;
    char id[RUN_ID_SIZE];
    uint64_t about_stamp;
};
struct ingest_run *run_of_scan(struct ingest_root *root, const struct scan *scan,
                               const struct sighting *seen, int64_t now_ns);
/* The same files with the same stamps. */
bool run_is(const struct ingest_run *run, const struct scan *scan, const struct sighting *seen);
/* The file that a worker took from a run, wherever a scan has put it since; NULL: it is gone. */
struct ingest_file *run_file_search(struct ingest *ingest, struct str id, struct str path,
                                    struct ingest_run **ret);
/* What is known of files by path, from earlier scans or from the catalog. */
struct file_index {
    struct ingest_file **files; /* by path */
    size_t file_count;
    const struct run_file *remembered; /* by path; of a first scan */
    uint32_t remembered_count;
};
/* What the catalog remembers of files whose stamps are unchanged; true when it says all of the run
 * as it is. */
bool run_load(const struct ingest *ingest, struct ingest_run *run, const struct file_index *index);
/* What older forms of this and other runs know of the same files, which they lose by it. */
void run_inherit(struct ingest_run *run, const struct file_index *index);
/* The file of the run that is read together with this one (decode_beside); NULL: none is. */
struct ingest_file *run_file_with(struct ingest_run *run, struct str path);
/* A file that it is read together with is another than before: what was read is not the whole. */
void file_read_again(struct ingest_file *file, int64_t now_ns);
struct ingest_file *index_find(const struct file_index *index, struct str path);
/* The one with this stamp. */
const struct run_file *index_remembered(const struct file_index *index, struct str path,
                                        const struct file_stamp *stamp);
/* ingest_index.c */
void index_make(struct ingest_root *root, struct arena *arena, struct file_index *ret);
/* What the files of a scan are known to hold. Lock held. */
void index_tell(const struct file_index *index, struct scan *scan, struct arena *arena);
void run_free(struct ingest_run *run);
/* Queues, delays or covers every file whose state is open. */
void run_plan(struct ingest_run *run, int64_t now_ns);
enum run_state run_state_of(const struct ingest_run *run);
/* Something to show: certain, or some file of it turned out to be a profile. */
bool run_is_shown(const struct ingest_run *run);
/* What its files hold may make it part of another run, or several. */
bool run_may_change(const struct ingest_run *run);
double run_progress(const struct ingest_run *run);
bool run_has_segment(const struct ingest_run *run);
void file_set_state(struct ingest_file *file, enum file_state state, struct str error);
void file_set_format(struct ingest_file *file, struct str format);
void file_forget(struct ingest_file *file); /* what it held, for it holds that no longer */
/* When it was recorded, and of which job it is a rank; true when that is news. */
bool file_set_known(struct ingest_file *file, const struct index_result *result);
/* A new stamp: what was known is of the past. */
void file_changed(struct ingest_file *file, const struct file_stamp *stamp, int64_t now_ns);

/* ingest_record.c: tells the catalog how the run is now. Takes the locks itself. */
void run_publish(struct ingest *ingest, const char *id);
/* The same, but a few times a second where many files of the run are to come, for that costs as
 * much as it has files. False: it was not told, and who asks sees to it that it will be. */
bool run_publish_at_times(struct ingest *ingest, const char *id);
/* Many at once, in few transactions. */
void runs_publish(struct ingest *ingest, char (*ids)[RUN_ID_SIZE], uint32_t count);

/* ingest_bucket.c: a root that lies in a bucket or behind https. What is told of it is kept until
 * the next list, so that nothing else costs a request. */
struct bucket;
MUST_CHECK enum status bucket_open(struct str text, struct cache *cache, struct bucket **ret,
                                   struct error *err);
void bucket_close(struct bucket *place); /* takes NULL */
void bucket_cancel(struct bucket *place);
/* As scan_walk. */
MUST_CHECK enum status bucket_scan(struct bucket *place, const struct scan_options *options,
                                   struct arena *arena, struct scan *ret, struct error *err);
/* The place is one file, as far as is known. */
bool bucket_is_file(const struct bucket *place);
/* How long after the scan before it the next one is due. */
int64_t bucket_pause_ns(const struct bucket *place);
/* The file as it was listed last; false: it was not. */
bool bucket_look(struct bucket *place, struct str path, struct file_stamp *ret);
/* The stamp of the jview.json that speaks of a run in this directory, whose text is then among the
 * catalog's facts; 0: there is none. */
uint64_t bucket_about(struct bucket *place, struct catalog *catalog, struct str dir);
/* Which version of which object this is, on every machine. False: the store tells no versions, or
 * it is of another one by now. */
bool bucket_key(struct bucket *place, struct str path, const struct file_stamp *stamp,
                char ret[33]);
/* Takes it out of the bucket. */
MUST_CHECK enum status bucket_remove(struct bucket *place, struct str path,
                                     const struct file_stamp *judged, struct error *err);
/* Its bytes, downloaded unless they were: the path of a file in the cache. */
MUST_CHECK enum status bucket_fetch(struct bucket *place, struct str path,
                                    const struct file_stamp *stamp,
                                    void (*tell)(void *data, uint64_t done, uint64_t total),
                                    void *data, struct arena *arena, struct str *ret,
                                    struct error *err);

/* ingest_child.c */
struct child_job { /* texts are the worker's own */
    char run[RUN_ID_SIZE];
    struct str root, path;           /* the file: below the root */
    struct str read_root, read_path; /* what is opened instead, where it was downloaded; "" not */
    struct file_stamp stamp;
    const char *segment; /* where to write; the attribution goes beside it */
    const char *unless;  /* a content that need not be read again, or NULL */
    bool growing, follow_symlinks, convert, identify;
    void (*on_start)(void *data, pid_t pid); /* 0: it has ended */
    void (*on_progress)(void *data, double share);
    void *data;
};
/* Runs one indexing process to its end. Fails only when none can be started. */
MUST_CHECK enum status child_index(const struct child_job *job, struct arena *arena,
                                   struct index_result *ret, bool *ret_transient,
                                   struct error *err);

/* ingest_shared.c. The index of the file out of the store that others share: its files are where
 * the child would have written them. False: it is not there, or is damaged. */
bool shared_get(struct ingest *ingest, const struct child_job *job, struct arena *arena,
                const char *segment, const char *attribution, struct index_result *ret);
/* The same for an object of a bucket whose content others told: it is not downloaded. */
bool shared_get_unread(struct ingest *ingest, const struct child_job *job, const char key[33],
                       struct arena *arena, const char *segment, const char *attribution,
                       struct index_result *ret);
/* `key` of the object; "" it is none. */
void shared_put(struct ingest *ingest, const struct index_result *result, const char key[33],
                const char *segment, const char *attribution);

/* ingest_next.c. Are its files to be read, or only when they are asked for? */
bool run_is_wanted(const struct ingest *ingest, const struct ingest_run *run);
/* The file to read next; NULL: none. Lock held. */
struct ingest_file *ingest_next(struct ingest *ingest, bool only_asked, struct ingest_run **ret);

/* ingest_worker.c, ingest_watch.c: the threads; ingest_scan.c. */
void *ingest_worker(void *ingest);
void *ingest_worker_asked(void *ingest); /* only runs that somebody waits for */
void ingest_wake(struct ingest *ingest); /* scanners: a file may be due */
void *ingest_scanner(void *root);
void ingest_scan_once(struct ingest_root *root);
void ingest_tell_scan(struct ingest *ingest, bool active);
bool ingest_is_stopping(void *ingest);

#endif
