#include "serve/side.h"

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

enum status request_side(struct request *req, const char *param, struct asked_side *ret,
                         struct error *err)
{
    struct str text = request_text(req, param);
    const char *at = memrchr(text.at, '@', text.count);
    const struct run_traces *run;

    *ret = (struct asked_side){0};
    if (at != NULL &&
        part_parse(str_skip(text, (size_t)(at - text.at) + 1), req->arena, &ret->restriction))
        text.count = (size_t)(at - text.at);
    request_choose(req, text);
    TRY(request_traces(req, &run, err));
    ret->run = *run;
    ret->called = str_format(req->arena, "%.*s%.*s", STR_ARG(run->name),
                             STR_ARG(str_skip(request_text(req, param), text.count)));
    ret->side = (struct diff_side){&ret->run, &ret->restriction};
    return OK;
}
