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
 * mean of all is what the loop takes without it. Where it runs while a step's own work does no line
 * parts them, and what gives back what it takes may be the update of several steps: that stays, and
 * the step knows how long it was.
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

/* Leaves those of programs that few steps have behind them; `ret`: which takes most, of those that
 * give nothing back, and of those that do. */
static void keep_few(struct other_work *of, uint32_t steps, program_id ret[2])
{
    int64_t most_ps[2] = {0, 0}, limit_ps;
    uint32_t kept = 0;

    for (uint32_t from = 0, end; from < of->count; from = end) {
        end = end_of_program(of, from);

        int64_t taken_ps = taken_by_few(of, from, end, steps);
        bool gives_back = of->items[from].gives_back;

        if (taken_ps > most_ps[gives_back]) {
            most_ps[gives_back] = taken_ps;
            ret[gives_back] = of->items[from].program;
        }
    }
    limit_ps = (most_ps[0] > most_ps[1] ? most_ps[0] : most_ps[1]) / APART_BESIDE_SHARE;
    for (uint32_t from = 0, end; from < of->count; from = end) {
        end = end_of_program(of, from);
        if (taken_by_few(of, from, end, steps) > limit_ps) {
            for (uint32_t i = from; i < end; i++)
                of->items[kept++] = of->items[i];
        }
    }
    of->count = kept;
    for (int i = 0; i < 2; i++)
        ret[i] = most_ps[i] > limit_ps ? ret[i] : NO_PROGRAM;
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

        if (op->start_ps < line[at].end_ps || op->gives_back) {
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

program_id steps_part(const struct trace *trace, struct other_work *of,
                      const struct apart_step *line, uint32_t count, uint32_t called,
                      struct step *steps, program_id *ret_beside)
{
    program_id most[2] = {NO_PROGRAM, NO_PROGRAM};
    int64_t all_ps = 0;

    *ret_beside = NO_PROGRAM;
    if (of->count == 0 || count < 2)
        return NO_PROGRAM;
    qsort(of->items, of->count, sizeof *of->items, by_program);
    for (uint32_t from = 0, end; from < of->count; from = end) {
        bool gives_back = program_gives_back(trace, of->items[from].program);

        end = end_of_program(of, from);
        for (uint32_t i = from; i < end; i++)
            of->items[i].gives_back = gives_back;
    }
    keep_few(of, called, most);

    struct gap *gaps = find_gaps(of, line, count, &all_ps);

    if (all_ps < (line[count - 1].end_ps - line[0].start_ps) / APART_MIN_SHARE || all_ps == 0) {
        free(gaps);
        return NO_PROGRAM;
    }
    for (uint32_t i = 0; i < of->count; i++)
        steps[of->items[i].behind].followed |= !of->items[i].gives_back;
    for (uint32_t i = 0; i < count; i++) {
        struct step *step = line[i].step;

        step->beside_ps = gaps[i].beside_ps;
        if (gaps[i].to_ps <= gaps[i].from_ps)
            continue;

        struct step *next = line[i + 1].step;
        int64_t early_ps = line[i + 1].start_ps - gaps[i].to_ps;

        step->apart_ps = gaps[i].to_ps - gaps[i].from_ps;
        ps_add(&step->dur_ps, gaps[i].from_ps - line[i + 1].start_ps);
        ps_add(&next->start_ps, -early_ps);
        ps_add(&next->dur_ps, early_ps);
    }
    free(gaps);
    *ret_beside = most[1] != NO_PROGRAM ? most[1] : most[0];
    return most[0];
}
