/* SPDX-License-Identifier: Apache-2.0 */
/* Who waited for whom: executions of one collective that belong together, on all devices.
 *
 *   which execution    the run id, where the file gives all devices of one run the same; else its
 *                      ordinal, where every device has as many
 *   which group        by the device's number in the replica groups; where every host numbers its
 *                      own, only what holds for any order of the hosts (collectives_local.c)
 *   which clock        one host's devices share one; hosts are put right by what their collectives'
 *                      ends differ by (align.h), where that is constant; else the common end is
 *                      the clock: whose execution is shortest came last
 */
#include <stdlib.h>

#include "analyse/comm/collectives_parts.h"

static int compare_places(const struct collective_run *a, const struct collective_run *b)
{
    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

/* Which runs are of one collective, in their order: host, device, start. */
struct gathered {
    uint32_t *firsts; /* by collective, into `order`; one more at the end */
    uint32_t *order;  /* indexes of runs */
    uint32_t most;    /* of one collective */
};

static struct gathered gather_collectives(const struct collectives *found)
{
    struct gathered ret = {
        .firsts = memory_zeroed((size_t)found->count + 2, sizeof(*ret.firsts)),
        .order = memory_resize(NULL, (size_t)found->run_count + 1, sizeof(*ret.order)),
    };
    uint32_t *next = ret.firsts + 1; /* while they are filled: where the next of each goes */
    for (uint32_t i = 0; i < found->run_count; i++)
        ret.firsts[found->runs[i].collective + 2]++;
    for (uint32_t i = 0; i < found->count; i++) {
        ret.most = next[i + 1] > ret.most ? next[i + 1] : ret.most;
        next[i + 1] += next[i];
    }
    for (uint32_t i = 0; i < found->run_count; i++)
        ret.order[next[found->runs[i].collective]++] = i;
    return ret;
}

static int by_turn(const void *left, const void *right)
{
    const struct collective_run *a = left, *b = right;

    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return compare_places(a, b);
}

/* They come in order where one device has them all. */
static void sort_runs(struct collective_run *runs, uint32_t count,
                      int (*compare)(const void *, const void *))
{
    for (uint32_t i = 1; i < count; i++)
        if (compare(&runs[i - 1], &runs[i]) > 0) {
            qsort(runs, count, sizeof(*runs), compare);
            return;
        }
}

static bool same_place(const struct collective_run *a, const struct collective_run *b)
{
    return a->host == b->host && a->device == b->device;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
    return (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) *
           UINT64_C(0xff51afd7ed558ccd);
}

/* Does a run id stand on two devices? Files that number executions for themselves have none
 * such. */
static bool shares_run_ids(const struct collective_run *runs, uint32_t count)
{
    struct map64 first_of = {0};
    bool shares = false;

    for (uint32_t i = 0; i < count && !shares; i++) {
        if (runs[i].turn == 0)
            continue;
        uint32_t *first = map64_at(&first_of, runs[i].turn, i);

        shares = !same_place(&runs[*first], &runs[i]);
    }
    map64_free(&first_of);
    return shares;
}

/* Of one collective on one place, in order: the turn is which execution, and the how-maniest in
 * it. */
static void number_by_run_id(struct collective_run *runs, uint32_t count)
{
    struct map64 times = {0};

    for (uint32_t i = 0; i < count; i++) {
        uint32_t *time = map64_at(&times, runs[i].turn, 0);

        runs[i].turn = mix(runs[i].turn, *time);
        (*time)++;
    }
    map64_free(&times);
}

/* Places of one collective: stretches of its runs. */
static uint32_t place_end(const struct collective_run *runs, uint32_t first, uint32_t count)
{
    uint32_t end = first + 1;

    while (end < count && same_place(&runs[first], &runs[end]))
        end++;
    return end;
}

/* True when executions could be told apart. */
static bool number_turns(struct collective_run *runs, uint32_t count)
{
    bool by_run_id = shares_run_ids(runs, count), is_even = true;
    uint32_t each = place_end(runs, 0, count);

    for (uint32_t first = 0, end; first < count; first = end) {
        end = place_end(runs, first, count);
        if (by_run_id)
            number_by_run_id(runs + first, end - first);
        else
            for (uint32_t i = first; i < end; i++)
                runs[i].turn = i - first;
        is_even &= end - first == each;
    }
    return by_run_id || is_even;
}

/* Are ordinals numbers over all hosts: no two hosts have the same? */
static bool ordinals_are_global(const struct collective_run *runs, uint32_t count)
{
    struct map64 host_of = {0};
    bool global = true;

    for (uint32_t i = 0; i < count && global; i++)
        global = *map64_at(&host_of, (uint32_t)runs[i].device, runs[i].host) == runs[i].host;
    map64_free(&host_of);
    return global;
}

/* Runs of one place are neighbours. Few places look through the groups; many ask a map. */
static void set_groups(const struct replica_groups *groups, struct collective_run *runs,
                       uint32_t count)
{
    struct map64 group_of = {0};
    uint64_t places = 0;

    for (uint32_t i = 0; i < count; i++)
        places += i == 0 || runs[i].device != runs[i - 1].device;

    bool many = places * groups->group_count > groups->id_count;

    for (uint32_t group = 0; many && group < groups->group_count; group++)
        for (uint32_t at = groups->first[group]; at < groups->first[group + 1]; at++)
            map64_at(&group_of, groups->ids[at], group);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t device = (uint32_t)runs[i].device;

        if (i > 0 && runs[i].device == runs[i - 1].device)
            runs[i].group = runs[i - 1].group;
        else if (!many)
            runs[i].group = replica_group_of(groups, device);
        else if (!map64_get(&group_of, device, &runs[i].group))
            runs[i].group = REPLICA_NO_GROUP;
    }
    map64_free(&group_of);
}

