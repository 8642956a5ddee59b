/* A plane once its names are known: its stats, its lines, and what has no place in time. */
#include "decode/xspace.h"

#include <inttypes.h>

/* Stats of a plane are about its device or the file; but one plane is a table of parents of name
 * scopes, written as a stat each. */
static bool holds_properties(const struct plane *plane)
{
    return !str_equal(plane->scan->name, STR("/host:__ScopeRangeCallStack__"));
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
                  "%.*s holds sums of events without their times; they are properties of the "
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

void plane_read(struct xspace *space, const struct plane_scan *scan)
{
    struct plane plane = {.space = space, .scan = scan};

    plane.track = track_of_plane(&plane);
    names_open(&plane);
    if (holds_properties(&plane))
        read_fields(&plane, XPLANE_STATS);
    read_fields(&plane, XPLANE_LINES);
    say_aggregated(&plane);
    names_close(&plane);
}
