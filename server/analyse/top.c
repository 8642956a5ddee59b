#include "analyse/top.h"

#include <stdlib.h>

#include "analyse/top_parts.h"
#include "trace/by_name.h"

static const char *const by_words[BY_COUNT] = {
    [BY_OP] = "op",         [BY_MODULE] = "module",     [BY_SCOPE] = "scope",
    [BY_SOURCE] = "source", [BY_CATEGORY] = "category", [BY_NAME] = "name",
    [BY_KERNEL] = "kernel", [BY_API] = "api",           [BY_ANNOTATION] = "annotation",
    [BY_TRACK] = "track",   [BY_HOST] = "host",         [BY_DEVICE] = "device",
};

const char *top_by_word(enum top_by by)
{
    return by_words[by];
}

static enum status parse_by(struct str word, enum top_by *ret, struct error *err)
{
    *ret = BY_OP;
    for (int by = 0; by < BY_COUNT; by++) {
        if (str_equal(word, str_of(by_words[by]))) {
            *ret = (enum top_by)by;
            return OK;
        }
    }
    return word.count == 0
               ? OK
               : fail(err, ERR_INVALID,
                      "by=%.*s is none of op, name, kernel, api, category, module, scope, source, "
                      "host, device, track, annotation",
                      STR_ARG(word));
}

/* Has the run ops of programs; or at least kernels? */
static void look_for_ops(const struct run_traces *run, bool *ret_ops, bool *ret_kernels)
{
    *ret_ops = *ret_kernels = false;
    for (uint32_t i = 0; i < run->host_count; i++) {
        const struct attribution *attribution = run->hosts[i].attribution;

        for (uint32_t op = 0; attribution != NULL && op < attribution->op_count; op++) {
            *ret_kernels = true;
            if (attribution->ops[op].program != NO_PROGRAM || attribution->ops[op].module != 0)
                *ret_ops = true;
        }
    }
}

static void add_to_row(struct top_row *row, int64_t whole_ps, int64_t inside_ps, int64_t self_ps)
{
    row->event_count++;
    row->total_ps += inside_ps;
    row->self_ps += self_ps;
    row->whole_ps += whole_ps;
    if (whole_ps < row->min_ps)
        row->min_ps = whole_ps;
    if (whole_ps > row->max_ps)
        row->max_ps = whole_ps;
}

/* Is this the first event that is seen of what the table counts: an execution of the op, or of the
 * module? */
static bool counts(struct top_work *work, const struct attributed *entry)
{
    uint32_t low = work->by == BY_MODULE ? 0 : entry->op;

    if (entry->execution == NO_EXECUTION)
        return true;
    if (!work->host->selection->cut_in_time && work->by != BY_MODULE)
        return entry->first;

    uint32_t *known = map64_at(&work->host->counted, map64_pair(entry->execution, low), 0);
    bool is_new = *known == 0;

    *known = 1;
    return is_new;
}

static void sum_op(void *data, const struct scanned_op *op)
{
    struct top_work *work = data;
    uint32_t index = top_row_of_op(work, op->entry->op);
    struct top_row *row = &work->rows[index];

    add_to_row(row, op->entry->dur_ps, op->inside_ps, op->self_ps);
    if (counts(work, op->entry))
        row->count++;
    top_costs(work, row, op->entry->op);
}

static void sum_slice(void *data, const struct scanned *slice)
{
    struct top_work *work = data;
    uint32_t index = top_row_of_slice(work, slice);

    if (index == UINT32_MAX)
        return;
    add_to_row(&work->rows[index], slice->dur_ps, slice->inside_ps, slice->self_ps);
    work->rows[index].count++;
}

static struct scanned slice_of_span(track_id track, const struct chunk *chunk, uint32_t at)
{
    return (struct scanned){
        .slice = chunk->first_slice + at,
        .track = track,
        .name = chunk->name[at],
        .kind = (enum kind)chunk->kind[at],
        .dur_ps = chunk->dur_ps[at],
        .inside_ps = chunk->dur_ps[at],
        .self_ps = chunk->self_ps[at],
    };
}

/* Names, by far the most frequent question, need no look at each slice. */
static uint32_t row_of_span(struct top_work *work, track_id track, const struct chunk *chunk,
                            uint32_t at)
{
    if (work->by == BY_NAME && work->host->row_of[chunk->name[at]] != 0)
        return work->host->row_of[chunk->name[at]] - 1;

    struct scanned slice = slice_of_span(track, chunk, at);

    return top_row_of_slice(work, &slice);
}

