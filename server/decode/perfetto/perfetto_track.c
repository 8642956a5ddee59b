/* SPDX-License-Identifier: Apache-2.0 */
/* The tracks of a Perfetto trace.
 *
 *   TrackDescriptor    1 uuid  2 name | 10 static name  5 parent  3 process  4 thread  8 counter
 *   ProcessDescriptor  1 pid  2 command line*  6 name
 *   ThreadDescriptor   1 pid  2 tid  5 name  6 reference_timestamp_us
 *   CounterDescriptor  1 type  3 unit  4 multiplier  5 is incremental  6 unit's name
 *   ProcessTree        1 processes* { 1 pid  3 command line* }  2 threads* { 1 tid  2 name }
 *
 * Descriptors are gathered in the first walk, because they may stand behind the events that name
 * them; a track of the sink is made when the first event lies on it, with those above it.
 */
#include "decode/perfetto/perfetto.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TRACKS_MAX = 1 << 18, PARENTS_MAX = 64 };

static void *add_on_heap(struct perfetto *trace, struct list *list, size_t size)
{
    if (list->count == TRACKS_MAX) {
        fail(sink_error(trace->sink), ERR_LIMIT, "the trace has more than %d tracks or processes",
             TRACKS_MAX);
        return NULL;
    }
    if (list->count == list->capacity) {
        list->capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        list->at = memory_resize(list->at, list->capacity, size);
    }
    return (char *)list->at + size * list->count++;
}

void perfetto_tracks_free(struct perfetto *trace)
{
    struct descriptor *descriptors = trace->descriptors.at;

    for (uint32_t i = 0; i < trace->descriptors.count; i++)
        free(descriptors[i].open);
    free(descriptors);
    free(trace->processes.at);
    id_map_free(&trace->descriptor_of);
    id_map_free(&trace->process_of);
    id_map_free(&trace->thread_name_of);
    id_map_free(&trace->device_of);
}

struct descriptor *perfetto_track_at(const struct perfetto *trace, uint32_t track)
{
    return (struct descriptor *)trace->descriptors.at + track;
}

uint32_t perfetto_track_of_uuid(struct perfetto *trace, uint64_t uuid)
{
    bool is_new;
    uint32_t found = id_map_add(&trace->descriptor_of, uuid, trace->descriptors.count, &is_new);

    if (!is_new)
        return found < trace->descriptors.count ? found : 0;
    struct descriptor *descriptor = add_on_heap(trace, &trace->descriptors, sizeof *descriptor);
    if (descriptor == NULL)
        return 0;
    *descriptor = (struct descriptor){.uuid = uuid, .multiplier = 1, .id = NO_TRACK};
    return found;
}

/* Threads of old descriptors have no uuid: theirs lie where producers put none. */
uint32_t perfetto_track_of_thread(struct perfetto *trace, int64_t pid, int64_t tid)
{
    uint32_t track = perfetto_track_of_uuid(
        trace, UINT64_C(0x7468726561640000) ^ (uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) ^
                   (uint64_t)tid);
    struct descriptor *descriptor = perfetto_track_at(trace, track);

    descriptor->kind = TRACK_OF_THREAD;
    descriptor->pid = pid;
    descriptor->tid = tid;
    return track;
}

static struct process *process_of(struct perfetto *trace, int64_t pid)
{
    bool is_new;
    uint32_t found = id_map_add(&trace->process_of, (uint64_t)pid, trace->processes.count, &is_new);

    if (!is_new)
        return found < trace->processes.count ? (struct process *)trace->processes.at + found
                                              : NULL;
    struct process *process = add_on_heap(trace, &trace->processes, sizeof *process);
    if (process != NULL)
        *process = (struct process){.pid = pid, .id = NO_TRACK};
    return process;
}

static void name_process(struct perfetto *trace, int64_t pid, struct str name)
{
    struct process *process = process_of(trace, pid);

    if (process != NULL && name.count > 0)
        process->name = sink_name(trace->sink, name);
}

/* "python train.py" is called by its program where it has no other name. */
bool perfetto_track_read_process(struct perfetto *trace, const struct pb *outer,
                                 struct bytes message, struct descriptor *into)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    struct str name = STR(""), command = STR("");

    into->kind = TRACK_OF_PROCESS;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            into->pid = (int32_t)field.varint;
        else if (field.number == 2 && command.count == 0)
            command = pb_text(&field);
        else if (field.number == 6)
            name = pb_text(&field);
    }
    name_process(trace, into->pid, name.count > 0 ? name : path_base(command));
    return broken.code == OK;
}

