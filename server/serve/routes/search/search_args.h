/* SPDX-License-Identifier: Apache-2.0 */
/* Slices by what their args hold: key = value, or a part of any text. */
#ifndef JVIEWD_SERVE_ROUTES_SEARCH_SEARCH_ARGS_H
#define JVIEWD_SERVE_ROUTES_SEARCH_SEARCH_ARGS_H

#include "serve/routes/search/search_terms.h"
#include "trace/trace.h"

/* Sets the bit of every slice whose event or type has key = value. */
void search_args(const struct trace *trace, struct search_arg arg, uint64_t *slices,
                 struct arena *arena);
/* Sets the bit of every slice one of whose args, or of its type's, is a text that holds the
 * part. */
void search_arg_texts(const struct trace *trace, struct str part, uint64_t *slices,
                      struct arena *arena);

#endif
