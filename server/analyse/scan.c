#include "analyse/scan.h"

#include <stdlib.h>

#include "analyse/map64.h"

struct cut { /* a slice that a window's edge cuts */
    struct scanned slice;
};

struct walk {
    const struct selection *selection;
    const struct trace *trace;
    scan_slice *visit;
    scan_span *span;
    void *data;
    struct chunk *chunk;
    uint8_t *name_seen; /* by name: 0 not looked at, 1 wanted, 2 not */
    struct cut *cuts;   /* of the track under way */
    uint32_t cut_count, cut_capacity;
    struct map64 cut_of;  /* slice -> index */
    slice_id last_parent; /* siblings stand together: looked up once */
    uint32_t last_cut;    /* its index, or UINT32_MAX */
};

static bool wants_name(struct walk *walk, name_id name)
{
    if (!walk->selection->by_name)
        return true;
    if (walk->name_seen[name] == 0)
        walk->name_seen[name] =
            selection_has_name(walk->selection, trace_name(walk->trace, name)) ? 1 : 2;
    return walk->name_seen[name] == 1;
}

/* Is the slice an op that the selection lets through? */
static bool wants_op(struct walk *walk, slice_id slice)
{
    const struct attribution *attribution = walk->selection->host->attribution;

    if (!walk->selection->ops_only)
        return true;
    if (attribution == NULL)
        return false;

    const struct attributed *entry = attribution_of(attribution, slice);

    return entry != NULL && selection_has_device(walk->selection, entry->device) &&
           selection_has_op(walk->selection, &attribution->ops[entry->op]);
}

static void give(struct walk *walk, const struct scanned *slice)
{
    if (wants_name(walk, slice->name) && wants_op(walk, slice->slice))
        walk->visit(walk->data, slice);
}

static void keep_cut(struct walk *walk, const struct scanned *slice)
{
    uint32_t *known = map64_at(&walk->cut_of, slice->slice, UINT32_MAX);

    /* A slice that several windows cut is one slice. */
    if (*known != UINT32_MAX) {
        walk->cuts[*known].slice.inside_ps += slice->inside_ps;
        walk->cuts[*known].slice.self_ps += slice->inside_ps;
        return;
    }
    *known = walk->cut_count;
    if (walk->cut_count == walk->cut_capacity) {
        walk->cut_capacity = walk->cut_capacity == 0 ? 64 : 2 * walk->cut_capacity;
        walk->cuts = memory_resize(walk->cuts, walk->cut_capacity, sizeof(*walk->cuts));
    }
    walk->cuts[walk->cut_count].slice = *slice;
    walk->cuts[walk->cut_count++].slice.self_ps = slice->inside_ps;
}

static void take_from_parent(struct walk *walk, slice_id parent, int64_t inside_ps)
{
    if (parent != walk->last_parent) {
        walk->last_parent = parent;
        if (!map64_get(&walk->cut_of, parent, &walk->last_cut))
            walk->last_cut = UINT32_MAX;
    }
    if (walk->last_cut != UINT32_MAX)
        walk->cuts[walk->last_cut].slice.self_ps -= inside_ps;
}

/* One slice against one window. */
static void see_slice(struct walk *walk, const struct window *window, track_id track, uint32_t at)
{
    const struct chunk *chunk = walk->chunk;
    int64_t start_ps = chunk->start_ps[at], dur_ps = chunk->dur_ps[at], end_ps = start_ps + dur_ps;

    if (start_ps >= window->to_ps || end_ps < window->from_ps ||
        (end_ps == window->from_ps && dur_ps > 0))
        return;

    int64_t from_ps = start_ps > window->from_ps ? start_ps : window->from_ps;
    int64_t to_ps = end_ps < window->to_ps ? end_ps : window->to_ps;
    bool is_cut = to_ps - from_ps != dur_ps;
    struct scanned slice = {
        .slice = chunk->first_slice + at,
        .track = track,
        .name = chunk->name[at],
        .kind = (enum kind)chunk->kind[at],
        .dur_ps = dur_ps,
        .inside_ps = to_ps - from_ps,
        .self_ps = is_cut ? 0 : chunk->self_ps[at],
    };

    if (walk->cut_count > 0 && chunk->parent[at] != NO_SLICE)
        take_from_parent(walk, chunk->parent[at], slice.inside_ps);
    if (is_cut)
        keep_cut(walk, &slice);
    else
        give(walk, &slice);
}

