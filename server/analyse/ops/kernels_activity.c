/* SPDX-License-Identifier: Apache-2.0 */
/* Each thing that ran on the streams of GPUs, in order of time: what Nsight Systems calls
 * cuda_gpu_trace and cuda_kern_exec_trace.
 *
 *   host     |--call--|
 *            |        |<-- queue -->|
 *   stream                          |--kernel, copy, set or graph--|
 *
 * A row knows its entry alone; what a cell needs it reads when it is asked.
 */
#include "analyse/ops/kernels_lists.h"

#include "analyse/comm/transfers.h"
#include "analyse/ops/kernels.h"
#include "analyse/scan/scan.h"
#include "analyse/table.h"
#include "base/sort.h"
#include "trace/args/slice_args.h"
#include "trace/ps.h"

enum {
    ACTIVITY_START,
    ACTIVITY_DUR,
    ACTIVITY_WHAT,
    ACTIVITY_NAME,
    ACTIVITY_HOST,
    ACTIVITY_DEVICE,
    ACTIVITY_CONTEXT,
    ACTIVITY_STREAM,
    ACTIVITY_CORRELATION,
    ACTIVITY_GRID,
    ACTIVITY_BLOCK,
    ACTIVITY_REGISTERS,
    ACTIVITY_STATIC,
    ACTIVITY_DYNAMIC,
    ACTIVITY_BYTES,
    ACTIVITY_RATE,
    ACTIVITY_DIRECTION,
    ACTIVITY_MEMORY,
    ACTIVITY_CALL,
    ACTIVITY_CALL_START,
    ACTIVITY_CALL_DUR,
    ACTIVITY_QUEUE,
    ACTIVITY_TOTAL,
    ACTIVITY_GRAPH,
    ACTIVITY_OP,
    ACTIVITY_LAUNCH,
    ACTIVITY_SLICE,
    ACTIVITY_TRACK,
};

