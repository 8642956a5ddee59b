/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of V8's own sampler, as Chrome and Node write them.
 *
 *   Profile        {"id": "0x2", "args": {"data": {"startTime": 9632403026}}}        microseconds
 *   ProfileChunk   {"id": "0x2", "args": {"data": {
 *                     "cpuProfile": {"nodes": [{"id": 5, "parent": 4, "callFrame":
 *                       {"functionName": "f", "url": "x.js", "lineNumber": 0}}, ...],
 *                                    "samples": [5, 5, 6, ...]},
 *                     "timeDeltas": [108, 118, -20, ...]}}}      since the sample before, any order
 *
 * Chunks come from the sampler's thread; the sampled thread is that of the Profile. Lines count
 * from 0. Older files name children instead of parents.
 */
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

enum { PROFILES_MAX = 1 << 12 };

/* The profile of this event's process and id; NULL beyond PROFILES_MAX. */
static struct cpu_profile *profile_of(struct trace_json *json)
{
    struct stacks *stacks = &json->stacks;
    const struct event *event = &json->event;
    uint64_t pid = (uint64_t)event->pid.value;
    uint32_t *index = pair_table_at(&stacks->profiles_by_id, id_number(json, event->id), pid);

    if (*index == PAIR_NONE && stacks->profile_count == PROFILES_MAX)
        return NULL;
    if (*index != PAIR_NONE)
        return &stacks->profiles[*index];
    *index = stacks->profile_count++;
    if (stacks->profiles == NULL)
        stacks->profiles = memory_resize(NULL, PROFILES_MAX, sizeof *stacks->profiles);
    stacks->profiles[*index] = (struct cpu_profile){
        .owner = stacks->profile_count, .pid = event->pid, .tid = event->tid, .at = event->time};
    return &stacks->profiles[*index];
}

static bool whole(struct json_value value, int64_t *ret)
{
    struct arg number;

    if (value.kind != JSON_NUMBER || !number_read(value.text, &number) || number.type != ARG_INT64)
        return false;
    *ret = (int64_t)number.bits;
    return true;
}

static void read_children(struct trace_json *json, const struct cpu_profile *profile, int64_t id,
                          struct json_value children)
{
    struct json items = json_inside(children, '[');
    bool first = true;

    while (json_next_item(&items, &first)) {
        int64_t child;

        if (whole(json_value(&items), &child))
            stacks_parent(json, (struct frame_key){(uint64_t)child, profile->owner}, (uint64_t)id);
    }
}

static struct frame frame_of(struct trace_json *json, struct json_value call)
{
    struct json_value function = json_member(call, STR("functionName"));
    struct json_value url = json_member(call, STR("url"));
    int64_t line;
    struct frame frame = {.function = function.text.count > 0
                                          ? texts_value(&json->texts, function)
                                          : texts_name(&json->texts, STR("(anonymous)")),
                          .file = texts_value(&json->texts, url)};

    if (whole(json_member(call, STR("lineNumber")), &line) && line >= 0 && line < UINT32_MAX)
        frame.line = (uint32_t)line + 1;
    return frame;
}

static void read_nodes(struct trace_json *json, const struct cpu_profile *profile,
                       struct json_value nodes)
{
    struct json items = json_inside(nodes, '[');
    bool first = true;

    while (json_next_item(&items, &first)) {
        struct json_value node = json_value(&items);
        int64_t id, parent;

        if (node.kind == JSON_NOTHING || !whole(json_member(node, STR("id")), &id))
            return;
        struct frame_key key = {(uint64_t)id, profile->owner};

        stacks_frame(json, key, frame_of(json, json_member(node, STR("callFrame"))));
        if (whole(json_member(node, STR("parent")), &parent))
            stacks_parent(json, key, (uint64_t)parent);
    }
    items = json_inside(nodes, '[');
    first = true;
    while (json_next_item(&items, &first)) { /* once all are known */
        struct json_value node = json_value(&items);
        int64_t id;

        if (whole(json_member(node, STR("id")), &id))
            read_children(json, profile, id, json_member(node, STR("children")));
    }
}

static void read_samples(struct trace_json *json, struct cpu_profile *profile,
                         struct json_value samples, struct json_value deltas)
{
    struct json ids = json_inside(samples, '['), steps = json_inside(deltas, '[');
    track_id track = tracks_track(json, profile->pid, profile->tid);
    bool first_id = true, first_step = true;

    while (json_next_item(&ids, &first_id)) {
        int64_t id, step;
        struct late_sample sample = {
            .track = track, .has_frame = true, .key = {0, profile->owner}, .weight = 1};

        if (!whole(json_value(&ids), &id))
            return;
        if (!json_next_item(&steps, &first_step) || !whole(json_value(&steps), &step) ||
            __builtin_add_overflow(profile->at.whole, step, &profile->at.whole))
            step = 0;
        sample.key.id = (uint64_t)id;
        if (file_time(json, profile->at, &sample.at_ps))
            stacks_sample(json, sample);
    }
}

bool profile_event(struct trace_json *json)
{
    struct str name = sink_text(json->sink, json->event.name);
    struct json_value data = json_member(json->event.raw_args, STR("data"));
    struct json_value profile = json_member(data, STR("cpuProfile"));
    struct json_value start = json_member(data, STR("startTime"));
    struct json_value deltas = json_member(data, STR("timeDeltas"));

    if (!str_equal(name, STR("Profile")) && !str_equal(name, STR("ProfileChunk")) &&
        !str_equal(name, STR("CpuProfile")))
        return false;
    struct cpu_profile *of = profile_of(json);

    if (of == NULL) {
        json->odd.samples_beyond++;
        return true;
    }
    if (start.kind == JSON_NOTHING)
        start = json_member(profile, STR("startTime"));
    if (deltas.kind == JSON_NOTHING)
        deltas = json_member(profile, STR("timeDeltas"));
    if (start.kind == JSON_NUMBER)
        micros_read(start.text, &of->at);
    read_nodes(json, of, json_member(profile, STR("nodes")));
    read_samples(json, of, json_member(profile, STR("samples")), deltas);
    return true;
}
