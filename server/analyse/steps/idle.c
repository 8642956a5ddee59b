/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the gaps in the work of devices, tells each by the host's line, and keeps the longest. */
#include "analyse/steps/idle.h"

#include <stdlib.h>

#include "analyse/steps/capture.h"
#include "analyse/steps/device_line.h"
#include "analyse/steps/steps.h"
#include "trace/ps.h"

struct gap_heap { /* the longest gaps of a host, the shortest of them on top */
    struct gap *items;
    uint32_t count;
    uint64_t count_all;
};

static void sift_down(struct gap_heap *heap)
{
    struct gap moved = heap->items[0];
    uint32_t at = 0;

    for (uint32_t child; (child = 2 * at + 1) < heap->count; at = child) {
        if (child + 1 < heap->count && heap->items[child + 1].dur_ps < heap->items[child].dur_ps)
            child++;
        if (moved.dur_ps <= heap->items[child].dur_ps)
            break;
        heap->items[at] = heap->items[child];
    }
    heap->items[at] = moved;
}

static void take_gap(struct gap_heap *heap, const struct gap *gap)
{
    heap->count_all++;
    if (heap->count == GAPS_MAX) {
        if (gap->dur_ps <= heap->items[0].dur_ps)
            return;
        heap->items[0] = *gap;
        sift_down(heap);
        return;
    }

    uint32_t at = heap->count++;

    for (; at > 0 && gap->dur_ps < heap->items[(at - 1) / 2].dur_ps; at = (at - 1) / 2)
        heap->items[at] = heap->items[(at - 1) / 2];
    heap->items[at] = *gap;
}

struct windows { /* of a host, what counts: file time, by start */
    struct window *items;
    int64_t *steps; /* number of each; NO_STEP */
    uint32_t count;
    int64_t total_ps;
};

static void add_window(struct windows *windows, struct window window, int64_t step)
{
    windows->items[windows->count] = window;
    windows->steps[windows->count++] = step;
    ps_add(&windows->total_ps, window.to_ps - window.from_ps);
}

/* The capture of a host, narrowed to the window asked for. */
static struct window capture_of(const struct host_trace *host,
                                const struct restriction *restriction)
{
    struct window window = capture_window(host->trace);
    int64_t at_ps;

    if (restriction->has_window &&
        !__builtin_sub_overflow(restriction->start_ps, host->offset_ps, &at_ps) &&
        at_ps > window.from_ps)
        window.from_ps = at_ps < window.to_ps ? at_ps : window.to_ps;
    if (restriction->has_window &&
        !__builtin_sub_overflow(restriction->end_ps, host->offset_ps, &at_ps) &&
        at_ps < window.to_ps)
        window.to_ps = at_ps > window.from_ps ? at_ps : window.from_ps;
    return window;
}

static struct windows windows_of(const struct run_traces *run, uint32_t host,
                                 const struct restriction *restriction, const struct steps *steps,
                                 struct arena *arena)
{
    const struct host_trace *trace = &run->hosts[host];
    struct windows windows = {
        .items = arena_array(arena, struct window, (size_t)steps->count + 1),
        .steps = arena_array(arena, int64_t, (size_t)steps->count + 1),
    };

    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t from_ps = step->start_ps - trace->offset_ps;

        if (step->host == host && step_counts(steps, step))
            add_window(&windows, (struct window){from_ps, from_ps + step->dur_ps}, step->number);
    }
    if (steps->count == 0)
        add_window(&windows, capture_of(trace, restriction), NO_STEP);
    return windows;
}

struct cutting { /* the gaps of one device, by the windows of its host */
    const struct windows *windows;
    uint32_t first; /* of the windows that do not end before what comes */
    struct gap gap; /* host and device of all of them */
    int64_t offset_ps;
    struct gap_heap *heap;
    uint64_t count;
};

