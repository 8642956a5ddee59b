/* SPDX-License-Identifier: Apache-2.0 */
/* Steps by what the devices ran: one program that takes most of their time, again and again. */
#include <stdlib.h>

#include "analyse/scan/module_names.h"
#include "analyse/stats/map64.h"
#include "analyse/steps/steps_parts.h"
#include "trace/names/by_name.h"
#include "trace/ps.h"

/* What ran, as numbers below `count`: programs, or the names of modules whose programs lie in files
 * of their own. `of` has each execution's. */
struct ran {
    uint32_t *of;
    uint32_t count;
};

static struct ran programs_of(const struct host_trace *host)
{
    const struct attribution *attribution = host->attribution;
    struct ran ret = {memory_zeroed((size_t)attribution->execution_count + 1, sizeof *ret.of),
                      host->trace->program_count};

    for (uint32_t i = 0; i < attribution->execution_count; i++)
        ret.of[i] = attribution->executions[i].program;
    return ret;
}

/* As their ops say it: so their times are those of the ops, by the device's clock where the file
 * has it, which the slices on the modules' line are not. */
static struct ran modules_of(const struct host_trace *host)
{
    const struct attribution *attribution = host->attribution;
    struct ran ret = {memory_zeroed((size_t)attribution->execution_count + 1, sizeof *ret.of),
                      host->trace->name_count};
    struct entry_reader reader;

    entry_reader_open(&reader, attribution, ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_EXECUTION));
    for (uint32_t i = 0; i < attribution->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);

        if (entry->execution < attribution->execution_count)
            ret.of[entry->execution] = attribution->ops[entry->op].module;
    }
    for (uint32_t i = 0; i < attribution->execution_count; i++)
        ret.of[i] = ret.of[i] == 0 ? ret.count : ret.of[i]; /* none says so */
    return ret;
}

/* What took the most time of all that ran at least twice on one device; UINT32_MAX. */
static uint32_t dominant(const struct attribution *attribution, const struct ran *ran)
{
    int64_t *time_ps = memory_zeroed((size_t)ran->count + 1, sizeof(*time_ps));
    uint32_t *runs = memory_zeroed((size_t)ran->count + 1, sizeof(*runs));
    uint32_t best = UINT32_MAX;

    for (uint32_t i = 0; i < attribution->execution_count; i++) {
        const struct execution *execution = &attribution->executions[i];

        if (ran->of[i] >= ran->count || execution->end_ps <= execution->start_ps)
            continue;
        ps_add(&time_ps[ran->of[i]], execution->end_ps - execution->start_ps);
        runs[ran->of[i]] +=
            execution->device == attribution->executions[0].device || ran->count == 1;
    }
    for (uint32_t i = 0; i < ran->count; i++) {
        if (runs[i] >= 2 && (best == UINT32_MAX || time_ps[i] > time_ps[best]))
            best = i;
    }
    free(time_ps);
    free(runs);
    return best;
}

static void add_executions(const struct host_trace *host, uint32_t index, const struct ran *ran,
                           uint32_t which, struct str name, struct step_list *list)
{
    const struct attribution *attribution = host->attribution;

    for (uint32_t i = 0; i < attribution->execution_count; i++) {
        const struct execution *execution = &attribution->executions[i];

        if (ran->of[i] == which && execution->end_ps > execution->start_ps)
            step_list_add(list, (struct step){
                                    .host = index,
                                    .name = name,
                                    .slice = NO_SLICE,
                                    .number = execution->device,
                                    .start_ps = execution->start_ps + host->offset_ps,
                                    .dur_ps = execution->end_ps - execution->start_ps,
                                });
    }
}

static bool is_modules(const struct trace *trace, const struct name_run *run)
{
    const struct track *track = &trace->tracks[trace->rows[run->row].track];

    return track->role == ROLE_MODULES && !track->derived && track->device >= 0;
}

/* The executions of one name on the module lines, and what they take; `list` NULL only adds up. */
static int64_t add_modules(const struct host_trace *host, uint32_t index, name_id name,
                           struct step_list *list)
{
    const struct trace *trace = host->trace;
    uint32_t count, most = 0;
    const struct name_run *runs = trace_name_runs(trace, name, &count);
    int64_t total_ps = 0;

    for (uint32_t run = 0; run < count; run++) {
        if (!is_modules(trace, &runs[run]))
            continue;
        most = runs[run].count > most ? runs[run].count : most;

        const slice_id *slices = trace_name_slices(trace, &runs[run]);

        for (uint32_t at = 0; slices != NULL && at < runs[run].count; at++) {
            struct slice slice = trace_slice(trace, slices[at]);
            struct step step = step_of(host, index, &slice);

            step.number = trace->tracks[trace->rows[runs[run].row].track].device;
            ps_add(&total_ps, slice.dur_ps);
            if (list != NULL && slice.dur_ps > 0)
                step_list_add(list, step);
        }
    }
    return most >= 2 ? total_ps : 0;
}

