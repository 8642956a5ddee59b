/* SPDX-License-Identifier: Apache-2.0 */
/* Makes each analysis that rules share when the first rule asks for it, and keeps the answer or
 * the failure. */
#include "analyse/findings/memo.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/findings/overview.h"
#include "analyse/ops/top.h"
#include "analyse/scan/split.h"
#include "analyse/steps/capture.h"
#include "analyse/steps/steps_doubt.h"
#include "base/bisect.h"
#include "trace/ps.h"

struct memo *memo_create(const struct run_traces *run, const struct restriction *restriction,
                         struct arena *arena)
{
    struct memo *memo = arena_new(arena, struct memo);

    memo->run = run;
    memo->restriction = restriction;
    memo->arena = arena;
    return memo;
}

static enum status hand_out(const struct fact *fact, const void **ret, struct error *err)
{
    *ret = fact->value;
    if (fact->status != OK)
        return fail(err, fact->status, "%s", fact->err.message);
    return OK;
}

enum status memo_once(struct memo *memo, memo_make *make, const void **ret, struct error *err)
{
    for (uint32_t i = 0; i < memo->made_count; i++) {
        if (memo->made[i].make == make)
            return hand_out(&memo->made[i], ret, err);
    }
    if (memo->made_count == FACTS_MAX)
        return fail(err, ERR_LIMIT, "more than %d analyses were requested", FACTS_MAX);

    struct fact fact = {.make = make};

    /* It may ask for others, so its place is taken only afterwards. */
    fact.status = make(memo, &fact.value, &fact.err);
    if (memo->made_count == FACTS_MAX)
        return fail(err, ERR_LIMIT, "more than %d analyses were requested", FACTS_MAX);
    memo->made[memo->made_count] = fact;
    return hand_out(&memo->made[memo->made_count++], ret, err);
}

struct halves {
    struct memo *memos[2];
    memo_half *const *halves;
};

static void make_half(void *data, uint32_t part)
{
    const struct halves *work = data;

    work->halves[part](work->memos[part]);
}

/* Of what one memo made behind what both knew, and no more than there is room for: others are made
 * when they are asked for. */
static void take_facts(struct memo *memo, const struct memo *beside, uint32_t known_count)
{
    for (uint32_t i = known_count; i < beside->made_count; i++) {
        const struct fact *fact = &beside->made[i];
        bool known = false;

        for (uint32_t k = known_count; k < memo->made_count; k++)
            known |= memo->made[k].make == fact->make;
        if (!known && memo->made_count < FACTS_MAX)
            memo->made[memo->made_count++] = *fact;
    }
}

void memo_side_by_side(struct memo *memo, memo_half *const halves[2])
{
    struct memo *beside = arena_new(memo->arena, struct memo);
    const uint32_t known_count = memo->made_count;

    *beside = *memo;
    beside->arena = arena_within(memo->arena);
    split_run(2, make_half, &(struct halves){.memos = {memo, beside}, .halves = halves});
    take_facts(memo, beside, known_count);
}

static enum status make_selections(struct memo *memo, const void **ret, struct error *err)
{
    struct selections *selections = arena_new(memo->arena, struct selections);

    *ret = selections;
    return restrict_run(memo->run, memo->restriction, memo->arena, &selections->items,
                        &selections->count, err);
}

enum status memo_selections(struct memo *memo, const struct selections **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_selections, &made, err));
    *ret = made;
    return OK;
}

/* Steps that do not fit the rest are none: every answer is over the capture then, and says why. */
static void withdraw_doubted(struct memo *memo, struct steps *steps)
{
    struct str doubt = steps_doubt(memo->run, steps, memo->arena);

    if (doubt.count == 0)
        return;
    *steps = (struct steps){
        .rule = STEP_NONE,
        .rule_text = str_format(memo->arena, "%.*s, but no step time is stated: %.*s",
                                STR_ARG(steps->rule_text), STR_ARG(doubt)),
        .doubt = doubt,
    };
}

static enum status make_all_steps(struct memo *memo, const void **ret, struct error *err)
{
    static const struct restriction everything;
    struct steps *steps = arena_new(memo->arena, struct steps);

