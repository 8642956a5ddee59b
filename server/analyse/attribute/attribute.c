/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the args of slices and the HLO modules of a trace, and writes the tables of ops and
 * entries that all other analyses use. */
#include "analyse/attribute/attribute.h"

#include <stdlib.h>

#include "analyse/attribute/attribute_parts.h"
#include "analyse/scan/scan.h"
#include "analyse/scan/split.h"

typedef void see_chunk(struct attribute_work *work, const struct track *track, track_id id,
                       const struct chunk *chunk);

static void each_chunk(struct attribute_work *work, const struct track *track, track_id id,
                       unsigned columns, struct chunk *chunk, see_chunk *see)
{
    for (uint32_t i = 0; i < track->row_count; i++) {
        const struct row *row = &work->trace->rows[track->first_row + i];

        for (uint32_t at = 0; at < row->chunk_count; at++) {
            chunk_unpack(work->trace, row->first_chunk + at, columns, chunk);
            see(work, track, id, chunk);
        }
    }
}

static void mark_events(struct attribute_work *work, const struct track *track, track_id id,
                        const struct chunk *chunk)
{
    (void)track;
    (void)id;
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (chunk->event[i] < work->trace->event_count)
            work->on_device[chunk->event[i] / 8] |= (uint8_t)(1u << chunk->event[i] % 8);
    }
}

uint32_t execution_add(struct attribute_work *work, uint32_t context, uint64_t run_id,
                       int32_t device)
{
    WORK_GROW(work, work->executions, work->execution_count, work->execution_capacity);
    work->executions[work->execution_count] = (struct execution){
        .program = work->contexts[context].program,
        .device = device,
        .run_id = run_id,
        .launch = NO_SLICE,
        .start_ps = INT64_MAX,
        .end_ps = INT64_MIN,
    };
    return work->execution_count++;
}

uint32_t execution_find(struct attribute_work *work, uint32_t context, uint64_t run_id,
                        int32_t device)
{
    uint32_t *run = map64_at(&work->run_of, run_id, UINT32_MAX);

    if (*run == UINT32_MAX)
        *run = work->run_count++;

    uint32_t *where = map64_at(&work->device_of, map64_pair(context, (uint32_t)device), UINT32_MAX);

    if (*where == UINT32_MAX)
        *where = work->device_count++;

    uint32_t *execution = map64_at(&work->execution_of, map64_pair(*where, *run), NO_EXECUTION);

    if (*execution == NO_EXECUTION)
        *execution = execution_add(work, context, run_id, device);
    return *execution;
}

/* "a::b::c" names the annotations around a kernel, the op last; the instruction's name is the last
 * one, where the trace knows that text. */
static name_id last_of_list(const struct trace *trace, name_id list)
{
    struct str text = trace_name(trace, list);
    name_id last;

    for (size_t at = text.count; at >= 2; at--) {
        if (text.at[at - 1] == ':' && text.at[at - 2] == ':')
            return trace_find_name(trace, str_skip(text, at), &last) ? last : list;
    }
    return list;
}

/* "jit(f)/layer_0/dot:" is op_name:op_type. "XlaModule:" and the like say nothing. */
static name_id scope_of_tf_op(const struct trace *trace, name_id tf_op)
{
    struct str text = trace_name(trace, tf_op);
    const char *colon = text.count > 0 ? memchr(text.at, ':', text.count) : NULL;
    name_id name;

    if (!str_contains(text, STR("/")))
        return 0;
    if (colon == NULL)
        return tf_op;
    return trace_find_name(trace, (struct str){text.at, (size_t)(colon - text.at)}, &name) ? name
                                                                                           : tf_op;
}

static struct op make_op(const struct attribute_work *work, const struct more *more, name_id name)
{
    const struct context *context = &work->contexts[more->context];
    const struct trace *trace = work->trace;
    struct op op = {
        .program = context->program,
        .name = name,
        .category = more->category,
        .source = more->source,
        .module = context->module,
        .kind = KIND_OTHER,
    };

    if (context->program != NO_PROGRAM) {
        const struct instruction *instruction = trace_instruction(trace, context->program, name);

        if (op.module == 0)
            op.module = trace->programs[context->program].name;
        if (instruction != NULL) {
            op.scope = instruction->scope;
            op.source = instruction->source != 0 ? instruction->source : op.source;
            op.category = instruction->category != 0 ? instruction->category : op.category;
            if (op.category == 0)
                op.category = instruction->opcode;
        }
    }
    if (op.scope == 0 && more->tf_op != 0)
        op.scope = scope_of_tf_op(trace, more->tf_op);
    return op;
}

