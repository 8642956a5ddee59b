/* SPDX-License-Identifier: Apache-2.0 */
/* Allocators' own events, in both spellings.
 *
 *   Kineto   "[memory]" {"Device Type": 1, "Device Id": 0, "Bytes": -512, "Total Allocated": 7,
 *            "Total Reserved": 9}          what is reserved holds what is allocated
 *   JAX      "MemoryAllocation", "MemoryDeallocation" {"allocator_name": "GPU_0_bfc",
 *            "allocation_bytes": "512", "bytes_allocated": "7", "bytes_available": "2", ...}
 */
#include <stdio.h>

#include "decode/chrome/trace_json.h"

enum { UNKNOWN = -1, DEVICE_TYPE_CPU = 0 };

static const struct arg *find_arg(const struct trace_json *json, struct str key)
{
    for (uint32_t i = 0; i < json->args.count; i++)
        if (str_equal(sink_text(json->sink, json->args.args[i].key), key))
            return &json->args.args[i];
    return NULL;
}

/* A whole number, quoted or not; `otherwise` where there is none. */
static int64_t whole(const struct trace_json *json, struct str key, int64_t otherwise)
{
    const struct arg *arg = find_arg(json, key);

    if (arg == NULL || (arg->type != ARG_INT64 && arg->type != ARG_DIGITS) ||
        (arg->type == ARG_DIGITS && arg->bits > INT64_MAX))
        return otherwise;
    return (int64_t)arg->bits;
}

/* -1 is unknown, so nothing else below zero is a size. */
static int64_t size(const struct trace_json *json, struct str key)
{
    int64_t bytes = whole(json, key, UNKNOWN);

    return bytes < 0 ? UNKNOWN : bytes;
}

static struct memory_event of_kineto(struct trace_json *json)
{
    int64_t bytes = whole(json, STR("Bytes"), 0), reserved = size(json, STR("Total Reserved"));
    char name[48];
    int count =
        whole(json, STR("Device Type"), DEVICE_TYPE_CPU) == DEVICE_TYPE_CPU
            ? snprintf(name, sizeof name, "CPU")
            : snprintf(name, sizeof name, "GPU %lld", (long long)whole(json, STR("Device Id"), 0));
    struct memory_event event = {
        .allocator = texts_name(&json->texts, (struct str){name, (size_t)count}),
        .is_free = bytes < 0,
        .bytes = bytes == INT64_MIN ? UNKNOWN
                 : bytes < 0        ? -bytes
                                    : bytes,
        .bytes_allocated = size(json, STR("Total Allocated")),
        .bytes_reserved = UNKNOWN,
        .bytes_available = UNKNOWN,
        .peak_bytes = UNKNOWN,
    };

    if (event.bytes_allocated >= 0 && reserved >= event.bytes_allocated)
        event.bytes_available = reserved - event.bytes_allocated;
    return event;
}

static struct memory_event of_jax(struct trace_json *json, bool is_free)
{
    const struct arg *allocator = find_arg(json, STR("allocator_name"));
    int64_t bytes = size(json, STR("allocation_bytes"));

    return (struct memory_event){
        .allocator =
            allocator != NULL && allocator->type == ARG_STRING ? (name_id)allocator->bits : 0,
        .is_free = is_free,
        .bytes = bytes >= 0 ? bytes : size(json, STR("requested_bytes")),
        .bytes_allocated = size(json, STR("bytes_allocated")),
        .bytes_reserved = size(json, STR("bytes_reserved")),
        .bytes_available = size(json, STR("bytes_available")),
        .peak_bytes = size(json, STR("peak_bytes_in_use")),
    };
}

void memory_event_of(struct trace_json *json, int64_t at_ps)
{
    name_id name = json->event.name;
    struct memory_event event;

    if (name == json->name_memory)
        event = of_kineto(json);
    else if (name == json->name_allocation || name == json->name_deallocation)
        event = of_jax(json, name == json->name_deallocation);
    else
        return;
    event.at_ps = at_ps;
    sink_memory(json->sink, event);
}
