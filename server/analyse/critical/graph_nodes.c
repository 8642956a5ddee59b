/* SPDX-License-Identifier: Apache-2.0 */
/* Lays the slices of a lane over each other: at each moment the innermost one counts.
 *
 *   step    |............................|
 *   call        |.........|                    nodes   step call op call step
 *   op             |...|
 *
 * What lies inside of an op belongs to it, but ops and what Python does when it is called back;
 * inside of a wait only ops count. Facts: rows of a trace, entries of its attribution.
 */
#include <stdlib.h>

#include "analyse/critical/graph_parts.h"
#include "analyse/scan/scan.h"
#include "trace/ps.h"

enum {
    OPEN_MAX = 4096,   /* deeper slices count to who is around them */
    POOL_PARTS = 10,   /* of a pool's thread: less is an op now and then */
    MARK_PS = 1000000, /* what marking its end takes is not the op's; measured: 0.1 to 0.4 us */
};

struct open_slice {
    int64_t end_ps;
    const struct drawn *of;
    uint32_t node; /* its last */
    double factor; /* of its name, or of one around it */
    uint8_t class, doing;
    bool closed; /* nothing of the host counts inside of it */
};

struct laying {
    struct graph_maker *maker;
    struct maker_host *host;
    uint32_t lane;
    int64_t cursor_ps;
    struct open_slice *open;
    uint32_t count;
};

static void draw(struct graph_maker *maker, struct drawn drawn)
{
    if (maker->drawn_count == maker->drawn_capacity) {
        maker->drawn_capacity = maker->drawn_capacity == 0 ? 1024 : 2 * maker->drawn_capacity;
        maker->drawn = memory_resize(maker->drawn, maker->drawn_capacity, sizeof *maker->drawn);
    }
    maker->drawn[maker->drawn_count++] = drawn;
}

static uint32_t entry_of_slice(const struct attribution *of, uint32_t *at, slice_id slice)
{
    if (of == NULL)
        return NO_ENTRY;
    while (*at < of->entry_count && entry_slice(of, *at) < slice)
        ++*at;
    return *at < of->entry_count && entry_slice(of, *at) == slice ? *at : NO_ENTRY;
}

static void draw_arrow(struct graph_maker *maker, struct arrival arrival)
{
    if (maker->arrival_count == maker->arrival_capacity) {
        maker->arrival_capacity = maker->arrival_capacity == 0 ? 256 : 2 * maker->arrival_capacity;
        maker->arrivals =
            memory_resize(maker->arrivals, maker->arrival_capacity, sizeof *maker->arrivals);
    }
    maker->arrivals[maker->arrival_count++] = arrival;
}

static void draw_over(struct graph_maker *maker, struct over over)
{
    if (maker->over_count == maker->over_capacity) {
        maker->over_capacity = maker->over_capacity == 0 ? 256 : 2 * maker->over_capacity;
        maker->overs = memory_resize(maker->overs, maker->over_capacity, sizeof *maker->overs);
    }
    maker->overs[maker->over_count++] = over;
}

/* Arrows to a slice of the row, which are asked for in order. */
static void draw_arrows(struct graph_maker *maker, const struct maker_host *host, slice_id slice,
                        bool mark, bool ends, uint64_t *at)
{
    const struct trace *trace = host->host->trace;

    for (; *at < trace->flow_count; ++*at) {
        const struct flow *flow = &trace->flows[trace->flow_by_to[*at]];
        int64_t at_ps = ps_sum(flow->to_ps, host->host->offset_ps);

        if (flow->to > slice)
            return;
        if (flow->to < slice)
            continue;
        if (ends)
            draw_over(
                maker,
                (struct over){.at_ps = at_ps, .flow = flow, .lane = maker->graph.lane_count - 1});
        else
            draw_arrow(maker, (struct arrival){
                                  .at_ps = at_ps, .flow = flow, .node = NO_NODE, .mark = mark});
    }
}