    *ret = steps;
    if (memo->find_steps != NULL)
        return memo->find_steps(memo->find_steps_data, memo->run, memo->arena, steps, err);
    return steps_find(memo->run, &everything, memo->arena, steps, err);
}

enum status memo_all_steps(struct memo *memo, const struct steps **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_all_steps, &made, err));
    *ret = made;
    return OK;
}

/* Of what a question says of steps, their family and expression change which there are. */
static bool are_of_all_steps(const struct restriction *asked)
{
    return asked->family.count == 0 && asked->step_regex.count == 0;
}

static enum status find_steps(struct memo *memo, struct steps *ret, struct error *err)
{
    const struct steps *all;

    if (!are_of_all_steps(memo->restriction))
        return steps_find(memo->run, memo->restriction, memo->arena, ret, err);
    TRY(memo_all_steps(memo, &all, err));
    *ret = *all;
    ret->owners = NULL; /* they name all of them */
    ret->items = arena_array(memo->arena, struct step, all->count);
    if (all->count > 0)
        memcpy(ret->items, all->items, all->count * sizeof *ret->items);
    steps_keep_asked(memo->run, memo->restriction, memo->arena, ret);
    return OK;
}

static enum status make_steps(struct memo *memo, const void **ret, struct error *err)
{
    struct steps *steps = arena_new(memo->arena, struct steps);

    *ret = steps;
    TRY(find_steps(memo, steps, err));
    steps_keep(memo->run, steps, memo->arena);
    if (steps_may_be_doubted(memo->restriction))
        withdraw_doubted(memo, steps);
    return OK;
}

enum status memo_steps(struct memo *memo, const struct steps **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_steps, &made, err));
    *ret = made;
    return OK;
}

bool counted_step(const struct steps *steps, const struct step *step)
{
    return step_counts(steps, step);
}

static int by_from(const void *left, const void *right)
{
    const struct window *a = left, *b = right;

    return (a->from_ps > b->from_ps) - (a->from_ps < b->from_ps);
}

/* The counted steps of one host, those that overlap joined. */
static uint32_t step_windows(const struct steps *steps, uint32_t host, struct arena *arena,
                             struct window **ret)
{
    uint32_t count = 0, kept = 0;

    for (uint32_t i = 0; i < steps->count; i++)
        count += steps->items[i].host == host;

    struct window *windows = arena_array(arena, struct window, count);

    count = 0;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];

        if (step->host == host && counted_step(steps, step))
            windows[count++] = (struct window){step->start_ps, step->start_ps + step->dur_ps};
    }
    qsort(windows, count, sizeof(*windows), by_from);
    for (uint32_t i = 0; i < count; i++) {
        if (kept == 0 || windows[i].from_ps > windows[kept - 1].to_ps)
            windows[kept++] = windows[i];
        else if (windows[i].to_ps > windows[kept - 1].to_ps)
            windows[kept - 1].to_ps = windows[i].to_ps;
    }
    *ret = windows;
    return kept;
}

/* Without steps: what the restriction leaves of the host's capture. */
static uint32_t capture_windows(const struct selection *selection, struct arena *arena,
                                struct window **ret)
{
    const struct host_trace *host = selection->host;
    struct window *windows = arena_array(arena, struct window, selection->window_count);
    struct window capture = capture_window(host->trace);
    uint32_t count = 0;

    for (uint32_t i = 0; i < selection->window_count; i++) {
        struct window window = selection->windows[i];

        if (window.from_ps < capture.from_ps)
            window.from_ps = capture.from_ps;
        if (window.to_ps > capture.to_ps)
            window.to_ps = capture.to_ps;
        if (window.from_ps < window.to_ps)
            windows[count++] =
                (struct window){window.from_ps + host->offset_ps, window.to_ps + host->offset_ps};
    }
    *ret = windows;
    return count;
}

static enum status make_counted(struct memo *memo, const void **ret, struct error *err)
{
    struct counted *counted = arena_new(memo->arena, struct counted);
    const struct selections *selections;
    const struct steps *steps;

    TRY(memo_selections(memo, &selections, err));
    TRY(memo_steps(memo, &steps, err));

