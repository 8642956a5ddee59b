/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that tell kinds of work apart.
 *
 * One table, read from the top; the first rule of which every pattern fits decides. A pattern is
 * several alternatives separated by '|', compared without regard to case:
 *
 *   word     contains it        ^word    begins with it        =word    is it
 *   nothing  anything
 *
 * Whoever changes a rule raises KIND_RULES_VERSION.
 */
#include "trace/kind.h"

enum where { /* what must be known of the slice besides the patterns */
             ANYWHERE,
             OPS,       /* an HLO op or a kernel */
             ON_DEVICE, /* a line of a device's plane */
             ON_HOST,   /* a line of any other plane */
};

struct rule { /* patterns that are not given fit anything */
    enum kind kind;
    enum where where;
    const char *plane, *line, *opcode, *category, *name;
};

/* Compilation: wherever it runs, also on a device's host threads; JAX traces and lowers before. */
#define COMPILER_LINES "tf_pjrtcompilerthreadpool|tf_xla-cpu-codegen|llvm"
#define COMPILER_CALLS                                                                             \
    "backend_compile|backendcompile|pjrtcpuclient::compile|pjrtclient::compile|"                   \
    "pjrtstreamexecutorclient::compile|tfrtcpuclient::compile|xlacompile|xla_compile|"             \
    "llvmcompile|llvm_ir|llvmir|llvm::|runbackend|runhlopasses|run_hlo_passes|"                    \
    "compiletobackendresult|compilationcache|compile_or_get_cached|compile_and_load|"              \
    "cpucompiler|gpucompiler|nvptxcompiler|hlopass|hlo_passes|jit_compile|torchdynamo|"            \
    "inductor|triton_compile|autotun|trace_to_jaxpr|_trace_for_jit|lower_jaxpr_to_module|"         \
    "lower_sharding_computation|lower_mesh_computation|_resolve_and_lower|_pjit_lower"

/* Asked in every call of what was compiled long before. */
#define COMPILER_QUESTIONS                                                                         \
    "is_torchdynamo_compiling|is_dynamo_compiling|is_compiling|torchdynamo cache lookup"

/* What a compiler of Python wrote or keeps runs from its own files: that is the program, but for
 * the few calls there that compile. */
#define COMPILED_CALLS                                                                             \
    "torchinductor_|_inductor/runtime/|_inductor/output_code|_inductor/cudagraph|"                 \
    "_inductor/utils.py|compiledfxgraph|torch-compiled region|_dynamo/eval_frame|"                 \
    "triton/runtime/|autotuner.py|flashinfer/"
#define COMPILES_AFTER_ALL                                                                         \
    "compile_tasks|: precompile|_precompile_config|make_launcher|benchmark_all_configs|"           \
    "autotune_to_one_config|coordinate_descent_tuning|do_bench|build_and_load|run_ninja"

/* Input: data on its way into the program, before it is on a device. The last lines are what
 * programs call the part of a step that waits for it: whole phrases, for "load" or "data" alone
 * say nothing. */
#define INPUT_CALLS                                                                                \
    "iteratorgetnext|iterator::|tf.data|tfdata|tf_data|dataloader|data_loader|enqueue#|"           \
    "infeed|grain.|parallelmap|prefetch_to_device|data_loading|data-loading|data loading|"         \
    "dataloading|load_data|load data|loading data|load_batch|load batch|next_batch|nextbatch|"     \
    "next batch|get_batch|fetch_batch|fetch_data|input_pipeline|input pipeline|data_wait"
#define INPUT_LINES "tf_data|tf.data|dataloader|data_loader|grain"

/* Communication between devices and hosts. */
#define COLLECTIVE_OPS                                                                             \
    "^all-reduce|^all-gather|^reduce-scatter|^all-to-all|^ragged-all-to-all|^collective-|"         \
    "^all_reduce|^all_gather|^reduce_scatter|^all_to_all|^collective_|^allreduce|^allgather|"      \
    "^reducescatter|^alltoall|^psum|^ppermute|^pmean|^pmax|^pmin|^send|^recv|"                     \
    "^partition-id-send|^cross-replica"
#define COLLECTIVE_KERNELS                                                                         \
    "nccl|rccl|allreduce|allgather|reducescatter|alltoall|all_reduce|all_gather|megascale|"        \
    "nvshmem|c10d::|gloo:|^mpi_|hccl|^hcom_"
#define COLLECTIVE_CATEGORIES                                                                      \
    "all-reduce|all-gather|reduce-scatter|all-to-all|collective|megascale|=send|=recv|"            \
    "communication"

/* Copies: memory moved or set, no arithmetic. */
#define COPY_OPS                                                                                   \
    "=copy|^copy.|^copy-start|^copy-done|^async-copy|^memcpy|^memset|^[cuda memcpy|"               \
    "^[cuda memset|^d2d|^h2d|^d2h"
#define COPY_KERNELS                                                                               \
    "^memcpy|^memset|^[cuda memcpy|^[cuda memset|memcpyh2d|memcpyd2h|memcpyd2d|memcpyp2p|"         \
    "^copybuffer|^fillbuffer|^copydevicetodevice|^copyhosttodevice|^copydevicetohost|"             \
    "rocclr_copybuffer|rocclr_fillbuffer"
#define COPY_CATEGORIES                                                                            \
    "=copy|=copy-start|=copy-done|=async-copy|gpu_memcpy|gpu_memset|^memcpy|^memset|"              \
    "host send|host recv|dma"
#define COPY_CALLS                                                                                 \
    "transfertodevice|transferfromdevice|transferliteral|copytodevice|copytohost|"                 \
    "transferh2d|transferd2h|bufferfromhostbuffer|copyrawtohost|toliteral|h2d dispatch|"           \
    "d2h dispatch|d2d dispatch"

