/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the table of differences: items, doings of the host, idle time and the rest, which sum
 * to the mean step. */
#include "analyse/compare/diff_parts.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/table.h"
#include "trace/ps.h"

enum { SAME_SHARE = 1000 }; /* less than so much of a step, and not sure: the same */

enum diff_column {
    COLUMN_KEY,
    COLUMN_ROW_NAME,
    COLUMN_STATE,
    COLUMN_KIND,
    COLUMN_CATEGORY,
    COLUMN_MODULE,
    COLUMN_SCOPE,
    COLUMN_SOURCE,
    COLUMN_A_NAME,
    COLUMN_B_NAME,
    COLUMN_A_SHAPE,
    COLUMN_B_SHAPE,
    COLUMN_A_SELF,
    COLUMN_B_SELF,
    COLUMN_DELTA,
    COLUMN_SHARE,
    COLUMN_A_COUNT,
    COLUMN_B_COUNT,
    COLUMN_OFTEN,
    COLUMN_LONGER,
    COLUMN_A_PATH,
    COLUMN_B_PATH,
    COLUMN_P,
    COLUMN_MATCH,
    COLUMN_CONFIDENCE,
    COLUMN_SIZE, /* of the difference: only to sort by */
    COLUMN_COUNT
};

static const struct column columns[COLUMN_COUNT] = {
    [COLUMN_KEY] = {"key", "key", UNIT_TEXT, false},
    [COLUMN_ROW_NAME] = {"name", "name", UNIT_TEXT, true},
    [COLUMN_STATE] = {"state", "state", UNIT_TEXT, true},
    [COLUMN_KIND] = {"kind", "kind", UNIT_TEXT, false},
    [COLUMN_CATEGORY] = {"category", "category", UNIT_TEXT, false},
    [COLUMN_MODULE] = {"module", "module", UNIT_TEXT, false},
    [COLUMN_SCOPE] = {"scope", "scope", UNIT_TEXT, true},
    [COLUMN_SOURCE] = {"source", "source", UNIT_TEXT, false},
    [COLUMN_A_NAME] = {"a_name", "in a", UNIT_TEXT, false},
    [COLUMN_B_NAME] = {"b_name", "in b", UNIT_TEXT, false},
    [COLUMN_A_SHAPE] = {"a_shape", "shape a", UNIT_TEXT, false},
    [COLUMN_B_SHAPE] = {"b_shape", "shape b", UNIT_TEXT, false},
    [COLUMN_A_SELF] = {"a_self_ps", "a", UNIT_PS, true},
    [COLUMN_B_SELF] = {"b_self_ps", "b", UNIT_PS, true},
    [COLUMN_DELTA] = {"delta_ps", "change", UNIT_PS, true},
    [COLUMN_SHARE] = {"share", "of the change", UNIT_SHARE, true},
    [COLUMN_A_COUNT] = {"a_count", "count a", UNIT_NONE, false},
    [COLUMN_B_COUNT] = {"b_count", "count b", UNIT_NONE, false},
    [COLUMN_OFTEN] = {"often_ps", "more often", UNIT_PS, true},
    [COLUMN_LONGER] = {"longer_ps", "longer", UNIT_PS, true},
    [COLUMN_A_PATH] = {"a_on_path_ps", "on path a", UNIT_PS, false},
    [COLUMN_B_PATH] = {"b_on_path_ps", "on path b", UNIT_PS, true},
    [COLUMN_P] = {"p", "p", UNIT_NONE, false},
    [COLUMN_MATCH] = {"match", "match", UNIT_TEXT, false},
    [COLUMN_CONFIDENCE] = {"confidence", "confidence", UNIT_SHARE, false},
    [COLUMN_SIZE] = {"size_ps", "size", UNIT_PS, false},
};

struct shown {
    const struct measured *sides; /* [2] */
    const struct diff_row *rows;
    int64_t total_ps; /* of the mean steps */
};

static int64_t per_step(const struct shown *shown, const struct diff_row *row, int side)
{
    return row->sums[side].self_ps / shown->sides[side].step_count;
}

static double count_per_step(const struct shown *shown, const struct diff_row *row, int side)
{
    return row->sums[side].count / shown->sides[side].step_count;
}

static int64_t delta_of(const struct shown *shown, const struct diff_row *row)
{
    return per_step(shown, row, 1) - per_step(shown, row, 0);
}

/* Of the difference, what comes from another count at a's mean duration; the rest is duration. */
static int64_t often_of(const struct shown *shown, const struct diff_row *row)
{
    double a = count_per_step(shown, row, 0), b = count_per_step(shown, row, 1);

    if (a == 0 || b == 0)
        return delta_of(shown, row);
    return (int64_t)llround((b - a) / a * (double)per_step(shown, row, 0));
}

