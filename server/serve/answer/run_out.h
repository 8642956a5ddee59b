/* SPDX-License-Identifier: Apache-2.0 */
/* A run as /api/runs and /api/run tell it. */
#ifndef JVIEWD_SERVE_ANSWER_RUN_OUT_H
#define JVIEWD_SERVE_ANSWER_RUN_OUT_H

#include "serve/answer/reply.h"

/* The columns of these rows as tables have them: "#count" whole numbers, "%share" others. */
#define RUN_COLUMNS                                                                                \
    "id content_id name dir state %progress error started_at epoch_ns modified_at #duration_ps "   \
    "hosts #device_count device_kind framework formats #file_count #file_bytes #slice_count "      \
    "#step_count #step_median_ps badges"
#define RUN_FILE_COLUMNS "path host format #bytes state part error"
#define RUN_METRIC_COLUMNS "#run_step metric %value #value_exact unit"

/* Everything but hosts, which the two tell differently; with "reasons". */
void json_put_run_members(struct json *json, struct request *req, const struct run_record *run);
void json_put_host_names(struct json *json, const struct run_record *run); /* "hosts": ["a"] */
/* Of one of its files: inside of an open object. */
void json_put_run_file(struct json *json, const struct run_file *file);
bool run_was_read(const struct run_record *run); /* its files' contents are known */
/* "2026-11-21T09:30:00Z"; "" where the files hold no wall clock. */
struct str run_started_at(struct arena *arena, const struct run_record *run);
struct str unix_ns_iso(struct arena *arena, int64_t unix_ns);

#endif