static uint32_t add_op(struct attribute_work *work, const struct more *more, name_id name)
{
    if (work->op_count == work->op_capacity) {
        WORK_GROW(work, work->ops, work->op_count, work->op_capacity);
        work->op_contexts = scratch_resize(work->scratch, work->op_contexts, work->op_capacity,
                                           sizeof(*work->op_contexts));
        work->op_kind_ps = scratch_resize(work->scratch, work->op_kind_ps, work->op_capacity,
                                          sizeof(*work->op_kind_ps));
    }
    work->op_contexts[work->op_count] = more->context;
    work->op_kind_ps[work->op_count] = (struct kind_times){0};
    work->ops[work->op_count] = make_op(work, more, name);
    return work->op_count++;
}

static uint32_t find_or_add_op(struct attribute_work *work, const struct more *more, name_id name,
                               bool is_slice_name)
{
    uint32_t *at = map64_at(&work->op_of, map64_pair(more->context, name), NO_OP);

    if (*at != NO_OP)
        return *at;

    name_id last = is_slice_name ? name : last_of_list(work->trace, name);
    uint32_t *same = map64_at(&work->op_of, map64_pair(more->context, last), NO_OP);

    if (*same == NO_OP)
        *same = add_op(work, more, last);

    uint32_t op = *same;

    *map64_at(&work->op_of, map64_pair(more->context, name), NO_OP) = op;
    return op;
}

uint32_t op_find(struct attribute_work *work, const struct more *more, name_id name,
                 bool is_slice_name)
{
    uint32_t op = op_known(work, more->context, name);

    if (op == NO_OP) {
        op = find_or_add_op(work, more, name, is_slice_name);
        work->known_ops[name % KNOWN_OPS] =
            (struct known_op){.name = name, .context = more->context, .op = op, .used = true};
    }
    return op;
}

/* Ordinals come from the file and may be any number. */
static uint32_t group_of_ordinal(struct attribute_work *work, int32_t device)
{
    uint32_t *group = map64_at(&work->ordinal_of, (uint32_t)device, UINT32_MAX);

    if (*group == UINT32_MAX)
        *group = work->group_count++;
    return *group;
}

/* Copies and sets are none, but where one was launched as a kernel; nor are a TPU's ops. */
static uint32_t kernel_at(struct attribute_work *work, track_id id, const struct chunk *chunk,
                          uint32_t at, const struct facts *facts, uint32_t op)
{
    if (!work->runs_kernels[id])
        return NO_KERNEL;
    if (chunk->kind[at] == KIND_COPY &&
        (facts->shape == NO_SHAPE || work->shapes[facts->shape].grid[0] == NOT_RECORDED))
        return NO_KERNEL;
    return kernel_find(work, chunk->name[at], facts->shape, op);
}

/* A TPU marks where in an op its bundles of instructions ran: "bundle.1234" is a place, no op. */
static bool is_place(const struct attribute_work *work, track_id id, name_id name)
{
    const struct str mark = STR("bundle.");
    struct str text = trace_name(work->trace, name);

    if (work->runs_kernels[id] || !str_starts(text, mark) || text.count == mark.count)
        return false;
    for (size_t i = mark.count; i < text.count; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
    }
    return true;
}

static void add_entry(struct attribute_work *work, const struct track *track, track_id id,
                      const struct chunk *chunk, uint32_t at, const struct facts *facts)
{
    int32_t device = facts->device >= 0 ? facts->device : track->device >= 0 ? track->device : 0;

    if (track->device >= 0 && is_place(work, id, chunk->name[at]))
        return;
    if (work->entry_count == work->entry_capacity)
        return; /* an event in two slices: only in a damaged trace */
    work->entry_group[work->entry_count] =
        track_is_device_work(track) ? id : group_of_ordinal(work, device);
    if (work->entry_facts != NULL)
        work->entry_facts[work->entry_count] = (uint32_t)(facts - work->facts);

    uint32_t op = facts->op != NO_OP
                      ? facts->op
                      : op_find(work, &work->more[facts->more], chunk->name[at], true);

    if (work->kernel_of != NULL)
        work->kernel_of[work->entry_count] = kernel_at(work, id, chunk, at, facts, op);
    ps_add(&work->op_kind_ps[op].ps[chunk->kind[at] % KIND_COUNT], chunk->dur_ps[at] + 1);
    work->entries[work->entry_count++] = (struct attributed){
        .slice = chunk->first_slice + at,
        .op = op,
        .execution = facts->execution,
        .device = device,
        .graph = facts->graph,
        .launch = NO_SLICE,
        .start_ps = chunk->start_ps[at],
        .dur_ps = chunk->dur_ps[at],
        .self_ps = chunk->start_ps[at] + chunk->dur_ps[at] / 2, /* until entries_nest */
    };
}