static bool is_on(const struct diff_row *row, int side)
{
    return row->is_rest || row->first[side] != UINT32_MAX;
}

static const char *state_of(const struct shown *shown, const struct diff_row *row)
{
    int64_t delta_ps = delta_of(shown, row), a_ps = shown->sides[0].told.mean_ps,
            b_ps = shown->sides[1].told.mean_ps, longer_ps = a_ps > b_ps ? a_ps : b_ps;

    if (!is_on(row, 0))
        return "new";
    if (!is_on(row, 1))
        return "gone";
    if (delta_ps == 0 || (llabs(delta_ps) < longer_ps / SAME_SHARE) ||
        (row->p_known && row->p > 0.05))
        return "same";
    return delta_ps > 0 ? "slower" : "faster";
}

/* What b says of the op, where it has it. */
static const struct match_op *op_of(const struct shown *shown, const struct diff_row *row,
                                    const struct op **ret, const struct trace **ret_trace)
{
    int side = row->first[1] != UINT32_MAX;
    const struct match_run *ops = &shown->sides[side].ops;
    const struct host_trace *host = ops->hosts[row->first[side]];

    *ret_trace = host->trace;
    *ret = &host->attribution->ops[ops->ops[row->first[side]]];
    return &ops->items[row->first[side]];
}

