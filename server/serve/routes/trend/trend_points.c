/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a metric of many runs, orders them, and finds where it jumped. */
#include "serve/routes/trend/trend.h"

#include <limits.h>
#include <stdlib.h>

#include "analyse/compare/trend_metrics.h"
#include "base/distance.h"
#include "base/human.h"
#include "serve/answer/run_out.h"

static bool step_time(const struct run_record *run, int64_t *ret, const char **ret_reason)
{
    *ret = run->step_median_ps;
    *ret_reason = run->step_count == 0 ? "the run has no steps" : "its step time is not known";
    return run->step_median_ps >= 0;
}

static bool step_count(const struct run_record *run, int64_t *ret, const char **ret_reason)
{
    *ret = run->step_count;
    *ret_reason = "the number of steps of the run is not known";
    return run->step_count >= 0;
}

static bool duration(const struct run_record *run, int64_t *ret, const char **ret_reason)
{
    *ret = run->duration_ps;
    *ret_reason = "the run holds no timeline";
    return run->host_count > 0;
}

static bool slices(const struct run_record *run, int64_t *ret, const char **ret_reason)
{
    *ret = (int64_t)run->slice_count;
    *ret_reason = "the run holds no timeline";
    return run->host_count > 0;
}

static bool size(const struct run_record *run, int64_t *ret, const char **ret_reason)
{
    *ret = (int64_t)run->file_bytes;
    *ret_reason = "";
    return true;
}

static const struct {
    const char *word;
    enum unit unit;
    bool (*value)(const struct run_record *run, int64_t *ret, const char **ret_reason);
} recorded[] = {{"step_time", UNIT_PS, step_time},
                {"step_count", UNIT_COUNT, step_count},
                {"duration", UNIT_PS, duration},
                {"slice_count", UNIT_COUNT, slices},
                {"file_bytes", UNIT_BYTES, size}};

bool trend_metric_at(size_t index, struct trend_metric *ret)
{
    const char *name;

    *ret = (struct trend_metric){0};
    if (index < COUNT(recorded)) {
        *ret = (struct trend_metric){str_of(recorded[index].word), recorded[index].unit,
                                     recorded[index].value};
        return true;
    }
    name = trend_figure_name(index - COUNT(recorded), &ret->unit);
    if (name != NULL)
        ret->word = str_of(name);
    return name != NULL;
}

bool trend_metric_of(struct str word, struct trend_metric *ret)
{
    if (word.count == 0)
        return trend_metric_at(0, ret);
    for (size_t i = 0; trend_metric_at(i, ret); i++) {
        if (str_equal(word, ret->word))
            return true;
    }
    *ret = (struct trend_metric){.word = word, .unit = UNIT_PS};
    return str_starts(word, STR("op:")) && word.count > 3;
}

static const struct {
    const char *word;
    enum unit unit;
} units[] = {{"count", UNIT_COUNT}, {"ps", UNIT_PS}, {"bytes", UNIT_BYTES}, {"share", UNIT_SHARE}};

struct str trend_unit_word(enum unit unit)
{
    size_t at = COUNT(units) - 1;

    while (at > 0 && units[at].unit != unit)
        at--;
    return str_of(units[at].word);
}

enum unit trend_unit_of(struct str word)
{
    size_t at = COUNT(units) - 1;

    while (at > 0 && !str_equal(word, str_of(units[at].word)))
        at--;
    return units[at].unit;
}

static int by_kept(const void *key, const void *item)
{
    const struct metric_of *metric = item;

    return str_compare(*(const struct str *)key, metric->kept_id);
}

struct measured { /* by kept id */
    struct metric_of *metrics, *rules;
    uint32_t count, rule_count;
};

static const struct run_metric *find_metric(const struct metric_of *all, uint32_t count,
                                            struct str kept_id)
{
    const struct metric_of *found =
        count == 0 ? NULL : bsearch(&kept_id, all, count, sizeof *all, by_kept);

