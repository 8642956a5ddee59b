/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be looked at, by root: of this process, not of the file. */
#include <stdlib.h>

#include "store/catalog_db.h"

struct root_troubles {
    struct arena *arena; /* of everything below */
    struct str root;
    struct scan_trouble *all;
    uint32_t count;
    struct root_troubles *next;
};

static void forget(struct catalog *catalog, struct str root)
{
    for (struct root_troubles **at = &catalog->troubles; *at != NULL; at = &(*at)->next) {
        struct root_troubles *one = *at;

        if (!str_equal(one->root, root))
            continue;
        *at = one->next;
        arena_destroy(one->arena);
        return;
    }
}

static void remember(struct catalog *catalog, struct str root, const struct scan_trouble *troubles,
                     uint32_t count)
{
    struct arena *arena = arena_create();
    struct root_troubles *one = arena_new(arena, struct root_troubles);

    one->arena = arena;
    one->root = str_copy(arena, root);
    one->all = arena_array(arena, struct scan_trouble, count);
    one->count = count;
    for (uint32_t i = 0; i < count; i++)
        one->all[i] = (struct scan_trouble){.path = str_copy(arena, troubles[i].path),
                                            .reason = str_copy(arena, troubles[i].reason),
                                            .is_remark = troubles[i].is_remark};
    one->next = catalog->troubles;
    catalog->troubles = one;
}

void catalog_set_troubles(struct catalog *catalog, struct str root,
                          const struct scan_trouble *troubles, uint32_t count)
{
    pthread_mutex_lock(&catalog->lock);
    forget(catalog, root);
    if (count > 0)
        remember(catalog, root, troubles, count);
    atomic_fetch_add(&catalog->generation, 1);
    pthread_mutex_unlock(&catalog->lock);
}

void catalog_troubles(struct catalog *catalog, struct arena *arena, struct scan_trouble **ret,
                      uint32_t *ret_count)
{
    uint32_t count = 0;

    pthread_mutex_lock(&catalog->lock);
    for (const struct root_troubles *one = catalog->troubles; one != NULL; one = one->next)
        count += one->count;
    *ret = arena_array(arena, struct scan_trouble, count + 1);
    *ret_count = 0;
    for (const struct root_troubles *one = catalog->troubles; one != NULL; one = one->next) {
        for (uint32_t i = 0; i < one->count; i++)
            (*ret)[(*ret_count)++] =
                (struct scan_trouble){.path = str_copy(arena, one->all[i].path),
                                      .reason = str_copy(arena, one->all[i].reason),
                                      .is_remark = one->all[i].is_remark};
    }
    pthread_mutex_unlock(&catalog->lock);
}

void catalog_free_troubles(struct catalog *catalog)
{
    while (catalog->troubles != NULL)
        forget(catalog, catalog->troubles->root);
}
