/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of call stacks, in both spellings.
 *
 *   "stackFrames": {"7": {"name": "f", "category": "libm", "parent": "1"}, ...}     callers
 *   {"ph": "P", "pid": 1, "tid": 2, "ts": 870, "name": "cycles", "sf": 7}           a sample
 *   "samples": [{"cpu": 0, "tid": 2, "ts": 870, "weight": 1, "sf": 7}, ...]         the same
 *
 * Chrome's own profiler tells nodes as it meets them: see trace_json_profile.c. Frames may stand
 * behind the samples that need them, so both are kept until the end.
 */
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

enum { FRAMES_MAX = 1 << 20, SAMPLES_MAX = 1 << 21, STACK_DEPTH_MAX = 1024 };

static void *grown(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity == 0 ? 256 : *capacity * 2;
    return memory_resize(array, *capacity, size);
}

void stacks_frame(struct trace_json *json, struct frame_key key, struct frame frame)
{
    struct stacks *stacks = &json->stacks;

    if (stacks->frame_count == FRAMES_MAX) {
        json->odd.frames_beyond++;
        return;
    }
    uint32_t *index = pair_table_at(&stacks->by_key, key.id, key.owner);

    if (*index == PAIR_NONE)
        *index = stacks->frame_count++;
    uint32_t at = *index;

    stacks->frames = grown(stacks->frames, at, &stacks->frame_capacity, sizeof *stacks->frames);
    stacks->frames[at] = (struct told_frame){.frame = frame, .stack = NO_STACK};
}

void stacks_parent(struct trace_json *json, struct frame_key key, uint64_t parent)
{
    uint32_t index = pair_table_find(&json->stacks.by_key, key.id, key.owner);

    if (index == PAIR_NONE)
        return;
    json->stacks.frames[index].parent = (struct frame_key){parent, key.owner};
    json->stacks.frames[index].has_parent = true;
}

void stacks_frames(struct trace_json *json, struct json_value value)
{
    struct json members = json_inside(value, '{');
    bool first = true;

    for (struct str key; json_next_key(&members, &first, &key);) {
        struct json_value frame = json_value(&members);
        struct json_value name = json_member(frame, STR("name"));
        struct json_value category = json_member(frame, STR("category"));
        struct json_value parent = json_member(frame, STR("parent"));
        struct frame_key id = {
            id_number(json, (struct json_value){.kind = JSON_STRING, .text = key}), 0};

        if (frame.kind == JSON_NOTHING)
            return;
        stacks_frame(json, id,
                     (struct frame){.function = texts_value(&json->texts, name),
                                    .module = texts_value(&json->texts, category)});
        if (parent.kind == JSON_STRING || parent.kind == JSON_NUMBER)
            stacks_parent(json, id, id_number(json, parent));
    }
}

void stacks_sample(struct trace_json *json, struct late_sample sample)
{
    struct stacks *stacks = &json->stacks;

    if (stacks->sample_count == SAMPLES_MAX) {
        json->odd.samples_beyond++;
        return;
    }
    stacks->samples = grown(stacks->samples, stacks->sample_count, &stacks->sample_capacity,
                            sizeof *stacks->samples);
    stacks->samples[stacks->sample_count++] = sample;
}

static const struct arg *find_arg(const struct trace_json *json, struct str key)
{
    for (uint32_t i = 0; i < json->args.count; i++)
        if (str_equal(sink_text(json->sink, json->args.args[i].key), key))
            return &json->args.args[i];
    return NULL;
}

static uint64_t id_of_arg(struct trace_json *json, const struct arg *arg)
{
    if (arg->type == ARG_INT64 || arg->type == ARG_DIGITS)
        return arg->bits;
    struct json_value text = {.kind = JSON_STRING};

    if (arg->type == ARG_STRING)
        text.text = sink_text(json->sink, (name_id)arg->bits);
    return id_number(json, text);
}

void stacks_event(struct trace_json *json)
{
    const struct event *event = &json->event;
    const struct arg *frame = find_arg(json, STR("sf")), *weight = find_arg(json, STR("weight"));
    struct late_sample sample = {.name = event->name, .weight = 1};

    if (!event_time(json, &sample.at_ps))
        return;
    sample.track = tracks_track(json, event->pid, event->tid);
    if (frame != NULL) {
        sample.has_frame = true;
        sample.key = (struct frame_key){id_of_arg(json, frame), 0};
    }
    if (weight != NULL && (weight->type == ARG_INT64 || weight->type == ARG_DIGITS) &&
        weight->bits <= INT64_MAX)
        sample.weight = (int64_t)weight->bits;
    stacks_sample(json, sample);
}

/* The stack that ends in a frame. Its callers are met first, innermost last. */
static stack_id stack_of(struct trace_json *json, struct frame_key key)
{
    const struct stacks *stacks = &json->stacks;
    uint32_t chain[STACK_DEPTH_MAX], depth = 0;
    uint32_t index = pair_table_find(&stacks->by_key, key.id, key.owner);
    stack_id stack = NO_STACK;

    for (; index != PAIR_NONE && depth < STACK_DEPTH_MAX; depth++) {
        const struct told_frame *frame = &stacks->frames[index];

        if (frame->stack != NO_STACK) {
            stack = frame->stack;
            break;
        }
        chain[depth] = index;
        index = frame->has_parent
                    ? pair_table_find(&stacks->by_key, frame->parent.id, frame->parent.owner)
                    : PAIR_NONE;
    }
    json->odd.stacks_cut += depth == STACK_DEPTH_MAX;
    while (depth-- > 0) {
        struct told_frame *frame = &stacks->frames[chain[depth]];

        stack = sink_stack(json->sink, stack, frame->frame);
        frame->stack = stack;
    }
    return stack;
}

void stacks_finish(struct trace_json *json)
{
    const struct stacks *stacks = &json->stacks;
    struct arg label = {.key = sink_name(json->sink, STR("event")), .type = ARG_STRING};

    if (stacks->sample_count > 0)
        sink_sample_type(json->sink, sink_name(json->sink, STR("samples")),
                         sink_name(json->sink, STR("count")));
    for (uint32_t i = 0; i < stacks->sample_count; i++) {
        const struct late_sample *late = &stacks->samples[i];
        struct sample sample = {.at_ps = late->at_ps, .track = late->track, .stack = NO_STACK};

        if (late->has_frame)
            sample.stack = stack_of(json, late->key);
        json->odd.frames_missing += late->has_frame && sample.stack == NO_STACK;
        if (sample.stack == NO_STACK && late->name != 0)
            sample.stack = sink_stack(json->sink, NO_STACK, (struct frame){.function = late->name});
        label.bits = late->name;
        sink_sample(json->sink, sample, &late->weight, &label, late->name != 0);
    }
}

void stacks_free(struct stacks *stacks)
{
    pair_table_free(&stacks->by_key);
    pair_table_free(&stacks->profiles_by_id);
    free(stacks->frames);
    free(stacks->samples);
    free(stacks->profiles);
}
