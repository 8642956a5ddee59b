/* SPDX-License-Identifier: Apache-2.0 */
/* Parses rows of a Markdown table, measures them, and prints them as columns. */
#include "cli/grid.h"

#include <stdlib.h>

enum {
    COLUMNS_MAX = 64,
    CELL_EASY = 36,
    CELL_MIN = 16,
    COLUMNS_EASY = 5,
    COLUMNS_LEAST = 2,
    GAP = 2
};

struct grid {
    struct str *cells; /* row by row; row 0 is the head */
    size_t cell_count, cell_capacity;
    uint32_t column_count, width[COLUMNS_MAX];
    uint32_t shown; /* the first of them */
    bool right[COLUMNS_MAX];
};

/* Code points: what a terminal gives a column each, for the texts of profiles. */
static uint32_t width_of(struct str text)
{
    uint32_t width = 0;

    for (size_t i = 0; i < text.count; i++)
        width += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    return width;
}

static struct str line_next(struct str *rest)
{
    const char *end = memchr(rest->at, '\n', rest->count);
    struct str line = {rest->at, end != NULL ? (size_t)(end - rest->at) : rest->count};

    *rest = str_skip(*rest, line.count + (end != NULL));
    return line;
}

static struct str trim(struct str text)
{
    while (text.count > 0 && text.at[0] == ' ')
        text = str_skip(text, 1);
    while (text.count > 0 && text.at[text.count - 1] == ' ')
        text.count--;
    return text;
}

/* The next cell of "| a | b |", where "\|" is part of a text; false at the line's end. */
static bool cell_next(struct str *line, struct str *ret)
{
    if (line->count < 2 || line->at[0] != '|')
        return false;
    size_t end = 1;
    while (end < line->count && line->at[end] != '|')
        end += line->at[end] == '\\' && end + 1 < line->count ? 2 : 1;
    if (end >= line->count)
        return false;
    *ret = trim((struct str){line->at + 1, end - 1});
    *line = str_skip(*line, end);
    return true;
}

/* Without the backslashes and the two entities that Markdown needs and a terminal does not. */
static struct str unescape(struct arena *arena, struct str cell)
{
    static const struct {
        struct str entity;
        char byte;
    } entities[] = {{{"&lt;", 4}, '<'}, {{"&gt;", 4}, '>'}};
    char *to = arena_alloc(arena, cell.count + 1, 1);
    size_t count = 0;

    while (cell.count > 0) {
        size_t taken = 1;

        to[count] = cell.at[0];
        for (size_t i = 0; i < COUNT(entities); i++) {
            if (str_starts(cell, entities[i].entity)) {
                to[count] = entities[i].byte;
                taken = entities[i].entity.count;
            }
        }
        if (cell.at[0] == '\\' && cell.count > 1) {
            to[count] = cell.at[1];
            taken = 2;
        }
        count++;
        cell = str_skip(cell, taken);
    }
    return (struct str){to, count};
}

static void grid_put(struct grid *grid, struct str cell)
{
    if (grid->cell_count == grid->cell_capacity) {
        grid->cell_capacity = grid->cell_capacity * 2 + 64;
        grid->cells = memory_resize(grid->cells, grid->cell_capacity, sizeof *grid->cells);
    }
    grid->cells[grid->cell_count++] = cell;
}

static void grid_take_rule(struct grid *grid, struct str line)
{
    struct str cell;

    for (uint32_t i = 0; i < grid->column_count && cell_next(&line, &cell); i++)
        grid->right[i] = str_ends(cell, STR(":"));
}

static void grid_take_row(struct grid *grid, struct str line, struct arena *arena)
{
    struct str cell;
    uint32_t column = 0;

    for (; column < COLUMNS_MAX && cell_next(&line, &cell); column++) {
        if (grid->cell_count >= grid->column_count && grid->column_count > 0 &&
            column >= grid->column_count)
            break;
        cell = unescape(arena, cell);
        grid_put(grid, cell);
        uint32_t width = width_of(cell);
        if (width > grid->width[column])
            grid->width[column] = width;
    }
    if (grid->column_count == 0)
        grid->column_count = column;
    for (; column < grid->column_count; column++)
        grid_put(grid, STR(""));
}

static uint32_t line_width(const struct grid *grid)
{
    uint32_t total = 0;

    for (uint32_t i = 0; i < grid->shown; i++)
        total += grid->width[i] + (i > 0 ? GAP : 0);
    return total;
}

