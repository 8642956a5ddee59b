/* SPDX-License-Identifier: Apache-2.0 */
/* Decides ok, regressed or noisy from the interval of a difference, and says how many steps
 * would tell. */
#include "analyse/stats/judge.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/stats/rank_shift.h"
#include "analyse/stats/welch.h"
#include "base/arena.h"
#include "base/bytes.h"

/* What runs differ by is not normal: some are far off, so that Student's bounds are passed so many
 * times as often as they say. */
#define TAILS_OF_RUNS 5

const char *judged_word(enum judged answer)
{
    static const char *const words[] = {[JUDGED_OK] = "ok",
                                        [JUDGED_MAYBE] = "maybe",
                                        [JUDGED_UNKNOWN] = "unknown",
                                        [JUDGED_REGRESSED] = "regressed"};

    return words[answer];
}

static int64_t to_i64(double value)
{
    return value >= 9.2e18 ? INT64_MAX : value <= -9.2e18 ? INT64_MIN : (int64_t)llround(value);
}

static int64_t allowed_of(int64_t baseline_median, const struct judge_rule *rule)
{
    double share = fmax(rule->max_regress, rule->min_effect_share);
    int64_t allowed = to_i64(share * fabs((double)baseline_median));

    return allowed > rule->min_effect ? allowed : rule->min_effect;
}

/* The smallest p of one side that lists of these lengths can have: one after the other, of all ways
 * to lay them out. */
static double least_p(uint32_t a_count, uint32_t b_count)
{
    double p = 1;

    for (uint32_t i = 1; i <= a_count && p > 1e-12; i++)
        p *= (double)i / ((double)b_count + i);
    return a_count == 0 || b_count == 0 ? 1 : p;
}

static int64_t least_count(double confidence)
{
    uint32_t count = 2;

    while (least_p(count, count) > 1 - confidence)
        count++;
    return count;
}

/* An interval narrows with the root of how many steps it stands on; it is too wide as it is. */
static int64_t steps_for(double count, double half_width, double wanted)
{
    double times = wanted > 0 ? fmax(1, half_width / wanted) : INFINITY;
    double steps = floor(count * times * times) + 1;

    return steps <= STEPS_NEEDED_MAX ? (int64_t)steps : STEPS_UNKNOWN;
}

static void say_unknown(struct judgement *judged, int64_t steps_needed, const char *reason)
{
    judged->answer = JUDGED_UNKNOWN;
    judged->steps_needed = steps_needed;
    judged->reason = reason;
}

/* What the interval means. `worse` points to where it is worse: 1, or -1 where less is. `count`: of
 * steps on each side, as many as the interval stands on; 0: no number of steps narrows it. */
static void decide(struct judgement *judged, int worse, double count, const struct judge_rule *rule)
{
    const struct shift *shift = &judged->shift;
    double delta = worse * (double)shift->delta, allowed = (double)judged->allowed;
    double low = worse > 0 ? (double)shift->low : -(double)shift->high;
    double high = worse > 0 ? (double)shift->high : -(double)shift->low;
    double half = (high - low) / 2, must_see = rule->must_see * fabs((double)shift->a_median);

    judged->seen_from =
        to_i64(allowed + half * (1 + normal_above(0.1) / normal_above(1 - rule->confidence)));
    if (low > allowed && delta > allowed) {
        judged->answer = JUDGED_REGRESSED;
    } else if (delta > allowed) {
        judged->answer = JUDGED_MAYBE;
        judged->steps_needed = count > 0 ? steps_for(count, half, delta - allowed) : STEPS_UNKNOWN;
        judged->reason = low <= 0 ? "the difference may be chance"
                                  : "a difference above the allowed one may be chance";
    } else if (rule->must_see > 0 && (double)judged->seen_from > must_see) {
        say_unknown(judged,
                    count > 0 && must_see > allowed
                        ? steps_for(count, (double)judged->seen_from - allowed, must_see - allowed)
                        : STEPS_UNKNOWN,
                    "a slowdown of the size to be detected may have been missed");
    }
}

/* No time, size or share lies below 0, so none becomes less by more than it was. */
static void bound_below(struct shift *shift)
{
    if (shift->a_median >= 0 && shift->low < -shift->a_median && shift->delta >= -shift->a_median)
        shift->low = -shift->a_median;
}

/* Both bounds are further away by what runs differ by beside their steps. */
static void add_run_spread(struct shift *shift, int64_t middle, const struct judge_rule *rule)
{
    double spread =
        normal_above(1 - rule->confidence) * sqrt(2) * RUN_SPREAD * fabs((double)shift->a_median);
    double below = (double)middle - (double)shift->low,
           above = (double)shift->high - (double)middle;
    double low = sqrt(below * below + spread * spread);
    double high = sqrt(above * above + spread * spread);

    shift->low = to_i64((double)middle - low);
    shift->high = to_i64((double)middle + high);
    /* Of two heaps of steps, medians may differ by more than steps do. */
    shift->low = shift->delta < shift->low ? shift->delta : shift->low;
    shift->high = shift->delta > shift->high ? shift->delta : shift->high;
}

