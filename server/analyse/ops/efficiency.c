/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up what the ops' arithmetic and bytes need at the peaks of their device. */
#include "analyse/ops/efficiency.h"

#include <math.h>

#include "analyse/hlo/phase.h"
#include "analyse/ops/top_parts.h"
#include "trace/ps.h"

static bool is_known(uint8_t rule)
{
    return cost_is_known((enum cost_rule)rule);
}

static void add_op(const struct top_host *host, uint32_t index, double *peak_s,
                   struct efficiency *ret)
{
    const struct attribution *attribution = host->selection->host->attribution;
    const struct op *op = &attribution->ops[index];
    const struct op_cost *cost = &host->costs[index];
    const struct tally *tally = &host->tallies[0].items[index];
    double runs = top_runs_of(host, index, tally);
    double compute_s = device_compute_s(&host->spec, cost) * runs;
    double memory_s = cost->bytes * runs / host->spec.bytes_per_s;

    if (op->kind == KIND_COMMUNICATION)
        return;
    if (op->kind == KIND_COMPUTE)
        ps_add(&ret->compute_ps, tally->self_ps);
    if (!is_known(cost->flops_rule))
        return;
    if (op->kind == KIND_COMPUTE)
        ps_add(&ret->known_ps, tally->self_ps);
    if (phase_of_op(host->selection->host->trace, op) == OP_PHASE_RECOMPUTATION) {
        ret->recomputed_flops += cost->flops * runs;
    } else {
        ret->flops += cost->flops * runs;
        ret->model_s += compute_s;
        if (!isnan(compute_s))
            peak_s[device_peak_of(&host->spec, cost)] += compute_s;
        else if (ret->reason.count == 0)
            ret->reason = host->spec.reason.count > 0
                              ? host->spec.reason
                              : STR("the device's peak for a type that it computes in is unknown");
    }
    if (op->kind == KIND_COMPUTE && is_known(cost->bytes_rule) && !isnan(compute_s) &&
        !isnan(memory_s) && (cost->flags & COST_ASYNC) == 0) {
        ret->roof_s += fmax(compute_s, memory_s);
        ps_add(&ret->roof_ps, tally->self_ps);
    }
}

enum status efficiency_find(const struct run_traces *run, const struct restriction *restriction,
                            struct arena *arena, struct efficiency *ret, struct error *err)
{
    const struct top_question question = {.by = STR("op"), .without_spread = true};
    double peak_s[PEAK_COUNT] = {0};
    struct top_work work;
    enum top_by asked;
    int most = 0;

    *ret = (struct efficiency){.peak = STR(""), .reason = STR("")};
    TRY(top_collect(run, restriction, &question, arena, &work, &asked, err));
    for (uint32_t i = 0; i < work.host_count && work.by == BY_OP; i++) {
        const struct top_host *host = &work.hosts[i];

        for (uint32_t k = 0; host->costs != NULL && k < host->tallies[0].seen_count; k++)
            add_op(host, host->tallies[0].seen[k], peak_s, ret);
    }
    for (int peak = 1; peak < PEAK_COUNT; peak++)
        most = peak_s[peak] > peak_s[most] ? peak : most;
    if (peak_s[most] > 0)
        ret->peak = str_of(device_peak_word((enum peak)most));
    top_free(&work);
    return OK;
}
