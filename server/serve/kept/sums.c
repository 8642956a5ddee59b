/* SPDX-License-Identifier: Apache-2.0 */
/* Lends the sums of blocks of a request's traces, and takes them back. */
#include "serve/kept/sums.h"

#include "analyse/scan/block_sums.h"
#include "serve/answer/request.h"

/* Those of one host are made to see how large they are; of several, they must fit together. */
static bool fits(const struct block_sum_cache *cache, const struct run_traces *run)
{
    uint64_t slice_count = 0;

    for (uint32_t i = 0; i < run->host_count; i++)
        slice_count += run->hosts[i].trace->slice_count;
    return run->host_count == 1 || block_sum_cache_fits(cache, slice_count);
}

const struct run_traces *sums_take(struct request *req, const struct run_traces *run)
{
    const struct run_record *record = request_run_known(req);
    struct block_sum_cache *cache = req->services->sums;

    if (cache == NULL || record == NULL || record->host_count != run->host_count ||
        !(request_has(req, "start_ps") || request_has(req, "end_ps") || request_has(req, "step")) ||
        !fits(cache, run))
        return run;

    struct run_traces *lent = arena_array(req->arena, struct run_traces, 1);
    struct host_trace *hosts = arena_array(req->arena, struct host_trace, run->host_count);

    *lent = *run;
    for (uint32_t i = 0; i < run->host_count; i++) {
        hosts[i] = run->hosts[i];
        hosts[i].sums = block_sum_cache_hold(cache, record->hosts[i].content, hosts[i].trace,
                                             hosts[i].attribution);
    }
    lent->hosts = hosts;
    return lent;
}

void sums_return(struct request *req, const struct run_traces *lent)
{
    for (uint32_t i = 0; i < lent->host_count; i++) {
        if (lent->hosts[i].sums != NULL)
            block_sum_cache_release(req->services->sums, lent->hosts[i].sums);
    }
}