/* The middle of how far values are from their median, as a normal spread has it. */
static double spread_of(const int64_t *values, uint32_t count, int64_t middle)
{
    const double of_deviations = 1.4826;
    int64_t *away = memory_resize(NULL, (size_t)count + 1, sizeof *away);

    for (uint32_t i = 0; i < count; i++)
        away[i] = to_i64(fabs((double)values[i] - (double)middle));

    double ret = count > 0 ? of_deviations * (double)median_of(away, count) : 0;

    free(away);
    return ret;
}

/* What one run of each side cannot tell, of the baseline's median: nothing where steps vary as
 * little as on a machine of one's own. */
static double untold_by(double a_spread, double b_spread)
{
    double spread = sqrt((a_spread * a_spread + b_spread * b_spread) / 2);

    return fmin(UNTOLD_MOST, fmax(0, UNTOLD_TIMES * (spread - QUIET)));
}

static double untold(const struct shift *shift, const int64_t *a, uint32_t a_count,
                     const int64_t *b, uint32_t b_count)
{
    if (shift->a_median <= 0 || shift->b_median <= 0)
        return 0;
    return untold_by(spread_of(a, a_count, shift->a_median) / (double)shift->a_median,
                     spread_of(b, b_count, shift->b_median) / (double)shift->b_median) *
           (double)shift->a_median;
}

static int64_t median_copied(const int64_t *values, uint32_t count)
{
    int64_t *copy = memory_resize(NULL, (size_t)count + 1, sizeof *copy);

    if (count > 0)
        memcpy(copy, values, count * sizeof *copy);
    int64_t ret = median_of(copy, count);
    free(copy);
    return ret;
}

static struct shift medians_of(int64_t baseline, int64_t value)
{
    struct shift ret = {.a_median = baseline, .b_median = value, .p = 1};

    if (__builtin_sub_overflow(value, baseline, &ret.delta))
        ret.delta = value > baseline ? INT64_MAX : INT64_MIN;
    ret.low = ret.high = ret.delta;
    return ret;
}

struct judgement judge_lists(const int64_t *baseline, uint32_t baseline_count,
                             const int64_t *values, uint32_t count, const struct judge_rule *rule)
{
    struct judgement ret = {
        .shift = medians_of(median_copied(baseline, baseline_count), median_copied(values, count)),
        .seen_from = -1};

    ret.allowed = allowed_of(ret.shift.a_median, rule);
    if (least_p(baseline_count, count) > 1 - rule->confidence) {
        say_unknown(&ret, least_count(rule->confidence), "there are too few steps");
        return ret;
    }
    double widening = rank_shift_widening(baseline, baseline_count, values, count);
    struct rank_shift shift =
        rank_shift_of(baseline, baseline_count, values, count, rule->confidence, widening);
    double of_both = 2.0 * baseline_count * count / ((double)baseline_count + count);
    ret.shift.p = mann_whitney(baseline, baseline_count, values, count);
    ret.shift.low = shift.low;
    ret.shift.high = shift.high;
    add_run_spread(&ret.shift, shift.middle, rule);

    double more = untold(&ret.shift, baseline, baseline_count, values, count);
    ret.shift.low = to_i64((double)ret.shift.low - more);
    ret.shift.high = to_i64((double)ret.shift.high + more);
    decide(&ret, 1, more > 0 ? 0 : of_both, rule); /* more steps of one run do not tell of others */
    bound_below(&ret.shift);
    if (more > 0 && ret.answer == JUDGED_MAYBE)
        ret.reason = "steps vary so much that another run could differ as much; use a baseline of "
                     "several runs";
    return ret;
}

struct judgement judge_limit(const int64_t *values, uint32_t count, int64_t limit,
                             double confidence)
{
    static const int64_t nothing[2] = {0, 0}; /* against which the bootstrap draws nothing */
    struct judgement ret = {
        .shift = shift_of(nothing, COUNT(nothing), values, count, 2 * confidence - 1),
        .allowed = limit,
        .seen_from = -1};
    const struct shift *shift = &ret.shift;
    double half_width = ((double)shift->high - (double)shift->low) / 2;

    if (count < 2 || count < least_count(confidence)) {
        say_unknown(&ret, least_count(confidence), "there are too few steps");
    } else if (shift->low > limit) {
        ret.answer = JUDGED_REGRESSED;
    } else if (shift->b_median > limit) {
        ret.answer = JUDGED_MAYBE;
        ret.steps_needed = steps_for(count, half_width, (double)(shift->b_median - limit));
        ret.reason = "the median is too close to the limit";
    }
    return ret;
}

