/* SPDX-License-Identifier: Apache-2.0 */
/* From directories to answers: what is found is indexed, what is indexed is told to the catalog.
 *
 *   scan -> runs and files -> queue -> child process -> segment in the cache -> catalog
 *
 * One thread a profile directory looks and watches; a few workers each keep one indexing process
 * going. The newest run is first; a question moves its run to the head. A file whose stamp or
 * content is known is not read again.
 */
#ifndef JVIEWD_INGEST_INGEST_H
#define JVIEWD_INGEST_INGEST_H

#include "serve/serve.h"

struct ingest_options {
    const struct str *roots; /* directories or files, absolute, and places; borrowed */
    const struct str
        *places; /* of each root: as it was given, where it is a place; NULL: none is */
    uint32_t root_count;
    unsigned workers; /* 0: half the cores */
    bool follow_symlinks, poll;
    const char *uploads; /* the root whose runs are deleted by us: no trace of them is kept */
    const struct index_store *store; /* indexes that others made; NULL: none */
    bool convert;                    /* reports of other programs, by these */
    struct user *user; /* what hangs on a run that grows goes along; NULL: nothing does */
    bool on_demand; /* commands: look once, index what is asked for, and what only its content can
                     * tell to be a run */
};

struct ingest;
/* With on_demand the first scan is over when this returns. */
MUST_CHECK enum status ingest_start(const struct ingest_options *options, struct catalog *catalog,
                                    struct cache *cache, struct ingest **ret, struct error *err);
/* Ends what is being indexed; takes NULL. */
void ingest_stop(struct ingest *ingest);

/* For struct services. OK: the run's state is final for now, whatever it is; ERR_NOT_READY when
 * the time is over. With run_id "" it waits for the end of the first scan. */
enum status ingest_wait(void *ingest, struct str run_id, int64_t wait_ms, struct error *err);
enum status ingest_jobs(void *ingest, struct arena *arena, struct job **ret, uint32_t *ret_count);
enum status ingest_open_file(void *ingest, struct str run_id, struct str path, int *ret_fd,
                             uint64_t *ret_bytes, struct error *err);
/* A file of a run that lies in a bucket. ERR_CONFLICT: it is not as it was judged, and stays. */
MUST_CHECK enum status ingest_remove(struct ingest *ingest, struct str run_id, struct str path,
                                     const struct file_stamp *judged, struct error *err);
void ingest_unsettled(void *ingest, struct arena *arena, struct unsettled *ret);
/* What a file outside of every root is; see struct services. */
enum status ingest_identify(void *ingest, const char *path, struct arena *arena,
                            struct str *ret_format, struct error *err);

#endif
