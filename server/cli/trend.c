/* jviewd trend [PATH]: every run below it is read and measured first; then the table. */
#include "cli/ask.h"
#include "cli/verbs.h"
#include "serve/prepare/measure.h"

enum { TREND_RUNS_MAX = 10000, READ_WAIT_MS = 600000 };

/* What the trend stands on is what indexing told of each run. One that fails says so in its row. */
static void read_runs(const struct services *services, const char *state)
{
    const struct run_query queued = {.state = str_of(state), .limit = TREND_RUNS_MAX};
    struct arena *arena = arena_create();
    struct run_record *runs;
    struct error err = {0};
    uint32_t count = 0;
    uint64_t all;

    if (services->wait == NULL ||
        catalog_runs(services->catalog, &queued, arena, &runs, &count, &all, &err) != OK)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct error ignored = {0};

        progress_show("Reading", (double)i / count);
        (void)services->wait(services->ingest, runs[i].id, READ_WAIT_MS, &ignored);
    }
    progress_clear();
    arena_destroy(arena);
}

/* Most were measured before: the bar may end early. */
static void measure_runs(const struct services *services)
{
    const struct run_query any = {.limit = 1};
    struct arena *arena = arena_create();
    struct unmeasured walk = {0};
    struct run_record *runs;
    struct error ignored = {0};
    uint32_t found;
    uint64_t done = 0, all = 0;

    if (catalog_runs(services->catalog, &any, arena, &runs, &found, &all, &ignored) != OK)
        all = 0;
    for (uint32_t count; (count = measure_next(services, &walk)) > 0; done += count)
        progress_show("Measuring", (double)done / (double)(all > done ? all : done + 1));
    progress_clear();
    arena_destroy(arena);
}

int print_trend(const struct cli_call *call, const struct services *services)
{
    wait_for_jobs(services);
    read_runs(services, "queued");
    read_runs(services, "writing");
    measure_runs(services);
    return print_table(call, services);
}
