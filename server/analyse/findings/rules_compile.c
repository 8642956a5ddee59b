/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about compiling while a program runs: each compile is one of analyse/compiles/compiles.h.
 *
 *   step      | 3        | 4        | 5        |
 *   f          compile #2 compile #3 compile #4      what changed before each of them tells why
 */
#include <stdlib.h>

#include "analyse/findings/rules_compile.h"

#include "analyse/findings/findings.h"
#include "analyse/stats/map64.h"
#include "base/hash.h"
#include "base/human.h"
#include "trace/ps.h"

enum { AGAIN_MIN = 2, SHAPES_MIN = 3, PROVED_MAX = 4 };
static const int64_t autotune_min_ps = 100000000000; /* 100 ms */
static const double time_min = 0.01;                 /* of the counted time */

struct again { /* one function's compiles on one host after those that came first */
    const struct compile **items; /* in time */
    uint32_t count;
    uint32_t changes[CHANGE_NOTHING + 1];
    int64_t total_ps, counted_ps;
};

static enum status make_compiles(struct memo *memo, const void **ret, struct error *err)
{
    struct compiles *compiles = arena_new(memo->arena, struct compiles);
    const struct steps *all;

    *ret = compiles;
    TRY(memo_all_steps(memo, &all, err));
    return compiles_find(memo->run, memo->restriction, all, memo->arena, compiles, err);
}

enum status memo_compiles(struct memo *memo, const struct compiles **ret, struct error *err)
{
    const void *made;

    TRY(memo_once(memo, make_compiles, &made, err));
    *ret = made;
    return OK;
}

