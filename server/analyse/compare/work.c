/* SPDX-License-Identifier: Apache-2.0 */
/* Values the work of two runs' steps at one speed. */
#include "analyse/compare/work.h"

#include <math.h>
#include <string.h>

#include "analyse/compare/diff_parts.h"
#include "analyse/steps/device_line.h"
#include "trace/ps.h"

#define COMMON_LEAST 0.5 /* of each run's ops, by time: else no speed can be told */
#define FILLED_LEAST 0.8 /* of a mean step, while ops ran */

struct valuing {
    const struct measured *sides; /* [2] */
    const struct match *matches;
    uint32_t count;
    const bool *common;     /* by match: the same work, as often as it is counted */
    const double *price_ps; /* of those: one event in a */
};

static bool computes_the_same(const struct match_op *a, const struct match_op *b)
{
    if (a->structure == 0 || b->structure == 0)
        return a->fingerprint != 0 && a->fingerprint == b->fingerprint &&
               str_equal(a->name, b->name);
    return a->structure == b->structure && str_equal(a->opcode, b->opcode) &&
           str_equal(a->shape, b->shape) && a->leaf_count == b->leaf_count &&
           (a->leaf_count == 0 ||
            memcmp(a->leaves, b->leaves, a->leaf_count * sizeof *a->leaves) == 0);
}

static bool is_common(const struct measured sides[2], const struct match *match)
{
    if (match->a_count == 0 || match->b_count == 0)
        return false;
    const struct match_op *first = &sides[0].ops.items[match->a[0]];

    for (uint32_t i = 1; i < match->a_count; i++) {
        if (!computes_the_same(first, &sides[0].ops.items[match->a[i]]))
            return false;
    }
    for (uint32_t i = 0; i < match->b_count; i++) {
        if (!computes_the_same(first, &sides[1].ops.items[match->b[i]]))
            return false;
    }
    return true;
}

static const uint32_t *items_of(const struct match *match, int side, uint32_t *ret_count)
{
    *ret_count = side == 0 ? match->a_count : match->b_count;
    return side == 0 ? match->a : match->b;
}

struct sum { /* of a match, in one step or all */
    double took, events;
};

static struct sum sum_of(const struct measured *side, const struct match *match, int which,
                         uint32_t from, uint32_t to)
{
    struct sum ret = {0};
    uint32_t count;
    const uint32_t *items = items_of(match, which, &count);

    for (uint32_t i = 0; i < count; i++) {
        size_t row = (size_t)items[i] * side->step_count;

        for (uint32_t step = from; step < to; step++) {
            ret.took += (double)side->series[row + step];
            ret.events += (double)side->events[row + step];
        }
    }
    return ret;
}

struct worth {     /* of one step, or several */
    double common; /* ps: what both runs do the same, at a's speed, */
    double took;   /* and what it took here */
    double changed;
};

static struct worth worth_of(const struct valuing *valuing, int which, uint32_t step)
{
    struct worth ret = {0};

    for (uint32_t i = 0; i < valuing->count; i++) {
        struct sum sum =
            sum_of(&valuing->sides[which], &valuing->matches[i], which, step, step + 1);

        if (valuing->common[i]) {
            ret.common += sum.events * valuing->price_ps[i];
            ret.took += sum.took;
        } else {
            ret.changed += sum.took;
        }
    }
    return ret;
}

/* What the steps of one run are at a's speed; and the sum of what they are worth. */
static struct worth value_steps(const struct valuing *valuing, int which, struct arena *arena,
                                struct work_steps *ret)
{
    const struct measured *side = &valuing->sides[which];
    struct worth sum = {0};

    ret->count = side->step_count;
    ret->work_ps = arena_array(arena, int64_t, ret->count);
    ret->time_ps = arena_array(arena, int64_t, ret->count);
    for (uint32_t step = 0; step < ret->count; step++) {
        struct worth worth = worth_of(valuing, which, step);
        double faster = worth.took > 0 ? worth.common / worth.took : 1;

        ret->work_ps[step] = (int64_t)llround(worth.common + worth.changed * faster);
        ret->time_ps[step] = (int64_t)llround((double)side->durs_ps[step] * faster);
        sum.common += worth.common;
        sum.took += worth.took;
        sum.changed += worth.changed * faster;
    }
    return sum;
}

/* The op whose other count says most of the change. */
static struct str tell_most(const struct valuing *valuing, struct arena *arena)
{
    const struct measured *sides = valuing->sides;
    double most_ps = 0;
    struct str ret = STR("");

