/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about what the recording lacks, and which figures that leaves open. */
#include "analyse/findings/findings.h"
#include "analyse/stats/map64.h"
#include "analyse/table.h"
#include "base/human.h"

struct shape {              /* of a host's trace, as far as devices go */
    bool is_profile;        /* of an XLA program, not any trace */
    uint32_t device_tracks; /* planes of devices */
    uint64_t device_slices, derived_slices;
    bool has_ops, has_dispatch;
    bool on_processor; /* TensorFlow's runtime ran its ops on host threads */
};

static bool has_name_starting(const struct trace *trace, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        name_id id;

        if (trace_find_name(trace, str_of(names[i]), &id))
            return true;
    }
    return false;
}

static struct shape shape_of(const struct host_trace *host)
{
    static const char *const dispatches[] = {"PjitFunction",
                                             "ParseArguments",
                                             "PjRtCApiLoadedExecutable::Execute",
                                             "PjRtStreamExecutorLoadedExecutable::Execute",
                                             "TfrtCpuExecutable::Execute",
                                             "PjRtCpuExecutable::Execute",
                                             "cuLaunchKernel",
                                             "cuLaunchKernelEx",
                                             "cudaLaunchKernel",
                                             "hipLaunchKernel",
                                             "hipModuleLaunchKernel"};
    static const char *const runtimes[] = {"EagerKernelExecute", "ExecutorState::Process",
                                           "FunctionRun"};
    const struct trace *trace = host->trace;
    struct shape shape = {.has_ops =
                              host->attribution != NULL && host->attribution->entry_count > 0};

    shape.has_dispatch = has_name_starting(trace, dispatches, COUNT(dispatches));
    shape.on_processor = has_name_starting(trace, runtimes, COUNT(runtimes));
    /* A timeline of other programs may launch kernels and say nothing of devices. */
    shape.is_profile = strcmp(trace->format, "xplane") == 0 ||
                       strncmp(trace->format, "nsys", 4) == 0 || trace->program_count > 0 ||
                       (shape.has_dispatch && strcmp(trace->format, "perfetto") != 0);
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        /* Some formats name no device; what they call a stream is one's all the same. */
        if (track->device < 0 && track->kind != TRACK_STREAM)
            continue;
        shape.device_tracks += track->kind == TRACK_DEVICE;
        if (track->derived)
            shape.derived_slices += track->slice_count;
        else
            shape.device_slices += track->slice_count;
    }
    return shape;
}

static void tell_no_device(struct memo *memo, uint32_t host, const struct shape *shape,
                           struct finding_list *list)
{
    bool planes = shape->device_tracks > 0;
    struct finding finding = {
        .severity = SEVERITY_CRITICAL,
        .confidence = planes || shape->has_dispatch ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
    };

    finding.text = text_on_host(
        memo, host,
        "no device work was recorded%s; op times, busy shares and kernels are unknown, not zero.",
        planes                ? ", although the file has planes of devices"
        : shape->has_dispatch ? ", although programs were dispatched"
                              : ", and no program was dispatched while it recorded");
    finding.remedy =
        planes
            ? STR("{nvidia:Look for another profiler on the device (`nsys`, `ncu`, DCGM), for "
                  "permission to use its counters (`NVreg_RestrictProfilingToAdminUsers=0`), and "
                  "let}{amd:Look for another profiler on the device (`rocprofv3`), and "
                  "let}{tpu:Capture shorter, 10 to 20 steps: the buffers of a TPU hold a few "
                  "seconds, and what does not fit is gone. Let}{!nvidia+!amd+!tpu:Let} the capture "
                  "last until a step has ended{jax: (`jax.block_until_ready`)}.")
        : shape->has_dispatch
            ? STR("{jax+!nsys:Leave `device_tracer_level` at 1, and block on a result "
                  "(`jax.block_until_ready`) before `stop_trace()`.}{jax+nsys:Record CUDA "
                  "(`nsys profile -t cuda,nvtx`), and block on a result "
                  "(`jax.block_until_ready`) before the recording stops.}{kineto:Record with "
                  "`ProfilerActivity.CUDA`, and call `torch.cuda.synchronize()` before the "
                  "recording stops.}{!jax+!kineto:Record the device, too, and wait for its work "
                  "before the recording stops.}")
            : STR("Start the capture before the work and stop it after "
                  "{jax:`jax.block_until_ready(result)`}{!jax:its results are there}.");
    finding_prove_count(&finding, "device planes", shape->device_tracks)->host = host;
    finding_prove_count(&finding, "slices on hosts", memo->run->hosts[host].trace->slice_count)
        ->host = host;
    findings_add(list, &finding);
}