/* Takes from the widest text column until the line fits or none is wider than `least`. */
static void shorten_texts(struct grid *grid, uint32_t width, uint32_t least)
{
    for (uint32_t total; (total = line_width(grid)) > width;) {
        uint32_t widest = COLUMNS_MAX;

        for (uint32_t i = 0; i < grid->shown; i++) {
            if (!grid->right[i] && grid->width[i] > least &&
                (widest == COLUMNS_MAX || grid->width[i] > grid->width[widest]))
                widest = i;
        }
        if (widest == COLUMNS_MAX)
            return;
        uint32_t excess = total - width, spare = grid->width[widest] - least;
        uint32_t step = excess < spare ? excess : spare;
        grid->width[widest] -= step > 8 ? step / 2 : step;
    }
}

static void drop_columns(struct grid *grid, uint32_t width, uint32_t least)
{
    while (grid->shown > least && line_width(grid) > width)
        grid->shown--;
}

/* Fewer columns first, then shorter names: what is left stays readable. */
static void grid_fit(struct grid *grid, uint32_t width)
{
    shorten_texts(grid, width, CELL_EASY);
    drop_columns(grid, width, COLUMNS_EASY);
    shorten_texts(grid, width, CELL_MIN);
    drop_columns(grid, width, COLUMNS_LEAST);
}

static void put_left_out(const struct grid *grid, struct text *out)
{
    text_puts(out, "not shown: ");
    for (uint32_t i = grid->shown; i < grid->column_count; i++) {
        text_puts(out, i > grid->shown ? ", " : "");
        text_put(out, grid->cells[i].at, grid->cells[i].count);
    }
    text_puts(out, " (--wide)\n");
}

/* The byte after `count` code points. */
static size_t byte_at(struct str text, uint32_t count)
{
    size_t i = 0;

    while (i < text.count && count > 0) {
        i++;
        while (i < text.count && ((unsigned char)text.at[i] & 0xc0) == 0x80)
            i++;
        count--;
    }
    return i;
}

static void put_cut(struct text *out, struct str cell, uint32_t cell_width, uint32_t width)
{
    uint32_t left = (width - 1) / 2, right = width - 1 - left;

    text_put(out, cell.at, byte_at(cell, left));
    text_puts(out, "…");
    size_t tail = byte_at(cell, cell_width - right);
    text_put(out, cell.at + tail, cell.count - tail);
}

static void put_spaces(struct text *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        text_puts(out, " ");
}

static void put_cell(const struct grid *grid, uint32_t column, struct str cell, struct text *out)
{
    uint32_t width = grid->width[column], own = width_of(cell);
    uint32_t pad = own < width ? width - own : 0;

    if (grid->right[column])
        put_spaces(out, pad);
    if (own > width)
        put_cut(out, cell, own, width);
    else
        text_put(out, cell.at, cell.count);
    if (!grid->right[column] && column + 1 < grid->shown)
        put_spaces(out, pad);
}

static void grid_put_out(struct grid *grid, struct grid_style style, struct text *out)
{
    if (grid->column_count == 0)
        return;
    grid->shown = grid->column_count;
    if (style.width > 0)
        grid_fit(grid, style.width);
    for (size_t i = 0; i < grid->cell_count; i++) {
        uint32_t column = (uint32_t)(i % grid->column_count);

        if (column >= grid->shown)
            continue;
        if (style.bold_head && i == 0)
            text_puts(out, "\x1b[1m");
        if (column > 0)
            put_spaces(out, GAP);
        put_cell(grid, column, grid->cells[i], out);
        if (style.bold_head && i + 1 == grid->shown)
            text_puts(out, "\x1b[0m");
        if (column + 1 == grid->shown)
            text_puts(out, "\n");
    }
    if (grid->shown < grid->column_count)
        put_left_out(grid, out);
}

static void grid_clear(struct grid *grid)
{
    free(grid->cells);
    *grid = (struct grid){0};
}

void grid_layout(struct str markdown, struct grid_style style, struct text *out)
{
    struct arena *arena = arena_create();
    struct grid grid = {0};
    uint32_t line_of_table = 0;

    while (markdown.count > 0) {
        struct str line = line_next(&markdown);

        if (!str_starts(line, STR("|"))) {
            grid_put_out(&grid, style, out);
            grid_clear(&grid);
            line_of_table = 0;
            line = unescape(arena, line);
            text_put(out, line.at, line.count);
            text_puts(out, "\n");
        } else if (line_of_table++ == 1) {
            grid_take_rule(&grid, line);
        } else {
            grid_take_row(&grid, line, arena);
        }
    }
    grid_put_out(&grid, style, out);
    grid_clear(&grid);
    arena_destroy(arena);
}
