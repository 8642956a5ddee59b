/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that run, so that `jviewd open` finds one instead of starting another.
 *
 *   <cache>/servers/8080     pid, address, then the roots that it shows: one line each
 *
 * Written at the start, removed at the end; one whose process is gone is nobody's.
 */
#ifndef JVIEWD_APP_INSTANCE_H
#define JVIEWD_APP_INSTANCE_H

#include "base/bytes.h"

/* Failing leaves no trace and harms nothing but the finding. */
void instance_announce(const char *cache_dir, int port, const char *url, const struct str *roots,
                       uint32_t root_count);
void instance_withdraw(const char *cache_dir, int port);
/* The address of a living server that shows this root; "" none. */
struct str instance_find(const char *cache_dir, const char *root, struct arena *arena);

#endif
