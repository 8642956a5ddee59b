/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the ops' table with their costs and the roofs of the device into rows and points. */
#include "analyse/ops/roofline.h"

#include "analyse/device/device_link.h"

#include <math.h>

#include "analyse/hlo/scope.h"
#include "analyse/ops/top_parts.h"
#include "trace/ps.h"

#define NO_HLO                                                                                     \
    "no op has FLOPs, because the profile holds no HLO of the programs that ran: a JAX profile "   \
    "has it in its "                                                                               \
    ".xplane.pb (`enable_hlo_proto`); else put the dump of `XLA_FLAGS=--xla_dump_to=DIR "          \
    "--xla_dump_hlo_as_proto` beside it"

enum roofline_column {
    ROOF_KEY,
    ROOF_NAME,
    ROOF_KIND,
    ROOF_CATEGORY,
    ROOF_MODULE,
    ROOF_SCOPE,
    ROOF_SOURCE,
    ROOF_PHASE,
    ROOF_TYPE,
    ROOF_COUNT,
    ROOF_TOTAL,
    ROOF_SELF,
    ROOF_SHARE,
    ROOF_FLOPS,
    ROOF_BYTES,
    ROOF_INTENSITY,
    ROOF_FLOP_RATE,
    ROOF_BYTE_RATE,
    ROOF_ATTAINABLE,
    ROOF_PEAK_SHARE,
    ROOF_BOUND_BY,
    ROOF_COUNTED,
    ROOF_COLUMN_COUNT
};

