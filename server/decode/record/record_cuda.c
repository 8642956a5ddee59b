/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of CUDA activity in a spool become slices on tracks of streams and threads. Facts:
 * api/record.h. */
#include "decode/record/record_cuda.h"

#include <inttypes.h>

#include "base/arena.h"
#include "decode/record/record_state.h"
#include "trace/kind.h"

enum { ORDINAL_MAX = 1023, PS_PER_NS = 1000, STREAM_NAMES_MAX = 1 << 16, HEAPS = 64 };

static const char *const keys[CUDA_KEYS] = {
    [KEY_BLOCK] = "block",
    [KEY_BYTES] = "bytes",
    [KEY_CORRELATION] = "correlation_id",
    [KEY_DESTINATION] = "destination_memory",
    [KEY_DYNAMIC_SHARED] = "dynamic_shared_memory_bytes",
    [KEY_FROM_DEVICE] = "srcDeviceId",
    [KEY_GRAPH] = "graph_id",
    [KEY_GRID] = "grid",
    [KEY_LOCAL] = "local_memory_per_thread_bytes",
    [KEY_MEMORY] = "memory",
    [KEY_NODE] = "graph_node_id",
    [KEY_REGISTERS] = "registers_per_thread",
    [KEY_RESULT] = "return_value",
    [KEY_SOURCE] = "source_memory",
    [KEY_STATIC_SHARED] = "static_shared_memory_bytes",
    [KEY_THREAD] = "thread",
    [KEY_TO_DEVICE] = "dstDeviceId",
    [KEY_VALUE] = "value",
};

static const char *const copies[] = {
    "[CUDA memcpy]",
    "[CUDA memcpy Host-to-Device]",
    "[CUDA memcpy Device-to-Host]",
    "[CUDA memcpy Host-to-Array]",
    "[CUDA memcpy Array-to-Host]",
    "[CUDA memcpy Array-to-Array]",
    "[CUDA memcpy Array-to-Device]",
    "[CUDA memcpy Device-to-Array]",
    "[CUDA memcpy Device-to-Device]",
    "[CUDA memcpy Host-to-Host]",
    "[CUDA memcpy Peer-to-Peer]",
};
static const char *const memories[CUDA_MEMORIES] = {"Unknown",       "Pageable",      "Pinned",
                                                    "Device",        "Array",         "Managed",
                                                    "Device Static", "Managed Static"};

/* A word of CUPTI's; its number where it is a newer one. */
static struct str word_of(struct record_cuda *cuda, const char *const *words, size_t count,
                          int64_t value)
{
    if (value >= 0 && (uint64_t)value < count)
        return str_of(words[value]);
    return str_format(cuda->arena, "%" PRId64, value);
}

/* False where the times are none: the work is counted, and not shown. */
static bool take_times(struct record_cuda *cuda, const struct record_columns *columns, int start,
                       uint32_t row, struct sink_slice *slice)
{
    int64_t from = record_at(columns, start, row), to = record_at(columns, start + 1, row);

    if (from <= 0 || to <= 0)
        cuda->without_time++;
    else if (to < from)
        cuda->inverted++;
    if (from <= 0 || to < from)
        return false;
    slice->start_ps = record_clock_ps_of_realtime(cuda->clock, from);
    slice->dur_ps = to - from > TIME_PS_MAX / PS_PER_NS ? TIME_PS_MAX : (to - from) * PS_PER_NS;
    return true;
}

static track_id device_track(struct record_cuda *cuda, int64_t ordinal)
{
    uint32_t track;
    bool is_new;

    if (id_map_find(&cuda->devices, (uint64_t)ordinal, &track))
        return track;
    track = sink_track(
        cuda->sink,
        (struct sink_track){.parent = NO_TRACK,
                            .kind = TRACK_DEVICE,
                            .name = str_format(cuda->arena, "/device:GPU:%" PRId64, ordinal),
                            .source_id = ordinal,
                            .device = (int32_t)ordinal});
    record_system_put_device(&cuda->record->system, ordinal, track);
    return id_map_add(&cuda->devices, (uint64_t)ordinal, track, &is_new);
}

