/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about memory that moves between host and devices: each copy is one of
 * analyse/comm/transfers.h. */
#include <stdlib.h>

#include "analyse/comm/transfers.h"
#include "analyse/findings/findings.h"
#include "base/human.h"
#include "trace/ps.h"

enum { SMALL_BYTES = 65536, SMALL_MIN = 100, UPLOAD_BYTES_MIN = 1 << 20, UPLOAD_STEPS_MIN = 3 };
static const double share_min = 0.02; /* of the counted time */

struct gathered { /* transfers that have something in common */
    uint64_t count, bytes;
    int64_t total_ps;   /* of all durations */
    int64_t counted_ps; /* within the counted steps, what is done at one time once a host */
    int64_t *until_ps;  /* by host: how far they reach so far */
    const struct transfer *longest;
};

static enum status make_transfers(struct memo *memo, const void **ret, struct error *err)
{
    struct transfers *transfers = arena_new(memo->arena, struct transfers);
    const struct steps *all;

    *ret = transfers;
    TRY(memo_all_steps(memo, &all, err));
    return transfers_find(memo->run, memo->restriction, all, memo->arena, transfers, err);
}

typedef bool transfer_test(const struct transfer *transfer);

static struct gathered begin_gathering(const struct memo *memo)
{
    struct gathered ret = {.until_ps = arena_array(memo->arena, int64_t, memo->run->host_count)};

    for (uint32_t i = 0; i < memo->run->host_count; i++)
        ret.until_ps[i] = INT64_MIN;
    return ret;
}

/* Transfers come by start. */
static void gather_one(struct gathered *gathered, const struct counted *counted,
                       const struct transfer *transfer)
{
    int64_t *until_ps = &gathered->until_ps[transfer->host];
    int64_t end_ps = transfer->start_ps + transfer->dur_ps;

    gathered->count++;
    gathered->bytes += transfer->bytes > 0 ? (uint64_t)transfer->bytes : 0;
    ps_add(&gathered->total_ps, transfer->dur_ps);
    if (end_ps > *until_ps) {
        int64_t from_ps = transfer->start_ps > *until_ps ? transfer->start_ps : *until_ps;

        ps_add(&gathered->counted_ps, counted_inside_ps(counted, transfer->host, from_ps, end_ps));
        *until_ps = end_ps;
    }
    if (gathered->longest == NULL || transfer->dur_ps > gathered->longest->dur_ps)
        gathered->longest = transfer;
}

static struct gathered gather(const struct memo *memo, const struct transfers *transfers,
                              const struct counted *counted, transfer_test *test)
{
    struct gathered ret = begin_gathering(memo);

    for (uint32_t i = 0; i < transfers->count; i++) {
        if (test(&transfers->items[i]))
            gather_one(&ret, counted, &transfers->items[i]);
    }
    return ret;
}

static void prove(struct finding *finding, const struct gathered *gathered, const char *by)
{
    const struct transfer *longest = gathered->longest;
    struct evidence *evidence = finding_prove_ps(finding, "longest of them", longest->dur_ps);

    evidence_at(evidence, longest->host, longest->start_ps, longest->start_ps + longest->dur_ps);
    evidence->slice = longest->slice;
    evidence->track = longest->track;
    evidence->step = longest->in_step ? longest->step : NO_STEP;
    evidence = finding_prove_count(finding, "transfers", gathered->count);
    evidence->view = "transfers";
    evidence->by = by;
}

static void add(struct finding_list *list, struct finding *finding, const struct gathered *gathered,
                const char *by)
{
    finding_win(finding, gathered->counted_ps);
    prove(finding, gathered, by);
    findings_add(list, finding);
}

enum status memo_transfers(struct memo *memo, const struct transfers **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_transfers, &made, err));
    *ret = made;
    return OK;
}

static enum status ask(struct memo *memo, transfer_test *test, struct gathered *ret,
                       const struct counted **ret_counted, struct error *err)
{
    const struct transfers *transfers;

    TRY(memo_transfers(memo, &transfers, err));
    TRY(memo_counted(memo, ret_counted, err));
    *ret = gather(memo, transfers, *ret_counted, test);
    return OK;
}