static const struct column columns[] = {
    [ACTIVITY_START] = {"start_ps", "Start", UNIT_PS, true},
    [ACTIVITY_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [ACTIVITY_WHAT] = {"what", "What", UNIT_TEXT, true},
    [ACTIVITY_NAME] = {"name", "Name", UNIT_TEXT, true},
    [ACTIVITY_HOST] = {"host", "Host", UNIT_TEXT, false},
    [ACTIVITY_DEVICE] = {"device", "Device", UNIT_NONE, true},
    [ACTIVITY_CONTEXT] = {"context", "Context", UNIT_TEXT, false},
    [ACTIVITY_STREAM] = {"stream", "Stream", UNIT_TEXT, true},
    [ACTIVITY_CORRELATION] = {"correlation", "Correlation", UNIT_NONE, false},
    [ACTIVITY_GRID] = {"grid", "Grid", UNIT_TEXT, true},
    [ACTIVITY_BLOCK] = {"block", "Block", UNIT_TEXT, true},
    [ACTIVITY_REGISTERS] = {"registers", "Registers", UNIT_COUNT, false},
    [ACTIVITY_STATIC] = {"static_shared_bytes", "Static shared", UNIT_BYTES, false},
    [ACTIVITY_DYNAMIC] = {"dynamic_shared_bytes", "Dynamic shared", UNIT_BYTES, false},
    [ACTIVITY_BYTES] = {"bytes", "Bytes", UNIT_BYTES, true},
    [ACTIVITY_RATE] = {"bytes_per_s", "Bandwidth", UNIT_PER_S, true},
    [ACTIVITY_DIRECTION] = {"direction", "Direction", UNIT_TEXT, false},
    [ACTIVITY_MEMORY] = {"memory", "Host memory", UNIT_TEXT, false},
    [ACTIVITY_CALL] = {"call", "Call", UNIT_TEXT, false},
    [ACTIVITY_CALL_START] = {"call_start_ps", "Call start", UNIT_PS, false},
    [ACTIVITY_CALL_DUR] = {"call_ps", "Call", UNIT_PS, false},
    [ACTIVITY_QUEUE] = {"queue_ps", "Queue", UNIT_PS, true},
    [ACTIVITY_TOTAL] = {"launch_to_end_ps", "Call to end", UNIT_PS, false},
    [ACTIVITY_GRAPH] = {"graph", "Graph", UNIT_TEXT, false},
    [ACTIVITY_OP] = {"op", "Op", UNIT_TEXT, false},
    [ACTIVITY_LAUNCH] = {"launch", "Launch", UNIT_TEXT, false},
    [ACTIVITY_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
    [ACTIVITY_TRACK] = {"track", "Track", UNIT_TEXT, false},
};

struct activity {
    int64_t start_ps; /* run time */
    uint32_t host, entry;
};

struct moved { /* of the row that was asked for last: four cells of it come one by one */
    slice_id slice;
    uint32_t host;
    bool any;
    struct transfer transfer;
};

struct activities {
    struct moved *moved;
    struct slice_args *args; /* by host; opened when one of its rows is asked for them */
    const struct run_traces *run;
    struct arena *arena;
    struct activity *items;
    uint32_t count, capacity;
    int64_t total_ps;
    /* While a selection is walked. */
    const struct selection *selection, *names;
    const bool *streams; /* by track */
    uint8_t **inside;    /* [selection], a bit an entry; NULL: all count */
    uint32_t at;
};

static bool earlier(const struct activity *a, const struct activity *b)
{
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    return a->host != b->host ? a->host < b->host : a->entry < b->entry;
}

SORT_DEFINE(sort_activities, struct activity, earlier)

static track_id track_of(const struct host_trace *host, slice_id slice)
{
    return host->trace->rows[trace_row_of(host->trace, slice)].track;
}

static bool is_wanted(const struct activities *all, const struct attributed *entry, uint32_t index)
{
    const struct host_trace *host = all->selection->host;

    if (!all->streams[track_of(host, entry->slice)] ||
        (all->inside != NULL && (all->inside[all->at][index / 8] >> index % 8 & 1) == 0))
        return false;
    return !all->names->by_name ||
           selection_has_name(all->names,
                              trace_name(host->trace, trace_slice(host->trace, entry->slice).name));
}

static void take_block(void *data, const struct op_block *block)
{
    struct activities *all = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = BLOCK_ENTRY(block, i);

        if (block->inside_ps[i] < 0 || !is_wanted(all, entry, block->first + i))
            continue;
        if (all->count == all->capacity) {
            all->capacity = all->capacity == 0 ? 1024 : 2 * all->capacity;
            all->items = memory_resize(all->items, all->capacity, sizeof *all->items);
        }
        ps_add(&all->total_ps, block->inside_ps[i]);
        all->items[all->count++] = (struct activity){
            .start_ps = entry->start_ps + all->selection->host->offset_ps,
            .host = all->selection->index,
            .entry = block->first + i,
        };
    }
}

static void take_selection(struct activities *all, const struct selection *selection)
{
    const struct trace *trace = selection->host->trace;
    bool *streams = arena_array(all->arena, bool, (size_t)trace->track_count + 1);
    void *data[1] = {all};

    if (selection->host->attribution == NULL)
        return;
    for (track_id id = 0; id < trace->track_count; id++)
        streams[id] = track_runs_kernels(trace, id);
    all->streams = streams;
    all->selection = selection;
    scan_ops(selection, ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_START), take_block, data, 1);
}

/* One row, opened: its cells are asked for one after the other. */
struct opened {
    const struct host_trace *host;
    const struct attribution *of;
    struct attributed entry;
    const struct kernel *kernel; /* NULL: a copy, a set or a graph */
    struct slice slice;
};

static struct opened open_row(const struct activities *all, const struct activity *activity)
{
    const struct host_trace *host = &all->run->hosts[activity->host];
    const struct attribution *of = host->attribution;
    uint32_t kernel = entry_kernel(of, activity->entry);

    return (struct opened){
        .host = host,
        .of = of,
        .entry = entry_at(of, activity->entry),
        .kernel = kernel == NO_KERNEL ? NULL : &of->kernels[kernel],
        .slice = trace_slice(host->trace, entry_slice(of, activity->entry)),
    };
}

static struct slice_args *args_of(const struct activities *all, const struct opened *row)
{
    struct slice_args *args = &all->args[row->host - all->run->hosts];

    if (args->trace == NULL)
        slice_args_open(args, row->host->trace);
    return args;
}

static struct cell number_arg(const struct activities *all, const struct opened *row,
                              const char *const *keys, size_t key_count, bool text)
{
    const struct arg *args;
    type_id type;
    uint32_t count = slice_args_of(args_of(all, row), row->slice.event, &args, &type);

    for (uint32_t i = 0; i < count; i++) {
        struct str key = trace_name(row->host->trace, args[i].key);

        for (size_t at = 0; at < key_count; at++) {
            if (!str_equal(key, str_of(keys[at])))
                continue;
            if (args[i].type == ARG_STRING)
                return cell_text(trace_name(row->host->trace, (name_id)args[i].bits));
            if (args[i].type != ARG_INT64 && args[i].type != ARG_UINT64 &&
                args[i].type != ARG_DIGITS)
                continue;
            if (text)
                return cell_text(str_format(all->arena, "%llu", (unsigned long long)args[i].bits));
            if (args[i].bits <= INT64_MAX)
                return cell_integer((int64_t)args[i].bits);
        }
    }
    return cell_null(STR("the profile does not record it"));
}

