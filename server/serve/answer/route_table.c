/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up an endpoint, what its answer depends on, and what the table offers elsewhere. */
#include "serve/answer/route_table.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

#include "serve/answer/query.h"
#include "serve/tool.h"

bool route_takes_run(const struct route *route)
{
    if (route->age == AGE_CATALOG || route->age == AGE_NONE || strcmp(route->method, "GET") != 0)
        return false; /* run= is not all that its answer stands on */
    for (const struct param *param = route->params; param != NULL && param->name != NULL; param++) {
        if (strcmp(param->name, "run") == 0)
            return true;
    }
    return false;
}

/* Behind all that stand before it, and those of its own rank. */
static void add(struct offers *offers, const struct route *route, const void *what, unsigned rank)
{
    uint32_t at = offers->count++;

    assert(at < COUNT(offers->items));
    rank = rank == 0 ? UINT_MAX : rank;
    for (; at > 0 && offers->items[at - 1].rank > rank; at--)
        offers->items[at] = offers->items[at - 1];
    offers->items[at] = (struct offer){route, what, rank};
}

void route_views(const struct route_table *table, struct offers *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct view *view = table->items[i]->views;

        for (; view != NULL && view->name != NULL; view++)
            add(ret, table->items[i], view, view->rank);
    }
}

void route_ahead(const struct route_table *table, struct offers *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct ahead *ahead = table->items[i]->ahead;

        for (; ahead != NULL && ahead->params != NULL; ahead++)
            add(ret, table->items[i], ahead, ahead->shares ? 1 : 2);
    }
}

void route_in_bundle(const struct route_table *table, struct offers *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct in_bundle *in_bundle = table->items[i]->in_bundle;

        for (; in_bundle != NULL && in_bundle->params != NULL; in_bundle++)
            add(ret, table->items[i], in_bundle, in_bundle->rank);
    }
}

void route_tools(const struct route_table *table, struct offers *ret)
{
    ret->count = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct tool *tool = table->items[i]->tools;

        for (; tool != NULL && tool->name != NULL; tool++)
            add(ret, table->items[i], tool, tool->rank);
    }
}
