/* SPDX-License-Identifier: Apache-2.0 */
/* What the whole trace sums to is stored: by name in the segment, by op in the attribution.
 *
 *   asked for                     sums                    quantiles
 *   by name, also some names      trace/names/by_name.h         of each name
 *   by op, module, scope, ...     totals of each op       of each row of the whole table
 *
 * A question about some ops leaves rows with fewer of them, a scope that is cut joins several rows:
 * a stored spread is the row's own when it counts as many events as the row.
 */
#include "analyse/ops/top_parts.h"
#include "base/bisect.h"
#include "trace/names/by_name.h"

static bool asks_for_some_ops(const struct selection *selection)
{
    return selection->by_name || selection->asked->module.count > 0 ||
           selection->asked->scope.count > 0;
}

bool top_is_stored(const struct top_work *work, const struct top_host *host)
{
    const struct selection *selection = host->selection;
    const struct attribution *attribution = selection->host->attribution;

    if (selection->cut_in_time || !selection->all_tracks)
        return false;
    if (work->by == BY_NAME)
        return !selection->ops_only;
    if (work->by > BY_CATEGORY || attribution == NULL || attribution->totals == NULL ||
        selection->asked->device_count > 0)
        return false;
    /* An execution counts where its first op is that is let through. */
    return work->by != BY_MODULE || !asks_for_some_ops(selection);
}

static void sum_names(struct top_host *host)
{
    const struct selection *selection = host->selection;
    const struct trace *trace = selection->host->trace;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;

        if (stats[i].count == 0 ||
            (selection->by_name &&
             !selection_has_name(selection, trace_name(trace, stats[i].name))))
            continue;

        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);
        const slice_id *slices = run_count > 0 ? trace_name_slices(trace, &runs[0]) : NULL;

        *tally_of(&host->tallies[0], stats[i].name) = (struct tally){
            .count = stats[i].count,
            .event_count = stats[i].count,
            .total_ps = stats[i].total_ps,
            .self_ps = stats[i].self_ps,
            .whole_ps = stats[i].total_ps,
            .parts = stats[i].count * TALLY_WHOLE,
            .min_ps = stats[i].min_ps,
            .max_ps = stats[i].max_ps,
            .first = slices == NULL ? NO_SLICE : slices[0],
            .name = stats[i].name,
            .kind = slices == NULL ? KIND_OTHER : (uint8_t)trace_slice(trace, slices[0]).kind,
        };
    }
}

static void sum_ops(const struct top_work *work, struct top_host *host)
{
    const struct selection *selection = host->selection;
    const struct attribution *attribution = selection->host->attribution;

    for (uint32_t op = 0; op < attribution->op_count; op++) {
        const struct op_total *total = &attribution->totals[op];

        if (total->event_count == 0 || !selection_has_op(selection, &attribution->ops[op]))
            continue;
        *tally_of(&host->tallies[0], op) = (struct tally){
            .count = work->by == BY_MODULE ? total->module_count : total->event_count,
            .event_count = total->event_count,
            .total_ps = total->total_ps,
            .self_ps = total->self_ps,
            .whole_ps = total->total_ps,
            .parts = total->event_count * TALLY_WHOLE,
            .min_ps = total->min_ps,
            .max_ps = total->max_ps,
            .first = total->first,
        };
    }
}

void top_sum_stored(const struct top_work *work, struct top_host *host)
{
    if (work->by == BY_NAME)
        sum_names(host);
    else
        sum_ops(work, host);
}

/* Those of several hosts cannot be joined. */
static void take_spreads_of_names(struct top_work *work, struct top_host *host)
{
    const struct trace *trace = host->selection->host->trace;
    const struct tallies *tallies = &host->tallies[0];

    for (uint32_t i = 0; i < tallies->seen_count; i++) {
        const struct name_stats *stats = trace_stats_of(trace, tallies->seen[i]);
        struct top_row *row = &work->rows[host->row_of[tallies->seen[i]] - 1];

        row->p50_ps = stats->p50_ps;
        row->p95_ps = stats->p95_ps;
        row->stdev_ps = stats->stdev_ps;
        row->approximate = stats->quantiles_approximate;
        row->spread_known = true;
    }
}

static bool is_before(const struct op_spread *spread, uint32_t by, uint32_t op)
{
    return spread->by < by || (spread->by == by && spread->op < op);
}

static const struct op_spread *spread_of(const struct attribution *attribution, uint32_t by,
                                         uint32_t op)
{
    uint32_t low =
        BISECT(0, attribution->spread_count, i, is_before(&attribution->spreads[i], by, op));
    const struct op_spread *found = &attribution->spreads[low];

    return low < attribution->spread_count && found->by == by && found->op == op ? found : NULL;
}

static void take_spreads_of_ops(struct top_work *work, const struct top_host *host)
{
    const struct attribution *attribution = host->selection->host->attribution;
    bool joined =
        work->by == BY_SCOPE && (work->question->depth > 0 || work->question->fold_siblings);

    /* Then equal counts do not tell equal ops. */
    if (joined && asks_for_some_ops(host->selection))
        return;
    for (uint32_t i = 0; i < work->row_count; i++) {
        struct top_row *row = &work->rows[i];
        const struct op_spread *spread = spread_of(attribution, work->by, row->op);

        if (spread == NULL || spread->event_count != row->event_count)
            continue;
        row->p50_ps = spread->p50_ps;
        row->p95_ps = spread->p95_ps;
        row->stdev_ps = spread->stdev_ps;
        row->approximate = spread->approximate != 0;
        row->spread_known = true;
    }
}

void top_take_stored_spreads(struct top_work *work, struct top_host *host)
{
    if (work->by == BY_NAME)
        take_spreads_of_names(work, host);
    else
        take_spreads_of_ops(work, host);
}
