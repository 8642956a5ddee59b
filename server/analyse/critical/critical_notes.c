/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer about the path must say beside its rows. */
#include <string.h>

#include "analyse/critical/critical_parts.h"
#include "analyse/scan/scan.h"

static double share(int64_t part_ps, int64_t of_ps)
{
    return of_ps > 0 ? 100.0 * (double)part_ps / (double)of_ps : 0;
}

static void note(struct answer_note *ret, uint32_t *count, const char *kind,
                 enum note_severity severity, struct str message, uint64_t how_many)
{
    ret[(*count)++] = (struct answer_note){
        .kind = kind, .severity = severity, .message = message, .count = how_many};
}

static bool has_threads(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].slice_count > 0 && tells_of_host(trace, id))
            return true;
    }
    return false;
}

/* What its recorder would have to be told; "": it is not known. */
static const char *remedy(const struct run_traces *run)
{
    const struct trace *trace;
    name_id name;

    if (run == NULL || run->host_count == 0)
        return "";
    trace = run->hosts[0].trace;
    if (strcmp(trace->format, "xplane") == 0 && !has_threads(trace))
        return ": it holds no threads of the host; record them with host_tracer_level=2";
    if (strcmp(trace->format, "xplane") == 0)
        return "; to explain it, record Python with python_tracer_level=1, or put "
               "jax.profiler.TraceAnnotation around the parts of the loop";
    if (strcmp(trace->format, "nsys-sqlite") == 0)
        return "; to explain it, record with nsys profile --trace=cuda,nvtx,osrt, and mark "
               "the parts of the loop with NVTX";
    if (strcmp(trace->format, "chrome-json") == 0 &&
        trace_find_name(trace, STR("python_function"), &name))
        return "";
    if (strcmp(trace->format, "chrome-json") == 0 &&
        trace_find_name(trace, STR("External id"), &name))
        return "; to explain it, profile with with_stack=True, or put "
               "torch.profiler.record_function around the parts of the loop";
    return "";
}

uint32_t critical_notes(const struct critical_doubts *doubts, struct arena *arena,
                        struct answer_note *ret)
{
    uint32_t count = 0;

    if (doubts->no_steps)
        note(ret, &count, "no-steps", NOTE_INFO,
             STR("the run has no steps: the path covers the whole run"), 1);
    if (doubts->step_count < doubts->step_count_all)
        note(ret, &count, "steps-sampled", NOTE_INFO,
             str_format(arena, "%u of %u steps are summed, evenly sampled", doubts->step_count,
                        doubts->step_count_all),
             doubts->step_count_all - doubts->step_count);
    if (doubts->unexplained_ps > 0)
        note(ret, &count, "unexplained",
             share(doubts->unexplained_ps, doubts->total_ps) > 10 ? NOTE_WARNING : NOTE_INFO,
             str_format(arena,
                        "%.1f %% of the time is unexplained: the profile records nothing for it%s",
                        share(doubts->unexplained_ps, doubts->total_ps), remedy(doubts->run)),
             1);
    if (doubts->likely_ps > 0)
        note(ret, &count, "likely", NOTE_INFO,
             str_format(arena,
                        "%.1f %% of the time depends on edges that are only likely: they are "
                        "inferred from times, since the profile holds no links for them",
                        share(doubts->likely_ps, doubts->total_ps)),
             1);
    if (doubts->cut_count > 0)
        note(ret, &count, "edges-cut", NOTE_WARNING,
             str_format(arena,
                        "%llu edges lead back in time, because clocks differ or times are coarse: "
                        "they are left out",
                        (unsigned long long)doubts->cut_count),
             doubts->cut_count);
    if (doubts->left_out_count > 0)
        note(ret, &count, "slices-left-out", NOTE_WARNING,
             STR("the step has more slices than a graph can hold: the deepest are counted with the "
                 "slices around them"),
             doubts->left_out_count);
    if (doubts->hosts_apart)
        note(ret, &count, "hosts-apart", NOTE_INFO,
             STR("the hosts have no common clock: waits of one host for another are not shown"), 1);
    return count;
}