static void name_thread(struct perfetto *trace, int64_t tid, struct str name)
{
    bool is_new;

    if (name.count > 0)
        id_map_add(&trace->thread_name_of, (uint64_t)tid, sink_name(trace->sink, name), &is_new);
}

bool perfetto_track_read_thread(struct perfetto *trace, const struct pb *outer,
                                struct bytes message, struct descriptor *into,
                                int64_t *ret_reference_us)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    struct str name = STR("");

    into->kind = TRACK_OF_THREAD;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            into->pid = (int32_t)field.varint;
        else if (field.number == 2)
            into->tid = (int64_t)field.varint;
        else if (field.number == 5)
            name = pb_text(&field);
        else if (field.number == 6)
            *ret_reference_us = (int64_t)field.varint;
    }
    name_thread(trace, into->tid, name);
    return broken.code == OK;
}

static bool read_counter(struct perfetto *trace, const struct pb *outer, struct bytes message,
                         struct descriptor *into)
{
    static const char *const units[] = {"", "ns", "count", "bytes"};
    static const char *const types[] = {"", "thread time", "thread instructions"};
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);

    into->kind = TRACK_OF_COUNTER;
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1 && field.varint < COUNT(types) && into->name == 0)
            into->name = sink_name(trace->sink, str_of(types[field.varint]));
        else if (field.number == 3 && field.varint < COUNT(units))
            into->unit = sink_name(trace->sink, str_of(units[field.varint]));
        else if (field.number == 4 && field.varint != 0)
            into->multiplier = (int64_t)field.varint;
        else if (field.number == 5)
            into->is_incremental = field.varint != 0;
        else if (field.number == 6 && field.wire == PB_BYTES)
            into->unit = sink_name(trace->sink, pb_text(&field));
    }
    return broken.code == OK;
}

/* What a later descriptor of the same track does not say stays. */
static void merge(struct descriptor *into, const struct descriptor *from)
{
    if (from->has_parent) {
        into->has_parent = true;
        into->parent_uuid = from->parent_uuid;
    }
    if (from->name != 0)
        into->name = from->name;
    if (from->kind == TRACK_OF_NOTHING)
        return;
    into->kind = from->kind;
    into->pid = from->pid;
    into->tid = from->tid;
    into->multiplier = from->multiplier;
    into->is_incremental = from->is_incremental;
    into->unit = from->unit;
}

bool perfetto_track_read_descriptor(struct perfetto *trace, const struct pb *outer,
                                    struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    struct descriptor told = {.multiplier = 1};
    int64_t reference_us;
    bool is_whole = true;

    for (struct pb_field field; is_whole && pb_next(&pb, &field);) {
        if (field.number == 1) {
            told.uuid = field.varint;
        } else if (field.number == 5) {
            told.has_parent = field.varint != 0;
            told.parent_uuid = field.varint;
        } else if (field.wire == PB_BYTES && (field.number == 2 || field.number == 10)) {
            told.name = sink_name(trace->sink, pb_text(&field));
        } else if (field.wire == PB_BYTES && field.number == 3) {
            is_whole = perfetto_track_read_process(trace, &pb, field.bytes, &told);
        } else if (field.wire == PB_BYTES && field.number == 4) {
            is_whole = perfetto_track_read_thread(trace, &pb, field.bytes, &told, &reference_us);
        } else if (field.wire == PB_BYTES && field.number == 8) {
            is_whole = read_counter(trace, &pb, field.bytes, &told);
        }
    }
    if (!is_whole || broken.code != OK)
        return false;
    uint32_t track = perfetto_track_of_uuid(trace, told.uuid);
    if (!sink_failed(trace->sink))
        merge(perfetto_track_at(trace, track), &told);
    return true;
}

static bool read_tree_entry(struct perfetto *trace, const struct pb *outer,
                            const struct pb_field *entry)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, entry->bytes, &broken);
    struct str name = STR("");
    int64_t id = 0;
    const uint32_t name_field = entry->number == 1 ? 3 : 2;

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == 1)
            id = (int32_t)field.varint;
        else if (field.number == name_field && field.wire == PB_BYTES && name.count == 0)
            name = pb_text(&field);
    }
    if (broken.code != OK)
        return false;
    if (entry->number == 2) {
        name_thread(trace, id, name);
    } else {
        struct process *process = process_of(trace, id);
        if (process != NULL && process->name == 0)
            name_process(trace, id, path_base(name));
    }
    return true;
}

bool perfetto_track_read_process_tree(struct perfetto *trace, const struct pb *outer,
                                      struct bytes message)
{
    struct error broken = {0};
    struct pb pb = pb_inside(outer, message, &broken);
    bool is_whole = true;

