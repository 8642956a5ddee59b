/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the items of both sides into rows, sums them, and tests each row by its values in the
 * steps. */
#include "analyse/compare/diff_parts.h"

#include <stdlib.h>

#include "base/names.h"
#include "trace/ps.h"

struct joining {
    const struct measured *sides; /* [2] */
    struct arena *arena;
    struct diff_rows *ret;
    uint32_t *row_of[2];    /* by item */
    struct str *modules[2]; /* by item: the row of its module; only by=module */
};

static struct str category_of(const struct measured *side, uint32_t item)
{
    const struct host_trace *host = side->ops.hosts[item];

    return trace_name(host->trace, host->attribution->ops[side->ops.ops[item]].category);
}

static enum kind kind_of_item(const struct measured *side, uint32_t item)
{
    return side->ops.hosts[item]->attribution->ops[side->ops.ops[item]].kind;
}

static struct str key_of(const struct joining *joining, int of, uint32_t item, enum diff_by by)
{
    const struct measured *side = &joining->sides[of];
    const struct match_op *op = &side->ops.items[item];

    switch (by) {
    case DIFF_SCOPE:
        return op->scope.count > 0 ? op->scope : STR("(no scope)");
    case DIFF_MODULE:
        return joining->modules[of][item];
    case DIFF_CATEGORY: {
        struct str category = category_of(side, item);
        return category.count > 0 ? category : STR("(no category)");
    }
    case DIFF_SOURCE:
        return op->source.count > 0 ? op->source : STR("(no source)");
    case DIFF_KIND:
        return str_of(kind_word(kind_of_item(side, item)));
    case DIFF_OP:
    case DIFF_BYS:
        break;
    }
    return op->name;
}

static struct str name_of_module(const struct joining *joining, int side, uint32_t item)
{
    struct str called = joining->sides[side].ops.items[item].called;

    return called.count > 0 ? called : joining->modules[side][item];
}

/* Rows that have one text are one. */
static void join_by_key(struct joining *joining, enum diff_by by)
{
    struct names *keys = names_create();

    if (by == DIFF_MODULE)
        diff_module_texts(joining->sides, joining->arena, joining->modules);
    joining->ret->items =
        arena_array(joining->arena, struct diff_row,
                    (size_t)joining->sides[0].ops.count + joining->sides[1].ops.count);
    for (int side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < joining->sides[side].ops.count; i++) {
            struct str key = key_of(joining, side, i, by);
            uint32_t row = names_add(keys, key) - 1; /* no key is "", which is 0 */
            struct diff_row *at = &joining->ret->items[row];

            if (row == joining->ret->count) {
                joining->ret->count++;
                *at = (struct diff_row){.key = key,
                                        .name = key,
                                        .first = {UINT32_MAX, UINT32_MAX},
                                        .how = MATCH_NAME,
                                        .confidence = 1};
            }
            if (at->first[side] == UINT32_MAX)
                at->first[side] = i;
            at->side_name[side] = by == DIFF_MODULE ? name_of_module(joining, side, i) : key;
            joining->row_of[side][i] = row;
        }
    }
    names_destroy(keys);
}

/* "fusion.3", or "fusion.3 + 2" of a group. */
static struct str group_name(const struct joining *joining, int side, const uint32_t *items,
                             uint32_t count)
{
    if (count == 0)
        return STR("");
    struct str first = joining->sides[side].ops.items[items[0]].name;
    return count == 1 ? first : str_format(joining->arena, "%.*s + %u", STR_ARG(first), count - 1);
}

/* Of a group that makes several shapes none is told. */
static struct str group_shape(const struct joining *joining, int side, const uint32_t *items,
                              uint32_t count)
{
    const struct match_op *ops = joining->sides[side].ops.items;

    for (uint32_t i = 1; i < count; i++) {
        if (!str_equal(ops[items[i]].shape, ops[items[0]].shape))
            return STR("");
    }
    return count == 0 ? STR("") : ops[items[0]].shape;
}

