/* SPDX-License-Identifier: Apache-2.0 */
/* Args, read: a block's heads are checked at each look, columns are unpacked as they are asked for.
 *
 * Heads lie at the front of their block, so a question about a key reads the heads of every block
 * and unpacks only the columns that bear it. A block whose heads or columns break the rules of
 * args_block.h holds no args.
 */
#include "base/bisect.h"
#include "base/hash.h"
#include "trace/args/args.h"
#include "trace/args/args_block.h"
#include "trace/readers.h"

struct args {
    struct block_in in;
    const struct args_block_record *blocks;
    uint32_t block_count;
    _Atomic uint8_t *checked; /* by block */
};

enum { BLOCK_UNTOUCHED, BLOCK_WHOLE, BLOCK_DAMAGED };

static bool is_text(uint8_t type)
{
    return type == ARG_STRING || type == ARG_BYTES || type == ARG_JSON;
}

static bool head_is_sound(const struct trace *trace, const struct args_block_record *record,
                          uint32_t node, const struct args_column_head *head)
{
    uint64_t raw = (uint64_t)args_packed_count(head) * head->width;

    if (head->packing > ARGS_DELTAS || head->width > 8 || (head->width & (head->width - 1)) != 0 ||
        head->count == 0 || head->count > record->event_count || head->min > head->max ||
        head->stored_bytes > raw || (uint64_t)head->at + head->stored_bytes > record->bytes)
        return false;
    if (head->packing != ARGS_CONSTANT && head->stored_bytes == 0 && raw > 0)
        return false;
    if (node == ARGS_NODE_ROOT)
        return head->count == record->event_count && head->max < record->column_count;
    if (node == ARGS_NODE_TYPES)
        return head->count == record->event_count &&
               (head->max == 0 || head->max < trace->type_count);
    return head->parent < node && head->parent != ARGS_NODE_TYPES && head->type > ARG_NONE &&
           head->type < ARGS_ARG_TYPES && head->key < trace->name_count &&
           (!is_text(head->type) || head->max < trace->name_count);
}

/* Checked at the first touch. */
static bool is_whole(const struct trace *trace, uint32_t index, struct bytes data)
{
    const struct args *args = trace->parts->args;

    if (args->checked[index] == BLOCK_UNTOUCHED)
        args->checked[index] =
            hash64(data) == args->blocks[index].hash ? BLOCK_WHOLE : BLOCK_DAMAGED;
    if (args->checked[index] == BLOCK_DAMAGED)
        trace->parts->damaged = true;
    return args->checked[index] == BLOCK_WHOLE;
}

bool args_block_find(const struct trace *trace, uint32_t index, struct args_block *ret)
{
    const struct args *args = trace->parts->args;
    const struct args_block_record *record = &args->blocks[index];
    struct bytes data = args->in.data(args->in.from, record->offset, record->bytes);

    if (data.count < record->bytes || record->offset % 8 != 0 || !is_whole(trace, index, data))
        return false;
    *ret = (struct args_block){.record = record,
                               .heads = (const struct args_column_head *)(const void *)data.at,
                               .at = data.at};
    for (uint32_t node = 0; node < record->column_count; node++)
        if (!head_is_sound(trace, record, node, &ret->heads[node]))
            return false;
    return true;
}

uint32_t trace_arg_events(const struct trace *trace, uint32_t index, event_id *ret_first)
{
    *ret_first = trace->parts->args->blocks[index].first_event;
    return trace->parts->args->blocks[index].event_count;
}

uint32_t trace_arg_block_of(const struct trace *trace, event_id event)
{
    const struct args *args = trace->parts->args;
    return BISECT(0, args == NULL ? 0 : args->block_count, i,
                  args->blocks[i].first_event + args->blocks[i].event_count <= event);
}

/* The block of an event, or false. */
static bool find_block_of(const struct trace *trace, event_id event, struct args_block *ret)
{
    uint32_t index = trace_arg_block_of(trace, event);

    return index < trace_arg_block_count(trace) && args_block_find(trace, index, ret);
}

/* All values of a column, in scratch; NULL when it is damaged. */
static const uint64_t *unpack_column(const struct args_block *block, uint32_t node,
                                     struct arena *scratch)
{
    const struct args_column_head *head = &block->heads[node];
    uint64_t *values = arena_array(scratch, uint64_t, head->count + 1);
    uint8_t *room = arena_array(scratch, uint8_t, (size_t)args_packed_count(head) * head->width);

    return args_column_unpack(head, block->at + head->at, values, room) ? values : NULL;
}

