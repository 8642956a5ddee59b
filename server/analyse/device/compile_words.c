/* SPDX-License-Identifier: Apache-2.0 */
/* The table of slice names that JAX, PJRT, XLA and torch.compile give to the parts of a
 * compilation. Facts: profiles of CPU, TPU and GPU, and those programs' sources. */
#include "analyse/device/compile_words.h"

struct rule {           /* the first that fits decides */
    const char *file;   /* of a Python frame; NULL: no frame */
    const char *prefix; /* of the function or the name; "=" in front: all of it */
    struct compile_word word;
};

/* Names of JAX, PJRT and XLA as they stand in profiles of CPU, TPU and (as NVTX ranges) GPU; those
 * of GPU host threads, TensorFlow and torch.compile from their sources. */
static const struct rule rules[] = {
    /* JAX's own Python, where it was traced. */
    {"compiler.py", "=compile_or_get_cached", {COMPILE_REQUEST, PHASE_OTHER}},
    {"compiler.py", "backend_compile", {COMPILE_BACKEND, PHASE_BACKEND}},
    {"compiler.py", "_cache_", {COMPILE_PART, PHASE_CACHE}},
    {"compiler.py", "_get_cache_key", {COMPILE_PART, PHASE_CACHE}},
    {"cache_key.py", "", {COMPILE_PART, PHASE_CACHE}},
    {"compilation_cache.py", "", {COMPILE_PART, PHASE_CACHE}},
    {"pjit.py", "=_trace_for_jit", {COMPILE_BEFORE, PHASE_TRACE}},
    {"partial_eval.py", "trace_to_jaxpr", {COMPILE_BEFORE, PHASE_TRACE}},
    {"pjit.py", "=_resolve_and_lower", {COMPILE_BEFORE, PHASE_LOWER}},
    {"pjit.py", "=_pjit_lower", {COMPILE_BEFORE, PHASE_LOWER}},
    {"pxla.py", "lower_", {COMPILE_BEFORE, PHASE_LOWER}},

    /* Its marks, which are there without Python's frames too. */
    {NULL, "PjitFunction(", {COMPILE_CALL, PHASE_OTHER}},
    {NULL, "trace_to_jaxpr", {COMPILE_BEFORE, PHASE_TRACE}},
    {NULL, "lower_sharding_computation", {COMPILE_BEFORE, PHASE_LOWER}},
    {NULL, "lower_mesh_computation", {COMPILE_BEFORE, PHASE_LOWER}},
    {NULL, "=compile_or_get_cached", {COMPILE_REQUEST, PHASE_OTHER}},
    {NULL, "backend_compile", {COMPILE_BACKEND, PHASE_BACKEND}},

    /* PJRT and XLA. */
    {NULL, "PjRtCpuClient::Compile", {COMPILE_WORKER, PHASE_BACKEND}},
    {NULL, "PjRtStreamExecutorClient::Compile", {COMPILE_WORKER, PHASE_BACKEND}},
    {NULL, "PjRtClient::Compile", {COMPILE_WORKER, PHASE_BACKEND}},
    {NULL, "TfrtCpuClient::Compile", {COMPILE_WORKER, PHASE_BACKEND}},
    {NULL, "TfrtGpuClient::Compile", {COMPILE_WORKER, PHASE_BACKEND}},
    {NULL, "TfrtTpuCompiler::Compile", {COMPILE_WORKER, PHASE_BACKEND}},
    {NULL, "XlaCompilationCache::Compile", {COMPILE_WORKER, PHASE_BACKEND}},
    {NULL, "CpuCompiler::RunHloPasses", {COMPILE_PART, PHASE_PASSES}},
    {NULL, "GpuCompiler::RunHloPasses", {COMPILE_PART, PHASE_PASSES}},
    {NULL, "XLA::TPU run hlo passes", {COMPILE_PART, PHASE_PASSES}},
    {NULL, "CpuCompiler::", {COMPILE_WORKER, PHASE_CODEGEN}},
    {NULL, "GpuCompiler::", {COMPILE_WORKER, PHASE_CODEGEN}},
    {NULL, "XLA::TPU run backend", {COMPILE_WORKER, PHASE_CODEGEN}},
    {NULL, "XLA::TPU lowering and optimization", {COMPILE_WORKER, PHASE_CODEGEN}},
    {NULL, "XLA::TPU code generat", {COMPILE_PART, PHASE_CODEGEN}},

    /* XLA's annotations. */
    {NULL, "XlaAutotuner", {COMPILE_PART, PHASE_AUTOTUNE}},
    {NULL, "XlaPass:#name=triton-autotuner", {COMPILE_PART, PHASE_AUTOTUNE}},
    {NULL, "XlaPass:#name=gemm-algorithm-picker", {COMPILE_PART, PHASE_AUTOTUNE}},
    {NULL, "XlaPass:#name=gpu-conv-algorithm-picker", {COMPILE_PART, PHASE_AUTOTUNE}},
    {NULL, "XlaPass:#name=gemm-fusion-autotuner", {COMPILE_PART, PHASE_AUTOTUNE}},
    {NULL, "XlaPass:#name=autotuner", {COMPILE_PART, PHASE_AUTOTUNE}},
    {NULL, "XlaPass", {COMPILE_PART, PHASE_PASSES}},
    {NULL, "XlaCompileBackend", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "XlaCompileGpuAsm", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "XlaCompileCudnn", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "XlaEmit", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "XlaOptimizeLlvmIr", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "XlaCompile", {COMPILE_WORKER, PHASE_BACKEND}},

    /* torch.compile. */
    {NULL, "_compile.compile_inner", {COMPILE_REQUEST, PHASE_TRACE}},
    {NULL, "OutputGraph.call_user_compiler", {COMPILE_PART, PHASE_BACKEND}},
    {NULL, "create_aot_dispatcher_function", {COMPILE_PART, PHASE_LOWER}},
    {NULL, "compile_fx", {COMPILE_PART, PHASE_BACKEND}},
    {NULL, "GraphLowering.run", {COMPILE_PART, PHASE_LOWER}},
    {NULL, "GraphLowering.compile_to", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "Scheduler.codegen", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "async_compile.", {COMPILE_PART, PHASE_CODEGEN}},
    {NULL, "CachingAutotuner.benchmark", {COMPILE_PART, PHASE_AUTOTUNE}},
    {NULL, "fx_graph_cache", {COMPILE_PART, PHASE_CACHE}},
};