/* Windows come by start, so behind the first that begins after the gap there is none. */
static void cut_gap(void *data, int64_t from_ps, int64_t to_ps)
{
    struct cutting *cutting = data;
    const struct windows *windows = cutting->windows;

    while (cutting->first < windows->count && windows->items[cutting->first].to_ps <= from_ps)
        cutting->first++;
    for (uint32_t i = cutting->first; i < windows->count && windows->items[i].from_ps < to_ps;
         i++) {
        const struct window *window = &windows->items[i];
        int64_t start_ps = from_ps > window->from_ps ? from_ps : window->from_ps;
        int64_t end_ps = to_ps < window->to_ps ? to_ps : window->to_ps;

        if (start_ps >= end_ps)
            continue;
        cutting->gap.start_ps = start_ps + cutting->offset_ps;
        cutting->gap.dur_ps = end_ps - start_ps;
        cutting->gap.step = windows->steps[i];
        take_gap(cutting->heap, &cutting->gap);
        cutting->count++;
    }
}

/* One walk over the device's ops, however many windows there are. */
static uint64_t find_gaps(const struct run_traces *run, struct gap gap,
                          const struct windows *windows, const struct op_roles *roles,
                          struct gap_heap *heap)
{
    const struct host_trace *host = &run->hosts[gap.host];
    struct cutting cutting = {
        .windows = windows, .gap = gap, .offset_ps = host->offset_ps, .heap = heap};
    struct window hull = {INT64_MAX, INT64_MIN};

    for (uint32_t i = 0; i < windows->count; i++) {
        const struct window *window = &windows->items[i];

        hull.from_ps = window->from_ps < hull.from_ps ? window->from_ps : hull.from_ps;
        hull.to_ps = window->to_ps > hull.to_ps ? window->to_ps : hull.to_ps;
    }
    device_gaps(host, gap.device, hull, roles, cut_gap, &cutting);
    return cutting.count;
}

static int by_start(const void *left, const void *right)
{
    const struct gap *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

static int longest_first(const void *left, const void *right)
{
    const struct gap *a = left, *b = right;

    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps ? -1 : 1;
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return by_start(left, right);
}

/* In its gap the device did nothing, so what the host did is all there is to tell. */
static void tell_gap(void *data, uint32_t window, const struct device_time *host)
{
    struct gap *gap = &((struct gap *)data)[window];

    gap->doing = DOING_NOTHING;
    gap->doing_ps = host->doing_ps[DOING_NOTHING];
    for (int doing = 0; doing < DOING_COUNT; doing++) {
        if (host->doing_ps[doing] > gap->doing_ps) {
            gap->doing = (enum host_doing)doing;
            gap->doing_ps = host->doing_ps[doing];
        }
    }
}

static void tell_gaps(const struct host_trace *host, struct breakdown_question *question,
                      struct gap_heap *heap, struct arena *arena)
{
    struct window *windows = arena_array(arena, struct window, heap->count);

    qsort(heap->items, heap->count, sizeof(*heap->items), by_start);
    for (uint32_t i = 0; i < heap->count; i++) {
        struct gap *gap = &heap->items[i];
        int64_t from_ps = gap->start_ps - host->offset_ps;

        windows[i] = (struct window){from_ps, from_ps + gap->dur_ps};
        gap->before = device_op_before(host->attribution, gap->device, from_ps);
        gap->after = device_op_after(host->attribution, gap->device, from_ps + gap->dur_ps);
    }
    question->windows = windows;
    question->window_count = heap->count;
    question->host_alone = true;
    breakdown_walk(question, tell_gap, heap->items);
}

struct summing { /* windows of a host, summed by device */
    struct idle_device *devices;
    const struct host_devices *of;
};

static void add_time(struct device_time *to, const struct device_time *by)
{
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        ps_add(&to->kinds_ps[kind], by->kinds_ps[kind]);
    for (int doing = 0; doing < DOING_COUNT; doing++)
        ps_add(&to->doing_ps[doing], by->doing_ps[doing]);
    ps_add(&to->busy_ps, by->busy_ps);
    ps_add(&to->hidden_ps, by->hidden_ps);
    ps_add(&to->wait_ps, by->wait_ps);
}

static void sum_window(void *data, uint32_t window, const struct device_time *lanes)
{
    struct summing *summing = data;

    (void)window;
    for (uint32_t i = 0; i < summing->of->count; i++)
        add_time(&summing->devices[i].time, &lanes[i]);
}

/* Steps whose lanes were kept need no second walk. */
static void sum_kept(const struct steps *steps, uint32_t host, struct summing *summing)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        if (steps->items[i].host == host && step_counts(steps, &steps->items[i]))
            sum_window(summing, i, steps->lanes[i]);
    }
}

