/* SPDX-License-Identifier: Apache-2.0 */
/* Measures each run by itself, lays the figures side by side, and marks the best and the worst. */
#include "analyse/compare/compare.h"

#include <stdlib.h>

#include "analyse/compare/compare_parts.h"
#include "analyse/compiles/compiles.h"
#include "analyse/memory/memory.h"
#include "analyse/table.h"
#include "trace/ps.h"

struct compare_row *compare_add(struct comparing *all, const char *group, struct str key,
                                enum unit unit)
{
    struct comparison *out = all->out;

    if (out->row_count == all->capacity) {
        uint32_t capacity = all->capacity == 0 ? 64 : all->capacity * 2;
        struct compare_row *rows = arena_array(all->arena, struct compare_row, capacity);

        if (out->row_count > 0)
            memcpy(rows, out->rows, out->row_count * sizeof *rows);
        out->rows = rows;
        all->capacity = capacity;
    }
    struct compare_row *row = &out->rows[out->row_count++];
    *row = (struct compare_row){.group = group,
                                .key = key,
                                .name = key,
                                .scope = STR(""),
                                .module = STR(""),
                                .unit = unit,
                                .values = arena_array(all->arena, struct cell, all->count),
                                .best = COMPARE_NO_BEST};
    for (uint32_t i = 0; i < all->count; i++)
        row->values[i] = cell_null(STR(""));
    return row;
}

void compare_mark(struct compare_row *row, uint32_t count)
{
    int64_t least = 0, most = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (row->values[i].kind != CELL_INTEGER)
            continue;
        int64_t value = row->values[i].of.integer;
        if (row->best == COMPARE_NO_BEST || value < least) {
            least = value;
            most = row->best == COMPARE_NO_BEST ? value : most;
            row->best = (int32_t)i;
        }
        most = value > most ? value : most;
    }
    if (least == most)
        row->best = COMPARE_NO_BEST;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

enum { FIGURE_MIN, FIGURE_P50, FIGURE_MEAN, FIGURE_P95, FIGURE_MAX, FIGURES };

/* Nearest rank but for the median, which lies between the middle two, as everywhere. */
static void figures_of(const struct measured *measured, struct arena *arena, int64_t ret[FIGURES])
{
    uint32_t count = measured->step_count;
    int64_t *sorted = arena_array(arena, int64_t, count);

    memcpy(sorted, measured->durs_ps, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_value);
    ret[FIGURE_MIN] = sorted[0];
    ret[FIGURE_MAX] = sorted[count - 1];
    ret[FIGURE_P95] = sorted[((uint64_t)count * 95 + 99) / 100 - 1];
    ret[FIGURE_MEAN] = measured->told.mean_ps;
    ret[FIGURE_P50] = median_of(sorted, count);
}

static void add_steps(struct comparing *all)
{
    static const char *const words[FIGURES] = {"min", "median", "mean", "p95", "max"};
    struct compare_row *rows[FIGURES];
    struct compare_row *counts = compare_add(all, "step", STR("count"), UNIT_COUNT);

    for (uint32_t i = 0; i < all->count; i++)
        counts->values[i] = cell_integer(all->measured[i].told.step_count);
    uint32_t first = all->out->row_count;
    for (int figure = 0; figure < FIGURES; figure++)
        compare_add(all, "step", str_of(words[figure]), UNIT_PS);
    for (int figure = 0; figure < FIGURES; figure++)
        rows[figure] = &all->out->rows[first + (uint32_t)figure];
    for (uint32_t i = 0; i < all->count; i++) {
        int64_t figures[FIGURES];

        figures_of(&all->measured[i], all->arena, figures);
        for (int figure = 0; figure < FIGURES; figure++)
            rows[figure]->values[i] = cell_integer(figures[figure]);
    }
    for (int figure = 0; figure < FIGURES; figure++)
        compare_mark(rows[figure], all->count);
}

