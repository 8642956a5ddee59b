/* SPDX-License-Identifier: Apache-2.0 */
/* A plane once its names are known: its stats, its lines, and what has no place in time. */
#include "decode/xspace/xspace.h"

#include <inttypes.h>

enum { SCOPE_PARENTS_MAX = 100000 };

/* Stats of a plane are about its device or the file; but one plane is a table of parents of scope
 * ranges: the id of a stat is a child's, its value the parent's. */
static bool is_scope_table(const struct plane *plane)
{
    return str_equal(plane->scan->name, STR("/host:__ScopeRangeCallStack__"));
}

static void read_scope_parent(const struct pb *outer, struct bytes message, struct text *ret,
                              uint64_t *count)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    uint64_t child = 0, parent = 0;
    bool has_parent = false;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_VARINT)
            continue;
        if (field.number == XSTAT_ID)
            child = field.varint;
        has_parent |= field.number == XSTAT_UINT64 || field.number == XSTAT_INT64;
        if (field.number == XSTAT_UINT64 || field.number == XSTAT_INT64)
            parent = field.varint;
    }
    if (err.code != OK || !has_parent || (*count)++ >= SCOPE_PARENTS_MAX)
        return;
    text_putf(ret, "%s\"%" PRIu64 "\":\"%" PRIu64 "\"", *count > 1 ? "," : "{", child, parent);
}

/* One property of the file: {"child": "parent", ...}. */
static void read_scope_table(struct plane *plane)
{
    struct sink *sink = plane->space->sink;
    struct error err = {0};
    struct pb whole = pb_open(plane->space->file, &err);
    struct pb pb = pb_inside(&whole, plane->scan->message, &err);
    struct text table = {0};
    uint64_t count = 0;

    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == XPLANE_STATS && field.wire == PB_BYTES)
            read_scope_parent(&pb, field.bytes, &table, &count);
    if (count > 0) {
        text_puts(&table, "}");
        sink_property(sink, NO_TRACK,
                      (struct arg){.key = sink_name(sink, STR("scope_range_parents")),
                                   .type = ARG_JSON,
                                   .bits = sink_name(sink, text_str(&table))});
    }
    if (count > SCOPE_PARENTS_MAX)
        sink_note(sink, "scope-ranges", NOTE_INFO, count - SCOPE_PARENTS_MAX,
                  "The table of scope ranges is long; the last ones are left out.");
    text_free(&table);
}

static void read_plane_stat(struct plane *plane, struct bytes message)
{
    struct xspace *space = plane->space;
    enum stat_role role;
    struct arg arg;

    if (!stat_read(plane, message, &arg, &role)) {
        xspace_damaged(space, message.at, "a property of a plane");
        return;
    }
    if (role == STAT_PROFILE_START && (arg.type == ARG_UINT64 || arg.type == ARG_INT64) &&
        arg.bits <= INT64_MAX) {
        space->has_start = true;
        space->start_ns = (int64_t)arg.bits;
    }
    sink_property(space->sink, plane->track, arg);
}

/* Aggregated events stand for many executions: a property of the plane each, and one note. */
static void say_aggregated(struct plane *plane)
{
    struct sink *sink = plane->space->sink;
    uint64_t count = 0;

    for (uint32_t index = 0; index < plane->event_index.count; index++) {
        const struct event_metadata *entry = &plane->events[index];
        if (entry->occurrences == 0)
            continue;
        struct text key = {0}, value = {0};
        struct str name = sink_text(sink, entry->name);
        text_puts(&key, "aggregated ");
        text_put(&key, name.at, name.count);
        text_putf(&value, "{\"count\":%" PRIu64 ",\"total_ps\":%" PRId64 "}", entry->occurrences,
                  entry->occurrences_ps);
        struct arg arg = {.key = sink_name(sink, text_str(&key)), .type = ARG_JSON};
        arg.bits = sink_name(sink, text_str(&value));
        sink_property(sink, plane->track, arg);
        text_free(&key);
        text_free(&value);
        count++;
    }
    if (count > 0)
        sink_note(sink, "aggregated-events", NOTE_INFO, count,
                  "%.*s holds totals of events without their times; they are properties of the "
                  "track, not slices.",
                  STR_ARG(plane->scan->name));
}

static void read_fields(struct plane *plane, uint32_t number)
{
    struct xspace *space = plane->space;
    struct error err = {0};
    struct pb whole = pb_open(space->file, &err);
    struct pb pb = pb_inside(&whole, plane->scan->message, &err);

    pb.lenient = true;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number != number || field.wire != PB_BYTES || sink_failed(space->sink))
            continue;
        if (number == XPLANE_LINES)
            line_read(plane, &pb, field.bytes);
        else if (!field.cut)
            read_plane_stat(plane, field.bytes);
    }
    /* What ends a cut plane early is told with the cut. */
    if (err.code != OK && number == XPLANE_LINES && !plane->scan->is_cut)
        xspace_damaged(space, pb.at, "the rest of a plane");
}

/* How much the plane describes, used or not; what stands on no track is not told. */
static void say_described(const struct plane *plane)
{
    struct sink *sink = plane->space->sink;
    const struct {
        struct str key;
        uint32_t count;
    } tables[] = {{STR("event metadata"), plane->scan->event_metadata_count},
                  {STR("stat metadata"), plane->scan->stat_metadata_count}};

    for (size_t i = 0; plane->track != NO_TRACK && i < sizeof tables / sizeof *tables; i++)
        sink_property(sink, plane->track,
                      (struct arg){.key = sink_name(sink, tables[i].key),
                                   .type = ARG_INT64,
                                   .bits = tables[i].count});
}

void plane_read(struct xspace *space, const struct plane_scan *scan)
{
    struct plane plane = {.space = space, .scan = scan};

    plane.track = track_of_plane(&plane);
    names_open(&plane);
    if (is_scope_table(&plane))
        read_scope_table(&plane);
    else
        read_fields(&plane, XPLANE_STATS);
    read_fields(&plane, XPLANE_LINES);
    say_described(&plane);
    say_aggregated(&plane);
    names_close(&plane);
}
