/* SPDX-License-Identifier: Apache-2.0 */
/* Lays the rows of a thread, or of all threads, over each other into one sequence of pieces. */
#include "analyse/steps/host_line.h"

#include <stdlib.h>

#include "analyse/steps/device_line.h"
#include "base/bisect.h"

/* Each keeps a group of slices: 6 MB. Threads behind are left out, and steps_left_out() says so. */
enum { POOL_ROWS_MAX = 8192 };

struct row_walk { /* a row of the thread */
    const struct row *row;
    uint32_t at, end;
    uint32_t skip; /* the next of the skipped that may come */
    struct slice_group *group;
};

enum joint {               /* what counts where two have a piece */
             JOINT_INSIDE, /* rows of a thread: the inner one, as doing_inside says */
             JOINT_BESIDE, /* threads: the more telling one */
             JOINT_BEHIND, /* a thread that speaks first: where it waits, as JOINT_BESIDE */
};

/* Where pieces come from: a row, or two nodes laid over each other. */
struct node {
    struct row_walk row;
    enum joint joint;
    struct node *outer, *inner; /* NULL: a row */
    bool has_outer, has_inner;  /* a piece of each at hand */
    struct host_piece rest, over;
    bool has_next; /* of both; what follows may still go on with it */
    struct host_piece next;
};

struct host_line {
    const struct trace *trace;
    struct window window;
    const struct skipped *skipped;
    const struct doing_names *names;
    struct node *root;
    struct node **nodes; /* all that were made */
    uint32_t node_count, node_capacity;
};

bool tells_of_host(const struct trace *trace, track_id id)
{
    const struct track *track = &trace->tracks[id];
    struct str name = trace_name(trace, track->name);

    return track->kind == TRACK_THREAD && track->device < 0 && !track->derived &&
           track->row_count > 0 && !str_equal(name, STR("Profiler overhead")) &&
           !str_equal(name, STR("PyTorch Profiler")) &&
           !str_equal(name, STR("Trace PyTorch Profiler"));
}

track_id host_thread_of(const struct trace *trace, track_id track)
{
    track_id parent = track == NO_TRACK ? NO_TRACK : trace->tracks[track].parent;

    return parent != NO_TRACK && trace->tracks[parent].kind == TRACK_THREAD ? parent : track;
}

struct doing_names doing_names_create(const struct trace *trace, bool has_devices)
{
    struct doing_names names = {.trace = trace,
                                .has_devices = has_devices,
                                .in_place = has_devices && !device_work_on_tracks(trace),
                                .known = memory_zeroed((size_t)trace->name_count + 1, 1)};
    return names;
}

void doing_names_free(struct doing_names *names)
{
    free(names->known);
}

/* Names have a meaning by kind, or one of their own; threads that find it out at once write the
 * same. What a host computes says nothing where devices do. */
static enum host_doing doing_of_slice(const struct doing_names *names, enum kind kind, name_id name)
{
    enum host_doing doing;

    if (names == NULL)
        return DOING_OTHER;
    if (kind != KIND_HOST && kind != KIND_OTHER) {
        doing = doing_of(kind, STR(""));
        return names->has_devices && doing <= DOING_COMMUNICATION ? DOING_OTHER : doing;
    }

    uint8_t known = __atomic_load_n(&names->known[name], __ATOMIC_RELAXED);

    if (known == 0) {
        struct str text = trace_name(names->trace, name);

        doing = doing_of(KIND_HOST, text);
        if (names->has_devices && doing <= DOING_COMMUNICATION)
            doing = DOING_OTHER;
        if (names->in_place && str_equal(text, STR("np.asarray(jax.Array)")))
            doing = DOING_WAIT;
        known = (uint8_t)(1 + doing);
        __atomic_store_n(&names->known[name], known, __ATOMIC_RELAXED);
    }
    return (enum host_doing)(known - 1);
}

static struct node *make_node(struct host_line *line)
{
    struct node *node = memory_zeroed(1, sizeof(*node));
    if (line->node_count == line->node_capacity) {
        line->node_capacity = line->node_capacity == 0 ? 16 : 2 * line->node_capacity;
        line->nodes = memory_resize(line->nodes, line->node_capacity, sizeof(*line->nodes));
    }
    line->nodes[line->node_count++] = node;
    return node;
}

/* The first of the skipped that is no slice before this one. */
static uint32_t skipped_from(const struct skipped *skipped, slice_id slice)
{
    return BISECT(0, skipped->count, i, skipped->slices[i] < slice);
}

