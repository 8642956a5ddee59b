/* SPDX-License-Identifier: Apache-2.0 */
/* GET /api/diff?a=&b=&by=: what changed between two runs, or two parts of one
 * (serve/kept/side.h). */
#include <stdlib.h>

#include "analyse/compare/compare.h"
#include "base/human.h"
#include "serve/answer/table_out.h"
#include "serve/kept/side.h"
#include "serve/routes.h"
#include "serve/tool.h"

static const struct param params[] = {
    {.name = "a", .kind = PARAM_TEXT, .required = true, .max = 1024},
    {.name = "b", .kind = PARAM_TEXT, .required = true, .max = 1024},
    {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},
    {.name = "by", .kind = PARAM_WORD, .words = "op|scope|module|category|source|kind"},
    PARAMS_PAGE,
    PARAMS_FORMAT,
    PARAM_SORT,
    {.name = NULL},
};

static void put_side(struct json *json, const char *key, const struct asked_side *side,
                     const struct diff_measured *measured, int64_t median_ps, bool by_steps)
{
    json_key(json, key);
    json_open(json, '{');
    json_put_text(json, "id", side->run.id);
    json_put_text(json, "name", side->run.name);
    json_put_text(json, "basis", measured->basis);
    json_put_unsigned(json, "step_count", measured->step_count);
    json_put_unsigned(json, "warmup_count", measured->warmup_count);
    json_put_unsigned(json, "cut_count", measured->cut_count);
    json_put_integer(json, "mean_ps", measured->mean_ps);
    if (by_steps)
        json_put_integer(json, "median_ps", median_ps);
    else
        json_put_null(json, "median_ps");
    json_key(json, "breakdown");
    json_open(json, '[');
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        json_open(json, '{');
        json_put_text(json, "kind", str_of(kind_word((enum kind)kind)));
        json_put_integer(json, "self_ps", measured->kinds_ps[kind]);
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* What may be said of the medians: a difference only where the interval leaves zero out. */
static const char *verdict_of(const struct shift *step)
{
    if (step->low > 0 && step->p < 0.05)
        return "slower";
    if (step->high < 0 && step->p < 0.05)
        return "faster";
    return "not told apart";
}

static const char *sign_of(int64_t ps)
{
    return ps < 0 ? "\xe2\x88\x92" : "+";
}

static void put_amount(struct text *text, int64_t ps)
{
    text_putf(text, "%s%s", sign_of(ps), human_ps(llabs(ps)).text);
}

static void say_bounds(struct text *text, const struct shift *step)
{
    put_amount(text, step->low);
    text_puts(text, " \xe2\x80\xa6 ");
    put_amount(text, step->high);
}

/* What happened in few of the steps: the mean tells it, the median does not. */
struct once {
    int kind; /* KIND_COUNT + 1: nothing */
    int64_t delta_ps;
};

enum { ONCE_TIMES = 2, ONCE_SHARE = 20 }; /* of the median's change; of the longer mean step: 5 % */

static struct once once_of(const struct diff *diff)
{
    int64_t a_ps = diff->a.mean_ps, b_ps = diff->b.mean_ps, longer_ps = a_ps > b_ps ? a_ps : b_ps;
    int64_t beside_ps = b_ps - a_ps - (diff->step.b_median - diff->step.a_median);
    struct once ret = {.kind = KIND_COUNT + 1};

    if (llabs(beside_ps) <= ONCE_TIMES * llabs(diff->step.b_median - diff->step.a_median) ||
        llabs(beside_ps) <= longer_ps / ONCE_SHARE)
        return ret;
    for (int kind = 0; kind <= KIND_COUNT; kind++) {
        int64_t delta_ps = diff->b.kinds_ps[kind] - diff->a.kinds_ps[kind];

        if (llabs(delta_ps) > llabs(beside_ps) / 2 && (delta_ps > 0) == (beside_ps > 0) &&
            llabs(delta_ps) > llabs(ret.delta_ps))
            ret = (struct once){kind, delta_ps};
    }
    return ret;
}

/* "compiled: +436 ms a step on average". */
static void say_once(struct text *text, struct once once)
{
    static const struct {
        const char *more, *less;
    } words[KIND_COUNT + 1] = {
        [KIND_COMPUTE] = {"computed", "computed less"},
        [KIND_COMMUNICATION] = {"communicated", "communicated less"},
        [KIND_COPY] = {"copied", "copied less"},
        [KIND_HOST] = {"worked on the host", "worked less on the host"},
        [KIND_INPUT] = {"waited for input", "waited less for input"},
        [KIND_COMPILE] = {"compiled", "compiled less"},
        [KIND_OTHER] = {"did other work", "did less other work"},
        [KIND_IDLE] = {"was idle", "was less idle"},
    };

    text_putf(text, "%s: ", once.delta_ps > 0 ? words[once.kind].more : words[once.kind].less);
    put_amount(text, once.delta_ps);
    text_puts(text, " a step on average");
}

static void say_change(struct text *text, const struct shift *step, struct str a, struct str b)
{
    text_putf(text, "%.*s is %s a step %s than %.*s (%s \xe2\x86\x92 %s; 95 %%: ", STR_ARG(b),
              human_ps(llabs(step->delta)).text, step->delta > 0 ? "slower" : "faster", STR_ARG(a),
              human_ps(step->a_median).text, human_ps(step->b_median).text);
    say_bounds(text, step);
    text_puts(text, ")");
}

/* "f32[64,256]" of "f32[64,256]{1,0}"; a tuple stays. */
static struct str without_layout(struct str shape)
{
    const char *layout = shape.count > 0 ? memchr(shape.at, '{', shape.count) : NULL;
    bool is_one = layout != NULL && shape.at[0] != '(' && shape.at[shape.count - 1] == '}';

    return is_one ? (struct str){shape.at, (size_t)(layout - shape.at)} : shape;
}

static void say_shapes(struct text *text, const struct diff_shapes *shapes)
{
    struct str a = without_layout(shapes->a), b = without_layout(shapes->b);

    if (shapes->name.count > 0 && !str_equal(a, b))
        text_putf(text, "; %.*s: %.*s \xe2\x86\x92 %.*s", STR_ARG(shapes->name), STR_ARG(a),
                  STR_ARG(b));
}

static void say_doubt(struct text *text, const struct diff *diff, struct str a, struct str b)
{
    const struct shift *step = &diff->step;
    struct once once = once_of(diff);

    if (once.kind <= KIND_COUNT && diff->a.step_count > 1 && diff->b.step_count > 1) {
        text_putf(text, "%.*s ", STR_ARG(b));
        say_once(text, once);
        text_putf(text,
                  ", against %.*s; the median step, %s \xe2\x86\x92 %s, is within noise (95 %%: ",
                  STR_ARG(a), human_ps(step->a_median).text, human_ps(step->b_median).text);
        say_bounds(text, step);
        text_puts(text, ").");
        return;
    }
    text_putf(text, "A step of %.*s takes %s, one of %.*s %s", STR_ARG(b),
              human_ps(step->b_median).text, STR_ARG(a), human_ps(step->a_median).text);
    if (diff->a.step_count < 2 || diff->b.step_count < 2) {
        text_puts(text, "; with one step per side, change and chance cannot be told apart.");
        return;
    }
    text_puts(text, " (difference with 95 %: ");
    say_bounds(text, step);
    text_puts(text, "): too few steps or too much noise to call that a change.");
}

static void say_whole_change(struct text *text, const struct diff *diff, struct str a, struct str b)
{
    struct once once = once_of(diff);

    say_change(text, &diff->step, a, b);
    say_shapes(text, &diff->shapes);
    if (once.kind <= KIND_COUNT) {
        text_puts(text, "; beside that it ");
        say_once(text, once);
    }
    text_puts(text, ".");
}

/* The answer as one sentence. */
static struct str sentence_of(const struct diff *diff, const struct asked_side *a,
                              const struct asked_side *b, struct arena *arena)
{
    struct text text = {0};

    if (diff->by_steps) {
        if (strcmp(verdict_of(&diff->step), "not told apart") == 0)
            say_doubt(&text, diff, a->called, b->called);
        else
            say_whole_change(&text, diff, a->called, b->called);
    } else {
        text_putf(&text, "The capture of %.*s lasts %s, that of %.*s %s; not both have steps.",
                  STR_ARG(b->called), human_ps(diff->b.mean_ps).text, STR_ARG(a->called),
                  human_ps(diff->a.mean_ps).text);
    }
    struct str ret = str_copy(arena, text_str(&text));
    text_free(&text);
    return ret;
}

static void put_step(struct json *json, const struct diff *diff)
{
    json_key(json, "step");
    if (!diff->by_steps) {
        json_add_null(json);
        return;
    }
    json_open(json, '{');
    json_put_integer(json, "delta_ps", diff->step.delta);
    json_put_integer(json, "low_ps", diff->step.low);
    json_put_integer(json, "high_ps", diff->step.high);
    json_put_real(json, "p", diff->step.p);
    json_put_text(json, "verdict", str_of(verdict_of(&diff->step)));
    json_close(json, '}');
}

static void put_text_cell(struct json *json, const char *key, const struct cell *cell)
{
    json_key(json, key);
    if (cell->kind == CELL_TEXT)
        json_add_text(json, cell->of.text);
    else
        json_add_null(json);
}

/* What both were made with, where that differs: it may be the cause. Null: not recorded. */
static void put_setup(struct json *json, const struct asked_side *a, const struct asked_side *b,
                      struct arena *arena)
{
    const struct diff_side sides[] = {a->side, b->side};
    struct comparison differing;

    compare_setups(sides, 2, arena, &differing);
    json_key(json, "setup");
    json_open(json, '[');
    for (uint32_t i = 0; i < differing.row_count; i++) {
        json_open(json, '{');
        json_put_text(json, "key", differing.rows[i].key);
        put_text_cell(json, "a", &differing.rows[i].values[0]);
        put_text_cell(json, "b", &differing.rows[i].values[1]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static enum status get_diff(struct request *req, struct reply *reply, struct error *err)
{
    struct asked_side a, b;
    struct page page;
    struct diff diff;

    TRY(request_page(req, &page, err));
    TRY(request_side(req, "a", &a, err));
    TRY(request_side(req, "b", &b, err));
    sides_tell_apart((struct asked_side *const[]){&a, &b}, 2, req->arena);
    TRY(diff_runs(&a.side, &b.side, request_text(req, "by"), &page, req->arena, &diff, err));
    if (reply_table_text(req, reply, &diff.table))
        return OK;
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_text(&json, "sentence", sentence_of(&diff, &a, &b, req->arena));
    put_side(&json, "a", &a, &diff.a, diff.step.a_median, diff.by_steps);
    put_side(&json, "b", &b, &diff.b, diff.step.b_median, diff.by_steps);
    json_put_text(&json, "by", diff.by);
    put_step(&json, &diff);
    json_put_integer(&json, "total_delta_ps", diff.table.total_ps);
    json_put_real(&json, "matched_share", diff.matched_share);
    json_put_real(&json, "sure_share", diff.sure_share);
    put_setup(&json, &a, &b, req->arena);
    json_put_table(&json, req, &diff.table);
    json_close(&json, '}');
    return OK;
}

/* What a difference with another run will need of this one. */
static void measure_side(const struct services *services, struct str run_id)
{
    struct arena *arena = arena_create();
    struct request request = {.query = STR("a=-&b=-"), .arena = arena, .services = services};
    struct asked_side side;
    struct error ignored = {0};

    if (request_open(&request, &route_diff, &ignored) == OK) {
        if (request_side_of(&request, run_id, &side, &ignored) == OK &&
            diff_prepare(&side.side, arena, &ignored) != OK)
            ignored = (struct error){0}; /* who compares is told why */
        request_release(request.state);
    }
    arena_destroy(arena);
}

static const struct verb verb = {.name = "diff",
                                 .summary = "what changed between two runs, or two parts of one",
                                 .operands = "A B",
                                 .two_runs = true};

static const struct tool_argument arguments[] = {
    {"a", TOOL_TEXT, true, "The earlier run; NAME@step=4 selects one step of it", NULL},
    {"b", TOOL_TEXT, true, "The run after", NULL},
    {"by", TOOL_WORD, false, "What a row is (default op)", "op|scope|module|kernel|category"},
    TOOL_PAGE,
    TOOL_TOKENS,
    TOOL_END};
static const struct tool tools[] = {
    {.name = "diff",
     .title = "Difference of two runs",
     .text =
         "What changed from run a to run b: step time with its interval and test, and which ops "
         "explain it, ranked.",
     .arguments = arguments,
     .fixed = "limit=15",
     .rank = 7},
    {.name = NULL}};

const struct route route_diff = {.method = "GET",
                                 .path = "/api/diff",
                                 .handle = get_diff,
                                 .params = params,
                                 .heavy = true,
                                 .age = AGE_CATALOG,
                                 .prepare = measure_side,
                                 .verb = &verb,
                                 .tools = tools};
