/* SPDX-License-Identifier: Apache-2.0 */
/* Which call on the host each execution of a program came from, where no arrow says so.
 *
 *   host      |f|f|g|f|                       calls, in the order in which they were made
 *   device        | f 1 | f 2 |g 1| f 3 |     run ids of a program count up as it is called
 *
 * XLA:CPU draws an arrow to what a call starts at once. What waits for a result starts when that is
 * there, from the thread that made it, and the arrow leads to that. So a program's executions are
 * joined with its calls by their order; where run ids do not tell it, because several programs bear
 * the name, those first whose arrow leads to a call of that name. The first call goes with the
 * first execution, unless that began before it, or more executions are there than calls: then some
 * were called before the recording began. Calls behind the last execution were not run within the
 * recording.
 *
 *   actor     |f|f|f|                         the arrows of the first two lead to one program, so
 *   learner       |f|   |f|                   the third ran that one too, and not the learner's
 *
 * A thread whose arrows all lead to one of the programs of a name called that one alone.
 */
#include "analyse/attribute/attribute_parts.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/device/call_names.h"
#include "analyse/device/launched_from.h"
#include "base/bisect.h"
#include "base/memory.h"

enum { ANCESTORS_MAX = 64 };

struct call {
    uint32_t program; /* of the names of programs */
    int64_t start_ps;
    slice_id slice;
    bool taken;     /* by an execution whose arrow leads here */
    program_id ran; /* then */
};

struct called { /* an execution */
    uint32_t program;
    uint64_t turn; /* among those of the program: ascends */
    int64_t start_ps;
    uint32_t execution;
};

struct calls {
    const struct trace *trace;
    struct launch_reader *reader;
    const name_id *programs; /* names of those that ran */
    uint32_t program_count;
    uint32_t *program_of; /* by name of a call: program + 1, 0 not looked up, UINT32_MAX none */
    uint8_t *roles;       /* by name: enum name_role */
    struct call *items;
    uint32_t count, capacity;
    bool executes; /* they are the runtime's own */
};

static uint32_t find_program(const struct calls *calls, struct str function, struct str program)
{
    for (uint32_t i = 0; i < calls->program_count; i++) {
        struct str name = trace_name(calls->trace, calls->programs[i]);

        if (program.count > 0 ? str_equal(name, program) : call_runs_program(name, function))
            return i + 1;
    }
    return UINT32_MAX;
}

/* Of a call of a function, or of the runtime's that names its program. */
static uint32_t program_of(struct calls *calls, name_id name)
{
    uint32_t *known = &calls->program_of[name];
    struct str text = trace_name(calls->trace, name), function = STR(""), program = STR("");

    if (*known != 0)
        return *known;
    *known = UINT32_MAX;
    if (call_function(text, &function) || (call_executes(text, &program) && program.count > 0))
        *known = find_program(calls, function, program);
    return *known;
}

/* The program that the call is of, by its own name or that of a call around it; UINT32_MAX where
 * none tells, or the runtime made it within another call of its own. */
static uint32_t program_around(struct calls *calls, slice_id slice, bool executes)
{
    struct launch_call at;
    uint32_t found = UINT32_MAX;
    struct str program;

    for (int up = 0; up < ANCESTORS_MAX && launch_read(calls->reader, slice, &at); up++) {
        struct str name = trace_name(calls->trace, at.name);

        if (up > 0 && call_executes(name, &program) && executes)
            return UINT32_MAX;
        if (found == UINT32_MAX)
            found = program_of(calls, at.name);
        else if (!executes && call_function(name, &program))
            return UINT32_MAX; /* it is traced into the call around it */
        if (at.parent == NO_SLICE)
            break;
        slice = at.parent;
    }
    return found;
}

static void add_call(struct calls *calls, slice_id slice, int64_t start_ps, bool executes)
{
    uint32_t program = program_around(calls, slice, executes);

    if (program == UINT32_MAX)
        return;
    if (executes && !calls->executes) /* better ones than those before */
        calls->count = 0;
    calls->executes |= executes;
    if (calls->count == calls->capacity) {
        calls->capacity = calls->capacity == 0 ? 256 : 2 * calls->capacity;
        calls->items = memory_resize(calls->items, calls->capacity, sizeof *calls->items);
    }
    calls->items[calls->count++] = (struct call){program - 1, start_ps, slice, false, NO_PROGRAM};
}

enum name_role { NAME_UNSEEN, NAME_OTHER, NAME_EXECUTES, NAME_FUNCTION };

static enum name_role role_of(struct calls *calls, name_id name)
{
    uint8_t *known = &calls->roles[name];
    struct str text = trace_name(calls->trace, name), part;

    if (*known == NAME_UNSEEN)
        *known = call_executes(text, &part)   ? NAME_EXECUTES
                 : call_function(text, &part) ? NAME_FUNCTION
                                              : NAME_OTHER;
    return (enum name_role) * known;
}

