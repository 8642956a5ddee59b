/* SPDX-License-Identifier: Apache-2.0 */
/* The command line's readers: the same questions as over HTTP, asked without sockets.
 *
 *   argv  --cli_parse-->  struct cli_call  --main opens the catalog at call.roots-->  cli_run
 *
 * A reader's flags are its endpoint's parameters (`--start-ps 0` is `start_ps=0`), so the help,
 * the completion and the checks come from the routes themselves, and `--format json` is byte for
 * byte the body of the endpoint. Data goes to stdout, the rest to stderr, progress only to a
 * terminal.
 *
 * A verb is declared with its endpoint (serve/offers.h). One whose answer is no table has a
 * printer, and a line in verbs.c.
 */
#ifndef JVIEWD_CLI_CLI_H
#define JVIEWD_CLI_CLI_H

#include "serve/serve.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_REGRESSION = 1,
    EXIT_USAGE = 2,
    EXIT_NOT_FOUND = 3,
    EXIT_IO = 4,
    EXIT_PORT = 5,
    EXIT_CORRUPT = 6,
    EXIT_UNKNOWN = 7, /* check: it cannot be said */
};

enum { CLI_OPERANDS_MAX = 64 };

struct cli_call { /* what was asked; texts live in the arena handed to cli_parse */
    const struct verb *verb;
    const char *path;                   /* of the endpoint that is asked: the verb's; NULL: none */
    struct str roots[CLI_OPERANDS_MAX]; /* the directories or files to open */
    uint32_t root_count;
    const char *cache_dir;     /* "" the usual one */
    const char *index_store;   /* NULL: as the environment or the config file say */
    const char *data_dir;      /* NULL: as the environment or the config file say */
    bool follow_symlinks;      /* wherever they lead */
    bool wide;                 /* tables are as wide as they come, whatever the terminal's width */
    struct str run;            /* as run= takes it; "" for verbs without a run */
    const char *first, *other; /* its first operand and other run as typed; NULL: none */
    const struct verb_action *action;
    const char *const *words; /* the action's operands; the run among them, too */
    struct str method, body;  /* of the request; "" GET */
    struct str query;         /* the endpoint's query, encoded, without run and format */
    struct str format;        /* "table", "json", "csv", "md", ... as typed; "" the verb's own */
    struct str output;        /* -o */
    struct str ui;            /* open --ui */
    int maybe_exit;           /* check --maybe-exit */
    bool help;
    struct arena *arena;
};

/* In the order of help; NULL: behind the last. */
const struct verb *cli_verb_at(uint32_t index);
/* NULL: no such verb. */
const struct verb *cli_find(const char *name);
/* Of its endpoint; NULL: it has none. */
const char *cli_path(const struct verb *verb);

/* argv[0] is the verb's name. `default_root` is what serve would show without a path (NULL where
 * nothing is there). ERR_INVALID with a sentence for what cannot be understood. */
MUST_CHECK enum status cli_parse(int argc, char **argv, const char *default_root,
                                 struct arena *arena, struct cli_call *ret, struct error *err);
/* Usage, summary and every flag of a verb, to stdout. */
void cli_help(const struct verb *verb);
/* Asks and prints; the process's exit code. The catalog's first scan has been started. */
int cli_run(const struct cli_call *call, const struct services *services);

/* Is `check` asked of a file of timings (cli/timings.h)? That is judged without a store. */
bool check_is_of_timings(const struct cli_call *call);
int check_timings(const struct cli_call *call);

/* The script for bash, zsh or fish; EXIT_USAGE for another shell. Needs no services. */
int cli_completion(const char *shell);

#endif
