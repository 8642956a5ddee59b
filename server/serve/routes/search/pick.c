/* SPDX-License-Identifier: Apache-2.0 */
/* Scans rows for slices, and keeps the best k in a heap. */
#include "serve/routes/search/pick_parts.h"

#include <stdlib.h>

static bool is_before(const struct pick_entry *a, const struct pick_entry *b)
{
    if (a->key != b->key)
        return a->key < b->key;
    return a->host != b->host ? a->host < b->host : a->slice < b->slice;
}

static int by_key(const void *a, const void *b)
{
    return is_before(a, b) ? -1 : is_before(b, a);
}

struct pick pick_begin(const struct run_traces *run, struct pick_filter filter,
                       enum pick_order order, uint32_t most, struct arena *arena)
{
    return (struct pick){.run = run,
                         .filter = filter,
                         .order = order,
                         .arena = arena,
                         .capacity = most,
                         .entries = arena_array(arena, struct pick_entry, most),
                         .chunk = arena_new(arena, struct chunk),
                         .bucket_ps = pick_density_width_ps(&filter)};
}

static void sift_down(struct pick_entry *heap, uint32_t count, uint32_t at)
{
    for (;;) {
        uint32_t worst = at;

        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (is_before(&heap[worst], &heap[child]))
                worst = child;
        }
        if (worst == at)
            return;
        struct pick_entry moved = heap[at];
        heap[at] = heap[worst];
        heap[worst] = moved;
        at = worst;
    }
}

static void sift_up(struct pick_entry *heap, uint32_t at)
{
    while (at > 0 && is_before(&heap[(at - 1) / 2], &heap[at])) {
        struct pick_entry moved = heap[at];

        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = moved;
        at = (at - 1) / 2;
    }
}

void pick_keep(struct pick *pick, struct pick_entry entry)
{
    if (pick->count < pick->capacity) {
        pick->entries[pick->count] = entry;
        sift_up(pick->entries, pick->count++);
    } else if (is_before(&entry, &pick->entries[0])) {
        pick->entries[0] = entry;
        sift_down(pick->entries, pick->count, 0);
    }
}

size_t pick_track_ordinal(const struct run_traces *run, uint32_t host, track_id track)
{
    size_t before = 0;

    for (uint32_t i = 0; i < host; i++)
        before += run->hosts[i].trace->track_count;
    return before + track;
}

uint64_t pick_density_width_ps(const struct pick_filter *filter)
{
    return ((uint64_t)filter->end_ps - (uint64_t)filter->start_ps) / PICK_DENSITY_BUCKETS + 1;
}

static void count_density(struct pick *pick, int64_t run_ps)
{
    int64_t from_ps = pick->filter.start_ps;
    uint64_t into = run_ps > from_ps ? (uint64_t)run_ps - (uint64_t)from_ps : 0;
    /* A division by another name: hits are many, and the last bit is put right. */
    uint64_t bucket = (uint64_t)((double)into / (double)pick->bucket_ps);

    bucket -= bucket > 0 && bucket * pick->bucket_ps > into;
    bucket += into - bucket * pick->bucket_ps >= pick->bucket_ps;
    pick->density[bucket]++;
    if (pick->track_density != NULL)
        pick->track_density[pick->ordinal * PICK_DENSITY_BUCKETS + bucket]++;
}

static int64_t key_of(const struct pick *pick, const struct host_trace *host, struct seen seen)
{
    switch (pick->order) {
    case PICK_LONGEST:
        return -seen.dur_ps;
    case PICK_SELF:
        return -seen.self_ps;
    case PICK_START:
        break;
    }
    return run_time(host, seen.start_ps);
}

void pick_offer(struct pick *pick, uint32_t host, slice_id slice, struct seen seen)
{
    const struct host_trace *at = &pick->run->hosts[host];

    if (pick->density != NULL)
        count_density(pick, run_time(at, seen.start_ps));
    pick_keep(pick,
              (struct pick_entry){.key = key_of(pick, at, seen), .host = host, .slice = slice});
}

void pick_only(struct pick *pick, const bool *tracks, const bool *names)
{
    pick->tracks = tracks;
    pick->names = names;
}

void pick_count(struct pick *pick, uint32_t host, const struct row *row, uint64_t count)
{
    pick->total += count;
    if (pick->track_counts != NULL)
        pick->track_counts[pick_track_ordinal(pick->run, host, row->track)] += count;
}

/* Which places of the chunk's dictionary are wanted; false: none. */
static bool look_at_names(const struct chunk *chunk, const bool *names, bool *ret_wanted)
{
    bool any = false;

    for (uint32_t i = 0; i < chunk->dictionary_count; i++) {
        ret_wanted[i] = names == NULL || names[chunk->dictionary_name[i]];
        any |= ret_wanted[i];
    }
    return any;
}

/* Slices [first, end) of the chunk at hand; how many matched. Which are wanted is listed without a
 * branch, for it is a coin that no processor guesses. */
