/* SPDX-License-Identifier: Apache-2.0 */
/* Dicts and lists of a pickled snapshot become records, from the inside out.
 *
 *   {segments: [{address total_size device stream blocks: [{size requested_size state frames}]}],
 *    device_traces: [[{action addr size stream time_us frames}, ...] one a device],
 *    allocator_settings: {...}}
 *   frames: [{filename line name}, ...], the innermost first; the same list may stand in many
 *
 * A dict is told by its keys when it is filled, so an event is a record of 48 bytes before the next
 * one is read. What is not known is passed over. Old writers put frames into "history".
 *
 * The fields are those of _snapshot in torch/cuda/memory.py of PyTorch 2.13.
 */
#include "decode/torch_snapshot/torch_snapshot.h"

#include <inttypes.h>

enum { RECORDS_MAX = 1 << 28, FRAMES_DEPTH_MAX = 1 << 12 };

void *torch_add(struct torch_snapshot *snapshot, struct torch_table *table, size_t size)
{
    if (table->count == RECORDS_MAX) {
        fail(sink_error(snapshot->sink), ERR_LIMIT, "the snapshot has more than %d records",
             RECORDS_MAX);
        return NULL;
    }
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        table->at = scratch_resize(snapshot->scratch, table->at, table->capacity, size);
    }

    void *added = (char *)table->at + size * table->count++;

    memset(added, 0, size);
    return added;
}

struct torch_object torch_object_of(const struct torch_snapshot *snapshot, uint64_t container)
{
    const struct torch_object *objects = snapshot->objects.at;

    return container < snapshot->objects.capacity ? objects[container] : (struct torch_object){0};
}

static void set_object(struct torch_snapshot *snapshot, uint64_t container, enum torch_what what,
                       uint32_t index)
{
    struct torch_table *table = &snapshot->objects;

    if (container >= table->capacity) { /* counted by the pickle, below its own limit */
        table->capacity = container < 1024 ? 2048 : (uint32_t)container * 2;
        table->at = scratch_resize(snapshot->scratch, table->at, table->capacity,
                                   sizeof(struct torch_object));
    }
    ((struct torch_object *)table->at)[container] =
        (struct torch_object){.what = what, .index = index};
}

static struct torch_span *span_at(const struct torch_snapshot *snapshot, uint32_t index)
{
    return (struct torch_span *)snapshot->spans.at + index;
}

/* What is in the list; a fresh one of `what` where it is a list that nothing was put into. */
static const struct torch_object *container_of(struct torch_snapshot *snapshot,
                                               struct pickle_value value, struct torch_object *ret)
{
    *ret = value.kind == PICKLE_LIST || value.kind == PICKLE_DICT
               ? torch_object_of(snapshot, value.bits)
               : (struct torch_object){.what = TORCH_ANY};
    return ret;
}

/* A stack is named by the innermost of the frames that say most. */
static void name_stack(struct torch_snapshot *snapshot, stack_id stack, stack_id parent,
                       uint32_t frame)
{
    const struct torch_frame *frames = snapshot->frames.at;
    struct torch_table *table = &snapshot->names_of;
    uint32_t *names_of;

    if (stack >= table->capacity) {
        table->capacity = stack < 1024 ? 2048 : stack * 2;
        table->at = scratch_resize(snapshot->scratch, table->at, table->capacity, sizeof(uint32_t));
    }
    names_of = table->at;
    names_of[stack] = parent != NO_STACK && frames[names_of[parent]].rank > frames[frame].rank
                          ? names_of[parent]
                          : frame;
}

