/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers joined by direction, size, stream or caller. Sums are of what is known: a joined row
 * says how many of its transfers have no size. */
#include <stdlib.h>

#include "analyse/comm/transfers_parts.h"
#include "analyse/stats/map64.h"
#include "analyse/steps/step_of.h"
#include "analyse/table.h"
#include "base/hash.h"
#include "trace/ps.h"

enum group_column {
    GROUP_KEY,
    GROUP_DIRECTION,
    GROUP_HOST,
    GROUP_ROWS,
    GROUP_BYTES,
    GROUP_UNSIZED,
    GROUP_TOTAL,
    GROUP_SHARE,
    GROUP_RATE,
    GROUP_MEAN,
    GROUP_MIN,
    GROUP_MAX,
    GROUP_OVERLAPPED,
    GROUP_OVERLAPPED_SHARE,
    GROUP_BLOCKING_COUNT,
    GROUP_BLOCKING,
    GROUP_PINNED,
    GROUP_PAGEABLE,
    GROUP_STEPS,
    GROUP_SLICE,
    GROUP_START,
};

static const struct column columns[] = {
    [GROUP_KEY] = {"key", "Transfers", UNIT_TEXT, true},
    [GROUP_DIRECTION] = {"direction", "Direction", UNIT_TEXT, false},
    [GROUP_HOST] = {"host", "Host", UNIT_TEXT, false},
    [GROUP_ROWS] = {"count", "Count", UNIT_COUNT, true},
    [GROUP_BYTES] = {"bytes", "Bytes", UNIT_BYTES, true},
    [GROUP_UNSIZED] = {"unsized_count", "Without size", UNIT_COUNT, false},
    [GROUP_TOTAL] = {"total_ps", "Total", UNIT_PS, true},
    [GROUP_SHARE] = {"share", "Share", UNIT_SHARE, true},
    [GROUP_RATE] = {"bytes_per_s", "Bandwidth", UNIT_PER_S, true},
    [GROUP_MEAN] = {"mean_ps", "Mean", UNIT_PS, true},
    [GROUP_MIN] = {"min_ps", "Min", UNIT_PS, false},
    [GROUP_MAX] = {"max_ps", "Max", UNIT_PS, false},
    [GROUP_OVERLAPPED] = {"overlapped_ps", "Overlapped", UNIT_PS, false},
    [GROUP_OVERLAPPED_SHARE] = {"overlapped_share", "Overlapped", UNIT_SHARE, true},
    [GROUP_BLOCKING_COUNT] = {"blocking_count", "Blocking", UNIT_COUNT, true},
    [GROUP_BLOCKING] = {"blocking_ps", "Blocking", UNIT_PS, false},
    [GROUP_PINNED] = {"pinned_count", "Pinned", UNIT_COUNT, false},
    [GROUP_PAGEABLE] = {"pageable_count", "Pageable", UNIT_COUNT, true},
    [GROUP_STEPS] = {"steps", "Steps", UNIT_TEXT, false},
    [GROUP_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
    [GROUP_START] = {"start_ps", "Start", UNIT_PS, false},
};

/* Sizes from ... up to the next. */
static const struct {
    int64_t from_bytes;
    const char *words;
} size_classes[] = {
    {INT64_MIN, "unknown"},        {0, "below 1 KiB"},
    {1 << 10, "1 KiB to 16 KiB"},  {1 << 14, "16 KiB to 256 KiB"},
    {1 << 18, "256 KiB to 4 MiB"}, {1 << 22, "4 MiB to 64 MiB"},
    {1 << 26, "64 MiB to 1 GiB"},  {1 << 30, "1 GiB and more"},
};

struct group {
    struct str key;
    const struct transfer *first;   /* in time */
    const struct transfer *longest; /* the link */
    bool one_direction, one_host;
    uint64_t count, unsized_count;
    int64_t bytes, sized_ps;
    int64_t total_ps, min_ps, max_ps;
    int64_t overlapped_ps, overlap_known_ps;
    uint64_t blocking_count, wait_known_count, pinned_count, pageable_count, memory_known_count;
    uint64_t without_memory_count; /* nothing of the host's takes part */
    int64_t blocking_ps;
    struct step_numbers numbers;
    struct str steps;
};

struct grouping {
    const struct run_traces *run;
    const struct transfers *transfers;
    struct arena *arena;
    struct group *groups;
    uint32_t count;
    int64_t total_ps;
};

static uint32_t size_class_of(int64_t bytes)
{
    uint32_t at = COUNT(size_classes) - 1;

    while (bytes < size_classes[at].from_bytes)
        at--;
    return at;
}

static struct str stream_key(const struct grouping *grouping, const struct transfer *transfer)
{
    const struct host_trace *host = &grouping->run->hosts[transfer->host];
    struct str stream = trace_name(host->trace, host->trace->tracks[transfer->track].name);
    struct str many = grouping->run->host_count > 1 ? host->name : STR("");
    const char *between = many.count > 0 ? " / " : "";

    if (transfer->device >= 0)
        return str_format(grouping->arena, "%.*s%sdevice %d / %.*s", STR_ARG(many), between,
                          transfer->device, STR_ARG(stream));
    return str_format(grouping->arena, "%.*s%s%.*s", STR_ARG(many), between, STR_ARG(stream));
}

/* The row's words; "" unknown. */
static struct str key_of(const struct grouping *grouping, const struct transfer *transfer,
                         enum transfers_by by)
{
    switch (by) {
    case TRANSFERS_BY_SIZE:
        return str_of(size_classes[size_class_of(transfer->bytes)].words);
    case TRANSFERS_BY_STREAM:
        return stream_key(grouping, transfer);
    case TRANSFERS_BY_CALLER:
        return transfer->caller;
    default:
        return str_of(transfer_direction_word(transfer->direction));
    }
}

/* What tells rows apart; a track's number is shorter than its words. */
static uint64_t hash_of(const struct transfer *transfer, enum transfers_by by)
{
    switch (by) {
    case TRANSFERS_BY_SIZE:
        return size_class_of(transfer->bytes);
    case TRANSFERS_BY_STREAM:
        return map64_pair(transfer->host, transfer->track);
    case TRANSFERS_BY_CALLER:
        return hash64((struct bytes){(const uint8_t *)transfer->caller.at, transfer->caller.count});
    default:
        return transfer->direction;
    }
}

static void add(struct group *group, const struct transfer *transfer)
{
    group->one_direction &= transfer->direction == group->first->direction;
    group->one_host &= transfer->host == group->first->host;
    group->longest = transfer->dur_ps > group->longest->dur_ps ? transfer : group->longest;
    group->count++;
    ps_add(&group->total_ps, transfer->dur_ps);
    group->min_ps = transfer->dur_ps < group->min_ps ? transfer->dur_ps : group->min_ps;
    group->max_ps = transfer->dur_ps > group->max_ps ? transfer->dur_ps : group->max_ps;
    if (transfer->bytes < 0 || __builtin_add_overflow(group->bytes, transfer->bytes, &group->bytes))
        group->unsized_count++;
    else
        ps_add(&group->sized_ps, transfer->dur_ps);
    if (transfer->overlapped_ps >= 0) {
        ps_add(&group->overlapped_ps, transfer->overlapped_ps);
        ps_add(&group->overlap_known_ps, transfer->dur_ps);
    }
    group->wait_known_count += transfer->wait != WAIT_UNKNOWN;
    if (transfer->wait == WAIT_BLOCKS) {
        group->blocking_count++;
        ps_add(&group->blocking_ps, transfer->dur_ps);
    }
    group->pinned_count += transfer->memory == MEMORY_PINNED;
    group->pageable_count += transfer->memory == MEMORY_PAGEABLE;
    group->memory_known_count += transfer->memory > MEMORY_NONE;
    group->without_memory_count += transfer->memory == MEMORY_NONE;
    if (transfer->in_step)
        step_numbers_add(&group->numbers, transfer->step);
}

static void join(struct grouping *grouping, enum transfers_by by)
{
    struct map64 groups = {0};

    grouping->groups =
        arena_array(grouping->arena, struct group, (size_t)grouping->transfers->count + 1);
    for (uint32_t i = 0; i < grouping->transfers->count; i++) {
        const struct transfer *transfer = &grouping->transfers->items[i];
        uint32_t *at = map64_at(&groups, hash_of(transfer, by), UINT32_MAX);

        if (*at == UINT32_MAX) {
            *at = grouping->count++;
            grouping->groups[*at] = (struct group){
                .key = key_of(grouping, transfer, by),
                .first = transfer,
                .longest = transfer,
                .one_direction = true,
                .one_host = true,
                .min_ps = INT64_MAX,
            };
        }
        add(&grouping->groups[*at], transfer);
        ps_add(&grouping->total_ps, transfer->dur_ps);
    }
    for (uint32_t i = 0; i < grouping->count; i++)
        grouping->groups[i].steps = step_numbers_end(&grouping->groups[i].numbers, grouping->arena);
    map64_free(&groups);
}

static struct cell count_cell(uint64_t count)
{
    return (struct cell){.kind = CELL_UNSIGNED, .of.uint = count};
}

static const char no_size[] = "the profile records no size of these transfers";
static const char no_overlap[] = "which device computed meanwhile is not known";
static const char no_call[] = "the profile does not link them to calls";

static struct cell memory_count_cell(const struct group *group, uint64_t count)
{
    if (group->memory_known_count > 0)
        return count_cell(count);
    return cell_null(group->without_memory_count == group->count
                         ? STR("no memory of the host takes part")
                         : STR("the profile does not say what memory of the host takes part"));
}

static struct cell size_cell(const struct group *group, enum group_column column)
{
    if (group->unsized_count == group->count)
        return cell_null(str_of(no_size));
    if (column == GROUP_BYTES)
        return cell_integer(group->bytes);
    if (group->sized_ps <= 0)
        return cell_null(STR("they take no time"));
    return cell_of_sum(group->sized_ps,
                       cell_real((double)group->bytes / ((double)group->sized_ps / 1e12)));
}

static struct cell overlap_cell(const struct group *group, enum group_column column)
{
    if (group->overlap_known_ps <= 0)
        return cell_null(str_of(no_overlap));
    if (column == GROUP_OVERLAPPED)
        return cell_integer(group->overlapped_ps);
    return cell_of_sum(group->overlap_known_ps,
                       cell_real((double)group->overlapped_ps / (double)group->overlap_known_ps));
}

static struct cell text_cell(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell place_cell(const struct grouping *grouping, const struct group *group,
                              enum group_column column)
{
    const struct host_trace *host = &grouping->run->hosts[group->first->host];

    switch (column) {
    case GROUP_KEY:
        return text_cell(group->key, "the profile does not say");
    case GROUP_DIRECTION:
        return text_cell(
            group->one_direction ? str_of(transfer_direction_word(group->first->direction))
                                 : STR(""),
            group->one_direction ? "the profile does not say" : "they have several directions");
    case GROUP_HOST:
        return text_cell(group->one_host ? host->name : STR(""), "of several hosts");
    case GROUP_STEPS:
        return text_cell(group->steps, grouping->transfers->has_steps
                                           ? "all of them lie outside of steps"
                                           : "the run has no steps");
    default:
        return cell_text(str_format(grouping->arena, "%.*s-%u",
                                    STR_ARG(grouping->run->hosts[group->longest->host].key),
                                    group->longest->slice));
    }
}

static struct cell group_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct grouping *grouping = data;
    const struct group *group = &grouping->groups[row];

    switch (column) {
    case GROUP_ROWS:
        return count_cell(group->count);
    case GROUP_BYTES:
    case GROUP_RATE:
        return size_cell(group, (enum group_column)column);
    case GROUP_UNSIZED:
        return count_cell(group->unsized_count);
    case GROUP_TOTAL:
        return cell_integer(group->total_ps);
    case GROUP_SHARE:
        return grouping->total_ps > 0
                   ? cell_of_sum(grouping->total_ps,
                                 cell_real((double)group->total_ps / (double)grouping->total_ps))
                   : cell_null(STR("all transfers take no time"));
    case GROUP_MEAN:
        return cell_of_sum(group->total_ps, cell_integer(group->total_ps / (int64_t)group->count));
    case GROUP_MIN:
        return cell_integer(group->min_ps);
    case GROUP_MAX:
        return cell_integer(group->max_ps);
    case GROUP_OVERLAPPED:
    case GROUP_OVERLAPPED_SHARE:
        return overlap_cell(group, (enum group_column)column);
    case GROUP_BLOCKING_COUNT:
        return group->wait_known_count > 0 ? count_cell(group->blocking_count)
                                           : cell_null(str_of(no_call));
    case GROUP_BLOCKING:
        return group->wait_known_count > 0 ? cell_integer(group->blocking_ps)
                                           : cell_null(str_of(no_call));
    case GROUP_PINNED:
        return memory_count_cell(group, group->pinned_count);
    case GROUP_PAGEABLE:
        return memory_count_cell(group, group->pageable_count);
    case GROUP_START:
        return cell_integer(group->first->start_ps);
    default:
        return place_cell(grouping, group, (enum group_column)column);
    }
}

enum status transfer_groups_table(const struct run_traces *run, const struct transfers *transfers,
                                  enum transfers_by by, const struct page *page,
                                  struct arena *arena, struct table *ret, struct error *err)
{
    struct grouping *grouping = arena_new(arena, struct grouping);
    struct table_source source = {
        .columns = columns, .column_count = COUNT(columns), .cell = group_cell, .data = grouping};
    uint32_t *order;

    *grouping = (struct grouping){.run = run, .transfers = transfers, .arena = arena};
    join(grouping, by);
    source.row_count = grouping->count;
    TRY(table_order(&source, page->sort, "-total_ps,key", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    ret->total_ps = grouping->total_ps;
    return OK;
}
