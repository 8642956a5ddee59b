/* SPDX-License-Identifier: Apache-2.0 */
/* Events by allocator, and the level after each.
 *
 * A host's events come by time. Most allocators say with each event what is in use; where they do
 * not (CUDA's own calls), what is allocated and freed is added up, from a level that never goes
 * below zero: what is freed without having been allocated was there before.
 */
#include <stdlib.h>

#include "analyse/memory/memory_allocators.h"
#include "analyse/stats/map64.h"

struct sorter { /* one host's events into allocators */
    const struct selection *selection;
    struct arena *arena;
    struct map64 by_kind, by_device; /* (name, kind) -> number, (number, device) -> allocator */
    uint32_t *owner;                 /* by event: the allocator */
    const struct event_value *kinds; /* by event: of memory, where totals are not told; or NULL */
    uint32_t first;                  /* allocator of this host */
};

static int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t known(int64_t bytes)
{
    return bytes > 0 ? bytes : 0;
}

const struct memory_event *allocator_event(const struct allocator *allocator, uint32_t index)
{
    return &allocator->selection->host->trace->memory_events[allocator->events[index]];
}

int64_t allocator_in_use(const struct allocator *allocator, uint32_t index)
{
    return add_bytes(allocator->allocated[index],
                     known(allocator_event(allocator, index)->bytes_reserved));
}

static int32_t device_of(const struct trace *trace, slice_id slice)
{
    if (slice >= trace->slice_count)
        return -1;
    return trace->tracks[trace->rows[trace_row_of(trace, slice)].track].device;
}

/* "CUDA device 0: Pinned"; what the events say alone where that is all. */
static struct str name_of(const struct sorter *sorter, const struct memory_event *event,
                          int32_t device, struct str kind)
{
    struct str name = trace_name(sorter->selection->host->trace, event->allocator);

    if (name.count == 0)
        name = STR("unnamed allocator");
    if (device >= 0)
        name = str_format(sorter->arena, "%.*s device %d", STR_ARG(name), (int)device);
    return kind.count == 0 ? name
                           : str_format(sorter->arena, "%.*s: %.*s", STR_ARG(name), STR_ARG(kind));
}

static struct str text_of(const struct trace *trace, struct event_value value)
{
    return value.type == ARG_STRING && value.bits < trace->name_count
               ? trace_name(trace, (name_id)value.bits)
               : STR("");
}

static void add_allocator(struct sorter *sorter, struct allocators *all,
                          const struct memory_event *event, int32_t device, struct str kind)
{
    const struct trace *trace = sorter->selection->host->trace;

    if (all->count % 16 == 0)
        all->items = memory_resize(all->items, all->count + 16, sizeof *all->items);
    all->items[all->count++] = (struct allocator){
        .selection = sorter->selection,
        .name = name_of(sorter, event, device, kind),
        .name_id = event->allocator,
        .device = device,
        .is_summed = event->bytes_allocated < 0,
        .is_pool =
            str_equal(str_of(trace->format), STR("torch-snapshot")) ||
            (event->slice < trace->slice_count &&
             str_equal(trace_name(trace, trace_slice(trace, event->slice).name), STR("[memory]"))),
    };
}

static void sort_event(struct sorter *sorter, struct allocators *all, uint32_t index)
{
    const struct trace *trace = sorter->selection->host->trace;
    const struct memory_event *event = &trace->memory_events[index];
    int32_t device = device_of(trace, event->slice);
    struct event_value kind =
        sorter->kinds != NULL ? sorter->kinds[index] : (struct event_value){.type = ARG_NONE};
    uint32_t number =
        *map64_at(&sorter->by_kind,
                  map64_pair(event->allocator, kind.type == ARG_STRING ? (uint32_t)kind.bits : 0),
                  sorter->by_kind.count);
    uint32_t *found =
        map64_at(&sorter->by_device, map64_pair(number, (uint32_t)device), UINT32_MAX);

    if (*found == UINT32_MAX) {
        *found = all->count;
        add_allocator(sorter, all, event, device, text_of(trace, kind));
    }
    sorter->owner[index] = *found;
    all->items[*found].count++;
}

/* Where totals are not told, what lies on the device and what on the host must not be added. */
static const struct event_value *read_kinds(const struct trace *trace, struct arena *arena)
{
    slice_id *slices;
    bool any = false;

    for (uint32_t i = 0; i < trace->memory_event_count; i++)
        any = any || trace->memory_events[i].bytes_allocated < 0;
    if (!any)
        return NULL;
    slices = arena_array(arena, slice_id, trace->memory_event_count);
    for (uint32_t i = 0; i < trace->memory_event_count; i++)
        slices[i] = trace->memory_events[i].slice;
    return event_values(trace, event_refs(trace, slices, trace->memory_event_count, arena),
                        trace->memory_event_count, STR("memory"), arena);
}

