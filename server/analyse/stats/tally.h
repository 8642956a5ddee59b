/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by group, while slices or ops go by: one array over all groups, and a list of those that
 * have been seen. Parts of a walk have tallies of their own, which are joined afterwards; all sums
 * are of integers, so it does not matter how the walk was split. */
#ifndef JVIEWD_ANALYSE_STATS_TALLY_H
#define JVIEWD_ANALYSE_STATS_TALLY_H

#include <stdlib.h>

#include "base/arena.h"
#include "trace/ps.h"
#include "trace/trace.h"

struct tally {
    uint64_t count, event_count;         /* see contract: executions and events of ops */
    int64_t total_ps, self_ps, whole_ps; /* inside; inside; of whole slices */
    uint64_t parts;                      /* how much of them is inside: TALLY_WHOLE each */
    int64_t min_ps, max_ps;
    slice_id first; /* of its slices, and what that one says */
    track_id track;
    name_id name;
    uint8_t kind;
};

#define TALLY_WHOLE (UINT64_C(1) << 32)

struct tallies {
    struct tally *items; /* by group; zeroed until seen */
    uint32_t *seen;      /* in the order in which they came */
    uint32_t seen_count, group_count;
};

static inline struct tallies tallies_create(uint32_t group_count)
{
    struct tallies tallies = {
        .items = memory_zeroed((size_t)group_count + 1, sizeof(*tallies.items)),
        .seen = memory_resize(NULL, (size_t)group_count + 1, sizeof(*tallies.seen)),
        .group_count = group_count,
    };
    return tallies;
}

static inline void tallies_free(struct tallies *tallies)
{
    free(tallies->items);
    free(tallies->seen);
}

/* The group's tally, ready to be added to. */
static inline struct tally *tally_of(struct tallies *tallies, uint32_t group)
{
    struct tally *tally = &tallies->items[group];

    if (tally->event_count == 0) {
        *tally = (struct tally){.min_ps = INT64_MAX, .first = NO_SLICE};
        tallies->seen[tallies->seen_count++] = group;
    }
    return tally;
}

/* So that what a slice costs can be told of a part of it, and parts add up to the whole. */
static inline uint64_t tally_part(int64_t whole_ps, int64_t inside_ps)
{
    return inside_ps >= whole_ps
               ? TALLY_WHOLE
               : (uint64_t)((double)inside_ps / (double)whole_ps * (double)TALLY_WHOLE);
}

/* One slice or op. */
static inline void tally_add(struct tally *tally, int64_t whole_ps, int64_t inside_ps,
                             int64_t self_ps)
{
    tally->event_count++;
    ps_add(&tally->total_ps, inside_ps);
    ps_add(&tally->self_ps, self_ps);
    ps_add(&tally->whole_ps, whole_ps);
    tally->parts += tally_part(whole_ps, inside_ps);
    tally->min_ps = whole_ps < tally->min_ps ? whole_ps : tally->min_ps;
    tally->max_ps = whole_ps > tally->max_ps ? whole_ps : tally->max_ps;
}

/* `by` was seen at least once. */
static inline void tally_join(struct tally *to, const struct tally *by)
{
    to->count += by->count;
    to->event_count += by->event_count;
    ps_add(&to->total_ps, by->total_ps);
    ps_add(&to->self_ps, by->self_ps);
    ps_add(&to->whole_ps, by->whole_ps);
    to->parts += by->parts;
    to->min_ps = by->min_ps < to->min_ps ? by->min_ps : to->min_ps;
    to->max_ps = by->max_ps > to->max_ps ? by->max_ps : to->max_ps;
    if (by->first < to->first) {
        to->first = by->first;
        to->track = by->track;
        to->name = by->name;
        to->kind = by->kind;
    }
}

#endif
