/* SPDX-License-Identifier: Apache-2.0 */
/* What begins in one event and ends in another.
 *
 *   B E      of a thread: a stack. An E that names another slice than the innermost ends the
 *            nearest of that name among the innermost LOOKED_AT, and cuts those inside it; else it
 *            ends the innermost.
 *   b e n    by category and id, wherever they run: lanes. S F T p are their elders.
 *
 * What has begun is kept with its args until it ends; what never ends is cut at the last time of
 * the file. LOOKED_AT keeps a file of a million open slices from costing a million looks an end.
 *
 * Of slices that begin and end together the one begun first is the outer one, but it ends last. So
 * what ends while an open slice with its own start lies below is held by that one, and given away
 * behind it:
 *
 *   B a 0   B b 0   E 7   E 7   ->   b held by a   ->   a, b
 */
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

enum { OPEN_MAX = 1 << 20, HELD_MAX = OPEN_MAX / 2, LOOKED_AT = 1024 };

static struct arg *kept_args(const struct arg_list *args)
{
    if (args->count == 0)
        return NULL;
    struct arg *kept = memory_resize(NULL, args->count, sizeof *kept);

    memcpy(kept, args->args, args->count * sizeof *kept);
    return kept;
}

static bool may_open(struct trace_json *json)
{
    if (json->open_now < OPEN_MAX) {
        json->open_now++;
        return true;
    }
    json->odd.too_many_open++;
    return false;
}

/* The slice that the event begins. */
static struct open_slice begun(struct trace_json *json, uint32_t thread, int64_t start_ps,
                               uint8_t flags)
{
    const struct event *event = &json->event;
    struct open_slice open = {
        .start_ps = start_ps,
        .facts = facts_of(event),
        .flags = flags,
        .flow_in = event->flow_in,
        .flow_out = event->flow_out,
        .thread = thread,
    };

    if (open.flow_in || open.flow_out)
        open.bind_id = flow_id(json, event->bind_id);
    open.args = kept_args(&json->args);
    open.arg_count = json->args.count;
    return open;
}

static uint32_t new_open(struct trace_json *json, struct open_slice open)
{
    uint32_t index = json->open_free;

    if (index != PAIR_NONE) {
        json->open_free = json->opens[index].below;
    } else {
        if (json->open_count == json->open_capacity) {
            json->open_capacity = json->open_capacity == 0 ? 64 : json->open_capacity * 2;
            json->opens = memory_resize(json->opens, json->open_capacity, sizeof *json->opens);
        }
        index = json->open_count++;
    }
    open.held = open.held_last = open.behind = PAIR_NONE;
    json->opens[index] = open;
    return index;
}

static void put_one(struct trace_json *json, struct open_slice *open)
{
    struct sink_slice slice = slice_of(json, open->thread, open->facts);

    slice.track = open->track;
    slice.start_ps = open->start_ps;
    slice.dur_ps = open->end_ps - open->start_ps;
    slice.flags = open->flags;
    if (slice.dur_ps < 0) {
        json->odd.negative++;
        slice.dur_ps = 0;
        slice.flags |= SLICE_CLAMPED;
    }
    sink_slice(json->sink, slice);
    slice_args(json, open->args, open->arg_count);
    slice_bind(json, open->bind_id, open->flow_in, open->flow_out);
    free(open->args);
    open->args = NULL;
    json->open_now--;
}

/* Gives away one that has ended, then what it holds. */
static void put(struct trace_json *json, uint32_t index)
{
    while (index != PAIR_NONE) {
        struct open_slice *open = &json->opens[index];
        uint32_t behind = open->held != PAIR_NONE ? open->held : open->behind;

        put_one(json, open);
        open->below = json->open_free;
        json->open_free = index;
        index = behind;
    }
}

