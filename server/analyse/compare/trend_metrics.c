/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a run that trends keep, taken from its comparison and its roofline. */
#include "analyse/compare/trend_metrics.h"

#include <math.h>

#include "analyse/compare/compare.h"
#include "analyse/ops/roofline.h"

enum { FIGURES_MAX = 32, WHOLE = 1000000000, OP_NAME_BYTES_MAX = 200 };

static const struct {
    const char *name, *group, *key; /* of the row in compare.h that it is; NULL: none */
    enum unit unit;
    bool is_of_steps;
} known[] = {
    {"step_min", "step", "min", UNIT_PS, true},
    {"step_mean", "step", "mean", UNIT_PS, true},
    {"step_p95", "step", "p95", UNIT_PS, true},
    {"step_max", "step", "max", UNIT_PS, true},
    {"share_compute", "time", "compute", UNIT_SHARE, false},
    {"share_communication", "time", "communication", UNIT_SHARE, false},
    {"share_copy", "time", "copy", UNIT_SHARE, false},
    {"share_host", "time", "host", UNIT_SHARE, false},
    {"share_input", "time", "input", UNIT_SHARE, false},
    {"share_compile", "time", "compile", UNIT_SHARE, false},
    {"share_other", "time", "other", UNIT_SHARE, false},
    {"share_idle", "time", "idle", UNIT_SHARE, false},
    {"memory_peak", "memory", "peak", UNIT_BYTES, false},
    {"compile_time", "compile", "time", UNIT_PS, false},
    {"compile_count", "compile", "count", UNIT_COUNT, false},
    {"utilisation", NULL, NULL, UNIT_SHARE, false},
};

const char *trend_figure_name(size_t index, enum unit *ret_unit)
{
    if (index >= COUNT(known))
        return NULL;
    *ret_unit = known[index].unit;
    return known[index].name;
}

bool trend_more_is_worse(struct str name)
{
    return !str_equal(name, STR("utilisation")) && !str_equal(name, STR("share_compute"));
}

static struct trend_figure figure(struct str name, enum unit unit, int64_t value)
{
    return (struct trend_figure){
        .name = name, .unit = unit, .known = true, .value = value, .reason = STR("")};
}

static struct trend_figure unknown(struct str name, enum unit unit, struct str reason)
{
    return (struct trend_figure){.name = name, .unit = unit, .reason = reason};
}

static const struct compare_row *find_row(const struct comparison *all, const char *group,
                                          const char *key)
{
    for (uint32_t i = 0; i < all->row_count; i++) {
        if (strcmp(all->rows[i].group, group) == 0 && str_equal(all->rows[i].key, str_of(key)))
            return &all->rows[i];
    }
    return NULL;
}

/* A kind of which there is no row took no time. */
static struct trend_figure share_of(size_t which, const struct comparison *all, bool has_devices)
{
    const struct compare_row *row = find_row(all, known[which].group, known[which].key);
    struct str name = str_of(known[which].name);
    int64_t mean_ps = all->sides[0].mean_ps;

    if (!has_devices || mean_ps <= 0)
        return unknown(name, UNIT_SHARE, STR("no work of a device was recorded"));
    int64_t part_ps = row == NULL ? 0 : row->values[0].of.integer;
    return figure(name, UNIT_SHARE, llround((double)part_ps / (double)mean_ps * WHOLE));
}

static struct trend_figure figure_of(size_t which, const struct comparison *all, bool has_devices)
{
    struct str name = str_of(known[which].name);
    const struct compare_row *row;

    if (known[which].is_of_steps && !all->by_steps)
        return unknown(name, known[which].unit, STR("the run has no steps"));
    if (known[which].unit == UNIT_SHARE)
        return share_of(which, all, has_devices);
    row = find_row(all, known[which].group, known[which].key);
    if (row == NULL)
        return unknown(name, known[which].unit, STR("the run does not record it"));
    if (row->values[0].kind != CELL_INTEGER)
        return unknown(name, known[which].unit, row->values[0].of.text);
    return figure(name, known[which].unit, row->values[0].of.integer);
}

