/* SPDX-License-Identifier: Apache-2.0 */
/* Idle time as tables: a row a device and cause, or a row a gap. */
#include "analyse/stats/map64.h"
#include "analyse/steps/idle.h"
#include "analyse/table.h"
#include "trace/ps.h"

enum cause_column {
    CAUSE_HOST,
    CAUSE_DEVICE,
    CAUSE_WORD,
    CAUSE_IDLE,
    CAUSE_OF_IDLE,
    CAUSE_OF_TIME,
    CAUSE_LONGEST,
    CAUSE_LONGEST_START,
};

static const struct column cause_columns[] = {
    [CAUSE_HOST] = {"host", "Host", UNIT_TEXT, true},
    [CAUSE_DEVICE] = {"device", "Device", UNIT_NONE, true},
    [CAUSE_WORD] = {"cause", "Host meanwhile", UNIT_TEXT, true},
    [CAUSE_IDLE] = {"idle_ps", "Idle", UNIT_PS, true},
    [CAUSE_OF_IDLE] = {"share", "Of idle", UNIT_SHARE, true},
    [CAUSE_OF_TIME] = {"share_of_time", "Of time", UNIT_SHARE, true},
    [CAUSE_LONGEST] = {"longest_ps", "Longest gap", UNIT_PS, true},
    [CAUSE_LONGEST_START] = {"longest_start_ps", "At", UNIT_PS, true},
};

struct cause_row {
    const struct idle_device *device;
    enum host_doing doing;
    const struct gap *longest; /* NULL: none of those kept */
};

struct cause_rows {
    const struct run_traces *run;
    const struct cause_row *rows;
};

static struct cell share_cell(int64_t part_ps, int64_t whole_ps)
{
    return whole_ps > 0 ? cell_real((double)part_ps / (double)whole_ps)
                        : cell_null(STR("there is no time to share"));
}

static struct cell cause_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct cause_rows *rows = data;
    const struct cause_row *cause = &rows->rows[row];
    const struct idle_device *device = cause->device;
    int64_t idle_ps = device->time.doing_ps[cause->doing];

    switch (column) {
    case CAUSE_HOST:
        return cell_text(rows->run->hosts[device->host].name);
    case CAUSE_DEVICE:
        return cell_integer(device->device);
    case CAUSE_WORD:
        return cell_text(str_of(doing_word(cause->doing)));
    case CAUSE_IDLE:
        return cell_integer(idle_ps);
    case CAUSE_OF_IDLE:
        return share_cell(idle_ps, device->window_ps - device->time.busy_ps);
    case CAUSE_OF_TIME:
        return share_cell(idle_ps, device->window_ps);
    case CAUSE_LONGEST:
        return cause->longest != NULL ? cell_integer(cause->longest->dur_ps)
                                      : cell_null(STR("no gap has mostly this cause"));
    default:
        return cause->longest != NULL ? cell_integer(cause->longest->start_ps)
                                      : cell_null(STR("no gap has mostly this cause"));
    }
}

enum gap_column {
    GAP_HOST,
    GAP_DEVICE,
    GAP_START,
    GAP_DUR,
    GAP_CAUSE,
    GAP_CAUSE_TIME,
    GAP_STEP,
    GAP_BEFORE,
    GAP_AFTER,
};

static const struct column gap_columns[] = {
    [GAP_HOST] = {"host", "Host", UNIT_TEXT, true},
    [GAP_DEVICE] = {"device", "Device", UNIT_NONE, true},
    [GAP_START] = {"start_ps", "Start", UNIT_PS, true},
    [GAP_DUR] = {"dur_ps", "Idle", UNIT_PS, true},
    [GAP_CAUSE] = {"cause", "Host meanwhile", UNIT_TEXT, true},
    [GAP_CAUSE_TIME] = {"cause_ps", "Of it", UNIT_PS, false},
    [GAP_STEP] = {"step", "Step", UNIT_NONE, true},
    [GAP_BEFORE] = {"before", "After op", UNIT_TEXT, true},
    [GAP_AFTER] = {"after", "Before op", UNIT_TEXT, true},
};

struct gap_rows {
    const struct run_traces *run;
    const struct gap *gaps;
};

static struct cell slice_cell(const struct host_trace *host, slice_id slice)
{
    return slice == NO_SLICE
               ? cell_null(STR("the device ran nothing there"))
               : cell_text(trace_name(host->trace, trace_slice(host->trace, slice).name));
}

static struct cell gap_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct gap_rows *rows = data;
    const struct gap *gap = &rows->gaps[row];
    const struct host_trace *host = &rows->run->hosts[gap->host];

    switch (column) {
    case GAP_HOST:
        return cell_text(host->name);
    case GAP_DEVICE:
        return cell_integer(gap->device);
    case GAP_START:
        return cell_integer(gap->start_ps);
    case GAP_DUR:
        return cell_integer(gap->dur_ps);
    case GAP_CAUSE:
        return cell_text(str_of(doing_word(gap->doing)));
    case GAP_CAUSE_TIME:
        return cell_integer(gap->doing_ps);
    case GAP_STEP:
        return gap->step == NO_STEP ? cell_null(STR("the run has no steps"))
                                    : cell_integer(gap->step);
    case GAP_BEFORE:
        return slice_cell(host, gap->before);
    default:
        return slice_cell(host, gap->after);
    }
}