/* Slices of a row come in order, and so do those that are skipped. */
static bool is_skipped(const struct skipped *skipped, struct row_walk *walk)
{
    slice_id slice = walk->row->first_slice + walk->at;

    while (walk->skip < skipped->count && skipped->slices[walk->skip] < slice)
        walk->skip++;
    return walk->skip < skipped->count && skipped->slices[walk->skip] == slice;
}

static bool next_of_row(const struct host_line *line, struct row_walk *walk, struct host_piece *ret)
{
    struct slice_group *group = walk->group;

    for (; walk->at < walk->end; walk->at++) {
        if (walk->at - group->first >= group->count) {
            row_group(line->trace, walk->row, walk->at, group);
            if (walk->at - group->first >= group->count) /* damaged: reads as empty */
                return false;
        }

        uint32_t i = walk->at - group->first;

        if (group->dur_ps[i] <= 0 || is_skipped(line->skipped, walk))
            continue;
        *ret = (struct host_piece){
            group->start_ps[i], group->start_ps[i] + group->dur_ps[i],
            doing_of_slice(line->names, (enum kind)group->kind[i], group->name[i])};
        walk->at++;
        return true;
    }
    return false;
}

static bool next_of(const struct host_line *line, struct node *node, struct host_piece *ret);

static enum host_doing join(enum joint joint, enum host_doing outer, enum host_doing inner)
{
    if (joint == JOINT_INSIDE)
        return doing_inside(outer, inner);
    if (joint == JOINT_BEHIND && outer < DOING_WAIT)
        return outer;
    return outer < inner ? outer : inner;
}

/* Cuts the outer piece where it ends or where the inner one begins or ends; what is left of both
 * stays at hand. */
static void lay_over(const struct host_line *line, struct node *node, struct host_piece *ret)
{
    struct host_piece *rest = &node->rest, *over = &node->over;

    if (rest->from_ps < over->from_ps) {
        *ret = (struct host_piece){rest->from_ps, over->from_ps, rest->doing};
        rest->from_ps = over->from_ps;
    } else if (over->from_ps < rest->from_ps) {
        *ret = (struct host_piece){over->from_ps, rest->from_ps, over->doing};
        over->from_ps = rest->from_ps;
    } else {
        *ret = (struct host_piece){rest->from_ps,
                                   rest->to_ps < over->to_ps ? rest->to_ps : over->to_ps,
                                   join(node->joint, rest->doing, over->doing)};
        rest->from_ps = over->from_ps = ret->to_ps;
    }
    if (rest->from_ps == rest->to_ps)
        node->has_outer = next_of(line, node->outer, rest);
    if (over->from_ps == over->to_ps)
        node->has_inner = next_of(line, node->inner, over);
}

/* Of a node that joins two, cut wherever one of them begins or ends. */
static bool next_cut(const struct host_line *line, struct node *node, struct host_piece *ret)
{
    if (!node->has_outer && !node->has_inner)
        return false;
    if (!node->has_inner || (node->has_outer && node->rest.to_ps <= node->over.from_ps)) {
        *ret = node->rest;
        node->has_outer = next_of(line, node->outer, &node->rest);
    } else if (!node->has_outer || node->over.to_ps <= node->rest.from_ps) {
        *ret = node->over;
        node->has_inner = next_of(line, node->inner, &node->over);
    } else {
        lay_over(line, node, ret);
    }
    return true;
}

/* Pieces that go on with the same are one, so that nodes further up have fewer of them to cut. */
static bool next_of(const struct host_line *line, struct node *node, struct host_piece *ret)
{
    if (node->inner == NULL)
        return next_of_row(line, &node->row, ret);
    if (!node->has_next)
        return false;
    *ret = node->next;
    while ((node->has_next = next_cut(line, node, &node->next)) &&
           node->next.from_ps == ret->to_ps && node->next.doing == ret->doing)
        ret->to_ps = node->next.to_ps;
    return true;
}

static struct node *join_nodes(struct host_line *line, enum joint joint, struct node *outer,
                               struct node *inner)
{
    struct node *node = make_node(line);

    node->joint = joint;
    node->outer = outer;
    node->inner = inner;
    node->has_outer = next_of(line, outer, &node->rest);
    node->has_inner = next_of(line, inner, &node->over);
    node->has_next = next_cut(line, node, &node->next);
    return node;
}

