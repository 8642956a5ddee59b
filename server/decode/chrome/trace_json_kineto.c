/* SPDX-License-Identifier: Apache-2.0 */
/* What PyTorch's profiler (Kineto) puts into Chrome JSON beyond the format.
 *
 *   cat              cuda_runtime, cuda_driver, Runtime   a call, with "correlation": 7
 *                    kernel, gpu_memcpy, gpu_memset       what it launched, with "correlation": 7
 *                    Kernel, Memcpy, Memset               the same before 2022
 *                    mtia_ccp_events, hpu_op              the same of other accelerators
 *                    gpu_user_annotation                  the program's marks, laid over kernels
 *                    cuda_sync                            a stream that waits
 *                    ac2g; async with name "launch"       arrows from call to launched, id 7
 *
 *   beside the events
 *     distributedInfo    {"backend": "nccl", "rank": 1, "world_size": 128, "pg_config": [...]}
 *     deviceProperties   [{"id": 0, "name": "NVIDIA H100", "numSms": 132, ...}]
 *
 * Calls and kernels are joined by their correlation. Arrows say the same again, right behind the
 * slice they belong to, and are passed over there; one that stands elsewhere is kept.
 *
 * pg_config and trace_id differ between the ranks of a job, so neither is part of its name.
 * Source: libkineto's output_json.cpp and ActivityType.cpp, and files of 2021 to 2025.
 */
#include <stdlib.h>

#include "decode/chrome/trace_json.h"

static enum category find_category(struct str cat)
{
    static const struct {
        const char *cat;
        enum category category;
    } known[] = {
        {"kernel", CATEGORY_OP},          {"Kernel", CATEGORY_OP},
        {"gpu_memcpy", CATEGORY_OP},      {"Memcpy", CATEGORY_OP},
        {"gpu_memset", CATEGORY_OP},      {"Memset", CATEGORY_OP},
        {"mtia_ccp_events", CATEGORY_OP}, {"hpu_op", CATEGORY_OP},
        {"cuda_sync", CATEGORY_SYNC},     {"gpu_user_annotation", CATEGORY_MARK},
        {"Runtime", CATEGORY_CALL},       {"cuda_runtime", CATEGORY_CALL},
        {"cuda_driver", CATEGORY_CALL},   {"ac2g", CATEGORY_ARROW},
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (str_equal(cat, str_of(known[i].cat)))
            return known[i].category;
    return str_ends(cat, STR("_runtime")) || str_ends(cat, STR("_driver")) ? CATEGORY_CALL
                                                                           : CATEGORY_PLAIN;
}

enum category category_of(struct trace_json *json, name_id cat)
{
    if (cat == json->last_cat)
        return json->last_category;
    uint32_t *known = pair_table_at(&json->categories, cat, 0);

