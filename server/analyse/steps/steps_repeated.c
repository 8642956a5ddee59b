/* Steps by what a host's thread did again and again. */
#include "analyse/steps/steps_parts.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

static bool is_upper(char letter)
{
    return letter >= 'A' && letter <= 'Z';
}

/* cuStreamSynchronize, cudaLaunchKernel, hipMemcpyAsync, ncclAllReduce: a driver's or a library's
 * call. */
static bool is_call(struct str name)
{
    static const char *const libraries[] = {"cu", "cuda", "hip", "hsa_", "nccl", "nvtx"};

    for (size_t i = 0; i < COUNT(libraries); i++) {
        size_t length = strlen(libraries[i]);

        if (str_starts(name, str_of(libraries[i])) && name.count > length &&
            (libraries[i][length - 1] == '_' || is_upper(name.at[length])))
            return true;
    }
    return false;
}

/* Can a name of a top-level slice stand for steps? Python frames, pool marks and calls of a driver
 * cannot. */
static bool may_repeat(struct str name)
{
    return name.count > 0 && !str_starts(name, STR("$")) && !str_starts(name, STR("end: ")) &&
           !str_contains(name, STR("::")) && !is_call(name);
}

/* A thread's lanes hold what others noted of it: calls of a driver, turns on a CPU. The program
 * itself speaks in NVTX alone. */
static bool is_noted_by_others(const struct trace *trace, const struct track *track)
{
    return track->parent != NO_TRACK && trace->tracks[track->parent].kind == TRACK_THREAD &&
           track->kind == TRACK_THREAD && !str_starts(trace_name(trace, track->name), STR("NVTX"));
}

static int64_t total_of(const struct trace *trace, const struct name_run *run)
{
    const slice_id *slices = trace_name_slices(trace, run);
    int64_t total_ps = 0;

    for (uint32_t at = 0; at < run->count; at++)
        ps_add(&total_ps, trace_slice(trace, slices[at]).dur_ps);
    return total_ps;
}

/* A top-level slice of a host's thread that comes at least three times, covers at least half of the
 * time from its first to its last, and that time a quarter of the trace. */
void find_repeated(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    const struct trace *trace = host->trace;
    const struct name_run *best = NULL;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats), from = list->count;
    int64_t best_ps = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t run_count;
        const struct name_run *runs = trace_name_runs(trace, stats[i].name, &run_count);

        if (stats[i].count < 3 || stats[i].count > STEPS_MAX || stats[i].total_ps <= best_ps ||
            !may_repeat(trace_name(trace, stats[i].name)))
            continue;
        for (uint32_t run = 0; run < run_count; run++) {
            const struct row *row = &trace->rows[runs[run].row];
            const slice_id *slices = trace_name_slices(trace, &runs[run]);
            int64_t total_ps;

            if (slices == NULL || runs[run].count < 3 || runs[run].count > STEPS_MAX ||
                row->depth != 0 || trace->tracks[row->track].device >= 0 ||
                trace->tracks[row->track].derived ||
                is_noted_by_others(trace, &trace->tracks[row->track]))
                continue;

            struct slice first = trace_slice(trace, slices[0]);
            struct slice last = trace_slice(trace, slices[runs[run].count - 1]);

            int64_t extent_ps = last.start_ps + last.dur_ps - first.start_ps;

            /* What all slices of the name take, those of one run cannot exceed. */
            if (extent_ps < (trace->end_ps - trace->start_ps) / 4 ||
                stats[i].total_ps < extent_ps / 2)
                continue;
            total_ps = run_count == 1 ? stats[i].total_ps : total_of(trace, &runs[run]);
            if (total_ps > best_ps && total_ps >= extent_ps / 2) {
                best = &runs[run];
                best_ps = total_ps;
            }
        }
    }
    for (uint32_t at = 0; best != NULL && at < best->count; at++) {
        struct slice slice = trace_slice(trace, trace_name_slices(trace, best)[at]);

        step_list_add(list, step_of(host, index, &slice));
    }
    step_list_settle(list, from);
}
