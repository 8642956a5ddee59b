/* SPDX-License-Identifier: Apache-2.0 */
/* What a server says on its terminal once it has looked: that nothing is there, or that the file is
 * no profile. The page says the same. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/rooms.h"
#include "cli/no_profile.h"
#include "cli/plain.h"
#include "ingest/ingest.h"

enum { MOMENT_NS = 100000000, MOMENTS_MAX = 100 };

static bool is_file(const char *path)
{
    struct stat seen;

    return stat(path, &seen) == 0 && S_ISREG(seen.st_mode);
}

/* Of the one file that was named. False: it is not read yet. */
static bool tell_file(const struct app *app)
{
    const struct run_query one = {.limit = 1};
    struct arena *arena = arena_create();
    struct run_record *runs;
    struct error ignored = {0};
    uint32_t count = 0;
    uint64_t all;
    bool known = false;

    if (catalog_runs(app->catalog, &one, arena, &runs, &count, &all, &ignored) == OK && count > 0) {
        known = runs[0].state != RUN_QUEUED && runs[0].state != RUN_INDEXING;
        if (runs[0].state == RUN_FAILED)
            fprintf(stderr, "jviewd: %.*s\n", STR_ARG(str_plain(arena, runs[0].error)));
    }
    arena_destroy(arena);
    return known;
}

/* False: there is nothing to say yet. */
static bool tell_first(const struct app *app)
{
    struct error ignored = {0};

    if (ingest_wait(app->ingest, STR(""), 0, &ignored) == ERR_NOT_READY)
        return false;
    if (!catalog_is_empty(app->catalog))
        return app->given_count > 1 || !is_file(app->services.profile_dir) || tell_file(app);
    tell_no_profile(stderr, app->options.roots.at[0]);
    return true;
}

int app_wait_for_signal(const struct app *app, const sigset_t *signals)
{
    const struct timespec moment = {.tv_nsec = MOMENT_NS};
    bool told = !isatty(STDERR_FILENO);
    int caught = -1;

    for (int i = 0; i < MOMENTS_MAX && !told && caught <= 0; i++) {
        caught = sigtimedwait(signals, NULL, &moment);
        told = tell_first(app);
    }
    while (caught <= 0 && sigwait(signals, &caught) != 0)
        ;
    return caught;
}