static const char *what_is(const struct opened *row)
{
    if (row->kernel != NULL)
        return "kernel";
    if (row->entry.graph == GRAPH_WHOLE)
        return "graph";
    if (row->entry.op != NO_OP && row->of->ops[row->entry.op].kind != KIND_COPY)
        return "other";

    struct str name = trace_name(row->host->trace, row->slice.name);

    return str_contains(name, STR("emset")) || str_contains(name, STR("fillBuffer")) ? "set"
                                                                                     : "copy";
}

static struct cell shape_cell(const struct activities *all, const struct opened *row,
                              uint32_t column)
{
    const struct kernel *kernel = row->kernel;
    const uint32_t *triple;
    uint32_t value;

    if (kernel == NULL)
        return cell_null(STR("it is not a kernel"));
    if (column == ACTIVITY_GRID || column == ACTIVITY_BLOCK) {
        triple = column == ACTIVITY_GRID ? kernel->grid : kernel->block;
        return triple[0] == NOT_RECORDED
                   ? cell_null(STR("the profile does not record it"))
                   : cell_text(str_format(all->arena, "%u,%u,%u", triple[0], triple[1], triple[2]));
    }
    value = column == ACTIVITY_REGISTERS ? kernel->registers
            : column == ACTIVITY_STATIC  ? kernel->static_shared_bytes
                                         : kernel->dynamic_shared_bytes;
    return value == NOT_RECORDED ? cell_null(STR("the profile does not record it"))
                                 : cell_integer(value);
}

static const struct moved *moved_by(const struct activities *all, const struct opened *row,
                                    uint32_t host)
{
    struct moved *moved = all->moved;

    if (moved->slice != row->slice.id || moved->host != host) {
        moved->slice = row->slice.id;
        moved->host = host;
        moved->any = transfer_told(row->host, row->slice.id, args_of(all, row), &moved->transfer);
    }
    return moved;
}

static struct cell moved_cell(const struct activities *all, const struct opened *row, uint32_t host,
                              uint32_t column)
{
    const struct moved *moved;
    const char *word;

    if (row->kernel != NULL)
        return cell_null(STR("it is a kernel"));
    moved = moved_by(all, row, host);
    if (!moved->any)
        return cell_null(STR("it moves no data, or does not record how much"));

    const struct transfer *transfer = &moved->transfer;

    switch (column) {
    case ACTIVITY_BYTES:
        return transfer->bytes >= 0 ? cell_integer(transfer->bytes)
                                    : cell_null(STR("the profile records no size of it"));
    case ACTIVITY_RATE:
        return transfer->bytes >= 0 && transfer->dur_ps > 0
                   ? cell_real((double)transfer->bytes / ((double)transfer->dur_ps * 1e-12))
                   : cell_null(STR("the profile records no size of it, or no time"));
    case ACTIVITY_DIRECTION:
        word = transfer_direction_word(transfer->direction);
        break;
    default:
        word = host_memory_word(transfer->memory);
        break;
    }
    return word != NULL ? cell_text(str_of(word)) : cell_null(STR("the profile does not say"));
}

static struct cell call_cell(const struct activities *all, const struct opened *row,
                             uint32_t column)
{
    int64_t start_ps = row->entry.start_ps, end_ps = start_ps + row->entry.dur_ps;
    struct slice call;

    if (row->entry.launch == NO_SLICE || row->entry.launch >= row->host->trace->slice_count)
        return cell_null(STR("the profile does not record which call launched it"));
    call = trace_slice(row->host->trace, row->entry.launch);
    switch (column) {
    case ACTIVITY_CALL:
        return cell_text(trace_name(row->host->trace, call.name));
    case ACTIVITY_CALL_START:
        return cell_integer(call.start_ps + row->host->offset_ps);
    case ACTIVITY_CALL_DUR:
        return cell_integer(call.dur_ps);
    case ACTIVITY_QUEUE:
        return cell_integer(
            start_ps > call.start_ps + call.dur_ps ? start_ps - call.start_ps - call.dur_ps : 0);
    case ACTIVITY_TOTAL:
        return cell_integer(end_ps > call.start_ps ? end_ps - call.start_ps : 0);
    default:
        return cell_text(str_format(all->arena, "%.*s-%u", STR_ARG(row->host->key), call.id));
    }
}

