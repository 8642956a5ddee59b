/* Two walks over the events, which come by time: how many there are of each allocator, then the
 * fullest of each of 1,000 boxes of equal count. */
#include "analyse/memory.h"

#include <stdlib.h>

#include "analyse/map64.h"
#include "analyse/restrict.h"

enum { SAMPLES_MAX = 1000 };

struct gathered { /* allocators of all hosts */
    struct memory_allocator *items;
    struct memory_sample **samples;
    uint64_t *seen;
    uint32_t count, capacity;
};

static int64_t known(int64_t bytes)
{
    return bytes > 0 ? bytes : 0;
}

static int64_t in_use(const struct memory_sample *sample)
{
    return known(sample->allocated_bytes) + known(sample->reserved_bytes);
}

static uint32_t add_allocator(struct gathered *all, const struct host_trace *host, name_id name)
{
    if (all->count == all->capacity) {
        all->capacity = all->capacity == 0 ? 16 : 2 * all->capacity;
        all->items = memory_resize(all->items, all->capacity, sizeof(*all->items));
        all->samples = memory_resize(all->samples, all->capacity, sizeof(*all->samples));
        all->seen = memory_resize(all->seen, all->capacity, sizeof(*all->seen));
    }
    all->samples[all->count] = NULL;
    all->seen[all->count] = 0;
    all->items[all->count] = (struct memory_allocator){
        .name = trace_name(host->trace, name),
        .host = host->name,
        .lifetime_peak_bytes = -1,
        .capacity_bytes = -1,
    };
    return all->count++;
}

static void take_event(struct gathered *all, uint32_t index, const struct host_trace *host,
                       const struct memory_event *event)
{
    struct memory_allocator *allocator = &all->items[index];
    struct memory_sample sample = {
        .at_ps = event->at_ps + host->offset_ps,
        .allocated_bytes = event->bytes_allocated,
        .reserved_bytes = event->bytes_reserved,
        .available_bytes = event->bytes_available,
    };
    uint64_t ordinal = all->seen[index]++;
    uint64_t boxes = allocator->event_count < SAMPLES_MAX ? allocator->event_count : SAMPLES_MAX;
    uint32_t box = (uint32_t)(ordinal * boxes / allocator->event_count);
    struct memory_sample *kept = &all->samples[index][box];

    if (box == allocator->sample_count) {
        allocator->sample_count++;
        *kept = sample;
    } else if (in_use(&sample) > in_use(kept)) {
        *kept = sample;
    }
    if (in_use(&sample) > allocator->peak_bytes) {
        allocator->peak_bytes = in_use(&sample);
        allocator->peak_at_ps = sample.at_ps;
        if (sample.available_bytes >= 0)
            allocator->capacity_bytes = in_use(&sample) + sample.available_bytes;
    }
    if (event->peak_bytes > allocator->lifetime_peak_bytes)
        allocator->lifetime_peak_bytes = event->peak_bytes;
}

static void gather_host(struct gathered *all, const struct selection *selection,
                        struct arena *arena)
{
    const struct host_trace *host = selection->host;
    const struct trace *trace = host->trace;
    struct map64 index_of = {0};
    uint32_t first = all->count;

    for (int walk = 0; walk < 2; walk++) {
        for (uint32_t i = 0; i < trace->memory_event_count; i++) {
            const struct memory_event *event = &trace->memory_events[i];

            if (selection->cut_in_time && selection_inside(selection, event->at_ps, 0) < 0)
                continue;

            uint32_t *index = map64_at(&index_of, event->allocator, UINT32_MAX);

            if (*index == UINT32_MAX)
                *index = add_allocator(all, host, event->allocator);
            if (walk == 0)
                all->items[*index].event_count++;
            else
                take_event(all, *index, host, event);
        }
        for (uint32_t i = first; walk == 0 && i < all->count; i++) {
            uint64_t count = all->items[i].event_count;

            all->samples[i] =
                arena_array(arena, struct memory_sample, count < SAMPLES_MAX ? count : SAMPLES_MAX);
            all->items[i].samples = all->samples[i];
        }
    }
    map64_free(&index_of);
}

enum status memory_timeline(const struct run_traces *run, const struct restriction *restriction,
                            struct arena *arena, struct memory_timeline *ret, struct error *err)
{
    struct gathered all = {0};
    struct selection *selections;
    struct memory_allocator *kept;
    uint32_t count;

    *ret = (struct memory_timeline){0};
    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    for (uint32_t i = 0; i < count; i++)
        gather_host(&all, &selections[i], arena);
    kept = arena_array(arena, struct memory_allocator, all.count);
    if (all.count > 0)
        memcpy(kept, all.items, all.count * sizeof(*kept));
    else
        ret->reason =
            STR("the profile holds no allocator events: XLA's CPU client writes none, and "
                "a GPU's only while its allocator is traced; save a device memory profile "
                "with jax.profiler.save_device_memory_profile");
    ret->allocators = kept;
    ret->allocator_count = all.count;
    free(all.items);
    free(all.samples);
    free(all.seen);
    return OK;
}
