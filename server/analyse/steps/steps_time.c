/* SPDX-License-Identifier: Apache-2.0 */
/* How long steps took, by what they launched.
 *
 *   spans    |0||1||2|
 *   device   ....| copy 1 | main 0 | main 1 |.....| main 2 |
 *   times        |  0 ............ | 1 .......... |   2    |
 *
 * Where spans hold their work, they are the times. Where they do not, a step lasts from the begin
 * of its work to that of the next one's, on the devices that did most of it, the first of them;
 * and the last to its end. What runs ahead of its turn beside the step before, as a copy of the
 * next input, moves no begin: the next step begins no earlier than the main work of the one before
 * ends. Main is the program that takes most of the device's time, or where there is none all that
 * is no copy. What the loop calls after few of them is no part of any: steps_apart.c.
 */
#include <stdlib.h>

#include "analyse/steps/host_line.h"
#include "analyse/steps/steps_parts.h"
#include "trace/ps.h"

enum { HOLD_PERCENT = 90, LATE_SHARE = 50, DECIDES_SHARE = 2, WORKS_SHARE = 100 };

const char *step_time_word(enum step_time rule)
{
    static const char *const words[] = {
        [STEP_TIME_SPAN] = "span",
        [STEP_TIME_WORK] = "work",
        [STEP_TIME_LINE] = "steps-line",
        [STEP_TIME_NEXT] = "next",
    };

    return words[rule];
}

struct turn { /* a step's work on the device that decides: file time */
    int64_t start_ps, end_ps, main_start_ps, main_end_ps;
    uint64_t count;
};

struct timing {
    const struct host_trace *host;
    const uint32_t *owners;
    struct step *steps;
    const uint32_t *order; /* of the host's steps, by begin of their spans */
    uint32_t count;
    struct turn *turns; /* by step of the list */
    const bool *decide; /* by device of the attribution: did it half of what the busiest did? */
    program_id program; /* NO_PROGRAM: all that is no copy */
    struct other_work *others;
    program_id apart, beside; /* programs of theirs that take most; NO_PROGRAM: none */
};

struct sums {         /* what steps' ops took: by device and program, copies and all that is none */
    int64_t *all_ps;  /* [device] */
    int64_t *main_ps; /* [device][program, then of none]: without copies */
    uint32_t width;
};

/* Where a device stands, mostly where the one before it did. */
static uint32_t device_place(const struct attribution *of, int32_t device, uint32_t near)
{
    for (uint32_t tries = 0; tries < of->device_count && of->devices[near].device != device;
         tries++)
        near = (near + 1) % of->device_count;
    return near;
}

static struct sums sum_work(const struct trace *trace, const struct attribution *of,
                            const uint32_t *owners, const struct step *steps)
{
    struct sums ret = {.width = trace->program_count + 1};
    struct entry_reader reader;
    uint32_t at = 0;

    entry_reader_open(&reader, of,
                      ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DEVICE) | ENTRY_BIT(ENTRY_COVERED));
    ret.all_ps = memory_zeroed((size_t)of->device_count + 1, sizeof *ret.all_ps);
    ret.main_ps = memory_zeroed(((size_t)of->device_count + 1) * ret.width, sizeof *ret.main_ps);
    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);
        const struct op *op = &of->ops[entry->op];
        program_id program =
            op->program < trace->program_count ? op->program : trace->program_count;

        if (owners[i] >= OWNER_BEHIND || steps[owners[i]].foreign || of->device_count == 0)
            continue;
        at = device_place(of, entry->device, at);
        ps_add(&ret.all_ps[at], entry->self_ps);
        if (op->kind != KIND_COPY)
            ps_add(&ret.main_ps[(size_t)at * ret.width + program], entry->self_ps);
    }
    return ret;
}

static uint32_t most_of(const int64_t *sums_ps, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++)
        best = sums_ps[i] > sums_ps[best] ? i : best;
    return best;
}

/* Those that did a hundredth of what the busiest did for steps; NULL where none did anything. */
static const bool *who_works(const struct attribution *of, const int64_t *all_ps, uint32_t busiest,
                             struct arena *arena)
{
    bool *works = arena_array(arena, bool, (size_t)of->device_count + 1);

