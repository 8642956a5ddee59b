/* SPDX-License-Identifier: Apache-2.0 */
/* What is sampled: call chains, CPU samples, schedules, counters of GPUs.
 *
 *   OSRT_CALLCHAINS, CUDA_CALLCHAINS,
 *   SAMPLING_CALLCHAINS       id  symbol  module  stackDepth      a row a frame, 0 the innermost
 *   COMPOSITE_EVENTS          id  start  cpu  threadState  globalTid  cpuCycles     id: its chain
 *   SCHED_EVENTS              start  cpu  isSchedIn  globalTid
 *   GPU_METRICS               timestamp  typeId  metricId  value
 *   TARGET_INFO_GPU_METRICS   typeId  metricId  metricName
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/nsys/nsys.h"

enum { CHAIN_MAX = 4096 };

/* Frames come outermost first, so that each one's caller is known. */
static void read_chains(struct nsys *nsys, const char *table, name_id key)
{
    static const char *const columns[] = {"id", "symbol", "module", "stackDepth"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, table, columns, COUNT(columns),
                                         "ORDER BY \"id\", \"stackDepth\" DESC");
    int64_t chain, last = 0, symbol, module;
    stack_id stack = NO_STACK;
    uint32_t depth = 0;

    rows.counts = true;
    while (nsys_rows_next(&rows)) {
        struct frame frame = {0};

        if (!nsys_integer(&rows, 0, &chain))
            continue;
        if (depth == 0 || chain != last) {
            stack = NO_STACK;
            depth = 0;
        }
        last = chain;
        if (nsys_integer(&rows, 1, &symbol))
            frame.function = nsys_word(nsys, symbol);
        if (nsys_integer(&rows, 2, &module))
            frame.module = nsys_path_word(nsys, module);
        if (++depth <= CHAIN_MAX)
            stack = sink_stack(nsys->sink, stack, frame);
        *pair_table_at(&nsys->stacks, key, (uint64_t)chain) = stack;
    }
    nsys_rows_close(&rows);
}

stack_id nsys_chain_stack(struct nsys *nsys, const char *table, int64_t chain)
{
    name_id key = sink_name(nsys->sink, str_of(table));
    bool is_new;

    id_map_add(&nsys->chain_tables, key, 0, &is_new);
    if (is_new)
        read_chains(nsys, table, key);
    return pair_table_find(&nsys->stacks, key, (uint64_t)chain); /* PAIR_NONE is NO_STACK */
}

static void read_samples(struct nsys *nsys)
{
    static const char *const columns[] = {"id", "start", "globalTid"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "COMPOSITE_EVENTS", columns, 3, "");
    int64_t chain, start, thread;

    if (rows.statement == NULL)
        return;
    sink_sample_type(nsys->sink, sink_name(nsys->sink, STR("samples")),
                     sink_name(nsys->sink, STR("count")));
    rows.counts = true;
    while (nsys_rows_next(&rows)) {
        const int64_t one = 1;

        if (!nsys_integer(&rows, 1, &start) || !nsys_integer(&rows, 2, &thread)) {
            nsys->without_time++;
            continue;
        }
        struct sample sample = {
            .at_ps = nsys_ps(start), .track = nsys_thread_track(nsys, thread), .stack = NO_STACK};
        if (nsys_integer(&rows, 0, &chain))
            sample.stack = nsys_chain_stack(nsys, "SAMPLING_CALLCHAINS", chain);
        sink_sample(nsys->sink, sample, &one, NULL, 0);
    }
    nsys_rows_close(&rows);
}

struct turn { /* of a thread on a CPU */
    int64_t thread, start_ps, cpu;
    bool is_open;
};

static void put_turn(struct nsys *nsys, const struct turn *turn, int64_t end_ps, uint8_t flags)
{
    char name[40];
    int64_t dur_ps;
    track_id track = nsys_lane_track(nsys, nsys_thread_track(nsys, turn->thread), TRACK_THREAD,
                                     STR("CPU"), turn->thread & 0xffffff, -1);

    if (__builtin_sub_overflow(end_ps, turn->start_ps, &dur_ps))
        dur_ps = INT64_MAX;
    snprintf(name, sizeof name, "CPU %" PRId64, turn->cpu);
    sink_slice(nsys->sink, (struct sink_slice){.track = track,
                                               .start_ps = turn->start_ps,
                                               .dur_ps = dur_ps,
                                               .name = sink_name(nsys->sink, str_of(name)),
                                               .kind = KIND_HOST,
                                               .flags = flags});
}

