/* SPDX-License-Identifier: Apache-2.0 */
/* The two halves of the cache: what lies on disk (cache_dir.c) and what is mapped (cache.c). */
#ifndef JVIEWD_STORE_CACHE_PARTS_H
#define JVIEWD_STORE_CACHE_PARTS_H

#include <pthread.h>

#include "store/cache.h"

enum { CACHE_DIR_SIZE = 3072 };

struct cache_entry;

struct cache {
    char dir[CACHE_DIR_SIZE];
    char temporary[CACHE_DIR_SIZE + 64]; /* this process's own, below dir; "" until made */
    int temporary_fd;                    /* holds its flock; -1 */
    bool is_private;                     /* dir is a temporary one that goes with us */
    uint64_t bytes_max;
    pthread_mutex_t lock; /* of all below, and of the temporary directory */
    uint64_t bytes;       /* on disk when last counted, and what was adopted since */
    struct cache_entry *entries;
    uint32_t idle_count; /* entries nobody holds */
};

/* Chooses and makes the directory; sets *ret_reason when it is not the one asked for. */
MUST_CHECK enum status cache_dir_open(struct cache *cache, const char *dir, struct arena *arena,
                                      struct str *ret_reason, struct error *err);
/* Removes the temporary directory, and a private cache altogether. */
void cache_dir_close(struct cache *cache);

bool cache_holds(struct cache *cache, const char content[33]); /* mapped and held; takes the lock */

#endif
