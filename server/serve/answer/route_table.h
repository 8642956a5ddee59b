/* SPDX-License-Identifier: Apache-2.0 */
/* What the table of endpoints tells of one. */
#ifndef JVIEWD_SERVE_ANSWER_ROUTE_TABLE_H
#define JVIEWD_SERVE_ANSWER_ROUTE_TABLE_H

#include "serve/serve.h"

/* Does it declare run=, and does its answer change with that run alone? */
bool route_takes_run(const struct route *route);

enum { OFFERS_MAX = 64 };
struct offers { /* by rank: see serve/offers.h */
    struct offer {
        const struct route *route;
        const void *what; /* struct view, ... */
        unsigned rank;
    } items[OFFERS_MAX];
    uint32_t count;
};
void route_views(const struct route_table *table, struct offers *ret);
void route_in_bundle(const struct route_table *table, struct offers *ret);
void route_tools(const struct route_table *table, struct offers *ret);
void route_ahead(const struct route_table *table, struct offers *ret); /* those that share first */

#endif
