/* SPDX-License-Identifier: Apache-2.0 */
/* What compute of a device covers, where it communicates.
 *
 *   compute    |-----|   |--|           the union, kept as disjoint stretches with the length
 *                 |----|                before each: covered time is a difference of two lookups
 *   covered    |-------| |--|
 *
 * A kernel that holds others, and control flow, is no compute of its own: a loop does not hide the
 * collective in its body. On XLA:CPU an op that handed its work to a pool is over when the next one
 * begins (device_line.h), as in the breakdown.
 */
#include <stdlib.h>

#include "analyse/comm/collectives_parts.h"
#include "analyse/scan/scan.h"
#include "analyse/steps/device_line.h"
#include "base/bisect.h"
#include "trace/ps.h"

struct piece {
    int64_t from_ps, to_ps, before_ps; /* of all pieces before it */
};

struct covered {
    struct piece *pieces;
    uint32_t count, capacity;
};

static void cover(struct covered *covered, int64_t from_ps, int64_t to_ps)
{
    struct piece *last = covered->count == 0 ? NULL : &covered->pieces[covered->count - 1];

    if (last != NULL && from_ps <= last->to_ps) {
        last->to_ps = to_ps > last->to_ps ? to_ps : last->to_ps;
        return;
    }
    if (covered->count == covered->capacity) {
        covered->capacity = covered->capacity == 0 ? 256 : 2 * covered->capacity;
        covered->pieces =
            memory_resize(covered->pieces, covered->capacity, sizeof(*covered->pieces));
    }
    covered->pieces[covered->count++] = (struct piece){.from_ps = from_ps, .to_ps = to_ps};
}

/* The longest that an op of this host computes: nothing that began earlier reaches a stretch. */
static int64_t longest_compute(const struct attribution *attribution, const struct op_facts *facts)
{
    int64_t longest_ps = 0;

    if (attribution->totals == NULL)
        return TIME_PS_MAX;
    for (uint32_t i = 0; i < attribution->op_count; i++)
        if (facts[i].role == OP_COMPUTE && attribution->totals[i].max_ps > longest_ps)
            longest_ps = attribution->totals[i].max_ps;
    return longest_ps;
}

static bool is_before(const struct attribution *attribution, uint32_t at, int32_t device,
                      int64_t start_ps)
{
    const struct attributed *entry = ENTRY_AT(attribution, entry_in_time(attribution, at));

    return entry->device < device || (entry->device == device && entry->start_ps < start_ps);
}

/* The first by (device, start) at or behind a moment, from `low` on: mostly near, so steps double
 * until one is too far. */
static uint32_t by_time_from(const struct attribution *attribution, int32_t device,
                             int64_t start_ps, uint32_t low)
{
    uint32_t count = attribution->entry_count, high = low, step = 1;

    while (high < count && is_before(attribution, high, device, start_ps)) {
        low = high + 1;
        high = count - high > step ? high + step : count;
        step *= 2;
    }
    return BISECT(low, high, i, is_before(attribution, i, device, start_ps));
}

static void sum_before(struct covered *covered)
{
    int64_t sum_ps = 0;

    for (uint32_t i = 0; i < covered->count; i++) {
        covered->pieces[i].before_ps = sum_ps;
        ps_add(&sum_ps, covered->pieces[i].to_ps - covered->pieces[i].from_ps);
    }
}

static struct covered *covered_create(const struct host_trace *host,
                                      const struct op_facts *op_facts, int32_t device,
                                      const struct window *stretches, uint32_t count)
{
    const struct attribution *attribution = host->attribution;
    struct covered *covered = memory_resize(NULL, 1, sizeof(*covered));
    int64_t longest_ps = longest_compute(attribution, op_facts);
    bool on_tracks = device_work_on_tracks(host->trace);
    uint32_t at = 0;

    *covered = (struct covered){0};
    for (uint32_t i = 0; i < count; i++) {
        int64_t from_ps = stretches[i].from_ps > -TIME_PS_MAX + longest_ps
                              ? stretches[i].from_ps - longest_ps
                              : -TIME_PS_MAX;

        at = by_time_from(attribution, device, from_ps, at);
        for (; at < attribution->entry_count; at++) {
            const struct attributed *entry = ENTRY_AT(attribution, entry_in_time(attribution, at));

            if (entry->device != device || entry->start_ps >= stretches[i].to_ps)
                break;
            if (op_facts[entry->op].role != OP_COMPUTE || entry->dur_ps <= 0 ||
                (on_tracks && entry->self_ps < entry->dur_ps))
                continue;
            cover(covered, entry->start_ps,
                  on_tracks ? entry->start_ps + entry->dur_ps : device_op_over(host, at));
        }
    }
    sum_before(covered);
    return covered;
}

