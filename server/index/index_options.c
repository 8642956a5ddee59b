/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line of `jviewd index`. */
#include "index/index_options.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/cli.h"

enum { THREADS_MAX = 2 };

static void help(void)
{
    printf(
        "jviewd index FILE --out SEGMENT\n\n"
        "Reads one profile file and writes its index: SEGMENT, and its attribution beside it\n"
        "(the same name with .attr). The last line on stdout says in JSON what was found. Equal\n"
        "files make equal segments.\n\n"
        "  --out SEGMENT     where to write; an older file is replaced at the end\n"
        "  --growing         read what the file holds now, even if it is still growing\n"
        "  --root DIR        FILE is a path below DIR and may not lead out of it\n"
        "  --follow-symlinks follow links, wherever they lead\n"
        "  --identify        say what the file is and write nothing\n"
        "  --convert         run `nsys export` on reports of Nsight Systems\n"
        "  --xplane          write a recording of jview-collect as an XPlane, for XProf\n"
        "  --threads 1|2     threads to use (2, where there are two CPUs); the result is the same\n"
        "  --unless CONTENT  do nothing if the file's hash is this one\n"
        "  --progress-fd N   write progress to this descriptor, and end with the parent\n\n"
        "Exit codes: 0 done, 2 usage, 3 no profile, 4 I/O, 6 corrupt.\n");
}

static int misused(const char *what)
{
    fprintf(stderr, "jviewd index: %s\nusage: jviewd index FILE --out SEGMENT\n", what);
    return EXIT_USAGE;
}

static int misunderstood(const char *argument)
{
    fprintf(stderr, "jviewd index does not understand %s; jviewd index --help lists its flags\n",
            argument);
    return EXIT_USAGE;
}

static bool bounded(const char *text, int64_t least, int64_t most, int *ret)
{
    int64_t number;

    if (!str_to_i64(str_of(text), &number) || number < least || number > most)
        return false;
    *ret = (int)number;
    return true;
}

/* The value of a flag at argv[*i], also as --flag=value; NULL when it is another flag. */
static const char *flag_value(char **argv, int argc, int *i, const char *flag)
{
    size_t count = strlen(flag);

    if (strncmp(argv[*i], flag, count) != 0)
        return NULL;
    if (argv[*i][count] == '=')
        return argv[*i] + count + 1;
    return argv[*i][count] == '\0' && *i + 1 < argc ? argv[++*i] : NULL;
}

/* 0, or the index of the argument that it does not understand. */
static int parse(int argc, char **argv, struct index_options *options)
{
    bool only_files = false;

    for (int i = 1; i < argc; i++) {
        const char *value;

        if (only_files && options->file == NULL)
            options->file = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_files = true;
        else if (strcmp(argv[i], "--growing") == 0)
            options->growing = true;
        else if (strcmp(argv[i], "--convert") == 0)
            options->convert = true;
        else if (strcmp(argv[i], "--xplane") == 0)
            options->xplane = true;
        else if (strcmp(argv[i], "--identify") == 0)
            options->identify = true;
        else if (strcmp(argv[i], "--follow-symlinks") == 0)
            options->follow_symlinks = true;
        else if ((value = flag_value(argv, argc, &i, "--root")) != NULL)
            options->root = value;
        else if ((value = flag_value(argv, argc, &i, "--out")) != NULL)
            options->out = value;
        else if ((value = flag_value(argv, argc, &i, "--unless")) != NULL &&
                 options->unless_count < UNLESS_MAX)
            options->unless[options->unless_count++] = value;
        else if ((value = flag_value(argv, argc, &i, "--threads")) != NULL) {
            if (!bounded(value, 1, THREADS_MAX, &options->thread_count))
                return i;
        } else if ((value = flag_value(argv, argc, &i, "--progress-fd")) != NULL) {
            if (!bounded(value, 0, 1023, &options->progress_fd))
                return i;
        } else if (options->file == NULL && (argv[i][0] != '-' || argv[i][1] == '\0'))
            options->file = argv[i];
        else
            return i;
    }
    return 0;
}

/* Those that this process may use, as far as they are of use. */
static int processor_count(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    return CPU_COUNT(&set) < THREADS_MAX ? CPU_COUNT(&set) : THREADS_MAX;
}

bool index_options_parse(int argc, char **argv, struct index_options *ret, int *ret_exit)
{
    *ret = (struct index_options){.progress_fd = -1, .thread_count = processor_count()};
    *ret_exit = EXIT_OK;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help();
            return false;
        }
    }
    int wrong = parse(argc, argv, ret);
    if (wrong > 0)
        *ret_exit = misunderstood(argv[wrong]);
    else if (ret->file == NULL)
        *ret_exit = misused("which file?");
    else if (ret->out == NULL)
        *ret_exit = misused("--out SEGMENT is missing");
    return *ret_exit == EXIT_OK;
}
