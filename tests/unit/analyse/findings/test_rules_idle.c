/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about idle devices where no step is marked, and what is advised where nothing says what the
 * host did. */
#include "unit/analyse/findings_of.h"

#include "analyse/findings/platform.h"

enum { MS = 1000000000 };

static track_id stream_of(struct made_run *run)
{
    return run_stream(run, "Stream #7", ROLE_NONE, 0);
}

/* A burst in a long capture: what lay before its first work and behind its last kept no device
 * waiting. A sample of a counter, which takes no time, is no work. */
static void only_between_works(void **state)
{
    (void)state;
    struct made_run run;

    run_begin(&run);
    track_id host = run_thread(&run, "python"), stream = stream_of(&run);
    run_slice(&run, host, 0, 1, "begin", KIND_HOST);
    run_slice(&run, host, INT64_C(2320) * MS, MS, "end", KIND_HOST);
    run_slice(&run, stream, INT64_C(60) * MS, 0, "P state", KIND_OTHER);
    run_slice(&run, stream, INT64_C(1145) * MS, 30 * (int64_t)MS, "gemm", KIND_COMPUTE);
    run_slice(&run, stream, INT64_C(1195) * MS, 30 * (int64_t)MS, "softmax", KIND_COMPUTE);
    run_finish(&run);

    const struct finding *idle = run_finding(&run, "device-idle");

    CHECK("found", idle != NULL);
    CHECK_INT("between the two, not the 2.26 s around them", idle->win_ps, 20 * (int64_t)MS);
    CHECK_HAS("and says so", str_c(run.made.arena, idle->text),
              "idle for 25 % of the time from their first to their last work");
    run_end(&run);

    run_begin(&run); /* one burst without a gap */
    host = run_thread(&run, "python"), stream = stream_of(&run);
    run_slice(&run, host, 0, INT64_C(2320) * MS, "serve", KIND_HOST);
    run_slice(&run, stream, INT64_C(1145) * MS, 67 * (int64_t)MS, "gemm", KIND_COMPUTE);
    run_finish(&run);
    CHECK_FINDS_NOT(&run, "device-idle");
    run_end(&run);
}

/* What was recorded is not asked for again. */
static void advice_is_of_what_lacks(void **state)
{
    static const struct {
        const char *what, *call, *says, *says_not;
    } rows[] = {
        {"nothing", NULL, "Nothing says what the host did", "were recorded"},
        {"its calls", "cuLaunchKernel", "The host's calls were recorded",
         "record the host's calls"},
        {"JAX's calls", "PjitFunction(f)", "record with the Python tracer", "host_tracer_level"},
        {"PyTorch's calls", "aten::mm", "look at the stacks", "ProfilerActivity"},
        {"Python", "$model.py:41 loss", "Python was recorded", "record with"},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id stream = stream_of(&run);
        if (rows[i].call != NULL)
            run_slice(&run, run_thread(&run, "main"), 0, 1, rows[i].call, KIND_HOST);
        run_slice(&run, stream, 0, MS, "gemm", KIND_COMPUTE);
        run_slice(&run, stream, 9 * (int64_t)MS, MS, "gemm", KIND_COMPUTE);
        run_finish(&run);

        const struct finding *idle = run_finding(&run, "device-idle");

        CHECK(rows[i].what, idle != NULL);
        CHECK_HAS(rows[i].what, str_c(run.made.arena, idle->remedy), rows[i].says);
        CHECK(rows[i].what, !str_contains(idle->remedy, str_of(rows[i].says_not)));
        run_end(&run);
    }
}

/* Who ran, on what, and who recorded: by names. */
static void platforms(void **state)
{
    static const struct {
        const char *what, *call, *stream, *format;
        unsigned want;
    } rows[] = {
        {"JAX", "PjitFunction(f)", "/device:GPU:0", "xplane",
         ON_JAX | ON_GPU | ON_NVIDIA | BY_XPROF},
        {"Kineto", "aten::mm", "stream 7 GPU", "chrome-json",
         ON_TORCH | ON_GPU | ON_NVIDIA | BY_KINETO},
        {"PyTorch below Nsight Systems", "aten::mm", "GPU", "nsys",
         ON_TORCH | ON_GPU | ON_NVIDIA | BY_NSYS},
        {"PyTorch/XLA on a TPU", "SyncTensorsGraph.4", "/device:TPU:0", "xplane",
         ON_TORCH | ON_TPU | BY_XPROF},
        {"CUDA alone", "cuLaunchKernel", "GPU", "nsys", ON_GPU | ON_NVIDIA | BY_NSYS},
        {"HIP alone", "hipLaunchKernel", "GPU", "perfetto", ON_GPU | ON_AMD},
        {"TensorFlow", "EagerKernelExecute", NULL, "xplane", ON_TF | ON_CPU | BY_XPROF},
        {"an engine of others", "VLLM::EngineCore", "/device:TPU:0", "chrome-json",
         OF_SERVER | ON_TPU},
        {"another accelerator", "PjitFunction(f)", "/device:XPU:0", "xplane",
         ON_JAX | ON_OTHER | BY_XPROF},
        {"Ascend", "aten::mm", "Ascend Hardware", "chrome-json", ON_TORCH | ON_OTHER | BY_KINETO},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct made_run run;

        run_begin(&run);
        track_id host = run_thread(&run, "main");
        run_slice(&run, host, 0, 10, rows[i].call, KIND_HOST);
        if (rows[i].stream != NULL)
            run_slice(&run, run_stream(&run, rows[i].stream, ROLE_NONE, 0), 0, 10, "gemm",
                      KIND_COMPUTE);
        run_finish(&run);
        run.made.trace.format = rows[i].format;
        CHECK_INT(rows[i].what, platform_of(&run.run, run.made.arena), rows[i].want);
        run_end(&run);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_between_works),
                                       cmocka_unit_test(advice_is_of_what_lacks),
                                       cmocka_unit_test(platforms)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
