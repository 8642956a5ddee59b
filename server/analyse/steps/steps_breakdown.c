/* SPDX-License-Identifier: Apache-2.0 */
/* The breakdown of steps: one walk for all of a host's. */
#include <stdlib.h>

#include "analyse/steps/steps.h"

enum { KEPT_CELLS_MAX = 1 << 16 }; /* steps times devices: some 12 MiB */

struct walk {
    struct steps *steps;
    const struct host_devices *devices;
    const uint32_t *order; /* window -> step */
    step_visit *visit;
    void *data;
};

/* A step of one device is told by that one. */
static struct device_time time_of(const struct step *step, const struct host_devices *devices,
                                  const struct device_time *lanes)
{
    for (uint32_t i = 0; step->on_device && i < devices->count; i++) {
        if (devices->devices[i] == step->device)
            return lanes[i];
    }
    return breakdown_mean(devices, lanes);
}

static void take_window(void *data, uint32_t window, const struct device_time *lanes)
{
    struct walk *walk = data;
    struct step *step = &walk->steps->items[walk->order[window]];

    step->time = time_of(step, walk->devices, lanes);
    if (walk->visit != NULL)
        walk->visit(walk->data, step, walk->devices, lanes);
}

static int by_id(const void *left, const void *right)
{
    slice_id a = *(const slice_id *)left, b = *(const slice_id *)right;

    return (a > b) - (a < b);
}

/* The thread that steps; marks may stand on a line of their own, with nothing that says what was
 * done. */
static track_id thread_of(const struct trace *trace, const struct skipped *skipped)
{
    track_id thread = NO_TRACK;

    for (uint32_t i = 0; i < skipped->count && thread == NO_TRACK; i++) {
        track_id track = trace->rows[trace_row_of(trace, skipped->slices[i])].track;

        if (trace->tracks[track].device < 0)
            thread = track;
    }
    if (thread == NO_TRACK || trace->tracks[thread].slice_count <= skipped->count)
        return breakdown_thread(trace);
    return thread;
}

struct breakdown_question *steps_question(const struct host_trace *host, uint32_t index,
                                          const struct steps *steps,
                                          const struct host_devices *devices, struct arena *arena)
{
    struct breakdown_question *question = arena_new(arena, struct breakdown_question);
    struct skipped *skipped = arena_new(arena, struct skipped);
    slice_id *slices = arena_array(arena, slice_id, steps->count);
    struct window *windows = arena_array(arena, struct window, steps->count);

    *question = (struct breakdown_question){
        .host = host, .devices = devices, .skipped = skipped, .windows = windows};
    *skipped = (struct skipped){.slices = slices};
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t from_ps = step->start_ps - host->offset_ps;

        if (step->host != index)
            continue;
        windows[question->window_count++] = (struct window){from_ps, from_ps + step->dur_ps};
        if (step->slice != NO_SLICE)
            slices[skipped->count++] = step->slice;
    }
    if (skipped->count > 0)
        qsort(slices, skipped->count, sizeof(*slices), by_id);
    question->thread = thread_of(host->trace, skipped);
    if (steps->rule == STEP_OPTIMIZER) /* what ends a step is work in it */
        skipped->count = 0;
    return question;
}

/* What an earlier walk kept. */
static void replay_host(const struct run_traces *run, uint32_t index, const struct walk *walk,
                        struct arena *arena)
{
    const struct steps *steps = walk->steps;
    struct host_devices devices = steps_devices_of(run, steps, index, arena);

    for (uint32_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->items[i];

        if (step->host != index)
            continue;
        step->time = time_of(step, &devices, steps->lanes[i]);
        if (walk->visit != NULL)
            walk->visit(walk->data, step, &devices, steps->lanes[i]);
    }
}

static void walk_host(const struct run_traces *run, uint32_t index, struct walk *walk,
                      struct arena *arena)
{
    const struct host_trace *host = &run->hosts[index];
    struct steps *steps = walk->steps;
    struct host_devices devices = steps_devices_of(run, steps, index, arena);
    struct breakdown_question *question = steps_question(host, index, steps, &devices, arena);
    uint32_t *order = arena_array(arena, uint32_t, steps->count), count = 0;

    for (uint32_t i = 0; i < steps->count; i++) {
        if (steps->items[i].host == index)
            order[count++] = i;
    }
    walk->devices = &devices;
    walk->order = order;
    if (count > 0)
        breakdown_walk(question, take_window, walk);
}

void steps_walk(const struct run_traces *run, struct steps *steps, step_visit *visit, void *data)
{
    struct walk walk = {.steps = steps, .visit = visit, .data = data};
    struct arena *arena = arena_create();

    for (uint32_t host = 0; host < run->host_count; host++) {
        if (steps->lanes != NULL)
            replay_host(run, host, &walk, arena);
        else
            walk_host(run, host, &walk, arena);
    }
    arena_destroy(arena);
}

void steps_breakdown(const struct run_traces *run, struct steps *steps)
{
    steps_walk(run, steps, NULL, NULL);
}

struct keeping {
    const struct steps *steps;
    struct device_time **lanes; /* [step] */
};

static void keep_lanes(void *data, const struct step *step, const struct host_devices *devices,
                       const struct device_time *lanes)
{
    struct keeping *keeping = data;

    memcpy(keeping->lanes[step - keeping->steps->items], lanes,
           host_lane_count(devices) * sizeof(*lanes));
}

void steps_keep(const struct run_traces *run, struct steps *steps, struct arena *arena)
{
    struct keeping keeping = {.steps = steps};
    uint32_t *counts = arena_array(arena, uint32_t, (size_t)run->host_count + 1);
    size_t cell_count = 0;

    for (uint32_t host = 0; host < run->host_count; host++) {
        struct host_devices devices = steps_devices_of(run, steps, host, arena);

        counts[host] = host_lane_count(&devices);
    }
    for (uint32_t i = 0; i < steps->count; i++)
        cell_count += counts[steps->items[i].host];
    if (cell_count > KEPT_CELLS_MAX) {
        steps_breakdown(run, steps);
        return;
    }
    keeping.lanes = arena_array(arena, struct device_time *, (size_t)steps->count + 1);
    for (uint32_t i = 0; i < steps->count; i++)
        keeping.lanes[i] = arena_array(arena, struct device_time, counts[steps->items[i].host]);
    steps_walk(run, steps, keep_lanes, &keeping);
    steps->lanes = keeping.lanes;
}
