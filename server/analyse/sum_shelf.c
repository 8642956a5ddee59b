/*   shelf -> [ content, sums, holders 1 ] -> [ ..., holders 0 ] -> ...
 *
 * Most recently asked for first; what nobody holds goes from the end while all are larger than the
 * limit. Who asks while others make waits for them: then what they make may be what it needs.
 */
#include <pthread.h>
#include <stdlib.h>

#include "analyse/block_sums.h"
#include "base/arena.h"

enum { SLICES_MIN = 1 << 17 };

struct shelved {
    char content[33];
    uint32_t entry_count; /* of the attribution that it was made from */
    struct block_sums *sums;
    uint32_t holders;
    struct shelved *next;
};

struct sum_shelf {
    pthread_mutex_t lock;
    struct shelved *first;
    uint64_t bytes_max;
};

struct sum_shelf *sum_shelf_create(uint64_t bytes_max)
{
    struct sum_shelf *shelf = memory_resize(NULL, 1, sizeof *shelf);

    *shelf = (struct sum_shelf){.bytes_max = bytes_max};
    pthread_mutex_init(&shelf->lock, NULL);
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
    pthread_mutex_destroy(&shelf->lock);
    free(shelf);
}

/* Lock held. */
static void make_room(struct sum_shelf *shelf)
{
    uint64_t bytes = 0;

    for (struct shelved **at = &shelf->first; *at != NULL;) {
        bytes += (*at)->sums->bytes;
        if (bytes > shelf->bytes_max && (*at)->holders == 0) {
            bytes -= (*at)->sums->bytes;
            drop(at);
        } else {
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

const struct block_sums *sum_shelf_hold(struct sum_shelf *shelf, const char content[33],
                                        const struct trace *trace,
                                        const struct attribution *attribution)
{
    uint32_t entry_count = attribution == NULL ? 0 : attribution->entry_count;

    if (trace->slice_count < SLICES_MIN)
        return NULL;
    pthread_mutex_lock(&shelf->lock);
    struct shelved *one = take(shelf, content, entry_count);
    if (one == NULL) {
        one = memory_resize(NULL, 1, sizeof *one);
        *one = (struct shelved){.entry_count = entry_count,
                                .sums = block_sums_make(trace, attribution)};
        memcpy(one->content, content, sizeof one->content);
    }
    one->holders++;
    one->next = shelf->first;
    shelf->first = one;
    make_room(shelf);
    pthread_mutex_unlock(&shelf->lock);
    return one->sums;
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