static void read_chunk(struct calls *calls, uint32_t index, slice_id first, struct chunk *chunk)
{
    bool any = false;

    chunk_unpack(calls->trace, index, COLUMN_PLACE, chunk);
    for (uint32_t i = 0; i < chunk->dictionary_count; i++)
        any |= role_of(calls, chunk->dictionary_name[i]) != NAME_OTHER;
    if (!any)
        return;
    chunk_unpack(calls->trace, index, COLUMN_START | COLUMN_NAME, chunk);
    for (uint32_t i = 0; i < chunk->count; i++) {
        enum name_role role = role_of(calls, chunk->name[i]);

        if (role == NAME_EXECUTES || (role == NAME_FUNCTION && !calls->executes))
            add_call(calls, first + i, chunk->start_ps[i], role == NAME_EXECUTES);
    }
}

static void read_row(struct calls *calls, const struct row *row, struct chunk *chunk)
{
    for (uint32_t at = 0; at < row->chunk_count; at++)
        read_chunk(calls, row->first_chunk + at, row->first_slice + at * CHUNK_SLICES, chunk);
}

static int call_order(const void *left, const void *right)
{
    const struct call *a = left, *b = right;

    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    if (a->start_ps != b->start_ps)
        return a->start_ps < b->start_ps ? -1 : 1;
    return (a->slice > b->slice) - (a->slice < b->slice);
}

/* The runtime's own calls, which are made once for each execution; where it noted none, those of
 * functions. */
static void find_calls(struct calls *calls)
{
    const struct trace *trace = calls->trace;
    struct chunk *chunk = memory_resize(NULL, 1, sizeof(*chunk)); /* 160 KB: not on a stack */

    calls->reader = launch_reader_create(trace);
    calls->program_of = memory_calloc((size_t)trace->name_count + 1, sizeof *calls->program_of);
    calls->roles = memory_calloc((size_t)trace->name_count + 1, sizeof *calls->roles);
    if (calls->program_of == NULL || calls->roles == NULL)
        memory_refused((size_t)trace->name_count + 1, sizeof *calls->program_of);
    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        for (uint32_t i = 0; track->device < 0 && !track->derived && i < track->row_count; i++)
            read_row(calls, &trace->rows[track->first_row + i], chunk);
    }
    if (calls->count > 0)
        qsort(calls->items, calls->count, sizeof *calls->items, call_order);
    launch_reader_free(calls->reader);
    free(calls->program_of);
    free(calls->roles);
    free(chunk);
}

static int called_order(const void *left, const void *right)
{
    const struct called *a = left, *b = right;

    if (a->program != b->program)
        return a->program < b->program ? -1 : 1;
    if (a->turn != b->turn)
        return a->turn < b->turn ? -1 : 1;
    return (a->start_ps > b->start_ps) - (a->start_ps < b->start_ps);
}

/* Programs by the name of their module, under which they are called: the number of each
 * execution's, UINT32_MAX where the file says none. */
static uint32_t *number_programs(const struct attribute_work *work, name_id *names,
                                 uint32_t *ret_count)
{
    uint32_t *numbers = memory_resize(NULL, work->execution_count, sizeof *numbers);
    uint32_t *of_name = memory_calloc((size_t)work->trace->name_count + 1, sizeof *of_name);

    if (of_name == NULL)
        memory_refused((size_t)work->trace->name_count + 1, sizeof *of_name);
    memset(numbers, 0xFF, work->execution_count * sizeof *numbers);
    for (uint32_t i = 0; i < work->entry_count; i++) {
        uint32_t execution = work->entries[i].execution;
        name_id module = work->ops[work->entries[i].op].module;

        if (execution == NO_EXECUTION || module == 0 || numbers[execution] != UINT32_MAX)
            continue;
        if (of_name[module] == 0) {
            names[(*ret_count)++] = module;
            of_name[module] = *ret_count;
        }
        numbers[execution] = of_name[module] - 1;
    }
    free(of_name);
    return numbers;
}

/* By number: are several programs of that name? */
static bool *find_shared(const struct attribute_work *work, const uint32_t *numbers,
                         uint32_t program_count)
{
    program_id *first = memory_resize(NULL, (size_t)program_count + 1, sizeof *first);
    bool *shared = memory_calloc((size_t)program_count + 1, sizeof *shared);

    if (shared == NULL)
        memory_refused((size_t)program_count + 1, sizeof *shared);
    for (uint32_t i = 0; i < program_count; i++)
        first[i] = NO_PROGRAM;
    for (uint32_t i = 0; i < work->execution_count; i++) {
        program_id program = work->executions[i].program;

        if (numbers[i] == UINT32_MAX || program == NO_PROGRAM)
            continue;
        if (first[numbers[i]] == NO_PROGRAM)
            first[numbers[i]] = program;
        shared[numbers[i]] |= first[numbers[i]] != program;
    }
    free(first);
    return shared;
}

