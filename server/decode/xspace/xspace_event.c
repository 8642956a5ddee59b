/* SPDX-License-Identifier: Apache-2.0 */
/* One event: each byte once.
 *
 *   XEvent  1 metadata id  2 offset_ps | 5 occurrences  3 duration_ps  4 stats*
 *
 * An event's stats come before it is pushed, since they tell its kind, and go to the sink as they
 * were read, in their order, twice where they stand twice.
 */
#include "decode/xspace/xspace_stat.h"

/* An event is not pushed before its args are known; more than this many are dropped. */
enum { ARGS_MAX = 1 << 16 };

bool stat_read(struct plane *plane, struct bytes message, struct arg *ret, enum stat_role *ret_role)
{
    const struct bytes *file = &plane->space->file;

    return read_stat(plane, message.at, message.at + message.count, file->at + file->count, ret,
                     ret_role);
}

/* Room for one more arg; the last place is used again and again once there are too many. */
static inline struct arg *next_arg(struct line *line)
{
    if (__builtin_expect(line->arg_count < line->arg_capacity, 1))
        return &line->args[line->arg_count++];
    if (line->arg_count == ARGS_MAX) {
        line->plane->space->dropped_arg_count++;
        return &line->args[ARGS_MAX - 1];
    }
    line->arg_capacity = line->arg_capacity == 0 ? 64 : line->arg_capacity * 2;
    line->args = memory_resize(line->args, line->arg_capacity, sizeof *line->args);
    return &line->args[line->arg_count++];
}

/* Names mean something as names only, numbers as numbers. */
static inline void take_meaning(struct meaning *meaning, enum stat_role role, const struct arg *arg)
{
    const uint32_t names = 1u << STAT_HLO_OP | 1u << STAT_CATEGORY | 1u << STAT_ALLOCATOR;
    bool fits = names >> role & 1 ? arg->type == ARG_STRING
                                  : arg->type == ARG_INT64 || arg->type == ARG_UINT64;

    if (!fits)
        return;
    meaning->seen |= 1u << role;
    meaning->values[role] = arg->bits;
}

static inline const uint8_t *take_stat(struct line *line, const uint8_t *at, const uint8_t *end,
                                       const uint8_t *limit)
{
    struct bytes span;
    enum stat_role role;

    at = read_span(at, end, limit, &span);
    if (__builtin_expect(at == NULL, 0))
        return NULL;
    struct arg *arg = next_arg(line);
    if (!read_stat(line->plane, span.at, at, limit, arg, &role))
        return NULL;
    if (role != STAT_PLAIN)
        take_meaning(&line->meaning, role, arg);
    return at;
}

/* A field of an event that is not where writers put it. */
static __attribute__((noinline)) const uint8_t *read_odd_field(struct line *line, const uint8_t *at,
                                                               const uint8_t *end,
                                                               const uint8_t *limit,
                                                               struct event *event)
{
    uint64_t value;

    switch (*at) {
    case TAG(XEVENT_ID, PB_VARINT):
        return pb_read_varint(at + 1, limit, &event->id);
    case TAG(XEVENT_OFFSET_PS, PB_VARINT):
        at = pb_read_varint(at + 1, limit, &value);
        event->offset_ps = at != NULL ? (int64_t)value : 0;
        event->is_aggregated = false;
        return at;
    case TAG(XEVENT_DURATION_PS, PB_VARINT):
        at = pb_read_varint(at + 1, limit, &value);
        event->dur_ps = at != NULL ? (int64_t)value : 0;
        return at;
    case TAG(XEVENT_OCCURRENCES, PB_VARINT):
        event->is_aggregated = true;
        return pb_read_varint(at + 1, limit, &event->occurrences);
    default:
        return skip_field(line->plane, at, end);
    }
}

/* A number where writers put it; 0 where it is absent. NULL stays NULL. */
static inline const uint8_t *read_number(const uint8_t *at, const uint8_t *end,
                                         const uint8_t *limit, unsigned number, uint64_t *ret)
{
    *ret = 0;
    if (at == NULL || at >= end || *at != TAG(number, PB_VARINT))
        return at;
    return pb_read_varint(at + 1, limit, ret);
}

/* The header, the args and their meaning; false when the event is damaged. Ascending numbers of
 * fields are the straight way, which has no branch that could be foreseen wrongly. */
