#include "launch/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char options_help[] =
    "jview-collect records what a program does, from outside, for jviewd.\n"
    "\n"
    "usage: jview-collect [OPTION]... [--] COMMAND [ARGUMENT]...\n"
    "\n"
    "  -o, --output DIR        the profile directory [./profile]\n"
    "      --delay SECONDS     begin to record that long after the start\n"
    "      --duration SECONDS  record for that long; the program goes on\n"
    "      --replace-injection take the place of another tool that is set to be loaded\n"
    "  -q, --quiet             say nothing at the end\n"
    "  -V, --version           the version\n"
    "  -h, --help              this text\n"
    "\n"
    "Recorded are NVTX ranges of the program and of its libraries. The exit code is the "
    "program's.\n";

enum { SECONDS_MAX = 30 * 24 * 3600 };

struct word { /* one that takes a value */
    const char *brief, *full;
};

/* "--delay 3", "--delay=3", "-o DIR", "-oDIR": the value, and how many words it took; NULL where
 * the word is another. */
static const char *value_of(char **words, const struct word *word, int *ret_taken)
{
    size_t count = strlen(word->full);

    *ret_taken = 2;
    if (strcmp(words[0], word->full) == 0 ||
        (word->brief != NULL && strcmp(words[0], word->brief) == 0))
        return words[1] != NULL ? words[1] : "";
    *ret_taken = 1;
    if (strncmp(words[0], word->full, count) == 0 && words[0][count] == '=')
        return words[0] + count + 1;
    if (word->brief != NULL && words[0][1] != '-' &&
        strncmp(words[0], word->brief, strlen(word->brief)) == 0)
        return words[0] + strlen(word->brief);
    return NULL;
}

static enum status parse_seconds(const char *name, const char *text, int64_t *ret_ms,
                                 struct error *err)
{
    char *end;

    errno = 0;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || errno != 0 || !isfinite(seconds) || seconds < 0 ||
        seconds > SECONDS_MAX)
        return fail(err, ERR_INVALID, "%s takes seconds, such as 2.5, not \"%s\"", name, text);
    *ret_ms = (int64_t)(seconds * 1000);
    return OK;
}

static bool is_word(const char *word, const char *brief, const char *full)
{
    return (brief != NULL && strcmp(word, brief) == 0) || strcmp(word, full) == 0;
}

static bool parse_flag(const char *word, struct options *options)
{
    if (is_word(word, NULL, "--replace-injection"))
        options->replaces = true;
    else if (is_word(word, "-q", "--quiet"))
        options->is_quiet = true;
    else if (is_word(word, "-V", "--version"))
        options->shows_version = true;
    else if (is_word(word, "-h", "--help"))
        options->shows_help = true;
    else
        return false;
    return true;
}

static enum status parse_one(char **words, struct options *options, int *ret_taken,
                             struct error *err)
{
    static const struct word output = {"-o", "--output"}, delay = {NULL, "--delay"},
                             duration = {NULL, "--duration"};
    const char *value;

    *ret_taken = 1;
    if (parse_flag(words[0], options))
        return OK;
    if ((value = value_of(words, &output, ret_taken)) != NULL) {
        options->out = value;
        return value[0] != '\0' ? OK : fail(err, ERR_INVALID, "-o takes a directory");
    }
    if ((value = value_of(words, &delay, ret_taken)) != NULL)
        return parse_seconds("--delay", value, &options->delay_ms, err);
    if ((value = value_of(words, &duration, ret_taken)) != NULL)
        return parse_seconds("--duration", value, &options->duration_ms, err);
    return fail(err, ERR_INVALID, "no option %s; jview-collect --help names them", words[0]);
}

enum status options_parse(char **words, struct options *ret, struct error *err)
{
    *ret = (struct options){.out = "profile"};
    while (*words != NULL && (*words)[0] == '-' && strcmp(*words, "--") != 0) {
        int taken;
        TRY(parse_one(words, ret, &taken, err));
        for (; taken > 0 && *words != NULL; taken--)
            words++;
    }
    if (*words != NULL && strcmp(*words, "--") == 0)
        words++;
    ret->command = words;
    if (*words == NULL && !ret->shows_help && !ret->shows_version)
        return fail(err, ERR_INVALID, "no command to run: jview-collect -o DIR -- python train.py");
    return OK;
}
