/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers of a run: slices whose names say so, each with what its args and its call tell. */
#include <stdlib.h>

#include "analyse/comm/transfers_parts.h"
#include "analyse/stats/order.h"
#include "analyse/steps/restrict.h"
#include "analyse/steps/step_of.h"
#include "trace/args/slice_args.h"
#include "trace/names/by_name.h"

enum { ANCESTORS_MAX = 64 };

struct arg_reader {
    const struct trace *trace;
    struct slice_args *args;
    name_id name; /* of the transfer that was looked at last, and what it says */
    enum transfer_direction direction;
    enum host_memory memory;
    uint32_t entry;    /* of the attribution, at or before the transfer's */
    slice_id around;   /* what the call lay in that was looked at last */
    struct str caller; /* and who that tells */
};

struct collecting { /* of one host */
    const struct selection *selection;
    const struct trace *trace;
    struct transfer *items;
    enum transfer_tier *tiers; /* one an item */
    uint32_t count, capacity;
    bool seen[TIER_CALL + 1];
};

static struct transfer transfer_from(uint32_t index, const struct host_trace *host, track_id track,
                                     const struct slice *slice)
{
    return (struct transfer){
        .host = index,
        .track = track,
        .slice = slice->id,
        .launch = NO_SLICE,
        .name = slice->name,
        .device = host->trace->tracks[track].device,
        .start_ps = slice->start_ps + host->offset_ps,
        .dur_ps = slice->dur_ps,
        .bytes = -1,
        .overlapped_ps = -1,
    };
}

static void collect(struct collecting *collecting, const struct row *row, slice_id id,
                    enum transfer_tier tier)
{
    const struct selection *selection = collecting->selection;
    const struct track *track = &collecting->trace->tracks[row->track];
    struct slice slice = trace_slice(collecting->trace, id);

    if (!selection_begins_inside_row(selection, slice.row, slice.start_ps) ||
        !selection_has_device(selection, track->device))
        return;
    if (collecting->count == collecting->capacity) {
        collecting->capacity = collecting->capacity == 0 ? 256 : 2 * collecting->capacity;
        collecting->items =
            memory_resize(collecting->items, collecting->capacity, sizeof(*collecting->items));
        collecting->tiers =
            memory_resize(collecting->tiers, collecting->capacity, sizeof(*collecting->tiers));
    }
    collecting->tiers[collecting->count] = tier;
    collecting->items[collecting->count++] =
        transfer_from(selection->index, selection->host, row->track, &slice);
}

static bool is_inside_own_kind(const struct trace *trace, slice_id id)
{
    slice_id parent = trace_slice(trace, id).parent;

    for (int up = 0; parent != NO_SLICE && up < ANCESTORS_MAX; up++) {
        struct slice slice = trace_slice(trace, parent);

        if (transfer_tier_of(trace_name(trace, slice.name), false) != TIER_NONE)
            return true;
        parent = slice.parent;
    }
    return false;
}

/* Tracks whose slices say what a device moved; its steps, modules and scopes hold the same
 * again. */
static enum transfer_tier tier_on(const struct track *track, struct str name)
{
    bool on_device = track->device >= 0;
    enum transfer_tier tier = transfer_tier_of(name, on_device);

    if (track->derived || track->role == ROLE_STEPS || track->role == ROLE_MODULES ||
        track->role == ROLE_SCOPES)
        return TIER_NONE;
    return tier == TIER_ASYNC && track->role != ROLE_ASYNC_OPS ? TIER_NONE : tier;
}

