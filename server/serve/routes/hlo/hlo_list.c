/* SPDX-License-Identifier: Apache-2.0 */
/* The modules of a run, one by one: as JSON with their files and documents, and as a table. */
#include <inttypes.h>
#include <stdio.h>

#include "analyse/table.h"
#include "serve/routes/hlo/hlo_parts.h"

static const char *stage_word(enum program_stage stage)
{
    switch (stage) {
    case STAGE_BEFORE:
        return "before_optimizations";
    case STAGE_PASS:
        return "pass";
    case STAGE_AFTER:
        return "after_optimizations";
    case STAGE_UNKNOWN:
        break;
    }
    return "";
}

static struct str fingerprint_text(struct arena *arena, const struct hlo_listed *listed)
{
    return str_format(arena, "%016" PRIx64, listed->fingerprint);
}

static struct str number_text(struct arena *arena, uint64_t number)
{
    return str_format(arena, "%" PRIu64, number);
}

static void put_files(struct json *json, const struct hlo_question *question,
                      const struct hlo_listed *listed)
{
    json_key(json, "files");
    json_open(json, '[');
    for (uint32_t i = 0; i < listed->copy_count; i++) {
        const struct hlo_copy *copy = &listed->copies[i];

        json_open(json, '{');
        json_put_text(json, "name", run_trace(question->run, copy->trace)->name);
        json_put_text(json, "form",
                      copy->program->form == PROGRAM_TEXT ? STR("text") : STR("proto"));
        json_put_bool(json, "host", copy->trace < question->run->host_count);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Of the module's number and name, whatever the stage. */
static void put_documents(struct json *json, const struct hlo_question *question,
                          const struct hlo_listed *listed)
{
    json_key(json, "documents");
    json_open(json, '[');
    for (uint32_t i = 0; i < question->modules.document_count; i++) {
        const struct hlo_document *document = &question->modules.documents[i];

        if (document->program_id != listed->program_id ||
            !str_equal(document->module, listed->name))
            continue;
        json_open(json, '{');
        json_put_text(json, "key", document->key);
        json_put_text(json, "kind", document->kind);
        json_put_unsigned(json, "line_count", document->line_count);
        json_put_unsigned(json, "bytes", document->bytes);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_measure(struct json *json, const struct hlo_listed *listed)
{
    if (listed->is_measured) {
        json_put_unsigned(json, "execution_count", listed->execution_count);
        json_put_integer(json, "self_ps", listed->self_ps);
    } else {
        json_put_null(json, "execution_count");
        json_put_null(json, "self_ps");
    }
    json_key(json, "reasons");
    json_open(json, '{');
    if (!listed->is_measured) {
        json_put_text(json, "execution_count", listed->reason);
        json_put_text(json, "self_ps", listed->reason);
    }
    if (listed->stage == STAGE_UNKNOWN)
        json_put_text(json, "stage", STR("neither the file's name nor its content says so"));
    json_close(json, '}');
}

void json_put_module(struct json *json, const struct hlo_question *question,
                     const struct hlo_listed *listed)
{
    struct arena *arena = question->req->arena;

    json_open(json, '{');
    json_put_text(json, "key", listed->key);
    json_put_text(json, "name", listed->name);
    json_put_text(json, "program_id", number_text(arena, listed->program_id));
    json_put_text(json, "fingerprint", fingerprint_text(arena, listed));
    json_put_text_or_null(json, "stage", str_of(stage_word(listed->stage)));
    json_put_text_or_null(json, "stage_name", listed->stage_name);
    json_put_text_or_null(json, "pair",
                          listed->pair == HLO_NONE ? STR("")
                                                   : question->modules.items[listed->pair].key);
    json_put_unsigned(json, "computation_count", listed->computation_count);
    json_put_unsigned(json, "instruction_count", listed->instruction_count);
    json_put_unsigned(json, "fusion_count", listed->fusion_count);
    json_put_bool(json, "has_buffer_assignment", listed->has_buffers);
    put_files(json, question, listed);
    put_documents(json, question, listed);
    put_measure(json, listed);
    json_close(json, '}');
}

static const struct column columns[] = {
    {"key", "module", UNIT_TEXT, true},
    {"stage", "stage", UNIT_TEXT, true},
    {"computation_count", "computations", UNIT_COUNT, true},
    {"instruction_count", "instructions", UNIT_COUNT, true},
    {"fusion_count", "fusions", UNIT_COUNT, true},
    {"execution_count", "runs", UNIT_COUNT, true},
    {"self_ps", "self", UNIT_PS, true},
    {"has_buffer_assignment", "buffers", UNIT_NONE, true},
    {"name", "name", UNIT_TEXT, false},
    {"program_id", "number", UNIT_TEXT, false},
    {"fingerprint", "fingerprint", UNIT_TEXT, false},
    {"stage_name", "stage's name", UNIT_TEXT, false},
};

static struct cell count_cell(uint64_t count)
{
    return (struct cell){.kind = CELL_UNSIGNED, .of.uint = count};
}

static void put_cells(const struct hlo_question *question, const struct hlo_listed *listed,
                      struct cell *cells)
{
    struct arena *arena = question->req->arena;
    struct str stage = str_of(stage_word(listed->stage));

    cells[0] = cell_text(listed->key);
    cells[1] = stage.count > 0 ? cell_text(stage) : cell_null(STR(""));
    cells[2] = count_cell(listed->computation_count);
    cells[3] = count_cell(listed->instruction_count);
    cells[4] = count_cell(listed->fusion_count);
    cells[5] =
        listed->is_measured ? count_cell(listed->execution_count) : cell_null(listed->reason);
    cells[6] = listed->is_measured ? cell_integer(listed->self_ps) : cell_null(listed->reason);
    cells[7] = cell_bool(listed->has_buffers);
    cells[8] = cell_text(listed->name);
    cells[9] = cell_text(number_text(arena, listed->program_id));
    cells[10] = cell_text(fingerprint_text(arena, listed));
    cells[11] = listed->stage_name.count > 0 ? cell_text(listed->stage_name) : cell_null(STR(""));
}

struct table hlo_module_table(const struct hlo_question *question, const struct page *page)
{
    uint32_t first, end, count = question->modules.count;

    table_range(page, count, &first, &end);
    struct cell *cells =
        arena_array(question->req->arena, struct cell, (size_t)(end - first) * COUNT(columns) + 1);
    for (uint32_t i = first; i < end; i++)
        put_cells(question, &question->modules.items[i], &cells[(i - first) * COUNT(columns)]);
    return (struct table){.columns = columns,
                          .column_count = COUNT(columns),
                          .cells = cells,
                          .row_count = end - first,
                          .row_count_all = count,
                          .next = end < count ? end : 0};
}
