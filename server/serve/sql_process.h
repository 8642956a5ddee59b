/* Processes that answer a query of SQL each.
 *
 *   process_take   the one that stands ready, else one started now
 *   process_keep   another one stands ready from then on, for who asks next
 *
 *   ready     start, rehearse |  waits  | job -> answer -> end
 *   query 1   start           | job -> answer -> end
 *
 * A process answers one query and ends, so what a query does to it is gone with it. The one that
 * stands ready has the limits of all (sql_worker.c), knows of no run yet and holds no file.
 */
#ifndef JVIEWD_SERVE_SQL_PROCESS_H
#define JVIEWD_SERVE_SQL_PROCESS_H

#include <sys/types.h>

#include "base/error.h"

struct sql_process {
    pid_t pid;
    int to, from; /* our ends; -1 once closed */
};

MUST_CHECK enum status sql_process_take(struct sql_process *ret, struct error *err);
void sql_process_close(int *end);
/* How it ended, as waitpid says it; ended by us where it `is_late`. */
int sql_process_end(struct sql_process *process, bool is_late);
/* From a thread that lives as long as the server: with it the process ends. Does nothing where one
 * stands there; one that cannot be started is started by who asks. */
void sql_process_keep(void);
void sql_process_keep_none(void);

#endif
