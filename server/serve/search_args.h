/* Slices by what their args hold: `key=value`. */
#ifndef JVIEWD_SERVE_SEARCH_ARGS_H
#define JVIEWD_SERVE_SEARCH_ARGS_H

#include "serve/pick.h"

/* "hlo_op=dot.3", "arg.bytes=4096". False: `q` has no such form. */
bool search_split(struct str q, struct str *ret_key, struct str *ret_value);
/* Offers every slice of the host whose event or type has key = value. */
void search_args(struct pick *pick, uint32_t host, struct str key, struct str value,
                 struct arena *arena);

#endif