static void sum_levels(struct allocator *allocator, int64_t *levels)
{
    int64_t level = 0, lowest = 0;

    for (uint32_t i = 0; i < allocator->count; i++) {
        const struct memory_event *event = allocator_event(allocator, i);

        level = add_bytes(level, event->is_free ? -known(event->bytes) : known(event->bytes));
        lowest = level < lowest ? level : lowest;
        levels[i] = level;
    }
    for (uint32_t i = 0; i < allocator->count; i++)
        levels[i] = add_bytes(levels[i], lowest == INT64_MIN ? INT64_MAX : -lowest);
    allocator->before_bytes = lowest == INT64_MIN ? INT64_MAX : -lowest;
}

static void read_levels(struct allocator *allocator, int64_t *levels)
{
    const struct memory_event *first = allocator_event(allocator, 0);
    int64_t last = 0;

    for (uint32_t i = 0; i < allocator->count; i++) {
        int64_t said = allocator_event(allocator, i)->bytes_allocated;

        last = said >= 0 ? said : last;
        levels[i] = last;
    }
    allocator->before_bytes =
        known(add_bytes(levels[0], first->is_free ? known(first->bytes) : -known(first->bytes)));
}

bool allocator_moment(const struct allocator *allocator, uint32_t index, uint32_t *window,
                      int64_t *ret_ps)
{
    const struct selection *selection = allocator->selection;
    int64_t at_ps = allocator_event(allocator, index)->at_ps;

    *ret_ps = at_ps;
    if (!selection->cut_in_time)
        return true;
    while (*window < selection->window_count && selection->windows[*window].to_ps <= at_ps)
        ++*window;
    if (*window == selection->window_count)
        return false;

    int64_t from_ps = selection->windows[*window].from_ps;
    bool lasts =
        index + 1 == allocator->count || allocator_event(allocator, index + 1)->at_ps > from_ps;

    *ret_ps = at_ps >= from_ps ? at_ps : from_ps;
    return at_ps >= from_ps || lasts;
}

static void find_peak(struct allocator *allocator)
{
    uint32_t window = 0;
    int64_t at_ps;

    allocator->peak = NO_LEVEL;
    allocator->peak_bytes = allocator->peak_allocated_bytes = -1;
    for (uint32_t i = 0; i < allocator->count; i++) {
        if (!allocator_moment(allocator, i, &window, &at_ps))
            continue;
        if (allocator->allocated[i] > allocator->peak_allocated_bytes)
            allocator->peak_allocated_bytes = allocator->allocated[i];
        if (allocator_in_use(allocator, i) <= allocator->peak_bytes)
            continue;
        allocator->peak = i;
        allocator->peak_bytes = allocator_in_use(allocator, i);
        allocator->peak_at_ps = at_ps;
    }
}

static void fill(struct sorter *sorter, struct allocators *all)
{
    const struct trace *trace = sorter->selection->host->trace;
    uint32_t **next = memory_resize(NULL, all->count - sorter->first + 1, sizeof *next);

    for (uint32_t i = sorter->first; i < all->count; i++)
        all->items[i].events = next[i - sorter->first] =
            arena_array(sorter->arena, uint32_t, all->items[i].count);
    for (uint32_t i = 0; i < trace->memory_event_count; i++)
        *next[sorter->owner[i] - sorter->first]++ = i;
    free(next);
    for (uint32_t i = sorter->first; i < all->count; i++) {
        struct allocator *allocator = &all->items[i];
        int64_t *levels = arena_array(sorter->arena, int64_t, allocator->count);

        if (allocator->is_summed)
            sum_levels(allocator, levels);
        else
            read_levels(allocator, levels);
        allocator->allocated = levels;
        find_peak(allocator);
    }
}

static void sort_host(const struct selection *selection, struct allocators *all,
                      struct arena *arena)
{
    const struct trace *trace = selection->host->trace;
    struct sorter sorter = {
        .selection = selection,
        .arena = arena,
        .owner = arena_array(arena, uint32_t, (size_t)trace->memory_event_count + 1),
        .kinds = read_kinds(trace, arena),
        .first = all->count,
    };

    for (uint32_t i = 0; i < trace->memory_event_count; i++)
        sort_event(&sorter, all, i);
    fill(&sorter, all);
    map64_free(&sorter.by_kind);
    map64_free(&sorter.by_device);
}

enum status memory_allocators(const struct run_traces *run, const struct restriction *restriction,
                              struct arena *arena, struct allocators *ret, struct error *err)
{
    struct allocators all = {0};
    struct selection *selections;
    uint32_t count;

    *ret = all;
    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    for (uint32_t i = 0; i < count; i++)
        sort_host(&selections[i], &all, arena);
    ret->items = arena_array(arena, struct allocator, (size_t)all.count + 1);
    for (uint32_t i = 0; i < all.count; i++)
        if (all.items[i].peak != NO_LEVEL)
            ret->items[ret->count++] = all.items[i];
    free(all.items);
    return OK;
}

