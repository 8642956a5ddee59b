/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a check in JSON: each check with its value, its bounds and what was allowed. */
#include "serve/routes/check/check.h"

/* In the unit's own measure: a share is of 1. */
static void put_value(struct json *json, const struct check *check, const char *key, bool is_known,
                      int64_t value)
{
    if (!is_known)
        json_put_null(json, key);
    else if (check->unit == UNIT_SHARE)
        json_put_real(json, key, (double)value / METRIC_SHARE_WHOLE);
    else
        json_put_integer(json, key, value);
}

static void put_ratio(struct json *json, const char *key, bool is_known, int64_t value, int64_t of)
{
    if (is_known && of != 0)
        json_put_real(json, key, (double)value / (double)of);
    else
        json_put_null(json, key);
}

static struct str unit_word(enum unit unit)
{
    return unit == UNIT_BYTES   ? STR("bytes")
           : unit == UNIT_SHARE ? STR("share")
           : unit == UNIT_COUNT ? STR("count")
                                : STR("ps");
}

/* Of what a limit is asked there is a value and its bounds, and no difference. */
static void put_shares(struct json *json, const char *key, const struct shift *shift)
{
    double whole = (double)shift->a_median;

    json_key(json, key);
    json_open(json, '{');
    json_put_real(json, "share", (double)shift->delta / whole);
    json_put_real(json, "low", (double)shift->low / whole);
    json_put_real(json, "high", (double)shift->high / whole);
    json_close(json, '}');
}

static void put_work(struct json *json, const struct check_work *work)
{
    if (!work->known) {
        json_put_null(json, "work");
        return;
    }
    json_key(json, "work");
    json_open(json, '{');
    json_put_bool(json, "same", work->is_same);
    put_shares(json, "more", &work->more.shift);
    json_put_real(json, "slower", work->slower);
    put_shares(json, "at_speed", &work->even.shift);
    json_put_text_or_null(json, "what", work->what);
    json_close(json, '}');
}

static void put_check(struct json *json, const struct check *check, struct str sentence)
{
    const struct shift *shift = &check->judged.shift;
    bool known = check->is_measured, differs = known && !check->question.has_limit;

    json_open(json, '{');
    json_put_text(json, "metric", check->question.text);
    json_put_text(json, "against", check->question.has_limit ? STR("limit") : STR("baseline"));
    json_put_text(json, "answer", str_of(judged_word(check->judged.answer)));
    json_put_text(json, "sentence", sentence);
    json_put_text(json, "unit", unit_word(check->unit));
    put_value(json, check, "baseline", differs, shift->a_median);
    put_value(json, check, "value", known, shift->b_median);
    put_value(json, check, "delta", differs, shift->delta);
    put_ratio(json, "share", differs, shift->delta, shift->a_median);
    put_value(json, check, "low", known, shift->low);
    put_value(json, check, "high", known, shift->high);
    if (differs)
        json_put_real(json, "p", shift->p);
    else
        json_put_null(json, "p");
    put_value(json, check, "allowed", known || check->question.has_limit,
              check->question.has_limit ? check->question.limit : check->judged.allowed);
    json_put_unsigned(json, "baseline_count", check->a_count);
    json_put_unsigned(json, "count", check->b_count);
    put_value(json, check, "seen_from", known && check->judged.seen_from >= 0,
              check->judged.seen_from);
    json_put_unsigned(json, "baseline_runs", check->run_count);
    if (check->judged.answer != JUDGED_OK && check->judged.answer != JUDGED_REGRESSED &&
        check->judged.steps_needed > 0)
        json_put_integer(json, "steps_needed", check->judged.steps_needed);
    else
        json_put_null(json, "steps_needed");
    put_work(json, &check->work);
    json_put_text_or_null(json, "reason", check->reason);
    json_close(json, '}');
}

void check_put_members(struct json *json, const struct checked *checked, struct arena *arena)
{
    json_put_text(json, "answer", str_of(judged_word(checked->answer)));
    json_put_text(json, "sentence", check_headline(checked, arena));
    json_put_real(json, "confidence", checked->confidence);
    json_key(json, "checks");
    json_open(json, '[');
    for (uint32_t i = 0; i < checked->count; i++)
        put_check(json, &checked->checks[i], checked->sentences[i]);
    json_close(json, ']');
}
