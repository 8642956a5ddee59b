/* SPDX-License-Identifier: Apache-2.0 */
/* What a check is asked, as people write it.
 *
 *   max_regress=3%  confidence=0.99  min_effect=1.5ms
 *   metric=step_time,op:dot.3  max=step_time=150ms
 *
 * A comma ends a metric only where another metric follows: names of ops hold commas, too.
 */
#include <stdlib.h>

#include "base/distance.h"
#include "serve/routes/check/check.h"

enum { NUMBER_MAX = 63 };

static const struct {
    const char *suffix;
    double factor;
    enum unit unit;
} suffixes[] = {
    {"ps", 1, UNIT_PS},
    {"ns", 1e3, UNIT_PS},
    {"us", 1e6, UNIT_PS},
    {"ms", 1e9, UNIT_PS},
    {"s", 1e12, UNIT_PS},
    {"KiB", 1024, UNIT_BYTES},
    {"MiB", 1024. * 1024, UNIT_BYTES},
    {"GiB", 1024. * 1024 * 1024, UNIT_BYTES},
    {"TiB", 1024. * 1024 * 1024 * 1024, UNIT_BYTES},
    {"%", 0.01, UNIT_SHARE},
    {"B", 1, UNIT_BYTES}, /* after those that end in it */
    {"", 1, UNIT_NONE},
};

/* "1.5ms", "3%", "12GiB", "150": a number that is not negative, in units of one, and which unit. */
static bool quantity_parse(struct str text, double *ret, enum unit *ret_unit)
{
    for (size_t i = 0; i < COUNT(suffixes); i++) {
        struct str suffix = str_of(suffixes[i].suffix);
        char number[NUMBER_MAX + 1], *end;

        if (!str_ends(text, suffix) || text.count - suffix.count > NUMBER_MAX)
            continue;
        size_t count = text.count - suffix.count;
        if (count == 0 || strspn(text.at, "0123456789.") < count)
            continue;
        memcpy(number, text.at, count);
        number[count] = '\0';
        *ret = strtod(number, &end) * suffixes[i].factor;
        *ret_unit = suffixes[i].unit;
        return *end == '\0' && *ret < 9e18;
    }
    return false;
}

static struct str text_of(const struct query *query, const char *name)
{
    const struct str *value = query_find(query, name);

    return value == NULL ? STR("") : *value;
}

static enum status take_share(const struct query *query, const char *param, double least,
                              double most, double *ret, struct error *err)
{
    struct str text = text_of(query, param);
    enum unit unit;

    if (text.count == 0)
        return OK;
    if (!quantity_parse(text, ret, &unit) || (unit != UNIT_SHARE && unit != UNIT_NONE) ||
        *ret < least || *ret > most)
        return fail(err, ERR_INVALID,
                    "%s=%.*s: it must be a share from %g to %g, such as 3%% or 0.03", param,
                    STR_ARG(text), least, most);
    return OK;
}

static enum status take_effect(const struct query *query, struct judge_rule *ret, struct error *err)
{
    struct str text = text_of(query, "min_effect");
    enum unit unit;
    double value;

    if (text.count == 0)
        return OK;
    if (!quantity_parse(text, &value, &unit) || unit == UNIT_BYTES)
        return fail(err, ERR_INVALID,
                    "min_effect=%.*s: a time such as 1.5ms, or a share such as 1%%", STR_ARG(text));
    if (unit == UNIT_SHARE)
        ret->min_effect_share = value;
    else
        ret->min_effect = (int64_t)value;
    return OK;
}

/* Does a metric's name begin here? */
static bool begins_metric(struct str text)
{
    for (size_t i = 0; check_metric_word(i) != NULL; i++) {
        if (str_starts(text, str_of(check_metric_word(i))))
            return true;
    }
    return str_starts(text, STR("op:"));
}

