/* SPDX-License-Identifier: Apache-2.0 */
/* /api/capture: profiles of programs that run a profiler server, recorded from here.
 *
 *   GET       may it, and how the last one stands
 *   POST      {"targets": "trainer-0:9999 trainer-1:9999", "ms": 2000} -> 202, the same
 *   DELETE    ends the one under way
 *
 * A server connects where others tell it only when it was started with --allow-capture: to public
 * addresses, or to the programs that this names, and then to no other.
 */
#include "capture/capture_session.h"
#include "serve/answer/body.h"
#include "serve/answer/reply.h"
#include "serve/answer/request.h"
#include "serve/routes.h"

enum { MS_DEFAULT = 1000, HOST_LEVEL = 2, DEVICE_LEVEL = 1 };

static const struct param no_params[] = {{.name = NULL}};

static struct str refusal(const struct request *req)
{
    return req->services->captures != NULL
               ? STR("")
               : STR("This server records profiles only if it was started with --allow-capture.");
}

static const char *state_word(enum capture_state state)
{
    static const char *const words[] = {[CAPTURE_RECORDING] = "recording",
                                        [CAPTURE_RECEIVING] = "receiving",
                                        [CAPTURE_DONE] = "done",
                                        [CAPTURE_FAILED] = "failed"};

    return words[state];
}

/* Of all: what the slowest does; failed where none came. */
static enum capture_state state_of(const struct capture_report *report)
{
    enum capture_state state = CAPTURE_FAILED;

    for (uint32_t i = 0; i < report->target_count; i++)
        if (report->targets[i].state < state)
            state = report->targets[i].state;
    return state;
}

static void put_report(struct json *json, const struct capture_report *report)
{
    if (!report->any) {
        json_put_null(json, "capture");
        return;
    }
    json_key(json, "capture");
    json_open(json, '{');
    json_put_text(json, "state", str_of(state_word(state_of(report))));
    json_put_real(json, "seconds", report->seconds);
    json_put_integer(json, "ms", report->duration_ms);
    json_put_text(json, "directory", report->directory);
    json_key(json, "targets");
    json_open(json, '[');
    for (uint32_t i = 0; i < report->target_count; i++) {
        const struct capture_view *view = &report->targets[i];

        json_open(json, '{');
        json_put_text(json, "target", str_of(view->target));
        json_put_text(json, "state", str_of(state_word(view->state)));
        json_put_unsigned(json, "bytes", view->bytes);
        json_put_text_or_null(json, "problem", str_of(view->problem));
        json_close(json, '}');
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* null: any with a public address. */
static void put_named(struct json *json, const struct request *req)
{
    const struct capture_rule *rule =
        req->services->captures != NULL ? capture_session_rule(req->services->captures) : NULL;

    if (rule == NULL || rule->count == 0) {
        json_put_null(json, "only");
        return;
    }
    json_key(json, "only");
    json_open(json, '[');
    for (uint32_t i = 0; i < rule->count; i++)
        json_add_text(json, rule->targets[i]);
    json_close(json, ']');
}

static void tell(struct request *req, struct reply *reply)
{
    struct capture_report report = {0};

    if (req->services->captures != NULL)
        capture_session_look(req->services->captures, req->arena, &report);
    struct json json = reply_json(reply);
    json_open(&json, '{');
    json_put_bool(&json, "allowed", req->services->captures != NULL);
    json_put_text_or_null(&json, "reason", refusal(req));
    put_named(&json, req);
    put_report(&json, &report);
    json_close(&json, '}');
    reply_header(reply, STR("Cache-Control"), STR("no-store"));
}

/* Refused is what the one who started the server did not allow, not what was asked wrongly. */
static enum status start(struct request *req, struct capture_wish *wish, struct reply *reply,
                         bool *ret, struct error *err)
{
    struct error why = {0};
    enum status status = capture_session_start(req->services->captures, wish, &why);

    *ret = status == OK;
    if (status == OK)
        return OK;
    if (status != ERR_UNSUPPORTED)
        return fail(err, status, "%s", why.message);
    reply_problem(reply, 403, "capture-off", str_of(why.message));
    return OK;
}

static enum status get_capture(struct request *req, struct reply *reply, struct error *err)
{
    (void)err;
    tell(req, reply);
    return OK;
}

/* The words of a text. */
static const struct str *split(struct str text, struct arena *arena, uint32_t *ret_count)
{
    struct str *words = arena_array(arena, struct str, text.count / 2 + 1);

    *ret_count = 0;
    for (size_t at = 0; at < text.count;) {
        size_t begin = at;

        while (at < text.count && text.at[at] != ' ' && text.at[at] != ',')
            at++;
        if (at > begin)
            words[(*ret_count)++] = (struct str){text.at + begin, at - begin};
        at++;
    }
    return words;
}

static enum status post_capture(struct request *req, struct reply *reply, struct error *err)
{
    struct str targets = STR("");
    int64_t ms = MS_DEFAULT, python_level = 0;
    const struct body_member members[] = {{.name = "targets", .required = true, .text = &targets},
                                          {.name = "ms", .integer = &ms},
                                          {.name = "python_level", .integer = &python_level}};
    struct capture_wish wish = {.host_level = HOST_LEVEL, .device_level = DEVICE_LEVEL};

    if (req->services->captures == NULL) {
        reply_problem(reply, 403, "capture-off", refusal(req));
        return OK;
    }
    TRY(body_read(req, members, COUNT(members), err));
    if (python_level < 0 || python_level > 1)
        return fail(err, ERR_INVALID, "\"python_level\" is 0 or 1");
    wish.targets = split(targets, req->arena, &wish.target_count);
    wish.duration_ms = ms;
    wish.python_level = (int)python_level;
    bool started;
    TRY(start(req, &wish, reply, &started, err));
    if (started) {
        tell(req, reply);
        reply->status = 202;
    }
    return OK;
}

static enum status delete_capture(struct request *req, struct reply *reply, struct error *err)
{
    (void)err;
    if (req->services->captures == NULL) {
        reply_problem(reply, 403, "capture-off", refusal(req));
        return OK;
    }
    capture_session_cancel(req->services->captures);
    tell(req, reply);
    return OK;
}

const struct route route_capture_ask = {.method = "GET",
                                        .path = "/api/capture",
                                        .handle = get_capture,
                                        .params = no_params,
                                        .light = true};
const struct route route_capture = {
    .method = "POST", .path = "/api/capture", .handle = post_capture, .params = no_params};
const struct route route_capture_end = {
    .method = "DELETE", .path = "/api/capture", .handle = delete_capture, .params = no_params};
