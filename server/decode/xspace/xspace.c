/* SPDX-License-Identifier: Apache-2.0 */
/* XSpace: what the JAX profiler writes as *.xplane.pb.
 *
 *   XSpace  1 planes*  2 errors*  3 warnings*  4 hostnames*
 *   XPlane  1 id  2 name  3 lines*  4 event metadata: id -> what  5 stat metadata: id -> name
 *           6 stats*                                    one plane per device or host
 *   XLine   1 id  2 name  3 timestamp_ns  4 events*     one per stream or thread
 *   XEvent  1 metadata id  2 offset_ps  3 duration_ps  4 stats*
 *
 * Metadata stands behind the lines that use it, programs (HLO) stand in a plane of their own, and
 * time zero depends on every line, so the file is walked three times, twice by lengths only:
 * planes are scanned, then programs decoded, then each plane's names and its lines.
 *
 * A file that is cut off keeps every event that is whole; a damaged part is left out, and what is
 * around it stays. Both are told in notes. Spaces written one behind the other are one space.
 */
#include "decode/xspace/xspace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/decode.h"
#include "decode/shape.h"

/* A file of nothing but empty planes must not fill memory with them. */
enum { PLANES_MAX = 1 << 16 };

static const struct shape_rule plane_rules[] = {
    {XPLANE_ID, SHAPE_VARINT, false, NULL},
    {XPLANE_NAME, SHAPE_TEXT, true, NULL},
    {XPLANE_LINES, SHAPE_BYTES, false, NULL},
    {XPLANE_EVENT_METADATA, SHAPE_BYTES, false, NULL},
    {XPLANE_STAT_METADATA, SHAPE_BYTES, false, NULL},
    {XPLANE_STATS, SHAPE_BYTES, false, NULL},
};
static const struct shape plane_shape = SHAPE(plane_rules, 7);
static const struct shape_rule space_rules[] = {
    {XSPACE_PLANES, SHAPE_BYTES, true, &plane_shape},
    {XSPACE_ERRORS, SHAPE_TEXT, false, NULL},
    {XSPACE_WARNINGS, SHAPE_TEXT, false, NULL},
    {XSPACE_HOSTNAMES, SHAPE_TEXT, false, NULL},
};
static const struct shape space_shape = SHAPE(space_rules, 5);

static bool sniff(const struct input *input)
{
    return shape_fits(input->head, &space_shape);
}

void xspace_damaged(struct xspace *space, const uint8_t *at, const char *what)
{
    if (space->damage_count++ > 0)
        return;
    space->damage_first = (uint64_t)(at - space->file.at);
    snprintf(space->damage_what, sizeof space->damage_what, "%s", what);
}

static enum status add_plane(struct xspace *space, const struct pb_field *field, struct error *err)
{
    if (space->plane_count == PLANES_MAX)
        return fail(err, ERR_LIMIT, "the file has more than %d planes", PLANES_MAX);
    if (space->plane_count == space->plane_capacity) {
        space->plane_capacity = space->plane_capacity == 0 ? 16 : space->plane_capacity * 2;
        space->planes = memory_resize(space->planes, space->plane_capacity, sizeof *space->planes);
    }
    struct plane_scan *scan = &space->planes[space->plane_count++];
    *scan = (struct plane_scan){.message = field->bytes, .is_cut = field->cut};
    plane_scan(space, scan);
    space->plane_whole_count += !field->cut;
    return OK;
}

/* A file is one host's; joined files may name more. */
static void say_hostname(struct xspace *space, struct str name)
{
    if (space->hostname.count == 0) {
        space->hostname = name;
        sink_hostname(space->sink, name);
    } else if (!str_equal(name, space->hostname)) {
        sink_note(
            space->sink, "several-hosts", NOTE_WARNING, 1,
            "The file holds profiles of several hosts, which are shown as one; another is %.*s.",
            STR_ARG(name));
    }
}

static void say_text(struct xspace *space, const struct pb_field *field)
{
    struct str text = pb_text(field);

    if (field->number == XSPACE_ERRORS)
        sink_note(space->sink, "collector-error", NOTE_ERROR, 1, "The collector reported: %.*s",
                  STR_ARG(text));
    else if (field->number == XSPACE_WARNINGS)
        sink_note(space->sink, "collector-warning", NOTE_WARNING, 1, "The collector warned: %.*s",
                  STR_ARG(text));
    else if (field->number == XSPACE_HOSTNAMES)
        say_hostname(space, text);
}

/* The top of the file. `broken` is set to what ended it early. */
static enum status scan_space(struct xspace *space, struct error *broken, struct error *err)
{
    struct pb pb = pb_open(space->file, broken);