static struct cell place_cell(const struct activities *all, const struct opened *row,
                              uint32_t column)
{
    static const char *const contexts[] = {"context_id", "contextId", "context"};
    static const char *const correlations[] = {"correlation_id", "correlation"};
    const struct trace *trace = row->host->trace;
    track_id track = trace->rows[row->slice.row].track;

    switch (column) {
    case ACTIVITY_HOST:
        return cell_text(row->host->name);
    case ACTIVITY_DEVICE:
        return cell_integer(row->entry.device);
    case ACTIVITY_CONTEXT:
        return number_arg(all, row, contexts, COUNT(contexts), true);
    case ACTIVITY_STREAM:
        return cell_text(trace_name(trace, trace->tracks[track].name));
    case ACTIVITY_CORRELATION:
        return number_arg(all, row, correlations, COUNT(correlations), false);
    case ACTIVITY_SLICE:
        return cell_text(str_format(all->arena, "%.*s-%u", STR_ARG(row->host->key), row->slice.id));
    default:
        return cell_text(str_format(all->arena, "%.*s.%u", STR_ARG(row->host->key), track));
    }
}

static struct cell op_cell(const struct opened *row)
{
    const struct op *op = row->entry.op == NO_OP ? NULL : &row->of->ops[row->entry.op];

    if (op == NULL || (op->module == 0 && op->program == NO_PROGRAM && op->caller == 0))
        return cell_null(STR("the profile does not say to which op it belongs"));
    return cell_text(trace_name(row->host->trace, op_called(op)));
}

static struct cell activity_cell(const void *data, uint32_t at, uint32_t column)
{
    const struct activities *all = data;
    const struct activity *activity = &all->items[at];
    struct opened row;

    if (column == ACTIVITY_START)
        return cell_integer(activity->start_ps);
    if (column == ACTIVITY_DUR)
        return cell_integer(
            entry_at(all->run->hosts[activity->host].attribution, activity->entry).dur_ps);
    row = open_row(all, activity);
    switch (column) {
    case ACTIVITY_WHAT:
        return cell_text(str_of(what_is(&row)));
    case ACTIVITY_NAME:
        return cell_text(trace_name(row.host->trace, row.slice.name));
    case ACTIVITY_GRAPH:
        return row.entry.graph == GRAPH_NONE
                   ? cell_null(STR("no graph launched it"))
                   : cell_text(row.entry.graph == GRAPH_WHOLE ? STR("whole") : STR("node"));
    case ACTIVITY_OP:
        return op_cell(&row);
    default:
        break;
    }
    if (column >= ACTIVITY_GRID && column <= ACTIVITY_DYNAMIC)
        return shape_cell(all, &row, column);
    if (column >= ACTIVITY_BYTES && column <= ACTIVITY_MEMORY)
        return moved_cell(all, &row, activity->host, column);
    if ((column >= ACTIVITY_CALL && column <= ACTIVITY_TOTAL) || column == ACTIVITY_LAUNCH)
        return call_cell(all, &row, column);
    return place_cell(all, &row, column);
}

/* They stand by start already: a million need no second sorting. */
static enum status order_of(const struct table_source *source, const struct page *page,
                            struct arena *arena, uint32_t **ret, struct error *err)
{
    if (page->sort.count > 0 && !str_equal(page->sort, STR("start_ps")))
        return table_order(source, page->sort, "start_ps", arena, ret, err);
    *ret = arena_array(arena, uint32_t, (size_t)source->row_count + 1);
    for (uint32_t i = 0; i < source->row_count; i++)
        (*ret)[i] = i;
    return OK;
}

enum status kernel_activities(const struct kernels_work *work, const struct page *page,
                              struct table *ret, struct error *err)
{
    struct moved moved = {.slice = NO_SLICE};
    struct activities all = {
        .moved = &moved,
        .args = arena_array(work->arena, struct slice_args, (size_t)work->run->host_count + 1),
        .run = work->run,
        .arena = work->arena,
        .names = &work->names,
        .inside = work->inside};
    struct table_source source = {
        .columns = columns, .column_count = COUNT(columns), .cell = activity_cell, .data = &all};
    uint32_t *order;

    for (all.at = 0; all.at < work->selection_count; all.at++)
        take_selection(&all, &work->selections[all.at]);
    if (all.count > 1)
        sort_activities(all.items, all.count);
    source.row_count = all.count;

    enum status status = order_of(&source, page, work->arena, &order, err);

    if (status == OK)
        table_fill(&source, order, page, work->arena, ret);
    ret->total_ps = all.total_ps;
    for (uint32_t i = 0; i < work->run->host_count; i++) {
        if (all.args[i].trace != NULL)
            slice_args_close(&all.args[i]);
    }
    free(all.items);
    return status;
}
