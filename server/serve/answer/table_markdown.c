/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people and agents: one unit and one precision a column, names that cannot act. Rows of
 * one name get the module that tells them apart. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "serve/answer/table_out.h"

struct scale { /* of a column: chosen by its largest value */
    double divisor;
    const char *unit;
};

static double cell_value(const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_INTEGER:
        return (double)cell->of.integer;
    case CELL_UNSIGNED:
        return (double)cell->of.uint;
    case CELL_REAL:
        return cell->of.real;
    default:
        return NAN;
    }
}

static struct scale scale_of(const struct table *table, uint32_t column)
{
    static const struct scale times[] = {
        {1e12, "s"}, {1e9, "ms"}, {1e6, "us"}, {1e3, "ns"}, {1, "ps"}};
    static const struct scale sizes[] = {
        {1024. * 1024 * 1024, "GiB"}, {1024. * 1024, "MiB"}, {1024, "KiB"}, {1, "B"}};
    static const struct scale rates[] = {{1e15, "P"}, {1e12, "T"}, {1e9, "G"},
                                         {1e6, "M"},  {1e3, "k"},  {1, ""}};
    static const struct scale bandwidths[] = {
        {1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {1, "B/s"}};
    enum unit unit = table->columns[column].unit;
    /* Where the title is the unit: "FLOP/s (T)". */
    bool is_rate = unit == UNIT_PER_S && str_ends(str_of(table->columns[column].title), STR("/s"));
    bool is_bandwidth = unit == UNIT_PER_S && !is_rate &&
                        str_ends(str_of(table->columns[column].key), STR("bytes_per_s"));
    const struct scale *scales = unit == UNIT_PS ? times
                                 : is_rate       ? rates
                                 : is_bandwidth  ? bandwidths
                                                 : sizes;
    size_t count = unit == UNIT_PS ? COUNT(times)
                   : is_rate       ? COUNT(rates)
                   : is_bandwidth  ? COUNT(bandwidths)
                                   : COUNT(sizes);
    double largest = 0;

    if (unit == UNIT_SHARE)
        return (struct scale){.divisor = 0.01, .unit = "%"};
    bool kinds = strcmp(table->columns[column].key, "breakdown") == 0;
    if ((unit != UNIT_PS && unit != UNIT_BYTES && !is_rate && !is_bandwidth) || kinds)
        return (struct scale){.divisor = 1, .unit = ""};
    for (uint32_t row = 0; row < table->row_count; row++)
        largest = fmax(largest,
                       fabs(cell_value(&table->cells[(size_t)row * table->column_count + column])));
    for (size_t i = 0; i + 1 < count; i++) {
        /* Milliseconds go up to ten seconds. */
        if (largest >= scales[i].divisor * (unit == UNIT_PS && i == 0 ? 10 : 1))
            return scales[i];
    }
    return scales[count - 1];
}

void markdown_put(struct text *out, struct str value)
{
    for (size_t i = 0; i < value.count; i++) {
        char c = value.at[i];

        if (c == '<' || c == '>')
            text_puts(out, c == '<' ? "&lt;" : "&gt;");
        else if ((unsigned char)c < ' ' || c == 127)
            text_puts(out, " ");
        else if (strchr("|`[]*_\\!#~", c) != NULL)
            text_putf(out, "\\%c", c);
        else
            text_put(out, &c, 1);
    }
}

/* One decimal from 100, two from 10, three below; whole numbers stay whole. */
static void put_number(struct text *out, double value, struct scale scale)
{
    double shown = value / scale.divisor;
    double size = fabs(shown);

    if (scale.unit[0] == '\0' && shown == trunc(shown))
        text_putf(out, "%.0f", shown);
    else if (value == 0)
        text_puts(out, "0");
    else
        text_putf(out, "%.*f", size >= 100 ? 1 : size >= 10 ? 2 : 3, shown);
}

static void put_kinds(struct text *out, const struct cell *cell)
{
    int64_t total = 0;
    bool first = true;

    for (int kind = 0; cell->kind == CELL_KINDS && kind <= KIND_COUNT; kind++)
        total += cell->of.kinds[kind];
    for (int kind = 0; total > 0 && kind <= KIND_COUNT; kind++) {
        double share = 100 * (double)cell->of.kinds[kind] / (double)total;

        if (share < 0.05)
            continue;
        text_putf(out, "%s%s %.1f %%", first ? "" : ", ", kind_word((enum kind)kind), share);
        first = false;
    }
}

static void put_cell(struct text *out, const struct cell *cell, struct scale scale,
                     struct arena *arena)
{
    if (cell->kind == CELL_TEXT)
        markdown_put(out, str_utf8(arena, cell->of.text));
    else if (cell->kind == CELL_BOOL)
        text_puts(out, cell->of.boolean ? "yes" : "no");
    else if (cell->kind == CELL_KINDS)
        put_kinds(out, cell);
    else if (cell->kind == CELL_INTEGER && scale.unit[0] == '\0')
        text_putf(out, "%lld", (long long)cell->of.integer);
    else if (cell->kind == CELL_UNSIGNED && scale.unit[0] == '\0')
        text_putf(out, "%llu", (unsigned long long)cell->of.uint);
    else if (isnan(cell_value(cell)))
        text_puts(out, "–");
    else
        put_number(out, cell_value(cell), scale);
}

static bool is_text(const struct column *column)
{
    return column->unit == UNIT_NONE || column->unit == UNIT_TEXT;
}

static uint32_t column_of(const struct table *table, const char *key)
{
    uint32_t column = 0;

    while (column < table->column_count && strcmp(table->columns[column].key, key) != 0)
        column++;
    return column;
}

struct told_apart {
    const struct table *table;
    uint32_t name, module; /* columns */
};

static struct str text_at(const struct table *table, uint32_t row, uint32_t column)
{
    const struct cell *cell = &table->cells[(size_t)row * table->column_count + column];

