/* `jviewd sql-worker`: a process that answers one query and ends. */
#ifndef JVIEWD_SERVE_SQL_WORKER_H
#define JVIEWD_SERVE_SQL_WORKER_H

/* Reads the job from `in` to its end, answers on `out`: the head's line, then the body.
 *
 *   {"status":200,"type":"application/json"}
 *   {"run":...
 */
int sql_worker(int in, int out);

#endif