    for (uint32_t i = 0; i < of->device_count; i++)
        works[i] = all_ps[i] >= all_ps[busiest] / WORKS_SHARE && all_ps[i] > 0;
    return all_ps[busiest] > 0 ? works : NULL;
}

/* Sets which devices decide, and the program that took most of the busiest one's time. The caller
 * frees `decide`. */
static bool *choose_main(struct timing *timing, struct arena *arena, const bool **ret_works)
{
    const struct attribution *of = timing->host->attribution;
    struct sums sums = sum_work(timing->host->trace, of, timing->owners, timing->steps);
    uint32_t device = most_of(sums.all_ps, of->device_count), none = sums.width - 1;
    const int64_t *main_ps = &sums.main_ps[(size_t)device * sums.width];
    uint32_t program = most_of(main_ps, none);
    bool *decide = memory_zeroed((size_t)of->device_count + 1, sizeof *decide);

    for (uint32_t i = 0; i < of->device_count; i++)
        decide[i] = sums.all_ps[i] >= sums.all_ps[device] / DECIDES_SHARE;
    *ret_works = who_works(of, sums.all_ps, device, arena);
    timing->decide = decide;
    timing->program = none > 0 && main_ps[program] > main_ps[none] ? program : NO_PROGRAM;
    free(sums.all_ps);
    free(sums.main_ps);
    return decide;
}

static bool is_main(const struct timing *timing, const struct op *op)
{
    return timing->program != NO_PROGRAM ? op->program == timing->program : op->kind != KIND_COPY;
}

static void widen(int64_t *from_ps, int64_t *to_ps, const struct attributed *entry)
{
    int64_t end_ps = entry->start_ps + entry->dur_ps;

    *from_ps = entry->start_ps < *from_ps ? entry->start_ps : *from_ps;
    *to_ps = end_ps > *to_ps ? end_ps : *to_ps;
}

/* Those of programs, on the devices that decide, that were called behind steps; nobody owns them
 * from here on. */
static void take_others(struct timing *timing, uint32_t *owners)
{
    const struct attribution *of = timing->host->attribution;
    uint32_t device = 0;

    for (uint32_t i = 0; i < of->entry_count; i++) {
        if (owners[i] < OWNER_BEHIND || owners[i] == NO_OWNER)
            continue;

        const struct attributed *entry = ENTRY_AT(of, i);
        const struct op *op = &of->ops[entry->op];

        device = device_place(of, entry->device, device);
        if (timing->decide[device] && op->program < timing->host->trace->program_count &&
            op->kind != KIND_COPY)
            others_add(timing->others, entry, op->program, owners[i] & ~OWNER_BEHIND);
        owners[i] = NO_OWNER;
    }
}

static void add_work(struct timing *timing)
{
    const struct attribution *of = timing->host->attribution;
    struct entry_reader reader;
    uint32_t device = 0;

    for (uint32_t i = 0; i < timing->count; i++) {
        struct step *step = &timing->steps[timing->order[i]];

        step->work_start_ps = INT64_MAX;
        step->work_end_ps = INT64_MIN;
        timing->turns[timing->order[i]] =
            (struct turn){INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, 0};
    }
    entry_reader_open(&reader, of,
                      ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_DEVICE) | ENTRY_BIT(ENTRY_START) |
                          ENTRY_BIT(ENTRY_DUR));
    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);

        if (timing->owners[i] == NO_OWNER)
            continue;

        struct step *step = &timing->steps[timing->owners[i]];
        struct turn *turn = &timing->turns[timing->owners[i]];

        step->work_count++;
        widen(&step->work_start_ps, &step->work_end_ps, entry);
        device = device_place(of, entry->device, device);
        if (!timing->decide[device])
            continue;
        turn->count++;
        widen(&turn->start_ps, &turn->end_ps, entry);
        if (is_main(timing, &of->ops[entry->op]))
            widen(&turn->main_start_ps, &turn->main_end_ps, entry);
    }
    for (uint32_t i = 0; i < timing->count; i++) {
        struct step *step = &timing->steps[timing->order[i]];

        if (step->work_count == 0) {
            step->work_start_ps = step->work_end_ps = step->start_ps;
            continue;
        }
        ps_add(&step->work_start_ps, timing->host->offset_ps);
        ps_add(&step->work_end_ps, timing->host->offset_ps);
    }
}

