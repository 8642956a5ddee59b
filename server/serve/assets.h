/* SPDX-License-Identifier: Apache-2.0 */
/* The built UI, carried by the program: a table that web/embed.c generates. */
#ifndef JVIEWD_SERVE_ASSETS_H
#define JVIEWD_SERVE_ASSETS_H

#include "base/bytes.h"
#include "base/error.h"

struct asset {
    const char *path; /* "/index.html", "/assets/index-4f1c.js"; the table is sorted by it */
    const char *mime;
    struct bytes stored;
    bool is_gzip; /* stored that way, where it is smaller: nearly all browsers take it so */
};

extern const struct asset assets[];
extern const uint32_t asset_count;

/* Appends what the file holds. */
MUST_CHECK enum status asset_put(const struct asset *asset, struct text *out, struct error *err);

#endif