/* Where ops name no module, the slices on the modules' line tell. */
static void add_dominant_slices(const struct host_trace *host, uint32_t index,
                                struct step_list *list)
{
    const struct name_stats *stats;
    uint32_t count = trace_name_stats(host->trace, &stats);
    int64_t best_ps = 0;
    name_id best = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t total_ps = stats[i].count >= 2 && stats[i].total_ps > best_ps
                               ? add_modules(host, index, stats[i].name, NULL)
                               : 0;

        if (total_ps > best_ps) {
            best_ps = total_ps;
            best = stats[i].name;
        }
    }
    if (best_ps > 0)
        add_modules(host, index, best, list);
}

static void add_dominant(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    struct ran ran = programs_of(host);
    uint32_t which = dominant(host->attribution, &ran);

    if (which != UINT32_MAX) {
        struct str name = module_names_of(host, list->arena).of[which];

        add_executions(host, index, &ran, which, name, list);
    } else {
        free(ran.of);
        ran = modules_of(host);
        which = dominant(host->attribution, &ran);
        if (which != UINT32_MAX)
            add_executions(host, index, &ran, which, trace_name(host->trace, which), list);
        else
            add_dominant_slices(host, index, list);
    }
    free(ran.of);
}

/* The executions of all devices in order of time, where each device has as many: the first of all
 * devices to begin its n-th begins the n-th step. */
static bool join_by_turn(const struct step_list *all, struct step_list *list)
{
    uint32_t from = list->count;
    struct map64 turns = {0}; /* device -> how many were seen */
    bool even = true;

    for (uint32_t i = 0; i < all->count; i++) {
        const struct step *step = &all->items[i];
        uint32_t turn = (*map64_at(&turns, (uint64_t)step->number, 0))++;

        if (from + turn == list->count)
            step_list_add(list, *step);
    }
    for (uint32_t i = 0; i < all->count; i++)
        even &= *map64_at(&turns, (uint64_t)all->items[i].number, 0) == list->count - from;
    map64_free(&turns);
    list->count = even ? list->count : from;
    return even;
}

/* The device with the most executions; of those the first to begin. */
static int64_t device_of_most(const struct step_list *all)
{
    struct map64 counts = {0};
    int64_t device = all->count > 0 ? all->items[0].number : 0;
    uint32_t most = 0;

    for (uint32_t i = 0; i < all->count; i++)
        ++*map64_at(&counts, (uint64_t)all->items[i].number, 0);
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t count = *map64_at(&counts, (uint64_t)all->items[i].number, 0);

        if (count > most) {
            most = count;
            device = all->items[i].number;
        }
    }
    map64_free(&counts);
    return device;
}

/* Else the executions of the device that has most of them tell where steps begin. */
static void join_by_most(const struct step_list *all, struct step_list *list)
{
    int64_t device = device_of_most(all);
    uint32_t from = list->count;

    for (uint32_t i = 0; i < all->count; i++) {
        struct step *last = list->count > from ? &list->items[list->count - 1] : NULL;
        const struct step *step = &all->items[i];

        if (step->number == device && (last == NULL || step->start_ps > last->start_ps))
            step_list_add(list, *step);
        else if (last != NULL && step->start_ps + step->dur_ps > last->start_ps + last->dur_ps)
            last->dur_ps = step->start_ps + step->dur_ps - last->start_ps;
    }
}

/* Executions of one program on several devices at one time are one step; each lasts until the next
 * begins, so that what is between them is seen. */
void find_executions(const struct host_trace *host, uint32_t index, struct step_list *list)
{
    const struct attribution *attribution = host->attribution;
    struct step_list all = {.arena = list->arena};
    uint32_t from = list->count;

    if (attribution == NULL || attribution->execution_count < 2)
        return;
    add_dominant(host, index, &all);
    if (all.count > 0)
        qsort(all.items, all.count, sizeof(*all.items), step_by_start);
    if (!join_by_turn(&all, list))
        join_by_most(&all, list);
    free(all.items);
    for (uint32_t i = from; i < list->count; i++) {
        list->items[i].number = i - from;
        if (i + 1 < list->count)
            list->items[i].dur_ps = list->items[i + 1].start_ps - list->items[i].start_ps;
        else /* when it gave way to the next is not in the file */
            list->items[i].cut = true;
    }
}