static stack_id call_below(struct torch_snapshot *snapshot, stack_id parent, uint32_t frame)
{
    const struct torch_frame *frames = snapshot->frames.at;
    struct torch_table *table = &snapshot->children;
    const uint32_t at = parent + 1; /* NO_STACK is the last number there is */
    struct torch_child *child;
    stack_id stack;

    if (at >= table->capacity) {
        table->capacity = at < 1024 ? 2048 : at * 2;
        table->at = scratch_resize(snapshot->scratch, table->at, table->capacity,
                                   sizeof(struct torch_child));
    }
    child = (struct torch_child *)table->at + at;
    if (child->frame_plus_one == frame + 1)
        return child->stack;
    stack = sink_stack(snapshot->sink, parent, frames[frame].frame);
    if (stack == NO_STACK)
        return NO_STACK;
    name_stack(snapshot, stack, parent, frame);
    *child = (struct torch_child){.frame_plus_one = frame + 1, .stack = stack};
    return stack;
}

/* The stack of a list of frames. What it has in common with the one before, from the outermost
 * call on, is not looked up again. */
static stack_id make_stack(struct torch_snapshot *snapshot, const struct torch_span *span)
{
    const uint32_t *items = (const uint32_t *)snapshot->frame_items.at + span->first;
    uint32_t *last = snapshot->last.at;
    stack_id *stacks = snapshot->last_stacks.at;
    const uint32_t depth = span->count < FRAMES_DEPTH_MAX ? span->count : FRAMES_DEPTH_MAX;
    uint32_t level = 0;

    while (level < depth && level < snapshot->last.count &&
           last[level] == items[span->count - 1 - level])
        level++;
    for (; level < depth; level++) {
        const stack_id parent = level > 0 ? stacks[level - 1] : NO_STACK;

        last[level] = items[span->count - 1 - level];
        stacks[level] = call_below(snapshot, parent, last[level]);
        if (stacks[level] == NO_STACK)
            return NO_STACK;
    }
    snapshot->last.count = depth;
    return depth > 0 ? stacks[depth - 1] : NO_STACK;
}

static stack_id stack_of(struct torch_snapshot *snapshot, struct pickle_value frames)
{
    struct torch_object object;
    struct torch_span *span;

    if (container_of(snapshot, frames, &object)->what != TORCH_FRAMES)
        return NO_STACK;
    span = span_at(snapshot, object.index);
    if (span->has_stack)
        return span->stack;
    if (snapshot->last.capacity == 0) {
        snapshot->last.capacity = snapshot->last_stacks.capacity = FRAMES_DEPTH_MAX;
        snapshot->last.at = scratch_array(snapshot->scratch, uint32_t, FRAMES_DEPTH_MAX);
        snapshot->last_stacks.at = scratch_array(snapshot->scratch, stack_id, FRAMES_DEPTH_MAX);
    }
    span->stack = make_stack(snapshot, span);
    span->has_stack = true;
    /* The frames themselves are needed no more. */
    if (span->first + span->count == snapshot->frame_items.count)
        snapshot->frame_items.count = span->first;
    return span->stack;
}

static void count_odd(struct torch_snapshot *snapshot, bool odd, struct pickle_value key)
{
    if (odd && snapshot->odd_count++ == 0)
        snapshot->odd_first = key.kind == PICKLE_TEXT ? key.bits : 0;
}

static uint8_t rank_of(struct str file)
{
    bool is_python = str_ends(file, STR(".py"));

    if (!is_python)
        return 1;
    return str_contains(file, STR("/torch/")) || str_contains(file, STR("/site-packages/")) ||
                   str_contains(file, STR("/dist-packages/")) || str_starts(file, STR("<"))
               ? 2
               : 3;
}

static void take_frame(struct torch_snapshot *snapshot, uint64_t dict,
                       const struct torch_fields *fields)
{
    struct torch_frame *frame = torch_add(snapshot, &snapshot->frames, sizeof *frame);
    bool odd = false;
    int64_t line = torch_size(fields, WORD_LINE, 0, &odd);

    if (frame == NULL)
        return;
    frame->frame.function = torch_name_of(snapshot, torch_field(fields, WORD_NAME));
    frame->frame.file = torch_name_of(snapshot, torch_field(fields, WORD_FILENAME));
    frame->frame.line = line < UINT32_MAX ? (uint32_t)line : 0;
    frame->rank = rank_of(pickle_text(snapshot->file, torch_field(fields, WORD_FILENAME)));
    set_object(snapshot, dict, TORCH_FRAME, snapshot->frames.count - 1);
}

