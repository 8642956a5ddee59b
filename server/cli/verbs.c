/* The verbs, one a line: the list is the documentation. */
#include "cli/verbs.h"

const struct cli_verb cli_verbs[] = {
    {"list",       "runs, newest first",                     "[PATH]",        "/api/runs",     NULL, print_table,    false},
    {"overview",   "where the step time goes",               "RUN",           "/api/overview", NULL, print_overview, false},
    {"top",        "ops, kernels, scopes, ... by self time", "RUN",           "/api/top",      NULL, print_table,    false},
    {"steps",      "each step and its breakdown",            "RUN",           "/api/steps",    NULL, print_table,    false},
    {"flame",      "time by scope, source or nesting",       "RUN",           "/api/flame",    NULL, print_flame,    false},
    {"slices",     "the slices of a track in a window",      "RUN",           "/api/slices",   NULL, print_table,    false},
    {"search",     "names and args that hold a text",        "RUN QUERY",     "/api/search",   "q",  print_table,
     false                                                                                                                },
    {"memory",     "allocators over time",                   "RUN",           "/api/memory",   NULL, print_table,    false},
    {"extract",    "the run as a file of another format",    "RUN",           "/api/trace",    NULL, write_extract,
     false                                                                                                                },
    {"completion", "the script that completes these words",  "bash|zsh|fish", NULL,            NULL,
     print_completion,                                                                                               false},
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