/* How many of the first `event_count` events pass through each node. */
static uint32_t *count_passing(const struct args_block *block, const uint64_t *last_nodes,
                               uint32_t event_count, struct arena *scratch)
{
    uint32_t node_count = block->record->column_count;
    uint32_t *passing = arena_array(scratch, uint32_t, node_count);

    if (block->heads[ARGS_NODE_ROOT].packing == ARGS_CONSTANT)
        passing[last_nodes[0]] = event_count;
    else
        for (uint32_t i = 0; i < event_count; i++)
            passing[last_nodes[i]]++;
    for (uint32_t node = node_count; node-- > ARGS_NODE_FIRST;)
        passing[block->heads[node].parent] += passing[node];
    return passing;
}

bool args_block_agrees(const struct args_block *block, const uint64_t *last_nodes,
                       struct arena *scratch)
{
    const uint32_t *passing = count_passing(block, last_nodes, block->record->event_count, scratch);

    for (uint32_t node = ARGS_NODE_FIRST; node < block->record->column_count; node++)
        if (passing[node] != block->heads[node].count)
            return false;
    return true;
}

static const uint64_t *unpack_last_nodes(const struct args_block *block, struct arena *scratch)
{
    const uint64_t *last_nodes = unpack_column(block, ARGS_NODE_ROOT, scratch);

    return last_nodes != NULL && args_block_agrees(block, last_nodes, scratch) ? last_nodes : NULL;
}

static uint32_t depth_of(const struct args_block *block, uint64_t node)
{
    uint32_t depth = 0;

    for (; node >= ARGS_NODE_FIRST; node = block->heads[node].parent)
        depth++;
    return depth;
}

static uint32_t read_event(const struct args_block *block, uint32_t index, struct arena *scratch,
                           struct arena *arena, struct arg **ret)
{
    const uint64_t *last_nodes = unpack_last_nodes(block, scratch);

    if (last_nodes == NULL)
        return 0;

    const uint32_t *before = count_passing(block, last_nodes, index, scratch);
    uint64_t node = last_nodes[index];
    uint32_t count = depth_of(block, node);
    struct arg *args = arena_array(arena, struct arg, count);

    for (uint32_t i = count; i-- > 0; node = block->heads[node].parent) {
        const uint64_t *values = unpack_column(block, (uint32_t)node, scratch);

        if (values == NULL)
            return 0;
        args[i] = (struct arg){.key = block->heads[node].key,
                               .type = (enum arg_type)block->heads[node].type,
                               .bits = values[before[node]]};
    }
    *ret = args;
    return count;
}

uint32_t trace_args(const struct trace *trace, event_id event, struct arena *arena,
                    struct arg **ret)
{
    struct args_block block;

    *ret = NULL;
    if (!find_block_of(trace, event, &block))
        return 0;

    struct arena *scratch = arena_create();
    uint32_t count = read_event(&block, event - block.record->first_event, scratch, arena, ret);

    arena_destroy(scratch);
    return count;
}

static type_id *row_types(const struct args_block *block, struct arena *scratch,
                          struct arena *arena)
{
    const uint64_t *values = unpack_column(block, ARGS_NODE_TYPES, scratch);
    type_id *types = arena_array(arena, type_id, block->record->event_count);

    for (uint32_t i = 0; values != NULL && i < block->record->event_count; i++)
        types[i] = (type_id)values[i];
    return types;
}

static bool fill_rows(const struct args_block *block, struct arena *scratch, struct arena *arena,
                      struct arg_rows *ret)
{
    const uint64_t *last_nodes = unpack_last_nodes(block, scratch);
    uint32_t node_count = block->record->column_count, event_count = block->record->event_count;

    if (last_nodes == NULL)
        return false;

    const uint64_t **next = arena_array(scratch, const uint64_t *, node_count);
    uint32_t *depth = arena_array(scratch, uint32_t, node_count);
    uint32_t *first_arg = arena_array(arena, uint32_t, event_count + 1);

    for (uint32_t node = ARGS_NODE_FIRST; node < node_count; node++) {
        depth[node] = depth[block->heads[node].parent] + 1;
        next[node] = unpack_column(block, node, scratch);
        if (next[node] == NULL)
            return false;
    }
    for (uint32_t i = 0; i < event_count; i++)
        first_arg[i + 1] = first_arg[i] + depth[last_nodes[i]];

    struct arg *args = arena_array(arena, struct arg, first_arg[event_count]);

    for (uint32_t i = 0; i < event_count; i++) {
        struct arg *at = args + first_arg[i + 1];

        for (uint64_t node = last_nodes[i]; node >= ARGS_NODE_FIRST;
             node = block->heads[node].parent)
            *--at = (struct arg){.key = block->heads[node].key,
                                 .type = (enum arg_type)block->heads[node].type,
                                 .bits = *next[node]++};
    }
    ret->first_arg = first_arg;
    ret->args = args;
    ret->types = row_types(block, scratch, arena);
    return true;
}

bool trace_arg_rows(const struct trace *trace, event_id event, struct arena *arena,
                    struct arg_rows *ret)
{
    struct args_block block;

    if (!find_block_of(trace, event, &block))
        return false;
    *ret = (struct arg_rows){.first_event = block.record->first_event,
                             .count = block.record->event_count};

