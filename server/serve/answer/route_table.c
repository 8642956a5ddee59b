/* Looks up an endpoint, and what its answer depends on. */
#include "serve/answer/route_table.h"

#include <string.h>

#include "serve/answer/query.h"

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

const struct route *route_of_path(const struct route_table *table, const char *path)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (strcmp(table->items[i]->path, path) == 0 && strcmp(table->items[i]->method, "GET") == 0)
            return table->items[i];
    }
    return NULL;
}
