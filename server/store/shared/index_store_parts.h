/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of an index store: where its files lie. Names are relative, with slashes.
 *
 *   index_store.c          what files there are, and what they mean
 *   index_store_dir.c      a directory
 *   index_store_bucket.c   a bucket
 */
#ifndef JVIEWD_STORE_INDEX_STORE_PARTS_H
#define JVIEWD_STORE_INDEX_STORE_PARTS_H

#include "base/bytes.h"
#include "base/error.h"

struct stored_file {
    struct str name;
    uint64_t bytes;
    struct str version; /* of an object; "" of a file */
};
/* False: no more, please. The texts are the caller's until it returns. */
typedef bool stored_take(void *data, const struct stored_file *file);

struct stored_at; /* a place, as its functions have it */
struct stored_way {
    MUST_CHECK enum status (*open)(const char *place, struct stored_at **ret, struct error *err);
    void (*close)(struct stored_at *at);
    void (*cancel)(struct stored_at *at); /* NULL: nothing there waits for long */
    /* Every file whose name begins so; none is no failure. */
    MUST_CHECK enum status (*each)(struct stored_at *at, struct str beginning, stored_take *take,
                                   void *data, struct error *err);
    /* Its bytes into an open, empty file. */
    MUST_CHECK enum status (*fetch)(struct stored_at *at, const struct stored_file *file, int to,
                                    struct error *err);
    /* The whole open file under that name, unless there is one: then that one stays. */
    MUST_CHECK enum status (*put)(struct stored_at *at, struct str name, int from, uint64_t bytes,
                                  struct error *err);
    MUST_CHECK enum status (*remove)(struct stored_at *at, const struct stored_file *file,
                                     struct error *err);
};
extern const struct stored_way stored_in_dir, stored_in_bucket;

#endif
