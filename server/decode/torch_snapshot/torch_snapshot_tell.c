/* SPDX-License-Identifier: Apache-2.0 */
/* Records become tracks, slices and events of an allocator.
 *
 *   GPU 0 memory
 *     allocator                     moments: segments that come and go, out of memory, frees
 *     segment 0x7f.. (20 MiB)       a slice an allocation, from its birth to its free
 *     allocated, reserved           counters
 *
 * An allocation is named by the innermost call of the user's own code: the first Python frame that
 * is not of torch or an installed package; its args hold address, size, stack and stream. Sizes are
 * those that were asked for: the history tells no others. What was there before the history begins
 * is told at its start.
 */
#include "decode/torch_snapshot/torch_snapshot.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bisect.h"
#include "base/human.h"
#include "base/sort.h"

enum { TRACKS_MAX = 1000, PS_PER_US = 1000000 };

struct range { /* of addresses that were a segment, or several that touch */
    uint64_t first, end;
    track_id track;
};

struct teller {
    struct torch_snapshot *snapshot;
    struct torch_device *device;
    struct range *ranges;
    uint32_t range_count;
    track_id process, allocator, others, allocated, reserved;
    name_id allocator_name, free_name, no_stack;
    int64_t level, reserved_level, now_us;
};

static bool range_before(const struct range *a, const struct range *b)
{
    return a->first != b->first ? a->first < b->first : a->end < b->end;
}
SORT_DEFINE(sort_ranges, struct range, range_before)

static void add_range(struct teller *teller, struct torch_table *table, uint64_t address,
                      int64_t bytes)
{
    struct range *range;

    if (bytes <= 0 || address + (uint64_t)bytes < address)
        return;
    range = torch_add(teller->snapshot, table, sizeof *range);
    if (range != NULL)
        *range = (struct range){.first = address, .end = address + (uint64_t)bytes};
}

static bool makes_segment(const struct torch_event *event)
{
    return event->action == TORCH_SEGMENT_ALLOC || event->action == TORCH_SEGMENT_FREE ||
           event->action == TORCH_SEGMENT_MAP || event->action == TORCH_SEGMENT_UNMAP;
}

static void find_ranges(struct teller *teller)
{
    const struct torch_snapshot *snapshot = teller->snapshot;
    const struct torch_segment *segments = snapshot->segments.at;
    struct torch_table table = {0};

    for (uint32_t i = 0; i < snapshot->segments.count; i++)
        if (segments[i].device == teller->device->number)
            add_range(teller, &table, segments[i].address, segments[i].bytes);
    for (uint32_t i = 0; i < teller->device->events.count; i++) {
        const struct torch_event *event =
            torch_event_at(snapshot, teller->device->events.first + i);

        if (makes_segment(event))
            add_range(teller, &table, event->address, event->bytes);
    }
    teller->ranges = table.at;
    if (table.count > 0)
        sort_ranges(teller->ranges, table.count);
    for (uint32_t i = 0; i < table.count; i++) {
        struct range *last = &teller->ranges[teller->range_count - 1];

        if (teller->range_count == 0 || teller->ranges[i].first >= last->end)
            teller->ranges[teller->range_count++] = teller->ranges[i];
        else if (teller->ranges[i].end > last->end)
            last->end = teller->ranges[i].end;
    }
}

static track_id add_track(struct teller *teller, enum track_kind kind, track_id parent,
                          struct str name)
{
    return sink_track(teller->snapshot->sink, (struct sink_track){.parent = parent,
                                                                  .kind = kind,
                                                                  .name = name,
                                                                  .source_id = -1,
                                                                  .device = -1,
                                                                  .derived = true});
}

static void make_tracks(struct teller *teller)
{
    struct text text = {0};

    text_putf(&text, "GPU %" PRIu32 " memory", teller->device->number);
    teller->process = add_track(teller, TRACK_PROCESS, NO_TRACK, text_str(&text));
    teller->allocator = add_track(teller, TRACK_ASYNC, teller->process, STR("allocator"));
    teller->allocated = add_track(teller, TRACK_COUNTER, teller->process, STR("allocated"));
    teller->reserved = add_track(teller, TRACK_COUNTER, teller->process, STR("reserved"));
    for (uint32_t i = 0; i < teller->range_count && i < TRACKS_MAX; i++) {
        text.count = 0;
        text_putf(&text, "segment 0x%" PRIx64 " (%s)", teller->ranges[i].first,
                  human_bytes(teller->ranges[i].end - teller->ranges[i].first).text);
        teller->ranges[i].track = add_track(teller, TRACK_ASYNC, teller->process, text_str(&text));
    }
    teller->others = add_track(teller, TRACK_ASYNC, teller->process,
                               teller->range_count > TRACKS_MAX ? STR("further segments")
                                                                : STR("outside of segments"));
    text.count = 0;
    text_putf(&text, "GPU %" PRIu32, teller->device->number);
    teller->allocator_name = sink_name(teller->snapshot->sink, text_str(&text));
    text_free(&text);
}

