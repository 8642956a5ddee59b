/* SPDX-License-Identifier: Apache-2.0 */
/* A tile from slices: gallops from quantum to quantum.
 *
 *   samples   start dur_before longest | start dur_before longest | ...      one for 32 slices
 *   slices    0 1 2 ... 31             | 32 ...                   | ...
 *                   ^ i: begins in the quantum                ^ the first that begins behind it
 *
 * What lies in whole groups of 32 is never touched: its length is the difference of two prefixes,
 * its longest one that of the greatest weight. So a quantum costs as much as its two ends, and a
 * sample for each 32 slices.
 */
#include "base/bisect.h"
#include "trace/levels/pyramid.h"
#include "trace/levels/tile_writer.h"

enum { CHUNK_GROUPS = CHUNK_SLICES / SAMPLE_SLICES };

struct fold {
    const struct trace *trace;
    const struct row *row;
    const struct slice_sample *samples;
    uint32_t sample_count;

    uint32_t chunk; /* at hand, of the row; UINT32_MAX: none */
    const struct chunk_entry *entry;
    const uint8_t *data; /* NULL: damaged */
    uint32_t offset[PACKED_COUNT + 1];
    struct chunk_names names;

    uint32_t group, group_count; /* at hand; UINT32_MAX: none */
    int64_t start_ps[SAMPLE_SLICES], dur_ps[SAMPLE_SLICES];
};

struct gathered { /* of one quantum */
    int64_t covered_ps, longest_ps, end_ps;
    uint32_t longest; /* ordinal */
};

static void load_chunk(struct fold *fold, uint32_t chunk)
{
    if (chunk == fold->chunk)
        return;
    fold->chunk = chunk;
    fold->entry = &fold->trace->parts->chunks[fold->row->first_chunk + chunk];
    fold->data = chunk_bytes(fold->trace, fold->row->first_chunk + chunk);
    chunk_layout(fold->entry, fold->offset);
    if (fold->data != NULL)
        fold->names = chunk_names_at(fold->entry, fold->data, fold->offset);
}

/* A damaged group reads as instants where it began. */
static void load_group(struct fold *fold, uint32_t group)
{
    uint32_t left = fold->row->count - group * SAMPLE_SLICES;

    if (group == fold->group)
        return;
    load_chunk(fold, group / CHUNK_GROUPS);
    fold->group = group;
    fold->group_count = left < SAMPLE_SLICES ? left : SAMPLE_SLICES;
    if (fold->data != NULL) {
        chunk_group(fold->entry, fold->data, fold->offset, group % CHUNK_GROUPS, fold->start_ps,
                    fold->dur_ps);
        return;
    }
    for (uint32_t i = 0; i < fold->group_count; i++) {
        fold->start_ps[i] = fold->samples[group].start_ps;
        fold->dur_ps[i] = 0;
    }
}

/* Times of a whole trace never overflow; those of a damaged one may, and yield nonsense but no
 * harm. */
static int64_t wrapping_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Gathers slices of the group at hand from `at` on that begin before `bound`; returns the first
 * that does not. */
static uint32_t scan_group(const struct fold *fold, uint32_t at, int64_t bound_ps,
                           struct gathered *gathered)
{
    uint32_t from = at, longest = SAMPLE_SLICES;
    int64_t covered_ps = 0, longest_ps = gathered->longest_ps;

    for (; at < fold->group_count && fold->start_ps[at] < bound_ps; at++) {
        covered_ps = wrapping_sum(covered_ps, fold->dur_ps[at]);
        if (fold->dur_ps[at] > longest_ps) {
            longest_ps = fold->dur_ps[at];
            longest = at;
        }
    }
    gathered->covered_ps = wrapping_sum(gathered->covered_ps, covered_ps);
    if (longest < SAMPLE_SLICES) {
        gathered->longest_ps = longest_ps;
        gathered->longest = fold->group * SAMPLE_SLICES + longest;
    }
    if (at > from)
        gathered->end_ps = wrapping_sum(fold->start_ps[at - 1], fold->dur_ps[at - 1]);
    return at;
}

/* The last group that begins before the bound; `group` does. */
static uint32_t gallop(const struct fold *fold, uint32_t group, int64_t bound_ps)
{
    uint32_t step = 1, to;

    while (fold->sample_count - group > step && fold->samples[group + step].start_ps < bound_ps) {
        group += step;
        step *= 2;
    }
    to = fold->sample_count - group > step ? group + step : fold->sample_count;
    return BISECT(group + 1, to, i, fold->samples[i].start_ps < bound_ps) - 1;
}

/* The longest of whole groups: the first of the greatest weight. */
static void take_longest(struct fold *fold, uint32_t from, uint32_t to, struct gathered *gathered)
{
    uint32_t best = from;

    for (uint32_t group = from + 1; group < to; group++)
        if (fold->samples[group].weight > fold->samples[best].weight)
            best = group;
    if (fold->samples[best].weight <= dur_weight(gathered->longest_ps))
        return;

    struct packed_slice slice = {.dur_ps = 0};

    gathered->longest = best * SAMPLE_SLICES + fold->samples[best].longest;
    load_chunk(fold, best / CHUNK_GROUPS);
    if (fold->data != NULL)
        chunk_times(fold->entry, fold->data, gathered->longest % CHUNK_SLICES, &slice);
    gathered->longest_ps = slice.dur_ps;
}

