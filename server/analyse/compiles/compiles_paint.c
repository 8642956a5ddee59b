/* SPDX-License-Identifier: Apache-2.0 */
/* Time of compiles by phase: at each moment the innermost mark of a thread tells.
 *
 *   own      | call      |trace  |  |lower|  | backend_compile       |
 *   painted  | other     | trace |o.|lower|o.| backend               |
 *   worked                                     | passes | codegen |
 *   counted  | other     | trace |o.|lower|o.|b| passes | codegen |b |
 *
 * Marks of one thread nest; one that outlives what it began in counts until its own end. What a
 * worker did fills what its asker waited for, and nothing else: so a compile's phases sum to the
 * time of its marks on the thread that asked.
 */
#include <stdlib.h>

#include "analyse/compiles/compiles_parts.h"
#include "base/bisect.h"
#include "trace/ps.h"

struct paint_segment { /* of one line of time */
    uint32_t owner;
    enum compile_phase phase;
    int64_t from_ps, to_ps;
};

struct painting {
    struct paint_segment *items;
    uint32_t count, capacity;
};

struct open_mark {
    int64_t end_ps;
    uint32_t owner;
    enum compile_phase phase;
};

struct open_marks { /* of a thread, the innermost last */
    struct open_mark *items;
    uint32_t count, capacity;
    int64_t now_ps; /* painted up to here */
};

static void paint(struct painting *painting, const struct open_mark *mark, int64_t from_ps,
                  int64_t to_ps)
{
    if (mark->owner == NO_COMPILE || from_ps >= to_ps)
        return;
    if (painting->count == painting->capacity) {
        painting->capacity = painting->capacity == 0 ? 256 : 2 * painting->capacity;
        painting->items =
            memory_resize(painting->items, painting->capacity, sizeof(*painting->items));
    }
    painting->items[painting->count++] =
        (struct paint_segment){mark->owner, mark->phase, from_ps, to_ps};
}

/* Paints up to a time, and ends what ended before it. */
static void advance(struct open_marks *open, struct painting *painting, int64_t to_ps)
{
    while (open->count > 0) {
        const struct open_mark *mark = &open->items[open->count - 1];
        int64_t until_ps = mark->end_ps < to_ps ? mark->end_ps : to_ps;

        if (until_ps > open->now_ps) {
            paint(painting, mark, open->now_ps, until_ps);
            open->now_ps = until_ps;
        }
        if (mark->end_ps > to_ps)
            break;
        open->count--;
    }
    if (open->now_ps < to_ps)
        open->now_ps = to_ps;
}

static void begin(struct open_marks *open, const struct compile_mark *mark)
{
    struct open_mark begun = {mark->end_ps, mark->owner, mark->word.phase};

    /* Autotuning compiles many times; that is autotuning all the same. */
    if (open->count > 0 && open->items[open->count - 1].phase == PHASE_AUTOTUNE &&
        open->items[open->count - 1].owner == mark->owner)
        begun.phase = PHASE_AUTOTUNE;
    if (open->count == open->capacity) {
        open->capacity = open->capacity == 0 ? 64 : 2 * open->capacity;
        open->items = memory_resize(open->items, open->capacity, sizeof(*open->items));
    }
    open->items[open->count++] = begun;
}

static void paint_marks(const struct compile_marks *marks, struct painting *painting)
{
    struct open_marks open = {0};

    for (uint32_t i = 0; i < marks->count; i++) {
        const struct compile_mark *mark = &marks->items[i];

        if (i == 0 || mark->track != marks->items[i - 1].track) {
            advance(&open, painting, INT64_MAX);
            open.now_ps = mark->start_ps;
        }
        advance(&open, painting, mark->start_ps);
        begin(&open, mark);
    }
    advance(&open, painting, INT64_MAX);
    free(open.items);
}

static int by_owner_and_time(const void *left, const void *right)
{
    const struct paint_segment *a = left, *b = right;

    if (a->owner != b->owner)
        return a->owner < b->owner ? -1 : 1;
    if (a->from_ps != b->from_ps)
        return a->from_ps < b->from_ps ? -1 : 1;
    return (a->to_ps > b->to_ps) - (a->to_ps < b->to_ps);
}

/* Lets go of what an earlier segment of the same owner covers: several may work at once. */
static void part_worked(struct painting *worked)
{
    uint32_t kept = 0;
    int64_t covered_ps = INT64_MIN;

    if (worked->count > 1)
        qsort(worked->items, worked->count, sizeof(*worked->items), by_owner_and_time);
    for (uint32_t i = 0; i < worked->count; i++) {
        struct paint_segment segment = worked->items[i];

        if (i == 0 || segment.owner != worked->items[i - 1].owner)
            covered_ps = INT64_MIN;
        if (segment.from_ps < covered_ps)
            segment.from_ps = covered_ps;
        if (segment.from_ps >= segment.to_ps)
            continue;
        covered_ps = segment.to_ps;
        worked->items[kept++] = segment;
    }
    worked->count = kept;
}

static bool is_over(const struct paint_segment *segment, uint32_t owner, int64_t at_ps)
{
    return segment->owner < owner || (segment->owner == owner && segment->to_ps <= at_ps);
}

static uint32_t first_behind(const struct painting *worked, uint32_t owner, int64_t at_ps)
{
    return BISECT(0, worked->count, i, is_over(&worked->items[i], owner, at_ps));
}

void compiles_paint(struct compile *compiles, const struct compile_marks *own,
                    const struct compile_marks *worked)
{
    struct painting owned = {0}, worker = {0};

    paint_marks(own, &owned);
    paint_marks(worked, &worker);
    part_worked(&worker);
    for (uint32_t i = 0; i < owned.count; i++) {
        const struct paint_segment *segment = &owned.items[i];
        int64_t *phases_ps = compiles[segment->owner].phases_ps;
        int64_t rest_ps = segment->to_ps - segment->from_ps;

        for (uint32_t at = first_behind(&worker, segment->owner, segment->from_ps);
             segment->phase == PHASE_BACKEND && at < worker.count &&
             worker.items[at].owner == segment->owner && worker.items[at].from_ps < segment->to_ps;
             at++) {
            const struct paint_segment *by = &worker.items[at];
            int64_t from_ps = by->from_ps > segment->from_ps ? by->from_ps : segment->from_ps;
            int64_t to_ps = by->to_ps < segment->to_ps ? by->to_ps : segment->to_ps;

            ps_add(&phases_ps[by->phase], to_ps - from_ps);
            ps_add(&rest_ps, -(to_ps - from_ps));
        }
        ps_add(&phases_ps[segment->phase], rest_ps);
    }
    free(owned.items);
    free(worker.items);
}
