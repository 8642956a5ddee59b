/* The loop over events: each byte once.
 *
 *   XLine   1 id  2 name  3 timestamp_ns  4 events*  11 display name
 *   XEvent  1 metadata id  2 offset_ps | 5 occurrences  3 duration_ps  4 stats*
 *   XStat   1 metadata id  one of: 2 double  3 uint64  4 int64  5 text  6 bytes  7 ref
 *
 * Tags below 16 are one byte, so a switch over that byte reads all fields that are known; others
 * go the long way and are skipped. Numbers are read up to the end of the file and the message's
 * end is compared once behind its last field, which saves a check per number and lets the reader
 * take eight bytes at a time.
 *
 * An event's stats come before it is pushed, since they tell its kind, and go to the sink as they
 * were read, in their order, twice where they stand twice.
 */
#include "decode/xspace.h"

#include <stdlib.h>

#define TAG(number, wire) ((number) << 3 | (wire))

/* The event is not pushed before its args are known; more than this many are dropped. */
enum { ARGS_MAX = 1 << 16 };
enum { PROGRESS_EVERY_BYTES = 1 << 20 };

/* Behind a field that is not wanted; NULL when it does not end in the message. */
static const uint8_t *skip_field(struct plane *plane, const uint8_t *at, const uint8_t *end)
{
    struct error err = {0};
    struct pb pb = {.at = at, .end = end, .file = plane->space->file.at, .err = &err};
    struct pb_field field;

    return pb_next(&pb, &field) ? pb.at : NULL;
}

static inline const uint8_t *read_span(const uint8_t *at, const uint8_t *end, const uint8_t *limit,
                                       struct bytes *ret)
{
    uint64_t count;

    at = pb_read_varint(at, limit, &count);
    if (at == NULL || at > end || count > (uint64_t)(end - at))
        return NULL;
    *ret = (struct bytes){.at = at, .count = (size_t)count};
    return at + count;
}

static const uint8_t *read_text(struct plane *plane, const uint8_t *at, const uint8_t *end,
                                const uint8_t *limit, uint64_t *ret)
{
    struct bytes bytes;

    at = read_span(at, end, limit, &bytes);
    if (at != NULL)
        *ret = sink_name(plane->space->sink,
                         (struct str){.at = (const char *)bytes.at, .count = bytes.count});
    return at;
}

static inline bool read_stat(struct plane *plane, const uint8_t *at, const uint8_t *end,
                             const uint8_t *limit, struct arg *ret, enum stat_role *ret_role)
{
    uint64_t id = 0, bits = 0;
    enum arg_type type = ARG_NULL;
    bool is_ref = false;

    while (at < end) {
        switch (*at++) {
        case TAG(XSTAT_ID, PB_VARINT):
            at = pb_read_varint(at, limit, &id);
            break;
        case TAG(XSTAT_INT64, PB_VARINT):
            at = pb_read_varint(at, limit, &bits);
            type = ARG_INT64;
            break;
        case TAG(XSTAT_UINT64, PB_VARINT):
            at = pb_read_varint(at, limit, &bits);
            type = ARG_UINT64;
            break;
        case TAG(XSTAT_REF, PB_VARINT):
            at = pb_read_varint(at, limit, &bits);
            type = ARG_STRING;
            is_ref = true;
            break;
        case TAG(XSTAT_DOUBLE, PB_FIXED64):
            if (end - at < 8)
                return false;
            memcpy(&bits, at, sizeof bits);
            at += sizeof bits;
            type = ARG_DOUBLE;
            break;
        case TAG(XSTAT_TEXT, PB_BYTES):
            at = read_text(plane, at, end, limit, &bits);
            type = ARG_STRING;
            is_ref = false;
            break;
        case TAG(XSTAT_BYTES, PB_BYTES):
            at = read_text(plane, at, end, limit, &bits);
            type = ARG_BYTES;
            break;
        default:
            at = skip_field(plane, at - 1, end);
        }
        if (at == NULL)
            return false;
    }
    if (is_ref && type == ARG_STRING)
        bits = names_stat(plane, bits)->name;
    const struct stat_metadata *metadata = names_stat(plane, id);
    *ret = (struct arg){.key = metadata->name, .type = type, .bits = bits};
    *ret_role = (enum stat_role)metadata->role;
    return at == end;
}

bool stat_read(struct plane *plane, struct bytes message, struct arg *ret, enum stat_role *ret_role)
{
    const struct bytes *file = &plane->space->file;

    return read_stat(plane, message.at, message.at + message.count, file->at + file->count, ret,
                     ret_role);
}

static void take_arg(struct line *line, struct arg arg)
{
    if (line->arg_count == line->arg_capacity) {
        if (line->arg_count == ARGS_MAX) {
            line->plane->space->dropped_arg_count++;
            return;
        }
        line->arg_capacity = line->arg_capacity == 0 ? 64 : line->arg_capacity * 2;
        line->args = memory_resize(line->args, line->arg_capacity, sizeof *line->args);
    }
    line->args[line->arg_count++] = arg;
}