static struct cell text_or_null(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell about_op(const struct shown *shown, const struct diff_row *row,
                            enum diff_column column)
{
    const struct trace *trace;
    const struct op *op;

    if (row->is_rest)
        return column == COLUMN_KIND ? cell_text(str_of(kind_word(row->kind)))
                                     : cell_null(STR("it is not an op"));
    const struct match_op *known = op_of(shown, row, &op, &trace);
    switch (column) {
    case COLUMN_KIND:
        return cell_text(str_of(kind_word(op->kind)));
    case COLUMN_CATEGORY:
        return text_or_null(trace_name(trace, op->category), "the profile says none");
    case COLUMN_MODULE:
        return text_or_null(known->called, "the profile says none");
    case COLUMN_SCOPE:
        return text_or_null(known->scope, "the profile says none");
    default:
        return text_or_null(known->source, "the profile says none");
    }
}

static bool is_left_over(const struct diff_row *row)
{
    return row->is_rest && row->kind == KIND_OTHER;
}

static struct cell about_change(const struct shown *shown, const struct diff_row *row,
                                enum diff_column column)
{
    switch (column) {
    case COLUMN_DELTA:
        return cell_integer(delta_of(shown, row));
    case COLUMN_SIZE: /* what is left over explains nothing: it stands last */
        return cell_integer(is_left_over(row) ? -1 : llabs(delta_of(shown, row)));
    case COLUMN_SHARE:
        return shown->total_ps == 0
                   ? cell_null(STR("both steps take as long"))
                   : cell_real((double)delta_of(shown, row) / (double)shown->total_ps);
    case COLUMN_OFTEN:
        return row->is_rest ? cell_null(STR("it is not counted"))
                            : cell_integer(often_of(shown, row));
    case COLUMN_LONGER:
        return row->is_rest ? cell_null(STR("it is not counted"))
                            : cell_integer(delta_of(shown, row) - often_of(shown, row));
    default:
        return row->p_known ? cell_real(row->p)
                            : cell_null(STR("too many ops and steps to list one by one"));
    }
}

static struct cell about_side(const struct shown *shown, const struct diff_row *row, int side,
                              enum diff_column column)
{
    if (!is_on(row, side))
        return cell_null(side == 0 ? STR("run a has no such op") : STR("run b has no such op"));
    switch (column) {
    case COLUMN_A_NAME:
    case COLUMN_B_NAME:
        return cell_text(row->is_rest ? row->name : row->side_name[side]);
    case COLUMN_A_SHAPE:
    case COLUMN_B_SHAPE:
        return row->is_rest ? cell_null(STR("it is not an op"))
                            : text_or_null(row->shape[side], "not known, or several");
    case COLUMN_A_SELF:
    case COLUMN_B_SELF:
        return cell_integer(per_step(shown, row, side));
    default:
        return row->is_rest ? cell_null(STR("it is not counted"))
                            : cell_real(count_per_step(shown, row, side));
    }
}

/* Of the mean step. */
static struct cell on_path(const struct shown *shown, const struct diff_row *row, int side)
{
    const struct measured *measured = &shown->sides[side];

    if (row->is_rest)
        return cell_null(STR("it is not an op"));
    if (!is_on(row, side))
        return cell_null(side == 0 ? STR("run a has no such op") : STR("run b has no such op"));
    if (measured->on_path_ps == NULL || measured->path_steps == 0)
        return cell_null(STR("critical paths are computed for runs of up to 400,000 slices only"));
    return cell_integer(row->on_path_ps[side] / measured->path_steps);
}

static struct cell cell_at(const void *data, uint32_t index, uint32_t column)
{
    const struct shown *shown = data;
    const struct diff_row *row = &shown->rows[index];

    switch ((enum diff_column)column) {
    case COLUMN_KEY:
        return cell_text(row->key);
    case COLUMN_ROW_NAME:
        return cell_text(row->name);
    case COLUMN_STATE:
        return cell_text(str_of(state_of(shown, row)));
    case COLUMN_KIND:
    case COLUMN_CATEGORY:
    case COLUMN_MODULE:
    case COLUMN_SCOPE:
    case COLUMN_SOURCE:
        return about_op(shown, row, column);
    case COLUMN_A_NAME:
    case COLUMN_A_SHAPE:
    case COLUMN_A_SELF:
    case COLUMN_A_COUNT:
        return about_side(shown, row, 0, column);
    case COLUMN_B_NAME:
    case COLUMN_B_SHAPE:
    case COLUMN_B_SELF:
    case COLUMN_B_COUNT:
        return about_side(shown, row, 1, column);
    case COLUMN_A_PATH:
        return on_path(shown, row, 0);
    case COLUMN_B_PATH:
        return on_path(shown, row, 1);
    case COLUMN_MATCH:
        return row->is_rest ? cell_null(STR("it is not an op"))
                            : cell_text(str_of(match_how_word(row->how)));
    case COLUMN_CONFIDENCE:
        return row->is_rest ? cell_null(STR("it is not an op")) : cell_real(row->confidence);
    default:
        return about_change(shown, row, column);
    }
}

static void add_row(struct diff_rows *rows, struct diff_row row)
{
    if (row.sums[0].self_ps != 0 || row.sums[1].self_ps != 0 || row.kind == KIND_IDLE ||
        row.kind == KIND_OTHER)
        rows->items[rows->count++] = row;
}

/* What the host did while no op ran: waiting and nothing are told as idle. Sums are kept as those
 * of ops are: over all steps. */
static void add_doings(const struct measured sides[2], struct arena *arena, struct diff_rows *rows)
{
    struct diff_row idle = {
        .key = STR("idle"), .name = STR("idle"), .is_rest = true, .kind = KIND_IDLE};

    for (int doing = 0; doing < DOING_COUNT; doing++) {
        struct str word = str_of(doing_word((enum host_doing)doing));
        struct diff_row row = {.key = word,
                               .name = str_format(arena, "%.*s, while no op ran", STR_ARG(word)),
                               .is_rest = true,
                               .kind = doing_kind((enum host_doing)doing)};
        bool is_idle = row.kind == KIND_IDLE;

        for (int side = 0; side < 2; side++)
            (is_idle ? &idle : &row)->sums[side].self_ps +=
                sides[side].told.doing_ps[doing] * sides[side].step_count;
        if (!is_idle && row.kind != KIND_OTHER)
            add_row(rows, row);
    }
    add_row(rows, idle);
}

/* What of the mean step no row names. Ops that ran beside each other may name more than all of it:
 * then nothing is left. */
static void add_rest(const struct measured sides[2], struct arena *arena, struct diff_rows *rows)
{
    struct diff_row *ops = rows->items;
    struct diff_row other = {
        .key = STR("other"), .name = STR("not matched"), .is_rest = true, .kind = KIND_OTHER};

    rows->items = arena_array(arena, struct diff_row, (size_t)rows->count + DOING_COUNT + 2);
    if (rows->count > 0)
        memcpy(rows->items, ops, rows->count * sizeof *ops);
    add_doings(sides, arena, rows);
    for (int side = 0; side < 2; side++) {
        int64_t left_ps = sides[side].told.mean_ps;

        for (uint32_t i = 0; i < rows->count; i++)
            ps_add(&left_ps, -(rows->items[i].sums[side].self_ps / sides[side].step_count));
        other.sums[side].self_ps = left_ps > 0 ? left_ps * sides[side].step_count : 0;
    }
    add_row(rows, other);
}

enum { SHAPES_MATTER = 10 }; /* a tenth of the difference */

/* Of the ops that make another shape than before, the one whose time changed most, where that is
 * worth a word and goes where the step went. */
static struct diff_shapes shapes_of(const struct measured sides[2], const struct diff_rows *rows)
{
    struct shown shown = {.sides = sides,
                          .rows = rows->items,
                          .total_ps = sides[1].told.mean_ps - sides[0].told.mean_ps};
    struct diff_shapes ret = {0};
    int64_t most_ps = llabs(shown.total_ps) / SHAPES_MATTER;

    for (uint32_t i = 0; i < rows->count; i++) {
        const struct diff_row *row = &rows->items[i];
        int64_t delta_ps = delta_of(&shown, row);

        if (row->shape[0].count == 0 || row->shape[1].count == 0 ||
            str_equal(row->shape[0], row->shape[1]) || llabs(delta_ps) <= most_ps ||
            (delta_ps > 0) != (shown.total_ps > 0))
            continue;
        most_ps = llabs(delta_ps);
        ret = (struct diff_shapes){row->name, row->shape[0], row->shape[1]};
    }
    return ret;
}

static enum status by_of(struct str word, enum diff_by *ret, struct error *err)
{
    static const char *const words[DIFF_BYS] = {"op",       "scope",  "module",
                                                "category", "source", "kind"};

    *ret = DIFF_OP;
    for (int by = 0; by < DIFF_BYS; by++) {
        if (str_equal(word, str_of(words[by])))
            *ret = (enum diff_by)by;
        else if (by == DIFF_OP && word.count == 0)
            return OK;
    }
    return str_equal(word, str_of(words[*ret]))
               ? OK
               : fail(err, ERR_INVALID, "by=%.*s: one of op, scope, module, category, source, kind",
                      STR_ARG(word));
}

static void put_table(const struct shown *shown, uint32_t row_count, struct table *ret)
{
    *ret = (struct table){.columns = columns,
                          .column_count = COLUMN_SIZE, /* without what is only sorted by */
                          .row_count_all = row_count,
                          .total_ps = shown->total_ps};
}

static enum status show(const struct measured sides[2], const struct diff_rows *rows,
                        const struct page *page, struct arena *arena, struct table *ret,
                        struct error *err)
{
    struct shown shown = {.sides = sides,
                          .rows = rows->items,
                          .total_ps = sides[1].told.mean_ps - sides[0].told.mean_ps};
    struct table_source source = {.columns = columns,
                                  .column_count = COLUMN_COUNT,
                                  .row_count = rows->count,
                                  .cell = cell_at,
                                  .data = &shown};
    uint32_t *order;

    TRY(table_order(&source, page->sort, "-size_ps,name", arena, &order, err));
    put_table(&shown, rows->count, ret);
    source.column_count = COLUMN_SIZE;
    table_fill(&source, order, page, arena, ret);
    return OK;
}

enum status diff_runs(const struct diff_side *a, const struct diff_side *b, struct str by,
                      const struct page *page, struct arena *arena, struct diff *ret,
                      struct error *err)
{
    struct measured sides[2];
    struct diff_rows rows;
    struct str ignored;
    bool a_steps, b_steps;
    enum diff_by how;

    *ret = (struct diff){.by = by.count > 0 ? by : STR("op")};
    TRY(by_of(by, &how, err));
    TRY(diff_has_steps(a, arena, &a_steps, &ignored, err));
    TRY(diff_has_steps(b, arena, &b_steps, &ignored, err));
    ret->by_steps = a_steps && b_steps;
    TRY(diff_measure(a, ret->by_steps, DIFF_ALL, arena, &sides[0], err));
    TRY(diff_measure(b, ret->by_steps, DIFF_ALL, arena, &sides[1], err));
    ret->a = sides[0].told;
    ret->b = sides[1].told;
    if (ret->by_steps)
        ret->step = shift_of(sides[0].durs_ps, sides[0].step_count, sides[1].durs_ps,
                             sides[1].step_count, 0.95);
    sides[0].on_path_ps = sides[1].on_path_ps = NULL;
    if (ret->by_steps) {
        TRY(diff_paths(a, &sides[0], arena, err));
        TRY(diff_paths(b, &sides[1], arena, err));
    }
    diff_join(sides, how, arena, &rows);
    ret->matched_share = rows.matched_share;
    ret->sure_share = rows.sure_share;
    ret->shapes = shapes_of(sides, &rows);
    add_rest(sides, arena, &rows);
    return show(sides, &rows, page, arena, &ret->table, err);
}

enum status diff_prepare(const struct diff_side *side, struct arena *arena, struct error *err)
{
    struct measured measured;
    struct str ignored;
    bool by_steps;

    TRY(diff_has_steps(side, arena, &by_steps, &ignored, err));
    return diff_measure(side, by_steps, DIFF_ALL, arena, &measured, err);
}
