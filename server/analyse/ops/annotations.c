/* SPDX-License-Identifier: Apache-2.0 */
/* Sums marked spans of the hosts, and the work of devices that their calls launched. */
#include "analyse/ops/annotations.h"

#include <stdlib.h>

#include "analyse/device/annotation_names.h"
#include "analyse/ops/annotations_parts.h"
#include "base/names.h"
#include "trace/ps.h"

static struct note_row *row_of(struct note_table *table, struct str name)
{
    if (name.count == 0)
        name = STR("(empty)"); /* a range may have no text; the key "" is no row */

    uint32_t row = names_add(table->keys, name) - 1;

    if (row == table->row_count) {
        if (row == table->row_capacity) {
            table->row_capacity = row == 0 ? 64 : 2 * row;
            table->rows = memory_resize(table->rows, table->row_capacity, sizeof *table->rows);
        }
        table->rows[table->row_count++] = (struct note_row){.name = name};
    }
    return &table->rows[row];
}

static void add_length(struct lengths *lengths, int64_t length_ps)
{
    if (lengths->count == lengths->capacity) {
        lengths->capacity = lengths->capacity == 0 ? 16 : 2 * lengths->capacity;
        lengths->items = memory_resize(lengths->items, lengths->capacity, sizeof *lengths->items);
    }
    lengths->items[lengths->count++] = length_ps;
    ps_add(&lengths->total_ps, length_ps);
}

/* By span the time inside the windows in which it is the innermost; the caller frees it. */
static int64_t *self_times(const struct marks *marks, const struct selection *selection)
{
    int64_t *self_ps = memory_zeroed((size_t)marks->count + 1, sizeof *self_ps);
    for (uint32_t group = 0; group < marks->group_count; group++) {
        struct row_windows windows = selection_windows_of_track(selection, group);

        for (uint32_t i = marks->first_change[group]; i + 1 < marks->first_change[group + 1]; i++) {
            const struct innermost *change = &marks->changes[i];
            int64_t dur_ps = change[1].from_ps - change->from_ps;
            int64_t inside_ps = change->span == NO_SPAN || dur_ps <= 0
                                    ? 0
                                    : windows_inside(windows, change->from_ps, dur_ps);

            if (inside_ps > 0)
                ps_add(&self_ps[change->span], inside_ps);
        }
    }
    return self_ps;
}

/* Returns what all spans cover inside the windows, of whatever name. */
static int64_t add_spans(struct note_table *table, const struct marks *marks,
                         const struct selection *selection)
{
    int64_t *self_ps = self_times(marks, selection);
    int64_t covered_ps = 0;

    for (uint32_t i = 0; i < marks->count; i++) {
        const struct span_mark *span = &marks->spans[i];
        struct str name = trace_name(marks->trace, span->name);

        int64_t inside_ps = windows_inside(selection_windows_of_track(selection, span->group),
                                           span->start_ps, span->end_ps - span->start_ps);

        ps_add(&covered_ps, self_ps[i]);
        if (inside_ps < 0 || (selection->by_name && !selection_has_name(selection, name)))
            continue;

        struct note_row *row = row_of(table, name);

        add_length(&row->whole, span->end_ps - span->start_ps);
        ps_add(&row->sum.total_ps, inside_ps);
        ps_add(&row->sum.self_ps, self_ps[i]);
        ps_add(&table->host_self_ps, self_ps[i]);
    }
    free(self_ps);
    return covered_ps;
}

/* What threads recorded outside of all spans is in the row of what no span launched. */
static void add_rest(struct note_table *table, int64_t outside_ps)
{
    struct note_row *row;

    if (outside_ps <= 0)
        return;
    row = row_of(table, STR("(no annotation)"));
    row->is_rest = true;
    ps_add(&row->sum.total_ps, outside_ps);
    ps_add(&row->sum.self_ps, outside_ps);
    ps_add(&table->host_self_ps, outside_ps);
}

static void add_recorded(struct note_table *table, const struct marks *marks,
                         const struct selection *selection, int64_t covered_ps)
{
    int64_t recorded_ps;

    if (marks_recorded(marks, selection, &recorded_ps))
        add_rest(table, recorded_ps - covered_ps);
    else
        table->is_rest_unknown = true;
}

static void add_device(struct note_table *table, struct str name, const struct device_sum *sum,
                       bool is_rest)
{
    if (sum->launch_count == 0)
        return;

    struct note_row *row = row_of(table, name);

    row->is_rest |= is_rest;
    ps_add(&row->sum.device_ps, sum->device_ps);
    ps_add(&row->sum.device_self_ps, sum->device_self_ps);
    row->sum.launch_count += sum->launch_count;
    ps_add(&table->device_ps, sum->device_self_ps);
}

