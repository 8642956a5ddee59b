/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd check timings.json --baseline main.json: timings without a profile.
 *
 *   run      {"forward": {mean, std, count}, ...} ─┐  by name
 *   baseline {"forward": {mean, std, count}, ...} ─┴─ judge_summaries ─> the worst first
 *
 * The rule's flags, the answers, forms and exit codes are those of profiles. Names that
 * only one file holds cannot be judged, and are told as such.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/timings.h"
#include "cli/verbs.h"
#include "serve/answer/json_out.h"
#include "serve/answer/query.h"
#include "serve/routes/check/check.h"

static const struct param params[] = {
    {.name = "run", .kind = PARAM_TEXT},
    {.name = "baseline", .kind = PARAM_TEXT, .required = true},
    {.name = "max_regress", .kind = PARAM_TEXT, .max = 32},
    {.name = "confidence", .kind = PARAM_TEXT, .max = 32},
    {.name = "min_effect", .kind = PARAM_TEXT, .max = 32},
    {.name = "must_see", .kind = PARAM_TEXT, .max = 32},
    {.name = "count", .kind = PARAM_INTEGER, .min = 1, .max = 1000000000},
    {.name = NULL}};

struct comparison {
    struct arena *arena;
    struct timings run, baseline;
    const struct timing **by_name; /* of the baseline */
    struct judge_rule rule;
    uint32_t count; /* of calls, where a file does not say; 0: not said */
    struct check *checks;
    uint32_t check_count;
};

bool check_is_of_timings(const struct cli_call *call)
{
    return strcmp(call->verb->name, "check") == 0 && call->first != NULL &&
           timings_are(call->first);
}

static int order_names(const void *a, const void *b)
{
    const struct timing *const *x = a, *const *y = b;

    return str_compare((*x)->name, (*y)->name);
}

static const struct timing **sort_names(const struct timings *all, struct arena *arena)
{
    const struct timing **ret = arena_array(arena, const struct timing *, all->count);

    for (uint32_t i = 0; i < all->count; i++)
        ret[i] = &all->items[i];
    qsort(ret, all->count, sizeof *ret, order_names);
    return ret;
}

static const struct timing *find_name(const struct timing *const *sorted, uint32_t count,
                                      const struct timing *wanted)
{
    const struct timing *const *found =
        bsearch(&wanted, sorted, count, sizeof *sorted, order_names);

    return found == NULL ? NULL : *found;
}

static struct check *add_check(struct comparison *comparison, const struct timing *timing)
{
    struct check *check = &comparison->checks[comparison->check_count++];
    struct str name = timing->name.count > 0 ? timing->name : STR("mean");

    *check = (struct check){.question = {.text = name},
                            .judged = {.answer = JUDGED_UNKNOWN, .steps_needed = STEPS_UNKNOWN},
                            .unit = UNIT_PS,
                            .counted = "calls"};
    return check;
}

static struct summary with_count(const struct comparison *comparison, const struct timing *timing)
{
    struct summary ret = timing->calls;

    if (ret.count == 0)
        ret.count = comparison->count;
    return ret;
}

static void judge_one(struct comparison *comparison, const struct timing *timing)
{
    const struct timing *before =
        find_name(comparison->by_name, comparison->baseline.count, timing);
    struct check *check = add_check(comparison, timing);

    if (before == NULL) {
        check->reason = STR("the baseline holds no timing of this name");
        return;
    }
    struct summary a = with_count(comparison, before), b = with_count(comparison, timing);
    check->judged = judge_summaries(&a, &b, &comparison->rule);
    check->a_count = a.count;
    check->b_count = b.count;
    check->is_measured = true;
    if (check->judged.reason != NULL)
        check->reason = str_of(check->judged.reason);
}

static void judge_gone(struct comparison *comparison)
{
    const struct timing **of_run = sort_names(&comparison->run, comparison->arena);

    for (uint32_t i = 0; i < comparison->baseline.count; i++) {
        if (find_name(of_run, comparison->run.count, &comparison->baseline.items[i]) == NULL)
            add_check(comparison, &comparison->baseline.items[i])->reason =
                STR("only the baseline holds a timing of this name");
    }
}

static double growth(const struct check *check)
{
    return (double)check->judged.shift.delta / (double)check->judged.shift.a_median;
}

/* Regressed by how much, then what cannot be told, then what is ok: those as the file has them. */
static int order_checks(const void *a, const void *b)
{
    const struct check *x = *(const struct check *const *)a, *y = *(const struct check *const *)b;

    if (x->judged.answer != y->judged.answer)
        return x->judged.answer > y->judged.answer ? -1 : 1;
    if (x->judged.answer == JUDGED_REGRESSED && growth(x) != growth(y))
        return growth(x) > growth(y) ? -1 : 1;
    return x < y ? -1 : 1;
}