static bool find_groups(const struct run_traces *run, const struct collective *item,
                        struct collective_run *runs, uint32_t count)
{
    bool one_group = item->groups.form == GROUPS_EVERYBODY ||
                     (item->groups.group_count == 1 && item->groups.form != GROUPS_UNKNOWN);

    if (!one_group && item->groups.first == NULL)
        return false;
    if (!one_group && !ordinals_are_global(runs, count))
        return collectives_local_groups(run, &item->groups, runs, count);
    if (one_group) {
        for (uint32_t i = 0; i < count; i++)
            runs[i].group = 0;
        return true;
    }
    set_groups(&item->groups, runs, count);
    return true;
}

/* When a run came, on a clock that all of its group share: the hosts' clocks put right, or, where
 * they cannot be, the end of the collective, which is everybody's. */
static int64_t arrival_of(const struct collective_run *run, const struct alignment *alignments,
                          bool by_length)
{
    return by_length ? -run->dur_ps : ps_apart(run->start_ps, alignments[run->host].skew_ps);
}

/* Runs of one turn and group: who came last lets the others wait. */
static void compare_arrivals(struct collective_run *runs, uint32_t count,
                             const struct alignment *alignments, bool by_length)
{
    int64_t first_ps = INT64_MAX, last_ps = INT64_MIN;
    uint32_t last = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t came_ps = arrival_of(&runs[i], alignments, by_length);

        first_ps = came_ps < first_ps ? came_ps : first_ps;
        if (came_ps > last_ps) {
            last_ps = came_ps;
            last = i;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t came_ps = arrival_of(&runs[i], alignments, by_length);
        int64_t wait_ps = ps_apart(last_ps, came_ps);

        runs[i].wait_ps = wait_ps < runs[i].dur_ps ? wait_ps : runs[i].dur_ps;
        runs[i].late_ps = ps_apart(came_ps, first_ps);
        runs[i].is_last = i == last;
    }
}

/* Does nobody leave before the last has come? */
static bool ends_together(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_TO_ALL;
}

static bool clocks_are_known(const struct finding_work *work, const struct collective_run *runs,
                             uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (runs[i].host != runs[0].host && (!work->ret->alignments[runs[i].host].known ||
                                             !work->ret->alignments[runs[0].host].known))
            return false;
    return true;
}

static bool stands_twice(const struct collective_run *runs, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        if (same_place(&runs[i - 1], &runs[i]))
            return true;
    return false;
}

/* Why the mates of one collective are not known; NULL where they are. */
static const char *match_item(struct finding_work *work, struct collective_run *runs,
                              uint32_t count)
{
    const struct collective *item = &work->ret->items[runs[0].collective];
    const char *reason = NULL;
    bool any = false;

    if (!find_groups(work->run, item, runs, count))
        reason = "which devices form a group is not in the file";
    else if (!number_turns(runs, count))
        reason = "devices recorded different numbers of executions, and no run ids";
    if (reason != NULL)
        return reason;
    sort_runs(runs, count, by_turn);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && runs[end].turn == runs[first].turn &&
                              runs[end].group == runs[first].group;)
            end++;
        if (runs[first].group == REPLICA_NO_GROUP || end - first < 2 ||
            stands_twice(runs + first, end - first))
            continue;
        bool by_length = !clocks_are_known(work, runs + first, end - first);
        if (by_length && !ends_together(item->kind)) {
            reason = "the offset between the hosts' clocks is unknown";
            continue;
        }
        compare_arrivals(runs + first, end - first, work->ret->alignments, by_length);
        work->ret->by_length_count += by_length ? end - first : 0;
        any = true;
    }
    return any ? NULL : reason != NULL ? reason : "one device of each group was recorded";
}