static const struct column columns[] = {
    [ROOF_KEY] = {"key", "Key", UNIT_TEXT, false},
    [ROOF_NAME] = {"name", "Name", UNIT_TEXT, true},
    [ROOF_KIND] = {"kind", "Kind", UNIT_TEXT, false},
    [ROOF_CATEGORY] = {"category", "Category", UNIT_TEXT, false},
    [ROOF_MODULE] = {"module", "Module", UNIT_TEXT, false},
    [ROOF_SCOPE] = {"scope", "Scope", UNIT_TEXT, false},
    [ROOF_SOURCE] = {"source", "Source", UNIT_TEXT, false},
    [ROOF_PHASE] = {"phase", "Phase", UNIT_TEXT, false},
    [ROOF_TYPE] = {"type", "Type", UNIT_TEXT, true},
    [ROOF_COUNT] = {"count", "Count", UNIT_COUNT, true},
    [ROOF_TOTAL] = {"total_ps", "Total", UNIT_PS, false},
    [ROOF_SELF] = {"self_ps", "Self", UNIT_PS, true},
    [ROOF_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [ROOF_FLOPS] = {"flops", "FLOPs", UNIT_COUNT, false},
    [ROOF_BYTES] = {"bytes", "Bytes", UNIT_BYTES, false},
    [ROOF_INTENSITY] = {"intensity", "FLOP/B", UNIT_NONE, true},
    [ROOF_FLOP_RATE] = {"flops_per_s", "FLOP/s", UNIT_PER_S, true},
    [ROOF_BYTE_RATE] = {"bytes_per_s", "B/s", UNIT_PER_S, true},
    [ROOF_ATTAINABLE] = {"roof_flops_per_s", "Roof", UNIT_PER_S, false},
    [ROOF_PEAK_SHARE] = {"peak_share", "Of peak", UNIT_SHARE, true},
    [ROOF_BOUND_BY] = {"bound_by", "Bound by", UNIT_TEXT, true},
    [ROOF_COUNTED] = {"counted", "Counted", UNIT_TEXT, false},
};

/* The column of the table of ops that says the same. */
static bool same_in_top(uint32_t column, enum top_column *ret)
{
    static const struct {
        enum roofline_column own;
        enum top_column top;
    } same[] = {
        {ROOF_KEY, TOP_KEY},
        {ROOF_NAME, TOP_NAME},
        {ROOF_KIND, TOP_KIND},
        {ROOF_CATEGORY, TOP_CATEGORY},
        {ROOF_MODULE, TOP_MODULE},
        {ROOF_SCOPE, TOP_SCOPE},
        {ROOF_SOURCE, TOP_SOURCE},
        {ROOF_PHASE, TOP_PHASE},
        {ROOF_COUNT, TOP_COUNT},
        {ROOF_TOTAL, TOP_TOTAL},
        {ROOF_SELF, TOP_SELF},
        {ROOF_SHARE, TOP_SHARE},
        {ROOF_FLOPS, TOP_FLOPS},
        {ROOF_BYTES, TOP_BYTES},
        {ROOF_FLOP_RATE, TOP_FLOP_RATE},
        {ROOF_BYTE_RATE, TOP_BYTE_RATE},
        {ROOF_PEAK_SHARE, TOP_PEAK_SHARE},
        {ROOF_BOUND_BY, TOP_BOUND_BY},
    };

    for (size_t i = 0; i < COUNT(same); i++) {
        *ret = same[i].top;
        if (same[i].own == column)
            return true;
    }
    return false;
}

static const struct op_cost *cost_of(const struct top_work *work, const struct top_row *row)
{
    const struct op_cost *costs = work->hosts[row->place].costs;

    return row->op == NO_OP || costs == NULL ? NULL : &costs[row->op];
}

/* FLOPs over bytes is a place on the picture's axis only where there are both. */
static struct cell intensity_cell(const struct top_row *row)
{
    const struct top_cost *cost = &row->cost;

    if (cost->flops_known == 0 || cost->bytes_known == 0)
        return cell_null(cost_rule_words(
            (enum cost_rule)(cost->flops_known == 0 ? cost->flops_rule : cost->bytes_rule)));
    return cost->bytes > 0 ? cell_real(cost->flops / cost->bytes)
                           : cell_null(STR("it touches no memory"));
}

/* What a device at its best would reach with this work: its FLOPs over the longer of both times. */
static struct cell attainable_cell(const struct top_work *work, const struct top_row *row)
{
    struct cell bound = top_cost_cell(work, row, TOP_BOUND_BY);
    double best_s = fmax(row->cost.compute_s, row->cost.memory_s);

    if (bound.kind == CELL_NULL)
        return bound;
    return best_s > 0 ? cell_real(row->cost.flops / best_s) : cell_null(STR("no work to do"));
}

static struct cell roofline_cell(const void *data, uint32_t index, uint32_t column)
{
    const struct top_work *work = data;
    const struct top_row *row = &work->rows[index];
    const struct op_cost *cost = cost_of(work, row);
    enum top_column top_column;

    if (same_in_top(column, &top_column))
        return top_cell(work, index, top_column);
    if (work->by != BY_OP)
        return cell_null(STR("the profile holds no ops of a program"));
    switch (column) {
    case ROOF_TYPE:
        return cost != NULL && cost->type != 0
                   ? cell_text(str_of(hlo_type_word((enum hlo_type)cost->type)))
                   : cell_null(STR("the profile does not say which type it computes in"));
    case ROOF_INTENSITY:
        return intensity_cell(row);
    case ROOF_ATTAINABLE:
        return attainable_cell(work, row);
    default:
        return cost == NULL ? cell_null(STR("no cost"))
                            : cell_text(cost_rule_words((enum cost_rule)cost->flops_rule));
    }
}

static uint32_t put_roofs(const struct device_spec *spec, struct roof *ret)
{
    uint32_t count = 0;

    for (int i = 0; i < PEAK_COUNT; i++)
        if (!isnan(spec->flops_per_s[i]))
            ret[count++] = (struct roof){.name = str_of(device_peak_word((enum peak)i)),
                                         .per_s = spec->flops_per_s[i],
                                         .source = spec->flops_source[i]};
    if (!isnan(spec->bytes_per_s))
        ret[count++] = (struct roof){.is_memory = true,
                                     .name = spec->memory_name,
                                     .per_s = spec->bytes_per_s,
                                     .source = spec->bytes_source};
    if (!isnan(spec->on_chip_bytes_per_s))
        ret[count++] = (struct roof){.is_memory = true,
                                     .name = STR("on chip"),
                                     .per_s = spec->on_chip_bytes_per_s,
                                     .source = STR("the profile")};
    return count;
}

static void put_devices(const struct top_work *work, struct roofline *ret)
{
    struct roofline_device *devices =
        arena_array(work->arena, struct roofline_device, work->host_count + 1);

    for (uint32_t i = 0; i < work->host_count; i++) {
        const struct top_host *host = &work->hosts[i];
        const struct attribution *attribution = host->selection->host->attribution;
        struct roof *roofs = arena_array(work->arena, struct roof, PEAK_COUNT + 2);

        if (attribution == NULL || attribution->device_count == 0 || host->costs == NULL)
            continue;
        devices[ret->device_count++] = (struct roofline_device){
            .host = host->selection->host->name,
            .name = host->spec.name,
            .device_count = attribution->device_count,
            .roofs = roofs,
            .roof_count = put_roofs(&host->spec, roofs),
            .link = device_link_of(host->spec.sheet != NULL ? host->spec.name : STR("")),
            .reason = host->spec.reason,
            .doubt = host->spec.doubt,
        };
    }
    ret->devices = devices;
}

static void put_bound(const struct top_work *work, const struct top_row *row, struct roofline *ret)
{
    struct cell bound = top_cost_cell(work, row, TOP_BOUND_BY);
    uint32_t at = 0;

    if (top_is_waiting(row))
        bound = cell_text(STR("waiting"));
    while (at + 1 < ROOFLINE_BOUNDS &&
           (bound.kind == CELL_NULL || !str_equal(ret->bounds[at].word, bound.of.text)))
        at++;
    ps_add(&ret->bounds[at].self_ps, row->self_ps);
}

static void sum_up(const struct top_work *work, struct roofline *ret)
{
    static const char *const words[ROOFLINE_BOUNDS] = {"compute", "memory", "communication",
                                                       "waiting", "unknown"};
    uint8_t rule = COST_UNKNOWN;

    for (uint32_t i = 0; i < ROOFLINE_BOUNDS; i++)
        ret->bounds[i].word = str_of(words[i]);
    for (uint32_t i = 0; i < work->row_count && work->by == BY_OP; i++) {
        const struct top_row *row = &work->rows[i];
        const struct top_cost *cost = &row->cost;

        put_bound(work, row, ret);
        ret->op_count++;
        ret->unknown_count += cost->flops_known == 0 || cost->bytes_known == 0;
        ps_add(&ret->self_ps, row->self_ps);
        ret->flops += cost->flops;
        ret->bytes += cost->bytes;
        ret->compute_s += cost->compute_s;
        ret->memory_s += cost->memory_s;
        rule = cost->flops_rule;
    }
    if (work->by != BY_OP)
        ret->missing = STR("the profile holds no ops of a compiled program, so there is nothing to "
                           "count: a JAX profile has them in its .xplane.pb; for other kernels, "
                           "`ncu --set roofline` measures FLOPs and bytes");
    else if (ret->unknown_count == ret->op_count)
        ret->missing = rule == COST_UNKNOWN ? STR(NO_HLO) : cost_rule_words((enum cost_rule)rule);
}

static void collect(struct top_work *work, struct roofline *ret)
{
    *ret = (struct roofline){0};
    if (work->by == BY_OP)
        put_devices(work, ret);
    sum_up(work, ret);
}

/* Before anyone has looked at its ops. */
static bool may_have_costs(const struct trace *trace)
{
    name_id key;

    return trace->program_count > 0 || trace_find_name(trace, STR("bytes_accessed"), &key) ||
           trace_find_name(trace, STR("Input Dims"), &key) ||
           trace_find_name(trace, STR("Input dims"), &key);
}

struct str roofline_missing(const struct run_traces *run)
{
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct attribution *of = run->hosts[i].attribution;

        if (of == NULL && may_have_costs(run->hosts[i].trace))
            return STR("");
        for (uint32_t op = 0; of != NULL && of->costs != NULL && op < of->op_count; op++)
            if (cost_is_known((enum cost_rule)of->costs[op].flops_rule))
                return STR("");
    }
    return STR(NO_HLO);
}

enum status roofline(const struct run_traces *run, const struct restriction *restriction,
                     const struct page *page, struct arena *arena, struct table *ret,
                     struct roofline *ret_roofline, struct error *err)
{
    const struct top_question question = {0};
    struct top_work work;
    enum top_by asked;
    uint32_t *order;

    *ret = (struct table){0};
    TRY(top_collect(run, restriction, &question, arena, &work, &asked, err));

    const struct table_source source = {
        .columns = columns,
        .column_count = ROOF_COLUMN_COUNT,
        .row_count = work.row_count,
        .cell = roofline_cell,
        .data = &work,
    };
    enum status status = table_order(&source, page->sort, "-self_ps,name", arena, &order, err);

    if (status == OK) {
        struct answer_note *notes = arena_array(arena, struct answer_note, TOP_COST_NOTES);

        table_fill(&source, order, page, arena, ret);
        ret->note_count = top_cost_notes(&work, notes);
        ret->notes = notes;
        ret->by = str_of(top_by_word(work.by));
        ret->total_ps = work.total_ps;
        ret->total_self_ps = work.total_self_ps;
        collect(&work, ret_roofline);
    }
    top_free(&work);
    return status;
}
