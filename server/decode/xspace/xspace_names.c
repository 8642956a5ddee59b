/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata: what the ids of events and stats mean, one table a plane.
 *
 *   XEventMetadata  1 id  2 name  4 display name  5 stats*   what all its events share
 *   XStatMetadata   1 id  2 name                             keys, and texts that stats refer to
 *
 * An entry is read when its id is first used. Writers count ids from 1, so an id is mostly its own
 * index; ids far apart, and ids that the file does not describe, go through a map.
 */
#include "decode/xspace/xspace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    enum stat_role role;
} stat_words[] = {
    {"hlo_op", STAT_HLO_OP},
    {"program_id", STAT_PROGRAM_ID},
    {"hlo_category", STAT_CATEGORY},
    {"_pt", STAT_PRODUCER_TYPE},
    {"_p", STAT_PRODUCER},
    {"_ct", STAT_CONSUMER_TYPE},
    {"_c", STAT_CONSUMER},
    {"_a", STAT_ASYNC},
    {"flow", STAT_FLOW},
    {"correlation_id", STAT_CORRELATION},
    {"counter_value", STAT_COUNTER_VALUE},
    {"allocator_name", STAT_ALLOCATOR},
    {"device_ordinal", STAT_DEVICE_ORDINAL},
    {"index_on_host", STAT_DEVICE_ORDINAL},
    {"allocation_bytes", STAT_ALLOCATION_BYTES},
    {"requested_bytes", STAT_REQUESTED_BYTES},
    {"bytes_allocated", STAT_BYTES_ALLOCATED},
    {"bytes_reserved", STAT_BYTES_RESERVED},
    {"bytes_available", STAT_BYTES_AVAILABLE},
    {"peak_bytes_in_use", STAT_PEAK_BYTES},
    {"Hlo Proto", STAT_HLO_PROTO},
    {"HLO Proto", STAT_HLO_PROTO},
    {"hlo_proto", STAT_HLO_PROTO},
    {"profile_start_time", STAT_PROFILE_START},
};

/* 0 where ids are so sparse that a direct table would be mostly holes. */
static uint32_t dense_count_for(uint32_t count, uint64_t id_max)
{
    return id_max <= (uint64_t)count * 4 + 2048 ? (uint32_t)id_max + 1 : 0;
}

/* The entry of an id, made when it is new; *ret_grow: the entries need room for index.capacity. */
static uint32_t index_of(struct id_index *index, uint64_t id, bool *ret_grow)
{
    bool is_new;

    *ret_grow = false;
    if (id < index->dense_count)
        return (uint32_t)id;
    uint32_t entry = id_map_add(&index->sparse, id, index->count, &is_new);
    if (is_new && index->count++ == index->capacity) {
        index->capacity = index->capacity == 0 ? 64 : index->capacity * 2;
        *ret_grow = true;
    }
    return entry;
}

static struct stat_metadata *stat_entry(struct plane *plane, uint64_t id)
{
    uint32_t before = plane->stat_index.capacity;
    bool grow;
    uint32_t entry = index_of(&plane->stat_index, id, &grow);

    if (grow) {
        uint32_t after = plane->stat_index.capacity;
        plane->stats = memory_resize(plane->stats, after, sizeof *plane->stats);
        memset(plane->stats + before, 0, (after - before) * sizeof *plane->stats);
    }
    return &plane->stats[entry];
}

static struct event_metadata *event_entry(struct plane *plane, uint64_t id)
{
    uint32_t before = plane->event_index.capacity;
    bool grow;
    uint32_t entry = index_of(&plane->event_index, id, &grow);

    if (grow) {
        uint32_t after = plane->event_index.capacity;
        plane->events = memory_resize(plane->events, after, sizeof *plane->events);
        memset(plane->events + before, 0, (after - before) * sizeof *plane->events);
    }
    return &plane->events[entry];
}

static enum stat_role role_of_stat(struct str name)
{
    for (size_t index = 0; index < COUNT(stat_words); index++)
        if (str_equal(name, str_of(stat_words[index].name)))
            return stat_words[index].role;
    return STAT_PLAIN;
}

struct stat_metadata *names_prepare_stat(struct plane *plane, uint64_t id)
{
    struct stat_metadata *entry = stat_entry(plane, id);
    char text[40];

    if (entry->is_ready)
        return entry;
    struct str name = entry->text;
    if (!entry->is_known) {
        snprintf(text, sizeof text, "stat %" PRId64, (int64_t)id);
        name = str_of(text);
    }
    entry->name = sink_name(plane->space->sink, name);
    entry->role = (uint8_t)role_of_stat(name);
    entry->is_ready = true;
    return entry;
}

/* What the stats of metadata say once for all its events. */
static void take_type_stat(struct event_metadata *entry, enum stat_role role, const struct arg *arg)
{
    if (role == STAT_CATEGORY && arg->type == ARG_STRING)
        entry->category = (name_id)arg->bits;
    else if (role == STAT_HLO_OP && arg->type == ARG_STRING)
        entry->op = (name_id)arg->bits;
    else if (role == STAT_PROGRAM_ID && (arg->type == ARG_INT64 || arg->type == ARG_UINT64)) {
        entry->has_program = true;
        entry->program = arg->bits;
    }
}

/* The name, and whether there is more than a name. */
struct event_text {
    struct str name, display_name;
    uint32_t stat_count;
};

static struct event_text read_event_text(struct bytes message)
{
    struct event_text text = {0};
    struct error err = {0};
    struct pb pb = pb_open(message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.wire != PB_BYTES)
            continue;
        if (field.number == METADATA_NAME)
            text.name = pb_text(&field);
        else if (field.number == METADATA_DISPLAY_NAME)
            text.display_name = pb_text(&field);
        else if (field.number == METADATA_STATS)
            text.stat_count++;
    }
    return text;
}

