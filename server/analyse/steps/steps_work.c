/* SPDX-License-Identifier: Apache-2.0 */
/* Whose work each op is: what a step's calls launched, wherever on the devices it lies.
 *
 *   thread   |step 0 f()|step 1 f()|          f's launch begins in step 1
 *   device              | f 0      | f 1 |    so that execution of f is its work
 *
 * Told by the first of these that there is:
 *
 *   launch    the op's own, or its execution's
 *   arrows    from the thread of the launch, or of the first op, to one with steps
 *   the call  by its time, where no arrow leads to a thread with steps: autograd
 *   order     executions of a program, as many as steps or a multiple of them
 *   time      in which step it began
 *
 * A device whose programs were all called by other threads, while the steps' own threads call those
 * of another device, works for others: what an actor did in the meantime is no part of the step.
 */
#include <stdlib.h>
#include <string.h>

#include "analyse/device/launched_from.h"
#include "analyse/steps/device_line.h"
#include "analyse/steps/steps_parts.h"
#include "base/bisect.h"

enum { JUMPS_MAX = 16, ASKED_OF_EXECUTION = 4 };
#define UNTOLD (NO_OWNER - 1) /* of an op, until all launches are known; above OWNER_BEHIND */

struct place { /* a step's span on its thread: file time */
    track_id thread;
    int64_t from_ps, to_ps;
    uint32_t step;
};

struct thread_places { /* of a thread: places[first], count of them */
    uint32_t first, count;
};

struct between { /* of a thread: no step is open */
    bool known;
    track_id thread;
    int64_t from_ps, to_ps;
    uint32_t owner; /* behind the step before; NO_OWNER before the first */
};

enum { SPANS = 16 };

struct call_span { /* slices of a row, all of which begin within a step and are told by that */
    const struct row *row;
    slice_id first, end;
    uint32_t step;
};

struct owning {
    const struct trace *trace;
    const struct attribution *of;
    struct launch_reader *reader;
    const struct place *places; /* by thread, begin */
    uint32_t count;
    struct thread_places *by_thread; /* by track */
    bool one_thread;                 /* all are on the same */
    bool overlap; /* some of a thread: which one holds a call depends on the last */
    uint32_t *of_execution;
    bool by_time; /* so the last call was told */
    bool *execution_by_time;
    bool *told; /* by program, behind them ops of none: launches of some of its ops are known */
    const struct row *row;         /* of the last call */
    track_id thread;               /* of that row */
    uint32_t near;                 /* the place that was found last */
    struct between between;        /* likewise */
    struct call_span spans[SPANS]; /* by row: the calls of a step follow each other */
};

/* Lanes of a thread are the thread. */
static track_id thread_of(const struct trace *trace, track_id track)
{
    while (trace->tracks[track].parent != NO_TRACK &&
           trace->tracks[trace->tracks[track].parent].kind == TRACK_THREAD)
        track = trace->tracks[track].parent;
    return track;
}

static track_id thread_of_slice(struct owning *owning, slice_id slice)
{
    if (owning->row == NULL || slice < owning->row->first_slice ||
        slice - owning->row->first_slice >= owning->row->count) {
        owning->row = &owning->trace->rows[trace_row_of(owning->trace, slice)];
        owning->thread = thread_of(owning->trace, owning->row->track);
    }
    return owning->thread;
}

static bool holds(const struct place *place, track_id thread, int64_t at_ps)
{
    return place->thread == thread && place->from_ps <= at_ps && at_ps < place->to_ps;
}

static struct thread_places *places_of(const struct owning *owning, track_id thread)
{
    return &owning->by_thread[thread == NO_TRACK ? owning->trace->track_count : thread];
}

static bool has_steps(const struct owning *owning, track_id thread)
{
    return places_of(owning, thread)->count > 0;
}

static bool is_between(const struct between *between, track_id thread, int64_t at_ps)
{
    return between->known && between->thread == thread && between->from_ps <= at_ps &&
           at_ps < between->to_ps;
}

/* The place of that thread and moment; calls come in order, so it is mostly the last one, or they
 * are behind it. */