static bool is_of_host(const struct allocator *allocator)
{
    return str_contains(allocator->name, STR("host")) || str_equal(allocator->name, STR("CPU")) ||
           str_contains(allocator->name, STR("cpu")) ||
           str_contains(allocator->name, STR("Pinned")) ||
           str_contains(allocator->name, STR("Pageable"));
}

const struct allocator *allocator_pick(const struct allocators *all, struct str name)
{
    const struct allocator *best = NULL;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct allocator *one = &all->items[i];

        if (name.count > 0 && !str_equal(one->name, name))
            continue;
        if (best == NULL || is_of_host(best) > is_of_host(one) ||
            (is_of_host(best) == is_of_host(one) && one->peak_bytes > best->peak_bytes))
            best = one;
    }
    return best;
}

static double fragmentation_at(const struct allocator *allocator, uint32_t index)
{
    const struct trace *trace = allocator->selection->host->trace;
    const struct memory_event *event = allocator_event(allocator, index);
    struct arena *scratch = arena_create();
    struct event_value value = event_values(trace, event_refs(trace, &event->slice, 1, scratch), 1,
                                            STR("fragmentation"), scratch)[0];
    double ret = -1;

    arena_destroy(scratch);
    if (value.type == ARG_DOUBLE)
        memcpy(&ret, &value.bits, sizeof ret);
    else if (value.type == ARG_INT64 || value.type == ARG_UINT64 || value.type == ARG_DIGITS)
        ret = (double)value.bits; /* whole numbers: 0 or 1 */
    else if (allocator->is_pool && event->bytes_available >= 0 && allocator->allocated[index] > 0)
        ret = (double)event->bytes_available /
              ((double)event->bytes_available + (double)allocator->allocated[index]);
    return ret >= 0 && ret <= 1 ? ret : -1;
}

/* "GPU 1" of PyTorch, or the device on whose track the events lie; -1: neither tells. */
static int32_t ordinal_of(const struct allocator *allocator)
{
    int64_t ordinal;

    if (allocator->device >= 0)
        return is_of_host(allocator) ? -1 : allocator->device;
    if (str_starts(allocator->name, STR("GPU ")) &&
        str_to_i64(str_skip(allocator->name, 4), &ordinal) && ordinal >= 0 && ordinal < INT32_MAX)
        return (int32_t)ordinal;
    return -1;
}

/* What the file says of the device itself, where its allocator tells no limit; -1 nothing. */
static int64_t device_bytes(const struct allocator *allocator)
{
    const struct trace *trace = allocator->selection->host->trace;
    int32_t ordinal = ordinal_of(allocator);

    for (uint32_t i = 0; ordinal >= 0 && i < trace->property_count; i++) {
        const struct property *property = &trace->properties[i];
        struct str key = trace_name(trace, property->arg.key);

        if (property->track < trace->track_count &&
            trace->tracks[property->track].device == ordinal &&
            (str_equal(key, STR("memory_size")) || str_equal(key, STR("memory_size_bytes"))) &&
            (property->arg.type == ARG_INT64 || property->arg.type == ARG_UINT64) &&
            property->arg.bits <= INT64_MAX)
            return (int64_t)property->arg.bits;
    }
    return -1;
}

struct memory_allocator allocator_told(const struct allocator *allocator)
{
    const struct host_trace *host = allocator->selection->host;
    struct memory_allocator ret = {
        .name = allocator->name,
        .host = host->name,
        .device = allocator->device,
        .peak_bytes = allocator->peak_bytes,
        .peak_at_ps = allocator->peak_at_ps + host->offset_ps,
        .peak_allocated_bytes = allocator->peak_allocated_bytes,
        .lifetime_peak_bytes = -1,
        .capacity_bytes = -1,
        .pool_bytes = -1,
        .before_bytes = allocator->before_bytes,
        .fragmentation = fragmentation_at(allocator, allocator->peak),
        .is_summed = allocator->is_summed,
    };
    int64_t available = allocator_event(allocator, allocator->peak)->bytes_available;
    uint32_t window = 0;
    int64_t at_ps;

    if (available >= 0)
        *(allocator->is_pool ? &ret.pool_bytes : &ret.capacity_bytes) =
            add_bytes(allocator->peak_bytes, available);
    if (ret.capacity_bytes < 0)
        ret.capacity_bytes = device_bytes(allocator);
    for (uint32_t i = 0; i < allocator->count; i++) {
        const struct memory_event *event = allocator_event(allocator, i);

        if (!allocator_moment(allocator, i, &window, &at_ps))
            continue;
        ret.event_count += at_ps == event->at_ps;
        if (event->peak_bytes > ret.lifetime_peak_bytes)
            ret.lifetime_peak_bytes = event->peak_bytes;
    }
    return ret;
}