    pb.lenient = true;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == XSPACE_PLANES)
            TRY(add_plane(space, &field, err));
        else if (!field.cut)
            say_text(space, &field);
    }
    return OK;
}

/* Planes of one name share their lines' tracks, so no line is known to be the last of its track. */
static void mark_repeated_planes(struct xspace *space)
{
    struct id_map first_of = {0};

    for (uint32_t index = 0; index < space->plane_count; index++) {
        bool is_new;
        name_id name = sink_name(space->sink, space->planes[index].name);
        uint32_t first = id_map_add(&first_of, name, index, &is_new);
        if (!is_new)
            space->planes[first].repeats_lines = space->planes[index].repeats_lines = true;
    }
    id_map_free(&first_of);
}

/* Programs come first: they tell the kinds of ops. */
static void read_planes(struct xspace *space)
{
    for (uint32_t index = 0; index < space->plane_count; index++)
        programs_read(space, &space->planes[index]);
    for (uint32_t index = 0; index < space->plane_count && !sink_failed(space->sink); index++)
        plane_read(space, &space->planes[index]);
}

static void say_what_was_odd(const struct xspace *space)
{
    struct sink *sink = space->sink;

    if (space->damage_count > 0)
        sink_note(
            sink, "corrupt", NOTE_ERROR, space->damage_count,
            "Parts of the file could not be read and are left out, the first (%s) at byte %" PRIu64
            "; copy the file again if the original is intact.",
            space->damage_what, space->damage_first);
    if (space->clamped_count > 0)
        sink_note(sink, "clamped-times", NOTE_WARNING, space->clamped_count,
                  "Some events have a negative duration or times out of range; they are clipped to "
                  "the valid range and flagged.");
    if (space->undescribed_count > 0)
        sink_note(sink, "unnamed-events", NOTE_WARNING, space->undescribed_count,
                  "Some events have no name in the file and are shown by their number.");
    if (space->empty_sample_count > 0)
        sink_note(sink, "empty-samples", NOTE_WARNING, space->empty_sample_count,
                  "Some counter samples are not numbers and are left out.");
    if (space->dropped_arg_count > 0)
        sink_note(sink, "dropped-args", NOTE_WARNING, space->dropped_arg_count,
                  "Some events have too many arguments; the last ones are left out.");
}

/* The file's top level ended early. Bearable when something before that was whole. */
static enum status end_early(const struct xspace *space, const struct error *broken,
                             struct error *err)
{
    bool is_cut = broken->code == ERR_TRUNCATED;

    if (space->plane_whole_count == 0 && space->slice_count == 0 && space->sample_count == 0)
        return fail(err, broken->code,
                    is_cut ? "%s; the file was probably truncated while copied: copy it again"
                           : "%s; the file is damaged: copy it again",
                    broken->message);
    sink_note(space->sink, is_cut ? "truncated" : "corrupt", NOTE_ERROR, 1,
              "The file ends early, at byte %zu: %s. Later events are missing, and names of others "
              "may be missing too; the file was probably truncated while copied: copy it again.",
              space->file.count, broken->message);
    return OK;
}

static enum status decode_space(struct xspace *space, struct error *err)
{
    struct error broken = {0};

    TRY(scan_space(space, &broken, err));
    mark_repeated_planes(space);
    time_choose_zero(space);
    read_planes(space);
    time_say_epoch(space);
    say_what_was_odd(space);
    if (broken.code != OK)
        TRY(end_early(space, &broken, err));
    if (sink_failed(space->sink))
        return fail(err, sink_error(space->sink)->code, "%s", sink_error(space->sink)->message);
    return OK;
}

static enum status decode(struct input *input, struct sink *sink, struct error *err)
{
    struct xspace space = {.sink = sink};
    bool packing_cut;

    TRY(input_whole(input, &space.file, &packing_cut, err));
    if (space.file.count == 0)
        return fail(err, ERR_TRUNCATED, "the file is empty");
    sink_format(sink, decode_xspace.name);
    if (packing_cut)
        sink_note(sink, "truncated", NOTE_ERROR, 1,
                  "The compressed file is truncated or damaged; the part that could be unpacked is "
                  "shown. Copy it again.");
    enum status status = decode_space(&space, err);
    free(space.planes);
    free(space.line_tracks);
    hlo_index_free(&space.hlo);
    id_map_free(&space.plane_tracks);
    id_map_free(&space.line_keys);
    return status;
}

const struct decoder decode_xspace = {.name = "xplane", .sniff = sniff, .decode = decode};
