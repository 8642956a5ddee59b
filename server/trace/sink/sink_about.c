/* SPDX-License-Identifier: Apache-2.0 */
/* What a file says besides slices: who made it, notes, properties, shared types, memory events.
 * All but the last are few and wait in memory. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/sort.h"
#include "trace/sink/sink_state.h"

enum {
    NOTES_MAX = 1000, /* distinct ones; a thousand lines are more than anyone reads */
    NOTE_TEXT_MAX = 1024,
};

void sink_format(struct sink *sink, const char *format)
{
    sink->format = format;
}

void sink_epoch(struct sink *sink, int64_t epoch_ns)
{
    sink->has_epoch = true;
    sink->epoch_ns = epoch_ns;
    sink->epoch_reason = 0;
}

void sink_no_epoch(struct sink *sink, struct str reason)
{
    sink->has_epoch = false;
    sink->epoch_ns = 0;
    sink->epoch_reason = sink_name(sink, reason);
}

void sink_hostname(struct sink *sink, struct str name)
{
    sink->hostname = sink_name(sink, name);
}

static void add_note(struct sink *sink, struct str kind, enum note_severity severity,
                     uint64_t count, struct str message)
{
    name_id kind_name = sink_name(sink, kind), message_name = sink_name(sink, message);

    for (uint32_t i = 0; i < sink->note_count; i++) {
        struct note *note = &sink->notes[i];
        if (note->kind == kind_name && note->message == message_name) {
            note->count += count;
            return;
        }
    }
    if (sink_failed(sink))
        return;
    sink_room(sink->notes, sink->note_count, sink->note_capacity);
    struct note *note = &sink->notes[sink->note_count++];
    memset(note, 0, sizeof(*note));
    note->kind = kind_name;
    note->severity = severity;
    note->message = message_name;
    note->count = count;
}

void sink_note(struct sink *sink, const char *kind, enum note_severity severity, uint64_t count,
               const char *format, ...)
{
    char message[NOTE_TEXT_MAX];
    va_list arguments;

    if (sink_failed(sink))
        return;
    if (sink->note_count >= NOTES_MAX) {
        add_note(sink, STR("notes-left-out"), NOTE_WARNING, 1,
                 STR("There are more notes than are kept."));
        return;
    }
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    if (length >= NOTE_TEXT_MAX)
        length = NOTE_TEXT_MAX - 1;
    add_note(sink, str_of(kind), severity, count,
             (struct str){.at = message, .count = (size_t)length});
}

void sink_property(struct sink *sink, track_id track, struct arg arg)
{
    if (sink_failed(sink))
        return;
    sink_room(sink->properties, sink->property_count, sink->property_capacity);
    struct property *property = &sink->properties[sink->property_count++];
    memset(property, 0, sizeof(*property));
    property->track = track < sink->track_count ? track : NO_TRACK;
    property->arg = arg;
}

type_id sink_type(struct sink *sink, name_id name)
{
    if (sink_failed(sink))
        return 0;
    sink_room(sink->types, sink->type_count, sink->type_capacity);
    sink->types[sink->type_count] = (struct type){.name = name};
    return sink->type_count++;
}

void sink_type_arg(struct sink *sink, type_id type, struct arg arg)
{
    if (sink_failed(sink) || type == 0 || type >= sink->type_count)
        return;
    sink_room(sink->type_args, sink->type_arg_count, sink->type_arg_capacity);
    sink->type_args[sink->type_arg_count++] = (struct type_arg){.type = type, .arg = arg};
    sink->types[type].arg_count++;
}

void sink_memory(struct sink *sink, struct memory_event given)
{
    struct memory_event event;
    uint64_t offset;

    if (sink_failed(sink))
        return;
    memset(&event, 0, sizeof(event)); /* padding too: records are bytes of the segment */
    event.at_ps = given.at_ps > TIME_PS_MAX    ? TIME_PS_MAX
                  : given.at_ps < -TIME_PS_MAX ? -TIME_PS_MAX
                                               : given.at_ps;
    event.allocator = given.allocator;
    event.is_free = given.is_free;
    event.slice = sink->event_count > 0 ? (event_id)(sink->event_count - 1) : NO_SLICE;
    event.bytes = given.bytes;
    event.bytes_allocated = given.bytes_allocated;
    event.bytes_reserved = given.bytes_reserved;
    event.bytes_available = given.bytes_available;
    event.peak_bytes = given.peak_bytes;
    if (!sink->memory_events)
        sink->memory_events = spill_create(sink->temporary_dir, sink->budget.spill_bytes_max);
    struct bytes bytes = {.at = (const uint8_t *)&event, .count = sizeof(event)};
    if (spill_append(sink->memory_events, bytes, &offset, sink->err) != OK)
        return; /* the failure stays in sink->err */
}

