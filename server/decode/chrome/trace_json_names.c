/* SPDX-License-Identifier: Apache-2.0 */
/* What M events say of processes and threads: names, labels, order.
 *
 *   {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}}
 *   process_labels {"labels"}   process_sort_index {"sort_index"}   thread_name   thread_sort_index
 *
 * They may stand anywhere in the file: JAX writes them first, Kineto among the rest. A name that
 * comes late renames the track; what is told of one pid or tid holds for all its places.
 */
#include <stdio.h>

#include "decode/chrome/trace_json.h"

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

void names_metadata(struct trace_json *json)
{
    const struct event *event = &json->event;
    struct str what = sink_text(json->sink, event->name);
    uint32_t index = tracks_find_process(json, event->pid);
    struct process *process = &json->tracks.processes[index];
    name_id name;

    if (str_equal(what, STR("process_name")) && name_arg(json, json->key_name, &name)) {
        name_process(json, process, name);
    } else if (str_equal(what, STR("process_labels")) && name_arg(json, json->key_labels, &name)) {
        process->labels = name;
    } else if (str_equal(what, STR("process_sort_index"))) {
        process->has_sort_index = sort_index_arg(json, &process->sort_index);
    } else if (str_equal(what, STR("thread_name")) && name_arg(json, json->key_name, &name)) {
        uint32_t thread = tracks_find_thread(json, index, event->tid);

        name_thread(json, &json->tracks.threads[thread], name);
    } else if (str_equal(what, STR("thread_sort_index"))) {
        uint32_t at = tracks_find_thread(json, index, event->tid);
        struct thread *thread = &json->tracks.threads[at];

        thread->has_sort_index = sort_index_arg(json, &thread->sort_index);
    }
}

static void put_property(struct trace_json *json, track_id track, const char *key, struct arg arg)
{
    arg.key = sink_name(json->sink, str_of(key));
    sink_property(json->sink, track, arg);
}

static void put_sort_index(struct trace_json *json, track_id track, int64_t sort_index)
{
    put_property(json, track, "sort_index",
                 (struct arg){.type = ARG_INT64, .bits = (uint64_t)sort_index});
}

static void finish_process(struct trace_json *json, const struct process *process)
{
    const struct process *told = &json->tracks.processes[process->told];

    if (process->track == NO_TRACK)
        return;
    if (told != process) {
        struct text name = {0};

        tracks_device_name(json, process, &name);
        sink_track_rename(json->sink, process->track, text_str(&name));
        text_free(&name);
    }
    if (told->has_sort_index)
        put_sort_index(json, process->track, told->sort_index);
    if (told->labels != 0)
        put_property(json, process->track, "labels",
                     (struct arg){.type = ARG_STRING, .bits = told->labels});
}

static void finish_thread(struct trace_json *json, const struct thread *thread)
{
    const struct thread *told = &json->tracks.threads[thread->told];

    if (thread->track == NO_TRACK)
        return;
    if (told != thread) {
        struct text name = {0};

        tracks_place_name(json, thread, &name);
        sink_track_rename(json->sink, thread->track, text_str(&name));
        text_free(&name);
    }
    if (told->has_sort_index)
        put_sort_index(json, thread->track, told->sort_index);
}

void names_finish(struct trace_json *json)
{
    for (uint32_t i = 0; i < json->tracks.process_count; i++)
        finish_process(json, &json->tracks.processes[i]);
    for (uint32_t i = 0; i < json->tracks.thread_count; i++)
        finish_thread(json, &json->tracks.threads[i]);
}
