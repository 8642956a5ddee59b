/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs: those that endpoints declare, in the order of their table, and what prints the answers
 * that are no tables. */
#include "cli/verbs.h"

#include "serve/route.h"

typedef int printer(const struct cli_call *call, const struct services *services);

static const struct {
    const char *verb;
    printer *print;
} printers[] = {
    {"list", print_list},
    {"overview", print_overview},
    {"findings", print_findings},
    {"flame", print_flame},
    {"notes", print_notes},
    {"whatif", print_whatif},
    {"diff", print_diff},
    {"check", print_check},
    {"baseline", change_baseline},
    {"note", change_notes},
    {"trend", print_trend},
    {"sql", print_sql},
    {"mcp", run_mcp},
    {"extract", write_extract},
    {"bundle", write_bundle},
    {"completion", print_completion},
};

/* It has no endpoint. */
static const struct verb completion = {.name = "completion",
                                       .summary = "the script that completes these words",
                                       .operands = "bash|zsh|fish"};

const struct verb *cli_verb_at(uint32_t index)
{
    for (uint32_t i = 0; i < routes.count; i++) {
        if (routes.items[i]->verb != NULL && index-- == 0)
            return routes.items[i]->verb;
    }
    return index == 0 ? &completion : NULL;
}

const struct verb *cli_find(const char *name)
{
    const struct verb *verb;

    for (uint32_t i = 0; (verb = cli_verb_at(i)) != NULL; i++) {
        if (strcmp(verb->name, name) == 0)
            return verb;
    }
    return NULL;
}

const char *cli_path(const struct verb *verb)
{
    for (uint32_t i = 0; i < routes.count; i++) {
        if (routes.items[i]->verb == verb)
            return routes.items[i]->path;
    }
    return NULL;
}

int cli_run(const struct cli_call *call, const struct services *services)
{
    for (size_t i = 0; i < COUNT(printers); i++) {
        if (strcmp(printers[i].verb, call->verb->name) == 0)
            return printers[i].print(call, services);
    }
    return print_table(call, services);
}