static void collect_name(struct collecting *collecting, name_id name)
{
    const struct trace *trace = collecting->trace;
    struct str text = trace_name(trace, name);
    bool named = selection_has_name(collecting->selection, text);
    uint32_t run_count;

    if (transfer_tier_of(text, true) == TIER_NONE && transfer_tier_of(text, false) == TIER_NONE)
        return;

    const struct name_run *runs = trace_name_runs(trace, name, &run_count);

    for (uint32_t i = 0; i < run_count; i++) {
        const struct row *row = &trace->rows[runs[i].row];
        enum transfer_tier tier = tier_on(&trace->tracks[row->track], text);
        bool asked = named && tier != TIER_NONE && collecting->selection->tracks[row->track];
        const slice_id *ids = asked ? trace_name_slices(trace, &runs[i]) : NULL;

        /* What stands for a copy does not depend on what is asked for. */
        collecting->seen[tier] = true;
        for (uint32_t at = 0; ids != NULL && at < runs[i].count; at++) {
            if ((tier != TIER_DISPATCH && tier != TIER_CALL) || !is_inside_own_kind(trace, ids[at]))
                collect(collecting, row, ids[at], tier);
        }
    }
}

/* A copy is told of once: by its device, else by who carried it out, else by who asked for it. */
static void keep_one_tier(struct collecting *collecting)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < collecting->count; i++) {
        enum transfer_tier tier = collecting->tiers[i];

        if ((tier == TIER_DISPATCH && collecting->seen[TIER_DEVICE]) ||
            (tier == TIER_CALL &&
             (collecting->seen[TIER_DEVICE] || collecting->seen[TIER_DISPATCH])))
            continue;
        collecting->items[kept] = collecting->items[i];
        collecting->tiers[kept++] = tier;
    }
    collecting->count = kept;
}

static int64_t number_of(const struct arg *arg)
{
    bool is_number = arg->type == ARG_INT64 || arg->type == ARG_UINT64 || arg->type == ARG_DIGITS;

    return is_number && arg->bits <= INT64_MAX ? (int64_t)arg->bits : -1;
}

static void learn_details(struct transfer *transfer, struct str text)
{
    struct memcpy_details details = memcpy_details_of(text);
    enum host_memory from = host_memory_of(details.kind_from);

    if (details.bytes > 0) /* what lasts moved something: 0 is what was not recorded */
        transfer->bytes = details.bytes;
    if (details.has_async && !details.async)
        transfer->wait = WAIT_BLOCKS;
    if (transfer->memory == MEMORY_UNKNOWN)
        transfer->memory = from != MEMORY_UNKNOWN ? from : host_memory_of(details.kind_to);
    if (transfer->direction == DIRECTION_D2D && details.destination >= 0 && transfer->device >= 0 &&
        details.destination != transfer->device)
        transfer->direction = DIRECTION_P2P;
}

static void learn_arg(const struct trace *trace, struct transfer *transfer, const struct arg *arg)
{
    static const char *const sizes[] = {"bytes", "size", "raw_bytes_accessed", "bytes_accessed"};
    struct str key = trace_name(trace, arg->key);
    struct str text = arg->type == ARG_STRING ? trace_name(trace, (name_id)arg->bits) : STR("");

    for (size_t i = 0; i < COUNT(sizes); i++) {
        if (transfer->bytes < 0 && str_equal(key, str_of(sizes[i])) && number_of(arg) > 0)
            transfer->bytes = number_of(arg);
    }
    if (str_equal(key, STR("memcpy_details")))
        learn_details(transfer, text);
    else if (str_equal(key, STR("shape_with_layout")) && transfer->direction == DIRECTION_UNKNOWN)
        transfer->direction = offload_direction_of(text);
    else if (transfer->memory == MEMORY_UNKNOWN &&
             (str_equal(key, STR("source_memory")) || str_equal(key, STR("destination_memory"))))
        transfer->memory = host_memory_of(text);
}

static void learn_args(struct arg_reader *reader, struct transfer *transfer, slice_id slice)
{
    const struct trace *trace = reader->trace;
    const struct arg *args;
    type_id type;
    uint32_t count = slice_args_of(reader->args, trace_slice(trace, slice).event, &args, &type);

    for (uint32_t i = 0; i < count; i++)
        learn_arg(trace, transfer, &args[i]);
    if (type == 0 || type >= trace->type_count)
        return;
    for (uint32_t i = 0; i < trace->types[type].arg_count; i++)
        learn_arg(trace, transfer, &trace->type_args[trace->types[type].first_arg + i]);
}