static uint32_t place_at(struct owning *owning, track_id thread, int64_t at_ps)
{
    const struct thread_places *of = places_of(owning, thread);
    uint32_t low, end = of->first + of->count;

    if (of->count == 0)
        return NO_OWNER;
    if (holds(&owning->places[owning->near], thread, at_ps))
        return owning->near;
    if (is_between(&owning->between, thread, at_ps))
        return NO_OWNER;
    low = BISECT(of->first, end, i, owning->places[i].from_ps <= at_ps);
    if (low > of->first && holds(&owning->places[low - 1], thread, at_ps))
        return owning->near = low - 1;
    owning->between = (struct between){
        .known = true,
        .thread = thread,
        .from_ps = low > of->first ? owning->places[low - 1].to_ps : INT64_MIN,
        .to_ps = low < end ? owning->places[low].from_ps : INT64_MAX,
        .owner = low > of->first ? OWNER_BEHIND | owning->places[low - 1].step : NO_OWNER,
    };
    return NO_OWNER;
}

static struct call_span *span_of(struct owning *owning, slice_id slice)
{
    (void)thread_of_slice(owning, slice);
    return &owning->spans[(size_t)(owning->row - owning->trace->rows) % SPANS];
}

/* The step of that place, or `none`, goes for all that begins as near by on the row of the slice:
 * in the place, or in the time between two. */
static uint32_t keep_span(struct owning *owning, slice_id slice, uint32_t place, uint32_t none)
{
    struct call_span *span = span_of(owning, slice);
    const struct row *row = owning->row;
    bool any = place != NO_OWNER;
    int64_t from_ps = any ? owning->places[place].from_ps : owning->between.from_ps;
    int64_t to_ps = any ? owning->places[place].to_ps : owning->between.to_ps;
    uint32_t first, end;

    row_window(owning->trace, row, from_ps, to_ps, &first, &end);
    if (first < end &&
        trace_slice_times(owning->trace, row, first, COLUMN_START).start_ps < from_ps)
        first++;
    *span = (struct call_span){.row = row,
                               .first = row->first_slice + first,
                               .end = row->first_slice + end,
                               .step = any ? owning->places[place].step : none};
    return span->step;
}

/* The step in which a call was made; `by_time` where nothing leads to a thread that has steps. */
static uint32_t find_step_of_call(struct owning *owning, slice_id slice, bool by_time)
{
    const slice_id asked = slice;
    struct launch_call call;
    int64_t first_ps = INT64_MIN;
    uint32_t place;

    for (int jump = 0; slice != NO_SLICE && jump < JUMPS_MAX; jump++) {
        if (!launch_read(owning->reader, slice, &call))
            break;

        track_id thread = thread_of_slice(owning, slice);

        place = place_at(owning, thread, call.start_ps);
        if (jump == 0 && has_steps(owning, thread)) /* or it was made between steps */
            return keep_span(owning, slice, place, owning->between.owner);
        if (place != NO_OWNER)
            return owning->places[place].step;
        if (has_steps(owning, thread))
            return owning->between.owner;
        first_ps = jump == 0 ? call.start_ps : first_ps;
        slice = launched_from(owning->trace, owning->reader, slice);
    }
    if (!by_time || !owning->one_thread || first_ps == INT64_MIN)
        return NO_OWNER;
    owning->by_time = true;
    place = place_at(owning, owning->places[0].thread, first_ps);
    if (!launch_track_has_arrows(owning->reader, asked))
        return keep_span(owning, asked, place, NO_OWNER);
    return place == NO_OWNER ? NO_OWNER : owning->places[place].step;
}

static uint32_t step_of_call(struct owning *owning, slice_id slice, bool by_time)
{
    owning->by_time = false;
    if (slice < owning->trace->slice_count) {
        const struct call_span *span = span_of(owning, slice);

        if (!owning->overlap && span->row == owning->row && slice >= span->first &&
            slice < span->end && (by_time || has_steps(owning, owning->thread))) {
            owning->by_time = !has_steps(owning, owning->thread);
            return span->step;
        }
    }
    return find_step_of_call(owning, slice, by_time);
}

