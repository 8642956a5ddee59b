/* SPDX-License-Identifier: Apache-2.0 */
/* The table of collectives: sums by one property. */
#include "analyse/comm/collectives.h"

#include "analyse/comm/collective_text.h"
#include "analyse/comm/collectives_rows.h"
#include "analyse/table.h"

enum row_column {
    ROW_NAME,
    ROW_KIND,
    ROW_AXIS,
    ROW_GROUP_SIZE,
    ROW_BYTES,
    ROW_COUNT,
    ROW_TOTAL,
    ROW_EXPOSED,
    ROW_HIDDEN,
    ROW_EXPOSED_SHARE,
    ROW_SHARE,
    ROW_MEAN,
    ROW_MIN,
    ROW_MAX,
    ROW_BUS,
    ROW_WAIT,
    ROW_WAIT_SHARE,
    ROW_LAST,
    ROW_LAST_SHARE,
    ROW_ALGORITHM,
    ROW_PROTOCOL,
    ROW_DTYPE,
    ROW_ASYNC,
    ROW_BLOCKED,
    ROW_SPREAD,
    ROW_MOVING_BUS,
    ROW_ALG,
    ROW_BUS_FACTOR,
    ROW_BYTES_TOTAL,
    ROW_GROUP_COUNT,
    ROW_MEMBERS,
    ROW_MODULE,
    ROW_SCOPE,
    ROW_HOST,
    ROW_DEVICE,
    ROW_LONGEST,
    ROW_LONGEST_START,
};

static const struct column columns[] = {
    [ROW_NAME] = {"name", "Name", UNIT_TEXT, true},
    [ROW_KIND] = {"kind", "Kind", UNIT_TEXT, true},
    [ROW_AXIS] = {"axis", "Group", UNIT_TEXT, true},
    [ROW_GROUP_SIZE] = {"group_size", "Devices", UNIT_COUNT, false},
    [ROW_BYTES] = {"bytes", "Size", UNIT_BYTES, true},
    [ROW_COUNT] = {"count", "Count", UNIT_COUNT, true},
    [ROW_TOTAL] = {"total_ps", "Total", UNIT_PS, true},
    [ROW_EXPOSED] = {"exposed_ps", "Exposed", UNIT_PS, true},
    [ROW_HIDDEN] = {"hidden_ps", "Hidden", UNIT_PS, false},
    [ROW_EXPOSED_SHARE] = {"exposed_share", "Exposed", UNIT_SHARE, true},
    [ROW_SHARE] = {"share", "Share", UNIT_SHARE, false},
    [ROW_MEAN] = {"mean_ps", "Mean", UNIT_PS, true},
    [ROW_MIN] = {"min_ps", "Min", UNIT_PS, false},
    [ROW_MAX] = {"max_ps", "Max", UNIT_PS, false},
    [ROW_BUS] = {"bus_bytes_per_s", "Bus", UNIT_PER_S, true},
    [ROW_WAIT] = {"wait_ps", "Wait", UNIT_PS, true},
    [ROW_WAIT_SHARE] = {"wait_share", "Wait", UNIT_SHARE, false},
    [ROW_LAST] = {"last", "Last to come", UNIT_TEXT, true},
    [ROW_LAST_SHARE] = {"last_share", "Last", UNIT_SHARE, false},
    [ROW_ALGORITHM] = {"algorithm", "Algorithm", UNIT_TEXT, false},
    [ROW_PROTOCOL] = {"protocol", "Protocol", UNIT_TEXT, false},
    [ROW_DTYPE] = {"dtype", "Type", UNIT_TEXT, false},
    [ROW_ASYNC] = {"async", "Asynchronous", UNIT_NONE, false},
    [ROW_BLOCKED] = {"blocked_ps", "In its done", UNIT_PS, false},
    [ROW_SPREAD] = {"spread_ps", "First to last", UNIT_PS, false},
    [ROW_MOVING_BUS] = {"moving_bus_bytes_per_s", "Bus without wait", UNIT_PER_S, false},
    [ROW_ALG] = {"alg_bytes_per_s", "Algorithm", UNIT_PER_S, false},
    [ROW_BUS_FACTOR] = {"bus_factor", "Bus factor", UNIT_NONE, false},
    [ROW_BYTES_TOTAL] = {"bytes_total", "Bytes", UNIT_BYTES, false},
    [ROW_GROUP_COUNT] = {"group_count", "Groups", UNIT_COUNT, false},
    [ROW_MEMBERS] = {"members", "Members", UNIT_TEXT, false},
    [ROW_MODULE] = {"module", "Module", UNIT_TEXT, false},
    [ROW_SCOPE] = {"scope", "Scope", UNIT_TEXT, false},
    [ROW_HOST] = {"host", "Host", UNIT_TEXT, false},
    [ROW_DEVICE] = {"device", "Device", UNIT_NONE, false},
    [ROW_LONGEST] = {"longest", "Longest", UNIT_TEXT, false},
    [ROW_LONGEST_START] = {"longest_start_ps", "Longest begins", UNIT_PS, false},
};

