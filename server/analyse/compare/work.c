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

enum likeness { /* of a match */
                OTHER_WORK,
                SCALED_WORK, /* the same on other shapes, whose costs are known */
                SAME_WORK,   /* on the same shapes */
};

struct valuing {
    const struct measured *sides; /* [2] */
    const struct match *matches;
    uint32_t count;
    const enum likeness *likeness; /* by match */
    const double *scale;           /* how much more one event does in b */
    const double *price_ps;        /* of what is no other work: one event in a */
};

static bool computes_alike(const struct match_op *a, const struct match_op *b)
{
    return str_equal(a->opcode, b->opcode) && a->leaf_count == b->leaf_count &&
           (a->leaf_count == 0 ||
            memcmp(a->leaves, b->leaves, a->leaf_count * sizeof *a->leaves) == 0);
}

static enum likeness likeness_of(const struct match_op *a, const struct match_op *b)
{
    if (a->structure == 0 || b->structure == 0)
        return a->fingerprint != 0 && a->fingerprint == b->fingerprint &&
                       str_equal(a->name, b->name)
                   ? SAME_WORK
                   : OTHER_WORK;
    if (!computes_alike(a, b))
        return OTHER_WORK;
    return a->structure == b->structure && str_equal(a->shape, b->shape) ? SAME_WORK : SCALED_WORK;
}

static enum likeness least_likeness(const struct measured sides[2], const struct match *match)
{
    if (match->a_count == 0 || match->b_count == 0)
        return OTHER_WORK;
    const struct match_op *first = &sides[0].ops.items[match->a[0]];
    enum likeness ret = SAME_WORK;

    for (uint32_t i = 0; i < match->a_count + match->b_count; i++) {
        const struct match_op *op = i < match->a_count
                                        ? &sides[0].ops.items[match->a[i]]
                                        : &sides[1].ops.items[match->b[i - match->a_count]];
        enum likeness likeness = likeness_of(first, op);

        ret = likeness < ret ? likeness : ret;
    }
    return ret;
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

struct cost { /* of one execution, the mean of a match's; NAN unknown */
    double flops, bytes;
};

static struct cost cost_of(const struct measured *side, const struct match *match, int which)
{
    struct cost ret = {0};
    double events = 0;
    uint32_t count;
    const uint32_t *items = items_of(match, which, &count);

    for (uint32_t i = 0; i < count; i++) {
        const struct attribution *attribution = side->ops.hosts[items[i]]->attribution;
        uint32_t op = side->ops.ops[items[i]];

        if (attribution->costs == NULL || attribution->totals == NULL)
            return (struct cost){NAN, NAN};
        double times = (double)attribution->totals[op].event_count;

        ret.flops += attribution->costs[op].flops * times;
        ret.bytes += attribution->costs[op].bytes * times;
        events += times;
    }
    return (struct cost){ret.flops / events, ret.bytes / events};
}

/* How much more an event of b does: by its FLOPs or its bytes, whichever changed less; a loop
 * itself does nothing, and no more. 0: neither is known. */
static double scale_of(const struct measured sides[2], const struct match *match)
{
    struct cost a = cost_of(&sides[0], match, 0), b = cost_of(&sides[1], match, 1);
    double by_flops = b.flops / a.flops, by_bytes = b.bytes / a.bytes;
    bool has_flops = isfinite(by_flops) && by_flops > 0;
    bool has_bytes = isfinite(by_bytes) && by_bytes > 0;

    if (a.bytes == 0 && b.bytes == 0)
        return 1;
    if (has_flops && has_bytes)
        return fabs(log(by_flops)) < fabs(log(by_bytes)) ? by_flops : by_bytes;
    return has_flops ? by_flops : has_bytes ? by_bytes : 0;
}

struct worth {     /* of one step, or several */
    double common; /* ps: what both runs do the same, at a's speed, */
    double took;   /* and what it took here */
    double changed;
};

static double price_of(const struct valuing *valuing, int which, uint32_t match)
{
    return valuing->price_ps[match] * (which == 1 ? valuing->scale[match] : 1);
}

static struct worth worth_of(const struct valuing *valuing, int which, uint32_t step)
{
    struct worth ret = {0};

