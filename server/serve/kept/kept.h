/* SPDX-License-Identifier: Apache-2.0 */
/* Tables over large runs are made whole and kept before they are sorted, cut and written.
 *
 *   request --without limit, cursor, sort, format--> stored.h's key --> kept_table.h --> its page
 *                                                     not there: the handler, asked for all rows
 *
 * So a table is computed once, and every order, page and format of it is read. Of tables longer
 * than a page may be, the first rows in their own order are kept; the handler answers the others,
 * and all of a table that is too large to be kept.
 */
#ifndef JVIEWD_SERVE_KEPT_KEPT_H
#define JVIEWD_SERVE_KEPT_KEPT_H

#include "serve/answer/reply.h"

/* Answers a route that is a table, over a run that stored_may. */
MUST_CHECK enum status kept_answer(struct request *req, const struct run_record *run,
                                   struct reply *reply, struct error *err);

#endif