static void take_slices(struct attribute_work *work, const struct track *track, track_id id,
                        const struct chunk *chunk)
{
    for (uint32_t i = 0; i < chunk->count; i++) {
        if (chunk->event[i] >= work->trace->event_count)
            continue;

        uint32_t told = work->event_facts[chunk->event[i]];

        if (told == NO_FACTS)
            continue;

        if ((told & PARTNER) != 0) {
            int64_t end_ps = chunk->start_ps[i] + chunk->dur_ps[i];
            int64_t *partner_end_ps = &work->partner_end_ps[told & ~PARTNER];

            if (end_ps > *partner_end_ps)
                *partner_end_ps = end_ps;
        } else {
            add_entry(work, track, id, chunk, i, &work->facts[told - 1]);
        }
    }
}

/* The device's clock has another zero; the first op that has both times tells the distance, so that
 * lengths and order are the device's and places are the file's. */
struct clock_shift {
    bool known;
    int64_t shift_ps;
};

static const struct device_time *device_time_of(const struct attribute_work *work, uint32_t facts)
{
    bool told = facts < work->device_time_capacity && work->device_times[facts].told;

    return told ? &work->device_times[facts] : NULL;
}

static void true_times(struct attribute_work *work)
{
    if (work->entry_facts == NULL)
        return;

    struct clock_shift *shifts = memory_resize(NULL, work->group_count, sizeof(*shifts));

    for (uint32_t i = 0; i < work->group_count; i++)
        shifts[i] = (struct clock_shift){0};
    for (uint32_t i = 0; i < work->entry_count; i++) {
        struct attributed *entry = &work->entries[i];
        struct clock_shift *shift = &shifts[work->entry_group[i]];

        const struct device_time *time = device_time_of(work, work->entry_facts[i]);

        if (time != NULL) {
            if (!shift->known)
                *shift = (struct clock_shift){true, entry->start_ps - time->start_ps};
            entry->start_ps = time->start_ps + shift->shift_ps;
            entry->dur_ps = time->dur_ps;
        } else if (work->partner_end_ps != NULL) {
            int64_t end_ps = work->partner_end_ps[work->entry_facts[i]];

            if (end_ps > entry->start_ps + entry->dur_ps)
                entry->dur_ps = end_ps - entry->start_ps;
        }
    }
    free(shifts);
}

/* What only the args told: the order in time needs it no more. */
static void drop_facts(struct attribute_work *work)
{
    scratch_free(work->scratch, work->on_device);
    scratch_free(work->scratch, work->event_facts);
    scratch_free(work->scratch, work->facts);
    scratch_free(work->scratch, work->partner_end_ps);
    scratch_free(work->scratch, work->shapes);
    scratch_free(work->scratch, work->more);
    scratch_free(work->scratch, work->device_times);
    scratch_free(work->scratch, work->types);
    scratch_free(work->scratch, work->entry_facts);
    map64_free(&work->shape_of);
    map64_free(&work->kernel_of_name);
    map64_free(&work->module_of);
    map64_free(&work->program_of);
    map64_free(&work->context_of);
    map64_free(&work->op_of);
    map64_free(&work->run_of);
    map64_free(&work->device_of);
    map64_free(&work->execution_of);
    map64_free(&work->ordinal_of);
}

/* All but what is handed out. */
static void drop_rest(struct attribute_work *work)
{
    scratch_free(work->scratch, work->contexts);
    scratch_free(work->scratch, work->op_contexts);
    scratch_free(work->scratch, work->op_kind_ps);
    scratch_free(work->scratch, work->runs_kernels);
    scratch_free(work->scratch, work->entry_group);
}

static bool find_kernel_tracks(struct attribute_work *work)
{
    const struct trace *trace = work->trace;
    bool any = false;

    work->runs_kernels = scratch_array(work->scratch, bool, (size_t)trace->track_count + 1);
    for (track_id id = 0; id < trace->track_count; id++) {
        work->runs_kernels[id] = track_runs_kernels(trace, id);
        any |= work->runs_kernels[id];
    }
    return any;
}

/* Room for a slice of each op event. */
static void make_entries(struct attribute_work *work)
{
    uint32_t count = work->facts_count;

    work->entries = scratch_array(work->scratch, struct attributed, count);
    work->entry_group = scratch_array(work->scratch, uint32_t, count);
    if (work->device_times != NULL || work->partner_end_ps != NULL)
        work->entry_facts = scratch_array(work->scratch, uint32_t, count);
    if (find_kernel_tracks(work))
        work->kernel_of = scratch_array(work->scratch, uint32_t, count);
    work->entry_capacity = count;
}

