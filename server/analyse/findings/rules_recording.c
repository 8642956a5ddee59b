/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about how it was recorded: what the recording itself costs, cuts, or cannot compare. */
#include "analyse/findings/findings.h"
#include "analyse/hlo/hlo.h"
#include "base/human.h"
#include "trace/names/by_name.h"

struct python { /* calls that the Python tracer recorded: "$model.py:41 loss" */
    uint64_t calls;
    struct name_stats most; /* the name that was called most */
};

static struct python python_of(const struct trace *trace)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);
    struct python ret = {0};

    for (uint32_t i = 0; i < count; i++) {
        if (!str_starts(trace_name(trace, stats[i].name), STR("$")))
            continue;
        ret.calls += stats[i].count;
        if (stats[i].count > ret.most.count)
            ret.most = stats[i];
    }
    return ret;
}

enum { PYTHON_CALLS_MIN = 1000, PYTHON_SHARE_MIN = 10 /* % of all slices */ };

static enum status find_python(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct trace *trace = memo->run->hosts[host].trace;
        struct python python = python_of(trace);
        int64_t hull_ps = trace->end_ps - trace->start_ps;

        if (python.calls < PYTHON_CALLS_MIN ||
            python.calls * 100 < trace->slice_count * PYTHON_SHARE_MIN)
            continue;

        double share = (double)python.calls / (double)trace->slice_count;
        struct finding finding = {
            .severity = SEVERITY_INFO,
            .confidence = CONFIDENCE_HIGH,
            .text = str_format(
                memo->arena,
                "The Python tracer recorded %s calls, %s of all slices, %s per second: host times "
                "are longer than without the tracer.",
                human_count(python.calls).text, human_share(share).text,
                hull_ps > 0
                    ? human_count((uint64_t)((double)python.calls * 1e12 / (double)hull_ps)).text
                    : "unknown"),
            .remedy = STR(
                "For times of the host record again {jax:with `python_tracer_level = 0` in "
                "`jax.profiler.ProfileOptions`}{kineto:without `with_stack`}{!jax+!kineto:without "
                "the Python tracer}; keep the tracer to see who calls."),
            .win_reason = STR("what a recorded call costs is not in the file"),
        };

        finding_prove_count(&finding, "calls recorded", python.calls)->host = host;
        struct evidence *proof =
            finding_prove_count(&finding, "calls of the most called", python.most.count);
        proof->host = host;
        proof->view = "ops";
        proof->by = "name";
        proof->find = trace_name(trace, python.most.name);
        findings_add(list, &finding);
    }
    return OK;
}

enum { DENSE_SLICES_MIN = 20000, DENSE_PER_MS_MIN = 200 };

/* A thread that records a slice every few microseconds spends part of its time recording. */
static enum status find_dense(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct trace *trace = memo->run->hosts[host].trace;

        for (track_id id = 0; id < trace->track_count; id++) {
            const struct track *track = &trace->tracks[id];
            int64_t hull_ps = track->end_ps - track->start_ps;

            if (track->kind != TRACK_THREAD || track->device >= 0 || track->derived ||
                track->slice_count < DENSE_SLICES_MIN || hull_ps <= 0 ||
                (double)track->slice_count * 1e9 < (double)hull_ps * DENSE_PER_MS_MIN)
                continue;

            int64_t each_ps = hull_ps / (int64_t)track->slice_count;
            struct finding finding = {
                .severity = SEVERITY_WARNING,
                .confidence = CONFIDENCE_MEDIUM,
                .text = str_format(memo->arena,
                                   "Thread %.*s recorded %s slices in %s, one every %s: much of "
                                   "that time is the recording itself.",
                                   STR_ARG(trace_name(trace, track->name)),
                                   human_count(track->slice_count).text, human_ps(hull_ps).text,
                                   human_ps(each_ps).text),
                .remedy = STR(
                    "{jax+!nsys:Lower `host_tracer_level` (2 is the default, 1 keeps annotations), "
                    "switch `python_tracer_level` off, and take `TraceAnnotation` out of inner "
                    "loops.}{kineto:Record without `with_stack` and `record_shapes`, and take "
                    "`record_function` out of inner loops.}{!kineto+!jax:Take ranges out of inner "
                    "loops.}{jax+nsys:Take ranges out of inner loops.}"),
                .win_reason = STR("what a recorded slice costs is not in the file"),
            };

            struct evidence *proof = finding_prove_count(&finding, "slices", track->slice_count);
            proof->host = host;
            proof->track = id;
            findings_add(list, &finding);
        }
    }
    return OK;
}

