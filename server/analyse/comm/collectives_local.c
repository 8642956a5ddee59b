/* SPDX-License-Identifier: Apache-2.0 */
/* Whose group, where each host numbers its devices for itself.
 *
 *   HLO     {0,1} {2,3} {4,5} {6,7}        {0,4} {1,5} {2,6} {3,7}        {0,1,4,5} {2,3,6,7}
 *   hosts   A 0 1 2 3   B 0 1 2 3          A 0 1 2 3   B 0 1 2 3          C 0 1   D 0 1  ...
 *   groups  A01 A23 B01 B23                A0B0 A1B1 A2B2 A3B3            who is whose is not known
 *
 * JAX numbers the devices of its processes one after the other, so a host has a block of ids; which
 * block is not in the file. Two forms do not depend on that: groups that stay within a block and
 * are the same in each, and groups that take the same places of every block. Nothing else is
 * told. TPUs are numbered by their place in the torus, not by host: their groups are not told.
 */
#include <stdlib.h>

#include "analyse/comm/collectives_parts.h"

enum { PLACES_MAX = 4096 }; /* devices of a host */

struct blocks {
    const uint32_t *group_of; /* by id */
    uint32_t block_count, places;
};

static bool is_torus(const struct trace *trace)
{
    for (track_id id = 0; id < trace->track_count; id++) {
        if (trace->tracks[id].role == ROLE_OPS)
            return true;
    }
    return false;
}

/* Devices of a host, 0 ... n - 1 on each of them; 0: some are missing. */
static uint32_t count_places(const struct collective_run *runs, uint32_t count)
{
    uint32_t places = 0, seen = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (runs[i].device < 0 || runs[i].device >= PLACES_MAX)
            return 0;
        if ((uint32_t)runs[i].device >= places)
            places = (uint32_t)runs[i].device + 1;
    }
    for (uint32_t i = 0; i < count; i++) { /* by host, then device */
        if (i == 0 || runs[i].host != runs[i - 1].host) {
            if (i > 0 && seen != places)
                return 0;
            seen = 0;
        }
        if ((uint32_t)runs[i].device + 1 == seen)
            continue;
        if ((uint32_t)runs[i].device != seen++)
            return 0;
    }
    return seen == places ? places : 0;
}

/* By id; NULL where ids are not 0 ... n - 1, each once. */
static uint32_t *groups_by_id(const struct replica_groups *groups)
{
    uint32_t *ret = memory_resize(NULL, (size_t)groups->id_count + 1, sizeof *ret);
    uint32_t found = 0;

    for (uint32_t i = 0; i < groups->id_count; i++)
        ret[i] = REPLICA_NO_GROUP;
    for (uint32_t group = 0; group < groups->group_count; group++) {
        for (uint32_t at = groups->first[group]; at < groups->first[group + 1]; at++) {
            uint32_t id = groups->ids[at];

            if (id >= groups->id_count || ret[id] != REPLICA_NO_GROUP)
                continue;
            ret[id] = group;
            found++;
        }
    }
    if (found == groups->id_count && found > 0)
        return ret;
    free(ret);
    return NULL;
}

/* The first place of a block that is in the same group. */
static uint32_t first_like(const struct blocks *blocks, uint32_t block, uint32_t place)
{
    const uint32_t *of = blocks->group_of + (size_t)block * blocks->places;
    uint32_t first = 0;

    while (of[first] != of[place])
        first++;
    return first;
}

/* Do groups divide each block in the same way? */
static bool is_same_in_each(const struct blocks *blocks)
{
    for (uint32_t place = 0; place < blocks->places; place++) {
        uint32_t first = first_like(blocks, 0, place);

        for (uint32_t block = 1; block < blocks->block_count; block++) {
            if (first_like(blocks, block, place) != first)
                return false;
        }
    }
    return true;
}

/* Has every place the same group in all blocks? */
static bool are_joined(const struct blocks *blocks)
{
    for (uint32_t id = blocks->places; id < blocks->block_count * blocks->places; id++) {
        if (blocks->group_of[id] != blocks->group_of[id % blocks->places])
            return false;
    }
    return true;
}

/* Is no group in two blocks? */
static bool are_apart(const struct blocks *blocks, uint32_t group_count)
{
    uint32_t *block_of = memory_resize(NULL, (size_t)group_count + 1, sizeof *block_of);
    bool apart = true;

    for (uint32_t group = 0; group < group_count; group++)
        block_of[group] = UINT32_MAX;
    for (uint32_t id = 0; id < blocks->block_count * blocks->places && apart; id++) {
        uint32_t block = id / blocks->places, *of = &block_of[blocks->group_of[id]];

        apart = *of == UINT32_MAX || *of == block;
        *of = block;
    }
    free(block_of);
    return apart;
}

/* Groups of a host stand in order of their first places; the next host's come behind them. */
static uint32_t group_of_place(const struct blocks *blocks, uint32_t host, uint32_t place)
{
    uint32_t ordinal = 0, count = 0, first = first_like(blocks, 0, place);

    for (uint32_t i = 0; i < blocks->places; i++) {
        if (first_like(blocks, 0, i) == i) {
            ordinal += i < first;
            count++;
        }
    }
    return count * host + ordinal;
}

bool collectives_local_groups(const struct run_traces *run, const struct replica_groups *groups,
                              struct collective_run *runs, uint32_t count)
{
    uint32_t places = count_places(runs, count);
    uint32_t *by_id;

    for (uint32_t i = 0; i < count; i++) {
        if ((i == 0 || runs[i].host != runs[i - 1].host) &&
            is_torus(run->hosts[runs[i].host].trace))
            return false;
    }
    if (places == 0 || groups->id_count % places != 0 || (by_id = groups_by_id(groups)) == NULL)
        return false;

    struct blocks blocks = {by_id, groups->id_count / places, places};
    bool apart = are_apart(&blocks, groups->group_count) && is_same_in_each(&blocks);
    bool joined = !apart && are_joined(&blocks);

    for (uint32_t i = 0; i < count && (apart || joined); i++) {
        uint32_t place = (uint32_t)runs[i].device;

        if (i > 0 && runs[i].host == runs[i - 1].host && runs[i].device == runs[i - 1].device)
            runs[i].group = runs[i - 1].group;
        else if (joined)
            runs[i].group = by_id[place];
        else
            runs[i].group = group_of_place(&blocks, runs[i].host, place);
    }
    free(by_id);
    return apart || joined;
}
