/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles as rows: each by itself, or joined by the function that was compiled. */
#include <stdlib.h>

#include "analyse/compiles/compiles.h"
#include "analyse/steps/step_of.h"
#include "analyse/table.h"
#include "trace/ps.h"

#define PHASE_COLUMNS(first)                                                                       \
    [(first) + PHASE_TRACE] = {"trace_ps", "Trace", UNIT_PS, true},                                \
               [(first) + PHASE_LOWER] = {"lower_ps", "Lower", UNIT_PS, true},                     \
               [(first) + PHASE_CACHE] = {"cache_ps", "Cache", UNIT_PS, false},                    \
               [(first) + PHASE_PASSES] = {"passes_ps", "Passes", UNIT_PS, true},                  \
               [(first) + PHASE_CODEGEN] = {"codegen_ps", "Codegen", UNIT_PS, true},               \
               [(first) + PHASE_AUTOTUNE] = {"autotune_ps", "Autotune", UNIT_PS, true},            \
               [(first) + PHASE_BACKEND] = {"compiler_ps", "Compiler", UNIT_PS, true},             \
               [(first) + PHASE_OTHER] = {"other_ps", "Other", UNIT_PS, false}

enum function_column {
    FUNCTION_NAME,
    FUNCTION_MODULE,
    FUNCTION_HOST,
    FUNCTION_COUNT,
    FUNCTION_CACHED,
    FUNCTION_TOTAL,
    FUNCTION_SHARE,
    FUNCTION_FIRST,
    FUNCTION_LATER,
    FUNCTION_PHASES,
    FUNCTION_BACKEND = FUNCTION_PHASES + PHASE_COUNT,
    FUNCTION_STEPS,
    FUNCTION_CHANGE,
    FUNCTION_CHANGED,
    FUNCTION_START,
    FUNCTION_SLICE,
};

