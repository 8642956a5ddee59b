/* SPDX-License-Identifier: Apache-2.0 */
/* Slices by name, read. Ids and runs are big and seldom asked for: their tables are touched by
 * the first question about them, not by opening the trace. */
#include "base/bisect.h"
#include "base/file.h"
#include "trace/names/by_name.h"
#include "trace/readers.h"
#include "trace/writers.h"

enum { WILL_NEED_IDS = 1 << 14 }; /* fewer are not worth a system call */

struct by_name {
    const struct name_stats *stats;
    uint32_t count;
};

uint32_t trace_name_stats(const struct trace *trace, const struct name_stats **ret)
{
    const struct by_name *by_name = trace->parts->by_name;

    *ret = by_name == NULL ? NULL : by_name->stats;
    return by_name == NULL ? 0 : by_name->count;
}

const struct name_stats *trace_stats_of(const struct trace *trace, name_id name)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);
    uint32_t from = BISECT(0, count, i, stats[i].name < name);

    return from < count && stats[from].name == name ? &stats[from] : NULL;
}

const struct name_run *trace_name_runs(const struct trace *trace, name_id name, uint32_t *ret_count)
{
    const struct name_stats *stats = trace_stats_of(trace, name);

    *ret_count = 0;
    if (stats == NULL)
        return NULL;

    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_BY_NAME_RUNS);

    if (((uint64_t)stats->first_run + stats->run_count) * sizeof(struct name_run) > table.count)
        return NULL;
    *ret_count = stats->run_count;
    return (const struct name_run *)(const void *)table.at + stats->first_run;
}

const slice_id *trace_name_slices(const struct trace *trace, const struct name_run *run)
{
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_BY_NAME);

    if (((uint64_t)run->first + run->count) * sizeof(slice_id) > table.count)
        return NULL;

    const slice_id *ids = (const slice_id *)(const void *)table.at + run->first;

    if (run->count >= WILL_NEED_IDS)
        file_will_need(ids, run->count * sizeof(*ids));
    return ids;
}

static bool stats_fit(const struct trace *trace, const struct name_stats *stats)
{
    uint8_t approximate;

    memcpy(&approximate, &stats->quantiles_approximate, 1);
    return approximate <= 1 && stats->name < trace->name_count && stats->run_count > 0;
}

enum status by_name_open(struct trace *trace, struct arena *arena, struct error *err)
{
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_NAME_STATS);
    const struct name_stats *stats = (const struct name_stats *)(const void *)table.at;
    size_t count = table.count / sizeof(*stats);
    uint64_t next_run = 0;

    if (table.count % sizeof(*stats) != 0 || count > trace->name_count)
        return fail(err, ERR_FORMAT, "the table of totals by name has %zu bytes", table.count);
    for (size_t i = 0; i < count; i++) {
        if (!stats_fit(trace, &stats[i]) || stats[i].first_run != next_run ||
            (i > 0 && stats[i].name <= stats[i - 1].name))
            return fail(err, ERR_FORMAT, "totals by name: entry %zu does not fit", i);
        next_run += stats[i].run_count;
    }

    struct by_name *by_name = arena_new(arena, struct by_name);

    *by_name = (struct by_name){.stats = stats, .count = (uint32_t)count};
    trace->parts->by_name = by_name;
    return OK;
}
