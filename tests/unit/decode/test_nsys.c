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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_and_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