static track_id track_of(const struct teller *teller, uint64_t address)
{
    uint32_t behind = BISECT(0, teller->range_count, i, teller->ranges[i].first <= address);

    return behind > 0 && behind <= TRACKS_MAX && address < teller->ranges[behind - 1].end
               ? teller->ranges[behind - 1].track
               : teller->others;
}

static int64_t ps_of(const struct torch_snapshot *snapshot, int64_t time_us)
{
    int64_t after = time_us - snapshot->start_us;

    return after < 0 ? 0 : after > TIME_PS_MAX / PS_PER_US ? TIME_PS_MAX : after * PS_PER_US;
}

/* A history's times ascend; one that steps back, or tells none, is as late as the one before. */
static int64_t time_of(struct teller *teller, const struct torch_event *event)
{
    if (event->time_us > teller->now_us)
        teller->now_us = event->time_us;
    return ps_of(teller->snapshot, teller->now_us);
}

static void put_slice(struct teller *teller, const struct sink_slice *slice, uint64_t address,
                      int64_t bytes, stack_id stack, const struct torch_event *event,
                      uint32_t stream)
{
    struct torch_snapshot *snapshot = teller->snapshot;
    const uint64_t *streams = snapshot->streams.at;
    struct arg args[6] = {
        {.key = snapshot->key_address, .type = ARG_UINT64, .bits = address},
        {.key = snapshot->key_bytes, .type = ARG_INT64, .bits = (uint64_t)bytes},
        {.key = snapshot->key_stream,
         .type = ARG_UINT64,
         .bits = stream < snapshot->streams.count ? streams[stream] : 0},
    };
    uint32_t count = 3;

    if (stack != NO_STACK)
        args[count++] = (struct arg){.key = snapshot->key_stack, .type = ARG_UINT64, .bits = stack};
    if (event != NULL && event->context != 0)
        args[count++] =
            (struct arg){.key = snapshot->key_context, .type = ARG_STRING, .bits = event->context};
    if (event != NULL && event->metadata != 0)
        args[count++] = (struct arg){
            .key = snapshot->key_metadata, .type = ARG_STRING, .bits = event->metadata};
    sink_slice_args(snapshot->sink, slice, args, count);
}

static void put_level(struct teller *teller, int64_t at_ps, int64_t bytes, bool is_free)
{
    struct memory_event event = {
        .at_ps = at_ps,
        .allocator = teller->allocator_name,
        .is_free = is_free,
        .bytes = bytes,
        .bytes_reserved = -1,
        .bytes_available = -1,
        .peak_bytes = -1,
    };

    teller->level = torch_add_bytes(teller->level, is_free ? -bytes : bytes);
    event.bytes_allocated = teller->level < 0 ? 0 : teller->level;
    if (teller->reserved_level >= event.bytes_allocated)
        event.bytes_available = teller->reserved_level - event.bytes_allocated;
    sink_memory(teller->snapshot->sink, event);
    sink_counter(teller->snapshot->sink, teller->allocated, at_ps, (double)teller->level);
}

/* By the call that says most of who allocates: of the user's own code, else of Python, else any. */
static name_id name_of(struct teller *teller, stack_id stack)
{
    const struct torch_snapshot *snapshot = teller->snapshot;
    struct torch_frame *frame;

    if (stack == NO_STACK)
        return teller->no_stack;
    frame = (struct torch_frame *)snapshot->frames.at +
            ((const uint32_t *)snapshot->names_of.at)[stack];
    if (frame->name == 0) {
        struct text text = {0};
        struct str file = path_base(sink_text(snapshot->sink, frame->frame.file));
        struct str function = sink_text(snapshot->sink, frame->frame.function);

        text_put(&text, function.at, function.count);
        if (file.count > 0)
            text_putf(&text, " (%.*s:%" PRIu32 ")", STR_ARG(file), frame->frame.line);
        frame->name = sink_name(snapshot->sink, text_str(&text));
        text_free(&text);
    }
    return frame->name;
}

static void tell_alloc(struct teller *teller, uint64_t address, int64_t bytes, stack_id stack,
                       uint32_t stream, const struct torch_event *event, int64_t start_ps,
                       uint32_t freed_by)
{
    struct torch_snapshot *snapshot = teller->snapshot;
    int64_t end_us =
        freed_by == TORCH_NONE ? snapshot->end_us : torch_event_at(snapshot, freed_by)->time_us;
    int64_t end_ps = ps_of(snapshot, end_us);
    const struct sink_slice slice = {
        .track = track_of(teller, address),
        .start_ps = start_ps,
        .dur_ps = end_ps > start_ps ? end_ps - start_ps : 0,
        .name = name_of(teller, stack),
        .kind = KIND_OTHER,
        .flags = (uint8_t)(SLICE_ASYNC | (freed_by == TORCH_NONE ? SLICE_CUT : 0)),
    };

    put_slice(teller, &slice, address, bytes, stack, event, stream);
    put_level(teller, start_ps, bytes, false);
}

static void tell_moment(struct teller *teller, const struct torch_event *event, int64_t at_ps,
                        name_id name)
{
    const struct sink_slice slice = {.track = teller->allocator,
                                     .start_ps = at_ps,
                                     .name = name,
                                     .kind = KIND_OTHER,
                                     .flags = SLICE_INSTANT | SLICE_ASYNC};

    put_slice(teller, &slice, event->address, event->bytes, event->stack, event, event->stream);
}

