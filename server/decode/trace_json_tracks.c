/* pid and tid -> tracks.
 *
 *   process "/device:GPU:0"          pid 1: made when something first lies in it
 *     thread "Stream #7"             tid 7
 *     counter "memory: in use"       one a name and series
 *     async "request"                one a category: slices that begin in one event and end in
 *                                    another, laid in lanes
 *
 * Names may stand anywhere in the file: JAX writes them first, Kineto last.
 */
#include <stdio.h>
#include <stdlib.h>

#include "decode/trace_json.h"

enum derived { RECORDED, DERIVED_ON_GPU /* by XProf from the streams */, DERIVED };

static const struct role_rule { /* of the lines of a device that JAX and XProf name */
    const char *name;
    enum track_role role;
    enum derived derived;
} role_rules[] = {
    {"Steps", ROLE_STEPS, DERIVED_ON_GPU},           {"XLA Modules", ROLE_MODULES, DERIVED_ON_GPU},
    {"XLA Ops", ROLE_OPS, DERIVED_ON_GPU},           {"Sparse Core Steps", ROLE_STEPS, RECORDED},
    {"Sparse Core Modules", ROLE_MODULES, RECORDED}, {"Sparse Core Ops", ROLE_OPS, RECORDED},
    {"Async XLA Ops", ROLE_ASYNC_OPS, RECORDED},     {"XLA TraceMe", ROLE_SCOPES, RECORDED},
    {"Framework Name Scope", ROLE_SCOPES, DERIVED},  {"Framework Ops", ROLE_SCOPES, DERIVED},
    {"TensorFlow Name Scope", ROLE_SCOPES, DERIVED}, {"TensorFlow Ops", ROLE_SCOPES, DERIVED},
    {"Source code", ROLE_SCOPES, DERIVED},           {"Launch Stats", ROLE_NONE, DERIVED},
    {"Host Offload Ops", ROLE_NONE, DERIVED},
};

static bool key_equal(struct key a, struct key b)
{
    return a.value == b.value && a.is_text == b.is_text;
}

static void *grown(void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    *capacity = *capacity == 0 ? 16 : *capacity * 2;
    return memory_resize(array, *capacity, size);
}

static uint32_t find_process(struct trace_json *json, struct key key)
{
    struct tracks *tracks = &json->tracks;
    uint32_t *index = pair_table_at(&tracks->by_pid, (uint64_t)key.value, key.is_text);

    if (*index != PAIR_NONE)
        return *index;
    tracks->processes = grown(tracks->processes, tracks->process_count, &tracks->process_capacity,
                              sizeof *tracks->processes);
    *index = tracks->process_count++;
    tracks->processes[*index] = (struct process){.key = key, .track = NO_TRACK, .device = -1};
    return *index;
}

static uint32_t find_thread(struct trace_json *json, uint32_t process, struct key key)
{
    struct tracks *tracks = &json->tracks;
    uint32_t *index =
        pair_table_at(&tracks->by_tid, (uint64_t)key.value, (uint64_t)process << 1 | key.is_text);

    if (*index != PAIR_NONE)
        return *index;
    tracks->threads = grown(tracks->threads, tracks->thread_count, &tracks->thread_capacity,
                            sizeof *tracks->threads);
    *index = tracks->thread_count++;
    tracks->threads[*index] = (struct thread){.key = key, .process = process, .track = NO_TRACK};
    return *index;
}

static struct str own_name(struct trace_json *json, struct key key, const char *what, char room[64])
{
    if (key.is_text) {
        struct str name = sink_text(json->sink, (name_id)key.value);

        return name.count > 0 ? name : STR("(no name)");
    }
    int count = snprintf(room, 64, "%s %lld", what, (long long)key.value);

    return (struct str){.at = room, .count = (size_t)count};
}

/* "/device:TPU:3" -> 3 */
static int32_t device_of(struct str name)
{
    int64_t device;
    size_t at = name.count;

    if (!str_starts(name, STR("/device:")))
        return -1;
    while (at > 0 && name.at[at - 1] != ':')
        at--;
    struct str rest = str_skip(name, at);
    size_t digits = 0;

    while (digits < rest.count && rest.at[digits] >= '0' && rest.at[digits] <= '9')
        digits++;
    return str_to_i64((struct str){rest.at, digits}, &device) && device <= INT32_MAX
               ? (int32_t)device
               : -1;
}

/* Kineto's processes of devices: their number is the device, their threads are streams. */
static bool is_device_category(struct str cat)
{
    return str_equal(cat, STR("kernel")) || str_starts(cat, STR("gpu_mem")) ||
           str_equal(cat, STR("Kernel")) || str_equal(cat, STR("Memcpy")) ||
           str_equal(cat, STR("Memset")) || str_equal(cat, STR("gpu_user_annotation"));
}

