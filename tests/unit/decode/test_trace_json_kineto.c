/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's Chrome JSON: streams, marks, launches, devices, ranks. */
#include "json_feed.h"

#define CALL(tid, ts, name, correlation)                                                           \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name "\",\"pid\":0,\"tid\":" tid          \
    ",\"ts\":" ts ",\"dur\":1,\"args\":{\"correlation\":" correlation "}}"
#define KERNEL(ts, dur, name, correlation)                                                         \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" ts        \
    ",\"dur\":" dur ",\"args\":{\"correlation\":" correlation "}}"
#define ARROW(phase, tid, ts, id)                                                                  \
    "{\"ph\":\"" phase "\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"pid\":0,\"tid\":" tid              \
    ",\"ts\":" ts ",\"id\":" id ",\"bp\":\"e\"}"

#define OF_RANK(rank, cat, pid, tid, ts, name)                                                     \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":\"[TP" rank "] " pid          \
    "\",\"tid\":" tid ",\"ts\":" ts ",\"dur\":1,\"args\":{\"correlation\":1}}"
#define OF_DEVICE(cat, pid, ts, correlation)                                                       \
    "{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"op\",\"pid\":" pid ",\"tid\":3,\"ts\":" ts       \
    ",\"dur\":2,\"args\":{\"correlation\":" correlation "}}"