static bool takes_time(const struct gathered *gathered, const struct counted *counted)
{
    return gathered->count > 0 &&
           (double)gathered->counted_ps >= share_min * (double)counted->total_ps;
}

static bool is_blocking(const struct transfer *transfer)
{
    return transfer->wait == WAIT_BLOCKS &&
           (transfer->direction == DIRECTION_H2D || transfer->direction == DIRECTION_D2H);
}

static enum status find_blocking(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct counted *counted;
    struct gathered gathered;

    TRY(ask(memo, is_blocking, &gathered, &counted, err));
    if (!takes_time(&gathered, counted))
        return OK;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_HIGH,
        .text = str_format(memo->arena,
                           "The host waits for %s of its transfers to finish, for %s in total.",
                           human_count(gathered.count).text, human_ps(gathered.total_ps).text),
        .remedy =
            STR("Fetch later and together: {jax:`copy_to_host_async()` where the value is made, "
                "`np.asarray` a step later; upload ahead with "
                "`jax.device_put`}{torch:`.to(\"cpu\", non_blocking=True)` into pinned memory, "
                "read a step later; upload ahead with `non_blocking=True`}{!jax+!torch:copy "
                "asynchronously and read a step later; upload ahead}."),
    };

    add(list, &finding, &gathered, "caller");
    return OK;
}

static bool is_small(const struct transfer *transfer)
{
    return transfer->bytes >= 0 && transfer->bytes <= SMALL_BYTES &&
           (transfer->direction == DIRECTION_H2D || transfer->direction == DIRECTION_D2H);
}

static enum status find_small(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct counted *counted;
    struct gathered gathered;

    TRY(ask(memo, is_small, &gathered, &counted, err));
    if (gathered.count < SMALL_MIN)
        return OK;

    struct finding finding = {
        .severity = takes_time(&gathered, counted) ? SEVERITY_WARNING : SEVERITY_INFO,
        .confidence = CONFIDENCE_HIGH,
        .text = str_format(memo->arena,
                           "%s transfers move at most 64 KiB each, %s in total, and take %s.",
                           human_count(gathered.count).text, human_bytes(gathered.bytes).text,
                           human_ps(gathered.total_ps).text),
        .remedy = STR("Combine them: one array instead of many{jax:, or one `jax.device_put` of a "
                      "whole tree}; keep data that the next step needs on the device."),
    };

    add(list, &finding, &gathered, "size");
    return OK;
}

static bool is_pageable(const struct transfer *transfer)
{
    return transfer->memory == MEMORY_PAGEABLE;
}

static enum status find_pageable(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct counted *counted;
    struct gathered gathered;

    TRY(ask(memo, is_pageable, &gathered, &counted, err));
    if (!takes_time(&gathered, counted))
        return OK;

    struct finding finding = {
        .severity = SEVERITY_WARNING,
        .confidence = CONFIDENCE_HIGH,
        .text = str_format(
            memo->arena,
            "%s transfers use pageable host memory: %s in %s, through a buffer of the driver.",
            human_count(gathered.count).text, human_bytes(gathered.bytes).text,
            human_ps(gathered.total_ps).text),
        .remedy = STR("Keep such data in pinned memory{torch:: `pin_memory=True` of a "
                      "DataLoader}{jax:: `jax.device_put` to "
                      "`memory_kind=\"pinned_host\"`}{!jax+!torch+nvidia: (`cudaHostAlloc`)}."),
    };

    add(list, &finding, &gathered, "caller");
    return OK;
}

/* The call itself had to move its arguments. */
static bool is_implicit(const struct transfer *transfer)
{
    return transfer->direction == DIRECTION_H2D && transfer->in_step &&
           str_starts(transfer->caller, STR("PjitFunction("));
}