/* Kinds that no run has are no rows. */
static void add_kinds(struct comparing *all)
{
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        bool any = false;

        for (uint32_t i = 0; i < all->count; i++)
            any = any || all->measured[i].told.kinds_ps[kind] != 0;
        if (!any)
            continue;
        struct compare_row *row =
            compare_add(all, "time", str_of(kind_word((enum kind)kind)), UNIT_PS);
        for (uint32_t i = 0; i < all->count; i++)
            row->values[i] = cell_integer(all->measured[i].told.kinds_ps[kind]);
        compare_mark(row, all->count);
    }
}

static enum status add_memory(struct comparing *all, struct error *err)
{
    struct compare_row *row = compare_add(all, "memory", STR("peak"), UNIT_BYTES);

    for (uint32_t i = 0; i < all->count; i++) {
        struct memory_summary memory;

        TRY(memory_summary(all->sides[i].run, all->sides[i].restriction, all->arena, &memory, err));
        row->values[i] =
            memory.reason.count > 0 ? cell_null(memory.reason) : cell_integer(memory.peak_bytes);
    }
    compare_mark(row, all->count);
    return OK;
}

static enum status add_compiles(struct comparing *all, struct error *err)
{
    uint32_t at = all->out->row_count;

    compare_add(all, "compile", STR("count"), UNIT_COUNT);
    compare_add(all, "compile", STR("time"), UNIT_PS);
    struct compare_row *counts = &all->out->rows[at], *times = &all->out->rows[at + 1];
    for (uint32_t i = 0; i < all->count; i++) {
        struct compiles compiles;
        int64_t total_ps = 0;

        TRY(compiles_find(all->sides[i].run, all->sides[i].restriction, NULL, all->arena, &compiles,
                          err));
        for (uint32_t k = 0; k < compiles.count; k++)
            ps_add(&total_ps, compile_total(&compiles.items[k]));
        struct str missing = compiles.count == 0 ? compiles_missing(all->sides[i].run) : STR("");
        counts->values[i] = missing.count > 0 ? cell_null(missing) : cell_integer(compiles.count);
        times->values[i] = missing.count > 0 ? cell_null(missing) : cell_integer(total_ps);
    }
    compare_mark(times, all->count);
    return OK;
}

static enum status measure(const struct diff_side *sides, uint32_t count, struct arena *arena,
                           struct measured **ret, bool *ret_by_steps, struct error *err)
{
    *ret_by_steps = true;
    for (uint32_t i = 0; i < count; i++) {
        struct str ignored;
        bool has_steps;

        TRY(diff_has_steps(&sides[i], arena, &has_steps, &ignored, err));
        *ret_by_steps = *ret_by_steps && has_steps;
    }
    *ret = arena_array(arena, struct measured, count);
    for (uint32_t i = 0; i < count; i++)
        TRY(diff_measure(&sides[i], *ret_by_steps, DIFF_ALL, arena, &(*ret)[i], err));
    return OK;
}

enum status compare_runs(const struct diff_side *sides, uint32_t count, uint32_t op_limit,
                         struct arena *arena, struct comparison *ret, struct error *err)
{
    struct measured *measured;
    struct comparing all = {.sides = sides, .count = count, .arena = arena, .out = ret};

    *ret = (struct comparison){0};
    if (count == 0 || count > COMPARE_RUNS_MAX)
        return fail(err, ERR_INVALID, "%u runs to compare; 1 to %d are possible", count,
                    COMPARE_RUNS_MAX);
    TRY(measure(sides, count, arena, &measured, &ret->by_steps, err));
    all.measured = measured;
    ret->sides = arena_array(arena, struct diff_measured, count);
    for (uint32_t i = 0; i < count; i++)
        ret->sides[i] = measured[i].told;
    add_steps(&all);
    add_kinds(&all);
    compare_ops(&all, op_limit);
    TRY(add_memory(&all, err));
    TRY(add_compiles(&all, err));
    compare_setup(&all);
    return OK;
}