    for (struct pb_field field; is_whole && pb_next(&pb, &field);)
        if (field.wire == PB_BYTES && (field.number == 1 || field.number == 2))
            is_whole = read_tree_entry(trace, &pb, &field);
    return is_whole && broken.code == OK;
}

static struct str numbered(char text[48], const char *word, int64_t number)
{
    int count = snprintf(text, 48, "%s %" PRId64, word, number);

    return (struct str){.at = text, .count = (size_t)count};
}

static track_id make_process(struct perfetto *trace, int64_t pid)
{
    struct process *process = process_of(trace, pid);
    char text[48];

    if (process == NULL)
        return NO_TRACK;
    if (process->id == NO_TRACK)
        process->id = sink_track(
            trace->sink,
            (struct sink_track){.parent = NO_TRACK,
                                .kind = TRACK_PROCESS,
                                .name = process->name != 0 ? sink_text(trace->sink, process->name)
                                                           : numbered(text, "process", pid),
                                .source_id = pid,
                                .device = -1});
    return process->id;
}

static track_id make_thread(struct perfetto *trace, const struct descriptor *descriptor)
{
    uint32_t name = descriptor->name;
    char text[48];

    if (name == 0 && !id_map_find(&trace->thread_name_of, (uint64_t)descriptor->tid, &name))
        name = 0;
    track_id parent = make_process(trace, descriptor->pid);
    return sink_track(trace->sink,
                      (struct sink_track){.parent = parent,
                                          .kind = TRACK_THREAD,
                                          .role = ROLE_HOST,
                                          .name = name != 0
                                                      ? sink_text(trace->sink, name)
                                                      : numbered(text, "thread", descriptor->tid),
                                          .source_id = descriptor->tid,
                                          .device = -1});
}

static track_id make(struct perfetto *trace, uint32_t track, name_id name, uint32_t depth);

/* Only what was described, and no chain without an end. */
static track_id make_parent(struct perfetto *trace, uint32_t track, uint32_t depth)
{
    const struct descriptor *descriptor = perfetto_track_at(trace, track);
    uint32_t parent;

    if (depth == PARENTS_MAX ||
        !id_map_find(&trace->descriptor_of, descriptor->parent_uuid, &parent) ||
        parent >= trace->descriptors.count || perfetto_track_at(trace, parent)->is_making)
        return NO_TRACK;
    return make(trace, parent, 0, depth + 1);
}

static track_id make_other(struct perfetto *trace, uint32_t track, name_id name, uint32_t depth)
{
    struct descriptor *descriptor = perfetto_track_at(trace, track);

    descriptor->is_making = true;
    const int64_t pid = descriptor->pid;
    const bool is_stream = descriptor->agent != 0;
    track_id parent = is_stream                ? perfetto_device_make(trace, descriptor)
                      : descriptor->has_parent ? make_parent(trace, track, depth)
                      : pid != 0               ? make_process(trace, pid)
                                               : NO_TRACK;
    descriptor = perfetto_track_at(trace, track);
    descriptor->is_making = false;
    if (descriptor->name != 0)
        name = descriptor->name;
    track_id id = sink_track(
        trace->sink, (struct sink_track){
                         .parent = parent,
                         .kind = is_stream                              ? TRACK_STREAM
                                 : descriptor->kind == TRACK_OF_COUNTER ? TRACK_COUNTER
                                                                        : TRACK_ASYNC,
                         .role = is_stream ? ROLE_OPS : ROLE_NONE,
                         .name = name != 0 ? sink_text(trace->sink, name) : STR("(unnamed track)"),
                         .source_id = (int64_t)descriptor->uuid,
                         .device = perfetto_device_of(trace, descriptor)});
    if (descriptor->unit != 0)
        sink_property(trace->sink, id,
                      (struct arg){.key = sink_name(trace->sink, STR("unit")),
                                   .type = ARG_STRING,
                                   .bits = descriptor->unit});
    return id;
}

static track_id make(struct perfetto *trace, uint32_t track, name_id name, uint32_t depth)
{
    struct descriptor *descriptor = perfetto_track_at(trace, track);
    track_id id = descriptor->id;

    if (id != NO_TRACK)
        return id;
    if (descriptor->kind == TRACK_OF_PROCESS)
        id = make_process(trace, descriptor->pid);
    else if (descriptor->kind == TRACK_OF_THREAD)
        id = make_thread(trace, descriptor);
    else
        id = make_other(trace, track, name, depth);
    return perfetto_track_at(trace, track)->id = id;
}

track_id perfetto_track_make(struct perfetto *trace, uint32_t track, name_id name)
{
    return make(trace, track, name, 0);
}
