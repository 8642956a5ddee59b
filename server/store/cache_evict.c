/* SPDX-License-Identifier: Apache-2.0 */
/* What goes when the cache is full: the segments used longest ago, of every version.
 *
 * A segment's time of change is the time it was last acquired by anybody. Removing one that another
 * process has mapped is harmless: it keeps its pages; what we hold ourselves is kept, for that
 * would free nothing, and so is the newest, however large: somebody waits for it. Kept answers are
 * counted and go likewise, and so are downloads; answers of a segment that is gone go with it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/answers.h"
#include "store/cache_parts.h"

enum { KEPT_PERCENT = 90, PATH_SIZE = 4096, CONTENT_DIGITS = 32 };

struct stored {
    char *path; /* of the segment, the answer, or the download */
    uint64_t bytes;
    int64_t used_ns;
    bool is_answer, is_download;
    char content[CONTENT_DIGITS + 1];
};

struct stock {
    struct arena *arena;
    struct stored *all;
    size_t count, capacity;
    uint64_t bytes;
};

typedef void visit(struct stock *stock, const char *directory, const char *name);

static void visit_names(struct stock *stock, const char *directory, visit *each)
{
    DIR *names = opendir(directory);

    if (names == NULL)
        return;
    for (struct dirent *one; (one = readdir(names)) != NULL;) {
        if (one->d_name[0] != '.')
            each(stock, directory, one->d_name);
    }
    closedir(names);
}

static uint64_t size_of(const char *path)
{
    struct stat seen;

    return lstat(path, &seen) == 0 ? (uint64_t)seen.st_size : 0;
}

static void attribution_beside(const char *segment_path, char ret[PATH_SIZE])
{
    snprintf(ret, PATH_SIZE, "%.*s.attr", (int)(strlen(segment_path) - strlen(".seg")),
             segment_path);
}

static struct stored *add(struct stock *stock, const char *path, const struct stat *seen)
{
    if (stock->count == stock->capacity) {
        stock->capacity = stock->capacity == 0 ? 64 : 2 * stock->capacity;
        stock->all = memory_resize(stock->all, stock->capacity, sizeof *stock->all);
    }
    struct stored *stored = &stock->all[stock->count++];
    *stored = (struct stored){
        .path = str_c(stock->arena, str_of(path)),
        .bytes = (uint64_t)seen->st_size,
        .used_ns = (int64_t)seen->st_mtim.tv_sec * 1000000000 + seen->st_mtim.tv_nsec,
    };
    return stored;
}

static void add_segment(struct stock *stock, const char *directory, const char *name)
{
    char path[PATH_SIZE], attribution[PATH_SIZE];
    struct stat seen;

    if (strlen(name) != CONTENT_DIGITS + strlen(".seg") ||
        strcmp(name + CONTENT_DIGITS, ".seg") != 0 ||
        snprintf(path, sizeof path, "%s/%s", directory, name) >= PATH_SIZE - 8 ||
        lstat(path, &seen) != 0 || !S_ISREG(seen.st_mode))
        return;
    struct stored *stored = add(stock, path, &seen);
    attribution_beside(path, attribution);
    stored->bytes += size_of(attribution);
    memcpy(stored->content, name, CONTENT_DIGITS);
    stock->bytes += stored->bytes;
}

static void add_answer(struct stock *stock, const char *directory, const char *name)
{
    char path[PATH_SIZE], content[CONTENT_DIGITS + 1];
    struct stat seen;

    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= PATH_SIZE ||
        lstat(path, &seen) != 0 || !S_ISREG(seen.st_mode))
        return;
    if (!answers_content(path, content)) { /* of another version */
        unlink(path);
        return;
    }
    struct stored *stored = add(stock, path, &seen);
    stored->is_answer = true;
    memcpy(stored->content, content, sizeof content);
    stock->bytes += stored->bytes;
}

static void add_prefix(struct stock *stock, const char *directory, const char *name)
{
    char path[PATH_SIZE];

    if (snprintf(path, sizeof path, "%s/%s", directory, name) < PATH_SIZE)
        visit_names(stock, path, add_segment);
}

