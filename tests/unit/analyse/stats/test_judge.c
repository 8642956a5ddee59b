/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of a check against made noise: how often it cries wolf, and how often it sees one. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/stats/rank_shift.h"
#include "analyse/stats/welch.h"
#include "real_runs.h"

enum { STEPS = 10, STEPS_MAX = 100 };

static const struct judge_rule three_percent = {.max_regress = 0.03, .confidence = 0.99};
static const struct judge_rule usual = {.max_regress = MAX_REGRESS, .confidence = 0.99};

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

/* How the steps of a program vary. */
struct noise {
    const char *what;
    double steps; /* standard deviation of one, of the mean */
    double alike; /* correlation of one with the next */
    double ends;  /* of when a step ends: what one is longer by, the next is shorter by */
    double stray; /* so often one takes three times as long */
    double runs;  /* standard deviation of what whole runs differ by */
};

static void make_steps(int64_t *steps, int count, double scale, const struct noise *noise,
                       uint64_t *seed)
{
    double level = 1e9 * scale * (1 + noise->runs * normal(seed));
    double away = normal(seed), late = noise->ends * normal(seed);

    for (int i = 0; i < count; i++) {
        double before = late;

        away = noise->alike * away + sqrt(1 - noise->alike * noise->alike) * normal(seed);
        late = noise->ends * normal(seed);
        double step = level * (1 + noise->steps * away + late - before);
        steps[i] = (int64_t)(uniform(seed) < noise->stray ? 3 * step : step);
    }
}

struct tally {
    int answers[JUDGED_COUNT];
    int64_t needed_least, needed_most;
};

static struct tally simulate(int rounds, double slower, int count, const struct noise *noise,
                             const struct judge_rule *rule, uint64_t seed)
{
    struct tally ret = {.needed_least = INT64_MAX};

    for (int round = 0; round < rounds; round++) {
        int64_t before[STEPS_MAX], after[STEPS_MAX];

        make_steps(before, count, 1, noise, &seed);
        make_steps(after, count, 1 + slower, noise, &seed);
        struct judgement judged =
            judge_lists(before, (uint32_t)count, after, (uint32_t)count, rule);

        ret.answers[judged.answer]++;
        if (judged.answer != JUDGED_MAYBE || judged.steps_needed == STEPS_UNKNOWN)
            continue;
        if (judged.steps_needed < ret.needed_least)
            ret.needed_least = judged.steps_needed;
        if (judged.steps_needed > ret.needed_most)
            ret.needed_most = judged.steps_needed;
    }
    if (getenv("JUDGE_TELL") != NULL)
        printf("%-40s %3d steps, %+.0f %%: %5.2f %% regressed, %5.2f maybe, %5.2f ok, %5.2f "
               "unknown\n",
               noise->what, count, 100 * slower, 100. * ret.answers[JUDGED_REGRESSED] / rounds,
               100. * ret.answers[JUDGED_MAYBE] / rounds, 100. * ret.answers[JUDGED_OK] / rounds,
               100. * ret.answers[JUDGED_UNKNOWN] / rounds);
    return ret;
}

static const struct noise programs[] = {
    {.what = "blocking, 1 %", .steps = 0.01},
    {.what = "asynchronous, 0.5 % and 0.5 % of its ends", .steps = 0.005, .ends = 0.005},
    {.what = "1 %, one of twenty takes three times", .steps = 0.01, .stray = 0.05},
    {.what = "1 %, runs differ by 0.5 %", .steps = 0.01, .runs = 0.005},
    {.what = "5 %, runs differ by 0.5 %", .steps = 0.05, .runs = 0.005},
    {.what = "3 %, neighbours alike by 0.5", .steps = 0.03, .alike = 0.5},
    {.what = "3 %, neighbours alike by 0.8", .steps = 0.03, .alike = 0.8},
};

/* 2 of 100 are what is promised. */
static void the_same_code_is_not_called_slower(void **state)
{
    static const int counts[] = {STEPS, 30, STEPS_MAX};
    enum { ROUNDS = 2000 };
    (void)state;

    for (size_t i = 0; i < COUNT(programs); i++) {
        for (size_t k = 0; k < COUNT(counts); k++) {
            struct tally tally = simulate(ROUNDS, 0, counts[k], &programs[i], &usual, i + 1);
            bool drifts = programs[i].alike > 0 && counts[k] == STEPS;

            /* Of ten steps it can hardly be seen that they drift. */
            CHECK(programs[i].what, tally.answers[JUDGED_REGRESSED] * (drifts ? 16 : 50) <= ROUNDS);
        }
    }
    const struct noise still = {"0.1 %", .steps = 0.001};
    CHECK_INT("still steps are ok", simulate(200, 0, STEPS, &still, &usual, 2).answers[JUDGED_OK],
              200);
}

