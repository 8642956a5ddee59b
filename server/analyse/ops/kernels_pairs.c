/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels by the span of the program that launched them: what Nsight Systems calls nvtx_kern_sum.
 *
 *   thread   train |--------------------------|
 *              layer |-------|  |-------|
 *   calls              c1 c2      c3        c4         c5
 *   stream                |k1|k2|    |k1|      |k1|       |k1|
 *
 *                     range_count  count  total      inner: in no other span of it
 *   train, k1                   1      3  k1+k1+k1   the third
 *   layer, k1                   2      2  k1+k1      both
 *   (no annotation), k1                1             the last
 *
 * A kernel counts in each span around its call, of each name once: in the outermost. So totals of
 * nested spans hold the same kernels, and inner times add up to all that kernels took.
 *
 * Entries are walked by the span that launched them. Spans inside one another are neighbours
 * there, so a row needs to know only the last span that it saw.
 */
#include "analyse/ops/kernels_lists.h"

#include "analyse/ops/annotations_parts.h"
#include "analyse/stats/quantile.h"
#include "base/names.h"
#include "trace/ps.h"

enum {
    PAIR_KEY,
    PAIR_RANGE,
    PAIR_KERNEL,
    PAIR_RANGES,
    PAIR_KERNELS,
    PAIR_TOTAL,
    PAIR_INNER,
    PAIR_SHARE,
    PAIR_MEAN,
    PAIR_MIN,
    PAIR_P50,
    PAIR_P95,
    PAIR_MAX,
    PAIR_STDEV,
};

static const struct column columns[] = {
    [PAIR_KEY] = {"key", "Key", UNIT_TEXT, false},
    [PAIR_RANGE] = {"range", "Range", UNIT_TEXT, true},
    [PAIR_KERNEL] = {"name", "Kernel", UNIT_TEXT, true},
    [PAIR_RANGES] = {"range_count", "Ranges", UNIT_COUNT, true},
    [PAIR_KERNELS] = {"count", "Count", UNIT_COUNT, true},
    [PAIR_TOTAL] = {"total_ps", "Total", UNIT_PS, true},
    [PAIR_INNER] = {"inner_ps", "Innermost", UNIT_PS, true},
    [PAIR_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [PAIR_MEAN] = {"mean_ps", "Mean", UNIT_PS, true},
    [PAIR_MIN] = {"min_ps", "Min", UNIT_PS, true},
    [PAIR_P50] = {"p50_ps", "p50", UNIT_PS, true},
    [PAIR_P95] = {"p95_ps", "p95", UNIT_PS, false},
    [PAIR_MAX] = {"max_ps", "Max", UNIT_PS, true},
    [PAIR_STDEV] = {"stdev_ps", "Std. dev.", UNIT_PS, true},
};

struct pair_row {
    struct str range, kernel;
    bool is_rest;           /* launched by no span */
    uint32_t at, last_span; /* of which selection */
    uint64_t range_count, count;
    int64_t total_ps, inner_ps; /* inside the windows */
    int64_t whole_ps, min_ps, max_ps;
    int64_t p50_ps, p95_ps, stdev_ps;
    bool approximate;
    struct quantiles *spread; /* while it is gathered */
};

struct link { /* a span around a kernel's call: the outermost of its name */
    name_id name;
    uint32_t span;
};

struct pair_host { /* one selection */
    struct marks marks;
    uint32_t *launched_by; /* by entry */
    uint32_t *entries;     /* those that count, by the span that launched them */
    uint32_t entry_count;
    uint32_t *range_ids, *kernel_ids; /* by name; by kernel: 0 until seen */
    struct link *links;               /* of the span at hand, from the innermost on */
    uint32_t link_count, link_capacity;
};

struct pairs {
    const struct kernels_work *work;
    struct pair_host *hosts;
    struct names *ranges, *kernels;
    struct map64 row_of; /* ids of range and kernel; range 0 is none */
    struct pair_row *rows;
    uint32_t row_count, row_capacity;
    int64_t inner_ps;
};

struct kept { /* while a selection is scanned */
    const struct kernels_work *work;
    uint32_t at;
    uint8_t *bits; /* by entry */
};

static void keep_block(void *data, const struct op_block *block)
{
    struct kept *kept = data;
    const struct host_trace *host = kept->work->selections[kept->at].host;

    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t entry = block->first + i, kernel = entry_kernel(host->attribution, entry);

        if (block->inside_ps[i] < 0 || kernel == NO_KERNEL ||
            !kernels_counts(kept->work, kept->at, entry))
            continue;
        if (!kept->work->names.by_name ||
            selection_has_name(&kept->work->names,
                               trace_name(host->trace, host->attribution->kernels[kernel].name)))
            kept->bits[entry / 8] |= (uint8_t)(1u << entry % 8);
    }
}