/* What the slices inside of a dispatch say: "H2D Dispatch" holds the transfer that has the size. */
static void learn_inside(struct arg_reader *reader, struct transfer *transfer)
{
    const struct trace *trace = reader->trace;
    const struct track *track = &trace->tracks[transfer->track];
    row_id below = trace_row_of(trace, transfer->slice) + 1;
    struct slice slice = trace_slice(trace, transfer->slice);
    uint32_t first, end;

    if (below >= track->first_row + track->row_count)
        return;
    row_window(trace, &trace->rows[below], slice.start_ps, slice.start_ps + slice.dur_ps, &first,
               &end);
    for (uint32_t at = first; at < end && at < first + ANCESTORS_MAX && transfer->bytes < 0; at++) {
        struct slice child = trace_slice(trace, trace->rows[below].first_slice + at);

        if (child.parent == transfer->slice &&
            transfer_tier_of(trace_name(trace, child.name), false) == TIER_DISPATCH)
            learn_args(reader, transfer, child.id);
    }
}

/* "aten::copy_" of "aten::copy_, op_id = 322081": numbers would make each call its own. */
static struct str without_number(struct str name)
{
    for (size_t i = 0; i + 1 < name.count; i++) {
        if (name.at[i] == ',' && name.at[i + 1] == ' ')
            return (struct str){name.at, i};
    }
    return name;
}

/* The nearest slice from this one outwards that is no machinery; else the outermost. */
static struct str caller_around(const struct trace *trace, slice_id at)
{
    struct str last = STR("");

    for (int up = 0; at != NO_SLICE && up < ANCESTORS_MAX; up++) {
        struct slice slice = trace_slice(trace, at);

        last = trace_name(trace, slice.name);
        if (!is_transfer_machinery(last))
            return without_number(last);
        at = slice.parent;
    }
    return without_number(last);
}

/* Calls that follow each other mostly lie in one. */
static struct str caller_of(struct arg_reader *reader, slice_id around)
{
    if (around == NO_SLICE)
        return STR("");
    if (around != reader->around) {
        reader->around = around;
        reader->caller = caller_around(reader->trace, around);
    }
    return reader->caller;
}

/* Transfers of a row come in order, so their entries are near one another. */
static uint32_t entry_of(const struct attribution *attribution, struct arg_reader *reader,
                         slice_id slice)
{
    uint32_t low = reader->entry, count = attribution->entry_count, step = 1;

    if (low >= count || entry_slice(attribution, low) > slice)
        low = 0;
    while (step < count - low && entry_slice(attribution, low + step) <= slice) {
        low += step;
        step *= 2;
    }
    for (; step > 0; step /= 2) {
        if (step < count - low && entry_slice(attribution, low + step) <= slice)
            low += step;
    }
    reader->entry = low;
    return low < count && entry_slice(attribution, low) == slice ? low : NO_ENTRY;
}

static void learn_launch(const struct host_trace *host, struct arg_reader *reader,
                         struct transfer *transfer)
{
    const struct trace *trace = host->trace;
    const struct attribution *attribution = host->attribution;
    uint32_t entry =
        attribution != NULL ? entry_of(attribution, reader, transfer->slice) : NO_ENTRY;
    slice_id launch = entry == NO_ENTRY ? NO_SLICE : entry_at(attribution, entry).launch;

    if (launch == NO_SLICE)
        return;

    struct slice call = trace_slice(trace, launch);
    struct str name = trace_name(trace, call.name);
    int64_t end_ps = transfer->start_ps - host->offset_ps + transfer->dur_ps;

    transfer->launch = launch;
    transfer->caller = caller_of(reader, call.parent);
    if (transfer->caller.count == 0)
        transfer->caller = name;
    if (transfer->direction == DIRECTION_UNKNOWN)
        transfer->direction = transfer_direction_of(name);
    if (transfer->wait == WAIT_UNKNOWN)
        transfer->wait = transfer_call_waits(name) || call.start_ps + call.dur_ps >= end_ps
                             ? WAIT_BLOCKS
                             : WAIT_NONE;
}