/* Deeper rows over shallower ones, by halves, so that a piece is handed up log(depth) times. */
static struct node *open_rows(struct host_line *line, const struct track *track, uint32_t first,
                              uint32_t count)
{
    if (count > 1)
        return join_nodes(line, JOINT_INSIDE, open_rows(line, track, first, count / 2),
                          open_rows(line, track, first + count / 2, count - count / 2));

    struct node *node = make_node(line);

    node->row.row = &line->trace->rows[track->first_row + first];
    node->row.skip = skipped_from(line->skipped, node->row.row->first_slice);
    node->row.group = memory_zeroed(1, sizeof(*node->row.group));
    row_window(line->trace, node->row.row, line->window.from_ps, line->window.to_ps, &node->row.at,
               &node->row.end);
    return node;
}

static struct node *open_thread(struct host_line *line, track_id thread)
{
    const struct trace *trace = line->trace;
    track_id whole = host_thread_of(trace, thread);
    struct node *root = NULL;

    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];
        struct node *rows;

        if (track->row_count == 0 || host_thread_of(trace, id) != whole ||
            (id != thread && !tells_of_host(trace, id)))
            continue;
        rows = open_rows(line, track, 0, track->row_count);
        root = root == NULL ? rows : join_nodes(line, JOINT_INSIDE, root, rows);
    }
    return root;
}

struct host_line *host_line_open(const struct trace *trace, track_id thread, struct window window,
                                 const struct skipped *skipped, const struct doing_names *names)
{
    struct host_line *line = memory_resize(NULL, 1, sizeof(*line));

    *line =
        (struct host_line){.trace = trace, .window = window, .skipped = skipped, .names = names};
    if (thread != NO_TRACK)
        line->root = open_thread(line, thread);
    return line;
}

static struct node *open_tracks(struct host_line *line, const track_id *tracks, uint32_t count)
{
    const struct track *track = &line->trace->tracks[tracks[0]];

    if (count == 1)
        return open_rows(line, track, 0, track->row_count);
    return join_nodes(line, JOINT_BESIDE, open_tracks(line, tracks, count / 2),
                      open_tracks(line, tracks + count / 2, count - count / 2));
}

struct host_line *host_line_open_cover(const struct trace *trace, const track_id *tracks,
                                       uint32_t count, struct window window)
{
    static const struct skipped none;
    struct host_line *line = host_line_open(trace, NO_TRACK, window, &none, NULL);

    if (count > 0)
        line->root = open_tracks(line, tracks, count);
    return line;
}

/* The threads beside `thread` that are walked, the same in every window; the others are counted. */
static uint32_t threads_of_pool(const struct trace *trace, track_id thread, track_id *ret,
                                uint32_t *ret_left_out)
{
    uint32_t count = 0;
    uint64_t row_count = 0;

    *ret_left_out = 0;
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (id == thread || !tells_of_host(trace, id) ||
            (thread != NO_TRACK && host_thread_of(trace, id) == host_thread_of(trace, thread)))
            continue;
        if (row_count + track->row_count > POOL_ROWS_MAX) {
            ++*ret_left_out;
            continue;
        }
        row_count += track->row_count;
        ret[count++] = id;
    }
    return count;
}

uint32_t host_pool_left_out(const struct trace *trace, track_id thread)
{
    track_id *others = memory_resize(NULL, (size_t)trace->track_count + 1, sizeof(*others));
    uint32_t ret;

    threads_of_pool(trace, thread, others, &ret);
    free(others);
    return ret;
}

struct host_line *host_line_open_pool(const struct trace *trace, track_id thread,
                                      struct window window, const struct skipped *skipped,
                                      const struct doing_names *names)
{
    struct host_line *line = host_line_open(trace, thread, window, skipped, names);
    track_id *others = memory_resize(NULL, (size_t)trace->track_count + 1, sizeof(*others));
    uint32_t left_out, all = threads_of_pool(trace, thread, others, &left_out), count = 0;

    for (uint32_t i = 0; i < all; i++) {
        const struct track *track = &trace->tracks[others[i]];

        if (track->start_ps < window.to_ps && track->end_ps > window.from_ps)
            others[count++] = others[i];
    }
    if (count > 0) {
        struct node *pool = open_tracks(line, others, count);

        line->root = line->root == NULL ? pool : join_nodes(line, JOINT_BEHIND, line->root, pool);
    }
    free(others);
    return line;
}

bool host_line_next(struct host_line *line, struct host_piece *ret)
{
    return line->root != NULL && next_of(line, line->root, ret);
}

void host_line_close(struct host_line *line)
{
    for (uint32_t i = 0; i < line->node_count; i++) {
        free(line->nodes[i]->row.group);
        free(line->nodes[i]);
    }
    free(line->nodes);
    free(line);
}
