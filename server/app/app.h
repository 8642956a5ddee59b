/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the rooms in order, closes them in reverse, and says how it went: a process's exit code. */
#ifndef JVIEWD_APP_APP_H
#define JVIEWD_APP_APP_H

#include "app/options.h"

/* Serves until a signal. argv[0] is skipped. */
int app_serve(int argc, char **argv);
/* One of the readers' verbs: argv[0] is its name. */
int app_command(int argc, char **argv);

/* `jviewd complete WORD...`: what fits an unfinished command line (complete.h). */
int app_complete(int argc, char **argv);

/* `jviewd open [--latest] [--ui perfetto] [RUN|PATH]`: a browser at a server that runs already,
 * else at one started here; or one trace handed to ui.perfetto.dev from 127.0.0.1:9001. */
int app_open(int argc, char **argv);

/* app_tell.c: what the operator reads and sees. */
void tell_start(const struct options *options, const char *cache_dir, int port, const char *launch);
/* Where this server is reached: at most 1,024 bytes. */
void address_of(const struct options *options, int port, const char *launch, char ret[1024]);
void open_url(const char *url);
/* Starts a browser at options->page. */
void open_browser(const struct options *options, int port, const char *launch);
/* Runs XProf or TensorBoard beside us, or says how to get them. */
void start_tensorboard(const char *profile_dir);
/* With the libraries, and what is known against one of them. */
void tell_version(bool verbose);
/* "41.2 MB" */
struct str size_text(uint64_t bytes, struct arena *arena);
/* "30d", "12h", "90m" -> ns; false: no such text. */
bool age_read(struct str text, int64_t *ret_ns);

#endif
