/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of Nsight Systems made by SQL: calls, kernels, ranges, XLA's ops, graphs, samples. */
#include "made_nsys.h"

#include <stdlib.h>

static void calls_and_kernels(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        NAMES,
        CALLS,
        KERNELS,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,"
        " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
        " bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES"
        " (95, 99, 0, 1, 7, 103, " PID ", 4096, 1, 1, 2);",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER,"
        " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
        " bytes INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (99, 100, 0, 1, 7, 104, " PID ", 8);",
    };
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);

    CHECK_PICTURE(
        "all", trace, PICTURE_ARGS | PICTURE_KINDS | PICTURE_FLOWS,
        "train (7) / python (8) / CUDA API\n"
        "  10000 +5000 cudaLaunchKernel (host) {correlation_id: 101}\n"
        "  20000 +5000 cudaLaunchKernel (host) {correlation_id: 102}\n"
        "  30000 +8000 cudaMemcpyAsync (host) {correlation_id: 103}\n"
        "/device:GPU:0 / Stream #7\n"
        "  50000 +20000 void gemm<float>(float *) (compute) {correlation_id: 101}\n"
        "  80000 +10000 void gemm<float>(float *) (compute) {correlation_id: 102}\n"
        "  95000 +4000 [CUDA memcpy Host-to-Device] (copy) {correlation_id: 103, bytes: 4096}\n"
        "  99000 +1000 [CUDA memset] (copy) {correlation_id: 104, bytes: 8}\n"
        "cudaLaunchKernel -> void gemm<float>(float *)\n"
        "cudaLaunchKernel -> void gemm<float>(float *)\n"
        "cudaMemcpyAsync -> [CUDA memcpy Host-to-Device]\n");
    arena_destroy(arena);
}

/* What all rows of a shape share stands at their type. */
static void shapes(void **state)
{
    (void)state;
    static const char *const scripts[] = {NAMES, CALLS, KERNELS};
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);
    struct text seen = {0};

    for (type_id type = 1; type < trace->type_count; type++) {
        const struct type *one = &trace->types[type];

        text_putf(&seen, "%.*s:", STR_ARG(trace_name(trace, one->name)));
        for (uint32_t at = one->first_arg; at < one->first_arg + one->arg_count; at++) {
            const struct arg *arg = &trace->type_args[at];
            text_putf(&seen, " %.*s=", STR_ARG(trace_name(trace, arg->key)));
            if (arg->type == ARG_STRING)
                text_putf(&seen, "%.*s", STR_ARG(trace_name(trace, (name_id)arg->bits)));
            else
                text_putf(&seen, "%d", (int)arg->bits);
        }
        text_puts(&seen, "\n");
    }
    CHECK_STR("types", text_str(&seen),
              "cudaLaunchKernel: event_class=0 return_value=0\n"
              "cudaMemcpyAsync: event_class=0 return_value=0\n"
              "void gemm<float>(float *): short_name=gemm grid=4,1,1 block=128,1,1 "
              "registers_per_thread=32\n");
    text_free(&seen);
    arena_destroy(arena);
}