static int by_function(const void *left, const void *right)
{
    const struct compile *a = *(const struct compile *const *)left;
    const struct compile *b = *(const struct compile *const *)right;
    int order;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    order = str_compare(a->function, b->function);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Compiled, and not for the first time. */
static bool is_again(const struct compile *compile)
{
    return compile->cached != CACHED_YES && compile->function.count > 0 &&
           (compile->nth > 1 ||
            (compile->change != CHANGE_FIRST && compile->change != CHANGE_UNKNOWN));
}

static const struct compile **list_again(struct memo *memo, const struct compiles *compiles,
                                         uint32_t *ret_count)
{
    const struct compile **list =
        arena_array(memo->arena, const struct compile *, (size_t)compiles->count + 1);

    *ret_count = 0;
    for (uint32_t i = 0; i < compiles->count; i++) {
        if (is_again(&compiles->items[i]))
            list[(*ret_count)++] = &compiles->items[i];
    }
    if (*ret_count > 1)
        qsort(list, *ret_count, sizeof(*list), by_function);
    return list;
}

/* The next function's; false at the end. */
static bool next_function(const struct counted *counted, const struct compile **list,
                          uint32_t count, uint32_t *at, struct again *ret)
{
    uint32_t first = *at;

    *ret = (struct again){.items = &list[first]};
    for (; *at < count && list[*at]->host == list[first]->host &&
           str_equal(list[*at]->function, list[first]->function);
         (*at)++) {
        const struct compile *compile = list[*at];
        int64_t total_ps = compile_total(compile);
        int64_t inside_ps =
            counted_inside_ps(counted, compile->host, compile->start_ps, compile->end_ps);

        ret->count++;
        ret->changes[compile->change]++;
        ps_add(&ret->total_ps, total_ps);
        ps_add(&ret->counted_ps, inside_ps < total_ps ? inside_ps : total_ps);
    }
    return ret->count > 0;
}

static void prove(struct finding *finding, const struct compile *compile)
{
    struct evidence *evidence = finding_prove_ps(finding, "compilation", compile_total(compile));

    evidence_at(evidence, compile->host, compile->start_ps, compile->end_ps);
    evidence->slice = compile->slice;
    evidence->track = compile->track;
    evidence->step = compile->in_step ? compile->step : NO_STEP;
}

static void prove_again(struct finding *finding, const struct again *again)
{
    struct evidence *all = finding_prove_count(finding, "compiled again", again->count);

    all->view = "compiles";
    all->find = again->items[0]->function;
    all->host = again->items[0]->host;
    for (uint32_t i = 0; i < again->count && i < PROVED_MAX; i++)
        prove(finding, again->items[i]);
}

static const char *remedy_of(const struct again *again)
{
    uint32_t most = CHANGE_UNKNOWN;

    for (uint32_t change = CHANGE_SHAPE; change <= CHANGE_NOTHING; change++)
        most =
            again->changes[change] > again->changes[most] || most == CHANGE_UNKNOWN ? change : most;
    if (again->changes[most] == 0)
        return "{jax:See with `jax.config.update(\"jax_explain_cache_misses\", True)` which "
               "argument changes, and keep it from changing.}{torch:See with "
               "`TORCH_LOGS=recompiles` which guard fails, and keep it from "
               "changing.}{!jax+!torch:See which argument changes, and keep it from changing.}";
    switch (most) {
    case CHANGE_SHAPE:
        return "Keep shapes constant: pad to a few sizes, or drop the last incomplete batch.";
    case CHANGE_DTYPE:
        return "Pass the same types on each call{jax:: `jnp.asarray(x, dtype)` before the call}.";
    case CHANGE_ARGUMENTS:
        return "Pass arguments of the same structure on each call.";
    case CHANGE_PROGRAM:
        return "Pass the changing value as an array{jax: instead of by `static_argnums`}, or keep "
               "it constant.";
    default:
        return "Create the function once{jax:: `jax.jit` of a `lambda` or of an inner function "
               "inside a loop starts with an empty cache each time}.";
    }
}

/* ", for x: f32[8] -> f32[12]", where it is known. */
static struct str reason_of(struct memo *memo, const struct compile *compile)
{
    switch (compile->change) {
    case CHANGE_UNKNOWN:
    case CHANGE_FIRST:
        return STR("");
    case CHANGE_NOTHING:
        return STR(", although its module did not change");
    case CHANGE_PROGRAM:
        return STR(", because its instructions changed, not its arguments");
    default:
        return str_format(memo->arena, ", for %.*s", STR_ARG(compile->changed));
    }
}

/* For so many shapes, or values of static arguments, that this is what is told of it. */
static bool is_for_sizes(const struct again *again)
{
    return again->changes[CHANGE_SHAPE] >= SHAPES_MIN ||
           again->changes[CHANGE_PROGRAM] >= SHAPES_MIN;
}

static enum status find_recompiles(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct compiles *found;
    const struct counted *counted;
    struct again again;
    uint32_t count, at = 0;

    TRY(memo_compiles(memo, &found, err));
    TRY(memo_counted(memo, &counted, err));

    const struct compile **compiles = list_again(memo, found, &count);

    while (next_function(counted, compiles, count, &at, &again)) {
        const struct compile *last = again.items[again.count - 1];
        struct str reason = reason_of(memo, last);

        if (reason.count == 0)
            reason = STR(", for an unknown reason");
        if (again.count < AGAIN_MIN || is_for_sizes(&again) ||
            (double)again.total_ps < time_min * (double)counted->total_ps)
            continue;

        struct finding finding = {
            .severity =
                again.counted_ps > counted->total_ps / 10 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
            .confidence = CONFIDENCE_HIGH,
            .text = text_on_host(
                memo, last->host,
                "The function %.*s was compiled again %u times in %s; the last time%.*s.",
                STR_ARG(last->function), again.count, human_ps(again.total_ps).text,
                STR_ARG(reason)),
            .remedy = str_of(remedy_of(&again)),
        };

        finding_win(&finding, again.counted_ps);
        prove_again(&finding, &again);
        findings_add(list, &finding);
    }
    return OK;
}

static uint64_t key_of(const struct compile *compile)
{
    uint64_t name = hash64((struct bytes){.at = (const uint8_t *)compile->function.at,
                                          .count = compile->function.count});
    const uint64_t both[2] = {compile->host, name};

    return hash64((struct bytes){.at = (const uint8_t *)both, .count = sizeof both});
}

/* How often each function of a host was compiled again. */
static struct map64 count_again(const struct compiles *compiles)
{
    struct map64 ret = {0};

    for (uint32_t i = 0; i < compiles->count; i++)
        if (is_again(&compiles->items[i]))
            ++*map64_at(&ret, key_of(&compiles->items[i]), 0);
    return ret;
}

/* Is the function compiled over and over? Then that is what is told of it. */
static bool is_repeated(const struct map64 *again, const struct compile *compile)
{
    uint32_t count;

    return map64_get(again, key_of(compile), &count) && count >= AGAIN_MIN;
}

/* Long enough to be told where it stands in a step. */
static bool is_long(const struct compile *compile, const struct counted *counted)
{
    return compile->cached != CACHED_YES &&
           (double)compile_total(compile) >= time_min * (double)counted->total_ps;
}

int64_t told_compiles_ps(const struct compiles *compiles, const struct counted *counted,
                         const struct step *step)
{
    int64_t sum_ps = 0;

    for (uint32_t i = 0; i < compiles->count; i++) {
        const struct compile *compile = &compiles->items[i];

        if (compile->in_step && !compile->in_warmup && compile->host == step->host &&
            compile->step == step->number && is_long(compile, counted))
            ps_add(&sum_ps, compile_total(compile));
    }
    return sum_ps;
}

/* One compile in a step, of a function that is not compiled over and over. */
static enum status find_in_steps(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct counted *counted;
    const struct compiles *compiles;

    TRY(memo_compiles(memo, &compiles, err));
    TRY(memo_counted(memo, &counted, err));

    struct map64 again = count_again(compiles);

    for (uint32_t i = 0; i < compiles->count; i++) {
        const struct compile *compile = &compiles->items[i];
        int64_t total_ps = compile_total(compile);
        struct str name = compile->function.count > 0 ? compile->function : STR("a function");
        struct str reason = reason_of(memo, compile);

        if (!compile->in_step || compile->in_warmup || !is_long(compile, counted) ||
            is_repeated(&again, compile))
            continue;

        struct finding finding = {
            .severity = total_ps > counted->total_ps / 10 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
            .confidence = CONFIDENCE_HIGH,
            .text = text_on_host(memo, compile->host, "Step %lld compiles %.*s in %s%.*s.",
                                 (long long)compile->step, STR_ARG(name), human_ps(total_ps).text,
                                 STR_ARG(reason)),
            .remedy = STR("Compile before the loop, by a call{jax: or by `.lower(...).compile()`} "
                          "for each shape that will occur, or keep constant what changed."),
        };

        finding_win(&finding, total_ps);
        prove(&finding, compile);
        findings_add(list, &finding);
    }
    map64_free(&again);
    return OK;
}

static enum status find_sizes(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct compiles *found;
    const struct counted *counted;
    struct again again;
    uint32_t count, at = 0;

    TRY(memo_compiles(memo, &found, err));
    TRY(memo_counted(memo, &counted, err));

    const struct compile **compiles = list_again(memo, found, &count);

    while (next_function(counted, compiles, count, &at, &again)) {
        uint32_t shapes = again.changes[CHANGE_SHAPE], programs = again.changes[CHANGE_PROGRAM];

        if (!is_for_sizes(&again))
            continue;

        const struct compile *last = again.items[again.count - 1];
        struct str reason = reason_of(memo, last);
        bool by_shape = shapes >= programs;
        struct finding finding = {
            .severity =
                again.counted_ps > counted->total_ps / 10 ? SEVERITY_CRITICAL : SEVERITY_WARNING,
            .confidence = by_shape ? CONFIDENCE_HIGH : CONFIDENCE_MEDIUM,
            .text = text_on_host(
                memo, again.items[0]->host,
                "The function %.*s was compiled again %u times in %s, %u of them for %s%s%.*s.",
                STR_ARG(last->function), again.count, human_ps(again.total_ps).text,
                by_shape ? shapes : programs,
                by_shape ? "other shapes of its arguments" : "other values of static arguments",
                reason.count > 0 ? "; the last time" : "", STR_ARG(reason)),
            .remedy = by_shape ? STR("Pad to a few sizes, such as powers of two, and mask the "
                                     "rest, so that a few modules serve all sizes.")
                               : STR("Pass such values as arrays; arguments that must be static "
                                     "should take few values{jax: (`static_argnums`)}."),
        };

        finding_win(&finding, again.counted_ps);
        prove_again(&finding, &again);
        findings_add(list, &finding);
    }
    return OK;
}

static enum status find_autotuning(struct memo *memo, struct finding_list *list, struct error *err)
{
    const struct compiles *compiles;
    int64_t tuned_ps = 0, total_ps = 0;
    const struct compile *most = NULL;

    TRY(memo_compiles(memo, &compiles, err));
    for (uint32_t i = 0; i < compiles->count; i++) {
        const struct compile *compile = &compiles->items[i];

        ps_add(&tuned_ps, compile->phases_ps[PHASE_AUTOTUNE]);
        ps_add(&total_ps, compile_total(compile));
        if (most == NULL || compile->phases_ps[PHASE_AUTOTUNE] > most->phases_ps[PHASE_AUTOTUNE])
            most = compile;
    }
    if (tuned_ps < autotune_min_ps)
        return OK;

    struct finding finding = {
        .severity = SEVERITY_INFO,
        .confidence = CONFIDENCE_HIGH,
        .text =
            str_format(memo->arena, "Autotuning takes %s of the %s of compilation, %s for %.*s.",
                       human_ps(tuned_ps).text, human_ps(total_ps).text,
                       most->phases_ps[PHASE_AUTOTUNE] > tuned_ps / 2 ? "most of it" : "above all",
                       STR_ARG(most->function)),
        .remedy = STR("Keep its results: {jax:a persistent compilation cache "
                      "(`jax_compilation_cache_dir`)}{jax+gpu:, or "
                      "`--xla_gpu_dump_autotune_results_to` and "
                      "`--xla_gpu_load_autotune_results_from`}{torch:the cache of Inductor "
                      "(`TORCHINDUCTOR_CACHE_DIR`)}{!jax+!torch:on disk, from start to start}."),
        .win_reason = STR("it happens once per start, not in steps"),
    };

    prove(&finding, most);
    finding_prove_ps(&finding, "autotuning", tuned_ps)->view = "compiles";
    findings_add(list, &finding);
    return OK;
}

const struct rule rules_compile[] = {
    {"recompiles", "compile", "a function is recompiled twice or more", find_recompiles},
    {"compile-in-steps", "compile",
     "a step after warm-up holds a compilation that takes 1 % of the counted time or more",
     find_in_steps},
    {"changing-sizes", "compile",
     "a function is recompiled three times or more for new shapes or static values", find_sizes},
    {"autotuning", "compile", "autotuning takes 100 ms or more", find_autotuning},
    {.name = NULL},
};
