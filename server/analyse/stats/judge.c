/* Decides ok, regressed or noisy from the interval of a difference, and says how many steps
 * would tell. */
#include "analyse/stats/judge.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/stats/welch.h"
#include "base/bytes.h"

const char *judged_word(enum judged answer)
{
    static const char *const words[] = {
        [JUDGED_OK] = "ok", [JUDGED_NOISY] = "noisy", [JUDGED_REGRESSED] = "regressed"};

    return words[answer];
}

static int64_t to_i64(double value)
{
    return value >= 9.2e18 ? INT64_MAX : (int64_t)llround(value);
}

static int64_t allowed_of(int64_t baseline_median, const struct judge_rule *rule)
{
    double share = fmax(rule->max_regress, rule->min_effect_share);
    int64_t allowed = to_i64(share * fabs((double)baseline_median));

    return allowed > rule->min_effect ? allowed : rule->min_effect;
}

/* Of both sides, as it is told: see the rule. */
static double p_below(double confidence)
{
    return 1.5 * (1 - confidence);
}

/* The same of Welch's test, which lets more of what runs differ by beside their steps pass for a
 * difference: a tenth less. */
static double welch_below(double confidence)
{
    return 0.9 * p_below(confidence);
}

/* The smallest p that lists of these lengths can have: one after the other, of all ways to lay them
 * out, and the other way round. */
static double least_p(uint32_t a_count, uint32_t b_count)
{
    double p = 2;

    for (uint32_t i = 1; i <= a_count && p > 1e-12; i++)
        p *= (double)i / ((double)b_count + i);
    return a_count == 0 || b_count == 0 ? 1 : p;
}

static int64_t least_count(double confidence)
{
    uint32_t count = 2;

    while (least_p(count, count) >= p_below(confidence))
        count++;
    return count;
}

/* An interval narrows with the root of how many steps it stands on. */
static int64_t steps_for(double count, double half_width, double wanted)
{
    double steps =
        wanted > 0 ? ceil(count * (half_width / wanted) * (half_width / wanted)) : INFINITY;

    return steps <= STEPS_NEEDED_MAX ? (int64_t)steps : STEPS_UNKNOWN;
}

/* Why it cannot be told: the interval is wider than what is allowed, else it lies about its end. */
static void say_noise(struct judgement *judged, double count, double half_width, int64_t limit_away)
{
    bool is_wide = judged->allowed > 0 && half_width > (double)judged->allowed;

    judged->answer = JUDGED_NOISY;
    judged->steps_needed =
        steps_for(count, half_width, (double)(is_wide ? judged->allowed : limit_away));
    judged->reason = is_wide ? "the steps differ too much among themselves"
                             : "the difference is too close to what is allowed";
}

static void say_few(struct judgement *judged, double confidence)
{
    judged->answer = JUDGED_NOISY;
    judged->steps_needed = least_count(confidence);
    judged->reason = "there are too few steps";
}

struct judgement judge_lists(const int64_t *baseline, uint32_t baseline_count,
                             const int64_t *values, uint32_t count, const struct judge_rule *rule)
{
    struct judgement ret = {
        .shift = shift_of(baseline, baseline_count, values, count, rule->confidence)};
    const struct shift *shift = &ret.shift;

    ret.allowed = allowed_of(shift->a_median, rule);
    if (least_p(baseline_count, count) >= p_below(rule->confidence)) {
        say_few(&ret, rule->confidence);
        return ret;
    }
    double of_both = 2.0 * baseline_count * count / ((double)baseline_count + count);
    double half_width = ((double)shift->high - (double)shift->low) / 2;

    if (shift->delta > ret.allowed && shift->p < p_below(rule->confidence))
        ret.answer = JUDGED_REGRESSED;
    else if (shift->high > ret.allowed)
        say_noise(&ret, of_both, half_width, llabs(shift->delta - ret.allowed));
    return ret;
}

struct judgement judge_limit(const int64_t *values, uint32_t count, int64_t limit,
                             double confidence)
{
    static const int64_t nothing[2] = {0, 0}; /* against which the bootstrap draws nothing */
    struct judgement ret = {.shift = shift_of(nothing, COUNT(nothing), values, count, confidence),
                            .allowed = limit};
    const struct shift *shift = &ret.shift;
    double half_width = ((double)shift->high - (double)shift->low) / 2;

    if (count < 2 || count < least_count(confidence))
        say_few(&ret, confidence);
    else if (shift->low > limit)
        ret.answer = JUDGED_REGRESSED;
    else if (shift->high > limit) {
        say_noise(&ret, count, half_width, llabs(shift->b_median - limit));
        ret.reason = "the median is too close to the limit";
    }
    return ret;
}

static struct judgement told_too_little(struct judgement judged, const char *reason)
{
    judged.answer = JUDGED_NOISY;
    judged.steps_needed = STEPS_UNKNOWN;
    judged.reason = reason;
    return judged;
}

struct judgement judge_summaries(const struct summary *baseline, const struct summary *value,
                                 const struct judge_rule *rule)
{
    struct judgement ret = {
        .shift = {.a_median = to_i64(baseline->mean), .b_median = to_i64(value->mean), .p = 1}};
    struct shift *shift = &ret.shift;

    shift->delta = shift->low = shift->high = shift->b_median - shift->a_median;
    ret.allowed = allowed_of(shift->a_median, rule);
    if (baseline->count == 0 || value->count == 0)
        return told_too_little(ret, "how many calls were timed is not said");
    if (baseline->count == 1 || value->count == 1)
        return told_too_little(ret, "a single call has no spread");
    struct welch welch = welch_test(baseline, value, rule->confidence);
    shift->low = to_i64(welch.low);
    shift->high = to_i64(welch.high);
    shift->p = welch.p;
    double counts[2] = {baseline->count, value->count};
    double of_both = 2 * counts[0] * counts[1] / (counts[0] + counts[1]);
    if (shift->delta > ret.allowed && shift->p < welch_below(rule->confidence)) {
        ret.answer = JUDGED_REGRESSED;
    } else if (shift->high > ret.allowed) {
        say_noise(&ret, of_both, (welch.high - welch.low) / 2, llabs(shift->delta - ret.allowed));
        if (ret.allowed > 0 && (welch.high - welch.low) / 2 > (double)ret.allowed)
            ret.reason = "the calls differ too much among themselves";
    }
    return ret;
}

struct judgement judge_values(int64_t baseline, int64_t value, const struct judge_rule *rule)
{
    int64_t delta;

    if (__builtin_sub_overflow(value, baseline, &delta))
        delta = value > baseline ? INT64_MAX : INT64_MIN;
    struct judgement ret = {.shift = {.a_median = baseline,
                                      .b_median = value,
                                      .delta = delta,
                                      .low = delta,
                                      .high = delta,
                                      .p = 1},
                            .allowed = allowed_of(baseline, rule)};

    int64_t worse = !rule->less_is_worse ? delta : delta == INT64_MIN ? INT64_MAX : -delta;
    ret.answer = worse > ret.allowed ? JUDGED_REGRESSED : JUDGED_OK;
    return ret;
}

struct judgement judge_value_limit(int64_t value, int64_t limit)
{
    return (struct judgement){
        .answer = value > limit ? JUDGED_REGRESSED : JUDGED_OK,
        .shift = {.b_median = value, .delta = value, .low = value, .high = value, .p = 1},
        .allowed = limit};
}
