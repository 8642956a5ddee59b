/* SPDX-License-Identifier: Apache-2.0 */
/* A plane on its way out.
 *
 *   plane.spill    events of line 1 | events of line 2 | ... | metadata
 *   plane.heads    id, name, timestamp of line 1 | ...
 *   file           XPlane  1 id  2 name  3 { head, events }*  metadata  6 stats*
 *
 * A message stands behind its length, so nothing of a plane can leave before all of it was seen: it
 * waits in a spill, on disk where it is large. Memory holds names and heads alone.
 */
#include "export/xspace_out.h"

#include <stdio.h>
#include <stdlib.h>

#include "trace/events/counter.h"

enum { KEEP_BYTES = 256 << 10, COPY_BYTES = 256 << 10, PS_PER_NS = 1000, ASK_EVERY = 4096 };

/* Lines whose times begin later than readers take for times of a session (26 days) say so in their
 * events. */
static const int64_t TIMESTAMP_NS_MAX = INT64_C(20) * 86400 * 1000000000;
/* Ids for tracks whose own is taken in the plane; threads have lower ones. */
static const int64_t OWN_LINE_IDS = INT64_C(1) << 40;

int64_t space_time(const struct xspace_out *space, int64_t file_ps)
{
    int64_t ps;

    return __builtin_add_overflow(file_ps, space->shift_ps, &ps) ? INT64_MAX : ps;
}

void plane_open(struct plane_out *plane, struct xspace_out *space, struct str name)
{
    *plane = (struct plane_out){.space = space, .name = name};
    plane->is_device = str_starts(name, STR("/device:"));
    plane->spill = spill_create(space->temporary_dir, UINT64_MAX);
}

enum status plane_keep(struct plane_out *plane, struct text *text, struct error *err)
{
    const struct bytes bytes = {.at = (const uint8_t *)text->at, .count = text->count};
    uint64_t offset;

    text->count = 0;
    return bytes.count > 0 ? spill_append(plane->spill, bytes, &offset, err) : OK;
}

/* XProf takes lines of one id for one line: in files that were none of its kind each gets its
 * own. */
int64_t plane_line_id(struct plane_out *plane, track_id track)
{
    int64_t id = plane->space->trace->tracks[track].source_id;
    bool is_new;

    if (plane->space->is_xplane)
        return id;
    id_map_add(&plane->line_ids, (uint64_t)id, track, &is_new);
    return is_new ? id : OWN_LINE_IDS + (int64_t)track;
}

/* Of a track below another one the names of both. */
struct str plane_line_name(const struct plane_out *plane, track_id track)
{
    const struct xspace_out *space = plane->space;
    const struct track *at = &space->trace->tracks[track];
    track_id root = space->roots[track];
    struct str name = trace_name(space->trace, at->name);

    for (track_id above = at->parent; above != NO_TRACK && above != root;
         above = space->trace->tracks[above].parent)
        name = str_format(space->arena, "%.*s/%.*s",
                          STR_ARG(trace_name(space->trace, space->trace->tracks[above].name)),
                          STR_ARG(name));
    return name;
}

struct line_out *plane_add_line(struct plane_out *plane)
{
    if (plane->line_count == plane->line_capacity) {
        plane->line_capacity = plane->line_capacity == 0 ? 16 : plane->line_capacity * 2;
        plane->lines = memory_resize(plane->lines, plane->line_capacity, sizeof *plane->lines);
    }
    struct line_out *line = &plane->lines[plane->line_count++];

    *line = (struct line_out){.head_at = plane->heads.count};
    plane->line_from = spill_bytes(plane->spill);
    return line;
}

void line_add(struct line_out *line, struct extent extent)
{
    struct extent *last =
        line->extent_count > 0 ? &line->extents[line->extent_count - 1] : &(struct extent){0};

    line->bytes += extent.count;
    if (last->count > 0 && last->at + last->count == extent.at) {
        last->count += extent.count;
        return;
    }
    if (line->extent_count == line->extent_capacity) {
        line->extent_capacity = line->extent_capacity == 0 ? 1 : line->extent_capacity * 2;
        line->extents = memory_resize(line->extents, line->extent_capacity, sizeof *line->extents);
    }
    line->extents[line->extent_count++] = extent;
}

static bool is_cancelled(const struct xspace_out *space)
{
    return space->run->cancelled != NULL && space->run->cancelled(space->run->data);
}

/* Now and then: texts that were cleaned go, events that wait go to the spill. */
enum status plane_look_around(struct plane_out *plane, uint64_t count, struct error *err)
{
    if (count % ASK_EVERY == 0) {
        arena_reset(plane->space->arena);
        if (is_cancelled(plane->space))
            return fail(err, ERR_CANCELLED, "the export was stopped");
    }
    return plane->events.count < KEEP_BYTES ? OK : plane_keep(plane, &plane->events, err);
}

