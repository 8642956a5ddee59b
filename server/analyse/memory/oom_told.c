/* SPDX-License-Identifier: Apache-2.0 */
/* What a message, a snapshot or a memory profile tells of memory that ran out, as rows.
 *
 *   sums      of its properties, and the total of its samples       "now"
 *   holders   its samples, joined by the stack that made them        "holder"
 *
 * A holder is named by the innermost call of the user's own code, and lies in the calls around it.
 */
#include "analyse/memory/heap_fit.h"

#include <stdlib.h>

#include "analyse/memory/oom_columns.h"
#include "analyse/memory/snapshot.h"
#include "analyse/table.h"

enum { NOW_MAX = 64, HOLDERS_MAX = 1000, CALLS_MAX = 24 };

struct told_sum {
    struct str what;
    int64_t bytes;
};

struct told_holder {
    stack_id stack;
    int64_t bytes;
};

struct told_rows {
    const struct trace *trace;
    struct told_sum sums[NOW_MAX];
    uint32_t sum_count, holder_count;
    struct told_holder *holders;
    const stack_id *owners;
    int64_t total;
    struct arena *arena;
};

static bool is_bytes(const struct trace *trace, struct str key)
{
    return str_equal(str_of(trace->format), STR("oom-report")) || str_contains(key, STR("_bytes"));
}

static void find_sums(struct told_rows *rows)
{
    const struct trace *trace = rows->trace;

    if (rows->holder_count > 0)
        rows->sums[rows->sum_count++] =
            (struct told_sum){.what = STR("stated holders"), .bytes = rows->total};
    for (uint32_t i = 0; i < trace->property_count && rows->sum_count < NOW_MAX; i++) {
        const struct property *property = &trace->properties[i];
        struct str key = trace_name(trace, property->arg.key);

        if (property->arg.type != ARG_INT64 || (int64_t)property->arg.bits < 0 ||
            !is_bytes(trace, key))
            continue;
        if (property->track < trace->track_count)
            key = str_format(rows->arena, "%.*s: %.*s",
                             STR_ARG(trace_name(trace, trace->tracks[property->track].name)),
                             STR_ARG(key));
        rows->sums[rows->sum_count++] =
            (struct told_sum){.what = key, .bytes = (int64_t)property->arg.bits};
    }
}

static int by_stack(const void *left, const void *right)
{
    const struct told_holder *a = left, *b = right;

    return (a->stack > b->stack) - (a->stack < b->stack);
}

static int by_bytes(const void *left, const void *right)
{
    const struct told_holder *a = left, *b = right;

    return a->bytes != b->bytes ? (a->bytes < b->bytes) - (a->bytes > b->bytes)
                                : by_stack(left, right);
}

