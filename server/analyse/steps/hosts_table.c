/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts and devices as tables: a row each, or a row each and step. */
#include "analyse/steps/hosts.h"
#include "analyse/table.h"
#include "base/human.h"
#include "trace/ps.h"

enum lane_column {
    LANE_NAME,
    LANE_HOST,
    LANE_DEVICE,
    LANE_DEVICES,
    LANE_STEPS,
    LANE_MEDIAN,
    LANE_MIN,
    LANE_MAX,
    LANE_BUSY,
    LANE_IDLE,
    LANE_BUSY_SHARE,
    LANE_COMMUNICATION,
    LANE_HIDDEN,
    LANE_OP_WAIT,
    LANE_WAIT,
    LANE_WAIT_SHARE,
    LANE_LAST,
    LANE_COMPARED,
    LANE_LAG,
    LANE_SKEW,
    LANE_STRAGGLER,
};

static const struct column lane_columns[] = {
    [LANE_NAME] = {"name", "Name", UNIT_TEXT, true},
    [LANE_HOST] = {"host", "Host", UNIT_TEXT, false},
    [LANE_DEVICE] = {"device", "Device", UNIT_NONE, false},
    [LANE_DEVICES] = {"device_count", "Devices", UNIT_COUNT, true},
    [LANE_STEPS] = {"step_count", "Steps", UNIT_COUNT, true},
    [LANE_MEDIAN] = {"step_median_ps", "Step median", UNIT_PS, true},
    [LANE_MIN] = {"step_min_ps", "Least", UNIT_PS, true},
    [LANE_MAX] = {"step_max_ps", "Most", UNIT_PS, true},
    [LANE_BUSY] = {"busy_ps", "Busy", UNIT_PS, true},
    [LANE_IDLE] = {"idle_ps", "Idle", UNIT_PS, true},
    [LANE_BUSY_SHARE] = {"busy_share", "Busy", UNIT_SHARE, true},
    [LANE_COMMUNICATION] = {"communication_ps", "Communication", UNIT_PS, true},
    [LANE_HIDDEN] = {"hidden_communication_ps", "Hidden", UNIT_PS, false},
    [LANE_OP_WAIT] = {"op_wait_ps", "Ops wait", UNIT_PS, false},
    [LANE_WAIT] = {"wait_ps", "Waits for others", UNIT_PS, true},
    [LANE_WAIT_SHARE] = {"wait_share", "Of steps", UNIT_SHARE, true},
    [LANE_LAST] = {"last_count", "Last in", UNIT_COUNT, true},
    [LANE_COMPARED] = {"compared_count", "Of steps", UNIT_COUNT, true},
    [LANE_LAG] = {"lag_ps", "Late by, median", UNIT_PS, true},
    [LANE_SKEW] = {"skew_ps", "Clock skew", UNIT_PS, true},
    [LANE_STRAGGLER] = {"straggler", "Straggler", UNIT_NONE, true},
};

struct lane_rows {
    const struct run_traces *run;
    const struct lanes *lanes;
    const struct alignment *alignments;
    struct arena *arena;
};

static struct cell share_cell(int64_t part_ps, int64_t whole_ps)
{
    return whole_ps > 0 ? cell_real((double)part_ps / (double)whole_ps)
                        : cell_null(STR("there is no counted step"));
}

static struct cell step_cell(const struct lane_total *lane, int64_t ps)
{
    return lane->step_count > 0 ? cell_integer(ps) : cell_null(STR("there is no counted step"));
}

/* What only devices have. */
static struct cell device_cell(const struct lane_total *lane, int64_t ps)
{
    return lane->device_count > 0 ? step_cell(lane, ps)
                                  : cell_null(STR("no device of the host ran an op"));
}

static struct cell wait_cell(const struct lanes *lanes, struct cell known)
{
    if (lanes->basis == BASIS_COMMUNICATION)
        return known;
    return cell_null(lanes->basis == BASIS_END ? STR("nothing communicates in the steps")
                                               : STR("there is no other to compare it with"));
}

static struct cell skew_cell(const struct lane_rows *rows, const struct lane_total *lane)
{
    const struct alignment *alignment = &rows->alignments[lane->host];

    return alignment->known ? cell_integer(alignment->skew_ps)
                            : cell_null(str_of(alignment->reason));
}

static struct str lane_name(const struct lane_rows *rows, const struct lane_total *lane)
{
    struct str host = rows->run->hosts[lane->host].name;

    if (lane->device < 0)
        return host;
    return rows->run->host_count > 1
               ? str_format(rows->arena, "%.*s device %d", STR_ARG(host), lane->device)
               : str_format(rows->arena, "device %d", lane->device);
}