static name_id text_field(struct torch_snapshot *snapshot, const struct torch_fields *fields,
                          enum torch_word word)
{
    if (!torch_has(fields, word) || fields->at[word].kind != PICKLE_TEXT)
        return 0;

    struct str text = pickle_text(snapshot->file, fields->at[word]);

    return text.count == 0 || str_equal(text, STR("N/A"))
               ? 0
               : torch_name_of(snapshot, fields->at[word]);
}

static void take_event(struct torch_snapshot *snapshot, uint64_t dict,
                       const struct torch_fields *fields, struct pickle_value key)
{
    struct torch_event *event = torch_add(snapshot, &snapshot->events, sizeof *event);
    enum torch_word word = torch_word_of(snapshot, torch_field(fields, WORD_ACTION));
    bool odd = false, no_time = false;

    if (event == NULL)
        return;
    set_object(snapshot, dict, TORCH_EVENT, snapshot->events.count - 1);
    if (word > WORD_FIRST_ACTION && word < WORD_LAST_ACTION)
        event->action = (uint8_t)(word - WORD_FIRST_ACTION);
    snapshot->unknown_action_count += event->action == TORCH_OTHER;
    event->other = TORCH_NONE;
    event->stream = torch_stream(snapshot, fields);
    event->bytes = torch_size(fields, WORD_SIZE, 0, &odd);
    event->address =
        torch_address(fields, event->action == TORCH_OOM ? WORD_DEVICE_FREE : WORD_ADDR, &odd);
    event->time_us = torch_size(fields, WORD_TIME_US, -1, &no_time);
    snapshot->no_time_count += no_time;
    event->stack = torch_has(fields, WORD_FRAMES)
                       ? stack_of(snapshot, torch_field(fields, WORD_FRAMES))
                       : NO_STACK;
    event->context = text_field(snapshot, fields, WORD_COMPILE_CONTEXT);
    event->metadata = text_field(snapshot, fields, WORD_USER_METADATA);
    if (odd && event->action != TORCH_OTHER && event->action != TORCH_SNAPSHOT &&
        event->action != TORCH_OOM) {
        count_odd(snapshot, true, key);
        event->action = TORCH_OTHER; /* of a block that nobody can follow */
    }
}

static uint8_t state_of(enum torch_word word)
{
    return word == WORD_ALLOCATED                          ? TORCH_ALLOCATED
           : word == WORD_PENDING || word == WORD_AWAITING ? TORCH_PENDING
                                                           : TORCH_INACTIVE;
}

static void take_block(struct torch_snapshot *snapshot, uint64_t dict,
                       const struct torch_fields *fields, struct pickle_value key)
{
    struct torch_block *block = torch_add(snapshot, &snapshot->blocks, sizeof *block);
    bool odd = false, ignored = false;

    if (block == NULL)
        return;
    set_object(snapshot, dict, TORCH_BLOCK, snapshot->blocks.count - 1);
    block->bytes = torch_size(fields, WORD_SIZE, 0, &odd);
    block->requested = torch_size(fields, WORD_REQUESTED_SIZE, -1, &ignored);
    block->has_address = torch_has(fields, WORD_ADDRESS);
    block->address = torch_address(fields, WORD_ADDRESS, &ignored);
    block->state = state_of(torch_word_of(snapshot, torch_field(fields, WORD_STATE)));
    block->stack = torch_has(fields, WORD_FRAMES)
                       ? stack_of(snapshot, torch_field(fields, WORD_FRAMES))
                       : NO_STACK;
    count_odd(snapshot, odd, key);
}

