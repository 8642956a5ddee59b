/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the samples of one metric from a run and its baseline, and hands them to the judge. */
#include "analyse/compare/check.h"

#include <limits.h>
#include <math.h>

#include "analyse/compare/diff_parts.h"
#include "analyse/compare/trend_metrics.h"
#include "analyse/compare/work.h"
#include "analyse/compiles/compiles.h"
#include "analyse/memory/memory.h"
#include "base/distance.h"
#include "trace/ps.h"

enum { LOOK_BACK = 64 }; /* hosts are no further apart, in steps */

struct measurements { /* of one side */
    int64_t *values;
    uint32_t count;
    struct str reason; /* why there are none; "" where there are */
};

static const struct {
    const char *word;
    enum check_metric metric;
} words[] = {{"step_time", METRIC_STEP_TIME},
             {"memory_peak", METRIC_MEMORY_PEAK},
             {"compile_time", METRIC_COMPILE_TIME}};

const char *check_metric_word(size_t index)
{
    enum unit ignored;

    return index < COUNT(words) ? words[index].word
                                : trend_figure_name(index - COUNT(words), &ignored);
}

static enum unit figure_unit(struct str name)
{
    enum unit unit;

    for (size_t i = 0; trend_figure_name(i, &unit) != NULL; i++) {
        if (str_equal(name, str_of(trend_figure_name(i, &unit))))
            return unit;
    }
    return UNIT_NONE;
}

enum unit check_metric_unit(const struct check_question *question)
{
    return question->metric == METRIC_MEMORY_PEAK ? UNIT_BYTES
           : question->metric == METRIC_FIGURE    ? figure_unit(question->text)
                                                  : UNIT_PS;
}

bool check_metric_parse(struct str text, struct check_question *ret)
{
    *ret = (struct check_question){.text = text, .metric = METRIC_OP};
    if (str_starts(text, STR("op:")) && text.count > 3) {
        ret->op = str_skip(text, 3);
        return true;
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        ret->metric = words[i].metric;
        if (str_equal(text, str_of(words[i].word)))
            return true;
    }
    ret->metric = METRIC_FIGURE;
    return figure_unit(text) != UNIT_NONE;
}

/* Of the steps that several hosts number alike one value: the longest, or the mean. What hosts wait
 * for each other makes their steps one measurement, not many. */
static void join_hosts(const struct measured *measured, const int64_t *values, bool is_longest,
                       struct arena *arena, struct measurements *ret)
{
    uint32_t *of_hosts = arena_array(arena, uint32_t, measured->step_count);
    int64_t *numbers = arena_array(arena, int64_t, measured->step_count);

    ret->values = arena_array(arena, int64_t, measured->step_count);
    for (uint32_t step = 0; step < measured->step_count; step++) {
        uint32_t at = ret->count, least = at > LOOK_BACK ? at - LOOK_BACK : 0;

        /* Steps come by time, so an equal number stands near the end. */
        while (at > least && numbers[at - 1] != measured->numbers[step])
            at--;
        if (at == least) {
            numbers[ret->count] = measured->numbers[step];
            ret->values[ret->count] = values[step];
            of_hosts[ret->count++] = 1;
        } else if (!is_longest) {
            ret->values[at - 1] += values[step];
            of_hosts[at - 1]++;
        } else if (values[step] > ret->values[at - 1]) {
            ret->values[at - 1] = values[step];
        }
    }
    for (uint32_t i = 0; i < ret->count; i++)
        ret->values[i] /= of_hosts[i];
}

static void take_steps(const struct diff_side *side, const struct measured *measured,
                       int64_t *values, bool is_longest, struct arena *arena,
                       struct measurements *ret)
{
    if (side->run->host_count > 1)
        join_hosts(measured, values, is_longest, arena, ret);
    else
        *ret = (struct measurements){.values = values, .count = measured->step_count};
}

/* The items of that name. */
static bool *items_named(const struct measured *measured, struct str name, struct arena *arena)
{
    bool *named = arena_array(arena, bool, measured->ops.count);

    for (uint32_t i = 0; i < measured->ops.count; i++)
        named[i] = str_equal(measured->ops.items[i].name, name);
    return named;
}

/* A match of which one op bears the name counts whole, on both sides. */
static void spread_over_matches(const struct measured sides[2], bool *named[2], struct arena *arena)
{
    struct match *matches;
    uint32_t count = match_ops(sides[0].ops.items, sides[0].ops.count, sides[1].ops.items,
                               sides[1].ops.count, arena, &matches);

    for (uint32_t i = 0; i < count; i++) {
        const struct match *match = &matches[i];
        bool any = false;

        for (uint32_t k = 0; k < match->a_count; k++)
            any = any || named[0][match->a[k]];
        for (uint32_t k = 0; k < match->b_count; k++)
            any = any || named[1][match->b[k]];
        for (uint32_t k = 0; any && k < match->a_count; k++)
            named[0][match->a[k]] = true;
        for (uint32_t k = 0; any && k < match->b_count; k++)
            named[1][match->b[k]] = true;
    }
}

