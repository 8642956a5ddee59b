/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's records into rows. */
#include <stdio.h>
#include <string.h>

#include "inject/cupti/cupti.h"
#include "inject/cupti/cupti_names.h"
#include "inject/cupti/cupti_pool.h"
#include "inject/cupti/cupti_say.h"
#include "inject/cupti/cupti_switch.h"
#include "inject/process/texts.h"
#include "inject/spool/ticks.h"

enum { LOG_ROWS = 16, DEVICES_MAX = 64 };

static int64_t numbers[6][BATCH_NUMBERS];
static struct batch kernels = {SPOOL_KERNEL, KERNEL_COLUMNS, 0, numbers[0]},
                    copies = {SPOOL_COPY, COPY_COLUMNS, 0, numbers[1]},
                    sets = {SPOOL_SET, SET_COLUMNS, 0, numbers[2]},
                    calls = {SPOOL_CALL, CALL_COLUMNS, 0, numbers[3]},
                    overheads = {SPOOL_OVERHEAD, OVERHEAD_COLUMNS, 0, numbers[4]},
                    graphs = {SPOOL_GRAPH, WORK_COLUMNS, 0, numbers[5]};
static int64_t device_numbers[DEVICES_MAX * DEVICE_COLUMNS]; /* room for all that are told */
static struct batch devices = {SPOOL_DEVICE, DEVICE_COLUMNS, 0, device_numbers};
static uint64_t lost_in_pool, lost_in_cupti;

/* Of a batch that may have to go out first. */
static int64_t *row_of(struct batch *batch, cupti_put *put)
{
    if (batch->count == batch_capacity(batch))
        put(batch);
    return batch_row(batch);
}

/* The columns that kernels, copies and sets share; their records hold them at different places. */
#define PUT_WORK(row, from)                                                                        \
    do {                                                                                           \
        (row)[WORK_START] = (int64_t)(from)->start;                                                \
        (row)[WORK_END] = (int64_t)(from)->end;                                                    \
        (row)[WORK_DEVICE] = (from)->device;                                                       \
        (row)[WORK_CONTEXT] = (from)->context;                                                     \
        (row)[WORK_STREAM] = (from)->stream;                                                       \
        (row)[WORK_CORRELATION] = (from)->correlation;                                             \
        (row)[WORK_NODE] = (int64_t)(from)->graph_node;                                            \
        (row)[WORK_GRAPH] = (from)->graph;                                                         \
    } while (0)

static void put_kernel(const struct cupti_kernel *kernel, cupti_put *put)
{
    int64_t *row = row_of(&kernels, put);

    PUT_WORK(row, kernel);
    row[KERNEL_NAME] = cupti_name(kernel->name);
    for (int axis = 0; axis < 3; axis++) {
        row[KERNEL_GRID + axis] = kernel->grid[axis];
        row[KERNEL_BLOCK + axis] = kernel->block[axis];
    }
    row[KERNEL_REGISTERS] = kernel->registers;
    row[KERNEL_STATIC_SHARED] = kernel->static_shared;
    row[KERNEL_DYNAMIC_SHARED] = kernel->dynamic_shared;
    row[KERNEL_LOCAL_PER_THREAD] = kernel->local_per_thread;
}

static void put_copy(const struct cupti_memcpy *copy, cupti_put *put)
{
    int64_t *row = row_of(&copies, put);

    PUT_WORK(row, copy);
    row[COPY_BYTES] = (int64_t)copy->bytes;
    row[COPY_KIND] = copy->copy_kind;
    row[COPY_FROM_MEMORY] = copy->from_kind;
    row[COPY_TO_MEMORY] = copy->to_kind;
    row[COPY_FROM_DEVICE] = row[COPY_TO_DEVICE] = -1;
}

static void put_peer_copy(const struct cupti_memcpy_peer *copy, cupti_put *put)
{
    int64_t *row = row_of(&copies, put);

    PUT_WORK(row, copy);
    row[COPY_BYTES] = (int64_t)copy->bytes;
    row[COPY_KIND] = copy->copy_kind;
    row[COPY_FROM_MEMORY] = copy->from_kind;
    row[COPY_TO_MEMORY] = copy->to_kind;
    row[COPY_FROM_DEVICE] = copy->from_device;
    row[COPY_TO_DEVICE] = copy->to_device;
}

static void put_set(const struct cupti_memset *set, cupti_put *put)
{
    int64_t *row = row_of(&sets, put);

    PUT_WORK(row, set);
    row[SET_BYTES] = (int64_t)set->bytes;
    row[SET_VALUE] = set->value;
    row[SET_MEMORY] = set->memory_kind;
}

static void put_graph(const struct cupti_graph_trace *graph, cupti_put *put)
{
    int64_t *row = row_of(&graphs, put);

    row[WORK_START] = (int64_t)graph->start;
    row[WORK_END] = (int64_t)graph->end;
    row[WORK_DEVICE] = graph->device;
    row[WORK_CONTEXT] = graph->context;
    row[WORK_STREAM] = graph->stream;
    row[WORK_CORRELATION] = graph->correlation;
    row[WORK_NODE] = 0;
    row[WORK_GRAPH] = graph->graph;
}

static void put_call(const struct cupti_call *call, cupti_put *put)
{
    int64_t *row = row_of(&calls, put);

    row[CALL_START] = (int64_t)call->start;
    row[CALL_END] = (int64_t)call->end;
    row[CALL_THREAD] = call->thread;
    row[CALL_CORRELATION] = call->correlation;
    row[CALL_NAME] = cupti_call_name(call->kind, call->call);
    row[CALL_NUMBER] = call->call;
    row[CALL_IS_DRIVER] = call->kind == CUPTI_DRIVER;
    row[CALL_RESULT] = call->result;
}

