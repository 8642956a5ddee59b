/* SPDX-License-Identifier: Apache-2.0 */
/* Transfers as rows, one a transfer; joined rows are those of transfer_groups.c. */
#include "analyse/comm/transfers_parts.h"
#include "analyse/table.h"
#include "trace/ps.h"

enum transfer_column {
    TRANSFER_DIRECTION,
    TRANSFER_NAME,
    TRANSFER_HOST,
    TRANSFER_DEVICE,
    TRANSFER_TRACK,
    TRANSFER_STREAM,
    TRANSFER_SLICE,
    TRANSFER_START,
    TRANSFER_DUR,
    TRANSFER_BYTES,
    TRANSFER_RATE,
    TRANSFER_MEMORY,
    TRANSFER_BLOCKING,
    TRANSFER_OVERLAPPED,
    TRANSFER_CALLER,
    TRANSFER_LAUNCH,
    TRANSFER_STEP,
};

static const struct column columns[] = {
    [TRANSFER_DIRECTION] = {"direction", "Direction", UNIT_TEXT, true},
    [TRANSFER_NAME] = {"name", "Name", UNIT_TEXT, true},
    [TRANSFER_HOST] = {"host", "Host", UNIT_TEXT, false},
    [TRANSFER_DEVICE] = {"device", "Device", UNIT_NONE, true},
    [TRANSFER_TRACK] = {"track", "Track", UNIT_TEXT, false},
    [TRANSFER_STREAM] = {"stream", "Stream", UNIT_TEXT, false},
    [TRANSFER_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
    [TRANSFER_START] = {"start_ps", "Start", UNIT_PS, true},
    [TRANSFER_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [TRANSFER_BYTES] = {"bytes", "Bytes", UNIT_BYTES, true},
    [TRANSFER_RATE] = {"bytes_per_s", "Bandwidth", UNIT_PER_S, true},
    [TRANSFER_MEMORY] = {"memory", "Host memory", UNIT_TEXT, true},
    [TRANSFER_BLOCKING] = {"blocking", "Blocking", UNIT_NONE, true},
    [TRANSFER_OVERLAPPED] = {"overlapped_ps", "Overlapped", UNIT_PS, true},
    [TRANSFER_CALLER] = {"caller", "Caller", UNIT_TEXT, true},
    [TRANSFER_LAUNCH] = {"launch", "Launch", UNIT_TEXT, false},
    [TRANSFER_STEP] = {"step", "Step", UNIT_NONE, true},
};

struct transfer_rows {
    const struct run_traces *run;
    const struct transfers *transfers;
    struct arena *arena;
};

static struct cell rate_cell(const struct transfer *transfer)
{
    if (transfer->bytes < 0)
        return cell_null(STR("the profile records no size of it"));
    if (transfer->dur_ps <= 0)
        return cell_null(STR("it takes no time"));
    return cell_real((double)transfer->bytes / ((double)transfer->dur_ps / 1e12));
}

static struct cell memory_cell(const struct transfer *transfer)
{
    const char *word = host_memory_word(transfer->memory);

    if (word != NULL)
        return cell_text(str_of(word));
    return cell_null(transfer->memory == MEMORY_NONE
                         ? STR("no memory of the host takes part")
                         : STR("the profile does not say what memory of the host takes part"));
}

static struct cell wait_cell(const struct transfer *transfer)
{
    if (transfer->wait == WAIT_UNKNOWN)
        return cell_null(STR("the profile does not link it to a call"));
    return cell_bool(transfer->wait == WAIT_BLOCKS);
}

static struct cell text_cell(struct str text, const char *reason)
{
    return text.count > 0 ? cell_text(text) : cell_null(str_of(reason));
}

static struct cell id_cell(const struct transfer_rows *rows, const struct host_trace *host,
                           slice_id slice, const char *reason)
{
    if (slice == NO_SLICE)
        return cell_null(str_of(reason));
    return cell_text(str_format(rows->arena, "%.*s-%u", STR_ARG(host->key), slice));
}

static struct cell step_cell(const struct transfer_rows *rows, const struct transfer *transfer)
{
    if (transfer->in_step)
        return cell_integer(transfer->step);
    return cell_null(rows->transfers->has_steps ? STR("it lies outside of all steps")
                                                : STR("the run has no steps"));
}

/* What and where it is. */
static struct cell place_cell(const struct transfer_rows *rows, const struct transfer *transfer,
                              enum transfer_column column)
{
    const struct host_trace *host = &rows->run->hosts[transfer->host];
    const char *direction = transfer_direction_word(transfer->direction);

    switch (column) {
    case TRANSFER_DIRECTION:
        return text_cell(str_of(direction), "neither its name nor its call tells its direction");
    case TRANSFER_NAME:
        return cell_text(trace_name(host->trace, transfer->name));
    case TRANSFER_HOST:
        return cell_text(host->name);
    case TRANSFER_DEVICE:
        return transfer->device >= 0 ? cell_integer(transfer->device)
                                     : cell_null(STR("it is recorded on a thread of the host"));
    case TRANSFER_TRACK:
        return cell_text(str_format(rows->arena, "%.*s.%u", STR_ARG(host->key), transfer->track));
    case TRANSFER_STREAM:
        return text_cell(trace_name(host->trace, host->trace->tracks[transfer->track].name),
                         "its track has no name");
    case TRANSFER_SLICE:
        return id_cell(rows, host, transfer->slice, "");
    default:
        return id_cell(rows, host, transfer->launch, "the profile does not link it to a call");
    }
}

static struct cell transfer_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct transfer_rows *rows = data;
    const struct transfer *transfer = &rows->transfers->items[row];

    switch (column) {
    case TRANSFER_START:
        return cell_integer(transfer->start_ps);
    case TRANSFER_DUR:
        return cell_integer(transfer->dur_ps);
    case TRANSFER_BYTES:
        return transfer->bytes >= 0 ? cell_integer(transfer->bytes)
                                    : cell_null(STR("the profile records no size of it"));
    case TRANSFER_RATE:
        return rate_cell(transfer);
    case TRANSFER_MEMORY:
        return memory_cell(transfer);
    case TRANSFER_BLOCKING:
        return wait_cell(transfer);
    case TRANSFER_OVERLAPPED:
        return transfer->overlapped_ps >= 0
                   ? cell_integer(transfer->overlapped_ps)
                   : cell_null(STR("which device computed meanwhile is not known"));
    case TRANSFER_CALLER:
        return text_cell(transfer->caller, "the profile does not link it to a call");
    case TRANSFER_STEP:
        return step_cell(rows, transfer);
    default:
        return place_cell(rows, transfer, (enum transfer_column)column);
    }
}

static enum status each_table(const struct run_traces *run, const struct transfers *transfers,
                              uint32_t column_count, const struct page *page, struct arena *arena,
                              struct table *ret, struct error *err)
{
    struct transfer_rows *rows = arena_new(arena, struct transfer_rows);
    struct table_source source = {.columns = columns,
                                  .column_count = column_count,
                                  .row_count = transfers->count,
                                  .cell = transfer_cell,
                                  .data = rows};
    uint32_t *order;

    *rows = (struct transfer_rows){.run = run, .transfers = transfers, .arena = arena};
    TRY(table_order(&source, page->sort, "start_ps", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    for (uint32_t i = 0; i < transfers->count; i++)
        ps_add(&ret->total_ps, transfers->items[i].dur_ps);
    return OK;
}

bool transfer_table_of_slice(const struct host_trace *host, slice_id id, struct arena *arena,
                             struct table *ret)
{
    struct transfer *transfer = arena_new(arena, struct transfer);
    struct run_traces *run = arena_new(arena, struct run_traces);
    struct transfers *transfers = arena_new(arena, struct transfers);
    struct page page = {.limit = 1};
    struct error err = {0};

    *ret = (struct table){0};
    if (!transfer_of_slice(host, id, transfer))
        return false;
    *run = (struct run_traces){.hosts = host, .host_count = 1};
    *transfers = (struct transfers){.items = transfer, .count = 1};
    return each_table(run, transfers, TRANSFER_STEP, &page, arena, ret, &err) == OK;
}

enum status transfers_of(const struct run_traces *run, const struct transfers *transfers,
                         struct str by, const struct page *page, struct arena *arena,
                         struct table *ret, struct error *err)
{
    static const char *const words[] = {"direction", "size", "stream", "caller", "transfer"};
    uint32_t asked = 0;

    *ret = (struct table){0};
    while (by.count > 0 && asked < COUNT(words) && !str_equal(by, str_of(words[asked])))
        asked++;
    if (asked == COUNT(words))
        return fail(err, ERR_INVALID, "by is direction, size, stream, caller or transfer");
    if (asked == TRANSFERS_BY_TRANSFER)
        TRY(each_table(run, transfers, COUNT(columns), page, arena, ret, err));
    else
        TRY(transfer_groups_table(run, transfers, (enum transfers_by)asked, page, arena, ret, err));
    ret->by = str_of(words[asked]);
    ret->of = STR("device");
    if (ret->row_count_all == 0)
        table_tell_missing(ret, "no-transfers", transfers_missing(run), arena);
    return OK;
}

enum status transfers_table(const struct run_traces *run, const struct restriction *restriction,
                            struct str by, const struct page *page, struct arena *arena,
                            struct table *ret, struct error *err)
{
    struct transfers *transfers = arena_new(arena, struct transfers);

    TRY(transfers_find(run, restriction, NULL, arena, transfers, err));
    return transfers_of(run, transfers, by, page, arena, ret, err);
}
