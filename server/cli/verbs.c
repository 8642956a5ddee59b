/* The verbs, one a line: the list is the documentation. */
#include "cli/verbs.h"

const struct cli_verb cli_verbs[] = {
    {.name = "list",
     .summary = "runs, newest first",
     .operands = "[PATH]",
     .path = "/api/runs",
     .run = print_list},
    {.name = "overview",
     .summary = "where the step time goes",
     .operands = "RUN",
     .path = "/api/overview",
     .run = print_overview},
    {.name = "findings",
     .summary = "what to do first: each with what it wins, its evidence and remedy",
     .operands = "RUN",
     .path = "/api/findings",
     .run = print_findings},
    {.name = "top",
     .summary = "ops, kernels, scopes, ... by self time",
     .operands = "RUN",
     .path = "/api/top",
     .run = print_table},
    {.name = "kernels",
     .summary = "GPU kernels: shape, occupancy, queue time",
     .operands = "RUN",
     .path = "/api/kernels",
     .run = print_table},
    {.name = "steps",
     .summary = "each step and its breakdown, by device too; idle gaps",
     .operands = "RUN",
     .path = "/api/steps",
     .run = print_table},
    {.name = "hosts",
     .summary = "which host or device the others wait for",
     .operands = "RUN",
     .path = "/api/hosts",
     .run = print_table},
    {.name = "collectives",
     .summary = "what devices say to each other: exposed time, bandwidth, who waits for whom",
     .operands = "RUN",
     .path = "/api/collectives",
     .run = print_table},
    {.name = "compiles",
     .summary = "what was compiled, why, and what that took",
     .operands = "RUN",
     .path = "/api/compiles",
     .run = print_table},
    {.name = "flame",
     .summary = "time by scope, source, nesting or sampled stack; bytes by stack",
     .operands = "RUN",
     .path = "/api/flame",
     .run = print_flame},
    {.name = "slices",
     .summary = "the slices of a track in a window",
     .operands = "RUN",
     .path = "/api/slices",
     .run = print_table},
    {.name = "search",
     .summary = "names and args that hold a text",
     .operands = "RUN QUERY",
     .path = "/api/search",
     .run = print_table,
     .needs = "q"},
    {.name = "memory",
     .summary = "allocators over time, or snapshots",
     .operands = "RUN",
     .path = "/api/memory",
     .run = print_table},
    {.name = "hlo",
     .summary = "compiled modules: their list, text, instructions",
     .operands = "RUN",
     .path = "/api/hlo",
     .run = print_table},
    {.name = "extract",
     .summary = "the run as a file of another format",
     .operands = "RUN",
     .path = "/api/trace",
     .run = write_extract},
    {.name = "completion",
     .summary = "the script that completes these words",
     .operands = "bash|zsh|fish",
     .run = print_completion},
};
const uint32_t cli_verb_count = COUNT(cli_verbs);

const struct cli_verb *cli_find(const char *name)
{
    for (uint32_t i = 0; i < cli_verb_count; i++) {
        if (strcmp(cli_verbs[i].name, name) == 0)
            return &cli_verbs[i];
    }
    return NULL;
}

int cli_run(const struct cli_call *call, const struct services *services)
{
    return call->verb->run(call, services);
}