static void ranges(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        NAMES,
        CALLS,
        KERNELS,
        RANGES "INSERT INTO NVTX_EVENTS VALUES"
               " (0, NULL, 75, NULL, NULL, NULL, 'NCCL', " TID_8 ", NULL, NULL, 2, NULL, NULL),"
               " (0, NULL, 33, NULL, 3, NULL, 'phases', " TID_8 ", NULL, NULL, 0, NULL, NULL),"
               " (0, NULL, 39, NULL, NULL, NULL, 'reader', " TID_9 ", NULL, NULL, 0, NULL, NULL),"
               " (5, 40, 59, NULL, 3, 4278255360, NULL, " TID_8 ", NULL, 6, 0, NULL, NULL),"
               " (18, 26, 59, NULL, NULL, NULL, 'inner 1234', " TID_8 ", NULL, NULL, 0, 7, NULL),"
               " (28, 29, 59, NULL, NULL, NULL, 'AllReduce', " TID_8 ", NULL, NULL, 2, NULL, NULL),"
               " (30, NULL, 34, NULL, NULL, NULL, 'here', " TID_8 ", NULL, NULL, 0, NULL, NULL),"
               " (31, 60, 60, 77, NULL, NULL, 'fetch', " TID_9 ", " TID_8 ", NULL, 0, NULL, NULL),"
               " (65, NULL, 59, NULL, NULL, NULL, 'open', " TID_9 ", NULL, NULL, 0, NULL, NULL);",
    };
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);

    CHECK_PICTURE(
        "all", trace, PICTURE_ARGS | PICTURE_NOTES,
        "train (7) / python (8) / NVTX\n  5000 +35000 step {category: \"phases\"}\n    18000 +8000 "
        "inner 1234 {payload: 7}\n    30000 +0 here\ntrain (7) / python (8) / NVTX NCCL\n  28000 "
        "+1000 AllReduce\ntrain (7) / NVTX start/end\n  31000 +29000 fetch [async] {end_thread: 8, "
        "range_id: 77}\ntrain (7) / python (8) / CUDA API\n  10000 +5000 cudaLaunchKernel "
        "{correlation_id: 101}\n  20000 +5000 cudaLaunchKernel {correlation_id: 102}\n  30000 "
        "+8000 cudaMemcpyAsync {correlation_id: 103}\n/device:GPU:0 / Stream #7\n  50000 +20000 "
        "void gemm<float>(float *) {correlation_id: 101}\n  80000 +10000 void gemm<float>(float *) "
        "{correlation_id: 102}\ntrain (7) / reader (9) / NVTX\n  65000 +25000 open "
        "[cut]\n/device:GPU:0 / NVTX of python (8)\n  50000 +40000 step [derived] {gpu_ops: 2}\n   "
        " 80000 +10000 inner 1234 [derived] {gpu_ops: 1}\nnote open-ranges 1 NVTX ranges without "
        "an end are shown until the end of the recording.\n");
    arena_destroy(arena);
}

/* XLA opens a range around the launches of each op. */
static void ops_of_xla(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        NAMES,
        CALLS,
        KERNELS,
        RANGES "INSERT INTO NVTX_EVENTS VALUES"
               " (5, 26, 59, NULL, NULL, NULL, 'TSL:XlaModule:#hlo_module=jit_f,program_id=3#',"
               " " TID_8 ", NULL, NULL, 0, NULL, NULL),"
               " (6, 16, 59, NULL, NULL, NULL, 'TSL:Thunk:#hlo_op=fusion.1#',"
               " " TID_8 ", NULL, NULL, 0, NULL, NULL);",
    };
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);
    struct str picture = picture_of(trace, PICTURE_ARGS, arena);

    CHECK("in the op", str_contains(picture, STR("{correlation_id: 101, hlo_op: \"fusion.1\", "
                                                 "hlo_module: \"jit_f\", program_id: 3u}")));
    CHECK("in the module alone",
          str_contains(picture, STR("{correlation_id: 102, hlo_module: \"jit_f\", "
                                    "program_id: 3u}")));
    arena_destroy(arena);
}

/* Two processes each call their device 0, and mean two. */
static void devices_of_processes(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        NAMES,
        KERNELS
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
        " (60, 75, 0, 1, 7, 101, 281474976710656 + 150994944, 2, 3, 32, 4, 1, 1, 128, 1, 1,"
        " NULL), (76, 77, 0, 2, 7, 102, 281474976710656 + 150994944, 2, 3, 32, 4, 1, 1, 128,"
        " 1, 1, NULL);",
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (0, 0, 7), (1, 0, 9);",
        "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, smCount INTEGER);"
        "INSERT INTO TARGET_INFO_GPU VALUES (0, 'A', 108), (1, 'B', 132);",
    };
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);

    CHECK_PICTURE("all", trace, 0,
                  "/device:GPU:0 / Stream #7\n"
                  "  50000 +20000 void gemm<float>(float *)\n"
                  "  80000 +10000 void gemm<float>(float *)\n"
                  "/device:GPU:1 / Stream #7 (process 9, context 1)\n"
                  "  60000 +15000 void gemm<float>(float *)\n"
                  "/device:GPU:1 / Stream #7 (process 9, context 2)\n"
                  "  76000 +1000 void gemm<float>(float *)\n");
    for (uint32_t at = 0; at < trace->property_count; at++) {
        const struct property *property = &trace->properties[at];

        if (property->track != NO_TRACK &&
            str_equal(trace_name(trace, property->arg.key), STR("core_count")))
            CHECK_INT("cores", property->arg.bits,
                      trace->tracks[property->track].device == 0 ? 108 : 132);
    }
    arena_destroy(arena);
}