static inline bool read_event(struct line *line, const uint8_t *at, const uint8_t *end,
                              const uint8_t *limit, struct event *event)
{
    uint64_t id, offset, duration;

    line->arg_count = 0;
    line->meaning.seen = 0;
    at = read_number(at, end, limit, XEVENT_ID, &id);
    at = read_number(at, end, limit, XEVENT_OFFSET_PS, &offset);
    at = read_number(at, end, limit, XEVENT_DURATION_PS, &duration);
    *event = (struct event){
        .id = id,
        .offset_ps = (int64_t)offset,
        .dur_ps = (int64_t)duration,
    };
    while (at != NULL && at < end) {
        if (__builtin_expect(*at == TAG(XEVENT_STATS, PB_BYTES), 1))
            at = take_stat(line, at + 1, end, limit);
        else
            at = read_odd_field(line, at, end, limit, event);
    }
    return at == end;
}

/* Cuts a time to what a trace can hold; true when it had to. */
static inline bool clamp(int64_t *time_ps)
{
    if (__builtin_expect(*time_ps <= TIME_PS_MAX && *time_ps >= -TIME_PS_MAX, 1))
        return false;
    *time_ps = *time_ps < 0 ? -TIME_PS_MAX : TIME_PS_MAX;
    return true;
}

/* Start and length; SLICE_CLAMPED where they had to be cut. */
static inline uint8_t place(const struct line *line, const struct event *event, int64_t *ret_start,
                            int64_t *ret_dur)
{
    int64_t start_ps, end_ps, dur_ps = event->dur_ps;
    bool is_clamped = line->is_clamped;

    if (__builtin_add_overflow(line->start_ps, event->offset_ps, &start_ps))
        start_ps = event->offset_ps < 0 ? INT64_MIN : INT64_MAX;
    is_clamped |= clamp(&start_ps);
    if (__builtin_expect(dur_ps < 0, 0)) {
        dur_ps = 0;
        is_clamped = true;
    }
    if (__builtin_add_overflow(start_ps, dur_ps, &end_ps))
        end_ps = INT64_MAX;
    is_clamped |= clamp(&end_ps);
    *ret_start = start_ps;
    *ret_dur = end_ps - start_ps;
    line->plane->space->clamped_count += is_clamped;
    return is_clamped ? SLICE_CLAMPED : 0;
}

static void push_aggregated(struct event_metadata *metadata, const struct event *event)
{
    if (__builtin_add_overflow(metadata->occurrences, event->occurrences, &metadata->occurrences))
        metadata->occurrences = UINT64_MAX;
    if (__builtin_add_overflow(metadata->occurrences_ps, event->dur_ps, &metadata->occurrences_ps))
        metadata->occurrences_ps = INT64_MAX;
}

/* The sink adds what the track and the duration say. */
static inline uint8_t flags_of(const struct line *line, const struct meaning *meaning)
{
    bool is_async =
        line->is_async || (meaning_has(meaning, STAT_ASYNC) && meaning->values[STAT_ASYNC] != 0);

    return is_async ? SLICE_ASYNC : 0;
}

static inline void push_event(struct line *line, const struct event *event,
                              const struct meaning *meaning)
{
    const uint32_t arrows =
        1u << STAT_PRODUCER | 1u << STAT_CONSUMER | 1u << STAT_FLOW | 1u << STAT_CORRELATION;
    struct xspace *space = line->plane->space;
    struct event_metadata *metadata = names_event(line->plane, event->id);
    int64_t start_ps, dur_ps;

    space->undescribed_count += metadata->message.at == NULL;
    if (__builtin_expect(event->is_aggregated, 0)) {
        push_aggregated(metadata, event);
        return;
    }
    uint8_t flags = place(line, event, &start_ps, &dur_ps);
    if (line->is_counters) {
        meaning_sample(line, metadata->name, start_ps);
        return;
    }
    enum kind kind = meaning_kind(line, metadata, meaning);
    const struct sink_slice slice = {
        .track = line->track,
        .start_ps = start_ps,
        .dur_ps = dur_ps,
        .name = metadata->name,
        .kind = kind,
        .flags = (uint8_t)(flags | flags_of(line, meaning)),
        .type = metadata->type,
    };

    sink_slice_args(space->sink, &slice, line->args, line->arg_count);
    space->slice_count++;
    if (meaning->seen & arrows)
        meaning_flows(line, meaning);
    if (__builtin_expect(metadata->role != EVENT_PLAIN && line->role == ROLE_HOST, 0))
        meaning_memory(line, (enum event_role)metadata->role, meaning, start_ps);
}

bool event_take(struct line *line, struct bytes message)
{
    const struct bytes *file = &line->plane->space->file;
    struct event event;

    if (!read_event(line, message.at, message.at + message.count, file->at + file->count, &event))
        return false;
    push_event(line, &event, &line->meaning);
    return true;
}