/* What the lower one holds from now on: the upper one, and what that held. */
static void hold(struct trace_json *json, uint32_t lower, uint32_t upper)
{
    struct open_slice *below = &json->opens[lower], *above = &json->opens[upper];

    if (below->held == PAIR_NONE)
        below->held = upper;
    else
        json->opens[below->held_last].behind = upper;
    above->behind = above->held;
    below->held_last = above->held != PAIR_NONE ? above->held_last : upper;
    above->held = PAIR_NONE;
}

static void more_args(struct open_slice *open, const struct arg_list *more)
{
    if (more->count == 0)
        return;
    open->args =
        memory_resize(open->args, (size_t)open->arg_count + more->count, sizeof *open->args);
    memcpy(open->args + open->arg_count, more->args, more->count * sizeof *open->args);
    open->arg_count += more->count;
}

/* The slice has ended; `below` is the next open one under it. */
static void close_slice(struct trace_json *json, uint32_t index, uint32_t below)
{
    if (below != PAIR_NONE && json->opens[below].start_ps == json->opens[index].start_ps &&
        json->open_now < HELD_MAX)
        hold(json, below, index);
    else
        put(json, index);
}

static void end_at(struct trace_json *json, uint32_t index, int64_t end_ps, bool is_cut)
{
    struct open_slice *open = &json->opens[index];

    open->end_ps = end_ps;
    open->flags |= (uint8_t)(is_cut ? SLICE_CUT : 0);
    json->odd.cut += is_cut;
}

static void begin_nested(struct trace_json *json)
{
    int64_t start_ps;

    if (!event_time(json, &start_ps) || !may_open(json))
        return;
    uint32_t index = tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST);
    struct open_slice open = begun(json, index, start_ps, 0);
    struct thread *thread = &json->tracks.threads[index];

    open.track = thread->track;
    open.below = thread->open;
    thread->open = new_open(json, open);
}

/* Which open slice an end means. */
static uint32_t ended_by_name(struct trace_json *json, uint32_t innermost)
{
    uint32_t looked_at = 0;

    if (!json->event.has_name)
        return innermost;
    for (uint32_t index = innermost; index != PAIR_NONE && looked_at < LOOKED_AT;
         index = json->opens[index].below, looked_at++)
        if (json->opens[index].facts.name == json->event.name)
            return index;
    json->odd.ends_other++;
    return innermost;
}

/* Of a thread, those from the innermost down to `last`. */
static void end_down_to(struct trace_json *json, uint32_t *top, uint32_t last, int64_t end_ps,
                        bool cut_last)
{
    for (bool more = true; more && *top != PAIR_NONE;) {
        uint32_t index = *top;

        more = index != last;
        *top = json->opens[index].below;
        end_at(json, index, end_ps, more || cut_last);
        close_slice(json, index, *top);
    }
}

static void end_nested(struct trace_json *json)
{
    int64_t end_ps;

    if (!event_time(json, &end_ps))
        return;
    uint32_t index = tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST);
    struct thread *thread = &json->tracks.threads[index];

    if (thread->open == PAIR_NONE) {
        json->odd.ends_alone++;
        return;
    }
    uint32_t meant = ended_by_name(json, thread->open);

    more_args(&json->opens[meant], &json->args);
    end_down_to(json, &thread->open, meant, end_ps, false);
}

bool open_holds(struct trace_json *json, uint32_t thread, int64_t start_ps, int64_t dur_ps,
                uint8_t flags)
{
    uint32_t below = json->tracks.threads[thread].open;

    if (below == PAIR_NONE || json->opens[below].start_ps != start_ps || json->open_now >= HELD_MAX)
        return false;
    struct open_slice whole = begun(json, thread, start_ps, flags);

    json->open_now++;
    whole.track = json->tracks.threads[thread].track;
    whole.end_ps = start_ps + dur_ps;
    hold(json, below, new_open(json, whole));
    return true;
}

/* Ids are of the whole file, those in id2.local of a process. */
static void id_of(struct trace_json *json, uint64_t *ret_a, uint64_t *ret_b)
{
    *ret_a = flow_id(json, json->event.id);
    *ret_b = json->event.cat;
}

