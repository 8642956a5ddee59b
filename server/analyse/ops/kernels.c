/* SPDX-License-Identifier: Apache-2.0 */
/* Groups launches of kernels by name, variant or range, and fills the rows with occupancy and
 * spreads. */
#include "analyse/ops/kernels.h"

#include <stdlib.h>

#include "analyse/device/launch_calls.h"
#include "analyse/ops/annotations_parts.h"
#include "analyse/ops/kernels_lists.h"
#include "analyse/ops/top.h"
#include "analyse/scan/scan.h"
#include "base/names.h"
#include "trace/ps.h"

static void open_hosts(struct kernels_work *work)
{
    struct module_names *modules =
        arena_array(work->arena, struct module_names, work->run->host_count);
    struct processor *processors =
        arena_array(work->arena, struct processor, work->run->host_count);

    for (uint32_t i = 0; i < work->run->host_count; i++) {
        const struct host_trace *host = &work->run->hosts[i];

        modules[i] = module_names_of(host, work->arena);
        for (track_id id = 0; id < host->trace->track_count && processors[i].major == 0; id++) {
            const struct track *track = &host->trace->tracks[id];

            if (track->device >= 0 && track->slice_count > 0)
                processors[i] = processor_of(host->trace, track->device);
        }
    }
    work->processors = processors;
    work->modules = modules;
}

static void summarise(struct kernels_work *work, struct kernels_summary *ret)
{
    *ret = (struct kernels_summary){0};
    for (uint32_t i = 0; i < work->row_count; i++) {
        const struct kernel_row *row = &work->rows[i];
        struct str why;
        int tensor = kernels_tensor_core(work, row, &why);

        ret->kernel_count += row->count;
        if (tensor >= 0)
            ps_add(&ret->tensor_core_known_ps, row->total_ps);
        if (tensor == 1)
            ps_add(&ret->tensor_core_ps, row->total_ps);
        if (row->graph_count == row->count)
            ps_add(&ret->graph_ps, row->total_ps);
    }
}

struct calls_part { /* of one host */
    struct kernels_work *work;
    uint32_t at;
    struct launch_calls calls;
};

static void add_calls(void *data, const struct op_block *block)
{
    struct calls_part *part = data;
    const struct attribution *of = part->work->selections[part->at].host->attribution;

    for (uint32_t i = 0; i < block->count; i++)
        if (block->inside_ps[i] >= 0 && entry_kernel(of, block->first + i) != NO_KERNEL &&
            kernels_counts(part->work, part->at, block->first + i))
            launch_calls_add(&part->calls, BLOCK_ENTRY(block, i)->launch);
}

static void count_launches(struct kernels_work *work, struct kernels_summary *ret)
{
    for (uint32_t at = 0; at < work->selection_count && work->row_count > 0; at++) {
        struct calls_part part = {.work = work, .at = at};
        void *data[] = {&part};

        if (work->row_of[at] == NULL)
            continue;
        scan_ops(&work->selections[at], ENTRY_BIT(ENTRY_LAUNCH), add_calls, data, 1);
        launch_calls_sort(&part.calls);
        ret->launch_count += launch_calls_count(&part.calls);
        launch_calls_free(&part.calls);
    }
}

/* By launch shape, whatever the rows are joined by. */
static void sum_occupancy(const struct kernels_work *of, struct kernels_summary *ret)
{
    struct kernels_work work = *of;

    if (!work.by_variant) {
        work.by_variant = true;
        work.rows = NULL;
        work.row_count = work.row_capacity = 0;
        work.keys = names_create();
        kernels_sum(&work);
    }
    for (uint32_t i = 0; i < work.row_count; i++) {
        uint32_t share = kernels_occupancy(&work, &work.rows[i]).share;

        if (share == NOT_RECORDED)
            continue;
        ps_add(&ret->occupancy_known_ps, work.rows[i].total_ps);
        ps_add(&ret->half_occupancy_ps, share < 5000 ? work.rows[i].total_ps : 0);
    }
    if (!of->by_variant) {
        names_destroy(work.keys);
        free(work.rows);
    }
}

static void take_all(struct kernels_work *work, uint32_t *order)
{
    for (uint32_t i = 0; i < work->row_count; i++)
        order[i] = i;
    kernels_spread(work, order, 0, work->row_count);
}

static bool sorts_by_spread(struct str sort)
{
    static const char *const spreads[] = {"p50_ps",       "p95_ps",        "stdev_ps",
                                          "queue_p50_ps", "launch_p50_ps", "call_p50_ps",
                                          "gap_p50_ps",   "starved_count", "starved_ps"};

    for (size_t i = 0; i < COUNT(spreads); i++) {
        if (table_sorts_by(sort, spreads[i]))
            return true;
    }
    return false;
}

static enum status make_table(struct kernels_work *work, const struct page *page, struct table *ret,
                              struct error *err)
{
    const struct table_source source = {
        .columns = kernels_columns,
        .column_count = kernels_column_count,
        .row_count = work->row_count,
        .cell = kernels_cell,
        .data = work,
    };
    uint32_t *order, first, end;

