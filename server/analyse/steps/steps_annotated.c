/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that the program marks: JAX's and TensorFlow's by an arg, PyTorch's by their name; and the
 * list that all rules fill: numbers from names, order, overlaps. */
#include <stdlib.h>

#include "analyse/steps/steps_parts.h"
#include "trace/args/args.h"
#include "trace/names/by_name.h"

void step_list_add(struct step_list *list, struct step step)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 64 : 2 * list->capacity;
        list->items = memory_resize(list->items, list->capacity, sizeof(*list->items));
    }
    list->items[list->count++] = step;
}

struct step step_of(const struct host_trace *host, uint32_t index, const struct slice *slice)
{
    return (struct step){
        .host = index,
        .name = trace_name(host->trace, slice->name),
        .slice = slice->id,
        .thread = host->trace->rows[slice->row].track,
        .cut = (slice->flags & SLICE_CUT) != 0,
        .start_ps = slice->start_ps + host->offset_ps,
        .dur_ps = slice->dur_ps,
    };
}

bool step_number_at_end(struct str name, int64_t *ret)
{
    size_t digits = 0;

    while (digits < name.count && name.at[name.count - 1 - digits] >= '0' &&
           name.at[name.count - 1 - digits] <= '9')
        digits++;
    return str_to_i64(str_skip(name, name.count - digits), ret);
}

int step_by_start(const void *left, const void *right)
{
    const struct step *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->dur_ps < b->dur_ps) - (a->dur_ps > b->dur_ps);
}

void step_list_settle(struct step_list *list, uint32_t from)
{
    uint32_t kept = from;
    int64_t open_to_ps = INT64_MIN;

    if (list->count > from)
        qsort(list->items + from, list->count - from, sizeof(*list->items), step_by_start);
    for (uint32_t i = from; i < list->count; i++) {
        struct step step = list->items[i];

        if (step.start_ps + step.dur_ps <= open_to_ps)
            continue;
        open_to_ps = step.start_ps + step.dur_ps;
        if (!step.numbered)
            step.number = kept - from;
        list->items[kept++] = step;
    }
    list->count = kept;
}

/* TensorFlow's runtime marks its own calls as roots. */
static bool is_runtime(struct str name)
{
    return str_equal(name, STR("FunctionRun"));
}

static bool is_number(const struct trace *trace, const struct arg_column *column, uint32_t at,
                      int64_t *ret)
{
    if (column->type[at] == ARG_STRING) /* as JSON has it */
        return str_to_i64(trace_name(trace, (name_id)column->bits[at]), ret);
    bool counts = column->type[at] == ARG_UINT64 || column->type[at] == ARG_DIGITS;

    if (column->type[at] != ARG_INT64 && (!counts || column->bits[at] > INT64_MAX))
        return false;
    *ret = (int64_t)column->bits[at];
    return true;
}

static void add_annotated(const struct host_trace *host, uint32_t index, event_id event,
                          const struct arg_column *numbers, uint32_t at, struct step_list *list)
{
    slice_id id = trace_slice_of_event(host->trace, event);

    if (id == NO_SLICE)
        return;

    struct slice slice = trace_slice(host->trace, id);
    const struct track *track = &host->trace->tracks[host->trace->rows[slice.row].track];
    struct step step = step_of(host, index, &slice);

    if (slice.dur_ps <= 0 || track->derived || track->device >= 0 || is_runtime(step.name))
        return;
    step.numbered = numbers != NULL && is_number(host->trace, numbers, at, &step.number);
    step_list_add(list, step);
}

static bool marks_root(const struct arg_column *column, uint32_t at)
{
    return (column->type[at] == ARG_INT64 || column->type[at] == ARG_UINT64 ||
            column->type[at] == ARG_DIGITS) &&
           column->bits[at] == 1;
}

static bool marks_any(const struct arg_column *column, uint32_t at)
{
    return column->type[at] != ARG_NONE;
}

/* Slices with this key, as `marks` says; the same or another key has their numbers. */
static void find_marked(const struct host_trace *host, uint32_t index, const char *key,
                        const char *number_key,
                        bool (*marks)(const struct arg_column *column, uint32_t at),
                        struct step_list *list)
{
    name_id root, number;

    if (!trace_find_name(host->trace, str_of(key), &root))
        return;

    bool has_numbers = trace_find_name(host->trace, str_of(number_key), &number);
    struct arg_column *columns = memory_resize(NULL, 2, sizeof(*columns)); /* 300 KB */

    for (uint32_t block = 0; block < trace_arg_block_count(host->trace); block++) {
        if (!trace_arg_column(host->trace, block, root, &columns[0]))
            continue;

        bool numbered = has_numbers && trace_arg_column(host->trace, block, number, &columns[1]);

        for (uint32_t at = 0; at < columns[0].count; at++) {
            if (marks(&columns[0], at))
                add_annotated(host, index, columns[0].first_event + at,
                              numbered ? &columns[1] : NULL, at, list);
        }
    }
    free(columns);
}

/* Where one step ends PyTorch begins the next: the last mark is where its profiler was stopped, a
 * stub among steps twenty times as long. */
static void drop_stub(struct step_list *list, uint32_t from)
{
    enum { TIMES_SHORTER = 20 };
    uint32_t last = from;
    int64_t shortest_ps = INT64_MAX;

    for (uint32_t i = from; i < list->count; i++)
        if (list->items[i].start_ps > list->items[last].start_ps)
            last = i;
    for (uint32_t i = from; i < list->count; i++)
        if (i != last && list->items[i].dur_ps < shortest_ps)
            shortest_ps = list->items[i].dur_ps;
    if (list->count - from > 1 && list->items[last].dur_ps < shortest_ps / TIMES_SHORTER)
        list->items[last] = list->items[--list->count];
}

/* PyTorch's own step marks. */
static void find_profiler_steps(const struct host_trace *host, uint32_t index,
                                struct step_list *list)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(host->trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        if (!str_starts(trace_name(host->trace, stats[i].name), STR("ProfilerStep#")))
            continue;

        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(host->trace, stats[i].name, &run_count);

        for (uint32_t run = 0; run < run_count; run++) {
            const struct row *row = &host->trace->rows[runs[run].row];

            if (host->trace->tracks[row->track].device >= 0)
                continue;

            const slice_id *slices = trace_name_slices(host->trace, &runs[run]);

            for (uint32_t at = 0; slices != NULL && at < runs[run].count; at++) {
                struct slice slice = trace_slice(host->trace, slices[at]);
                struct step step = step_of(host, index, &slice);

                step.numbered = step_number_at_end(step.name, &step.number);
                step_list_add(list, step);
            }
        }
    }
}

/* JAX marks roots; what it writes as JSON keeps their numbers alone. */
void find_annotated(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    uint32_t from = list->count;

    find_marked(host, index, "_r", "step_num", marks_root, list);
    if (list->count == from)
        find_marked(host, index, "step_num", "step_num", marks_any, list);
    if (list->count == from) {
        find_profiler_steps(host, index, list);
        drop_stub(list, from);
    }
}

/* TensorFlow's roots have a name that XProf gives them; XProf's line of steps, where there is one,
 * says more. */
void find_named_roots(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    find_marked(host, index, "step_name", "step_name", marks_any, list);
}
