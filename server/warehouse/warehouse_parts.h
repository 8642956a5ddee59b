/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of warehouse/: see warehouse.h.
 *
 *   warehouse.c          the verbs and their flags
 *   warehouse_plan.c     runs, and which part each belongs to
 *   warehouse_read.c     runs are read, and what was made of them is shared
 *   warehouse_export.c   run by run, table by table
 *   warehouse_fleet.c    the tables that people ask first
 *   warehouse_place.c    where files lie: a directory
 *   warehouse_bucket.c   or a bucket
 *   warehouse_parquet.c  the process that writes Parquet
 */
#ifndef JVIEWD_WAREHOUSE_WAREHOUSE_PARTS_H
#define JVIEWD_WAREHOUSE_WAREHOUSE_PARTS_H

#include "app/rooms.h"
#include "serve/tables/tables.h"
#include "warehouse/warehouse.h"

enum { PARTS_MAX = 100000, RUNS_NAMED_MAX = 100000 };

struct wishes { /* what was asked */
    struct texts roots;
    const char *to, *format, *tables, *cache_dir, *runs, *index_store;
    bool schema, replace, follow_symlinks, help;
    int64_t parts; /* 0: not said */
    int64_t limit; /* rows of a table; 0: not said */
    int64_t part;  /* -1: all of them */
};

/* A run as a plan knows it. */
struct planned {
    struct str id, name;
    uint64_t bytes;
    uint32_t part;
};
/* Every run that is there, by id: largest first into the part that has least, so that any two
 * who look at the same files plan the same. */
MUST_CHECK enum status plan_runs(struct app *app, uint32_t parts, struct arena *arena,
                                 struct planned **ret, uint32_t *ret_count, struct error *err);
/* "I/N", or "I": 1 to N. */
bool plan_part_read(struct str text, struct wishes *ret);

/* Is it of the part, or among the runs, that was asked for? */
bool plan_is_mine(const struct wishes *wishes, const struct planned *run);
/* "A,B" names it. */
bool list_names(struct str id, const char *list);
/* Has the next ones read while something is done with the first. */
void runs_read_ahead(struct app *app, const struct planned *runs, uint32_t count);
/* Waits until it is read, whatever comes of it; its index goes into the store, where there is one:
 * *ret_shared, which may be NULL: all of it is there. ERR_NOT_FOUND: no such run any more. */
MUST_CHECK enum status run_read(struct app *app, struct str id, struct arena *arena,
                                struct run_record *ret, bool *ret_shared, struct error *err);
bool run_was_indexed(const struct run_record *run);

enum { PLACE_NAME_SIZE = 256 };

/* Where files go: a directory or a bucket. Names are relative: "ops/day=2026-11-21/x.parquet". */
struct place;
/* `making`: a directory of this machine where files for a bucket are made. */
MUST_CHECK enum status place_open(const char *to, const char *making, struct place **ret,
                                  struct error *err);
void place_close(struct place *place);
/* A small file of the warehouse's own, "_jviewd...": no bytes where there is none. */
MUST_CHECK enum status place_get(struct place *place, const char *name, struct arena *arena,
                                 struct bytes *ret, struct error *err);
struct place_file { /* without a name, until it is put */
    int fd;
    char path[64]; /* under which other processes of this user open it */
};
MUST_CHECK enum status place_make(struct place *place, struct place_file *ret, struct error *err);
void place_drop(struct place_file *file);
/* All that was written up to here outlives a loss of power. */
MUST_CHECK enum status place_sync(struct place *place, struct error *err);
struct place_put {
    struct place_file file;
    char name[PLACE_NAME_SIZE];
    bool replaces; /* else a file of that name stays as it is */
};
/* Gives each its name, and closes all; where one fails, others may have theirs. */
MUST_CHECK enum status place_put(struct place *place, struct place_put *puts, uint32_t count,
                                 struct error *err);

/* Where there is one. */
void place_remove(struct place *place, const char *name);

/* warehouse_bucket.c: the same of a bucket. */
struct place_bucket;
MUST_CHECK enum status place_bucket_open(const char *to, struct place_bucket **ret,
                                         struct error *err);
void place_bucket_close(struct place_bucket *bucket); /* takes NULL */
MUST_CHECK enum status place_bucket_get(struct place_bucket *bucket, const char *name,
                                        struct arena *arena, struct bytes *ret, struct error *err);
MUST_CHECK enum status place_bucket_put(struct place_bucket *bucket, const struct place_put *puts,
                                        uint32_t count, struct error *err);
void place_bucket_remove(struct place_bucket *bucket, const char *name);

/* The process that turns an Arrow file into a Parquet file. */
struct parquet;
MUST_CHECK enum status parquet_start(struct parquet **ret, struct error *err);
MUST_CHECK enum status parquet_write(struct parquet *parquet, const struct place_file *from,
                                     const struct place_file *to, struct error *err);
void parquet_end(struct parquet *parquet); /* takes NULL */

/* A `use` of app_with_store; data: struct wishes. The exit code. */
int export_runs(struct app *app, const void *data);
int print_plan(struct app *app, const void *data);
int index_runs(struct app *app, const void *data);
int print_fleet(struct app *app, const void *data);

#endif
