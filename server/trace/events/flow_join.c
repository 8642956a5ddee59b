/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of one (kind, id) find each other by hash; most sets have two, close to each other.
 *
 *   slots   [ - | 5 7: 0 | - | 5 8: 2 | ... ]    first end of each set, by (kind, id)
 *   ends    [ 0: kind 5 id 7 ] -next-> [ 1: kind 5 id 7 ]    [ 2: kind 5 id 8 ] -next-> ...
 *
 * A set is put in order of time; what receives comes from the latest before it that sends, and
 * what is before all senders comes from the first. Where as many send as receive, each sends once:
 * the first to the first, as in ranks that were merged with their ids as they were.
 */
#include <stdlib.h>

#include "base/sort.h"
#include "trace/events/flow_ends.h"

#define NO_END UINT32_MAX

struct flow_chain {
    uint32_t next; /* of the same set, in the order given */
    uint32_t tail; /* of a set's first end: its last one; NO_END for all others */
};

struct flow_slot {
    uint64_t id;
    name_id kind;
    uint32_t first; /* end of the set, + 1; 0: free */
};

struct join {
    struct flow_room *room;
    const struct flow_given *ends;
    struct flow_chain *chains;
    struct flow_slot *slots;
    uint32_t slot_mask;
    struct flow *flows;
    uint32_t flow_count;
};

void *flow_room_for(void *array, size_t *capacity, size_t count, size_t size)
{
    if (count <= *capacity)
        return array;
    free(array);
    *capacity = count + count / 4;
    return memory_resize(NULL, *capacity, size);
}

void flow_room_free(struct flow_room *room)
{
    free(room->ends);
    free(room->slices);
    free(room->flows);
    free(room->chains);
    free(room->slots);
    free(room->set);
}

/* Ids that follow each other lie beside each other, 64 at a time. */
static uint32_t slot_of(const struct flow_given *end)
{
    uint64_t high = (end->id >> 6) ^ (uint64_t)flow_kind_of(end->kind_end) << 36;

    high *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(high >> 32) << 6 | (uint32_t)(end->id & 63);
}

/* The slot of the end's set, or the free one where it belongs. */
static struct flow_slot *find_slot(const struct join *join, const struct flow_given *end)
{
    const name_id kind = flow_kind_of(end->kind_end);
    uint32_t at = slot_of(end) & join->slot_mask;

    while (join->slots[at].first != 0 &&
           (join->slots[at].id != end->id || join->slots[at].kind != kind))
        at = (at + 1) & join->slot_mask;
    return &join->slots[at];
}

static void link_sets(struct join *join, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct flow_given *end = &join->ends[i];
        struct flow_slot *slot = find_slot(join, end);

        join->chains[i] = (struct flow_chain){.next = NO_END, .tail = NO_END};
        if (slot->first == 0) {
            *slot = (struct flow_slot){
                .id = end->id, .kind = flow_kind_of(end->kind_end), .first = i + 1};
            join->chains[i].tail = i;
        } else {
            struct flow_chain *first = &join->chains[slot->first - 1];
            join->chains[first->tail].next = i;
            first->tail = i;
        }
    }
}

/* By time; at one time senders first. */
static bool earlier(const struct flow_bound *a, const struct flow_bound *b)
{
    if (a->at_ps != b->at_ps)
        return a->at_ps < b->at_ps;
    return a->kind_end != b->kind_end ? a->kind_end < b->kind_end : a->slice < b->slice;
}
SORT_DEFINE(sort_set, struct flow_bound, earlier)

static void put_flow(struct join *join, const struct flow_bound *from, const struct flow_bound *to)
{
    struct flow *flow = &join->flows[join->flow_count++];

    memset(flow, 0, sizeof *flow); /* padding, too: equal input, equal bytes */
    flow->id = from->id;
    flow->kind = flow_kind_of(from->kind_end);
    flow->from = from->slice;
    flow->to = to->slice;
    flow->from_ps = from->at_ps;
    flow->to_ps = to->at_ps;
}

/* As many receive as send, and none before its sender. */
static bool pairs_up(const struct flow_bound *set, uint32_t count)
{
    uint32_t sent = 0, received = 0;

    for (uint32_t i = 0; i < count && received <= sent; i++) {
        enum flow_end end = flow_end_of(set[i].kind_end);

        sent += end == FLOW_FROM;
        received += end == FLOW_TO;
        if (end == FLOW_STEP)
            return false;
    }
    return sent == received && sent > 1;
}

static void join_in_order(struct join *join, uint32_t count)
{
    const struct flow_bound *set = join->room->set, *from = set;

    for (uint32_t i = 0; i < count; i++) {
        if (flow_end_of(set[i].kind_end) == FLOW_FROM)
            continue;
        while (flow_end_of(from->kind_end) != FLOW_FROM)
            from++;
        put_flow(join, from++, &set[i]);
    }
}

static void join_set(struct join *join, uint32_t count)
{
    const struct flow_bound *set = join->room->set, *from = NULL;

    if (pairs_up(set, count)) {
        join_in_order(join, count);
        return;
    }
    for (uint32_t i = 0; i < count && !from; i++)
        if (flow_end_of(set[i].kind_end) == FLOW_FROM)
            from = &set[i];
    for (uint32_t i = 0; i < count; i++) {
        enum flow_end end = flow_end_of(set[i].kind_end);

        if (from && end != FLOW_FROM)
            put_flow(join, from, &set[i]);
        if (end != FLOW_TO)
            from = &set[i];
    }
}