/* Names mean something as names only, numbers as numbers. */
static inline void take_meaning(struct event *event, enum stat_role role, const struct arg *arg)
{
    const uint32_t names = 1u << STAT_HLO_OP | 1u << STAT_CATEGORY | 1u << STAT_ALLOCATOR;
    bool fits = names >> role & 1 ? arg->type == ARG_STRING
                                  : arg->type == ARG_INT64 || arg->type == ARG_UINT64;

    if (!fits)
        return;
    event->seen |= 1u << role;
    event->meaning[role] = arg->bits;
}

/* The header and the args of one event; false when it is damaged. */
static inline bool read_event(struct line *line, const uint8_t *at, const uint8_t *end,
                              const uint8_t *limit, struct event *event)
{
    struct bytes span;
    struct arg arg;
    enum stat_role role;

    line->arg_count = 0;
    while (at < end) {
        uint64_t value;
        switch (*at++) {
        case TAG(XEVENT_ID, PB_VARINT):
            at = pb_read_varint(at, limit, &event->id);
            break;
        case TAG(XEVENT_OFFSET_PS, PB_VARINT):
            at = pb_read_varint(at, limit, &value);
            event->offset_ps = (int64_t)value;
            event->is_aggregated = false;
            break;
        case TAG(XEVENT_DURATION_PS, PB_VARINT):
            at = pb_read_varint(at, limit, &value);
            event->dur_ps = (int64_t)value;
            break;
        case TAG(XEVENT_OCCURRENCES, PB_VARINT):
            at = pb_read_varint(at, limit, &event->occurrences);
            event->is_aggregated = true;
            break;
        case TAG(XEVENT_STATS, PB_BYTES):
            at = read_span(at, end, limit, &span);
            if (at == NULL || !read_stat(line->plane, span.at, at, limit, &arg, &role))
                return false;
            take_arg(line, arg);
            if (role != STAT_PLAIN)
                take_meaning(event, role, &arg);
            break;
        default:
            at = skip_field(line->plane, at - 1, end);
        }
        if (at == NULL)
            return false;
    }
    return at == end;
}

/* Start and length within what a trace can hold. */
static void place(struct line *line, const struct event *event, struct sink_slice *slice)
{
    bool is_clamped = line->is_clamped;
    int64_t start_ps, end_ps, dur_ps = event->dur_ps;

    if (__builtin_add_overflow(line->start_ps, event->offset_ps, &start_ps))
        start_ps = event->offset_ps < 0 ? INT64_MIN : INT64_MAX;
    if (start_ps > TIME_PS_MAX || start_ps < -TIME_PS_MAX) {
        start_ps = start_ps < 0 ? -TIME_PS_MAX : TIME_PS_MAX;
        is_clamped = true;
    }
    if (dur_ps < 0) {
        dur_ps = 0;
        is_clamped = true;
    }
    if (__builtin_add_overflow(start_ps, dur_ps, &end_ps) || end_ps > TIME_PS_MAX) {
        dur_ps = TIME_PS_MAX - start_ps;
        is_clamped = true;
    }
    slice->start_ps = start_ps;
    slice->dur_ps = dur_ps;
    if (is_clamped) {
        slice->flags |= SLICE_CLAMPED;
        line->plane->space->clamped_count++;
    }
}

static void push_aggregated(struct event_metadata *metadata, const struct event *event)
{
    if (__builtin_add_overflow(metadata->occurrences, event->occurrences, &metadata->occurrences))
        metadata->occurrences = UINT64_MAX;
    if (__builtin_add_overflow(metadata->occurrences_ps, event->dur_ps, &metadata->occurrences_ps))
        metadata->occurrences_ps = INT64_MAX;
}

static double number_of(const struct arg *arg)
{
    double value;

    if (arg->type == ARG_DOUBLE) {
        memcpy(&value, &arg->bits, sizeof value);
        return value;
    }
    return arg->type == ARG_INT64 ? (double)(int64_t)arg->bits : (double)arg->bits;
}

static bool is_number(const struct arg *arg)
{
    return arg->type == ARG_DOUBLE || arg->type == ARG_INT64 || arg->type == ARG_UINT64;
}

/* The value of a sample: "counter_value", or else its first number. */
static const struct arg *find_value(const struct line *line)
{
    name_id wanted = sink_name(line->plane->space->sink, STR("counter_value"));
    const struct arg *found = NULL;

    for (uint32_t index = 0; index < line->arg_count; index++) {
        const struct arg *arg = &line->args[index];
        if (is_number(arg) && (found == NULL || arg->key == wanted))
            found = arg;
    }
    return found;
}