static const struct json_row rows[] = {
    {"ranks merged with a label: each has its device, and its own correlations",
     "[" OF_RANK("00", "cuda_runtime", "90", "9", "1", "call 0") "," OF_RANK(
         "01", "cuda_runtime", "90", "9", "2",
         "call 1") "," OF_RANK("00", "kernel", "0", "7", "3", "k0") "," OF_RANK("01", "kernel", "0",
                                                                                "7", "4", "k1") "]",
     PICTURE_KINDS | PICTURE_FLOWS,
     "[TP00] 90 / thread 9\n  1000000 +1000000 call 0 (host)\n"
     "[TP01] 90 / thread 9\n  2000000 +1000000 call 1 (host)\n"
     "[TP00] GPU 0 / stream 7\n  3000000 +1000000 k0 (compute)\n"
     "[TP01] GPU 0 / stream 7\n  4000000 +1000000 k1 (compute)\n"
     "call 0 -> k0\ncall 1 -> k1\n"},
    {"accelerators that are no GPUs",
     "[" OF_DEVICE("mtia_runtime", "9", "1", "5") "," OF_DEVICE(
         "mtia_ccp_events", "0", "3", "5") "," OF_DEVICE("hpu_op", "1", "3", "6") "]",
     PICTURE_KINDS | PICTURE_FLOWS,
     "process 9 / thread 3\n  1000000 +2000000 op (host)\n"
     "MTIA 0 / stream 3\n  3000000 +2000000 op (compute)\n"
     "HPU 1 / stream 3\n  3000000 +2000000 op (compute)\n"
     "op -> op\n"},
    {"Huawei's devices",
     "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":40,\"args\":{\"name\":\"Ascend "
     "Hardware\"}},{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":40,\"tid\":3,\"args\":{\"name\":"
     "\"Stream 3\"}},{\"ph\":\"X\",\"name\":\"MatMulV3\",\"pid\":40,\"tid\":3,\"ts\":\"1.000\","
     "\"dur\":\"9.998\"},{\"ph\":\"X\",\"name\":\"hcom_broadcast_\",\"pid\":40,\"tid\":3,\"ts\":"
     "\"20.000\",\"dur\":1}]",
     PICTURE_KINDS,
     "Ascend Hardware / Stream 3\n  1000000 +9998000 MatMulV3 (compute)\n"
     "  20000000 +1000000 hcom_broadcast_ (communication)\n"},
    {"a program that runs as process 0 beside GPU 0; names that come late",
     "[" CALL("7", "1", "cudaLaunchKernel", "5") "," KERNEL(
         "3", "2", "gemm",
         "5") ","
              "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"python\"}},"
              "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"args\":{\"labels\":\"GPU "
              "0\"}},"
              "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,\"args\":{\"name\":"
              "\"stream 7 "
              "\"}}]",
     PICTURE_KINDS | PICTURE_FLOWS,
     "python / stream 7 \n  1000000 +1000000 cudaLaunchKernel (host)\n"
     "GPU 0 / stream 7\n  3000000 +2000000 gemm (compute)\n"
     "cudaLaunchKernel -> gemm\n"},
    {"arrows that say what the correlation says are not doubled",
     "[" CALL("9", "1", "launch", "5") "," ARROW("s", "9", "1", "5") "," KERNEL(
         "3", "2", "k", "5") "," ARROW("f", "7", "3", "5") "]",
     PICTURE_FLOWS,
     "process 0 / thread 9\n  1000000 +1000000 launch\nGPU 0 / stream 7\n  3000000 +2000000 k\n"
     "launch -> k\n"},
    {"arrows alone, without correlations",
     "[{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"call\",\"pid\":0,\"tid\":9,\"ts\":1,"
     "\"dur\":1}," ARROW("s", "9", "1",
                         "5") ","
                              "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
                              "\"ts\":3,\"dur\":1}," ARROW("f", "7", "3", "5") "]",
     PICTURE_FLOWS,
     "process 0 / thread 9\n  1000000 +1000000 call\nGPU 0 / stream 7\n  3000000 +1000000 k\n"
     "call -> k\n"},
    {"Kineto of 2021: quoted threads, streams by name, its own words",
     "[{\"ph\":\"X\",\"cat\":\"Runtime\",\"name\":\"call\",\"pid\":4,\"tid\":\"4\",\"ts\":1,"
     "\"dur\":1,\"args\":{\"correlation\":5}},"
     "{\"ph\":\"s\",\"cat\":\"async\",\"name\":\"launch\",\"id\":5,\"pid\":4,\"tid\":4,\"ts\":1},"
     "{\"ph\":\"i\",\"name\":\"mark\",\"pid\":4,\"tid\":4,\"ts\":1.5},"
     "{\"ph\":\"X\",\"cat\":\"Memcpy\",\"name\":\"copy\",\"pid\":0,\"tid\":\"stream 7\",\"ts\":3,"
     "\"dur\":1,\"args\":{\"correlation\":5}}]",
     PICTURE_FLOWS | PICTURE_KINDS,
     "process 4 / thread 4\n  1000000 +1000000 call (host)\n    1500000 +0 mark (other)\n"
     "GPU 0 / stream 7\n  3000000 +1000000 copy (copy)\n"
     "call -> copy\n"},
    {"one call may launch many, and an arrow of another kind may share the number",
     "[" CALL("9", "1", "cudaGraphLaunch", "5") "," KERNEL("3", "1", "a", "5") "," KERNEL(
         "5", "1", "b", "5") ","
                             "{\"ph\":\"s\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":5,"
                             "\"pid\":0,\"tid\":9,\"ts\":1},"
                             "{\"ph\":\"f\",\"cat\":\"fwdbwd\",\"name\":\"fwdbwd\",\"id\":5,"
                             "\"pid\":0,\"tid\":9,\"ts\":2,"
                             "\"bp\":\"e\"}]",
     PICTURE_FLOWS,
     "process 0 / thread 9\n  1000000 +1000000 cudaGraphLaunch\n"
     "GPU 0 / stream 7\n  3000000 +1000000 a\n  5000000 +1000000 b\n"
     "cudaGraphLaunch -> cudaGraphLaunch\ncudaGraphLaunch -> a\ncudaGraphLaunch -> b\n"},
    {"marks and waits of a stream lie beside it",
     "[" KERNEL(
         "3", "2", "ncclKernel_AllReduce",
         "5") ","
              "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"ProfilerStep#1\",\"pid\":0,"
              "\"tid\":7,\"ts\":2,\"dur\":9},"
              "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream Wait "
              "Event\",\"pid\":0,\"tid\":7,"
              "\"ts\":2.5,\"dur\":0}]",
     PICTURE_KINDS,
     "GPU 0 / stream 7\n  3000000 +2000000 ncclKernel_AllReduce (communication)\n"
     "GPU 0 / stream 7: annotations\n  2000000 +9000000 ProfilerStep#1 (other) [derived]\n"
     "GPU 0 / stream 7: waits\n  2500000 +0 Stream Wait Event (other)\n"},
    {"a collective's message keeps its numbers",
     "[{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nccl\",\"pid\":0,\"tid\":7,\"ts\":1,\"dur\":1,"
     "\"args\":{\"Collective name\":\"allreduce\",\"In msg nelems\":1024,\"Group size\":8,"
     "\"dtype\":\"Float\",\"Process Group Ranks\":[0,1],\"In split size\":\"[]\"}}]",
     PICTURE_ARGS,
     "GPU 0 / stream 7\n  1000000 +1000000 nccl {Collective name: \"allreduce\", "
     "In msg nelems: 1024, Group size: 8, dtype: \"Float\", Process Group Ranks: [0,1], "
     "In split size: \"[]\"}\n"},
    {"a counter of a GPU's number is the GPU's",
     "[" KERNEL("3", "2", "k", "5") ",{\"ph\":\"C\",\"name\":\"GPU 0 power\",\"pid\":0,\"ts\":4,"
                                    "\"args\":{\"watt\":250.5}}]",
     0, "GPU 0 / stream 7\n  3000000 +2000000 k\nGPU 0 / GPU 0 power: watt\n  4000000 = 250.5\n"},
};

static void pictures(void **state)
{
    (void)state;
    check_rows(rows, COUNT(rows));
}

static void damage(void **state)
{
    (void)state;
    check_damaged(rows, COUNT(rows));
}

