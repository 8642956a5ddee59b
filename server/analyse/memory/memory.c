/* SPDX-License-Identifier: Apache-2.0 */
/* The allocators of a run, each with the fullest of 1,000 boxes of as many levels. */
#include "analyse/memory/memory.h"

#include <stdlib.h>

#include "analyse/memory/memory_allocators.h"

enum { SAMPLES_MAX = 1000 };

static struct memory_sample sample_of(const struct allocator *allocator, uint32_t index,
                                      int64_t at_ps)
{
    const struct memory_event *event = allocator_event(allocator, index);

    return (struct memory_sample){
        .at_ps = at_ps + allocator->selection->host->offset_ps,
        .allocated_bytes = allocator->allocated[index],
        .reserved_bytes = event->bytes_reserved,
        .available_bytes = event->bytes_available,
    };
}

static uint32_t level_count(const struct allocator *allocator)
{
    uint32_t count = 0, window = 0;
    int64_t at_ps;

    for (uint32_t i = 0; i < allocator->count; i++)
        count += allocator_moment(allocator, i, &window, &at_ps);
    return count;
}

static void take_samples(const struct allocator *allocator, struct arena *arena,
                         struct memory_allocator *ret)
{
    uint32_t level_max = level_count(allocator), level = 0, window = 0, fullest = 0;
    uint32_t boxes = level_max < SAMPLES_MAX ? level_max : SAMPLES_MAX;
    struct memory_sample *samples = arena_array(arena, struct memory_sample, (size_t)boxes + 1);
    int64_t at_ps;

    for (uint32_t i = 0; i < allocator->count; i++) {
        if (!allocator_moment(allocator, i, &window, &at_ps))
            continue;

        uint32_t box = (uint32_t)((uint64_t)level++ * boxes / level_max);
        bool is_new = box == ret->sample_count;

        if (is_new)
            ret->sample_count++;
        else if (allocator_in_use(allocator, i) <= allocator_in_use(allocator, fullest))
            continue;
        samples[box] = sample_of(allocator, i, at_ps);
        fullest = i;
    }
    ret->samples = samples;
}

static bool is_of_torch(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->property_count; i++) {
        const struct arg *arg = &trace->properties[i].arg;

        if (str_equal(trace_name(trace, arg->key), STR("framework")) && arg->type == ARG_STRING &&
            str_equal(trace_name(trace, (name_id)arg->bits), STR("pytorch")))
            return true;
    }
    return false;
}

struct str memory_absent_reason(const struct run_traces *run)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct trace *trace = run->hosts[host].trace;

        if (is_of_torch(trace))
            return STR("the profile holds no allocator events: PyTorch records them with "
                       "profile_memory=True");
        if (str_equal(str_of(trace->format), STR("nsys-sqlite")))
            return STR("the report holds no memory events: nsys records them with "
                       "--cuda-memory-usage=true");
    }
    return STR("the profile holds no allocator events: XLA's CPU client records none, and a "
               "GPU's allocator only while it is traced. In JAX save a memory profile with "
               "jax.profiler.save_device_memory_profile, in PyTorch record with "
               "profile_memory=True");
}

enum status memory_timeline(const struct run_traces *run, const struct restriction *restriction,
                            struct arena *arena, struct memory_timeline *ret, struct error *err)
{
    struct allocators all;

    *ret = (struct memory_timeline){0};
    TRY(memory_allocators(run, restriction, arena, &all, err));

    struct memory_allocator *told = arena_array(arena, struct memory_allocator, all.count + 1u);

    for (uint32_t i = 0; i < all.count; i++) {
        told[i] = allocator_told(&all.items[i]);
        take_samples(&all.items[i], arena, &told[i]);
    }
    if (all.count == 0)
        ret->reason = memory_absent_reason(run);
    ret->allocators = told;
    ret->allocator_count = all.count;
    return OK;
}
