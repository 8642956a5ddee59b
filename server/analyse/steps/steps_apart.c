/* SPDX-License-Identifier: Apache-2.0 */
/* Work that the loop calls between its marks, after few of the steps: a validation.
 *
 *   thread   |0||1||2|val|3||4||5|val|
 *   device      | 0 | 1 | 2 | val  | 3 | 4 | 5 | val  |
 *   times       | 0 | 1 | 2 |      | 3 | 4 | 5 |
 *
 * It is told by its program: one that is called behind most of the steps is a part of the loop,
 * and of the time from work to work; one that is called behind half of them or fewer is no part of
 * any. The step before it ends where it begins, and the next one begins where it ends, so that the
 * mean of all is what the loop takes without it. Where it runs while a step's own work does, no
 * line parts them: the step only knows how long that was.
 */
#include <stdlib.h>

#include "analyse/steps/steps_parts.h"
#include "base/bisect.h"
#include "trace/ps.h"

enum { APART_MIN_SHARE = 100 };   /* less than a hundredth of all time is left where it is */
enum { APART_BESIDE_SHARE = 10 }; /* programs of a tenth of what the first one takes go with it */

void others_add(struct other_work *of, const struct attributed *entry, program_id program,
                uint32_t behind)
{
    if (of->count == of->capacity) {
        of->capacity = of->capacity == 0 ? 64 : 2 * of->capacity;
        of->items = memory_resize(of->items, of->capacity, sizeof *of->items);
    }
    of->items[of->count++] = (struct other_op){
        .start_ps = entry->start_ps,
        .end_ps = entry->start_ps + entry->dur_ps,
        .self_ps = entry->self_ps,
        .program = program,
        .behind = behind,
    };
}

static int by_program(const void *left, const void *right)
{
    const struct other_op *a = left, *b = right;

    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    return (a->behind > b->behind) - (a->behind < b->behind);
}

/* The end of those of the same program from `from` on; they are in that order. */
static uint32_t end_of_program(const struct other_work *of, uint32_t from)
{
    uint32_t end = from;

    while (end < of->count && of->items[end].program == of->items[from].program)
        end++;
    return end;
}

/* What those of a program take together; 0 where it is called behind more than half of the steps,
 * and so belongs to the loop. */
static int64_t taken_by_few(const struct other_work *of, uint32_t from, uint32_t end,
                            uint32_t steps)
{
    uint32_t held = 0;
    int64_t ret_ps = 0;

    for (uint32_t i = from; i < end; i++) {
        held += i == from || of->items[i].behind != of->items[i - 1].behind;
        ps_add(&ret_ps, of->items[i].self_ps);
    }
    return held > steps / 2 ? 0 : ret_ps;
}

/* Leaves those of programs that few steps have behind them; returns which takes most. */
static program_id keep_few(struct other_work *of, uint32_t steps)
{
    program_id most = NO_PROGRAM;
    int64_t most_ps = 0;
    uint32_t kept = 0;

    for (uint32_t from = 0, end; from < of->count; from = end) {
        end = end_of_program(of, from);

        int64_t taken_ps = taken_by_few(of, from, end, steps);

        if (taken_ps > most_ps) {
            most_ps = taken_ps;
            most = of->items[from].program;
        }
    }
    for (uint32_t from = 0, end; from < of->count; from = end) {
        end = end_of_program(of, from);
        if (most_ps > 0 && taken_by_few(of, from, end, steps) > most_ps / APART_BESIDE_SHARE) {
            for (uint32_t i = from; i < end; i++)
                of->items[kept++] = of->items[i];
        }
    }
    of->count = kept;
    return most;
}

struct gap { /* file time */
    int64_t from_ps, to_ps, beside_ps;
};

/* By step of the line what lies behind its work, and what within it. */
static struct gap *find_gaps(const struct other_work *of, const struct apart_step *line,
                             uint32_t count, int64_t *ret_all_ps)
{
    struct gap *gaps = memory_resize(NULL, (size_t)count + 1, sizeof *gaps);

    for (uint32_t i = 0; i < count; i++)
        gaps[i] = (struct gap){INT64_MAX, INT64_MIN, 0};
    for (uint32_t i = 0; i < of->count; i++) {
        const struct other_op *op = &of->items[i];
        uint32_t at = BISECT(0, count, k, line[k].start_ps <= op->start_ps);

        if (at == 0 || line[at - 1].step->foreign)
            continue;

        struct gap *gap = &gaps[--at];

        if (op->start_ps < line[at].end_ps) {
            ps_add(&gap->beside_ps, op->self_ps);
            ps_add(ret_all_ps, op->self_ps);
        } else if (at + 1 < count) {
            int64_t until_ps =
                op->end_ps < line[at + 1].start_ps ? op->end_ps : line[at + 1].start_ps;

            gap->from_ps = op->start_ps < gap->from_ps ? op->start_ps : gap->from_ps;
            gap->to_ps = until_ps > gap->to_ps ? until_ps : gap->to_ps;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (gaps[i].to_ps > gaps[i].from_ps)
            ps_add(ret_all_ps, gaps[i].to_ps - gaps[i].from_ps);
    }
    return gaps;
}

program_id steps_part(struct other_work *of, const struct apart_step *line, uint32_t count,
                      uint32_t called, struct step *steps)
{
    program_id most;
    int64_t all_ps = 0;

    if (of->count == 0 || count < 2)
        return NO_PROGRAM;
    qsort(of->items, of->count, sizeof *of->items, by_program);
    most = keep_few(of, called);

    struct gap *gaps = find_gaps(of, line, count, &all_ps);

    if (all_ps < (line[count - 1].end_ps - line[0].start_ps) / APART_MIN_SHARE || all_ps == 0) {
        free(gaps);
        return NO_PROGRAM;
    }
    for (uint32_t i = 0; i < of->count; i++)
        steps[of->items[i].behind].followed = true;
    for (uint32_t i = 0; i < count; i++) {
        struct step *step = line[i].step;

        step->beside_ps = gaps[i].beside_ps;
        if (gaps[i].to_ps <= gaps[i].from_ps)
            continue;

        struct step *next = line[i + 1].step;
        int64_t early_ps = line[i + 1].start_ps - gaps[i].to_ps;

        step->apart_ps = gaps[i].to_ps - gaps[i].from_ps;
        step->dur_ps -= line[i + 1].start_ps - gaps[i].from_ps;
        next->start_ps -= early_ps;
        ps_add(&next->dur_ps, early_ps);
    }
    free(gaps);
    return most;
}
