/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs' files offer verbs.c: how each prints. */
#ifndef JVIEWD_CLI_VERBS_H
#define JVIEWD_CLI_VERBS_H

#include "cli/cli.h"

/* Like a table, once it is known what is a run. */
int print_list(const struct cli_call *call, const struct services *services);
int print_trend(const struct cli_call *call, const struct services *services);
/* Until nothing is left of what was to be read when the directory was found. */
void wait_for_jobs(const struct services *services);
/* Reads the runs of that state, as long as the time lasts, and those in buckets only where ret_far
 * is NULL: else it says how many that are. One that fails says so in its row. How many others are
 * left. */
uint32_t read_runs(const struct services *services, const char *state, int64_t most_ms,
                   uint32_t *ret_far);
int print_table(const struct cli_call *call, const struct services *services);
int change_baseline(const struct cli_call *call, const struct services *services);
int change_notes(const struct cli_call *call, const struct services *services);
/* Over all runs, once they were read. */
int print_sql(const struct cli_call *call, const struct services *services);
/* Until stdin ends. */
int run_mcp(const struct cli_call *call, const struct services *services);
int print_notes(const struct cli_call *call, const struct services *services);
int print_check(const struct cli_call *call, const struct services *services);
int print_diff(const struct cli_call *call, const struct services *services);
int print_whatif(const struct cli_call *call, const struct services *services);
/* A table in Markdown, laid out for the terminal that stdout is. */
void print_laid_out(struct str markdown, bool wide);
int print_overview(const struct cli_call *call, const struct services *services);
struct json_t; /* of Jansson */
/* Numbered sentences with what they win and their remedy, and where asked for their proof. */
void put_findings(const struct json_t *findings, bool with_evidence);
int print_findings(const struct cli_call *call, const struct services *services);
int print_flame(const struct cli_call *call, const struct services *services);
/* Asks `call` at another endpoint; the answer goes into a file that appears whole or not at all,
 * whose name is told on stderr. */
int write_file(const struct cli_call *call, const struct services *services, const char *path,
               struct str format, const char *target);
/* The answer of another endpoint, to a descriptor. */
int write_answer(const struct cli_call *call, const struct services *services, const char *path,
                 struct str format, int fd);
/* The same into an object of a bucket. */
int write_place(const struct cli_call *call, const struct services *services, const char *path,
                struct str format, const char *target);
int write_bundle(const struct cli_call *call, const struct services *services);
int write_extract(const struct cli_call *call, const struct services *services);
int print_completion(const struct cli_call *call, const struct services *services);

#endif
