/* SPDX-License-Identifier: Apache-2.0 */
/* Each execution of a collective on each device: who came when. */
#include <stdlib.h>

#include "analyse/comm/collectives_rows.h"
#include "analyse/table.h"

enum arrival_column {
    ARRIVAL_NAME,
    ARRIVAL_TURN,
    ARRIVAL_GROUP,
    ARRIVAL_HOST,
    ARRIVAL_DEVICE,
    ARRIVAL_START,
    ARRIVAL_DUR,
    ARRIVAL_WAIT,
    ARRIVAL_LATE,
    ARRIVAL_IS_LAST,
    ARRIVAL_EXPOSED,
    ARRIVAL_SLICE,
};

static const struct column arrival_columns[] = {
    [ARRIVAL_NAME] = {"name", "Name", UNIT_TEXT, true},
    [ARRIVAL_TURN] = {"turn", "Turn", UNIT_NONE, true},
    [ARRIVAL_GROUP] = {"group", "Group", UNIT_NONE, true},
    [ARRIVAL_HOST] = {"host", "Host", UNIT_TEXT, true},
    [ARRIVAL_DEVICE] = {"device", "Device", UNIT_NONE, true},
    [ARRIVAL_START] = {"start_ps", "Begin", UNIT_PS, true},
    [ARRIVAL_DUR] = {"dur_ps", "Duration", UNIT_PS, true},
    [ARRIVAL_WAIT] = {"wait_ps", "Wait", UNIT_PS, true},
    [ARRIVAL_LATE] = {"late_ps", "Behind the first", UNIT_PS, true},
    [ARRIVAL_IS_LAST] = {"last", "Last", UNIT_NONE, true},
    [ARRIVAL_EXPOSED] = {"exposed_ps", "Exposed", UNIT_PS, false},
    [ARRIVAL_SLICE] = {"slice", "Slice", UNIT_TEXT, false},
};

struct arrivals {
    const struct run_traces *run;
    const struct collectives *found;
    const uint32_t *turns; /* by run: ordinal of its turn among those of its collective, by time */
    struct arena *arena;
};

static struct cell arrival_cell(const void *data, uint32_t row, uint32_t column)
{
    const struct arrivals *arrivals = data;
    const struct collective_run *run = &arrivals->found->runs[row];
    struct str unknown = STR("its executions on other devices could not be identified");

    switch (column) {
    case ARRIVAL_NAME:
        return cell_text(arrivals->found->items[run->collective].name);
    case ARRIVAL_TURN:
        return cell_integer(arrivals->turns[row]);
    case ARRIVAL_GROUP:
        return run->group == REPLICA_NO_GROUP ? cell_null(STR("not known"))
                                              : cell_integer(run->group);
    case ARRIVAL_HOST:
        return cell_text(arrivals->run->hosts[run->host].name);
    case ARRIVAL_DEVICE:
        return cell_integer(run->device);
    case ARRIVAL_START:
        return cell_integer(run->start_ps);
    case ARRIVAL_DUR:
        return cell_integer(run->dur_ps);
    case ARRIVAL_WAIT:
        return run->wait_ps < 0 ? cell_null(unknown) : cell_integer(run->wait_ps);
    case ARRIVAL_LATE:
        return run->wait_ps < 0 ? cell_null(unknown) : cell_integer(run->late_ps);
    case ARRIVAL_IS_LAST:
        return run->wait_ps < 0 ? cell_null(unknown) : cell_bool(run->is_last);
    case ARRIVAL_EXPOSED:
        return cell_integer(run->inside_ps - run->hidden_ps);
    default:
        return cell_text(str_format(arrivals->arena, "%.*s-%u",
                                    STR_ARG(arrivals->run->hosts[run->host].key), run->slice));
    }
}

struct turn {
    uint32_t collective, first, end; /* runs */
    int64_t start_ps;
};

static int by_collective_and_start(const void *left, const void *right)
{
    const struct turn *a = left, *b = right;

    if (a->collective != b->collective)
        return a->collective < b->collective ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

/* Runs of one collective and turn are neighbours; turns themselves stand in no order. */
static uint32_t *number_turns(const struct collectives *found, struct arena *arena)
{
    uint32_t *ret = arena_array(arena, uint32_t, (size_t)found->run_count + 1);
    struct turn *turns = memory_resize(NULL, (size_t)found->run_count + 1, sizeof(*turns));
    uint32_t count = 0, ordinal = 0;

    for (uint32_t i = 0; i < found->run_count; i++) {
        const struct collective_run *run = &found->runs[i], *before = run - (i > 0);

        if (i == 0 || before->collective != run->collective || before->turn != run->turn)
            turns[count++] = (struct turn){run->collective, i, i, run->start_ps};
        turns[count - 1].end = i + 1;
        if (run->start_ps < turns[count - 1].start_ps)
            turns[count - 1].start_ps = run->start_ps;
    }
    qsort(turns, count, sizeof(*turns), by_collective_and_start);
    for (uint32_t i = 0; i < count; i++) {
        ordinal = i > 0 && turns[i].collective == turns[i - 1].collective ? ordinal + 1 : 0;
        for (uint32_t k = turns[i].first; k < turns[i].end; k++)
            ret[k] = ordinal;
    }
    free(turns);
    return ret;
}

enum status collectives_arrivals(const struct run_traces *run,
                                 const struct restriction *restriction,
                                 const struct steps *all_steps, const struct page *page,
                                 struct arena *arena, struct table *ret, struct error *err)
{
    struct collectives found;
    struct arrivals arrivals = {.run = run, .found = &found, .arena = arena};
    struct table_source source = {.columns = arrival_columns,
                                  .column_count = COUNT(arrival_columns),
                                  .cell = arrival_cell,
                                  .data = &arrivals};
    uint32_t *order;

    *ret = (struct table){0};
    TRY(collectives_find(run, restriction, arena, &found, err));
    arrivals.turns = number_turns(&found, arena);
    source.row_count = found.run_count;
    TRY(table_order(&source, page->sort, "name,turn,group,host,device", arena, &order, err));
    table_fill(&source, order, page, arena, ret);
    return collectives_note(run, &found, all_steps, arena, ret, err);
}