struct shown {
    const struct run_traces *run;
    const struct collectives *found;
    struct collective_rows rows;
    enum collective_by by;
    struct arena *arena;
};

static struct cell text_or(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell share(int64_t part, int64_t whole)
{
    return whole > 0 ? cell_of_sum(whole, cell_real((double)part / (double)whole))
                     : cell_null(STR("they took no time"));
}

static struct cell rate(double bytes, int64_t ps, const char *reason)
{
    return ps > 0 ? cell_of_sum(ps, cell_real(bytes * 1e12 / (double)ps))
                  : cell_null(str_of(reason));
}

/* What the row's collectives have in common; of one alone its own words. */
static struct cell word_cell(const struct shown *shown, const struct collective_row *row,
                             uint32_t column)
{
    const struct collective *item = &shown->found->items[row->item];
    const char *mixed = "the row combines several";

    switch (column) {
    case ROW_KIND:
        return row->same_kind ? cell_text(str_of(collective_kind_word(item->kind)))
                              : cell_null(str_of(mixed));
    case ROW_AXIS:
        return !row->same_axis ? cell_null(str_of(mixed))
                               : text_or(item->axis, "the file does not say who takes part");
    case ROW_GROUP_SIZE:
        return !row->same_size   ? cell_null(str_of(mixed))
               : item->size == 0 ? cell_null(STR("the file does not say who takes part"))
                                 : cell_integer(item->size);
    case ROW_BYTES:
        return !row->same_bytes   ? cell_null(STR("the row combines several sizes"))
               : !item->has_bytes ? cell_null(str_of(item->reason))
                                  : (struct cell){.kind = CELL_UNSIGNED, .of.uint = item->bytes};
    case ROW_BUS_FACTOR:
        return !row->same_kind || !row->same_size ? cell_null(str_of(mixed))
               : collective_bus_factor(item->kind, item->size) == 0
                   ? cell_null(STR("its kind or size of group is not known"))
                   : cell_real(collective_bus_factor(item->kind, item->size));
    }
    if (!row->same_item)
        return cell_null(str_of(mixed));
    switch (column) {
    case ROW_ALGORITHM:
        return text_or(item->algorithm, "no kernel's name says it");
    case ROW_PROTOCOL:
        return text_or(item->protocol, "no kernel's name says it");
    case ROW_DTYPE:
        return text_or(item->dtype, "the file does not say it");
    case ROW_ASYNC:
        return cell_bool(item->is_async);
    case ROW_GROUP_COUNT:
        return item->groups.form == GROUPS_UNKNOWN
                   ? cell_null(STR("the file does not say who takes part"))
                   : cell_integer(item->groups.group_count);
    case ROW_MEMBERS:
        return text_or(replica_groups_members(&item->groups, shown->arena),
                       item->groups.form == GROUPS_EVERYBODY ? "everybody"
                                                             : "the file does not say them");
    case ROW_MODULE:
        return text_or(item->module, "not part of a compiled module");
    default:
        return text_or(item->scope, "the file holds no scope of it");
    }
}

static struct cell place_cell(const struct shown *shown, const struct collective_row *row,
                              uint32_t column)
{
    bool by_place = shown->by == COLLECTIVE_BY_DEVICE || shown->by == COLLECTIVE_BY_HOST;

    if (column == ROW_HOST)
        return cell_text(shown->run->hosts[by_place ? row->host : row->longest_host].name);
    if (column == ROW_DEVICE)
        return shown->by == COLLECTIVE_BY_DEVICE ? cell_integer(row->device)
                                                 : cell_null(STR("the row combines several"));
    if (column == ROW_LONGEST_START)
        return cell_integer(row->longest_start_ps);
    return cell_text(str_format(shown->arena, "%.*s-%u",
                                STR_ARG(shown->run->hosts[row->longest_host].key), row->longest));
}

static struct cell wait_cell(const struct shown *shown, const struct collective_row *row,
                             uint32_t column)
{
    const char *reason = shown->found->wait_reason != NULL
                             ? shown->found->wait_reason
                             : "its executions on other devices could not be identified";

    if (column == ROW_MOVING_BUS)
        return row->known_count == 0
                   ? cell_null(str_of(reason))
                   : rate(row->moving_bus_bytes, row->moving_ps, "its size or group is not known");
    if (row->known_count == 0)
        return cell_null(str_of(reason));
    if (column == ROW_WAIT)
        return cell_integer(row->wait_ps);
    if (column == ROW_WAIT_SHARE)
        return share(row->wait_ps, row->known_ps);
    if (row->turn_count == 0)
        return cell_null(STR("none of these was last"));
    if (column == ROW_LAST_SHARE)
        return cell_real((double)row->last_count / (double)row->turn_count);
    if (column == ROW_SPREAD)
        return cell_of_sum(row->spread_ps, cell_integer(row->spread_ps / (int64_t)row->turn_count));
    struct str host = shown->run->hosts[row->last_host].name;
    return cell_text(
        shown->run->host_count == 1
            ? str_format(shown->arena, "device %d", row->last_device)
            : str_format(shown->arena, "%.*s device %d", STR_ARG(host), row->last_device));
}

static struct cell row_cell(const void *data, uint32_t index, uint32_t column)
{
    const struct shown *shown = data;
    const struct collective_row *row = &shown->rows.items[index];
    const char *unknown = "its size is not known";

    switch (column) {
    case ROW_NAME:
        return text_or(row->name, "the file does not say it");
    case ROW_COUNT:
        return cell_integer((int64_t)row->count);
    case ROW_TOTAL:
        return cell_integer(row->total_ps);
    case ROW_EXPOSED:
        return cell_integer(row->exposed_ps);
    case ROW_HIDDEN:
        return cell_integer(row->hidden_ps);
    case ROW_EXPOSED_SHARE:
        return share(row->exposed_ps, row->total_ps);
    case ROW_SHARE:
        return share(row->total_ps, shown->rows.total_ps);
    case ROW_MEAN:
        return cell_of_sum(row->total_ps, cell_integer(row->total_ps / (int64_t)row->count));
    case ROW_MIN:
        return cell_integer(row->min_ps);
    case ROW_MAX:
        return cell_integer(row->max_ps);
    case ROW_BLOCKED:
        return row->done_count > 0 ? cell_integer(row->blocked_ps)
                                   : cell_null(STR("the profile holds no done of any of these"));
    case ROW_BYTES_TOTAL:
        return row->rated_count == 0 && row->bytes_sum == 0
                   ? cell_null(str_of(unknown))
                   : (struct cell){.kind = CELL_UNSIGNED, .of.uint = row->bytes_sum};
    case ROW_ALG:
        return rate(row->rated_bytes, row->rated_ps, unknown);
    case ROW_BUS:
        return row->rated_bus_bytes == 0 && row->rated_ps > 0 && row->rated_bytes > 0
                   ? cell_null(STR("the size of its group is not known, or it is of one device"))
                   : rate(row->rated_bus_bytes, row->rated_ps, unknown);
    case ROW_WAIT:
    case ROW_WAIT_SHARE:
    case ROW_LAST:
    case ROW_LAST_SHARE:
    case ROW_SPREAD:
    case ROW_MOVING_BUS:
        return wait_cell(shown, row, column);
    case ROW_HOST:
    case ROW_DEVICE:
    case ROW_LONGEST:
    case ROW_LONGEST_START:
        return place_cell(shown, row, column);
    default:
        return word_cell(shown, row, column);
    }
}

enum status collectives_of(const struct run_traces *run, const struct collectives *found,
                           const struct steps *all_steps, struct str by, const struct page *page,
                           struct arena *arena, struct table *ret, struct error *err)
{
    struct shown shown = {.run = run, .found = found, .arena = arena};
    struct table_source source = {
        .columns = columns, .column_count = COUNT(columns), .cell = row_cell, .data = &shown};
    uint32_t *order;

    *ret = (struct table){0};
    if (!collective_by_read(by, &shown.by))
        return fail(err, ERR_INVALID, "collectives are not told apart by \"%.*s\"", STR_ARG(by));
    collectives_rows(run, found, shown.by, arena, &shown.rows);
    source.row_count = shown.rows.count;
    TRY(table_order(&source, page->sort, "-exposed_ps,-total_ps,name", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    ret->by = by.count > 0 ? by : STR("op");
    ret->total_ps = shown.rows.total_ps;
    ret->total_self_ps = shown.rows.exposed_ps;
    return collectives_note(run, found, all_steps, arena, ret, err);
}

enum status collectives_table(const struct run_traces *run, const struct restriction *restriction,
                              struct str by, const struct page *page, struct arena *arena,
                              struct table *ret, struct error *err)
{
    struct collectives found;

    TRY(collectives_find(run, restriction, arena, &found, err));
    return collectives_of(run, &found, NULL, by, page, arena, ret, err);
}
