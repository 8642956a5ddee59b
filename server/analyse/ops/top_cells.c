/* SPDX-License-Identifier: Apache-2.0 */
/* The cells of a row of /api/top: sums, shares, spreads and what the row's op says. */
#include "analyse/hlo/phase.h"
#include "analyse/hlo/scope.h"
#include "analyse/ops/top_parts.h"

const struct column top_columns[] = {
    [TOP_KEY] = {"key", "Key", UNIT_TEXT, false},
    [TOP_NAME] = {"name", "Name", UNIT_TEXT, true},
    [TOP_KIND] = {"kind", "Kind", UNIT_TEXT, true},
    [TOP_CATEGORY] = {"category", "Category", UNIT_TEXT, false},
    [TOP_MODULE] = {"module", "Module", UNIT_TEXT, false},
    [TOP_SCOPE] = {"scope", "Scope", UNIT_TEXT, false},
    [TOP_SOURCE] = {"source", "Source", UNIT_TEXT, false},
    [TOP_PHASE] = {"phase", "Phase", UNIT_TEXT, false},
    [TOP_COUNT] = {"count", "Count", UNIT_COUNT, true},
    [TOP_EVENT_COUNT] = {"event_count", "Events", UNIT_COUNT, false},
    [TOP_TOTAL] = {"total_ps", "Total", UNIT_PS, true},
    [TOP_SELF] = {"self_ps", "Self", UNIT_PS, true},
    [TOP_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [TOP_CUMULATIVE] = {"cumulative_share", "Cumulative", UNIT_SHARE, false},
    [TOP_MEAN] = {"mean_ps", "Mean", UNIT_PS, true},
    [TOP_STDEV] = {"stdev_ps", "Std dev", UNIT_PS, false},
    [TOP_MIN] = {"min_ps", "Min", UNIT_PS, false},
    [TOP_P50] = {"p50_ps", "p50", UNIT_PS, false},
    [TOP_P95] = {"p95_ps", "p95", UNIT_PS, true},
    [TOP_MAX] = {"max_ps", "Max", UNIT_PS, false},
    [TOP_FLOPS] = {"flops", "FLOPs", UNIT_COUNT, false},
    [TOP_BYTES] = {"bytes", "Bytes", UNIT_BYTES, false},
    [TOP_FLOP_RATE] = {"flops_per_s", "FLOP/s", UNIT_PER_S, false},
    [TOP_BYTE_RATE] = {"bytes_per_s", "B/s", UNIT_PER_S, false},
    [TOP_BOUND_BY] = {"bound_by", "Bound by", UNIT_TEXT, false},
    [TOP_PEAK_SHARE] = {"peak_share", "Of peak", UNIT_SHARE, false},
    [TOP_ON_PATH] = {"on_path_ps", "On path", UNIT_PS, true},
    [TOP_SLACK] = {"slack_ps", "Slack", UNIT_PS, false},
};
const uint32_t top_column_count = TOP_COLUMN_COUNT;

static const char mixed[] = "the row combines ops that differ in this";

static double share_of(int64_t part_ps, int64_t whole_ps)
{
    return whole_ps > 0 ? (double)part_ps / (double)whole_ps : 0;
}

static struct cell text_or_reason(struct str text, struct str reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(reason);
}

/* Category, module, scope, source: of the row's op, where all its ops have the same. */
static struct cell op_cell(const struct top_work *work, const struct top_row *row,
                           enum top_column column)
{
    if (work->by == BY_KERNEL && column == TOP_CATEGORY)
        return text_or_reason(cost_family_words(cost_family_of(row->name)),
                              STR("the kernel's name tells no family"));
    if (work->by > BY_CATEGORY)
        return cell_null(STR("these are recorded slices, not ops: group by op"));

    const struct host_trace *host = &work->run->hosts[row->host];
    const struct op *op = &host->attribution->ops[row->op];

    if (op->caller != 0 && work->by == BY_OP && column != TOP_CATEGORY)
        return cell_null(str_of(mixed));
    switch (column) {
    case TOP_CATEGORY:
        if (work->by != BY_OP && work->by != BY_CATEGORY)
            return cell_null(str_of(mixed));
        return text_or_reason(top_category(host, row->op),
                              STR("the profile holds no HLO of this op"));
    case TOP_MODULE:
        if (work->by != BY_OP && work->by != BY_MODULE)
            return cell_null(str_of(mixed));
        return text_or_reason(module_name_of(&work->hosts[row->place].modules, op),
                              STR("the event does not name its module"));
    case TOP_SCOPE:
        if (work->by != BY_OP && work->by != BY_SCOPE)
            return cell_null(str_of(mixed));
        if (work->by == BY_SCOPE)
            return cell_text(row->name);
        return text_or_reason(scope_of_op(host->trace, op),
                              STR("the instruction has no op_name: the compiler made it"));
    default:
        if (work->by != BY_OP && work->by != BY_SOURCE)
            return cell_null(str_of(mixed));
        return text_or_reason(trace_name(host->trace, op->source),
                              STR("the instruction has no source line"));
    }
}

static struct cell phase_cell(const struct top_work *work, const struct top_row *row)
{
    enum op_phase phase = OP_PHASE_UNKNOWN;

    if (work->by > BY_CATEGORY)
        return cell_null(STR("these are recorded slices, not ops: group by op"));
    if ((row->phases & (row->phases - 1)) != 0)
        return cell_null(str_of(mixed));
    while (phase + 1 < OP_PHASE_COUNT && row->phases >> (phase + 1) != 0)
        phase++;
    return phase != OP_PHASE_UNKNOWN
               ? cell_text(str_of(phase_word(phase)))
               : cell_null(STR("neither its scope nor the calls that made it name a part of a "
                               "training step"));
}

static const char of_ops[] = "rows of modules count executions, whose durations are not measured: "
                             "group by op for the durations of ops";

/* Of what `count` counts: of a module its executions, of all else events. */
static struct cell mean_cell(const struct top_work *work, const struct top_row *row)
{
    int64_t whole_ps = work->by == BY_MODULE ? row->self_ps : row->whole_ps;
    int64_t count = (int64_t)row->count;

    /* Rounded; a sum at the end of what a number holds has no room for a half more. */
    return cell_integer(count > 0 ? whole_ps / count + (whole_ps % count + count / 2) / count : 0);
}

static struct cell spread_cell(const struct top_work *work, const struct top_row *row,
                               int64_t value_ps)
{
    if (work->by == BY_MODULE)
        return cell_null(str_of(of_ops));
    return row->spread_known ? cell_integer(value_ps) : cell_null(STR("left out: spread=none"));
}

static struct cell number_cell(const struct top_work *work, const struct top_row *row,
                               enum top_column column)
{
    switch (column) {
    case TOP_COUNT:
        return cell_integer((int64_t)row->count);
    case TOP_EVENT_COUNT:
        return cell_integer((int64_t)row->event_count);
    case TOP_TOTAL:
        return cell_integer(row->total_ps);
    case TOP_SELF:
        return cell_integer(row->self_ps);
    case TOP_SHARE:
        return cell_of_sum(work->total_self_ps,
                           cell_real(share_of(row->self_ps, work->total_self_ps)));
    case TOP_CUMULATIVE:
        return cell_of_sum(work->total_self_ps, cell_real(row->cumulative));
    case TOP_MEAN:
        return cell_of_sum(row->whole_ps, mean_cell(work, row));
    case TOP_STDEV:
        return spread_cell(work, row, row->stdev_ps);
    case TOP_MIN:
        return work->by == BY_MODULE ? cell_null(str_of(of_ops)) : cell_integer(row->min_ps);
    case TOP_P50:
        return spread_cell(work, row, row->p50_ps);
    case TOP_P95:
        return spread_cell(work, row, row->p95_ps);
    default:
        return work->by == BY_MODULE ? cell_null(str_of(of_ops)) : cell_integer(row->max_ps);
    }
}

/* What joins several kinds is the one that most of its time is. */
static enum kind kind_of_row(const struct top_row *row)
{
    int most = row->kind;

    for (int kind = 0; kind < KIND_COUNT; kind++)
        most = row->kind_ps[kind] > row->kind_ps[most] ? kind : most;
    return (enum kind)most;
}

static struct cell path_cell(const struct top_work *work, const struct top_row *row,
                             int64_t value_ps)
{
    const struct top_question *question = work->question;

    if (question->paths == NULL)
        return cell_null(str_of(question->without_paths != NULL
                                    ? question->without_paths
                                    : "critical paths were not requested"));
    if (work->by > BY_API)
        return cell_null(STR("a critical path consists of ops and slices: group by op or name"));
    return row->path.count > 0 ? cell_integer(value_ps)
                               : cell_null(STR("it ran in no step that counts"));
}

struct cell top_cell(const void *data, uint32_t index, uint32_t column)
{
    const struct top_work *work = data;
    const struct top_row *row = &work->rows[index];

    switch (column) {
    case TOP_KEY:
        return cell_text(row->key);
    case TOP_NAME:
        return cell_text(row->name);
    case TOP_KIND:
        return cell_text(str_of(kind_word(kind_of_row(row))));
    case TOP_CATEGORY:
    case TOP_MODULE:
    case TOP_SCOPE:
    case TOP_SOURCE:
        return op_cell(work, row, (enum top_column)column);
    case TOP_PHASE:
        return phase_cell(work, row);
    case TOP_FLOPS:
    case TOP_BYTES:
    case TOP_FLOP_RATE:
    case TOP_BYTE_RATE:
    case TOP_BOUND_BY:
    case TOP_PEAK_SHARE:
        return top_cost_cell(work, row, (enum top_column)column);
    case TOP_ON_PATH:
        return path_cell(work, row, row->path.on_path_ps);
    case TOP_SLACK:
        return path_cell(work, row, row->path.slack_ps);
    default:
        return number_cell(work, row, (enum top_column)column);
    }
}
