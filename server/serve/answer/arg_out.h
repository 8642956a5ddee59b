/* SPDX-License-Identifier: Apache-2.0 */
/* Args and properties with their types: {name, type, value}. */
#ifndef JVIEWD_SERVE_ANSWER_ARG_OUT_H
#define JVIEWD_SERVE_ANSWER_ARG_OUT_H

#include "serve/answer/reply.h"

/* "name", "type", "value": integers exact, quoted digits and JSON as text, bytes as hex. */
void json_put_arg_members(struct json *json, const struct trace *trace, struct arg arg);

#endif
