/* SPDX-License-Identifier: Apache-2.0 */
/* Walks from a slice to what it waited for: its row, its track, its parents, arrows and
 * launches. */
#include "analyse/steps/chain.h"

enum {
    ROWS_MAX = 256,    /* lanes of one track that are looked at */
    INSTANTS_MAX = 64, /* markers that stand between two slices of a row */
};

struct candidate {
    slice_id slice; /* NO_SLICE: none yet */
    enum chain_via via;
    int64_t start_ps, ready_ps;
};

const char *chain_via_word(enum chain_via via)
{
    static const char *const words[] = {"before", "flow", "launch", "inside"};

    return words[via];
}

/* Later is better; of two that were ready at once the first that was looked at stays. */
static void consider(struct candidate *best, const struct slice *of, const struct slice *one,
                     enum chain_via via, int64_t ready_ps)
{
    if (one->start_ps >= of->start_ps || ready_ps > of->start_ps || ready_ps < one->start_ps)
        return;
    if (best->slice == NO_SLICE || ready_ps > best->ready_ps)
        *best = (struct candidate){one->id, via, one->start_ps, ready_ps};
}

/* It may go on beside what it sent: then it was ready when it sent it. */
static void consider_sender(const struct trace *trace, struct candidate *best,
                            const struct slice *of, slice_id sender, enum chain_via via,
                            int64_t sent_ps)
{
    if (sender >= trace->slice_count || sender == of->id)
        return;

    struct slice one = trace_slice(trace, sender);
    int64_t end_ps = one.start_ps + one.dur_ps;

    consider(best, of, &one, via, end_ps <= of->start_ps ? end_ps : sent_ps);
}

/* No slice comes twice, so that all of a chain's arrows are at most those of the trace. */
static void consider_flows(const struct trace *trace, struct candidate *best,
                           const struct slice *of)
{
    for (uint64_t i = flow_first_to(trace, of->id); i < trace->flow_count; i++) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[i]];

        if (flow->to != of->id)
            break;
        consider_sender(trace, best, of, flow->from, CHAIN_FLOW, flow->from_ps);
    }
}

static void consider_launch(const struct trace *trace, const struct attribution *attribution,
                            struct candidate *best, const struct slice *of)
{
    struct attributed room;
    const struct attributed *entry =
        attribution == NULL ? NULL : attribution_of(attribution, of->id, &room);

    if (entry == NULL || entry->launch >= trace->slice_count)
        return;

    struct slice call = trace_slice(trace, entry->launch);

    consider_sender(trace, best, of, call.id, CHAIN_LAUNCH, call.start_ps);
}

/* The last slice of the row that ended before this one began, where it lies in the same parent. */
static void consider_row(const struct trace *trace, struct candidate *best, const struct slice *of,
                         const struct row *row)
{
    uint32_t at = row_find(trace, row, of->start_ps);

    for (uint32_t seen = 0; at > 0 && seen < INSTANTS_MAX; at--, seen++) {
        struct slice one = trace_slice(trace, row->first_slice + at - 1);

        if (one.parent != of->parent)
            return;
        if (one.dur_ps > 0) {
            consider(best, of, &one, CHAIN_BEFORE, one.start_ps + one.dur_ps);
            return;
        }
    }
}

static void consider_track(const struct trace *trace, struct candidate *best,
                           const struct slice *of)
{
    const struct track *track = &trace->tracks[trace->rows[of->row].track];

    for (uint32_t i = 0; i < track->row_count && i < ROWS_MAX; i++)
        consider_row(trace, best, of, &trace->rows[track->first_row + i]);
}

/* Before the slice around it began nothing inside could. */
static void consider_around(const struct trace *trace, struct candidate *best,
                            const struct slice *of)
{
    if (of->parent >= trace->slice_count || of->parent == of->id)
        return;

    struct slice around = trace_slice(trace, of->parent);
    int64_t start_ps = around.start_ps;

    if (start_ps <= of->start_ps && (best->slice == NO_SLICE || start_ps > best->ready_ps))
        *best = (struct candidate){around.id, CHAIN_INSIDE, start_ps, start_ps};
}

static bool find_before(const struct trace *trace, const struct attribution *attribution,
                        const struct slice *of, struct candidate *ret)
{
    *ret = (struct candidate){.slice = NO_SLICE};
    consider_flows(trace, ret, of);
    consider_launch(trace, attribution, ret, of);
    consider_track(trace, ret, of);
    consider_around(trace, ret, of);
    return ret->slice != NO_SLICE;
}

uint32_t chain_find(const struct trace *trace, const struct attribution *attribution,
                    slice_id focus, uint32_t most, struct chain_link *links, bool *ret_more)
{
    struct slice at = trace_slice(trace, focus);
    struct candidate before;
    uint32_t count = 0;

    /* Begins descend, or, into the slice around, depths do: no slice comes twice. */
    while ((*ret_more = find_before(trace, attribution, &at, &before)) && count < most) {
        links[count++] = (struct chain_link){.slice = before.slice,
                                             .via = before.via,
                                             .covered_ps = before.ready_ps - before.start_ps,
                                             .gap_ps = at.start_ps - before.ready_ps};
        at = trace_slice(trace, before.slice);
    }
    return count;
}
