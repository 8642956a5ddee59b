/* SPDX-License-Identifier: Apache-2.0 */
/* A plane by the lengths of its fields, before anything in it is read: metadata stands behind the
 * lines that need it, and time zero depends on the clocks of all lines. */
#include "decode/xspace/xspace.h"

/* A field that stands in a line besides its events. */
static void take_head(struct line_head *head, const struct pb_field *field)
{
    bool is_number = field->wire == PB_VARINT, is_text = field->wire == PB_BYTES;

    if (field->number == XLINE_ID && is_number) {
        head->id = (int64_t)field->varint;
        head->has_id = true;
    } else if (field->number == XLINE_TIMESTAMP_NS && is_number) {
        head->timestamp_ns = (int64_t)field->varint;
        head->has_timestamp = true;
    } else if (field->number == XLINE_NAME && is_text) {
        head->name = pb_text(field);
        head->has_name = true;
    } else if (field->number == XLINE_DISPLAY_NAME && is_text) {
        head->display_name = pb_text(field);
    }
}

bool line_head_read(struct pb *pb, struct line_head *ret)
{
    *ret = (struct line_head){0};
    while (pb->at < pb->end && *pb->at != TAG(XLINE_EVENTS, PB_BYTES)) {
        struct pb_field field;
        if (!pb_next(pb, &field) || field.cut)
            return false;
        take_head(ret, &field);
    }
    ret->has_events = pb->at < pb->end;
    return true;
}

/* Writers put all of it before the events, but any order is one. */
void line_head_search(struct pb pb, struct line_head *head)
{
    struct line_head late = {0};
    struct error err = {0};

    pb.err = &err;
    for (struct pb_field field; pb_next(&pb, &field);)
        take_head(&late, &field);
    if (!head->has_id)
        head->id = late.id;
    if (!head->has_timestamp)
        head->timestamp_ns = late.timestamp_ns;
    if (!head->has_name)
        head->name = late.name;
}

static void scan_line(struct plane_scan *scan, const struct pb *outer, struct bytes message,
                      struct id_map *line_ids)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    struct line_head head;
    bool is_new;

    if (line_head_read(&pb, &head) && !head.has_id)
        line_head_search(pb, &head);
    scan->line_count++;
    id_map_add(line_ids, (uint64_t)head.id, 0, &is_new);
    scan->repeats_lines |= !is_new;
    if (!head.has_events)
        return;
    if (time_is_far(head.timestamp_ns) && (scan->far_ns == 0 || head.timestamp_ns < scan->far_ns))
        scan->far_ns = head.timestamp_ns;
}

static void scan_entry(const struct pb *outer, struct bytes message, uint32_t *count,
                       uint64_t *id_max)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    struct pb_field field = {0};
    bool has_key = pb_next(&pb, &field) && field.number == ENTRY_KEY && field.wire == PB_VARINT;

    (*count)++;
    if (has_key && field.varint > *id_max)
        *id_max = field.varint;
}

void plane_scan(struct xspace *space, struct plane_scan *scan)
{
    struct error err = {0};
    struct pb whole = pb_open(space->file, &err);
    struct pb pb = pb_inside(&whole, scan->message, &err);
    struct id_map line_ids = {0};

    pb.lenient = true;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == XPLANE_NAME && !field.cut)
            scan->name = pb_text(&field);
        else if (field.number == XPLANE_LINES)
            scan_line(scan, &pb, field.bytes, &line_ids);
        else if (field.number == XPLANE_EVENT_METADATA)
            scan_entry(&pb, field.bytes, &scan->event_metadata_count, &scan->event_id_max);
        else if (field.number == XPLANE_STAT_METADATA)
            scan_entry(&pb, field.bytes, &scan->stat_metadata_count, &scan->stat_id_max);
    }
    id_map_free(&line_ids);
}
