#include "serve/trend_parts.h"

#include <stdlib.h>

#include "serve/about.h"
#include "serve/run_out.h"

static bool step_time(const struct run_record *run, int64_t *ret, const char **ret_reason)
{
    *ret = run->step_median_ps;
    *ret_reason = run->step_count == 0 ? "the run has no steps" : "its step time is not known";
    return run->step_median_ps >= 0;
}

static bool step_count(const struct run_record *run, int64_t *ret, const char **ret_reason)
{
    *ret = run->step_count;
    *ret_reason = "it is not known how many steps the run has";
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

static const struct trend_metric metrics[] = {{"step_time", UNIT_PS, step_time},
                                              {"step_count", UNIT_COUNT, step_count},
                                              {"duration", UNIT_PS, duration},
                                              {"slice_count", UNIT_COUNT, slices},
                                              {"file_bytes", UNIT_BYTES, size}};

const struct trend_metric *trend_metric_at(size_t index)
{
    return index < COUNT(metrics) ? &metrics[index] : NULL;
}

const struct trend_metric *trend_metric_of(struct str word)
{
    for (size_t i = 0; i < COUNT(metrics); i++) {
        if (str_equal(word, str_of(metrics[i].word)))
            return &metrics[i];
    }
    return &metrics[0];
}

/* What jview.json says goes before what the name says. `scratch` is for one run. */
static void take_step(const struct run_record *run, struct about *about, struct arena *scratch,
                      struct trend_point *ret)
{
    ret->has_step = run_step_of(run->name, &ret->step);
    about_read(run, scratch, about);
    if (about->has_step) {
        ret->has_step = true;
        ret->step = (uint64_t)about->step;
    }
    arena_reset(scratch);
}

static void take_steps(struct request *req, const struct run_record *runs, struct trend *trend)
{
    struct about *about = arena_new(req->arena, struct about);
    struct arena *scratch = arena_create();

    for (uint32_t i = 0; i < trend->count; i++)
        take_step(&runs[i], about, scratch, &trend->points[i]);
    arena_destroy(scratch);
}

static void take_point(const struct trend_metric *metric, const struct run_record *run,
                       struct trend_point *ret)
{
    *ret = (struct trend_point){.run = run,
                                .at_ns = run->has_epoch ? run->epoch_ns : run->modified_ns,
                                .reason = "the run was not read yet"};
    if (run->state == RUN_FAILED)
        ret->reason = "the run cannot be read";
    else if (run_was_read(run) || run->state == RUN_GONE)
        ret->has_value = metric->value(run, &ret->value, &ret->reason);
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

static void note(struct request *req, struct trend *trend, const char *kind, uint64_t count,
                 const char *what)
{
    if (count == 0)
        return;
    trend->notes[trend->note_count++] = (struct answer_note){
        .kind = kind,
        .severity = NOTE_INFO,
        .message = str_format(req->arena, "%llu %s", (unsigned long long)count, what),
        .count = count};
}

static void tell(struct request *req, struct trend *trend, uint64_t left_out, uint64_t no_step)
{
    uint64_t same = 0, gone = 0, unread = 0, without = 0;

    for (uint32_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i], *before = point - (i > 0);

        same += trend->by_step && i > 0 && point->has_step && before->has_step &&
                point->step == before->step;
        gone += point->run->state == RUN_GONE;
        unread += !point->has_value && !run_was_read(point->run) && point->run->state != RUN_GONE;
        without += !point->has_value && (run_was_read(point->run) || point->run->state == RUN_GONE);
    }
    note(req, trend, "left-out", left_out, "older runs are left out: a trend stands on 10,000");
    note(req, trend, "no-step-number", no_step,
         trend->by_step ? "runs have no step number in their name, and stand last by time"
                        : "runs have no step number in their name: the trend is over time");
    note(req, trend, "same-step", same,
         "runs have the step number of the one before, and stand "
         "behind it by time");
    note(req, trend, "gone", gone, "runs are no longer on disk: what was read of them stands");
    note(req, trend, "not-read", unread, "runs were not read (yet): they have no value");
    note(req, trend, "no-value", without, "runs have no such value");
}

static void sort_points(struct request *req, struct trend *trend, uint64_t *ret_no_step)
{
    uint64_t with_step = 0;

    *ret_no_step = 0;
    for (uint32_t i = 0; i < trend->count; i++) {
        with_step += trend->points[i].has_step;
        *ret_no_step += trend->points[i].has_value && !trend->points[i].has_step;
    }
    trend->by_step = request_is(req, "over", "step") ||
                     (!request_has(req, "over") && with_step > 0 && *ret_no_step == 0);
    if (request_is(req, "over", "time") || with_step == 0)
        *ret_no_step = 0; /* nobody misses them */
    if (trend->count > 0)
        qsort(trend->points, trend->count, sizeof *trend->points,
              trend->by_step ? by_step : by_time);
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

enum status trend_points(struct request *req, struct trend *ret, struct error *err)
{
    const struct run_query query = {.path = request_text(req, "path"),
                                    .q = request_text(req, "q"),
                                    .limit = CHANGES_VALUES_MAX};
    struct run_record *runs;
    uint32_t count;
    uint64_t all, no_step;

    *ret = (struct trend){.metric = trend_metric_of(request_text(req, "metric"))};
    TRY(catalog_runs(req->services->catalog, &query, req->arena, &runs, &count, &all, err));
    ret->points = arena_array(req->arena, struct trend_point, count);
    ret->count = count;
    for (uint32_t i = 0; i < count; i++)
        take_point(ret->metric, &runs[i], &ret->points[i]);
    take_steps(req, runs, ret);
    sort_points(req, ret, &no_step);
    find_levels(req, ret);
    tell(req, ret, all - count, no_step);
    return OK;
}
