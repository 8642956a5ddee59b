/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about hosts and devices against each other. */
#include "analyse/findings/findings.h"
#include "analyse/findings/rules_idle.h"
#include "analyse/steps/hosts.h"
#include "base/human.h"
#include "trace/ps.h"

enum {
    WAIT_PERCENT_MIN = 1,       /* of the counted time: what a straggler costs */
    IMBALANCE_PERCENT_MIN = 20, /* of the busiest device */
    IMBALANCE_TIME_PERCENT_MIN = 2,
    BUBBLE_PERCENT_MIN = 10,
    BUBBLE_STEPS_MIN = 2, /* exchanges a step: one alone is no pipeline */
};

/* Lanes write into the steps they walk: they get their own. */
static enum status find_lanes(struct memo *memo, enum lanes_by by, struct lanes *ret,
                              struct error *err)
{
    const struct steps *steps;

    TRY(memo_steps(memo, &steps, err));

    struct steps own = *steps;

    own.items = arena_array(memo->arena, struct step, steps->count);
    if (steps->count > 0)
        memcpy(own.items, steps->items, steps->count * sizeof(*own.items));
    lanes_find(memo->run, &own, by, memo->arena, ret);
    return OK;
}

static struct str lane_name(struct memo *memo, const struct lane_total *lane)
{
    struct str host = memo->run->hosts[lane->host].name;

    if (lane->device < 0)
        return host;
    return memo->run->host_count > 1
               ? str_format(memo->arena, "%.*s device %d", STR_ARG(host), lane->device)
               : str_format(memo->arena, "device %d", lane->device);
}

/* The step in which the others waited longest for it. */
static void prove_worst(const struct lanes *lanes, uint32_t lane, struct finding *finding)
{
    const struct lane_step *worst = NULL;
    uint32_t step = 0;

    for (uint32_t row = 0; row < lanes->step_count; row++) {
        const struct lane_step *cell = &lanes->cells[(size_t)row * lanes->lane_count + lane];

        if (cell->last && (worst == NULL || cell->lag_ps > worst->lag_ps)) {
            worst = cell;
            step = row;
        }
    }
    if (worst == NULL)
        return;

    struct evidence *proof =
        finding_prove_ps(finding, "the longest wait for it in one step", worst->lag_ps);

    evidence_at(proof, lanes->lanes[lane].host, worst->start_ps, worst->start_ps + worst->dur_ps);
    proof->step = lanes->numbers[step];
}

static void tell_straggler(struct memo *memo, const struct lanes *lanes, uint32_t lane,
                           int64_t wait_ps, int64_t total_ps, struct finding_list *list)
{
    const struct lane_total *late = &lanes->lanes[lane];
    bool waits = lanes->basis == BASIS_COMMUNICATION;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = waits ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
        .remedy = STR("Compare its work before the collective with the other hosts': uneven data "
                      "or padding, extra work on one host (logging, saving, evaluation), a slower "
                      "or shared processor, a throttled device."),
        .win_reason = STR("nothing communicates, so which host waits is unknown"),
    };

    finding.text =
        str_format(memo->arena, "%.*s comes last in %u of %u steps, by %s in the median%s%s%s.",
                   STR_ARG(lane_name(memo, late)), late->last_count, lanes->compared_count,
                   human_ps(late->lag_median_ps).text, waits ? "; waiting for it takes " : "",
                   waits ? human_share((double)wait_ps / (double)total_ps).text : "",
                   waits ? " of all steps" : "");
    if (waits)
        finding_win(&finding, wait_ps);
    prove_worst(lanes, lane, &finding);

    struct evidence *proof =
        finding_prove_count(&finding, "steps it was last in", late->last_count);

    proof->host = late->host;
    proof->view = "hosts";
    findings_add(list, &finding);
}

static enum status find_stragglers(struct memo *memo, enum lanes_by by, struct finding_list *list,
                                   struct error *err)
{
    struct lanes lanes;
    int64_t wait_ps = 0, total_ps = 0;

