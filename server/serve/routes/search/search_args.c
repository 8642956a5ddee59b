/* SPDX-License-Identifier: Apache-2.0 */
/* Marks the slices whose args have a value or hold a text, block by block. */
#include "serve/routes/search/search_args.h"

#include <math.h>
#include <stdlib.h>

#include "trace/args/args.h"

struct alternative { /* the value as one of the types it may be stored in */
    enum arg_type type;
    uint64_t bits;
};

enum { ALTERNATIVES_MAX = 8 };

static uint32_t read_numbers(struct str value, struct alternative *ret)
{
    char text[64], *end;
    uint32_t count = 0;
    int64_t integer;
    uint64_t natural;

    if (str_to_i64(value, &integer))
        ret[count++] = (struct alternative){ARG_INT64, (uint64_t)integer};
    if (str_to_u64(value, &natural)) {
        ret[count++] = (struct alternative){ARG_UINT64, natural};
        ret[count++] = (struct alternative){ARG_DIGITS, natural};
    }
    if (value.count == 0 || value.count >= sizeof text)
        return count;
    memcpy(text, value.at, value.count);
    text[value.count] = '\0';
    double real = strtod(text, &end);
    if (*end == '\0' && isfinite(real)) {
        ret[count] = (struct alternative){.type = ARG_DOUBLE};
        memcpy(&ret[count++].bits, &real, sizeof real);
    }
    return count;
}

static uint32_t alternatives(const struct trace *trace, struct str value, struct alternative *ret)
{
    uint32_t count = read_numbers(value, ret);
    name_id text;

    if (str_equal(value, STR("true")) || str_equal(value, STR("false")))
        ret[count++] = (struct alternative){ARG_BOOL, str_equal(value, STR("true"))};
    if (trace_find_name(trace, value, &text)) {
        ret[count++] = (struct alternative){ARG_STRING, text};
        ret[count++] = (struct alternative){ARG_JSON, text};
    }
    return count;
}

static bool equals_any(enum arg_type type, uint64_t bits, const struct alternative *values,
                       uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (type == values[i].type && bits == values[i].bits)
            return true;
    }
    return false;
}

static bool block_may(const struct trace *trace, uint32_t block, name_id key,
                      const struct alternative *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (trace_arg_block_may(trace, block, key, values[i].type, values[i].bits))
            return true;
    }
    return false;
}

/* Which types have the arg; NULL where none has. */
static bool *matching_types(const struct trace *trace, name_id key,
                            const struct alternative *values, uint32_t count, struct arena *arena)
{
    bool *matches = arena_array(arena, bool, trace->type_count + 1);
    bool any = false;

    for (type_id i = 0; i < trace->type_count; i++) {
        for (uint32_t k = 0; k < trace->types[i].arg_count && !matches[i]; k++) {
            const struct arg *arg = &trace->type_args[trace->types[i].first_arg + k];

            matches[i] = arg->key == key && equals_any(arg->type, arg->bits, values, count);
        }
        any = any || matches[i];
    }
    return any ? matches : NULL;
}

struct scan { /* room for one block */
    struct arg_column column;
    type_id types[ARGS_BLOCK_EVENTS];
    bool hits[ARGS_BLOCK_EVENTS];
};

static void scan_block(const struct trace *trace, uint32_t block, name_id key,
                       const struct alternative *values, uint32_t count, const bool *types,
                       struct scan *scan, uint64_t *marked)
{
    event_id first = 0;
    uint32_t events = 0;

    memset(scan->hits, 0, sizeof scan->hits);
    if (block_may(trace, block, key, values, count) &&
        trace_arg_column(trace, block, key, &scan->column)) {
        first = scan->column.first_event;
        events = scan->column.count;
        for (uint32_t i = 0; i < events; i++)
            scan->hits[i] = equals_any(scan->column.type[i], scan->column.bits[i], values, count);
    }
    if (types != NULL) {
        events = trace_arg_types(trace, block, &first, scan->types);
        for (uint32_t i = 0; i < events; i++)
            scan->hits[i] =
                scan->hits[i] || (scan->types[i] < trace->type_count && types[scan->types[i]]);
    }
    for (uint32_t i = 0; i < events; i++) {
        event_id event = first + i;

        if (scan->hits[i] && event < trace->event_count)
            marked[event / 64] |= UINT64_C(1) << event % 64;
    }
}