    if (sorts_by_spread(page->sort)) {
        order = arena_array(work->arena, uint32_t, work->row_count + 1);
        take_all(work, order);
    }
    TRY(table_order(&source, page->sort, "-total_ps,name", work->arena, &order, err));
    table_range(page, work->row_count, &first, &end);
    kernels_spread(work, order, first, end);
    bool *inexact = arena_array(work->arena, bool, end - first);
    for (uint32_t i = first; i < end; i++) {
        inexact[i - first] = work->rows[order[i]].approximate;
        work->approximate |= inexact[i - first];
    }
    table_fill(&source, order, page, work->arena, ret);
    ret->inexact = inexact;
    return OK;
}

static bool any_unrecorded(const struct kernels_work *work)
{
    for (uint32_t i = 0; i < work->row_count; i++) {
        const struct kernel *kernel = kernel_of_row(work, &work->rows[i]);

        if (kernel->registers == NOT_RECORDED && kernel->grid[0] != NOT_RECORDED)
            return true;
    }
    return false;
}

static void add_notes(struct kernels_work *work, struct table *ret)
{
    static const char *const quantiles[] = {"p50_ps",        "p95_ps",      "queue_p50_ps",
                                            "launch_p50_ps", "call_p50_ps", "gap_p50_ps"};
    struct answer_note *notes = arena_array(work->arena, struct answer_note, 4);

    struct str missing = work->row_count > 0 ? STR("") : kernels_missing(work->run);

    ret->notes = notes;
    if (missing.count > 0)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "no-kernels", .severity = NOTE_INFO, .message = missing, .count = 1};
    if (any_unrecorded(work))
        notes[ret->note_count++] = (struct answer_note){
            .kind = "registers-not-recorded",
            .severity = NOTE_INFO,
            .message = STR("For some kernels the recorder gave no register count, or one that no "
                           "device has; it and the figures derived from it are unknown."),
            .count = 1,
        };
    if (work->row_count > 0)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "ncu-counts-launches",
            .severity = NOTE_INFO,
            .message = STR("--launch-skip counts from the start of the capture. If the program "
                           "launched the kernel earlier, add those launches, or use "
                           "--profile-from-start off and cudaProfilerStart."),
            .count = 1,
        };
    uint32_t in_part = kernels_known_in_part(work);

    if (in_part > 0)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "costs-in-part",
            .severity = NOTE_INFO,
            .message = str_format(work->arena,
                                  "Of %u kernels the shares of compute and bandwidth are those of "
                                  "the launches whose cost is known, half of their time or more.",
                                  in_part),
            .count = in_part,
        };
    if (work->approximate) {
        ret->approx = quantiles;
        ret->approx_count = COUNT(quantiles);
    }
}

/* Which entries of each selection were launched inside. */
static void find_inside(struct kernels_work *work, struct str annotation)
{
    work->inside = arena_array(work->arena, uint8_t *, work->selection_count + 1);
    for (uint32_t at = 0; at < work->selection_count; at++) {
        const struct host_trace *host = work->selections[at].host;
        struct marks marks;

        if (host->attribution == NULL)
            continue;
        work->inside[at] =
            arena_array(work->arena, uint8_t, host->attribution->entry_count / 8 + 1);
        marks_find(host->trace, host->attribution, &marks);
        marks_launched_inside(&marks, &work->selections[at], annotation, work->inside[at]);
        marks_free(&marks);
    }
}

static enum status kernel_rows(const struct run_traces *run, const struct restriction *restriction,
                               const struct kernels_question *question, bool by_variant,
                               const struct page *page, struct arena *arena, struct table *ret,
                               struct kernels_summary *ret_summary, struct error *err)
{
    struct restriction nameless = *restriction;
    struct selection *selections;
    struct kernels_work work = {.run = run, .by_variant = by_variant, .arena = arena};

    nameless.name = nameless.q = STR("");
    TRY(restrict_run(run, &nameless, arena, &selections, &work.selection_count, err));
    work.selections = selections;
    work.names = (struct selection){
        .asked = restriction, .by_name = restriction->name.count > 0 || restriction->q.count > 0};
    open_hosts(&work);
    if (question->annotation.count > 0)
        find_inside(&work, question->annotation);
    work.keys = names_create();
    kernels_sum(&work);
    kernels_cost(&work);
    for (uint32_t i = 0; i < work.row_count; i++) {
        ps_add(&work.total_ps, work.rows[i].total_ps);
        ps_add(&ret->total_self_ps, work.rows[i].self_ps);
    }
    ret->total_ps = work.total_ps;

    struct table rows = *ret;
    enum status status = make_table(&work, page, &rows, err);

    rows.total_ps = ret->total_ps;
    rows.total_self_ps = ret->total_self_ps;
    *ret = rows;
    summarise(&work, ret_summary);
    count_launches(&work, ret_summary);
    sum_occupancy(&work, ret_summary);
    add_notes(&work, ret);
    names_destroy(work.keys);
    free(work.rows);
    return status;
}