/* Those that count, in order of the span that launched them; those of none come last. */
static void sort_entries(struct pair_host *host, const uint8_t *bits, uint32_t entry_count)
{
    uint32_t none = host->marks.count;
    uint32_t *firsts = memory_zeroed((size_t)none + 2, sizeof *firsts);
    for (uint32_t i = 0; i < entry_count; i++) {
        if (bits[i / 8] >> i % 8 & 1)
            firsts[(host->launched_by[i] == NO_SPAN ? none : host->launched_by[i]) + 1]++;
    }
    for (uint32_t i = 0; i <= none; i++)
        firsts[i + 1] += firsts[i];
    host->entry_count = firsts[none + 1];
    host->entries = memory_resize(NULL, (size_t)host->entry_count + 1, sizeof *host->entries);
    for (uint32_t i = 0; i < entry_count; i++) {
        if (bits[i / 8] >> i % 8 & 1)
            host->entries[firsts[host->launched_by[i] == NO_SPAN ? none : host->launched_by[i]]++] =
                i;
    }
    free(firsts);
}

static void open_host(const struct kernels_work *work, uint32_t at, struct pair_host *ret)
{
    const struct selection *selection = &work->selections[at];
    const struct attribution *of = selection->host->attribution;
    struct kept kept = {.work = work, .at = at};
    void *data[1] = {&kept};

    *ret = (struct pair_host){0};
    if (of == NULL || of->kernel_count == 0)
        return;
    kept.bits = memory_zeroed((size_t)of->entry_count / 8 + 1, 1);
    ret->range_ids =
        memory_zeroed((size_t)selection->host->trace->name_count + 1, sizeof(uint32_t));
    ret->kernel_ids = memory_zeroed((size_t)of->kernel_count + 1, sizeof(uint32_t));
    marks_find(selection->host->trace, of, &ret->marks);
    ret->launched_by = marks_launched_by(&ret->marks, selection);
    scan_ops(selection, 0, keep_block, data, 1);
    sort_entries(ret, kept.bits, of->entry_count);
    free(kept.bits);
}

static void close_host(struct pair_host *host)
{
    if (host->launched_by != NULL)
        marks_free(&host->marks);
    free(host->launched_by);
    free(host->entries);
    free(host->links);
    free(host->range_ids);
    free(host->kernel_ids);
}

/* What is around a span, itself included; of one name the outermost. */
static void link_up(struct pair_host *host, uint32_t span)
{
    host->link_count = 0;
    for (; span != NO_SPAN; span = host->marks.spans[span].parent) {
        name_id name = host->marks.spans[span].name;
        uint32_t i = 0;

        while (i < host->link_count && host->links[i].name != name)
            i++;
        if (i == host->link_capacity) {
            host->link_capacity = i == 0 ? 16 : 2 * i;
            host->links = memory_resize(host->links, host->link_capacity, sizeof *host->links);
        }
        host->links[i] = (struct link){name, span};
        host->link_count += i == host->link_count;
    }
}

static struct pair_row *row_of(struct pairs *pairs, uint32_t range_id, uint32_t kernel_id)
{
    uint32_t *row = map64_at(&pairs->row_of, map64_pair(range_id, kernel_id), pairs->row_count);