/* The blocks lie one behind the other; each carries its address only since PyTorch 2.1. */
static void place_blocks(struct torch_snapshot *snapshot, const struct torch_segment *segment)
{
    struct torch_block *blocks = snapshot->blocks.at;
    uint64_t address = segment->address;

    for (uint32_t i = 0; i < segment->block_count; i++) {
        struct torch_block *block = &blocks[segment->first_block + i];

        if (!block->has_address)
            block->address = address;
        block->stream = segment->stream;
        address += (uint64_t)block->bytes;
    }
}

static void take_segment(struct torch_snapshot *snapshot, uint64_t dict,
                         const struct torch_fields *fields, struct pickle_value key)
{
    struct torch_segment *segment = torch_add(snapshot, &snapshot->segments, sizeof *segment);
    struct torch_object blocks;
    bool odd = false, ignored = false;
    int64_t device;

    if (segment == NULL)
        return;
    set_object(snapshot, dict, TORCH_SEGMENT, snapshot->segments.count - 1);
    segment->address = torch_address(fields, WORD_ADDRESS, &odd);
    segment->bytes = torch_size(fields, WORD_TOTAL_SIZE, 0, &odd);
    device = torch_size(fields, WORD_DEVICE, 0, &ignored);
    segment->device = device < TORCH_DEVICES_MAX ? (uint32_t)device : 0;
    segment->stream = torch_stream(snapshot, fields);
    count_odd(snapshot, odd || device >= TORCH_DEVICES_MAX, key);
    if (container_of(snapshot, torch_field(fields, WORD_BLOCKS), &blocks)->what != TORCH_BLOCKS)
        return;
    segment->first_block = span_at(snapshot, blocks.index)->first;
    segment->block_count = span_at(snapshot, blocks.index)->count;
    place_blocks(snapshot, segment);
}

static void take_devices(struct torch_snapshot *snapshot, const struct torch_span *traces)
{
    const uint32_t *items = (const uint32_t *)snapshot->trace_items.at + traces->first;

    snapshot->device_count = traces->count < TORCH_DEVICES_MAX ? traces->count : TORCH_DEVICES_MAX;
    for (uint32_t i = 0; i < snapshot->device_count; i++)
        snapshot->devices[i] =
            items[i] == TORCH_NONE ? (struct torch_span){0} : *span_at(snapshot, items[i]);
}

static void take_top(struct torch_snapshot *snapshot, uint64_t dict,
                     const struct torch_fields *fields)
{
    struct torch_object traces;

    set_object(snapshot, dict, TORCH_TOP, 0);
    snapshot->has_top = true;
    if (torch_has(fields, WORD_DEVICE_TRACES) &&
        container_of(snapshot, torch_field(fields, WORD_DEVICE_TRACES), &traces)->what ==
            TORCH_TRACES)
        take_devices(snapshot, span_at(snapshot, traces.index));
}

static void take_settings(struct torch_snapshot *snapshot, const struct pickle_value *pairs,
                          size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct arg arg = {.key = torch_name_of(snapshot, pairs[2 * i]), .type = ARG_NONE};

        if (pairs[2 * i + 1].kind == PICKLE_INT)
            arg.type = ARG_INT64;
        else if (pairs[2 * i + 1].kind == PICKLE_BOOL)
            arg.type = ARG_BOOL;
        else if (pairs[2 * i + 1].kind == PICKLE_REAL)
            arg.type = ARG_DOUBLE;
        arg.bits = pairs[2 * i + 1].bits;
        if (pairs[2 * i + 1].kind == PICKLE_TEXT) {
            arg.type = ARG_STRING;
            arg.bits = torch_name_of(snapshot, pairs[2 * i + 1]);
        }
        if (arg.key != 0 && arg.type != ARG_NONE)
            sink_property(snapshot->sink, NO_TRACK, arg);
    }
}

