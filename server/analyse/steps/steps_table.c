/* SPDX-License-Identifier: Apache-2.0 */
/* Steps as a table: a row a step. */
#include "analyse/stats/stats.h"
#include "analyse/steps/steps_parts.h"
#include "analyse/steps/steps_why.h"
#include "analyse/table.h"
#include "trace/ps.h"

enum step_column {
    STEP_NUMBER,
    STEP_NAME,
    STEP_HOST,
    STEP_START,
    STEP_END,
    STEP_DUR,
    STEP_RULE,
    STEP_SPAN,
    STEP_WORK_START,
    STEP_WORK_END,
    STEP_AHEAD,
    STEP_DELTA,
    STEP_WARMUP,
    STEP_OUTLIER,
    STEP_CUT,
    STEP_SLOWEST_BY,
    STEP_SLOWEST,
    STEP_BUSY,
    STEP_WAIT,
    STEP_HIDDEN,
    STEP_KINDS,
};

static const struct column columns[] = {
    [STEP_NUMBER] = {"step", "Step", UNIT_NONE, true},
    [STEP_NAME] = {"name", "Name", UNIT_TEXT, true},
    [STEP_HOST] = {"host", "Host", UNIT_TEXT, true},
    [STEP_START] = {"start_ps", "Start", UNIT_PS, true},
    [STEP_END] = {"end_ps", "End", UNIT_PS, false},
    [STEP_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [STEP_RULE] = {"rule", "Time is", UNIT_TEXT, false},
    [STEP_SPAN] = {"span_ps", "Span", UNIT_PS, false},
    [STEP_WORK_START] = {"work_start_ps", "Work begins", UNIT_PS, false},
    [STEP_WORK_END] = {"work_end_ps", "Work ends", UNIT_PS, false},
    [STEP_AHEAD] = {"ahead", "Steps ahead", UNIT_NONE, false},
    [STEP_DELTA] = {"delta_ps", "To median", UNIT_PS, false},
    [STEP_WARMUP] = {"warmup", "Warm-up", UNIT_NONE, true},
    [STEP_OUTLIER] = {"outlier", "Outlier", UNIT_NONE, true},
    [STEP_CUT] = {"cut", "Cut off", UNIT_NONE, false},
    [STEP_SLOWEST_BY] = {"slowest_by", "Slower by", UNIT_TEXT, true},
    [STEP_SLOWEST] = {"slowest_by_ps", "Longer", UNIT_PS, true},
    [STEP_BUSY] = {"busy_ps", "Devices busy", UNIT_PS, false},
    [STEP_WAIT] = {"wait_ps", "Devices wait", UNIT_PS, false},
    [STEP_HIDDEN] = {"hidden_communication_ps", "Hidden communication", UNIT_PS, false},
    [STEP_KINDS] = {"breakdown", "Breakdown", UNIT_PS, true},
};

struct step_rows {
    const struct run_traces *run;
    const struct steps *steps;
    const int64_t *median_ps; /* by host; -1 none */
    const struct step_why *why;
};

/* What only devices do; without devices there is nothing that could. */
static struct cell of_devices(const struct step_rows *rows, const struct step *step, int64_t ps)
{
    const struct attribution *attribution = rows->run->hosts[step->host].attribution;

    if (attribution == NULL || attribution->device_count == 0)
        return cell_null(STR("no device of the host ran an op"));
    return cell_integer(ps);
}

static struct cell why_cell(const struct step_why *why, uint32_t column)
{
    if (why->name.count == 0)
        return cell_null(str_of(why->reason));
    return column == STEP_SLOWEST_BY ? cell_text(why->name) : cell_integer(why->longer_ps);
}

static struct cell step_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct step_rows *rows = data;
    const struct step *step = &rows->steps->items[row];

    switch (column) {
    case STEP_NUMBER:
        return cell_integer(step->number);
    case STEP_NAME:
        return cell_text(step->name);
    case STEP_HOST:
        return cell_text(rows->run->hosts[step->host].name);
    case STEP_START:
        return cell_integer(step->start_ps);
    case STEP_END:
        return cell_integer(step->start_ps + step->dur_ps);
    case STEP_DUR:
        return cell_integer(step->dur_ps);
    case STEP_RULE:
        return cell_text(str_of(step_time_word(step->time_rule)));
    case STEP_SPAN:
        return step->host_dur_ps >= 0 ? cell_integer(step->host_dur_ps)
                                      : cell_null(STR("no span of the program marks it"));
    case STEP_WORK_START:
    case STEP_WORK_END:
        if (step->work_count == 0)
            return cell_null(STR("the file links no op to it"));
        return cell_integer(column == STEP_WORK_START ? step->work_start_ps : step->work_end_ps);
    case STEP_AHEAD:
        return step->host_dur_ps >= 0 ? cell_integer(step->ahead)
                                      : cell_null(STR("no span of the program marks it"));
    case STEP_DELTA:
        return rows->median_ps[step->host] >= 0
                   ? cell_integer(step->dur_ps - rows->median_ps[step->host])
                   : cell_null(STR("the host has one step"));
    case STEP_WARMUP:
        return cell_bool(step->warmup);
    case STEP_OUTLIER:
        return cell_bool(step->outlier);
    case STEP_CUT:
        return cell_bool(step->cut);
    case STEP_SLOWEST_BY:
    case STEP_SLOWEST:
        return why_cell(&rows->why[row], column);
    case STEP_BUSY:
        return of_devices(rows, step, step->time.busy_ps);
    case STEP_WAIT:
        return of_devices(rows, step, step->time.wait_ps);
    case STEP_HIDDEN:
        return of_devices(rows, step, step->time.hidden_ps);
    default:
        return (struct cell){.kind = CELL_KINDS, .of.kinds = step->time.kinds_ps};
    }
}