/* The set that begins with `first`; ends without a slice are left out. */
static uint32_t gather_set(struct join *join, uint32_t first)
{
    struct flow_room *room = join->room;
    uint32_t count = 0;

    for (uint32_t i = first; i != NO_END; i = join->chains[i].next) {
        const struct flow_given *end = &join->ends[i];
        if (room->slices[i] == NO_SLICE)
            continue;
        if (count == room->set_capacity) {
            room->set_capacity = room->set_capacity ? room->set_capacity * 2 : 16;
            room->set = memory_resize(room->set, room->set_capacity, sizeof(*room->set));
        }
        room->set[count++] = (struct flow_bound){.id = end->id,
                                                 .at_ps = end->at_ps,
                                                 .kind_end = end->kind_end,
                                                 .slice = room->slices[i]};
    }
    return count;
}

uint32_t flow_join(struct flow_room *room, uint32_t count)
{
    struct join join = {.room = room, .ends = room->ends, .slot_mask = 63, .flows = room->flows};

    while (join.slot_mask < count || join.slot_mask - count < count / 2)
        join.slot_mask = join.slot_mask * 2 + 1;
    const size_t slot_count = (size_t)join.slot_mask + 1;
    room->slots =
        flow_room_for(room->slots, &room->slots_capacity, slot_count, sizeof(*room->slots));
    room->chains =
        flow_room_for(room->chains, &room->chains_capacity, count, sizeof(*room->chains));
    join.slots = room->slots;
    join.chains = room->chains;
    memset(join.slots, 0, slot_count * sizeof(*join.slots));
    link_sets(&join, count);
    for (uint32_t i = 0; i < count; i++) {
        if (join.chains[i].tail == NO_END || join.chains[i].tail == i)
            continue; /* not the first of its set, or alone */
        uint32_t set_count = gather_set(&join, i);
        sort_set(room->set, set_count);
        join_set(&join, set_count);
    }
    return join.flow_count;
}

static bool ascending(const uint64_t *a, const uint64_t *b)
{
    return *a < *b;
}
SORT_DEFINE(sort_few, uint64_t, ascending)

/* Keys stand in the upper half, indexes in the lower: each is there once. First into 2,048 ranges
 * of keys in place, then each range, small enough for the nearest cache. */
static void sort_keyed(uint64_t *keyed, uint32_t count)
{
    enum { BITS = 11, RANGES = 1 << BITS };
    uint32_t next[RANGES] = {0}, end[RANGES];
    uint64_t max = 0;
    unsigned shift = 32;

    for (uint32_t i = 0; i < count; i++)
        max = keyed[i] > max ? keyed[i] : max;
    while (max >> shift >= RANGES)
        shift++;
    for (uint32_t i = 0; i < count; i++)
        next[keyed[i] >> shift]++;
    for (uint32_t range = 0, first = 0; range < RANGES; range++) {
        end[range] = first + next[range];
        next[range] = first;
        first = end[range];
    }
    for (uint32_t range = 0; range < RANGES; range++)
        while (next[range] < end[range]) {
            uint64_t moved = keyed[next[range]];
            for (uint32_t to; (to = (uint32_t)(moved >> shift)) != range;) {
                uint64_t swapped = keyed[next[to]];
                keyed[next[to]++] = moved;
                moved = swapped;
            }
            keyed[next[range]++] = moved;
        }
    for (uint32_t range = 0, first = 0; range < RANGES; first = end[range++])
        sort_few(keyed + first, end[range] - first);
}

static bool by_to(const struct flow *a, const struct flow *b)
{
    if (a->to != b->to)
        return a->to < b->to;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->id != b->id)
        return a->id < b->id;
    return a->from_ps != b->from_ps ? a->from_ps < b->from_ps : a->to_ps < b->to_ps;
}
SORT_DEFINE(sort_of_one_sender, struct flow, by_to)

void flow_sort(const struct flow *flows, uint32_t count, struct flow *ret)
{
    uint64_t *keyed = memory_resize(NULL, count + 1u, sizeof(*keyed));

    for (uint32_t i = 0; i < count; i++)
        keyed[i] = (uint64_t)flows[i].from << 32 | i;
    sort_keyed(keyed, count);
    for (uint32_t i = 0; i < count; i++)
        ret[i] = flows[(uint32_t)keyed[i]];
    free(keyed);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && ret[end].from == ret[first].from;)
            end++;
        if (end - first > 1)
            sort_of_one_sender(ret + first, end - first);
    }
}

void flow_sort_by_to(const struct flow *flows, uint32_t count, uint32_t *ret)
{
    uint64_t *keyed = memory_resize(NULL, count + 1u, sizeof(*keyed));

    for (uint32_t i = 0; i < count; i++)
        keyed[i] = (uint64_t)flows[i].to << 32 | i;
    sort_keyed(keyed, count);
    for (uint32_t i = 0; i < count; i++)
        ret[i] = (uint32_t)keyed[i];
    free(keyed);
}