static int64_t add_bytes(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static void find_holders(struct told_rows *rows, uint32_t type)
{
    const struct trace *trace = rows->trace;
    uint32_t joined = 0;

    rows->holders = arena_array(rows->arena, struct told_holder, trace->stack_sample_count + 1u);
    for (uint32_t i = 0; i < trace->stack_sample_count; i++) {
        int64_t bytes = trace->sample_values[(uint64_t)i * trace->sample_type_count + type];

        rows->total = add_bytes(rows->total, bytes);
        if (bytes != 0)
            rows->holders[rows->holder_count++] =
                (struct told_holder){.stack = trace->samples[i].stack, .bytes = bytes};
    }
    qsort(rows->holders, rows->holder_count, sizeof *rows->holders, by_stack);
    for (uint32_t i = 0; i < rows->holder_count; i++) {
        if (joined > 0 && rows->holders[joined - 1].stack == rows->holders[i].stack)
            rows->holders[joined - 1].bytes =
                add_bytes(rows->holders[joined - 1].bytes, rows->holders[i].bytes);
        else
            rows->holders[joined++] = rows->holders[i];
    }
    qsort(rows->holders, joined, sizeof *rows->holders, by_bytes);
    rows->holder_count = joined < HOLDERS_MAX ? joined : HOLDERS_MAX;
    rows->owners = owners_of(trace, rows->arena);
}

/* The calls around the owner, outermost first. */
static struct str calls_around(const struct told_rows *rows, stack_id owner)
{
    const struct trace *trace = rows->trace;
    struct str calls[CALLS_MAX];
    uint32_t count = 0;
    struct text text = {0};

    for (stack_id at = trace->stacks[owner].parent; at != NO_STACK && count < CALLS_MAX;
         at = trace->stacks[at].parent)
        calls[count++] = trace_name(trace, trace->stacks[at].frame.function);
    while (count-- > 0)
        text_putf(&text, "%.*s%s", STR_ARG(calls[count]), count > 0 ? "/" : "");
    struct str ret = str_copy(rows->arena, text_str(&text));
    text_free(&text);
    return ret;
}

static struct cell share_cell(const struct told_rows *rows, int64_t bytes)
{
    return rows->total > 0 ? cell_real((double)bytes / (double)rows->total)
                           : cell_null(STR("the message names nothing that holds memory"));
}

static struct cell sum_cell(const struct told_rows *rows, uint32_t row, enum oom_column column)
{
    switch (column) {
    case OOM_KIND:
        return cell_text(STR("now"));
    case OOM_WHAT:
        return cell_text(rows->sums[row].what);
    case OOM_BYTES:
        return cell_integer(rows->sums[row].bytes);
    default:
        return cell_null(STR("it is a sum that the message states"));
    }
}

static struct cell holder_cell(const struct told_rows *rows, uint32_t row, enum oom_column column)
{
    const struct trace *trace = rows->trace;
    const struct told_holder *holder = &rows->holders[row];
    const struct frame nothing = {0};
    const stack_id owner =
        holder->stack < trace->stack_count ? rows->owners[holder->stack] : NO_STACK;
    const struct frame *frame = owner != NO_STACK ? &trace->stacks[owner].frame : &nothing;
    struct str file = trace_name(trace, frame->file), calls;

    switch (column) {
    case OOM_KIND:
        return cell_text(STR("holder"));
    case OOM_WHAT:
        return owner != NO_STACK ? cell_text(trace_name(trace, frame->function))
                                 : cell_text(STR("(no stack)"));
    case OOM_BYTES:
        return cell_integer(holder->bytes);
    case OOM_SHARE:
        return share_cell(rows, holder->bytes);
    case OOM_SCOPE:
        calls = owner != NO_STACK ? calls_around(rows, owner) : STR("");
        return calls.count > 0 ? cell_text(calls)
                               : cell_null(STR("the message states nothing around it"));
    case OOM_SOURCE:
        return file.count > 0
                   ? cell_text(str_format(rows->arena, "%.*s:%u", STR_ARG(file), frame->line))
                   : cell_null(STR("the message states no source"));
    default:
        return cell_null(STR("it is what was held"));
    }
}

static struct cell told_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct told_rows *rows = data;

    return row < rows->sum_count
               ? sum_cell(rows, row, (enum oom_column)column)
               : holder_cell(rows, row - rows->sum_count, (enum oom_column)column);
}

bool oom_told_table(const struct trace *trace, const struct page *page, struct arena *arena,
                    struct table *ret)
{
    struct told_rows rows = {.trace = trace, .arena = arena};
    uint32_t type, *order;

    *ret = (struct table){0};
    if (!sample_type_find(trace, STR(""), STR("bytes"), &type))
        return false;
    find_holders(&rows, type);
    find_sums(&rows);

    struct table_source source = {.columns = oom_columns,
                                  .column_count = OOM_COLUMN_COUNT,
                                  .row_count = rows.sum_count + rows.holder_count,
                                  .cell = told_cell,
                                  .data = &rows};

    order = arena_array(arena, uint32_t, source.row_count + 1u);
    for (uint32_t i = 0; i < source.row_count; i++)
        order[i] = i;
    table_fill(&source, order, page, arena, ret);
    return true;
}
