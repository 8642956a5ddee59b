/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler answers with. */
#ifndef JVIEWD_SERVE_ANSWER_REPLY_H
#define JVIEWD_SERVE_ANSWER_REPLY_H

#include "serve/answer/json_out.h"
#include "serve/answer/request.h"

#define TYPE_JSON "application/json"
#define TYPE_PROBLEM "application/problem+json"
#define TYPE_TEXT "text/plain; charset=utf-8"

void reply_header(struct reply *reply, struct str name, struct str value);
struct str reply_header_get(const struct reply *reply, struct str name); /* "" none */
/* What is sent: `borrowed` where it is set, else `body`. */
struct bytes reply_bytes(const struct reply *reply);
/* A 200 of JSON; the caller closes what it opens. */
struct json reply_json(struct reply *reply);

/* problem+json: {type, title, status, detail}; replaces whatever was begun. */
void reply_problem(struct reply *reply, int status, const char *type, struct str detail);
/* The one table from failures to HTTP; adds nearest, candidates, progress where they are known. */
void reply_failure(const struct request *req, struct reply *reply, const struct error *err);
const char *http_reason(int status);

/* Does Accept-Encoding take it? */
bool encoding_accepted(const struct request *req, struct str coding);

/* Members that many replies share. */
void json_put_run(struct json *json, const struct run_traces *run); /* "run": {id, name} */
void json_put_notes(struct json *json, const struct answer_note *const *lists,
                    const uint32_t *counts, uint32_t list_count); /* "notes": [...] */
void json_put_next(struct json *json, uint64_t next);             /* "next": "n50" or null */
/* Of step=counted, which steps these are: "counted": "2-11", null where none count. */
void json_put_counted(struct json *json, const struct request *req,
                      const struct restriction *restriction);
/* "notes" with those of the run's state alone. */
void json_put_request_notes(struct json *json, const struct request *req);

#endif