/* Is all of it done when the span ends, or so soon that only the last op's end is late? */
static bool holds_work(const struct step *step)
{
    int64_t end_ps = step->host_start_ps + step->host_dur_ps;

    return step->work_end_ps - end_ps <= step->host_dur_ps / LATE_SHARE;
}

static bool spans_hold_work(const struct timing *timing)
{
    uint64_t working = 0, holding = 0;

    for (uint32_t i = 0; i < timing->count; i++) {
        const struct step *step = &timing->steps[timing->order[i]];

        if (step->foreign || step->work_count == 0)
            continue;
        working++;
        holding += holds_work(step);
    }
    return holding * 100 >= working * HOLD_PERCENT;
}

/* Of the steps up to each the number that were not finished when its span ended. */
static void count_ahead(struct timing *timing)
{
    for (uint32_t i = 0; i < timing->count; i++) {
        struct step *step = &timing->steps[timing->order[i]];

        if (holds_work(step))
            continue;
        for (uint32_t back = i + 1; back > 0; back--, step->ahead++) {
            const struct step *before = &timing->steps[timing->order[back - 1]];

            if (before->work_end_ps <= step->host_start_ps + step->host_dur_ps)
                break;
        }
    }
}

/* Does the host set the pace: one mark begins where the one before ends, and no more than its own
 * work is open then? Such spans are the loop. */
static bool spans_are_the_loop(const struct timing *timing)
{
    const struct step *first = &timing->steps[timing->order[0]];
    const struct step *last = &timing->steps[timing->order[timing->count - 1]];
    int64_t all_ps = last->host_start_ps + last->host_dur_ps - first->host_start_ps, sum_ps = 0;

    for (uint32_t i = 0; i < timing->count; i++) {
        const struct step *step = &timing->steps[timing->order[i]];

        if (step->ahead > 1 || step->foreign)
            return false;
        ps_add(&sum_ps, step->host_dur_ps);
    }
    return all_ps - sum_ps <= all_ps / LATE_SHARE && timing->count > 1;
}

static int64_t begin_of(const struct turn *turn, const struct turn *before)
{
    int64_t at_ps = turn->start_ps;

    if (before == NULL)
        return at_ps;
    if (before->main_end_ps > at_ps)
        at_ps = before->main_end_ps;
    if (turn->main_start_ps != INT64_MAX && at_ps > turn->main_start_ps)
        at_ps = turn->main_start_ps;
    return at_ps < turn->end_ps ? at_ps : turn->end_ps;
}

/* The steps that worked, and where what they did ends. */
static void part_others(struct timing *timing)
{
    struct apart_step *line = memory_resize(NULL, (size_t)timing->count + 1, sizeof *line);
    uint32_t count = 0, called = 0;

    for (uint32_t i = 0; i < timing->count; i++) {
        struct step *step = &timing->steps[timing->order[i]];
        const struct turn *turn = &timing->turns[timing->order[i]];

        called += !step->foreign;
        if (turn->count > 0)
            line[count++] =
                (struct apart_step){step, step->start_ps - timing->host->offset_ps, turn->end_ps};
    }
    timing->apart = steps_part(timing->host->trace, timing->others, line, count, called,
                               timing->steps, &timing->beside);
    free(line);
}

/* From work to work. What did no work in the file is cut off, and so is the last one where it did
 * less than all others. */
static void time_by_work(struct timing *timing)
{
    uint32_t others = 0;
    struct step *last = NULL;
    const struct turn *turn = NULL;
    uint64_t fewest = UINT64_MAX;
    bool others_wait = false; /* the last one that worked is not the last that was called */

    for (uint32_t i = 0; i < timing->count; i++) {
        struct step *step = &timing->steps[timing->order[i]];
        const struct turn *next = &timing->turns[timing->order[i]];

        step->time_rule = STEP_TIME_WORK;
        others_wait = next->count == 0;
        if (others_wait) {
            step->cut = true;
            continue;
        }

        int64_t at_ps = begin_of(next, turn) + timing->host->offset_ps;

        if (last != NULL && at_ps < last->start_ps)
            at_ps = last->start_ps;
        if (last != NULL) {
            last->dur_ps = at_ps - last->start_ps;
            others += !last->foreign;
            if (!last->foreign && turn->count < fewest)
                fewest = turn->count;
        }
        step->start_ps = at_ps;
        last = step;
        turn = next;
    }
    if (last == NULL)
        return;
    last->dur_ps = turn->end_ps + timing->host->offset_ps - last->start_ps;
    last->dur_ps = last->dur_ps > 0 ? last->dur_ps : 0;
    /* Of one step alone nobody knows that each does as much, unless more were called. */
    fewest = others == 1 && !others_wait ? fewest / 2 : fewest;
    last->cut |= !last->foreign && turn->count < fewest && fewest != UINT64_MAX;
}

