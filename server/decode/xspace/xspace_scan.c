/* SPDX-License-Identifier: Apache-2.0 */
/* A plane by the lengths of its fields, before anything in it is read: metadata stands behind the
 * lines that need it, and time zero depends on the clocks of all lines. */
#include "decode/xspace/xspace.h"

struct line_head { /* what stands in a line before its first event */
    int64_t id, timestamp_ns;
    bool has_events;
};

static struct line_head read_line_head(const struct pb *outer, struct bytes message)
{
    struct line_head head = {0};
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    for (struct pb_field field; !head.has_events && pb_next(&pb, &field);) {
        if (field.number == XLINE_ID && field.wire == PB_VARINT)
            head.id = (int64_t)field.varint;
        else if (field.number == XLINE_TIMESTAMP_NS && field.wire == PB_VARINT)
            head.timestamp_ns = (int64_t)field.varint;
        else if (field.number == XLINE_EVENTS && field.wire == PB_BYTES)
            head.has_events = true;
    }
    return head;
}

static void scan_line(struct plane_scan *scan, const struct pb *outer, struct bytes message,
                      struct id_map *line_ids)
{
    struct line_head head = read_line_head(outer, message);
    bool is_new;

    scan->line_count++;
    id_map_add(line_ids, (uint64_t)head.id, 0, &is_new);
    scan->repeats_lines |= !is_new;
    if (!head.has_events)
        return;
    if (!scan->has_events || head.timestamp_ns < scan->timestamp_min_ns)
        scan->timestamp_min_ns = head.timestamp_ns;
    if (!scan->has_events || head.timestamp_ns > scan->timestamp_max_ns)
        scan->timestamp_max_ns = head.timestamp_ns;
    scan->has_events = true;
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