/* "$compiler.py:292 backend_compile" is backend_compile of compiler.py; false: no such name. */
static bool take_frame(struct str name, struct str *ret_file, struct str *ret_function)
{
    const char *colon, *space;

    if (name.count < 4 || name.at[0] != '$' || name.at[1] == '<')
        return false;
    colon = memchr(name.at, ':', name.count);
    if (colon == NULL)
        return false;
    space = memchr(colon, ' ', name.count - (size_t)(colon - name.at));
    if (space == NULL)
        return false;
    *ret_file = (struct str){.at = name.at + 1, .count = (size_t)(colon - name.at) - 1};
    *ret_function = str_skip(name, (size_t)(space - name.at) + 1);
    return true;
}

static bool fits(struct str text, const char *pattern)
{
    return pattern[0] == '=' ? str_equal(text, str_of(pattern + 1))
                             : str_starts(text, str_of(pattern));
}

struct compile_word compile_word_of(struct str name)
{
    struct str file = {0}, text = name;
    bool framed = take_frame(name, &file, &text);

    if (str_starts(text, STR("TSL:")))
        text = str_skip(text, 4);
    for (size_t i = 0; i < COUNT(rules); i++) {
        if (framed == (rules[i].file != NULL) &&
            (!framed || str_equal(file, str_of(rules[i].file))) && fits(text, rules[i].prefix))
            return rules[i].word;
    }
    if (!framed && compile_pipeline_module(name).count > 0)
        return (struct compile_word){COMPILE_PART, PHASE_PASSES};
    return (struct compile_word){COMPILE_NONE, PHASE_OTHER};
}

struct str compile_function(struct str name)
{
    if (!str_starts(name, STR("PjitFunction(")) || !str_ends(name, STR(")")))
        return STR("");
    return (struct str){.at = name.at + 13, .count = name.count - 14};
}

struct str compile_fact(struct str name, const char *key)
{
    struct str wanted = str_of(key);
    const char *hash = name.count > 0 ? memchr(name.at, '#', name.count) : NULL;
    struct str rest = hash != NULL ? str_skip(name, (size_t)(hash - name.at) + 1) : STR("");

    while (rest.count > 0) {
        size_t count = 0;

        while (count < rest.count && rest.at[count] != ',' && rest.at[count] != '#')
            count++;
        if (count > wanted.count && rest.at[wanted.count] == '=' && str_starts(rest, wanted))
            return (struct str){rest.at + wanted.count + 1, count - wanted.count - 1};
        rest = str_skip(rest, count < rest.count ? count + 1 : count);
    }
    return STR("");
}

struct str compile_pipeline_module(struct str name)
{
    size_t open = name.count;

    if (name.count < 5 || name.at[name.count - 1] != ')' || name.at[0] == '$')
        return STR("");
    while (open > 0 && name.at[open - 1] != '(')
        open--;
    if (open < 3 || name.at[open - 2] != ' ' || open + 1 >= name.count)
        return STR("");
    return (struct str){name.at + open, name.count - open - 1};
}

struct str compile_module_function(struct str module)
{
    static const char *const prefixes[] = {"jit(", "pjit(", "jit_", "pjit_", "pmap_", "xla_"};

    for (size_t i = 0; i < COUNT(prefixes); i++) {
        struct str prefix = str_of(prefixes[i]);

        if (!str_starts(module, prefix) || module.count == prefix.count)
            continue;
        module = str_skip(module, prefix.count);
        if (prefixes[i][prefix.count - 1] == '(' && module.at[module.count - 1] == ')')
            module.count--;
        return module;
    }
    return module;
}