/* ... and 90 of 100 of those 3 % slower, of ten steps. */
static void a_slower_run_is_found(void **state)
{
    enum { ROUNDS = 2000 };
    (void)state;

    for (size_t i = 0; i < 2; i++)
        CHECK(
            programs[i].what,
            simulate(ROUNDS, 0.03, STEPS, &programs[i], &usual, i + 10).answers[JUDGED_REGRESSED] *
                    10 >=
                ROUNDS * 9);
    for (size_t i = 2; i < COUNT(programs); i++)
        simulate(ROUNDS, 0.03, STEPS, &programs[i], &usual, i + 10); /* told, where asked */
    const struct noise noisy = {"5 %", .steps = 0.05};
    CHECK("twice as slow at 5 % noise",
          simulate(ROUNDS, 1, 20, &noisy, &usual, 3).answers[JUDGED_REGRESSED] * 10 >= ROUNDS * 9);
    CHECK("10 % at 5 % noise is told, but not called so",
          simulate(ROUNDS, 0.10, 20, &noisy, &usual, 3).answers[JUDGED_MAYBE] * 10 >= ROUNDS * 9);
}

/* Nobody is told "regressed" of an interval that reaches below what is allowed. */
static void the_interval_and_the_answer_agree(void **state)
{
    enum { ROUNDS = 3000 };
    uint64_t seed = 5;
    (void)state;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t before[STEPS], after[STEPS];
        const struct noise *noise = &programs[(size_t)round % COUNT(programs)];

        make_steps(before, STEPS, 1, noise, &seed);
        make_steps(after, STEPS, 1 + 0.04 * uniform(&seed), noise, &seed);
        struct judgement judged = judge_lists(before, STEPS, after, STEPS, &usual);
        const struct shift *shift = &judged.shift;

        if (judged.answer == JUDGED_UNKNOWN)
            continue;
        CHECK("regressed", (judged.answer == JUDGED_REGRESSED) == (shift->low > judged.allowed));
        CHECK("maybe has more than is allowed",
              (judged.answer == JUDGED_OK) == (shift->delta <= judged.allowed));
        CHECK("between its bounds", shift->low <= shift->delta && shift->delta <= shift->high);
        CHECK("seen from above what is allowed", judged.seen_from >= judged.allowed);
    }
}

/* A step that takes a fiftieth, of steps that vary: no time becomes less by more than all of it. */
static void nothing_falls_below_nothing(void **state)
{
    (void)state;
    const int64_t before[] = {132, 160, 90, 210, 118, 140, 150, 95, 170, 128};
    const int64_t after[] = {2, 3, 2, 4, 2, 2, 3, 2, 5, 2};
    struct judgement judged = judge_lists(before, COUNT(before), after, COUNT(after), &usual);

    CHECK_INT("ok", judged.answer, JUDGED_OK);
    CHECK_INT("all of it at most", judged.shift.low, -judged.shift.a_median);
}

/* What is told of its power is so: of pairs slower by `seen_from` nine of ten are found. */
static void its_power_is_as_told(void **state)
{
    enum { ROUNDS = 1500 };
    uint64_t seed = 6;
    double told = 0;
    (void)state;

    for (int round = 0; round < ROUNDS; round++) {
        int64_t before[30], after[30];

        make_steps(before, 30, 1, &programs[0], &seed);
        make_steps(after, 30, 1, &programs[0], &seed);
        struct judgement judged = judge_lists(before, 30, after, 30, &usual);

        told += (double)judged.seen_from / (double)judged.shift.a_median / ROUNDS;
    }
    struct tally tally = simulate(ROUNDS, told, 30, &programs[0], &usual, 7);
    CHECK("not less", tally.answers[JUDGED_REGRESSED] * 100 >= ROUNDS * 87);
    CHECK("not much more", tally.answers[JUDGED_REGRESSED] * 100 <= ROUNDS * 99);
    CHECK("one of thirty steps of 1 %", told > 0.01 && told < 0.03);
}

static void maybe_says_how_many(void **state)
{
    const struct noise noise = {"1 %", .steps = 0.01}, noisy = {"5 %", .steps = 0.05};
    enum { ROUNDS = 300 };
    (void)state;

    struct tally tally = simulate(ROUNDS, 0.036, STEPS, &noise, &three_percent, 5);
    CHECK("mostly", tally.answers[JUDGED_MAYBE] * 2 >= ROUNDS);
    CHECK("more steps than there are", tally.needed_least > STEPS && tally.needed_most > 0);
    tally = simulate(ROUNDS, 0.06, STEPS * 3, &noisy, &three_percent, 5);
    CHECK("mostly, of noisy steps", tally.answers[JUDGED_MAYBE] * 2 >= ROUNDS);
    CHECK("no number of steps tells of other runs", tally.needed_most == 0);
}

