/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd open: a browser where the profiles are. */
#include <ctype.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/app_archive.h"
#include "app/instance.h"
#include "app/rooms.h"
#include "base/log.h"
#include "cli/cli.h"
#include "ingest/ingest.h"
#include "remote/remote.h"
#include "serve/http/http.h"

struct opening { /* what was asked */
    const char *root, *cache_dir, *ui;
    struct str run; /* "" the first page */
    bool tell;      /* the address of a server that runs, and nothing else */
};

enum { PERFETTO_PORT = 9001 }; /* the only one that ui.perfetto.dev may fetch from */

static void count_fetch(void *data)
{
    kill(getpid(), SIGUSR1);
    (void)data;
}

/* One trace on the one port, until it has been fetched; as create_perfetto_link does. */
static int hand_over(struct app *app, const void *data)
{
    const struct opening *opening = data;
    struct http_options options = {.bind = "127.0.0.1", .port = PERFETTO_PORT, .port_tries = 1};
    struct error err = {0};
    struct run_candidates near = {0};
    struct run_record run;
    struct str id;
    struct http *http;
    sigset_t signals;
    int caught;

    app_block_signals(&signals);
    sigaddset(&signals, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    app->services.perfetto_cors = true;
    app->services.perfetto_fetched = count_fetch;
    if (catalog_resolve(app->catalog, opening->run, app->arena, &id, &near, &err) != OK ||
        catalog_run(app->catalog, id, app->arena, &run, &err) != OK ||
        http_start(&options, &app->services, &http, &err) != OK)
        return app_failed(&err);
    struct str url = str_format(
        app->arena, "https://ui.perfetto.dev/#!/?url=http://127.0.0.1:%d/perfetto/%.*s.json.gz",
        PERFETTO_PORT, STR_ARG(run.id));
    printf("%s\n", url.at);
    fprintf(stderr, "jviewd: waiting for ui.perfetto.dev to fetch %.*s; press ctrl C to stop\n",
            STR_ARG(run.name));
    fflush(stdout);
    open_url(url.at);
    while (sigwait(&signals, &caught) != 0)
        ;
    http_stop(http);
    return EXIT_OK;
}

/* Root, run and cache of `open`, from its arguments. */
static enum status read_opening(int argc, char **argv, struct opening *ret, struct error *err)
{
    const char *rule, *root = NULL, *operand = NULL;
    struct stat info;

    *ret = (struct opening){.cache_dir = "", .ui = "builtin"};
    for (int i = 1; i < argc; i++) {
        bool valued = i + 1 < argc;

        if (strcmp(argv[i], "--latest") == 0)
            ret->run = STR("latest");
        else if (strcmp(argv[i], "--url") == 0)
            ret->tell = true;
        else if (strcmp(argv[i], "--ui") == 0 && valued)
            ret->ui = argv[++i];
        else if (strcmp(argv[i], "--cache-dir") == 0 && valued)
            ret->cache_dir = argv[++i];
        else if ((strcmp(argv[i], "--profile-dir") == 0 || strcmp(argv[i], "--logdir") == 0) &&
                 valued)
            root = argv[++i];
        else if (argv[i][0] == '-' || operand != NULL)
            return fail(err, ERR_INVALID,
                        "open does not understand %s: jviewd open [--latest] [--url] [--ui "
                        "builtin|perfetto] [--profile-dir DIR] [--cache-dir DIR] [RUN|PATH]",
                        argv[i]);
        else
            operand = argv[i];
    }
    if (strcmp(ret->ui, "builtin") != 0 && strcmp(ret->ui, "perfetto") != 0)
        return fail(err, ERR_INVALID, "--ui must be builtin or perfetto, not \"%s\"", ret->ui);
    if (operand != NULL && root == NULL &&
        (remote_is_place(str_of(operand)) || stat(operand, &info) == 0))
        root = operand;
    else if (operand != NULL)
        ret->run = str_of(operand);
    ret->root = root != NULL ? root : options_default_root(&rule);
    if (ret->root == NULL)
        return fail(err, ERR_NOT_FOUND, "there is no profile directory here: give a path");
    return OK;
}

/* "?run=NAME", encoded; "" without a run. */
static const char *page_of(struct str run, struct arena *arena)
{
    struct text text = {0};

    for (size_t i = 0; i < run.count; i++) {
        unsigned char byte = (unsigned char)run.at[i];
        bool plain = isalnum(byte) || byte == '_' || byte == '-' || byte == '.';

        text_puts(&text, i == 0 ? "?run=" : "");
        text_putf(&text, plain ? "%c" : "%%%02X", byte);
    }
    const char *page = str_c(arena, text_str(&text));
    text_free(&text);
    return page;
}

/* The address of a server that shows this root already; "" none. */
static struct str find_server(const char *shown, const char *cache_where, struct arena *arena)
{
    struct cache *cache;
    struct str reason, root = app_absolute(str_of(shown), arena);

    if (cache_open(cache_where, UINT64_MAX, arena, &cache, &reason, NULL) != OK)
        return STR("");
    struct str url = instance_find(cache_dir(cache), str_c(arena, root), arena);
    cache_close(cache);
    return url;
}

bool app_use_running(const struct options *options, struct arena *arena)
{
    struct str url = STR(""), first = STR("");

    for (uint32_t i = 0; i < options->roots.count; i++) {
        url = find_server(options->roots.at[i].at, options->cache_dir, arena);
        if (url.count == 0 || (i > 0 && !str_equal(url, first)))
            return false;
        first = url;
    }
    url = str_format(arena, "%.*s%s", STR_ARG(url), options->page);
    printf("jviewd %s: a running server shows this already\n  open     %s\n", JVIEWD_VERSION,
           url.at);
    fflush(stdout);
    if (options->open)
        open_url(url.at);
    return true;
}

static int open_with(struct app *app, const struct opening *opening)
{
    struct error err = {0};
    sigset_t signals;
    char *words[] = {(char *)(uintptr_t) "open", (char *)(uintptr_t)opening->root,
                     (char *)(uintptr_t) "--port", (char *)(uintptr_t) "auto", NULL};
    bool perfetto = strcmp(opening->ui, "perfetto") == 0;

    struct str url =
        perfetto ? STR("") : find_server(opening->root, opening->cache_dir, app->arena);
    if (url.count > 0) {
        url = str_format(app->arena, "%.*s%s", STR_ARG(url), page_of(opening->run, app->arena));
        printf("%s\n", url.at);
        if (!opening->tell)
            open_url(url.at);
        return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
    }
    if (opening->tell) {
        fail(&err, ERR_NOT_FOUND, "no server shows %s", opening->root);
        return app_failed(&err);
    }
    if (options_read(COUNT(words) - 1, words, app->arena, &app->options, &err) != OK)
        return app_failed(&err);
    app->options.cache_dir = opening->cache_dir;
    app->options.page = page_of(opening->run, app->arena);
    app->options.open = true;
    log_set_level(LOG_WARNING);
    if (perfetto)
        return app_with_store(app, true, hand_over, opening);
    app_block_signals(&signals);
    return app_with_store(app, false, app_serve_until_signal, &signals);
}

static void open_help(void)
{
    puts("usage: jviewd open [FLAG...] [RUN|PATH]\n\n"
         "Opens a browser at a run, using a server that shows its directory already, or a new "
         "one.\n\n"
         "  --latest              the newest run\n"
         "  --ui builtin|perfetto our page, or ui.perfetto.dev with the run\n"
         "  --profile-dir DIR     where to look for RUN by name (also --logdir)\n"
         "  --cache-dir DIR       directory of the indexes\n"
         "  -h, --help            this text");
}

int app_open(int argc, char **argv)
{
    struct app app = {.arena = arena_create()};
    struct opening opening;
    struct error err = {0};

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        open_help();
        arena_destroy(app.arena);
        return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
    }
    int code = app_unpack_operands(argc, argv, app.arena, &err) == OK &&
                       read_opening(argc, argv, &opening, &err) == OK
                   ? OK
                   : app_failed(&err);
    if (code == EXIT_OK && strcmp(opening.ui, "perfetto") == 0 && opening.run.count == 0)
        opening.run = STR("latest");
    if (code == EXIT_OK)
        code = open_with(&app, &opening);
    arena_destroy(app.arena);
    return code;
}