static int32_t number_of_process(const struct process *process)
{
    return !process->key.is_text && process->key.value >= 0 && process->key.value <= INT32_MAX
               ? (int32_t)process->key.value
               : -1;
}

static track_id process_track(struct trace_json *json, uint32_t index)
{
    struct process *process = &json->tracks.processes[index];
    char room[64];

    if (process->track != NO_TRACK)
        return process->track;
    struct str name = process->name != 0 ? sink_text(json->sink, process->name)
                                         : own_name(json, process->key, "process", room);

    process->device = device_of(name);
    process->is_device = str_starts(name, STR("/device:"));
    if (is_device_category(sink_text(json->sink, json->event.cat)) && !process->is_device) {
        process->is_device = true;
        process->device = number_of_process(process);
        if (process->name == 0)
            name = own_name(json, process->key, "GPU", room);
    }
    process->track = sink_track(
        json->sink, (struct sink_track){.parent = NO_TRACK,
                                        .kind = process->is_device ? TRACK_DEVICE : TRACK_PROCESS,
                                        .name = name,
                                        .source_id = process->key.is_text ? 0 : process->key.value,
                                        .device = process->device});
    return process->track;
}

static const struct role_rule *role_rule_of(struct str name)
{
    for (size_t i = 0; i < COUNT(role_rules); i++)
        if (str_equal(name, str_of(role_rules[i].name)))
            return &role_rules[i];
    return NULL;
}

static void make_thread_track(struct trace_json *json, uint32_t index)
{
    track_id parent = process_track(json, json->tracks.threads[index].process);
    struct thread *thread = &json->tracks.threads[index];
    const struct process *process = &json->tracks.processes[thread->process];
    /* Kineto gives a device's streams and Python's threads one process, where both are number 0. */
    bool is_stream =
        process->is_device || is_device_category(sink_text(json->sink, json->event.cat));
    char room[64];
    struct str name = thread->name != 0
                          ? sink_text(json->sink, thread->name)
                          : own_name(json, thread->key, is_stream ? "stream" : "thread", room);
    const struct role_rule *rule = process->is_device ? role_rule_of(name) : NULL;
    struct str on = sink_text(json->sink, process->name);
    struct sink_track track = {
        .parent = parent,
        .kind = is_stream ? TRACK_STREAM : TRACK_THREAD,
        .role = is_stream ? ROLE_NONE : ROLE_HOST,
        .name = name,
        .source_id = thread->key.is_text ? 0 : thread->key.value,
        .device = is_stream && !process->is_device ? number_of_process(process) : process->device};

    if (rule != NULL) {
        track.role = rule->role;
        track.derived = rule->derived == DERIVED ||
                        (rule->derived == DERIVED_ON_GPU && str_starts(on, STR("/device:GPU")));
        if (track.role == ROLE_ASYNC_OPS)
            track.kind = TRACK_ASYNC;
    } else if (is_stream &&
               (str_starts(name, STR("Stream")) || !process->is_device || process->name == 0)) {
        track.role = ROLE_OPS;
    }
    thread->is_ops = track.role == ROLE_OPS || track.role == ROLE_ASYNC_OPS;
    thread->is_async = track.role == ROLE_ASYNC_OPS;
    thread->track = sink_track(json->sink, track);
}

uint32_t tracks_thread(struct trace_json *json, struct key pid, struct key tid)
{
    struct tracks *tracks = &json->tracks;

    if (tracks->last_thread != PAIR_NONE && key_equal(tid, tracks->last_tid) &&
        key_equal(pid, tracks->last_pid))
        return tracks->last_thread;
    uint32_t index = find_thread(json, find_process(json, pid), tid);

    if (tracks->threads[index].track == NO_TRACK)
        make_thread_track(json, index);
    tracks->last_pid = pid;
    tracks->last_tid = tid;
    tracks->last_thread = index;
    return index;
}

track_id tracks_counter(struct trace_json *json, struct key pid, name_id name, name_id series,
                        bool alone)
{
    uint32_t process = find_process(json, pid);
    uint32_t *track = pair_table_at(&json->tracks.counters, (uint64_t)process << 32 | name, series);
    struct text whole = {0};

    if (*track != PAIR_NONE)
        return *track;
    struct str text = sink_text(json->sink, name), part = sink_text(json->sink, series);
    bool part_says_more = !alone || !(str_equal(part, STR("value")) || str_equal(part, text));

    text_put(&whole, text.at, text.count);
    if (part_says_more && part.count > 0)
        text_putf(&whole, ": %.*s", STR_ARG(part));
    *track = sink_track(json->sink, (struct sink_track){.parent = process_track(json, process),
                                                        .kind = TRACK_COUNTER,
                                                        .name = text_str(&whole),
                                                        .device = -1});
    text_free(&whole);
    return *track;
}

