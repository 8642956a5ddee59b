#include "analyse/breakdown_line.h"

#include <stdlib.h>

/* The order in which kinds win where several run at once. */
static const enum kind telling[KIND_COUNT] = {
    KIND_COMPUTE, KIND_COMMUNICATION, KIND_COPY, KIND_INPUT, KIND_COMPILE, KIND_HOST, KIND_OTHER,
};

struct row_walk { /* a row of the thread */
    const struct row *row;
    uint32_t at, end;
    struct slice_group *group;
};

struct device_walk { /* ops of one device, by start */
    uint32_t at, end;
    int64_t start_ps; /* of the op at hand */
};

struct devices { /* a heap of devices: who starts first stands on top */
    const struct attribution *attribution;
    struct device_walk *walks;
    uint32_t count;
    int64_t until_ps[KIND_COUNT]; /* a kind lasts until the latest end of those that have begun */
    int64_t now_ps;
};

enum source { SOURCE_ROW, SOURCE_DEVICES, SOURCE_OVERLAY };

/* Where pieces come from: a row, the devices, or one source laid over another. */
struct node {
    enum source source;
    struct row_walk row;
    struct devices devices;
    struct node *below, *above;
    bool has_below, has_above; /* a piece of each at hand */
    struct piece rest, over;
};

struct line {
    const struct trace *trace;
    struct window window;
    const struct skipped *skipped;
    struct node *root;
    struct node **nodes; /* all that were made */
    uint32_t node_count, node_capacity;
};

static struct node *make_node(struct line *line, enum source source)
{
    struct node *node = calloc(1, sizeof(*node));

    if (node == NULL)
        abort(); /* out of memory: as base/arena.h says */
    node->source = source;
    if (line->node_count == line->node_capacity) {
        line->node_capacity = line->node_capacity == 0 ? 16 : 2 * line->node_capacity;
        line->nodes = memory_resize(line->nodes, line->node_capacity, sizeof(*line->nodes));
    }
    line->nodes[line->node_count++] = node;
    return node;
}

static bool is_skipped(const struct skipped *skipped, slice_id slice)
{
    uint32_t low = 0, high = skipped->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (skipped->slices[middle] < slice)
            low = middle + 1;
        else
            high = middle;
    }
    return low < skipped->count && skipped->slices[low] == slice;
}

static bool next_of_row(const struct line *line, struct row_walk *walk, struct piece *ret)
{
    struct slice_group *group = walk->group;

    for (; walk->at < walk->end; walk->at++) {
        if (walk->at - group->first >= group->count) {
            row_group(line->trace, walk->row, walk->at, group);
            if (walk->at - group->first >= group->count) /* damaged: reads as empty */
                return false;
        }

        uint32_t i = walk->at - group->first;

        if (group->dur_ps[i] <= 0 || (line->skipped->count > 0 &&
                                      is_skipped(line->skipped, walk->row->first_slice + walk->at)))
            continue;
        *ret = (struct piece){group->start_ps[i], group->start_ps[i] + group->dur_ps[i],
                              (enum kind)group->kind[i]};
        walk->at++;
        return true;
    }
    return false;
}

/* Restores the heap's order from its top down. */
static void sift(struct devices *devices)
{
    struct device_walk *walks = devices->walks, moved = walks[0];
    uint32_t at = 0;

    for (uint32_t child; (child = 2 * at + 1) < devices->count; at = child) {
        if (child + 1 < devices->count && walks[child + 1].start_ps < walks[child].start_ps)
            child++;
        if (moved.start_ps <= walks[child].start_ps)
            break;
        walks[at] = walks[child];
    }
    walks[at] = moved;
}

static const struct attributed *op_at(const struct devices *devices, uint32_t at)
{
    return &devices->attribution->entries[devices->attribution->by_device_time[at]];
}

/* To the device's next op in the window; false where there is none. */
static bool seek(const struct devices *devices, struct device_walk *walk, struct window window)
{
    for (; walk->at < walk->end; walk->at++) {
        const struct attributed *entry = op_at(devices, walk->at);

        if (entry->start_ps >= window.to_ps)
            return false;
        if (entry->dur_ps > 0 && entry->start_ps + entry->dur_ps > window.from_ps) {
            walk->start_ps = entry->start_ps;
            return true;
        }
    }
    return false;
}

/* Begins the next op, whose device goes on to the one behind it. */
static void begin_op(const struct line *line, struct devices *devices)
{
    struct device_walk *walk = &devices->walks[0];
    const struct attributed *entry = op_at(devices, walk->at++);
    enum kind kind = devices->attribution->ops[entry->op].kind;
    int64_t end_ps = entry->start_ps + entry->dur_ps;

    if (end_ps > devices->until_ps[kind])
        devices->until_ps[kind] = end_ps;
    if (!seek(devices, walk, line->window))
        *walk = devices->walks[--devices->count];
    if (devices->count > 0)
        sift(devices);
}

static bool next_of_devices(const struct line *line, struct devices *devices, struct piece *ret)
{
    for (;;) {
        int64_t next_ps = devices->count > 0 ? devices->walks[0].start_ps : INT64_MAX;

        for (int order = 0; order < KIND_COUNT && devices->now_ps < next_ps; order++) {
            enum kind kind = telling[order];
            int64_t to_ps = devices->until_ps[kind] < next_ps ? devices->until_ps[kind] : next_ps;

            if (to_ps <= devices->now_ps)
                continue;
            *ret = (struct piece){devices->now_ps, to_ps, kind};
            devices->now_ps = to_ps;
            return true;
        }
        if (devices->count == 0)
            return false;
        devices->now_ps = next_ps;
        begin_op(line, devices);
    }
}

