/* SPDX-License-Identifier: Apache-2.0 */
/* pid and tid -> tracks.
 *
 *   process "/device:GPU:0"          pid 1: made when something first lies in it
 *     thread "Stream #7"             tid 7
 *     counter "memory: in use"       one a name and series
 *     async "request"                one a category: slices that begin in one event and end in
 *                                    another, laid in lanes
 *
 * Kineto's GPUs are processes whose pid is the number of the device, so that a program that runs
 * as process 0 shares it with GPU 0. The category tells them apart, and what lies on a stream:
 *
 *   process "python"                 pid 0
 *     thread "thread 7"              tid 7: PLACE_HOST
 *   device "GPU 0"                   pid 0; of merged ranks a text, "[TP00] 0"
 *     stream "stream 7"              tid 7: PLACE_STREAM, kernels and copies
 *     async "stream 7: annotations"  tid 7: PLACE_MARKS, the program's, derived from the kernels
 *     async "stream 7: waits"        tid 7: PLACE_SYNCS
 */
#include <stdio.h>
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

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

static uint32_t find_process(struct trace_json *json, struct key key, bool is_device)
{
    struct tracks *tracks = &json->tracks;
    uint32_t *index =
        pair_table_at(&tracks->by_pid, (uint64_t)key.value, (uint64_t)is_device << 1 | key.is_text);

    if (*index != PAIR_NONE)
        return *index;
    tracks->processes = grown(tracks->processes, tracks->process_count, &tracks->process_capacity,
                              sizeof *tracks->processes);
    *index = tracks->process_count++;
    tracks->processes[*index] = (struct process){
        .key = key, .track = NO_TRACK, .device = -1, .is_device = is_device, .told = *index};
    return *index;
}

static uint32_t find_thread(struct trace_json *json, uint32_t process, struct key key,
                            enum place place)
{
    struct tracks *tracks = &json->tracks;
    uint32_t *index = pair_table_at(&tracks->by_tid, (uint64_t)key.value,
                                    (uint64_t)process << 3 | (uint64_t)place << 1 | key.is_text);

    if (*index != PAIR_NONE)
        return *index;
    tracks->threads = grown(tracks->threads, tracks->thread_count, &tracks->thread_capacity,
                            sizeof *tracks->threads);
    *index = tracks->thread_count++;
    tracks->threads[*index] = (struct thread){.key = key,
                                              .process = process,
                                              .place = place,
                                              .told = *index,
                                              .track = NO_TRACK,
                                              .open = PAIR_NONE};
    return *index;
}

uint32_t tracks_find_process(struct trace_json *json, struct key pid)
{
    return find_process(json, pid, false);
}

uint32_t tracks_find_thread(struct trace_json *json, uint32_t process, struct key tid)
{
    return find_thread(json, process, tid, PLACE_HOST);
}

