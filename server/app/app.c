/* SPDX-License-Identifier: Apache-2.0 */
/* Opens store, catalog, ingest and the interfaces in order for each command, and closes them in
 * reverse. */
#include "app/rooms.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "analyse/scan/block_sums.h"
#include "app/app_archive.h"
#include "app/capture_bucket.h"
#include "app/complete.h"
#include "app/instance.h"
#include "app/notify.h"
#include "base/log.h"
#include "base/lost.h"
#include "base/memory.h"
#include "capture/capture_session.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "ingest/ingest.h"
#include "remote/remote.h"
#include "serve/dispatch/budget.h"
#include "serve/http/http.h"
#include "serve/kept/found_steps.h"
#include "serve/route.h"
#include "store/user.h"

enum {
    CHUNK_RUNS = 1000,
    SUMS_BYTES_MAX = 128 << 20,
    STEPS_BYTES_MAX = 16 << 20,
    DESCRIPTORS_MAX = 20480
};

static int exit_code(enum status status)
{
    switch (status) {
    case OK:
        return EXIT_OK;
    case ERR_INVALID:
        return EXIT_USAGE;
    case ERR_NOT_FOUND:
        return EXIT_NOT_FOUND;
    case ERR_CONFLICT:
        return EXIT_PORT;
    case ERR_FORMAT:
    case ERR_TRUNCATED:
    case ERR_UNSUPPORTED:
        return EXIT_CORRUPT;
    default:
        return EXIT_IO;
    }
}

int app_failed(const struct error *err)
{
    fprintf(stderr, "jviewd: %s\n", err->message);
    return exit_code(err->code);
}

/* What names a directory for good, whether or not it is there yet. */
struct str app_absolute(struct str given, struct arena *arena)
{
    char real[PATH_MAX], cwd[PATH_MAX];

    if (remote_is_place(given)) {
        struct str place = remote_place(given, arena);

        return place.count > 0 ? place : given;
    }
    if (realpath(given.at, real) != NULL)
        return str_copy(arena, str_of(real));
    while (given.count > 1 && str_ends(given, STR("/")))
        given.count--;
    if (str_starts(given, STR("./")))
        given = str_skip(given, 2);
    if (str_starts(given, STR("/")) || getcwd(cwd, sizeof cwd) == NULL)
        return given;
    return str_format(arena, "%s/%.*s", cwd, STR_ARG(given));
}

static void find_roots(struct app *app)
{
    app->roots.at = arena_array(app->arena, struct str, app->options.roots.count + 1);
    app->places = arena_array(app->arena, struct str, app->options.roots.count + 2);
    for (uint32_t i = 0; i < app->options.roots.count; i++) {
        struct str root = app_absolute(app->options.roots.at[i], app->arena);
        bool known = false;

        for (uint32_t j = 0; j < app->roots.count; j++)
            known = known || str_equal(app->roots.at[j], root);
        if (known)
            continue;
        if (remote_is_place(app->options.roots.at[i]))
            app->places[app->roots.count] = app->options.roots.at[i];
        app->roots.at[app->roots.count++] = root;
    }
}

static const struct str *absolute_all(const struct texts *paths, struct arena *arena)
{
    struct str *all = arena_array(arena, struct str, (size_t)paths->count + 1);

    for (uint32_t i = 0; i < paths->count; i++)
        all[i] = app_absolute(paths->at[i], arena);
    return all;
}

static void fill_services(struct app *app)
{
    app->services = (struct services){
        .routes = &routes,
        .catalog = app->catalog,
        .cache = app->cache,
        .user = app->user,
        .profile_dir = str_c(app->arena, app->places[0].count > 0 ? app->roots.at[0]
                                                                  : app->options.roots.at[0]),
        .base_path = app->options.base_path,
        .perfetto_cors = app->options.perfetto_cors,
        .source_roots = absolute_all(&app->options.source_roots, app->arena),
        .source_root_count = app->options.source_roots.count,
        .ingest = app->ingest,
        .wait = ingest_wait,
        .jobs = ingest_jobs,
        .unsettled = ingest_unsettled,
        .open_file = ingest_open_file,
        .uploads = app->uploads,
        .uploads_refusal = app->uploads_refusal,
        .captures = app->captures,
        .identify = ingest_identify,
        .embed_origins = app->options.embed_origins.at,
        .embed_origin_count = app->options.embed_origins.count,
    };
}

/* Where captures go: the first root that is a directory; NULL: there is none, so into the first
 * bucket. */
static const char *capture_root(const struct app *app)
{
    for (uint32_t i = 0; i < app->given_count; i++)
        if (app->places[i].count == 0)
            return app->roots.at[i].at;
    return NULL;
}