/* From events to slices in one pass: an event alone would cost a look at every chunk's entry. */
static void mark_slices(const struct trace *trace, const uint64_t *marked, uint64_t *slices,
                        struct chunk *chunk)
{
    for (row_id id = 0; id < trace->row_count; id++) {
        for (uint32_t index = 0; index < trace->rows[id].chunk_count; index++) {
            if (!chunk_may_hold(trace, trace->rows[id].first_chunk + index, marked))
                continue;
            chunk_unpack(trace, trace->rows[id].first_chunk + index, COLUMN_EVENT, chunk);
            for (uint32_t k = 0; k < chunk->count; k++) {
                event_id event = chunk->event[k];
                slice_id slice = chunk->first_slice + k;

                if (event < trace->event_count && slice < trace->slice_count &&
                    (marked[event / 64] >> event % 64 & 1) != 0)
                    slices[slice / 64] |= UINT64_C(1) << slice % 64;
            }
        }
    }
}

void search_args(const struct trace *trace, struct search_arg arg, uint64_t *slices,
                 struct arena *arena)
{
    struct alternative values[ALTERNATIVES_MAX];
    name_id key_id;

    if (!trace_find_name(trace, arg.key, &key_id))
        return;

    uint32_t count = alternatives(trace, arg.value, values);
    const bool *types = matching_types(trace, key_id, values, count, arena);
    struct scan *scan = arena_new(arena, struct scan);
    uint64_t *marked = arena_array(arena, uint64_t, (size_t)trace->event_count / 64 + 1);

    for (uint32_t block = 0; block < trace_arg_block_count(trace); block++)
        scan_block(trace, block, key_id, values, count, types, scan, marked);
    mark_slices(trace, marked, slices, arena_new(arena, struct chunk));
}

enum { KEYS_MAX = 1024 }; /* of one block */

struct wanted {   /* texts that hold the part */
    bool *is;     /* by name id */
    name_id *ids; /* ascending */
    uint32_t count;
};

static struct wanted texts_that_hold(const struct trace *trace, struct str part,
                                     struct arena *arena)
{
    struct wanted ret = {.is = arena_array(arena, bool, (size_t)trace->name_count + 1),
                         .ids = arena_array(arena, name_id, trace->name_count)};

    for (name_id id = 0; id < trace->name_count; id++) {
        ret.is[id] = str_contains_fold(trace_name(trace, id), part);
        if (ret.is[id])
            ret.ids[ret.count++] = id;
    }
    return ret;
}

static bool is_wanted(const struct trace *trace, const struct wanted *wanted, unsigned type,
                      uint64_t bits)
{
    return (type == ARG_STRING || type == ARG_JSON) && bits < trace->name_count && wanted->is[bits];
}

static bool *types_with_text(const struct trace *trace, const struct wanted *wanted,
                             struct arena *arena)
{
    bool *matches = arena_array(arena, bool, trace->type_count + 1);
    bool any = false;

    for (type_id i = 0; i < trace->type_count; i++) {
        for (uint32_t k = 0; k < trace->types[i].arg_count && !matches[i]; k++) {
            const struct arg *arg = &trace->type_args[trace->types[i].first_arg + k];

            matches[i] = is_wanted(trace, wanted, arg->type, arg->bits);
        }
        any = any || matches[i];
    }
    return any ? matches : NULL;
}

static void mark_event(const struct trace *trace, event_id event, uint64_t *marked)
{
    if (event < trace->event_count)
        marked[event / 64] |= UINT64_C(1) << event % 64;
}

static void scan_block_texts(const struct trace *trace, uint32_t block, const struct wanted *wanted,
                             const bool *types, struct scan *scan, uint64_t *marked)
{
    name_id keys[KEYS_MAX];
    uint32_t key_count =
        trace_arg_text_keys(trace, block, wanted->ids, wanted->count, keys, KEYS_MAX);
    event_id first;

    for (uint32_t k = 0; k < key_count; k++) {
        if (!trace_arg_column(trace, block, keys[k], &scan->column))
            continue;
        for (uint32_t i = 0; i < scan->column.count; i++) {
            if (is_wanted(trace, wanted, scan->column.type[i], scan->column.bits[i]))
                mark_event(trace, scan->column.first_event + i, marked);
        }
    }
    uint32_t events = types == NULL ? 0 : trace_arg_types(trace, block, &first, scan->types);

    for (uint32_t i = 0; i < events; i++) {
        if (scan->types[i] < trace->type_count && types[scan->types[i]])
            mark_event(trace, first + i, marked);
    }
}

void search_arg_texts(const struct trace *trace, struct str part, uint64_t *slices,
                      struct arena *arena)
{
    struct wanted wanted = texts_that_hold(trace, part, arena);

    if (wanted.count == 0)
        return;

    const bool *types = types_with_text(trace, &wanted, arena);
    struct scan *scan = arena_new(arena, struct scan);
    uint64_t *marked = arena_array(arena, uint64_t, (size_t)trace->event_count / 64 + 1);

    for (uint32_t block = 0; block < trace_arg_block_count(trace); block++)
        scan_block_texts(trace, block, &wanted, types, scan, marked);
    mark_slices(trace, marked, slices, arena_new(arena, struct chunk));
}
