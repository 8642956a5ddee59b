/* SPDX-License-Identifier: Apache-2.0 */
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
struct json_t; /* of Jansson */
/* What another endpoint says of the call's run, without what moves a cursor; freed by the caller.
 * NULL where it fails, which was told. The exit code. */
int ask_json(const struct cli_call *call, const struct services *services, const char *path,
             struct str query, struct json_t **ret);
/* /api/run, once the run is read: it answers before, too, of no host and without notes, so the
 * tracks are asked for first, which waits. */
int ask_read_run(const struct cli_call *call, const struct services *services, struct json_t **ret);
/* Writes the body, whole or piece by piece. EXIT_IO when that fails. */
int answer_write(struct answer *answer, int fd);
/* Flushes stdout; `code`, or EXIT_IO with a sentence where it could not be written. A reader that
 * left early, as `head` does, has what it wanted: that is no failure. */
int output_flush(int code);

/* A bar of what share is done; nothing when stderr is no terminal. */
void progress_show(const char *what, double share);
void progress_clear(void);

#endif
