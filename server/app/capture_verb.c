/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd capture`: reads its options, starts the recordings, and shows how they go. */
#include "app/capture_verb.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "app/capture_bucket.h"
#include "app/options.h"
#include "base/clock.h"
#include "capture/capture.h"
#include "cli/ask.h"
#include "remote/remote.h"

enum { LOOK_US = 100000, SHARE_RECORDED = 90, MS_DEFAULT = 1000, KEEP_MAX = 10000 };

struct plan {
    struct capture_wish wish;
    const char *rule;   /* why this directory, where none was given */
    int64_t every_ns;   /* 0: once */
    uint32_t keep;      /* sessions of this command; 0: all */
    char (*kept)[4096]; /* room for `keep` directories, oldest first */
    uint32_t kept_count;
    struct capture_bucket *bucket; /* NULL: profile_dir is a directory */
    struct arena *arena;
};

static volatile sig_atomic_t is_ending; /* 2: what is under way need not arrive */

static void end(int signal)
{
    (void)signal;
    is_ending = is_ending == 0 ? 1 : 2;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = end};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void help(void)
{
    puts("usage: jviewd capture HOST:PORT... [FLAG...]\n\n"
         "Records profiles of running programs that called jax.profiler.start_server(PORT). All\n"
         "programs are recorded at the same time, into DIR/plugins/profile/TIME/.\n\n"
         "  --ms N                milliseconds to record (1000)\n"
         "  --profile-dir DIR     where to write the profile, a directory or a bucket "
         "(s3://bucket/runs;\n"
         "                        $XAX_PROFILE_DIR, $PROFILE_DIR, ./profiles)\n"
         "  --every TIME          record repeatedly: every 10m, 2h, 1d\n"
         "  --keep N              keep the last N of these captures; other files stay\n"
         "  --host-level 0..3     detail of the host: 0 nothing, 2 the main events (2)\n"
         "  --device-level 0..1   1: record devices (1)\n"
         "  --python-level 0..1   1: record every Python call (0)\n"
         "  -h, --help            this text");
}

static bool number_of(const char *text, uint64_t max, uint64_t *ret)
{
    return str_to_u64(str_of(text), ret) && *ret <= max;
}

/* A flag with its value; false when it is none, or the value is out of bounds. */
static bool take_flag(struct plan *plan, const char *flag, const char *value)
{
    const struct {
        const char *flag;
        uint64_t max;
        int *level;
    } levels[] = {{"--host-level", 3, &plan->wish.host_level},
                  {"--device-level", 1, &plan->wish.device_level},
                  {"--python-level", 1, &plan->wish.python_level}};
    uint64_t number;

    for (size_t i = 0; i < COUNT(levels); i++) {
        if (strcmp(flag, levels[i].flag) != 0)
            continue;
        if (!number_of(value, levels[i].max, &number))
            return false;
        *levels[i].level = (int)number;
        return true;
    }
    if (strcmp(flag, "--profile-dir") == 0 || strcmp(flag, "--logdir") == 0 ||
        strcmp(flag, "-o") == 0) {
        plan->wish.profile_dir = value;
        plan->rule = NULL;
        return value[0] != '\0';
    }
    if (strcmp(flag, "--every") == 0)
        return age_read(str_of(value), &plan->every_ns) && plan->every_ns > 0;
    if (strcmp(flag, "--keep") == 0 && number_of(value, KEEP_MAX, &number) && number > 0) {
        plan->keep = (uint32_t)number;
        return true;
    }
    if (strcmp(flag, "--ms") == 0 && number_of(value, CAPTURE_MS_MAX, &number)) {
        plan->wish.duration_ms = (int64_t)number;
        return true;
    }
    return false;
}

/* The sentence of a flag that was not taken. */
static enum status refuse(const char *flag, const char *value, struct error *err)
{
    static const struct {
        const char *flag, *takes;
    } values[] = {
        {"--every", "a time with its unit: 10m, 2h, 1d"},
        {"--ms", "how many milliseconds to record, such as 1000"},
        {"--keep", "how many captures to keep, 1 or more"},
        {"--host-level", "0 to 3"},
        {"--device-level", "0 or 1"},
        {"--python-level", "0 or 1"},
        {"--profile-dir", "a directory or a bucket"},
    };

    for (size_t i = 0; i < COUNT(values); i++) {
        if (strcmp(flag, values[i].flag) != 0)
            continue;
        return value == NULL ? fail(err, ERR_INVALID, "%s needs a value: %s", flag, values[i].takes)
                             : fail(err, ERR_INVALID, "%s is \"%s\"; it takes %s", flag, value,
                                    values[i].takes);
    }
    return fail(err, ERR_INVALID, "capture has no flag %s; capture --help lists them", flag);
}

static enum status read_plan(int argc, char **argv, struct plan *plan, struct error *err)
{
    struct str *targets = arena_array(plan->arena, struct str, (size_t)argc);

    plan->wish = (struct capture_wish){
        .targets = targets, .duration_ms = MS_DEFAULT, .host_level = 2, .device_level = 1};
    plan->wish.profile_dir = options_default_root(&plan->rule);
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            targets[plan->wish.target_count++] = str_of(argv[i]);
        else if (i + 1 < argc && take_flag(plan, argv[i], argv[i + 1]))
            i++;
        else
            return refuse(argv[i], i + 1 < argc ? argv[i + 1] : NULL, err);
    }
    if (plan->wish.target_count == 0)
        return fail(err, ERR_INVALID,
                    "capture needs HOST:PORT, the address of a program's profiler server");
    if (plan->keep > 0 && plan->every_ns == 0)
        return fail(err, ERR_INVALID, "--keep needs --every");
    if (plan->keep > 0)
        plan->kept = arena_alloc(plan->arena, plan->keep, sizeof *plan->kept);
    return OK;
}

/* While it records, time; then what has come. */
static void show_progress(const struct plan *plan, struct capture *capture)
{
    double share = capture_seconds(capture) * 1000 / (double)plan->wish.duration_ms;
    uint64_t bytes = 0;
    char what[64];

    for (uint32_t i = 0; i < capture_target_count(capture); i++) {
        struct capture_view view;

        capture_look(capture, i, &view);
        bytes += view.bytes;
    }
    struct arena *arena = arena_create();
    struct str size = bytes > 0 ? size_text(bytes, arena) : STR("");
    snprintf(what, sizeof what, "%s%.*s", bytes > 0 ? "Receiving " : "Recording", STR_ARG(size));
    arena_destroy(arena);
    progress_show(what, share < 1 ? share * SHARE_RECORDED / 100 : SHARE_RECORDED / 100.0);
}

static void tell_targets(struct capture *capture)
{
    struct arena *arena = arena_create();

    for (uint32_t i = 0; i < capture_target_count(capture); i++) {
        struct capture_view view;

        capture_look(capture, i, &view);
        if (view.state == CAPTURE_DONE)
            printf("  %-24s %.*s\n", view.target, STR_ARG(size_text(view.bytes, arena)));
        else
            fprintf(stderr, "jviewd: %s%s%s\n",
                    strstr(view.problem, view.target) == NULL ? view.target : "",
                    strstr(view.problem, view.target) == NULL ? ": " : "", view.problem);
    }
    arena_destroy(arena);
}

static void remove_session(const struct plan *plan, const char *directory)
{
    struct error err = {0};

    if (plan->bucket == NULL)
        capture_remove(plan->wish.profile_dir, directory);
    else if (capture_bucket_remove(plan->bucket, directory, &err) != OK)
        fprintf(stderr, "jviewd: %s\n", err.message);
}

static void keep_last(struct plan *plan, const char *made)
{
    if (plan->keep == 0)
        return;
    if (plan->kept_count == plan->keep) {
        remove_session(plan, plan->kept[0]);
        memmove(plan->kept, plan->kept + 1, (plan->keep - 1) * sizeof *plan->kept);
        plan->kept_count--;
    }
    snprintf(plan->kept[plan->kept_count++], sizeof *plan->kept, "%s", made);
}

static int capture_once(struct plan *plan)
{
    struct error err = {0};
    struct capture *capture;
    char directory[4096];

    if (capture_start(&plan->wish, &capture, &err) != OK) {
        fprintf(stderr, "jviewd: %s\n", err.message);
        return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_IO;
    }
    while (!capture_is_done(capture)) {
        if (is_ending)
            capture_cancel(capture);
        if (is_ending == 2)
            capture_bucket_cancel(plan->bucket);
        show_progress(plan, capture);
        usleep(LOOK_US);
    }
    progress_clear();
    snprintf(directory, sizeof directory, "%s", capture_directory(capture));
    tell_targets(capture);
    bool kept = capture_is_kept(capture);
    uint32_t done = capture_close(capture);
    if (kept) {
        printf("%s\n", directory);
        keep_last(plan, directory);
    }
    fflush(stdout);
    return done == plan->wish.target_count ? EXIT_OK : EXIT_NOT_FOUND;
}

/* Until the next turn, or a signal. */
static void rest(int64_t until_ns)
{
    do {
        usleep(LOOK_US);
    } while (!is_ending && clock_monotonic_ns() < until_ns);
}

static int run(struct plan *plan)
{
    int64_t began_ns;
    int code;

    if (plan->rule != NULL)
        printf("The profile is written to %s (%s).\n", plan->wish.profile_dir, plan->rule);
    catch_signals();
    do {
        began_ns = clock_monotonic_ns();
        code = capture_once(plan);
        if (plan->every_ns > 0 && code != EXIT_USAGE)
            rest(began_ns + plan->every_ns);
    } while (plan->every_ns > 0 && code != EXIT_USAGE && !is_ending);
    return plan->every_ns > 0 && is_ending ? EXIT_OK : code;
}

/* Into a bucket by way of the cache. */
static enum status open_bucket(struct plan *plan, struct error *err)
{
    char *words[] = {"capture", NULL};
    struct options options;

    if (!remote_is_place(str_of(plan->wish.profile_dir)))
        return OK;
    TRY(options_read(1, words, plan->arena, &options, err));
    TRY(capture_bucket_open(str_of(plan->wish.profile_dir), options.cache_dir, &plan->bucket, err));
    plan->wish.profile_dir = capture_bucket_directory(plan->bucket);
    plan->wish.delivery = capture_bucket_delivery(plan->bucket);
    return OK;
}

int capture_main(int argc, char **argv)
{
    struct plan plan = {.arena = arena_create()};
    struct error err = {0};
    int code = EXIT_OK;

    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            arena_destroy(plan.arena);
            return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
        }
    if (read_plan(argc, argv, &plan, &err) == OK && open_bucket(&plan, &err) == OK) {
        code = run(&plan);
    } else {
        fprintf(stderr, "jviewd: %s\n", err.message);
        code = EXIT_USAGE;
    }
    capture_bucket_close(plan.bucket);
    arena_destroy(plan.arena);
    return code;
}