static enum status open_captures(struct app *app, struct error *err)
{
    const struct options *options = &app->options;
    const char *directory = capture_root(app);
    struct capture_delivery delivery = {0};

    if (directory == NULL) {
        TRY(capture_bucket_open(app->places[0], options->cache_dir, &app->capture_bucket, err));
        directory = capture_bucket_directory(app->capture_bucket);
        delivery = capture_bucket_delivery(app->capture_bucket);
    }
    app->captures = capture_session_open(
        directory,
        (struct capture_rule){options->capture_targets.at, options->capture_targets.count},
        delivery);
    return OK;
}

static enum status start_ingest(struct app *app, bool on_demand, struct error *err)
{
    const struct options *options = &app->options;

    app->given_count = app->roots.count;
    if (!on_demand)
        app_open_uploads(app);
    struct ingest_options wanted = {
        .roots = app->roots.at,
        .root_count = app->roots.count,
        .places = app->places,
        .workers = options->workers,
        .follow_symlinks = options->follow_symlinks,
        .convert = options->convert,
        .store = app->store,
        .user = app->user,
        .poll = options->poll,
        .on_demand = on_demand,
        .uploads = app->uploads == NULL ? NULL : uploads_dir(app->uploads),
    };

    if (!on_demand && options->allow_capture)
        TRY(open_captures(app, err));
    TRY(catalog_show_roots(app->catalog, app->roots.at, app->roots.count, err));
    return ingest_start(&wanted, app->catalog, app->cache, &app->ingest, err);
}

/* Cache, catalog, ingest: what every command needs. `use` is what is done while they are open. */
int app_with_store(struct app *app, bool on_demand, int (*use)(struct app *app, const void *data),
                   const void *data)
{
    const struct options *options = &app->options;
    struct error err = {0};
    struct str note;
    int code = EXIT_IO;

    lost_prepare();
    find_roots(app);
    if (cache_open(options->cache_dir, options->cache_bytes_max, app->arena, &app->cache,
                   &app->cache_trouble, &err) != OK)
        return app_failed(&err);
    if (app->cache_trouble.count > 0)
        log_warning("%.*s", STR_ARG(app->cache_trouble));
    if (options->index_store[0] != '\0' &&
        index_store_open(options->index_store, &app->store, &err) != OK) {
        cache_close(app->cache);
        return app_failed(&err);
    }
    user_open(options->data_dir == NULL ? "" : options->data_dir, &app->user);
    if (catalog_open(cache_dir(app->cache), &app->catalog, &err) == OK &&
        start_ingest(app, on_demand, &err) == OK) {
        note = catalog_note(app->catalog, app->arena);
        if (note.count > 0)
            log_warning("%.*s", STR_ARG(note));
        fill_services(app);
        code = use(app, data);
    } else {
        code = app_failed(&err);
    }
    capture_bucket_cancel(app->capture_bucket);
    capture_session_close(app->captures);
    capture_bucket_close(app->capture_bucket);
    index_store_cancel(app->store);
    ingest_stop(app->ingest);
    uploads_close(app->uploads);
    catalog_close(app->catalog);
    user_close(app->user);
    index_store_close(app->store);
    cache_close(app->cache);
    return code;
}

static void print_run(struct app *app, struct str id, struct arena *arena)
{
    struct run_record run;
    struct error err = {0};

    if (catalog_run(app->catalog, id, arena, &run, &err) != OK)
        return;
    printf("%.*s  %llu file%s, %.*s\n", STR_ARG(run.name), (unsigned long long)run.file_count,
           run.file_count == 1 ? "" : "s", STR_ARG(size_text(run.file_bytes, arena)));
    for (uint32_t i = 0; i < run.run_file_count; i++)
        printf("  %.*s  %.*s\n", STR_ARG(run.files[i].path),
               STR_ARG(size_text(run.files[i].bytes, arena)));
}

/* --list-only */
static int list_runs(struct app *app, const void *data)
{
    struct run_query query = {.limit = CHUNK_RUNS};
    uint64_t all = 0;
    (void)data;

    do {
        struct arena *arena = arena_create();
        struct error err = {0};
        struct run_record *runs;
        uint32_t count = 0;

        if (catalog_runs(app->catalog, &query, arena, &runs, &count, &all, &err) != OK) {
            arena_destroy(arena);
            return app_failed(&err);
        }
        for (uint32_t i = 0; i < count; i++)
            print_run(app, runs[i].id, arena);
        arena_destroy(arena);
        query.offset += CHUNK_RUNS;
    } while (query.offset < all);
    if (all == 0)
        fprintf(stderr, "jviewd: no profile below %s\n", app->services.profile_dir);
    return fflush(stdout) != 0 ? EXIT_IO : all == 0 ? EXIT_NOT_FOUND : EXIT_OK;
}

