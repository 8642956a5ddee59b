/* `jviewd index SPOOL --xplane --out FILE`: what jview-collect recorded, as XPlane and nothing
 * else.
 *
 *   SPOOL -> decoder -> sink -> a segment without a name -> export_xspace -> FILE
 *
 * A recording becomes XPlane once, so nothing is made that only answers need: no attribution, no
 * arrows (XPlane tells them by their numbers), no catalog. */
#ifndef JVIEWD_INDEX_XPLANE_H
#define JVIEWD_INDEX_XPLANE_H

#include <stdbool.h>

#include "decode/decode.h"

/* The decoder's file -> `out`; what is temporary stands beside it. ERR_UNSUPPORTED: no spool. */
MUST_CHECK enum status index_xplane(struct input *input, const struct decoder *decoder,
                                    const char *out, bool two_threads, struct error *err);

#endif