static void sum_items(const struct diff_side *side, const struct measured *measured,
                      const bool *named, struct arena *arena, struct measurements *ret)
{
    int64_t *values = arena_array(arena, int64_t, measured->step_count);

    if (measured->series == NULL) {
        ret->reason = STR("there are too many ops and steps to list one by one");
        return;
    }
    for (uint32_t i = 0; i < measured->ops.count; i++) {
        for (uint32_t step = 0; named[i] && step < measured->step_count; step++)
            values[step] += measured->series[(size_t)i * measured->step_count + step];
    }
    take_steps(side, measured, values, false, arena, ret);
}

/* An op that only one run has is not gone or new for sure: it may be one that no rule matched. */
static struct str no_op(const struct diff_side *side, struct str name, struct arena *arena)
{
    return str_format(arena, "run \"%.*s\" has no op called \"%.*s\", and none that matches it",
                      STR_ARG(side->run->name), STR_ARG(name));
}

static bool has_any(const bool *named, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (named[i])
            return true;
    }
    return false;
}

/* The op's name that was perhaps meant. */
static struct str nearest_op(const struct measured measured[2], int first, struct str name)
{
    struct str nearest = STR("");
    unsigned least = UINT_MAX;

    for (int side = first; side < 2; side++) {
        for (uint32_t i = 0; i < measured[side].ops.count; i++) {
            struct str known = measured[side].ops.items[i].name;
            unsigned distance = edit_distance(name, known);

            if (distance < least) {
                least = distance;
                nearest = known;
            }
        }
    }
    return nearest;
}

/* Of one side, or of both: sides[first] to sides[1]. */
static enum status sample_ops(const struct diff_side *const sides[2],
                              const struct measured measured[2], int first, struct str name,
                              struct arena *arena, struct measurements ret[2], struct error *err)
{
    bool *named[2] = {NULL, NULL}, any = false;

    for (int side = first; side < 2; side++) {
        named[side] = items_named(&measured[side], name, arena);
        any = any || has_any(named[side], measured[side].ops.count);
    }
    struct str nearest = any ? STR("") : nearest_op(measured, first, name);
    if (nearest.count > 0)
        return fail(err, ERR_INVALID, "op:%.*s: %s of this name; the nearest is \"op:%.*s\"",
                    name.count > 200 ? 200 : (int)name.count, name.at,
                    first == 0 ? "neither run has an op" : "the run has no op",
                    nearest.count > 200 ? 200 : (int)nearest.count, nearest.at);
    if (first == 0)
        spread_over_matches(measured, named, arena);
    for (int side = first; side < 2; side++) {
        if (has_any(named[side], measured[side].ops.count))
            sum_items(sides[side], &measured[side], named[side], arena, &ret[side]);
        else
            ret[side].reason = no_op(sides[side], name, arena);
    }
    return OK;
}

static enum status sample_steps(const struct diff_side *const sides[2],
                                const struct check_question *question, int first,
                                struct arena *arena, struct measurements ret[2], struct error *err)
{
    struct measured measured[2] = {0};
    unsigned wanted = question->metric == METRIC_OP ? DIFF_OPS : DIFF_STEPS;

    for (int side = first; side < 2; side++) {
        struct str why;
        bool has_steps;

        TRY(diff_has_steps(sides[side], arena, &has_steps, &why, err));
        if (!has_steps) {
            ret[side].reason =
                why.count > 0
                    ? str_format(arena, "the step time of run \"%.*s\" is not stated: %.*s",
                                 STR_ARG(sides[side]->run->name), STR_ARG(why))
                    : str_format(arena, "run \"%.*s\" has no steps",
                                 STR_ARG(sides[side]->run->name));
            return OK;
        }
        TRY(diff_measure(sides[side], true, wanted, arena, &measured[side], err));
    }
    for (int side = first; side < 2 && question->metric == METRIC_STEP_TIME; side++)
        take_steps(sides[side], &measured[side], measured[side].durs_ps, true, arena, &ret[side]);
    return question->metric == METRIC_OP
               ? sample_ops(sides, measured, first, question->op, arena, ret, err)
               : OK;
}

static void one_value(int64_t value, struct arena *arena, struct measurements *ret)
{
    ret->values = arena_array(arena, int64_t, 1);
    ret->values[0] = value;
    ret->count = 1;
}

static enum status sample_compiles(const struct diff_side *side, struct arena *arena,
                                   struct measurements *ret, struct error *err)
{
    struct compiles compiles;
    int64_t total_ps = 0;

