/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the slices that a restriction lets through. */
#include "serve/routes/search/search_within.h"

#include "analyse/scan/scan.h"
#include "analyse/steps/restrict.h"

enum status search_within_read(struct request *req, const struct run_traces *run,
                               struct search_within *ret, struct error *err)
{
    *ret = (struct search_within){
        .narrowed = request_has(req, "step") || request_has(req, "device") ||
                    request_has(req, "host") || request_has(req, "track"),
    };
    if (!ret->narrowed)
        return OK;
    TRY(request_restriction(req, &ret->restriction, err));
    ret->restriction.q = STR(""); /* here the terms of the search */
    return restrict_run(run, &ret->restriction, req->arena, &ret->selections, &ret->count, err);
}

static void mark(uint64_t *bits, slice_id slice)
{
    bits[slice / 64] |= UINT64_C(1) << slice % 64;
}

static void mark_ops(void *data, const struct op_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (block->inside_ps[i] >= 0)
            mark(data, BLOCK_ENTRY(block, i)->slice);
}

static void mark_slice(void *data, const struct scanned *slice)
{
    mark(data, slice->slice);
}

static void mark_span(void *data, const struct span *span)
{
    for (uint32_t at = span->first; at < span->end; at++)
        if (span->wanted == NULL || span->wanted[span->chunk->place[at]])
            mark(data, span->chunk->first_slice + at);
}

const uint64_t *search_within_bits(const struct search_within *within,
                                   const struct host_trace *host, bool of_ops, struct arena *arena)
{
    uint64_t *bits = arena_array(arena, uint64_t, (size_t)host->trace->slice_count / 64 + 1);
    void *data[SPLIT_PARTS_MAX] = {bits};

    for (uint32_t i = 0; i < within->count; i++) {
        const struct selection *selection = &within->selections[i];

        if (selection->host != host)
            continue;
        if (!of_ops)
            scan_slices(selection, &(struct scan_visitor){.visit = mark_slice,
                                                          .span = mark_span,
                                                          .data = {bits},
                                                          .part_count = 1});
        else if (host->attribution != NULL)
            scan_ops(selection, ENTRY_BIT(ENTRY_SLICE), mark_ops, data, 1);
    }
    return bits;
}
