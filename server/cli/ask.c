/* SPDX-License-Identifier: Apache-2.0 */
/* Asks an endpoint in this process, waits while its run is read, and prints its problem. */
#include "cli/ask.h"

#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/flag_words.h"
#include "cli/no_profile.h"
#include "cli/plain.h"
#include "cli/wait.h"
#include "serve/answer/handle.h"
#include "serve/dispatch/dispatch.h"

enum { WAIT_MS = 500, BAR_WIDTH = 30 };

void progress_show(const char *what, double share)
{
    if (!isatty(STDERR_FILENO))
        return;
    int full = (int)(share * BAR_WIDTH);
    fprintf(stderr, "\r%s ", what);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputs(i < full ? "█" : "░", stderr);
    fprintf(stderr, " %3d %%\x1b[K", (int)(share * 100));
    fflush(stderr);
}

void progress_clear(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\x1b[K", stderr);
}

static int exit_of(int http_status)
{
    switch (http_status) {
    case 200:
        return EXIT_OK;
    case 400:
        return EXIT_USAGE;
    case 404:
    case 409:
        return EXIT_NOT_FOUND;
    case 422:
        return EXIT_CORRUPT;
    default:
        return EXIT_IO;
    }
}

static void tell_list(const json_t *problem, const char *member, const char *words)
{
    const json_t *list = json_object_get(problem, member);

    if (json_array_size(list) == 0)
        return;
    fprintf(stderr, "%s:", words);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const json_t *name = json_is_object(row) ? json_object_get(row, "name") : row;

        fprintf(stderr, "%s %s", i > 0 ? "," : "", json_string_value(name));
    }
    fputc('\n', stderr);
}

/* Prints problem+json as a person reads it. */
static void tell_problem(const struct verb *verb, struct bytes body)
{
    json_t *problem = json_plain(body);
    const char *detail = json_string_value(json_object_get(problem, "detail"));

    struct arena *arena = arena_create();
    struct str told = detail != NULL ? flag_words(arena, verb, str_of(detail))
                                     : STR("the answer could not be parsed");

    fprintf(stderr, "jviewd: %.*s\n", STR_ARG(told));
    arena_destroy(arena);
    tell_list(problem, "nearest", "nearest");
    tell_list(problem, "candidates", "it may mean");
    json_decref(problem);
}

/* Is it being read? Then it is asked for again. What is busy has waited by itself already. */
static bool is_being_read(const struct reply *reply)
{
    json_t *problem = reply->status == 503 ? json_plain(reply_bytes(reply)) : NULL;
    const char *type = json_string_value(json_object_get(problem, "type"));
    bool ret = problem != NULL && (type == NULL || strcmp(type, "busy") != 0);

    json_decref(problem);
    return ret;
}

static double progress_of(struct bytes body)
{
    json_t *problem = json_plain(body);
    double share = json_number_value(json_object_get(problem, "progress"));

    json_decref(problem);
    return share;
}

static void ask_once(const struct cli_call *call, const struct services *services,
                     struct str format, bool settled, struct answer *ret)
{
    struct str query = call->query;

    ret->arena = arena_create();
    if (call->run.count > 0) {
        struct text text = {0};

        for (size_t i = 0; i < call->run.count; i++)
            text_putf(&text, "%%%02X", (unsigned char)call->run.at[i]);
        query = str_format(ret->arena, "run=%.*s&wait_ms=%d%s%.*s", STR_ARG(text_str(&text)),
                           WAIT_MS, query.count > 0 ? "&" : "", STR_ARG(query));
        text_free(&text);
    }
    if (format.count > 0)
        query = str_format(ret->arena, "%.*s%sformat=%.*s", STR_ARG(query),
                           query.count > 0 ? "&" : "", STR_ARG(format));
    ret->request = (struct request){.method = call->method.count > 0 ? call->method : STR("GET"),
                                    .body = {(const uint8_t *)call->body.at, call->body.count},
                                    .path = str_of(call->path),
                                    .query = query,
                                    .arena = ret->arena,
                                    .services = services,
                                    .whole = services->wait != NULL,
                                    .settled = settled && services->wait != NULL};
    ret->reply = (struct reply){0};
    serve_request(&ret->request, &ret->reply);
}

/* The newest run may be one that is not listed yet. */
static bool means_latest(const struct cli_call *call)
{
    return str_starts(call->run, STR("latest")) || str_contains(call->query, STR("latest")) ||
           str_contains(call->body, STR("latest"));
}

