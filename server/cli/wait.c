/* SPDX-License-Identifier: Apache-2.0 */
/* Waits until files that were just written are read, and says on stderr for what. */
#include "cli/wait.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/plain.h"

#define MS INT64_C(1000000)

enum { MOMENT_US = 20000, TELL_AFTER_MS = 1000, REST_MAX_MS = 30000 };

static void find_unsettled(const struct services *services, struct arena *arena,
                           struct unsettled *ret)
{
    *ret = (struct unsettled){.file = STR("")};
    if (services->unsettled != NULL)
        services->unsettled(services->ingest, arena, ret);
}

struct waiting wait_begin(void)
{
    return (struct waiting){.started_ns = clock_monotonic_ns()};
}

static void tell(const struct unsettled *unsettled, struct arena *arena)
{
    const char *why = unsettled->only_resting
                          ? "still being written: it is read once it has not changed for 2 s"
                          : "being read";

    fprintf(stderr, "jviewd: waiting for %.*s (%s)\n", STR_ARG(str_plain(arena, unsettled->file)),
            why);
}

bool wait_on(struct waiting *waiting, const struct services *services)
{
    struct arena *arena = arena_create();
    int64_t waited_ns = clock_monotonic_ns() - waiting->started_ns;
    struct unsettled unsettled;

    find_unsettled(services, arena, &unsettled);
    bool ends = unsettled.only_resting && waited_ns > REST_MAX_MS * MS;
    if (!waiting->told && unsettled.file.count > 0 && waited_ns > TELL_AFTER_MS * MS) {
        tell(&unsettled, arena);
        waiting->told = true;
    }
    arena_destroy(arena);
    usleep(MOMENT_US);
    return !ends;
}

bool wait_may_bring(const struct services *services)
{
    struct arena *arena = arena_create();
    struct unsettled unsettled;

    find_unsettled(services, arena, &unsettled);
    arena_destroy(arena);
    return unsettled.unlisted > 0;
}

bool wait_may_bring_newer(const struct services *services)
{
    struct arena *arena = arena_create();
    const struct run_query newest = {.limit = 1};
    struct run_record *runs;
    struct error ignored = {0};
    struct unsettled unsettled;
    uint32_t count = 0;
    uint64_t all;

    find_unsettled(services, arena, &unsettled);
    if (catalog_runs(services->catalog, &newest, arena, &runs, &count, &all, &ignored) != OK)
        count = 0;
    bool newer =
        unsettled.unlisted > 0 && (count == 0 || unsettled.newest_ns > runs[0].modified_ns);
    arena_destroy(arena);
    return newer;
}
