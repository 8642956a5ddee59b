/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the events of many slices and reads one arg of each, column by column. */
#include "analyse/hlo/event_args.h"

#include <stdlib.h>

#include "base/sort.h"

struct place {
    uint32_t key, at; /* a slice or an event; the ordinal among those asked for */
};

static bool place_before(const struct place *a, const struct place *b)
{
    return a->key != b->key ? a->key < b->key : a->at < b->at;
}
SORT_DEFINE(sort_places, struct place, place_before)

/* The chunk of a row that holds the slice. */
static uint32_t chunk_of(const struct row *row, slice_id slice)
{
    return row->first_chunk + (slice - row->first_slice) / CHUNK_SLICES;
}

static void read_refs(const struct trace *trace, const struct place *places, uint32_t count,
                      struct chunk *chunk, struct event_ref *ret)
{
    uint32_t unpacked = UINT32_MAX;
    const struct row *row = NULL;

    for (uint32_t i = 0; i < count; i++) {
        slice_id slice = places[i].key;

        if (slice >= trace->slice_count)
            continue;
        if (row == NULL || slice - row->first_slice >= row->count)
            row = &trace->rows[trace_row_of(trace, slice)];
        if (chunk_of(row, slice) != unpacked) {
            unpacked = chunk_of(row, slice);
            chunk_unpack(trace, unpacked, COLUMN_EVENT | COLUMN_PARENT, chunk);
        }
        uint32_t at = (slice - row->first_slice) % CHUNK_SLICES;
        if (at < chunk->count)
            ret[places[i].at] =
                (struct event_ref){.event = chunk->event[at], .parent = chunk->parent[at]};
    }
}

struct event_ref *event_refs(const struct trace *trace, const slice_id *slices, uint32_t count,
                             struct arena *arena)
{
    struct event_ref *refs = arena_array(arena, struct event_ref, (size_t)count + 1);
    struct place *places = memory_resize(NULL, (size_t)count + 1, sizeof *places);
    struct chunk *chunk = memory_resize(NULL, 1, sizeof *chunk);

    for (uint32_t i = 0; i < count; i++) {
        refs[i] = (struct event_ref){.event = UINT32_MAX, .parent = NO_SLICE};
        places[i] = (struct place){.key = slices[i], .at = i};
    }
    sort_places(places, count);
    read_refs(trace, places, count, chunk, refs);
    free(chunk);
    free(places);
    return refs;
}

/* Values of the events from places[from] on that lie in the block; returns the first beyond. */
static uint32_t take_block(const struct arg_column *column, bool has_key,
                           const struct place *places, uint32_t count, uint32_t from,
                           struct event_value *ret)
{
    while (from < count && places[from].key < column->first_event)
        from++; /* in a block that is damaged */
    for (; from < count && places[from].key - column->first_event < column->count; from++) {
        uint32_t at = places[from].key - column->first_event;

        if (has_key)
            ret[places[from].at] =
                (struct event_value){.type = column->type[at], .bits = column->bits[at]};
    }
    return from;
}

/* By type, plus one for none: the arg of that key that all its events share. NULL: no type has
 * it. */
static struct event_value *values_of_types(const struct trace *trace, name_id key)
{
    struct event_value *values = NULL;

    for (type_id type = 0; type < trace->type_count; type++) {
        const struct type *shared = &trace->types[type];

        for (uint32_t i = 0; i < shared->arg_count; i++) {
            const struct arg *arg = &trace->type_args[shared->first_arg + i];

            if (arg->key != key)
                continue;
            if (values == NULL) {
                values = memory_resize(NULL, trace->type_count, sizeof *values);
                memset(values, 0, trace->type_count * sizeof *values);
            }
            values[type] = (struct event_value){.type = arg->type, .bits = arg->bits};
            break;
        }
    }
    return values;
}

/* Many events may share an arg: it then stands with their type. */
static void take_shared(const struct trace *trace, const struct place *places, uint32_t count,
                        name_id key, struct event_value *ret)
{
    struct event_value *of_type = values_of_types(trace, key);
    type_id *types = of_type != NULL ? memory_resize(NULL, ARGS_BLOCK_EVENTS, sizeof *types) : NULL;
    uint32_t from = 0;

    for (uint32_t block = trace_arg_block_of(trace, places[0].key);
         of_type != NULL && block < trace_arg_block_count(trace) && from < count; block++) {
        event_id first = 0;
        uint32_t events = trace_arg_types(trace, block, &first, types);

        while (from < count && places[from].key < first)
            from++;
        for (; from < count && places[from].key - first < events; from++) {
            type_id type = types[places[from].key - first];

            if (ret[places[from].at].type == ARG_NONE && type < trace->type_count)
                ret[places[from].at] = of_type[type];
        }
    }
    free(types);
    free(of_type);
}

struct event_value *event_values(const struct trace *trace, const struct event_ref *refs,
                                 uint32_t count, struct str key, struct arena *arena)
{
    struct event_value *values = arena_array(arena, struct event_value, (size_t)count + 1);
    name_id name;

    if (count == 0 || !trace_find_name(trace, key, &name))
        return values;

    struct place *places = memory_resize(NULL, count, sizeof *places);
    struct arg_column *column = memory_resize(NULL, 1, sizeof *column);
    uint32_t from = 0;

    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place){.key = refs[i].event, .at = i};
    sort_places(places, count);
    for (uint32_t block = trace_arg_block_of(trace, places[0].key);
         block < trace_arg_block_count(trace) && from < count; block++) {
        column->first_event = column->count = 0;
        bool has_key = trace_arg_column(trace, block, name, column); /* its bounds either way */

        from = take_block(column, has_key, places, count, from, values);
    }
    take_shared(trace, places, count, name, values);
    free(column);
    free(places);
    return values;
}
