#include "analyse/flame.h"

#include <stdlib.h>

#include "analyse/flame_parts.h"
#include "analyse/scan.h"
#include "analyse/scope.h"

enum { DEPTH_DEFAULT = 64, NODES_DEFAULT = 2000, NODES_MAX = 20000 };

enum flame_by { FLAME_SCOPE, FLAME_SOURCE, FLAME_TRACK, FLAME_STACK, FLAME_BYTES };

struct growth { /* while the tree grows; see flame_parts.h */
    struct flame_tree tree;
    const struct selection *selection;
    uint32_t depth;
    enum flame_by by;
    uint32_t *node_of; /* by op, plus one */
    struct arena *arena;
};

static uint32_t node_of_op(struct growth *growth, uint32_t index)
{
    const struct trace *trace = growth->selection->host->trace;
    const struct op *op = &growth->selection->host->attribution->ops[index];
    struct str rest =
        growth->by == FLAME_SCOPE ? scope_of_op(trace, op) : trace_name(trace, op->source);
    struct str element, name = trace_name(trace, op->name);
    struct str module = trace_name(trace, op->module);
    uint32_t node = 0;

    /* Every path begins with its module, so that ops without a scope have a place too. */
    if (growth->by == FLAME_SCOPE && module.count > 0)
        node = tree_child(&growth->tree, node, module, op->kind);
    if (growth->by == FLAME_SOURCE) {
        if (rest.count == 0)
            rest = STR("(no source)");
        node = tree_child(&growth->tree, node, rest, op->kind);
        rest.count = 0;
    }
    while (growth->tree.nodes[node].level + 1 < growth->depth && scope_next(&rest, &element))
        node =
            tree_child(&growth->tree, node, element.count > 0 ? element : STR("(empty)"), op->kind);
    return growth->tree.nodes[node].level < growth->depth
               ? tree_child(&growth->tree, node, name, op->kind)
               : node;
}

static void add_ops(void *data, const struct op_block *block)
{
    struct growth *growth = data;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct attributed *entry = &block->entries[block->first + i];
        uint32_t *known = &growth->node_of[entry->op];

        if (block->inside_ps[i] < 0)
            continue;
        if (*known == 0)
            *known = node_of_op(growth, entry->op) + 1;
        growth->tree.nodes[*known - 1].self_ps += block->self_ps[i];
        growth->tree.nodes[*known - 1].count += entry->first;
    }
}

static void grow_from_ops(struct growth *growth)
{
    const struct attribution *attribution = growth->selection->host->attribution;

    if (attribution == NULL)
        return;
    growth->node_of = memory_resize(NULL, attribution->op_count, sizeof(uint32_t));
    memset(growth->node_of, 0, attribution->op_count * sizeof(uint32_t));
    scan_ops(growth->selection, add_ops, (void *const[]){growth}, 1);
    free(growth->node_of);
}

/* By track, a slice's node hangs below its parent's. Parents stand in earlier rows, so walking rows
 * in order every parent is known before its children. */
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

static void add_track_slice(struct track_walk *walk, uint32_t row, uint32_t ordinal,
                            const struct chunk *chunk, uint32_t at)
{
    struct growth *growth = walk->growth;
    int64_t inside_ps = selection_inside(growth->selection, chunk->start_ps[at], chunk->dur_ps[at]);

    if (inside_ps <= 0)
        return;

    uint32_t parent = node_of_slice(walk, row, chunk->parent[at]), node = parent;

    if (growth->tree.nodes[parent].level < growth->depth)
        node = child_of(walk, parent, chunk->name[at], (enum kind)chunk->kind[at]);
    walk->nodes[row][ordinal] = node + 1;
    growth->tree.nodes[node].self_ps += inside_ps;
    growth->tree.nodes[node].count++;
    /* The parent's own time shrinks by what its child covers; top-level slices cover no one's. */
    if (parent != walk->track_node)
        growth->tree.nodes[parent].self_ps -= inside_ps;
}

static void grow_from_row(struct track_walk *walk, uint32_t index, struct chunk *chunk)
{
    const struct selection *selection = walk->growth->selection;
    const struct trace *trace = selection->host->trace;
    const struct row *row = &trace->rows[walk->track->first_row + index];
    uint32_t first = 0, end = row->count;

    if (selection->cut_in_time)
        row_window(trace, row, selection->windows[0].from_ps,
                   selection->windows[selection->window_count - 1].to_ps, &first, &end);
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

        walk.nodes[row] = calloc((size_t)count + 1, sizeof(**walk.nodes));
        if (walk.nodes[row] == NULL)
            abort(); /* out of memory: as base/arena.h says */
        grow_from_row(&walk, row, chunk);
    }
    for (uint32_t row = 0; row < track->row_count; row++)
        free(walk.nodes[row]);
    free(walk.nodes);
    map64_free(&walk.child_of);
}