/* Lanes of a thread are the thread. */
static track_id thread_of(const struct trace *trace, const struct step *step)
{
    return step->slice == NO_SLICE
               ? NO_TRACK
               : host_thread_of(trace, trace->rows[trace_row_of(trace, step->slice)].track);
}

/* Are spans open beside each other, as those of requests that a thread serves by turns? What ran
 * from one's work to the next one's is nobody's time then. */
static bool spans_overlap(const struct timing *timing)
{
    int64_t open_until_ps = INT64_MIN;
    uint64_t count = 0, beside = 0;

    for (uint32_t i = 0; i < timing->count; i++) {
        const struct step *step = &timing->steps[timing->order[i]];
        int64_t end_ps = step->host_start_ps + step->host_dur_ps;

        if (step->foreign)
            continue;
        count++;
        beside += steps_are_beside(open_until_ps, step);
        open_until_ps = end_ps > open_until_ps ? end_ps : open_until_ps;
    }
    return beside * BESIDE_SHARE > count;
}

/* Steps of each thread follow each other by themselves. */
static void time_by_thread(struct timing *timing)
{
    uint32_t *left = memory_resize(NULL, (size_t)timing->count + 1, sizeof *left);
    uint32_t *order = memory_resize(NULL, (size_t)timing->count + 1, sizeof *order);
    uint32_t left_count = timing->count;
    struct timing part = *timing;
    bool one_thread = true;

    for (uint32_t i = 0; i < left_count; i++)
        left[i] = timing->order[i];
    part.order = order;
    while (left_count > 0) {
        track_id thread = thread_of(timing->host->trace, &timing->steps[left[0]]);
        uint32_t kept = 0;

        part.count = 0;
        for (uint32_t i = 0; i < left_count; i++) {
            if (thread_of(timing->host->trace, &timing->steps[left[i]]) == thread)
                order[part.count++] = left[i];
            else
                left[kept++] = left[i];
        }
        left_count = kept;
        one_thread &= part.count == timing->count;
        count_ahead(&part);
        if (spans_overlap(&part) || spans_hold_work(&part) || spans_are_the_loop(&part))
            continue;
        time_by_work(&part);
        if (one_thread)
            part_others(&part);
    }
    timing->apart = part.apart;
    timing->beside = part.beside;
    free(left);
    free(order);
}

const bool *steps_time(const struct host_trace *host, uint32_t index, uint32_t *owners,
                       struct step_list *list, struct arena *arena)
{
    struct other_work others = {0};
    const bool *works = NULL;
    uint32_t *order = memory_resize(NULL, (size_t)list->count + 1, sizeof *order);
    struct timing timing = {.host = host,
                            .owners = owners,
                            .steps = list->items,
                            .order = order,
                            .others = &others,
                            .apart = NO_PROGRAM,
                            .beside = NO_PROGRAM};

    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].host == index)
            order[timing.count++] = i;
    }
    if (timing.count > 0 && owners != NULL) {
        bool marked = list->items[order[0]].host_dur_ps >= 0;

        timing.turns = memory_resize(NULL, list->count, sizeof *timing.turns);

        bool *decide = choose_main(&timing, arena, &works);

        take_others(&timing, owners);
        add_work(&timing);
        if (marked)
            time_by_thread(&timing);
        else
            works = NULL;
        if (timing.apart != NO_PROGRAM && list->apart.count == 0)
            list->apart = trace_name(host->trace, host->trace->programs[timing.apart].name);
        if (timing.beside != NO_PROGRAM && list->beside.count == 0)
            list->beside = trace_name(host->trace, host->trace->programs[timing.beside].name);
        free(decide);
        free(timing.turns);
        free(others.items);
    }
    free(order);
    return works;
}
