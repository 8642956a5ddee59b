/* What begins in one event and ends in another.
 *
 *   B E      of a thread: a stack. An E that names another slice than the innermost ends the
 *            nearest of that name among the innermost LOOKED_AT, and cuts those inside it; else it
 *            ends the innermost.
 *   b e n    by category and id, wherever they run: lanes. S F T p are their elders.
 *
 * What has begun is kept with its args until it ends; what never ends is cut at the last time of
 * the file. LOOKED_AT keeps a file of a million open slices from costing a million looks an end.
 */
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

enum { OPEN_MAX = 1 << 20, LOOKED_AT = 1024 };

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

/* Gives a slice away; its args, then those of the event that ends it. */
static void put(struct trace_json *json, struct open_slice *open, track_id track, int64_t end_ps,
                uint8_t flags, const struct arg_list *more)
{
    struct sink_slice slice = slice_of(json, open->thread, open->facts);

    slice.track = track;
    slice.start_ps = open->start_ps;
    slice.dur_ps = end_ps - open->start_ps;
    slice.flags = open->flags | flags;
    if (slice.dur_ps < 0) {
        json->odd.negative++;
        slice.dur_ps = 0;
        slice.flags |= SLICE_CLAMPED;
    }
    sink_slice(json->sink, slice);
    slice_args(json, open->args, open->arg_count);
    if (more != NULL)
        slice_args(json, more->args, more->count);
    slice_bind(json, open->bind_id, open->flow_in, open->flow_out);
    free(open->args);
    open->args = NULL;
    json->open_now--;
}

static void begin_nested(struct trace_json *json)
{
    uint8_t flags = 0;
    int64_t start_ps;

    if (!event_time(json, &start_ps, &flags) || !may_open(json))
        return;
    uint32_t index = tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST);
    struct open_slice open = begun(json, index, start_ps, flags);
    struct thread *thread = &json->tracks.threads[index];

    if (thread->stack_count == thread->stack_capacity) {
        thread->stack_capacity = thread->stack_capacity == 0 ? 16 : thread->stack_capacity * 2;
        thread->stack = memory_resize(thread->stack, thread->stack_capacity, sizeof *thread->stack);
    }
    thread->stack[thread->stack_count++] = open;
}

/* Which open slice an end means: counted from the outermost. */
static uint32_t ended_by_name(struct trace_json *json, const struct thread *thread)
{
    uint32_t innermost = thread->stack_count - 1;
    uint32_t last = innermost < LOOKED_AT ? 0 : innermost + 1 - LOOKED_AT;

    if (!json->event.has_name)
        return innermost;
    for (uint32_t i = thread->stack_count; i-- > last;)
        if (thread->stack[i].facts.name == json->event.name)
            return i;
    json->odd.ends_other++;
    return innermost;
}

static void end_nested(struct trace_json *json)
{
    uint8_t flags = 0;
    int64_t end_ps;

    if (!event_time(json, &end_ps, &flags))
        return;
    uint32_t index = tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST);
    struct thread *thread = &json->tracks.threads[index];

    if (thread->stack_count == 0) {
        json->odd.ends_alone++;
        return;
    }
    uint32_t meant = ended_by_name(json, thread);

    for (uint32_t i = thread->stack_count; i-- > meant;) {
        bool cut = i > meant;

        json->odd.cut += cut;
        put(json, &thread->stack[i], thread->track, end_ps,
            (uint8_t)(flags | (cut ? SLICE_CUT : 0)), cut ? NULL : &json->args);
    }
    thread->stack_count = meant;
}

/* Ids are of the whole file, those in id2.local of a process. */
static void id_of(struct trace_json *json, uint64_t *ret_a, uint64_t *ret_b)
{
    *ret_a = flow_id(json, json->event.id);
    *ret_b = json->event.cat;
}

static uint32_t new_open(struct trace_json *json)
{
    uint32_t index = json->open_free;

    if (index != PAIR_NONE) {
        json->open_free = json->opens[index].below;
        return index;
    }
    if (json->open_count == json->open_capacity) {
        json->open_capacity = json->open_capacity == 0 ? 64 : json->open_capacity * 2;
        json->opens = memory_resize(json->opens, json->open_capacity, sizeof *json->opens);
    }
    return json->open_count++;
}

