/* SPDX-License-Identifier: Apache-2.0 */
/* Groups executions of collectives by a property, and sums their sizes, times and waits. */
#include "analyse/comm/collectives_rows.h"

#include <stdlib.h>

#include "analyse/comm/collectives_parts.h"
#include "base/hash.h"

bool collective_by_read(struct str word, enum collective_by *ret)
{
    static const char *const words[] = {
        [COLLECTIVE_BY_OP] = "op",       [COLLECTIVE_BY_KIND] = "kind",
        [COLLECTIVE_BY_AXIS] = "axis",   [COLLECTIVE_BY_SIZE] = "size",
        [COLLECTIVE_BY_GROUP] = "group", [COLLECTIVE_BY_DEVICE] = "device",
        [COLLECTIVE_BY_HOST] = "host",
    };

    for (size_t i = 0; i < COUNT(words); i++)
        if (str_equal(word, str_of(words[i]))) {
            *ret = (enum collective_by)i;
            return true;
        }
    *ret = COLLECTIVE_BY_OP;
    return word.count == 0;
}

struct summing {
    const struct run_traces *run;
    const struct collectives *found;
    enum collective_by by;
    struct arena *arena;
    struct map64 row_of;   /* key -> row */
    struct map64 last_of;  /* row, place -> index into lasts */
    struct map64 place_of; /* host, device -> number */
    uint64_t *lasts;
    uint32_t last_count, last_capacity, row_capacity;
    struct collective_rows *ret;
};

static uint64_t hash_text(struct str text)
{
    return hash64((struct bytes){.at = (const uint8_t *)text.at, .count = text.count});
}

static uint64_t key_of(const struct summing *summing, const struct collective_run *run)
{
    const struct collective *item = &summing->found->items[run->collective];

    switch (summing->by) {
    case COLLECTIVE_BY_KIND:
        return item->kind;
    case COLLECTIVE_BY_AXIS:
        return item->axis.count == 0 ? 0 : hash_text(item->axis);
    case COLLECTIVE_BY_SIZE:
        return item->size;
    case COLLECTIVE_BY_GROUP:
        return item->groups.form == GROUPS_UNKNOWN
                   ? item->size
                   : hash_text(replica_groups_members(&item->groups, summing->arena)) ^
                         ((uint64_t)item->groups.form << 56) ^ item->size;
    case COLLECTIVE_BY_DEVICE:
        return map64_pair(run->host, (uint32_t)run->device);
    case COLLECTIVE_BY_HOST:
        return run->host;
    default:
        return run->collective;
    }
}

static struct str group_name(const struct collective *item, struct arena *arena)
{
    struct str members = replica_groups_members(&item->groups, arena);

    return members.count > 0 ? members : item->axis;
}

static struct str name_of(const struct summing *summing, const struct collective_run *run)
{
    const struct collective *item = &summing->found->items[run->collective];
    struct str host = summing->run->hosts[run->host].name;

    switch (summing->by) {
    case COLLECTIVE_BY_KIND:
        return str_of(collective_kind_word(item->kind));
    case COLLECTIVE_BY_AXIS:
        return item->axis;
    case COLLECTIVE_BY_SIZE:
        return item->size == 0 ? (struct str){0} : str_format(summing->arena, "%u", item->size);
    case COLLECTIVE_BY_GROUP:
        return group_name(item, summing->arena);
    case COLLECTIVE_BY_DEVICE:
        return summing->run->host_count == 1
                   ? str_format(summing->arena, "device %d", run->device)
                   : str_format(summing->arena, "%.*s device %d", STR_ARG(host), run->device);
    case COLLECTIVE_BY_HOST:
        return host;
    default:
        return item->name;
    }
}

static uint32_t row_for(struct summing *summing, const struct collective_run *run, uint64_t key)
{
    uint32_t *at = map64_at(&summing->row_of, key, UINT32_MAX);
    struct collective_rows *ret = summing->ret;

    if (*at != UINT32_MAX)
        return *at;
    if (ret->count == summing->row_capacity) {
        uint32_t capacity = summing->row_capacity == 0 ? 64 : 2 * summing->row_capacity;
        struct collective_row *items = arena_array(summing->arena, struct collective_row, capacity);

        if (ret->count > 0)
            memcpy(items, ret->items, ret->count * sizeof(*items));
        ret->items = items;
        summing->row_capacity = capacity;
    }
    ret->items[ret->count] = (struct collective_row){
        .name = name_of(summing, run),
        .item = run->collective,
        .host = run->host,
        .device = run->device,
        .same_item = true,
        .same_kind = true,
        .same_axis = true,
        .same_size = true,
        .same_bytes = true,
        .min_ps = INT64_MAX,
        .longest = NO_SLICE,
        .last_device = -1,
    };
    return *at = ret->count++;
}