static void push_sample(struct line *line, name_id name, int64_t at_ps)
{
    struct sink *sink = line->plane->space->sink;
    const struct arg *value = find_value(line);
    bool is_new;

    if (value == NULL)
        return;
    uint32_t track;
    if (!id_map_find(&line->counters, name, &track)) {
        track = sink_track(sink, (struct sink_track){
                                     .parent = line->plane->track,
                                     .kind = TRACK_COUNTER,
                                     .name = sink_text(sink, name),
                                     .source_id = line->id,
                                     .device = line->plane->device,
                                 });
        id_map_add(&line->counters, name, track, &is_new);
    }
    sink_counter(sink, track, at_ps, number_of(value));
    line->plane->space->sample_count++;
}

static void push_slice(struct line *line, struct event_metadata *metadata,
                       const struct event *event, struct sink_slice *slice)
{
    struct xspace *space = line->plane->space;
    const uint32_t arrows =
        1u << STAT_PRODUCER | 1u << STAT_CONSUMER | 1u << STAT_FLOW | 1u << STAT_CORRELATION;

    slice->kind = meaning_kind(line, metadata, event);
    if (slice->dur_ps == 0)
        slice->flags |= SLICE_INSTANT;
    if (line->is_derived)
        slice->flags |= SLICE_DERIVED;
    if (line->is_async || (event_has(event, STAT_ASYNC) && event->meaning[STAT_ASYNC] != 0))
        slice->flags |= SLICE_ASYNC;
    sink_slice(space->sink, *slice);
    space->slice_count++;
    for (uint32_t index = 0; index < line->arg_count; index++)
        sink_arg(space->sink, line->args[index]);
    if (event->seen & arrows)
        meaning_flows(line, event);
    if (metadata->role != EVENT_PLAIN && line->role == ROLE_HOST)
        meaning_memory(line, (enum event_role)metadata->role, event, slice->start_ps);
}

static void push_event(struct line *line, const struct event *event)
{
    struct event_metadata *metadata = names_event(line->plane, event->id);
    struct sink_slice slice = {
        .track = line->track,
        .name = metadata->name,
        .type = metadata->type,
    };

    if (metadata->message.at == NULL)
        line->plane->space->undescribed_count++;
    if (event->is_aggregated) {
        push_aggregated(metadata, event);
        return;
    }
    place(line, event, &slice);
    if (line->is_counters)
        push_sample(line, metadata->name, slice.start_ps);
    else
        push_slice(line, metadata, event, &slice);
}

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
    struct event event;

    while (at < end) {
        const uint8_t *start = at;
        struct bytes span;
        if (*at != TAG(XLINE_EVENTS, PB_BYTES)) {
            at = read_late_field(line, at, end);
        } else if ((at = read_span(at + 1, end, limit, &span)) != NULL) {
            event.id = 0;
            event.offset_ps = event.dur_ps = 0;
            event.occurrences = 0;
            event.is_aggregated = false;
            event.seen = 0;
            if (read_event(line, span.at, at, limit, &event))
                push_event(line, &event);
            else
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

/* A timestamp that stands behind the events would change them all; writers put it before. Where
 * none does, the line is walked once more by lengths to be sure. */
static void find_late_timestamp(struct pb pb, int64_t *ret)
{
    struct error err = {0};

    pb.err = &err;
    for (struct pb_field field; pb_next(&pb, &field);)
        if (field.number == XLINE_TIMESTAMP_NS && field.wire == PB_VARINT)
            *ret = (int64_t)field.varint;
}

void line_read(struct plane *plane, const struct pb *outer, struct bytes message)
{
    struct line line = {.plane = plane, .ordinal = ++plane->space->lines_read};
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);
    int64_t timestamp_ns = 0;
    bool has_timestamp = false;

    while (pb.at < pb.end && *pb.at != TAG(XLINE_EVENTS, PB_BYTES)) {
        struct pb_field field;
        if (!pb_next(&pb, &field) || field.cut)
            break;
        if (field.number == XLINE_ID && field.wire == PB_VARINT)
            line.id = (int64_t)field.varint;
        else if (field.number == XLINE_NAME && field.wire == PB_BYTES)
            line.name = pb_text(&field);
        else if (field.number == XLINE_DISPLAY_NAME && field.wire == PB_BYTES &&
                 field.bytes.count > 0)
            line.name = pb_text(&field);
        else if (field.number == XLINE_TIMESTAMP_NS && field.wire == PB_VARINT) {
            timestamp_ns = (int64_t)field.varint;
            has_timestamp = true;
        }
    }
    if (err.code != OK) {
        if (!plane->scan->is_cut)
            xspace_damaged(plane->space, pb.at, "the head of a line");
        return;
    }
    if (!has_timestamp)
        find_late_timestamp(pb, &timestamp_ns);
    line.start_ps = time_of_line(plane->space, timestamp_ns, &line.is_clamped);
    track_of_line(&line);
    read_events(&line, pb.at, pb.end);
    if (!plane->scan->repeats_lines && !line.is_counters)
        sink_track_end(plane->space->sink, line.track);
    id_map_free(&line.counters);
    free(line.args);
}