static bool next_metric(struct str *rest, struct str *ret)
{
    if (rest->count == 0)
        return false;
    *ret = *rest;
    for (size_t i = 0; i < rest->count; i++) {
        if (rest->at[i] != ',' || !begins_metric(str_skip(*rest, i + 1)))
            continue;
        ret->count = i;
        *rest = str_skip(*rest, i + 1);
        return true;
    }
    *rest = STR("");
    return true;
}

/* The word that was perhaps meant. */
static const char *nearest_metric(struct str text)
{
    const char *nearest = check_metric_word(0);

    for (size_t i = 1; check_metric_word(i) != NULL; i++) {
        if (edit_distance(text, str_of(check_metric_word(i))) <
            edit_distance(text, str_of(nearest)))
            nearest = check_metric_word(i);
    }
    return nearest;
}

static enum status add_question(struct asked_check *asked, struct str text, struct error *err)
{
    if (asked->count == CHECKS_MAX)
        return fail(err, ERR_INVALID, "at most %d metrics at once", CHECKS_MAX);
    if (!check_metric_parse(text, &asked->questions[asked->count++]))
        return fail(err, ERR_INVALID,
                    "\"%.*s\" is not a metric; the nearest is %s. Metrics are step_time, op:NAME, "
                    "memory_peak, compile_time and the other figures of a trend, such as step_p95, "
                    "share_idle, utilisation",
                    text.count > 200 ? 200 : (int)text.count, text.at, nearest_metric(text));
    return OK;
}

/* "step_time=150ms"; the last = counts, for names hold such, too. */
static enum status add_limit(struct asked_check *asked, struct str text, struct error *err)
{
    const char *equals = memrchr(text.at, '=', text.count);
    struct str name = text, limit = STR("");
    enum unit unit;
    double value;

    if (equals != NULL) {
        name.count = (size_t)(equals - text.at);
        limit = str_skip(text, name.count + 1);
    }
    TRY(add_question(asked, name, err));
    struct check_question *question = &asked->questions[asked->count - 1];
    enum unit own = check_metric_unit(question);
    if (!quantity_parse(limit, &value, &unit) || (unit != own && unit != UNIT_NONE) ||
        (own == UNIT_SHARE && value > 1))
        return fail(err, ERR_INVALID,
                    "max=%.*s: METRIC=VALUE, such as step_time=150ms or "
                    "memory_peak=12GiB",
                    STR_ARG(text));
    question->has_limit = true;
    question->limit = (int64_t)(own == UNIT_SHARE ? value * METRIC_SHARE_WHOLE : value);
    return OK;
}

enum status check_rule(const struct query *query, struct judge_rule *ret, struct error *err)
{
    *ret = (struct judge_rule){.max_regress = MAX_REGRESS, .confidence = 0.99};
    TRY(take_share(query, "max_regress", 0, 1000, &ret->max_regress, err));
    TRY(take_share(query, "must_see", 0, 1000, &ret->must_see, err));
    TRY(take_share(query, "confidence", 0.5, 0.999, &ret->confidence, err));
    return take_effect(query, ret, err);
}

enum status check_args(struct request *req, bool has_baseline, struct asked_check *ret,
                       struct error *err)
{
    struct str metrics = request_text(req, "metric"), limits = request_text(req, "max"), text;

    ret->count = 0;
    TRY(check_rule(request_query(req), &ret->rule, err));
    if (!has_baseline && metrics.count > 0)
        return fail(err, ERR_INVALID, "metric=%.*s needs a baseline to be compared with",
                    STR_ARG(metrics));
    if (!has_baseline && limits.count == 0)
        return fail(err, ERR_INVALID,
                    "nothing to check against: give a baseline, or a limit such "
                    "as max=step_time=150ms");
    if (has_baseline && metrics.count == 0)
        metrics = STR("step_time");
    while (next_metric(&metrics, &text))
        TRY(add_question(ret, text, err));
    while (next_metric(&limits, &text))
        TRY(add_limit(ret, text, err));
    return OK;
}