    return found == NULL ? NULL : &found->metric;
}

static void take_measured(const struct measured *all, const struct run_record *run,
                          struct trend_point *ret)
{
    const struct run_metric *rules = find_metric(all->rules, all->rule_count, run->kept_id);
    const struct run_metric *metric = find_metric(all->metrics, all->count, run->kept_id);

    ret->is_measured = rules != NULL && rules->value == METRICS_VERSION;
    if (!ret->is_measured) {
        ret->reason = STR("the run has not been measured yet");
    } else if (metric == NULL) {
        ret->reason = STR("the op is not among the 32 ops of the run that take most time, or the "
                          "run has no steps");
    } else {
        ret->has_value = metric->known;
        ret->value = metric->value;
        ret->reason = metric->reason;
    }
}

/* What jview.json says goes before what the name says. */
static void take_point(const struct trend_metric *metric, const struct measured *measured,
                       const struct run_record *run, struct trend_point *ret)
{
    const char *reason = "";

    *ret = (struct trend_point){.run = run,
                                .at_ns = run_captured_ns(run),
                                .is_measured = true,
                                .reason = STR("the run has not been read yet")};
    ret->has_step = run_step_of(run->name, &ret->step);
    if (run->about.has_step) {
        ret->has_step = true;
        ret->step = (uint64_t)run->about.step;
    }
    if (run->state == RUN_FAILED) {
        ret->reason = STR("the run cannot be read");
    } else if (metric->value != NULL && (run_was_read(run) || run->state == RUN_GONE)) {
        ret->has_value = metric->value(run, &ret->value, &reason);
        ret->reason = str_of(reason);
    } else if (metric->value == NULL && run->kept_id.count > 0) {
        take_measured(measured, run, ret);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct trend_point *x = a, *y = b;

    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return str_compare(x->run->id, y->run->id);
}

/* Those of one step by time; those of none behind all. */
static int by_step(const void *a, const void *b)
{
    const struct trend_point *x = a, *y = b;

    if (x->has_step != y->has_step)
        return x->has_step ? -1 : 1;
    if (x->has_step && x->step != y->step)
        return x->step < y->step ? -1 : 1;
    return by_time(a, b);
}

/* Those of one commit by time; those without one behind all. */
static int by_commit(const void *a, const void *b)
{
    const struct trend_point *x = a, *y = b;
    const struct run_about *one = &x->run->about, *other = &y->run->about;

    if (one->has_commit_time != other->has_commit_time)
        return one->has_commit_time ? -1 : 1;
    if (one->has_commit_time && one->commit_ns != other->commit_ns)
        return one->commit_ns < other->commit_ns ? -1 : 1;
    return by_time(a, b);
}

const char *trend_over_word(enum trend_over over)
{
    static const char *const words[] = {"time", "step", "commit"};

    return words[over];
}

/* "Not read (yet): 3 runs without a value". */
static void note(struct request *req, struct trend *trend, const char *kind, uint64_t count,
                 const char *what, const char *so)
{
    if (count == 0)
        return;
    trend->notes[trend->note_count++] =
        (struct answer_note){.kind = kind,
                             .severity = NOTE_INFO,
                             .message = str_format(req->arena, "%s: %llu run%s%s", what,
                                                   (unsigned long long)count, plural_s(count), so),
                             .count = count};
}

/* Its file ends too early, so that what it tells is of the part that is there. */
static bool is_cut_off(const struct run_record *run)
{
    for (uint32_t i = 0; i < run->badge_count; i++) {
        if (str_equal(run->badges[i], STR("truncated")))
            return true;
    }
    return false;
}

static bool is_of(const struct trend *trend, struct str kept_id)
{
    for (uint32_t i = 0; i < trend->count; i++) {
        if (str_equal(trend->points[i].run->kept_id, kept_id))
            return true;
    }
    return false;
}

/* Of an op that none of the runs has: the name of theirs that it was perhaps meant to be. */
static const char *nearest_op(struct request *req, const struct trend *trend)
{
    struct str asked = request_text(req, "metric"), nearest = STR("");
    unsigned least = UINT_MAX;
    struct metric_of *all;
    struct error ignored = {0};
    uint32_t count = 0;

    if (!str_starts(asked, STR("op:")) ||
        catalog_metrics(req->services->catalog, req->arena, &all, &count, &ignored) != OK)
        return "";
    for (uint32_t i = 0; i < count; i++) {
        struct str name = all[i].metric.name;
        unsigned distance = str_starts(name, STR("op:")) ? edit_distance(asked, name) : UINT_MAX;

        if (distance >= least || !is_of(trend, all[i].kept_id))
            continue;
        least = distance;
        nearest = name;
    }
    if (nearest.count == 0)
        return "";
    return str_c(req->arena, str_format(req->arena, "; the nearest that these runs have is %.*s",
                                        STR_ARG(str_utf8(req->arena, nearest))));
}

static void tell(struct request *req, struct trend *trend, uint64_t left_out, uint64_t no_step)
{
    uint64_t same = 0, gone = 0, unread = 0, without = 0, unmeasured = 0, cut = 0;

    for (uint32_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i], *before = point - (i > 0);

        same += trend->over == OVER_STEP && i > 0 && point->has_step && before->has_step &&
                point->step == before->step;
        gone += point->run->state == RUN_GONE;
        cut += is_cut_off(point->run);
        bool read = run_was_read(point->run) || point->run->state == RUN_GONE;
        unread += !point->has_value && !read;
        unmeasured += read && !point->is_measured;
        without += !point->has_value && read && point->is_measured;
    }
    note(req, trend, "left-out", left_out, "Left out, as older than the newest 10,000", "");
    note(req, trend, "no-step-number", no_step, "Without a step number in the name",
         trend->over == OVER_STEP ? ", put last by time" : "; the trend is over time");
    note(req, trend, "same-step", same, "With the step number of the run before",
         ", put behind it by time");
    note(req, trend, "gone", gone, "No longer on disk", "; the values from its index are kept");
    note(req, trend, "cut-off", cut, "Cut off", "; the value covers what is there");
    note(req, trend, "not-read", unread, "Not read (yet)", " without a value");
    note(req, trend, "not-measured", unmeasured, "Not measured yet",
         "; a server does that in the background");
    note(req, trend, "no-value", without, "Without such a value",
         without == trend->count ? nearest_op(req, trend) : "");
}

