/* SPDX-License-Identifier: Apache-2.0 */
/* Unpacks the columns of chosen arg keys block by block, and steps through their events. */
#include "trace/args/args_walk.h"

#include <stdlib.h>

#include "trace/args/args_block.h"

struct arg_walk *arg_walk_create(const struct trace *trace, const name_id *keys, uint32_t count)
{
    struct arg_walk *walk = memory_resize(NULL, 1, sizeof *walk);

    walk->trace = trace;
    walk->key_count = count;
    memcpy(walk->keys, keys, count * sizeof *keys);
    walk->arena = arena_create();
    walk->values = NULL;
    walk->value_capacity = 0;
    return walk;
}

void arg_walk_destroy(struct arg_walk *walk)
{
    arena_destroy(walk->arena);
    free(walk->values);
    free(walk);
}

static bool is_constant(const struct args_column_head *head)
{
    return head->packing == ARGS_CONSTANT;
}

static bool unpack(struct arg_walk *walk, const struct args_block *block, uint32_t node,
                   uint64_t *values)
{
    const struct args_column_head *head = &block->heads[node];

    return args_column_unpack(head, block->at + head->at, values, (uint8_t *)walk->room);
}

/* They go before the last nodes, into the same room. */
static void read_types(struct arg_walk *walk, const struct args_block *block)
{
    const struct args_column_head *head = &block->heads[ARGS_NODE_TYPES];
    uint64_t *values = walk->last_nodes;
    bool whole = is_constant(head) || unpack(walk, block, ARGS_NODE_TYPES, values);

    for (uint32_t i = 0; i < walk->count; i++)
        walk->types[i] = !whole ? 0 : (type_id)(is_constant(head) ? head->min : values[i]);
}

static bool read_last_nodes(struct arg_walk *walk, const struct args_block *block)
{
    const struct args_column_head *head = &block->heads[ARGS_NODE_ROOT];

    walk->last_stride = is_constant(head) ? 0 : 1;
    walk->last_nodes[0] = head->min;
    if (!is_constant(head) && !unpack(walk, block, ARGS_NODE_ROOT, walk->last_nodes))
        return false;
    return args_block_agrees(block, walk->last_nodes, walk->arena);
}

/* Which of the wanted keys a node bears; key_count: none. */
static uint32_t key_of_node(const struct arg_walk *walk, const struct args_column_head *head,
                            uint32_t wanted)
{
    uint32_t key = 0;

    while (key < walk->key_count && ((wanted >> key & 1) == 0 || walk->keys[key] != head->key))
        key++;
    return key;
}

/* Parents stand before their children, so a node's list is its parent's and perhaps its own key. */
static uint32_t find_bearers(struct arg_walk *walk, const struct args_block *block, uint32_t wanted)
{
    uint32_t node_count = block->record->column_count, found = 0;

    walk->lists = arena_array(walk->arena, struct arg_list, node_count);
    walk->bearers = arena_array(walk->arena, struct arg_bearer, node_count);
    for (uint32_t node = ARGS_NODE_FIRST; node < node_count; node++) {
        const struct args_column_head *head = &block->heads[node];
        struct arg_list *list = &walk->lists[node];
        uint32_t key = key_of_node(walk, head, wanted);

        *list = walk->lists[head->parent];
        if (key == walk->key_count || (list->present >> key & 1) != 0)
            continue;
        walk->bearers[node] = (struct arg_bearer){
            .above = list->bearer,
            .key = (uint8_t)key,
            .type = head->type,
            .stride = is_constant(head) ? 0 : 1,
        };
        list->bearer = (uint16_t)node;
        list->present |= UINT32_C(1) << key;
        found |= list->present;
    }
    return found;
}

static bool bears(const struct arg_walk *walk, uint32_t node)
{
    return walk->lists[node].bearer == node;
}

static void make_room(struct arg_walk *walk, const struct args_block *block)
{
    size_t needed = 0;

    for (uint32_t node = ARGS_NODE_FIRST; node < block->record->column_count; node++)
        if (bears(walk, node) && walk->bearers[node].stride > 0)
            needed += block->heads[node].count + 1;
    if (needed <= walk->value_capacity)
        return;
    walk->values = memory_resize(walk->values, needed, sizeof *walk->values);
    walk->value_capacity = needed;
}

static bool read_values(struct arg_walk *walk, const struct args_block *block)
{
    make_room(walk, block);

    uint64_t *values = walk->values;

    for (uint32_t node = ARGS_NODE_FIRST; node < block->record->column_count; node++) {
        const struct args_column_head *head = &block->heads[node];
        struct arg_bearer *bearer = &walk->bearers[node];

        if (!bears(walk, node))
            continue;
        if (bearer->stride == 0) {
            bearer->constant = args_ordered(head->type, head->min);
            bearer->next = &bearer->constant;
            continue;
        }
        if (!unpack(walk, block, node, values))
            return false;
        bearer->next = values;
        values += head->count + 1;
    }
    return true;
}

/* Opens it without its types. Where no event has any of the keys, nothing is unpacked. */
static uint32_t open_columns(struct arg_walk *walk, const struct args_block *block, uint32_t wanted)
{
    uint32_t found = find_bearers(walk, block, wanted);

    if (found != 0 && read_last_nodes(walk, block) && read_values(walk, block))
        return found;
    /* One list without args for all events. */
    walk->lists[ARGS_NODE_ROOT] = (struct arg_list){0};
    walk->last_nodes[0] = ARGS_NODE_ROOT;
    walk->last_stride = 0;
    return 0;
}

uint32_t arg_walk_open(struct arg_walk *walk, uint32_t index, uint32_t wanted)
{
    static const struct args_column_head no_heads[ARGS_NODE_FIRST];
    static const struct args_block_record no_columns = {.column_count = ARGS_NODE_FIRST};
    struct args_block block;

    arena_reset(walk->arena);
    walk->count = trace_arg_events(walk->trace, index, &walk->first_event);
    if (!args_block_find(walk->trace, index, &block))
        block = (struct args_block){.record = &no_columns, .heads = no_heads};
    read_types(walk, &block);
    return open_columns(walk, &block, wanted);
}

bool trace_arg_column(const struct trace *trace, uint32_t index, name_id key,
                      struct arg_column *ret)
{
    struct args_block block;

    if (index >= trace_arg_block_count(trace) || !args_block_find(trace, index, &block))
        return false;

    struct arg_walk *walk = arg_walk_create(trace, &key, 1);
    bool found = open_columns(walk, &block, 1) != 0;

    ret->first_event = block.record->first_event;
    ret->count = block.record->event_count;
    for (uint32_t i = 0; i < ret->count && found; i++) {
        arg_walk_step(walk, i);
        ret->type[i] = walk->present != 0 ? walk->type[0] : ARG_NONE;
        ret->bits[i] = walk->present != 0 ? walk->bits[0] : 0;
    }
    arg_walk_destroy(walk);
    return found;
}