    TRY(find_lanes(memo, by, &lanes, err));
    for (uint32_t i = 0; i < lanes.lane_count; i++) {
        ps_add(&wait_ps, lanes.lanes[i].wait_ps);
        ps_add(&total_ps, lanes.lanes[i].total_ps);
    }
    if (by == LANES_BY_DEVICE && lanes.lane_count > 0) { /* a win is time of hosts */
        wait_ps = wait_ps / lanes.lane_count * memo->run->host_count;
        total_ps = total_ps / lanes.lane_count * memo->run->host_count;
    }
    for (uint32_t i = 0; i < lanes.lane_count; i++) {
        if (lanes.lanes[i].straggler && total_ps > 0 &&
            (lanes.basis == BASIS_END || wait_ps >= total_ps / 100 * WAIT_PERCENT_MIN))
            tell_straggler(memo, &lanes, i, wait_ps, total_ps, list);
    }
    return OK;
}

static enum status find_host_straggler(struct memo *memo, struct finding_list *list,
                                       struct error *err)
{
    return memo->run->host_count > 1 ? find_stragglers(memo, LANES_BY_HOST, list, err) : OK;
}

/* Devices of one step end with it, so only communication tells who of them is late. */
static enum status find_device_straggler(struct memo *memo, struct finding_list *list,
                                         struct error *err)
{
    return memo->run->host_count == 1 ? find_stragglers(memo, LANES_BY_DEVICE, list, err) : OK;
}

/* Own work of a device: communication waits for others. */
static int64_t work_of(const struct idle_device *device)
{
    return device->time.busy_ps - device->time.kinds_ps[KIND_COMMUNICATION] - device->time.wait_ps;
}

static void see_balance(struct memo *memo, const struct idle *idle, uint32_t host,
                        struct finding_list *list)
{
    const struct idle_device *most = NULL, *least = NULL;
    int64_t sum_ps = 0;
    uint32_t count = 0;

    for (uint32_t i = 0; i < idle->device_count; i++) {
        const struct idle_device *device = &idle->devices[i];

        /* A device that only copies is no peer of one that computes. */
        if (device->host != host || !device->counted || device->time.kinds_ps[KIND_COMPUTE] == 0)
            continue;
        most = most == NULL || work_of(device) > work_of(most) ? device : most;
        least = least == NULL || work_of(device) < work_of(least) ? device : least;
        ps_add(&sum_ps, work_of(device));
        count++;
    }
    if (count < 2)
        return;

    int64_t more_ps = work_of(most) - sum_ps / count;

    if (work_of(most) - work_of(least) < work_of(most) / 100 * IMBALANCE_PERCENT_MIN ||
        more_ps < most->window_ps / 100 * IMBALANCE_TIME_PERCENT_MIN)
        return;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = text_on_host(memo, host,
                             "device %d works for %s and device %d for %s of the same %s; if "
                             "balanced, each of %u would work for %s.",
                             most->device, human_ps(work_of(most)).text, least->device,
                             human_ps(work_of(least)).text, human_ps(most->window_ps).text, count,
                             human_ps(sum_ps / count).text),
        .remedy = STR("Shard evenly: dimensions divisible by the mesh, stages of equal cost, "
                      "experts with a capacity; see what only the busiest device runs."),
    };

    finding_win(&finding, more_ps);
    finding_prove_ps(&finding, "work of the busiest", work_of(most))->host = host;
    finding_prove_ps(&finding, "work of the least busy", work_of(least))->host = host;
    for (uint32_t i = 0; i < finding.evidence_count && i < 2; i++) {
        finding.evidence[i].view = "hosts";
        finding.evidence[i].by = "device";
    }
    findings_add(list, &finding);
}

static enum status find_imbalance(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct idle *idle;

    TRY(memo_idle(memo, &idle, err));
    for (uint32_t host = 0; host < memo->run->host_count; host++)
        see_balance(memo, idle, host, list);
    return OK;
}

