/* SPDX-License-Identifier: Apache-2.0 */
/* Args, written: a block is gathered as values by node, then each node becomes a packed column.
 *
 * An arg is mostly followed by the arg that followed it last time, so a node remembers the child
 * it was left by, and only a surprise costs a look into the hash table. Memory does not grow with
 * the file: a block ends after ARGS_BLOCK_EVENTS events, or at the first event after NODES_FULL
 * nodes or VALUES_FULL values, and what nodes keep for the next block is bounded.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "trace/args/args.h"
#include "trace/args/args_block.h"

enum {
    NODES_FULL = 4096,
    VALUES_FULL = 1 << 20,
    EVENT_ARGS_MAX = 1 << 15, /* NODES_FULL and these stay below ARGS_NODES_MAX */
    SLOT_COUNT = 1 << 17,     /* a power of two, more than twice ARGS_NODES_MAX */
    NODE_VALUES_MIN = 64,
    KEPT_VALUES_MAX = 1 << 20, /* of all nodes, from block to block */
};

struct node {
    uint64_t *values; /* bits as they came */
    uint32_t count, capacity;
    uint32_t key;
    uint32_t slot;
    uint16_t parent;
    uint16_t child; /* the one taken last; 0: none yet */
    uint8_t type;
};

struct args_writer {
    struct block_out out;
    struct error *err;
    bool failed;

    struct node *nodes;
    uint32_t node_count, node_capacity;
    uint16_t *slots; /* nodes by (parent, key, type); 0 is free */

    bool event_open;
    uint16_t at; /* the open event's last node */
    uint32_t event_arg_count;
    uint32_t first_event, event_count, value_count; /* of the block */

    uint8_t *block; /* the block's bytes while it is packed */
    size_t block_count, block_capacity;
    uint64_t narrow[ARGS_BLOCK_EVENTS]; /* scratch of one column */

    struct args_block_record *records; /* of the blocks written */
    uint32_t record_count, record_capacity;
};

static void add_node(struct args_writer *writer, uint16_t parent, uint32_t key, uint8_t type)
{
    if (writer->node_count == writer->node_capacity) {
        uint32_t capacity = writer->node_capacity * 2;

        writer->nodes = memory_resize(writer->nodes, capacity, sizeof(*writer->nodes));
        memset(writer->nodes + writer->node_capacity, 0,
               writer->node_capacity * sizeof(*writer->nodes));
        writer->node_capacity = capacity;
    }

    struct node *node = &writer->nodes[writer->node_count++]; /* keeps the room of its last block */

    node->count = 0;
    node->key = key;
    node->slot = SLOT_COUNT;
    node->parent = parent;
    node->child = 0;
    node->type = type;
}

static void grow_values(struct node *node)
{
    node->capacity = node->capacity == 0 ? NODE_VALUES_MIN : node->capacity * 2;
    node->values = memory_resize(node->values, node->capacity, sizeof(*node->values));
}

static inline void push_value(struct node *node, uint64_t bits)
{
    if (node->count == node->capacity)
        grow_values(node);
    node->values[node->count++] = bits;
}

static uint32_t slot_of(uint16_t parent, uint32_t key, uint8_t type)
{
    uint64_t mixed = (((uint64_t)key << 16 | parent) << 4 | type) * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed >> 40) & (SLOT_COUNT - 1);
}

static uint16_t find_or_add_child(struct args_writer *writer, uint16_t parent, uint32_t key,
                                  uint8_t type)
{
    uint32_t slot = slot_of(parent, key, type);

    for (; writer->slots[slot] != 0; slot = (slot + 1) & (SLOT_COUNT - 1)) {
        const struct node *node = &writer->nodes[writer->slots[slot]];

        if (node->key == key && node->parent == parent && node->type == type)
            return writer->slots[slot];
    }

    uint16_t child = (uint16_t)writer->node_count;

    add_node(writer, parent, key, type);
    writer->nodes[child].slot = slot;
    writer->slots[slot] = child;
    return child;
}

static void begin_block(struct args_writer *writer)
{
    uint64_t kept = 0;

    for (uint32_t i = 0; i < writer->node_count; i++)
        if (writer->nodes[i].slot != SLOT_COUNT)
            writer->slots[writer->nodes[i].slot] = 0;
    for (uint32_t i = 0; i < writer->node_capacity; i++)
        kept += writer->nodes[i].capacity;
    for (uint32_t i = 0; kept > KEPT_VALUES_MAX && i < writer->node_capacity; i++) {
        free(writer->nodes[i].values);
        writer->nodes[i].values = NULL;
        writer->nodes[i].capacity = 0;
    }

    writer->first_event += writer->event_count;
    writer->node_count = writer->event_count = writer->value_count = 0;
    add_node(writer, ARGS_NODE_ROOT, 0, ARG_NONE);
    add_node(writer, ARGS_NODE_ROOT, 0, ARG_NONE); /* ARGS_NODE_TYPES */
}

/* Room for `count` more bytes of the block. */
static uint8_t *block_room(struct args_writer *writer, size_t count)
{
    if (writer->block_capacity - writer->block_count < count) {
        writer->block_capacity = (writer->block_count + count) * 2;
        writer->block = memory_resize(writer->block, writer->block_capacity, 1);
    }
    return writer->block + writer->block_count;
}