/* On a host's thread, what stands around the transfer asked for it and waits for it. */
static void learn_thread(struct arg_reader *reader, struct transfer *transfer)
{
    transfer->caller = caller_of(reader, trace_slice(reader->trace, transfer->slice).parent);
    if (transfer->caller.count > 0)
        transfer->wait = WAIT_BLOCKS;
}

/* Transfers of one name come together. */
static void read_name(struct arg_reader *reader, name_id name)
{
    struct str text = trace_name(reader->trace, name);

    if (name == reader->name && name != 0)
        return;
    reader->name = name;
    reader->direction = transfer_direction_of(text);
    reader->memory = host_memory_of(text);
}

static void learn(const struct host_trace *host, enum transfer_tier tier, struct transfer *transfer,
                  struct arg_reader *reader)
{
    read_name(reader, transfer->name);
    transfer->direction = reader->direction;
    transfer->memory = reader->memory;
    if (tier == TIER_DEVICE)
        learn_launch(host, reader, transfer);
    else if (tier != TIER_ASYNC)
        learn_thread(reader, transfer);
    else
        transfer->wait = WAIT_NONE;
    learn_args(reader, transfer, transfer->slice);
    if (transfer->bytes < 0 && tier == TIER_DISPATCH)
        learn_inside(reader, transfer);
    if (transfer->direction == DIRECTION_D2D || transfer->direction == DIRECTION_P2P)
        transfer->memory = MEMORY_NONE;
}

bool transfer_told(const struct host_trace *host, slice_id id, struct slice_args *args,
                   struct transfer *ret)
{
    const struct trace *trace = host->trace;
    struct slice slice = trace_slice(trace, id);
    track_id at = trace->rows[slice.row].track;
    enum transfer_tier tier = tier_on(&trace->tracks[at], trace_name(trace, slice.name));
    struct arg_reader reader = {.trace = trace, .args = args, .around = NO_SLICE};

    if (tier == TIER_NONE)
        return false;
    *ret = transfer_from(0, host, at, &slice);
    learn(host, tier, ret, &reader);
    return true;
}

bool transfer_of_slice(const struct host_trace *host, slice_id id, struct transfer *ret)
{
    struct slice_args args;

    slice_args_open(&args, host->trace);
    bool any = transfer_told(host, id, &args, ret);
    slice_args_close(&args);
    if (any)
        transfers_overlap(host, ret, 1);
    return any;
}

static void find_host(const struct selection *selection, struct collecting *collecting)
{
    const struct name_stats *stats;
    uint32_t name_count = trace_name_stats(selection->host->trace, &stats);
    struct slice_args args;
    struct arg_reader reader = {.trace = selection->host->trace, .args = &args, .around = NO_SLICE};

    slice_args_open(&args, selection->host->trace);
    *collecting = (struct collecting){.selection = selection, .trace = selection->host->trace};
    for (uint32_t i = 0; i < name_count; i++) {
        if (stats[i].count > 0)
            collect_name(collecting, stats[i].name);
    }
    keep_one_tier(collecting);
    for (uint32_t i = 0; i < collecting->count; i++)
        learn(selection->host, collecting->tiers[i], &collecting->items[i], &reader);
    slice_args_close(&args);
    transfers_overlap(selection->host, collecting->items, collecting->count);
}

struct place { /* of a transfer in the order of all */
    int64_t start_ps;
    uint32_t host;
    slice_id slice;
    const struct transfer *of;
};

static bool is_earlier(const struct place *a, const struct place *b)
{
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps;
    return a->host != b->host ? a->host < b->host : a->slice < b->slice;
}

ORDER_DEFINE(order_places, struct place, is_earlier)