static enum status find_no_device(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        struct shape shape = shape_of(&memo->run->hosts[host]);

        bool none = !shape.has_ops && shape.device_slices == 0 && shape.derived_slices == 0;

        /* Without any plane of a device the processor is all there is. */
        if (shape.is_profile && none && !(shape.on_processor && shape.device_tracks == 0))
            tell_no_device(memo, host, &shape, list);
    }
    return OK;
}

static enum status find_derived_only(struct memo *memo, struct finding_list *list,
                                     struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        struct shape shape = shape_of(&memo->run->hosts[host]);

        if (shape.device_slices > 0 || shape.derived_slices == 0)
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_HIGH,
            .text = text_on_host(memo, host,
                                 "all %s slices of devices are on lines that a tool derived; the "
                                 "file does not hold what the devices recorded themselves.",
                                 human_count(shape.derived_slices).text),
            .remedy = STR("Open the .xplane.pb that the tool read; derived lines are shown but "
                          "never summed."),
        };

        finding_prove_count(&finding, "derived slices", shape.derived_slices)->host = host;
        findings_add(list, &finding);
    }
    return OK;
}

/* XLA ran: ops name modules, or a track holds their executions. */
static bool has_modules(const struct host_trace *host)
{
    for (uint32_t i = 0; host->attribution != NULL && i < host->attribution->op_count; i++) {
        if (host->attribution->ops[i].module != 0 && host->attribution->ops[i].caller == 0)
            return true;
    }
    for (track_id id = 0; id < host->trace->track_count; id++) {
        if (host->trace->tracks[id].role == ROLE_MODULES && host->trace->tracks[id].slice_count > 0)
            return true;
    }
    return false;
}

static enum status find_no_hlo(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (uint32_t i = 0; i < memo->run->other_count; i++) {
        if (memo->run->others[i].trace->program_count > 0)
            return OK;
    }
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct trace *trace = memo->run->hosts[host].trace;
        bool json = strcmp(trace->format, "xplane") != 0;

        if (trace->program_count > 0 || !has_modules(&memo->run->hosts[host]))
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_HIGH,
            .text = text_on_host(memo, host,
                                 "the profile holds no HLO, so FLOPs, bytes, shapes and the "
                                 "source of most ops are unknown."),
            .remedy =
                json ? STR("Open the .xplane.pb of the same session instead; or put the dump of "
                           "`XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_proto` beside it.")
                     : STR("Record with `enable_hlo_proto` on (the default), or put the dump of "
                           "`XLA_FLAGS=--xla_dump_to=DIR --xla_dump_hlo_as_proto` beside the "
                           "profile."),
        };

        const struct attribution *of = memo->run->hosts[host].attribution;

        if (of != NULL) {
            struct evidence *proof = finding_prove_count(&finding, "ops without HLO", of->op_count);

            proof->host = host;
            proof->view = "ops";
        }
        findings_add(list, &finding);
    }
    return OK;
}

/* Devices with slices of their own on any of their tracks. */
static struct map64 devices_at_work(const struct trace *trace)
{
    struct map64 ret = {0};

    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].slice_count > 0)
            map64_at(&ret, (uint32_t)trace->tracks[id].device, 1);
    }
    return ret;
}

/* Devices that the file has a plane of, and that did nothing; only where others of the host did. */
static enum status find_unused(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct trace *trace = memo->run->hosts[host].trace;
        struct map64 worked = devices_at_work(trace);
        uint32_t all = 0, unused = 0, any;
        struct str first = STR("");

        for (track_id id = 0; id < trace->track_count; id++) {
            if (trace->tracks[id].kind != TRACK_DEVICE || trace->tracks[id].device < 0)
                continue;
            all++;
            if (map64_get(&worked, (uint32_t)trace->tracks[id].device, &any))
                continue;
            if (unused++ == 0)
                first = trace_name(trace, trace->tracks[id].name);
        }
        map64_free(&worked);
        if (unused == 0 || unused == all)
            continue;

        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = CONFIDENCE_MEDIUM,
            .text = text_on_host(memo, host, "%u of %u devices ran nothing in the capture.", unused,
                                 all),
            .remedy = STR(
                "Shard the work over them{jax: (`jax.sharding.Mesh`, `jax.jit` with "
                "`in_shardings`)}, or hide them{nvidia: (`CUDA_VISIBLE_DEVICES`)}{amd: "
                "(`HIP_VISIBLE_DEVICES`)}{tpu: (`TPU_VISIBLE_CHIPS`)} and leave them to others."),
            .win_reason = STR("how well the work can be divided is not in the file"),
        };

        finding_prove(&finding, "the first of them", cell_text(first), UNIT_TEXT)->host = host;
        findings_add(list, &finding);
    }
    return OK;
}