static track_id lane_of(struct trace_json *json, const struct open_slice *open)
{
    const struct thread *thread = &json->tracks.threads[open->thread];

    return tracks_lane(json, thread->process, open->facts.cat);
}

static void begin_async(struct trace_json *json)
{
    int64_t start_ps;
    uint64_t a, b;

    if (!event_time(json, &start_ps) || !may_open(json))
        return;
    uint32_t thread = tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST);
    struct open_slice open = begun(json, thread, start_ps, SLICE_ASYNC);

    id_of(json, &a, &b);
    uint32_t *top = pair_table_at(&json->open_by_id, a, b);

    open.below = *top;
    *top = new_open(json, open);
}

/* The innermost of the name, else the innermost; *ret_above is what lies on it. */
static uint32_t find_async(struct trace_json *json, uint32_t top, uint32_t *ret_above)
{
    uint32_t looked_at = 0;

    *ret_above = PAIR_NONE;
    for (uint32_t index = top, above = PAIR_NONE; index != PAIR_NONE && looked_at < LOOKED_AT;
         above = index, index = json->opens[index].below, looked_at++) {
        if (json->opens[index].facts.name == json->event.name) {
            *ret_above = above;
            return index;
        }
    }
    return top;
}

static void end_async(struct trace_json *json)
{
    int64_t end_ps;
    uint64_t a, b;
    uint32_t above;

    tracks_saw(json);
    if (!event_time(json, &end_ps))
        return;
    id_of(json, &a, &b);
    uint32_t top = pair_table_find(&json->open_by_id, a, b);

    if (top == PAIR_NONE) {
        json->odd.ends_alone++;
        return;
    }
    uint32_t index = find_async(json, top, &above), below = json->opens[index].below;

    if (above != PAIR_NONE)
        json->opens[above].below = below;
    else if (below != PAIR_NONE)
        *pair_table_at(&json->open_by_id, a, b) = below;
    else
        pair_table_remove(&json->open_by_id, a, b);
    more_args(&json->opens[index], &json->args);
    end_at(json, index, end_ps, false);
    json->opens[index].track = lane_of(json, &json->opens[index]);
    close_slice(json, index, below);
}

/* A moment of an asynchronous slice lies in the lanes too. */
static void instant_async(struct trace_json *json)
{
    uint8_t flags = SLICE_ASYNC | SLICE_INSTANT;
    int64_t at_ps;

    if (!event_time(json, &at_ps))
        return;
    json->open_now++;
    struct open_slice open = begun(
        json, tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST), at_ps, flags);

    open.end_ps = at_ps;
    open.track = lane_of(json, &open);
    put_one(json, &open);
}

void open_event(struct trace_json *json)
{
    switch (json->event.phase) {
    case 'B':
        begin_nested(json);
        break;
    case 'E':
        end_nested(json);
        break;
    case 'b':
    case 'S':
        begin_async(json);
        break;
    case 'e':
    case 'F':
        end_async(json);
        break;
    default:
        instant_async(json);
        break;
    }
}

void open_finish(struct trace_json *json)
{
    for (uint32_t i = 0; i < json->tracks.thread_count; i++)
        end_down_to(json, &json->tracks.threads[i].open, PAIR_NONE, json->last_ps, true);
    for (uint32_t i = 0; i < json->open_by_id.capacity; i++) {
        uint32_t top =
            json->open_by_id.entries[i].used ? json->open_by_id.entries[i].index : PAIR_NONE;

        for (uint32_t index = top; index != PAIR_NONE; index = json->opens[index].below)
            json->opens[index].track = lane_of(json, &json->opens[index]);
        end_down_to(json, &top, PAIR_NONE, json->last_ps, true);
    }
    pair_table_free(&json->open_by_id);
}

void open_free(struct trace_json *json)
{
    for (uint32_t i = 0; i < json->open_count; i++)
        free(json->opens[i].args);
    pair_table_free(&json->open_by_id);
    free(json->opens);
}
