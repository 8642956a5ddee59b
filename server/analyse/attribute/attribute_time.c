/* SPDX-License-Identifier: Apache-2.0 */
/* What only the order in time tells: executions, nesting, which event of an op is the first. */
#include <stdlib.h>
#include <string.h>

#include "analyse/attribute/attribute_parts.h"
#include "analyse/scan/nest.h"
#include "trace/ps.h"

static int64_t end_of(const struct attributed *entry)
{
    return entry->start_ps + entry->dur_ps;
}

static bool comes_before(const struct attributed *entries, uint32_t a, uint32_t b)
{
    const struct attributed *x = &entries[a], *y = &entries[b];

    if (x->device != y->device)
        return x->device < y->device;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps;
    if (x->dur_ps != y->dur_ps)
        return x->dur_ps > y->dur_ps;
    return a < b;
}

static void merge(const struct attributed *entries, const uint32_t *from, uint32_t left,
                  uint32_t middle, uint32_t right, uint32_t *to)
{
    uint32_t a = left, b = middle;

    for (uint32_t i = left; i < right; i++)
        to[i] = b == right || (a < middle && !comes_before(entries, from[b], from[a])) ? from[a++]
                                                                                       : from[b++];
}

/* Rows arrive ordered, so the input is a few long runs: merge those, and runs of runs. */
void entries_order(struct attribute_work *work)
{
    uint32_t count = work->entry_count;
    uint32_t *order = scratch_array(work->scratch, uint32_t, count);
    uint32_t *other = scratch_array(work->scratch, uint32_t, count);
    uint32_t *ends = NULL; /* of runs */
    uint32_t run_count = 0, run_capacity = 0;

    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        if (i + 1 == count || !comes_before(work->entries, i, i + 1)) {
            WORK_GROW(work, ends, run_count, run_capacity);
            ends[run_count++] = i + 1;
        }
    }
    while (run_count > 1) {
        uint32_t left = 0, merged = 0;

        for (uint32_t run = 0; run < run_count; run += 2) {
            uint32_t middle = ends[run];
            uint32_t right = run + 1 < run_count ? ends[run + 1] : middle;

            merge(work->entries, order, left, middle, right, other);
            ends[merged++] = left = right;
        }
        run_count = merged;

        uint32_t *swap = order;

        order = other;
        other = swap;
    }
    scratch_free(work->scratch, other);
    scratch_free(work->scratch, ends);
    work->by_device_time = order;
}

/* The modules' slices of a device: executions as TPU files show them. */
struct module_slices {
    const struct trace *trace;
    const struct row *row;
    uint32_t *executions; /* by ordinal; NO_EXECUTION until an op falls inside */
    struct slice at;      /* the one that was found last, */
    bool found;           /* where any was, */
    int64_t from_ps;      /* and when: it is the one to be found from then up to its end */
};

/* Ops come in time order, so the module is mostly that of the op before. */
static bool find_module(struct module_slices *modules, int64_t at_ps)
{
    bool is_same = at_ps >= modules->from_ps &&
                   (!modules->found || at_ps < modules->at.start_ps + modules->at.dur_ps);

    if (!is_same) {
        uint32_t ordinal = row_find(modules->trace, modules->row, at_ps);

        modules->from_ps = at_ps;
        modules->found = ordinal < modules->row->count;
        if (modules->found)
            modules->at = trace_slice(modules->trace, modules->row->first_slice + ordinal);
        if (modules->found && modules->at.start_ps < at_ps)
            modules->from_ps = modules->at.start_ps + 1; /* an instant may lie at its start */
    }
    return modules->found && modules->at.start_ps <= at_ps;
}

/* By the middle of what the file shows: edges of two clocks differ by a little. */
static void place_in_module(struct attribute_work *work, struct module_slices *modules,
                            struct attributed *entry, int64_t middle_ps)
{
    if (!find_module(modules, middle_ps))
        return;

    slice_id slice = modules->at.id;
    uint32_t *execution = &modules->executions[slice - modules->row->first_slice];

    if (*execution == NO_EXECUTION) {
        *execution = execution_add(work, work->op_contexts[entry->op], slice, entry->device);
        work->executions[*execution].launch = launch_of_slice(work->trace, slice);
    }
    entry->execution = *execution;
}

static struct module_slices modules_of(const struct attribute_work *work, int32_t device)
{
    const struct trace *trace = work->trace;
    struct module_slices modules = {.trace = trace, .from_ps = INT64_MAX};

    for (track_id id = 0; id < trace->track_count; id++) {
        const struct track *track = &trace->tracks[id];

        if (track->role == ROLE_MODULES && !track->derived && track->device == device &&
            track->row_count > 0)
            modules.row = &trace->rows[track->first_row];
    }
    if (modules.row != NULL) {
        modules.executions = scratch_array(work->scratch, uint32_t, modules.row->count);
        memset(modules.executions, 0xFF, modules.row->count * sizeof(uint32_t));
    }
    return modules;
}

/* Without module slices: an execution begins where the program's first op comes again. That op may
 * be several kernels, each another one:
 *
 *   im2col gemm | add | im2col gemm | add       op 1 op 1 | op 2 | ...: two executions
 *   mul | mul | mul                             a program of one kernel: three
 *
 * so it came again when another op did between, or when its first kernel does.
 */
struct running {
    uint32_t first_op, execution, first_kernel;
    bool went_on; /* another op has come since */
};

static uint32_t kernel_of_entry(const struct attribute_work *work, const struct attributed *entry)
{
    return work->kernel_of == NULL ? NO_KERNEL : work->kernel_of[entry - work->entries];
}