static const struct column function_columns[] = {
    [FUNCTION_NAME] = {"function", "Function", UNIT_TEXT, true},
    [FUNCTION_MODULE] = {"module", "Module", UNIT_TEXT, false},
    [FUNCTION_HOST] = {"host", "Host", UNIT_TEXT, false},
    [FUNCTION_COUNT] = {"count", "Count", UNIT_COUNT, true},
    [FUNCTION_CACHED] = {"cached_count", "Cached", UNIT_COUNT, false},
    [FUNCTION_TOTAL] = {"total_ps", "Total", UNIT_PS, true},
    [FUNCTION_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [FUNCTION_FIRST] = {"first_ps", "First", UNIT_PS, true},
    [FUNCTION_LATER] = {"later_ps", "Later", UNIT_PS, true},
    PHASE_COLUMNS(FUNCTION_PHASES),
    [FUNCTION_BACKEND] = {"backend_ps", "Backend", UNIT_PS, false},
    [FUNCTION_STEPS] = {"steps", "Steps", UNIT_TEXT, true},
    [FUNCTION_CHANGE] = {"change", "Change", UNIT_TEXT, false},
    [FUNCTION_CHANGED] = {"changed", "What changed", UNIT_TEXT, true},
    [FUNCTION_START] = {"start_ps", "Start", UNIT_PS, false},
    [FUNCTION_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
};

enum compile_column {
    COMPILE_FUNCTION,
    COMPILE_MODULE,
    COMPILE_PROGRAM,
    COMPILE_HOST,
    COMPILE_TRACK,
    COMPILE_SLICE,
    COMPILE_START,
    COMPILE_DUR,
    COMPILE_TOTAL,
    COMPILE_SHARE,
    COMPILE_PHASES,
    COMPILE_BACKEND_PS = COMPILE_PHASES + PHASE_COUNT,
    COMPILE_STEP,
    COMPILE_NTH,
    COMPILE_CACHED,
    COMPILE_CHANGE,
    COMPILE_CHANGED,
};

static const struct column compile_columns[] = {
    [COMPILE_FUNCTION] = {"function", "Function", UNIT_TEXT, true},
    [COMPILE_MODULE] = {"module", "Module", UNIT_TEXT, false},
    [COMPILE_PROGRAM] = {"program_id", "Program", UNIT_TEXT, false},
    [COMPILE_HOST] = {"host", "Host", UNIT_TEXT, false},
    [COMPILE_TRACK] = {"track", "Track", UNIT_TEXT, false},
    [COMPILE_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
    [COMPILE_START] = {"start_ps", "Start", UNIT_PS, true},
    [COMPILE_DUR] = {"dur_ps", "Duration", UNIT_PS, false},
    [COMPILE_TOTAL] = {"total_ps", "Total", UNIT_PS, true},
    [COMPILE_SHARE] = {"share", "Share", UNIT_SHARE, true},
    PHASE_COLUMNS(COMPILE_PHASES),
    [COMPILE_BACKEND_PS] = {"backend_ps", "Backend", UNIT_PS, false},
    [COMPILE_STEP] = {"step", "Step", UNIT_NONE, true},
    [COMPILE_NTH] = {"nth", "Nth", UNIT_COUNT, false},
    [COMPILE_CACHED] = {"cached", "Cached", UNIT_NONE, false},
    [COMPILE_CHANGE] = {"change", "Change", UNIT_TEXT, false},
    [COMPILE_CHANGED] = {"changed", "What changed", UNIT_TEXT, true},
};

struct function_row {                   /* compiles of one function on one host */
    const struct compile *first, *told; /* in time; the latest of which it is known why */
    uint64_t count, cached_count;
    int64_t total_ps, first_ps;
    int64_t phases_ps[PHASE_COUNT], backend_ps;
    unsigned seen; /* by all of them */
    bool cached_known;
    struct str steps;
};

struct compile_rows {
    const struct run_traces *run;
    const struct compiles *compiles;
    const struct function_row *functions;
    struct arena *arena;
    int64_t total_ps;
};

static struct cell count_cell(uint64_t count)
{
    return (struct cell){.kind = CELL_UNSIGNED, .of.uint = count};
}

static struct cell text_cell(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell phase_cell(const int64_t *phases_ps, unsigned seen, int phase)
{
    static const char *const reasons[PHASE_COUNT] = {
        [PHASE_TRACE] = "the profile has no mark of tracing",
        [PHASE_LOWER] = "the profile has no mark of lowering",
        [PHASE_CACHE] = "the profile has no mark of the compilation cache",
        [PHASE_PASSES] = "the profile does not record what the compiler did",
        [PHASE_CODEGEN] = "the profile does not record what the compiler did",
        [PHASE_AUTOTUNE] = "the profile does not record what the compiler did",
    };

    if ((seen >> phase & 1u) == 0 && phases_ps[phase] == 0)
        return cell_null(str_of(reasons[phase]));
    return cell_integer(phases_ps[phase]);
}

static struct cell share_cell(const struct compile_rows *rows, int64_t total_ps)
{
    return rows->total_ps > 0 ? cell_real((double)total_ps / (double)rows->total_ps)
                              : cell_null(STR("nothing was compiled"));
}

static struct cell changed_cell(const struct compile *compile)
{
    return compile->change != CHANGE_UNKNOWN ? cell_text(compile->changed)
                                             : cell_null(compile->changed);
}

static struct cell change_cell(const struct compile *compile)
{
    const char *word = compile_change_word(compile->change);

    return word != NULL ? cell_text(str_of(word)) : cell_null(compile->changed);
}

static struct cell slice_cell(const struct compile_rows *rows, const struct compile *compile)
{
    return cell_text(str_format(rows->arena, "%.*s-%u",
                                STR_ARG(rows->run->hosts[compile->host].key), compile->slice));
}

static const char no_function[] = "no call around it names its function";
static const char no_module[] = "no slice of it names its module";

static struct cell step_cell(const struct compile_rows *rows, const struct compile *compile)
{
    if (compile->in_step)
        return cell_integer(compile->step);
    return cell_null(rows->compiles->has_steps ? STR("it lies outside of all steps")
                                               : STR("the run has no steps"));
}

static struct cell cached_cell(const struct compile *compile)
{
    if (compile->cached == CACHED_UNKNOWN)
        return cell_null(STR("the profile has no mark of the compilation cache"));
    return cell_bool(compile->cached == CACHED_YES);
}

static struct cell program_cell(const struct compile_rows *rows, const struct compile *compile)
{
    const struct trace *trace = rows->run->hosts[compile->host].trace;

    if (compile->program == NO_PROGRAM)
        return cell_null(STR("which module it produced is not known"));
    return cell_text(
        str_format(rows->arena, "%llu", (unsigned long long)trace->programs[compile->program].id));
}

static struct cell compile_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct compile_rows *rows = data;
    const struct compile *compile = &rows->compiles->items[row];
    const struct host_trace *host = &rows->run->hosts[compile->host];

    if (column >= COMPILE_PHASES && column < COMPILE_PHASES + PHASE_COUNT)
        return phase_cell(compile->phases_ps, compile->seen, (int)(column - COMPILE_PHASES));
    switch (column) {
    case COMPILE_FUNCTION:
        return text_cell(compile->function, no_function);
    case COMPILE_MODULE:
        return text_cell(compile->module, no_module);
    case COMPILE_PROGRAM:
        return program_cell(rows, compile);
    case COMPILE_HOST:
        return cell_text(host->name);
    case COMPILE_TRACK:
        return cell_text(str_format(rows->arena, "%.*s.%u", STR_ARG(host->key), compile->track));
    case COMPILE_SLICE:
        return slice_cell(rows, compile);
    case COMPILE_START:
        return cell_integer(compile->start_ps);
    case COMPILE_DUR:
        return cell_integer(compile->end_ps - compile->start_ps);
    case COMPILE_TOTAL:
        return cell_integer(compile_total(compile));
    case COMPILE_SHARE:
        return share_cell(rows, compile_total(compile));
    case COMPILE_BACKEND_PS:
        return cell_integer(compile_backend(compile));
    case COMPILE_STEP:
        return step_cell(rows, compile);
    case COMPILE_NTH:
        return count_cell(compile->nth);
    case COMPILE_CACHED:
        return cached_cell(compile);
    case COMPILE_CHANGE:
        return change_cell(compile);
    default:
        return changed_cell(compile);
    }
}

static struct cell function_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct compile_rows *rows = data;
    const struct function_row *function = &rows->functions[row];
    const struct compile *first = function->first;

    if (column >= FUNCTION_PHASES && column < FUNCTION_PHASES + PHASE_COUNT)
        return phase_cell(function->phases_ps, function->seen, (int)(column - FUNCTION_PHASES));
    switch (column) {
    case FUNCTION_NAME:
        return text_cell(first->function, no_function);
    case FUNCTION_MODULE:
        return text_cell(first->module, no_module);
    case FUNCTION_HOST:
        return cell_text(rows->run->hosts[first->host].name);
    case FUNCTION_COUNT:
        return count_cell(function->count);
    case FUNCTION_CACHED:
        return function->cached_known
                   ? count_cell(function->cached_count)
                   : cell_null(STR("the profile has no mark of the compilation cache"));
    case FUNCTION_TOTAL:
        return cell_integer(function->total_ps);
    case FUNCTION_SHARE:
        return share_cell(rows, function->total_ps);
    case FUNCTION_FIRST:
        return cell_integer(function->first_ps);
    case FUNCTION_LATER:
        return cell_integer(function->total_ps - function->first_ps);
    case FUNCTION_BACKEND:
        return cell_integer(function->backend_ps);
    case FUNCTION_STEPS:
        return text_cell(function->steps, rows->compiles->has_steps
                                              ? "all of it lies outside of steps"
                                              : "the run has no steps");
    case FUNCTION_CHANGE:
        return change_cell(function->told);
    case FUNCTION_CHANGED:
        return changed_cell(function->told);
    case FUNCTION_START:
        return cell_integer(first->start_ps);
    default:
        return slice_cell(rows, first);
    }
}

/* By host and function, then by time. */
static int by_function(const void *left, const void *right)
{
    const struct compile *a = *(const struct compile *const *)left;
    const struct compile *b = *(const struct compile *const *)right;
    int order;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    order = str_compare(a->function, b->function);
    if (order == 0)
        order = str_compare(a->module, b->module);
    return order != 0 ? order : (a > b) - (a < b);
}

static struct str steps_text(const struct compile *const *compiles, uint32_t count,
                             struct arena *arena)
{
    struct step_numbers numbers = {0};

    for (uint32_t i = 0; i < count; i++) {
        if (compiles[i]->in_step)
            step_numbers_add(&numbers, compiles[i]->step);
    }
    return step_numbers_end(&numbers, arena);
}

static struct function_row join(const struct compile *const *compiles, uint32_t count,
                                struct arena *arena)
{
    struct function_row row = {
        .first = compiles[0],
        .told = compiles[0],
        .count = count,
        .first_ps = compile_total(compiles[0]),
        .seen = 0,
        .cached_known = true,
        .steps = steps_text(compiles, count, arena),
    };

    for (uint32_t i = 0; i < count; i++) {
        const struct compile *compile = compiles[i];

        for (int phase = 0; phase < PHASE_COUNT; phase++)
            ps_add(&row.phases_ps[phase], compile->phases_ps[phase]);
        ps_add(&row.total_ps, compile_total(compile));
        ps_add(&row.backend_ps, compile_backend(compile));
        row.seen = i == 0 ? compile->seen : row.seen & compile->seen;
        row.cached_known &= compile->cached != CACHED_UNKNOWN;
        row.cached_count += compile->cached == CACHED_YES;
        if (compile->change != CHANGE_UNKNOWN && compile->change != CHANGE_FIRST)
            row.told = compile;
    }
    return row;
}

static uint32_t join_functions(const struct compiles *compiles, struct arena *arena,
                               const struct function_row **ret)
{
    struct function_row *rows =
        arena_array(arena, struct function_row, (size_t)compiles->count + 1);
    const struct compile **ordered =
        memory_resize(NULL, (size_t)compiles->count + 1, sizeof(*ordered));
    uint32_t count = 0;

    for (uint32_t i = 0; i < compiles->count; i++)
        ordered[i] = &compiles->items[i];
    if (compiles->count > 1)
        qsort(ordered, compiles->count, sizeof(*ordered), by_function);
    for (uint32_t first = 0, end; first < compiles->count; first = end) {
        end = first + 1;
        while (end < compiles->count && ordered[end]->host == ordered[first]->host &&
               str_equal(ordered[end]->function, ordered[first]->function) &&
               str_equal(ordered[end]->module, ordered[first]->module))
            end++;
        rows[count++] = join(&ordered[first], end - first, arena);
    }
    free(ordered);
    *ret = rows;
    return count;
}

enum status compiles_table(const struct run_traces *run, const struct restriction *restriction,
                           const struct steps *all, struct str by, const struct page *page,
                           struct arena *arena, struct table *ret, struct error *err)
{
    bool each = str_equal(by, STR("compile"));
    struct compiles *compiles = arena_new(arena, struct compiles);
    struct compile_rows *rows = arena_new(arena, struct compile_rows);
    struct table_source source = {
        .columns = each ? compile_columns : function_columns,
        .column_count = each ? COUNT(compile_columns) : COUNT(function_columns),
        .cell = each ? compile_cell : function_cell,
        .data = rows,
    };
    uint32_t *order;

    *ret = (struct table){0};
    if (!each && by.count > 0 && !str_equal(by, STR("function")))
        return fail(err, ERR_INVALID, "by is function or compile");
    TRY(compiles_find(run, restriction, all, arena, compiles, err));
    *rows = (struct compile_rows){.run = run, .compiles = compiles, .arena = arena};
    for (uint32_t i = 0; i < compiles->count; i++)
        ps_add(&rows->total_ps, compile_total(&compiles->items[i]));
    source.row_count = each ? compiles->count : join_functions(compiles, arena, &rows->functions);
    TRY(table_order(&source, page->sort, each ? "start_ps" : "-total_ps,start_ps", arena, &order,
                    err));
    table_fill(&source, order, page, arena, ret);
    ret->by = each ? STR("compile") : STR("function");
    ret->of = STR("host");
    ret->total_ps = rows->total_ps;
    if (ret->row_count_all == 0)
        table_tell_missing(ret, "no-compiles", compiles_missing(run), arena);
    return OK;
}
