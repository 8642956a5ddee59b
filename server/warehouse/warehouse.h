/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd export PATH... --to DIR`: the tables of every run as files that other engines read.
 *
 *   runs ──plan──> part I of N ──/api/table──> file without a name ──> its name, when it is whole
 *
 *   DIR/_jviewd.json                                     which version of the tables lies here
 *       ops/day=2026-11-21/c09f....parquet               a file a run, by its content
 *       steps/day=2026-11-21/c09f....parquet
 *       _jviewd/parquet/c0/c09f...                       which tables of that run were written;
 *                                                        one without rows has no file
 *
 * A file is made without a name and linked when it is whole and on disk, and never instead of one
 * that is there: whoever is killed leaves nothing, and two that write the same content harm nobody.
 * A run that could not be read has its id for a name, and rows in `runs` and `files` alone.
 */
#ifndef JVIEWD_WAREHOUSE_WAREHOUSE_H
#define JVIEWD_WAREHOUSE_WAREHOUSE_H

#include <stdbool.h>

/* argv[0] is the verb. */
int export_main(int argc, char **argv);
/* `jviewd plan PATH... --parts N`: which runs each of N workers should take. */
int plan_main(int argc, char **argv);

/* `jviewd fleet PATH...`: slowest ops, latest hosts, jobs that wait, over all runs. */
int fleet_main(int argc, char **argv);
/* `jviewd index PATH... --index-store DIR`: every run is indexed into a store that others share. */
bool index_asks_store(int argc, char **argv);
int index_store_main(int argc, char **argv);

#endif