static const struct property *property_of(const struct trace *trace, const char *key,
                                          track_id track)
{
    for (uint32_t i = 0; i < trace->property_count; i++)
        if (str_equal(trace_name(trace, trace->properties[i].arg.key), str_of(key)) &&
            trace->properties[i].track == track)
            return &trace->properties[i];
    return NULL;
}

static void check_text(const struct trace *trace, track_id track, const char *key, const char *want)
{
    const struct property *property = property_of(trace, key, track);

    CHECK(key, property != NULL);
    if (property != NULL)
        CHECK_STR(key, trace_name(trace, (name_id)property->arg.bits), want);
}

static void check_number(const struct trace *trace, track_id track, const char *key, int64_t want)
{
    const struct property *property = property_of(trace, key, track);

    CHECK(key, property != NULL);
    if (property != NULL)
        CHECK_INT(key, property->arg.bits, want);
}

static track_id track_named(const struct trace *trace, const char *name)
{
    for (track_id id = 0; id < trace->track_count; id++)
        if (str_equal(trace_name(trace, trace->tracks[id].name), str_of(name)))
            return id;
    check_failed(__FILE__, __LINE__, name, "there is no such track");
    return 0;
}

static void devices(void **state)
{
    (void)state;
    struct arena *arena = arena_create();
    struct feed feed = {
        .text = STR("{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":1,\"name\":\"B\"},"
                    "{\"id\":0,\"name\":\"H\",\"computeMajor\":9,\"computeMinor\":0,"
                    "\"numSms\":132,\"totalGlobalMem\":85018279936,\"warpSize\":32}],"
                    "\"username\":\"somebody\",\"traceEvents\":["
                    "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"m\",\"pid\":0,"
                    "\"tid\":7,\"ts\":1,\"dur\":5}," KERNEL("3", "2", "k", "5") "]}")};
    const struct trace *trace = decode(&feed, arena);
    track_id device = track_named(trace, "GPU 0");
    const struct track *stream = &trace->tracks[track_named(trace, "stream 7")];
    const struct track *marks = &trace->tracks[track_named(trace, "stream 7: annotations")];

    CHECK_INT("a device", trace->tracks[device].kind, TRACK_DEVICE);
    CHECK_INT("its number", trace->tracks[device].device, 0);
    CHECK_INT("kernels are ops", stream->role, ROLE_OPS);
    CHECK_INT("of that device", stream->device, 0);
    CHECK("and recorded", !stream->derived);
    CHECK_INT("marks are scopes", marks->role, ROLE_SCOPES);
    CHECK("and derived", marks->derived);
    check_text(trace, NO_TRACK, "framework", "pytorch");
    check_text(trace, device, "gpu_device_name", "H");
    check_number(trace, device, "core_count", 132);
    check_number(trace, device, "compute_cap_major", 9);
    check_number(trace, device, "compute_cap_minor", 0);
    check_number(trace, device, "memory_size", 85018279936);
    check_number(trace, device, "warpSize", 32);
    CHECK("who recorded is left out", property_of(trace, "username", NO_TRACK) == NULL);
    arena_destroy(arena);
}

static void ranks(void **state)
{
    (void)state;
    const struct {
        const char *what, *info;
        const char *group; /* NULL: none */
        int64_t rank;      /* -1: none */
    } infos[] = {
        {"one of many", "{\"backend\":\"nccl\",\"rank\":1,\"world_size\":128}",
         "PyTorch job of 128 ranks over nccl", 1},
        {"the group does not depend on what a rank knows",
         "{\"rank\":3,\"pg_config\":[{\"ranks\":[3,4]}],\"world_size\":128,\"backend\":\"nccl\"}",
         "PyTorch job of 128 ranks over nccl", 3},
        {"a rank without a job", "{\"rank\":0}", NULL, 0},
        {"a job of one", "{\"rank\":0,\"world_size\":1}", NULL, 0},
        {"no rank", "{\"world_size\":8,\"backend\":\"gloo\"}", NULL, -1},
        {"no numbers", "{\"rank\":\"x\",\"world_size\":-2.5}", NULL, -1},
        {"no object", "[1]", NULL, -1},
    };

    for (size_t i = 0; i < COUNT(infos); i++) {
        struct arena *arena = arena_create();
        struct feed feed = {.text = str_format(arena, "{\"distributedInfo\":%s,\"traceEvents\":[]}",
                                               infos[i].info)};
        const struct trace *trace = decode(&feed, arena);

        CHECK_INT(infos[i].what, property_of(trace, "run_group", NO_TRACK) != NULL,
                  infos[i].group != NULL);
        CHECK_INT(infos[i].what, property_of(trace, "run_rank", NO_TRACK) != NULL,
                  infos[i].rank >= 0);
        if (infos[i].group != NULL)
            check_text(trace, NO_TRACK, "run_group", infos[i].group);
        if (infos[i].rank >= 0)
            check_number(trace, NO_TRACK, "run_rank", infos[i].rank);
        arena_destroy(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures),
        cmocka_unit_test(damage),
        cmocka_unit_test(devices),
        cmocka_unit_test(ranks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
