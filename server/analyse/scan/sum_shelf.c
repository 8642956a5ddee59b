/*   shelf -> [ content, sums, holders 1 ] -> [ ..., holders 0 ] -> [ content, too large ] -> ...
 *
 * Most recently asked for first; what nobody holds goes from the end while all are larger than the
 * limit. Sums are made without the lock: who asks for the same meanwhile waits, nobody else. What
 * came out larger than the shelf is not made again: its content stays, without sums.
 */
#include <pthread.h>
#include <stdlib.h>

#include "analyse/scan/block_sums.h"
#include "base/arena.h"

enum {
    SLICES_MIN = 1 << 17,
    ENTRIES_MAX = 64,        /* nobody's go beyond, also those without sums */
    SLICE_BYTES_LIKELY = 12, /* of the sums of several hosts, which are held together */
};

struct shelved {
    char content[33];
    uint32_t entry_count;    /* of the attribution that it was made from */
    struct block_sums *sums; /* NULL: they are being made, or are too large */
    bool is_made;
    uint32_t holders;
    struct shelved *next;
};

struct sum_shelf {
    pthread_mutex_t lock;
    pthread_cond_t made;
    struct shelved *first;
    uint64_t bytes_max;
};

struct sum_shelf *sum_shelf_create(uint64_t bytes_max)
{
    struct sum_shelf *shelf = memory_resize(NULL, 1, sizeof *shelf);

    *shelf = (struct sum_shelf){.bytes_max = bytes_max};
    pthread_mutex_init(&shelf->lock, NULL);
    pthread_cond_init(&shelf->made, NULL);
    return shelf;
}

static void drop(struct shelved **at)
{
    struct shelved *old = *at;

    *at = old->next;
    block_sums_free(old->sums);
    free(old);
}

void sum_shelf_destroy(struct sum_shelf *shelf)
{
    if (shelf == NULL)
        return;
    while (shelf->first != NULL)
        drop(&shelf->first);
    pthread_cond_destroy(&shelf->made);
    pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}

/* Lock held. */
static void make_room(struct sum_shelf *shelf)
{
    uint64_t bytes = 0;
    uint32_t count = 0;

    for (struct shelved **at = &shelf->first; *at != NULL;) {
        uint64_t own = (*at)->sums == NULL ? 0 : (*at)->sums->bytes;

        if ((bytes + own > shelf->bytes_max || count == ENTRIES_MAX) && (*at)->holders == 0) {
            drop(at);
        } else {
            bytes += own;
            count += count < ENTRIES_MAX;
            at = &(*at)->next;
        }
    }
}

/* The entry of this content, taken out of the list; NULL: there is none. Lock held. */
static struct shelved *take(struct sum_shelf *shelf, const char content[33], uint32_t entry_count)
{
    for (struct shelved **at = &shelf->first; *at != NULL; at = &(*at)->next) {
        struct shelved *one = *at;

        if (one->entry_count == entry_count && strcmp(one->content, content) == 0) {
            *at = one->next;
            return one;
        }
    }
    return NULL;
}

/* It stands first, held by one more. Lock held. */
static struct shelved *find_or_add(struct sum_shelf *shelf, const char content[33],
                                   uint32_t entry_count, bool *ret_is_new)
{
    struct shelved *one = take(shelf, content, entry_count);

    *ret_is_new = one == NULL;
    if (one == NULL) {
        one = memory_resize(NULL, 1, sizeof *one);
        *one = (struct shelved){.entry_count = entry_count};
        memcpy(one->content, content, sizeof one->content);
    }
    one->holders++;
    one->next = shelf->first;
    shelf->first = one;
    return one;
}

/* The lock is held before and after, not meanwhile. */
static void make(struct sum_shelf *shelf, struct shelved *one, const struct trace *trace,
                 const struct attribution *attribution)
{
    pthread_mutex_unlock(&shelf->lock);
    struct block_sums *sums = block_sums_make(trace, attribution);

    if (sums->bytes > shelf->bytes_max) {
        block_sums_free(sums);
        sums = NULL;
    }
    pthread_mutex_lock(&shelf->lock);
    one->sums = sums;
    one->is_made = true;
    pthread_cond_broadcast(&shelf->made);
}

const struct block_sums *sum_shelf_hold(struct sum_shelf *shelf, const char content[33],
                                        const struct trace *trace,
                                        const struct attribution *attribution)
{
    bool is_new;

    if (trace->slice_count < SLICES_MIN)
        return NULL;
    pthread_mutex_lock(&shelf->lock);
    struct shelved *one =
        find_or_add(shelf, content, attribution == NULL ? 0 : attribution->entry_count, &is_new);
    if (is_new)
        make(shelf, one, trace, attribution);
    while (!one->is_made)
        pthread_cond_wait(&shelf->made, &shelf->lock);
    const struct block_sums *sums = one->sums;
    one->holders -= sums == NULL; /* nothing to give back */
    make_room(shelf);
    pthread_mutex_unlock(&shelf->lock);
    return sums;
}

bool sum_shelf_fits(const struct sum_shelf *shelf, uint64_t slice_count)
{
    return slice_count <= shelf->bytes_max / SLICE_BYTES_LIKELY;
}

void sum_shelf_release(struct sum_shelf *shelf, const struct block_sums *sums)
{
    if (sums == NULL)
        return;
    pthread_mutex_lock(&shelf->lock);
    for (struct shelved *one = shelf->first; one != NULL; one = one->next)
        one->holders -= one->sums == sums;
    make_room(shelf);
    pthread_mutex_unlock(&shelf->lock);
}