/* Of runs that differ by 5 % among themselves one pair cannot tell; ten can. */
static void several_runs_tell_what_one_cannot(void **state)
{
    const struct noise noise = {"5 % between runs", .steps = 0.01, .runs = 0.05};
    enum { ROUNDS = 2000, RUNS = 10 };
    uint64_t seed = 8;
    int wrong = 0, found = 0;
    (void)state;

    for (int round = 0; round < ROUNDS; round++) {
        struct run_level runs[RUNS + 2];

        for (int i = 0; i < RUNS + 2; i++) {
            int64_t steps[STEPS];

            make_steps(steps, STEPS, i == RUNS + 1 ? 1.4 : 1, &noise, &seed);
            runs[i] = run_level_of(steps, STEPS);
        }
        wrong += judge_runs(runs, RUNS, &runs[RUNS], &usual).answer == JUDGED_REGRESSED;
        found += judge_runs(runs, RUNS, &runs[RUNS + 1], &usual).answer == JUDGED_REGRESSED;
    }
    CHECK("one pair cries wolf",
          simulate(ROUNDS, 0, STEPS, &noise, &usual, 9).answers[JUDGED_REGRESSED] * 10 >=
              ROUNDS * 2);
    CHECK("ten runs do not", wrong * 50 <= ROUNDS);
    CHECK("and see 40 %", found * 10 >= ROUNDS * 9);
}

/* Of real runs of equal programs, whose whole runs differ by 12 %, a sixth is called slower of
 * what the steps' own interval alone would call so. */
static void real_runs_of_one_program(void **state)
{
    int pairs = 0, regressed = 0, ok = 0;
    (void)state;

    for (size_t a = 0; a < COUNT(real_runs); a++) {
        for (size_t b = 0; b < COUNT(real_runs); b++) {
            int64_t before[REAL_STEPS], after[REAL_STEPS];

            if (real_runs[a].process == real_runs[b].process)
                continue;
            for (int i = 0; i < REAL_STEPS; i++) {
                before[i] = INT64_C(1000000) * real_runs[a].steps_us[i];
                after[i] = INT64_C(1000000) * real_runs[b].steps_us[i];
            }
            struct judgement judged = judge_lists(before, REAL_STEPS, after, REAL_STEPS, &usual);

            pairs++;
            regressed += judged.answer == JUDGED_REGRESSED;
            ok += judged.answer == JUDGED_OK;
        }
    }
    CHECK("pairs", pairs > 2000);
    CHECK("called slower: 18 of 100 without what runs differ by", regressed * 20 <= pairs);
    CHECK("as many are faster", ok * 2 > pairs);
}

/* By Student's table: t(4, 0.998 of one side) = 5.951373, times the root of 1 + 1 / 5, times the
 * deviation of 98 to 102, 1.581139. */
static void runs_by_hand(void **state)
{
    static const struct run_level runs[] = {{.middle = 98000000},
                                            {.middle = 99000000},
                                            {.middle = 100000000},
                                            {.middle = 101000000},
                                            {.middle = 102000000}};
    const struct run_level slow = {.middle = 115000000}, near = {.middle = 104000000},
                           loose = {.middle = 115000000, .error = 20000000};
    struct judge_rule less = usual;
    (void)state;

    struct judgement judged = judge_runs(runs, 5, &slow, &usual);
    CHECK_INT("slower", judged.answer, JUDGED_REGRESSED);
    CHECK("low", fabs((double)judged.shift.low - (15e6 - 10308080)) < 10);
    CHECK("high", fabs((double)judged.shift.high - (15e6 + 10308080)) < 10);
    CHECK_INT("not for sure", judge_runs(runs, 5, &near, &usual).answer, JUDGED_MAYBE);
    CHECK_INT("its own steps do not say", judge_runs(runs, 5, &loose, &usual).answer, JUDGED_MAYBE);
    CHECK_INT("two runs", judge_runs(runs, 2, &slow, &usual).answer, JUDGED_UNKNOWN);
    less.less_is_worse = true;
    CHECK_INT("more of what is good", judge_runs(runs, 5, &slow, &less).answer, JUDGED_OK);
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
        {"nothing allowed, and the same", {.confidence = 0.99}, false, JUDGED_OK},
        {"must see what it cannot",
         {.max_regress = 0.01, .confidence = 0.99, .must_see = 0.011},
         false,
         JUDGED_UNKNOWN},
        {"must see what it can",
         {.max_regress = 0.01, .confidence = 0.99, .must_see = 0.1},
         false,
         JUDGED_OK},
        {"the same", {.max_regress = 0.03, .confidence = 0.99}, false, JUDGED_OK},
    };
    (void)state;

    for (size_t i = 0; i < COUNT(rows); i++) {
        struct judgement judged =
            judge_lists(about_100, COUNT(about_100), rows[i].is_slower ? about_110 : about_100,
                        COUNT(about_100), &rows[i].rule);

        CHECK_INT(rows[i].what, judged.answer, rows[i].answer);
        CHECK(rows[i].what, (judged.answer == JUDGED_UNKNOWN) == (judged.reason != NULL));
    }
}

