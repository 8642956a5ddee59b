/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of what is still told: a slice becomes an event when it comes, in place of a row's.
 *
 *   track    events that wait  ->  extents of the spill of its plane
 *
 * What else a trace holds is made meanwhile as always; the exporter then finds the planes of the
 * outermost tracks, with names numbered and lines spilled, and adds the rest. Slices mostly come in
 * the order of their line, or nearly: those that wait are sorted, and half of them wait on. Where
 * one came when a later one had gone, the line is put in order at its end: xspace_order.c.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/sort.h"
#include "export/xspace_out.h"

enum {
    WAIT_EVENTS = 1 << 16,        /* of a line */
    WAITING_BYTES_MAX = 80 << 20, /* of all lines, with their stats */
    CLEAN_EVERY = 4096,
    PS_PER_NS = 1000
};

struct waiting { /* an event */
    int64_t start_ps, dur_ps;
    uint32_t number;    /* in the line */
    uint32_t id;        /* of its name */
    uint32_t at, count; /* in the line's stats */
};

struct line_told {
    struct line_out out;
    struct waiting *waiting;
    uint32_t waiting_count, waiting_capacity;
    struct text stats;
    int64_t base_ps; /* offsets of those that went are from it: the nanosecond of the first */
    int64_t least_ps;
    int64_t gone_start_ps, gone_dur_ps; /* of the last that went */
    uint64_t count, gone_count;
    bool is_mixed;    /* those that wait are in no order */
    bool is_unsorted; /* one came when what follows it had gone */
};

struct track_told {
    track_id root;
    name_id name;
    struct plane_out *plane; /* of an outermost track; NULL: nothing was told of it yet */
    struct line_told *line;  /* the same */
};

struct xspace_lines {
    struct xspace_out space; /* without a trace */
    struct slice_taker taker;
    struct track_told *tracks;
    uint32_t track_count, track_capacity;
    struct event_out last; /* whose args may still come */
    track_id last_track;   /* NO_TRACK: there is none */
    struct arg *args;
    uint32_t arg_capacity;
    uint64_t event_count;
    size_t waiting; /* bytes */
    struct text going, moved;
};

static void take_track(void *to, track_id id, const struct track *track)
{
    struct xspace_lines *lines = to;

    assert(id == lines->track_count);
    if (lines->track_count == lines->track_capacity) {
        lines->track_capacity = lines->track_capacity == 0 ? 64 : lines->track_capacity * 2;
        lines->tracks = memory_resize(lines->tracks, lines->track_capacity, sizeof *lines->tracks);
    }
    lines->tracks[lines->track_count++] = (struct track_told){
        .root = track->parent == NO_TRACK ? id : lines->tracks[track->parent].root,
        .name = track->name};
}

static struct plane_out *plane_of(struct xspace_lines *lines, track_id track)
{
    struct track_told *root = &lines->tracks[lines->tracks[track].root];

    if (root->plane == NULL) {
        root->plane = memory_resize(NULL, 1, sizeof *root->plane);
        plane_open(root->plane, &lines->space, space_text(&lines->space, root->name));
    }
    return root->plane;
}

static struct line_told *line_of(struct xspace_lines *lines, track_id track)
{
    struct track_told *told = &lines->tracks[track];

    if (told->line == NULL) {
        told->line = memory_resize(NULL, 1, sizeof *told->line);
        *told->line = (struct line_told){0};
    }
    return told->line;
}

static bool is_before(const struct waiting *a, const struct waiting *b)
{
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    if (a->dur_ps != b->dur_ps)
        return a->dur_ps > b->dur_ps;
    return a->number < b->number;
}

SORT_DEFINE(sort_waiting, struct waiting, is_before)

static int64_t whole_ns(int64_t ps)
{
    int64_t rest = ps % PS_PER_NS;

    return ps - (rest < 0 ? rest + PS_PER_NS : rest);
}

static void go(struct xspace_lines *lines, struct line_told *line, const struct waiting *event)
{
    if (line->gone_count++ == 0)
        line->base_ps = whole_ns(event->start_ps);
    else if (event->start_ps < line->gone_start_ps ||
             (event->start_ps == line->gone_start_ps && event->dur_ps > line->gone_dur_ps))
        line->is_unsorted = true;
    line->gone_start_ps = event->start_ps;
    line->gone_dur_ps = event->dur_ps;
    pb_put_triple(&lines->going, XLINE_EVENTS,
                  (const uint64_t[]){event->id, (uint64_t)event->start_ps - (uint64_t)line->base_ps,
                                     (uint64_t)event->dur_ps},
                  (struct bytes){(const uint8_t *)line->stats.at + event->at, event->count});
}