/* An op of several kernels is what most of its time is: not what the fill before it is. */
static void choose_kinds(struct attribute_work *work)
{
    for (uint32_t op = 0; op < work->op_count; op++) {
        const int64_t *ps = work->op_kind_ps[op].ps;
        int most = work->ops[op].kind;

        for (int kind = 0; kind < KIND_COUNT; kind++)
            most = ps[kind] > ps[most] ? kind : most;
        work->ops[op].kind = (enum kind)most;
    }
}

static void read_slices(struct attribute_work *work)
{
    struct chunk *chunk = memory_resize(NULL, 1, sizeof(*chunk)); /* 160 KB: not on a stack */
    const struct trace *trace = work->trace;

    for (track_id id = 0; id < trace->track_count; id++) {
        if (!track_is_device_work(&trace->tracks[id]) || trace->tracks[id].slice_count == 0)
            continue;
        work->has_devices = true;
        each_chunk(work, &trace->tracks[id], id, COLUMN_EVENT, chunk, mark_events);
    }
    facts_read(work);
    make_entries(work);
    for (track_id id = 0; id < trace->track_count && work->facts_count > 0; id++) {
        if (!trace->tracks[id].derived &&
            (!work->has_devices || track_is_device_work(&trace->tracks[id])))
            each_chunk(work, &trace->tracks[id], id,
                       COLUMN_EVENT | COLUMN_START | COLUMN_DUR | COLUMN_NAME, chunk, take_slices);
    }
    choose_kinds(work);
    free(chunk);
}

static struct attribute_work begin(const struct trace *trace, struct scratch *scratch)
{
    return (struct attribute_work){
        .trace = trace,
        .scratch = scratch,
        .group_count = trace->track_count,
        .on_device = scratch_array(scratch, uint8_t, trace->event_count / 8 + 1),
        .event_facts = scratch_array(scratch, uint32_t, trace->event_count + 1),
        .run_of = {.scratch = scratch},
        .execution_of = {.scratch = scratch},
    };
}

struct tables {
    const struct trace *trace;
    struct scratch *scratch;
    struct attribution *of;
    struct attribute_hooks hooks;
};

/* None reads what another makes. */
static void make_table(void *data, uint32_t part)
{
    const struct tables *tables = data;

    if (part == 0 && tables->hooks.entries != NULL)
        tables->hooks.entries(tables->hooks.data, tables->of);
    if (part == 1)
        totals_make(tables->trace, tables->scratch, tables->of);
    if (part == 2)
        kernels_make(tables->trace, tables->scratch, tables->of);
}

static void make_tables(struct tables tables)
{
    enum { PARTS = 3 };

    if (tables.hooks.two_threads && split_count(tables.of->entry_count) > 1) {
        split_run(PARTS, make_table, &tables);
        return;
    }
    for (uint32_t part = 0; part < PARTS; part++)
        make_table(&tables, part);
}

/* Rows of tables are told apart by names, also by those that the attribution adds. */
static void make_named_tables(struct tables tables)
{
    struct str *room = memory_resize(NULL, (size_t)tables.of->text_count + 1, sizeof *room);
    struct trace named;

    attribution_lend(tables.of, tables.trace, room, &named);
    tables.trace = &named;
    make_tables(tables);
    free(room);
}

enum status attribute(const struct trace *trace, struct scratch *scratch,
                      struct attribute_hooks hooks, struct attribution *ret, struct error *err)
{
    struct attribute_work work = begin(trace, scratch);

    read_slices(&work);
    true_times(&work);
    drop_facts(&work);
    launches_find(&work);
    callers_find(&work);
    entries_order(&work);
    uint32_t told_count = work.execution_count; /* behind them those that are guessed */

    entries_place(&work);
    entries_nest(&work);
    calls_find(&work, told_count); /* by when executions began */
    entries_first(&work);
    phases_find(&work);
    drop_rest(&work);
    *ret = (struct attribution){
        .ops = work.ops,
        .op_count = work.op_count,
        .executions = work.executions,
        .execution_count = work.execution_count,
        .entries = work.entries,
        .entry_count = work.entry_count,
        .by_device_time = work.by_device_time,
        .kernels = work.kernels,
        .kernel_count = work.kernel_count,
        .kernel_of = work.kernel_count > 0 ? work.kernel_of : NULL,
        .costs = work.told_costs,
        .texts = work.texts,
        .text_ends = work.text_ends,
        .text_bytes = work.text_bytes,
        .text_count = work.text_count,
    };
    make_named_tables((struct tables){trace, scratch, ret, hooks});
    if (trace_damaged(trace))
        return fail(err, ERR_FORMAT, "part of the index is damaged");
    return OK;
}
