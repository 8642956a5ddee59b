/* One event: each byte once.
 *
 *   XEvent  1 metadata id  2 offset_ps | 5 occurrences  3 duration_ps  4 stats*
 *
 * An event's stats come before it is pushed, since they tell its kind, and go to the sink as they
 * were read, in their order, twice where they stand twice.
 */
#include "decode/xspace_stat.h"

/* An event is not pushed before its args are known; more than this many are dropped. */
enum { ARGS_MAX = 1 << 16 };

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

static inline void push_event(struct line *line, const struct event *event)
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
        meaning_sample(line, metadata->name, slice.start_ps);
    else
        push_slice(line, metadata, event, &slice);
}

bool event_take(struct line *line, struct bytes message)
{
    const struct bytes *file = &line->plane->space->file;
    struct event event; /* .meaning is set where .seen says so */

    event.id = 0;
    event.offset_ps = event.dur_ps = 0;
    event.occurrences = 0;
    event.is_aggregated = false;
    event.seen = 0;
    if (!read_event(line, message.at, message.at + message.count, file->at + file->count, &event))
        return false;
    push_event(line, &event);
    return true;
}
