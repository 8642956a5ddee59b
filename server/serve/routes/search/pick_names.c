/* SPDX-License-Identifier: Apache-2.0 */
/* Slices whose name is wanted, out of a whole host: by the index of names, or by a scan on several
 * processors where that unpacks less. */
#include "analyse/scan/split.h"
#include "serve/routes/search/pick_parts.h"

/* A slice of the chunk that is unpacked, unpacking another where it must. */
static bool look(struct pick *pick, const struct trace *trace, const struct row *row,
                 slice_id slice, uint32_t *unpacked, struct seen *ret)
{
    uint32_t ordinal = slice - row->first_slice;
    uint32_t index = row->first_chunk + ordinal / CHUNK_SLICES, k = ordinal % CHUNK_SLICES;

    if (*unpacked != index)
        chunk_unpack(trace, index,
                     COLUMN_START | COLUMN_DUR | (pick->order == PICK_SELF ? COLUMN_SELF : 0),
                     pick->chunk);
    *unpacked = index;
    if (k >= pick->chunk->count)
        return false;
    *ret = (struct seen){pick->chunk->start_ps[k], pick->chunk->dur_ps[k],
                         pick->order == PICK_SELF ? pick->chunk->self_ps[k] : 0};
    return true;
}

/* All of one name by the index; derived tracks repeat what others hold. */
static void look_up(struct pick *pick, uint32_t host, name_id name)
{
    const struct host_trace *at = &pick->run->hosts[host];
    uint32_t run_count, unpacked = UINT32_MAX;
    const struct name_run *runs = trace_name_runs(at->trace, name, &run_count);

    for (uint32_t i = 0; i < run_count; i++) {
        const struct row *row = &at->trace->rows[runs[i].row];
        const slice_id *slices = trace_name_slices(at->trace, &runs[i]);
        uint64_t matches = 0;

        if (at->trace->tracks[row->track].derived ||
            (pick->tracks != NULL && !pick->tracks[row->track]))
            continue;
        if (pick->density != NULL)
            pick->ordinal = pick_track_ordinal(pick->run, host, row->track);
        for (uint32_t k = 0; k < runs[i].count; k++) {
            struct seen seen;

            if (!look(pick, at->trace, row, slices[k], &unpacked, &seen) ||
                !pick_is_inside(pick, at, seen))
                continue;
            matches++;
            pick_offer(pick, host, slices[k], seen);
        }
        pick_count(pick, host, row, matches);
    }
}

/* How many chunks the index would unpack, at most. */
static uint64_t lookup_cost(const struct trace *trace, name_id name)
{
    uint32_t run_count;
    const struct name_run *runs = trace_name_runs(trace, name, &run_count);
    uint64_t cost = 0;

    for (uint32_t i = 0; i < run_count; i++) {
        uint32_t chunks = trace->rows[runs[i].row].chunk_count;

        cost += runs[i].count < chunks ? runs[i].count : chunks;
    }
    return cost;
}

struct scan_range { /* of a row, in the window */
    const struct row *row;
    uint32_t first, end;
};

struct name_scan { /* on several processors: each picks by itself, then the picks are joined */
    struct pick picks[SPLIT_PARTS_MAX];
    uint32_t host, part_count;
    const bool *names;
    struct scan_range *ranges;
    uint32_t range_count;
    uint64_t slice_count;
};

static void scan_part(void *data, uint32_t part)
{
    struct name_scan *scan = data;
    uint64_t begin = split_begin(scan->slice_count, part, scan->part_count), before = 0;
    uint64_t end = split_begin(scan->slice_count, part + 1, scan->part_count);

    for (uint32_t i = 0; i < scan->range_count && before < end; i++) {
        const struct scan_range *range = &scan->ranges[i];
        uint64_t count = range->end - range->first;
        uint64_t from = begin > before ? begin - before : 0;
        uint64_t to = end - before < count ? end - before : count;

        if (from < to)
            pick_scan_row(&scan->picks[part], scan->host, range->row, range->first + (uint32_t)from,
                          range->first + (uint32_t)to, scan->names);
        before += count;
    }
}