static int64_t covered_before(const struct covered *covered, int64_t at_ps)
{
    uint32_t low = BISECT(0, covered->count, i, covered->pieces[i].to_ps <= at_ps);

    if (low == covered->count) {
        const struct piece *last = low == 0 ? NULL : &covered->pieces[low - 1];

        return last == NULL ? 0 : last->before_ps + (last->to_ps - last->from_ps);
    }
    const struct piece *piece = &covered->pieces[low];
    return piece->before_ps + (at_ps > piece->from_ps ? at_ps - piece->from_ps : 0);
}

static int64_t covered_between(const struct covered *covered, int64_t from_ps, int64_t to_ps)
{
    return covered_before(covered, to_ps) - covered_before(covered, from_ps);
}

static void covered_free(struct covered *covered)
{
    free(covered->pieces);
    free(covered);
}

/* Stretches of file time in which those runs that are asked for communicate, joined where they
 * overlap. */
static uint32_t stretches_of(const struct collective_run *runs, uint32_t count, int64_t offset_ps,
                             struct window *ret)
{
    uint32_t joined = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct collective_run *run = &runs[i];
        struct window window = {run->start_ps - offset_ps, run->start_ps - offset_ps + run->dur_ps};

        if (run->inside_ps < 0)
            continue;
        if (joined == 0 || window.from_ps > ret[joined - 1].to_ps)
            ret[joined++] = window;
        else if (window.to_ps > ret[joined - 1].to_ps)
            ret[joined - 1].to_ps = window.to_ps;
    }
    return joined;
}

/* Covered time of a run inside the windows asked for. */
static int64_t hidden_of(const struct covered *covered, const struct selection *selection,
                         const struct collective_run *run)
{
    int64_t from_ps = run->start_ps - selection->host->offset_ps, to_ps = from_ps + run->dur_ps;
    struct row_windows windows = collectives_windows(selection);
    int64_t hidden_ps = 0;

    for (uint32_t i = window_from(windows, from_ps);
         i < windows.count && windows.items[i].from_ps < to_ps; i++) {
        const struct window *window = &windows.items[i];
        int64_t a = window->from_ps > from_ps ? window->from_ps : from_ps;
        int64_t b = window->to_ps < to_ps ? window->to_ps : to_ps;

        if (a < b)
            ps_add(&hidden_ps, covered_between(covered, a, b));
    }
    return hidden_ps;
}

/* Devices of a host side by side: runs [firsts[i], firsts[i + 1]) are of one. */
struct hiding {
    struct finding_work *work;
    const struct selection *selection;
    uint32_t *firsts;
    uint32_t device_count, part_count;
};

static void hide_on_device(const struct hiding *hiding, struct collective_run *runs, uint32_t count)
{
    const struct selection *selection = hiding->selection;
    struct window *stretches = memory_resize(NULL, (size_t)count + 1, sizeof(*stretches));
    uint32_t stretch_count = stretches_of(runs, count, selection->host->offset_ps, stretches);
    struct covered *covered =
        covered_create(selection->host, hiding->work->op_facts[selection->index], runs[0].device,
                       stretches, stretch_count);

    for (uint32_t i = 0; i < count; i++)
        if (runs[i].inside_ps >= 0)
            runs[i].hidden_ps = hidden_of(covered, selection, &runs[i]);
    covered_free(covered);
    free(stretches);
}

static void hide_part(void *data, uint32_t part)
{
    const struct hiding *hiding = data;
    uint32_t end = (uint32_t)split_begin(hiding->device_count, part + 1, hiding->part_count);

    for (uint32_t i = (uint32_t)split_begin(hiding->device_count, part, hiding->part_count);
         i < end; i++)
        hide_on_device(hiding, hiding->work->ret->runs + hiding->firsts[i],
                       hiding->firsts[i + 1] - hiding->firsts[i]);
}

void collectives_hide(struct finding_work *work, const struct selection *selection, uint32_t first)
{
    const struct collective_run *runs = work->ret->runs;
    uint32_t end = work->ret->run_count;
    struct hiding hiding = {.work = work, .selection = selection};

    hiding.firsts = memory_resize(NULL, (size_t)(end - first) + 1, sizeof(*hiding.firsts));
    for (uint32_t i = first; i < end; i++)
        if (i == first || runs[i].device != runs[i - 1].device)
            hiding.firsts[hiding.device_count++] = i;
    hiding.firsts[hiding.device_count] = end;
    hiding.part_count = split_count(selection->host->attribution->entry_count);
    split_run(hiding.part_count, hide_part, &hiding);
    free(hiding.firsts);
}
