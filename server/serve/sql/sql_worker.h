/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd sql-worker`: a process that answers queries about the runs it is told of. */
#ifndef JVIEWD_SERVE_SQL_SQL_WORKER_H
#define JVIEWD_SERVE_SQL_SQL_WORKER_H

/* Reads from `in` what it is told of the runs, then one query after the other, each part behind its
 * size in 8 bytes; answers each on `out`: the head's line, then the body. Ends with the input, and
 * after an answer that does not say it stays. Its views are those of `routes`.
 *
 *   {"status":200,"type":"application/json","bytes":17,"stays":true}
 *   {"run":...
 */
struct route_table;
int sql_worker(const struct route_table *routes, int in, int out);

#endif
