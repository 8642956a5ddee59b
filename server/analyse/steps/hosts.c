/* SPDX-License-Identifier: Apache-2.0 */
/* Aligns the steps of hosts by number or turn, finds who came last in each, and sums what that
 * cost. */
#include "analyse/steps/hosts.h"

#include <stdlib.h>

#include "analyse/stats/map64.h"
#include "analyse/stats/stats.h"
#include "trace/ps.h"

enum {
    CELLS_MAX = 1 << 20, /* 80 MB */
    STRAGGLER_STEPS_MIN = 3,
    STRAGGLER_SHARE = 100 /* of the median step */
};

const char *lanes_basis_word(enum lanes_basis basis)
{
    static const char *const words[] = {
        [BASIS_NONE] = "none", [BASIS_COMMUNICATION] = "communication", [BASIS_END] = "end"};

    return words[basis];
}

struct gathering {
    const struct run_traces *run;
    struct steps *steps;
    struct lanes *lanes;
    struct lane_total *totals;
    struct lane_step *cells;
    uint32_t *first_lane; /* of each host */
    const uint32_t *rows; /* of each step: its aligned one; UINT32_MAX not counted */
};

/* Do all steps have a number of their host's own? */
static bool all_numbered(const struct steps *steps, uint32_t host_count)
{
    struct map64 seen = {0};
    bool ret = steps->count > 0;

    for (uint32_t i = 0; i < steps->count && ret; i++) {
        const struct step *step = &steps->items[i];
        uint64_t key = (uint64_t)step->number * host_count + step->host;

        ret = step->numbered && *map64_at(&seen, key, UINT32_MAX) == UINT32_MAX;
        if (ret)
            *map64_at(&seen, key, UINT32_MAX) = i;
    }
    map64_free(&seen);
    return ret;
}

/* Which aligned step each counted step is; steps come by start, so aligned ones do too. */
static const uint32_t *align_steps(const struct run_traces *run, const struct steps *steps,
                                   uint32_t steps_max, struct arena *arena, struct lanes *ret)
{
    uint32_t *rows = arena_array(arena, uint32_t, steps->count);
    uint32_t *turns = arena_array(arena, uint32_t, run->host_count);
    int64_t *numbers = arena_array(arena, int64_t, steps->count);
    struct map64 row_of = {0};

    ret->by_number = all_numbered(steps, run->host_count);
    ret->numbers = numbers;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct step *step = &steps->items[i];
        int64_t key = ret->by_number ? step->number : (int64_t)turns[step->host]++;

        rows[i] = UINT32_MAX;
        if (!step_counts(steps, step))
            continue;

        uint32_t *row = map64_at(&row_of, (uint64_t)key, UINT32_MAX);

        if (*row == UINT32_MAX && ret->step_count == steps_max) {
            ret->dropped++;
            continue;
        }
        if (*row == UINT32_MAX) {
            *row = ret->step_count;
            numbers[ret->step_count++] = step->number;
        }
        rows[i] = *row;
    }
    map64_free(&row_of);
    return rows;
}

static void fill_cell(struct lane_step *cell, const struct step *step,
                      const struct device_time *time)
{
    *cell = (struct lane_step){
        .there = true,
        .start_ps = step->start_ps,
        .dur_ps = step->dur_ps,
        .communication_ps = time->kinds_ps[KIND_COMMUNICATION],
        .busy_ps = time->busy_ps,
        .op_wait_ps = time->wait_ps,
        .hidden_ps = time->hidden_ps,
    };
}

static void take_step(void *data, const struct step *step, const struct host_devices *devices,
                      const struct device_time *lanes)
{
    struct gathering *gathering = data;
    uint32_t row = gathering->rows[step - gathering->steps->items];
    struct lane_step *cells;

    if (row == UINT32_MAX)
        return;
    cells = &gathering->cells[(size_t)row * gathering->lanes->lane_count +
                              gathering->first_lane[step->host]];
    if (gathering->lanes->by == LANES_BY_HOST) {
        fill_cell(cells, step, &step->time);
        return;
    }
    for (uint32_t i = 0; i < devices->count; i++) {
        if (!step->on_device || devices->devices[i] == step->device)
            fill_cell(&cells[i], step, &lanes[i]);
    }
}

/* Who came last in one step, and what that cost the others. */
static bool compare(struct lane_step *cells, uint32_t count, enum lanes_basis basis)
{
    int64_t least_ps = INT64_MAX, most_ps = INT64_MIN;
    uint32_t there = 0, last = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t ps = basis == BASIS_COMMUNICATION ? cells[i].communication_ps
                                                  : -(cells[i].start_ps + cells[i].dur_ps);

        if (!cells[i].there)
            continue;
        there++;
        last = ps < least_ps ? i : last;
        least_ps = ps < least_ps ? ps : least_ps;
        most_ps = ps > most_ps ? ps : most_ps;
    }
    if (there < 2 || most_ps == least_ps)
        return there >= 2;
    cells[last].last = true;
    cells[last].lag_ps = most_ps - least_ps;
    for (uint32_t i = 0; i < count && basis == BASIS_COMMUNICATION; i++)
        cells[i].wait_ps = cells[i].there ? cells[i].communication_ps - least_ps : 0;
    return true;
}