static uint64_t scan_chunk(struct pick *pick, uint32_t host, const bool *wanted, uint32_t first,
                           uint32_t end)
{
    const struct chunk *chunk = pick->chunk;
    uint16_t listed[CHUNK_SLICES];
    uint32_t count = 0;
    uint64_t matches = 0;

    for (uint32_t k = first; k < end; k++) {
        listed[count] = (uint16_t)k;
        count += wanted == NULL || wanted[chunk->place[k]];
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = listed[i];

        if (chunk->dur_ps[k] < pick->filter.min_dur_ps ||
            chunk->dur_ps[k] > pick->filter.max_dur_ps)
            continue;
        matches++;
        pick_offer(pick, host, chunk->first_slice + k,
                   (struct seen){chunk->start_ps[k], chunk->dur_ps[k],
                                 pick->order == PICK_SELF ? chunk->self_ps[k] : 0});
    }
    return matches;
}

void pick_scan_row(struct pick *pick, uint32_t host, const struct row *row, uint32_t first,
                   uint32_t end, const bool *names)
{
    const struct trace *trace = pick->run->hosts[host].trace;
    struct chunk *chunk = pick->chunk;
    unsigned columns = COLUMN_START | COLUMN_DUR | (pick->order == PICK_SELF ? COLUMN_SELF : 0u);
    bool wanted[CHUNK_SLICES];
    uint64_t matches = 0;

    if (pick->density != NULL)
        pick->ordinal = pick_track_ordinal(pick->run, host, row->track);
    for (uint32_t at = first; at < end;) {
        uint32_t index = at / CHUNK_SLICES, base = index * CHUNK_SLICES;
        uint32_t to = end - base < CHUNK_SLICES ? end - base : CHUNK_SLICES;

        if (names != NULL) {
            chunk_unpack(trace, row->first_chunk + index, COLUMN_PLACE, chunk);
            if (!look_at_names(chunk, names, wanted)) {
                at = base + to;
                continue;
            }
        }
        chunk_unpack(trace, row->first_chunk + index, columns, chunk);
        if (to > chunk->count)
            to = chunk->count; /* a damaged chunk reads as empty */
        matches += scan_chunk(pick, host, names != NULL ? wanted : NULL, at - base, to);
        at = base + CHUNK_SLICES;
    }
    pick_count(pick, host, row, matches);
}

static void scan_track(struct pick *pick, uint32_t host, track_id track, const bool *names)
{
    const struct host_trace *at = &pick->run->hosts[host];
    const struct track *within = &at->trace->tracks[track];
    int64_t from_ps = file_time(at, pick->filter.start_ps);
    int64_t to_ps = file_time(at, pick->filter.end_ps);
    bool plain = names == NULL && pick->filter.min_dur_ps <= 0 &&
                 pick->filter.max_dur_ps == INT64_MAX && pick->order == PICK_START &&
                 pick->density == NULL;

    for (uint32_t i = 0; i < within->row_count; i++) {
        const struct row *row = &at->trace->rows[within->first_row + i];
        uint32_t first, end;

        row_window(at->trace, row, from_ps, to_ps, &first, &end);
        if (plain && end - first > pick->capacity) {
            /* What is beyond the k-th of a row is not among the first k of all. */
            pick_count(pick, host, row, end - first - pick->capacity);
            end = first + pick->capacity;
        }
        pick_scan_row(pick, host, row, first, end, names);
    }
}

void pick_track(struct pick *pick, uint32_t host, track_id track)
{
    const struct trace *trace = pick->run->hosts[host].trace;
    bool *names = NULL;
    name_id name;

    if (pick->filter.name.count > 0) {
        if (!trace_find_name(trace, pick->filter.name, &name))
            return;
        names = arena_array(pick->arena, bool, (size_t)trace->name_count + 1);
        names[name] = true;
    }
    scan_track(pick, host, track, names);
}

bool pick_is_inside(const struct pick *pick, const struct host_trace *host, struct seen seen)
{
    int64_t start_ps = run_time(host, seen.start_ps);
    int64_t end_ps = run_time(host, seen.start_ps + seen.dur_ps);

    return start_ps < pick->filter.end_ps && seen.dur_ps >= pick->filter.min_dur_ps &&
           seen.dur_ps <= pick->filter.max_dur_ps &&
           (seen.dur_ps == 0 ? start_ps >= pick->filter.start_ps : end_ps > pick->filter.start_ps);
}

uint32_t pick_end(struct pick *pick, uint32_t skip, struct arena *arena, struct slice_place **ret)
{
    uint32_t count = pick->count > skip ? pick->count - skip : 0;
    struct slice_place *places = arena_array(arena, struct slice_place, count);

    if (pick->count > 0)
        qsort(pick->entries, pick->count, sizeof *pick->entries, by_key);
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct slice_place){.host = pick->entries[skip + i].host,
                                         .slice = pick->entries[skip + i].slice};
    *ret = places;
    return count;
}