    if (*known == PAIR_NONE)
        *known = find_category(sink_text(json->sink, cat));
    json->last_cat = cat;
    json->last_category = (enum category) * known;
    return json->last_category;
}

enum place place_of(enum category category)
{
    switch (category) {
    case CATEGORY_OP:
        return PLACE_STREAM;
    case CATEGORY_MARK:
        return PLACE_MARKS;
    case CATEGORY_SYNC:
        return PLACE_SYNCS;
    default:
        return PLACE_HOST;
    }
}

const char *device_word(struct str cat)
{
    return str_starts(cat, STR("mtia")) ? "MTIA" : str_starts(cat, STR("hpu")) ? "HPU" : "GPU";
}

void kineto_launch(struct trace_json *json, enum category category, uint64_t correlation)
{
    json->last_correlation = correlation;
    if (correlation != 0 && (category == CATEGORY_CALL || category == CATEGORY_OP))
        sink_flow(json->sink, category == CATEGORY_OP ? FLOW_TO : FLOW_FROM, json->flow_launch,
                  correlation ^ rank_of(json, json->event.pid));
}

static bool member(struct json *json, bool *first, struct str *key, struct json_value *value)
{
    if (!json_next_key(json, first, key))
        return false;
    *value = json_value(json);
    return value->kind != JSON_NOTHING;
}

static void put(struct trace_json *json, track_id track, const char *key, struct arg arg)
{
    arg.key = sink_name(json->sink, str_of(key));
    sink_property(json->sink, track, arg);
}

static bool whole_member(struct json_value object, const char *key, struct arg *ret)
{
    struct json_value value = json_member(object, str_of(key));

    return value.kind == JSON_NUMBER && number_read(value.text, ret) && ret->type == ARG_INT64;
}

/* Ranks of one job agree on how many they are and on how they talk. */
void kineto_ranks(struct trace_json *json, struct json_value info)
{
    struct json_value backend = json_member(info, STR("backend"));
    struct arg rank, ranks;
    struct text group = {0};

    if (!whole_member(info, "rank", &rank))
        return;
    put(json, NO_TRACK, "run_rank", rank);
    if (whole_member(info, "world_size", &ranks) && (int64_t)ranks.bits > 1) {
        text_putf(&group, "PyTorch job of %llu ranks", (unsigned long long)ranks.bits);
        if (backend.kind == JSON_STRING)
            text_putf(&group, " over %.*s", STR_ARG(backend.text));
        put(json, NO_TRACK, "run_group",
            (struct arg){.type = ARG_STRING, .bits = texts_name(&json->texts, text_str(&group))});
    }
    text_free(&group);
}

/* Facts that XPlane files have too carry the names they have there. */
static const char *device_key(struct str key)
{
    static const struct {
        const char *kineto, *common;
    } keys[] = {
        {"name", "gpu_device_name"},
        {"totalGlobalMem", "memory_size"},
        {"numSms", "core_count"},
        {"computeMajor", "compute_cap_major"},
        {"computeMinor", "compute_cap_minor"},
        {"clockRate", "clock_rate"},
    };

    for (size_t i = 0; i < COUNT(keys); i++)
        if (str_equal(key, str_of(keys[i].kineto)))
            return keys[i].common;
    return NULL;
}

static track_id track_of_device(const struct trace_json *json, int64_t device)
{
    for (uint32_t i = 0; i < json->tracks.process_count; i++) {
        const struct process *process = &json->tracks.processes[i];

        if (process->is_device && process->device == device && process->track != NO_TRACK)
            return process->track;
    }
    return NO_TRACK;
}

/* One of deviceProperties; a device on which nothing ran has no track, and is told by the list. */
static void put_device(struct trace_json *json, struct json_value device)
{
    struct json members = json_inside(device, '{');
    struct json_value number = json_member(device, STR("id")), value;
    bool first = true;
    struct str key;
    struct arg id;

    if (number.kind != JSON_NUMBER || !number_read(number.text, &id) || id.type != ARG_INT64)
        return;
    track_id track = track_of_device(json, (int64_t)id.bits);

    while (track != NO_TRACK && member(&members, &first, &key, &value)) {
        const char *common = device_key(key);
        struct arg arg = texts_arg(&json->texts, value);

        if (str_equal(key, STR("id")))
            continue;
        arg.key =
            common != NULL ? sink_name(json->sink, str_of(common)) : texts_name(&json->texts, key);
        sink_property(json->sink, track, arg);
    }
}

static void put_devices(struct trace_json *json)
{
    char *room;
    struct json list = json_over(sink_text(json->sink, json->device_properties), &room);
    bool first = true;

    json_take(&list, '[', "no array");
    while (json_next_item(&list, &first)) {
        struct json_value device = json_value(&list);

        if (device.kind == JSON_NOTHING)
            break;
        put_device(json, device);
    }
    free(room);
}

void kineto_finish(struct trace_json *json)
{
    put_devices(json);
    if (json->is_kineto)
        put(json, NO_TRACK, "framework",
            (struct arg){.type = ARG_STRING, .bits = sink_name(json->sink, STR("pytorch"))});
}