    if (*row == pairs->row_count) {
        if (pairs->row_count == pairs->row_capacity) {
            pairs->row_capacity = pairs->row_count == 0 ? 256 : 2 * pairs->row_count;
            pairs->rows = memory_resize(pairs->rows, pairs->row_capacity, sizeof *pairs->rows);
        }
        pairs->rows[pairs->row_count++] = (struct pair_row){
            .range = range_id == 0
                         ? STR("(no annotation)")
                         : str_copy(pairs->work->arena, names_get(pairs->ranges, range_id)),
            .kernel = str_copy(pairs->work->arena, names_get(pairs->kernels, kernel_id)),
            .is_rest = range_id == 0,
            .last_span = NO_SPAN,
            .min_ps = INT64_MAX,
        };
    }
    return &pairs->rows[*row];
}

static uint32_t id_of(uint32_t *id, struct names *names, struct str name)
{
    if (*id == 0)
        *id = names_add(names, name.count > 0 ? name : STR("(empty)"));
    return *id;
}

struct launch_in { /* of one kernel in one span, or in none */
    struct pair_row *row;
    uint32_t at, span;
    int64_t whole_ps, inside_ps;
    bool innermost;
};
typedef void visit_launch(struct pairs *pairs, const struct launch_in *launch);

/* Each kernel, once for each name of a span around it. */
static void walk_host(struct pairs *pairs, uint32_t at, visit_launch *visit)
{
    struct pair_host *host = &pairs->hosts[at];
    const struct selection *selection = &pairs->work->selections[at];
    const struct trace *trace = selection->host->trace;
    const struct attribution *of = selection->host->attribution;
    struct launch_in launch = {.at = at, .span = NO_SPAN};

    for (uint32_t i = 0, last = NO_SPAN; i < host->entry_count; i++) {
        uint32_t index = host->entries[i], kernel = entry_kernel(of, index);
        const struct attributed *entry = ENTRY_AT(of, index);
        uint32_t kernel_id = id_of(&host->kernel_ids[kernel], pairs->kernels,
                                   trace_name(trace, of->kernels[kernel].name));

        if (host->launched_by[index] != last)
            link_up(host, host->launched_by[index]);
        last = host->launched_by[index];
        launch.whole_ps = entry->dur_ps;
        launch.inside_ps = selection_inside_entry(selection, entry->start_ps, entry->dur_ps, index);
        launch.innermost = true;
        if (last == NO_SPAN) {
            launch.row = row_of(pairs, 0, kernel_id);
            visit(pairs, &launch);
        }
        for (uint32_t up = 0; up < host->link_count; up++) {
            const struct link *link = &host->links[up];
            uint32_t range_id =
                id_of(&host->range_ids[link->name], pairs->ranges, trace_name(trace, link->name));

            launch.row = row_of(pairs, range_id, kernel_id);
            launch.span = link->span;
            visit(pairs, &launch);
            launch.innermost = false;
        }
    }
}

static void add_sum(struct pairs *pairs, const struct launch_in *launch)
{
    struct pair_row *row = launch->row;

    row->count++;
    row->range_count += row->last_span != launch->span || row->at != launch->at;
    row->last_span = launch->span;
    row->at = launch->at;
    ps_add(&row->total_ps, launch->inside_ps);
    ps_add(&row->whole_ps, launch->whole_ps);
    row->min_ps = launch->whole_ps < row->min_ps ? launch->whole_ps : row->min_ps;
    row->max_ps = launch->whole_ps > row->max_ps ? launch->whole_ps : row->max_ps;
    if (launch->innermost) {
        ps_add(&row->inner_ps, launch->inside_ps);
        ps_add(&pairs->inner_ps, launch->inside_ps);
    }
}

static void add_spread(struct pairs *pairs, const struct launch_in *launch)
{
    (void)pairs;
    if (launch->row->spread != NULL)
        quantiles_add(launch->row->spread, launch->whole_ps);
}

/* Of the rows order[first ... end); of all where order is NULL. */
static void spread_rows(struct pairs *pairs, const uint32_t *order, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        struct pair_row *row = &pairs->rows[order == NULL ? i : order[i]];

        row->spread = quantiles_create(row->count, row->whole_ps / (int64_t)row->count);
    }
    for (uint32_t at = 0; at < pairs->work->selection_count; at++)
        walk_host(pairs, at, add_spread);
    for (uint32_t i = first; i < end; i++) {
        struct pair_row *row = &pairs->rows[order == NULL ? i : order[i]];

        row->p50_ps = quantiles_at(row->spread, 50);
        row->p95_ps = quantiles_at(row->spread, 95);
        row->stdev_ps = quantiles_stdev(row->spread);
        row->approximate = !quantiles_exact(row->spread);
        quantiles_free(row->spread);
        row->spread = NULL;
    }
}

