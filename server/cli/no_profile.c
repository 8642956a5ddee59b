/* SPDX-License-Identifier: Apache-2.0 */
/* What someone reads who has no profile yet: a line to type for each profiler. */
#include "cli/no_profile.h"

#include <unistd.h>

#include "cli/plain.h"
#include "remote/remote.h"

bool catalog_is_empty(struct catalog *catalog)
{
    const struct run_query one = {.limit = 1};
    struct arena *arena = arena_create();
    struct run_record *runs;
    struct error ignored = {0};
    uint32_t count;
    uint64_t all = 1;

    bool empty =
        catalog_runs(catalog, &one, arena, &runs, &count, &all, &ignored) == OK && all == 0;
    arena_destroy(arena);
    return empty;
}

void tell_no_profile(FILE *to, struct str directory)
{
    struct arena *arena = arena_create();
    struct str place = str_plain(arena, directory);
    bool waits = !remote_is_place(directory) && access(str_c(arena, directory), F_OK) != 0;

    fprintf(to,
            waits ? "jviewd: %.*s does not exist yet\n"
                  : "jviewd: no profile was found below %.*s\n",
            STR_ARG(place));
    fprintf(to,
            "To record one, type one of these:\n"
            "  JAX      with jax.profiler.trace(\"%.*s\"): ...\n"
            "  PyTorch  with torch.profiler.profile(on_trace_ready=\n"
            "               torch.profiler.tensorboard_trace_handler(\"%.*s\")): ...\n"
            "  nsys     nsys profile -o %.*s/run python train.py\n"
            "           nsys export --type sqlite %.*s/run.nsys-rep\n",
            STR_ARG(place), STR_ARG(place), STR_ARG(place), STR_ARG(place));
    if (!waits)
        fprintf(to, "`jviewd doctor %.*s` finds out why a profile that is there is not shown.\n",
                STR_ARG(place));
    arena_destroy(arena);
}
