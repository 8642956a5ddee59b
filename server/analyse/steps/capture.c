/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the profiler's own calls at the ends of a trace.
 *
 *   python   start_trace |the program ............| stop_trace, which collects and writes
 */
#include "analyse/steps/capture.h"

#include "trace/names/by_name.h"

/* "$profiler.py:271 stop_trace", a frame of JAX's own module. */
static bool is_profilers(struct str name, const char *function)
{
    return str_starts(name, STR("$profiler.py:")) && str_ends(name, str_of(function));
}

static void narrow(const struct trace *trace, name_id name, bool starts, struct window *window)
{
    uint32_t count;
    const struct name_run *runs = trace_name_runs(trace, name, &count);

    for (uint32_t i = 0; i < count; i++) {
        const slice_id *slices = trace_name_slices(trace, &runs[i]);

        if (slices == NULL || runs[i].count == 0)
            continue;

        struct slice first = trace_slice(trace, slices[0]);
        struct slice last = trace_slice(trace, slices[runs[i].count - 1]);
        int64_t end_ps = first.start_ps + first.dur_ps;

        if (starts && end_ps > window->from_ps)
            window->from_ps = end_ps;
        if (!starts && last.start_ps < window->to_ps)
            window->to_ps = last.start_ps;
    }
}

struct window capture_window(const struct trace *trace)
{
    struct window whole = {trace->start_ps, trace->end_ps}, window = whole;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);

    for (uint32_t i = 0; i < count; i++) {
        struct str name = trace_name(trace, stats[i].name);
        bool starts = is_profilers(name, " start_trace");

        if (starts || is_profilers(name, " stop_trace"))
            narrow(trace, stats[i].name, starts, &window);
    }
    return window.from_ps < window.to_ps ? window : whole;
}