static void few_steps_cannot_tell(void **state)
{
    static const int64_t fast[] = {10, 11, 12, 13, 14}, slow[] = {90, 91, 92, 93, 94};
    (void)state;

    for (uint32_t count = 0; count < 5; count++) {
        struct judgement judged = judge_lists(fast, count, slow, count, &three_percent);

        CHECK_INT("too few", judged.answer, JUDGED_UNKNOWN);
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
        {"about it", 149, 8, JUDGED_MAYBE}, {"one value", 10, 1, JUDGED_UNKNOWN},
        {"none", 10, 0, JUDGED_UNKNOWN},
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

static struct tally simulate_summaries(int rounds, double slower, const struct noise *noise,
                                       const struct judge_rule *rule, uint64_t seed)
{
    struct tally ret = {0};

    for (int round = 0; round < rounds; round++) {
        int64_t before[STEPS], after[STEPS];

        make_steps(before, STEPS, 1, noise, &seed);
        make_steps(after, STEPS, 1 + slower, noise, &seed);
        struct summary a = summary_of(before), b = summary_of(after);
        ret.answers[judge_summaries(&a, &b, rule).answer]++;
    }
    return ret;
}

static void summaries_are_judged_like_lists(void **state)
{
    const struct noise loud = {"5 %", .steps = 0.05, .runs = 0.005},
                       still = {"0.2 %", .steps = 0.002};
    enum { ROUNDS = 5000 };
    (void)state;

    struct tally tally = simulate_summaries(ROUNDS, 0, &loud, &usual, 11);
    CHECK("less than 2 of 100 false alarms", tally.answers[JUDGED_REGRESSED] * 50 < ROUNDS);
    tally = simulate_summaries(ROUNDS, 0.03, &programs[0], &usual, 12);
    CHECK("90 of 100 found", tally.answers[JUDGED_REGRESSED] * 10 >= ROUNDS * 9);
    tally = simulate_summaries(500, 0, &still, &three_percent, 13);
    CHECK_INT("still calls are ok", tally.answers[JUDGED_OK], 500);
    tally = simulate_summaries(500, 0.06, &loud, &three_percent, 14);
    CHECK("6 % at 5 % is mostly not sure", tally.answers[JUDGED_MAYBE] * 2 >= 500);
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
        {"no count", {1e9, 1e7, 10}, {2e9, 1e7, 0}, JUDGED_UNKNOWN, "is not given"},
        {"no count before", {1e9, 1e7, 0}, {2e9, 1e7, 9}, JUDGED_UNKNOWN, "is not given"},
        {"one call", {1e9, 0, 1}, {2e9, 0, 10}, JUDGED_UNKNOWN, "no spread"},
        {"no spread, slower", {1e9, 0, 10}, {2e9, 0, 10}, JUDGED_REGRESSED, ""},
        {"no spread, the same", {1e9, 0, 10}, {1e9, 0, 10}, JUDGED_OK, ""},
        {"faster", {2e9, 1e7, 10}, {1e9, 1e7, 10}, JUDGED_OK, ""},
        {"wide", {1e9, 1e9, 3}, {1.2e9, 1e9, 3}, JUDGED_MAYBE, "difference may be chance"},
        {"huge", {9e17, 9e17, 2}, {9e17, 9e17, 1000000000}, JUDGED_OK, ""},
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
        cmocka_unit_test(the_interval_and_the_answer_agree),
        cmocka_unit_test(nothing_falls_below_nothing),
        cmocka_unit_test(its_power_is_as_told),
        cmocka_unit_test(maybe_says_how_many),
        cmocka_unit_test(several_runs_tell_what_one_cannot),
        cmocka_unit_test(real_runs_of_one_program),
        cmocka_unit_test(runs_by_hand),
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