static size_t all_tracks(const struct run_traces *run)
{
    return pick_track_ordinal(run, run->host_count, 0);
}

/* A pick of a part, empty. */
static struct pick fork_pick(const struct pick *pick)
{
    struct pick part =
        pick_begin(pick->run, pick->filter, pick->order, pick->capacity, pick->arena);

    if (pick->track_counts != NULL)
        part.track_counts = arena_array(pick->arena, uint64_t, all_tracks(pick->run));
    if (pick->density != NULL)
        part.density = arena_array(pick->arena, uint64_t, PICK_DENSITY_BUCKETS);
    if (pick->track_density != NULL)
        part.track_density =
            arena_array(pick->arena, uint32_t, all_tracks(pick->run) * PICK_DENSITY_BUCKETS);
    return part;
}

static void join_pick(struct pick *pick, const struct pick *part)
{
    for (uint32_t i = 0; i < part->count; i++)
        pick_keep(pick, part->entries[i]);
    for (size_t i = 0; pick->track_counts != NULL && i < all_tracks(pick->run); i++)
        pick->track_counts[i] += part->track_counts[i];
    for (uint32_t i = 0; pick->density != NULL && i < PICK_DENSITY_BUCKETS; i++)
        pick->density[i] += part->density[i];
    for (size_t i = 0;
         pick->track_density != NULL && i < all_tracks(pick->run) * PICK_DENSITY_BUCKETS; i++)
        pick->track_density[i] += part->track_density[i];
    pick->total += part->total;
}

static void scan_names(struct pick *pick, uint32_t host, const bool *names)
{
    const struct host_trace *at = &pick->run->hosts[host];
    int64_t from_ps = file_time(at, pick->filter.start_ps);
    int64_t to_ps = file_time(at, pick->filter.end_ps);
    struct name_scan scan = {
        .host = host,
        .names = names,
        .ranges = arena_array(pick->arena, struct scan_range, at->trace->row_count),
    };

    for (row_id id = 0; id < at->trace->row_count; id++) {
        const struct row *row = &at->trace->rows[id];
        struct scan_range range = {.row = row};

        if (at->trace->tracks[row->track].derived ||
            (pick->tracks != NULL && !pick->tracks[row->track]))
            continue;
        row_window(at->trace, row, from_ps, to_ps, &range.first, &range.end);
        scan.slice_count += range.end - range.first;
        scan.ranges[scan.range_count++] = range;
    }
    scan.part_count = split_count(scan.slice_count);
    for (uint32_t part = 0; part < scan.part_count; part++)
        scan.picks[part] = fork_pick(pick);
    split_run(scan.part_count, scan_part, &scan);
    for (uint32_t part = 0; part < scan.part_count; part++)
        join_pick(pick, &scan.picks[part]);
}

/* So many hits are found faster by looking at all slices in order than at each hit by itself. */
enum { HITS_BY_INDEX = 1 << 16 };

void pick_names(struct pick *pick, uint32_t host, const bool *names)
{
    const struct trace *trace = pick->run->hosts[host].trace;
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(trace, &stats);
    uint64_t by_index = 0, by_scan = 0, hits = 0;

    if (names == NULL) {
        scan_names(pick, host, NULL);
        return;
    }
    for (name_id name = 0; name < trace->name_count; name++)
        by_index += names[name] ? lookup_cost(trace, name) : 0;
    for (row_id row = 0; row < trace->row_count; row++)
        by_scan += trace->rows[row].chunk_count;
    for (uint32_t i = 0; i < count; i++)
        hits += names[stats[i].name] ? stats[i].count : 0;
    if (by_index > by_scan || hits > HITS_BY_INDEX) {
        scan_names(pick, host, names);
        return;
    }
    for (name_id name = 0; name < trace->name_count; name++) {
        if (names[name])
            look_up(pick, host, name);
    }
}