static void tell_segment(struct teller *teller, const struct torch_event *event, int64_t at_ps,
                         const char *word)
{
    bool is_free = event->action == TORCH_SEGMENT_FREE || event->action == TORCH_SEGMENT_UNMAP;

    tell_moment(teller, event, at_ps, sink_name(teller->snapshot->sink, str_of(word)));
    if (teller->reserved_level < 0)
        return;
    teller->reserved_level =
        torch_add_bytes(teller->reserved_level, is_free ? -event->bytes : event->bytes);
    sink_counter(teller->snapshot->sink, teller->reserved, at_ps, (double)teller->reserved_level);
}

static void tell_oom(struct teller *teller, const struct torch_event *event, int64_t at_ps)
{
    struct torch_event nowhere = *event; /* its address is what the device had left */
    struct text text = {0};

    nowhere.address = 0;
    text_putf(&text, "out of memory: %s requested, %s left on the device",
              human_bytes((uint64_t)event->bytes).text, human_bytes(event->address).text);
    tell_moment(teller, &nowhere, at_ps, sink_name(teller->snapshot->sink, text_str(&text)));
    text_free(&text);
}

static void tell_event(struct teller *teller, uint32_t index)
{
    static const char *const words[TORCH_ACTION_COUNT] = {
        [TORCH_SEGMENT_ALLOC] = "segment_alloc", [TORCH_SEGMENT_FREE] = "segment_free",
        [TORCH_SEGMENT_MAP] = "segment_map",     [TORCH_SEGMENT_UNMAP] = "segment_unmap",
        [TORCH_SNAPSHOT] = "snapshot",
    };
    const struct torch_event *event = torch_event_at(teller->snapshot, index);
    const int64_t at_ps = time_of(teller, event);

    switch (event->action) {
    case TORCH_ALLOC:
        tell_alloc(teller, event->address, event->bytes, event->stack, event->stream, event, at_ps,
                   event->other);
        break;
    case TORCH_FREE_REQUESTED:
    case TORCH_FREE_COMPLETED:
        if (event->other == TORCH_NONE && !event->is_before)
            break;
        tell_moment(teller, event, at_ps, teller->free_name);
        put_level(teller, at_ps, event->bytes, true);
        break;
    case TORCH_OOM:
        tell_oom(teller, event, at_ps);
        break;
    case TORCH_SNAPSHOT:
        tell_moment(teller, event, at_ps, sink_name(teller->snapshot->sink, STR("snapshot")));
        break;
    case TORCH_OTHER:
        break;
    default:
        tell_segment(teller, event, at_ps, words[event->action]);
        break;
    }
    if (teller->level > teller->device->peak_bytes) {
        teller->device->peak_bytes = teller->level;
        teller->device->peak = index;
    }
}

static void tell_before(struct teller *teller)
{
    const struct torch_before *before = teller->device->before.at;

    for (uint32_t i = 0; i < teller->device->before.count; i++)
        tell_alloc(teller, before[i].address, before[i].bytes, before[i].stack, before[i].stream,
                   NULL, 0, before[i].freed_by);
    teller->device->peak_bytes = teller->level;
    teller->device->peak = TORCH_NONE;
}

/* Under the names that memory_stats has for them. */
static void say_totals(const struct teller *teller)
{
    const struct torch_device *device = teller->device;
    const struct {
        const char *key;
        int64_t value;
    } totals[] = {
        {"allocated_bytes.all.current", device->allocated},
        {"active_bytes.all.current", device->active},
        {"requested_bytes.all.current", device->requested},
        {"reserved_bytes.all.current", device->reserved},
        {"allocation.all.current", device->allocated_count},
        {"segment.all.current", device->segment_count},
        {"requested_bytes at the peak of the history", device->peak_bytes},
    };

    for (size_t i = 0; i < COUNT(totals); i++)
        sink_property(teller->snapshot->sink, teller->process,
                      (struct arg){.key = sink_name(teller->snapshot->sink, str_of(totals[i].key)),
                                   .type = ARG_INT64,
                                   .bits = (uint64_t)totals[i].value});
}

void torch_tell(struct torch_snapshot *snapshot, struct torch_device *device)
{
    struct teller teller = {.snapshot = snapshot,
                            .device = device,
                            .now_us = snapshot->start_us,
                            .reserved_level = device->reserved_start,
                            .free_name = sink_name(snapshot->sink, STR("free")),
                            .no_stack = sink_name(snapshot->sink, STR("(no stack)"))};

    find_ranges(&teller);
    make_tracks(&teller);
    if (teller.reserved_level >= 0)
        sink_counter(snapshot->sink, teller.reserved, 0, (double)teller.reserved_level);
    tell_before(&teller);
    for (uint32_t i = 0; i < device->events.count && !sink_failed(snapshot->sink); i++)
        tell_event(&teller, device->events.first + i);
    say_totals(&teller);
    scratch_free(snapshot->scratch, teller.ranges);
}
