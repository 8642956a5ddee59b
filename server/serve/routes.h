/* Every route, one file each. */
#ifndef JVIEWD_SERVE_ROUTES_H
#define JVIEWD_SERVE_ROUTES_H

#include "serve/serve.h"

extern const struct route route_healthz, route_readyz, route_metrics;
extern const struct route route_page, route_assets, route_launch, route_launch_make;

#endif