static enum trend_over over_of(struct request *req, uint64_t with_step, uint64_t no_step,
                               uint64_t no_commit, uint64_t no_clock)
{
    if (request_has(req, "over"))
        return request_is(req, "over", "step")     ? OVER_STEP
               : request_is(req, "over", "commit") ? OVER_COMMIT
                                                   : OVER_TIME;
    if (with_step > 0 && no_step == 0)
        return OVER_STEP;
    return no_clock > 0 && no_commit == 0 ? OVER_COMMIT : OVER_TIME;
}

static void sort_points(struct request *req, struct trend *trend, uint64_t *ret_no_step)
{
    static int (*const orders[])(const void *, const void *) = {
        [OVER_TIME] = by_time, [OVER_STEP] = by_step, [OVER_COMMIT] = by_commit};
    uint64_t with_step = 0, no_commit = 0, no_clock = 0;

    *ret_no_step = 0;
    for (uint32_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i];

        with_step += point->has_step;
        *ret_no_step += point->has_value && !point->has_step;
        no_commit += point->has_value && !point->run->about.has_commit_time;
        no_clock += point->has_value && !point->run->has_epoch;
    }
    trend->over = over_of(req, with_step, *ret_no_step, no_commit, no_clock);
    if (request_is(req, "over", "time") || request_is(req, "over", "commit") || with_step == 0)
        *ret_no_step = 0; /* nobody misses them */
    if (trend->count > 0)
        qsort(trend->points, trend->count, sizeof *trend->points, orders[trend->over]);
}

