/* Usage of one verb: its flags are its endpoint's parameters. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/parameters.h"

static const struct {
    const char *flag, *text;
} own_flags[] = {
    {"--profile-dir DIR", "where RUN is looked up by name (also --logdir)"},
    {"--cache-dir DIR", "where indexed profiles are kept"},
    {"--data-dir DIR", "where notes and baselines are kept"},
    {"--follow-symlinks", "follow symbolic links, wherever they lead"},
    {"--format FORMAT", "table (default on a terminal), json, csv, md"},
    {"-o, --output FILE", "where to write"},
    {"-h, --help", "this text"},
};

static void put_bounds(const struct param *param)
{
    switch (param->kind) {
    case PARAM_INTEGER:
        if (param->min > INT64_MIN && param->max < INT64_MAX)
            printf("%" PRId64 " ... %" PRId64, param->min, param->max);
        else
            fputs("a number, or a time such as 1.5ms", stdout);
        break;
    case PARAM_WORD:
        for (const char *at = param->words; *at != '\0'; at++)
            fputs(*at == '|' ? ", " : (char[]){*at, '\0'}, stdout);
        break;
    case PARAM_INTEGERS:
        fputs("numbers, by comma", stdout);
        break;
    case PARAM_RANGES:
        fputs("numbers or ranges: 3 or 1-11, by comma", stdout);
        break;
    case PARAM_TEXTS:
        fputs("names, by comma", stdout);
        break;
    case PARAM_TEXT:
        fputs("a text", stdout);
        break;
    }
}

void cli_help(const struct verb *verb)
{
    printf("usage: jviewd %s %s [FLAG...]\n\n%s\n\n", verb->name, verb->operands, verb->summary);
    for (const struct param *param = parameters_of(verb); param != NULL && param->name != NULL;
         param++) {
        char flag[64];

        if (!parameter_is_flag(verb, param))
            continue;
        parameter_flag(param, flag, sizeof flag);
        printf("  %-20s ", flag);
        put_bounds(param);
        fputc('\n', stdout);
    }
    if (verb->own_flag != NULL)
        printf("  --%-18s %s\n", verb->own_flag, verb->own_flag_text);
    for (size_t i = 0; i < COUNT(own_flags) && cli_path(verb) != NULL; i++)
        printf("  %-20s %s\n", own_flags[i].flag, own_flags[i].text);
    if (verb->note != NULL)
        printf("\n%s\n", verb->note);
}
