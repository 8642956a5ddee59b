#include "analyse/steps.h"
#include "analyse/table.h"

enum step_column {
    STEP_NUMBER,
    STEP_NAME,
    STEP_HOST,
    STEP_START,
    STEP_DUR,
    STEP_WARMUP,
    STEP_OUTLIER,
    STEP_KINDS,
};

static const struct column columns[] = {
    [STEP_NUMBER] = {"step", "Step", UNIT_NONE, true},
    [STEP_NAME] = {"name", "Name", UNIT_TEXT, true},
    [STEP_HOST] = {"host", "Host", UNIT_TEXT, true},
    [STEP_START] = {"start_ps", "Start", UNIT_PS, true},
    [STEP_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [STEP_WARMUP] = {"warmup", "Warm-up", UNIT_NONE, true},
    [STEP_OUTLIER] = {"outlier", "Outlier", UNIT_NONE, true},
    [STEP_KINDS] = {"breakdown", "Breakdown", UNIT_PS, true},
};

struct step_rows {
    const struct run_traces *run;
    const struct steps *steps;
};

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
    case STEP_DUR:
        return cell_integer(step->dur_ps);
    case STEP_WARMUP:
        return cell_bool(step->warmup);
    case STEP_OUTLIER:
        return cell_bool(step->outlier);
    default:
        return (struct cell){.kind = CELL_KINDS, .of.kinds = step->time.kinds_ps};
    }
}

enum status steps_table(const struct run_traces *run, const struct restriction *restriction,
                        const struct page *page, struct arena *arena, struct table *ret,
                        struct error *err)
{
    struct steps *steps = arena_new(arena, struct steps);
    struct step_rows rows = {.run = run, .steps = steps};
    struct table_source source = {
        .columns = columns, .column_count = COUNT(columns), .cell = step_cell, .data = &rows};
    struct answer_note *note = arena_new(arena, struct answer_note);
    uint32_t *order;

    *ret = (struct table){0};
    TRY(steps_find(run, restriction, arena, steps, err));
    steps_breakdown(run, steps);
    source.row_count = steps->count;
    TRY(table_order(&source, page->sort, "start_ps", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    for (uint32_t i = 0; i < steps->count; i++)
        ret->total_ps += steps->items[i].dur_ps;
    *note = (struct answer_note){
        .kind = "steps-rule",
        .severity =
            steps->rule == STEP_ANNOTATION || steps->rule == STEP_LINE ? NOTE_INFO : NOTE_WARNING,
        .message = steps->rule_text,
        .count = 1,
    };
    ret->notes = note;
    ret->note_count = 1;
    ret->by = str_of(step_rule_word(steps->rule));
    ret->of = STR("host");
    return OK;
}