/* A thread is on a CPU from where it was let in to where it was put out. */
static void read_turns(struct nsys *nsys)
{
    static const char *const columns[] = {"globalTid", "start", "cpu", "isSchedIn"};
    struct nsys_rows rows =
        nsys_rows_of(&nsys->db, "SCHED_EVENTS", columns, 4, "ORDER BY \"globalTid\", \"start\"");
    struct turn turn = {0};
    int64_t thread, start, is_in;

    rows.counts = true;
    while (nsys_rows_next(&rows)) {
        if (!nsys_integer(&rows, 0, &thread) || !nsys_integer(&rows, 1, &start) ||
            !nsys_integer(&rows, 3, &is_in)) {
            nsys->without_time++;
            continue;
        }
        if (turn.is_open && (turn.thread != thread || is_in != 0))
            put_turn(nsys, &turn, turn.start_ps, SLICE_CUT);
        else if (turn.is_open)
            put_turn(nsys, &turn, nsys_ps(start), 0);
        turn = (struct turn){.thread = thread, .start_ps = nsys_ps(start), .is_open = is_in != 0};
        if (!nsys_integer(&rows, 2, &turn.cpu))
            turn.cpu = -1;
    }
    if (turn.is_open)
        put_turn(nsys, &turn, turn.start_ps, SLICE_CUT);
    nsys_rows_close(&rows);
}

static void read_metric_names(struct nsys *nsys, struct pair_table *names)
{
    static const char *const columns[] = {"typeId", "metricId", "metricName"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "TARGET_INFO_GPU_METRICS", columns, 3, "");
    int64_t type, metric;

    while (nsys_rows_next(&rows)) {
        struct str name = nsys_text(&rows, 2);

        if (nsys_integer(&rows, 0, &type) && nsys_integer(&rows, 1, &metric) && name.count > 0)
            *pair_table_at(names, (uint64_t)type, (uint64_t)metric) = sink_name(nsys->sink, name);
    }
    nsys_rows_close(&rows);
}

/* A type is a GPU's set of metrics; its low byte is the GPU's number. */
static track_id metric_track(struct nsys *nsys, struct pair_table *tracks,
                             const struct pair_table *names, int64_t type, int64_t metric)
{
    uint32_t *known = pair_table_at(tracks, (uint64_t)type, (uint64_t)metric);

    if (*known != PAIR_NONE)
        return *known;
    uint32_t name = pair_table_find(names, (uint64_t)type, (uint64_t)metric);
    int64_t gpu = type & 0xff;
    track_id parent =
        nsys_lane_track(nsys, NO_TRACK, TRACK_PROCESS,
                        str_format(nsys->arena, "GPU metrics (GPU %" PRId64 ")", gpu), gpu, -1);
    struct str text = name != PAIR_NONE ? sink_text(nsys->sink, name)
                                        : str_format(nsys->arena, "metric %" PRId64, metric);
    return *known = nsys_lane_track(nsys, parent, TRACK_COUNTER, text, metric, -1);
}

static void read_metrics(struct nsys *nsys)
{
    static const char *const columns[] = {"timestamp", "typeId", "metricId", "value"};
    struct nsys_rows rows = nsys_rows_of(&nsys->db, "GPU_METRICS", columns, 4, "");
    struct pair_table names = {0}, tracks = {0};
    int64_t at, type, metric;

    if (rows.statement != NULL)
        read_metric_names(nsys, &names);
    rows.counts = true;
    while (nsys_rows_next(&rows)) {
        double value;

        if (!nsys_integer(&rows, 0, &at) || !nsys_integer(&rows, 1, &type) ||
            !nsys_integer(&rows, 2, &metric) || !nsys_number(&rows, 3, &value)) {
            nsys->without_time++;
            continue;
        }
        sink_counter(nsys->sink, metric_track(nsys, &tracks, &names, type, metric), nsys_ps(at),
                     value);
    }
    nsys_rows_close(&rows);
    pair_table_free(&names);
    pair_table_free(&tracks);
}

void nsys_read_samples(struct nsys *nsys)
{
    read_turns(nsys);
    read_samples(nsys);
    read_metrics(nsys);
}
