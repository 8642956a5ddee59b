/* SPDX-License-Identifier: Apache-2.0 */
/* Groups slices or ops by a property, sums them, and fills the table of /api/top. */
#include "analyse/ops/top.h"

#include <stdlib.h>

#include "analyse/ops/top_parts.h"
#include "analyse/steps/restrict.h"
#include "trace/ps.h"

static const char *const by_words[BY_COUNT] = {
    [BY_OP] = "op",         [BY_MODULE] = "module",     [BY_SCOPE] = "scope",
    [BY_SOURCE] = "source", [BY_CATEGORY] = "category", [BY_NAME] = "name",
    [BY_KERNEL] = "kernel", [BY_API] = "api",           [BY_TRACK] = "track",
    [BY_HOST] = "host",     [BY_DEVICE] = "device",     [BY_PHASE] = "phase",
    [BY_KIND] = "kind",
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
                      "phase, host, device, track, kind",
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
            if (attribution->ops[op].program != NO_PROGRAM || attribution->ops[op].module != 0 ||
                attribution->ops[op].category != 0 || attribution->ops[op].scope != 0 ||
                attribution->ops[op].caller != 0)
                *ret_ops = true;
        }
    }
}

/* Gathers those of the rows order[first ... end) that are not stored. */
static void complete_spreads(struct top_work *work, const uint32_t *order, uint32_t first,
                             uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        if (!work->rows[order[i]].spread_known) {
            top_spread(work, order, first, end);
            return;
        }
    }
}

static void sum_rows(struct top_work *work)
{
    for (uint32_t i = 0; i < work->row_count; i++) {
        ps_add(&work->total_ps, work->rows[i].total_ps);
        ps_add(&work->total_self_ps, work->rows[i].self_ps);
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
    double cumulative = 0;

    if (table_sorts_by(page->sort, "p50_ps") || table_sorts_by(page->sort, "p95_ps") ||
        table_sorts_by(page->sort, "stdev_ps")) {
        order = arena_array(work->arena, uint32_t, work->row_count);
        for (uint32_t i = 0; i < work->row_count; i++)
            order[i] = i;
        complete_spreads(work, order, 0, work->row_count);
    }
    TRY(table_order(&source, page->sort, "-self_ps,name", work->arena, &order, err));
    for (uint32_t i = 0; i < work->row_count; i++) {
        struct top_row *row = &work->rows[order[i]];

        /* A slice that runs past its parent takes more from it than it has: negative, and
         * summed. */
        if (row->event_count == 0 ||
            (work->question->min_self_ps > 0 && row->self_ps < work->question->min_self_ps))
            continue;
        cumulative += (double)row->self_ps;
        row->cumulative = work->total_self_ps > 0 ? cumulative / (double)work->total_self_ps : 0;
        order[kept++] = order[i];
    }
    source.row_count = kept;
    table_range(page, kept, &first, &end);
    if (!work->question->without_spread)
        complete_spreads(work, order, first, end);
    bool *inexact = arena_array(work->arena, bool, end - first);
    for (uint32_t i = first; i < end; i++) {
        inexact[i - first] = work->rows[order[i]].approximate;
        work->approximate |= inexact[i - first];
    }
    table_fill(&source, order, page, work->arena, ret);
    ret->inexact = inexact;
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
    struct answer_note *notes = arena_array(work->arena, struct answer_note, 2 + TOP_COST_NOTES);

    ret->notes = notes;
    if (asked != work->by)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "by-fallback",
            .message = str_format(work->arena, "by %s, because the profile holds no ops%s",
                                  work->by == BY_NAME ? "name" : "kernel, copy and fill",
                                  work->by == BY_NAME ? " and no kernels" : " of a program"),
            .count = 1,
        };
    if (ps_is_cut(work->total_ps))
        notes[ret->note_count++] = (struct answer_note){
            .kind = "sums-cut",
            .severity = NOTE_WARNING,
            .message =
                STR("the total exceeds 2^63 ps (106 days), the largest value that can be stored"),
            .count = 1,
        };
    ret->note_count += top_cost_notes(work, &notes[ret->note_count]);
    if (work->approximate) {
        ret->approx = quantiles;
        ret->approx_count = COUNT(quantiles);
    }
}

enum status top_collect(const struct run_traces *run, const struct restriction *restriction,
                        const struct top_question *question, struct arena *arena,
                        struct top_work *ret, enum top_by *ret_asked, struct error *err)
{
    struct selection *selections;
    uint32_t count;
    bool ops, kernels;

    *ret = (struct top_work){.run = run, .question = question, .arena = arena};
    TRY(parse_by(question->by, ret_asked, err));
    TRY(restrict_run(run, restriction, arena, &selections, &count, err));
    look_for_ops(run, &ops, &kernels);
    ret->by = *ret_asked != BY_OP || ops ? *ret_asked : kernels ? BY_KERNEL : BY_NAME;
    ret->every_kind = ret->by != *ret_asked;
    ret->keys = names_create();
    top_hosts_open(ret, selections, count);
    top_sum(ret);
    if (ret->by == BY_KERNEL || ret->by == BY_DEVICE)
        top_cost_slices(ret);
    sum_rows(ret);
    return OK;
}

void top_free(struct top_work *work)
{
    top_hosts_close(work);
    names_destroy(work->keys);
    free(work->rows);
}

enum status top(const struct run_traces *run, const struct restriction *restriction,
                const struct top_question *question, const struct page *page, struct arena *arena,
                struct table *ret, struct error *err)
{
    struct top_work work;
    enum top_by asked;

    *ret = (struct table){0};
    TRY(top_collect(run, restriction, question, arena, &work, &asked, err));

    enum status status = make_table(&work, page, ret, err);

    ret->by = str_of(top_by_word(work.by));
    ret->of = of_word(&work);
    ret->total_ps = work.total_ps;
    ret->total_self_ps = work.total_self_ps;
    add_notes(&work, asked, ret);
    top_free(&work);
    return status;
}
