/* SPDX-License-Identifier: Apache-2.0 */
/* The sweep: time goes by in slabs, each as long as what the host did in it fits a buffer and no
 * window begins or ends.
 *
 *   host     |piece|piece|      |piece|     pulled once for all devices; sums up to each piece
 *   device 0 |op  |  gap     |op|           a gap holds the difference of the sums at its edges
 *   device 1 |     gap           |
 *   windows  |----------------|---
 *
 * Sums of a device run on through all slabs; a window holds their difference between its ends. So
 * windows may overlap, and a device is never walked twice. Time is parted among processors.
 */
#include "analyse/steps/breakdown.h"

#include <stdlib.h>

#include "analyse/scan/split.h"
#include "analyse/steps/device_line.h"
#include "trace/ps.h"

enum {
    BUFFER_PIECES = 4096,
    CELLS_MAX = 32768, /* windows times lanes that are summed up at once */
};

struct buffer { /* of a slab */
    struct host_piece pieces[BUFFER_PIECES];
    int64_t before_ps[BUFFER_PIECES + 1][DOING_COUNT]; /* sums of the pieces before */
    uint32_t count;
};

struct edge { /* of a window */
    int64_t at_ps;
    uint32_t window;
    bool ends;
};

struct lane {
    struct device_line line;
    struct device_piece piece; /* at hand */
    bool has_piece;
    uint32_t at; /* of the slab's pieces the one that the last gap began in */
    struct device_time sum;
};

struct batch { /* windows [first, first + count) of the question, their lanes' sums by part */
    const struct breakdown_question *question;
    const struct doing_names *names;
    const struct op_roles *roles;
    uint32_t first, count, lane_count, part_count;
    struct window hull;
    struct device_time *cells[SPLIT_PARTS_MAX]; /* [window * lane_count + lane] */
};

struct part {
    const struct batch *batch;
    struct device_time *cells;
    struct window window;
    struct edge *edges;
    uint32_t edge_count;
    struct lane *lanes;
    struct host_line *line;
    struct host_piece ahead; /* of the host, behind the slab */
    bool has_ahead;
    struct buffer *buffer;
};

static void device_time_add(struct device_time *to, const struct device_time *by, int64_t sign)
{
    for (int kind = 0; kind <= KIND_COUNT; kind++)
        ps_add(&to->kinds_ps[kind], sign * by->kinds_ps[kind]);
    for (int doing = 0; doing < DOING_COUNT; doing++)
        ps_add(&to->doing_ps[doing], sign * by->doing_ps[doing]);
    ps_add(&to->busy_ps, sign * by->busy_ps);
    ps_add(&to->hidden_ps, sign * by->hidden_ps);
    ps_add(&to->wait_ps, sign * by->wait_ps);
}

/* What the host does in [from, end), or up to where the buffer is full; returns that end. */
static int64_t fill_buffer(struct part *part, int64_t from_ps, int64_t end_ps)
{
    struct buffer *buffer = part->buffer;

    buffer->count = 0;
    for (;;) {
        if (!part->has_ahead)
            part->has_ahead = host_line_next(part->line, &part->ahead);
        if (!part->has_ahead || part->ahead.from_ps >= end_ps)
            return end_ps;

        struct host_piece piece = part->ahead;
        struct host_piece *last = buffer->count > 0 ? &buffer->pieces[buffer->count - 1] : NULL;

        piece.from_ps = piece.from_ps < from_ps ? from_ps : piece.from_ps;
        piece.to_ps = piece.to_ps > end_ps ? end_ps : piece.to_ps;
        if (piece.to_ps > piece.from_ps) {
            bool goes_on =
                last != NULL && last->doing == piece.doing && last->to_ps == piece.from_ps;

            if (!goes_on && buffer->count == BUFFER_PIECES)
                return last->to_ps;
            if (goes_on)
                last->to_ps = piece.to_ps;
            else
                buffer->pieces[buffer->count++] = piece;
        }
        if (part->ahead.to_ps > end_ps)
            return end_ps;
        part->has_ahead = false;
    }
}

static void sum_buffer(struct buffer *buffer)
{
    memset(buffer->before_ps[0], 0, sizeof(buffer->before_ps[0]));
    for (uint32_t i = 0; i < buffer->count; i++) {
        const struct host_piece *piece = &buffer->pieces[i];

        memcpy(buffer->before_ps[i + 1], buffer->before_ps[i], sizeof(buffer->before_ps[i]));
        ps_add(&buffer->before_ps[i + 1][piece->doing], piece->to_ps - piece->from_ps);
    }
}

/* The first piece from `at` on that ends behind a moment; it is near, since gaps come in order. */
static uint32_t piece_behind(const struct buffer *buffer, uint32_t at, int64_t at_ps)
{
    uint32_t low = at, step = 1;

    while (low + step <= buffer->count && buffer->pieces[low + step - 1].to_ps <= at_ps) {
        low += step;
        step *= 2;
    }
    for (; step > 0; step /= 2) {
        if (low + step <= buffer->count && buffer->pieces[low + step - 1].to_ps <= at_ps)
            low += step;
    }
    return low;
}