static void graphs(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        NAMES,
        KERNELS "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET graphNodeId = 20;",
        "CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, nameId INTEGER,"
        " globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER);"
        "INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (1, 2, 6, " TID_8 ", 10, NULL),"
        " (3, 4, 7, " TID_8 ", 20, 10);",
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId "
        "INTEGER,"
        " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
        " graphId INTEGER, graphExecId INTEGER);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (45, 95, 0, 1, 7, 105, " PID ", 3, 4);",
    };
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);

    CHECK_PICTURE("all", trace, PICTURE_KINDS | PICTURE_FLOWS,
                  "train (7) / python (8) / CUDA graphs\n"
                  "  1000 +1000 step (host)\n"
                  "  3000 +1000 load (host)\n"
                  "/device:GPU:0 / Stream #7\n"
                  "  45000 +50000 CUDA graph 3 (compute)\n"
                  "    50000 +20000 void gemm<float>(float *) (compute)\n"
                  "    80000 +10000 void gemm<float>(float *) (compute)\n"
                  "step -> load\n"
                  "load -> void gemm<float>(float *)\n"
                  "load -> void gemm<float>(float *)\n");
    arena_destroy(arena);
}

static void sampled(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        NAMES,
        "CREATE TABLE SAMPLING_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER,"
        " stackDepth INTEGER, PRIMARY KEY (id, stackDepth));"
        "INSERT INTO SAMPLING_CALLCHAINS VALUES (1, 11, 9, 0), (1, 8, 9, 1), (2, 8, 9, 0);",
        "CREATE TABLE COMPOSITE_EVENTS (id INTEGER, start INTEGER, cpu INTEGER, globalTid INTEGER);"
        "INSERT INTO COMPOSITE_EVENTS VALUES (1, 5, 0, " TID_8 "), (2, 6, 0, " TID_8 ");",
        "CREATE TABLE SCHED_EVENTS (start INTEGER, cpu INTEGER, isSchedIn INTEGER,"
        " globalTid INTEGER);"
        "INSERT INTO SCHED_EVENTS VALUES (7, 3, 0, " TID_8 "), (2, 3, 1, " TID_8 "),"
        " (9, 4, 1, " TID_8 ");",
        "CREATE TABLE OSRT_CALLCHAINS (id INTEGER, symbol INTEGER, module INTEGER,"
        " stackDepth INTEGER);"
        "INSERT INTO OSRT_CALLCHAINS VALUES (5, 8, 9, 1), (5, 11, 9, 0);",
        "CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, nameId INTEGER,"
        " callchainId INTEGER);"
        "INSERT INTO OSRT_API VALUES (3, 4, " TID_8 ", 11, 5);",
        "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);"
        "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 1, 'SM Active [Throughput %]');"
        "CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value);"
        "INSERT INTO GPU_METRICS VALUES (1, 256, 1, 50), (2, 256, 1, 75), (2, 256, 9, 1.5);",
    };
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(scripts, COUNT(scripts), arena);

    CHECK_PICTURE("all", trace, PICTURE_ARGS,
                  "train (7) / python (8) / OS runtime\n"
                  "  3000 +1000 poll {stack_id: 1u}\n"
                  "train (7) / python (8) / CPU\n"
                  "  2000 +5000 CPU 3\n"
                  "  9000 +0 CPU 4 [cut]\n"
                  "GPU metrics (GPU 0) / SM Active [Throughput %]\n"
                  "  1000 = 50\n"
                  "  2000 = 75\n"
                  "GPU metrics (GPU 0) / metric 9\n"
                  "  2000 = 1.5\n"
                  "samples samples/count\n"
                  "  1 main in libc.so; poll in libc.so @5000 on train (7) / python (8)\n"
                  "  1 main in libc.so @6000 on train (7) / python (8)\n");
    CHECK_INT("stacks", trace->stack_count, 2); /* both tables of chains share them */
    arena_destroy(arena);
}

/* b of stream 9 waits for the second kernel of stream 7, not for what was sent after the record or
 * before the wait, nor for the record of another process. What did not wait has no arrow: it was
 * sent by another thread, out of turn. */
