/* Did it become slower than is allowed? Three answers, the third of which is "cannot be told".
 *
 *                 0          allowed
 *   ok            |  [--------]  |           the whole interval of the difference is within
 *   regressed     |              |  [--x--]  sure that it is slower, and the medians say by more
 *   noisy     [---|------x-------|---------]  anything else: how many steps would tell
 *
 * The rule. The interval is the bootstrap's of the difference of the medians at `confidence`
 * (0.99). Regressed: the medians differ by more than is allowed, and Mann-Whitney's p, of one side,
 * is below three quarters of 1 - confidence: the last quarter is left to what runs of one code
 * differ by beside their steps. It is p that decides whether there is a difference at all, for of
 * ten steps it sees a shift that an interval of medians is too wide to show. Ok: the interval ends
 * within what is allowed. Fewer steps than could ever reach that p are noisy.
 *
 * Of 40,000 simulated pairs of ten steps each, in which runs of one code differ by up to 2 % and
 * their steps by 5 % (standard deviation), 0.99 % are called regressed, and 90.0 % of those whose
 * second run is 10 % slower; 96 % of those 3 % slower, at 1 % noise, where 1 % is allowed. Where
 * single runs of one code differ by more, no rule can tell from one pair. See test_judge.c.
 */
#ifndef JVIEWD_ANALYSE_JUDGE_H
#define JVIEWD_ANALYSE_JUDGE_H

#include "analyse/stats/stats.h"

enum judged { JUDGED_OK, JUDGED_NOISY, JUDGED_REGRESSED }; /* the worse, the larger */
const char *judged_word(enum judged answer);               /* "ok", "noisy", "regressed" */

struct judge_rule {
    double max_regress;      /* of the baseline's median: 0.03 */
    double confidence;       /* 0.5 ... 0.9999 */
    int64_t min_effect;      /* in the values' unit: smaller differences are allowed, too */
    double min_effect_share; /* the same, of the baseline's median */
    bool less_is_worse;      /* of single values: a utilisation */
};

enum { STEPS_UNKNOWN = -1, STEPS_NEEDED_MAX = 100000 };

struct judgement {
    enum judged answer;
    struct shift shift;
    int64_t allowed;      /* of the difference; or the limit */
    int64_t steps_needed; /* of JUDGED_NOISY, on each side, as far as can be said */
    const char *reason;   /* of JUDGED_NOISY */
};

/* Lists of measurements, one a step: the larger is the worse. */
struct judgement judge_lists(const int64_t *baseline, uint32_t baseline_count,
                             const int64_t *values, uint32_t count, const struct judge_rule *rule);
/* A list against a limit: regressed when the interval of the median lies above it. */
struct judgement judge_limit(const int64_t *values, uint32_t count, int64_t limit,
                             double confidence);
/* What was told of a list whose values are not at hand. */
struct summary {
    double mean, std; /* std of the sample: n - 1 */
    uint32_t count;   /* 0: not told */
};
/* By Welch's test, which takes the means as normal and no spread as that of the other: the same
 * rule, with means for medians, its interval and its p, of which nine tenths count. Of 200,000
 * simulated pairs as above 0.92 % are called regressed, and 90.5 % of those whose second is 10 %
 * slower. */
struct judgement judge_summaries(const struct summary *baseline, const struct summary *value,
                                 const struct judge_rule *rule);
/* One measurement of each run, as a peak: it is what it is. */
struct judgement judge_values(int64_t baseline, int64_t value, const struct judge_rule *rule);
struct judgement judge_value_limit(int64_t value, int64_t limit);

#endif