    struct arena *scratch = arena_create();
    bool found = fill_rows(&block, scratch, arena, ret);

    arena_destroy(scratch);
    return found;
}

static void fill_types(const uint64_t *values, uint32_t count, type_id *ret)
{
    for (uint32_t i = 0; i < count; i++)
        ret[i] = (type_id)values[i];
}

type_id trace_type(const struct trace *trace, event_id event)
{
    struct args_block block;

    if (!find_block_of(trace, event, &block))
        return 0;
    if (block.heads[ARGS_NODE_TYPES].packing == ARGS_CONSTANT)
        return (type_id)block.heads[ARGS_NODE_TYPES].min;

    struct arena *scratch = arena_create();
    const uint64_t *values = unpack_column(&block, ARGS_NODE_TYPES, scratch);
    type_id type = values == NULL ? 0 : (type_id)values[event - block.record->first_event];

    arena_destroy(scratch);
    return type;
}

uint32_t trace_arg_types(const struct trace *trace, uint32_t block_index, event_id *ret_first,
                         type_id ret[ARGS_BLOCK_EVENTS])
{
    struct args_block block;

    if (block_index >= trace_arg_block_count(trace))
        return 0;

    uint32_t count = trace_arg_events(trace, block_index, ret_first);

    memset(ret, 0, count * sizeof(*ret));
    if (!args_block_find(trace, block_index, &block))
        return count;

    struct arena *scratch = arena_create();
    const uint64_t *values = unpack_column(&block, ARGS_NODE_TYPES, scratch);

    if (values != NULL)
        fill_types(values, count, ret);
    arena_destroy(scratch);
    return count;
}

uint32_t trace_arg_block_count(const struct trace *trace)
{
    return trace->parts->args == NULL ? 0 : trace->parts->args->block_count;
}

bool trace_arg_block_may(const struct trace *trace, uint32_t block_index, name_id key,
                         enum arg_type type, uint64_t bits)
{
    struct args_block block;
    uint64_t ordered = args_ordered((uint8_t)type, bits);

    if (block_index >= trace_arg_block_count(trace) || !args_block_find(trace, block_index, &block))
        return false;
    for (uint32_t node = ARGS_NODE_FIRST; node < block.record->column_count; node++) {
        const struct args_column_head *head = &block.heads[node];

        if (head->key == key && head->type == type && ordered >= head->min && ordered <= head->max)
            return true;
    }
    return false;
}

/* Does an ascending list hold a value within [min, max]? */
static bool any_within(const name_id *texts, uint32_t count, uint64_t min, uint64_t max)
{
    uint32_t first = BISECT(0, count, i, texts[i] < min);

    return first < count && texts[first] <= max;
}

uint32_t trace_arg_text_keys(const struct trace *trace, uint32_t block_index, const name_id *texts,
                             uint32_t count, name_id *ret, uint32_t most)
{
    struct args_block block;
    uint32_t found = 0;

    if (block_index >= trace_arg_block_count(trace) || !args_block_find(trace, block_index, &block))
        return 0;
    for (uint32_t node = ARGS_NODE_FIRST; node < block.record->column_count; node++) {
        const struct args_column_head *head = &block.heads[node];
        bool known = false;

        if ((head->type != ARG_STRING && head->type != ARG_JSON) ||
            !any_within(texts, count, head->min, head->max))
            continue;
        for (uint32_t i = 0; i < found && !known; i++)
            known = ret[i] == head->key;
        if (!known && found < most)
            ret[found++] = head->key;
    }
    return found;
}

enum status args_open(struct block_in in, struct arena *arena, struct args **ret, struct error *err)
{
    struct bytes table = in.table(in.from, TABLE_ARG_BLOCKS);
    const struct args_block_record *records =
        (const struct args_block_record *)(const void *)table.at;
    size_t count = table.count / sizeof(*records);
    uint64_t next_event = 0;

    if (table.count % sizeof(*records) != 0 || count > UINT32_MAX)
        return fail(err, ERR_FORMAT, "the directory of args has %zu bytes", table.count);
    for (size_t i = 0; i < count; i++) {
        uint64_t heads = (uint64_t)records[i].column_count * sizeof(struct args_column_head);

        if (records[i].first_event != next_event || records[i].event_count == 0 ||
            records[i].event_count > ARGS_BLOCK_EVENTS ||
            records[i].column_count < ARGS_NODE_FIRST || records[i].column_count > ARGS_NODES_MAX ||
            heads > records[i].bytes)
            return fail(err, ERR_FORMAT, "block %zu of args does not fit the ones before", i);
        next_event += records[i].event_count;
    }

    struct args *args = arena_new(arena, struct args);

    *args = (struct args){.in = in,
                          .blocks = records,
                          .block_count = (uint32_t)count,
                          .checked = arena_alloc(arena, count + 1, 1)};
    *ret = args;
    return OK;
}