static int execution_order(const void *left, const void *right, void *data)
{
    const struct execution *executions = data;
    const struct execution *a = &executions[*(const uint32_t *)left];
    const struct execution *b = &executions[*(const uint32_t *)right];

    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

/* Executions of a program on a device, in order: as many a step, none before its step began. Where
 * steps hold nearly all of them, their time tells more surely. */
static void own_in_order(struct owning *owning, const uint32_t *order, uint32_t count)
{
    uint32_t each = count / owning->count;
    uint64_t inside = 0;

    if (!owning->one_thread || count % owning->count != 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        int64_t start_ps = owning->of->executions[order[i]].start_ps;

        if (start_ps < owning->places[i / each].from_ps)
            return;
        inside += place_at(owning, owning->places[0].thread, start_ps) != NO_OWNER;
    }
    if (inside * 10 >= (uint64_t)count * 9)
        return;
    for (uint32_t i = 0; i < count; i++)
        owning->of_execution[order[i]] = owning->places[i / each].step;
}

static void own_executions_in_order(struct owning *owning)
{
    const struct attribution *of = owning->of;
    uint32_t *order = memory_resize(NULL, (size_t)of->execution_count + 1, sizeof *order);
    uint32_t count = 0;

    for (uint32_t i = 0; i < of->execution_count; i++) {
        if (of->executions[i].launch == NO_SLICE && owning->of_execution[i] == NO_OWNER)
            order[count++] = i;
    }
    qsort_r(order, count, sizeof *order, execution_order, (void *)(uintptr_t)of->executions);
    for (uint32_t from = 0, to; from < count; from = to) {
        const struct execution *first = &of->executions[order[from]];

        for (to = from; to < count && of->executions[order[to]].program == first->program &&
                        of->executions[order[to]].device == first->device;)
            to++;
        own_in_order(owning, &order[from], to - from);
    }
    free(order);
}

/* Does an arrow lead to one of the first ops of an execution whose launch is not known? On threads
 * of a host it comes from whoever was done before, and tells nothing. */
static void own_executions(struct owning *owning)
{
    const struct attribution *of = owning->of;
    uint8_t *asked = memory_zeroed(of->execution_count, 1);
    bool ask = false;

    for (uint32_t i = 0; i < of->execution_count; i++) {
        slice_id launch = of->executions[i].launch;

        owning->of_execution[i] =
            launch == NO_SLICE ? NO_OWNER : step_of_call(owning, launch, true);
        owning->execution_by_time[i] = launch != NO_SLICE && owning->by_time;
        ask |= launch == NO_SLICE;
    }
    ask = ask && device_work_on_tracks(owning->trace);
    for (uint32_t i = 0; ask && i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_AT(of, entry_in_time(of, i));
        uint32_t execution = entry->execution;

        if (execution == NO_EXECUTION || entry->launch != NO_SLICE ||
            of->executions[execution].launch != NO_SLICE ||
            owning->of_execution[execution] != NO_OWNER || asked[execution] == ASKED_OF_EXECUTION)
            continue;
        asked[execution]++;
        owning->of_execution[execution] = step_of_call(owning, entry->slice, false);
    }
    free(asked);
    own_executions_in_order(owning);
}

/* Of steps of one device each: on the line of the op's own. */
static uint32_t owner_on_device(struct owning *owning, const struct step_list *list,
                                const struct attributed *entry)
{
    for (uint32_t i = 0; i < owning->count;
         i += places_of(owning, owning->places[i].thread)->count) {
        uint32_t place;

        if (list->items[owning->places[i].step].device != entry->device)
            continue;
        place = place_at(owning, owning->places[i].thread, entry->start_ps);
        if (place != NO_OWNER)
            return owning->places[place].step;
    }
    return NO_OWNER;
}

static uint32_t owner_by_time(struct owning *owning, int64_t at_ps)
{
    uint32_t place =
        owning->one_thread ? place_at(owning, owning->places[0].thread, at_ps) : NO_OWNER;

    for (uint32_t i = 0; !owning->one_thread && place == NO_OWNER && i < owning->count; i++)
        place = owning->places[i].from_ps <= at_ps && at_ps < owning->places[i].to_ps ? i : place;
    return place == NO_OWNER ? NO_OWNER : owning->places[place].step;
}

/* By whom the launch of an op is told: its own call, or its execution's. UNTOLD: by neither. */
static uint32_t owner_of_launch(struct owning *owning, const struct attributed *entry)
{
    const struct attribution *of = owning->of;
    program_id program = of->ops[entry->op].program;
    uint32_t execution = entry->execution, step = UNTOLD;
    bool told = true;

    owning->by_time = false;
    if (entry->launch != NO_SLICE) {
        step = step_of_call(owning, entry->launch, true);
    } else if (execution != NO_EXECUTION) {
        told = of->executions[execution].launch != NO_SLICE;
        if (told || owning->of_execution[execution] != NO_OWNER)
            step = owning->of_execution[execution];
        owning->by_time = owning->execution_by_time[execution];
    } else {
        told = false;
    }
    owning->told[program < owning->trace->program_count ? program : owning->trace->program_count] |=
        told;
    return step;
}

/* Of what launches are told of, the others were made before the recording. */
static uint32_t owner_of_untold(struct owning *owning, const struct attributed *entry)
{
    program_id program = owning->of->ops[entry->op].program;
    uint32_t step =
        entry->execution == NO_EXECUTION ? step_of_call(owning, entry->slice, false) : NO_OWNER;

    if (program >= owning->trace->program_count)
        program = owning->trace->program_count;
    if (step < OWNER_BEHIND || owning->told[program])
        return step;

    uint32_t by_time = owner_by_time(owning, entry->start_ps);

    return by_time != NO_OWNER ? by_time : step;
}

enum { TOLD_BY_CALL = 1, TOLD_BY_TIME = 2 };

static uint32_t device_of(const struct attribution *of, int32_t device, uint32_t near)
{
    for (uint32_t tries = 0; tries < of->device_count && of->devices[near].device != device;
         tries++)
        near = (near + 1) % of->device_count;
    return near;
}

/* How launches of programs on each device were told. */
static void note_device(const struct owning *owning, const struct attributed *entry, uint32_t *near,
                        uint8_t *devices)
{
    const struct attribution *of = owning->of;

    if (of->device_count == 0 || of->ops[entry->op].program == NO_PROGRAM)
        return;
    *near = device_of(of, entry->device, *near);
    devices[*near] |= owning->by_time ? TOLD_BY_TIME : TOLD_BY_CALL;
}

/* What a device did whose calls only fell into steps, where another's were made by them. */
static void disown_others(const struct attribution *of, const uint8_t *devices, uint32_t *ret)
{
    bool any_called = false, any_other = false;
    struct entry_reader reader;
    uint32_t near = 0;

    for (uint32_t i = 0; i < of->device_count; i++) {
        any_called |= (devices[i] & TOLD_BY_CALL) != 0;
        any_other |= devices[i] == TOLD_BY_TIME;
    }
    entry_reader_open(&reader, of, ENTRY_BIT(ENTRY_DEVICE));
    for (uint32_t i = 0; any_called && any_other && i < of->entry_count; i++) {
        near = device_of(of, entry_read(&reader, i).device, near);
        if (devices[near] == TOLD_BY_TIME)
            ret[i] = NO_OWNER;
    }
}

static void own_marked(struct owning *owning, uint32_t *ret)
{
    const struct attribution *of = owning->of;
    uint8_t *devices = memory_zeroed((size_t)of->device_count + 1, sizeof *devices);
    uint32_t untold = 0, near = 0;
    struct entry_reader reader;

    owning->reader = launch_reader_create(owning->trace);
    owning->of_execution =
        memory_resize(NULL, (size_t)of->execution_count + 1, sizeof *owning->of_execution);
    owning->execution_by_time = memory_zeroed((size_t)of->execution_count + 1, sizeof(bool));
    owning->told = memory_zeroed((size_t)owning->trace->program_count + 1, sizeof *owning->told);
    own_executions(owning);
    entry_reader_open(&reader, of,
                      ENTRY_BIT(ENTRY_SLICE) | ENTRY_BIT(ENTRY_OP) | ENTRY_BIT(ENTRY_EXECUTION) |
                          ENTRY_BIT(ENTRY_DEVICE) | ENTRY_BIT(ENTRY_LAUNCH) |
                          ENTRY_BIT(ENTRY_START));
    for (uint32_t i = 0; i < of->entry_count; i++) {
        const struct attributed *entry = ENTRY_READ(&reader, i);

        ret[i] = owner_of_launch(owning, entry);
        untold += ret[i] == UNTOLD;
        if (ret[i] < OWNER_BEHIND)
            note_device(owning, entry, &near, devices);
    }
    for (uint32_t i = 0; untold > 0 && i < of->entry_count; i++) {
        if (ret[i] == UNTOLD)
            ret[i] = owner_of_untold(owning, ENTRY_READ(&reader, i));
    }
    disown_others(of, devices, ret);
    free(devices);
    free(owning->execution_by_time);
    free(owning->of_execution);
    free(owning->told);
    launch_reader_free(owning->reader);
}

static struct thread_places *index_threads(struct owning *owning)
{
    size_t count = (size_t)owning->trace->track_count + 1;
    struct thread_places *ret = memory_zeroed(count, sizeof *ret);

    for (uint32_t i = 0; i < owning->count; i++) {
        track_id thread = owning->places[i].thread;
        struct thread_places *of = &ret[thread == NO_TRACK ? count - 1 : thread];

        if (of->count++ == 0)
            of->first = i;
        else
            owning->overlap |= owning->places[i].from_ps < owning->places[i - 1].to_ps;
    }
    return ret;
}

static int by_place(const void *left, const void *right)
{
    const struct place *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->from_ps > b->from_ps) - (a->from_ps < b->from_ps);
}