static struct cell time_cell(const struct lane_rows *rows, const struct lane_total *lane,
                             uint32_t column)
{
    switch (column) {
    case LANE_MEDIAN:
        return step_cell(lane, lane->median_ps);
    case LANE_MIN:
        return step_cell(lane, lane->min_ps);
    case LANE_MAX:
        return step_cell(lane, lane->max_ps);
    case LANE_BUSY:
        return device_cell(lane, lane->busy_ps);
    case LANE_IDLE:
        return device_cell(lane, lane->total_ps - lane->busy_ps);
    case LANE_BUSY_SHARE:
        return lane->device_count > 0 ? share_cell(lane->busy_ps, lane->total_ps)
                                      : device_cell(lane, 0);
    case LANE_COMMUNICATION:
        return step_cell(lane, lane->communication_ps);
    case LANE_HIDDEN:
        return device_cell(lane, lane->hidden_ps);
    case LANE_OP_WAIT:
        return device_cell(lane, lane->op_wait_ps);
    case LANE_WAIT:
        return wait_cell(rows->lanes, step_cell(lane, lane->wait_ps));
    default:
        return wait_cell(rows->lanes, share_cell(lane->wait_ps, lane->total_ps));
    }
}

static struct cell lane_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct lane_rows *rows = data;
    const struct lane_total *lane = &rows->lanes->lanes[row];

    switch (column) {
    case LANE_NAME:
        return cell_text(lane_name(rows, lane));
    case LANE_HOST:
        return cell_text(rows->run->hosts[lane->host].name);
    case LANE_DEVICE:
        return lane->device >= 0 ? cell_integer(lane->device) : cell_null(STR(""));
    case LANE_DEVICES:
        return cell_integer(lane->device_count);
    case LANE_STEPS:
        return cell_integer(lane->step_count);
    case LANE_LAST:
        return rows->lanes->basis == BASIS_NONE
                   ? cell_null(STR("there is no other to compare it with"))
                   : cell_integer(lane->last_count);
    case LANE_COMPARED:
        return cell_integer(rows->lanes->compared_count);
    case LANE_LAG:
        return lane->last_count > 0 ? cell_integer(lane->lag_median_ps)
                                    : cell_null(STR("it was never last"));
    case LANE_SKEW:
        return skew_cell(rows, lane);
    case LANE_STRAGGLER:
        return cell_bool(lane->straggler);
    default:
        return time_cell(rows, lane, column);
    }
}

enum grid_column {
    GRID_STEP,
    GRID_HOST,
    GRID_DEVICE,
    GRID_START,
    GRID_END,
    GRID_DUR,
    GRID_END_LAG,
    GRID_COMMUNICATION,
    GRID_WAIT,
    GRID_LAG,
    GRID_LAST,
};

static const struct column grid_columns[] = {
    [GRID_STEP] = {"step", "Step", UNIT_NONE, true},
    [GRID_HOST] = {"host", "Host", UNIT_TEXT, true},
    [GRID_DEVICE] = {"device", "Device", UNIT_NONE, true},
    [GRID_START] = {"start_ps", "Start", UNIT_PS, true},
    [GRID_END] = {"end_ps", "End", UNIT_PS, false},
    [GRID_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [GRID_END_LAG] = {"end_lag_ps", "Ends after the first", UNIT_PS, true},
    [GRID_COMMUNICATION] = {"communication_ps", "Communication", UNIT_PS, true},
    [GRID_WAIT] = {"wait_ps", "Waits for others", UNIT_PS, true},
    [GRID_LAG] = {"lag_ps", "Others wait", UNIT_PS, true},
    [GRID_LAST] = {"last", "Last", UNIT_NONE, true},
};

struct grid_rows {
    const struct run_traces *run;
    const struct lanes *lanes;
    const uint32_t *cells;       /* row -> step * lane_count + lane */
    const int64_t *first_end_ps; /* of each step */
};

static struct cell grid_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct grid_rows *rows = data;
    const struct lanes *lanes = rows->lanes;
    uint32_t step = rows->cells[row] / lanes->lane_count;
    const struct lane_total *lane = &lanes->lanes[rows->cells[row] % lanes->lane_count];
    const struct lane_step *cell = &lanes->cells[rows->cells[row]];

    switch (column) {
    case GRID_STEP:
        return cell_integer(lanes->numbers[step]);
    case GRID_HOST:
        return cell_text(rows->run->hosts[lane->host].name);
    case GRID_DEVICE:
        return lane->device >= 0 ? cell_integer(lane->device) : cell_null(STR(""));
    case GRID_START:
        return cell_integer(cell->start_ps);
    case GRID_END:
        return cell_integer(cell->start_ps + cell->dur_ps);
    case GRID_DUR:
        return cell_integer(cell->dur_ps);
    case GRID_END_LAG:
        return cell_integer(cell->start_ps + cell->dur_ps - rows->first_end_ps[step]);
    case GRID_COMMUNICATION:
        return cell_integer(cell->communication_ps);
    case GRID_WAIT:
        return wait_cell(lanes, cell_integer(cell->wait_ps));
    case GRID_LAG:
        return cell->last ? cell_integer(cell->lag_ps) : cell_null(STR("it was not last"));
    default:
        return cell_bool(cell->last);
    }
}

