/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about waiting: who comes last, whose neighbours stand, whose clock is off. */
#include "analyse/findings/rules_comm_parts.h"

#define SKEW_PS INT64_C(1000000000) /* 1 ms: more than a network's time service leaves */

enum { WAIT_PERCENT = 2, BUBBLE_PERCENT = 5, UNEVEN_PERCENT = 20 };

/* Whose lateness adds up to most. */
static const struct device_waits *latest(const struct collective_waits *waits,
                                         uint64_t *ret_last_count)
{
    const struct device_waits *ret = NULL;

    *ret_last_count = 0;
    for (uint32_t i = 0; i < waits->count; i++) {
        *ret_last_count += waits->items[i].last_count;
        if (waits->items[i].known_count > 0 &&
            (ret == NULL || waits->items[i].late_ps > ret->late_ps))
            ret = &waits->items[i];
    }
    return ret;
}

/* The execution for which the others waited longest. */
static const struct collective_run *worst_run(const struct comm_asked *asked,
                                              const struct device_waits *of)
{
    const struct collective_run *ret = NULL;

    for (uint32_t i = 0; i < asked->found->run_count; i++) {
        const struct collective_run *run = &asked->found->runs[i];

        if (run->host == of->host && run->device == of->device && run->is_last &&
            (ret == NULL || run->late_ps > ret->late_ps))
            ret = run;
    }
    return ret;
}

static enum status find_stragglers(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;
    struct collective_waits waits;
    uint64_t turns;

    TRY(comm_look(memo, &asked, err));
    int64_t wait_ps = comm_mean(&asked, MEASURE_WAIT, NULL);
    if (!comm_is_share(&asked, wait_ps, WAIT_PERCENT))
        return OK;
    collectives_waits(asked.found, memo->arena, &waits);
    const struct device_waits *last = latest(&waits, &turns);
    if (last == NULL || turns == 0)
        return OK;
    struct str host = memo->run->hosts[last->host].name;
    struct str place =
        memo->run->host_count == 1
            ? str_format(memo->arena, "device %d", last->device)
            : str_format(memo->arena, "%.*s, device %d", STR_ARG(host), last->device);
    bool is_one = 2 * last->last_count > turns;
    struct finding finding = {
        .severity =
            comm_is_share(&asked, wait_ps, 5 * WAIT_PERCENT) ? SEVERITY_CRITICAL : SEVERITY_WARNING,
        .confidence = asked.found->by_length_count > 0 ? CONFIDENCE_MEDIUM : CONFIDENCE_HIGH,
        .text = str_format(memo->arena,
                           "For %s of the time collectives wait for the last device (%s). %s %.*s: "
                           "it is last in %s of %s, and late by %s in total.",
                           comm_share(&asked, wait_ps).text, human_ps(wait_ps).text,
                           is_one ? "The straggler is"
                                  : "No device is always last; the latest in total is",
                           STR_ARG(place), human_count(last->last_count).text,
                           human_count(turns).text, human_ps(last->late_ps).text),
        .remedy = is_one ? STR("Look at what that host or device does before its collectives: "
                               "input, other processes, a slower or throttled chip, more work "
                               "than its share.")
                         : STR("Balance the work of the devices, and what the hosts do between "
                               "launches: input, garbage collection, logging."),
    };
    finding_win(&finding, wait_ps);
    finding_prove_ps(&finding, "waiting for others, mean over devices", wait_ps);
    finding_prove_ps(&finding, "total lateness of the last device", last->late_ps)->host =
        last->host;
    const struct collective_run *run = worst_run(&asked, last);
    if (run != NULL) {
        struct evidence *evidence = finding_prove_ps(&finding, "latest arrival", run->late_ps);

        evidence_at(evidence, run->host, run->start_ps - run->late_ps, run->start_ps + run->dur_ps);
        evidence->slice = run->slice;
    }
    findings_add(list, &finding);
    return OK;
}

static bool is_handed_on(const struct collective *item, const struct collective_run *run)
{
    (void)run;
    return item->is_async && (item->kind == COLLECTIVE_SEND || item->kind == COLLECTIVE_RECV ||
                              item->kind == COLLECTIVE_PERMUTE);
}