struct judgement judge_summaries(const struct summary *baseline, const struct summary *value,
                                 const struct judge_rule *rule)
{
    struct judgement ret = {.shift = medians_of(to_i64(baseline->mean), to_i64(value->mean)),
                            .seen_from = -1};

    ret.allowed = allowed_of(ret.shift.a_median, rule);
    if (baseline->count == 0 || value->count == 0) {
        say_unknown(&ret, STEPS_UNKNOWN, "the number of timed calls is not given");
        return ret;
    }
    if (baseline->count == 1 || value->count == 1) {
        say_unknown(&ret, STEPS_UNKNOWN, "a single call has no spread");
        return ret;
    }
    struct welch welch = welch_test(baseline, value, 2 * rule->confidence - 1);
    ret.shift.low = to_i64(welch.low);
    ret.shift.high = to_i64(welch.high);
    ret.shift.p = welch.p;
    double counts[2] = {baseline->count, value->count};
    add_run_spread(&ret.shift, ret.shift.delta, rule);
    decide(&ret, 1, 2 * counts[0] * counts[1] / (counts[0] + counts[1]), rule);
    return ret;
}

struct run_level run_level_of(const int64_t *values, uint32_t count)
{
    const double of_median = 1.2533; /* of a normal spread */
    struct run_level ret = {.middle = median_copied(values, count)};
    double widening = rank_shift_widening(values, count, NULL, 0);

    if (count > 1)
        ret.error = of_median * spread_of(values, count, ret.middle) * sqrt(widening / count);
    return ret;
}

/* Mean and deviation of the runs; what their own steps make the mean of them and one run more
 * uncertain by. */
static struct summary sum_runs(const struct run_level *runs, uint32_t count,
                               const struct run_level *run, double *ret_error)
{
    struct summary ret = {.count = count};
    double squares = run->error * run->error;

    for (uint32_t i = 0; i < count; i++) {
        ret.mean += (double)runs[i].middle / count;
        squares += runs[i].error * runs[i].error / count / count;
    }
    for (uint32_t i = 0; i < count; i++)
        ret.std += pow((double)runs[i].middle - ret.mean, 2) / (count - 1);
    ret.std = sqrt(ret.std);
    *ret_error = sqrt(squares);
    return ret;
}

struct judgement judge_runs(const struct run_level *baseline, uint32_t count,
                            const struct run_level *run, const struct judge_rule *rule)
{
    double of_steps;

    if (count < BASELINE_RUNS_MIN) {
        struct judgement ret = {.shift = medians_of(count > 0 ? baseline->middle : 0, run->middle),
                                .seen_from = -1};

        say_unknown(&ret, STEPS_UNKNOWN, "a baseline of fewer than three runs shows no spread");
        return ret;
    }
    struct summary runs = sum_runs(baseline, count, run, &of_steps);
    struct judgement ret = {.shift = medians_of(to_i64(runs.mean), run->middle)};
    double error = fmax(runs.std * sqrt(1 + 1.0 / count), of_steps);
    double reach = error * student_beyond(2 * (1 - rule->confidence) / TAILS_OF_RUNS, count - 1.0);
    ret.allowed = allowed_of(ret.shift.a_median, rule);
    ret.shift.low = to_i64((double)ret.shift.delta - reach);
    ret.shift.high = to_i64((double)ret.shift.delta + reach);
    if (error > 0)
        ret.shift.p = student_two_sided((double)ret.shift.delta / error, count - 1.0);
    else
        ret.shift.p = ret.shift.delta == 0 ? 1 : 0;
    decide(&ret, rule->less_is_worse ? -1 : 1, 0, rule);
    bound_below(&ret.shift);
    return ret;
}

struct judgement judge_values(int64_t baseline, int64_t value, const struct judge_rule *rule)
{
    struct judgement ret = {.shift = medians_of(baseline, value),
                            .allowed = allowed_of(baseline, rule),
                            .seen_from = -1};
    int64_t delta = ret.shift.delta;
    int64_t worse = !rule->less_is_worse ? delta : delta == INT64_MIN ? INT64_MAX : -delta;

    ret.answer = worse > ret.allowed ? JUDGED_REGRESSED : JUDGED_OK;
    return ret;
}

struct judgement judge_value_limit(int64_t value, int64_t limit)
{
    return (struct judgement){
        .answer = value > limit ? JUDGED_REGRESSED : JUDGED_OK,
        .shift = {.b_median = value, .delta = value, .low = value, .high = value, .p = 1},
        .allowed = limit,
        .seen_from = -1};
}
