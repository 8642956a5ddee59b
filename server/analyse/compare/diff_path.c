/* SPDX-License-Identifier: Apache-2.0 */
/* How much of each op lies on the critical paths of a side's steps: what got slower beside them
 * makes no step longer. */
#include "analyse/compare/diff_parts.h"
#include "analyse/critical/critical.h"
#include "trace/ps.h"

/* Of more slices paths take longer than the rest of the difference. */
enum { PATH_SLICES = 400000 };

static bool is_small(const struct run_traces *run)
{
    uint64_t slices = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        slices += run->hosts[i].trace->slice_count;
    return slices <= PATH_SLICES;
}

static void add_items(const struct run_traces *run, const struct critical_sums *sums,
                      const struct match_run *ops, int64_t *to)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct attribution *of = run->hosts[host].attribution;

        for (uint32_t op = 0; of != NULL && sums->ops[host] != NULL && op < of->op_count; op++) {
            uint32_t item = ops->item_of[host][op];

            if (item != UINT32_MAX)
                ps_add(&to[item], sums->ops[host][op].on_path_ps);
        }
    }
}

enum status diff_paths(const struct diff_side *side, struct measured *measured, struct arena *arena,
                       struct error *err)
{
    struct critical_sums sums;
    struct steps steps;
    int64_t *on_path_ps;

    measured->on_path_ps = NULL;
    if (!is_small(side->run) || side->restriction->has_window)
        return OK;
    TRY(steps_find(side->run, side->restriction, arena, &steps, err));
    on_path_ps = arena_array(arena, int64_t, (size_t)measured->ops.count + 1);
    critical_sums_make(side->run, &steps, &sums);
    add_items(side->run, &sums, &measured->ops, on_path_ps);
    measured->on_path_ps = on_path_ps;
    measured->path_steps = sums.step_count;
    critical_sums_free(&sums);
    return OK;
}
