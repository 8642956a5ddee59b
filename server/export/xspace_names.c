/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a plane on their way out: each once, numbered from 1 in the order of first use.
 *
 *   stats     keys, and texts that stats refer to
 *   events    a name and what all events of its type share
 */
#include "export/xspace_out.h"

#include <stdlib.h>

enum { WORD_KEYS = 32, MADE_KEYS = 33, METADATA_ID = 1 };

static const char *const words[WORDS] = {
    [WORD_KERNEL_DETAILS] = "kernel_details",
    [WORD_MEMCPY_DETAILS] = "memcpy_details",
    [WORD_MEMSET_DETAILS] = "Memset_details",
    [WORD_CORRELATION] = "correlation_id",
    [WORD_PRODUCER_TYPE] = "_pt",
    [WORD_PRODUCER] = "_p",
    [WORD_CONSUMER_TYPE] = "_ct",
    [WORD_CONSUMER] = "_c",
    [WORD_ASYNC] = "_a",
    [WORD_UNFINISHED] = "unfinished",
    [WORD_VALUE] = "counter_value",
    [WORD_PROTO] = "Hlo Proto",
    [WORD_START] = "profile_start_time",
    [WORD_STOP] = "profile_stop_time",
    [WORD_PROCESS] = "process",
    [WORD_VENDOR] = "device_vendor",
    [WORD_FILE] = "file",
    [WORD_LINE] = "line",
};

static const char *const details[DETAILS] = {
    [DETAIL_GRID] = "grid",
    [DETAIL_BLOCK] = "block",
    [DETAIL_REGISTERS] = "registers_per_thread",
    [DETAIL_STATIC_SHARED] = "static_shared_memory_bytes",
    [DETAIL_DYNAMIC_SHARED] = "dynamic_shared_memory_bytes",
    [DETAIL_BYTES] = "bytes",
    [DETAIL_SOURCE] = "source_memory",
    [DETAIL_DESTINATION] = "destination_memory",
    [DETAIL_MEMORY] = "memory",
};

struct str space_text(const struct xspace_out *space, name_id name)
{
    return space->sink != NULL ? sink_text(space->sink, name) : trace_name(space->trace, name);
}

/* While names still come, words are names before they are. */
static bool find_name(struct xspace_out *space, const char *text, name_id *ret)
{
    if (space->trace != NULL)
        return trace_find_name(space->trace, str_of(text), ret);
    *ret = sink_name(space->sink, str_of(text));
    return true;
}

/* A word that is a name of the trace too is that name: XProf looks for one id a name. */
void names_open_words(struct xspace_out *space)
{
    for (size_t word = 0; word < WORDS; word++) {
        name_id name;
        bool is_known = find_name(space, words[word], &name);

        space->words[word] = is_known ? name : UINT64_C(1) << WORD_KEYS | word;
    }
    space->detail_bits = 0;
    for (size_t detail = 0; detail < DETAILS; detail++) {
        if (!find_name(space, details[detail], &space->details[detail]))
            space->details[detail] = 0;
        space->detail_bits |= UINT64_C(1) << space->details[detail] % 64;
    }
}

struct str names_text(const struct plane_out *plane, key_id key)
{
    uint32_t rest = (uint32_t)key, count;

    if (key >> MADE_KEYS & 1) { /* its length, then itself */
        memcpy(&count, plane->made.at + rest, sizeof count);
        return (struct str){plane->made.at + rest + sizeof count, count};
    }
    if (key >> WORD_KEYS & 1)
        return str_of(words[rest]);
    return space_text(plane->space, rest);
}

key_id names_make(struct plane_out *plane, struct str text)
{
    uint32_t at = (uint32_t)plane->made.count, count = (uint32_t)text.count;

    text_put(&plane->made, (const char *)&count, sizeof count);
    text_put(&plane->made, text.at, text.count);
    return UINT64_C(1) << MADE_KEYS | at;
}

