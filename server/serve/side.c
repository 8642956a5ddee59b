#include "serve/side.h"

#include "serve/user_out.h"
#include "store/user.h"

/* "step=4-9" or "START-END"; false: it is neither, so it belongs to the name. */
static bool part_parse(struct str part, struct arena *arena, struct restriction *ret)
{
    int64_t *range = arena_array(arena, int64_t, 2);
    bool of_steps = str_starts(part, STR("step="));

    if (!range_parse(of_steps ? str_skip(part, 5) : part, range))
        return false;
    if (of_steps) {
        ret->steps = range;
        ret->step_range_count = 1;
    } else {
        ret->has_window = true;
        ret->start_ps = range[0];
        ret->end_ps = range[1];
    }
    return true;
}

static bool is_called(struct request *req, struct str text)
{
    struct error ignored = {0};
    struct run_record run;
    struct str id;

    return catalog_resolve(req->services->catalog, text, req->arena, &id, NULL, &ignored) == OK &&
           catalog_run(req->services->catalog, id, req->arena, &run, &ignored) == OK &&
           (str_equal(run.name, text) || str_equal(run.id, text));
}

/* A named baseline's content instead of its name. Its run may be elsewhere, or nowhere any more. */
static enum status take_baseline(struct request *req, bool baselines_first, struct str *text,
                                 struct error *err)
{
    struct user_baseline baseline;

    if (!user_baseline(req->services->user, *text, req->arena, &baseline) ||
        (!baselines_first && is_called(req, *text)))
        return OK;
    if (run_of_content(req, baseline.content_id) == NULL)
        return fail(err, ERR_NOT_FOUND,
                    "baseline \"%.*s\" is a run that was called \"%.*s\" and is not below the "
                    "directories shown: give --profile-dir DIR that holds both runs, or set the "
                    "baseline anew",
                    STR_ARG(*text), STR_ARG(baseline.run_name));
    *text = baseline.content_id;
    return OK;
}

static enum status take_side(struct request *req, struct str text, bool baselines_first,
                             struct asked_side *ret, struct error *err)
{
    const char *at = memrchr(text.at, '@', text.count);
    struct str part = STR("");
    const struct run_traces *run;

    *ret = (struct asked_side){0};
    if (at != NULL &&
        part_parse(str_skip(text, (size_t)(at - text.at) + 1), req->arena, &ret->restriction)) {
        part = str_skip(text, (size_t)(at - text.at));
        text.count = (size_t)(at - text.at);
    }
    TRY(take_baseline(req, baselines_first, &text, err));
    request_choose(req, text);
    TRY(request_traces(req, &run, err));
    ret->run = *run;
    ret->called = str_format(req->arena, "%.*s%.*s", STR_ARG(run->name), STR_ARG(part));
    ret->side = (struct diff_side){&ret->run, &ret->restriction};
    return OK;
}

enum status request_side(struct request *req, const char *param, struct asked_side *ret,
                         struct error *err)
{
    return take_side(req, request_text(req, param), strcmp(param, "baseline") == 0, ret, err);
}

enum status request_side_of(struct request *req, struct str text, struct asked_side *ret,
                            struct error *err)
{
    return take_side(req, text, false, ret, err);
}
