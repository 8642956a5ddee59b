/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of recorded slices: a slice's node hangs below its parent's. Parents stand in earlier
 * rows, so walking rows in order every parent is known before its children. */
#include <stdlib.h>

#include "analyse/flame/flame_parts.h"
#include "trace/ps.h"

struct track_walk {
    struct growth *growth;
    const struct track *track;
    uint32_t track_node;
    uint32_t **nodes;      /* by row of the track, by ordinal; plus one, 0 outside the windows */
    struct map64 child_of; /* (parent, name's id) -> node: texts are compared once */
};

static uint32_t child_of(struct track_walk *walk, uint32_t parent, name_id name, enum kind kind)
{
    const struct trace *trace = walk->growth->selection->host->trace;
    uint32_t *node = map64_at(&walk->child_of, map64_pair(parent, name), UINT32_MAX);

    if (*node == UINT32_MAX)
        *node = tree_child(&walk->growth->tree, parent, trace_name(trace, name), kind);
    return *node;
}

/* The node of a parent: mostly one row up. */
static uint32_t node_of_slice(const struct track_walk *walk, uint32_t below_row, slice_id slice)
{
    const struct trace *trace = walk->growth->selection->host->trace;

    for (uint32_t row = below_row; slice != NO_SLICE && row-- > 0;) {
        const struct row *at = &trace->rows[walk->track->first_row + row];

        if (slice >= at->first_slice && slice - at->first_slice < at->count) {
            uint32_t node = walk->nodes[row][slice - at->first_slice];

            return node != 0 ? node - 1 : walk->track_node;
        }
    }
    return walk->track_node;
}

/* What the slice weighs: its part inside the windows, or that it begins there. */
static int64_t weigh(const struct growth *growth, row_id row, int64_t start_ps, int64_t inside_ps)
{
    if (growth->weight == WEIGHT_COUNT)
        return selection_begins_inside_row(growth->selection, row, start_ps);
    return inside_ps;
}

static void add_track_slice(struct track_walk *walk, uint32_t row, uint32_t ordinal,
                            const struct chunk *chunk, uint32_t at)
{
    struct growth *growth = walk->growth;
    row_id row_index = walk->track->first_row + row;
    int64_t inside_ps =
        selection_inside_row(growth->selection, row_index, chunk->start_ps[at], chunk->dur_ps[at]);

    if (inside_ps < 0 || (inside_ps == 0 && growth->weight != WEIGHT_COUNT))
        return;

    uint32_t parent = node_of_slice(walk, row, chunk->parent[at]), node = parent;

    if (growth->tree.nodes[parent].level < growth->depth)
        node = child_of(walk, parent, chunk->name[at], (enum kind)chunk->kind[at]);
    walk->nodes[row][ordinal] = node + 1;
    ps_add(&growth->tree.nodes[node].self_ps,
           weigh(growth, row_index, chunk->start_ps[at], inside_ps));
    growth->tree.nodes[node].count++;
    tree_seen(&growth->tree, node, chunk->start_ps[at] + growth->selection->host->offset_ps);
    /* The parent's own time shrinks by what its child covers; top-level slices cover no one's. */
    if (parent != walk->track_node && growth->weight != WEIGHT_COUNT)
        ps_add(&growth->tree.nodes[parent].self_ps, -inside_ps);
}

static void grow_from_row(struct track_walk *walk, uint32_t index, struct chunk *chunk)
{
    const struct selection *selection = walk->growth->selection;
    const struct trace *trace = selection->host->trace;
    const struct row *row = &trace->rows[walk->track->first_row + index];
    struct row_windows windows = selection_windows_of(selection, walk->track->first_row + index);
    uint32_t first = 0, end = row->count;

    if (windows.count == 0)
        return;
    if (selection->cut_in_time)
        row_window(trace, row, windows.items[0].from_ps, windows.items[windows.count - 1].to_ps,
                   &first, &end);
    for (uint32_t at = first; at < end;) {
        uint32_t offset = at / CHUNK_SLICES * CHUNK_SLICES;

        chunk_unpack(trace, row->first_chunk + at / CHUNK_SLICES,
                     COLUMN_START | COLUMN_DUR | COLUMN_NAME | COLUMN_PARENT, chunk);
        for (; at < end && at - offset < chunk->count; at++)
            add_track_slice(walk, index, at, chunk, at - offset);
        if (at < end && at - offset < CHUNK_SLICES)
            break; /* a damaged chunk reads as empty */
    }
}

static void grow_from_track(struct growth *growth, const struct track *track, struct chunk *chunk)
{
    const struct trace *trace = growth->selection->host->trace;
    struct str name = trace_name(trace, track->name);
    struct track_walk walk = {.growth = growth, .track = track};

    walk.track_node =
        tree_child(&growth->tree, 0, name.count > 0 ? name : STR("(unnamed)"), KIND_OTHER);
    walk.nodes = memory_resize(NULL, track->row_count, sizeof(*walk.nodes));
    for (uint32_t row = 0; row < track->row_count; row++) {
        uint32_t count = trace->rows[track->first_row + row].count;

        walk.nodes[row] = memory_zeroed((size_t)count + 1, sizeof(**walk.nodes));
        grow_from_row(&walk, row, chunk);
    }
    for (uint32_t row = 0; row < track->row_count; row++)
        free(walk.nodes[row]);
    free(walk.nodes);
    map64_free(&walk.child_of);
}

void grow_from_tracks(struct growth *growth)
{
    const struct trace *trace = growth->selection->host->trace;
    struct chunk *chunk = memory_resize(NULL, 1, sizeof(*chunk)); /* 160 KB: not on a stack */

    for (track_id id = 0; id < trace->track_count; id++) {
        if (growth->selection->tracks[id] && trace->tracks[id].slice_count > 0)
            grow_from_track(growth, &trace->tracks[id], chunk);
    }
    free(chunk);
}
