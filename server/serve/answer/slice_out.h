/* SPDX-License-Identifier: Apache-2.0 */
/* Slices as rows of a reply. */
#ifndef JVIEWD_SERVE_ANSWER_SLICE_OUT_H
#define JVIEWD_SERVE_ANSWER_SLICE_OUT_H

#include "serve/answer/table_out.h"

static inline int64_t run_time(const struct host_trace *host, int64_t file_ps)
{
    int64_t sum;

    return __builtin_add_overflow(file_ps, host->offset_ps, &sum) ? file_ps : sum;
}
static inline int64_t file_time(const struct host_trace *host, int64_t run_ps)
{
    int64_t difference;

    /* Far outside of every trace either way. */
    if (!__builtin_sub_overflow(run_ps, host->offset_ps, &difference))
        return difference;
    return run_ps < 0 ? INT64_MIN : INT64_MAX;
}

struct slice_place { /* one slice of a run */
    uint32_t host;
    slice_id slice;
};

/* id, track, depth, start_ps, dur_ps, self_ps, name, kind, flags: without the braces. */
void json_put_slice_members(struct json *json, struct arena *arena, const struct host_trace *host,
                            const struct slice *slice);
/* "instant cut" */
struct str slice_flags_text(struct arena *arena, unsigned flags);
/* The same rows for CSV and Markdown. */
struct table slice_table(struct arena *arena, const struct run_traces *run,
                         const struct slice_place *places, uint32_t count);

#endif