/* What waits on, from the front. */
static void move_up(struct xspace_lines *lines, struct line_told *line, uint32_t from)
{
    struct text stats = lines->moved;
    uint32_t count = line->waiting_count - from;

    stats.count = 0;
    for (uint32_t index = 0; index < count; index++) {
        struct waiting *event = &line->waiting[index];

        *event = line->waiting[from + index];
        text_put(&stats, line->stats.at + event->at, event->count);
        event->at = (uint32_t)(stats.count - event->count);
    }
    lines->moved = line->stats;
    line->stats = stats;
    line->waiting_count = count;
}

static size_t bytes_of(const struct line_told *line)
{
    return line->stats.count + line->waiting_count * sizeof *line->waiting;
}

/* The first `count` of those that wait go to the spill of their plane, in order. */
static enum status send(struct xspace_lines *lines, track_id track, uint32_t count,
                        struct error *err)
{
    struct line_told *line = lines->tracks[track].line;
    struct extent extent = {0};

    if (count == 0)
        return OK;
    if (line->is_mixed)
        sort_waiting(line->waiting, line->waiting_count);
    lines->waiting -= bytes_of(line);
    lines->going.count = 0;
    for (uint32_t index = 0; index < count; index++)
        go(lines, line, &line->waiting[index]);
    move_up(lines, line, count);
    lines->waiting += bytes_of(line);
    line->is_mixed = false;
    extent.count = lines->going.count;
    TRY(spill_append(plane_of(lines, track)->spill,
                     (struct bytes){(const uint8_t *)lines->going.at, extent.count}, &extent.at,
                     err));
    line_add(&line->out, extent);
    return OK;
}

static enum status send_all(struct xspace_lines *lines, struct error *err)
{
    for (track_id track = 0; track < lines->track_count; track++) {
        struct line_told *line = lines->tracks[track].line;

        if (line == NULL)
            continue;
        TRY(send(lines, track, line->waiting_count, err));
        text_free(&line->stats);
        free(line->waiting);
        line->waiting = NULL;
        line->waiting_capacity = 0;
    }
    return OK;
}

/* Copies stand in other frames than kernels, so an event may come when tens of thousands that
 * follow it were told: half of those that wait stay. */
static enum status send_half(struct xspace_lines *lines, track_id track, struct error *err)
{
    return send(lines, track, (lines->tracks[track].line->waiting_count + 1) / 2, err);
}

/* Half of all; many lines of few events each give back their room, too. */
static enum status make_room(struct xspace_lines *lines, struct error *err)
{
    for (track_id track = 0; track < lines->track_count; track++)
        if (lines->tracks[track].line != NULL)
            TRY(send_half(lines, track, err));
    return lines->waiting > WAITING_BYTES_MAX / 4 * 3 ? send_all(lines, err) : OK;
}

static struct waiting *add_waiting(struct line_told *line, const struct event_out *event)
{
    if (line->waiting_count == line->waiting_capacity) {
        line->waiting_capacity = line->waiting_capacity == 0 ? 64 : line->waiting_capacity * 2;
        line->waiting = memory_resize(line->waiting, line->waiting_capacity, sizeof *line->waiting);
    }
    if (line->count == 0 || event->start_ps < line->least_ps)
        line->least_ps = event->start_ps;
    struct waiting *added = &line->waiting[line->waiting_count++];

    *added = (struct waiting){.start_ps = event->start_ps,
                              .dur_ps = event->dur_ps,
                              .number = (uint32_t)line->count++,
                              .at = (uint32_t)line->stats.count};
    line->is_mixed |= line->waiting_count > 1 && is_before(added, added - 1);
    return added;
}

static enum status put_last(struct xspace_lines *lines, struct error *err)
{
    track_id track = lines->last_track;

    if (track == NO_TRACK)
        return OK;
    struct line_told *line = line_of(lines, track);
    struct plane_out *plane = plane_of(lines, track);
    struct waiting *event = add_waiting(line, &lines->last);

