/* SPDX-License-Identifier: Apache-2.0 */
/* The highest peak of a run in short: how much, when, whose, and a line of few points. */
#include "analyse/memory/memory_allocators.h"

static void take_points(const struct allocator *allocator, struct arena *arena,
                        struct memory_summary *ret)
{
    struct memory_point *points = arena_array(arena, struct memory_point, MEMORY_POINTS_MAX);
    uint32_t level_max = 0, level = 0, window = 0;
    int64_t at_ps, offset_ps = allocator->selection->host->offset_ps;

    for (uint32_t i = 0; i < allocator->count; i++)
        level_max += allocator_moment(allocator, i, &window, &at_ps);

    uint32_t boxes = level_max < MEMORY_POINTS_MAX ? level_max : MEMORY_POINTS_MAX;

    window = 0;
    for (uint32_t i = 0; i < allocator->count; i++) {
        if (!allocator_moment(allocator, i, &window, &at_ps))
            continue;

        uint32_t box = (uint32_t)((uint64_t)level++ * boxes / level_max);
        int64_t bytes = allocator_in_use(allocator, i);
        bool is_new = box == ret->point_count;

        ret->point_count += is_new;
        if (is_new || bytes > points[box].bytes)
            points[box] = (struct memory_point){.at_ps = at_ps + offset_ps, .bytes = bytes};
    }
    ret->points = points;
}

/* Who holds most; what the event names no owner of may be more than all that are. */
static void name_owner(const struct allocator *allocator, struct arena *arena,
                       struct memory_summary *ret)
{
    struct alives alives;
    int64_t allocated = allocator->allocated[allocator->peak];

    memory_replay(allocator, allocator->peak + 1, arena, &alives);

    struct memory_owner *owners = memory_owners(allocator, &alives, arena);
    uint32_t count = memory_join(owners, alives.count, OWNER_OP | OWNER_SCOPE);

    if (count > 0) {
        ret->owner_is_known = owners[0].op.count > 0;
        ret->owner = ret->owner_is_known ? owners[0].op : STR("(no op is named)");
        ret->owner_scope = owners[0].scope;
        ret->owner_bytes = owners[0].bytes;
    }
    if (allocated - alives.owned_bytes > ret->owner_bytes) {
        ret->owner_is_known = false;
        ret->owner = STR("(allocated before the capture)");
        ret->owner_scope = STR("");
        ret->owner_bytes = allocated - alives.owned_bytes;
    }
    if (allocator->peak_bytes - allocated > ret->owner_bytes) {
        ret->owner_is_known = false;
        ret->owner = STR("(reserved)");
        ret->owner_scope = STR("");
        ret->owner_bytes = allocator->peak_bytes - allocated;
    }
}

enum status memory_summary(const struct run_traces *run, const struct restriction *restriction,
                           struct arena *arena, struct memory_summary *ret, struct error *err)
{
    struct allocators all;

    *ret = (struct memory_summary){.capacity_bytes = -1, .before_bytes = -1};
    TRY(memory_allocators(run, restriction, arena, &all, err));

    const struct allocator *highest = allocator_pick(&all, STR(""));

    if (highest == NULL) {
        ret->reason = memory_absent_reason(run);
        return OK;
    }

    struct memory_allocator told = allocator_told(highest);

    ret->allocator = told.name;
    ret->host = told.host;
    ret->peak_bytes = told.peak_bytes;
    ret->peak_at_ps = told.peak_at_ps;
    ret->capacity_bytes = told.capacity_bytes;
    ret->before_bytes = told.before_bytes;
    take_points(highest, arena, ret);
    name_owner(highest, arena, ret);
    return OK;
}
