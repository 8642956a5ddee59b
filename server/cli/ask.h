/* One question to an endpoint, waited for, with its failure told on stderr. */
#ifndef JVIEWD_CLI_ASK_H
#define JVIEWD_CLI_ASK_H

#include "cli/cli.h"

struct answer {
    int exit_code; /* EXIT_OK: the reply holds what was asked */
    struct reply reply;
    struct request request;
    struct arena *arena;
};

/* `format` "" asks for JSON. While the run is being written or indexed it waits (cli/wait.h), with
 * a bar on a terminal. */
void ask(const struct cli_call *call, const struct services *services, struct str format,
         struct answer *ret);
void answer_free(struct answer *answer);
/* Writes the body, whole or piece by piece. EXIT_IO when that fails. */
int answer_write(struct answer *answer, int fd);

/* A bar of what share is done; nothing when stderr is no terminal. */
void progress_show(const char *what, double share);
void progress_clear(void);

#endif