static void sum_span(void *data, track_id track, const struct chunk *chunk, uint32_t first,
                     uint32_t end)
{
    struct top_work *work = data;

    for (uint32_t at = first; at < end; at++) {
        uint32_t row = row_of_span(work, track, chunk, at);

        if (row == UINT32_MAX)
            continue;
        add_to_row(&work->rows[row], chunk->dur_ps[at], chunk->dur_ps[at], chunk->self_ps[at]);
        work->rows[row].count++;
    }
}

/* The whole trace by name is stored. */
static bool sum_stored(struct top_work *work)
{
    const struct selection *selection = work->host->selection;
    const struct trace *trace = selection->host->trace;
    const struct name_stats *stats;

    if (work->by != BY_NAME || selection->cut_in_time || !selection->all_tracks ||
        selection->ops_only)
        return false;

    uint32_t count = trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        if (stats[i].count == 0 ||
            (selection->by_name &&
             !selection_has_name(selection, trace_name(trace, stats[i].name))))
            continue;

        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);
        struct scanned first = {.name = stats[i].name, .slice = NO_SLICE, .kind = KIND_OTHER};

        if (run_count > 0) {
            first.slice = trace_name_slices(trace, &runs[0])[0];
            first.kind = trace_slice(trace, first.slice).kind;
        }

        uint32_t index = top_row_of_slice(work, &first);
        struct top_row *row = &work->rows[index];

        row->count += stats[i].count;
        row->event_count += stats[i].count;
        row->total_ps += stats[i].total_ps;
        row->self_ps += stats[i].self_ps;
        row->whole_ps += stats[i].total_ps;
        if (stats[i].min_ps < row->min_ps)
            row->min_ps = stats[i].min_ps;
        if (stats[i].max_ps > row->max_ps)
            row->max_ps = stats[i].max_ps;
        if (work->host_count == 1) {
            row->p50_ps = stats[i].p50_ps;
            row->p95_ps = stats[i].p95_ps;
            row->stdev_ps = stats[i].stdev_ps;
            row->approximate = stats[i].quantiles_approximate;
            row->spread_known = true;
        }
    }
    return true;
}

static void sum_all(struct top_work *work)
{
    for (uint32_t i = 0; i < work->host_count; i++) {
        work->host = &work->hosts[i];
        if (work->by <= BY_CATEGORY)
            scan_ops(work->host->selection, sum_op, work);
        else if (!sum_stored(work))
            scan_slices(work->host->selection, sum_slice, sum_span, work);
    }
}

static void spread_op(void *data, const struct scanned_op *op)
{
    struct top_work *work = data;
    struct quantiles *spread = work->spreads[top_row_of_op(work, op->entry->op)];

    if (spread != NULL)
        quantiles_add(spread, op->entry->dur_ps);
}

static void spread_slice(void *data, const struct scanned *slice)
{
    struct top_work *work = data;
    uint32_t row = top_row_of_slice(work, slice);

    if (row != UINT32_MAX && work->spreads[row] != NULL)
        quantiles_add(work->spreads[row], slice->dur_ps);
}

static void spread_span(void *data, track_id track, const struct chunk *chunk, uint32_t first,
                        uint32_t end)
{
    struct top_work *work = data;

    for (uint32_t at = first; at < end; at++) {
        uint32_t row = row_of_span(work, track, chunk, at);

        if (row != UINT32_MAX && work->spreads[row] != NULL)
            quantiles_add(work->spreads[row], chunk->dur_ps[at]);
    }
}

/* Quantiles and deviation of the rows order[first ... end): a second walk, for those alone. */
static void spread_rows(struct top_work *work, const uint32_t *order, uint32_t first, uint32_t end)
{
    work->spreads = memory_resize(NULL, work->row_count, sizeof(*work->spreads));
    for (uint32_t i = 0; i < work->row_count; i++)
        work->spreads[i] = NULL;
    for (uint32_t i = first; i < end; i++)
        work->spreads[order[i]] = quantiles_create(work->rows[order[i]].event_count);
    for (uint32_t i = 0; i < work->host_count; i++) {
        work->host = &work->hosts[i];
        if (work->by <= BY_CATEGORY)
            scan_ops(work->host->selection, spread_op, work);
        else
            scan_slices(work->host->selection, spread_slice, spread_span, work);
    }
    for (uint32_t i = first; i < end; i++) {
        struct top_row *row = &work->rows[order[i]];
        struct quantiles *spread = work->spreads[order[i]];

        row->p50_ps = quantiles_at(spread, 50);
        row->p95_ps = quantiles_at(spread, 95);
        row->stdev_ps = quantiles_stdev(spread);
        row->approximate = !quantiles_exact(spread);
        row->spread_known = true;
        quantiles_free(spread);
    }
    free(work->spreads);
    work->spreads = NULL;
}

