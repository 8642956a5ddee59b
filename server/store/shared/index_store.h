/* SPDX-License-Identifier: Apache-2.0 */
/* Indexes that many machines share: segments and attributions by the content of the profile.
 *
 *   DIR/2.2.1/ab/abcdef....known           what indexing told, and the sums of both files
 *                abcdef....1234....seg   .attr, too: as a cache has them, named after their sums
 *
 *       seen/ab/abcdef....0123....       the object abcdef.... of a bucket has the content 0123....
 *
 * The place is a directory or a bucket. A content is there once its first file is, which is written
 * last. Files get their names when they are whole and on disk, and never instead of others: of two
 * writers the first wins, and neither meets the other's half. What is taken out is copied into the
 * local cache and summed there: what does not fit its sum is as if it were not there.
 *
 * A bucket that fails is left alone for a minute: ERR_NOT_READY.
 */
#ifndef JVIEWD_STORE_INDEX_STORE_H
#define JVIEWD_STORE_INDEX_STORE_H

#include "base/bytes.h"
#include "base/error.h"

struct index_store;
/* A directory is made where it is missing; a bucket is asked when something is looked for. */
MUST_CHECK enum status index_store_open(const char *place, struct index_store **ret,
                                        struct error *err);
void index_store_close(struct index_store *store);  /* takes NULL */
void index_store_cancel(struct index_store *store); /* takes NULL; ends what waits for a bucket */
const char *index_store_place(const struct index_store *store);

bool index_store_has(const struct index_store *store, const char content[33]);
/* The content of a bucket's object, whose key says which version of which one it is. False: nobody
 * that shares the store has read it. */
bool index_store_seen(const struct index_store *store, const char key[33], char ret_content[33]);
/* Its content is known from now on. */
MUST_CHECK enum status index_store_see(const struct index_store *store, const char key[33],
                                       const char content[33], struct error *err);
/* Copies both files to where they are wanted; what indexing told of the content as one line.
 * ERR_NOT_FOUND: it is not there; ERR_FORMAT: it is damaged. */
MUST_CHECK enum status index_store_get(const struct index_store *store, const char content[33],
                                       const char *segment_path, const char *attribution_path,
                                       struct arena *arena, struct str *ret_known,
                                       struct error *err);
/* Does nothing where the content is there. Takes nothing away: both files stay. */
MUST_CHECK enum status index_store_put(const struct index_store *store, const char content[33],
                                       const char *segment_path, const char *attribution_path,
                                       struct str known, struct error *err);

/* For pruning: every content of every version; a version that is not this program's is `old`. */
struct index_stored {
    char content[33];
    bool is_old, is_whole;
    bool is_note; /* no index: what is `seen` of an object */
    uint64_t bytes;
    char path[512]; /* of its files without their suffixes, below the place */
};
MUST_CHECK enum status index_store_list(const struct index_store *store, struct arena *arena,
                                        struct index_stored **ret, uint32_t *ret_count,
                                        struct error *err);
/* Its files, the one that says that they are there first. */
MUST_CHECK enum status index_store_remove(const struct index_store *store,
                                          const struct index_stored *stored, struct error *err);

#endif
