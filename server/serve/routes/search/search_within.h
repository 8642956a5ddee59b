/* SPDX-License-Identifier: Apache-2.0 */
/* Steps, devices, hosts and tracks that a search is narrowed to: what they let through is what the
 * tables of ops and names sum, slice by slice. */
#ifndef JVIEWD_SERVE_ROUTES_SEARCH_SEARCH_WITHIN_H
#define JVIEWD_SERVE_ROUTES_SEARCH_SEARCH_WITHIN_H

#include "serve/answer/request.h"

struct search_within {
    bool narrowed; /* else everything is let through */
    struct restriction restriction;
    struct selection *selections;
    uint32_t count;
};

MUST_CHECK enum status search_within_read(struct request *req, const struct run_traces *run,
                                          struct search_within *ret, struct error *err);
/* A bit a slice of the host: its ops, or all that is recorded; none is set where the host is left
 * out. */
const uint64_t *search_within_bits(const struct search_within *within,
                                   const struct host_trace *host, bool of_ops, struct arena *arena);

#endif