/* "no step annotation: repeated executions ..." -> "repeated executions ...": that none is marked
 * was just said. */
static struct str without_no(struct str text)
{
    for (size_t at = 0; str_starts(text, STR("no ")) && at + 1 < text.count; at++) {
        if (text.at[at] == ':' && text.at[at + 1] == ' ')
            return str_skip(text, at + 2);
    }
    return text;
}

static void tell_no_steps(struct memo *memo, const struct steps *steps, struct finding_list *list)
{
    bool none = steps->rule == STEP_NONE;
    struct finding finding = {
        .severity = none ? SEVERITY_WARNING : SEVERITY_INFO,
        .confidence = CONFIDENCE_HIGH,
        .text = none ? STR("No steps are marked and none can be inferred with confidence, so there "
                           "is no step time, and shares are of the whole capture.")
                     : str_format(memo->arena,
                                  "No steps are marked; what counts as one is inferred: "
                                  "%.*s.",
                                  STR_ARG(without_no(steps->rule_text))),
        .remedy = STR(
            "{jax+!nsys:Wrap the body of the loop: `with "
            "jax.profiler.StepTraceAnnotation(\"train\", step_num=i):`; or "
            "name}{kineto:Call "
            "`prof.step()` at the end of each step; or name}{torch+xprof:Wrap the body of the "
            "loop: "
            "`with torch_xla.debug.profiler.StepTrace(\"train\", step_num=i):`; or "
            "name}{tf+xprof:Wrap the body of the loop: `with "
            "tf.profiler.experimental.Trace(\"train\", step_num=i, _r=1):`; or "
            "name}{nsys+!server:Put an NVTX range around the body of the loop}{nsys+torch: "
            "(`torch.cuda.nvtx.range`)}{nsys+!server:; or "
            "name}{server:Name}{xprof+!jax+!torch+!tf+!server:Put a "
            "range around the body of the loop; or name}{!jax+!kineto+!xprof+!nsys+!server:Put a "
            "range around the body of the loop; or name} a slice that repeats with `step_regex`."),
    };

    finding_prove_count(&finding, "steps", steps->count)->view = "steps";
    findings_add(list, &finding);
}

/* Of a JAX or XLA program; other timelines have no steps to miss. */
static bool any_profile(const struct run_traces *run)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        struct shape shape = shape_of(&run->hosts[host]);

        if (shape.is_profile || shape.has_ops)
            return true;
    }
    return false;
}

static enum status find_no_steps(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct steps *steps;

    TRY(memo_steps(memo, &steps, err));
    if (steps->rule != STEP_ANNOTATION && steps->rule != STEP_LINE && any_profile(memo->run))
        tell_no_steps(memo, steps, list);
    return OK;
}

enum { STEPS_ENOUGH = 3 };

static enum status find_too_short(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct counted *counted;
    const struct steps *steps;

    TRY(memo_counted(memo, &counted, err));
    TRY(memo_steps(memo, &steps, err));

    uint32_t hosts = 0;

    for (uint32_t i = 0; i < memo->run->host_count; i++)
        hosts += counted->window_counts[i] > 0;
    /* Asked for on purpose, few steps are no fault of the capture. */
    if (!counted->of_steps || hosts == 0 || memo->restriction->has_window ||
        memo->restriction->step_range_count > 0 || counted->step_count >= STEPS_ENOUGH * hosts)
        return OK;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_HIGH,
        .text = str_format(
            memo->arena,
            "Only %u step%s counted%s%s: too few for a meaningful median, spread or outlier.",
            counted->step_count / hosts, counted->step_count / hosts == 1 ? " is" : "s are",
            hosts > 1 ? " on each host" : "",
            steps->warmup_count == 0 ? "" : ", the others are warm-up steps"),
        .remedy = STR("Record 10 to 20 steps after the first two, which compile and warm up."),
    };

    finding_prove_count(&finding, "counted steps", counted->step_count)->view = "steps";
    findings_add(list, &finding);
    return OK;
}

const struct rule rules_missing[] = {
    {"no-device-events", "capture", "a JAX or XLA profile without any device work", find_no_device},
    {"derived-lines-only", "capture", "all lines of devices were derived by a tool",
     find_derived_only},
    {"no-hlo", "capture", "ops of XLA modules, but no HLO in the run", find_no_hlo},
    {"unused-devices", "capture", "one device did no work while another did", find_unused},
    {"no-step-markers", "capture", "no step annotation and no Steps line", find_no_steps},
    {"capture-too-short", "capture", "fewer than 3 counted steps per host", find_too_short},
    {.name = NULL},
};
