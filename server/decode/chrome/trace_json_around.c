/* SPDX-License-Identifier: Apache-2.0 */
/* What stands around the events of the object form.
 *
 *   {"displayTimeUnit": "ns", "otherData": {"version": "1.2"}, "metadata": {...},
 *    "systemTraceEvents": "# tracer: nop\n...", "traceEvents": [...]}
 *
 * Members become properties of the file; those of otherData and metadata one by one, as
 * "metadata.NAME". What another decoder would be needed for, the kernel's own trace, is counted.
 * Who recorded is nobody's business: a user's name is left out.
 */
#include "decode/chrome/trace_json.h"

enum { PROPERTY_MAX = 64 << 10 };

static void put_value(struct trace_json *json, struct str key, name_id name,
                      struct json_value value)
{
    if (value.text.count > PROPERTY_MAX) {
        sink_note(json->sink, "left-out", NOTE_INFO, 1,
                  "\"%.*s\" beside the events holds %zu bytes and is left out.",
                  key.count < 100 ? (int)key.count : 100, key.at, value.text.count);
        return;
    }
    struct arg arg = texts_arg(&json->texts, value);

    arg.key = name;
    sink_property(json->sink, NO_TRACK, arg);
}

static void put_members(struct trace_json *json, struct str outer, struct json_value object)
{
    struct json members = json_inside(object, '{');
    struct text name = {0};
    bool first = true;

    for (struct str key; json_next_key(&members, &first, &key);) {
        struct json_value value = json_value(&members);

        if (value.kind == JSON_NOTHING)
            break;
        name.count = 0;
        text_putf(&name, "%.*s.%.*s", STR_ARG(outer), STR_ARG(key));
        bool escaped = memchr(key.at, '\\', key.count) != NULL;
        struct json_value whole = {JSON_STRING, escaped, text_str(&name)};

        put_value(json, key, texts_value(&json->texts, whole), value);
    }
    text_free(&name);
}

/* The kernel's trace is a text of lines, escaped. */
static void note_system_trace(struct trace_json *json, struct json_value value)
{
    uint64_t lines = 0;

    for (size_t i = 0; i + 1 < value.text.count; i++)
        lines += value.text.at[i] == '\\' && value.text.at[i + 1] == 'n';
    if (value.text.count > 2)
        sink_note(json->sink, "not-read", NOTE_INFO, lines > 0 ? lines : 1,
                  "Lines of the kernel's own trace (systemTraceEvents) are not read.");
}

/* Kineto's clock counts from baseTimeNanoseconds or from 1970. */
static void learn(struct trace_json *json, struct str key, struct json_value value)
{
    struct arg number;

    json->is_kineto |=
        str_equal(key, STR("schemaVersion")) || str_equal(key, STR("deviceProperties"));
    if (str_equal(key, STR("metadata")) && str_contains(value.text, STR("\"highres-ticks\"")))
        json->is_jax = true;
    if (str_equal(key, STR("distributedInfo")))
        kineto_ranks(json, value);
    if (str_equal(key, STR("deviceProperties")) && value.kind == JSON_ARRAY &&
        value.text.count <= PROPERTY_MAX)
        json->device_properties = texts_name(&json->texts, value.text);
    if (str_equal(key, STR("baseTimeNanoseconds")) && number_read(value.text, &number) &&
        number.type == ARG_INT64) {
        json->has_unix_base = true;
        json->unix_base_ns = (int64_t)number.bits;
    }
}

void around_member(struct trace_json *json, struct str key, struct json_value value)
{
    bool escaped = memchr(key.at, '\\', key.count) != NULL;

    learn(json, key, value);
    if (str_equal(key, STR("username")))
        return;
    if (str_equal(key, STR("stackFrames")))
        stacks_frames(json, value);
    else if (str_equal(key, STR("systemTraceEvents")))
        note_system_trace(json, value);
    else if ((str_equal(key, STR("metadata")) || str_equal(key, STR("otherData"))) &&
             value.kind == JSON_OBJECT)
        put_members(json, key, value);
    else
        put_value(json, key,
                  texts_value(&json->texts, (struct json_value){JSON_STRING, escaped, key}), value);
}