/* Of each that launched something. */
static void add_projections(struct note_table *table, const struct marks *marks,
                            const struct selection *selection)
{
    for (uint32_t i = 0; i < marks->count; i++) {
        const struct span_mark *span = &marks->spans[i];
        struct str name = trace_name(marks->trace, span->name);

        if (span->launch_count > 0 && (!selection->by_name || selection_has_name(selection, name)))
            add_length(&row_of(table, name)->projected, span->last_ps - span->first_ps);
    }
}

static void add_host(struct note_table *table, const struct selection *selection,
                     const struct selection *nameless)
{
    const struct trace *trace = selection->host->trace;
    struct marks marks;
    struct device_sum none = {0};
    struct device_sum *by_name = memory_zeroed((size_t)trace->name_count + 1, sizeof *by_name);
    marks_find(trace, selection->host->attribution, &marks);

    int64_t covered_ps = add_spans(table, &marks, selection);

    if (!selection->by_name)
        add_recorded(table, &marks, selection, covered_ps);
    marks_add_device(&marks, nameless, by_name, &none);
    for (name_id name = 0; name < trace->name_count; name++) {
        if (!selection->by_name || selection_has_name(selection, trace_name(trace, name)))
            add_device(table, trace_name(trace, name), &by_name[name], false);
    }
    if (!selection->by_name)
        add_device(table, STR("(no annotation)"), &none, true);
    add_projections(table, &marks, selection);
    marks_free(&marks);
    free(by_name);
}

static enum status make_table(struct note_table *rows, const struct page *page, struct table *ret,
                              struct error *err)
{
    struct table_source source = {.columns = annotation_columns,
                                  .column_count = annotation_column_count,
                                  .row_count = rows->row_count,
                                  .cell = annotation_cell,
                                  .data = rows};
    struct answer_note *notes = arena_array(rows->arena, struct answer_note, 2);
    uint32_t *order;

    TRY(table_order(&source, page->sort, "-device_ps,-total_ps,name", rows->arena, &order, err));
    table_fill(&source, order, page, rows->arena, ret);
    notes[0] = (struct answer_note){
        .kind = "annotations-by-name",
        .severity = NOTE_INFO,
        .message =
            str_format(rows->arena,
                       "Annotations of the program: NVTX ranges in reports of Nsight Systems, "
                       "user_annotation in Kineto's; elsewhere, all spans except those with names "
                       "and threads of XLA, JAX and TensorFlow (list %d). Host time is counted in "
                       "the innermost span, device time in the span that launched it.",
                       ANNOTATION_NAMES_VERSION),
        .count = 1,
    };
    notes[1] = (struct answer_note){
        .kind = "annotations-rest-unknown",
        .severity = NOTE_WARNING,
        .message = STR("A thread has more than 65,536 lanes: time outside all spans is not added "
                       "up, and is in no row."),
        .count = 1,
    };
    ret->notes = notes;
    ret->note_count = rows->is_rest_unknown ? 2 : 1;
    ret->total_ps = rows->device_ps;
    ret->total_self_ps = rows->host_self_ps;
    return OK;
}

enum status annotations(const struct run_traces *run, const struct restriction *restriction,
                        const struct page *page, struct arena *arena, struct table *ret,
                        struct error *err)
{
    struct restriction nameless = *restriction;
    struct selection *selections, *all;
    uint32_t count, all_count;
    struct note_table rows = {.arena = arena};

    nameless.name = nameless.q = STR("");
    *ret = (struct table){0};
    TRY(restrict_run(run, &nameless, arena, &all, &all_count, err));
    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    rows.keys = names_create();
    for (uint32_t i = 0; i < run->host_count; i++)
        rows.has_devices |=
            run->hosts[i].attribution != NULL && run->hosts[i].attribution->entry_count > 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t same = 0;

        while (same < all_count && all[same].index != selections[i].index)
            same++;
        if (same < all_count)
            add_host(&rows, &selections[i], &all[same]);
    }

    enum status status = make_table(&rows, page, ret, err);

    for (uint32_t i = 0; i < rows.row_count; i++) {
        free(rows.rows[i].whole.items);
        free(rows.rows[i].projected.items);
    }
    free(rows.rows);
    names_destroy(rows.keys);
    ret->by = STR("annotation");
    ret->of = STR("host");
    return status;
}
