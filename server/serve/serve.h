/* Requests and replies, without sockets.
 *
 * A handler is a sentence: what it needs, what it makes, how it answers. It runs on a pool thread
 * with a large stack. Only http.c knows CivetWeb; the command line and the tests call
 * `serve_request` as http.c does, so every way in has the same answers.
 *
 * A new endpoint is one file with its `struct route` and one line in route.c.
 */
#ifndef JVIEWD_SERVE_SERVE_H
#define JVIEWD_SERVE_SERVE_H

#include "analyse/analyse.h"
#include "base/pack.h"
#include "base/queue.h"
#include "store/cache.h"
#include "store/catalog.h"

struct job {                               /* what /api/jobs tells */
    struct str run, run_name, file, state; /* queued, indexing */
    double progress;
    uint64_t bytes;
};

struct services { /* what handlers may reach; filled by app.c. Function pointers: the ingest's */
    struct catalog *catalog;
    struct cache *cache;
    const char *profile_dir; /* as shown */
    const char *base_path;   /* "" or "/proxy/8080" */
    bool perfetto_cors;
    void *ingest;
    /* Moves a run to the head of the queue and waits until it is ready or the time is over. */
    enum status (*wait)(void *ingest, struct str run_id, int64_t wait_ms, struct error *err);
    enum status (*jobs)(void *ingest, struct arena *arena, struct job **ret, uint32_t *ret_count);
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
    struct arena *arena; /* of this request */
    const struct services *services;
    struct request_state *state; /* parsed parameters, the traces it holds */
};

struct reply {
    int status;
    const char *type; /* Content-Type */
    struct text body;
    struct header headers[16];
    uint32_t header_count;
    /* Set: the body comes piece by piece from here (exports, event streams) after the head. */
    enum status (*stream)(void *data, pack_write *write, void *to, struct error *err);
    void *stream_data;
};

typedef enum status handler(struct request *req, struct reply *reply, struct error *err);

struct route {
    const char *method, *path;
    handler *handle;
    bool light; /* needs no pool thread: answers from memory at once */
};

extern const struct route *const routes[];
extern const uint32_t route_count;

/* Routes, handles, turns a failure into problem+json, sets ETag. Releases what the handler held. */
void serve_request(struct request *req, struct reply *reply);
void reply_free(struct reply *reply);

#endif
