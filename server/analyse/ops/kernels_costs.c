/* SPDX-License-Identifier: Apache-2.0 */
/* How near kernels come to what their device can do, by what the ops cost that they carry out.
 *
 *   entry ──> its part of its op's run ──> at the peak for its type, and at the peak of memory
 *         └─> how long it took             ──> of launches whose cost is known, one by the other
 *
 * One walk over the selection's ops.
 */
#include <math.h>
#include <stdlib.h>

#include "analyse/hlo/cost.h"
#include "analyse/ops/kernels_parts.h"
#include "analyse/ops/top_parts.h"
#include "trace/ps.h"

/* Of a row's time, below which its known launches do not stand for it; from where they are it. */
#define ENOUGH 0.5
#define NEARLY_ALL 0.99

struct cost_part { /* of a walk over one selection */
    const struct kernels_work *work;
    uint32_t at;
    const struct top_share *shares;
    struct kernel_speed *speeds; /* two a row: compute, memory */
};

static void add_speed(struct kernel_speed *to, bool is_known, double best_s, int64_t took_ps,
                      uint8_t rule)
{
    if (!is_known) {
        to->rule = rule;
        return;
    }
    to->best_s += best_s;
    ps_add(&to->known_ps, took_ps);
}

static void add_entry(struct cost_part *part, const struct attribution *of,
                      const struct attributed *entry, uint32_t row, int64_t inside_ps)
{
    const struct top_share *share = &part->shares[entry->op];
    const struct op_cost *cost = &of->costs[entry->op];
    struct kernel_speed *speeds = &part->speeds[2 * (size_t)row];
    double inside = (double)tally_part(entry->dur_ps, inside_ps) / (double)TALLY_WHOLE;
    bool is_own = !share->is_of_several && !share->is_divided;

    add_speed(&speeds[0], is_own && share->has_flops, share->compute_s * inside, inside_ps,
              is_own ? cost->flops_rule : COST_SEVERAL);
    add_speed(&speeds[1], is_own && share->has_bytes, share->memory_s * inside, inside_ps,
              is_own ? cost->bytes_rule : COST_SEVERAL);
}

static void see_block(void *data, const struct op_block *block)
{
    struct cost_part *part = data;
    const struct kernels_work *work = part->work;
    const struct attribution *of = work->selections[part->at].host->attribution;

    for (uint32_t i = 0; i < block->count; i++) {
        uint32_t kernel = entry_kernel(of, block->first + i);
        uint32_t row = kernel == NO_KERNEL ? 0 : work->row_of[part->at][kernel];

        if (block->inside_ps[i] >= 0 && row > 0 && kernels_counts(work, part->at, block->first + i))
            add_entry(part, of, BLOCK_ENTRY(block, i), row - 1, block->inside_ps[i]);
    }
}

static void join(struct kernel_speed *to, const struct kernel_speed *part)
{
    to->best_s += part->best_s;
    ps_add(&to->known_ps, part->known_ps);
    to->rule = part->rule != 0 ? part->rule : to->rule;
}

static void cost_selection(struct kernels_work *work, uint32_t at)
{
    const struct selection *selection = &work->selections[at];
    const struct attribution *of = selection->host->attribution;
    uint32_t part_count = scan_op_parts(selection);
    struct cost_part parts[SPLIT_PARTS_MAX];
    void *data[SPLIT_PARTS_MAX];
    struct top_share *shares = top_shares_of(of, &work->specs[selection->index]);

    for (uint32_t i = 0; i < part_count; i++) {
        parts[i] = (struct cost_part){.work = work, .at = at, .shares = shares};
        parts[i].speeds = memory_zeroed(2 * (size_t)work->row_count + 2, sizeof *parts[i].speeds);
        data[i] = &parts[i];
    }
    scan_ops(selection, ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DUR), see_block, data, part_count);
    for (uint32_t i = 0; i < part_count; i++) {
        for (uint32_t row = 0; row < work->row_count; row++) {
            join(&work->rows[row].compute, &parts[i].speeds[2 * (size_t)row]);
            join(&work->rows[row].memory, &parts[i].speeds[2 * (size_t)row + 1]);
        }
        free(parts[i].speeds);
    }
    free(shares);
}

static bool has_costs(const struct attribution *of)
{
    for (uint32_t op = 0; of->costs != NULL && of->totals != NULL && op < of->op_count; op++)
        if (cost_is_known((enum cost_rule)of->costs[op].flops_rule) ||
            cost_is_known((enum cost_rule)of->costs[op].bytes_rule))
            return true;
    return false;
}

void kernels_cost(struct kernels_work *work)
{
    work->specs = arena_array(work->arena, struct device_spec, work->run->host_count);
    for (uint32_t at = 0; at < work->selection_count && work->row_count > 0; at++) {
        const struct selection *selection = &work->selections[at];
        const struct attribution *of = selection->host->attribution;

        if (work->row_of[at] == NULL || !has_costs(of))
            continue;
        device_spec_of(selection->host->trace, of, work->arena, &work->specs[selection->index]);
        cost_selection(work, at);
    }
}

static struct str why_not(const struct kernels_work *work, const struct kernel_row *row,
                          const struct kernel_speed *speed)
{
    struct str words = cost_rule_words((enum cost_rule)speed->rule);

    if (speed->known_ps == 0 || row->total_ps == 0)
        return words;
    return str_format(work->arena, "it is known for %.0f %% of its time; of the rest: %.*s",
                      100.0 * (double)speed->known_ps / (double)row->total_ps, STR_ARG(words));
}

struct cell kernels_speed_cell(const struct kernels_work *work, const struct kernel_row *row,
                               bool is_memory)
{
    const struct kernel_speed *speed = is_memory ? &row->memory : &row->compute;
    const struct op *op =
        &work->run->hosts[row->host].attribution->ops[kernel_of_row(work, row)->op];
    struct str reason = work->specs == NULL ? STR("") : work->specs[row->host].reason;

    if (op->kind == KIND_COMMUNICATION)
        return cell_null(STR("links, not the device, limit a collective"));
    if (row->total_ps <= 0)
        return cell_null(STR("no time to divide by"));
    if ((double)speed->known_ps < ENOUGH * (double)row->total_ps)
        return cell_null(why_not(work, row, speed));
    if (isnan(speed->best_s))
        return cell_null(reason.count > 0 ? reason
                                          : STR("the device's peak for this type is unknown"));
    return cell_of_sum(row->total_ps, cell_real(speed->best_s / ((double)speed->known_ps * 1e-12)));
}

uint32_t kernels_known_in_part(const struct kernels_work *work)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < work->row_count; i++) {
        const struct kernel_row *row = &work->rows[i];
        double enough_ps = NEARLY_ALL * (double)row->total_ps;

        count += ((double)row->compute.known_ps < enough_ps &&
                  kernels_speed_cell(work, row, false).kind != CELL_NULL) ||
                 ((double)row->memory.known_ps < enough_ps &&
                  kernels_speed_cell(work, row, true).kind != CELL_NULL);
    }
    return count;
}
