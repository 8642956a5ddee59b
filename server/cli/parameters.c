/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parameters of a verb's endpoint that may be given as flags. */
#include "cli/parameters.h"

#include <stdio.h>

#include "serve/route.h"

const struct param *parameters_of(const struct verb *verb)
{
    const char *path = cli_path(verb);

    for (uint32_t i = 0; i < routes.count && path != NULL; i++) {
        if (strcmp(routes.items[i]->path, path) == 0)
            return routes.items[i]->params;
    }
    return NULL;
}

bool parameter_is_flag(const struct verb *verb, const struct param *param)
{
    static const char *const others[] = {"run", "wait_ms", "format"};

    for (size_t i = 0; i < COUNT(others); i++) {
        if (strcmp(param->name, others[i]) == 0)
            return false;
    }
    if (verb->many_runs && strcmp(param->name, "runs") == 0)
        return false;
    if (verb->two_runs && (strcmp(param->name, "a") == 0 || strcmp(param->name, "b") == 0))
        return false;
    return verb->needs == NULL || strcmp(param->name, verb->needs) != 0;
}

void parameter_flag(const struct param *param, char *ret, size_t size)
{
    snprintf(ret, size, "--%s", param->name);
    for (char *at = ret; *at != '\0'; at++) {
        if (*at == '_')
            *at = '-';
    }
}

bool parameter_is_switch(const struct param *param)
{
    return param->kind == PARAM_WORD && strcmp(param->words, "no|yes") == 0;
}

const char *formats_of(const struct verb *verb)
{
    static const struct {
        const char *verb, *words;
    } others[] = {
        {"check", "text|json|md|junit"},
        {"flame", "table|json|folded|speedscope"},
        {"hlo", "table|json|csv|md|txt"},
        {"extract", "chrome|perfetto|csv|xplane|folded|files"},
        {"bundle", NULL},
        {"mcp", NULL},
        {"completion", NULL},
    };

    for (size_t i = 0; i < COUNT(others); i++) {
        if (strcmp(others[i].verb, verb->name) == 0)
            return others[i].words;
    }
    return "table|json|csv|md";
}
