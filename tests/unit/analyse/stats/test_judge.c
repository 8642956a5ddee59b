/* The gate's rule against made noise: how often it cries wolf, and how often it sees one. */
#include "check.h"

#include <math.h>

#include "analyse/stats/welch.h"

enum { STEPS = 10 };

static const struct judge_rule three_percent = {.max_regress = 0.03, .confidence = 0.99};
static const struct judge_rule one_percent = {.max_regress = 0.01, .confidence = 0.99};

static double uniform(uint64_t *seed) /* 0 to 1, neither of them */
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return ((double)(*seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *seed) /* Box and Muller */
{
    double radius = sqrt(-2 * log(uniform(seed)));

    return radius * cos(2 * 3.14159265358979323846 * uniform(seed));
}

/* A run's steps of about a millisecond: its own level, at most half of `between_runs` away from
 * that of all runs, and noise from step to step. */
static void make_steps(int64_t steps[STEPS], double scale, double between_steps,
                       double between_runs, uint64_t *seed)
{
    double level = 1e9 * scale * (1 + between_runs * (uniform(seed) - 0.5));

    for (int i = 0; i < STEPS; i++)
        steps[i] = (int64_t)(level * (1 + between_steps * normal(seed)));
}

struct tally {
    int answers[3];
    int64_t needed_least, needed_most;
};

static struct tally simulate(int rounds, double shift, double between_steps,
                             const struct judge_rule *rule, uint64_t seed)
{
    struct tally ret = {.needed_least = INT64_MAX};

    for (int round = 0; round < rounds; round++) {
        int64_t before[STEPS], after[STEPS];

        make_steps(before, 1, between_steps, 0.02, &seed);
        make_steps(after, 1 + shift, between_steps, 0.02, &seed);
        struct judgement judged = judge_lists(before, STEPS, after, STEPS, rule);

        ret.answers[judged.answer]++;
        if (judged.answer != JUDGED_NOISY || judged.steps_needed == STEPS_UNKNOWN)
            continue;
        if (judged.steps_needed < ret.needed_least)
            ret.needed_least = judged.steps_needed;
        if (judged.steps_needed > ret.needed_most)
            ret.needed_most = judged.steps_needed;
    }
    return ret;
}

/* Bounds are three deviations of so many rounds away from what 40,000 pairs gave: 1.00 % of false
 * alarms, 90.0 % found. */
static void the_same_code_is_not_called_slower(void **state)
{
    enum { ROUNDS = 2000 };
    (void)state;

    struct tally tally = simulate(ROUNDS, 0, 0.05, &three_percent, 1);
    CHECK("about 1 of 100 at 5 % noise", tally.answers[JUDGED_REGRESSED] * 1000 < ROUNDS * 17);
    tally = simulate(ROUNDS / 10, 0, 0.002, &three_percent, 2);
    CHECK_INT("still steps are ok", tally.answers[JUDGED_OK], ROUNDS / 10);
}

static void a_slower_run_is_found(void **state)
{
    enum { ROUNDS = 800 };
    (void)state;

    struct tally tally = simulate(ROUNDS, 0.10, 0.05, &three_percent, 3);
    CHECK("10 % at 5 % noise", tally.answers[JUDGED_REGRESSED] * 1000 >= ROUNDS * 868);
    tally = simulate(ROUNDS, 0.03, 0.01, &one_percent, 4);
    CHECK("3 % at 1 % noise", tally.answers[JUDGED_REGRESSED] * 10 >= ROUNDS * 9);
}

/* What 3 % at 5 % noise takes: 2 (2.576 * 1.253 * 5 % / 3 %)^2 = 58 steps of each. */
static void too_noisy_says_how_many(void **state)
{
    enum { ROUNDS = 300 };
    (void)state;

    struct tally tally = simulate(ROUNDS, 0.03, 0.05, &three_percent, 5);
    CHECK("mostly noisy", tally.answers[JUDGED_NOISY] * 10 >= ROUNDS * 8);
    CHECK("never ok but by chance", tally.answers[JUDGED_OK] * 20 <= ROUNDS);
    CHECK("more steps than there are", tally.needed_least > STEPS);
    CHECK("of the order that theory says", tally.needed_most < 58 * 4);
}

static void rule_by_rule(void **state)
{
    static const int64_t about_100[] = {99, 100, 101, 99, 100, 101, 100, 100};
    static const int64_t about_110[] = {109, 110, 111, 109, 110, 111, 110, 110};
    static const struct {
        const char *what;
        struct judge_rule rule;
        bool is_slower;
        enum judged answer;
    } rows[] = {
        {"slower by 10 %", {.max_regress = 0.03, .confidence = 0.99}, true, JUDGED_REGRESSED},
        {"which is allowed", {.max_regress = 0.2, .confidence = 0.99}, true, JUDGED_OK},
        {"too little to matter", {.confidence = 0.99, .min_effect = 20}, true, JUDGED_OK},
        {"a share too little", {.confidence = 0.99, .min_effect_share = 0.2}, true, JUDGED_OK},
        {"nothing allowed, and the same", {.confidence = 0.99}, false, JUDGED_NOISY},
        {"the same", {.max_regress = 0.03, .confidence = 0.99}, false, JUDGED_OK},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct judgement judged =
            judge_lists(about_100, COUNT(about_100), rows[i].is_slower ? about_110 : about_100,
                        COUNT(about_100), &rows[i].rule);

        CHECK_INT(rows[i].what, judged.answer, rows[i].answer);
        CHECK(rows[i].what, (judged.answer == JUDGED_NOISY) == (judged.reason != NULL));
    }
}

static void few_steps_cannot_tell(void **state)
{
    static const int64_t fast[] = {10, 11, 12, 13, 14}, slow[] = {90, 91, 92, 93, 94};
    (void)state;

    for (uint32_t count = 0; count < 5; count++) {
        struct judgement judged = judge_lists(fast, count, slow, count, &three_percent);

        CHECK_INT("too few", judged.answer, JUDGED_NOISY);
        CHECK_INT("five would do", judged.steps_needed, 5);
        CHECK_STR("and says so", str_of(judged.reason), "there are too few steps");
    }
    CHECK_INT("five do", judge_lists(fast, 5, slow, 5, &three_percent).answer, JUDGED_REGRESSED);
    CHECK_INT("faster is ok", judge_lists(slow, 5, fast, 5, &three_percent).answer, JUDGED_OK);
}

static void limits(void **state)
{
    static const int64_t values[] = {140, 150, 160, 145, 155, 150, 151, 149};
    static const struct {
        const char *what;
        int64_t limit;
        uint32_t count;
        enum judged answer;
    } rows[] = {
        {"below", 170, 8, JUDGED_OK},       {"above", 130, 8, JUDGED_REGRESSED},
        {"about it", 150, 8, JUDGED_NOISY}, {"one value", 10, 1, JUDGED_NOISY},
        {"none", 10, 0, JUDGED_NOISY},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(rows[i].what, judge_limit(values, rows[i].count, rows[i].limit, 0.99).answer,
                  rows[i].answer);
    CHECK_INT("a peak above", judge_value_limit(11, 10).answer, JUDGED_REGRESSED);
    CHECK_INT("a peak at it", judge_value_limit(10, 10).answer, JUDGED_OK);
    CHECK_INT("2 % more", judge_values(1000, 1020, &three_percent).answer, JUDGED_OK);
    CHECK_INT("4 % more", judge_values(1000, 1040, &three_percent).answer, JUDGED_REGRESSED);
    CHECK_INT("from nothing", judge_values(0, 1, &three_percent).answer, JUDGED_REGRESSED);
    CHECK_INT("as far as can be", judge_values(INT64_MIN, INT64_MAX, &three_percent).shift.delta,
              INT64_MAX);
}

/* What benchmark_function tells of a list. */
static struct summary summary_of(const int64_t steps[STEPS])
{
    struct summary ret = {.count = STEPS};

    for (int i = 0; i < STEPS; i++)
        ret.mean += (double)steps[i] / STEPS;
    for (int i = 0; i < STEPS; i++)
        ret.std += pow((double)steps[i] - ret.mean, 2) / (STEPS - 1);
    ret.std = sqrt(ret.std);
    return ret;
}

static struct tally simulate_summaries(int rounds, double shift, double noise, uint64_t seed)
{
    struct tally ret = {0};

    for (int round = 0; round < rounds; round++) {
        int64_t before[STEPS], after[STEPS];

        make_steps(before, 1, noise, 0.02, &seed);
        make_steps(after, 1 + shift, noise, 0.02, &seed);
        struct summary a = summary_of(before), b = summary_of(after);
        ret.answers[judge_summaries(&a, &b, &three_percent).answer]++;
    }
    return ret;
}

static void summaries_are_judged_like_lists(void **state)
{
    enum { ROUNDS = 20000 };
    (void)state;

    struct tally tally = simulate_summaries(ROUNDS, 0, 0.05, 11);
    CHECK("less than 1 of 100 false alarms", tally.answers[JUDGED_REGRESSED] * 100 < ROUNDS);
    tally = simulate_summaries(ROUNDS, 0.10, 0.05, 12);
    CHECK("90 of 100 found", tally.answers[JUDGED_REGRESSED] * 10 >= ROUNDS * 9);
    tally = simulate_summaries(500, 0, 0.002, 13);
    CHECK_INT("still calls are ok", tally.answers[JUDGED_OK], 500);
    tally = simulate_summaries(500, 0.03, 0.05, 14);
    CHECK("3 % at 5 % is noise", tally.answers[JUDGED_NOISY] * 10 >= 500 * 8);
}

/* p of scipy.stats.ttest_ind_from_stats(..., equal_var=False), bounds of scipy.stats.t.ppf. */
static void welch_by_an_independent_source(void **state)
{
    static const struct {
        const char *what;
        struct summary a, b;
        double p, low, high; /* at 0.99 */
    } rows[] = {
        {"alike",
         {100, 5, 10},
         {110, 5, 10},
         0.000294564155366601,
         3.56361143376984,
         16.4363885662302},
        {"other lengths",
         {100, 1, 5},
         {101, 9, 200},
         0.207300687438630,
         -1.1228763995826,
         3.1228763995826},
        {"far",
         {10, 0.1, 30},
         {20, 0.1, 30},
         1.11258115681976e-100,
         9.93123422655185,
         10.0687657734482},
        {"two calls",
         {5, 1, 2},
         {6, 2, 2},
         0.6110947325534121,
         -28.5812541467317,
         30.5812541467317},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct welch welch = welch_test(&rows[i].a, &rows[i].b, 0.99);

        CHECK(rows[i].what, fabs(welch.p - rows[i].p) <= 1e-8 * rows[i].p);
        CHECK(rows[i].what, fabs(welch.low - rows[i].low) <= 1e-7 * fabs(rows[i].low));
        CHECK(rows[i].what, fabs(welch.high - rows[i].high) <= 1e-7 * fabs(rows[i].high));
    }
}

static void summaries_that_tell_too_little(void **state)
{
    static const struct {
        const char *what;
        struct summary a, b;
        enum judged answer;
        const char *reason;
    } rows[] = {
        {"no count", {1e9, 1e7, 10}, {2e9, 1e7, 0}, JUDGED_NOISY, "is not said"},
        {"no count before", {1e9, 1e7, 0}, {2e9, 1e7, 9}, JUDGED_NOISY, "is not said"},
        {"one call", {1e9, 0, 1}, {2e9, 0, 10}, JUDGED_NOISY, "no spread"},
        {"no spread, slower", {1e9, 0, 10}, {2e9, 0, 10}, JUDGED_REGRESSED, ""},
        {"no spread, the same", {1e9, 0, 10}, {1e9, 0, 10}, JUDGED_OK, ""},
        {"faster", {2e9, 1e7, 10}, {1e9, 1e7, 10}, JUDGED_OK, ""},
        {"wide", {1e9, 1e9, 3}, {1.2e9, 1e9, 3}, JUDGED_NOISY, "the calls differ too much"},
        {"huge", {9e17, 9e17, 2}, {9e17, 9e17, 1000000000}, JUDGED_NOISY, "calls differ"},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct judgement judged = judge_summaries(&rows[i].a, &rows[i].b, &three_percent);
        const char *reason = judged.reason == NULL ? "" : judged.reason;

        CHECK_INT(rows[i].what, judged.answer, rows[i].answer);
        CHECK(rows[i].what, strstr(reason, rows[i].reason) != NULL);
    }
}

/* Of a utilisation less is worse. */
static void the_direction_counts(void **state)
{
    struct judge_rule less = three_percent;
    (void)state;

    less.less_is_worse = true;
    CHECK_INT("more is worse", judge_values(100, 110, &three_percent).answer, JUDGED_REGRESSED);
    CHECK_INT("less is better", judge_values(100, 90, &three_percent).answer, JUDGED_OK);
    CHECK_INT("less is worse", judge_values(100, 90, &less).answer, JUDGED_REGRESSED);
    CHECK_INT("more is better", judge_values(100, 110, &less).answer, JUDGED_OK);
    CHECK_INT("within what is allowed", judge_values(100, 98, &less).answer, JUDGED_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_code_is_not_called_slower),
        cmocka_unit_test(a_slower_run_is_found),
        cmocka_unit_test(too_noisy_says_how_many),
        cmocka_unit_test(rule_by_rule),
        cmocka_unit_test(few_steps_cannot_tell),
        cmocka_unit_test(summaries_are_judged_like_lists),
        cmocka_unit_test(welch_by_an_independent_source),
        cmocka_unit_test(summaries_that_tell_too_little),
        cmocka_unit_test(the_direction_counts),
        cmocka_unit_test(limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