static void find_levels(struct request *req, struct trend *trend)
{
    int64_t *values = arena_array(req->arena, int64_t, trend->count);
    struct level *levels;
    uint32_t count = 0, level = 0;

    for (uint32_t i = 0; i < trend->count; i++) {
        if (trend->points[i].has_value)
            values[count++] = trend->points[i].value;
    }
    trend->level_count = changes_find(values, count, req->arena, &levels);
    trend->levels = levels;
    trend->level_of = arena_array(req->arena, uint32_t, trend->count);
    count = 0;
    for (uint32_t i = 0; i < trend->count; i++) {
        trend->level_of[i] = UINT32_MAX;
        if (!trend->points[i].has_value)
            continue;
        level += count == levels[level].end;
        trend->level_of[i] = level;
        count++;
    }
}

static enum status find_measured(struct request *req, const struct trend_metric *metric,
                                 struct measured *ret, struct error *err)
{
    struct catalog *catalog = req->services->catalog;

    *ret = (struct measured){0};
    if (metric->value != NULL)
        return OK;
    TRY(catalog_metric(catalog, metric->word, req->arena, &ret->metrics, &ret->count, err));
    return catalog_metric(catalog, STR(""), req->arena, &ret->rules, &ret->rule_count, err);
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

/* Is the name the pattern's, whose one * stands for a number? Programs that are profiled again and
 * again are called so: step_500, step_1000. */
static bool is_like(struct str name, struct str pattern)
{
    const char *star = pattern.count == 0 ? NULL : memchr(pattern.at, '*', pattern.count);

    if (star == NULL)
        return pattern.count == 0 || str_equal(name, pattern);
    struct str before = {pattern.at, (size_t)(star - pattern.at)};
    struct str behind = {star + 1, pattern.count - before.count - 1};
    if (name.count <= before.count + behind.count || !str_starts(name, before) ||
        memcmp(name.at + name.count - behind.count, behind.at, behind.count) != 0)
        return false;
    for (size_t i = before.count; i < name.count - behind.count; i++) {
        if (!is_digit(name.at[i]))
            return false;
    }
    return before.count == 0 || !is_digit(name.at[before.count - 1]);
}

/* Those of the series that was asked for, in their order. */
static uint32_t keep_like(struct run_record *runs, uint32_t count, struct str pattern)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (is_like(runs[i].name, pattern))
            runs[kept++] = runs[i];
    }
    return kept;
}

enum status trend_points(struct request *req, struct trend *ret, struct error *err)
{
    const struct run_query query = {.path = request_text(req, "path"),
                                    .q = request_text(req, "q"),
                                    .limit = CHANGES_VALUES_MAX};
    struct str word = request_text(req, "metric");
    struct measured measured;
    struct run_record *runs;
    uint32_t count;
    uint64_t all, no_step;

    *ret = (struct trend){0};
    if (!trend_metric_of(word, &ret->metric))
        return fail(err, ERR_INVALID,
                    "metric=%.*s: there is no such metric; step_time, step_p95, share_idle, "
                    "memory_peak, compile_time, utilisation, op:NAME are some",
                    word.count > 200 ? 200 : (int)word.count, word.at);
    TRY(catalog_runs(req->services->catalog, &query, req->arena, &runs, &count, &all, err));
    all -= count; /* what is left out */
    count = keep_like(runs, count, request_text(req, "like"));
    TRY(find_measured(req, &ret->metric, &measured, err));
    ret->points = arena_array(req->arena, struct trend_point, count);
    ret->count = count;
    for (uint32_t i = 0; i < count; i++)
        take_point(&ret->metric, &measured, &runs[i], &ret->points[i]);
    sort_points(req, ret, &no_step);
    find_levels(req, ret);
    tell(req, ret, all, no_step);
    return OK;
}