static struct args_column_head pack_node(struct args_writer *writer, const struct node *node)
{
    struct args_column_head head = {.key = node->key,
                                    .parent = node->parent,
                                    .type = node->type,
                                    .count = node->count,
                                    .at = (uint32_t)writer->block_count};
    uint8_t *to = block_room(writer, args_column_bound(node->count));

    args_column_pack(&head, node->values, writer->narrow, to);
    writer->block_count += head.stored_bytes;
    return head;
}

static void add_record(struct args_writer *writer, uint64_t offset)
{
    if (writer->record_count == writer->record_capacity) {
        writer->record_capacity = writer->record_capacity == 0 ? 64 : writer->record_capacity * 2;
        writer->records =
            memory_resize(writer->records, writer->record_capacity, sizeof(*writer->records));
    }
    writer->records[writer->record_count++] = (struct args_block_record){
        .offset = offset,
        .bytes = (uint32_t)writer->block_count,
        .column_count = writer->node_count,
        .first_event = writer->first_event,
        .event_count = writer->event_count,
        .hash = hash64((struct bytes){.at = writer->block, .count = writer->block_count})};
}

static void write_block(struct args_writer *writer)
{
    size_t heads_size = writer->node_count * sizeof(struct args_column_head);
    uint64_t offset;

    writer->block_count = 0;
    block_room(writer, heads_size);
    writer->block_count = heads_size;
    for (uint32_t i = 0; i < writer->node_count; i++) {
        struct args_column_head head = pack_node(writer, &writer->nodes[i]);

        memcpy(writer->block + i * sizeof(head), &head, sizeof(head));
    }
    if (writer->out.data(writer->out.to, (struct bytes){writer->block, writer->block_count},
                         &offset, writer->err) != OK) {
        writer->failed = true;
        return;
    }
    add_record(writer, offset);
}

static void end_event(struct args_writer *writer)
{
    if (!writer->event_open)
        return;
    writer->event_open = false;
    push_value(&writer->nodes[ARGS_NODE_ROOT], writer->at);
    writer->event_count++;
    writer->value_count += writer->event_arg_count;
    if (writer->event_count == ARGS_BLOCK_EVENTS || writer->node_count >= NODES_FULL ||
        writer->value_count >= VALUES_FULL) {
        write_block(writer);
        begin_block(writer);
    }
}

struct args_writer *args_writer_create(struct block_out out, struct error *err)
{
    struct args_writer *writer = memory_resize(NULL, 1, sizeof(*writer));

    memset(writer, 0, sizeof(*writer));
    writer->out = out;
    writer->err = err;
    writer->node_capacity = NODE_VALUES_MIN;
    writer->nodes = memory_resize(NULL, writer->node_capacity, sizeof(*writer->nodes));
    memset(writer->nodes, 0, writer->node_capacity * sizeof(*writer->nodes));
    writer->slots = memory_resize(NULL, SLOT_COUNT, sizeof(*writer->slots));
    memset(writer->slots, 0, SLOT_COUNT * sizeof(*writer->slots));
    begin_block(writer);
    return writer;
}

void args_writer_event(struct args_writer *writer, type_id type)
{
    if (writer->failed)
        return;
    end_event(writer);
    writer->event_open = true;
    writer->at = ARGS_NODE_ROOT;
    writer->event_arg_count = 0;
    push_value(&writer->nodes[ARGS_NODE_TYPES], type);
}

void args_writer_args(struct args_writer *writer, const struct arg *args, uint32_t count)
{
    assert(writer->event_open || writer->failed);
    if (writer->failed)
        return;
    if (count > EVENT_ARGS_MAX - writer->event_arg_count) {
        fail(writer->err, ERR_LIMIT, "event %u has more than %d args",
             writer->first_event + writer->event_count, EVENT_ARGS_MAX);
        writer->failed = true;
        return;
    }
    writer->event_arg_count += count;

    uint16_t at = writer->at;

    for (uint32_t i = 0; i < count; i++) {
        uint16_t child = writer->nodes[at].child;
        struct node *node = &writer->nodes[child];

        assert(args[i].type != ARG_NONE);
        if (node->key != args[i].key || node->type != args[i].type || child == 0) {
            child = find_or_add_child(writer, at, args[i].key, (uint8_t)args[i].type);
            node = &writer->nodes[child];
            writer->nodes[at].child = child;
        }
        push_value(node, args[i].bits);
        at = child;
    }
    writer->at = at;
}

enum status args_writer_finish(struct args_writer *writer, struct error *err)
{
    end_event(writer);
    if (!writer->failed && writer->event_count > 0) {
        write_block(writer);
        begin_block(writer);
    }
    if (writer->failed)
        return writer->err != NULL ? writer->err->code : fail(err, ERR_IO, "args were not written");
    return writer->out.table(writer->out.to, TABLE_ARG_BLOCKS,
                             (struct bytes){(const uint8_t *)writer->records,
                                            writer->record_count * sizeof(*writer->records)},
                             err);
}

void args_writer_destroy(struct args_writer *writer)
{
    if (writer == NULL)
        return;
    for (uint32_t i = 0; i < writer->node_capacity; i++)
        free(writer->nodes[i].values);
    free(writer->nodes);
    free(writer->slots);
    free(writer->block);
    free(writer->records);
    free(writer);
}
