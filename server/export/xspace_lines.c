/* Lines of what is still told: a slice becomes an event when it comes, in place of a row's.
 *
 *   track    base_ps   | events that wait | extents of its plane's spill
 *
 * What else a trace holds is made meanwhile as always; the exporter then finds the planes of the
 * outermost tracks, with names numbered and lines spilled, and adds the rest. Slices mostly come in
 * the order of their line; a line where one did not is put in order at its end.
 */
#include <assert.h>
#include <stdlib.h>

#include "export/xspace_out.h"

enum {
    KEEP_BYTES = 256 << 10,       /* of a line: as many as a spill writes at once */
    WAITING_BYTES_MAX = 16 << 20, /* of all lines */
    CLEAN_EVERY = 4096,
    PS_PER_NS = 1000
};

struct line_told {
    struct line_out out;
    struct text events; /* that wait; offsets are from base_ps */
    int64_t base_ps, least_ps, last_start_ps, last_dur_ps;
    uint64_t count;
    bool is_unsorted;
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
    size_t waiting;
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

static enum status keep(struct xspace_lines *lines, track_id track, struct error *err)
{
    struct line_told *line = lines->tracks[track].line;
    struct extent extent = {.count = line->events.count};
    const struct bytes bytes = {.at = (const uint8_t *)line->events.at, .count = extent.count};

    lines->waiting -= extent.count;
    line->events.count = 0;
    TRY(spill_append(plane_of(lines, track)->spill, bytes, &extent.at, err));
    if (extent.count > 0)
        line_add(&line->out, extent);
    return OK;
}

/* Many lines of few events each: their room goes too. */
static enum status keep_all(struct xspace_lines *lines, struct error *err)
{
    for (track_id track = 0; track < lines->track_count; track++)
        if (lines->tracks[track].line != NULL) {
            TRY(keep(lines, track, err));
            text_free(&lines->tracks[track].line->events);
        }
    return OK;
}

static int64_t whole_ns(int64_t ps)
{
    int64_t rest = ps % PS_PER_NS;

    return ps - (rest < 0 ? rest + PS_PER_NS : rest);
}

static void look_at_order(struct line_told *line, const struct event_out *event)
{
    if (line->count++ == 0) {
        line->base_ps = whole_ns(event->start_ps);
        line->least_ps = event->start_ps;
    } else if (event->start_ps < line->last_start_ps ||
               (event->start_ps == line->last_start_ps && event->dur_ps > line->last_dur_ps)) {
        line->is_unsorted = true;
    }
    if (event->start_ps < line->least_ps)
        line->least_ps = event->start_ps;
    line->last_start_ps = event->start_ps;
    line->last_dur_ps = event->dur_ps;
}

static enum status put_last(struct xspace_lines *lines, struct error *err)
{
    track_id track = lines->last_track;

    if (track == NO_TRACK)
        return OK;
    struct line_told *line = line_of(lines, track);
    size_t before = line->events.count;

    lines->last_track = NO_TRACK;
    lines->last.args = lines->args;
    look_at_order(line, &lines->last);
    event_put(plane_of(lines, track), &line->events, &lines->last, line->base_ps);
    lines->waiting += line->events.count - before;
    if (++lines->event_count % CLEAN_EVERY == 0)
        arena_reset(lines->space.arena);
    if (lines->waiting > WAITING_BYTES_MAX)
        return keep_all(lines, err);
    return line->events.count < KEEP_BYTES ? OK : keep(lines, track, err);
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
        status = keep_all(lines, err);
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
            text_free(&told->line->events);
            free(told->line->out.extents);
        }
        free(told->plane);
        free(told->line);
    }
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
