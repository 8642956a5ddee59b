/* SPDX-License-Identifier: Apache-2.0 */
/* `jviewd index SPOOL --xplane --out FILE`: what jview-collect recorded, as XPlane and nothing
 * else.
 *
 *   SPOOL -> decoder -> sink -> slices: lines of events                  -> export_xspace -> FILE
 *                            -> all else: a segment that has no name     ->
 *
 * A recording becomes XPlane once, so nothing is made that only answers need: no rows, no
 * attribution, no arrows (XPlane tells them by their numbers), no catalog. */
#ifndef JVIEWD_INDEX_INDEX_XPLANE_H
#define JVIEWD_INDEX_INDEX_XPLANE_H

#include "decode/decode.h"

/* The decoder's file -> `out`; what is temporary stands beside it. ERR_UNSUPPORTED: no spool. */
MUST_CHECK enum status index_xplane(struct input *input, const struct decoder *decoder,
                                    const char *out, struct error *err);

#endif