    lines->last_track = NO_TRACK;
    lines->last.args = lines->args;
    event->id = (uint32_t)names_event_id(plane, lines->last.name, lines->last.type);
    event_put_stats(plane, &line->stats, &lines->last);
    event->count = (uint32_t)(line->stats.count - event->at);
    lines->waiting += event->count + sizeof *event;
    if (++lines->event_count % CLEAN_EVERY == 0)
        arena_reset(lines->space.arena);
    if (lines->waiting > WAITING_BYTES_MAX)
        return make_room(lines, err);
    return line->waiting_count < WAIT_EVENTS ? OK : send_half(lines, track, err);
}

static void take_slice(void *to, const struct sink_slice *slice, struct error *err)
{
    struct xspace_lines *lines = to;

    if (put_last(lines, err) != OK)
        return;
    lines->last_track = slice->track;
    lines->last = (struct event_out){.name = slice->name,
                                     .type = slice->type,
                                     .flags = slice->flags,
                                     .start_ps = slice->start_ps,
                                     .dur_ps = slice->dur_ps};
}

static void take_args(void *to, const struct arg *args, uint32_t count)
{
    struct xspace_lines *lines = to;
    uint32_t have = lines->last.arg_count;

    if (count > lines->arg_capacity - have) {
        lines->arg_capacity = (have + count) * 2;
        lines->args = memory_resize(lines->args, lines->arg_capacity, sizeof *lines->args);
    }
    memcpy(lines->args + have, args, count * sizeof *args);
    lines->last.arg_count += count;
}

struct xspace_lines *xspace_lines_create(const char *temporary_dir)
{
    struct xspace_lines *lines = memory_resize(NULL, 1, sizeof *lines);

    *lines = (struct xspace_lines){
        .space = {.arena = arena_create(), .has_told_arrows = true, .temporary_dir = temporary_dir},
        .taker = {.track = take_track, .slice = take_slice, .args = take_args, .to = lines},
        .last_track = NO_TRACK};
    return lines;
}

const struct slice_taker *xspace_lines_taker(const struct xspace_lines *lines)
{
    return &lines->taker;
}

void xspace_lines_begin(struct xspace_lines *lines, struct sink *sink)
{
    lines->space.sink = sink;
    names_open_words(&lines->space);
}

enum status xspace_lines_end(struct xspace_lines *lines, struct error *err)
{
    enum status status = put_last(lines, err);

    if (status == OK)
        status = send_all(lines, err);
    lines->space.sink = NULL;
    return status;
}

void xspace_lines_destroy(struct xspace_lines *lines)
{
    for (track_id track = 0; track < lines->track_count; track++) {
        struct track_told *told = &lines->tracks[track];

        if (told->plane != NULL)
            plane_free(told->plane);
        if (told->line != NULL) {
            text_free(&told->line->stats);
            free(told->line->waiting);
            free(told->line->out.extents);
        }
        free(told->plane);
        free(told->line);
    }
    text_free(&lines->going);
    text_free(&lines->moved);
    arena_destroy(lines->space.arena);
    free(lines->tracks);
    free(lines->args);
    free(lines);
}

bool lines_take_plane(struct xspace_out *space, track_id root, struct str name,
                      struct plane_out *ret)
{
    struct xspace_lines *lines = space->run->lines;

    if (lines == NULL || lines->tracks[root].plane == NULL)
        return false;
    *ret = *lines->tracks[root].plane;
    ret->space = space;
    ret->name = name;
    free(lines->tracks[root].plane);
    lines->tracks[root].plane = NULL;
    return true;
}

uint64_t lines_count(const struct xspace_out *space, track_id track)
{
    const struct xspace_lines *lines = space->run->lines;

    return lines != NULL && lines->tracks[track].line != NULL ? lines->tracks[track].line->count
                                                              : 0;
}

enum status plane_put_told(struct plane_out *plane, track_id track, struct error *err)
{
    struct xspace_out *space = plane->space;
    struct line_told *told = space->run->lines->tracks[track].line;
    struct line_out *line = plane_add_line(plane);
    int64_t base_ps =
        plane_put_head(plane, plane_line_id(plane, track), plane_line_name(plane, track),
                       told != NULL ? told->least_ps : -space->shift_ps);
    enum status status = OK;

    if (told != NULL && !told->is_unsorted && base_ps == space_time(space, told->base_ps)) {
        line->extents = told->out.extents;
        line->extent_count = told->out.extent_count;
        line->extent_capacity = told->out.extent_capacity;
        line->bytes = told->out.bytes;
        told->out = (struct line_out){0};
    } else if (told != NULL) {
        status =
            line_put_in_order(plane, &told->out, space_time(space, told->base_ps) - base_ps, err);
    }
    plane_end_line(plane, line);
    return status;
}