/* The line's clock: the nanosecond in which its first event begins. */
int64_t plane_put_head(struct plane_out *plane, int64_t id, struct str name, int64_t first_ps)
{
    int64_t timestamp_ns = space_time(plane->space, first_ps) / PS_PER_NS;

    if (timestamp_ns > TIMESTAMP_NS_MAX)
        timestamp_ns = TIMESTAMP_NS_MAX;
    pb_put_number(&plane->heads, XLINE_ID, (uint64_t)id);
    pb_put_text(&plane->heads, XLINE_NAME, str_utf8(plane->space->arena, name));
    pb_put_number(&plane->heads, XLINE_TIMESTAMP_NS, (uint64_t)timestamp_ns);
    return timestamp_ns * PS_PER_NS;
}

void plane_end_line(struct plane_out *plane, struct line_out *line)
{
    uint64_t end = spill_bytes(plane->spill);

    line->head_count = plane->heads.count - line->head_at;
    if (end > plane->line_from)
        line_add(line, (struct extent){.at = plane->line_from, .count = end - plane->line_from});
    plane->lines_end = end;
}

static void put_slice(struct plane_out *plane, const struct merged_slice *slice, int64_t base_ps)
{
    struct event_out out = {.id = slice->id,
                            .name = slice->name,
                            .flags = slice->flags,
                            .start_ps = slice->start_ps,
                            .dur_ps = slice->dur_ps};

    out.arg_count = slice_args_of(&plane->space->args, slice->event, &out.args, &out.type);
    event_put(plane, &out, base_ps);
}

static enum status put_rows(struct plane_out *plane, track_id id, struct error *err)
{
    struct xspace_out *space = plane->space;
    const struct track *track = &space->trace->tracks[id];
    struct line_out *line = plane_add_line(plane);
    struct row_merge *merge = row_merge_open(space->run, space->host, track, space->chunk);
    const struct merged_slice *slice = row_merge_next(merge);
    int64_t base_ps = plane_put_head(plane, plane_line_id(plane, id), plane_line_name(plane, id),
                                     slice != NULL ? slice->start_ps : -space->shift_ps);
    enum status status = OK;

    for (uint64_t count = 1; slice != NULL && status == OK; slice = row_merge_next(merge)) {
        put_slice(plane, slice, base_ps);
        status = plane_look_around(plane, count++, err);
    }
    row_merge_close(merge);
    if (status == OK)
        status = plane_keep(plane, &plane->events, err);
    plane_end_line(plane, line);
    return status;
}

enum status plane_put_track(struct plane_out *plane, track_id id, struct error *err)
{
    return plane->space->run->lines != NULL ? plane_put_told(plane, id, err)
                                            : put_rows(plane, id, err);
}

/* What is known of a counter goes with its first sample. */
static void put_counter_facts(struct plane_out *plane, track_id track)
{
    const struct trace *trace = plane->space->trace;

    for (uint32_t index = 0; index < trace->property_count; index++)
        if (trace->properties[index].track == track)
            stat_put(plane, &plane->event, XEVENT_STATS, trace->properties[index].arg);
}

bool space_is_inside(const struct xspace_out *space, int64_t at_ps)
{
    const struct export_run *run = space->run;
    int64_t run_ps;

    if (!run->has_window || __builtin_add_overflow(at_ps, space->host->offset_ps, &run_ps))
        return true;
    return run_ps >= run->start_ps && run_ps < run->end_ps;
}

static enum status put_samples(struct plane_out *plane, track_id track, struct error *err)
{
    struct xspace_out *space = plane->space;
    uint64_t count = 0, put = 0;
    const struct counter_sample *samples = trace_samples(space->trace, track, &count);
    uint64_t name = names_event_id(plane, space->trace->tracks[track].name, 0);

    for (uint64_t index = 0; index < count; index++) {
        if (!space_is_inside(space, samples[index].at_ps))
            continue;
        pb_put_number(&plane->event, XEVENT_ID, name);
        pb_put_number(&plane->event, XEVENT_OFFSET_PS,
                      (uint64_t)space_time(space, samples[index].at_ps));
        pb_put_number(&plane->stat, XSTAT_ID, names_stat_id(plane, space->words[WORD_VALUE]));
        pb_put_double(&plane->stat, XSTAT_DOUBLE, samples[index].value);
        pb_put_message(&plane->event, XEVENT_STATS, &plane->stat);
        if (put++ == 0)
            put_counter_facts(plane, track);
        pb_put_message(&plane->events, XLINE_EVENTS, &plane->event);
        TRY(plane_look_around(plane, put, err));
    }
    return plane_keep(plane, &plane->events, err);
}

