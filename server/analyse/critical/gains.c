/* SPDX-License-Identifier: Apache-2.0 */
/* Replays steps with one change after another. */
#include "analyse/critical/gains.h"

#include "analyse/critical/critical_parts.h"
#include "analyse/critical/replay.h"
#include "trace/ps.h"

static uint64_t slices_of(const struct run_traces *run)
{
    uint64_t slices = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        slices += run->hosts[i].trace->slice_count;
    return slices;
}

/* Of the steps every n-th, so that together they have no more slices than a tenth of a second
 * takes; one at least. */
static uint32_t choose(const struct run_traces *run, const struct step **steps, uint32_t count,
                       uint32_t all)
{
    uint64_t slices = slices_of(run) / (all > 0 ? all : 1) * count;
    uint32_t every = 1, kept = 0;

    while (slices / every > GAINS_SLICES && every < count)
        every++;
    for (uint32_t i = 0; i < count; i += every)
        steps[kept++] = steps[i];
    return slices_of(run) / (all > 0 ? all : 1) > GAINS_STEPS_SLICES_MAX ? 0 : kept;
}

bool gains_find(const struct run_traces *run, const struct steps *steps,
                const struct edits *const *changes, uint32_t count, double *ret_shares)
{
    struct arena *arena = arena_create();
    uint32_t step_count, all;
    const struct step **asked = critical_steps(run, steps, arena, &step_count, &all);
    struct graph_maker *maker = graph_maker_create(run, steps);
    struct replay replay = {0};
    int64_t *gained_ps = arena_array(arena, int64_t, (size_t)count + 1), total_ps = 0;

    step_count =
        asked[0] == NULL || run->host_count == 0 ? 0 : choose(run, asked, step_count, steps->count);
    for (uint32_t i = 0; i < step_count; i++) {
        const struct step_graph *graph = graph_of_step(maker, asked[i]);
        int64_t now_ps;

        replay_run(graph, NULL, &replay);
        now_ps = replay.end_ps - graph->from_ps;
        ps_add(&total_ps, now_ps);
        for (uint32_t k = 0; k < count; k++) {
            replay_run(graph, changes[k], &replay);
            ps_add(&gained_ps[k], now_ps - (replay.end_ps - graph->from_ps));
        }
    }
    for (uint32_t k = 0; k < count; k++)
        ret_shares[k] = total_ps > 0 ? (double)gained_ps[k] / (double)total_ps : 0;
    replay_free(&replay);
    graph_maker_free(maker);
    arena_destroy(arena);
    return total_ps > 0;
}
