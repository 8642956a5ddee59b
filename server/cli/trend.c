/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd trend [PATH]: every run below it is read and measured first; then the table. */
#include "cli/ask.h"
#include "cli/verbs.h"
#include "serve/prepare/measure.h"

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
    read_runs(services, "queued", INT64_MAX, NULL);
    read_runs(services, "writing", INT64_MAX, NULL);
    wait_for_jobs(services); /* what was read may be of other runs than its names said */
    measure_runs(services);
    return print_table(call, services);
}