static void find_step(const struct step_places *places, struct transfer *transfer)
{
    const struct step *step = step_at(places, transfer->host, transfer->start_ps);

    if (step != NULL) {
        transfer->in_step = true;
        transfer->step = step->number;
    }
}

/* Places are sorted, for they are small, and those of a row are in order; what stands there is
 * copied once. */
static struct transfer *in_order(const struct collecting *of, uint32_t count, uint32_t all,
                                 struct arena *arena)
{
    struct place *places = memory_resize(NULL, (size_t)all + 1, sizeof(*places));
    struct transfer *ret = arena_array(arena, struct transfer, (size_t)all + 1);
    uint32_t at = 0;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < of[i].count; j++) {
            const struct transfer *item = &of[i].items[j];

            places[at++] = (struct place){item->start_ps, item->host, item->slice, item};
        }
    }
    order_places(places, all);
    for (uint32_t i = 0; i < all; i++)
        ret[i] = *places[i].of;
    free(places);
    return ret;
}

enum status transfers_find(const struct run_traces *run, const struct restriction *restriction,
                           const struct steps *all, struct arena *arena, struct transfers *ret,
                           struct error *err)
{
    struct selection *selections;
    struct step_places places;
    uint32_t selection_count;

    *ret = (struct transfers){0};
    TRY(restrict_run(run, restriction, arena, &selections, &selection_count, err));
    TRY(step_places_find(run, all, arena, &places, err));

    struct collecting *collecting =
        arena_array(arena, struct collecting, (size_t)selection_count + 1);

    ret->has_steps = places.count > 0;
    for (uint32_t i = 0; i < selection_count; i++) {
        find_host(&selections[i], &collecting[i]);
        ret->count += collecting[i].count;
    }
    ret->items = in_order(collecting, selection_count, ret->count, arena);
    for (uint32_t i = 0; i < ret->count; i++)
        find_step(&places, &ret->items[i]);
    for (uint32_t i = 0; i < selection_count; i++) {
        free(collecting[i].items);
        free(collecting[i].tiers);
    }
    return OK;
}

const char *transfer_direction_word(enum transfer_direction direction)
{
    static const char *const words[DIRECTION_COUNT] = {
        [DIRECTION_H2D] = "h2d", [DIRECTION_D2H] = "d2h",   [DIRECTION_D2D] = "d2d",
        [DIRECTION_P2P] = "p2p", [DIRECTION_HOST] = "host",
    };

    return direction < DIRECTION_COUNT ? words[direction] : NULL;
}

const char *host_memory_word(enum host_memory memory)
{
    static const char *const words[] = {
        [MEMORY_UNKNOWN] = NULL,        [MEMORY_NONE] = NULL,         [MEMORY_PINNED] = "pinned",
        [MEMORY_PAGEABLE] = "pageable", [MEMORY_MANAGED] = "managed",
    };

    return words[memory];
}

static bool has_transfers(const struct trace *trace, name_id name)
{
    struct str text = trace_name(trace, name);
    uint32_t run_count;

    if (transfer_tier_of(text, true) == TIER_NONE && transfer_tier_of(text, false) == TIER_NONE)
        return false;

    const struct name_run *runs = trace_name_runs(trace, name, &run_count);

    for (uint32_t i = 0; i < run_count; i++) {
        if (tier_on(&trace->tracks[trace->rows[runs[i].row].track], text) != TIER_NONE)
            return true;
    }
    return false;
}

struct str transfers_missing(const struct run_traces *run)
{
    for (uint32_t host = 0; host < run->host_count; host++) {
        const struct name_stats *stats;
        uint32_t count = trace_name_stats(run->hosts[host].trace, &stats);

        for (uint32_t i = 0; i < count; i++) {
            if (stats[i].count > 0 && has_transfers(run->hosts[host].trace, stats[i].name))
                return STR("");
        }
    }
    return STR("no transfer between host and devices was recorded: the device tracer records a "
               "GPU's copies, and `host_tracer_level` 2 or more records those of the runtime");
}