/* What of a piece lies before a moment that it does not end before. */
static int64_t part_before(const struct buffer *buffer, uint32_t piece, int64_t at_ps)
{
    if (piece == buffer->count || buffer->pieces[piece].from_ps >= at_ps)
        return 0;
    return at_ps - buffer->pieces[piece].from_ps;
}

static void add_doing(struct lane *lane, int doing, int64_t dur_ps)
{
    ps_add(&lane->sum.doing_ps[doing], dur_ps);
    ps_add(&lane->sum.doing_ps[DOING_NOTHING], -dur_ps);
}

static void add_gap(const struct buffer *buffer, struct lane *lane, int64_t from_ps, int64_t to_ps)
{
    uint32_t first = piece_behind(buffer, lane->at, from_ps);
    uint32_t last = piece_behind(buffer, first, to_ps);
    int64_t cut_ps = part_before(buffer, first, from_ps);
    int64_t more_ps = part_before(buffer, last, to_ps);

    lane->at = first;
    ps_add(&lane->sum.doing_ps[DOING_NOTHING], to_ps - from_ps);
    for (int doing = 0; last > first && doing < DOING_COUNT; doing++)
        add_doing(lane, doing, buffer->before_ps[last][doing] - buffer->before_ps[first][doing]);
    if (cut_ps > 0)
        add_doing(lane, buffer->pieces[first].doing, -cut_ps);
    if (more_ps > 0)
        add_doing(lane, buffer->pieces[last].doing, more_ps);
}

static void add_piece(struct lane *lane, const struct device_piece *piece, int64_t dur_ps)
{
    ps_add(&lane->sum.kinds_ps[piece->kind], dur_ps);
    ps_add(&lane->sum.busy_ps, dur_ps);
    ps_add(&lane->sum.wait_ps, piece->waits ? dur_ps : 0);
    ps_add(&lane->sum.hidden_ps, piece->covers ? dur_ps : 0);
}

static void sweep_lane(const struct buffer *buffer, struct lane *lane, int64_t from_ps,
                       int64_t to_ps)
{
    int64_t at_ps = from_ps;

    lane->at = 0;
    while (at_ps < to_ps) {
        struct device_piece *piece = &lane->piece;

        if (!lane->has_piece)
            lane->has_piece = device_line_next(&lane->line, piece);
        if (lane->has_piece && piece->to_ps <= at_ps) {
            lane->has_piece = false;
            continue;
        }
        if (!lane->has_piece || piece->from_ps >= to_ps) {
            add_gap(buffer, lane, at_ps, to_ps);
            return;
        }
        if (piece->from_ps > at_ps) {
            add_gap(buffer, lane, at_ps, piece->from_ps);
            at_ps = piece->from_ps;
        }

        int64_t end_ps = piece->to_ps < to_ps ? piece->to_ps : to_ps;

        add_piece(lane, piece, end_ps - at_ps);
        at_ps = end_ps;
    }
}

static int by_moment(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;

    return (a->at_ps > b->at_ps) - (a->at_ps < b->at_ps);
}

/* Begins and ends of the windows, as far as they lie in the part. */
static void find_edges(struct part *part)
{
    const struct batch *batch = part->batch;

    part->edges = memory_resize(NULL, 2 * (size_t)batch->count + 1, sizeof(*part->edges));
    for (uint32_t i = 0; i < batch->count; i++) {
        struct window window = batch->question->windows[batch->first + i];

        window.from_ps =
            window.from_ps < part->window.from_ps ? part->window.from_ps : window.from_ps;
        window.to_ps = window.to_ps > part->window.to_ps ? part->window.to_ps : window.to_ps;
        if (window.from_ps >= window.to_ps)
            continue;
        part->edges[part->edge_count++] = (struct edge){window.from_ps, i, false};
        part->edges[part->edge_count++] = (struct edge){window.to_ps, i, true};
    }
    if (part->edge_count > 0)
        qsort(part->edges, part->edge_count, sizeof(*part->edges), by_moment);
}

static void sweep_to(struct part *part, int64_t from_ps, int64_t to_ps)
{
    while (from_ps < to_ps) {
        int64_t end_ps = fill_buffer(part, from_ps, to_ps);

        sum_buffer(part->buffer);
        for (uint32_t i = 0; i < part->batch->lane_count; i++)
            sweep_lane(part->buffer, &part->lanes[i], from_ps, end_ps);
        from_ps = end_ps;
    }
}

