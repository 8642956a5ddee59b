/* SPDX-License-Identifier: Apache-2.0 */
/* A rule about how fast collectives move what they move, measured by the links of the devices.
 *
 *   bus bandwidth    analyse/comm/collectives.h, without the wait for the last to come where that
 *                    is known
 *   the links' peak  analyse/device/device_link.h; unknown, or a torus: nothing is said
 *
 * Groups that lie on one host only: between hosts a network decides, of which profiles say nothing.
 */
#include "analyse/comm/collective_text.h"
#include "analyse/device/device_link.h"
#include "analyse/device/device_spec.h"
#include "analyse/findings/rules_comm_parts.h"
#include "analyse/table.h"
#include "trace/ps.h"

enum { SLOW_PERCENT = 25, SLOW_TIME_PERCENT = 2 };
static const uint64_t large_bytes = UINT64_C(16) << 20; /* latency no longer decides */

struct slow {
    double bus_bytes;
    int64_t moving_ps;  /* of the runs whose rate this is, waits left out */
    int64_t exposed_ps; /* of all devices, in counted steps */
    uint64_t count;
    uint32_t device_count; /* that ran them: their exposed time is a mean */
    bool waits_known;
    const struct collective_run *longest;
};

/* The executions of one collective by one group, [first, end): all of its devices, on one host? */
static bool is_local(const struct collectives *found, uint32_t first, uint32_t end)
{
    const struct collective *item = &found->items[found->runs[first].collective];

    for (uint32_t i = first; i < end; i++) {
        if (found->runs[i].host != found->runs[first].host)
            return false;
    }
    return item->size > 1 && end - first == item->size;
}

static uint32_t end_of_group(const struct collectives *found, uint32_t first)
{
    const struct collective_run *of = &found->runs[first];
    uint32_t end = first;

    while (end < found->run_count && found->runs[end].collective == of->collective &&
           found->runs[end].turn == of->turn && found->runs[end].group == of->group)
        end++;
    return end;
}

static void add_run(const struct comm_asked *asked, const struct collective_run *run,
                    struct slow *to)
{
    const struct collective *item = &asked->found->items[run->collective];
    double factor = collective_bus_factor(item->kind, item->size);
    int64_t wait_ps = run->wait_ps > 0 ? run->wait_ps : 0;

    if (run->inside_ps != run->dur_ps || run->dur_ps - wait_ps <= 0 || factor <= 0 ||
        comm_measured(asked, run, MEASURE_TOTAL) <= 0)
        return;
    to->bus_bytes += (double)item->bytes * factor;
    ps_add(&to->moving_ps, run->dur_ps - wait_ps);
    ps_add(&to->exposed_ps, comm_measured(asked, run, MEASURE_EXPOSED));
    to->count++;
    to->waits_known &= run->wait_ps >= 0;
    if (to->longest == NULL || run->dur_ps > to->longest->dur_ps)
        to->longest = run;
}

static struct slow sum_large(const struct comm_asked *asked, uint32_t host)
{
    const struct collectives *found = asked->found;
    struct slow sum = {.waits_known = true, .device_count = asked->device_counts[host]};

    for (uint32_t first = 0, end; first < found->run_count; first = end) {
        const struct collective *item = &found->items[found->runs[first].collective];

        end = end_of_group(found, first);
        if (found->runs[first].host != host || !item->has_bytes || item->bytes < large_bytes ||
            !is_local(found, first, end))
            continue;
        for (uint32_t i = first; i < end; i++)
            add_run(asked, &found->runs[i], &sum);
    }
    return sum;
}

static void tell_slow(const struct comm_asked *asked, uint32_t host, const struct slow *slow,
                      const struct device_link *link, double rate, struct finding_list *list)
{
    int64_t exposed_ps = slow->exposed_ps / slow->device_count;
    double share = rate / (link->gb_per_s * 1e9);
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = slow->waits_known ? CONFIDENCE_MEDIUM : CONFIDENCE_LOW,
        .text = text_on_host(
            asked->memo, host,
            "collectives of 16 MiB and more move %.3g GB/s over the bus, %s of "
            "the %.3g GB/s of %s%s.",
            rate * 1e-9, human_share(share).text, link->gb_per_s, link->name,
            slow->waits_known
                ? ""
                : "; which device waited is not known, so waiting is counted as transfer"),
        .remedy =
            STR("See which way they go: `NCCL_DEBUG=INFO` names transports and rings{amd: (RCCL "
                "reads it, too)}, {nvidia:`nvidia-smi topo -m`}{amd:`rocm-smi --showtopo`} the "
                "links. Look for `NCCL_P2P_DISABLE`, containers without peer access, few "
                "channels (`NCCL_MIN_NCHANNELS`), kernels that leave no "
                "{nvidia:multiprocessor}{amd:compute unit} free, and measure with "
                "{nvidia:nccl-tests}{amd:rccl-tests}."),
    };

    finding_win(&finding, (int64_t)((double)exposed_ps * (1 - share)));
    finding_prove(&finding, "bus bandwidth",
                  cell_text(str_format(asked->memo->arena, "%.3g GB/s", rate * 1e-9)), UNIT_TEXT)
        ->view = "collectives";
    finding_prove(&finding, "the links carry",
                  cell_text(str_format(asked->memo->arena, "%.3g GB/s", link->gb_per_s)), UNIT_TEXT)
        ->view = "collectives";

    struct evidence *proof = finding_prove_ps(&finding, "the longest", slow->longest->dur_ps);

    evidence_at(proof, host, slow->longest->start_ps,
                slow->longest->start_ps + slow->longest->dur_ps);
    proof->slice = slow->longest->slice;
    findings_add(list, &finding);
}

static enum status find_slow_bus(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;

    TRY(comm_look(memo, &asked, err));
    for (uint32_t host = 0; host < memo->run->host_count; host++) {
        struct device_spec spec;
        const struct device_link *link;

        if (asked.device_counts[host] < 2)
            continue;
        device_spec_of(memo->run->hosts[host].trace, memo->run->hosts[host].attribution,
                       memo->arena, &spec);
        if (spec.sheet == NULL)
            continue;
        link = device_link_of(spec.name);
        if (link->name == NULL || link->is_torus)
            continue;

        struct slow slow = sum_large(&asked, host);
        double rate = slow.moving_ps > 0 ? slow.bus_bytes / ((double)slow.moving_ps * 1e-12) : 0;

        if (slow.count > 0 && rate * 100 < link->gb_per_s * 1e9 * SLOW_PERCENT &&
            comm_is_share(&asked, slow.exposed_ps / slow.device_count, SLOW_TIME_PERCENT))
            tell_slow(&asked, host, &slow, link, rate, list);
    }
    return OK;
}

extern const struct rule rules_comm_rate[];
const struct rule rules_comm_rate[] = {
    {.name = "slow-bus",
     .theme = "comm",
     .when =
         "large collectives within a host use less than a quarter of the bandwidth of its links",
     .find = find_slow_bus},
    {.name = NULL},
};