static void grow_from_tracks(struct growth *growth)
{
    const struct trace *trace = growth->selection->host->trace;
    struct chunk *chunk = memory_resize(NULL, 1, sizeof(*chunk)); /* 160 KB: not on a stack */

    for (track_id id = 0; id < trace->track_count; id++) {
        if (growth->selection->tracks[id] && trace->tracks[id].slice_count > 0)
            grow_from_track(growth, &trace->tracks[id], chunk);
    }
    free(chunk);
}

static enum status parse_by(struct str word, bool has_ops, enum flame_by *ret, struct error *err)
{
    if (word.count == 0 || str_equal(word, STR("scope")))
        *ret = has_ops ? FLAME_SCOPE : FLAME_TRACK;
    else if (str_equal(word, STR("source")))
        *ret = FLAME_SOURCE;
    else if (str_equal(word, STR("track")))
        *ret = FLAME_TRACK;
    else if (str_equal(word, STR("stack")))
        *ret = FLAME_STACK;
    else if (str_equal(word, STR("bytes")))
        *ret = FLAME_BYTES;
    else
        return fail(err, ERR_INVALID, "by=%.*s is none of scope, source, track, stack, bytes",
                    STR_ARG(word));
    return OK;
}

static void tell_by(const struct flame_question *question, enum flame_by by, struct arena *arena,
                    struct flame *ret)
{
    static const char *const words[] = {"scope", "source", "track", "stack", "bytes"};
    struct str reason = STR("");

    ret->by = str_of(words[by]);
    if (ret->type.count == 0) {
        ret->unit = STR("ps");
        ret->of = by == FLAME_TRACK ? STR("host") : STR("device");
    }
    if (by == FLAME_BYTES && ret->type.count == 0)
        reason = STR("the run holds no samples in bytes: save some with "
                     "jax.profiler.save_device_memory_profile");
    if (by == FLAME_TRACK && !str_equal(question->by, STR("track")))
        reason = str_equal(question->by, STR("stack"))
                     ? STR("by track, because the profile holds no sampled stacks")
                     : STR("by track, because the profile holds no ops");
    if (reason.count > 0) {
        struct answer_note *note = arena_new(arena, struct answer_note);

        *note = (struct answer_note){.kind = "by-fallback", .message = reason, .count = 1};
        ret->notes = note;
        ret->note_count = 1;
    }
}

static void grow_from_slices(struct growth *growth, const struct selection *selections,
                             uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        growth->selection = &selections[i];
        if (growth->by == FLAME_TRACK)
            grow_from_tracks(growth);
        else
            grow_from_ops(growth);
    }
}

/* What was asked for, else what there is. */
static enum status grow_tree(struct growth *growth, const struct run_traces *run,
                             const struct restriction *restriction,
                             const struct flame_question *question, struct flame *ret,
                             struct error *err)
{
    struct selection *selections;
    uint32_t count;
    bool has_ops = false;

    TRY(restrict_run(run, restriction, growth->arena, &selections, &count, err));
    for (uint32_t i = 0; i < count; i++)
        has_ops |= selections[i].host->attribution != NULL &&
                   selections[i].host->attribution->entry_count > 0;
    TRY(parse_by(question->by, has_ops, &growth->by, err));
    if (question->by.count == 0 && run->host_count == 0)
        growth->by = FLAME_STACK;
    if (growth->by == FLAME_STACK || growth->by == FLAME_BYTES) {
        TRY(flame_stacks(run, restriction, question, &growth->tree, growth->arena, ret, err));
        if (ret->type.count > 0 || growth->by == FLAME_BYTES)
            return OK;
        growth->by = FLAME_TRACK;
    }
    grow_from_slices(growth, selections, count);
    return OK;
}

enum status flame(const struct run_traces *run, const struct restriction *restriction,
                  const struct flame_question *question, struct arena *arena, struct flame *ret,
                  struct error *err)
{
    struct growth growth = {
        .depth = question->depth > 0 && question->depth < DEPTH_DEFAULT ? question->depth
                                                                        : DEPTH_DEFAULT,
        .arena = arena,
    };
    uint32_t limit = question->node_limit == 0          ? NODES_DEFAULT
                     : question->node_limit < NODES_MAX ? question->node_limit
                                                        : NODES_MAX;

    *ret = (struct flame){0};
    tree_open(&growth.tree, run->name);

    enum status status = grow_tree(&growth, run, restriction, question, ret, err);

    if (status == OK) {
        if (growth.by != FLAME_BYTES || ret->type.count > 0)
            ret->nodes = tree_prune(&growth.tree, limit, arena, &ret->node_count);
        tell_by(question, growth.by, arena, ret);
    }
    tree_close(&growth.tree);
    return status;
}
