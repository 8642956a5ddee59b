/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a POST: one flat JSON object whose members are known by name and type.
 *
 *   {"name": "main", "run": "step_500", "start_ps": 1000}
 *
 * A whole number may come as the text of its digits. A member that is null is as not given; one
 * that nobody asked for is refused by its name.
 */
#ifndef JVIEWD_SERVE_ANSWER_BODY_H
#define JVIEWD_SERVE_ANSWER_BODY_H

#include "serve/serve.h"

struct body_member {
    const char *name;
    bool required;
    struct str *text; /* one of the two is where the value goes, in the request's arena */
    int64_t *integer;
    bool *given; /* may be NULL */
};

MUST_CHECK enum status body_read(struct request *req, const struct body_member *members,
                                 uint32_t count, struct error *err);

#endif