/* Slices of a row that touch the window, in run time; instants and marks of ends are no work. */
static void draw_row(struct graph_maker *maker, struct maker_host *host, const struct row *row,
                     int64_t from_ps, int64_t to_ps)
{
    const struct trace *trace = host->host->trace;
    const int64_t offset_ps = host->host->offset_ps;
    struct slice_group group = {0};
    uint32_t first, end, entry;
    uint64_t arrow;

    row_window(trace, row, ps_apart(from_ps, offset_ps), ps_apart(to_ps, offset_ps), &first, &end);
    if (first >= end)
        return;
    if (end - first > GRAPH_SLICES_MAX - maker->drawn_count) {
        maker->graph.left_out_count += end - first;
        return;
    }
    arrow = flow_first_to(trace, row->first_slice + first);
    entry = host->host->attribution == NULL
                ? 0
                : attribution_from(host->host->attribution, row->first_slice + first);
    for (uint32_t i = first; i < end; i++) {
        if (i == first || i - group.first >= group.count)
            row_group(trace, row, i, &group);

        uint32_t k = i - group.first;
        slice_id slice = row->first_slice + i;

        if (k >= group.count)
            continue;

        bool ends = name_class_of(host, (enum kind)group.kind[k], group.name[k]) & NAME_END;

        draw_arrows(maker, host, slice, group.dur_ps[k] <= 0, ends, &arrow);
        if (group.dur_ps[k] <= 0 || ends)
            continue;

        int64_t start_ps = ps_sum(group.start_ps[k], offset_ps);

        draw(maker, (struct drawn){.start_ps = start_ps,
                                   .end_ps = ps_sum(start_ps, group.dur_ps[k]),
                                   .slice = slice,
                                   .entry = entry_of_slice(host->host->attribution, &entry, slice),
                                   .name = group.name[k],
                                   .kind = group.kind[k]});
    }
}

