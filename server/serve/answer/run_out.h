/* SPDX-License-Identifier: Apache-2.0 */
/* A run as /api/runs and /api/run tell it. */
#ifndef JVIEWD_SERVE_ANSWER_RUN_OUT_H
#define JVIEWD_SERVE_ANSWER_RUN_OUT_H

#include "serve/answer/reply.h"

/* Everything but hosts, which the two tell differently; with "reasons". */
void json_put_run_members(struct json *json, struct request *req, const struct run_record *run);
void json_put_host_names(struct json *json, const struct run_record *run); /* "hosts": ["a"] */
bool run_was_read(const struct run_record *run); /* its files' contents are known */
/* "2026-11-21T09:30:00Z"; "" where the files hold no wall clock. */
struct str run_started_at(struct arena *arena, const struct run_record *run);
struct str unix_ns_iso(struct arena *arena, int64_t unix_ns);

#endif