/* Gives every type its range, in the order of ids. */
static enum status write_types(struct sink *sink)
{
    struct arg *args = memory_resize(NULL, sink->type_arg_count + 1, sizeof(*args));
    uint32_t *next = memory_resize(NULL, sink->type_count, sizeof(*next));
    uint32_t first = 0;

    for (uint32_t i = 0; i < sink->type_count; i++) {
        sink->types[i].first_arg = next[i] = first;
        first += sink->types[i].arg_count;
    }
    for (uint32_t i = 0; i < sink->type_arg_count; i++)
        args[next[sink->type_args[i].type]++] = sink->type_args[i].arg;
    enum status status =
        sink_table(sink, TABLE_TYPES, sink->types, sink->type_count, sizeof(*sink->types));
    if (status == OK)
        status = sink_table(sink, TABLE_TYPE_ARGS, args, sink->type_arg_count, sizeof(*args));
    free(args);
    free(next);
    return status;
}

enum status sink_write_about(struct sink *sink)
{
    TRY(write_types(sink));
    TRY(sink_write_programs(sink));
    TRY(sink_table(sink, TABLE_PROPERTIES, sink->properties, sink->property_count,
                   sizeof(*sink->properties)));
    return sink_table(sink, TABLE_NOTES, sink->notes, sink->note_count, sizeof(*sink->notes));
}

/* Of equal times the one that came first: .slice is still the event. */
static bool came_before(const struct memory_event *a, const struct memory_event *b)
{
    return a->at_ps != b->at_ps ? a->at_ps < b->at_ps : a->slice < b->slice;
}
SORT_DEFINE(sort_events, struct memory_event, came_before)

static bool are_sorted(const struct memory_event *events, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (came_before(&events[i], &events[i - 1]))
            return false;
    return true;
}

/* Puts them in order, and the slice of each event in the event's place: slices are asked for by
 * event, in the order in which they came. */
static void resolve(const struct trace *trace, struct memory_event *events, uint32_t count)
{
    event_id *wanted = memory_resize(NULL, count, sizeof(*wanted));
    slice_id *found = memory_resize(NULL, count, sizeof(*found));
    uint32_t distinct = 0;

    for (uint32_t i = 0; i < count; i++)
        if (events[i].slice != NO_SLICE &&
            (distinct == 0 || wanted[distinct - 1] != events[i].slice))
            wanted[distinct++] = events[i].slice;
    trace_slices_of_events(trace, wanted, distinct, found);
    if (!are_sorted(events, count))
        sort_events(events, count);
    for (uint32_t i = 0; i < count; i++) {
        const event_id event = events[i].slice;

        if (event != NO_SLICE)
            events[i].slice = found[BISECT(0u, distinct, at, wanted[at] < event)];
    }
    free(wanted);
    free(found);
}

enum status sink_write_memory_events(struct sink *sink, const struct trace *trace)
{
    uint8_t *table;

    if (!sink->memory_events)
        return OK;
    const uint64_t bytes = spill_bytes(sink->memory_events);
    const uint64_t count = bytes / sizeof(struct memory_event);
    if (count > UINT32_MAX)
        return fail(sink->err, ERR_LIMIT, "the file has more than %u memory events", UINT32_MAX);
    TRY(sink->out.table_reserve(sink->out.to, TABLE_MEMORY_EVENTS, (size_t)bytes, &table,
                                sink->err));
    TRY(spill_read(sink->memory_events, 0, table, (size_t)bytes, sink->err));
    struct memory_event *events = (struct memory_event *)table;
    resolve(trace, events, (uint32_t)count);
    return OK;
}