static enum lanes_basis basis_of(const struct lane_step *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cells[i].there && cells[i].communication_ps > 0)
            return BASIS_COMMUNICATION;
    }
    return BASIS_END;
}

static void sum_lane(const struct lanes *lanes, uint32_t lane, const struct lane_step *cells,
                     int64_t *room, struct lane_total *total)
{
    uint32_t last = 0;

    for (uint32_t row = 0; row < lanes->step_count; row++) {
        const struct lane_step *cell = &cells[(size_t)row * lanes->lane_count + lane];

        if (!cell->there)
            continue;
        total->min_ps =
            total->step_count == 0 || cell->dur_ps < total->min_ps ? cell->dur_ps : total->min_ps;
        total->max_ps = cell->dur_ps > total->max_ps ? cell->dur_ps : total->max_ps;
        room[total->step_count++] = cell->dur_ps;
        ps_add(&total->total_ps, cell->dur_ps);
        ps_add(&total->busy_ps, cell->busy_ps);
        ps_add(&total->communication_ps, cell->communication_ps);
        ps_add(&total->hidden_ps, cell->hidden_ps);
        ps_add(&total->op_wait_ps, cell->op_wait_ps);
        ps_add(&total->wait_ps, cell->wait_ps);
    }
    total->median_ps = median_of(room, total->step_count);
    for (uint32_t row = 0; row < lanes->step_count; row++) {
        const struct lane_step *cell = &cells[(size_t)row * lanes->lane_count + lane];

        if (cell->last)
            room[last++] = cell->lag_ps;
    }
    total->last_count = last;
    total->lag_median_ps = median_of(room, last);
    total->straggler = lanes->compared_count >= STRAGGLER_STEPS_MIN &&
                       last > lanes->compared_count / 2 &&
                       total->lag_median_ps > total->median_ps / STRAGGLER_SHARE;
}

/* Hosts, or devices of hosts; hosts without devices have no lane among devices. */
static void make_lanes(struct gathering *gathering, struct arena *arena)
{
    const struct run_traces *run = gathering->run;
    struct lanes *lanes = gathering->lanes;
    struct host_devices *devices = arena_array(arena, struct host_devices, run->host_count);

    gathering->first_lane = arena_array(arena, uint32_t, run->host_count);
    for (uint32_t host = 0; host < run->host_count; host++) {
        devices[host] = host_devices_of(&run->hosts[host], arena);
        gathering->first_lane[host] = lanes->lane_count;
        lanes->lane_count += lanes->by == LANES_BY_HOST ? 1 : devices[host].count;
    }
    gathering->totals = arena_array(arena, struct lane_total, lanes->lane_count);
    for (uint32_t host = 0; host < run->host_count; host++) {
        struct lane_total *totals = &gathering->totals[gathering->first_lane[host]];

        if (lanes->by == LANES_BY_HOST)
            totals[0] = (struct lane_total){
                .host = host, .device = -1, .device_count = devices[host].count};
        for (uint32_t i = 0; i < devices[host].count && lanes->by == LANES_BY_DEVICE; i++)
            totals[i] = (struct lane_total){
                .host = host, .device = devices[host].devices[i], .device_count = 1};
    }
    lanes->lanes = gathering->totals;
}

void lanes_find(const struct run_traces *run, struct steps *steps, enum lanes_by by,
                struct arena *arena, struct lanes *ret)
{
    struct gathering gathering = {.run = run, .steps = steps, .lanes = ret};

    *ret = (struct lanes){.by = by};
    make_lanes(&gathering, arena);
    if (ret->lane_count == 0)
        return;
    gathering.rows = align_steps(run, steps, CELLS_MAX / ret->lane_count + 1, arena, ret);

    size_t cell_count = (size_t)ret->step_count * ret->lane_count;
    int64_t *room = arena_array(arena, int64_t, ret->step_count);

    gathering.cells = arena_array(arena, struct lane_step, cell_count);
    ret->cells = gathering.cells;
    steps_walk(run, steps, take_step, &gathering);
    ret->basis = basis_of(gathering.cells, cell_count);
    /* Devices of a host end a step with it: only communication tells them apart. */
    if (by == LANES_BY_DEVICE && ret->basis == BASIS_END)
        ret->basis = BASIS_NONE;
    for (uint32_t row = 0; row < ret->step_count && ret->basis != BASIS_NONE; row++)
        ret->compared_count +=
            compare(&gathering.cells[(size_t)row * ret->lane_count], ret->lane_count, ret->basis);
    for (uint32_t lane = 0; lane < ret->lane_count; lane++)
        sum_lane(ret, lane, gathering.cells, room, &gathering.totals[lane]);
    if (ret->compared_count == 0)
        ret->basis = BASIS_NONE;
}