    return cell->kind == CELL_TEXT ? cell->of.text : STR("");
}

static int by_name(const void *left, const void *right, void *data)
{
    const struct told_apart *all = data;

    return str_compare(text_at(all->table, *(const uint32_t *)left, all->name),
                       text_at(all->table, *(const uint32_t *)right, all->name));
}

/* Do two rows have one name, and other modules? */
static bool modules_tell_apart(const struct told_apart *all)
{
    const struct table *table = all->table;
    uint32_t *order = memory_resize(NULL, (size_t)table->row_count + 1, sizeof *order);
    bool tell = false;

    for (uint32_t row = 0; row < table->row_count; row++)
        order[row] = row;
    qsort_r(order, table->row_count, sizeof *order, by_name, (void *)(uintptr_t)all);
    for (uint32_t i = 1; i < table->row_count && !tell; i++)
        tell = by_name(&order[i - 1], &order[i], (void *)(uintptr_t)all) == 0 &&
               !str_equal(text_at(table, order[i - 1], all->module),
                          text_at(table, order[i], all->module));
    free(order);
    return tell;
}

/* By column: is it one that people see? */
static const bool *shown_columns(const struct table *table, struct arena *arena)
{
    bool *shown = arena_array(arena, bool, (size_t)table->column_count + 1);
    const struct told_apart all = {table, column_of(table, "name"), column_of(table, "module")};

    for (uint32_t i = 0; i < table->column_count; i++)
        shown[i] = table->columns[i].by_default;
    if (all.name < table->column_count && all.module < table->column_count)
        shown[all.module] |= modules_tell_apart(&all);
    return shown;
}

/* A title may be a run's name, a metric's, or what a query calls it. */
static void put_head(struct text *out, const struct table *table, const bool *shown,
                     const struct scale *scales, struct arena *arena)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (!shown[i])
            continue;
        text_puts(out, "| ");
        markdown_put(out, str_utf8(arena, str_of(table->columns[i].title)));
        if (scales[i].unit[0] != '\0')
            text_putf(out, " (%s)", scales[i].unit);
        text_puts(out, " ");
    }
    text_puts(out, "|\n");
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (shown[i])
            text_puts(out, is_text(&table->columns[i]) ? "| --- " : "| ---: ");
    }
    text_puts(out, "|\n");
}

void table_markdown(struct text *out, const struct table *table)
{
    struct arena *arena = arena_create();
    struct scale *scales = arena_array(arena, struct scale, table->column_count);
    const bool *shown = shown_columns(table, arena);

    for (uint32_t i = 0; i < table->column_count; i++)
        scales[i] = scale_of(table, i);
    put_head(out, table, shown, scales, arena);
    for (uint32_t row = 0; row < table->row_count; row++) {
        for (uint32_t i = 0; i < table->column_count; i++) {
            if (!shown[i])
                continue;
            text_puts(out, "| ");
            put_cell(out, &table->cells[(size_t)row * table->column_count + i], scales[i], arena);
            text_puts(out, " ");
        }
        text_puts(out, "|\n");
    }
    if (table->row_count_all > table->row_count)
        text_putf(out, "\n%u of %llu rows.\n", table->row_count,
                  (unsigned long long)table->row_count_all);
    const struct answer_note *cut;
    uint32_t note_count =
        table->note_count + table_cut_note(table, table->notes, table->note_count, &cut);

    for (uint32_t i = 0; i < note_count; i++) {
        const struct answer_note *note = i < table->note_count ? &table->notes[i] : cut;

        text_puts(out, i == 0 ? "\n- " : "- ");
        markdown_put(out, str_utf8(arena, note->message));
        text_puts(out, "\n");
    }
    arena_destroy(arena);
}
