/* SPDX-License-Identifier: Apache-2.0 */
/* What a run ran on: by names of tracks, devices and calls. */
#include "analyse/findings/platform.h"

#include "analyse/device/device_spec.h"
#include "analyse/scan/scan.h"

static const struct {
    const char *word;
    unsigned bit;
} words[] = {{"jax", ON_JAX},      {"torch", ON_TORCH},   {"tf", ON_TF},         {"tpu", ON_TPU},
             {"gpu", ON_GPU},      {"nvidia", ON_NVIDIA}, {"amd", ON_AMD},       {"cpu", ON_CPU},
             {"other", ON_OTHER},  {"xprof", BY_XPROF},   {"kineto", BY_KINETO}, {"nsys", BY_NSYS},
             {"server", OF_SERVER}};

static unsigned framework_of_name(struct str name)
{
    static const struct {
        const char *start;
        unsigned bit;
    } starts[] = {{"PjitFunction", ON_JAX},
                  {"jit(", ON_JAX},
                  {"PjRt", ON_JAX},
                  {"aten::", ON_TORCH},
                  {"ProfilerStep", ON_TORCH},
                  {"torch", ON_TORCH},
                  {"FunctionRun", ON_TF},
                  {"ExecutorState", ON_TF},
                  {"EagerKernelExecute", ON_TF},
                  {"TFE_Py", ON_TF},
                  {"SyncTensorsGraph", ON_TORCH},
                  {"XLAGraphExecutor", ON_TORCH}};

    for (size_t i = 0; i < COUNT(starts); i++)
        if (str_starts(name, str_of(starts[i].start)))
            return starts[i].bit;
    return 0;
}

/* Threads and frames of an engine that serves models. */
static bool is_of_server(struct str name)
{
    static const char *const engines[] = {"VLLM::", "vllm/", "sglang/", "sglang::"};

    for (size_t i = 0; i < COUNT(engines); i++)
        if (str_contains(name, str_of(engines[i])))
            return true;
    return false;
}

static unsigned framework_of(const struct host_trace *host)
{
    const struct trace *trace = host->trace;
    const struct attribution *of = host->attribution;
    unsigned found = 0;
    bool has_modules = trace->program_count > 0;

    for (name_id id = 0; id < trace->name_count; id++)
        found |= framework_of_name(trace_name(trace, id)) |
                 (is_of_server(trace_name(trace, id)) ? OF_SERVER : 0);
    for (uint32_t op = 0; of != NULL && op < of->op_count && !has_modules; op++)
        has_modules = of->ops[op].module != 0 && of->ops[op].caller == 0;
    return (found & ~(unsigned)OF_SERVER) == 0 && has_modules ? found | ON_JAX : found;
}

/* Chrome's JSON is Kineto's where PyTorch ran, else it may be XProf's. */
static unsigned recorder_of(const struct trace *trace, unsigned framework)
{
    if (strncmp(trace->format, "nsys", 4) == 0)
        return BY_NSYS;
    if (strcmp(trace->format, "xplane") == 0)
        return BY_XPROF;
    if (strcmp(trace->format, "chrome-json") != 0)
        return 0;
    return (framework & ON_TORCH) != 0 ? BY_KINETO : (framework & ON_JAX) != 0 ? BY_XPROF : 0;
}

static unsigned hardware_of_name(struct str name)
{
    static const char *const others[] = {"XPU", "Ascend", "NPU", "HPU", "Gaudi", "MTIA"};

    for (size_t i = 0; i < COUNT(others); i++)
        if (str_contains(name, str_of(others[i])))
            return ON_OTHER;
    if (str_contains(name, STR("TPU")) || str_contains(name, STR("SparseCore")))
        return ON_TPU;
    if (str_contains(name, STR("AMD")) || str_contains(name, STR("gfx")) ||
        str_contains(name, STR("Instinct")))
        return ON_GPU | ON_AMD;
    if (str_contains(name, STR("NVIDIA")) || str_contains(name, STR("Tesla")))
        return ON_GPU | ON_NVIDIA;
    return str_contains(name, STR("GPU")) ? ON_GPU : 0;
}

