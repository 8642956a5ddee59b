/* SPDX-License-Identifier: Apache-2.0 */
/* The ops of many runs as rows: those of the first run, and what only others have.
 *
 *   run 0   dot.7 ─────┐   fusion.3
 *   run 1   dot.12 ────┤                    new: all-reduce.1 ──┐ by module, scope and name
 *   run 2   dot.9 ─────┘                    new: all-reduce.1 ──┘ one row
 *
 * Each other run is matched with the first (match.h). A group of ops that were split or merged is
 * one row, in the first run's first name; two rows that one match joins become one for good.
 */
#include <stdlib.h>

#include "analyse/compare/compare_parts.h"
#include "analyse/table.h"
#include "trace/ps.h"

struct op_row {
    const struct match_op *op; /* that names the row */
    int64_t *self_ps;          /* [run]: a step */
    bool *is_there;            /* [run] */
    int64_t most_ps;           /* in any run: the order */
    uint32_t ordinal;
};

struct op_rows {
    struct op_row *items;
    uint32_t count, capacity;
    uint32_t *row_of; /* of each item of the first run; a joined row leads to another */
    uint32_t *joined; /* [row]: itself, or the row that took it */
    struct comparing *all;
};

static uint32_t find_row(struct op_rows *rows, uint32_t row)
{
    while (rows->joined[row] != row)
        row = rows->joined[row] = rows->joined[rows->joined[row]];
    return row;
}

static uint32_t add_row(struct op_rows *rows, const struct match_op *op)
{
    uint32_t runs = rows->all->count;

    rows->items[rows->count] =
        (struct op_row){.op = op,
                        .self_ps = arena_array(rows->all->arena, int64_t, runs),
                        .is_there = arena_array(rows->all->arena, bool, runs),
                        .ordinal = rows->count};
    rows->joined[rows->count] = rows->count;
    return rows->count++;
}

static void put_op(struct op_rows *rows, uint32_t row, uint32_t run, uint32_t item)
{
    const struct measured *measured = &rows->all->measured[run];

    ps_add(&rows->items[row].self_ps[run], measured->sums[item].self_ps);
    rows->items[row].is_there[run] = true;
}

/* The earlier row takes what the later one has. */
static uint32_t join_rows(struct op_rows *rows, uint32_t a, uint32_t b)
{
    uint32_t to = a < b ? a : b, from = a < b ? b : a;

    if (a == b)
        return a;
    for (uint32_t run = 0; run < rows->all->count; run++) {
        ps_add(&rows->items[to].self_ps[run], rows->items[from].self_ps[run]);
        rows->items[to].is_there[run] =
            rows->items[to].is_there[run] || rows->items[from].is_there[run];
    }
    rows->joined[from] = to;
    return to;
}

/* The row of ops that the first run lacks, by what they are called; made where there is none. */
static uint32_t row_of_new(struct op_rows *rows, uint32_t first_new, const struct match_op *op)
{
    for (uint32_t row = first_new; row < rows->count; row++) {
        const struct match_op *known = rows->items[row].op;

        if (str_equal(known->name, op->name) && str_equal(known->scope, op->scope) &&
            str_equal(known->called, op->called))
            return row;
    }
    return add_row(rows, op);
}

static void take_run(struct op_rows *rows, uint32_t run)
{
    const struct match_run *a = &rows->all->measured[0].ops, *b = &rows->all->measured[run].ops;
    struct match *matches;
    uint32_t count = match_ops(a->items, a->count, b->items, b->count, rows->all->arena, &matches);

    for (uint32_t i = 0; i < count; i++) {
        const struct match *match = &matches[i];
        uint32_t row = UINT32_MAX;

        for (uint32_t k = 0; k < match->a_count; k++) {
            uint32_t of = find_row(rows, rows->row_of[match->a[k]]);

            row = row == UINT32_MAX ? of : join_rows(rows, row, of);
        }
        for (uint32_t k = 0; k < match->b_count; k++) {
            uint32_t to =
                row != UINT32_MAX ? row : row_of_new(rows, a->count, &b->items[match->b[k]]);

            put_op(rows, to, run, match->b[k]);
        }
    }
}

static int by_most(const void *a, const void *b)
{
    const struct op_row *x = a, *y = b;

    if (x->most_ps != y->most_ps)
        return x->most_ps > y->most_ps ? -1 : 1;
    return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

static uint32_t sort_rows(struct op_rows *rows)
{
    uint32_t kept = 0;

    for (uint32_t row = 0; row < rows->count; row++) {
        struct op_row *item = &rows->items[row];

        if (rows->joined[row] != row)
            continue;
        for (uint32_t run = 0; run < rows->all->count; run++) {
            item->self_ps[run] /= rows->all->measured[run].step_count;
            item->most_ps = item->self_ps[run] > item->most_ps ? item->self_ps[run] : item->most_ps;
        }
        rows->items[kept++] = *item;
    }
    if (kept > 0)
        qsort(rows->items, kept, sizeof *rows->items, by_most);
    return kept;
}

void compare_ops(struct comparing *all, uint32_t op_limit)
{
    uint32_t first = all->measured[0].ops.count, most = 0;
    struct op_rows rows = {.all = all};

    for (uint32_t run = 0; run < all->count; run++)
        most += all->measured[run].ops.count;
    rows.items = arena_array(all->arena, struct op_row, most);
    rows.joined = arena_array(all->arena, uint32_t, most);
    rows.row_of = arena_array(all->arena, uint32_t, first);
    for (uint32_t item = 0; item < first; item++) {
        rows.row_of[item] = add_row(&rows, &all->measured[0].ops.items[item]);
        put_op(&rows, item, 0, item);
    }
    for (uint32_t run = 1; run < all->count; run++)
        take_run(&rows, run);
    all->out->op_count = sort_rows(&rows);
    for (uint32_t i = 0; i < all->out->op_count && i < op_limit; i++) {
        const struct op_row *item = &rows.items[i];
        struct compare_row *row = compare_add(all, "op", item->op->name, UNIT_PS);

        row->scope = item->op->scope;
        row->module = item->op->called;
        for (uint32_t run = 0; run < all->count; run++)
            row->values[run] = item->is_there[run] ? cell_integer(item->self_ps[run])
                                                   : cell_null(STR("no op of the run matches it"));
        compare_mark(row, all->count);
    }
}