    for (uint32_t i = 0; i < valuing->count; i++) {
        struct sum sum =
            sum_of(&valuing->sides[which], &valuing->matches[i], which, step, step + 1);

        if (valuing->likeness[i] != OTHER_WORK) {
            ret.common += sum.events * price_of(valuing, which, i);
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

/* What became of one match, whose counts of a step are given. */
static struct str tell_change(const struct valuing *valuing, uint32_t index, double a_times,
                              double b_times, struct arena *arena)
{
    const struct match *match = &valuing->matches[index];
    int of = match->b_count > 0;
    struct str name = valuing->sides[of].ops.items[of == 1 ? match->b[0] : match->a[0]].name;

    if (match->a_count == 0)
        return str_format(arena, "%.*s is new", STR_ARG(name));
    if (match->b_count == 0)
        return str_format(arena, "%.*s is gone", STR_ARG(name));
    if (valuing->likeness[index] == OTHER_WORK)
        return str_format(arena,
                          least_likeness(valuing->sides, match) == OTHER_WORK
                              ? "%.*s computes something else"
                              : "%.*s works on other shapes",
                          STR_ARG(name));
    if (a_times != b_times)
        return str_format(arena, "%.*s ran %.6g times instead of %.6g", STR_ARG(name), b_times,
                          a_times);
    return str_format(arena, "%.*s does %.3g times as much a call", STR_ARG(name),
                      valuing->scale[index]);
}

/* The op whose other count, or size, says most of the change. */
static struct str tell_most(const struct valuing *valuing, double slower, struct arena *arena)
{
    const struct measured *sides = valuing->sides;
    double most_ps = 0;
    struct str ret = STR("");

    for (uint32_t i = 0; i < valuing->count; i++) {
        const struct match *match = &valuing->matches[i];
        struct sum a = sum_of(&sides[0], match, 0, 0, sides[0].step_count);
        struct sum b = sum_of(&sides[1], match, 1, 0, sides[1].step_count);
        double a_times = a.events / sides[0].step_count, b_times = b.events / sides[1].step_count;
        double more_ps =
            valuing->likeness[i] != OTHER_WORK
                ? fabs(b_times * valuing->scale[i] - a_times) * valuing->price_ps[i]
                : fabs(b.took / slower / sides[1].step_count - a.took / sides[0].step_count);

        if (more_ps <= most_ps)
            continue;
        most_ps = more_ps;
        ret = tell_change(valuing, i, a_times, b_times, arena);
    }
    return ret;
}

static bool each_as_often(const struct valuing *valuing)
{
    const struct measured *sides = valuing->sides;

    for (uint32_t i = 0; i < valuing->count; i++) {
        struct sum a = sum_of(&sides[0], &valuing->matches[i], 0, 0, sides[0].step_count);
        struct sum b = sum_of(&sides[1], &valuing->matches[i], 1, 0, sides[1].step_count);

        if (valuing->likeness[i] != SAME_WORK ||
            a.events * sides[1].step_count != b.events * sides[0].step_count)
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

/* Matches of at least that likeness are common; the share of it in each run's ops, the less. */
static double take_common(const struct measured sides[2], const struct valuing *valuing,
                          enum likeness least, enum likeness *likeness, double *scale,
                          double *price_ps)
{
    double of_all[2] = {0}, of_both[2] = {0};

    for (uint32_t i = 0; i < valuing->count; i++) {
        const struct match *match = &valuing->matches[i];
        struct sum sums[2];

        for (int side = 0; side < 2; side++) {
            sums[side] = sum_of(&sides[side], match, side, 0, sides[side].step_count);
            of_all[side] += sums[side].took;
        }
        likeness[i] = sums[0].events > 0 ? least_likeness(sides, match) : OTHER_WORK;
        scale[i] = likeness[i] == SCALED_WORK ? scale_of(sides, match) : 1;
        if (likeness[i] < least || scale[i] <= 0)
            likeness[i] = OTHER_WORK;
        for (int side = 0; likeness[i] != OTHER_WORK && side < 2; side++)
            of_both[side] += sums[side].took;
        price_ps[i] = likeness[i] != OTHER_WORK ? sums[0].took / sums[0].events : 0;
    }
    return fmin(of_both[0] / of_all[0], of_both[1] / of_all[1]);
}

/* What both runs do, and what each event of it is worth. What changed its shapes speaks only where
 * the rest is too little: how fast an op is depends on them, too. */
static bool find_common(struct valuing *valuing, struct arena *arena)
{
    enum likeness *likeness = arena_array(arena, enum likeness, (size_t)valuing->count + 1);
    double *scale = arena_array(arena, double, (size_t)valuing->count + 1);
    double *price_ps = arena_array(arena, double, (size_t)valuing->count + 1);
    double share = 0;

    for (int least = SAME_WORK; least >= SCALED_WORK && !(share > COMMON_LEAST); least--)
        share =
            take_common(valuing->sides, valuing, (enum likeness)least, likeness, scale, price_ps);
    valuing->likeness = likeness;
    valuing->scale = scale;
    valuing->price_ps = price_ps;
    return share > COMMON_LEAST;
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
    ret->what = tell_most(&valuing, ret->slower, arena);
    return OK;
}
