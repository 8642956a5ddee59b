/* SPDX-License-Identifier: Apache-2.0 */
/* Arrows, read: both orders lie in the file and are checked at the opening. */
#include "base/bisect.h"
#include "trace/readers.h"
#include "trace/writers.h"

static bool flow_fits(const struct trace *trace, const struct flow *flow)
{
    return flow->from < trace->slice_count && flow->to < trace->slice_count &&
           flow->kind < trace->name_count;
}

static enum status check_order(const struct trace *trace, const struct flow *flows,
                               const uint32_t *by_to, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        if (!flow_fits(trace, &flows[i]) || (i > 0 && flows[i].from < flows[i - 1].from))
            return fail(err, ERR_FORMAT, "arrow %zu breaks the rules of its table", i);
    for (size_t i = 0; i < count; i++)
        if (by_to[i] >= count || (i > 0 && flows[by_to[i]].to < flows[by_to[i - 1]].to))
            return fail(err, ERR_FORMAT, "arrow %zu by consumer breaks the rules of its table", i);
    return OK;
}

enum status flows_open(struct trace *trace, struct arena *arena, struct error *err)
{
    struct block_in in = trace->parts->in;
    struct bytes table = in.table(in.from, TABLE_FLOWS);
    struct bytes consumers = in.table(in.from, TABLE_FLOWS_BY_TO);
    const struct flow *flows = (const struct flow *)(const void *)table.at;
    const uint32_t *by_to = (const uint32_t *)(const void *)consumers.at;
    size_t count = table.count / sizeof(*flows);

    (void)arena;
    if (table.count % sizeof(*flows) != 0 || consumers.count != count * sizeof(*by_to) ||
        count >= UINT32_MAX)
        return fail(err, ERR_FORMAT, "the tables of arrows do not fit together");
    if (!in.checked)
        TRY(check_order(trace, flows, by_to, count, err));
    trace->flows = flows;
    trace->flow_by_to = by_to;
    trace->flow_count = count;
    return OK;
}

uint64_t flow_first_from(const struct trace *trace, slice_id slice)
{
    return BISECT(0, trace->flow_count, i, trace->flows[i].from < slice);
}

uint64_t flow_first_to(const struct trace *trace, slice_id slice)
{
    return BISECT(0, trace->flow_count, i, trace->flows[trace->flow_by_to[i]].to < slice);
}
