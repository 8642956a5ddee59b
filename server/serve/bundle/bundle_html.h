/* SPDX-License-Identifier: Apache-2.0 */
/* A run as one page that stands alone: the UI's own views, with the answers that they ask for
 * inside.
 *
 *   bundle.html of web/   script, style, policy     made when the program is built
 *   <script id="answers"> {"run", "program", "answers": {question: {status, body}}, "tiles",
 *                          "reduced"}
 *
 * Below 5 MB whatever the run: tables have their first rows, the timeline its coarse levels, and
 * the page says so. Every number is of the endpoint that the server answers by.
 */
#ifndef JVIEWD_SERVE_BUNDLE_BUNDLE_HTML_H
#define JVIEWD_SERVE_BUNDLE_BUNDLE_HTML_H

#include "serve/answer/request.h"

MUST_CHECK enum status bundle_html(struct request *req, const struct run_record *run,
                                   const struct run_traces *traces, struct reply *reply,
                                   struct error *err);

#endif
