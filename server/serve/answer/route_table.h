/* What the table of endpoints tells of one. */
#ifndef JVIEWD_SERVE_ANSWER_ROUTE_TABLE_H
#define JVIEWD_SERVE_ANSWER_ROUTE_TABLE_H

#include "serve/serve.h"

/* Does it declare run=, and does its answer change with that run alone? */
bool route_takes_run(const struct route *route);
/* The one that answers GET of exactly this path; NULL: there is none. */
const struct route *route_of_path(const struct route_table *table, const char *path);

#endif