/* SIGTERM and SIGINT are waited for, in no thread handled. */
void app_block_signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGTERM);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ret, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* As many descriptors as may be had: the server bounds its connections by them. Children that need
 * fewer bound themselves. */
static void raise_descriptors(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max < DESCRIPTORS_MAX ? limit.rlim_max : DESCRIPTORS_MAX;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Half is for indexes, what is kept, and threads. */
static void limit_memory(const struct options *options)
{
    const char *rule;
    uint64_t most = memory_limit(&rule);

    memory_prepare_threads();
    memory_prepare();
    if (options->memory_bytes_max > 0)
        budget_set(options->memory_bytes_max, "--memory-max");
    else
        budget_set(most / 2, rule);
}

static void open_interfaces(const struct app *app, int port, const char *launch)
{
    const char *ui = app->options.ui;
    bool both = strcmp(ui, "both") == 0;

    if (both || strcmp(ui, "tensorboard") == 0)
        start_tensorboard(app->services.profile_dir);
    if (app->options.open || strcmp(ui, "perfetto") == 0)
        open_browser(&app->options, port, launch);
}

static struct http_options http_options_of(const struct options *options)
{
    return (struct http_options){
        .bind = options->bind,
        .port = options->port,
        .port_tries = options->port_tries,
        .auth = strcmp(options->auth, "token") == 0 ? AUTH_TOKEN : AUTH_NONE,
        .allowed_hosts = options->allowed_hosts.at,
        .allowed_host_count = options->allowed_hosts.count,
        .public_url = options->public_url[0] == '\0' ? NULL : options->public_url,
    };
}

int app_serve_until_signal(struct app *app, const void *data)
{
    const sigset_t *signals = data;
    struct http_options options = http_options_of(&app->options);
    struct error err = {0};
    struct http *http;
    char launch[128], url[1024];

    app->services.sums = block_sum_cache_create(SUMS_BYTES_MAX);
    app->services.found_steps = found_steps_create(STEPS_BYTES_MAX);
    if (http_start(&options, &app->services, &http, &err) != OK) {
        block_sum_cache_destroy(app->services.sums);
        found_steps_destroy(app->services.found_steps);
        return err.code == ERR_CONFLICT && app_use_running(&app->options, app->arena)
                   ? EXIT_OK
                   : app_failed(&err);
    }
    http_launch_path(http, launch);
    address_of(&app->options, http_port(http), "", url);
    instance_announce(cache_dir(app->cache), http_port(http), url, app->roots.at, app->given_count);
    tell_start(&app->options, cache_dir(app->cache), http_port(http), launch);
    open_interfaces(app, http_port(http), launch);
    notify_tell("READY=1");
    int caught = app_wait_for_signal(app, signals);
    notify_tell("STOPPING=1");
    log_info("signal %d: finishing open requests, then exiting", caught);
    instance_withdraw(cache_dir(app->cache), http_port(http));
    http_stop(http);
    block_sum_cache_destroy(app->services.sums);
    found_steps_destroy(app->services.found_steps);
    return EXIT_OK;
}

/* --extract: as `jviewd extract latest --format files`. */
static int extract_newest(const struct options *options, struct arena *arena)
{
    char *argv[] = {str_c(arena, STR("extract")),
                    str_c(arena, STR("latest")),
                    str_c(arena, STR("--profile-dir")),
                    str_c(arena, options->roots.at[0]),
                    str_c(arena, STR("--cache-dir")),
                    str_c(arena, str_of(options->cache_dir)),
                    str_c(arena, STR("--format")),
                    str_c(arena, STR("files")),
                    str_c(arena, STR("-o")),
                    str_c(arena, str_of(options->output)),
                    NULL};
    int argc = (int)COUNT(argv) - 1;

    return app_command(options->output[0] == '\0' ? argc - 2 : argc, argv);
}

static int serve_options(struct app *app, int argc, char **argv)
{
    struct error err = {0};
    sigset_t signals;

    if (app_unpack_operands(argc, argv, app->arena, &err) != OK ||
        options_read(argc, argv, app->arena, &app->options, &err) != OK ||
        app_check_embed(&app->options.embed_origins, &err) != OK)
        return app_failed(&err);
    if (app->options.help)
        options_help();
    else if (app->options.version)
        tell_version(app->options.verbose);
    if (app->options.help || app->options.version)
        return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
    log_set_level(app->options.verbose ? LOG_DEBUG : LOG_WARNING);
    if (app->options.list_only)
        return app_with_store(app, true, list_runs, NULL);
    if (app->options.extract)
        return extract_newest(&app->options, app->arena);
    if (app->options.open && app_use_running(&app->options, app->arena))
        return EXIT_OK;
    app_block_signals(&signals);
    raise_descriptors();
    limit_memory(&app->options);
    return app_with_store(app, false, app_serve_until_signal, &signals);
}

int app_serve(int argc, char **argv)
{
    struct app app = {.arena = arena_create()};
    int code = serve_options(&app, argc, argv);

    arena_destroy(app.arena);
    return code;
}

static int run_call(struct app *app, const void *data)
{
    return cli_run(data, &app->services);
}

/* Opens what the call names, and uses it. */
static int with_call(struct app *app, const struct cli_call *call, const char *verb,
                     int (*use)(struct app *app, const void *data))
{
    char *words[] = {str_c(app->arena, str_of(verb)), NULL};
    struct error err = {0};

    if (options_read(1, words, app->arena, &app->options, &err) != OK)
        return app_failed(&err);
    for (uint32_t i = 0; i < call->root_count; i++) {
        if (!remote_is_place(call->roots[i]) && access(call->roots[i].at, F_OK) != 0) {
            fprintf(stderr, "jviewd: %s does not exist\n", call->roots[i].at);
            return EXIT_NOT_FOUND;
        }
    }
    if (app->options.memory_bytes_max > 0) /* else one question has what there is */
        budget_set(app->options.memory_bytes_max, "--memory-max");
    app->options.roots =
        (struct texts){.at = (struct str *)(uintptr_t)call->roots, .count = call->root_count};
    if (call->cache_dir != NULL && call->cache_dir[0] != '\0')
        app->options.cache_dir = call->cache_dir;
    if (call->index_store != NULL)
        app->options.index_store = call->index_store;
    if (call->data_dir != NULL)
        app->options.data_dir = call->data_dir;
    app->options.follow_symlinks |= call->follow_symlinks;
    log_set_level(LOG_WARNING);
    signal(SIGPIPE, SIG_IGN);
    return app_with_store(app, true, use, call);
}

static int run_command(struct app *app, int argc, char **argv)
{
    const char *rule;
    struct cli_call call = {0};
    struct error err = {0};

    if (app_unpack_operands(argc, argv, app->arena, &err) != OK ||
        cli_parse(argc, argv, options_default_root(&rule), app->arena, &call, &err) != OK)
        return app_failed(&err);
    if (call.help) {
        cli_help(call.verb);
        return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
    }
    if (call.root_count == 0)
        return cli_run(&call, NULL);
    if (check_is_of_timings(&call))
        return check_timings(&call);
    return with_call(app, &call, argv[0], run_call);
}

int app_command(int argc, char **argv)
{
    struct app app = {.arena = arena_create()};
    int code = run_command(&app, argc, argv);

    arena_destroy(app.arena);
    return code;
}

/* The names that begin with call->run, and what else names the newest run. */
static int offer_runs(struct app *app, const void *data)
{
    enum { RUNS_MAX = 1000 };
    const struct cli_call *call = data;
    const struct run_query all = {.limit = RUNS_MAX};
    struct run_record *runs;
    struct error err = {0};
    uint32_t count;
    uint64_t of;

    wait_for_jobs(&app->services);
    if (catalog_runs(app->catalog, &all, app->arena, &runs, &count, &of, &err) != OK)
        return app_failed(&err);
    if (count > 0 && str_starts(STR("latest"), call->run))
        complete_offer(STR("latest"), "the newest run");
    for (uint32_t i = 0; i < count; i++) {
        if (str_starts(runs[i].name, call->run))
            complete_offer(runs[i].name, NULL);
    }
    return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
}

/* Of the runs that `list` would find. */
static int complete_runs(struct app *app, const struct store_of_runs *places, struct str word)
{
    const struct {
        const char *flag, *value;
    } flags[] = {{"--profile-dir", places->profile_dir},
                 {"--cache-dir", places->cache_dir},
                 {"--data-dir", places->data_dir}};
    char *words[1 + 2 * COUNT(flags)];
    struct cli_call call = {0};
    struct error err = {0};
    const char *rule;
    int count = 0;

    words[count++] = str_c(app->arena, STR("list"));
    for (size_t i = 0; i < COUNT(flags); i++) {
        if (flags[i].value == NULL)
            continue;
        words[count++] = str_c(app->arena, str_of(flags[i].flag));
        words[count++] = str_c(app->arena, str_of(flags[i].value));
    }
    if (cli_parse(count, words, options_default_root(&rule), app->arena, &call, &err) != OK)
        return app_failed(&err);
    call.run = word;
    return with_call(app, &call, words[0], offer_runs);
}

int app_complete(int argc, char **argv)
{
    struct app app = {.arena = arena_create()};
    struct store_of_runs places;
    struct str word;
    int code = EXIT_OK;

    if (complete_words(argc, argv, &places, &word))
        code = complete_runs(&app, &places, word);
    arena_destroy(app.arena);
    return fflush(stdout) == 0 ? code : EXIT_IO;
}
