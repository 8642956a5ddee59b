/* SPDX-License-Identifier: Apache-2.0 */
/* Each span that the program marked, projected on the devices: what Nsight Systems calls
 * nvtx_gpu_proj_trace.
 *
 *   thread   |---- range ----|
 *              c1       c2                  calls inside
 *   stream          |--k1--|      |-k2-|    what they launched
 *                   |<-- projected --->|
 *
 * Spans that launched nothing have no projection, and are not here.
 */
#include "analyse/ops/kernels_lists.h"

#include "analyse/ops/annotations_parts.h"
#include "analyse/table.h"
#include "trace/ps.h"

enum {
    RANGE_NAME,
    RANGE_START,
    RANGE_DUR,
    RANGE_BEGIN,
    RANGE_LENGTH,
    RANGE_DEVICE,
    RANGE_OPS,
    RANGE_LEVEL,
    RANGE_CHILDREN,
    RANGE_HOST,
    RANGE_THREAD,
    RANGE_SLICE,
    RANGE_PARENT,
    RANGE_STACK,
    RANGE_TRACK,
};

static const struct column columns[] = {
    [RANGE_NAME] = {"name", "Range", UNIT_TEXT, true},
    [RANGE_START] = {"start_ps", "Start", UNIT_PS, true},
    [RANGE_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [RANGE_BEGIN] = {"range_start_ps", "On the host", UNIT_PS, true},
    [RANGE_LENGTH] = {"range_ps", "Took there", UNIT_PS, true},
    [RANGE_DEVICE] = {"device_ps", "Device", UNIT_PS, true},
    [RANGE_OPS] = {"launch_count", "Device ops", UNIT_COUNT, true},
    [RANGE_LEVEL] = {"level", "Level", UNIT_COUNT, true},
    [RANGE_CHILDREN] = {"child_count", "Children", UNIT_COUNT, false},
    [RANGE_HOST] = {"host", "Host", UNIT_TEXT, false},
    [RANGE_THREAD] = {"thread", "Thread", UNIT_TEXT, false},
    [RANGE_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
    [RANGE_PARENT] = {"parent", "Parent", UNIT_TEXT, false},
    [RANGE_STACK] = {"stack", "Stack", UNIT_TEXT, false},
    [RANGE_TRACK] = {"track", "Track", UNIT_TEXT, false},
};

struct range {
    uint32_t host;
    struct span_mark span; /* parent: among all, not the listed */
    slice_id parent;       /* NO_SLICE at the top */
    uint32_t level, child_count;
    struct str stack; /* "train/layer_0" */
};

struct ranges {
    const struct kernels_work *work;
    struct range *items;
    uint32_t count, capacity;
    int64_t total_ps;
};

static void add_range(struct ranges *all, struct range range)
{
    if (all->count == all->capacity) {
        all->capacity = all->capacity == 0 ? 256 : 2 * all->capacity;
        all->items = memory_resize(all->items, all->capacity, sizeof *all->items);
    }
    all->items[all->count++] = range;
}

enum { LEVELS_MAX = 32 }; /* that a stack names; deeper ones end in their own name */

/* From the outermost to itself. */
static struct str stack_of(const struct marks *marks, uint32_t index, struct arena *arena)
{
    uint32_t chain[LEVELS_MAX], count = 0;
    struct text text = {0};

    for (; index != NO_SPAN && count < LEVELS_MAX; index = marks->spans[index].parent)
        chain[count++] = index;
    if (index != NO_SPAN)
        text_puts(&text, "…/");
    while (count-- > 0)
        text_putf(&text, "%.*s%s",
                  STR_ARG(trace_name(marks->trace, marks->spans[chain[count]].name)),
                  count > 0 ? "/" : "");

    struct str ret = str_copy(arena, text_str(&text));

    text_free(&text);
    return ret;
}

static bool is_asked(const struct kernels_work *work, const struct marks *marks, uint32_t index)
{
    const struct span_mark *span = &marks->spans[index];

    return span->launch_count > 0 &&
           (!work->names.by_name ||
            selection_has_name(&work->names, trace_name(marks->trace, span->name)));
}

static void add_host(struct ranges *all, const struct selection *selection)
{
    const struct trace *trace = selection->host->trace;
    struct marks marks;
    struct device_sum none = {0};
    struct device_sum *by_name = memory_zeroed((size_t)trace->name_count + 1, sizeof *by_name);
    marks_find(trace, selection->host->attribution, &marks);
    marks_add_device(&marks, selection, by_name, &none);

    uint32_t *levels = memory_zeroed((size_t)marks.count + 1, sizeof *levels);
    uint32_t *children = memory_zeroed((size_t)marks.count + 1, sizeof *children);

    for (uint32_t i = 0; i < marks.count; i++) { /* a span comes behind the one that it is in */
        uint32_t parent = marks.spans[i].parent;

        levels[i] = parent == NO_SPAN ? 0 : levels[parent] + 1;
        if (parent != NO_SPAN)
            children[parent]++;
    }
    for (uint32_t i = 0; i < marks.count; i++) {
        uint32_t parent = marks.spans[i].parent;

        if (!is_asked(all->work, &marks, i))
            continue;
        if (parent == NO_SPAN)
            ps_add(&all->total_ps, marks.spans[i].device_ps);
        add_range(all, (struct range){
                           .host = selection->index,
                           .span = marks.spans[i],
                           .parent = parent == NO_SPAN ? NO_SLICE : marks.spans[parent].slice,
                           .level = levels[i],
                           .child_count = children[i],
                           .stack = stack_of(&marks, i, all->work->arena),
                       });
    }
    free(levels);
    free(children);
    marks_free(&marks);
    free(by_name);
}

static struct cell id_cell(const struct ranges *all, const struct host_trace *host, slice_id slice)
{
    return cell_text(str_format(all->work->arena, "%.*s-%u", STR_ARG(host->key), slice));
}

static struct cell where_cell(const struct ranges *all, const struct range *range, uint32_t column)
{
    const struct host_trace *host = &all->work->run->hosts[range->host];
    track_id track = range->span.group;

    switch (column) {
    case RANGE_NAME:
        return cell_text(trace_name(host->trace, range->span.name));
    case RANGE_HOST:
        return cell_text(host->name);
    case RANGE_THREAD:
        return cell_text(trace_name(host->trace, host->trace->tracks[track].name));
    case RANGE_SLICE:
        return id_cell(all, host, range->span.slice);
    case RANGE_PARENT:
        return range->parent == NO_SLICE ? cell_null(STR("no range is around it"))
                                         : id_cell(all, host, range->parent);
    case RANGE_STACK:
        return cell_text(range->stack);
    default:
        return cell_text(str_format(all->work->arena, "%.*s.%u", STR_ARG(host->key), track));
    }
}

static struct cell range_cell(const void *data, uint32_t at, uint32_t column)
{
    const struct ranges *all = data;
    const struct range *range = &all->items[at];
    int64_t offset_ps = all->work->run->hosts[range->host].offset_ps;

    switch (column) {
    case RANGE_START:
        return cell_integer(range->span.first_ps + offset_ps);
    case RANGE_DUR:
        return cell_integer(range->span.last_ps - range->span.first_ps);
    case RANGE_BEGIN:
        return cell_integer(range->span.start_ps + offset_ps);
    case RANGE_LENGTH:
        return cell_integer(range->span.end_ps - range->span.start_ps);
    case RANGE_DEVICE:
        return cell_integer(range->span.device_ps);
    case RANGE_OPS:
        return cell_integer((int64_t)range->span.launch_count);
    case RANGE_LEVEL:
        return cell_integer(range->level);
    case RANGE_CHILDREN:
        return cell_integer(range->child_count);
    default:
        return where_cell(all, range, column);
    }
}

enum status kernel_ranges(const struct kernels_work *work, const struct page *page,
                          struct table *ret, struct error *err)
{
    struct ranges all = {.work = work};
    struct table_source source = {
        .columns = columns, .column_count = COUNT(columns), .cell = range_cell, .data = &all};
    uint32_t *order;

    for (uint32_t at = 0; at < work->selection_count; at++)
        add_host(&all, &work->selections[at]);
    source.row_count = all.count;

    enum status status =
        table_order(&source, page->sort, "start_ps,-dur_ps", work->arena, &order, err);

    if (status == OK)
        table_fill(&source, order, page, work->arena, ret);
    ret->total_ps = all.total_ps;
    free(all.items);
    return status;
}
