/* SPDX-License-Identifier: Apache-2.0 */
/* The lanes of a host: its threads, each with its own lanes, and the streams and cores of its
 * devices. */
#include <stdlib.h>

#include "analyse/critical/graph_parts.h"
#include "analyse/scan/scan.h"
#include "base/bisect.h"

/* What a profiler took of a thread's time counts there, for what came next waited for it. */
static bool is_overhead(const struct trace *trace, track_id id)
{
    const struct track *track = &trace->tracks[id];

    return track->kind == TRACK_THREAD && track->device < 0 && !track->derived &&
           host_thread_of(trace, id) != id &&
           str_equal(trace_name(trace, track->name), STR("Profiler overhead"));
}

/* The lane of a track, if it has any; `ret_of` the track that stands for it. */
static bool lane_kind_of(const struct trace *trace, track_id id, enum lane_kind *ret,
                         track_id *ret_of)
{
    const struct track *track = &trace->tracks[id];

    *ret_of = id;
    if (track->slice_count == 0)
        return false;
    if (track_is_device_work(track))
        *ret = LANE_ORDER;
    else if (track->role == ROLE_ASYNC_OPS && !track->derived && track->device >= 0)
        *ret = LANE_ASYNC;
    else if (tells_of_host(trace, id) || is_overhead(trace, id)) {
        *ret = LANE_THREAD;
        *ret_of = host_thread_of(trace, id);
    } else
        return false;
    return true;
}

/* How many tracks each lane has, in the order of the tracks that stand for them. */
static void count_tracks(struct maker_host *host, uint32_t *lane_of)
{
    const struct trace *trace = host->host->trace;

    for (track_id id = 0; id < trace->track_count; id++) {
        enum lane_kind kind;
        track_id of;

        if (!lane_kind_of(trace, id, &kind, &of))
            continue;
        if (lane_of[of] == UINT32_MAX) {
            lane_of[of] = host->lane_count;
            host->lanes[host->lane_count++] =
                (struct maker_lane){.track = of,
                                    .device = kind == LANE_THREAD ? -1 : trace->tracks[of].device,
                                    .kind = kind};
        }
        host->lanes[lane_of[of]].track_count++;
    }
}

static void place_tracks(struct maker_host *host, const uint32_t *lane_of)
{
    const struct trace *trace = host->host->trace;
    uint32_t at = 0;

    for (uint32_t i = 0; i < host->lane_count; i++) {
        host->lanes[i].first_track = at;
        at += host->lanes[i].track_count;
        host->lanes[i].track_count = 0;
    }
    for (track_id id = 0; id < trace->track_count; id++) {
        enum lane_kind kind;
        track_id of;

        if (lane_kind_of(trace, id, &kind, &of)) {
            struct maker_lane *lane = &host->lanes[lane_of[of]];

            host->tracks[lane->first_track + lane->track_count++] = id;
        }
    }
}

static int by_number(const void *left, const void *right)
{
    const slice_id a = *(const slice_id *)left, b = *(const slice_id *)right;

    return (a > b) - (a < b);
}

static void list_marks(struct maker_host *host, uint32_t index, const struct steps *steps)
{
    host->marks = memory_resize(NULL, (size_t)steps->count + 1, sizeof *host->marks);
    for (uint32_t i = 0; i < steps->count; i++) {
        if (steps->items[i].host == index && steps->items[i].slice != NO_SLICE)
            host->marks[host->mark_count++] = steps->items[i].slice;
    }
    qsort(host->marks, host->mark_count, sizeof *host->marks, by_number);
}

bool is_mark(const struct maker_host *host, slice_id slice)
{
    uint32_t low = BISECT(0, host->mark_count, i, host->marks[i] < slice);

    return low < host->mark_count && host->marks[low] == slice;
}

struct maker_host *maker_host_open(struct graph_maker *maker, uint32_t index)
{
    struct maker_host *host = &maker->hosts[index];
    size_t count = (size_t)maker->run->hosts[index].trace->track_count + 1;

    if (host->opened)
        return host;
    host->opened = true;
    host->host = &maker->run->hosts[index];
    host->roles = op_roles_create(host->host);
    host->has_devices = host->roles.on_tracks;
    host->reader = launch_reader_create(host->host->trace);
    host->names = memory_zeroed(
        (size_t)host->host->trace->name_count + host->host->trace->lent_name_count + 1, 1);
    host->lanes = memory_zeroed(count, sizeof *host->lanes);
    host->tracks = memory_zeroed(count, sizeof *host->tracks);
    host->lane_of = memory_zeroed(count, sizeof *host->lane_of);

    uint32_t *lane_of = memory_resize(NULL, count, sizeof *lane_of);

    for (size_t i = 0; i < count; i++)
        lane_of[i] = UINT32_MAX;
    list_marks(host, index, maker->steps);
    count_tracks(host, lane_of);
    place_tracks(host, lane_of);
    free(lane_of);
    for (uint32_t i = 0; i < host->lane_count; i++)
        for (uint32_t k = 0; k < host->lanes[i].track_count; k++)
            host->lane_of[host->tracks[host->lanes[i].first_track + k]] = i + 1;
    return host;
}

void maker_host_close(struct maker_host *host)
{
    if (!host->opened)
        return;
    op_roles_free(&host->roles);
    launch_reader_free(host->reader);
    free(host->names);
    free(host->lanes);
    free(host->tracks);
    free(host->lane_of);
    free(host->marks);
}

uint32_t lane_of_slice(const struct graph_maker *maker, uint32_t host, slice_id slice)
{
    const struct maker_host *of = &maker->hosts[host];
    row_id row = of->opened ? trace_row_of(of->host->trace, slice) : NO_ROW;
    uint32_t lane = row == NO_ROW ? 0 : of->lane_of[of->host->trace->rows[row].track];

    return lane == 0 || of->first_lane == UINT32_MAX ? UINT32_MAX : of->first_lane + lane - 1;
}

/* The first node of the lane that begins after a moment, or with `at` at it. */
static uint32_t lane_bound(const struct step_graph *graph, uint32_t lane, int64_t at_ps, bool at)
{
    uint32_t first = graph->lanes[lane].first_node, end = first + graph->lanes[lane].count;

    return BISECT(first, end, i,
                  graph->nodes[i].start_ps < at_ps || (!at && graph->nodes[i].start_ps == at_ps));
}

uint32_t lane_node_at(const struct step_graph *graph, uint32_t lane, int64_t at_ps)
{
    uint32_t bound = lane_bound(graph, lane, at_ps, false);

    return bound == graph->lanes[lane].first_node ? NO_NODE : bound - 1;
}

uint32_t lane_node_before(const struct step_graph *graph, uint32_t lane, int64_t at_ps)
{
    uint32_t bound = lane_bound(graph, lane, at_ps, true);

    return bound == graph->lanes[lane].first_node ? NO_NODE : bound - 1;
}
