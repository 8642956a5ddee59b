/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the app: what app.c and app_open.c share. */
#ifndef JVIEWD_APP_ROOMS_H
#define JVIEWD_APP_ROOMS_H

#include <signal.h>

#include "app/app.h"
#include "serve/serve.h"
#include "store/shared/index_store.h"

struct app { /* the rooms that are open */
    struct arena *arena;
    struct options options;
    struct texts roots;   /* absolute; that of uploads stands last */
    struct str *places;   /* of each root: as it was given, where it lies in the network; else "" */
    uint32_t given_count; /* of roots: without that of uploads */
    struct cache *cache;
    struct str cache_trouble;  /* why it is a temporary one; "" it is the one asked for */
    struct index_store *store; /* NULL: none is shared */
    struct catalog *catalog;
    struct user *user;
    struct ingest *ingest;
    struct uploads *uploads; /* NULL: none are taken, because: */
    const char *uploads_refusal;
    struct capture_bucket *capture_bucket; /* NULL: captures go to a directory */
    struct capture_session *captures;      /* NULL: not allowed, or no server */
    struct services services;
};

/* Says why on stderr; the exit code for it. */
int app_failed(const struct error *err);
/* What names a directory for good, whether or not it is there yet. */
struct str app_absolute(struct str given, struct arena *arena);
/* app_uploads.c: whether files from browsers are taken, and where they go. Before the ingest. */
void app_open_uploads(struct app *app);
/* ERR_INVALID for an --embed-origin that is none. */
MUST_CHECK enum status app_check_embed(const struct texts *origins, struct error *err);
/* app_first.c: waits for a signal, and says on the terminal what a first look found wrong. */
int app_wait_for_signal(const struct app *app, const sigset_t *signals);
/* app_open.c: whether a server shows these roots already; then its address is told, and opened
 * where that was asked for. */
bool app_use_running(const struct options *options, struct arena *arena);
/* SIGTERM, SIGINT and SIGHUP are waited for, in no thread handled. */
void app_block_signals(sigset_t *ret);
/* Cache, catalog, ingest: what every command needs. `use` is what is done while they are open. */
int app_with_store(struct app *app, bool on_demand, int (*use)(struct app *app, const void *data),
                   const void *data);
/* A `use`: `data` are the signals that end it. */
int app_serve_until_signal(struct app *app, const void *data);

#endif