track_id tracks_lane(struct trace_json *json, uint32_t process, name_id cat)
{
    uint32_t *track = pair_table_at(&json->tracks.lanes, process, cat);

    if (*track == PAIR_NONE)
        *track = sink_track(
            json->sink,
            (struct sink_track){.parent = process_track(json, process),
                                .kind = TRACK_ASYNC,
                                .name = cat != 0 ? sink_text(json->sink, cat) : STR("async"),
                                .device = json->tracks.processes[process].device});
    return *track;
}

static const struct arg *find_arg(const struct trace_json *json, name_id key)
{
    for (uint32_t i = 0; i < json->args.count; i++)
        if (json->args.args[i].key == key)
            return &json->args.args[i];
    return NULL;
}

/* An arg as a name: names of threads may be digits. */
static bool name_arg(struct trace_json *json, name_id key, name_id *ret)
{
    const struct arg *arg = find_arg(json, key);
    char digits[24];

    if (arg == NULL)
        return false;
    if (arg->type == ARG_STRING) {
        *ret = (name_id)arg->bits;
        return true;
    }
    int count = snprintf(digits, sizeof digits, "%llu", (unsigned long long)arg->bits);

    *ret = texts_name(&json->texts, (struct str){digits, (size_t)count});
    return arg->type == ARG_DIGITS || arg->type == ARG_INT64;
}

static void name_process(struct trace_json *json, struct process *process, name_id name)
{
    process->name = name;
    if (process->track != NO_TRACK && name != 0)
        sink_track_rename(json->sink, process->track, sink_text(json->sink, name));
}

static void name_thread(struct trace_json *json, struct thread *thread, name_id name)
{
    thread->name = name;
    if (thread->track != NO_TRACK && name != 0)
        sink_track_rename(json->sink, thread->track, sink_text(json->sink, name));
}

static bool sort_index_arg(const struct trace_json *json, int64_t *ret)
{
    const struct arg *arg = find_arg(json, json->key_sort_index);

    if (arg == NULL || (arg->type != ARG_INT64 && arg->type != ARG_DIGITS))
        return false;
    *ret = (int64_t)arg->bits;
    return true;
}

void tracks_metadata(struct trace_json *json)
{
    const struct event *event = &json->event;
    struct str what = sink_text(json->sink, event->name);
    uint32_t index = find_process(json, event->pid);
    struct process *process = &json->tracks.processes[index];
    name_id name;

    if (str_equal(what, STR("process_name")) && name_arg(json, json->key_name, &name)) {
        name_process(json, process, name);
    } else if (str_equal(what, STR("process_labels")) && name_arg(json, json->key_labels, &name)) {
        process->labels = name;
    } else if (str_equal(what, STR("process_sort_index"))) {
        process->has_sort_index = sort_index_arg(json, &process->sort_index);
    } else if (str_equal(what, STR("thread_name")) && name_arg(json, json->key_name, &name)) {
        uint32_t thread = find_thread(json, index, event->tid);

        name_thread(json, &json->tracks.threads[thread], name);
    } else if (str_equal(what, STR("thread_sort_index"))) {
        uint32_t at = find_thread(json, index, event->tid);
        struct thread *thread = &json->tracks.threads[at];

        thread->has_sort_index = sort_index_arg(json, &thread->sort_index);
    }
}

static void put_property(struct trace_json *json, track_id track, const char *key, struct arg arg)
{
    arg.key = sink_name(json->sink, str_of(key));
    sink_property(json->sink, track, arg);
}

void tracks_finish(struct trace_json *json)
{
    struct tracks *tracks = &json->tracks;

    for (uint32_t i = 0; i < tracks->process_count; i++) {
        const struct process *process = &tracks->processes[i];

        if (process->track == NO_TRACK)
            continue;
        if (process->has_sort_index)
            put_property(json, process->track, "sort_index",
                         (struct arg){.type = ARG_INT64, .bits = (uint64_t)process->sort_index});
        if (process->labels != 0)
            put_property(json, process->track, "labels",
                         (struct arg){.type = ARG_STRING, .bits = process->labels});
    }
    for (uint32_t i = 0; i < tracks->thread_count; i++) {
        const struct thread *thread = &tracks->threads[i];

        if (thread->track != NO_TRACK && thread->has_sort_index)
            put_property(json, thread->track, "sort_index",
                         (struct arg){.type = ARG_INT64, .bits = (uint64_t)thread->sort_index});
    }
}

void tracks_free(struct tracks *tracks)
{
    for (uint32_t i = 0; i < tracks->thread_count; i++)
        free(tracks->threads[i].stack);
    free(tracks->threads);
    free(tracks->processes);
    pair_table_free(&tracks->by_pid);
    pair_table_free(&tracks->by_tid);
    pair_table_free(&tracks->counters);
    pair_table_free(&tracks->lanes);
}