static enum status find_implicit(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct counted *counted;
    struct gathered gathered;

    TRY(ask(memo, is_implicit, &gathered, &counted, err));
    if (gathered.count < counted->step_count || gathered.count == 0)
        return OK;

    struct finding finding = {
        .severity = takes_time(&gathered, counted) ? SEVERITY_WARNING : SEVERITY_INFO,
        .confidence = CONFIDENCE_MEDIUM,
        .text = str_format(
            memo->arena,
            "%s transfers happen because %.*s received arguments that are not on its device.",
            human_count(gathered.count).text, STR_ARG(gathered.longest->caller)),
        .remedy =
            STR("{jax:Find them with `jax.transfer_guard(\"log\")`, and put such arguments on "
                "the device once, with `jax.device_put`.}{!jax:Put such arguments on the device "
                "once.}"),
    };

    add(list, &finding, &gathered, "caller");
    return OK;
}

/* Uploads of one size by one caller. */
static int by_upload(const void *left, const void *right)
{
    const struct transfer *a = *(const struct transfer *const *)left;
    const struct transfer *b = *(const struct transfer *const *)right;
    int order;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    order = str_compare(a->caller, b->caller);
    return order != 0 ? order : (a > b) - (a < b);
}

static bool same_upload(const struct transfer *a, const struct transfer *b)
{
    return a->host == b->host && a->bytes == b->bytes && str_equal(a->caller, b->caller);
}

static void tell_upload(struct memo *memo, struct finding_list *list, const struct counted *counted,
                        const struct gathered *gathered, uint64_t steps)
{
    const struct transfer *longest = gathered->longest;

    if (steps < UPLOAD_STEPS_MIN || !takes_time(gathered, counted))
        return;

    struct str caller = longest->caller.count > 0 ? longest->caller : STR("an unknown call");
    struct str times = gathered->count > steps ? str_format(memo->arena, " %s times,",
                                                            human_count(gathered->count).text)
                                               : STR("");
    struct finding finding = {
        .severity = SEVERITY_INFO,
        .confidence = CONFIDENCE_LOW, /* equal sizes need not be equal contents */
        .text = text_on_host(
            memo, longest->host,
            "%s are copied to the device%.*s in each of %llu steps, from %.*s, in %s in total.",
            human_bytes((uint64_t)longest->bytes).text, STR_ARG(times), (unsigned long long)steps,
            STR_ARG(caller), human_ps(gathered->total_ps).text),
        .remedy = STR("If the data is constant, keep it on the device; if it is the batch, copy "
                      "the next one while the current step runs."),
    };

    add(list, &finding, gathered, "caller");
}

static enum status find_repeated(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct transfers *transfers;
    const struct counted *counted;
    uint32_t count = 0;

    TRY(memo_transfers(memo, &transfers, err));
    TRY(memo_counted(memo, &counted, err));

    const struct transfer **uploads =
        arena_array(memo->arena, const struct transfer *, (size_t)transfers->count + 1);

    for (uint32_t i = 0; i < transfers->count; i++) {
        const struct transfer *transfer = &transfers->items[i];

        if (transfer->direction == DIRECTION_H2D && transfer->in_step &&
            transfer->bytes >= UPLOAD_BYTES_MIN)
            uploads[count++] = transfer;
    }
    if (count > 1)
        qsort(uploads, count, sizeof(*uploads), by_upload);
    int64_t *until_ps = begin_gathering(memo).until_ps;
    for (uint32_t first = 0, at; first < count; first = at) {
        struct gathered gathered = {.until_ps = until_ps};
        uint64_t steps = 0;

        until_ps[uploads[first]->host] = INT64_MIN;

        for (at = first; at < count && same_upload(uploads[first], uploads[at]); at++) {
            steps += at == first || uploads[at]->step != uploads[at - 1]->step;
            gather_one(&gathered, counted, uploads[at]);
        }
        tell_upload(memo, list, counted, &gathered, steps);
    }
    return OK;
}

const struct rule rules_transfer[] = {
    {"blocking-transfers", "transfer",
     "calls that wait for their transfers take 2 % of the counted time or more", find_blocking},
    {"small-transfers", "transfer", "100 transfers or more move at most 64 KiB each", find_small},
    {"pageable-transfers", "transfer",
     "transfers of pageable memory take 2 % of the counted time or more", find_pageable},
    {"implicit-transfers", "transfer",
     "jitted calls copy their arguments to the device, once per step or more", find_implicit},
    {"repeated-upload", "transfer",
     "copies of one size from one caller, in three steps or more, take 2 % of the time or more",
     find_repeated},
    {.name = NULL},
};
