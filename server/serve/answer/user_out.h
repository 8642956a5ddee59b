/* SPDX-License-Identifier: Apache-2.0 */
/* What people said of runs, as routes ask and tell it. */
#ifndef JVIEWD_SERVE_ANSWER_USER_OUT_H
#define JVIEWD_SERVE_ANSWER_USER_OUT_H

#include "serve/answer/reply.h"

/* The content id of the run that is named: what notes and baselines hang on. Waits for its
 * indexing. */
MUST_CHECK enum status request_content(struct request *req, struct str run,
                                       const struct run_record **ret, struct error *err);
/* The run of a content, NULL: none is at hand. */
const struct run_record *run_of_content(struct request *req, struct str content_id);
/* Why notes and baselines cannot be written, as a list for json_put_notes. */
const struct answer_note *user_answer_notes(struct request *req, uint32_t *ret_count);

#endif
