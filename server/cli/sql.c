/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd sql RUN|--all QUERY: the table of a query. */
#include "cli/ask.h"
#include "cli/verbs.h"

enum { RUNS_MAX = 10000, WAIT_MS = 3600 * 1000 };

/* A command reads what is asked for; here that is everything. */
static void read_all(const struct services *services)
{
    struct arena *arena = arena_create();
    const struct run_query all = {.limit = RUNS_MAX};
    struct run_record *runs;
    struct error ignored = {0};
    uint32_t count = 0;
    uint64_t count_all;

    if (catalog_runs(services->catalog, &all, arena, &runs, &count, &count_all, &ignored) != OK)
        count = 0;
    for (uint32_t i = 0; i < count; i++) {
        progress_show("Reading all runs", (double)i / count);
        /* A run that cannot be read is told of by the answer. */
        (void)services->wait(services->ingest, runs[i].id, WAIT_MS, &ignored);
        ignored = (struct error){0};
    }
    progress_clear();
    arena_destroy(arena);
}

int print_sql(const struct cli_call *call, const struct services *services)
{
    if (call->run.count == 0) {
        wait_for_jobs(services);
        read_all(services);
    }
    return print_table(call, services);
}