static uint32_t count_asked(const struct collectives *found)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < found->run_count; i++)
        count += found->runs[i].inside_ps >= 0;
    return count;
}

/* Hands on what is asked for of the runs of one collective. */
static uint32_t keep_asked(const struct collective_run *runs, uint32_t count,
                           struct collective_run *ret)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (runs[i].inside_ps >= 0)
            ret[kept++] = runs[i];
    return kept;
}

/* The runs of one collective stand apart, so those that are soon copied are sent for already. */
static void copy_runs(const struct collective_run *runs, const uint32_t *order, uint32_t count,
                      struct collective_run *ret)
{
    enum { AHEAD = 16 };

    for (uint32_t i = 0; i < count; i++) {
        if (count - i > AHEAD) {
            const struct collective_run *ahead = &runs[order[i + AHEAD]];

            __builtin_prefetch(ahead);
            __builtin_prefetch((const char *)(ahead + 1) - 1);
        }
        ret[i] = runs[order[i]];
    }
}

/* One collective after the other, in room that stays at hand: there may be millions of runs. */
void collectives_match(struct finding_work *work)
{
    struct collectives *found = work->ret;
    struct gathered gathered = gather_collectives(found);
    struct collective_run *room = memory_resize(NULL, (size_t)gathered.most + 1, sizeof(*room));
    struct collective_run *asked =
        arena_array(work->arena, struct collective_run, (size_t)count_asked(found) + 1);
    uint32_t asked_count = 0;
    bool any = false;

    for (uint32_t item = 0; item < found->count; item++) {
        uint32_t first = gathered.firsts[item], count = gathered.firsts[item + 1] - first;

        if (count == 0)
            continue;
        copy_runs(found->runs, gathered.order + first, count, room);

        const char *reason = match_item(work, room, count);

        any |= reason == NULL;
        if (reason != NULL && found->wait_reason == NULL)
            found->wait_reason = reason;
        for (uint32_t i = 0; i < count; i++)
            found->unmatched_count += room[i].wait_ps < 0;
        asked_count += keep_asked(room, count, asked + asked_count);
    }
    if (any)
        found->wait_reason = NULL;
    else if (found->run_count == 0)
        found->wait_reason = "the run holds no collectives";
    free(gathered.firsts);
    free(gathered.order);
    free(room);
    free(found->runs);
    found->runs = asked;
    found->run_count = asked_count;
}

static int by_device(const void *left, const void *right)
{
    const struct device_waits *a = left, *b = right;

    if (a->host != b->host)
        return a->host < b->host ? -1 : 1;
    return (a->device > b->device) - (a->device < b->device);
}

static void add_waits(struct device_waits *waits, const struct collective_run *run)
{
    waits->count++;
    waits->total_ps = ps_sum(waits->total_ps, run->inside_ps);
    waits->hidden_ps = ps_sum(waits->hidden_ps, run->hidden_ps);
    waits->exposed_ps = ps_sum(waits->exposed_ps, run->inside_ps - run->hidden_ps);
    if (run->wait_ps < 0)
        return;
    waits->known_count++;
    waits->last_count += run->is_last;
    waits->wait_ps = ps_sum(waits->wait_ps, run->wait_ps);
    waits->late_ps = ps_sum(waits->late_ps, run->late_ps);
}

void collectives_waits(const struct collectives *collectives, struct arena *arena,
                       struct collective_waits *ret)
{
    struct map64 places = {0};
    uint32_t capacity = 0;

    *ret = (struct collective_waits){.reason = collectives->wait_reason};
    for (uint32_t i = 0; i < collectives->run_count; i++) {
        const struct collective_run *run = &collectives->runs[i];
        uint32_t *at = map64_at(&places, map64_pair(run->host, (uint32_t)run->device), UINT32_MAX);

        if (*at == UINT32_MAX) {
            if (ret->count == capacity) {
                struct device_waits *items =
                    arena_array(arena, struct device_waits, capacity == 0 ? 16 : 2 * capacity);

                if (ret->count > 0)
                    memcpy(items, ret->items, ret->count * sizeof(*items));
                capacity = capacity == 0 ? 16 : 2 * capacity;
                ret->items = items;
            }
            ret->items[ret->count] =
                (struct device_waits){.host = run->host, .device = run->device};
            *at = ret->count++;
        }
        add_waits(&ret->items[*at], run);
    }
    map64_free(&places);
    if (ret->count > 0)
        qsort(ret->items, ret->count, sizeof(*ret->items), by_device);
}