/* What is left on devices is computing, what is left elsewhere is the host's own work. */
#define DEVICE_LINES "^stream|xla ops|tensor core|sparse core|^queue|compute"
#define HOST_PLANES "^/host:|python|^host|^cpu|process"
#define HOST_CATEGORIES                                                                            \
    "python|cpu_op|=operator|user_annotation|cuda_runtime|cuda_driver|runtime|overhead"
#define HOST_LINES "thread|python|main"

static const struct rule rules[] = {
    {KIND_COMPILE, ANYWHERE, .line = COMPILER_LINES},
    {KIND_HOST, ON_HOST, .name = COMPILER_QUESTIONS},
    {KIND_COMPILE, ON_HOST, .name = COMPILES_AFTER_ALL},
    {KIND_HOST, ON_HOST, .name = COMPILED_CALLS},
    {KIND_COMPILE, ON_HOST, .name = COMPILER_CALLS},
    {KIND_INPUT, OPS, .opcode = "=infeed|=outfeed"},
    {KIND_INPUT, OPS, .name = "^infeed|^outfeed"},
    {KIND_INPUT, OPS, .category = "infeed|outfeed"},
    {KIND_INPUT, ON_HOST, .name = INPUT_CALLS},
    {KIND_INPUT, ON_HOST, .line = INPUT_LINES},
    {KIND_COMMUNICATION, OPS, .opcode = COLLECTIVE_OPS},
    {KIND_COMMUNICATION, OPS, .category = COLLECTIVE_CATEGORIES},
    {KIND_COMMUNICATION, OPS, .name = COLLECTIVE_OPS},
    {KIND_COMMUNICATION, OPS, .name = COLLECTIVE_KERNELS},
    {KIND_COMMUNICATION, ON_DEVICE, .name = COLLECTIVE_KERNELS},
    {KIND_COMMUNICATION, ANYWHERE, .category = "^kernel", .name = COLLECTIVE_KERNELS},
    {KIND_COMMUNICATION, ANYWHERE, .plane = "megascale"},
    {KIND_COMMUNICATION, ON_HOST, .name = "^nccl|^rccl|megascale|rendezvous"},
    {KIND_COPY, OPS, .opcode = "=copy|=copy-start|=copy-done|=async-copy"},
    {KIND_COPY, OPS, .category = COPY_CATEGORIES},
    {KIND_COPY, OPS, .name = COPY_OPS},
    {KIND_COPY, ON_DEVICE, .name = COPY_KERNELS},
    {KIND_COPY, ANYWHERE, .category = "gpu_memcpy|gpu_memset|^memcpy|^memset"},
    {KIND_COPY, ON_HOST, .name = COPY_CALLS},
    {KIND_OTHER, ANYWHERE, .category = "cuda_sync"}, /* a stream that waits does not compute */
    {KIND_COMPUTE, OPS, .name = ""},
    {KIND_COMPUTE, ON_DEVICE, .line = DEVICE_LINES},
    {KIND_COMPUTE, ANYWHERE, .category = "^kernel"},
    {KIND_HOST, ON_HOST, .plane = HOST_PLANES},
    {KIND_HOST, ON_HOST, .category = HOST_CATEGORIES},
    {KIND_HOST, ON_HOST, .line = HOST_LINES},
};

static bool begins_with(struct str text, struct str word)
{
    if (word.count > text.count)
        return false;
    for (size_t i = 0; i < word.count; i++)
        if (ascii_lower(text.at[i]) != word.at[i])
            return false;
    return true;
}

static bool fits_word(struct str text, struct str word)
{
    if (word.count > 0 && word.at[0] == '=')
        return text.count == word.count - 1 && begins_with(text, str_skip(word, 1));
    if (word.count > 0 && word.at[0] == '^')
        return begins_with(text, str_skip(word, 1));
    for (; text.count >= word.count; text = str_skip(text, 1))
        if (begins_with(text, word))
            return true;
    return false;
}

static bool fits(struct str text, const char *pattern)
{
    if (!pattern || !*pattern)
        return true;
    while (*pattern) {
        size_t count = strcspn(pattern, "|");
        if (fits_word(text, (struct str){.at = pattern, .count = count}))
            return true;
        pattern += count + (pattern[count] == '|');
    }
    return false;
}

static bool is_there(const struct kind_facts *facts, enum where where)
{
    bool on_device = begins_with(facts->plane, STR("/device:")) ||
                     begins_with(facts->plane, STR("#chip")) ||
                     begins_with(facts->plane, STR("gpu"));

    switch (where) {
    case OPS:
        return facts->is_op;
    case ON_DEVICE:
        return on_device;
    case ON_HOST:
        return !on_device && !facts->is_op;
    default:
        return true;
    }
}

enum kind kind_of(const struct kind_facts *facts)
{
    for (size_t i = 0; i < COUNT(rules); i++) {
        const struct rule *rule = &rules[i];
        if (is_there(facts, rule->where) && fits(facts->plane, rule->plane) &&
            fits(facts->line, rule->line) && fits(facts->opcode, rule->opcode) &&
            fits(facts->category, rule->category) && fits(facts->name, rule->name))
            return rule->kind;
    }
    return KIND_OTHER;
}

const char *kind_word(enum kind kind)
{
    static const char *const words[] = {
        [KIND_COMPUTE] = "compute", [KIND_COMMUNICATION] = "communication",
        [KIND_COPY] = "copy",       [KIND_HOST] = "host",
        [KIND_INPUT] = "input",     [KIND_COMPILE] = "compile",
        [KIND_OTHER] = "other",     [KIND_IDLE] = "idle",
    };

    return kind <= KIND_IDLE ? words[kind] : "other";
}