static bool device_asked(const struct restriction *restriction, int32_t device)
{
    for (uint32_t i = 0; i < restriction->device_count; i++) {
        if (restriction->devices[i] == device)
            return true;
    }
    return restriction->device_count == 0;
}

static enum status find(const struct run_traces *run, const struct restriction *restriction,
                        struct arena *arena, struct idle *ret, struct error *err)
{
    struct steps steps;

    TRY(steps_find(run, restriction, arena, &steps, err));
    idle_find(run, restriction, &steps, arena, ret);
    return OK;
}

static void say_basis(const struct idle *idle, struct arena *arena, struct table *ret)
{
    struct answer_note *notes = arena_array(arena, struct answer_note, 2);

    notes[0] = (struct answer_note){
        .kind = "idle-basis",
        .severity = NOTE_INFO,
        .message = idle->of_steps
                       ? STR("idle is the time of the counted steps in which a device runs no op; "
                             "its cause is what the stepping thread did meanwhile")
                       : STR("there are no steps, so idle is the time of the capture in which a "
                             "device runs no op; its cause is what the host thread did meanwhile"),
        .count = 1,
    };
    ret->notes = notes;
    ret->note_count = 1;
    if (idle->gap_count_all > idle->gap_count)
        notes[ret->note_count++] = (struct answer_note){
            .kind = "gaps-kept",
            .severity = NOTE_INFO,
            .message = str_format(arena, "only the longest %u of %llu gaps are listed",
                                  idle->gap_count, (unsigned long long)idle->gap_count_all),
            .count = idle->gap_count_all - idle->gap_count,
        };
}

/* By device and cause, of all devices: the longest gap comes first. */
static const struct gap **find_longest(const struct idle *idle, struct arena *arena)
{
    const struct gap **longest =
        arena_array(arena, const struct gap *, (size_t)idle->device_count *DOING_COUNT);
    struct map64 devices = {0};

    for (uint32_t i = 0; i < idle->device_count; i++)
        map64_at(&devices, map64_pair(idle->devices[i].host, (uint32_t)idle->devices[i].device), i);
    for (uint32_t i = 0; i < idle->gap_count; i++) {
        const struct gap *gap = &idle->gaps[i];
        uint32_t device;

        if (!map64_get(&devices, map64_pair(gap->host, (uint32_t)gap->device), &device))
            continue;

        const struct gap **first = &longest[(size_t)device * DOING_COUNT + gap->doing];

        *first = *first == NULL ? gap : *first;
    }
    map64_free(&devices);
    return longest;
}

enum status idle_table(const struct run_traces *run, const struct restriction *restriction,
                       const struct page *page, struct arena *arena, struct table *ret,
                       struct error *err)
{
    struct idle *idle = arena_new(arena, struct idle);
    struct cause_rows rows = {.run = run};
    struct table_source source = {.columns = cause_columns,
                                  .column_count = COUNT(cause_columns),
                                  .cell = cause_cell,
                                  .data = &rows};
    uint32_t *order;

    *ret = (struct table){0};
    TRY(find(run, restriction, arena, idle, err));

    struct cause_row *causes =
        arena_array(arena, struct cause_row, (size_t)idle->device_count * DOING_COUNT);
    const struct gap **longest = find_longest(idle, arena);

    rows.rows = causes;
    for (uint32_t i = 0; i < idle->device_count; i++) {
        const struct idle_device *device = &idle->devices[i];

        if (!device_asked(restriction, device->device))
            continue;
        for (int doing = 0; doing < DOING_COUNT; doing++) {
            struct cause_row row = {.device = device,
                                    .doing = (enum host_doing)doing,
                                    .longest = longest[(size_t)i * DOING_COUNT + (size_t)doing]};

            if (device->time.doing_ps[doing] > 0)
                causes[source.row_count++] = row;
            ps_add(&ret->total_ps, device->time.doing_ps[doing]);
        }
    }
    TRY(table_order(&source, page->sort, "-idle_ps", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    say_basis(idle, arena, ret);
    ret->by = STR("cause");
    ret->of = STR("device");
    return OK;
}

enum status gaps_table(const struct run_traces *run, const struct restriction *restriction,
                       const struct page *page, struct arena *arena, struct table *ret,
                       struct error *err)
{
    struct idle *idle = arena_new(arena, struct idle);
    struct gap_rows rows = {.run = run};
    struct table_source source = {.columns = gap_columns,
                                  .column_count = COUNT(gap_columns),
                                  .cell = gap_cell,
                                  .data = &rows};
    uint32_t *order;

    *ret = (struct table){0};
    TRY(find(run, restriction, arena, idle, err));

    struct gap *gaps = arena_array(arena, struct gap, idle->gap_count);

    rows.gaps = gaps;
    for (uint32_t i = 0; i < idle->gap_count; i++) {
        if (!device_asked(restriction, idle->gaps[i].device))
            continue;
        gaps[source.row_count++] = idle->gaps[i];
        ps_add(&ret->total_ps, idle->gaps[i].dur_ps);
    }
    TRY(table_order(&source, page->sort, "-dur_ps", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    say_basis(idle, arena, ret);
    ret->by = STR("gap");
    ret->of = STR("device");
    return OK;
}