static track_id stream_track(struct record_cuda *cuda, int64_t ordinal, uint32_t context,
                             uint32_t stream)
{
    uint64_t key = (uint64_t)context << 32 | stream;
    uint32_t known = pair_table_find(&cuda->streams, (uint64_t)ordinal, key);
    bool is_new;

    if (known != PAIR_NONE)
        return known;
    struct str name = str_format(cuda->arena, "Stream #%" PRIu32, stream);
    uint32_t told;
    if (id_map_find(&cuda->stream_names, stream, &told))
        name = str_format(cuda->arena, "%.*s (%.*s)", STR_ARG(name),
                          STR_ARG(sink_text(cuda->sink, told)));
    if (id_map_add(&cuda->contexts, (uint64_t)ordinal, context, &is_new) != context)
        name = str_format(cuda->arena, "%.*s (context %" PRIu32 ")", STR_ARG(name), context);
    known = sink_track(cuda->sink, (struct sink_track){.parent = device_track(cuda, ordinal),
                                                       .kind = TRACK_STREAM,
                                                       .role = ROLE_OPS,
                                                       .name = name,
                                                       .source_id = stream,
                                                       .device = (int32_t)ordinal});
    *pair_table_at(&cuda->streams, (uint64_t)ordinal, key) = known;
    return known;
}

static track_id call_track(struct record_cuda *cuda, int64_t thread)
{
    uint32_t track;
    bool is_new;

    if (id_map_find(&cuda->lanes, (uint64_t)thread, &track))
        return track;
    track = sink_track(cuda->sink,
                       (struct sink_track){.parent = record_thread_track(cuda->record, thread),
                                           .kind = TRACK_THREAD,
                                           .role = ROLE_HOST,
                                           .name = STR("CUDA API"),
                                           .source_id = thread,
                                           .device = -1});
    return id_map_add(&cuda->lanes, (uint64_t)thread, track, &is_new);
}

static enum kind kind_of_name(struct record_cuda *cuda, name_id name, bool on_device)
{
    uint64_t key = (uint64_t)name << 1 | on_device;
    uint32_t kind;
    bool is_new;

    if (id_map_find(&cuda->kinds, key, &kind))
        return (enum kind)kind;
    kind = kind_of(&(struct kind_facts){.plane = on_device ? STR("/device:GPU") : STR("/host:CPU"),
                                        .line = on_device ? STR("Stream") : STR("thread"),
                                        .name = sink_text(cuda->sink, name),
                                        .is_op = on_device});
    return (enum kind)id_map_add(&cuda->kinds, key, kind, &is_new);
}

static name_id key_of(struct record_cuda *cuda, enum cuda_key key)
{
    if (cuda->keys[key] == 0)
        cuda->keys[key] = sink_name(cuda->sink, str_of(keys[key]));
    return cuda->keys[key];
}

static void put_arg(struct record_cuda *cuda, struct arg arg)
{
    if (cuda->arg_count < COUNT(cuda->args))
        cuda->args[cuda->arg_count++] = arg;
}

static void put_number(struct record_cuda *cuda, enum cuda_key key, int64_t value)
{
    put_arg(cuda,
            (struct arg){.key = key_of(cuda, key), .type = ARG_INT64, .bits = (uint64_t)value});
}

static void put_name(struct record_cuda *cuda, enum cuda_key key, name_id text)
{
    put_arg(cuda, (struct arg){.key = key_of(cuda, key), .type = ARG_STRING, .bits = text});
}

static void put_memory(struct record_cuda *cuda, enum cuda_key key, int64_t kind)
{
    bool is_known = kind >= 0 && kind < (int64_t)COUNT(memories);
    name_id *known = is_known ? &cuda->memories[kind] : &(name_id){0};

    key_of(cuda, key); /* names are counted as they stand */
    if (*known == 0)
        *known = sink_name(cuda->sink, word_of(cuda, memories, COUNT(memories), kind));
    put_name(cuda, key, *known);
}

/* The slice at hand, with its args. */
static void tell(struct record_cuda *cuda)
{
    sink_slice_args(cuda->sink, &cuda->slice, cuda->args, cuda->arg_count);
    cuda->arg_count = 0;
}

/* The same; the call and the work with one number are joined. */
static void tell_end(struct record_cuda *cuda, enum flow_end end, int64_t correlation)
{
    tell(cuda);
    if (correlation != 0)
        sink_flow(cuda->sink, end, cuda->launch,
                  (uint64_t)cuda->process << 32 ^ (uint64_t)correlation);
}

static void put_correlation(struct record_cuda *cuda, int64_t correlation)
{
    if (correlation == 0)
        return;
    if (cuda->launch == 0)
        cuda->launch = sink_name(cuda->sink, STR("kernel launch"));
    put_number(cuda, KEY_CORRELATION, correlation);
}

