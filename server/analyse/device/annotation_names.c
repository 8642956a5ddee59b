/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of names and threads that tell what a runtime records from what a program marked.
 * Facts: names as they stand in profiles, and the sources of XLA, JAX and TensorFlow. */
#include "analyse/device/annotation_names.h"

bool is_api_name(struct str name)
{
    return str_starts(name, STR("cuda")) || str_starts(name, STR("hip")) ||
           (str_starts(name, STR("cu")) && name.count > 2 && name.at[2] >= 'A' &&
            name.at[2] <= 'Z');
}

static const char *const beginnings[] = {
    "$",
    "[",
    "end: ",
    "<built-in ",
    "nn.Module: ",
    "PjitFunction(",
    "ParseArguments",
    "Wait",
    "Rendezvous",
    "InvokeRendezvous",
    "backend_",
    "lower_",
    "trace_to_jaxpr",
    "XlaModule:",
    "Thunk",
    "H2D",
    "D2H",
    "D2D",
    "DevicePut",
    "Handle inputs",
    "Handle input event",
    "Handle outputs",
    "AllocateOutputBuffer",
    "MakeOutputBuffers",
    "Build buffer allocations",
    "RecordUsage",
    "Resolve constant globals",
    "ComputeSemaphoreAcquire",
    "Acquire semaphore",
    "ThenExecuteCallback",
    "PJRT_",
    "np.asarray(jax.Array)",
    "ArrayImpl",
    "shard_args",
    "cpp_pjit",
    "batched_copy_array",
    "BatchedCopy",
    "ExecuteReplicated",
    "copy_to_host",
    "MemoryAllocation",
    "MemoryDeallocation",
    "MapDmaBuffer",
    "LoadProgram",
    "EnqueueContinuationProgram",
    "DoEnqueueProgram",
    "EnqueueProgram",
    "EnqueueRequest",
    "CopyProgramsToSharedMemory",
    "CompleteCallbacks",
    "ReadSyncFlag",
    "ScheduleWork",
    "Linearize",
    "DelinearizeUsingTranspose",
    "LSRAv2",
    "HLO passes",
    "RunInvariantCheckers",
    "Command Buffer Full",
    "EagerExecute",
    "EagerLocalExecute",
    "EagerKernelExecute",
    "EagerCopyToDevice",
    "TFE_",
    "FunctionRun",
    "ExecutorDoneCallback",
    "ParallelMap",
    "IteratorGetNext",
    "Iterator",
    "ValidateInputTypeAndPlacement",
    "convert_to_tensor",
    "void ",
};

static const char *const endings[] = {
    ":XLA GPU module", ": forward", ": __call__", "_impl", " linkage",
};

/* "modeling.py(150): forward": a frame of Python as Kineto writes it. */
static bool is_frame(struct str name)
{
    return str_contains(name, STR(".py(")) || str_contains(name, STR(".py:"));
}

bool is_annotation_name(struct str name)
{
    if (name.count == 0 || str_contains(name, STR("::")) || is_api_name(name) || is_frame(name))
        return false;
    for (size_t i = 0; i < COUNT(beginnings); i++) {
        if (str_starts(name, str_of(beginnings[i])))
            return false;
    }
    for (size_t i = 0; i < COUNT(endings); i++) {
        if (str_ends(name, str_of(endings[i])))
            return false;
    }
    return true;
}

bool is_runtime_thread(struct str name)
{
    static const char *const pools[] = {"tf_",    "tsl",   "XLA",       "xla",        "Eigen",
                                        "py_xla", "Tfrt",  "pjrt",      "llvm",       "tpu_",
                                        "futex-", "grpc_", "Framework", "TensorFlow "};

    for (size_t i = 0; i < COUNT(pools); i++) {
        if (str_starts(name, str_of(pools[i])))
            return true;
    }
    return false;
}
