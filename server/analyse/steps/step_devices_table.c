/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by device: a row a step and device, each summing to its step. */
#include <stdlib.h>

#include "analyse/steps/steps_parts.h"
#include "analyse/table.h"
#include "base/human.h"
#include "trace/ps.h"

enum lane_column {
    LANE_STEP,
    LANE_HOST,
    LANE_DEVICE,
    LANE_START,
    LANE_DUR,
    LANE_COUNTED,
    LANE_BUSY,
    LANE_WAIT,
    LANE_HIDDEN,
    LANE_KINDS,
};

static const struct column lane_columns[] = {
    [LANE_STEP] = {"step", "Step", UNIT_NONE, true},
    [LANE_HOST] = {"host", "Host", UNIT_TEXT, true},
    [LANE_DEVICE] = {"device", "Device", UNIT_NONE, true},
    [LANE_START] = {"start_ps", "Start", UNIT_PS, true},
    [LANE_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [LANE_COUNTED] = {"in_mean", "In mean", UNIT_NONE, false},
    [LANE_BUSY] = {"busy_ps", "Busy", UNIT_PS, true},
    [LANE_WAIT] = {"wait_ps", "Waits", UNIT_PS, true},
    [LANE_HIDDEN] = {"hidden_communication_ps", "Hidden communication", UNIT_PS, true},
    [LANE_KINDS] = {"breakdown", "Breakdown", UNIT_PS, true},
};

enum { LANES_MAX = 1 << 20 }; /* rows: 200 MB */

struct lane_row {
    uint32_t step; /* index */
    int32_t device;
    bool counted;
    struct device_time time;
};

struct lane_rows {
    const struct run_traces *run;
    const struct steps *steps;
    const struct restriction *restriction;
    struct lane_row *rows;
    uint32_t count, capacity;
    uint64_t dropped;
};

static struct cell lane_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct lane_rows *rows = data;
    const struct lane_row *lane = &rows->rows[row];
    const struct step *step = &rows->steps->items[lane->step];

    switch (column) {
    case LANE_STEP:
        return cell_integer(step->number);
    case LANE_HOST:
        return cell_text(rows->run->hosts[step->host].name);
    case LANE_DEVICE:
        return lane->device >= 0 ? cell_integer(lane->device)
                                 : cell_null(STR("no device of the host ran an op"));
    case LANE_START:
        return cell_integer(step->start_ps);
    case LANE_DUR:
        return cell_integer(step->dur_ps);
    case LANE_COUNTED:
        return cell_bool(lane->counted);
    case LANE_BUSY:
        return cell_integer(lane->time.busy_ps);
    case LANE_WAIT:
        return cell_integer(lane->time.wait_ps);
    case LANE_HIDDEN:
        return cell_integer(lane->time.hidden_ps);
    default:
        return (struct cell){.kind = CELL_KINDS, .of.kinds = lane->time.kinds_ps};
    }
}

static bool device_asked(const struct restriction *restriction, int32_t device)
{
    for (uint32_t i = 0; i < restriction->device_count; i++) {
        if (restriction->devices[i] == device)
            return true;
    }
    return restriction->device_count == 0;
}

static void take_lanes(void *data, const struct step *step, const struct host_devices *devices,
                       const struct device_time *lanes)
{
    struct lane_rows *rows = data;

    for (uint32_t i = 0; i < host_lane_count(devices); i++) {
        struct lane_row row = {.step = (uint32_t)(step - rows->steps->items),
                               .device = devices->count > 0 ? devices->devices[i] : -1,
                               .counted = devices->count == 0 || devices->counted[i],
                               .time = lanes[i]};

        if (!device_asked(rows->restriction, row.device) ||
            (step->on_device && row.device != step->device))
            continue;
        if (rows->count == LANES_MAX) {
            rows->dropped++;
            continue;
        }
        if (rows->count == rows->capacity) {
            rows->capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
            rows->rows = memory_resize(rows->rows, rows->capacity, sizeof(*rows->rows));
        }
        rows->rows[rows->count++] = row;
    }
}

/* Rows of the page outlive the others. */
static void keep_kinds(struct table *table, struct arena *arena)
{
    struct cell *cells =
        arena_array(arena, struct cell, (size_t)table->row_count * table->column_count);

    for (size_t i = 0; i < (size_t)table->row_count * table->column_count; i++) {
        cells[i] = table->cells[i];
        if (cells[i].kind != CELL_KINDS)
            continue;

        int64_t *kinds = arena_array(arena, int64_t, KIND_COUNT + 1);

        memcpy(kinds, cells[i].of.kinds, (KIND_COUNT + 1) * sizeof(*kinds));
        cells[i].of.kinds = kinds;
    }
    table->cells = cells;
}

static void say_dropped(const struct lane_rows *rows, struct arena *arena, struct table *ret)
{
    struct answer_note *notes = arena_array(arena, struct answer_note, ret->note_count + 1);

    memcpy(notes, ret->notes, ret->note_count * sizeof(*notes));
    notes[ret->note_count++] = (struct answer_note){
        .kind = "rows-kept",
        .severity = NOTE_WARNING,
        .message = str_format(arena, "%llu row%s of later steps left out: ask for fewer steps",
                              (unsigned long long)rows->dropped, plural_s(rows->dropped)),
        .count = rows->dropped,
    };
    ret->notes = notes;
}

enum status step_devices_table(const struct run_traces *run, const struct restriction *restriction,
                               const struct page *page, struct arena *arena,
                               struct steps *ret_steps, struct table *ret, struct error *err)
{
    struct lane_rows rows = {.run = run, .steps = ret_steps, .restriction = restriction};
    struct table_source source = {.columns = lane_columns,
                                  .column_count = COUNT(lane_columns),
                                  .cell = lane_cell,
                                  .data = &rows};
    uint32_t *order;

    *ret = (struct table){0};
    TRY(steps_find(run, restriction, arena, ret_steps, err));
    steps_walk(run, ret_steps, take_lanes, &rows);
    source.row_count = rows.count;

    enum status status = table_order(&source, page->sort, "start_ps,device", arena, &order, err);

    if (status == OK)
        table_fill(&source, order, page, arena, ret);
    for (uint32_t i = 0; i < rows.count; i++)
        ps_add(&ret->total_ps, ret_steps->items[rows.rows[i].step].dur_ps);
    keep_kinds(ret, arena);
    free(rows.rows);
    steps_say_rule(run, ret_steps, arena, ret);
    if (rows.dropped > 0)
        say_dropped(&rows, arena, ret);
    ret->of = STR("device");
    return status;
}