/* What any work on a stream tells; false where it has no place or no time. */
static bool put_work(struct record_cuda *cuda, const struct record_columns *columns, uint32_t row,
                     name_id name)
{
    int64_t ordinal = record_at(columns, WORK_DEVICE, row);
    struct sink_slice *slice = &cuda->slice;

    *slice = (struct sink_slice){.name = name};
    if (!take_times(cuda, columns, WORK_START, row, slice))
        return false;
    if (ordinal < 0 || ordinal > ORDINAL_MAX) {
        cuda->without_place++;
        return false;
    }
    slice->track = stream_track(cuda, ordinal, (uint32_t)record_at(columns, WORK_CONTEXT, row),
                                (uint32_t)record_at(columns, WORK_STREAM, row));
    slice->kind = kind_of_name(cuda, name, true);
    put_correlation(cuda, record_at(columns, WORK_CORRELATION, row));
    if (record_at(columns, WORK_GRAPH, row) != 0)
        put_number(cuda, KEY_GRAPH, record_at(columns, WORK_GRAPH, row));
    if (record_at(columns, WORK_NODE, row) != 0)
        put_number(cuda, KEY_NODE, record_at(columns, WORK_NODE, row));
    cuda->arg_count +=
        record_nodes_args(cuda->record, record_at(columns, WORK_NODE, row),
                          record_at(columns, WORK_CORRELATION, row), cuda->args + cuda->arg_count);
    return true;
}

/* Kernels come in few sizes: "8,4,2" is made once. */
static name_id size_text(struct record_cuda *cuda, int64_t x, int64_t y, int64_t z)
{
    uint64_t hash = ((uint64_t)x * 31 + (uint64_t)y) * 31 + (uint64_t)z;
    struct cuda_size *known = &cuda->sizes[hash % CUDA_SIZES];

    if (known->text == 0 || known->x != x || known->y != y || known->z != z)
        *known = (struct cuda_size){
            .x = x,
            .y = y,
            .z = z,
            .text = sink_name(
                cuda->sink, str_format(cuda->arena, "%" PRId64 ",%" PRId64 ",%" PRId64, x, y, z))};
    return known->text;
}

static void put_size(struct record_cuda *cuda, enum cuda_key key,
                     const struct record_columns *columns, int first, uint32_t row)
{
    key_of(cuda, key);
    put_name(cuda, key,
             size_text(cuda, record_at(columns, first, row), record_at(columns, first + 1, row),
                       record_at(columns, first + 2, row)));
}

static void put_kernel(struct record_cuda *cuda, const struct record_columns *columns, uint32_t row)
{
    name_id name = record_text_of(cuda->record, record_at(columns, KERNEL_NAME, row));

    if (name == 0)
        name = sink_name(cuda->sink, STR("(no name)"));
    if (!put_work(cuda, columns, row, name))
        return;
    put_size(cuda, KEY_GRID, columns, KERNEL_GRID, row);
    put_size(cuda, KEY_BLOCK, columns, KERNEL_BLOCK, row);
    put_number(cuda, KEY_REGISTERS, record_at(columns, KERNEL_REGISTERS, row));
    put_number(cuda, KEY_STATIC_SHARED, record_at(columns, KERNEL_STATIC_SHARED, row));
    put_number(cuda, KEY_DYNAMIC_SHARED, record_at(columns, KERNEL_DYNAMIC_SHARED, row));
    put_number(cuda, KEY_LOCAL, record_at(columns, KERNEL_LOCAL_PER_THREAD, row));
    tell_end(cuda, FLOW_TO, record_at(columns, WORK_CORRELATION, row));
}

static void put_copy(struct record_cuda *cuda, const struct record_columns *columns, uint32_t row)
{
    int64_t kind = record_at(columns, COPY_KIND, row);
    const char *name = kind >= 0 && kind < (int64_t)COUNT(copies) ? copies[kind] : copies[0];

    if (!put_work(cuda, columns, row, sink_name(cuda->sink, str_of(name))))
        return;
    put_number(cuda, KEY_BYTES, record_at(columns, COPY_BYTES, row));
    put_memory(cuda, KEY_SOURCE, record_at(columns, COPY_FROM_MEMORY, row));
    put_memory(cuda, KEY_DESTINATION, record_at(columns, COPY_TO_MEMORY, row));
    if (columns->column[COPY_TO_DEVICE] != NULL && record_at(columns, COPY_TO_DEVICE, row) >= 0) {
        put_number(cuda, KEY_FROM_DEVICE, record_at(columns, COPY_FROM_DEVICE, row));
        put_number(cuda, KEY_TO_DEVICE, record_at(columns, COPY_TO_DEVICE, row));
    }
    tell_end(cuda, FLOW_TO, record_at(columns, WORK_CORRELATION, row));
}

