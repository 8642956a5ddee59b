/* SPDX-License-Identifier: Apache-2.0 */
/* Usage of one verb: what it answers, examples, its flags, which are its endpoint's parameters. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/flag_texts.h"
#include "cli/parameters.h"

enum { TEXT_COLUMN = 27, LINE_COLUMNS = 80 };

static const struct {
    const char *flag, *text;
} own_flags[] = {
    {"--profile-dir DIR", "look for RUN below DIR; may be repeated (also --logdir)"},
    {"--cache-dir DIR", "directory of the indexes"},
    {"--index-store DIR", "directory or bucket of indexes shared between machines"},
    {"--data-dir DIR", "directory of notes and baselines"},
    {"--follow-symlinks", "follow symbolic links, wherever they lead"},
    {"--wide", "all columns of a table, however narrow the terminal is"},
};

/* Text from the column of texts on, broken at blanks before the line's end. */
static void put_text(const char *text)
{
    for (size_t room = LINE_COLUMNS - TEXT_COLUMN; strlen(text) > room;) {
        size_t count = room;

        while (count > 0 && text[count] != ' ')
            count--;
        if (count == 0)
            break;
        printf("%.*s\n%*s", (int)count, text, TEXT_COLUMN, "");
        text += count + 1;
    }
    puts(text);
}

static void put_flag(const char *flag, const char *text)
{
    printf("  %-*s ", TEXT_COLUMN - 3, flag);
    put_text(text);
}

/* "a|b|c" as it is typed, on lines of its own. */
static void put_words(const char *words)
{
    char text[512];
    size_t count = 0;

    for (const char *at = words; *at != '\0' && count + 3 < sizeof text; at++) {
        text[count++] = *at == '|' ? ',' : *at;
        if (*at == '|')
            text[count++] = ' ';
    }
    text[count] = '\0';
    printf("%*s", TEXT_COLUMN, "");
    put_text(text);
}

static void put_parameter(const struct verb *verb, const struct param *param)
{
    const struct flag_text *text = flag_text_find(verb, param->name);
    bool is_switch = parameter_is_switch(param);
    char flag[64], line[128];

    parameter_flag(param, flag, sizeof flag);
    snprintf(line, sizeof line, "%s %s", flag,
             text != NULL && text->value != NULL       ? text->value
             : param->kind == PARAM_WORD && !is_switch ? "WORD"
                                                       : "");
    put_flag(line, text != NULL ? text->text : "");
    if (param->kind == PARAM_WORD && !is_switch)
        put_words(param->words);
}

static void put_format(const struct verb *verb)
{
    const char *words = formats_of(verb);
    char first[64];

    if (words == NULL)
        return;
    snprintf(first, sizeof first, "format of the answer (%.*s)", (int)strcspn(words, "|"), words);
    put_flag("--format WORD", first);
    put_words(words);
}

static void put_examples(const struct verb *verb)
{
    const struct example *example = examples_find(verb);

    if (example == NULL)
        return;
    printf("Examples:\n\n");
    for (; example->command != NULL; example++)
        printf("  jviewd %s\n      %s\n", example->command, example->shows);
    printf("\n");
}

void cli_help(const struct verb *verb)
{
    printf("usage: jviewd %s %s [FLAG...]\n\n%s\n\n", verb->name, verb->operands, verb->summary);
    put_examples(verb);
    printf("Flags (defaults in brackets):\n\n");
    for (const struct param *param = parameters_of(verb); param != NULL && param->name != NULL;
         param++) {
        if (parameter_is_flag(verb, param))
            put_parameter(verb, param);
    }
    if (verb->own_flag != NULL) {
        char flag[64];

        snprintf(flag, sizeof flag, "--%s N", verb->own_flag);
        put_flag(flag, verb->own_flag_text);
    }
    for (size_t i = 0; i < COUNT(own_flags) && cli_path(verb) != NULL; i++)
        put_flag(own_flags[i].flag, own_flags[i].text);
    if (cli_path(verb) != NULL) {
        put_format(verb);
        put_flag("-o, --output FILE", "write to this file instead of the terminal");
    }
    put_flag("-h, --help", "this text");
    if (verb->note != NULL)
        printf("\n%s\n", verb->note);
}