static bool next_of(const struct line *line, struct node *node, struct piece *ret);

/* `above` where it has something, else `below`. */
static bool next_of_overlay(const struct line *line, struct node *node, struct piece *ret)
{
    if (!node->has_above)
        node->has_above = next_of(line, node->above, &node->over);
    if (!node->has_below)
        node->has_below = next_of(line, node->below, &node->rest);
    if (!node->has_below) {
        bool found = node->has_above;

        *ret = node->over;
        node->has_above = false;
        return found;
    }
    if (!node->has_above || node->rest.to_ps <= node->over.from_ps) {
        *ret = node->rest;
        node->has_below = false;
        return true;
    }
    if (node->rest.from_ps < node->over.from_ps) {
        *ret = (struct piece){node->rest.from_ps, node->over.from_ps, node->rest.kind};
        node->rest.from_ps = node->over.from_ps;
        return true;
    }
    *ret = node->over;
    node->has_above = false;
    /* What is covered of those below goes. */
    while (node->has_below && node->rest.to_ps <= ret->to_ps)
        node->has_below = next_of(line, node->below, &node->rest);
    if (node->has_below && node->rest.from_ps < ret->to_ps)
        node->rest.from_ps = ret->to_ps;
    return true;
}

static bool next_of(const struct line *line, struct node *node, struct piece *ret)
{
    switch (node->source) {
    case SOURCE_ROW:
        return next_of_row(line, &node->row, ret);
    case SOURCE_DEVICES:
        return next_of_devices(line, &node->devices, ret);
    default:
        return next_of_overlay(line, node, ret);
    }
}

static struct node *overlay(struct line *line, struct node *below, struct node *above)
{
    if (below == NULL || above == NULL)
        return below == NULL ? above : below;

    struct node *node = make_node(line, SOURCE_OVERLAY);

    node->below = below;
    node->above = above;
    return node;
}

/* Deeper rows over shallower ones, by halves, so that a piece is handed up log(depth) times. */
static struct node *open_rows(struct line *line, const struct track *track, uint32_t first,
                              uint32_t count)
{
    if (count > 1) {
        struct node *below = open_rows(line, track, first, count / 2);

        return overlay(line, below, open_rows(line, track, first + count / 2, count - count / 2));
    }
    if (count == 0)
        return NULL;

    struct node *node = make_node(line, SOURCE_ROW);

    node->row.row = &line->trace->rows[track->first_row + first];
    node->row.group = calloc(1, sizeof(*node->row.group));
    if (node->row.group == NULL)
        abort(); /* out of memory: as base/arena.h says */
    row_window(line->trace, node->row.row, line->window.from_ps, line->window.to_ps, &node->row.at,
               &node->row.end);
    return node;
}

/* Where the ops of the device at `at` end. */
static uint32_t device_end(const struct devices *devices, uint32_t at)
{
    uint32_t low = at, high = devices->attribution->entry_count;
    int32_t device = op_at(devices, at)->device;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (op_at(devices, middle)->device <= device)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct node *open_devices(struct line *line, const struct attribution *attribution)
{
    uint32_t capacity = 0, end;

    if (attribution == NULL || attribution->entry_count == 0)
        return NULL;

    struct node *node = make_node(line, SOURCE_DEVICES);
    struct devices *devices = &node->devices;

    devices->attribution = attribution;
    devices->now_ps = INT64_MIN;
    for (int kind = 0; kind < KIND_COUNT; kind++)
        devices->until_ps[kind] = INT64_MIN;
    for (uint32_t at = 0; at < attribution->entry_count; at = end) {
        struct device_walk walk = {.at = at};

        end = walk.end = device_end(devices, at);
        if (!seek(devices, &walk, line->window))
            continue;
        if (devices->count == capacity) {
            capacity = capacity == 0 ? 16 : 2 * capacity;
            devices->walks = memory_resize(devices->walks, capacity, sizeof(*devices->walks));
        }
        /* From the bottom up to its place. */
        uint32_t place = devices->count++;

        for (; place > 0 && walk.start_ps < devices->walks[(place - 1) / 2].start_ps;
             place = (place - 1) / 2)
            devices->walks[place] = devices->walks[(place - 1) / 2];
        devices->walks[place] = walk;
    }
    return node;
}

struct line *line_open(const struct host_trace *host, track_id thread, struct window window,
                       const struct skipped *skipped)
{
    struct line *line = memory_resize(NULL, 1, sizeof(*line));
    struct node *rows = NULL;

    *line = (struct line){.trace = host->trace, .window = window, .skipped = skipped};
    if (thread != NO_TRACK)
        rows =
            open_rows(line, &host->trace->tracks[thread], 0, host->trace->tracks[thread].row_count);
    line->root = overlay(line, rows, open_devices(line, host->attribution));
    return line;
}

bool line_next(struct line *line, struct piece *ret)
{
    return line->root != NULL && next_of(line, line->root, ret);
}

void line_close(struct line *line)
{
    for (uint32_t i = 0; i < line->node_count; i++) {
        free(line->nodes[i]->row.group);
        free(line->nodes[i]->devices.walks);
        free(line->nodes[i]);
    }
    free(line->nodes);
    free(line);
}