struct str tracks_own_name(struct trace_json *json, struct key key, const char *what, char room[64])
{
    if (key.is_text) {
        struct str name = sink_text(json->sink, (name_id)key.value);

        return name.count > 0 ? name : STR("(global)");
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

struct str tracks_rank_label(struct str text)
{
    while (text.count > 0 && text.at[text.count - 1] >= '0' && text.at[text.count - 1] <= '9')
        text.count--;
    return text;
}

bool tracks_is_ascend(struct str name)
{
    return str_starts(name, STR("Ascend Hardware"));
}

static bool is_taken(const struct trace_json *json, int32_t device)
{
    for (uint32_t i = 0; i < json->tracks.process_count; i++)
        if (json->tracks.processes[i].is_device && json->tracks.processes[i].track != NO_TRACK &&
            json->tracks.processes[i].device == device)
            return true;
    return false;
}

/* The number that the device's own says; the next free one, where another rank's says the same. */
static int32_t device_number(struct trace_json *json, struct key key)
{
    int64_t number = key.is_text ? 0 : key.value;

    if (key.is_text) {
        struct str text = sink_text(json->sink, (name_id)key.value);

        str_to_i64(str_skip(text, tracks_rank_label(text).count), &number);
    }
    if (number < 0 || number > INT32_MAX)
        return -1;
    while (number < INT32_MAX && is_taken(json, (int32_t)number))
        number++;
    return (int32_t)number;
}

/* The label, where it names a device; the process's own name is the program's. */
void tracks_device_name(struct trace_json *json, const struct process *process, struct text *ret)
{
    const struct process *told = &json->tracks.processes[process->told];
    struct str label = sink_text(json->sink, told->labels),
               name = sink_text(json->sink, told->name);
    struct str key =
        process->key.is_text ? sink_text(json->sink, (name_id)process->key.value) : STR("");
    struct str rank = tracks_rank_label(key);
    bool is_named = label.count > 0 && !str_equal(label, STR("CPU"));

    if (!is_named && str_starts(name, STR("GPU"))) {
        label = name;
        is_named = true;
    }
    text_put(ret, rank.at, rank.count);
    if (is_named)
        text_put(ret, label.at, label.count);
    else if (process->key.is_text)
        text_putf(ret, "%s %.*s", process->what, STR_ARG(str_skip(key, rank.count)));
    else
        text_putf(ret, "%s %lld", process->what, (long long)process->key.value);
}

/* Names of streams are padded in the file. */
static struct str without_blanks(struct str text)
{
    while (text.count > 0 && text.at[text.count - 1] == ' ')
        text.count--;
    return text;
}

void tracks_place_name(struct trace_json *json, const struct thread *thread, struct text *ret)
{
    static const char *const endings[] = {
        [PLACE_HOST] = "",
        [PLACE_STREAM] = "",
        [PLACE_MARKS] = ": annotations",
        [PLACE_SYNCS] = ": waits",
    };
    struct str name =
        without_blanks(sink_text(json->sink, json->tracks.threads[thread->told].name));
    char room[64];

    if (!str_starts(name, STR("stream")) && !str_starts(name, STR("Stream")))
        name = without_blanks(tracks_own_name(json, thread->key, "stream", room));
    text_put(ret, name.at, name.count);
    text_puts(ret, endings[thread->place]);
}

static track_id process_track(struct trace_json *json, uint32_t index)
{
    struct process *process = &json->tracks.processes[index];
    struct text room = {0};
    char own[64];

    if (process->track != NO_TRACK)
        return process->track;
    struct str name = process->name != 0 ? sink_text(json->sink, process->name)
                                         : tracks_own_name(json, process->key, "process", own);

    if (process->is_device) { /* Kineto's */
        process->device = device_number(json, process->key);
        tracks_device_name(json, process, &room);
        name = text_str(&room);
    } else if (tracks_is_ascend(name)) {
        process->device = device_number(json, (struct key){0});
        process->is_device = true;
    } else {
        process->device = device_of(name);
        process->is_device = str_starts(name, STR("/device:"));
    }
    process->track = sink_track(
        json->sink, (struct sink_track){.parent = NO_TRACK,
                                        .kind = process->is_device ? TRACK_DEVICE : TRACK_PROCESS,
                                        .name = name,
                                        .source_id = process->key.is_text ? 0 : process->key.value,
                                        .device = process->device});
    text_free(&room);
    return process->track;
}

static const struct role_rule *role_rule_of(struct str name)
{
    for (size_t i = 0; i < COUNT(role_rules); i++)
        if (str_equal(name, str_of(role_rules[i].name)))
            return &role_rules[i];
    return NULL;
}

/* A line of a process that JAX or XProf may have named. */
static void make_line_track(struct trace_json *json, uint32_t index)
{
    track_id parent = process_track(json, json->tracks.threads[index].process);
    struct thread *thread = &json->tracks.threads[index];
    const struct process *process = &json->tracks.processes[thread->process];
    bool is_stream = process->is_device;
    char room[64];
    struct str name = thread->name != 0 ? sink_text(json->sink, thread->name)
                                        : tracks_own_name(json, thread->key,
                                                          is_stream ? "stream" : "thread", room);
    const struct role_rule *rule = is_stream ? role_rule_of(name) : NULL;
    struct str on = sink_text(json->sink, process->name);
    struct sink_track track = {.parent = parent,
                               .kind = is_stream ? TRACK_STREAM : TRACK_THREAD,
                               .role = is_stream ? ROLE_NONE : ROLE_HOST,
                               .name = name,
                               .source_id = thread->key.is_text ? 0 : thread->key.value,
                               .device = process->device};

    if (rule != NULL) {
        track.role = rule->role;
        track.derived = rule->derived == DERIVED ||
                        (rule->derived == DERIVED_ON_GPU && str_starts(on, STR("/device:GPU")));
        if (track.role == ROLE_ASYNC_OPS)
            track.kind = TRACK_ASYNC;
    } else if (is_stream && str_starts(name, STR("Stream"))) {
        track.role = ROLE_OPS;
    }
    thread->is_ops = track.role == ROLE_OPS || track.role == ROLE_ASYNC_OPS;
    thread->is_async = track.role == ROLE_ASYNC_OPS;
    thread->is_derived = track.derived;
    thread->track = sink_track(json->sink, track);
}

/* A stream of Kineto's, or what is laid over it. */
static void make_place_track(struct trace_json *json, uint32_t index)
{
    track_id parent = process_track(json, json->tracks.threads[index].process);
    struct thread *thread = &json->tracks.threads[index];
    struct text name = {0};
    struct sink_track track = {.parent = parent,
                               .kind = thread->place == PLACE_STREAM ? TRACK_STREAM : TRACK_ASYNC,
                               .role = thread->place == PLACE_STREAM  ? ROLE_OPS
                                       : thread->place == PLACE_MARKS ? ROLE_SCOPES
                                                                      : ROLE_NONE,
                               .source_id = thread->key.is_text ? 0 : thread->key.value,
                               .device = json->tracks.processes[thread->process].device,
                               .derived = thread->place == PLACE_MARKS};

    tracks_place_name(json, thread, &name);
    track.name = text_str(&name);
    thread->is_ops = thread->place == PLACE_STREAM;
    thread->is_derived = track.derived;
    thread->track = sink_track(json->sink, track);
    text_free(&name);
}

/* A place of a process that names itself a device is its line. */
static uint32_t find_at(struct trace_json *json, struct key pid, struct key tid, enum place place)
{
    uint32_t told = find_process(json, pid, false);
    uint32_t line = find_thread(json, told, tid, PLACE_HOST);

    json->tracks.processes[told].has_events = true;
    json->tracks.threads[line].has_events = true;
    if (place == PLACE_HOST ||
        str_starts(sink_text(json->sink, json->tracks.processes[told].name), STR("/device:")) ||
        tracks_is_ascend(sink_text(json->sink, json->tracks.processes[told].name)))
        return line;
    uint32_t process = find_process(json, pid, true);
    uint32_t thread = find_thread(json, process, tid, place);

    json->tracks.processes[process].told = told;
    if (json->tracks.processes[process].what == NULL)
        json->tracks.processes[process].what = device_word(sink_text(json->sink, json->event.cat));
    json->tracks.threads[thread].told = line;
    return thread;
}

uint32_t tracks_thread(struct trace_json *json, struct key pid, struct key tid, enum place place)
{
    struct tracks *tracks = &json->tracks;

    if (tracks->last_thread != PAIR_NONE && place == tracks->last_place &&
        key_equal(tid, tracks->last_tid) && key_equal(pid, tracks->last_pid))
        return tracks->last_thread;
    uint32_t index = find_at(json, pid, tid, place);

    if (tracks->threads[index].track == NO_TRACK) {
        if (tracks->threads[index].place == PLACE_HOST)
            make_line_track(json, index);
        else
            make_place_track(json, index);
    }
    tracks->last_pid = pid;
    tracks->last_tid = tid;
    tracks->last_place = place;
    tracks->last_thread = index;
    return index;
}

void tracks_saw(struct trace_json *json)
{
    find_at(json, json->event.pid, json->event.tid, PLACE_HOST);
}

track_id tracks_track(struct trace_json *json, struct key pid, struct key tid)
{
    uint32_t thread = tracks_thread(json, pid, tid, PLACE_HOST);

    return json->tracks.threads[thread].track;
}

track_id tracks_known(struct trace_json *json, struct key pid, struct key tid, enum place place)
{
    const struct tracks *tracks = &json->tracks;
    bool is_device = place != PLACE_HOST;
    uint32_t process = pair_table_find(&tracks->by_pid, (uint64_t)pid.value,
                                       (uint64_t)is_device << 1 | pid.is_text);
    uint32_t thread =
        process == PAIR_NONE
            ? PAIR_NONE
            : pair_table_find(&tracks->by_tid, (uint64_t)tid.value,
                              (uint64_t)process << 3 | (uint64_t)place << 1 | tid.is_text);

    return thread == PAIR_NONE ? NO_TRACK : tracks->threads[thread].track;
}

/* Counters of a GPU's number are the GPU's. */
static uint32_t process_of_counter(struct trace_json *json, struct key pid)
{
    uint32_t device =
        pair_table_find(&json->tracks.by_pid, (uint64_t)pid.value, UINT64_C(2) | pid.is_text);

    return device != PAIR_NONE ? device : find_process(json, pid, false);
}

track_id tracks_counter(struct trace_json *json, struct key pid, name_id name, name_id series,
                        bool alone)
{
    uint32_t process = process_of_counter(json, pid);
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

void tracks_free(struct tracks *tracks)
{
    free(tracks->threads);
    free(tracks->processes);
    pair_table_free(&tracks->by_pid);
    pair_table_free(&tracks->by_tid);
    pair_table_free(&tracks->counters);
    pair_table_free(&tracks->lanes);
}
