/* SPDX-License-Identifier: Apache-2.0 */
/* A rule about devices that do nothing but copy between their memory and the host's.
 *
 *   kernels      | a |            | b |
 *   copies    |==========|   |======|         exposed: what no kernel of the device runs beside
 *
 * Only where streams of devices recorded the copies: elsewhere who waited for them is told by other
 * rules.
 */
#include <stdlib.h>

#include "analyse/comm/transfers.h"
#include "analyse/findings/findings.h"
#include "analyse/scan/scan.h"
#include "analyse/stats/map64.h"
#include "base/human.h"
#include "trace/ps.h"

static const double share_min = 0.05, share_critical = 0.25; /* of the counted time */

struct copier { /* a device that copies */
    uint32_t host;
    bool on_streams;    /* else it is not asked for */
    int64_t until_ps;   /* how far its copies reach */
    int64_t counted_ps; /* in which any of them runs, within the counted steps */
    int64_t total_ps, overlapped_ps;
};

struct copying {
    struct map64 of; /* host and device -> copier */
    struct copier *copiers;
    uint32_t copier_count;
    uint64_t count, up_bytes, down_bytes;
    int64_t up_ps, down_ps;
    const struct transfer *longest;
};

static bool is_meant(const struct transfer *transfer)
{
    return (transfer->direction == DIRECTION_H2D || transfer->direction == DIRECTION_D2H) &&
           transfer->device >= 0 && transfer->overlapped_ps >= 0;
}

static struct copier *copier_of(struct copying *copying, const struct run_traces *run,
                                const struct transfer *transfer)
{
    uint32_t *at = map64_at(&copying->of, map64_pair(transfer->host, (uint32_t)transfer->device),
                            copying->copier_count);

    if (*at == copying->copier_count) {
        copying->copiers = memory_resize(copying->copiers, (size_t)copying->copier_count + 1,
                                         sizeof(*copying->copiers));
        copying->copiers[copying->copier_count++] = (struct copier){
            .host = transfer->host,
            .on_streams = track_runs_kernels(run->hosts[transfer->host].trace, transfer->track),
            .until_ps = INT64_MIN,
        };
    }
    return &copying->copiers[*at];
}

/* Transfers come by start. */
static void add_transfer(struct copying *copying, struct copier *copier,
                         const struct counted *counted, const struct transfer *transfer)
{
    int64_t end_ps = transfer->start_ps + transfer->dur_ps;
    uint64_t bytes = transfer->bytes > 0 ? (uint64_t)transfer->bytes : 0;
    bool up = transfer->direction == DIRECTION_H2D;

    if (end_ps > copier->until_ps) {
        int64_t from_ps =
            transfer->start_ps > copier->until_ps ? transfer->start_ps : copier->until_ps;

        ps_add(&copier->counted_ps, counted_inside_ps(counted, transfer->host, from_ps, end_ps));
        copier->until_ps = end_ps;
    }
    ps_add(&copier->total_ps, transfer->dur_ps);
    ps_add(&copier->overlapped_ps, transfer->overlapped_ps);
    copying->count++;
    *(up ? &copying->up_bytes : &copying->down_bytes) += bytes;
    ps_add(up ? &copying->up_ps : &copying->down_ps, transfer->dur_ps);
    if (copying->longest == NULL || transfer->dur_ps > copying->longest->dur_ps)
        copying->longest = transfer;
}

/* The mean of each host's devices, also of those that copy nothing, summed over hosts. */
static int64_t exposed_of(const struct run_traces *run, const struct copying *copying)
{
    double ret = 0;

    for (uint32_t i = 0; i < copying->copier_count; i++) {
        const struct copier *copier = &copying->copiers[i];
        uint32_t devices = run->hosts[copier->host].attribution->device_count;

        if (copier->total_ps > 0)
            ret += (double)copier->counted_ps *
                   (1 - (double)copier->overlapped_ps / (double)copier->total_ps) /
                   (devices > 0 ? devices : 1);
    }
    return (int64_t)ret;
}

static struct str way_text(struct arena *arena, uint64_t bytes, int64_t ps, const char *way)
{
    double per_s = ps > 0 ? (double)bytes * 1e12 / (double)ps : 0;

    return str_format(arena, "%s %s at %.3g GB/s", human_bytes(bytes).text, way, per_s * 1e-9);
}

static void tell(struct memo *memo, struct finding_list *list, const struct copying *copying,
                 int64_t exposed_ps, double share)
{
    bool up = copying->up_ps >= copying->down_ps;
    struct str most = up ? way_text(memo->arena, copying->up_bytes, copying->up_ps, "up")
                         : way_text(memo->arena, copying->down_bytes, copying->down_ps, "down");
    struct finding finding = {
        .severity = share >= share_critical ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        .confidence = CONFIDENCE_HIGH,
        .text =
            str_format(memo->arena,
                       "For %s of the time devices only copy between their memory and the host's: "
                       "%s transfers, most of them %.*s.",
                       human_share(share).text, human_count(copying->count).text, STR_ARG(most)),
        .remedy =
            STR("Keep on the device what is used again (parameters, optimizer state), move less "
                "(a smaller type), and copy beside kernels: {jax:`jax.device_put` of what comes "
                "next before the current step is blocked on}{torch:pinned memory, "
                "`non_blocking=True` and a stream of their own, or no "
                "offloading}{!jax+!torch:pinned memory and a stream of their own}."),
    };

    finding_win(&finding, exposed_ps);

    const struct transfer *longest = copying->longest;
    struct evidence *evidence = finding_prove_ps(&finding, "longest of them", longest->dur_ps);

    evidence_at(evidence, longest->host, longest->start_ps, longest->start_ps + longest->dur_ps);
    evidence->slice = longest->slice;
    evidence->track = longest->track;
    evidence->step = longest->in_step ? longest->step : NO_STEP;
    evidence = finding_prove_count(&finding, "transfers", copying->count);
    evidence->view = "transfers";
    evidence->by = "direction";
    findings_add(list, &finding);
}

static enum status find_exposed(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct transfers *transfers;
    const struct counted *counted;
    struct copying copying = {0};

    TRY(memo_transfers(memo, &transfers, err));
    TRY(memo_counted(memo, &counted, err));
    for (uint32_t i = 0; i < transfers->count; i++) {
        const struct transfer *transfer = &transfers->items[i];
        struct copier *copier =
            is_meant(transfer) ? copier_of(&copying, memo->run, transfer) : NULL;

        if (copier != NULL && copier->on_streams)
            add_transfer(&copying, copier, counted, transfer);
    }

    int64_t exposed_ps = exposed_of(memo->run, &copying);
    double share = counted->total_ps > 0 ? (double)exposed_ps / (double)counted->total_ps : 0;

    if (share >= share_min)
        tell(memo, list, &copying, exposed_ps, share);
    map64_free(&copying.of);
    free(copying.copiers);
    return OK;
}

const struct rule rules_copy[] = {
    {"exposed-transfers", "transfer",
     "devices only copy to or from the host for 5 % of the time or more", find_exposed},
    {.name = NULL},
};
