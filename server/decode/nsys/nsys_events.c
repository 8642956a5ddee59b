/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of events, and where their rows lie.
 *
 *   CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE    on the streams of devices
 *   CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, _CUDA_EVENT,
 *   CUDA_GPU_MEMORY_USAGE_EVENTS                                  in lanes of a device
 *   CUPTI_ACTIVITY_KIND_RUNTIME, OSRT_API, CUBLAS_EVENTS, ...     in lanes of a thread
 *   any other with start, end, globalTid and a name               the same, under the table's name
 *
 * A whole graph stands on its stream where kernels of graphs were not traced one by one; where they
 * were, it holds them. A row of waiting lies on the device's lane of waits and is no work of it.
 */
#include "decode/nsys/nsys.h"

static void place_on_stream(struct nsys *nsys, const struct nsys_spec *spec, struct nsys_row *row)
{
    (void)spec;
    row->track =
        nsys_stream_track(nsys, row_or(row, FIELD_PROCESS, 0), row_or(row, FIELD_DEVICE, -1),
                          row_or(row, FIELD_CONTEXT, 0), row_or(row, FIELD_STREAM, 0));
    nsys->without_place += row->track == NO_TRACK;
}

/* The creation of a graph's node, its copy at instantiation, and each run of it. */
static void put_node(struct nsys *nsys, enum flow_end end, int64_t node)
{
    if (node != 0)
        sink_flow(nsys->sink, end, nsys->node_kind, (uint64_t)node);
}

static void given_on_stream(struct nsys *nsys, const struct nsys_spec *spec,
                            const struct nsys_row *row)
{
    int64_t process = row_or(row, FIELD_PROCESS, 0);
    uint64_t launch = nsys_launch_key(nsys, process, row_or(row, FIELD_CORRELATION, 0));

    (void)spec;
    put_node(nsys, FLOW_TO, row_or(row, FIELD_NODE, 0));
    nsys_put_waits(nsys, launch, row->start_ps);
    nsys_put_hlo(nsys, launch);
    *nsys_list_add(nsys, &nsys->ops) = (struct gpu_op){
        .launch = launch,
        .start_ps = row->start_ps,
        .end_ps = row->end_ps,
        .device = nsys_device_of(nsys, process, row->values[FIELD_DEVICE]),
    };
}

static void place_on_device(struct nsys *nsys, const struct nsys_spec *spec, struct nsys_row *row)
{
    uint32_t index =
        nsys_device_of(nsys, row_or(row, FIELD_PROCESS, 0), row_or(row, FIELD_DEVICE, -1));

    if (index == UINT32_MAX) {
        nsys->without_place++;
        return;
    }
    const struct nsys_device *device = &nsys->tracks.device[index];
    row->track =
        nsys_lane_track(nsys, device->track, TRACK_ASYNC, str_of(spec->lane), 0, device->ordinal);
    row->kind = KIND_OTHER;
    row->flags = SLICE_ASYNC;
}

static void place_memory(struct nsys *nsys, const struct nsys_spec *spec, struct nsys_row *row)
{
    bool is_free = row_or(row, FIELD_OPERATION, 0) == 1;

    place_on_device(nsys, spec, row);
    row->name =
        sink_name(nsys->sink, is_free ? STR("MemoryDeallocation") : STR("MemoryAllocation"));
}

static void given_memory(struct nsys *nsys, const struct nsys_spec *spec,
                         const struct nsys_row *row)
{
    (void)spec;
    sink_memory(nsys->sink, (struct memory_event){
                                .at_ps = row->start_ps,
                                .allocator = sink_name(nsys->sink, STR("CUDA")),
                                .is_free = row_or(row, FIELD_OPERATION, 0) == 1,
                                .bytes = row_or(row, FIELD_BYTES, -1),
                                .bytes_allocated = -1,
                                .bytes_reserved = -1,
                                .bytes_available = -1,
                                .peak_bytes = -1,
                            });
}

static void place_on_thread(struct nsys *nsys, const struct nsys_spec *spec, struct nsys_row *row)
{
    if (!row_has(row, FIELD_THREAD)) {
        nsys->without_place++;
        return;
    }
    int64_t thread = row->values[FIELD_THREAD];
    row->track = nsys_lane_track(nsys, nsys_thread_track(nsys, thread), TRACK_THREAD,
                                 str_of(spec->lane), thread & 0xffffff, -1);
}

static void given_call(struct nsys *nsys, const struct nsys_spec *spec, const struct nsys_row *row)
{
    (void)spec;
    if (row_or(row, FIELD_CORRELATION, 0) == 0 || nsys->db.over_budget)
        return;
    *nsys_list_add(nsys, &nsys->launches) = (struct gpu_launch){
        .launch = nsys_launch_key(nsys, process_of(row->values[FIELD_THREAD]),
                                  row->values[FIELD_CORRELATION]),
        .thread = row->values[FIELD_THREAD],
        .at_ps = row->start_ps,
    };
}

