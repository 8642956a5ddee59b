/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as JSON: the same in /api/findings and in the overview. */
#ifndef JVIEWD_SERVE_ANSWER_FINDINGS_OUT_H
#define JVIEWD_SERVE_ANSWER_FINDINGS_OUT_H

#include "analyse/findings/findings.h"
#include "serve/answer/reply.h"

/* {...},{...}: the rows of `table` (of findings_table), inside of an open list. */
void json_put_findings(struct json *json, const struct run_traces *run,
                       const struct findings *findings, const struct table *table);

#endif
