/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that answer queries of SQL, each about the runs that it was told of once.
 *
 *   process_take   the one that knows these runs, else the one that stands ready, else a new one
 *   process_keep   another one stands ready from then on, for who asks of other runs next
 *   process_stay   the one that has answered waits for the next query about the same runs
 *
 *   ready     start, rehearse |  waits  | runs, query -> answer | waits | query -> answer | ...
 *   query 1   start           | runs, query -> answer | ...
 *
 * The one that stands ready has the limits of all (sql_worker.c), knows of no run yet and holds no
 * file. One stays, and the one that stayed before ends; so does one that nobody asks for a minute.
 */
#ifndef JVIEWD_SERVE_SQL_SQL_PROCESS_H
#define JVIEWD_SERVE_SQL_SQL_PROCESS_H

#include <sys/types.h>

#include "base/error.h"
#include "base/hash.h"

struct sql_process {
    pid_t pid;
    int to, from;         /* our ends; -1 once closed */
    bool is_told;         /* it knows the runs already */
    struct hash128 runs;  /* of what it was told of them */
    struct hash128 asked; /* of the question after them that was asked last */
};

/* The one that was asked this last, without a look at what it knows. */
bool sql_process_take_asked(struct hash128 asked, struct sql_process *ret);
MUST_CHECK enum status sql_process_take(struct hash128 runs, struct sql_process *ret,
                                        struct error *err);
void sql_process_close(int *end);
/* How it ended, as waitpid says it; ended by us where it `is_late`. */
int sql_process_end(struct sql_process *process, bool is_late);
/* From a thread that lives as long as the server: with it the process ends. Does nothing where one
 * stands there; one that cannot be started is started by who asks. */
void sql_process_keep(void);
void sql_process_stay(const struct sql_process *process);
void sql_process_end_idle(void); /* to be called every now and then */
void sql_process_keep_none(void);

#endif
