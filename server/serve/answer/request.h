/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler asks of its request: parameters with their types, the run they name, its traces.
 *
 * Every name and bound was checked against the route's declaration before the handler runs, so a
 * getter of a number cannot fail. What depends on the run (tracks, slices, hosts) is checked here
 * and fails with what there is instead. Traces are held until the reply has been sent.
 */
#ifndef JVIEWD_SERVE_ANSWER_REQUEST_H
#define JVIEWD_SERVE_ANSWER_REQUEST_H

#include "serve/answer/query.h"
#include "serve/serve.h"

enum {
    PAGE_LIMIT_DEFAULT = 50,
    PAGE_LIMIT_MAX = 10000,
    WAIT_MS_DEFAULT = 10000,
    OTHERS_MAX = 4096
};

/* Groups of parameters, to be listed in a route's declaration. */
#define PARAMS_RUN                                                                                 \
    {.name = "run", .kind = PARAM_TEXT, .required = true, .max = 1024},                            \
        {.name = "wait_ms", .kind = PARAM_INTEGER, .min = 0, .max = 60000},                        \
    {                                                                                              \
        .name = "align", .kind = PARAM_WORD, .words = "clocks|collectives"                         \
    }
#define PARAMS_FORMAT                                                                              \
    {                                                                                              \
        .name = "format", .kind = PARAM_WORD, .words = "json|csv|md"                               \
    }
#define PARAM_SORT                                                                                 \
    {                                                                                              \
        .name = "sort", .kind = PARAM_TEXT, .max = 256                                             \
    }
#define PARAMS_PAGE                                                                                \
    {.name = "limit", .kind = PARAM_INTEGER, .min = 1, .max = PAGE_LIMIT_MAX},                     \
    {                                                                                              \
        .name = "cursor", .kind = PARAM_TEXT, .max = 32                                            \
    }
#define PARAMS_WINDOW                                                                              \
    {.name = "start_ps", .kind = PARAM_INTEGER, .min = INT64_MIN, .max = INT64_MAX},               \
    {                                                                                              \
        .name = "end_ps", .kind = PARAM_INTEGER, .min = INT64_MIN, .max = INT64_MAX                \
    }
#define PARAMS_RESTRICTION                                                                         \
    PARAMS_WINDOW, {.name = "host", .kind = PARAM_TEXTS},                                          \
        {.name = "device", .kind = PARAM_INTEGERS, .min = 0, .max = INT32_MAX},                    \
        {.name = "track", .kind = PARAM_TEXTS}, {.name = "step", .kind = PARAM_RANGES},            \
        {.name = "module", .kind = PARAM_TEXT}, {.name = "scope", .kind = PARAM_TEXT},             \
        {.name = "name", .kind = PARAM_TEXT}, {.name = "q", .kind = PARAM_TEXT},                   \
        {.name = "family", .kind = PARAM_TEXT},                                                    \
    {                                                                                              \
        .name = "step_regex", .kind = PARAM_TEXT, .max = 256                                       \
    }

/* Route.c: parses and checks the query. */
MUST_CHECK enum status request_open(struct request *req, const struct route *route,
                                    struct error *err);
const struct route *request_route(const struct request *req);

const struct query *request_query(const struct request *req);
bool request_has(const struct request *req, const char *name);        /* given, and not empty */
struct str request_text(const struct request *req, const char *name); /* "" not given */
int64_t request_integer(const struct request *req, const char *name, int64_t otherwise);
bool request_is(const struct request *req, const char *name, const char *value);
struct str request_header(const struct request *req, struct str name);

/* For paths that name the run themselves. */
void request_name_run(struct request *req, struct str run);
/* For routes that ask several runs: what follows asks of the run of this name, until another one is
 * chosen. Each is held until the reply has been sent. */
void request_choose(struct request *req, struct str run);
/* The run that run= names, in whatever state it is. */
MUST_CHECK enum status request_run(struct request *req, const struct run_record **ret,
                                   struct error *err);
/* Its traces. ERR_NOT_READY where they are not there yet: the request then waits and is tried
 * again; ERR_FORMAT for a run that failed. */
MUST_CHECK enum status request_traces(struct request *req, const struct run_traces **ret,
                                      struct error *err);
/* The same with `others`, at most OTHERS_MAX of them; a note says when there are more. */
MUST_CHECK enum status request_all_traces(struct request *req, const struct run_traces **ret,
                                          struct error *err);
struct alignment; /* analyse/steps/align.h */
/* What the hosts' clocks are apart by, for traces that are there; one for each host. */
const struct alignment *request_alignments(struct request *req);
/* host, device, track, step, window, module, scope, name, q: for traces that are there. */
MUST_CHECK enum status request_restriction(struct request *req, struct restriction *ret,
                                           struct error *err);
/* Is it named, or is none? */
bool host_is_asked(const struct restriction *asked, struct str host);
/* The hull of all hosts in run time, narrowed to start_ps and end_ps where given. */
MUST_CHECK enum status request_window(struct request *req, int64_t *ret_start_ps,
                                      int64_t *ret_end_ps, struct error *err);
/* A comma list of track ids, each once. */
MUST_CHECK enum status request_tracks(struct request *req, const char *param,
                                      struct restriction *ret, struct error *err);
/* limit, cursor, sort. */
MUST_CHECK enum status request_page(struct request *req, struct page *ret, struct error *err);
MUST_CHECK enum status request_track(struct request *req, struct str id, struct track_ref *ret,
                                     struct error *err);
MUST_CHECK enum status request_slice(struct request *req, struct str id, uint32_t *ret_host,
                                     slice_id *ret, struct error *err);
/* "latest", "1 of 2 hosts", ...: what a reply must say because of the run's state. */
const struct answer_note *request_notes(const struct request *req, uint32_t *ret_count);

/* Why a run whose files are all programs and snapshots has no timeline. */
struct str run_no_timeline(const struct run_record *run, struct arena *arena);

/* For replies: "1a2b3c4d.17", "1a2b3c4d-17", the cursor of an ordinal. */
struct str track_text(struct arena *arena, const struct host_trace *host, track_id track);
struct str slice_text(struct arena *arena, const struct host_trace *host, slice_id slice);

/* Route.c and reply.c: what stands behind a failure. */
const struct run_candidates *request_candidates(const struct request *req);
const struct run_record *request_run_known(const struct request *req); /* NULL: not resolved */
/* Was a run asked for by a name that none has? */
bool request_named_no_run(const struct request *req);
void request_wait(struct request *req);     /* for the run that was not ready */
void request_wait_not(struct request *req); /* it is answered as if it had been waited for */
/* Is there a run to wait for, and may waiting help? */
bool request_should_wait(const struct request *req);
/* Was anything read that is damaged? Nothing that was made of it may be sent or kept. */
bool request_damaged(const struct request *req);
/* Was an index made anew for this request? */
bool request_saw_remade(const struct request *req);
/* What is damaged goes, so that it is made again. ERR_NOT_READY: the request is to wait for that;
 * ERR_FORMAT where nothing is left to make it from. */
MUST_CHECK enum status request_drop_damaged(struct request *req, struct error *err);
/* Reads all that the request holds, before any of it is sent in pieces. */
void request_check_held(const struct request *req, bool files);
/* Lets go of the traces; forgets the run, so that the next try sees its new state. */
void request_release(struct request_state *state);

#endif