static void put_set(struct record_cuda *cuda, const struct record_columns *columns, uint32_t row)
{
    if (!put_work(cuda, columns, row, sink_name(cuda->sink, STR("[CUDA memset]"))))
        return;
    put_number(cuda, KEY_BYTES, record_at(columns, SET_BYTES, row));
    put_number(cuda, KEY_VALUE, record_at(columns, SET_VALUE, row));
    put_memory(cuda, KEY_MEMORY, record_at(columns, SET_MEMORY, row));
    tell_end(cuda, FLOW_TO, record_at(columns, WORK_CORRELATION, row));
}

/* Its nodes are not there then. */
static void put_graph(struct record_cuda *cuda, const struct record_columns *columns, uint32_t row)
{
    struct str name =
        str_format(cuda->arena, "CUDA graph %" PRId64, record_at(columns, WORK_GRAPH, row));

    if (put_work(cuda, columns, row, sink_name(cuda->sink, name)))
        tell_end(cuda, FLOW_TO, record_at(columns, WORK_CORRELATION, row));
}

static void put_call(struct record_cuda *cuda, const struct record_columns *columns, uint32_t row)
{
    int64_t result = record_at(columns, CALL_RESULT, row);
    int64_t correlation = record_at(columns, CALL_CORRELATION, row);
    bool is_driver = record_at(columns, CALL_IS_DRIVER, row) != 0;
    struct sink_slice *slice = &cuda->slice;

    *slice = (struct sink_slice){
        .name = record_text_of(cuda->record, record_at(columns, CALL_NAME, row))};
    if (!take_times(cuda, columns, CALL_START, row, slice))
        return;
    if (slice->name == 0)
        slice->name = sink_name(cuda->sink, str_format(cuda->arena, "CUDA %s call %" PRId64,
                                                       is_driver ? "driver" : "runtime",
                                                       record_at(columns, CALL_NUMBER, row)));
    slice->track = call_track(cuda, record_at(columns, CALL_THREAD, row));
    slice->kind = kind_of_name(cuda, slice->name, false);
    put_correlation(cuda, correlation);
    if (result != 0)
        put_number(cuda, KEY_RESULT, result);
    tell_end(cuda, FLOW_FROM, correlation);
}

/* CUPTI's numbers: the driver's compiler is 1, all others count in 65,536s. */
static struct str overhead_word(struct record_cuda *cuda, int64_t kind)
{
    static const char *const words[] = {
        "overhead",
        "CUPTI buffer flush",
        "CUPTI instrumentation",
        "CUPTI resources",
        "module loading",
        "lazy function loading",
        "command buffer full",
        "CUPTI buffer request",
        "unified memory set-up",
    };

    if (kind == 1)
        return STR("driver compiler");
    return kind % (1 << 16) == 0 ? word_of(cuda, words, COUNT(words), kind >> 16)
                                 : word_of(cuda, NULL, 0, kind);
}

static void put_overhead(struct record_cuda *cuda, const struct record_columns *columns,
                         uint32_t row)
{
    struct sink_slice *slice = &cuda->slice;

    *slice = (struct sink_slice){.flags = SLICE_ASYNC, .kind = KIND_OTHER};
    if (!take_times(cuda, columns, OVERHEAD_START, row, slice))
        return;
    if (cuda->overhead == NO_TRACK)
        cuda->overhead =
            sink_track(cuda->sink, (struct sink_track){.parent = record_process_track(cuda->record),
                                                       .kind = TRACK_ASYNC,
                                                       .name = STR("CUDA overhead"),
                                                       .device = -1});
    slice->track = cuda->overhead;
    slice->name =
        sink_name(cuda->sink, overhead_word(cuda, record_at(columns, OVERHEAD_KIND, row)));
    if (record_at(columns, OVERHEAD_THREAD, row) != 0)
        put_number(cuda, KEY_THREAD, record_at(columns, OVERHEAD_THREAD, row));
    tell(cuda);
}