static enum status find_bubbles(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;

    TRY(comm_look(memo, &asked, err));
    int64_t blocked_ps = comm_mean(&asked, MEASURE_BLOCKED, is_handed_on);
    if (!comm_is_share(&asked, blocked_ps, BUBBLE_PERCENT))
        return OK;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = str_format(memo->arena,
                           "For %s of the time (%s) devices wait in the done of a send, receive or "
                           "permute, for a neighbour's data.",
                           comm_share(&asked, blocked_ps).text, human_ps(blocked_ps).text),
        .remedy = STR("Fill the pipeline's bubbles: use more microbatches, stages of equal length "
                      "or an interleaved schedule, and send the neighbour's data earlier."),
    };
    finding_win(&finding, blocked_ps);
    comm_prove(&asked, &finding, MEASURE_BLOCKED, is_handed_on, "blocked");
    findings_add(list, &finding);
    return OK;
}

static bool is_exchange(const struct collective *item, const struct collective_run *run)
{
    return item->kind == COLLECTIVE_ALL_TO_ALL && run->wait_ps >= 0;
}

static enum status find_uneven(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;

    TRY(comm_look(memo, &asked, err));
    int64_t wait_ps = comm_mean(&asked, MEASURE_WAIT, is_exchange);
    int64_t total_ps = comm_mean(&asked, MEASURE_TOTAL, is_exchange);
    if (!comm_is_share(&asked, wait_ps, 1) || total_ps == 0 ||
        (double)wait_ps * 100 < (double)total_ps * UNEVEN_PERCENT)
        return OK;
    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_MEDIUM,
        .text = str_format(memo->arena,
                           "All-to-alls spend %s of their time waiting for the last device (%s of "
                           "%s): the work before them is uneven.",
                           human_share((double)wait_ps / (double)total_ps).text,
                           human_ps(wait_ps).text, human_ps(total_ps).text),
        .remedy = STR("Balance what each device computes before the exchange: the load of experts "
                      "(capacity factor, auxiliary loss), tokens or pages per device."),
    };
    finding_win(&finding, wait_ps);
    comm_prove(&asked, &finding, MEASURE_WAIT, is_exchange, "waiting");
    findings_add(list, &finding);
    return OK;
}

/* The least that the clock must be off; 0: it may be right. */
static int64_t least_skew(const struct alignment *alignment)
{
    if (alignment->known)
        return alignment->skew_ps;
    if (!alignment->bounded)
        return 0;
    return alignment->low_ps > 0 ? alignment->low_ps
                                 : (alignment->high_ps < 0 ? alignment->high_ps : 0);
}

static enum status find_skew(struct memo *memo, struct finding_list *list, struct error *err)
{
    struct comm_asked asked;

    TRY(comm_look(memo, &asked, err));
    for (uint32_t host = 1; host < memo->run->host_count; host++) {
        const struct alignment *alignment = &asked.found->alignments[host];
        int64_t skew_ps = least_skew(alignment);

        if (skew_ps < SKEW_PS && skew_ps > -SKEW_PS)
            continue;
        int64_t size_ps = skew_ps < 0 ? (skew_ps == INT64_MIN ? INT64_MAX : -skew_ps) : skew_ps;
        struct finding finding = {
            .severity = SEVERITY_WARNING,
            .confidence = alignment->known ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
            .text = str_format(memo->arena,
                               "The clock of %.*s is %s%s %s that of %.*s, measured by %u "
                               "collectives or launches that end together.",
                               STR_ARG(memo->run->hosts[host].name),
                               alignment->known ? "" : "at least ", human_ps(size_ps).text,
                               skew_ps > 0 ? "ahead of" : "behind",
                               STR_ARG(memo->run->hosts[0].name), alignment->pair_count),
            .remedy = STR("Use `align=collectives` to compare hosts, and synchronise their clocks "
                          "(chrony, PTP)."),
            .win_reason = STR("it misplaces events on the timeline; it does not slow steps"),
        };
        finding_prove_ps(&finding, "skew", skew_ps)->host = host;
        finding_prove_count(&finding, "pairs", alignment->pair_count);
        findings_add(list, &finding);
    }
    return OK;
}

extern const struct rule rules_comm_wait[];
const struct rule rules_comm_wait[] = {
    {.name = "collective-stragglers",
     .theme = "comm",
     .when = "collectives wait for the last device for 2 % of the counted time or more",
     .find = find_stragglers},
    {.name = "pipeline-bubbles",
     .theme = "comm",
     .when = "devices wait in the done of a send, receive or permute for 5 % of the time or more",
     .find = find_bubbles},
    {.name = "uneven-all-to-all",
     .theme = "comm",
     .when = "all-to-alls spend a fifth of their time or more waiting for the last device",
     .find = find_uneven},
    {.name = "clock-skew",
     .theme = "comm",
     .when = "a host's clock differs from the first host's by a millisecond or more",
     .find = find_skew},
    {.name = NULL},
};