/* The number of a key, from 1; new ones are appended to the list. */
static uint64_t number_of(struct id_map *ids, uint64_t key, uint64_t **list, uint32_t *count,
                          uint32_t *capacity)
{
    bool is_new;
    uint32_t id = id_map_add(ids, key, *count + 1, &is_new);

    if (!is_new)
        return id;
    if (*count == *capacity) {
        *capacity = *capacity == 0 ? 64 : *capacity * 2;
        *list = memory_resize(*list, *capacity, sizeof **list);
    }
    (*list)[(*count)++] = key;
    return id;
}

uint64_t names_stat_id(struct plane_out *plane, key_id key)
{
    uint32_t place = (uint32_t)key % QUICK_IDS;

    if (plane->quick[place].id == 0 || plane->quick[place].key != key) {
        plane->quick[place].key = key;
        plane->quick[place].id = number_of(&plane->stat_ids, key, &plane->stats, &plane->stat_count,
                                           &plane->stat_capacity);
    }
    return plane->quick[place].id;
}

uint64_t names_event_id(struct plane_out *plane, name_id name, type_id type)
{
    return number_of(&plane->event_ids, (uint64_t)type << 32 | name, &plane->events_by_id,
                     &plane->event_count, &plane->event_capacity);
}

/* One entry of a map: its number, and what stands in plane->event. */
static enum status put_entry(struct plane_out *plane, uint32_t field, uint64_t id,
                             struct error *err)
{
    struct text *entry = &plane->stat;

    pb_put_number(entry, ENTRY_KEY, id);
    pb_put_message(entry, ENTRY_VALUE, &plane->event);
    pb_put_message(&plane->events, field, entry);
    arena_reset(plane->space->arena);
    return plane->events.count < 1 << 16 ? OK : plane_keep(plane, &plane->events, err);
}

static void put_name(struct plane_out *plane, uint32_t field, struct str name)
{
    pb_put_text(&plane->event, field, str_utf8(plane->space->arena, name));
}

/* What all events of a type share; "long_name" is what a file with two names had as the first. */
static void put_event_entry(struct plane_out *plane, uint64_t id)
{
    const struct trace *trace = plane->space->trace;
    name_id name = (name_id)plane->events_by_id[id - 1];
    type_id type_of = (type_id)(plane->events_by_id[id - 1] >> 32);
    static const struct type none;
    const struct type *type = type_of < trace->type_count ? &trace->types[type_of] : &none;
    const struct arg *args = trace->type_args + type->first_arg, *long_name = NULL;

    for (uint32_t i = 0; i < type->arg_count; i++)
        if (long_name == NULL && args[i].type == ARG_STRING &&
            str_equal(trace_name(trace, args[i].key), STR("long_name")))
            long_name = &args[i];
    pb_put_number(&plane->event, METADATA_ID, id);
    put_name(plane, METADATA_NAME,
             trace_name(trace, long_name != NULL ? (name_id)long_name->bits : name));
    if (long_name != NULL)
        put_name(plane, METADATA_DISPLAY_NAME, trace_name(trace, name));
    for (uint32_t i = 0; i < type->arg_count; i++)
        if (&args[i] != long_name)
            stat_put(plane, &plane->event, METADATA_STATS, args[i]);
}

/* Stats last: the types of events use some of them. */
enum status names_put(struct plane_out *plane, struct error *err)
{
    for (uint64_t id = 1; id <= plane->event_count; id++) {
        put_event_entry(plane, id);
        TRY(put_entry(plane, XPLANE_EVENT_METADATA, id, err));
    }
    for (uint64_t id = 1; id <= plane->stat_count; id++) {
        pb_put_number(&plane->event, METADATA_ID, id);
        put_name(plane, METADATA_NAME, names_text(plane, plane->stats[id - 1]));
        TRY(put_entry(plane, XPLANE_STAT_METADATA, id, err));
    }
    return plane_keep(plane, &plane->events, err);
}