static bool is_whole(const struct chunk *chunk, uint32_t at, const struct window *window)
{
    return chunk->start_ps[at] >= window->from_ps && chunk->start_ps[at] < window->to_ps &&
           chunk->start_ps[at] + chunk->dur_ps[at] <= window->to_ps;
}

/* Slices [first, end) of the chunk at hand. They come in order and do not overlap, so only the ends
 * of a row's part can be cut. */
static void walk_chunk(struct walk *walk, const struct window *window, track_id track,
                       uint32_t first, uint32_t end)
{
    const struct chunk *chunk = walk->chunk;
    uint32_t whole = first, rest = end;

    while (whole < end && !is_whole(chunk, whole, window))
        see_slice(walk, window, track, whole++);
    while (rest > whole && !is_whole(chunk, rest - 1, window))
        rest--;
    if (walk->span == NULL || walk->selection->by_name || walk->selection->ops_only) {
        for (uint32_t at = whole; at < rest; at++)
            see_slice(walk, window, track, at);
    } else if (whole < rest) {
        for (uint32_t at = whole; walk->cut_count > 0 && at < rest; at++) {
            if (chunk->parent[at] != NO_SLICE)
                take_from_parent(walk, chunk->parent[at], chunk->dur_ps[at]);
        }
        walk->span(walk->data, track, chunk, whole, rest);
    }
    for (uint32_t at = rest; at < end; at++)
        see_slice(walk, window, track, at);
}

static void walk_row(struct walk *walk, const struct row *row, const struct window *window)
{
    const unsigned columns = COLUMN_START | COLUMN_DUR | COLUMN_SELF | COLUMN_NAME |
                             (walk->selection->cut_in_time ? COLUMN_PARENT : 0);
    uint32_t first = 0, end = row->count;

    if (walk->selection->cut_in_time)
        row_window(walk->trace, row, window->from_ps, window->to_ps, &first, &end);
    walk->last_parent = NO_SLICE;
    for (uint32_t at = first; at < end;) {
        uint32_t offset = at / CHUNK_SLICES * CHUNK_SLICES;

        chunk_unpack(walk->trace, row->first_chunk + at / CHUNK_SLICES, columns, walk->chunk);

        uint32_t to = end - offset < walk->chunk->count ? end - offset : walk->chunk->count;

        if (at - offset >= to)
            break; /* a damaged chunk reads as empty */
        walk_chunk(walk, window, row->track, at - offset, to);
        at = offset + to;
    }
}

static void walk_track(struct walk *walk, const struct track *track)
{
    for (uint32_t i = 0; i < walk->selection->window_count; i++) {
        const struct window *window = &walk->selection->windows[i];

        if (track->row_count == 0 || track->start_ps >= window->to_ps ||
            track->end_ps < window->from_ps)
            continue;
        /* Parents lie in earlier rows: a cut one is known before its children come. */
        for (uint32_t row = 0; row < track->row_count; row++)
            walk_row(walk, &walk->trace->rows[track->first_row + row], window);
    }
    for (uint32_t i = 0; i < walk->cut_count; i++)
        give(walk, &walk->cuts[i].slice);
    walk->cut_count = 0;
    map64_free(&walk->cut_of);
}

void scan_slices(const struct selection *selection, scan_slice *visit, scan_span *span, void *data)
{
    const struct trace *trace = selection->host->trace;
    struct walk walk = {
        .selection = selection,
        .trace = trace,
        .visit = visit,
        .span = span,
        .data = data,
        .chunk = memory_resize(NULL, 1, sizeof(*walk.chunk)), /* 160 KB: not on a stack */
        .name_seen = selection->by_name ? calloc((size_t)trace->name_count + 1, 1) : NULL,
    };

    if (selection->by_name && walk.name_seen == NULL)
        abort(); /* out of memory: as base/arena.h says */
    for (track_id id = 0; id < trace->track_count; id++) {
        if (selection->tracks[id])
            walk_track(&walk, &trace->tracks[id]);
    }
    free(walk.cuts);
    free(walk.name_seen);
    free(walk.chunk);
}
