/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of a request or a reply, by name; names are equal whatever their case. */
#ifndef JVIEWD_SERVE_ANSWER_HEADER_H
#define JVIEWD_SERVE_ANSWER_HEADER_H

#include "serve/serve.h"

/* The value of the last header of that name; "" when there is none. */
struct str header_get(const struct header *headers, uint32_t count, struct str name);
/* May it be a header's name? */
bool header_is_token(struct str text);

#endif
