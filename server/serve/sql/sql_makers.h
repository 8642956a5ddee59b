/* The tables behind the views: each of a whole run, with all its rows. */
#ifndef JVIEWD_SERVE_SQL_SQL_MAKERS_H
#define JVIEWD_SERVE_SQL_SQL_MAKERS_H

#include "analyse/analyse.h"

typedef enum status sql_make_view(const struct run_traces *run, const struct page *page,
                                  struct arena *arena, struct table *ret, struct error *err);
sql_make_view sql_make_ops;
sql_make_view sql_make_names;
sql_make_view sql_make_scopes;
sql_make_view sql_make_modules;
sql_make_view sql_make_steps;
sql_make_view sql_make_gaps;
sql_make_view sql_make_hosts;
sql_make_view sql_make_kernels;
sql_make_view sql_make_roofline;
sql_make_view sql_make_collectives;
sql_make_view sql_make_compiles;
sql_make_view sql_make_transfers;
sql_make_view sql_make_memory;
sql_make_view sql_make_tracks;

#endif
