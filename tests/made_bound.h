/* SPDX-License-Identifier: Apache-2.0 */
/* An attribution that was made for a test becomes that of the segment beside it. */
#ifndef JVIEWD_TESTS_MADE_BOUND_H
#define JVIEWD_TESTS_MADE_BOUND_H

#include "check.h"
#include "store/cache.h"
#include "store/segment.h"

static inline void made_bound(const char *segment, const char *attribution)
{
    struct segment *whole;
    struct error err = {0};

    CHECK_OK("segment", segment_open(segment, &whole, &err), &err);
    CHECK_OK("bind", attribution_bind(attribution, segment_trace(whole)->sum, &err), &err);
    segment_close(whole);
}

#endif