int64_t *steps_medians(const struct run_traces *run, const struct steps *steps, struct arena *arena)
{
    int64_t *medians_ps = arena_array(arena, int64_t, run->host_count);
    int64_t *durs_ps = arena_array(arena, int64_t, steps->count);

    for (uint32_t host = 0; host < run->host_count; host++) {
        uint32_t count = 0;

        for (uint32_t i = 0; i < steps->count; i++) {
            if (steps->items[i].host == host && !steps->items[i].warmup && !steps->items[i].cut)
                durs_ps[count++] = steps->items[i].dur_ps;
        }
        medians_ps[host] = count >= 2 ? median_of(durs_ps, count) : -1;
    }
    return medians_ps;
}

void steps_say_rule(const struct run_traces *run, const struct steps *steps, struct arena *arena,
                    struct table *ret)
{
    struct answer_note *notes = arena_array(arena, struct answer_note, 1 + LEFT_OUT_NOTES);

    notes[0] = (struct answer_note){
        .kind = "steps-rule",
        .severity = steps->confidence == TRUST_HIGH ? NOTE_INFO : NOTE_WARNING,
        .message = str_format(arena, "%.*s (confidence %s: %.*s)", STR_ARG(steps->rule_text),
                              step_trust_word(steps->confidence), STR_ARG(steps->confidence_text)),
        .count = 1,
    };
    ret->notes = notes;
    ret->note_count = 1 + steps_left_out(run, steps, arena, &notes[1]);
    ret->by = str_of(step_rule_word(steps->rule));
    ret->of = STR("host");
}

enum status steps_rows(const struct run_traces *run, struct steps *steps, const struct page *page,
                       struct arena *arena, struct table *ret, struct error *err)
{
    struct step_rows rows = {.run = run, .steps = steps};
    struct table_source source = {
        .columns = columns, .column_count = COUNT(columns), .cell = step_cell, .data = &rows};
    uint32_t *order;

    *ret = (struct table){0};
    steps_breakdown(run, steps);
    rows.median_ps = steps_medians(run, steps, arena);
    rows.why = steps_why(run, steps, rows.median_ps, arena);
    source.row_count = steps->count;
    TRY(table_order(&source, page->sort, "start_ps", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    for (uint32_t i = 0; i < steps->count; i++)
        ps_add(&ret->total_ps, steps->items[i].dur_ps);
    steps_say_rule(run, steps, arena, ret);
    return OK;
}

enum status steps_table(const struct run_traces *run, const struct restriction *restriction,
                        const struct page *page, struct arena *arena, struct steps *ret_steps,
                        struct table *ret, struct error *err)
{
    TRY(steps_find(run, restriction, arena, ret_steps, err));
    return steps_rows(run, ret_steps, page, arena, ret, err);
}
