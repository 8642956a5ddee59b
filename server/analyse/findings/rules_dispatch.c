/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about calls of compiled functions: what they cost the host against what they run. */
#include <stdlib.h>

#include "analyse/device/call_names.h"
#include "analyse/findings/findings.h"
#include "analyse/stats/map64.h"
#include "analyse/stats/stats.h"
#include "base/human.h"
#include "trace/names/by_name.h"

enum { CALLS_MIN = 20, DISPATCHES_MIN = 3 };

struct called { /* one jitted function of a host */
    struct str function;
    const struct name_stats *stats; /* of PjitFunction(function) */
    uint64_t call_count;            /* of those the ones that are in no other */
    int64_t call_p50_ps;            /* of these */
    uint64_t execution_count;       /* of its program; one run on several devices is one */
    int64_t execution_p50_ps;       /* from its first op to its last */
};

enum { LOOKS_MAX = 100000 /* at parents, of one function */, ALL_LOOKS_MAX = 1 << 27 };

/* What runs on all devices at once has one number where the file tells any; so a call on each of
 * two devices is two runs, and one over both is one. */
static void measure_executions(const struct host_trace *host, struct called *called)
{
    const struct attribution *of = host->attribution;
    int64_t *durs_ps = memory_resize(NULL, (size_t)of->execution_count + 1, sizeof *durs_ps);
    struct map64 runs = {0};
    uint64_t count = 0;

    for (uint32_t i = 0; i < of->execution_count; i++) {
        const struct execution *execution = &of->executions[i];

        if (execution->program == NO_PROGRAM || execution->end_ps <= execution->start_ps ||
            !call_runs_program(
                trace_name(host->trace, host->trace->programs[execution->program].name),
                called->function))
            continue;

        durs_ps[count++] = execution->end_ps - execution->start_ps;
        map64_at(&runs, execution->run_id, 1);
    }
    called->execution_count = runs.count;
    map64_free(&runs);
    called->execution_p50_ps = count > 0 ? median_of(durs_ps, (uint32_t)count) : 0;
    free(durs_ps);
}

/* A call may be two spans, one in the other: the fast path's and that behind it. And a call inside
 * of another function's is traced into that, and never executed by itself. Frames of Python may
 * stand in between. */
static bool is_inside_a_call(const struct trace *trace, struct slice slice, uint64_t *looks_left)
{
    while (slice.parent != NO_SLICE && *looks_left > 0) {
        struct str function;

        --*looks_left;
        slice = trace_slice(trace, slice.parent);
        if (call_function(trace_name(trace, slice.name), &function))
            return true;
    }
    return false;
}

/* Where nothing is left to look further, calls count as those that are in no other. */
static void measure_calls(const struct trace *trace, struct called *called, uint64_t *all_left)
{
    const struct name_stats *stats = called->stats;
    uint32_t run_count;
    const struct name_run *runs = trace_name_runs(trace, stats->name, &run_count);
    uint64_t most = *all_left < LOOKS_MAX ? *all_left : LOOKS_MAX, looks_left = most;
    uint64_t inside = 0, outer = 0;
    uint64_t kept = stats->count < most ? stats->count : most;
    int64_t *durs_ps = memory_resize(NULL, (size_t)kept + 1, sizeof *durs_ps);

    for (uint32_t run = 0; run < run_count && looks_left > 0; run++) {
        const slice_id *slices = trace_name_slices(trace, &runs[run]);

        for (uint32_t i = 0; slices != NULL && i < runs[run].count && looks_left > 0; i++) {
            struct slice slice = trace_slice(trace, slices[i]);

            looks_left--;
            if (is_inside_a_call(trace, slice, &looks_left))
                inside++;
            else if (outer < kept)
                durs_ps[outer++] = slice.dur_ps;
        }
    }
    *all_left -= most - looks_left;
    called->call_count = stats->count - inside;
    called->call_p50_ps = inside > 0 ? median_of(durs_ps, (uint32_t)outer) : stats->p50_ps;
    free(durs_ps);
}

typedef void see_called(struct memo *memo, uint32_t host, const struct called *called,
                        struct finding_list *list);