/* Executions whose call is not known, by program and turn. */
static uint32_t find_called(const struct attribute_work *work, uint32_t told_count,
                            const uint32_t *numbers, const bool *shared, struct called *ret)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < told_count; i++) {
        const struct execution *execution = &work->executions[i];

        uint32_t program = numbers[i];

        if (program == UINT32_MAX || execution->launch != NO_SLICE)
            continue;

        /* Run ids of two programs know nothing of each other; signed ones ascend through 0. */
        ret[count++] = (struct called){
            .program = program,
            .turn = (shared[program] ? (uint64_t)execution->start_ps : execution->run_id) ^
                    UINT64_C(1) << 63,
            .start_ps = execution->start_ps,
            .execution = i,
        };
    }
    if (count > 0)
        qsort(ret, count, sizeof *ret, called_order);
    return count;
}

/* Of executions in `count` turns the call of the first, as calls behind the program's first one;
 * below 0: it was called before. */
static int64_t first_call_of(const struct called *called, uint32_t count, uint32_t turn_count,
                             const struct call *calls, uint32_t call_count)
{
    int64_t first = call_count < turn_count ? (int64_t)call_count - turn_count : 0, turn = -1;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t begun = BISECT(0, call_count, k, calls[k].start_ps <= called[i].start_ps);

        turn += i == 0 || called[i].turn != called[i - 1].turn;
        if ((int64_t)begun - 1 - turn < first)
            first = (int64_t)begun - 1 - turn;
    }
    return first;
}

static void join(struct attribute_work *work, const struct called *called, uint32_t count,
                 const struct call *calls, uint32_t call_count)
{
    uint32_t turn_count = 0;

    for (uint32_t i = 0; i < count; i++)
        turn_count += i == 0 || called[i].turn != called[i - 1].turn;

    int64_t at = first_call_of(called, count, turn_count, calls, call_count) - 1;

    for (uint32_t i = 0; i < count; i++) {
        at += i == 0 || called[i].turn != called[i - 1].turn;
        if (at >= 0 && at < call_count)
            work->executions[called[i].execution].launch = calls[at].slice;
    }
}

/* By execution: the slice of the op that ran first. */
static slice_id *find_first_ops(const struct attribute_work *work)
{
    slice_id *first = memory_resize(NULL, work->execution_count, sizeof *first);
    int64_t *start_ps = memory_resize(NULL, work->execution_count, sizeof *start_ps);

    for (uint32_t i = 0; i < work->execution_count; i++) {
        first[i] = NO_SLICE;
        start_ps[i] = INT64_MAX;
    }
    for (uint32_t i = 0; i < work->entry_count; i++) {
        const struct attributed *entry = &work->entries[i];

        if (entry->execution == NO_EXECUTION || entry->start_ps >= start_ps[entry->execution])
            continue;
        start_ps[entry->execution] = entry->start_ps;
        first[entry->execution] = entry->slice;
    }
    free(start_ps);
    return first;
}

/* The call of that program in which the slice lies; NULL: in none. */
static struct call *call_around(const struct calls *calls, const struct map64 *by_slice,
                                uint32_t program, slice_id slice)
{
    struct launch_call at;
    uint32_t index;

    for (int up = 0; up < ANCESTORS_MAX && launch_read(calls->reader, slice, &at); up++) {
        if (map64_get(by_slice, slice, &index) && calls->items[index].program == program)
            return &calls->items[index];
        slice = at.parent;
    }
    return NULL;
}

/* The order of calls is not that of executions where programs of one name run at once. */
static void join_by_arrows(struct attribute_work *work, struct calls *calls,
                           const struct called *called, uint32_t count, const bool *shared)
{
    slice_id *first = find_first_ops(work);
    struct map64 by_slice = {0};

    calls->reader = launch_reader_create(calls->trace);
    for (uint32_t i = 0; i < calls->count; i++)
        *map64_at(&by_slice, calls->items[i].slice, i) = i;
    for (uint32_t i = 0; i < count; i++) {
        slice_id slice = first[called[i].execution], from;
        struct call *call;

        if (!shared[called[i].program] || slice == NO_SLICE)
            continue;
        from = launched_from(calls->trace, calls->reader, slice);
        call = from == NO_SLICE ? NULL : call_around(calls, &by_slice, called[i].program, from);
        if (call == NULL)
            continue;
        call->taken = true;
        call->ran = work->executions[called[i].execution].program;
        work->executions[called[i].execution].launch = call->slice;
    }
    launch_reader_free(calls->reader);
    map64_free(&by_slice);
    free(first);
}

