/* SPDX-License-Identifier: Apache-2.0 */
/* The route of a table that takes a restriction and by=, and sums time. */
#ifndef JVIEWD_SERVE_ANSWER_TABLE_BY_H
#define JVIEWD_SERVE_ANSWER_TABLE_BY_H

#include "serve/answer/table_out.h"

typedef enum status table_by(struct request *req, const struct run_traces *run,
                             const struct restriction *restriction, const struct page *page,
                             struct table *ret, struct error *err);
/* Asks for the page that the request wants and answers with it. */
MUST_CHECK enum status reply_table_by(struct request *req, struct reply *reply, table_by *make,
                                      struct error *err);

#endif