static void begin_async(struct trace_json *json)
{
    uint8_t flags = SLICE_ASYNC;
    int64_t start_ps;
    uint64_t a, b;

    if (!event_time(json, &start_ps, &flags) || !may_open(json))
        return;
    uint32_t thread = tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST);
    struct open_slice open = begun(json, thread, start_ps, flags);

    id_of(json, &a, &b);
    uint32_t index = new_open(json), *top = pair_table_at(&json->open_by_id, a, b);

    open.below = *top;
    *top = index;
    json->opens[index] = open;
}

static track_id lane_of(struct trace_json *json, const struct open_slice *open)
{
    const struct thread *thread = &json->tracks.threads[open->thread];

    return tracks_lane(json, thread->process, open->facts.cat);
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
    uint8_t flags = 0;
    int64_t end_ps;
    uint64_t a, b;
    uint32_t above;

    tracks_saw(json);
    if (!event_time(json, &end_ps, &flags))
        return;
    id_of(json, &a, &b);
    uint32_t top = pair_table_find(&json->open_by_id, a, b);

    if (top == PAIR_NONE) {
        json->odd.ends_alone++;
        return;
    }
    uint32_t index = find_async(json, top, &above);
    struct open_slice *open = &json->opens[index];

    put(json, open, lane_of(json, open), end_ps, flags, &json->args);
    if (above != PAIR_NONE)
        json->opens[above].below = open->below;
    else if (open->below != PAIR_NONE)
        *pair_table_at(&json->open_by_id, a, b) = open->below;
    else
        pair_table_remove(&json->open_by_id, a, b);
    open->below = json->open_free;
    json->open_free = index;
}

/* A moment of an asynchronous slice lies in the lanes too. */
static void instant_async(struct trace_json *json)
{
    uint8_t flags = SLICE_ASYNC | SLICE_INSTANT;
    int64_t at_ps;

    if (!event_time(json, &at_ps, &flags))
        return;
    json->open_now++;
    struct open_slice open = begun(
        json, tracks_thread(json, json->event.pid, json->event.tid, PLACE_HOST), at_ps, flags);

    put(json, &open, lane_of(json, &open), at_ps, 0, NULL);
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

static void cut_async(struct trace_json *json)
{
    for (uint32_t i = 0; i < json->open_by_id.capacity; i++) {
        if (!json->open_by_id.entries[i].used)
            continue;
        for (uint32_t index = json->open_by_id.entries[i].index; index != PAIR_NONE;
             index = json->opens[index].below) {
            struct open_slice *open = &json->opens[index];

            json->odd.cut++;
            put(json, open, lane_of(json, open), json->last_ps, SLICE_CUT, NULL);
        }
    }
}

void open_finish(struct trace_json *json)
{
    for (uint32_t i = 0; i < json->tracks.thread_count; i++) {
        struct thread *thread = &json->tracks.threads[i];

        for (uint32_t depth = 0; depth < thread->stack_count; depth++) {
            json->odd.cut++;
            put(json, &thread->stack[depth], thread->track, json->last_ps, SLICE_CUT, NULL);
        }
        thread->stack_count = 0;
    }
    cut_async(json);
    pair_table_free(&json->open_by_id);
}

void open_free(struct trace_json *json)
{
    for (uint32_t i = 0; i < json->tracks.thread_count; i++)
        for (uint32_t depth = 0; depth < json->tracks.threads[i].stack_count; depth++)
            free(json->tracks.threads[i].stack[depth].args);
    for (uint32_t i = 0; i < json->open_by_id.capacity; i++)
        for (uint32_t index = json->open_by_id.entries[i].used ? json->open_by_id.entries[i].index
                                                               : PAIR_NONE;
             index != PAIR_NONE; index = json->opens[index].below)
            free(json->opens[index].args);
    pair_table_free(&json->open_by_id);
    free(json->opens);
}