/* What stages of a pipeline hand each other. */
static bool is_exchange(struct str name)
{
    static const char *const words[] = {
        "collective-permute",     "ppermute",           "send", "recv",
        "ncclDevKernel_SendRecv", "ncclKernel_SendRecv"};

    for (size_t i = 0; i < COUNT(words); i++) {
        struct str word = str_of(words[i]);

        if (str_starts(name, word) &&
            (name.count == word.count || strchr(".-_(", name.at[word.count]) != NULL))
            return true;
    }
    return false;
}

static void see_bubbles(struct memo *memo, uint32_t host, const struct counted *counted,
                        struct finding_list *list)
{
    const struct host_trace *trace = &memo->run->hosts[host];
    const struct attribution *of = trace->attribution;
    struct host_devices devices = host_devices_of(trace, memo->arena);
    int64_t exchange_ps = 0, longest_ps = 0, hull_ps = 0;
    uint64_t count = 0;
    name_id longest = 0;

    if (of == NULL || of->totals == NULL || devices.counted_count < 2)
        return;
    for (uint32_t i = 0; i < of->device_count; i++)
        ps_add(&hull_ps, of->devices[i].end_ps - of->devices[i].start_ps);
    for (uint32_t op = 0; op < of->op_count; op++) {
        if (!is_exchange(trace_name(trace->trace, of->ops[op].name)))
            continue;
        ps_add(&exchange_ps, of->totals[op].self_ps);
        count += of->totals[op].event_count;
        if (of->totals[op].self_ps > longest_ps) {
            longest_ps = of->totals[op].self_ps;
            longest = of->ops[op].name;
        }
    }
    if (hull_ps == 0 || exchange_ps < hull_ps / 100 * BUBBLE_PERCENT_MIN ||
        count < (uint64_t)BUBBLE_STEPS_MIN * devices.counted_count * counted->step_count)
        return;

    double share = (double)exchange_ps / (double)hull_ps;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_LOW,
        .text = text_on_host(memo, host,
                             "devices spend %s of their time exchanging data with a neighbour, "
                             "most of it in %.*s: pipeline stages wait for each other.",
                             human_share(share).text, STR_ARG(trace_name(trace->trace, longest))),
        .remedy =
            STR("Use more and smaller microbatches, stages of equal cost or an interleaved "
                "schedule; overlap the exchange of one microbatch with the work of the next."),
    };

    finding_win(&finding,
                ps_of_real(share * (double)counted->total_ps / (double)memo->run->host_count));

    struct evidence *proof = finding_prove_ps(&finding, "in the longest of them", longest_ps);

    proof->host = host;
    proof->find = trace_name(trace->trace, longest);
    finding_prove_count(&finding, "exchanges", count)->host = host;
    findings_add(list, &finding);
}

static enum status find_bubbles(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct counted *counted;

    TRY(memo_counted(memo, &counted, err));
    for (uint32_t host = 0; host < memo->run->host_count; host++)
        see_bubbles(memo, host, counted, list);
    return OK;
}

const struct rule rules_hosts[] = {
    {.name = "straggler-host",
     .theme = "steps",
     .when = "one host is last in more than half of at least three steps, by 1 % of a step or more",
     .find = find_host_straggler},
    {.name = "straggler-device",
     .theme = "steps",
     .when =
         "one device is last in more than half of at least three steps, by 1 % of a step or more",
     .find = find_device_straggler},
    {.name = "device-imbalance",
     .theme = "steps",
     .when =
         "devices of a host work a fifth less than the busiest one, and 2 % of the time is lost",
     .find = find_imbalance},
    {.name = "pipeline-exchanges",
     .theme = "steps",
     .when = "devices spend a tenth of their time or more in exchanges, two or more per step",
     .find = find_bubbles},
    {.name = NULL},
};