static unsigned hardware_of(const struct host_trace *host, struct arena *arena)
{
    const struct trace *trace = host->trace;
    struct device_spec spec = {0};
    unsigned found = 0;
    name_id hip;

    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].device < 0 && trace->tracks[id].kind != TRACK_STREAM)
            continue;
        found |= hardware_of_name(trace_name(trace, trace->tracks[id].name));
        found |= track_is_device_work(&trace->tracks[id]) &&
                         trace->tracks[id].kind == TRACK_STREAM && (found & ON_TPU) == 0
                     ? ON_GPU
                     : 0;
    }
    if (host->attribution != NULL)
        device_spec_of(trace, host->attribution, arena, &spec);
    found |= hardware_of_name(spec.name);
    if (spec.sheet != NULL)
        found |= spec.sheet->vendor == 'N'   ? ON_GPU | ON_NVIDIA
                 : spec.sheet->vendor == 'A' ? ON_GPU | ON_AMD
                 : spec.sheet->vendor == 'G' ? ON_TPU
                                             : 0;
    if ((found & ON_GPU) != 0 && (trace_find_name(trace, STR("hipLaunchKernel"), &hip) ||
                                  trace_find_name(trace, STR("hipModuleLaunchKernel"), &hip)))
        found |= ON_AMD;
    if ((found & (ON_TPU | ON_OTHER)) != 0)
        found &= ~(unsigned)(ON_GPU | ON_NVIDIA | ON_AMD);
    return (found & ON_GPU) != 0 && (found & ON_AMD) == 0 ? found | ON_NVIDIA : found;
}

unsigned platform_of(const struct run_traces *run, struct arena *arena)
{
    unsigned found = 0;

    for (uint32_t host = 0; host < run->host_count; host++) {
        unsigned framework = framework_of(&run->hosts[host]);

        found |= framework | recorder_of(run->hosts[host].trace, framework) |
                 hardware_of(&run->hosts[host], arena);
    }
    if ((found & OF_SERVER) != 0)
        found &= ~(unsigned)(ON_JAX | ON_TORCH | ON_TF | BY_KINETO);
    return (found & (ON_GPU | ON_TPU | ON_OTHER)) == 0 ? found | ON_CPU : found;
}

/* False: the part's words are none that are known, so its braces are text. */
static bool holds(unsigned platform, struct str when, bool *ret)
{
    *ret = true;
    while (when.count > 0) {
        const char *plus = memchr(when.at, '+', when.count);
        size_t count = plus == NULL ? when.count : (size_t)(plus - when.at);
        struct str word = {.at = when.at, .count = count};
        bool turned = count > 0 && word.at[0] == '!', known = false;

        word = turned ? str_skip(word, 1) : word;
        for (size_t i = 0; i < COUNT(words); i++) {
            if (!str_equal(word, str_of(words[i].word)))
                continue;
            known = true;
            *ret &= ((platform & words[i].bit) != 0) != turned;
        }
        if (!known)
            return false;
        when = str_skip(when, plus == NULL ? count : count + 1);
    }
    return true;
}

struct str platform_fit(unsigned platform, struct str text, struct arena *arena)
{
    char *out = arena_array(arena, char, text.count + 1);
    size_t count = 0;

    while (text.count > 0) {
        const char *end = text.at[0] == '{' ? memchr(text.at, '}', text.count) : NULL;
        const char *colon = end == NULL ? NULL : memchr(text.at, ':', (size_t)(end - text.at));
        struct str when = {.at = text.at + 1,
                           .count = colon == NULL ? 0 : (size_t)(colon - text.at - 1)};
        bool shown;

        if (colon == NULL || when.count == 0 || !holds(platform, when, &shown)) {
            out[count++] = text.at[0];
            text = str_skip(text, 1);
            continue;
        }

        size_t part = (size_t)(end - colon - 1);

        if (shown)
            memcpy(out + count, colon + 1, part);
        count += shown ? part : 0;
        text = str_skip(text, (size_t)(end - text.at) + 1);
    }
    return (struct str){.at = out, .count = count};
}
