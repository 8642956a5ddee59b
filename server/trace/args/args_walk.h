/* SPDX-License-Identifier: Apache-2.0 */
/* The args of chosen keys, event by event.
 *
 *   struct arg_walk *walk = arg_walk_create(trace, keys, key_count);
 *   for each block                            arg_walk_open
 *       for each of its events, in order      arg_walk_step
 *           arg_walk_has(walk, 3)             walk->type[3], walk->bits[3]: of keys[3]
 *   arg_walk_destroy(walk);
 *
 * A block is opened once for all its keys, columns are unpacked once, and what is unpacked stands
 * in memory that is kept from block to block. An event costs a look at each of the chosen keys
 * that it has. A key that stands twice in an event yields its first value.
 */
#ifndef JVIEWD_TRACE_ARGS_ARGS_WALK_H
#define JVIEWD_TRACE_ARGS_ARGS_WALK_H

#include "trace/args/args.h"

enum { ARG_WALK_KEYS_MAX = 32 };

/* The nodes of args_block.h that bear a chosen key, no node above them the same one. */
struct arg_bearer {
    const uint64_t *next; /* the value of the next event that passes through it */
    uint64_t constant;    /* of a column of one value: `next` stays here */
    uint16_t above;       /* the next bearer towards the root, 0: none */
    uint8_t key, type;
    uint8_t stride; /* 0: constant */
};

struct arg_list { /* what an event has whose last node this is */
    uint32_t present;
    uint16_t bearer; /* the nearest, 0: none */
};

struct arg_walk {
    /* Of the block that is open. */
    event_id first_event;
    uint32_t count;
    type_id types[ARGS_BLOCK_EVENTS]; /* 0 none */
    /* Of the event stepped to: a bit a key; what is behind the others' is of no meaning. */
    uint32_t present;
    uint8_t type[ARG_WALK_KEYS_MAX]; /* enum arg_type */
    uint64_t bits[ARG_WALK_KEYS_MAX];

    /* The walk's own. */
    const struct trace *trace;
    name_id keys[ARG_WALK_KEYS_MAX];
    uint32_t key_count;
    struct arena *arena; /* of the open block */
    struct arg_list *lists;
    struct arg_bearer *bearers;
    uint32_t last_stride; /* 0: all events have the same last node */
    uint64_t *values;
    size_t value_capacity;
    uint64_t last_nodes[ARGS_BLOCK_EVENTS + 1];
    uint64_t room[ARGS_BLOCK_EVENTS];
};

/* At most ARG_WALK_KEYS_MAX keys, none of them twice; NO_KEY is borne by no event. */
#define NO_KEY UINT32_MAX
struct arg_walk *arg_walk_create(const struct trace *trace, const name_id *keys, uint32_t count);
void arg_walk_destroy(struct arg_walk *walk);

/* Opens a block for those of the keys whose bits are set; returns those that any event of it has: 0
 * for what is damaged, whose events have no types either where these are. */
uint32_t arg_walk_open(struct arg_walk *walk, uint32_t block, uint32_t keys);

/* To event `at` of the block: 0, 1, 2, ... without leaving one out. */
static inline void arg_walk_step(struct arg_walk *walk, uint32_t at)
{
    const struct arg_list *list = &walk->lists[walk->last_nodes[at * walk->last_stride]];

    walk->present = list->present;
    for (uint16_t node = list->bearer; node != 0;) {
        struct arg_bearer *bearer = &walk->bearers[node];

        walk->type[bearer->key] = bearer->type;
        walk->bits[bearer->key] = *bearer->next;
        bearer->next += bearer->stride;
        node = bearer->above;
    }
}

static inline bool arg_walk_has(const struct arg_walk *walk, uint32_t key)
{
    return (walk->present >> key & 1) != 0;
}

#endif