static struct cell pair_cell(const void *data, uint32_t at, uint32_t column)
{
    const struct pairs *pairs = data;
    const struct pair_row *row = &pairs->rows[at];

    switch (column) {
    case PAIR_KEY:
        return cell_text(
            str_format(pairs->work->arena, "%.*s|%.*s", STR_ARG(row->range), STR_ARG(row->kernel)));
    case PAIR_RANGE:
        return cell_text(row->range);
    case PAIR_KERNEL:
        return cell_text(row->kernel);
    case PAIR_RANGES:
        return row->is_rest ? cell_null(STR("no span of the program is around it"))
                            : cell_integer((int64_t)row->range_count);
    case PAIR_KERNELS:
        return cell_integer((int64_t)row->count);
    case PAIR_TOTAL:
        return cell_integer(row->total_ps);
    case PAIR_INNER:
        return cell_integer(row->inner_ps);
    case PAIR_SHARE:
        return pairs->inner_ps > 0
                   ? cell_of_sum(pairs->inner_ps,
                                 cell_real((double)row->total_ps / (double)pairs->inner_ps))
                   : cell_null(STR("no kernel took any time"));
    case PAIR_MEAN:
        return cell_of_sum(row->whole_ps, cell_integer(ps_mean(row->whole_ps, row->count)));
    case PAIR_MIN:
        return cell_integer(row->min_ps);
    case PAIR_P50:
        return cell_integer(row->p50_ps);
    case PAIR_P95:
        return cell_integer(row->p95_ps);
    case PAIR_MAX:
        return cell_integer(row->max_ps);
    default:
        return cell_integer(row->stdev_ps);
    }
}

static enum status make_table(struct pairs *pairs, const struct page *page, struct table *ret,
                              struct error *err)
{
    static const char *const quantile_names[] = {"p50_ps", "p95_ps"};
    struct table_source source = {.columns = columns,
                                  .column_count = COUNT(columns),
                                  .row_count = pairs->row_count,
                                  .cell = pair_cell,
                                  .data = pairs};
    bool sorts_by_spread = table_sorts_by(page->sort, "p50_ps") ||
                           table_sorts_by(page->sort, "p95_ps") ||
                           table_sorts_by(page->sort, "stdev_ps");
    uint32_t *order, first, end;

    if (sorts_by_spread)
        spread_rows(pairs, NULL, 0, pairs->row_count);
    TRY(table_order(&source, page->sort, "-total_ps,range,name", pairs->work->arena, &order, err));
    table_range(page, pairs->row_count, &first, &end);
    if (!sorts_by_spread && first < end)
        spread_rows(pairs, order, first, end);
    table_fill(&source, order, page, pairs->work->arena, ret);
    bool *inexact = arena_array(pairs->work->arena, bool, end - first);
    for (uint32_t i = first; i < end; i++) {
        inexact[i - first] = pairs->rows[order[i]].approximate;
        if (inexact[i - first]) {
            ret->approx = quantile_names;
            ret->approx_count = COUNT(quantile_names);
        }
    }
    ret->inexact = inexact;
    ret->total_ps = ret->total_self_ps = pairs->inner_ps;
    return OK;
}

enum status kernel_pairs(const struct kernels_work *work, const struct page *page,
                         struct table *ret, struct error *err)
{
    struct pairs pairs = {
        .work = work,
        .ranges = names_create(),
        .kernels = names_create(),
        .hosts = arena_array(work->arena, struct pair_host, (size_t)work->selection_count + 1)};

    for (uint32_t at = 0; at < work->selection_count; at++) {
        open_host(work, at, &pairs.hosts[at]);
        walk_host(&pairs, at, add_sum);
    }

    enum status status = make_table(&pairs, page, ret, err);

    for (uint32_t at = 0; at < work->selection_count; at++)
        close_host(&pairs.hosts[at]);
    map64_free(&pairs.row_of);
    names_destroy(pairs.ranges);
    names_destroy(pairs.kernels);
    free(pairs.rows);
    return status;
}
