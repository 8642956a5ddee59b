/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows' ops cost: FLOPs and bytes of what is inside the selection, their rates, and which
 * limit of the device they meet first.
 *
 * An op's cost is of one run; of `run_count` runs with `event_count` events each event has its
 * part, and of an event cut by a window what lies inside. So sums add up over any partition of
 * time, devices and steps. Rates divide by the time of the row: total time by op, self time where
 * ops are joined, so that a loop's body is not counted beside the loop.
 */
#include <math.h>

#include "analyse/ops/top_parts.h"

void top_count_cost(struct top_cost *to, const struct op_cost *cost)
{
    bool has_flops = cost_is_known((enum cost_rule)cost->flops_rule);
    bool has_bytes = cost_is_known((enum cost_rule)cost->bytes_rule);

    if (to->flops_known + to->flops_unknown == 0 || (has_flops && to->flops_known == 0))
        to->flops_rule = cost->flops_rule;
    if (to->bytes_known + to->bytes_unknown == 0 || (has_bytes && to->bytes_known == 0))
        to->bytes_rule = cost->bytes_rule;
    to->flops_known += has_flops;
    to->flops_unknown += !has_flops;
    to->bytes_known += has_bytes;
    to->bytes_unknown += !has_bytes;
    to->async_count += (cost->flags & COST_ASYNC) != 0;
}

double top_runs_of(const struct top_host *host, uint32_t op, const struct tally *tally)
{
    const struct op_total *totals = host->selection->host->attribution->totals;
    uint32_t run_count = host->costs[op].run_count;
    uint32_t events = totals == NULL ? run_count : totals[op].event_count;

    return events == 0
               ? 0
               : (double)tally->parts / (double)TALLY_WHOLE * ((double)run_count / (double)events);
}

void top_add_costs(const struct top_host *host, struct top_row *row, uint32_t op,
                   const struct tally *tally)
{
    const struct op_cost *cost = &host->costs[op];
    struct top_cost *to = &row->cost;
    double runs = top_runs_of(host, op, tally);
    bool has_flops = cost_is_known((enum cost_rule)cost->flops_rule);
    bool has_bytes = cost_is_known((enum cost_rule)cost->bytes_rule);

    top_count_cost(to, cost);
    to->flops += has_flops ? cost->flops * runs : 0;
    to->bytes += has_bytes ? cost->bytes * runs : 0;
    if (has_flops)
        to->compute_s += device_compute_s(&host->spec, cost) * runs;
    if (has_bytes && (cost->flags & COST_ASYNC) == 0)
        to->memory_s += cost->bytes * runs / host->spec.bytes_per_s;
}

int64_t top_cost_time(const struct top_work *work, const struct top_row *row)
{
    return work->by == BY_OP || work->by == BY_KERNEL ? row->total_ps : row->self_ps;
}

static struct cell sum_cell(uint32_t known, uint8_t rule, double value)
{
    return known > 0 ? cell_real(value) : cell_null(cost_rule_words((enum cost_rule)rule));
}

bool top_is_waiting(const struct top_row *row)
{
    const struct top_cost *cost = &row->cost;

    return cost->async_count > 0 && cost->async_count == cost->bytes_known + cost->bytes_unknown;
}

static struct cell rate_cell(const struct top_work *work, const struct top_row *row, uint32_t known,
                             uint8_t rule, double value)
{
    if (known == 0)
        return cell_null(cost_rule_words((enum cost_rule)rule));
    if (top_is_waiting(row))
        return cell_null(STR("its time is not that of the transfer: it only starts or awaits it"));
    return top_cost_time(work, row) > 0
               ? cell_of_sum(top_cost_time(work, row),
                             cell_real(value / ((double)top_cost_time(work, row) * 1e-12)))
               : cell_null(STR("no time to divide by"));
}

static struct str why_no_peak(const struct top_work *work, const struct top_row *row)
{
    const struct device_spec *spec = &work->hosts[row->place].spec;

    return spec->reason.count > 0 ? spec->reason
                                  : STR("the device's peak for this type is unknown");
}

/* Rows that join ops of several kinds wear that of their first one. */
static bool is_communication(const struct top_work *work, const struct top_row *row)
{
    return row->kind == KIND_COMMUNICATION &&
           (work->by == BY_OP || work->by == BY_CATEGORY || work->by == BY_KERNEL);
}