static int drawn_order(const void *left, const void *right)
{
    const struct drawn *a = left, *b = right;

    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    if (a->end_ps != b->end_ps)
        return a->end_ps > b->end_ps ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

static void sort_drawn(struct graph_maker *maker)
{
    for (uint32_t i = 1; i < maker->drawn_count; i++) {
        if (drawn_order(&maker->drawn[i - 1], &maker->drawn[i]) > 0) {
            qsort(maker->drawn, maker->drawn_count, sizeof *maker->drawn, drawn_order);
            return;
        }
    }
}

static struct graph_node *add_node(struct step_graph *graph)
{
    if (graph->node_count == graph->node_capacity) {
        graph->node_capacity = graph->node_capacity == 0 ? 4096 : 2 * graph->node_capacity;
        graph->nodes = memory_resize(graph->nodes, graph->node_capacity, sizeof *graph->nodes);
    }
    return &graph->nodes[graph->node_count++];
}

static enum op_role role_of_entry(const struct maker_host *host, uint32_t entry)
{
    const struct attribution *of = host->host->attribution;
    uint32_t op = entry_op(of, entry);
    uint8_t known = host->roles.known[op];

    if (known == 0)
        known = host->roles.known[op] = (uint8_t)(1 + op_role_of(host->host->trace, &of->ops[op]));
    return (enum op_role)(known - 1);
}

/* When an op of a host's threads was over: it may go on when its thread does other things. */
static int64_t over_of(const struct maker_host *host, uint32_t entry)
{
    const struct attribution *of = host->host->attribution;
    const struct attributed *op = ENTRY_AT(of, entry);
    uint32_t at = attribution_time_from(of, op->device, op->start_ps);

    while (at < of->entry_count && entry_in_time(of, at) != entry &&
           entry_at(of, entry_in_time(of, at)).start_ps == op->start_ps)
        at++;
    if (at >= of->entry_count || entry_in_time(of, at) != entry)
        return op->start_ps + op->dur_ps;
    return device_op_over(host->host, at);
}

static void describe_op(const struct maker_host *host, enum lane_kind lane, struct graph_node *node)
{
    const struct op *op =
        &host->host->attribution->ops[entry_op(host->host->attribution, node->entry)];
    enum op_role role = role_of_entry(host, node->entry);

    node->kind = (uint8_t)op->kind;
    node->name = op->name;
    if (role == ROLE_OF_WAIT || (op->kind == KIND_COMMUNICATION && role == ROLE_OF_WORK))
        node->release = RELEASE_OP;
    node->pool_op = lane == LANE_THREAD && role != ROLE_OF_CONTAINER;
    node->done = role == ROLE_OF_WAIT;
    node->container = role == ROLE_OF_CONTAINER;
}

/* What a device did that is no op. */
static void describe_work(struct graph_node *node, enum kind kind)
{
    node->kind = (uint8_t)kind;
    node->release = kind == KIND_COMMUNICATION ? RELEASE_OP : RELEASE_NONE;
}

/* What a transfer calls in Python moves no bytes itself: that is the host's own work. */
static enum kind kind_of_doing(const struct maker_host *host, const struct graph_node *node)
{
    enum host_doing doing = (enum host_doing)node->doing;
    bool moves =
        doing != DOING_TRANSFER || !is_python_call(trace_name(host->host->trace, node->name));

    return moves ? doing_kind(doing) : KIND_HOST;
}

static void describe_thread(const struct maker_host *host, struct graph_node *node, uint8_t class,
                            uint8_t doing)
{
    bool waits = (class & 15) == DOING_WAIT && !(class & NAME_SLEEP);
    bool reads = (class & NAME_SYNC) != 0;

    node->doing = doing;
    node->sync = (class & NAME_SYNC) != 0;
    node->release = waits || reads ? RELEASE_WAIT : RELEASE_NONE;
    node->may_wait =
        !waits && !reads && !(class & NAME_SLEEP) && doing != DOING_INPUT && doing != DOING_COMPILE;
    node->kind = (uint8_t)(waits && doing != DOING_INPUT ? KIND_IDLE : kind_of_doing(host, node));
}

/* An op's own, or of names on its thread the outermost that is scaled. */
static double factor_of(const struct laying *laying, const struct open_slice *of)
{
    const struct edits *edits = laying->maker->edits;
    const uint32_t host = laying->maker->graph.lanes[laying->lane].host;

    if (edits == NULL || of->of->entry == NO_ENTRY)
        return of->factor;
    return of->factor * edits->ops[host][entry_op(laying->host->host->attribution, of->of->entry)];
}

static double name_factor(const struct laying *laying, const struct open_slice *around,
                          name_id name)
{
    const struct edits *edits = laying->maker->edits;

    if (edits == NULL || (around != NULL && around->factor != 1))
        return around == NULL ? 1 : around->factor;
    return edits->names[laying->maker->graph.lanes[laying->lane].host][name];
}

/* [from, to) of the lane is this slice's. */
static void lay(struct laying *laying, struct open_slice *of, int64_t from_ps, int64_t to_ps)
{
    struct step_graph *graph = &laying->maker->graph;

    if (to_ps <= from_ps)
        return;
    if (of->node != NO_NODE && of->node + 1 == graph->node_count &&
        graph->nodes[of->node].end_ps == from_ps) {
        graph->nodes[of->node].end_ps = graph->nodes[of->node].free_ps = to_ps;
        return;
    }

    bool first = of->node == NO_NODE;
    struct graph_node *node = add_node(graph);

    of->node = graph->node_count - 1;
    *node = (struct graph_node){.start_ps = from_ps,
                                .end_ps = to_ps,
                                .free_ps = to_ps,
                                .slice = of->of->slice,
                                .lane = laying->lane,
                                .entry = of->of->entry,
                                .name = of->of->name,
                                .factor = factor_of(laying, of),
                                .first = first};
    if (node->entry != NO_ENTRY)
        describe_op(laying->host, graph->lanes[laying->lane].kind, node);
    else if (graph->lanes[laying->lane].kind != LANE_THREAD)
        describe_work(node, (enum kind)of->of->kind);
    else
        describe_thread(laying->host, node, of->class, of->doing);
    node->mark = node->may_wait && is_mark(laying->host, node->slice);
}

/* The innermost one closes at its end, or where a later one cut it. */
static void close_innermost(struct laying *laying)
{
    struct open_slice *of = &laying->open[laying->count - 1];
    struct step_graph *graph = &laying->maker->graph;

    lay(laying, of, laying->cursor_ps, of->end_ps);
    if (of->end_ps > laying->cursor_ps)
        laying->cursor_ps = of->end_ps;
    if (of->node != NO_NODE && graph->nodes[of->node].pool_op) {
        struct graph_node *node = &graph->nodes[of->node];
        int64_t over_ps = ps_sum(over_of(laying->host, node->entry), laying->host->host->offset_ps);

        node->end_ps = over_ps - node->free_ps > MARK_PS ? over_ps : node->free_ps;
    }
    laying->count--;
}

/* Does nothing inside of who is open count, unless it is an op or called back? */
static bool is_closed(const struct maker_host *host, const struct drawn *drawn, uint8_t class)
{
    if (drawn->entry != NO_ENTRY)
        return role_of_entry(host, drawn->entry) != ROLE_OF_CONTAINER;
    return (class & 15) == DOING_WAIT;
}

static bool counts_inside(const struct maker_host *host, const struct open_slice *around,
                          const struct drawn *drawn)
{
    if (!around->closed || drawn->entry != NO_ENTRY)
        return true;
    return around->of->entry != NO_ENTRY &&
           str_starts(trace_name(host->host->trace, drawn->name), STR("$"));
}

static void open_one(struct laying *laying, const struct drawn *drawn)
{
    struct open_slice *around;
    uint8_t class = name_class_of(laying->host, (enum kind)drawn->kind, drawn->name);

    while (laying->count > 0 && laying->open[laying->count - 1].end_ps <= drawn->start_ps)
        close_innermost(laying);
    around = laying->count > 0 ? &laying->open[laying->count - 1] : NULL;
    if (laying->count == OPEN_MAX || (around && !counts_inside(laying->host, around, drawn)))
        return;
    if (around != NULL)
        lay(laying, around, laying->cursor_ps, drawn->start_ps);
    if (drawn->start_ps > laying->cursor_ps)
        laying->cursor_ps = drawn->start_ps;
    laying->open[laying->count++] = (struct open_slice){
        .end_ps = drawn->end_ps,
        .of = drawn,
        .node = NO_NODE,
        .class = class,
        .doing = around == NULL ? class & 15
                                : (uint8_t)doing_inside((enum host_doing)around->doing,
                                                        (enum host_doing)(class & 15)),
        .factor = drawn->entry != NO_ENTRY ? (around == NULL ? 1 : around->factor)
                                           : name_factor(laying, around, drawn->name),
        .closed = is_closed(laying->host, drawn, class)};
}

static void lay_over(struct laying *laying)
{
    const struct graph_maker *maker = laying->maker;

    laying->cursor_ps = INT64_MIN;
    for (uint32_t i = 0; i < maker->drawn_count; i++)
        open_one(laying, &maker->drawn[i]);
    while (laying->count > 0)
        close_innermost(laying);
}

/* Asynchronous work overlaps: each slice is a node. */
static void lay_beside(struct laying *laying)
{
    const struct graph_maker *maker = laying->maker;

    for (uint32_t i = 0; i < maker->drawn_count; i++) {
        const struct drawn *drawn = &maker->drawn[i];
        struct open_slice of = {.of = drawn, .node = NO_NODE, .factor = 1, .doing = DOING_OTHER};

        lay(laying, &of, drawn->start_ps, drawn->end_ps);
    }
}

/* A thread of a pool runs ops. Who steps, or mostly does other things, runs one now and then: XLA
 * runs small programs on the thread that calls them. */
static bool is_pool(const struct step_graph *graph, const struct graph_lane *lane)
{
    int64_t ops_ps = 0, all_ps = 0;

    for (uint32_t i = lane->first_node; i < lane->first_node + lane->count; i++) {
        const struct graph_node *node = &graph->nodes[i];

        if (node->mark)
            return false;
        ps_add(&all_ps, node->free_ps - node->start_ps);
        if (node->pool_op)
            ps_add(&ops_ps, node->free_ps - node->start_ps);
    }
    return ops_ps > all_ps / POOL_PARTS;
}

static uint32_t add_lane(struct step_graph *graph, struct graph_lane lane)
{
    if (graph->lane_count == graph->lane_capacity) {
        graph->lane_capacity = graph->lane_capacity == 0 ? 64 : 2 * graph->lane_capacity;
        graph->lanes = memory_resize(graph->lanes, graph->lane_capacity, sizeof *graph->lanes);
    }
    graph->lanes[graph->lane_count] = lane;
    return graph->lane_count++;
}

static void draw_lane(struct graph_maker *maker, struct maker_host *host,
                      const struct maker_lane *lane, int64_t from_ps, int64_t to_ps)
{
    const struct trace *trace = host->host->trace;

    maker->drawn_count = 0;
    for (uint32_t i = 0; i < lane->track_count; i++) {
        const struct track *track = &trace->tracks[host->tracks[lane->first_track + i]];

        for (uint32_t k = 0; k < track->row_count; k++)
            draw_row(maker, host, &trace->rows[track->first_row + k], from_ps, to_ps);
    }
    sort_drawn(maker);
}

void graph_add_host(struct graph_maker *maker, uint32_t index, int64_t from_ps, int64_t to_ps)
{
    struct maker_host *host = maker_host_open(maker, index);
    struct step_graph *graph = &maker->graph;
    struct laying laying = {.maker = maker,
                            .host = host,
                            .open = memory_resize(NULL, OPEN_MAX, sizeof(struct open_slice))};

    host->first_lane = graph->lane_count;
    for (uint32_t i = 0; i < host->lane_count; i++) {
        const struct maker_lane *lane = &host->lanes[i];
        const uint32_t first_arrival = maker->arrival_count;

        laying.lane = add_lane(graph, (struct graph_lane){.host = index,
                                                          .track = lane->track,
                                                          .device = lane->device,
                                                          .kind = lane->kind,
                                                          .first_node = graph->node_count});
        draw_lane(maker, host, lane, from_ps, to_ps);
        if (lane->kind == LANE_ASYNC)
            lay_beside(&laying);
        else
            lay_over(&laying);
        graph->lanes[laying.lane].count = graph->node_count - graph->lanes[laying.lane].first_node;
        graph->lanes[laying.lane].pool = is_pool(graph, &graph->lanes[laying.lane]);
        graph_place_arrivals(maker, laying.lane, first_arrival);
    }
    free(laying.open);
}