typedef enum status kernel_lister(const struct kernels_work *work, const struct page *page,
                                  struct table *ret, struct error *err);

/* Tables that no total stands for. */
static const struct kernel_list {
    const char *by;
    kernel_lister *list;
} lists[] = {
    {"activity", kernel_activities}, {"range", kernel_ranges}, {"range-kernel", kernel_pairs}};

static const struct kernel_list *list_of(struct str by)
{
    for (size_t i = 0; i < COUNT(lists); i++) {
        if (str_equal(by, str_of(lists[i].by)))
            return &lists[i];
    }
    return NULL;
}

static enum status kernel_list(const struct run_traces *run, const struct restriction *restriction,
                               const struct kernels_question *question,
                               const struct kernel_list *list, const struct page *page,
                               struct arena *arena, struct table *ret, struct error *err)
{
    struct restriction nameless = *restriction;
    struct selection *selections;
    struct kernels_work work = {.run = run, .arena = arena};

    nameless.name = nameless.q = STR("");
    TRY(restrict_run(run, &nameless, arena, &selections, &work.selection_count, err));
    work.selections = selections;
    work.names = (struct selection){
        .asked = restriction, .by_name = restriction->name.count > 0 || restriction->q.count > 0};
    if (question->annotation.count > 0)
        find_inside(&work, question->annotation);
    TRY(list->list(&work, page, ret, err));
    ret->by = str_of(list->by);
    ret->of = STR("device");
    return OK;
}

enum status kernels(const struct run_traces *run, const struct restriction *restriction,
                    const struct kernels_question *question, const struct page *page,
                    struct arena *arena, struct table *ret, struct kernels_summary *ret_summary,
                    struct error *err)
{
    bool by_variant = str_equal(question->by, STR("variant"));

    *ret = (struct table){0};
    *ret_summary = (struct kernels_summary){0};
    if (str_equal(question->by, STR("api")))
        return top(run, restriction, &(struct top_question){.by = question->by}, page, arena, ret,
                   err);
    if (str_equal(question->by, STR("annotation")))
        return annotations(run, restriction, page, arena, ret, err);
    if (list_of(question->by) != NULL)
        return kernel_list(run, restriction, question, list_of(question->by), page, arena, ret,
                           err);
    if (!by_variant && question->by.count > 0 && !str_equal(question->by, STR("kernel")))
        return fail(
            err, ERR_INVALID,
            "by=%.*s is none of kernel, variant, activity, range, range-kernel, api, annotation",
            STR_ARG(question->by));
    TRY(kernel_rows(run, restriction, question, by_variant, page, arena, ret, ret_summary, err));
    ret->by = by_variant ? STR("variant") : STR("kernel");
    ret->of = STR("device");
    return OK;
}

static struct cell launch_cell(const void *data, uint32_t row, uint32_t column)
{
    return kernels_cell(data, row, kernels_launch_columns[column]);
}

/* Launches of its name that its device, or one before it, ran earlier. */
static uint32_t rank_of(const struct attribution *of, uint32_t entry)
{
    name_id name = of->kernels[entry_kernel(of, entry)].name;
    uint32_t rank = 0;

    for (uint32_t i = 0; i < of->entry_count && entry_in_time(of, i) != entry; i++) {
        uint32_t kernel = entry_kernel(of, entry_in_time(of, i));

        rank += kernel != NO_KERNEL && of->kernels[kernel].name == name;
    }
    return rank;
}

void kernel_of_entry(const struct host_trace *host, uint32_t entry, struct arena *arena,
                     struct table *ret)
{
    const struct attribution *of = host->attribution;
    const struct run_traces run = {.hosts = host, .host_count = 1};
    struct kernel_row row = {
        .kernel = entry_kernel(of, entry),
        .variant_count = 1,
        .name = trace_name(host->trace, of->kernels[entry_kernel(of, entry)].name),
        .longest_skip = rank_of(of, entry),
        .graph_count = entry_at(of, entry).graph != GRAPH_NONE,
    };
    struct kernels_work work = {.run = &run, .arena = arena, .rows = &row, .row_count = 1};
    struct column *columns = arena_array(arena, struct column, kernels_launch_column_count);
    const struct table_source source = {.columns = columns,
                                        .column_count = kernels_launch_column_count,
                                        .row_count = 1,
                                        .cell = launch_cell,
                                        .data = &work};
    const uint32_t first = 0;

    for (uint32_t i = 0; i < kernels_launch_column_count; i++)
        columns[i] = kernels_columns[kernels_launch_columns[i]];
    open_hosts(&work);
    *ret = (struct table){0};
    table_fill(&source, &first, &(struct page){.limit = 1}, arena, ret);
}

struct str kernels_missing(const struct run_traces *run)
{
    bool device = false;

    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct trace *trace = run->hosts[i].trace;

        for (track_id id = 0; id < trace->track_count; id++) {
            if (track_runs_kernels(trace, id))
                return STR("");
            device |= trace->tracks[id].device >= 0;
        }
    }
    return device ? STR("the profile records the ops of its devices, not their kernels")
                  : STR("the profile holds no GPU: its ops run on the host");
}