/* What a directory holds instead, where it holds no such run. */
static void tell_troubles(const struct services *services)
{
    enum { TOLD_MAX = 5 };
    struct arena *arena = arena_create();
    struct scan_trouble *troubles;
    uint32_t count;

    catalog_troubles(services->catalog, arena, &troubles, &count);
    for (uint32_t i = 0; i < count && i < TOLD_MAX; i++)
        fprintf(stderr, "jviewd: %.*s%s%.*s\n", STR_ARG(str_plain(arena, troubles[i].path)),
                troubles[i].path.count > 0 ? ": " : "",
                STR_ARG(str_plain(arena, troubles[i].reason)));
    arena_destroy(arena);
}

void ask(const struct cli_call *call, const struct services *services, struct str format,
         struct answer *ret)
{
    struct waiting waiting = wait_begin();
    bool patient = true;

    while (patient && means_latest(call) && wait_may_bring_newer(services))
        patient = wait_on(&waiting, services);
    for (;;) {
        bool may_come = wait_may_bring(services), was_patient = patient;

        ask_once(call, services, format, patient, ret);
        if (!is_being_read(&ret->reply) && !(ret->reply.status == 404 && may_come))
            break;
        patient = wait_on(&waiting, services);
        if (!patient && !was_patient) /* it was asked for what there is, and there is nothing */
            break;
        progress_show("Indexing", progress_of(reply_bytes(&ret->reply)));
        answer_free(ret);
    }
    progress_clear();
    ret->exit_code = exit_of(ret->reply.status);
    if (ret->exit_code != EXIT_OK)
        tell_problem(call->verb, reply_bytes(&ret->reply));
    if (ret->reply.status == 404)
        tell_troubles(services);
    if (ret->reply.status == 404 && catalog_is_empty(services->catalog))
        tell_no_profile(stderr, call->roots[0]);
}

void answer_free(struct answer *answer)
{
    reply_free(&answer->reply);
    arena_destroy(answer->arena);
    answer->arena = NULL;
}

int ask_json(const struct cli_call *call, const struct services *services, const char *path,
             struct str query, json_t **ret)
{
    struct cli_call asked = *call;
    struct answer answer;

    asked.path = path;
    asked.query = query;
    ask(&asked, services, STR(""), &answer);
    int code = answer.exit_code;
    *ret = code == EXIT_OK ? json_plain(reply_bytes(&answer.reply)) : NULL;
    answer_free(&answer);
    return code;
}

int ask_read_run(const struct cli_call *call, const struct services *services, json_t **ret)
{
    json_t *tracks;
    int code = ask_json(call, services, "/api/tracks", STR("limit=1"), &tracks);

    json_decref(tracks);
    *ret = NULL;
    return code == EXIT_OK ? ask_json(call, services, "/api/run", STR(""), ret) : code;
}

static enum status write_piece(void *to, struct bytes piece, struct error *err)
{
    const int *fd = to;

    while (piece.count > 0) {
        ssize_t count = write(*fd, piece.at, piece.count);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EPIPE)
            return ERR_CANCELLED;
        if (count < 0)
            return fail(err, ERR_IO, "the output cannot be written: %s", strerror(errno));
        piece.at += count;
        piece.count -= (size_t)count;
    }
    return OK;
}

int answer_write(struct answer *answer, int fd)
{
    struct error err = {0};
    enum status status;

    if (answer->reply.stream != NULL)
        status = reply_stream(&answer->reply, write_piece, &fd, &err);
    else
        status = write_piece(&fd, reply_bytes(&answer->reply), &err);
    if (status == OK || status == ERR_CANCELLED)
        return EXIT_OK;
    fprintf(stderr, "jviewd: %s\n", err.message);
    return EXIT_IO;
}

int output_flush(int code)
{
    struct pollfd reader = {.fd = STDOUT_FILENO, .events = POLLOUT};
    int before = errno; /* of the write that failed, where one did */
    bool failed = ferror(stdout) != 0;
    int why = fflush(stdout) != 0 ? errno : before;

    if (!failed && !ferror(stdout))
        return code;
    if (why == EPIPE || (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0))
        return code;
    fprintf(stderr, "jviewd: the output cannot be written: %s\n", strerror(why));
    return EXIT_IO;
}