static void add_version(struct stock *stock, const char *directory, const char *name)
{
    char path[PATH_SIZE];

    if (strncmp(name, "segments-", strlen("segments-")) == 0 &&
        snprintf(path, sizeof path, "%s/%s", directory, name) < PATH_SIZE)
        visit_names(stock, path, add_prefix);
}

static void add_download(struct stock *stock, const char *directory, const char *name)
{
    char path[PATH_SIZE];
    struct stat seen;

    if (snprintf(path, sizeof path, "%s/%s", directory, name) >= PATH_SIZE ||
        lstat(path, &seen) != 0 || !S_ISREG(seen.st_mode))
        return;
    struct stored *stored = add(stock, path, &seen);
    stored->is_download = true;
    stock->bytes += stored->bytes;
}

static void add_downloads(struct stock *stock, const char *directory, const char *name)
{
    char path[PATH_SIZE];

    if (snprintf(path, sizeof path, "%s/%s", directory, name) < PATH_SIZE)
        visit_names(stock, path, add_download);
}

static int by_use(const void *a, const void *b)
{
    const struct stored *left = a, *right = b;

    return (left->used_ns > right->used_ns) - (left->used_ns < right->used_ns);
}

static void remove_stored(struct stock *stock, struct stored *stored)
{
    char attribution[PATH_SIZE];

    unlink(stored->path);
    if (stored->is_download) {
        char *slash = strrchr(stored->path, '/');

        *slash = '\0';
        rmdir(stored->path);
        *slash = '/';
    } else if (!stored->is_answer) {
        attribution_beside(stored->path, attribution);
        unlink(attribution);
    }
    stock->bytes -= stored->bytes;
    stored->bytes = 0;
}

static void remove_oldest(struct cache *cache, struct stock *stock)
{
    uint64_t kept = cache->bytes_max / 100 * KEPT_PERCENT;
    size_t newest = stock->count; /* segment */

    qsort(stock->all, stock->count, sizeof *stock->all, by_use);
    for (size_t i = 0; i < stock->count; i++)
        newest = stock->all[i].is_answer || stock->all[i].is_download ? newest : i;
    for (size_t i = 0; i < stock->count && stock->bytes > kept; i++) {
        struct stored *stored = &stock->all[i];

        if (i != newest &&
            (stored->is_answer || stored->is_download || !cache_holds(cache, stored->content)))
            remove_stored(stock, stored);
    }
}

/* Answers whose segment is not there any more; those of no segment go by age alone. */
static void remove_orphans(struct cache *cache, struct stock *stock)
{
    char segment[PATH_SIZE];

    for (size_t i = 0; i < stock->count; i++) {
        struct stored *stored = &stock->all[i];

        if (!stored->is_answer || stored->bytes == 0 || stored->content[0] == '\0')
            continue;
        cache_segment_path(cache, stored->content, segment);
        if (access(segment, F_OK) != 0)
            remove_stored(stock, stored);
    }
}

void cache_evict(struct cache *cache)
{
    struct stock stock = {.arena = arena_create()};
    char place[PATH_SIZE];

    visit_names(&stock, cache->dir, add_version);
    if (snprintf(place, sizeof place, "%s/answers", cache->dir) < PATH_SIZE)
        visit_names(&stock, place, add_answer);
    if (snprintf(place, sizeof place, "%s/downloads", cache->dir) < PATH_SIZE)
        visit_names(&stock, place, add_downloads);
    remove_orphans(cache, &stock);
    if (stock.bytes > cache->bytes_max) {
        remove_oldest(cache, &stock);
        remove_orphans(cache, &stock);
    }
    pthread_mutex_lock(&cache->lock);
    cache->bytes = stock.bytes;
    pthread_mutex_unlock(&cache->lock);
    free(stock.all);
    arena_destroy(stock.arena);
}

uint64_t cache_bytes(struct cache *cache)
{
    pthread_mutex_lock(&cache->lock);
    uint64_t bytes = cache->bytes;
    pthread_mutex_unlock(&cache->lock);
    return bytes;
}

uint64_t cache_bytes_max(const struct cache *cache)
{
    return cache->bytes_max;
}
