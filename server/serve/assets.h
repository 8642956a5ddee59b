/* SPDX-License-Identifier: Apache-2.0 */
/* The built UI, carried by the program: a table that web/embed.c generates. */
#ifndef JVIEWD_SERVE_ASSETS_H
#define JVIEWD_SERVE_ASSETS_H

#include "base/bytes.h"

struct asset {
    const char *path; /* "/index.html", "/assets/index-4f1c.js"; the table is sorted by it */
    const char *mime;
    const char *etag; /* hex, of the bytes */
    struct bytes bytes;
    struct bytes gzip; /* empty where it is not smaller */
};

extern const struct asset assets[];
extern const uint32_t asset_count;

#endif