/* Gathers the slices from `ordinal` on that begin before the bound; returns the next ordinal. */
static uint32_t gather(struct fold *fold, uint32_t ordinal, int64_t bound_ps, struct gathered *ret)
{
    uint32_t group = ordinal / SAMPLE_SLICES;

    *ret = (struct gathered){.longest_ps = -1, .longest = ordinal};
    load_group(fold, group);

    uint32_t at = scan_group(fold, ordinal % SAMPLE_SLICES, bound_ps, ret);
    uint32_t next = group + 1;

    if (at < fold->group_count || next == fold->sample_count ||
        fold->samples[next].start_ps >= bound_ps)
        return group * SAMPLE_SLICES + at;

    uint32_t last = gallop(fold, next, bound_ps);

    if (last > next) {
        int64_t between_ps = fold->samples[last].dur_before - fold->samples[next].dur_before;

        ret->covered_ps = wrapping_sum(ret->covered_ps, between_ps);
        take_longest(fold, next, last, ret);
    }
    load_group(fold, last);
    return last * SAMPLE_SLICES + scan_group(fold, 0, bound_ps, ret);
}

/* Slices [ordinal, next), which begin in a quantum. */
static inline void put(struct fold *fold, int64_t quantum, int level, uint32_t slices,
                       const struct gathered *gathered, struct tile_writer *writer)
{
    int64_t last = (gathered->end_ps - 1) >> level;
    uint32_t named = 0;
    uint8_t flags = 0;

    load_chunk(fold, gathered->longest / CHUNK_SLICES);
    if (fold->data != NULL)
        chunk_look(&fold->names, gathered->longest % CHUNK_SLICES, &named, &flags);
    tile_put(writer, quantum, last > quantum ? last : quantum, (uint64_t)gathered->covered_ps,
             slices, named, flags, (uint64_t)gathered->longest_ps);
}

/* Quanta that begin and end in the group at hand, from the slice at `ordinal` on; returns the
 * ordinal of the first that is not of them: in the next group, in a quantum that goes on there, or
 * behind the tile. */
static uint32_t put_group(struct fold *fold, uint32_t ordinal, int level,
                          struct tile_writer *writer)
{
    uint32_t at = ordinal % SAMPLE_SLICES, first = ordinal - at, end = fold->group_count;
    bool last_group = fold->group + 1 == fold->sample_count;
    int64_t follower_ps = last_group ? INT64_MAX : fold->samples[fold->group + 1].start_ps;

    while (at < end) {
        int64_t quantum = fold->start_ps[at] >> level;
        int64_t bound_ps = (int64_t)((uint64_t)(quantum + 1) << level);
        struct gathered gathered = {.longest_ps = fold->dur_ps[at], .longest = first + at};
        uint32_t next = at;

        if (quantum >= writer->first + TILE_QUANTA || follower_ps < bound_ps)
            break;
        for (; next < end && fold->start_ps[next] < bound_ps; next++) {
            bool longer = fold->dur_ps[next] > gathered.longest_ps; /* no branch: it is a coin */

            gathered.covered_ps = wrapping_sum(gathered.covered_ps, fold->dur_ps[next]);
            gathered.longest_ps = longer ? fold->dur_ps[next] : gathered.longest_ps;
            gathered.longest = longer ? first + next : gathered.longest;
        }
        gathered.end_ps = wrapping_sum(fold->start_ps[next - 1], fold->dur_ps[next - 1]);
        put(fold, quantum, level, next - at, &gathered, writer);
        at = next;
    }
    return first + at;
}

void tile_from_slices(const struct trace *trace, row_id row_index, int level,
                      struct tile_writer *writer)
{
    struct fold fold = {
        .trace = trace, .row = &trace->rows[row_index], .chunk = UINT32_MAX, .group = UINT32_MAX};
    uint32_t count = fold.row->count, next;

    fold.samples = row_samples(trace, row_index, &fold.sample_count);
    tile_writer_ps(writer, level);
    for (uint32_t i = row_find(trace, fold.row, (int64_t)((uint64_t)writer->first << level));
         i < count; i = next) {
        struct gathered gathered;

        load_group(&fold, i / SAMPLE_SLICES);

        int64_t quantum = fold.start_ps[i % SAMPLE_SLICES] >> level;

        if (quantum >= writer->first + TILE_QUANTA)
            break;
        next = quantum < writer->first ? i : put_group(&fold, i, level, writer);
        if (next > i)
            continue;
        next = gather(&fold, i, (int64_t)((uint64_t)(quantum + 1) << level), &gathered);
        if (next <= i) /* only in a damaged trace */
            break;
        put(&fold, quantum, level, next - i, &gathered, writer);
    }
}
