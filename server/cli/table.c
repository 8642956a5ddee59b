/* SPDX-License-Identifier: Apache-2.0 */
/* Verbs whose answer is a table. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/ask.h"
#include "cli/grid.h"
#include "cli/no_profile.h"
#include "cli/plain.h"
#include "cli/verbs.h"
#include "cli/wait.h"
#include "remote/remote.h"
#include "serve/answer/reply.h"

enum { LIST_READ_MS = 5000 };

static struct grid_style terminal_style(bool wide)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return (struct grid_style){0};
    const char *kind = getenv("TERM");
    bool is_dumb = kind == NULL || strcmp(kind, "dumb") == 0;
    struct grid_style style = {.bold_head = !is_dumb && getenv("NO_COLOR") == NULL};
    if (!wide && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        style.width = size.ws_col;
    return style;
}

void print_laid_out(struct str markdown, bool wide)
{
    struct text out = {0};

    grid_layout(markdown, terminal_style(wide), &out);
    fwrite(out.at, 1, out.count, stdout);
    text_free(&out);
}

/* How many files are still to be read. */
static uint32_t jobs_left(const struct services *services)
{
    struct arena *arena = arena_create();
    struct job *jobs;
    uint32_t count = 0;

    if (services->jobs(services->ingest, arena, &jobs, &count) != OK)
        count = 0;
    arena_destroy(arena);
    return count;
}

void wait_for_jobs(const struct services *services)
{
    struct waiting waiting = wait_begin();
    uint32_t most = 0;

    for (uint32_t left; (left = jobs_left(services)) > 0 || wait_may_bring(services);) {
        most = left > most ? left : most;
        if (left > 0)
            progress_show("Looking", 1 - (double)left / most);
        if (!wait_on(&waiting, services))
            break;
    }
    progress_clear();
}

uint32_t read_runs(const struct services *services, const char *state, int64_t most_ms,
                   uint32_t *ret_far)
{
    enum { RUNS_MAX = 10000, READ_WAIT_MS = 600000 };
    const struct run_query queued = {.state = str_of(state), .limit = RUNS_MAX};
    int64_t started_ns = clock_monotonic_ns();
    struct arena *arena = arena_create();
    struct run_record *runs;
    struct error err = {0};
    uint32_t count = 0, read = 0, far = 0;
    uint64_t all = 0;

    if (services->wait == NULL ||
        catalog_runs(services->catalog, &queued, arena, &runs, &count, &all, &err) != OK)
        count = 0;
    for (; read < count; read++) {
        int64_t left_ms = most_ms - (clock_monotonic_ns() - started_ns) / 1000000;
        struct error ignored = {0};

        if (ret_far != NULL && remote_is_place(runs[read].root)) {
            far++;
            continue;
        }
        if (left_ms <= 0)
            break;
        progress_show("Reading", (double)read / count);
        if (services->wait(services->ingest, runs[read].id,
                           left_ms < READ_WAIT_MS ? left_ms : READ_WAIT_MS,
                           &ignored) == ERR_NOT_READY)
            break;
    }
    progress_clear();
    arena_destroy(arena);
    if (ret_far != NULL)
        *ret_far = far;
    return count - read;
}

static bool wants_table(const struct cli_call *call)
{
    return call->format.count == 0 || str_equal(call->format, STR("table"));
}

static void say(const char *text)
{
    struct arena *arena = arena_create();

    fprintf(stderr, "jviewd: %.*s\n", STR_ARG(str_plain(arena, str_of(text))));
    arena_destroy(arena);
}

/* What the table has no room for: what was not looked at, and why a run cannot be read. */
static void say_what_is_missing(const struct cli_call *call, const json_t *list)
{
    enum { FAILED_TOLD_MAX = 10 };
    json_t *runs = json_object_get(list, "runs"), *item;
    bool is_filtered = call->query.count > 0;
    unsigned failed = 0;
    size_t index;

    json_array_foreach(json_object_get(list, "notes"), index, item)
        say(json_string_value(json_object_get(item, "message")));
    json_array_foreach(runs, index, item)
    {
        const char *state = json_string_value(json_object_get(item, "state"));
        const char *error = json_string_value(json_object_get(item, "error"));

        if (state == NULL || error == NULL || strcmp(state, "failed") != 0)
            continue;
        if (++failed <= FAILED_TOLD_MAX)
            say(error);
    }
    if (failed > FAILED_TOLD_MAX)
        fprintf(stderr, "jviewd: %u more cannot be read; `jviewd doctor` says why\n",
                failed - FAILED_TOLD_MAX);
    if (json_array_size(runs) == 0 && is_filtered)
        say("no run matches");
    else if (json_array_size(runs) == 0)
        tell_no_profile(stderr, call->roots[0]);
}

/* A list of a few runs tells all of them; one of thousands does not wait until they were read.
 * False: some were not. */
static bool read_for_list(const struct services *services)
{
    uint32_t far, unread = read_runs(services, "queued", LIST_READ_MS, &far);

    if (unread > 0)
        fprintf(stderr,
                "jviewd: %u run%s not indexed yet, and nothing is indexing %s: a verb indexes the "
                "run that it is given; `jviewd trend` and a server index all\n",
                unread, unread == 1 ? " is" : "s are", unread == 1 ? "it" : "them");
    if (far > 0)
        fprintf(
            stderr,
            "jviewd: %u run%s in buckets %s not downloaded yet: a verb brings the run that it is "
            "asked for, `jviewd trend` brings all\n",
            far, far == 1 ? "" : "s", far == 1 ? "is" : "are");
    return unread == 0 && far == 0;
}

/* No queue: this process ends, and nobody reads what it left. */
static void say_not_read(struct str table, struct text *ret)
{
    static const char queued[] = "| queued |";
    const size_t count = sizeof queued - 1;

    for (const char *at; (at = memmem(table.at, table.count, queued, count)) != NULL;) {
        size_t before = (size_t)(at - table.at);

        text_put(ret, table.at, before);
        text_puts(ret, "| not read |");
        table = str_skip(table, before + count);
    }
    text_put(ret, table.at, table.count);
}

static int print_rows(const struct cli_call *call, const struct services *services, bool all_read)
{
    bool as_table = wants_table(call);
    struct answer answer;

    ask(call, services, as_table ? STR("md") : call->format, &answer);
    int code = answer.exit_code;
    if (code == EXIT_OK && as_table) {
        struct text words = {0};
        struct bytes body = reply_bytes(&answer.reply);
        struct str table = {(const char *)body.at, body.count};

        if (!all_read) {
            say_not_read(table, &words);
            table = text_str(&words);
        }
        print_laid_out(table, call->wide);
        code = output_flush(code);
        text_free(&words);
    } else if (code == EXIT_OK) {
        code = answer_write(&answer, STDOUT_FILENO);
    }
    answer_free(&answer);
    return code;
}

int print_list(const struct cli_call *call, const struct services *services)
{
    json_t *list = NULL;

    wait_for_jobs(services);
    bool all_read = read_for_list(services);
    wait_for_jobs(services); /* what was read may be of other runs than its names said */
    bool is_told = wants_table(call) && isatty(STDOUT_FILENO) && /* a head without rows says less */
                   catalog_is_empty(services->catalog);
    int code = is_told ? EXIT_OK : print_rows(call, services, all_read);

    if (code == EXIT_OK && wants_table(call) &&
        ask_json(call, services, "/api/runs", call->query, &list) == EXIT_OK)
        say_what_is_missing(call, list);
    json_decref(list);
    return code;
}

int print_table(const struct cli_call *call, const struct services *services)
{
    return print_rows(call, services, true);
}