static void compare_words(struct collective_row *row, const struct summing *summing,
                          const struct collective_run *run)
{
    const struct collective *own = &summing->found->items[row->item];
    const struct collective *other = &summing->found->items[run->collective];

    if (row->item == run->collective)
        return;
    row->same_item = false;
    row->same_kind &= own->kind == other->kind;
    row->same_axis &= str_equal(own->axis, other->axis);
    row->same_size &= own->size == other->size;
    row->same_bytes &= own->has_bytes == other->has_bytes && own->bytes == other->bytes;
}

static void add_rate(struct collective_row *row, const struct collective *item,
                     const struct collective_run *run)
{
    double bus = (double)item->bytes * collective_bus_factor(item->kind, item->size);

    if (!item->has_bytes)
        return;
    row->bytes_sum =
        row->bytes_sum > UINT64_MAX - item->bytes ? UINT64_MAX : row->bytes_sum + item->bytes;
    if (run->inside_ps != run->dur_ps || run->dur_ps <= 0)
        return; /* part of an execution says nothing of its rate */
    row->rated_count++;
    row->rated_ps = ps_sum(row->rated_ps, run->dur_ps);
    row->rated_bytes += (double)item->bytes;
    row->rated_bus_bytes += bus;
    if (run->wait_ps >= 0 && run->wait_ps < run->dur_ps) {
        row->moving_ps = ps_sum(row->moving_ps, run->dur_ps - run->wait_ps);
        row->moving_bus_bytes += bus;
    }
}

static void add_last(struct summing *summing, uint32_t row, const struct collective_run *run)
{
    uint32_t *place =
        map64_at(&summing->place_of, map64_pair(run->host, (uint32_t)run->device), UINT32_MAX);

    if (*place == UINT32_MAX)
        *place = summing->place_of.count - 1;
    uint32_t *at = map64_at(&summing->last_of, map64_pair(row, *place), UINT32_MAX);
    if (*at == UINT32_MAX) {
        if (summing->last_count == summing->last_capacity) {
            summing->last_capacity = summing->last_capacity == 0 ? 64 : 2 * summing->last_capacity;
            summing->lasts =
                memory_resize(summing->lasts, summing->last_capacity, sizeof(*summing->lasts));
        }
        summing->lasts[summing->last_count] = 0;
        *at = summing->last_count++;
    }
    uint64_t count = ++summing->lasts[*at];
    struct collective_row *to = &summing->ret->items[row];
    if (count > to->last_count) {
        to->last_count = count;
        to->last_host = run->host;
        to->last_device = run->device;
    }
}

static void add_run(struct summing *summing, uint32_t index, const struct collective_run *run)
{
    struct collective_row *row = &summing->ret->items[index];
    const struct collective *item = &summing->found->items[run->collective];

    compare_words(row, summing, run);
    row->count++;
    row->total_ps = ps_sum(row->total_ps, run->inside_ps);
    row->hidden_ps = ps_sum(row->hidden_ps, run->hidden_ps);
    row->exposed_ps = ps_sum(row->exposed_ps, run->inside_ps - run->hidden_ps);
    row->blocked_ps = ps_sum(row->blocked_ps, run->blocked_ps);
    row->done_count += run->has_done;
    row->min_ps = run->dur_ps < row->min_ps ? run->dur_ps : row->min_ps;
    if (row->longest == NO_SLICE || run->dur_ps > row->max_ps) {
        row->max_ps = run->dur_ps;
        row->longest = run->slice;
        row->longest_host = run->host;
        row->longest_start_ps = run->start_ps;
    }
    add_rate(row, item, run);
    if (run->wait_ps < 0)
        return;
    row->known_count++;
    row->known_ps = ps_sum(row->known_ps, run->dur_ps);
    row->wait_ps = ps_sum(row->wait_ps, run->wait_ps);
    if (!run->is_last)
        return;
    row->turn_count++;
    row->spread_ps = ps_sum(row->spread_ps, run->late_ps);
    add_last(summing, index, run);
}

void collectives_rows(const struct run_traces *run, const struct collectives *collectives,
                      enum collective_by by, struct arena *arena, struct collective_rows *ret)
{
    struct summing summing = {
        .run = run, .found = collectives, .by = by, .arena = arena, .ret = ret};
    uint32_t last_item = UINT32_MAX;
    uint64_t key = 0;

    *ret = (struct collective_rows){0};
    for (uint32_t i = 0; i < collectives->run_count; i++) {
        const struct collective_run *one = &collectives->runs[i];

        if (one->collective != last_item || by == COLLECTIVE_BY_DEVICE || by == COLLECTIVE_BY_HOST)
            key = key_of(&summing, one);
        last_item = one->collective;
        add_run(&summing, row_for(&summing, one, key), one);
        ret->total_ps = ps_sum(ret->total_ps, one->inside_ps);
        ret->exposed_ps = ps_sum(ret->exposed_ps, one->inside_ps - one->hidden_ps);
        if (one->wait_ps > 0)
            ret->wait_ps = ps_sum(ret->wait_ps, one->wait_ps);
    }
    map64_free(&summing.row_of);
    map64_free(&summing.last_of);
    map64_free(&summing.place_of);
    free(summing.lasts);
}