static enum status set(void *to, uint64_t dict, const struct pickle_value *pairs, size_t count,
                       struct error *err)
{
    struct torch_snapshot *snapshot = to;
    struct torch_object object = torch_object_of(snapshot, dict);
    struct torch_fields fields;

    if (object.what != TORCH_FRESH) {
        if (object.what != TORCH_ANY)
            return fail(err, ERR_FORMAT,
                        "a dict is filled in two pieces, the second at byte %" PRIu64
                        ", which PyTorch never does",
                        pairs[0].kind == PICKLE_TEXT ? pairs[0].bits : 0);
        return OK;
    }
    torch_fields_of(snapshot, pairs, count, &fields);
    if (torch_has(&fields, WORD_ACTION))
        take_event(snapshot, dict, &fields, pairs[0]);
    else if (torch_has(&fields, WORD_FILENAME) && torch_has(&fields, WORD_NAME))
        take_frame(snapshot, dict, &fields);
    else if (torch_has(&fields, WORD_TOTAL_SIZE))
        take_segment(snapshot, dict, &fields, pairs[0]);
    else if (torch_has(&fields, WORD_STATE) && torch_has(&fields, WORD_SIZE))
        take_block(snapshot, dict, &fields, pairs[0]);
    else if (torch_has(&fields, WORD_SEGMENTS) || torch_has(&fields, WORD_DEVICE_TRACES))
        take_top(snapshot, dict, &fields);
    else
        set_object(snapshot, dict, TORCH_ANY, 0);
    if (torch_has(&fields, WORD_EXPANDABLE))
        take_settings(snapshot, pairs, count);
    return sink_failed(snapshot->sink) ? sink_error(snapshot->sink)->code : OK;
}

static enum torch_what list_of(enum torch_what item)
{
    return item == TORCH_FRAME     ? TORCH_FRAMES
           : item == TORCH_EVENT   ? TORCH_EVENTS
           : item == TORCH_BLOCK   ? TORCH_BLOCKS
           : item == TORCH_SEGMENT ? TORCH_SEGMENTS
           : item == TORCH_EVENTS  ? TORCH_TRACES
                                   : TORCH_ANY;
}

/* The kind of list that these make: what the first item that is anything asks for. */
static enum torch_what list_of_items(struct torch_snapshot *snapshot,
                                     const struct pickle_value *items, size_t count)
{
    bool only_empty_lists = true;

    for (size_t i = 0; i < count; i++) {
        struct torch_object object;

        container_of(snapshot, items[i], &object);
        if (object.what != TORCH_FRESH)
            return list_of(object.what);
        only_empty_lists &= items[i].kind == PICKLE_LIST;
    }
    return only_empty_lists ? TORCH_TRACES : TORCH_ANY;
}

/* Records of a list lie in a row, as they were read. */
static bool append_record(struct torch_span *span, uint32_t index)
{
    if (span->count == 0)
        span->first = index;
    return span->first + span->count++ == index;
}

static bool append_item(struct torch_snapshot *snapshot, enum torch_what what,
                        struct torch_span *span, const struct torch_object *object)
{
    struct torch_table *table =
        what == TORCH_FRAMES ? &snapshot->frame_items : &snapshot->trace_items;
    uint32_t *item;

    if (what == TORCH_TRACES ? object->what != TORCH_EVENTS && object->what != TORCH_FRESH
                             : list_of(object->what) != what)
        return false;
    if (what != TORCH_FRAMES && what != TORCH_TRACES)
        return append_record(span, object->index);
    if (!append_record(span, table->count))
        return false;
    item = torch_add(snapshot, table, sizeof *item);
    if (item != NULL)
        *item = object->what == TORCH_FRESH ? TORCH_NONE : object->index;
    return true;
}

/* Frames at the end of all of them, which is where lists are filled: without a look at each table
 * for each frame. Returns how many of the items that was. */