static void look_at_host(const struct run_traces *run, uint32_t index,
                         const struct restriction *restriction, const struct steps *steps,
                         struct arena *arena, struct gap_heap *heap, struct idle_device *ret)
{
    const struct host_trace *host = &run->hosts[index];
    struct host_devices devices = steps_devices_of(run, steps, index, arena);
    struct windows windows = windows_of(run, index, restriction, steps, arena);
    struct op_roles roles = op_roles_create(host);
    struct breakdown_question *question = steps_question(host, index, steps, &devices, arena);
    struct summing summing = {.devices = ret, .of = &devices};
    int64_t start_ps = windows.count > 0 ? windows.items[0].from_ps + host->offset_ps : 0;

    for (uint32_t i = 0; i < devices.count; i++) {
        ret[i] = (struct idle_device){.host = index,
                                      .device = devices.devices[i],
                                      .counted = devices.counted[i],
                                      .start_ps = start_ps,
                                      .window_ps = windows.total_ps};
        ret[i].gap_count = find_gaps(run, (struct gap){.host = index, .device = ret[i].device},
                                     &windows, &roles, heap);
    }
    if (devices.count > 0 && windows.count > 0 && steps->lanes != NULL && steps->count > 0) {
        sum_kept(steps, index, &summing);
    } else if (devices.count > 0 && windows.count > 0) {
        question->windows = windows.items;
        question->window_count = windows.count;
        breakdown_walk(question, sum_window, &summing);
    }
    if (heap->count > 0)
        tell_gaps(host, question, heap, arena);
    op_roles_free(&roles);
}

void idle_find(const struct run_traces *run, const struct restriction *restriction,
               const struct steps *steps, struct arena *arena, struct idle *ret)
{
    struct gap *gaps = NULL;
    struct idle_device *devices = NULL;
    struct gap_heap heap = {.items = memory_resize(NULL, GAPS_MAX, sizeof(*heap.items))};

    *ret = (struct idle){.of_steps = steps->count > 0};
    for (uint32_t host = 0; host < run->host_count; host++) {
        uint32_t count = host_devices_of(&run->hosts[host], arena).count;

        heap.count = 0;
        devices = memory_resize(devices, (size_t)ret->device_count + count + 1, sizeof(*devices));
        look_at_host(run, host, restriction, steps, arena, &heap, devices + ret->device_count);
        ret->device_count += count;
        gaps = memory_resize(gaps, (size_t)ret->gap_count + heap.count + 1, sizeof(*gaps));
        memcpy(gaps + ret->gap_count, heap.items, heap.count * sizeof(*gaps));
        ret->gap_count += heap.count;
    }
    ret->gap_count_all = heap.count_all;
    free(heap.items);
    if (ret->gap_count > 0)
        qsort(gaps, ret->gap_count, sizeof(*gaps), longest_first);

    struct gap *kept_gaps = arena_array(arena, struct gap, ret->gap_count);
    struct idle_device *kept_devices = arena_array(arena, struct idle_device, ret->device_count);

    if (ret->gap_count > 0)
        memcpy(kept_gaps, gaps, ret->gap_count * sizeof(*gaps));
    if (ret->device_count > 0)
        memcpy(kept_devices, devices, ret->device_count * sizeof(*devices));
    ret->gaps = kept_gaps;
    ret->devices = kept_devices;
    free(gaps);
    free(devices);
}