/* Steps without a span on a thread are told by time alone. */
static struct place *find_places(const struct host_trace *host, uint32_t index,
                                 const struct step_list *list, uint32_t *ret_count,
                                 bool *ret_marked)
{
    struct place *places = memory_resize(NULL, (size_t)list->count + 1, sizeof *places);
    uint32_t count = 0;

    *ret_marked = true;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct step *step = &list->items[i];
        bool marked = step->host_dur_ps >= 0 && step->slice != NO_SLICE;
        int64_t from_ps = step->start_ps - host->offset_ps;

        if (step->host != index)
            continue;
        *ret_marked &= marked;
        places[count++] = (struct place){
            .thread =
                marked            ? thread_of(host->trace,
                                              host->trace->rows[trace_row_of(host->trace, step->slice)].track)
                : step->on_device ? step->thread
                                  : NO_TRACK,
            .from_ps = from_ps,
            .to_ps = from_ps + step->dur_ps,
            .step = i,
        };
    }
    if (count > 0)
        qsort(places, count, sizeof *places, by_place);
    *ret_count = count;
    return places;
}

uint32_t *steps_own(const struct host_trace *host, uint32_t index, const struct step_list *list,
                    struct arena *arena)
{
    const struct attribution *of = host->attribution;
    struct owning owning = {.trace = host->trace, .of = of, .thread = NO_TRACK};
    struct entry_reader *reader;
    bool marked;

    if (of == NULL || of->entry_count == 0)
        return NULL;

    struct place *places = find_places(host, index, list, &owning.count, &marked);
    uint32_t *ret = owning.count > 0 ? arena_array(arena, uint32_t, of->entry_count) : NULL;

    owning.places = places;
    owning.one_thread = owning.count > 0 && places[0].thread == places[owning.count - 1].thread;
    owning.by_thread = index_threads(&owning);
    if (ret != NULL && marked)
        own_marked(&owning, ret);
    reader = arena_new(arena, struct entry_reader);
    entry_reader_open(reader, of, ENTRY_BIT(ENTRY_DEVICE) | ENTRY_BIT(ENTRY_START));
    for (uint32_t i = 0; ret != NULL && !marked && i < of->entry_count; i++)
        ret[i] = list->items[places[0].step].on_device
                     ? owner_on_device(&owning, list, ENTRY_READ(reader, i))
                     : owner_by_time(&owning, entry_read(reader, i).start_ps);
    free(owning.by_thread);
    free(places);
    return ret;
}
