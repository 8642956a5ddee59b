/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds told by names. */
#include "check.h"
#include "trace/kind.h"

static void kinds(void **state)
{
    (void)state;
    const struct {
        const char *plane, *line, *name, *opcode, *category;
        bool is_op;
        enum kind kind;
    } rows[] = {
        /* GPU: streams of kernels and copies. */
        {"/device:GPU:0", "Stream #7(Kernel)", "fusion_3", "", "", true, KIND_COMPUTE},
        {"/device:GPU:0", "Stream #7(Kernel)", "loop_add_fusion", "", "", false, KIND_COMPUTE},
        {"/device:GPU:0", "Stream #9(Kernel)", "ncclDevKernel_AllReduce_Sum_f32", "", "", true,
         KIND_COMMUNICATION},
        {"/device:GPU:0", "Stream #9(Kernel)", "rcclGenericKernel", "", "", false,
         KIND_COMMUNICATION},
        {"/device:GPU:0", "Stream #8(MemcpyH2D)", "MemcpyH2D", "", "", false, KIND_COPY},
        {"/host:CPU", "python", "H2D Dispatch", "", "", false, KIND_COPY},
        {"/device:GPU:0", "Stream #8(Memset)", "Memset", "", "", true, KIND_COPY},
        {"GPU 0", "stream 7", "Memcpy HtoD (Pinned -> Device)", "", "gpu_memcpy", false, KIND_COPY},
        {"/device:GPU:0", "Stream #16(Kernel)", "CopyDeviceToDevice", "", "", true, KIND_COPY},
        {"/device:GPU:0", "Stream #17(Kernel)", "__amd_rocclr_copyBuffer.kd", "", "", true,
         KIND_COPY},
        {"python 1", "stream 7", "ampere_sgemm", "", "kernel", false, KIND_COMPUTE},
        {"GPU 0", "stream 7: waits", "Stream Sync", "", "cuda_sync", false, KIND_OTHER},
        {"python 1", "stream 7", "ncclKernel_AllGather", "", "kernel", false, KIND_COMMUNICATION},
        /* HLO by opcode, by category, by name alone. */
        {"/device:TPU:0", "XLA Ops", "all-reduce.1", "all-reduce", "", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "fusion.2", "", "all-reduce fusion", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "all-gather-start.3", "", "", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "reduce-scatter.3", "", "", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "all-to-all", "", "", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "collective-permute-done", "", "", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "send.4", "send", "", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "recv-done", "", "", true, KIND_COMMUNICATION},
        {"/device:TPU:0", "XLA Ops", "copy-start.2", "copy-start", "", true, KIND_COPY},
        {"/device:TPU:0", "XLA Ops", "copy.17", "", "", true, KIND_COPY},
        {"/device:TPU:0", "XLA Ops", "infeed.1", "infeed", "", true, KIND_INPUT},
        {"/device:TPU:0", "XLA Ops", "outfeed", "", "", true, KIND_INPUT},
        {"/device:TPU:0", "XLA Ops", "dot.3", "dot", "convolution", true, KIND_COMPUTE},
        {"/device:TPU:0", "XLA Ops", "reduce.3", "", "", true, KIND_COMPUTE},
        {"/device:CUSTOM:Megascale Trace", "x", "D2H", "", "", false, KIND_COMMUNICATION},
        /* CPU: ops on the host's threads, and the host's own work. */
        {"/host:CPU", "tf_XLAEigen/123", "ynn_fusion.44", "", "", true, KIND_COMPUTE},
        {"/host:CPU", "tf_XLAEigen/123", "psum.7", "", "", true, KIND_COMMUNICATION},
        {"/host:CPU", "tf_XLAEigen/123", "ppermute.2", "", "", true, KIND_COMMUNICATION},
        {"/host:CPU", "python", "copy.135", "", "", true, KIND_COPY},
        {"/host:CPU", "tf_XLAEigen/123", "end: psum.7", "", "", false, KIND_HOST},
        {"/host:CPU", "python", "$train.py:41 step", "", "", false, KIND_HOST},
        {"/host:CPU", "python", "backend_compile", "", "", false, KIND_COMPILE},
        {"/host:CPU", "python", "PjRtCpuClient::Compile", "", "", false, KIND_COMPILE},
        {"/host:CPU", "python", "trace_to_jaxpr_dynamic", "", "", false, KIND_COMPILE},
        {"/host:CPU", "python", "$pxla.py:954 lower_sharding_computation", "", "", false,
         KIND_COMPILE},
        {"/host:CPU", "python", "XlaCompile", "", "", false, KIND_COMPILE},
        {"python 1", "thread 7", "torch/_utils.py(12): is_torchdynamo_compiling", "",
         "python_function", false, KIND_HOST},
        {"python 1", "thread 7", "TorchDynamo Cache Lookup", "", "cpu_op", false, KIND_HOST},
        {"python 1", "thread 7", "compile_fx_inner: inductor", "", "cpu_op", false, KIND_COMPILE},
        {"python 1", "thread 7", "/tmp/torchinductor_me/ab/cab.py(41): call", "", "python_function",
         false, KIND_HOST},
        {"python 1", "thread 7", "torch/_inductor/runtime/triton_heuristics.py(9): run", "",
         "python_function", false, KIND_HOST},
        {"python 1", "thread 7", "triton/runtime/autotuner.py(190): run", "", "python_function",
         false, KIND_HOST},
        {"python 1", "thread 7", "triton/runtime/autotuner.py(160): benchmark_all_configs", "",
         "python_function", false, KIND_COMPILE},
        {"python 1", "thread 7", "torch/_dynamo/convert_frame.py(5): torchdynamo _compile", "",
         "python_function", false, KIND_COMPILE},
        {"/host:CPU", "tf_xla-cpu-codegen/9", "anything", "", "", false, KIND_COMPILE},
        {"/host:CPU", "tf_PjRtCompilerThreadPool/9", "anything", "", "", false, KIND_COMPILE},
        {"/host:CPU", "python", "IteratorGetNext", "", "", false, KIND_INPUT},
        {"/host:CPU", "python", "$dataloader.py:633 __next__", "", "", false, KIND_INPUT},
        {"/host:CPU", "tf_data_iterator/3", "Produce", "", "", false, KIND_INPUT},
        {"/host:CPU", "python", "data_loading", "", "", false, KIND_INPUT},
        {"/host:CPU", "python", "Load data", "", "", false, KIND_INPUT},
        {"/host:CPU", "python", "$train.py:19 load_data", "", "", false, KIND_INPUT},
        {"/host:CPU", "python", "get_next_batch", "", "", false, KIND_INPUT},
        {"/host:CPU", "python", "input_pipeline", "", "", false, KIND_INPUT},
        {"/host:CPU", "python", "TransferToInfeed", "", "", false, KIND_INPUT},
        {"python 7", "thread 7", "#DataLoader.__next__#", "", "user_annotation", false, KIND_INPUT},
        {"python 7", "thread 7", "next_batch", "", "user_annotation", false, KIND_INPUT},
        {"/host:CPU", "python", "load_module", "", "", false, KIND_HOST},
        {"/host:CPU", "python", "update_data", "", "", false, KIND_HOST},
        {"/host:CPU", "python", "batch_norm", "", "", false, KIND_HOST},
        {"/device:GPU:0", "Stream #7(Kernel)", "load_data_kernel", "", "", true, KIND_COMPUTE},
        {"/device:GPU:0", "Stream #16(Kernel)", "CopyDeviceToDevice", "copy", "", true, KIND_COPY},
        {"/device:GPU:0", "Stream #16", "CopyHostToDevice", "", "", false, KIND_COPY},
        {"/host:CPU", "python", "TransferLiteralToDevice", "", "", false, KIND_COPY},
        /* Somebody else's trace. */
        {"renderer", "42", "paint", "", "", false, KIND_OTHER},
        {"", "", "", "", "", false, KIND_OTHER},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct kind_facts facts = {.plane = str_of(rows[i].plane),
                                   .line = str_of(rows[i].line),
                                   .name = str_of(rows[i].name),
                                   .opcode = str_of(rows[i].opcode),
                                   .category = str_of(rows[i].category),
                                   .is_op = rows[i].is_op};
        CHECK_STR(rows[i].name, str_of(kind_word(kind_of(&facts))), kind_word(rows[i].kind));
    }
}

static void words(void **state)
{
    (void)state;
    CHECK_STR("first", str_of(kind_word(KIND_COMPUTE)), "compute");
    CHECK_STR("last", str_of(kind_word(KIND_IDLE)), "idle");
    CHECK_STR("none", str_of(kind_word((enum kind)99)), "other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds),
        cmocka_unit_test(words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