static size_t append_frames(struct torch_snapshot *snapshot, struct torch_span *span,
                            const struct pickle_value *items, size_t count)
{
    struct torch_table *table = &snapshot->frame_items;
    const struct torch_object *objects = snapshot->objects.at;
    const uint32_t capacity = snapshot->objects.capacity;
    const size_t room = table->capacity - table->count;
    uint32_t *put = (uint32_t *)table->at + table->count;
    size_t done = 0;

    if (span->has_stack || span->count == 0 || span->first + span->count != table->count)
        return 0;
    while (done < count && done < room && items[done].kind == PICKLE_DICT &&
           items[done].bits < capacity && objects[items[done].bits].what == TORCH_FRAME) {
        put[done] = objects[items[done].bits].index;
        done++;
    }
    table->count += (uint32_t)done;
    span->count += (uint32_t)done;
    return done;
}

static enum status append(void *to, uint64_t list, const struct pickle_value *items, size_t count,
                          struct error *err)
{
    struct torch_snapshot *snapshot = to;
    struct torch_object object = torch_object_of(snapshot, list);
    struct torch_span *span;

    if (object.what == TORCH_FRESH) {
        object.what = (uint8_t)list_of_items(snapshot, items, count);
        object.index = snapshot->spans.count;
        set_object(snapshot, list, object.what, object.index);
        if (object.what != TORCH_ANY && torch_add(snapshot, &snapshot->spans, sizeof *span) == NULL)
            return sink_error(snapshot->sink)->code;
    }
    if (object.what == TORCH_ANY)
        return OK;
    for (size_t i = 0; i < count; i++) {
        struct torch_object item;

        span = span_at(snapshot, object.index);
        if (object.what == TORCH_FRAMES)
            i += append_frames(snapshot, span, items + i, count - i);
        if (i == count)
            break;
        container_of(snapshot, items[i], &item);
        if (span->has_stack || !append_item(snapshot, object.what, span, &item))
            return fail(err, ERR_FORMAT,
                        "item %" PRIu32 " of a list does not fit those before it; a snapshot's "
                        "lists hold records of one kind, each once",
                        span->count);
    }
    return sink_failed(snapshot->sink) ? sink_error(snapshot->sink)->code : OK;
}

static void progress(void *to, size_t upto)
{
    struct torch_snapshot *snapshot = to;

    sink_progress(snapshot->sink, upto, snapshot->file.count);
    input_pass(snapshot->input, snapshot->file, upto);
}

const struct pickle_taker torch_taker = {.append = append, .set = set, .progress = progress};

/* Behind the key stand the list of devices and what is to go into it: the last is the one whose
 * events were being read. Those that are in no list yet are its own. */
void torch_keep_cut(struct torch_snapshot *snapshot, const struct pickle *pickle)
{
    size_t count, at = 0;
    const struct pickle_value *stack = pickle_stack(pickle, &count);
    uint32_t listed = 0;

    while (at < count && torch_word_of(snapshot, stack[at]) != WORD_DEVICE_TRACES)
        at++;
    for (at += 2; at < count && snapshot->device_count < TORCH_DEVICES_MAX; at++) {
        struct torch_object object;

        container_of(snapshot, stack[at], &object);
        if (stack[at].kind != PICKLE_LIST ||
            (object.what != TORCH_EVENTS && object.what != TORCH_FRESH))
            break;
        if (object.what == TORCH_EVENTS)
            listed =
                span_at(snapshot, object.index)->first + span_at(snapshot, object.index)->count;
        snapshot->devices[snapshot->device_count++] = object.what == TORCH_EVENTS
                                                          ? *span_at(snapshot, object.index)
                                                          : (struct torch_span){.first = listed};
    }
    if (snapshot->device_count > 0)
        snapshot->devices[snapshot->device_count - 1].count =
            snapshot->events.count - snapshot->devices[snapshot->device_count - 1].first;
}