static void join_by_match(struct joining *joining)
{
    struct match *matches;
    uint32_t count = match_ops(joining->sides[0].ops.items, joining->sides[0].ops.count,
                               joining->sides[1].ops.items, joining->sides[1].ops.count,
                               joining->arena, &matches);

    joining->ret->count = count;
    joining->ret->items = arena_array(joining->arena, struct diff_row, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct match *match = &matches[i];
        struct diff_row *row = &joining->ret->items[i];

        *row = (struct diff_row){
            .first = {match->a_count > 0 ? match->a[0] : UINT32_MAX,
                      match->b_count > 0 ? match->b[0] : UINT32_MAX},
            .side_name = {group_name(joining, 0, match->a, match->a_count),
                          group_name(joining, 1, match->b, match->b_count)},
            .shape = {group_shape(joining, 0, match->a, match->a_count),
                      group_shape(joining, 1, match->b, match->b_count)},
            .how = match->how,
            .confidence = match->confidence,
        };
        row->name = row->side_name[match->b_count > 0];
        for (uint32_t k = 0; k < match->a_count; k++)
            joining->row_of[0][match->a[k]] = i;
        for (uint32_t k = 0; k < match->b_count; k++)
            joining->row_of[1][match->b[k]] = i;
        int side = match->b_count > 0;
        uint32_t item = row->first[side];
        const struct match_op *op = &joining->sides[side].ops.items[item];
        row->key = op->called.count == 0 ? op->name
                                         : str_format(joining->arena, "%.*s/%.*s",
                                                      STR_ARG(op->called), STR_ARG(op->name));
    }
}

static void sum_rows(const struct joining *joining)
{
    for (int side = 0; side < 2; side++) {
        const struct measured *measured = &joining->sides[side];

        for (uint32_t i = 0; i < measured->ops.count; i++) {
            struct diff_sums *sums = &joining->ret->items[joining->row_of[side][i]].sums[side];

            ps_add(&sums->self_ps, measured->sums[i].self_ps);
            sums->count += measured->sums[i].count;
            if (measured->on_path_ps != NULL)
                ps_add(&joining->ret->items[joining->row_of[side][i]].on_path_ps[side],
                       measured->on_path_ps[i]);
        }
    }
}

/* Self times of a row in each step: [row * step_count + step]. */
static int64_t *row_series(const struct joining *joining, int side)
{
    const struct measured *measured = &joining->sides[side];
    uint32_t steps = measured->step_count;
    int64_t *series = memory_resize(NULL, (size_t)joining->ret->count * steps + 1, sizeof *series);

    memset(series, 0, (size_t)joining->ret->count * steps * sizeof *series);
    for (uint32_t i = 0; i < measured->ops.count; i++) {
        int64_t *to = series + (size_t)joining->row_of[side][i] * steps;

        for (uint32_t step = 0; step < steps; step++)
            to[step] += measured->series[(size_t)i * steps + step];
    }
    return series;
}

static void test_rows(const struct joining *joining)
{
    const struct measured *a = &joining->sides[0], *b = &joining->sides[1];

    if (a->series == NULL || b->series == NULL)
        return;
    int64_t *of_a = row_series(joining, 0), *of_b = row_series(joining, 1);
    for (uint32_t i = 0; i < joining->ret->count; i++) {
        struct diff_row *row = &joining->ret->items[i];

        row->p_known = true;
        row->p = mann_whitney(of_a + (size_t)i * a->step_count, a->step_count,
                              of_b + (size_t)i * b->step_count, b->step_count);
    }
    free(of_a);
    free(of_b);
}

/* Of the time of both runs' ops, a step of each: what found its partner. */
static void weigh(struct joining *joining)
{
    double all = 0, matched = 0, sure = 0;

    for (uint32_t i = 0; i < joining->ret->count; i++) {
        const struct diff_row *row = &joining->ret->items[i];
        double weight = 0;

        for (int side = 0; side < 2; side++)
            weight += (double)row->sums[side].self_ps / joining->sides[side].step_count;
        all += weight;
        if (row->first[0] == UINT32_MAX || row->first[1] == UINT32_MAX)
            continue;
        matched += weight;
        sure += row->confidence >= 0.9 ? weight : 0;
    }
    joining->ret->matched_share = all > 0 ? matched / all : 1;
    joining->ret->sure_share = all > 0 ? sure / all : 1;
}

void diff_join(const struct measured sides[2], enum diff_by by, struct arena *arena,
               struct diff_rows *ret)
{
    struct joining joining = {.sides = sides, .arena = arena, .ret = ret};

    *ret = (struct diff_rows){0};
    for (int side = 0; side < 2; side++)
        joining.row_of[side] = arena_array(arena, uint32_t, sides[side].ops.count);
    if (by == DIFF_OP)
        join_by_match(&joining);
    else
        join_by_key(&joining, by);
    sum_rows(&joining);
    test_rows(&joining);
    weigh(&joining);
}
