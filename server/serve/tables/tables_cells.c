/* SPDX-License-Identifier: Apache-2.0 */
/* A cell in the type of its column, what stands in each row alike, and why a null is one. */
#include "analyse/table.h"
#include "serve/answer/run_out.h"
#include "serve/tables/tables_parts.h"

static struct cell as_text(struct arena *arena, const struct cell *cell)
{
    char digits[40];
    size_t count = cell->kind == CELL_INTEGER    ? integer_digits(cell->of.integer, digits)
                   : cell->kind == CELL_UNSIGNED ? unsigned_digits(cell->of.uint, digits)
                                                 : real_shortest(cell->of.real, digits);

    return cell_text(str_copy(arena, (struct str){.at = digits, .count = count}));
}

static struct cell as_real(const struct cell *cell)
{
    return cell_real(cell->kind == CELL_INTEGER    ? (double)cell->of.integer
                     : cell->kind == CELL_UNSIGNED ? (double)cell->of.uint
                                                   : cell->of.real);
}

static struct cell as_integer(struct arena *arena, const struct cell *cell)
{
    const double most = 9.2e18;

    if (cell->kind == CELL_UNSIGNED)
        return cell_null(str_format(arena, "it is %llu, which does not fit 64 bits with a sign",
                                    (unsigned long long)cell->of.uint));
    if (cell->kind == CELL_REAL && cell->of.real == floor(cell->of.real) &&
        fabs(cell->of.real) < most)
        return cell_integer((int64_t)cell->of.real);
    return cell_null(STR("it is not a whole number"));
}

struct cell data_cell(struct arena *arena, enum data_type type, struct cell cell)
{
    if (cell.kind == CELL_BOOL)
        cell = cell_integer(cell.of.boolean);
    if (cell.kind == CELL_UNSIGNED && cell.of.uint <= INT64_MAX)
        cell = cell_integer((int64_t)cell.of.uint);
    if (cell.kind == CELL_NULL || cell.kind == CELL_KINDS)
        return cell_null(cell.kind == CELL_NULL ? cell.of.text : STR(""));
    if (cell.kind == CELL_TEXT)
        return type == DATA_TEXT ? cell_text(str_utf8(arena, cell.of.text))
                                 : cell_null(STR("it is not a number"));
    if (type == DATA_TEXT)
        return as_text(arena, &cell);
    if (type == DATA_REAL)
        return as_real(&cell);
    return cell.kind == CELL_INTEGER ? cell : as_integer(arena, &cell);
}

struct cell data_reasons(const struct data_source *source, const struct cell *row)
{
    struct text text = {0};
    struct json json = json_into(&text);
    bool any = false;

    json_open(&json, '{');
    for (uint32_t i = source->own_first; i < source->own_end; i++) {
        if (row[i].kind != CELL_NULL || row[i].of.text.count == 0)
            continue;
        json_put_text(&json, source->table->columns[i].name, row[i].of.text);
        any = true;
    }
    json_close(&json, '}');
    struct cell ret =
        any ? cell_text(str_copy(source->arena, text_str(&text))) : cell_null(STR(""));
    text_free(&text);
    return ret;
}

static struct cell text_or_null(struct str text)
{
    return text.count > 0 ? cell_text(text) : cell_null(STR(""));
}

/* By name, as tables_schema.c puts them; host, device and step stay null where a row is of all. */
static struct cell whose(const struct data_source *source, const char *name)
{
    const struct run_record *run = source->run;
    uint64_t step;

    if (strcmp(name, "run") == 0)
        return cell_text(run->name);
    if (strcmp(name, "content_id") == 0)
        return text_or_null(run->content_id);
    if (strcmp(name, "run_step") == 0 && run_step_of(run->name, &step) && step <= INT64_MAX)
        return cell_integer((int64_t)step);
    if (strcmp(name, "captured_at") == 0)
        return text_or_null(unix_ns_iso(source->req->arena, run_captured_ns(run)));
    if (strcmp(name, "device_kind") == 0)
        return text_or_null(run->device_kind);
    if (strcmp(name, "host") == 0 && run->host_count == 1)
        return cell_text(run->hosts[0].name);
    return cell_null(STR(""));
}

void data_put_whose(struct data_source *source)
{
    const struct data_table *table = source->table;

    for (uint32_t i = 0; i < source->own_first; i++)
        source->whose[i] = data_cell(source->req->arena, table->columns[i].type,
                                     whose(source, table->columns[i].name));
}