enum status plane_put_counters(struct plane_out *plane, track_id root, struct error *err)
{
    const struct xspace_out *space = plane->space;
    struct line_out *line = NULL;
    enum status status = OK;
    uint64_t count;

    for (track_id track = root; track != NO_TRACK && status == OK; track = space->next[track]) {
        count = 0;
        trace_samples(space->trace, track, &count);
        if (count == 0)
            continue;
        if (line == NULL) {
            line = plane_add_line(plane);
            pb_put_number(&plane->heads, XLINE_ID, INT64_MAX);
            pb_put_text(&plane->heads, XLINE_NAME, STR("_counters_"));
        }
        status = put_samples(plane, track, err);
    }
    if (line != NULL)
        plane_end_line(plane, line);
    return status;
}

static enum status send(struct plane_out *plane, struct text *text, struct error *err)
{
    const struct bytes bytes = {.at = (const uint8_t *)text->at, .count = text->count};

    text->count = 0;
    return bytes.count > 0 ? plane->space->write(plane->space->to, bytes, err) : OK;
}

static enum status send_kept(struct plane_out *plane, uint64_t at, uint64_t count,
                             struct error *err)
{
    uint8_t *piece = memory_resize(NULL, COPY_BYTES, 1);
    enum status status = OK;

    while (count > 0 && status == OK) {
        size_t take = count < COPY_BYTES ? (size_t)count : COPY_BYTES;

        status = is_cancelled(plane->space) ? fail(err, ERR_CANCELLED, "the export was stopped")
                                            : spill_read(plane->spill, at, piece, take, err);
        if (status == OK)
            status = plane->space->write(plane->space->to,
                                         (struct bytes){.at = piece, .count = take}, err);
        at += take;
        count -= take;
    }
    free(piece);
    return status;
}

static size_t varint_size(uint64_t value)
{
    size_t size = 1;

    while ((value >>= 7) != 0)
        size++;
    return size;
}

static void put_length(struct text *text, uint32_t field, uint64_t count)
{
    pb_put_varint(text, (uint64_t)field << 3 | PB_BYTES);
    pb_put_varint(text, count);
}

static enum status send_plane(struct plane_out *plane, uint64_t metadata_at, struct error *err)
{
    struct text *text = &plane->event;
    uint64_t metadata_bytes = spill_bytes(plane->spill) - metadata_at;
    uint64_t bytes = plane->about.count + metadata_bytes;

    for (uint32_t index = 0; index < plane->line_count; index++) {
        uint64_t count = plane->lines[index].head_count + plane->lines[index].bytes;

        bytes += 1 + varint_size(count) + count;
    }
    put_length(text, XSPACE_PLANES, bytes);
    text_put(text, plane->about.at, plane->about.count);
    for (uint32_t index = 0; index < plane->line_count; index++) {
        const struct line_out *line = &plane->lines[index];

        put_length(text, XPLANE_LINES, line->head_count + line->bytes);
        text_put(text, plane->heads.at + line->head_at, line->head_count);
        TRY(send(plane, text, err));
        for (uint32_t part = 0; part < line->extent_count; part++)
            TRY(send_kept(plane, line->extents[part].at, line->extents[part].count, err));
    }
    TRY(send(plane, text, err));
    return send_kept(plane, metadata_at, metadata_bytes, err);
}

void plane_free(struct plane_out *plane)
{
    struct text *const texts[] = {&plane->heads, &plane->events, &plane->event, &plane->stat,
                                  &plane->about, &plane->made,   &plane->pieces};

    for (size_t index = 0; index < COUNT(texts); index++)
        text_free(texts[index]);
    id_map_free(&plane->line_ids);
    id_map_free(&plane->stat_ids);
    id_map_free(&plane->event_ids);
    for (uint32_t index = 0; index < plane->line_count; index++)
        free(plane->lines[index].extents);
    free(plane->lines);
    free(plane->stats);
    free(plane->events_by_id);
    free(plane->known);
    spill_destroy(plane->spill);
}

/* Name and stats of the plane may stand in any order; they come first, in plane.about. */
enum status plane_close(struct plane_out *plane, enum status status, struct error *err)
{
    uint64_t metadata_at = plane->lines_end;
    struct text stats = plane->about;

    plane->about = (struct text){0};
    pb_put_number(&plane->about, XPLANE_ID, ++plane->space->plane_count);
    pb_put_text(&plane->about, XPLANE_NAME, str_utf8(plane->space->arena, plane->name));
    text_put(&plane->about, stats.at, stats.count);
    text_free(&stats);
    if (status == OK)
        status = names_put(plane, err);
    if (status == OK)
        status = send_plane(plane, metadata_at, err);
    plane_free(plane);
    return status;
}