    TRY(compiles_find(side->run, side->restriction, NULL, arena, &compiles, err));
    if (compiles.count == 0)
        ret->reason = compiles_missing(side->run);
    for (uint32_t i = 0; i < compiles.count; i++)
        ps_add(&total_ps, compile_total(&compiles.items[i]));
    if (ret->reason.count == 0)
        one_value(total_ps, arena, ret);
    return OK;
}

static enum status sample_memory(const struct diff_side *side, struct arena *arena,
                                 struct measurements *ret, struct error *err)
{
    struct memory_summary memory;

    TRY(memory_summary(side->run, side->restriction, arena, &memory, err));
    ret->reason = memory.reason;
    if (ret->reason.count == 0)
        one_value(memory.peak_bytes, arena, ret);
    return OK;
}

static enum status sample_figure(const struct diff_side *side, struct str name, struct arena *arena,
                                 struct measurements *ret, struct error *err)
{
    struct trend_figure figure;

    TRY(trend_figure_of(side, name, arena, &figure, err));
    if (figure.known)
        one_value(figure.value, arena, ret);
    else
        ret->reason = str_format(arena, "run \"%.*s\": %.*s", STR_ARG(side->run->name),
                                 STR_ARG(figure.reason));
    return OK;
}

static enum status take_samples(const struct diff_side *const sides[2],
                                const struct check_question *question, int first,
                                struct arena *arena, struct measurements ret[2], struct error *err)
{
    if (question->metric == METRIC_STEP_TIME || question->metric == METRIC_OP)
        return sample_steps(sides, question, first, arena, ret, err);
    for (int side = first; side < 2; side++)
        TRY(question->metric == METRIC_FIGURE
                ? sample_figure(sides[side], question->text, arena, &ret[side], err)
            : question->metric == METRIC_MEMORY_PEAK
                ? sample_memory(sides[side], arena, &ret[side], err)
                : sample_compiles(sides[side], arena, &ret[side], err));
    return OK;
}

static bool is_list_of(const struct check_question *question)
{
    return question->metric == METRIC_STEP_TIME || question->metric == METRIC_OP;
}

static struct judgement judge(const struct check_question *question,
                              const struct measurements sides[2], const struct judge_rule *rule)
{
    const struct measurements *a = &sides[0], *b = &sides[1];
    bool is_list = is_list_of(question);

    if (question->has_limit)
        return is_list ? judge_limit(b->values, b->count, question->limit, rule->confidence)
                       : judge_value_limit(b->values[0], question->limit);
    return is_list ? judge_lists(a->values, a->count, b->values, b->count, rule)
                   : judge_values(a->values[0], b->values[0], rule);
}

static void take_judged(struct check *check, struct judgement judged)
{
    check->judged = judged;
    check->is_measured = true;
    check->reason = str_of(judged.reason);
}

static void say_missing(struct check *check, struct str reason)
{
    check->judged = (struct judgement){
        .answer = JUDGED_UNKNOWN, .steps_needed = STEPS_UNKNOWN, .seen_from = -1};
    check->reason = reason;
}

/* Every run of the baseline is measured against the run, whose ops are matched with each. */
static enum status check_runs(const struct diff_side *const *a, uint32_t a_count,
                              const struct diff_side *b, const struct judge_rule *rule,
                              struct arena *arena, struct check *ret, struct error *err)
{
    struct run_level *levels = arena_array(arena, struct run_level, a_count), run = {0};

    for (uint32_t i = 0; i < a_count; i++) {
        const struct diff_side *const sides[2] = {a[i], b};
        struct measurements samples[2] = {{0}, {0}};

        TRY(take_samples(sides, &ret->question, 0, arena, samples, err));
        ret->a_count += samples[0].count;
        ret->b_count = samples[1].count;
        for (int side = 1; side >= 0; side--) {
            if (samples[side].reason.count == 0)
                continue;
            say_missing(ret, samples[side].reason);
            return OK;
        }
        levels[i] = run_level_of(samples[0].values, samples[0].count);
        run = run_level_of(samples[1].values, samples[1].count);
    }
    take_judged(ret, judge_runs(levels, a_count, &run, rule));
    return OK;
}

static void put_work(const struct work_change *work, const struct judge_rule *rule,
                     struct check_work *ret)
{
    *ret = (struct check_work){
        .is_same = work->is_same,
        .on_host = work->on_host,
        .slower = work->slower,
        .what = work->what,
        .more = judge_lists(work->a.work_ps, work->a.count, work->b.work_ps, work->b.count, rule),
        .even = judge_lists(work->a.time_ps, work->a.count, work->b.time_ps, work->b.count, rule)};
    ret->known = ret->more.shift.a_median > 0 && ret->even.shift.a_median > 0 &&
                 ret->more.seen_from >= 0 && ret->even.seen_from >= 0; /* else too few steps */
}

