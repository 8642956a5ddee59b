/* SPDX-License-Identifier: Apache-2.0 */
/* One line: its head, then its events.
 *
 *   XLine  1 id  2 name  3 timestamp_ns  4 events*  9 duration  10 display id  11 display name
 */
#include <stdlib.h>

#include "decode/xspace/xspace_stat.h"

enum { PROGRESS_EVERY_BYTES = 1 << 20 };

/* Fields of a line besides events, behind the first of these. */
static const uint8_t *read_late_field(struct line *line, const uint8_t *at, const uint8_t *end)
{
    struct error err = {0};
    struct pb pb = {.at = at, .end = end, .file = line->plane->space->file.at, .err = &err};
    struct pb_field field = {0};

    if (!pb_next(&pb, &field))
        return NULL;
    if (field.number == XLINE_DISPLAY_NAME && field.wire == PB_BYTES && field.bytes.count > 0 &&
        !line->is_counters)
        sink_track_rename(line->plane->space->sink, line->track, pb_text(&field));
    return pb.at;
}

static void read_events(struct line *line, const uint8_t *at, const uint8_t *end)
{
    struct xspace *space = line->plane->space;
    const uint8_t *limit = space->file.at + space->file.count;
    const uint8_t *report = at + PROGRESS_EVERY_BYTES;

    while (at < end) {
        const uint8_t *start = at;
        struct bytes span;
        if (*at != TAG(XLINE_EVENTS, PB_BYTES)) {
            at = read_late_field(line, at, end);
        } else if ((at = read_span(at + 1, end, limit, &span)) != NULL) {
            if (!event_take(line, span))
                xspace_damaged(space, start, "an event");
        }
        if (at == NULL) {
            if (!(line->plane->scan->is_cut && end == limit))
                xspace_damaged(space, start, "the rest of a line");
            return;
        }
        if (at >= report) {
            if (sink_failed(space->sink))
                return;
            sink_progress(space->sink, (uint64_t)(at - space->file.at), space->file.count);
            report = at + PROGRESS_EVERY_BYTES;
        }
    }
}

void line_read(struct plane *plane, const struct pb *outer, struct bytes message)
{
    struct line line = {.plane = plane, .ordinal = ++plane->space->lines_read};
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    struct line_head head;

    if (!line_head_read(&pb, &head)) {
        if (!plane->scan->is_cut)
            xspace_damaged(plane->space, pb.at, "the head of a line");
        return;
    }
    if (!head.has_id || !head.has_timestamp || !head.has_name)
        line_head_search(pb, &head);
    line.id = head.id;
    line.name = head.name;
    line.start_ps = time_of_line(plane->space, head.timestamp_ns, &line.is_clamped);
    track_of_line(&line);
    if (head.display_name.count > 0 && !line.is_counters)
        sink_track_rename(plane->space->sink, line.track, head.display_name);
    read_events(&line, pb.at, pb.end);
    if (!plane->scan->repeats_lines && !line.is_counters)
        sink_track_end(plane->space->sink, line.track);
    id_map_free(&line.counters);
    free(line.args);
}
