/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX ranges as their work on the devices.
 *
 *   thread   [ range -------------------- ]
 *              ^call 1      ^call 2             launched by a call that began inside the range
 *   device          [ kernel ]   [ kernel ]
 *   projection      [ range ------------- ]     first start to last end, on each device apart
 *
 * Calls and work are joined by their correlation; of each (thread, device) the calls then stand in
 * time order with their work, and a range is an interval of them: two binary searches, and the
 * first start and last end from a tree of minima and maxima. The rows are derived: never summed.
 */
#include <stdlib.h>

#include "base/bisect.h"
#include "base/sort.h"
#include "decode/nsys/nsys.h"

struct launched { /* work with the call that launched it */
    int64_t thread, at_ps, start_ps, end_ps;
    uint32_t device;
};

static bool op_before(const struct gpu_op *a, const struct gpu_op *b)
{
    return a->launch < b->launch;
}

static bool launch_before(const struct gpu_launch *a, const struct gpu_launch *b)
{
    return a->launch < b->launch;
}

static bool launched_before(const struct launched *a, const struct launched *b)
{
    if (a->thread != b->thread)
        return a->thread < b->thread;
    if (a->device != b->device)
        return a->device < b->device;
    return a->at_ps < b->at_ps;
}

SORT_DEFINE(sort_ops, struct gpu_op, op_before)
SORT_DEFINE(sort_launches, struct gpu_launch, launch_before)
SORT_DEFINE(sort_launched, struct launched, launched_before)
SORT_DEFINE(sort_ranges, struct nvtx_range, nvtx_range_before)

/* Each op with its call; of several calls of one correlation the first counts. */
static struct launched *join(struct nsys *nsys, size_t *ret_count)
{
    struct launched *joined = scratch_array(nsys->scratch, struct launched, nsys->ops.count + 1);
    size_t count = 0, call = 0;

    sort_ops(nsys->ops.at, nsys->ops.count);
    sort_launches(nsys->launches.at, nsys->launches.count);
    for (size_t index = 0; index < nsys->ops.count; index++) {
        const struct gpu_op *op = &nsys->ops.at[index];

        while (call < nsys->launches.count && nsys->launches.at[call].launch < op->launch)
            call++;
        if (call == nsys->launches.count)
            break;
        if (nsys->launches.at[call].launch != op->launch)
            continue;
        joined[count++] = (struct launched){
            .thread = nsys->launches.at[call].thread,
            .at_ps = nsys->launches.at[call].at_ps,
            .start_ps = op->start_ps,
            .end_ps = op->end_ps,
            .device = op->device,
        };
    }
    sort_launched(joined, count);
    *ret_count = count;
    return joined;
}

struct hull {
    int64_t start_ps, end_ps;
};

/* tree[count + i] is the hull of item i, tree[i] that of tree[2i] and tree[2i + 1]. */
static struct hull *plant(struct scratch *scratch, const struct launched *items, size_t count)
{
    struct hull *tree = scratch_array(scratch, struct hull, 2 * count);

    for (size_t index = 0; index < count; index++)
        tree[count + index] = (struct hull){items[index].start_ps, items[index].end_ps};
    for (size_t index = count; index-- > 1;) {
        const struct hull *a = &tree[2 * index], *b = a + 1;

        tree[index].start_ps = a->start_ps < b->start_ps ? a->start_ps : b->start_ps;
        tree[index].end_ps = a->end_ps > b->end_ps ? a->end_ps : b->end_ps;
    }
    return tree;
}

static void widen(struct hull *hull, const struct hull *by)
{
    hull->start_ps = by->start_ps < hull->start_ps ? by->start_ps : hull->start_ps;
    hull->end_ps = by->end_ps > hull->end_ps ? by->end_ps : hull->end_ps;
}

/* Of items first ... last - 1. */
static struct hull hull_of(const struct hull *tree, size_t count, size_t first, size_t last)
{
    struct hull hull = {INT64_MAX, INT64_MIN};

    for (first += count, last += count; first < last; first /= 2, last /= 2) {
        if (first % 2 == 1)
            widen(&hull, &tree[first++]);
        if (last % 2 == 1)
            widen(&hull, &tree[--last]);
    }
    return hull;
}

/* How many items were called before `at_ps`. */
static size_t count_before(const struct launched *items, size_t count, int64_t at_ps)
{
    return BISECT(0, count, i, items[i].at_ps < at_ps);
}

static track_id projection_track(struct nsys *nsys, const struct launched *one)
{
    const struct nsys_device *device = &nsys->tracks.device[one->device];
    struct str thread = nsys_thread_label(nsys, one->thread);

    return sink_track(nsys->sink,
                      (struct sink_track){
                          .parent = device->track,
                          .kind = TRACK_STREAM,
                          .role = ROLE_SCOPES,
                          .name = str_format(nsys->arena, "NVTX of %.*s", STR_ARG(thread)),
                          .source_id = one->thread & 0xffffff,
                          .device = device->ordinal,
                          .derived = true,
                      });
}

static void project_one(struct nsys *nsys, const struct nvtx_range *range,
                        const struct launched *items, size_t count, const struct hull *tree,
                        track_id *track)
{
    size_t first = count_before(items, count, range->start_ps);
    size_t last =
        range->end_ps == INT64_MAX ? count : count_before(items, count, range->end_ps + 1);
    int64_t dur_ps;

    if (first >= last)
        return;
    if (*track == NO_TRACK)
        *track = projection_track(nsys, items);
    struct hull hull = hull_of(tree, count, first, last);
    if (__builtin_sub_overflow(hull.end_ps, hull.start_ps, &dur_ps))
        dur_ps = hull.end_ps < hull.start_ps ? 0 : INT64_MAX;
    sink_slice(nsys->sink, (struct sink_slice){.track = *track,
                                               .start_ps = hull.start_ps,
                                               .dur_ps = dur_ps,
                                               .name = range->name,
                                               .kind = (enum kind)range->kind,
                                               .flags = SLICE_DERIVED});
    sink_arg(nsys->sink, (struct arg){.key = nsys->key_gpu_ops,
                                      .type = ARG_INT64,
                                      .bits = (uint64_t)(last - first)});
}

/* The ranges of one thread on one device. */
static void project_group(struct nsys *nsys, const struct launched *items, size_t count,
                          const struct nvtx_range *ranges, size_t range_count)
{
    struct hull *tree = plant(nsys->scratch, items, count);
    track_id track = NO_TRACK;

    for (size_t index = 0; index < range_count && !sink_failed(nsys->sink); index++)
        project_one(nsys, &ranges[index], items, count, tree, &track);
    scratch_free(nsys->scratch, tree);
}

void nsys_project_ranges(struct nsys *nsys)
{
    size_t count, first_range = 0;

    if (nsys->ranges.count == 0 || nsys->ops.count == 0)
        return;
    struct launched *items = join(nsys, &count);
    sort_ranges(nsys->ranges.at, nsys->ranges.count);
    for (size_t first = 0, last; first < count; first = last) {
        int64_t thread = items[first].thread;

        for (last = first; last < count && items[last].thread == thread &&
                           items[last].device == items[first].device;)
            last++;
        while (first_range < nsys->ranges.count && nsys->ranges.at[first_range].thread < thread)
            first_range++;
        size_t last_range = first_range;
        while (last_range < nsys->ranges.count && nsys->ranges.at[last_range].thread == thread)
            last_range++;
        project_group(nsys, &items[first], last - first, &nsys->ranges.at[first_range],
                      last_range - first_range);
    }
    scratch_free(nsys->scratch, items);
}