static void say_maybe(struct judgement *judged, const char *reason)
{
    judged->answer = JUDGED_MAYBE;
    judged->steps_needed = STEPS_UNKNOWN;
    judged->reason = reason;
}

/* The same share of another median. */
static int64_t seen_from_of(const struct judgement *judged, int64_t median)
{
    return (int64_t)llround((double)judged->seen_from * (double)median /
                            (double)judged->shift.a_median);
}

/* The answer of the steps' work, and of their time at one speed, as far as the time itself allows
 * it. Other work and other waiting are not told apart where both changed. */
static void judge_at_speed(const struct check_work *work, bool fills, const struct judge_rule *rule,
                           struct judgement *ret)
{
    const struct judgement *more = &work->more, *even = &work->even;
    bool does_more = more->answer == JUDGED_REGRESSED, lasts = even->answer == JUDGED_REGRESSED;
    bool is_worse = (does_more && (fills || lasts)) || (lasts && work->is_same);
    bool is_longer = ret->shift.delta > ret->allowed, may_be = ret->shift.high > ret->allowed;
    int64_t median = ret->shift.a_median;

    ret->seen_from = seen_from_of(fills && even->answer == JUDGED_OK ? more : even, median);
    if (is_worse && may_be) {
        ret->answer = JUDGED_REGRESSED;
        ret->reason = NULL;
    } else if (is_worse) {
        say_maybe(ret, "its steps do more or wait longer, though they took less time");
    } else if (does_more && may_be) {
        say_maybe(ret, "its steps do more work, but they also wait, and their times do not show "
                       "whether they became longer; use a baseline of several runs");
    } else if (more->answer == JUDGED_MAYBE && may_be) {
        say_maybe(ret, "its steps may do more work; use a baseline of several runs");
    } else if ((lasts && may_be) || (even->answer == JUDGED_MAYBE && is_longer)) {
        say_maybe(ret, "its steps may wait longer; use a baseline of several runs");
    } else if (is_longer) {
        say_maybe(ret, "the same ops took longer: other programs used the processor, or the ops "
                       "became slower; one run of each cannot tell which, a baseline of several "
                       "runs can");
    } else if (rule->must_see > 0 && (double)ret->seen_from > rule->must_see * (double)median) {
        say_maybe(ret, "a slowdown of the size to be detected may have been missed");
        ret->answer = JUDGED_UNKNOWN;
    } else {
        ret->answer = JUDGED_OK;
        ret->reason = NULL;
    }
}

/* What a step does, and on a host's processor the answer by that. */
static enum status weigh_work(const struct diff_side *const sides[2], const struct judge_rule *rule,
                              struct arena *arena, struct check *ret, struct error *err)
{
    struct work_change work;

    TRY(work_compare(sides, arena, &work, err));
    if (!work.known)
        return OK;
    put_work(&work, rule, &ret->work);
    if (ret->work.known && work.on_host)
        judge_at_speed(&ret->work, work.fills, rule, &ret->judged);
    ret->reason = str_of(ret->judged.reason);
    return OK;
}

enum status check_run(const struct diff_side *const *a, uint32_t a_count, const struct diff_side *b,
                      const struct check_question *question, const struct judge_rule *rule,
                      struct arena *arena, struct check *ret, struct error *err)
{
    const struct diff_side *const sides[2] = {a_count > 0 ? a[0] : NULL, b};
    struct measurements samples[2] = {{0}, {0}};
    struct judge_rule own = *rule;

    *ret = (struct check){.question = *question,
                          .unit = check_metric_unit(question),
                          .is_of_one_value = !is_list_of(question),
                          .run_count = question->has_limit ? 0 : a_count,
                          .counted = "steps"};
    if (ret->unit != UNIT_PS)
        own.min_effect = 0; /* it is a time */
    own.less_is_worse = question->metric == METRIC_FIGURE && !trend_more_is_worse(question->text);
    if (a_count > 1 && !question->has_limit)
        return check_runs(a, a_count, b, &own, arena, ret, err);
    TRY(take_samples(sides, question, question->has_limit ? 1 : 0, arena, samples, err));
    ret->a_count = samples[0].count;
    ret->b_count = samples[1].count;
    for (int side = 1; side >= 0; side--) {
        if (samples[side].reason.count == 0)
            continue;
        say_missing(ret, samples[side].reason);
        return OK;
    }
    take_judged(ret, judge(question, samples, &own));
    return question->metric == METRIC_STEP_TIME && !question->has_limit
               ? weigh_work(sides, &own, arena, ret, err)
               : OK;
}