/* Of the roofline's whole program: what its FLOPs take at the peak, of what its ops took. */
static enum status utilisation(const struct diff_side *side, struct arena *arena,
                               struct trend_figure *ret, struct error *err)
{
    const struct page page = {.limit = 1};
    struct str name = STR("utilisation");
    struct roofline roofs;
    struct table table;

    TRY(roofline(side->run, side->restriction, &page, arena, &table, &roofs, err));
    double seconds = (double)roofs.self_ps * 1e-12;
    if (roofs.missing.count > 0)
        *ret = unknown(name, UNIT_SHARE, roofs.missing);
    else if (roofs.unknown_count >= roofs.op_count || seconds <= 0)
        *ret = unknown(name, UNIT_SHARE, STR("no op has a known number of FLOPs"));
    else if (isnan(roofs.compute_s))
        *ret = unknown(name, UNIT_SHARE, STR("the device's peak FLOPs are not known"));
    else
        *ret = figure(name, UNIT_SHARE, llround(roofs.compute_s / seconds * WHOLE));
    return OK;
}

static bool add_to_named(struct trend_figures *figures, uint32_t first, struct str name,
                         int64_t self_ps)
{
    for (uint32_t i = first; i < figures->count; i++) {
        if (str_equal(figures->items[i].name, name)) {
            figures->items[i].value += self_ps;
            return true;
        }
    }
    return false;
}

/* Those of one name are one, as `check --metric op:NAME` takes them. */
static void add_ops(const struct comparison *all, struct arena *arena, struct trend_figures *ret)
{
    uint32_t first = ret->count;

    for (uint32_t i = 0; i < all->row_count && all->by_steps; i++) {
        const struct compare_row *row = &all->rows[i];

        if (strcmp(row->group, "op") != 0 || row->values[0].kind != CELL_INTEGER ||
            row->name.count > OP_NAME_BYTES_MAX)
            continue;
        struct str name = str_format(arena, "op:%.*s", STR_ARG(row->name));
        if (!add_to_named(ret, first, name, row->values[0].of.integer) &&
            ret->count < FIGURES_MAX + TREND_OPS_MAX)
            ret->items[ret->count++] = figure(name, UNIT_PS, row->values[0].of.integer);
    }
}

static enum status figures_of(const struct diff_side *side, struct arena *arena,
                              struct trend_figures *ret, struct error *err)
{
    struct comparison all;
    bool has_devices = false;

    *ret = (struct trend_figures){
        .items = arena_array(arena, struct trend_figure, FIGURES_MAX + TREND_OPS_MAX)};
    TRY(compare_runs(side, 1, TREND_OPS_MAX, arena, &all, err));
    for (uint32_t i = 0; i < all.row_count; i++)
        has_devices |= strcmp(all.rows[i].group, "op") == 0;
    for (size_t i = 0; i < COUNT(known); i++) {
        struct trend_figure *item = &ret->items[ret->count++];

        if (known[i].group != NULL)
            *item = figure_of(i, &all, has_devices);
        else
            TRY(utilisation(side, arena, item, err));
    }
    add_ops(&all, arena, ret);
    return OK;
}

enum status trend_figures(const struct run_traces *run, struct arena *arena,
                          struct trend_figures *ret, struct error *err)
{
    const struct restriction whole = {0};
    const struct diff_side side = {.run = run, .restriction = &whole};

    return figures_of(&side, arena, ret, err);
}

enum status trend_figure_of(const struct diff_side *side, struct str name, struct arena *arena,
                            struct trend_figure *ret, struct error *err)
{
    struct trend_figures all;

    *ret = unknown(name, UNIT_NONE, STR("there is no such figure"));
    TRY(figures_of(side, arena, &all, err));
    for (uint32_t i = 0; i < all.count; i++) {
        if (str_equal(all.items[i].name, name))
            *ret = all.items[i];
    }
    return OK;
}