/* Of more functions than any program has, the first. */
static enum status each_called(struct memo *memo, struct finding_list *list, see_called *see)
{
    uint64_t left = ALL_LOOKS_MAX;

    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        const struct host_trace *at = &memo->run->hosts[host];
        const struct name_stats *stats;
        uint32_t count = trace_name_stats(at->trace, &stats);

        for (uint32_t i = 0; at->attribution != NULL && i < count; i++) {
            struct called called = {.stats = &stats[i]};

            if (stats[i].count < DISPATCHES_MIN ||
                !call_function(trace_name(at->trace, stats[i].name), &called.function))
                continue;

            uint64_t looks = (uint64_t)at->attribution->execution_count + at->trace->program_count;

            if (left < looks)
                break;
            left -= looks;
            measure_calls(at->trace, &called, &left);
            measure_executions(at, &called);
            see(memo, host, &called, list);
        }
    }
    return OK;
}

static struct evidence *prove_call(struct finding *finding, uint32_t host, const char *what,
                                   int64_t ps, const struct memo *memo, const struct called *called)
{
    struct evidence *evidence = finding_prove_ps(finding, what, ps);

    evidence->host = host;
    evidence->find = trace_name(memo->run->hosts[host].trace, called->stats->name);
    return evidence;
}

static void see_short(struct memo *memo, uint32_t host, const struct called *called,
                      struct finding_list *list)
{
    int64_t call_ps = called->call_p50_ps, run_ps = called->execution_p50_ps;

    if (called->call_count < CALLS_MIN || called->execution_count < CALLS_MIN || run_ps == 0 ||
        call_ps / 2 < run_ps)
        return;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = text_on_host(memo, host,
                             "A call of %.*s takes the host %s, and its ops take %s: %s calls take "
                             "longer to launch than to run.",
                             STR_ARG(called->function), human_ps(call_ps).text,
                             human_ps(run_ps).text, human_count(called->call_count).text),
        .remedy =
            str_format(memo->arena,
                       "Call it less often with more work each time: turn the loop around `%.*s` "
                       "into `lax.scan` or `lax.fori_loop`, use `vmap`, or jit its caller.",
                       STR_ARG(called->function)),
    };

    finding_win(&finding, ps_times(call_ps - run_ps, called->call_count));
    prove_call(&finding, host, "median call", call_ps, memo, called);
    prove_call(&finding, host, "median execution", run_ps, memo, called);
    findings_add(list, &finding);
}

static enum status find_short_calls(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    return each_called(memo, list, see_short);
}

static void see_unblocked(struct memo *memo, uint32_t host, const struct called *called,
                          struct finding_list *list)
{
    const struct attribution *of = memo->run->hosts[host].attribution;
    const struct trace *trace = memo->run->hosts[host].trace;
    bool has_program = false;

    for (program_id i = 0; i < trace->program_count && !has_program; i++)
        has_program =
            call_runs_program(trace_name(trace, trace->programs[i].name), called->function);
    if (!has_program || of->entry_count == 0 || called->call_count < DISPATCHES_MIN ||
        2 * called->execution_count > called->call_count)
        return;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = text_on_host(memo, host,
                             "Of %s calls of %.*s the capture holds %s executions: the rest were "
                             "still queued when recording stopped, or were not recorded.",
                             human_count(called->call_count).text, STR_ARG(called->function),
                             human_count(called->execution_count).text),
        .remedy = STR("Wait for the results before the recording stops: "
                      "`jax.block_until_ready(result)`, then `jax.profiler.stop_trace()`."),
        .win_reason = STR("it hides time, but costs none"),
    };
    struct evidence *evidence = finding_prove_count(&finding, "calls", called->call_count);

    evidence->host = host;
    evidence->find = trace_name(trace, called->stats->name);
    finding_prove_count(&finding, "executions", called->execution_count);
    findings_add(list, &finding);
}

static enum status find_unblocked(struct memo *memo, struct finding_list *list, struct error *err)
{
    (void)err;
    return each_called(memo, list, see_unblocked);
}

const struct rule rules_dispatch[] = {
    {.name = "calls-shorter-than-dispatch",
     .theme = "launch",
     .when = "the median call of a jitted function takes the host twice as long as its ops take, "
             "or longer",
     .find = find_short_calls},
    {.name = "nothing-blocked",
     .theme = "launch",
     .when = "a jitted function was called at least twice as often as the capture shows it running",
     .find = find_unblocked},
    {0},
};