static bool all_spreads_known(const struct top_work *work)
{
    return work->row_count == 0 || work->rows[0].spread_known;
}

static void sum_rows(struct top_work *work)
{
    for (uint32_t i = 0; i < work->row_count; i++) {
        work->total_ps += work->rows[i].total_ps;
        work->total_self_ps += work->rows[i].self_ps;
    }
}

static enum status make_table(struct top_work *work, const struct page *page, struct table *ret,
                              struct error *err)
{
    struct table_source source = {
        .columns = top_columns,
        .column_count = top_column_count,
        .row_count = work->row_count,
        .cell = top_cell,
        .data = work,
    };
    uint32_t *order, first, end, kept = 0;
    double cumulative_ps = 0;

    if (!all_spreads_known(work) &&
        (table_sorts_by(page->sort, "p50_ps") || table_sorts_by(page->sort, "p95_ps") ||
         table_sorts_by(page->sort, "stdev_ps"))) {
        order = arena_array(work->arena, uint32_t, work->row_count);
        for (uint32_t i = 0; i < work->row_count; i++)
            order[i] = i;
        spread_rows(work, order, 0, work->row_count);
    }
    TRY(table_order(&source, page->sort, "-self_ps,name", work->arena, &order, err));
    for (uint32_t i = 0; i < work->row_count; i++) {
        struct top_row *row = &work->rows[order[i]];

        if (row->event_count == 0 || row->self_ps < work->question->min_self_ps)
            continue;
        cumulative_ps += (double)row->self_ps;
        row->cumulative = work->total_self_ps > 0 ? cumulative_ps / (double)work->total_self_ps : 0;
        order[kept++] = order[i];
    }
    source.row_count = kept;
    table_range(page, kept, &first, &end);
    if (!all_spreads_known(work))
        spread_rows(work, order, first, end);
    for (uint32_t i = first; i < end; i++)
        work->approximate |= work->rows[order[i]].approximate;
    table_fill(&source, order, page, work->arena, ret);
    return OK;
}

static struct str of_word(const struct top_work *work)
{
    bool device = false, host = false;

    if (work->by <= BY_CATEGORY || work->by == BY_KERNEL || work->by == BY_DEVICE)
        return STR("device");
    for (uint32_t i = 0; i < work->host_count; i++) {
        const struct selection *selection = work->hosts[i].selection;
        const struct trace *trace = selection->host->trace;

        for (track_id id = 0; id < trace->track_count; id++) {
            if (!selection->tracks[id] || trace->tracks[id].slice_count == 0)
                continue;
            device |= trace->tracks[id].device >= 0;
            host |= trace->tracks[id].device < 0;
        }
    }
    return device && host ? STR("all") : device ? STR("device") : STR("host");
}

static void add_notes(struct top_work *work, enum top_by asked, struct table *ret)
{
    static const char *const quantiles[] = {"p50_ps", "p95_ps"};
    struct answer_note *notes = arena_array(work->arena, struct answer_note, 2);

    ret->notes = notes;
    if (asked != work->by)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "by-fallback",
            .message = str_format(work->arena, "by %s, because the profile holds no ops%s",
                                  top_by_word(work->by),
                                  work->by == BY_NAME ? " and no kernels" : " of a program"),
            .count = 1,
        };
    if (work->by == BY_ANNOTATION)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "annotations-by-name",
            .message = STR("annotations are told from the runtime's own events by their names"),
            .count = 1,
        };
    if (work->approximate) {
        ret->approx = quantiles;
        ret->approx_count = COUNT(quantiles);
    }
}

static void work_free(struct top_work *work)
{
    top_hosts_close(work);
    names_destroy(work->keys);
    free(work->rows);
}

enum status top(const struct run_traces *run, const struct restriction *restriction,
                const struct top_question *question, const struct page *page, struct arena *arena,
                struct table *ret, struct error *err)
{
    struct top_work work = {.run = run, .question = question, .arena = arena};
    struct selection *selections;
    uint32_t count;
    enum top_by asked;
    bool ops, kernels;

    *ret = (struct table){0};
    TRY(parse_by(question->by, &asked, err));
    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    look_for_ops(run, &ops, &kernels);
    work.by = asked != BY_OP || ops ? asked : kernels ? BY_KERNEL : BY_NAME;
    work.keys = names_create();
    top_hosts_open(&work, selections, count);
    sum_all(&work);
    sum_rows(&work);

    enum status status = make_table(&work, page, ret, err);

    ret->by = str_of(top_by_word(work.by));
    ret->of = of_word(&work);
    ret->total_ps = work.total_ps;
    ret->total_self_ps = work.total_self_ps;
    add_notes(&work, asked, ret);
    work_free(&work);
    return status;
}