/* Communication waits for others; else whatever takes the machine longer at its best. */
static struct cell bound_cell(const struct top_work *work, const struct top_row *row)
{
    const struct top_cost *cost = &row->cost;

    if (is_communication(work, row))
        return cell_text(STR("communication"));
    if (cost->flops_known == 0 || cost->bytes_known == 0)
        return cell_null(cost_rule_words(
            (enum cost_rule)(cost->flops_known == 0 ? cost->flops_rule : cost->bytes_rule)));
    if (top_is_waiting(row))
        return cell_null(STR("it only starts or awaits a transfer"));
    if (cost->flops <= 0 && cost->bytes <= 0)
        return cell_null(STR("no FLOPs and no bytes"));
    if (isnan(cost->compute_s) || isnan(cost->memory_s))
        return cell_null(why_no_peak(work, row));
    return cell_text(cost->compute_s >= cost->memory_s ? STR("compute") : STR("memory"));
}

static struct cell peak_cell(const struct top_work *work, const struct top_row *row)
{
    const struct top_cost *cost = &row->cost;
    struct cell bound = bound_cell(work, row);
    double best_s = fmax(cost->compute_s, cost->memory_s);

    if (bound.kind == CELL_NULL)
        return bound;
    if (is_communication(work, row))
        return cell_null(STR("links, not the device, limit a collective"));
    return top_cost_time(work, row) > 0
               ? cell_of_sum(top_cost_time(work, row),
                             cell_real(best_s / ((double)top_cost_time(work, row) * 1e-12)))
               : cell_null(STR("no time to divide by"));
}

struct cell top_cost_cell(const struct top_work *work, const struct top_row *row,
                          enum top_column column)
{
    const struct top_cost *cost = &row->cost;

    if (work->by > BY_CATEGORY && work->by != BY_KERNEL && work->by != BY_DEVICE)
        return cell_null(STR("these are recorded slices, not ops: group by op"));
    if (cost->flops_known + cost->flops_unknown == 0)
        return cell_null(STR("none of these slices is an op of a program"));
    switch (column) {
    case TOP_FLOPS:
        return sum_cell(cost->flops_known, cost->flops_rule, cost->flops);
    case TOP_BYTES:
        return sum_cell(cost->bytes_known, cost->bytes_rule, cost->bytes);
    case TOP_FLOP_RATE:
        return rate_cell(work, row, cost->flops_known, cost->flops_rule, cost->flops);
    case TOP_BYTE_RATE:
        return rate_cell(work, row, cost->bytes_known, cost->bytes_rule, cost->bytes);
    case TOP_BOUND_BY:
        return bound_cell(work, row);
    default:
        return peak_cell(work, row);
    }
}

static struct answer_note doubt_note(const struct top_work *work, uint32_t host)
{
    return (struct answer_note){
        .kind = "peak-not-believed",
        .severity = NOTE_WARNING,
        .message = work->hosts[host].spec.doubt,
        .host = work->hosts[host].selection->host->name,
        .count = 1,
    };
}

uint32_t top_cost_notes(const struct top_work *work, struct answer_note *ret)
{
    uint32_t count = 0;
    uint64_t without = 0, with = 0;

    if (work->by > BY_CATEGORY)
        return 0;
    for (uint32_t i = 0; i < work->row_count; i++) {
        with += work->rows[i].cost.flops_known;
        without += work->rows[i].cost.flops_unknown;
    }
    if (without > 0 && with > 0 && work->by != BY_OP)
        ret[count++] = (struct answer_note){
            .kind = "costs-in-part",
            .message = STR("ops without known FLOPs or bytes are left out of the totals, so the "
                           "rates of rows that contain them are lower bounds"),
            .count = without,
        };
    /* One of each kind of machine is enough. */
    for (uint32_t i = 0; i < work->host_count && count < TOP_COST_NOTES; i++) {
        bool told = work->hosts[i].spec.doubt.count == 0;

        for (uint32_t k = 0; k < i && !told; k++)
            told = str_equal(work->hosts[k].spec.doubt, work->hosts[i].spec.doubt);
        if (!told)
            ret[count++] = doubt_note(work, i);
    }
    return count;
}