/* Of the thread that made a call and the name of its program. */
static uint64_t claim_key(const struct trace *trace, const struct call *call)
{
    track_id track = trace->rows[trace_row_of(trace, call->slice)].track;

    return (uint64_t)track << 32 | call->program;
}

struct claims {                   /* of threads: the program that arrows of their calls lead to */
    struct map64 of;              /* by claim_key; NO_PROGRAM: several */
    uint32_t *calls, *executions; /* by program: what is left to join */
};

static struct claims find_claims(const struct attribute_work *work, const struct calls *calls,
                                 const struct called *called, uint32_t count)
{
    const struct trace *trace = work->trace;
    struct claims ret = {
        .calls = memory_zeroed((size_t)trace->program_count + 1, sizeof *ret.calls),
        .executions = memory_zeroed((size_t)trace->program_count + 1, sizeof *ret.executions),
    };

    for (uint32_t i = 0; i < calls->count; i++) {
        const struct call *call = &calls->items[i];
        uint32_t *claim;

        if (!call->taken)
            continue;
        claim = map64_at(&ret.of, claim_key(trace, call), call->ran);
        *claim = *claim == call->ran ? call->ran : NO_PROGRAM;
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        program_id ran;

        if (!calls->items[i].taken &&
            map64_get(&ret.of, claim_key(trace, &calls->items[i]), &ran) &&
            ran < trace->program_count)
            ret.calls[ran]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct execution *execution = &work->executions[called[i].execution];

        if (execution->launch == NO_SLICE && execution->program < trace->program_count)
            ret.executions[execution->program]++;
    }
    return ret;
}

static bool is_claimed(const struct trace *trace, const struct claims *claims, program_id program)
{
    return program < trace->program_count && claims->executions[program] > 0 &&
           claims->executions[program] <= claims->calls[program];
}

/* Programs that threads claim, and those calls of them, stand apart from others of the name; not
 * where more executions are left than calls, for then others called it as well. */
static void set_claimed_apart(const struct attribute_work *work, struct calls *calls,
                              struct called *called, uint32_t count)
{
    const struct trace *trace = work->trace;
    struct claims claims = find_claims(work, calls, called, count);

    for (uint32_t i = 0; i < count; i++) {
        const struct execution *execution = &work->executions[called[i].execution];

        if (execution->launch == NO_SLICE && is_claimed(trace, &claims, execution->program))
            called[i].program = calls->program_count + execution->program;
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        struct call *call = &calls->items[i];
        program_id ran;

        if (!call->taken && map64_get(&claims.of, claim_key(trace, call), &ran) &&
            is_claimed(trace, &claims, ran))
            call->program = calls->program_count + ran;
    }
    map64_free(&claims.of);
    free(claims.calls);
    free(claims.executions);
}

/* What arrows did not join, in its order. */
static uint32_t leave_out_joined(const struct attribute_work *work, struct calls *calls,
                                 struct called *called, uint32_t count)
{
    uint32_t kept = 0, calls_kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (work->executions[called[i].execution].launch == NO_SLICE)
            called[kept++] = called[i];
    }
    for (uint32_t i = 0; i < calls->count; i++) {
        if (!calls->items[i].taken)
            calls->items[calls_kept++] = calls->items[i];
    }
    calls->count = calls_kept;
    if (kept > 0)
        qsort(called, kept, sizeof *called, called_order);
    if (calls_kept > 0)
        qsort(calls->items, calls_kept, sizeof *calls->items, call_order);
    return kept;
}

static bool is_any(const bool *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (items[i])
            return true;
    }
    return false;
}

void calls_find(struct attribute_work *work, uint32_t told_count)
{
    const struct trace *trace = work->trace;

    if (work->has_devices || told_count == 0)
        return;

    name_id *names = memory_resize(NULL, work->execution_count, sizeof *names);
    struct calls calls = {.trace = trace, .programs = names};
    struct called *called = memory_resize(NULL, work->execution_count, sizeof *called);
    uint32_t *numbers = number_programs(work, names, &calls.program_count);
    bool *shared = find_shared(work, numbers, calls.program_count);
    uint32_t count = find_called(work, told_count, numbers, shared, called), at = 0;

    if (count > 0)
        find_calls(&calls);
    if (count > 0 && is_any(shared, calls.program_count)) {
        join_by_arrows(work, &calls, called, count, shared);
        set_claimed_apart(work, &calls, called, count);
        count = leave_out_joined(work, &calls, called, count);
    }
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from; to < count && called[to].program == called[from].program;)
            to++;
        while (at < calls.count && calls.items[at].program < called[from].program)
            at++;

        uint32_t first = at;

        while (at < calls.count && calls.items[at].program == called[from].program)
            at++;
        join(work, &called[from], to - from, &calls.items[first], at - first);
    }
    free(calls.items);
    free(called);
    free(numbers);
    free(shared);
    free(names);
}
