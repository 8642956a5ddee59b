/* SPDX-License-Identifier: Apache-2.0 */
/* jviewd [VERB] ...: which part of the program is meant. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "app/capture_verb.h"
#include "app/collect.h"
#include "app/libraries.h"
#include "base/distance.h"
#include "base/memory.h"
#include "cli/cli.h"
#include "doctor/doctor.h"
#include "index/index.h"
#include "prune/prune.h"
#include "serve/route.h"
#include "serve/sql/sql_worker.h"
#include "warehouse/warehouse.h"

/* Descriptors 0, 1 and 2 are what they should be, or nothing; never a file of ours. */
static bool standard_descriptors(void)
{
    int fd;

    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
    return fd >= 0;
}

static void help(void)
{
    const struct verb *verb;

    options_help();
    printf("\nOther verbs (jviewd VERB --help says more):\n\n"
           "  open       opens a browser at a run, with a running server or a new one\n"
           "  collect    records a program: jview-collect, see collect --help\n"
           "  capture    profiles programs that run a profiler server, from outside\n"
           "  index      indexes one profile file\n"
           "  doctor     finds out why profiles are missing or incomplete\n"
           "  prune      lists the largest profiles, and deletes or compresses old ones\n"
           "  export     the tables of every run as Parquet, Arrow, CSV or JSON\n"
           "  fleet      slowest ops, late hosts and waiting jobs of all runs\n"
           "  plan       divides runs between several workers\n");
    for (uint32_t i = 0; (verb = cli_verb_at(i)) != NULL; i++)
        printf("  %-10s %s\n", verb->name, verb->summary);
}

static const char *const own_verbs[] = {"serve", "open",   "collect", "capture", "index", "doctor",
                                        "prune", "export", "plan",    "fleet",   "help"};
enum { OWN_VERBS = COUNT(own_verbs) };

/* `help VERB` is `VERB --help`, so that each verb tells its own. */
static char **help_of(char **argv)
{
    static char flag[] = "--help";
    static char *told[4];

    told[0] = argv[0];
    told[1] = argv[2];
    told[2] = flag;
    return told;
}

/* The verb that a word was perhaps meant to be. */
static const char *nearest_verb(const char *word)
{
    const char *nearest = own_verbs[0];
    unsigned least = edit_distance(str_of(word), str_of(nearest));

    for (uint32_t i = 0; i < OWN_VERBS || cli_verb_at(i - OWN_VERBS) != NULL; i++) {
        const char *name = i < OWN_VERBS ? own_verbs[i] : cli_verb_at(i - OWN_VERBS)->name;
        unsigned distance = edit_distance(str_of(word), str_of(name));

        if (distance < least) {
            least = distance;
            nearest = name;
        }
    }
    return nearest;
}

/* A word that names nothing is more likely a mistyped verb than a directory that will come: that
 * one is said with a slash, or behind `serve`. */
static bool is_no_word(const char *word)
{
    if (word[0] == '\0' || word[0] == '-' || strchr(word, '/') != NULL || access(word, F_OK) == 0)
        return false;
    fprintf(stderr,
            "jviewd: there is no verb \"%s\", and no such file or directory here; the nearest verb "
            "is \"%s\" (jviewd help lists all; jviewd serve %s waits for a directory to come)\n",
            word, nearest_verb(word), word);
    return true;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "help") == 0)
        argv = help_of(argv);
    const char *verb = argc > 1 ? argv[1] : "";

    if (!standard_descriptors()) {
        fprintf(stderr, "jviewd: /dev/null cannot be opened: %s\n", strerror(errno));
        return EXIT_IO;
    }
    if (strcmp(verb, "sql-worker") == 0)
        _exit(sql_worker(&routes, STDIN_FILENO,
                         STDOUT_FILENO)); /* the system takes back what it opened */
    memory_prepare();
    libraries_prepare();
    if (strcmp(verb, "index") == 0 && index_asks_store(argc, argv))
        return index_store_main(argc - 1, argv + 1);
    if (strcmp(verb, "index") == 0)
        return index_main(argc - 1, argv + 1);
    if (strcmp(verb, "serve") == 0) {
        memory_restart(argv);
        return app_serve(argc - 1, argv + 1);
    }
    if (strcmp(verb, "complete") == 0)
        return app_complete(argc - 2, argv + 2);
    if (strcmp(verb, "open") == 0)
        return app_open(argc - 1, argv + 1);
    if (strcmp(verb, "collect") == 0)
        return collect_main(argc - 1, argv + 1);
    if (strcmp(verb, "capture") == 0)
        return capture_main(argc - 1, argv + 1);
    if (strcmp(verb, "doctor") == 0)
        return doctor_main(argc - 1, argv + 1);
    if (strcmp(verb, "prune") == 0)
        return prune_main(argc - 1, argv + 1);
    if (strcmp(verb, "export") == 0)
        return export_main(argc - 1, argv + 1);
    if (strcmp(verb, "fleet") == 0)
        return fleet_main(argc - 1, argv + 1);
    if (strcmp(verb, "plan") == 0)
        return plan_main(argc - 1, argv + 1);
    if (cli_find(verb) != NULL)
        return app_command(argc - 1, argv + 1);
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0) {
        help();
        return fflush(stdout) == 0 ? EXIT_OK : EXIT_IO;
    }
    if (is_no_word(verb))
        return EXIT_USAGE;
    memory_restart(argv);
    return app_serve(argc, argv);
}
