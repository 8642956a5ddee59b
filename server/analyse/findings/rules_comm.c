/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about communication: what of it is exposed, too small, or left synchronous. */
#include "analyse/findings/rules_comm_parts.h"

enum { EXPOSED_PERCENT = 5, SERIAL_PERCENT = 3, SMALL_COUNT = 100, SMALL_BYTES = 256 << 10 };

static enum status find_exposed(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;

    TRY(comm_look(memo, &asked, err));
    int64_t exposed_ps = comm_mean(&asked, MEASURE_EXPOSED, NULL);
    int64_t total_ps = comm_mean(&asked, MEASURE_TOTAL, NULL);
    int64_t wait_ps = comm_mean(&asked, MEASURE_WAIT, NULL);
    if (!comm_is_share(&asked, exposed_ps, EXPOSED_PERCENT))
        return OK;
    bool knows_waits = asked.found->wait_reason == NULL && wait_ps > 0;
    struct finding finding = {
        .severity = comm_is_share(&asked, exposed_ps, 3 * EXPOSED_PERCENT) ? SEVERITY_CRITICAL
                                                                           : SEVERITY_WARNING,
        .confidence = CONFIDENCE_HIGH,
        .text = str_format(
            memo->arena,
            "For %s of the time devices communicate without computing: %s of %s of communication "
            "is exposed%s%s%s.",
            comm_share(&asked, exposed_ps).text, human_ps(exposed_ps).text, human_ps(total_ps).text,
            knows_waits ? "; waiting for the last device takes " : "",
            knows_waits ? human_ps(wait_ps).text : "", knows_waits ? " of it at most" : ""),
        .remedy =
            STR("Let compute cover it: {jax+gpu:asynchronous collectives and the latency hiding "
                "scheduler (`--xla_gpu_enable_latency_hiding_scheduler=true`), "
                "}{jax+tpu:asynchronous collectives "
                "(`--xla_tpu_enable_async_collective_fusion=true`), }{torch:buckets of DDP, "
                "prefetch of FSDP, `async_op=True`, }larger batches a device, a sharding that "
                "moves less, gradients reduced while the backward pass runs."),
    };
    finding_win(&finding, exposed_ps);
    comm_prove(&asked, &finding, MEASURE_EXPOSED, NULL, "exposed");
    findings_add(list, &finding);
    return OK;
}

static bool is_small(const struct collective *item, const struct collective_run *run)
{
    (void)run;
    return item->has_bytes && item->bytes < SMALL_BYTES && item->kind != COLLECTIVE_SEND &&
           item->kind != COLLECTIVE_RECV;
}

static enum status find_small(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;
    uint64_t count = 0, all = 0;

    TRY(comm_look(memo, &asked, err));
    for (uint32_t i = 0; i < asked.found->run_count; i++) {
        const struct collective_run *run = &asked.found->runs[i];

        if (comm_measured(&asked, run, MEASURE_COUNT) <= 0)
            continue;
        all++;
        count += is_small(&asked.found->items[run->collective], run);
    }
    int64_t exposed_ps = comm_mean(&asked, MEASURE_EXPOSED, is_small);
    if (count < SMALL_COUNT || 2 * count < all || !comm_is_share(&asked, exposed_ps, 1))
        return OK;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text =
            str_format(memo->arena,
                       "%s of %s collectives move less than 256 KiB each: latency, not "
                       "bandwidth, makes them %s of exposed time.",
                       human_count(count).text, human_count(all).text, human_ps(exposed_ps).text),
        .remedy =
            STR("Let one do the work of many: {jax:reduce a whole pytree in one `psum`, "
                "}{jax+gpu:raise the combiners' thresholds "
                "(`--xla_gpu_all_reduce_combine_threshold_bytes` and its like), }{torch:larger "
                "buckets (`bucket_cap_mb` of DDP), one flat tensor instead of many, }keep small "
                "parameters replicated."),
    };
    finding_win(&finding, exposed_ps);
    finding_prove_count(&finding, "collectives below 256 KiB", count);
    comm_prove(&asked, &finding, MEASURE_EXPOSED, is_small, "exposed");
    findings_add(list, &finding);
    return OK;
}

/* Told by HLO, where asynchronous ones would be pairs. */
static bool is_serial(const struct collective *item, const struct collective_run *run)
{
    (void)run;
    return !item->is_async && item->opcode.count > 0;
}

/* XLA:CPU has no asynchronous collectives: its ops stand on host threads. */
static bool is_on_device(const struct memo *memo, const struct collective_run *run)
{
    const struct trace *trace = memo->run->hosts[run->host].trace;

    return trace->tracks[trace->rows[trace_row_of(trace, run->slice)].track].device >= 0;
}

static enum status find_serial(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;

    TRY(comm_look(memo, &asked, err));
    if (asked.found->run_count == 0 || !is_on_device(memo, &asked.found->runs[0]))
        return OK;
    int64_t exposed_ps = comm_mean(&asked, MEASURE_EXPOSED, is_serial);
    if (!comm_is_share(&asked, exposed_ps, SERIAL_PERCENT))
        return OK;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = str_format(memo->arena,
                           "The compiler left these collectives synchronous, so every step waits "
                           "for them: %s exposed, %s of the time.",
                           human_ps(exposed_ps).text, comm_share(&asked, exposed_ps).text),
        .remedy = STR("See why they have no `-start` and `-done`: nothing independent to run "
                      "meanwhile, or asynchronous collectives switched off{jax+gpu: "
                      "(`--xla_gpu_enable_latency_hiding_scheduler`)}{jax+tpu: "
                      "(`--xla_tpu_enable_async_collective_fusion`)}."),
    };
    finding_win(&finding, exposed_ps);
    comm_prove(&asked, &finding, MEASURE_EXPOSED, is_serial, "exposed");
    findings_add(list, &finding);
    return OK;
}

extern const struct rule rules_comm[];
const struct rule rules_comm[] = {
    {.name = "exposed-collectives",
     .theme = "comm",
     .when = "devices communicate without computing for 5 % of the counted time or more",
     .find = find_exposed},
    {.name = "small-collectives",
     .theme = "comm",
     .when = "100 collectives or more, and half of all, move less than 256 KiB each",
     .find = find_small},
    {.name = "synchronous-collectives",
     .theme = "comm",
     .when = "collectives of a device that HLO leaves synchronous expose 3 % of the counted time",
     .find = find_serial},
    {.name = NULL},
};