static void sweep_part(struct part *part)
{
    uint32_t lane_count = part->batch->lane_count, open = 0;

    for (uint32_t i = 0; i < part->edge_count; i++) {
        const struct edge *edge = &part->edges[i];
        struct device_time *cells = &part->cells[(size_t)edge->window * lane_count];

        /* Where no window is open nothing is looked at. */
        if (open > 0 && edge->at_ps > part->edges[i - 1].at_ps)
            sweep_to(part, part->edges[i - 1].at_ps, edge->at_ps);
        open = edge->ends ? open - 1 : open + 1;
        for (uint32_t lane = 0; lane < lane_count; lane++)
            device_time_add(&cells[lane], &part->lanes[lane].sum, edge->ends ? 1 : -1);
    }
}

static void run_part(void *data, uint32_t index)
{
    const struct batch *batch = data;
    const struct breakdown_question *question = batch->question;
    uint64_t span_ps = (uint64_t)batch->hull.to_ps - (uint64_t)batch->hull.from_ps;
    struct part part = {.batch = batch, .cells = batch->cells[index]};

    part.window.from_ps =
        batch->hull.from_ps + (int64_t)split_begin(span_ps, index, batch->part_count);
    part.window.to_ps =
        batch->hull.from_ps + (int64_t)split_begin(span_ps, index + 1, batch->part_count);
    find_edges(&part);
    part.buffer = memory_resize(NULL, 1, sizeof(*part.buffer));
    part.lanes = memory_zeroed(batch->lane_count, sizeof(*part.lanes));
    for (uint32_t i = 0; !question->host_alone && i < question->devices->count; i++)
        part.lanes[i].line = device_line_open(question->host, question->devices->devices[i],
                                              part.window, batch->roles);
    part.line = (breakdown_of_pool(question) ? host_line_open_pool : host_line_open)(
        question->host->trace, question->thread, part.window, question->skipped, batch->names);
    sweep_part(&part);
    host_line_close(part.line);
    free(part.lanes);
    free(part.buffer);
    free(part.edges);
}

/* Slices and ops that are walked over, about. */
static uint64_t count_items(const struct breakdown_question *question)
{
    const struct trace *trace = question->host->trace;
    const struct attribution *attribution = question->host->attribution;

    if (breakdown_of_pool(question))
        return trace->slice_count;

    return (attribution == NULL || question->host_alone ? 0 : attribution->entry_count) +
           (question->thread == NO_TRACK ? 0 : trace->tracks[question->thread].slice_count);
}

/* The host's share goes to the kinds it stands for, and all sums to the window. */
static void finish_cell(struct device_time *cell)
{
    for (int doing = 0; doing < DOING_COUNT; doing++)
        ps_add(&cell->kinds_ps[doing_kind((enum host_doing)doing)], cell->doing_ps[doing]);
}

static void run_batch(struct batch *batch, breakdown_visit *visit, void *data)
{
    size_t cell_count = (size_t)batch->count * batch->lane_count;

    for (uint32_t part = 0; part < batch->part_count; part++) {
        batch->cells[part] = memory_zeroed(cell_count, sizeof(*batch->cells[part]));
    }
    split_run(batch->part_count, run_part, batch);
    for (size_t cell = 0; cell < cell_count; cell++) {
        for (uint32_t part = 1; part < batch->part_count; part++)
            device_time_add(&batch->cells[0][cell], &batch->cells[part][cell], 1);
        finish_cell(&batch->cells[0][cell]);
    }
    for (uint32_t i = 0; i < batch->count; i++)
        visit(data, batch->first + i, &batch->cells[0][(size_t)i * batch->lane_count]);
    for (uint32_t part = 0; part < batch->part_count; part++)
        free(batch->cells[part]);
}

void breakdown_walk(const struct breakdown_question *question, breakdown_visit *visit, void *data)
{
    struct doing_names names =
        doing_names_create(question->host->trace, question->devices->count > 0);
    struct op_roles roles = op_roles_create(question->host);
    struct batch batch = {.question = question,
                          .names = &names,
                          .roles = &roles,
                          .lane_count =
                              question->host_alone ? 1 : host_lane_count(question->devices),
                          .part_count = split_count(count_items(question))};
    uint32_t most = CELLS_MAX / batch.lane_count;

    for (; batch.first < question->window_count; batch.first += batch.count) {
        batch.count = question->window_count - batch.first;
        batch.count = batch.count > most ? most : batch.count;
        batch.hull = (struct window){INT64_MAX, INT64_MIN};
        for (uint32_t i = 0; i < batch.count; i++) {
            const struct window *window = &question->windows[batch.first + i];

            batch.hull.from_ps =
                window->from_ps < batch.hull.from_ps ? window->from_ps : batch.hull.from_ps;
            batch.hull.to_ps = window->to_ps > batch.hull.to_ps ? window->to_ps : batch.hull.to_ps;
        }
        run_batch(&batch, visit, data);
    }
    op_roles_free(&roles);
    doing_names_free(&names);
}