/* Of all ops of all hosts, in steps or not. */
static int64_t communication_of(const struct run_traces *run)
{
    int64_t sum_ps = 0;

    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct attribution *of = run->hosts[host].attribution;

        for (uint32_t op = 0; of != NULL && of->totals != NULL && op < of->op_count; op++)
            if (of->ops[op].kind == KIND_COMMUNICATION)
                ps_add(&sum_ps, of->totals[op].total_ps);
    }
    return sum_ps;
}

/* A zero in the steps is none in the capture. */
static void say_outside(const struct run_traces *run, const struct lanes *lanes,
                        struct arena *arena, struct answer_note *notes, struct table *ret)
{
    int64_t outside_ps = communication_of(run);

    for (uint32_t i = 0; i < lanes->lane_count; i++)
        if (lanes->lanes[i].communication_ps > 0 || lanes->lanes[i].hidden_ps > 0)
            return;
    if (outside_ps == 0 || lanes->step_count == 0)
        return;
    notes[ret->note_count++] = (struct answer_note){
        .kind = "outside-steps",
        .severity = NOTE_INFO,
        .message = str_format(
            arena, "ops communicate for %s, all of it outside the counted steps of this table",
            human_ps(outside_ps).text),
        .count = 1,
    };
}

static void say_basis(const struct run_traces *run, const struct lanes *lanes, struct arena *arena,
                      struct table *ret)
{
    static const char *const words[] = {
        [BASIS_NONE] = "which was last is not known: no two did the same work in one step",
        [BASIS_COMMUNICATION] = "in each step the one that communicates least was last; the "
                                "others' extra communication time is waiting",
        [BASIS_END] = "nothing communicates: the one that ends a step last lags",
    };
    struct answer_note *notes = arena_array(arena, struct answer_note, 3);

    notes[0] = (struct answer_note){
        .kind = "lag-basis",
        .severity = NOTE_INFO,
        .message = str_format(arena, "%s; steps are matched by their %s", words[lanes->basis],
                              lanes->by_number ? "number" : "turn"),
        .count = 1,
    };
    ret->notes = notes;
    ret->note_count = 1;
    if (lanes->dropped > 0)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "steps-compared",
            .severity = NOTE_WARNING,
            .message = str_format(arena, "%llu later step%s left out: too many to compare",
                                  (unsigned long long)lanes->dropped, plural_s(lanes->dropped)),
            .count = lanes->dropped,
        };
    say_outside(run, lanes, arena, notes, ret);
    ret->by = lanes->by == LANES_BY_HOST ? STR("host") : STR("device");
    ret->of = STR("step");
}

enum status lanes_table(const struct run_traces *run, const struct lanes *lanes,
                        const struct alignment *alignments, const struct page *page,
                        struct arena *arena, struct table *ret, struct error *err)
{
    struct lane_rows rows = {.run = run, .lanes = lanes, .alignments = alignments, .arena = arena};
    struct table_source source = {.columns = lane_columns,
                                  .column_count = COUNT(lane_columns),
                                  .row_count = lanes->lane_count,
                                  .cell = lane_cell,
                                  .data = &rows};
    uint32_t *order;

    *ret = (struct table){0};
    TRY(table_order(&source, page->sort, "host,device", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    for (uint32_t i = 0; i < lanes->lane_count; i++)
        ps_add(&ret->total_ps, lanes->lanes[i].total_ps);
    say_basis(run, lanes, arena, ret);
    return OK;
}

enum status lanes_grid(const struct run_traces *run, const struct lanes *lanes,
                       const struct page *page, struct arena *arena, struct table *ret,
                       struct error *err)
{
    size_t all = (size_t)lanes->step_count * lanes->lane_count;
    uint32_t *cells = arena_array(arena, uint32_t, all);
    int64_t *first_end_ps = arena_array(arena, int64_t, lanes->step_count);
    struct grid_rows rows = {
        .run = run, .lanes = lanes, .cells = cells, .first_end_ps = first_end_ps};
    struct table_source source = {.columns = grid_columns,
                                  .column_count = COUNT(grid_columns),
                                  .cell = grid_cell,
                                  .data = &rows};
    uint32_t *order;

    *ret = (struct table){0};
    for (uint32_t step = 0; step < lanes->step_count; step++) {
        first_end_ps[step] = INT64_MAX;
        for (uint32_t lane = 0; lane < lanes->lane_count; lane++) {
            const struct lane_step *cell = &lanes->cells[(size_t)step * lanes->lane_count + lane];

            if (!cell->there)
                continue;
            cells[source.row_count++] = step * lanes->lane_count + lane;
            if (cell->start_ps + cell->dur_ps < first_end_ps[step])
                first_end_ps[step] = cell->start_ps + cell->dur_ps;
        }
    }
    TRY(table_order(&source, page->sort, "step,host,device", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    say_basis(run, lanes, arena, ret);
    return OK;
}