static void put_overhead(const struct cupti_overhead *overhead, cupti_put *put)
{
    int64_t *row = row_of(&overheads, put);

    row[OVERHEAD_START] = (int64_t)overhead->start;
    row[OVERHEAD_END] = (int64_t)overhead->end;
    row[OVERHEAD_KIND] = overhead->what;
    row[OVERHEAD_THREAD] = overhead->object == CUPTI_OBJECT_THREAD ? overhead->thread : 0;
}

/* As NVML writes it, so that both are known for one. */
static uint32_t uuid_text(const uint8_t uuid[16])
{
    char text[48] = "GPU";
    size_t count = 3;

    for (int byte = 0; byte < 16; byte++) {
        bool begins = byte == 0 || (byte >= 4 && byte <= 10 && byte % 2 == 0);
        count += (size_t)snprintf(text + count, sizeof text - count, "%s%02x", begins ? "-" : "",
                                  uuid[byte]);
    }
    return text_id(text, count);
}

/* CUPTI tells a GPU as often as a context begins there: once is enough. */
static void put_device(const struct cupti_device *device)
{
    static uint64_t told;

    if (device->id >= DEVICES_MAX || (told >> device->id & 1) != 0)
        return;
    told |= UINT64_C(1) << device->id;
    int64_t *row = batch_row(&devices);
    row[DEVICE_SOURCE] = SOURCE_CUDA;
    row[DEVICE_NUMBER] = device->id;
    row[DEVICE_NAME] = cupti_name(device->name);
    row[DEVICE_UUID] = uuid_text(device->uuid);
    row[DEVICE_MEMORY_BYTES] = (int64_t)device->memory_bytes;
    row[DEVICE_MULTIPROCESSORS] = device->multiprocessors;
    row[DEVICE_CLOCK_KHZ] = device->clock_khz;
    row[DEVICE_BANDWIDTH_KB] = (int64_t)device->bandwidth_kb;
    row[DEVICE_MAJOR] = device->major;
    row[DEVICE_MINOR] = device->minor;
}

static bool is_kept(uint64_t start, uint64_t end, uint32_t correlation)
{
    return cupti_switch_keeps_work((int64_t)start, (int64_t)end, correlation);
}

static void put_record(const struct cupti_record *record, cupti_put *put)
{
    const void *any = record;
    const struct cupti_kernel *kernel = any;
    const struct cupti_memcpy *copy = any; /* its times stand where those of sets and peers do */
    const struct cupti_memcpy_peer *peer = any;
    const struct cupti_call *call = any;
    const struct cupti_overhead *overhead = any;
    const struct cupti_graph_trace *graph = any;

    if (record->kind == CUPTI_CONCURRENT_KERNEL &&
        is_kept(kernel->start, kernel->end, kernel->correlation))
        put_kernel(kernel, put);
    else if (record->kind == CUPTI_MEMCPY && is_kept(copy->start, copy->end, copy->correlation))
        put_copy(copy, put);
    else if (record->kind == CUPTI_MEMCPY_PEER &&
             is_kept(copy->start, copy->end, peer->correlation))
        put_peer_copy(any, put);
    else if (record->kind == CUPTI_MEMSET && is_kept(copy->start, copy->end, copy->correlation))
        put_set(any, put);
    else if ((record->kind == CUPTI_DRIVER || record->kind == CUPTI_RUNTIME) &&
             cupti_switch_keeps_call((int64_t)call->start, (int64_t)call->end, call->correlation))
        put_call(call, put);
    else if (record->kind == CUPTI_GRAPH_TRACE &&
             is_kept(graph->start, graph->end, graph->correlation))
        put_graph(graph, put);
    else if (record->kind == CUPTI_OVERHEAD && is_kept(overhead->start, overhead->end, 0))
        put_overhead(overhead, put);
    else if (record->kind == CUPTI_DEVICE)
        put_device(any);
}

void cupti_drain(cupti_put *put)
{
    const struct cupti *cupti = cupti_library();
    struct pool_buffer buffer;
    size_t dropped = 0;

    if (cupti == NULL)
        return;
    cupti_switch_look();
    while (pool_next(&buffer)) {
        struct cupti_record *record = NULL;
        while (cupti->next_record(buffer.at, buffer.valid, &record) == CUPTI_OK)
            if (buffer.is_reserve)
                lost_in_pool++;
            else
                put_record(record, put);
        pool_free(&buffer);
    }
    if (cupti->dropped(NULL, 0, &dropped) == CUPTI_OK)
        lost_in_cupti += dropped;
}

/* Sentences go out with the first rows behind them. */
static void put_sentences(cupti_put *put)
{
    static int64_t rows[LOG_ROWS * LOG_COLUMNS];
    static struct batch log = {SPOOL_LOG, LOG_COLUMNS, 0, rows};
    static uint32_t told;
    const char *text;

    while (log.count < LOG_ROWS && (text = cupti_said(told)) != NULL) {
        int64_t *row = batch_row(&log);
        row[LOG_AT] = ticks_now();
        row[LOG_TEXT] = text_id(text, strlen(text));
        row[LOG_IS_INFO] = 0;
        told++;
    }
    if (log.count > 0)
        put(&log);
}

void cupti_close_frames(cupti_put *put)
{
    struct batch *const all[] = {&kernels, &copies, &sets, &calls, &graphs, &overheads, &devices};

    for (size_t batch = 0; batch < sizeof all / sizeof all[0]; batch++)
        if (all[batch]->count > 0)
            put(all[batch]);
    put_sentences(put);
}

uint64_t cupti_lost_in_pool(void)
{
    return lost_in_pool;
}

uint64_t cupti_lost_in_cupti(void)
{
    return lost_in_cupti;
}
