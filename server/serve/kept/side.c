/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a side of a comparison, and measures it or takes it from the kept ones. */
#include "serve/kept/side.h"

#include <stdlib.h>

#include "base/pack/pack.h"
#include "serve/answer/etag.h"
#include "serve/answer/user_out.h"
#include "serve/kept/stored.h"
#include "store/answers.h"
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
                    "given directories: give a --profile-dir DIR that contains both runs, or set "
                    "the baseline again",
                    STR_ARG(*text), STR_ARG(baseline.run_name));
    *text = baseline.content_id;
    return OK;
}

enum { RAW_BYTES_MAX = 16 << 20 };

/* A run that is compared in turn with runs with and without steps is kept as both. */
static bool key_of(const struct run_record *run, bool by_steps, struct hash128 *ret)
{
    return answer_key_of(by_steps ? STR("side of a difference of steps")
                                  : STR("side of a difference of captures"),
                         run, ret);
}

/* Packed: their number, then one frame. */
static bool get_kept(void *data, bool by_steps, struct arena *arena, struct bytes *ret)
{
    const struct side_kept *kept = data;
    struct error ignored = {0};
    struct hash128 key;
    struct bytes body;
    uint64_t count;

    if (!key_of(kept->run, by_steps, &key) ||
        !answers_get(kept->req->services->cache, key, arena, &body) || body.count < sizeof count)
        return false;
    memcpy(&count, body.at, sizeof count);
    if (count > RAW_BYTES_MAX)
        return false;
    uint8_t *raw = arena_alloc(arena, count, 1);
    *ret = (struct bytes){.at = raw, .count = count};
    body = (struct bytes){.at = body.at + sizeof count, .count = body.count - sizeof count};
    return zstd_unpack(raw, count, body, &ignored) == OK;
}

static void put_kept(void *data, bool by_steps, struct bytes bytes)
{
    const struct side_kept *kept = data;
    const struct run_record *run = kept->run;
    size_t capacity = zstd_bound(bytes.count);
    uint64_t count = bytes.count;
    struct hash128 key;

    if (count > RAW_BYTES_MAX || !key_of(run, by_steps, &key))
        return;
    uint8_t *packed = memory_resize(NULL, sizeof count + capacity, 1);
    memcpy(packed, &count, sizeof count);
    size_t packed_count = zstd_pack(packed + sizeof count, capacity, bytes, 1);
    answers_put(kept->req->services->cache, key, run->host_count > 0 ? run->hosts[0].content : "",
                (struct bytes){.at = packed, .count = sizeof count + packed_count});
    free(packed);
}

/* A whole run, once all of it is read, and long enough that a file is read faster. */
static enum status find_keeper(struct request *req, struct asked_side *side, struct error *err)
{
    const struct run_record *run;

    TRY(request_run(req, &run, err));
    if (req->services->cache == NULL || !stored_is_large(run) ||
        (run->state != RUN_READY && run->state != RUN_PARTIAL))
        return OK;
    side->kept = (struct side_kept){req, run};
    side->keeper = (struct diff_keeper){&side->kept, get_kept, put_kept};
    side->side.keeper = &side->keeper;
    return OK;
}

/* A name that is no run's may be a baseline's that cannot be looked up. */
static enum status take_traces(struct request *req, const struct run_traces **ret,
                               struct error *err)
{
    struct error why = {0};
    enum status status = request_traces(req, ret, &why);
    struct str trouble =
        status == ERR_NOT_FOUND ? user_trouble(req->services->user, req->arena) : STR("");

    if (status == OK)
        return OK;
    if (trouble.count == 0)
        return fail(err, status, "%s", why.message);
    return fail(err, status, "%s. If it is a baseline: %.*s", why.message, STR_ARG(trouble));
}

static enum status take_side(struct request *req, struct str text, bool baselines_first,
                             struct asked_side *ret, struct error *err)
{
    const char *at = memrchr(text.at, '@', text.count);
    struct str part = STR("");
    const struct run_traces *run;

    *ret = (struct asked_side){.asked = text};
    if (at != NULL &&
        part_parse(str_skip(text, (size_t)(at - text.at) + 1), req->arena, &ret->restriction)) {
        part = str_skip(text, (size_t)(at - text.at));
        text.count = (size_t)(at - text.at);
    }
    TRY(take_baseline(req, baselines_first, &text, err));
    request_choose(req, text);
    TRY(take_traces(req, &run, err));
    ret->run = *run;
    ret->called = str_format(req->arena, "%.*s%.*s", STR_ARG(run->name), STR_ARG(part));
    ret->side = (struct diff_side){&ret->run, &ret->restriction, NULL};
    return part.count == 0 ? find_keeper(req, ret, err) : OK;
}

enum status request_side(struct request *req, const char *param, struct asked_side *ret,
                         struct error *err)
{
    return take_side(req, request_text(req, param), false, ret, err);
}

enum status request_baseline(struct request *req, struct str text, struct asked_side *ret,
                             struct error *err)
{
    return take_side(req, text, true, ret, err);
}

bool request_is_run(struct request *req, struct str text)
{
    struct user_baseline baseline;

    return user_baseline(req->services->user, text, req->arena, &baseline) || is_called(req, text);
}

enum status request_side_of(struct request *req, struct str text, struct asked_side *ret,
                            struct error *err)
{
    return take_side(req, text, false, ret, err);
}

static bool is_of_same_name(const struct asked_side *a, const struct asked_side *b)
{
    return str_equal(a->called, b->called) && !str_equal(a->run.id, b->run.id);
}

/* The directory that both texts begin with, with its slash. */
static size_t common_directory(struct str a, struct str b)
{
    size_t count = 0;

    for (size_t i = 0; i < a.count && i < b.count && a.at[i] == b.at[i]; i++)
        count = a.at[i] == '/' ? i + 1 : count;
    return count;
}

void sides_tell_apart(struct asked_side *const *sides, uint32_t count, struct arena *arena)
{
    struct str *names = arena_array(arena, struct str, count);

    for (uint32_t i = 0; i < count; i++) {
        size_t common = SIZE_MAX;

        names[i] = sides[i]->called;
        for (uint32_t k = 0; k < count; k++) {
            if (k == i || !is_of_same_name(sides[i], sides[k]))
                continue;
            size_t with = common_directory(sides[i]->asked, sides[k]->asked);
            common = with < common ? with : common;
        }
        if (common != SIZE_MAX)
            names[i] = str_skip(sides[i]->asked, common);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!str_equal(names[i], sides[i]->called))
            sides[i]->run.name = names[i];
        sides[i]->called = names[i];
    }
}
