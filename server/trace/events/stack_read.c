/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks and their samples, read: the tables as they were written, once their rules hold. */
#include "trace/readers.h"
#include "trace/writers.h"

static enum status records(const struct trace *trace, enum table_kind kind, size_t size,
                           const char *what, const void **ret, uint32_t *ret_count,
                           struct error *err)
{
    const struct block_in *in = &trace->parts->in;
    struct bytes bytes = in->table(in->from, kind);

    if (bytes.count % size != 0 || bytes.count / size >= UINT32_MAX)
        return fail(err, ERR_FORMAT, "the table of %s has %zu bytes", what, bytes.count);
    *ret = bytes.at;
    *ret_count = (uint32_t)(bytes.count / size);
    return OK;
}

static enum status broken(const char *what, uint32_t i, struct error *err)
{
    return fail(err, ERR_FORMAT, "%s %u breaks the rules of its table", what, i);
}

static bool stack_valid(const struct trace *trace, stack_id id)
{
    const struct stack *stack = &trace->stacks[id];

    return (stack->parent == NO_STACK || stack->parent < id) &&
           stack->frame.function < trace->name_count && stack->frame.file < trace->name_count &&
           stack->frame.module < trace->name_count;
}

static enum status open_stacks(struct trace *trace, struct error *err)
{
    const void *stacks, *types;

    TRY(records(trace, TABLE_STACKS, sizeof(struct stack), "stacks", &stacks, &trace->stack_count,
                err));
    trace->stacks = stacks;
    for (stack_id id = 0; id < trace->stack_count; id++)
        if (!stack_valid(trace, id))
            return broken("stack", id, err);
    TRY(records(trace, TABLE_SAMPLE_TYPES, sizeof(struct sample_type), "sample types", &types,
                &trace->sample_type_count, err));
    trace->sample_types = types;
    for (uint32_t i = 0; i < trace->sample_type_count; i++)
        if (trace->sample_types[i].name >= trace->name_count ||
            trace->sample_types[i].unit >= trace->name_count)
            return broken("sample type", i, err);
    return OK;
}

static bool sample_valid(const struct trace *trace, const struct sample *sample)
{
    return (sample->track == NO_TRACK || sample->track < trace->track_count) &&
           (sample->stack == NO_STACK || sample->stack < trace->stack_count) &&
           sample->first_label <= trace->sample_label_count &&
           sample->label_count <= trace->sample_label_count - sample->first_label &&
           (sample->at_ps == SAMPLE_NO_TIME ||
            (sample->at_ps >= -TIME_PS_MAX && sample->at_ps <= TIME_PS_MAX));
}

static enum status open_samples(struct trace *trace, struct error *err)
{
    const void *samples = NULL, *labels = NULL;
    const struct bytes values = trace->parts->in.table(trace->parts->in.from, TABLE_SAMPLE_VALUES);

    TRY(records(trace, TABLE_SAMPLE_LABELS, sizeof(struct arg), "samples' labels", &labels,
                &trace->sample_label_count, err));
    trace->sample_labels = labels;
    for (uint32_t i = 0; i < trace->sample_label_count; i++)
        if (!trace_arg_valid(trace, &trace->sample_labels[i]))
            return broken("sample's label", i, err);
    TRY(records(trace, TABLE_STACK_SAMPLES, sizeof(struct sample), "stack samples", &samples,
                &trace->stack_sample_count, err));
    trace->samples = samples;
    for (uint32_t i = 0; i < trace->stack_sample_count; i++)
        if (!sample_valid(trace, &trace->samples[i]))
            return broken("stack sample", i, err);
    if (values.count / sizeof(int64_t) !=
        (uint64_t)trace->stack_sample_count * trace->sample_type_count)
        return fail(err, ERR_FORMAT, "the values do not cover the stack samples");
    trace->sample_values = (const int64_t *)(const void *)values.at;
    return OK;
}

enum status stacks_open(struct trace *trace, struct error *err)
{
    TRY(open_stacks(trace, err));
    return open_samples(trace, err);
}