static void given_node(struct nsys *nsys, const struct nsys_spec *spec, const struct nsys_row *row)
{
    (void)spec;
    put_node(nsys, FLOW_TO, row_or(row, FIELD_ORIGINAL_NODE, 0));
    put_node(nsys, FLOW_FROM, row_or(row, FIELD_NODE, 0));
}

static const struct nsys_spec on_devices[] = {
    {.table = "CUPTI_ACTIVITY_KIND_KERNEL",
     .what = "kernel",
     .on_device = true,
     .cause = CAUSE_IS_LAUNCHED,
     .place = place_on_stream,
     .given = given_on_stream},
    {.table = "CUPTI_ACTIVITY_KIND_MEMCPY",
     .what = "[CUDA memcpy]",
     .before = "[CUDA memcpy ",
     .behind = "]",
     .on_device = true,
     .cause = CAUSE_IS_LAUNCHED,
     .place = place_on_stream,
     .given = given_on_stream},
    {.table = "CUPTI_ACTIVITY_KIND_MEMSET",
     .what = "[CUDA memset]",
     .on_device = true,
     .cause = CAUSE_IS_LAUNCHED,
     .place = place_on_stream,
     .given = given_on_stream},
    {.table = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
     .what = "CUDA graph",
     .before = "CUDA graph ",
     .on_device = true,
     .cause = CAUSE_IS_LAUNCHED,
     .place = place_on_stream,
     .given = given_on_stream},
    {.table = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     .lane = "Synchronization",
     .what = "synchronization",
     .cause = CAUSE_IS_LAUNCHED,
     .place = place_on_device},
    {.table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
     .lane = "CUDA events",
     .what = "CUDA event",
     .cause = CAUSE_IS_LAUNCHED,
     .place = place_on_device},
    {.table = "CUDA_GPU_MEMORY_USAGE_EVENTS",
     .lane = "Memory",
     .what = "memory",
     .cause = CAUSE_IS_LAUNCHED,
     .place = place_memory,
     .given = given_memory},
};

static const struct nsys_spec on_threads[] = {
    {.table = "CUPTI_ACTIVITY_KIND_RUNTIME",
     .lane = "CUDA API",
     .what = "CUDA call",
     .cause = CAUSE_LAUNCHES,
     .chains = "CUDA_CALLCHAINS",
     .place = place_on_thread,
     .given = given_call},
    {.table = "CUDA_GRAPH_NODE_EVENTS",
     .lane = "CUDA graphs",
     .what = "graph node",
     .place = place_on_thread,
     .given = given_node},
    {.table = "CUDA_GRAPH_EVENTS",
     .lane = "CUDA graphs",
     .what = "graph",
     .place = place_on_thread},
    {.table = "OSRT_API",
     .lane = "OS runtime",
     .what = "OS call",
     .chains = "OSRT_CALLCHAINS",
     .place = place_on_thread},
    {.table = "CUBLAS_EVENTS", .lane = "cuBLAS", .what = "cuBLAS", .place = place_on_thread},
    {.table = "CUDNN_EVENTS", .lane = "cuDNN", .what = "cuDNN", .place = place_on_thread},
    {.table = "MPI_COLLECTIVES_EVENTS", .lane = "MPI", .what = "MPI", .place = place_on_thread},
    {.table = "MPI_P2P_EVENTS", .lane = "MPI", .what = "MPI", .place = place_on_thread},
    {.table = "MPI_START_WAIT_EVENTS", .lane = "MPI", .what = "MPI", .place = place_on_thread},
    {.table = "MPI_OTHER_EVENTS", .lane = "MPI", .what = "MPI", .place = place_on_thread},
    {.table = "CUPTI_ACTIVITY_KIND_OVERHEAD",
     .lane = "Profiler overhead",
     .what = "CUPTI overhead",
     .place = place_on_thread},
    {.table = "PROFILER_OVERHEAD",
     .lane = "Profiler overhead",
     .what = "profiler overhead",
     .place = place_on_thread},
};

void nsys_read_devices(struct nsys *nsys)
{
    for (size_t index = 0; index < COUNT(on_devices); index++)
        nsys_table_read(nsys, &on_devices[index]);
}

/* A table of calls that a later version brings. */
static bool is_of_threads(const struct nsys_table *table)
{
    return !table->is_read && nsys_table_has(table, STR("start")) &&
           nsys_table_has(table, STR("end")) && nsys_table_has(table, STR("globalTid")) &&
           (nsys_table_has(table, STR("nameId")) || nsys_table_has(table, STR("textId"))) &&
           !str_equal(table->name, STR("NVTX_EVENTS"));
}

void nsys_read_threads(struct nsys *nsys)
{
    for (size_t index = 0; index < COUNT(on_threads); index++)
        nsys_table_read(nsys, &on_threads[index]);
    for (uint32_t index = 0; index < nsys->db.table_count; index++) {
        if (!is_of_threads(&nsys->db.tables[index]))
            continue;
        const char *name = str_c(nsys->arena, nsys->db.tables[index].name);
        struct nsys_spec spec = {
            .table = name, .lane = name, .what = name, .place = place_on_thread};
        nsys_table_read(nsys, &spec);
    }
}