static void judge_all(struct comparison *comparison, const char *run, const char *baseline,
                      struct checked *ret)
{
    uint32_t most = comparison->run.count + comparison->baseline.count;
    const struct check **order = arena_array(comparison->arena, const struct check *, most);

    comparison->checks = arena_array(comparison->arena, struct check, most);
    comparison->by_name = sort_names(&comparison->baseline, comparison->arena);
    for (uint32_t i = 0; i < comparison->run.count; i++)
        judge_one(comparison, &comparison->run.items[i]);
    judge_gone(comparison);
    for (uint32_t i = 0; i < comparison->check_count; i++)
        order[i] = &comparison->checks[i];
    qsort(order, comparison->check_count, sizeof *order, order_checks);
    struct check *checks = arena_array(comparison->arena, struct check, comparison->check_count);
    struct str *sentences = arena_array(comparison->arena, struct str, comparison->check_count);
    for (uint32_t i = 0; i < comparison->check_count; i++) {
        checks[i] = *order[i];
        sentences[i] = check_sentence(&checks[i], comparison->rule.confidence, comparison->arena);
    }
    *ret = (struct checked){.run = str_of(run),
                            .baseline = str_of(baseline),
                            .answer = checks[0].judged.answer,
                            .checks = checks,
                            .sentences = sentences,
                            .count = comparison->check_count,
                            .confidence = comparison->rule.confidence};
}

static enum status read_gate(const struct cli_call *call, struct comparison *ret, struct error *err)
{
    struct query query;
    int64_t count = 0;

    TRY(query_parse(call->query, call->arena, &query, err));
    TRY(query_check(&query, params, err));
    TRY(check_rule(&query, &ret->rule, err));
    const struct str *said = query_find(&query, "count");
    if (said != NULL && str_to_i64(*said, &count))
        ret->count = (uint32_t)count;
    TRY(timings_read(call->first, call->arena, &ret->run, err));
    if (access(call->other, F_OK) != 0)
        return fail(err, ERR_NOT_FOUND,
                    "%s does not exist: timings can only be compared with a file of timings",
                    call->other);
    TRY(timings_read(call->other, call->arena, &ret->baseline, err));
    if (ret->run.is_single != ret->baseline.is_single)
        return fail(err, ERR_FORMAT, "%s holds one timing, %s a mapping of names to timings",
                    ret->run.is_single ? call->first : call->other,
                    ret->run.is_single ? call->other : call->first);
    return OK;
}

static void put_json(struct text *out, const struct checked *checked, struct arena *arena)
{
    struct json json = json_into(out);

    json_open(&json, '{');
    json_put_text(&json, "run", checked->run);
    json_put_text(&json, "baseline", checked->baseline);
    check_put_members(&json, checked, arena);
    json_close(&json, '}');
}

static bool put_answer(const struct cli_call *call, const struct checked *checked, struct text *out)
{
    static const struct {
        const char *word;
        void (*put)(struct text *out, const struct checked *checked, struct arena *arena);
    } forms[] = {{"", check_put_text},       {"table", check_put_text},  {"text", check_put_text},
                 {"md", check_put_markdown}, {"junit", check_put_junit}, {"json", put_json}};

    for (size_t i = 0; i < COUNT(forms); i++) {
        if (str_equal(call->format, str_of(forms[i].word))) {
            forms[i].put(out, checked, call->arena);
            return true;
        }
    }
    return false;
}

static int exit_of(const struct error *err)
{
    return err->code == ERR_INVALID                            ? EXIT_USAGE
           : err->code == ERR_NOT_FOUND                        ? EXIT_NOT_FOUND
           : err->code == ERR_FORMAT || err->code == ERR_LIMIT ? EXIT_CORRUPT
                                                               : EXIT_IO;
}

int check_timings(const struct cli_call *call)
{
    struct comparison comparison = {.arena = call->arena};
    struct checked checked;
    struct text out = {0};
    struct error err = {0};

    if (read_gate(call, &comparison, &err) != OK) {
        fprintf(stderr, "jviewd: %s\n", err.message);
        return exit_of(&err);
    }
    judge_all(&comparison, call->first, call->other, &checked);
    int code = checked.answer == JUDGED_REGRESSED ? EXIT_REGRESSION
               : checked.answer == JUDGED_UNKNOWN ? EXIT_UNKNOWN
               : checked.answer == JUDGED_MAYBE   ? call->maybe_exit
                                                  : EXIT_OK;
    if (!put_answer(call, &checked, &out)) {
        fprintf(stderr, "jviewd: format=%.*s: text, json, md or junit\n", STR_ARG(call->format));
        code = EXIT_USAGE;
    } else {
        fwrite(out.at, 1, out.count, stdout);
        code = output_flush(code);
    }
    text_free(&out);
    return code;
}