/* JAX keeps JAX_TRACEBACK_IN_LOCATIONS_LIMIT calls of each stack, 10 unless told otherwise. */
enum { FRAMES_KEPT = 10, FRAMES_FOLLOWED = 64, CUT_MIN = 20, BLOB_BYTES_MAX = 16 << 20 };

static uint32_t stack_depth(const struct hlo_frames *frames, uint64_t id)
{
    struct hlo_frame frame;
    uint32_t depth = 0;

    while (id != 0 && depth < FRAMES_FOLLOWED && hlo_frame_get(frames, id, &frame)) {
        id = frame.parent;
        depth++;
    }
    return depth;
}

struct depths { /* of the instructions of a module */
    uint32_t with_stack, at_limit, deeper;
};

static struct depths depths_of(const struct hlo_module *module)
{
    struct depths ret = {0};

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        uint64_t frame = module->instructions[i].frame;
        uint32_t depth = frame == 0 ? 0 : stack_depth(&module->frames, frame);

        ret.with_stack += depth > 0;
        ret.at_limit += depth == FRAMES_KEPT;
        ret.deeper += depth > FRAMES_KEPT;
    }
    return ret;
}

/* Of the module that took most time: its HLO is the one that people read. */
static const struct hlo_listed *longest(const struct hlo_modules *modules)
{
    const struct hlo_listed *ret = NULL;

    for (uint32_t i = 0; i < modules->count; i++) {
        const struct hlo_listed *listed = &modules->items[i];

        if (listed->is_measured && listed->copy_count > 0 &&
            listed->copies[0].program->blob_bytes <= BLOB_BYTES_MAX &&
            (ret == NULL || listed->self_ps > ret->self_ps))
            ret = listed;
    }
    return ret;
}

static enum status find_stacks_cut(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct hlo_modules modules;
    struct hlo_module module;

    hlo_modules(memo->run, memo->arena, &modules);
    const struct hlo_listed *listed = longest(&modules);
    if (listed == NULL)
        return OK;
    TRY(hlo_open(memo->run, listed, memo->arena, &module, err));

    struct depths depths = depths_of(&module);

    if (depths.deeper > 0 || depths.at_limit < CUT_MIN || depths.at_limit * 4 < depths.with_stack)
        return OK;

    struct finding finding = {
        .severity = SEVERITY_INFO,
        .confidence = CONFIDENCE_HIGH,
        .text = str_format(memo->arena,
                           "%s of %s instructions of %.*s have exactly %d frames in their stack: "
                           "the outer frames, often the model's own lines, were cut off.",
                           human_count(depths.at_limit).text, human_count(depths.with_stack).text,
                           STR_ARG(listed->name), FRAMES_KEPT),
        .remedy =
            STR("{jax:Set `JAX_TRACEBACK_IN_LOCATIONS_LIMIT=-1` (or 50) before the program "
                "starts, and record again.}{!jax:Keep more calls of each op's stack, and record "
                "again.}"),
    };

    struct evidence *proof = finding_prove_count(&finding, "instructions cut", depths.at_limit);
    proof->view = "hlo";
    proof->module = listed->key;
    findings_add(list, &finding);
    return OK;
}

static enum status find_clocks(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct run_traces *run = memo->run;
    struct str without = STR("");
    uint32_t count = 0;

    (void)err;
    for (uint32_t host = 0; host < run->host_count; host++) {
        if (run->hosts[host].trace->has_epoch)
            continue;
        if (count++ == 0)
            without = run->hosts[host].name;
    }
    if (run->host_count < 2 || count == 0)
        return OK;

    struct finding finding = {
        .severity = SEVERITY_CRITICAL,
        .confidence = CONFIDENCE_HIGH,
        .text = str_format(memo->arena,
                           "%u of %u hosts record no wall-clock time (%.*s%s), so events side by "
                           "side on the timeline need not have happened at the same time.",
                           count, run->host_count, STR_ARG(without), count > 1 ? ", ..." : ""),
        .remedy = STR("Compare the hosts with `align=collectives`, which aligns the ends of common "
                      "collectives, or record with a profiler that writes `profile_start_time`."),
    };

    finding_prove_count(&finding, "hosts without a clock", count)->view = "hosts";
    findings_add(list, &finding);
    return OK;
}

const struct rule rules_recording[] = {
    {"python-tracer", "capture", "a tenth of the slices or more are calls of Python functions",
     find_python},
    {"dense-trace", "capture", "a host thread records 200 slices a millisecond or more",
     find_dense},
    {"source-stacks-cut", "capture",
     "a quarter of the instructions have exactly 10 frames in their stack, and none has more",
     find_stacks_cut},
    {"clock-unknown", "capture", "several hosts, one of them without a wall clock", find_clocks},
    {.name = NULL},
};
