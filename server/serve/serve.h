/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and replies, without sockets.
 *
 *   http.c    CivetWeb -> gate -> auth -> struct request
 *   dispatch  path -> parameters checked -> handler -> ETag, problem+json
 *   RESOURCE.c  one file each: what it needs, what it makes, how it answers
 *   http.c    struct reply -> encoding -> one write
 *
 * A handler is a sentence. It runs on a pool thread with a large stack. Only http.c knows
 * CivetWeb; the command line and the tests call `serve_request` as http.c does, so every way in
 * has the same answers.
 *
 * A new endpoint is one file with its `struct route` and one line in route.c. What else shows it is
 * declared there, too: see offers.h.
 */
#ifndef JVIEWD_SERVE_SERVE_H
#define JVIEWD_SERVE_SERVE_H

#include "analyse/analyse.h"
#include "base/pack/pack.h"
#include "base/queue.h"
#include "serve/offers.h"
#include "store/cache.h"
#include "store/catalog.h"
#include "store/uploads.h"

struct job {                               /* what /api/jobs tells */
    struct str run, run_name, file, state; /* queued, indexing */
    double progress;
    uint64_t bytes;
};

struct unsettled {     /* what is asked for, or may become a run, and is not read yet */
    uint32_t unlisted; /* files that may become runs, or not: their content tells */
    int64_t newest_ns; /* of these the newest */
    struct str file;   /* one that is waited for; "" none */
    bool only_resting; /* it is being written, or was just now; none is being read */
};

struct route_table;
struct services { /* what handlers may reach; filled by app.c. Function pointers: the ingest's */
    struct catalog *catalog;
    struct cache *cache;
    struct user *user;       /* store/user.h; NULL: none */
    const char *profile_dir; /* the first that is shown */
    const char *base_path;   /* "" or "/proxy/8080" */
    bool perfetto_cors;
    const struct str *source_roots; /* directories whose sources may be shown; absolute */
    uint32_t source_root_count;
    void (*perfetto_fetched)(void *ingest); /* a /perfetto/ trace was sent whole; may be NULL */
    void *ingest;
    /* Moves a run to the head of the queue and waits until it is ready or the time is over. Also
     * called for a ready run whose segment is no longer in the cache: then it is made again. */
    enum status (*wait)(void *ingest, struct str run_id, int64_t wait_ms, struct error *err);
    enum status (*jobs)(void *ingest, struct arena *arena, struct job **ret, uint32_t *ret_count);
    void (*unsettled)(void *ingest, struct arena *arena, struct unsettled *ret); /* may be NULL */
    /* A file of a run, opened below its profile directory and nowhere else; NULL: not offered. */
    enum status (*open_file)(void *ingest, struct str run_id, struct str path, int *ret_fd,
                             uint64_t *ret_bytes, struct error *err);
    struct block_sum_cache
        *sums; /* analyse/scan/block_sums.h; NULL: windows are walked slice by slice */
    struct found_steps *found_steps; /* serve/kept/found_steps.h; NULL: they are found each time */
    struct uploads *uploads;         /* files that browsers bring; NULL: none are taken, because: */
    const char *uploads_refusal;
    /* What a file is, without reading it whole; ERR_UNSUPPORTED with the reason: no profile. */
    enum status (*identify)(void *ingest, const char *path, struct arena *arena,
                            struct str *ret_format, struct error *err);
    const struct route_table *routes;
    struct capture_session
        *captures; /* capture/capture_session.h; NULL: this server records nothing */
    const struct str *embed_origins; /* pages of these origins may frame the embedded view */
    uint32_t embed_origin_count;
};

struct coming { /* a body that the handler reads itself */
    void *data;
    int (*read)(void *data, void *at, size_t count); /* as read(2) */
    int64_t bytes;                                   /* as announced; -1: until it ends */
};

struct header {
    struct str name, value;
};

struct request {
    struct str method, path; /* below the base path, decoded, canonical */
    struct str query;        /* raw */
    const struct header *headers;
    uint32_t header_count;
    struct bytes body;
    struct coming *coming; /* instead of `body`, where the route takes a file; else NULL */
    struct arena *arena;   /* of this request; outlives the reply */
    const struct services *services;
    bool whole;              /* rather waits than hears of some of a run's hosts */
    bool settled;            /* ... and than hears of files that are still being written */
    struct shared *shared;   /* serve/kept/shared.h: what was analysed for others; NULL: for none */
    struct keeping *keeping; /* kept.c's own: all rows are made, to be kept; NULL: the page alone */
    void (*keep)(const struct request *req, struct str head,
                 const struct table *table); /* takes them, where `keeping` is set */
    struct server *server; /* http.c's own: counters, pool; NULL for callers without sockets */
    struct request_state *state; /* request.c's own: parsed parameters, the traces it holds */
};

enum { REPLY_HEADERS_MAX = 16 };

struct reply {
    int status;
    const char *type; /* Content-Type; NULL: no body */
    struct text body;
    struct bytes borrowed; /* set: the body instead of `body`; static, or in the request's arena */
    struct header headers[REPLY_HEADERS_MAX];
    uint32_t header_count;
    struct str frame_ancestors; /* who may frame it, in the words of CSP; "" nobody */
    /* Set: the body comes piece by piece from here (exports, event streams) after the head. */
    enum status (*stream)(void *data, pack_write *write, void *to, struct error *err);
    void *stream_data;
    bool stream_sleeps; /* an event stream: mostly waits, so it must not hold a pool thread */
    bool stream_copies; /* what a file holds, as it is: nothing to compute on a pool thread */
    void (*stream_sent)(void *data); /* all of it was sent; may be NULL */
    struct request_state *held;      /* until reply_free: what a stream still reads */
};

typedef enum status handler(struct request *req, struct reply *reply, struct error *err);

enum route_age { AGE_LIVE, AGE_CATALOG, AGE_BUILD, AGE_NONE };

struct route {
    const char *method, *path; /* a path that ends in a star takes everything below */
    handler *handle;
    bool light;     /* needs no pool thread: answers from memory at once */
    bool heavy;     /* computes over a whole run: a pool of its own, so that tiles need not wait */
    bool apart;     /* has others do the work, and waits for them: a process, other routes */
    bool slices;    /* asks nothing of attributions, which then stay closed */
    bool skews;     /* asks them for how hosts' clocks differ alone: closed where there is one */
    bool is_table;  /* rows to sort and cut: all of them are kept, for any page, order and format */
    bool open;      /* answers without a token too: health, the launch link */
    bool any_query; /* the page: its query is the UI's own */
    bool takes_file;    /* reads its body itself */
    enum route_age age; /* what the answer changes with, where no run is asked for; AGE_NONE: with
                           more than any tag tells, so nobody keeps it */
    const struct param *params; /* see request.h; ends with a nameless one. NULL: takes none */
    /* Where else it is found (serve/offers.h); NULL: nowhere. */
    const struct view *views;
    const struct ahead *ahead;
    const struct in_bundle *in_bundle;
    const struct verb *verb; /* one alone */
    const struct tool *tools;
    /* What it makes of a run before anybody asks, and keeps; NULL: nothing but those answers. */
    void (*prepare)(const struct services *services, struct str run_id);
};

struct route_table { /* every endpoint; route.c on top lists them */
    const struct route *const *items;
    uint32_t count;
};

/* Takes the best encoding that the client accepts, for bodies of 16 KiB and more. */
void reply_encode(const struct request *req, struct reply *reply);
/* Frees the body and lets go of what the handler held. */
void reply_free(struct reply *reply);

#endif
