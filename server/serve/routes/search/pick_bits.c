/* SPDX-License-Identifier: Apache-2.0 */
/* Slices that are marked by a bit each: a row's hits lie side by side, so that each chunk that
 * holds one is unpacked once. */
#include "serve/routes/search/pick_parts.h"

static bool any_bit(const uint64_t *slices, slice_id first, uint32_t count)
{
    for (slice_id at = first; at < first + count;) {
        uint32_t left = 64 - at % 64, here = first + count - at < left ? first + count - at : left;
        uint64_t mask = here == 64 ? UINT64_MAX : (UINT64_C(1) << here) - 1;

        if ((slices[at / 64] >> at % 64 & mask) != 0)
            return true;
        at += here;
    }
    return false;
}

static uint64_t pick_chunk(struct pick *pick, uint32_t host, const struct row *row, uint32_t index,
                           const uint64_t *slices)
{
    const struct host_trace *at = &pick->run->hosts[host];
    const struct chunk *chunk = pick->chunk;
    uint64_t matches = 0;

    chunk_unpack(at->trace, row->first_chunk + index,
                 COLUMN_START | COLUMN_DUR | (pick->order == PICK_SELF ? COLUMN_SELF : 0u) |
                     (pick->names != NULL ? COLUMN_PLACE : 0u),
                 pick->chunk);
    for (uint32_t k = 0; k < chunk->count; k++) {
        slice_id slice = chunk->first_slice + k;

        if ((slices[slice / 64] >> slice % 64 & 1) == 0 ||
            (pick->names != NULL && !pick->names[chunk->dictionary_name[chunk->place[k]]]))
            continue;

        struct seen seen = {chunk->start_ps[k], chunk->dur_ps[k],
                            pick->order == PICK_SELF ? chunk->self_ps[k] : 0};

        if (!pick_is_inside(pick, at, seen))
            continue;
        matches++;
        pick_offer(pick, host, slice, seen);
    }
    return matches;
}

void pick_bits(struct pick *pick, uint32_t host, const uint64_t *slices)
{
    const struct trace *trace = pick->run->hosts[host].trace;

    for (row_id id = 0; id < trace->row_count; id++) {
        const struct row *row = &trace->rows[id];
        uint64_t matches = 0;

        if (pick->tracks != NULL && !pick->tracks[row->track])
            continue;
        pick->ordinal = pick_track_ordinal(pick->run, host, row->track);
        for (uint32_t index = 0; index < row->chunk_count; index++) {
            uint32_t before = index * CHUNK_SLICES;
            uint32_t count =
                row->count - before < CHUNK_SLICES ? row->count - before : CHUNK_SLICES;

            if (any_bit(slices, row->first_slice + before, count))
                matches += pick_chunk(pick, host, row, index, slices);
        }
        pick_count(pick, host, row, matches);
    }
}
