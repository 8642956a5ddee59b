/* SPDX-License-Identifier: Apache-2.0 */
/* Writes findings with their evidence as JSON. */
#include "serve/answer/findings_out.h"

#include "serve/answer/table_out.h"

static const char *unit_name(enum unit unit)
{
    static const char *const names[] = {"", "ps", "bytes", "count", "share", "per_s", "text"};

    return names[unit];
}

static void put_value(struct json *json, const struct cell *cell)
{
    json_key(json, "value");
    json_put_cell(json, cell);
    if (cell->kind == CELL_NULL)
        json_put_text_or_null(json, "reason", cell->of.text);
    else
        json_put_null(json, "reason");
}

/* Where it stands: host, step, track, slice and window, as far as they are known. */
static void put_place(struct json *json, const struct run_traces *run, struct arena *arena,
                      const struct evidence *evidence)
{
    const struct host_trace *host =
        evidence->host < run->host_count ? &run->hosts[evidence->host] : NULL;

    json_put_text_or_null(json, "host", host != NULL ? host->name : STR(""));
    if (evidence->step != NO_STEP)
        json_put_integer(json, "step", evidence->step);
    else
        json_put_null(json, "step");
    json_put_text_or_null(json, "track",
                          host != NULL && evidence->track != NO_TRACK
                              ? track_text(arena, host, evidence->track)
                              : STR(""));
    json_put_text_or_null(json, "slice",
                          host != NULL && evidence->slice != NO_SLICE
                              ? slice_text(arena, host, evidence->slice)
                              : STR(""));
    if (evidence->has_window) {
        json_put_integer(json, "start_ps", evidence->start_ps);
        json_put_integer(json, "end_ps", evidence->end_ps);
    } else {
        json_put_null(json, "start_ps");
        json_put_null(json, "end_ps");
    }
}

static void put_evidence(struct json *json, const struct run_traces *run, struct arena *arena,
                         const struct evidence *evidence)
{
    json_open(json, '{');
    json_put_text(json, "name", evidence->name);
    put_value(json, &evidence->value);
    json_put_text(json, "unit", str_of(unit_name(evidence->unit)));
    json_put_text(json, "run", run->id);
    put_place(json, run, arena, evidence);
    json_put_text_or_null(json, "view", str_of(evidence->view));
    json_put_text_or_null(json, "by", str_of(evidence->by));
    json_put_text_or_null(json, "find", evidence->find);
    json_put_text_or_null(json, "module", evidence->module);
    json_close(json, '}');
}

/* The table may be sorted and narrowed; ranks stay. */
static const struct finding *of_rank(const struct findings *findings, int64_t rank)
{
    uint32_t at = 0;

    while (at + 1 < findings->count && findings->items[at].rank != rank)
        at++;
    return &findings->items[at];
}

void json_put_findings(struct json *json, const struct run_traces *run,
                       const struct findings *findings, const struct table *table)
{
    struct arena *arena = arena_create();

    for (uint32_t row = 0; row < table->row_count; row++) {
        const struct cell *cells = &table->cells[(size_t)row * table->column_count];
        const struct finding *finding = of_rank(findings, cells[0].of.integer);

        json_open(json, '{');
        json_put_cells(json, table, row);
        json_key(json, "evidence");
        json_open(json, '[');
        for (uint32_t i = 0; i < finding->evidence_count; i++)
            put_evidence(json, run, arena, &finding->evidence[i]);
        json_close(json, ']');
        json_close(json, '}');
    }
    arena_destroy(arena);
}