    struct window **windows = arena_array(memo->arena, struct window *, memo->run->host_count);
    uint32_t *counts = arena_array(memo->arena, uint32_t, memo->run->host_count);

    counted->of_steps = steps->count > 0;
    for (uint32_t i = 0; i < steps->count; i++) {
        if (!counted_step(steps, &steps->items[i]))
            continue;
        counted->step_count++;
        ps_add(&counted->total_ps, steps->items[i].dur_ps);
    }
    for (uint32_t i = 0; i < selections->count; i++) {
        uint32_t host = selections->items[i].index;

        counts[host] = counted->of_steps
                           ? step_windows(steps, host, memo->arena, &windows[host])
                           : capture_windows(&selections->items[i], memo->arena, &windows[host]);
        for (uint32_t at = 0; !counted->of_steps && at < counts[host]; at++)
            ps_add(&counted->total_ps, windows[host][at].to_ps - windows[host][at].from_ps);
    }
    counted->windows = (const struct window *const *)windows;
    counted->window_counts = counts;
    *ret = counted;
    return OK;
}

enum status memo_counted(struct memo *memo, const struct counted **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_counted, &made, err));
    *ret = made;
    return OK;
}

int64_t counted_inside_ps(const struct counted *counted, uint32_t host, int64_t start_ps,
                          int64_t end_ps)
{
    const struct window *windows = counted->windows[host];
    int64_t inside_ps = 0;
    uint32_t low = BISECT(0, counted->window_counts[host], i, windows[i].to_ps <= start_ps);

    for (; low < counted->window_counts[host] && windows[low].from_ps < end_ps; low++) {
        int64_t from_ps = start_ps > windows[low].from_ps ? start_ps : windows[low].from_ps;
        int64_t to_ps = end_ps < windows[low].to_ps ? end_ps : windows[low].to_ps;

        ps_add(&inside_ps, to_ps > from_ps ? to_ps - from_ps : 0);
    }
    return inside_ps;
}

static enum status make_notes(struct memo *memo, const void **ret, struct error *err)
{
    struct note_list *notes = arena_new(memo->arena, struct note_list);

    (void)err;
    notes->count = run_notes(memo->run, memo->arena, &notes->items);
    *ret = notes;
    return OK;
}

enum status memo_notes(struct memo *memo, const struct note_list **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_notes, &made, err));
    *ret = made;
    return OK;
}

static enum status make_ops(struct memo *memo, const void **ret, struct error *err)
{
    const struct top_question question = {0};
    const struct page page = {.limit = 10000};
    struct table *table = arena_new(memo->arena, struct table);

    *ret = table;
    return top(memo->run, memo->restriction, &question, &page, memo->arena, table, err);
}

enum status memo_ops(struct memo *memo, const struct table **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_ops, &made, err));
    *ret = made;
    return OK;
}

const struct cell *table_cell_at(const struct table *table, uint32_t row, const char *column)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (strcmp(table->columns[i].key, column) == 0)
            return &table->cells[(size_t)row * table->column_count + i];
    }
    return NULL;
}

bool table_integer_at(const struct table *table, uint32_t row, const char *column, int64_t *ret)
{
    const struct cell *cell = table_cell_at(table, row, column);

    if (cell != NULL && cell->kind == CELL_INTEGER)
        *ret = cell->of.integer;
    else if (cell != NULL && cell->kind == CELL_UNSIGNED && cell->of.uint <= INT64_MAX)
        *ret = (int64_t)cell->of.uint;
    else
        return false;
    return true;
}

bool table_real_at(const struct table *table, uint32_t row, const char *column, double *ret)
{
    const struct cell *cell = table_cell_at(table, row, column);
    int64_t integer;

    if (cell != NULL && cell->kind == CELL_REAL)
        *ret = cell->of.real;
    else if (table_integer_at(table, row, column, &integer))
        *ret = (double)integer;
    else
        return false;
    return true;
}

struct str table_text_at(const struct table *table, uint32_t row, const char *column)
{
    const struct cell *cell = table_cell_at(table, row, column);

    return cell != NULL && cell->kind == CELL_TEXT ? cell->of.text : STR("");
}
