/* SPDX-License-Identifier: Apache-2.0 */
/* Replays the steps of a run as they were and as they would be. */
#include "analyse/critical/whatif.h"

#include <stdlib.h>

#include "analyse/critical/critical_parts.h"
#include "trace/ps.h"

enum { LOST_PARTS = 3 }; /* a third of what changes may lead nowhere before an answer is in doubt */

static int by_value(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return (a > b) - (a < b);
}

/* The mean of the two in the middle of an even number. */
static int64_t median_of(int64_t *values, uint32_t count)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, by_value);
    return count % 2 == 1 ? values[count / 2]
                          : ps_mean(ps_sum(values[count / 2 - 1], values[count / 2]), 2);
}

static void find_medians(struct whatif *whatif, struct arena *arena)
{
    int64_t *values = arena_array(arena, int64_t, (size_t)whatif->count + 1);
    int64_t *const medians[] = {&whatif->recorded_ps, &whatif->replayed_ps, &whatif->predicted_ps};

    for (size_t k = 0; k < COUNT(medians); k++) {
        for (uint32_t i = 0; i < whatif->count; i++) {
            const struct whatif_step *step = &whatif->steps[i];

            values[i] = k == 0   ? step->recorded_ps
                        : k == 1 ? step->replayed_ps
                                 : step->predicted_ps;
        }
        *medians[k] = median_of(values, whatif->count);
    }
}

static void find_bound(struct whatif *whatif)
{
    uint32_t counts[PIECE_KINDS] = {0};
    int best = PIECE_UNEXPLAINED;

    for (uint32_t i = 0; i < whatif->count; i++)
        counts[whatif->steps[i].bound_by]++;
    for (int kind = 0; kind < PIECE_KINDS; kind++)
        best = counts[kind] > counts[best] ? kind : best;
    whatif->bound_by = (enum piece_kind)best;
}

static void replay_step(struct graph_maker *maker, const struct step *step,
                        const struct edits *edits, struct replay *replay, struct whatif *ret)
{
    const struct step_graph *graph = graph_of_step(maker, step);
    struct whatif_step *of = &ret->steps[ret->count++];

    *of = (struct whatif_step){
        .step = step, .host = graph->host, .recorded_ps = graph->to_ps - graph->from_ps};
    replay_run(graph, NULL, replay);
    of->replayed_ps = replay->end_ps - graph->from_ps;
    replay_run(graph, edits, replay);
    of->predicted_ps = replay->end_ps - graph->from_ps;
    of->bound_by = replay->bound_by;
    ps_add(&ret->changed_ps, replay->changed_ps);
    ps_add(&ret->lost_ps, replay->lost_ps);
    ret->cut_count += graph->cut_count;
    ret->left_out_count += graph->left_out_count;
}

static const struct step **chosen_steps(const struct run_traces *run, const struct steps *steps,
                                        struct arena *arena, struct whatif *ret, uint32_t *count)
{
    const struct step **all = critical_steps(run, steps, arena, count, &ret->count_all);
    uint64_t slices = 0;
    uint32_t every = 1, kept = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        slices += run->hosts[i].trace->slice_count;
    while (slices / every > WHATIF_SLICES && every < *count)
        every++;
    for (uint32_t i = 0; i < *count; i += every)
        all[kept++] = all[i];
    *count = kept;
    return all;
}

static void tell(const struct run_traces *run, const struct steps *steps, bool no_steps,
                 const struct edits *edits, struct arena *arena, struct whatif *ret)
{
    const struct critical_doubts doubts = {.total_ps = ret->recorded_ps,
                                           .cut_count = ret->cut_count,
                                           .left_out_count = ret->left_out_count,
                                           .step_count = ret->count,
                                           .step_count_all = ret->count_all,
                                           .no_steps = no_steps,
                                           .doubt = steps->doubt,
                                           .hosts_apart = run->host_count > 1 && !run->has_epoch};

    ret->notes = arena_array(arena, struct answer_note, CRITICAL_NOTES + 2);
    ret->note_count = critical_notes(&doubts, arena, ret->notes);
    if (ret->lost_ps > ret->changed_ps / LOST_PARTS)
        ret->notes[ret->note_count++] = (struct answer_note){
            .kind = "cannot-say",
            .severity = NOTE_WARNING,
            .message =
                str_format(arena,
                           "cannot say: for %.0f %% of the changed work the profile does not show "
                           "who waits for it, so the prediction assumes that nothing does",
                           100.0 * (double)ret->lost_ps / (double)ret->changed_ps),
            .count = 1};
    if (edits->overlap[KIND_COMMUNICATION] || edits->overlap[KIND_COPY] ||
        edits->overlap[KIND_INPUT])
        ret->notes[ret->note_count++] = (struct answer_note){
            .kind = "at-best",
            .severity = NOTE_INFO,
            .message = STR("only the step's end waits for what overlaps: a program whose ops need "
                           "the result earlier gains less"),
            .count = 1};
}

enum status whatif_find(const struct run_traces *run, const struct steps *steps,
                        struct edits *edits, struct arena *arena, struct whatif *ret,
                        struct error *err)
{
    uint32_t count;

    *ret = (struct whatif){0};
    TRY(edits_find(run, arena, edits, err));

    const struct step **asked = chosen_steps(run, steps, arena, ret, &count);
    struct graph_maker *maker = graph_maker_create(run, steps);
    struct replay replay = {0};

    graph_maker_edit(maker, edits);
    ret->steps = arena_array(arena, struct whatif_step, (size_t)count + 1);
    for (uint32_t i = 0; i < count && run->host_count > 0; i++)
        replay_step(maker, asked[i], edits, &replay, ret);
    replay_free(&replay);
    graph_maker_free(maker);
    find_medians(ret, arena);
    find_bound(ret);
    tell(run, steps, asked[0] == NULL, edits, arena, ret);
    return OK;
}