static void read_type_stats(struct plane *plane, struct event_metadata *entry)
{
    struct sink *sink = plane->space->sink;
    struct error err = {0};
    struct pb pb = pb_open(entry->message, &err);

    for (struct pb_field field; pb_next(&pb, &field);) {
        struct arg arg;
        enum stat_role role;
        if (field.number != METADATA_STATS || field.wire != PB_BYTES ||
            !stat_read(plane, field.bytes, &arg, &role))
            continue;
        if (role == STAT_HLO_PROTO)
            continue; /* a whole program, which is kept as such */
        take_type_stat(entry, role, &arg);
        sink_type_arg(sink, entry->type, arg);
    }
}

static enum event_role role_of_event(struct str name)
{
    if (str_equal(name, STR("MemoryAllocation")))
        return EVENT_ALLOCATION;
    return str_equal(name, STR("MemoryDeallocation")) ? EVENT_FREE : EVENT_PLAIN;
}

/* "%fusion.3 = f32[8]{0} fusion(...)", as TPUs name their ops: the instruction is fusion.3. */
static name_id instruction_in(struct sink *sink, struct str name)
{
    if (name.count < 2 || name.at[0] != '%')
        return 0;
    const char *end = memchr(name.at, ' ', name.count);
    size_t count = end != NULL ? (size_t)(end - name.at) : name.count;
    return sink_name(sink, (struct str){.at = name.at + 1, .count = count - 1});
}

struct event_metadata *names_prepare_event(struct plane *plane, uint64_t id)
{
    struct event_metadata *entry = event_entry(plane, id);
    struct sink *sink = plane->space->sink;
    char unknown[40];

    if (entry->is_ready)
        return entry;
    entry->is_ready = true;
    if (entry->message.at == NULL) {
        snprintf(unknown, sizeof unknown, "event %" PRId64, (int64_t)id);
        entry->name = sink_name(sink, str_of(unknown));
        return entry;
    }
    struct event_text text = read_event_text(entry->message);
    bool is_renamed = text.display_name.count > 0;
    struct str shown = is_renamed ? text.display_name : text.name;
    entry->name = sink_name(sink, shown);
    entry->role = (uint8_t)role_of_event(shown);
    entry->op = instruction_in(sink, text.name);
    if (!is_renamed && text.stat_count == 0)
        return entry;
    entry->type = sink_type(sink, entry->name);
    if (is_renamed && !str_equal(text.name, text.display_name)) {
        struct arg long_name = {.key = sink_name(sink, STR("long_name")), .type = ARG_STRING};
        long_name.bits = sink_name(sink, text.name);
        sink_type_arg(sink, entry->type, long_name);
    }
    read_type_stats(plane, entry);
    return entry;
}

static bool read_entry(const struct pb *outer, struct bytes message, uint64_t *ret_id,
                       struct bytes *ret_value)
{
    struct error err = {0};
    struct pb pb = pb_inside(outer, message, &err);

    *ret_id = 0;
    *ret_value = (struct bytes){.at = message.at};
    for (struct pb_field field; pb_next(&pb, &field);) {
        if (field.number == ENTRY_KEY && field.wire == PB_VARINT)
            *ret_id = field.varint;
        else if (field.number == ENTRY_VALUE && field.wire == PB_BYTES)
            *ret_value = field.bytes;
    }
    return err.code == OK;
}

static void add_stat(struct plane *plane, uint64_t id, struct bytes message)
{
    struct stat_metadata *entry = stat_entry(plane, id);

    entry->text = read_event_text(message).name;
    entry->is_known = true;
}

void names_open(struct plane *plane)
{
    const struct plane_scan *scan = plane->scan;
    struct error err = {0};
    struct pb whole = pb_open(plane->space->file, &err);
    struct pb pb = pb_inside(&whole, scan->message, &err);

    plane->event_index.dense_count =
        dense_count_for(scan->event_metadata_count, scan->event_id_max);
    plane->event_index.count = plane->event_index.capacity = plane->event_index.dense_count;
    plane->events = memory_resize(NULL, plane->event_index.capacity, sizeof *plane->events);
    memset(plane->events, 0, plane->event_index.capacity * sizeof *plane->events);
    plane->stat_index.dense_count = dense_count_for(scan->stat_metadata_count, scan->stat_id_max);
    plane->stat_index.count = plane->stat_index.capacity = plane->stat_index.dense_count;
    plane->stats = memory_resize(NULL, plane->stat_index.capacity, sizeof *plane->stats);
    memset(plane->stats, 0, plane->stat_index.capacity * sizeof *plane->stats);

    for (struct pb_field field; pb_next(&pb, &field);) {
        uint64_t id;
        struct bytes value;
        bool is_event = field.number == XPLANE_EVENT_METADATA;
        if (field.wire != PB_BYTES || (!is_event && field.number != XPLANE_STAT_METADATA))
            continue;
        if (!read_entry(&pb, field.bytes, &id, &value))
            xspace_damaged(plane->space, field.bytes.at, "the name of an event or stat");
        else if (is_event)
            event_entry(plane, id)->message = value;
        else
            add_stat(plane, id, value);
    }
}

void names_close(struct plane *plane)
{
    id_map_free(&plane->event_index.sparse);
    id_map_free(&plane->stat_index.sparse);
    free(plane->events);
    free(plane->stats);
    plane->events = NULL;
    plane->stats = NULL;
}