static void put_log(struct record_cuda *cuda, const struct record_columns *columns, uint32_t row)
{
    name_id text = record_text_of(cuda->record, record_at(columns, LOG_TEXT, row));

    if (text != 0)
        sink_note(cuda->sink, "collector",
                  record_at(columns, LOG_IS_INFO, row) != 0 ? NOTE_INFO : NOTE_WARNING, 1, "%.*s",
                  STR_ARG(sink_text(cuda->sink, text)));
}

static void (*const readers[SPOOL_TYPE_COUNT])(struct record_cuda *, const struct record_columns *,
                                               uint32_t) = {
    [SPOOL_KERNEL] = put_kernel, [SPOOL_COPY] = put_copy, [SPOOL_SET] = put_set,
    [SPOOL_CALL] = put_call,     [SPOOL_LOG] = put_log,   [SPOOL_OVERHEAD] = put_overhead,
    [SPOOL_GRAPH] = put_graph,
};

bool record_cuda_is(uint16_t type)
{
    return type < COUNT(readers) && readers[type] != NULL;
}

static uint32_t heap_of(enum spool_type type, const struct record_columns *columns, uint32_t row)
{
    uint64_t line = type == SPOOL_CALL ? (uint64_t)record_at(columns, CALL_THREAD, row)
                                       : (uint64_t)record_at(columns, WORK_STREAM, row) * 8 +
                                             (uint64_t)record_at(columns, WORK_DEVICE, row);

    return (uint32_t)(line * UINT64_C(0x9e3779b97f4a7c15) >> 32) % HEAPS;
}

/* Rows in the order in which they are told: those of a stream or thread together, as they came, so
 * that who follows it later finds its args together, too.
 *
 *   streams of rows   7 8 7 7 9 8   ->   7 7 7 | 8 8 | 9
 */
static const uint32_t *heap_rows(struct record_cuda *cuda, enum spool_type type,
                                 const struct record_columns *columns)
{
    uint32_t *order = arena_array(cuda->arena, uint32_t, columns->count);
    uint32_t ends[HEAPS + 1] = {0};

    for (uint32_t row = 0; row < columns->count; row++)
        ends[heap_of(type, columns, row) + 1]++;
    for (uint32_t heap = 0; heap < HEAPS; heap++)
        ends[heap + 1] += ends[heap];
    for (uint32_t row = 0; row < columns->count; row++)
        order[ends[heap_of(type, columns, row)]++] = row;
    return order;
}

void record_cuda_read(struct record_cuda *cuda, enum spool_type type,
                      const struct record_columns *columns)
{
    bool has_lines = type != SPOOL_LOG && type != SPOOL_OVERHEAD;
    const uint32_t *order = has_lines ? heap_rows(cuda, type, columns) : NULL;

    for (uint32_t row = 0; row < columns->count && !sink_failed(cuda->sink); row++)
        readers[type](cuda, columns, order != NULL ? order[row] : row);
}

void record_cuda_streams(struct record_cuda *cuda, const struct record_columns *columns)
{
    bool is_new;

    for (uint32_t row = 0; row < columns->count; row++) {
        name_id name = record_text_of(cuda->record, record_at(columns, STREAM_NAME, row));
        if (name != 0 && cuda->stream_names.count < STREAM_NAMES_MAX)
            id_map_add(&cuda->stream_names, (uint32_t)record_at(columns, STREAM_NUMBER, row), name,
                       &is_new);
    }
}

void record_cuda_note(struct record_cuda *cuda)
{
    if (cuda->without_time > 0)
        sink_note(cuda->sink, "no-times", NOTE_WARNING, cuda->without_time,
                  "Not shown, because CUPTI gave them no time: %" PRIu64
                  " kernels, copies and calls. It does so when its memory on the GPU is full.",
                  cuda->without_time);
    if (cuda->inverted > 0)
        sink_note(cuda->sink, "inverted-times", NOTE_WARNING, cuda->inverted,
                  "Not shown, because they end before they begin: %" PRIu64
                  " kernels, copies and calls.",
                  cuda->inverted);
    if (cuda->without_place > 0)
        sink_note(cuda->sink, "unplaced", NOTE_WARNING, cuda->without_place,
                  "Not shown, because they name no device: %" PRIu64 " kernels and copies.",
                  cuda->without_place);
}

void record_cuda_free(struct record_cuda *cuda)
{
    id_map_free(&cuda->devices);
    id_map_free(&cuda->lanes);
    id_map_free(&cuda->contexts);
    id_map_free(&cuda->kinds);
    id_map_free(&cuda->stream_names);
    pair_table_free(&cuda->streams);
}