static void place_by_first_op(struct attribute_work *work, struct running *running,
                              struct attributed *entry)
{
    uint32_t context = work->op_contexts[entry->op];

    if (work->contexts[context].program == NO_PROGRAM && work->contexts[context].module == 0)
        return;

    struct running *now = &running[context];

    uint32_t kernel = kernel_of_entry(work, entry);

    if (now->execution == NO_EXECUTION ||
        (now->first_op == entry->op && (now->went_on || now->first_kernel == kernel))) {
        now->first_op = entry->op;
        now->first_kernel = kernel;
        now->went_on = false;
        now->execution = execution_add(work, context, work->execution_count, entry->device);
    } else {
        now->went_on |= now->first_op != entry->op;
    }
    entry->execution = now->execution;
}

static void forget_running(struct attribute_work *work, struct running *running)
{
    for (uint32_t i = 0; i < work->context_count; i++)
        running[i] = (struct running){.first_op = NO_OP, .execution = NO_EXECUTION};
}

void entries_place(struct attribute_work *work)
{
    struct running *running = memory_resize(NULL, work->context_count, sizeof(*running));
    struct module_slices modules = {0};

    for (uint32_t i = 0; i < work->entry_count; i++) {
        struct attributed *entry = &work->entries[work->by_device_time[i]];

        if (i == 0 || entry->device != work->entries[work->by_device_time[i - 1]].device) {
            scratch_free(work->scratch, modules.executions);
            modules = modules_of(work, entry->device);
            forget_running(work, running);
        }
        if (entry->execution == NO_EXECUTION) {
            if (modules.row != NULL)
                place_in_module(work, &modules, entry, entry->self_ps);
            else
                place_by_first_op(work, running, entry);
        }
    }
    scratch_free(work->scratch, modules.executions);
    free(running);
}

static void enclose(struct attribute_work *work)
{
    for (uint32_t i = 0; i < work->entry_count; i++) {
        const struct attributed *entry = &work->entries[work->by_device_time[i]];

        if (entry->execution == NO_EXECUTION)
            continue;

        struct execution *execution = &work->executions[entry->execution];

        if (entry->start_ps < execution->start_ps)
            execution->start_ps = entry->start_ps;
        if (end_of(entry) > execution->end_ps)
            execution->end_ps = end_of(entry);
        if (execution->launch == NO_SLICE)
            execution->launch = entry->launch;
    }
}

/* Those whose bodies nobody tells are inside of what lasts longer. */
static void nest_by_time(struct attribute_work *work, const struct bodies *bodies)
{
    struct nest nest = nest_create(work->group_count);

    for (uint32_t i = 0; i < work->entry_count; i++) {
        uint32_t index = work->by_device_time[i], parent;
        struct attributed *entry = &work->entries[index];
        int64_t covered_ps;

        if (bodies_tell(bodies, entry))
            continue;
        entry->self_ps = entry->dur_ps;
        if (nest_push(&nest, work->entry_group[index], index, end_of(entry), entry->start_ps,
                      end_of(entry), &parent, &covered_ps))
            ps_add(&work->entries[parent].self_ps, -covered_ps);
    }
    nest_free(&nest);
}

/* Entries by execution, in time order: [first[e], first[e + 1]); once, when all are placed. */
static void sort_by_execution(struct attribute_work *work)
{
    uint32_t *first, *order;

    if (work->by_execution != NULL)
        return;
    first = scratch_array(work->scratch, uint32_t, (size_t)work->execution_count + 2);
    order = scratch_array(work->scratch, uint32_t, work->entry_count);
    work->first_of_execution = first;
    work->by_execution = order;

    for (uint32_t i = 0; i < work->entry_count; i++) {
        if (work->entries[i].execution != NO_EXECUTION)
            first[work->entries[i].execution + 2]++;
    }
    for (uint32_t i = 2; i < work->execution_count + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < work->entry_count; i++) {
        uint32_t index = work->by_device_time[i], execution = work->entries[index].execution;

        if (execution != NO_EXECUTION)
            order[first[execution + 1]++] = index;
    }
}

void entries_nest(struct attribute_work *work)
{
    struct bodies *bodies = bodies_read(work);

    if (bodies != NULL) {
        sort_by_execution(work);

        uint32_t count = work->first_of_execution[work->execution_count];

        bodies_end(work, bodies, work->by_execution, count);
        bodies_nest(work, bodies, work->by_execution, count);
    }
    enclose(work);
    nest_by_time(work, bodies);
    bodies_free(work, bodies);
}

void entries_first(struct attribute_work *work)
{
    sort_by_execution(work);

    const uint32_t *first = work->first_of_execution, *order = work->by_execution;
    uint32_t *seen_in = memory_resize(NULL, work->op_count, sizeof(*seen_in)); /* by op */

    for (uint32_t op = 0; op < work->op_count; op++)
        seen_in[op] = NO_EXECUTION;
    for (uint32_t i = 0; i < work->entry_count; i++)
        work->entries[i].first = work->entries[i].execution == NO_EXECUTION;
    for (uint32_t execution = 0; execution < work->execution_count; execution++) {
        for (uint32_t i = first[execution]; i < first[execution + 1]; i++) {
            struct attributed *entry = &work->entries[order[i]];

            entry->first = seen_in[entry->op] != execution;
            seen_in[entry->op] = execution;
        }
    }
    free(seen_in);
    scratch_free(work->scratch, work->by_execution);
    scratch_free(work->scratch, work->first_of_execution);
}