static const char *const waits[] = {
    NAMES,
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
    " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
    " demangledName INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"
    " (50, 70, 0, 1, 7, 101, " PID ", 6), (80, 90, 0, 1, 7, 102, " PID ", 7),"
    " (90, 99, 0, 1, 7, 107, " PID ", 8), (60, 65, 0, 1, 9, 104, " PID ", 9),"
    " (95, 98, 0, 1, 9, 106, " PID ", 11), (98, 99, 0, 1, 9, 108, " PID ", 1),"
    " (51, 60, 0, 1, 11, 120, " PID ", 3);",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (timestamp INTEGER, deviceId INTEGER,"
    " contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
    " eventId INTEGER, eventSyncId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 0, 1, 7, 103, " PID ", 3, 40),"
    " (0, 0, 1, 7, 109, " PID ", 3, 40), (0, 0, 1, 7, 101, 99, 3, 41),"
    " (0, 0, 1, 7, 110, " PID ", 3, 42);",
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER,"
    " deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,"
    " globalPid INTEGER, syncType INTEGER, eventId INTEGER, eventSyncId INTEGER);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES"
    " (20, 21, 0, 1, 9, 105, " PID ", 2, 3, 40), (20, 21, 0, 1, 9, 103, " PID ", 2, 3, 41),"
    " (22, 23, 0, 1, 9, 105, " PID ", 1, 3, 40), (24, 25, 0, 1, 11, 119, " PID ", 2, 3, 42),"
    " (26, 27, 0, 1, 7, 106, " PID ", 2, 3, 40);",
};

static void waits_for_events(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(waits, COUNT(waits), arena);

    CHECK_INT("arrows", trace->flow_count, 1);
    CHECK_STR("kind", trace_name(trace, trace->flows[0].kind), "event wait");
    CHECK_STR("from", trace_name(trace, trace_slice(trace, trace->flows[0].from).name), "load");
    CHECK_STR("to", trace_name(trace, trace_slice(trace, trace->flows[0].to).name), "poll");
    arena_destroy(arena);
}

static const char *const about[] = {
    NAMES,
    "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
    "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION', '2026.1.1'),"
    " ('EXPORT_USER', 'jane-the-user');"
    "CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);"
    "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT', 'API_TOKEN=this-must-never-be-"
    "shown'), ('PROCESS_0:USER_NAME', 'jane-the-user');"
    "CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT);"
    "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname', 'node-3'), ('Other',"
    " 'API_TOKEN=this-must-never-be-shown');"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);"
    "CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT);"
    "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 'started by jane-the-user'),"
    " (1, 3, 'lost 5 events of /home/jane-the-user/run.py');"
    "UPDATE PROCESSES SET name = '/home/jane-the-user/bin/train' WHERE pid = 7;"
    "UPDATE StringIds SET value = '/home/jane-the-user/libx.so' WHERE id = 9;"
    "CREATE TABLE OSRT_CALLCHAINS (id, symbol, module, stackDepth);"
    "INSERT INTO OSRT_CALLCHAINS VALUES (5, 8, 9, 0);"
    "CREATE TABLE OSRT_API (start, end, globalTid, nameId, callchainId);"
    "INSERT INTO OSRT_API VALUES (3, 4, " TID_8 ", 11, 5);",
};

static void of_itself(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    const struct trace *trace = sql_trace(about, COUNT(about), arena);

    CHECK_STR("host", trace->hostname, "node-3");
    CHECK("epoch", trace->has_epoch && trace->epoch_ns == INT64_C(1700000000000000000));
    CHECK_INT("stacks", trace->stack_count, 1);
    CHECK_PICTURE("notes", trace, PICTURE_NOTES,
                  "train (7) / python (8) / OS runtime\n  3000 +1000 poll\nnote collector-error 1 "
                  "Nsight Systems reported: lost 5 events of /home//run.py\nnote collector-info 1 "
                  "Other messages of the recording do not report losses.\n");
    for (name_id name = 0; name < trace->name_count; name++) {
        struct str text = trace_name(trace, name);

        CHECK("no environment", !str_contains(text, STR("API_TOKEN")));
        CHECK("no user", !str_contains(text, STR("jane-the-user")));
    }
    arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_kernels),
        cmocka_unit_test(shapes),
        cmocka_unit_test(ranges),
        cmocka_unit_test(ops_of_xla),
        cmocka_unit_test(devices_of_processes),
        cmocka_unit_test(graphs),
        cmocka_unit_test(waits_for_events),
        cmocka_unit_test(sampled),
        cmocka_unit_test(of_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
