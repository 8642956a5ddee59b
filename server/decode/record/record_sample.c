/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of stacks and samples in a spool become samples of the trace. Facts: api/record.h. */
#include "decode/record/record_sample.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/human.h"
#include "decode/record/record_state.h"

enum { STACKS_MAX = 1 << 20, TASKS_MAX = 1 << 20 };

static const struct {
    int types;
    const char *names[2], *what;
} kinds[SAMPLERS] = {
    [SAMPLER_PYTHON] = {2, {"Python time", "Python CPU time"}, "Python stacks"},
    [SAMPLER_CPU] = {1, {"CPU time", NULL}, "processor stacks"},
};

void record_samples_samplers(struct record_samples *samples, const struct record_columns *columns)
{
    for (uint32_t row = 0; row < columns->count; row++) {
        int64_t kind = record_at(columns, SAMPLER_KIND, row);

        if (kind < 0 || kind >= SAMPLERS)
            continue;
        samples->has[kind] = true;
        samples->hz[kind] = record_at(columns, SAMPLER_HZ, row);
    }
}

static stack_id stack_of(const struct record_samples *samples, int64_t id)
{
    return id > 0 && id <= samples->stack_capacity ? samples->stacks[id - 1] : NO_STACK;
}

static void keep_stack(struct record_samples *samples, uint64_t id, stack_id stack)
{
    while (id > samples->stack_capacity) {
        uint32_t capacity = samples->stack_capacity == 0 ? 1024 : samples->stack_capacity * 2;

        samples->stacks = memory_resize(samples->stacks, capacity, sizeof *samples->stacks);
        for (uint32_t at = samples->stack_capacity; at < capacity; at++)
            samples->stacks[at] = NO_STACK;
        samples->stack_capacity = capacity;
    }
    samples->stacks[id - 1] = stack;
}

/* A call whose caller is lost with its frame stands as the outermost one. */
void record_samples_stacks(struct record_samples *samples, const struct record_columns *columns)
{
    struct sink *sink = samples->record->sink;

    for (uint32_t row = 0; row < columns->count && !sink_failed(sink); row++) {
        int64_t id = record_at(columns, STACK_ID, row);
        int64_t caller = record_at(columns, STACK_CALLER, row);
        int64_t line = record_at(columns, STACK_LINE, row);
        struct frame frame = {
            .function = record_name_of(&samples->texts, record_at(columns, STACK_FUNCTION, row)),
            .file = record_name_of(&samples->texts, record_at(columns, STACK_FILE, row)),
            .module = record_name_of(&samples->texts, record_at(columns, STACK_MODULE, row)),
            .line = line > 0 && line <= INT32_MAX ? (uint32_t)line : 0};

        if (id <= 0 || id > STACKS_MAX) {
            samples->unread++;
            continue;
        }
        samples->no_caller += caller != 0 && stack_of(samples, caller) == NO_STACK;
        keep_stack(samples, (uint64_t)id, sink_stack(sink, stack_of(samples, caller), frame));
    }
}

/* What the program itself called its thread counts more. */
void record_samples_tasks(struct record_samples *samples, const struct record_columns *columns)
{
    struct id_map *names = &samples->record->thread_names;
    bool is_new;

    for (uint32_t row = 0; row < columns->count && names->count < TASKS_MAX; row++) {
        name_id name = record_name_of(&samples->texts, record_at(columns, TASK_NAME, row));

        if (name != 0)
            id_map_add(names, (uint64_t)record_at(columns, TASK_THREAD, row), name, &is_new);
    }
}

void record_samples_begin(struct record_samples *samples)
{
    struct sink *sink = samples->record->sink;

    for (int kind = 0; kind < SAMPLERS; kind++) {
        samples->type_of[kind] = samples->type_count;
        for (int type = 0; samples->has[kind] && type < kinds[kind].types; type++)
            samples->type_count =
                1 + sink_sample_type(sink, sink_name(sink, str_of(kinds[kind].names[type])),
                                     sink_name(sink, STR("nanoseconds")));
    }
}

static int64_t not_less_than_0(int64_t value)
{
    return value > 0 ? value : 0;
}

void record_samples_read(struct record_samples *samples, const struct record_columns *columns)
{
    struct record *record = samples->record;

    for (uint32_t row = 0; row < columns->count && !sink_failed(record->sink); row++) {
        int64_t values[RECORD_SAMPLE_TYPES_MAX] = {0};
        int64_t kind = record_at(columns, SAMPLE_KIND, row);

        if (kind < 0 || kind >= SAMPLERS || !samples->has[kind]) {
            samples->unread++;
            continue;
        }
        struct sample sample = {
            .at_ps =
                record_clock_ps_of_monotonic(&record->clock, record_at(columns, SAMPLE_AT_NS, row)),
            .track = record_thread_track(record, record_at(columns, SAMPLE_THREAD, row)),
            .stack = stack_of(samples, record_at(columns, SAMPLE_STACK, row))};

        samples->counts[kind]++;
        values[samples->type_of[kind]] = not_less_than_0(record_at(columns, SAMPLE_TIME_NS, row));
        if (kind == SAMPLER_PYTHON)
            values[samples->type_of[kind] + 1] =
                not_less_than_0(record_at(columns, SAMPLE_CPU_NS, row));
        sink_sample(record->sink, sample, values, NULL, 0);
    }
}

void record_samples_note(const struct record_samples *samples)
{
    struct sink *sink = samples->record->sink;

    for (int kind = 0; kind < SAMPLERS; kind++)
        if (samples->counts[kind] > 0)
            sink_note(sink, "samples", NOTE_INFO, samples->counts[kind],
                      "%" PRIu64 " sample%s of %s, taken %" PRId64
                      " times per second per thread: shares are estimates.",
                      samples->counts[kind], plural_s(samples->counts[kind]), kinds[kind].what,
                      samples->hz[kind]);
    if (samples->no_caller > 0)
        sink_note(sink, "lost-frames", NOTE_WARNING, samples->no_caller,
                  "%" PRIu64 " call%s of stacks without callers, which are lost.",
                  samples->no_caller, plural_s(samples->no_caller));
    if (samples->unread > 0)
        sink_note(sink, "unread", NOTE_INFO, samples->unread,
                  "This version does not know the kinds of %" PRIu64 " sample%s or stack%s.",
                  samples->unread, plural_s(samples->unread), plural_s(samples->unread));
}

void record_samples_free(struct record_samples *samples)
{
    free(samples->texts.at);
    free(samples->stacks);
}