    for (uint32_t i = 0; i < valuing->count; i++) {
        const struct match *match = &valuing->matches[i];
        struct sum a = sum_of(&sides[0], match, 0, 0, sides[0].step_count);
        struct sum b = sum_of(&sides[1], match, 1, 0, sides[1].step_count);
        double a_times = a.events / sides[0].step_count, b_times = b.events / sides[1].step_count;
        double more_ps = valuing->common[i]
                             ? fabs(b_times - a_times) * valuing->price_ps[i]
                             : fabs(b.took / sides[1].step_count - a.took / sides[0].step_count);

        if (more_ps <= most_ps)
            continue;
        most_ps = more_ps;
        int of = match->b_count > 0;
        struct str name = sides[of].ops.items[of == 1 ? match->b[0] : match->a[0]].name;
        ret = valuing->common[i]    ? str_format(arena, "%.*s ran %.6g times instead of %.6g",
                                                 STR_ARG(name), b_times, a_times)
              : match->a_count == 0 ? str_format(arena, "%.*s is new", STR_ARG(name))
              : match->b_count == 0
                  ? str_format(arena, "%.*s is gone", STR_ARG(name))
                  : str_format(arena, "%.*s computes something else", STR_ARG(name));
    }
    return ret;
}

static bool each_as_often(const struct valuing *valuing)
{
    const struct measured *sides = valuing->sides;

    for (uint32_t i = 0; i < valuing->count; i++) {
        struct sum a = sum_of(&sides[0], &valuing->matches[i], 0, 0, sides[0].step_count);
        struct sum b = sum_of(&sides[1], &valuing->matches[i], 1, 0, sides[1].step_count);

        if (!valuing->common[i] || a.events * sides[1].step_count != b.events * sides[0].step_count)
            return false;
    }
    return true;
}

/* Of a mean step, the time in which ops ran. */
static double filled(const struct diff_measured *told)
{
    int64_t left_ps = told->mean_ps;

    for (int doing = 0; doing < DOING_COUNT; doing++)
        ps_add(&left_ps, -told->doing_ps[doing]);
    return told->mean_ps > 0 ? (double)left_ps / (double)told->mean_ps : 0;
}

static bool is_on_host(const struct run_traces *run)
{
    for (uint32_t i = 0; i < run->host_count; i++) {
        if (device_work_on_tracks(run->hosts[i].trace))
            return false;
    }
    return true;
}

/* Which matches are the same work, what each event of it is worth, and how much all of it is. */
static bool find_common(struct valuing *valuing, struct arena *arena)
{
    const struct measured *sides = valuing->sides;
    bool *common = arena_array(arena, bool, (size_t)valuing->count + 1);
    double *price_ps = arena_array(arena, double, (size_t)valuing->count + 1);
    double of_all[2] = {0}, of_both[2] = {0};

    for (uint32_t i = 0; i < valuing->count; i++) {
        struct sum sums[2];

        for (int side = 0; side < 2; side++) {
            sums[side] =
                sum_of(&sides[side], &valuing->matches[i], side, 0, sides[side].step_count);
            of_all[side] += sums[side].took;
        }
        common[i] = is_common(sides, &valuing->matches[i]) && sums[0].events > 0;
        for (int side = 0; common[i] && side < 2; side++)
            of_both[side] += sums[side].took;
        price_ps[i] = common[i] ? sums[0].took / sums[0].events : 0;
    }
    valuing->common = common;
    valuing->price_ps = price_ps;
    return of_both[0] > COMMON_LEAST * of_all[0] && of_both[1] > COMMON_LEAST * of_all[1];
}

enum status work_compare(const struct diff_side *const sides[2], struct arena *arena,
                         struct work_change *ret, struct error *err)
{
    struct measured measured[2];
    struct match *matches;
    struct worth of_b;

    *ret = (struct work_change){.what = STR("")};
    if (sides[0]->run->host_count > 1 || sides[1]->run->host_count > 1)
        return OK; /* whose steps are one measurement */
    for (int side = 0; side < 2; side++)
        TRY(diff_measure(sides[side], true, DIFF_ALL, arena, &measured[side], err));
    if (measured[0].series == NULL || measured[1].series == NULL)
        return OK;

    struct valuing valuing = {.sides = measured};

    valuing.count = match_ops(measured[0].ops.items, measured[0].ops.count, measured[1].ops.items,
                              measured[1].ops.count, arena, &matches);
    valuing.matches = matches;
    if (valuing.count == 0 || !find_common(&valuing, arena))
        return OK;
    ret->known = true;
    (void)value_steps(&valuing, 0, arena, &ret->a);
    of_b = value_steps(&valuing, 1, arena, &ret->b);
    ret->slower = of_b.common > 0 ? of_b.took / of_b.common : 1;
    ret->is_same = each_as_often(&valuing);
    ret->on_host = is_on_host(sides[0]->run) && is_on_host(sides[1]->run);
    ret->fills =
        filled(&measured[0].told) >= FILLED_LEAST && filled(&measured[1].told) >= FILLED_LEAST;
    ret->what = tell_most(&valuing, arena);
    return OK;
}
