/* SPDX-License-Identifier: Apache-2.0 */
/* What Chrome tells beside slices, each a moment in a lane of its process.
 *
 *   N O D   an object is created, looked at, deleted
 *             {"id": "0x1", "args": {"snapshot": {...}}}
 *   v V     a dump of a process's, of the system's memory, in hexadecimal
 *             {"id": "0x2", "args": {"dumps":
 *               {"process_totals": {"resident_set_bytes": "8a3b000"}, ...}}}
 *   c       a clock that another trace shares
 *             {"args": {"sync_id": "..."}}
 *
 * Snapshots are pictures and trees of any size: large ones, and those beyond a total, are left out
 * and counted. Totals of a dump are counters too.
 */
#include "decode/chrome/trace_json.h"

enum { KEPT_MAX = 64 << 10, KEPT_TOTAL_MAX = 16 << 20 };

static const char *lane_name(char phase)
{
    return phase == 'c' ? "clock marks" : phase == 'v' || phase == 'V' ? "memory dumps" : "objects";
}

static const char *what_happened(char phase)
{
    return phase == 'N' ? "created" : phase == 'O' ? "snapshot" : phase == 'D' ? "deleted" : NULL;
}

static void put_text(struct trace_json *json, const char *key, name_id text)
{
    sink_arg(
        json->sink,
        (struct arg){.key = sink_name(json->sink, str_of(key)), .type = ARG_STRING, .bits = text});
}

/* Its args one by one; what is too large is counted. */
static void put_members(struct trace_json *json)
{
    struct json members = json_inside(json->event.raw_args, '{');
    bool first = true;

    for (struct str key; json_next_key(&members, &first, &key);) {
        struct json_value value = json_value(&members);
        bool escaped = memchr(key.at, '\\', key.count) != NULL;

        if (value.kind == JSON_NOTHING)
            return;
        if (value.text.count > KEPT_MAX || json->objects_kept + value.text.count > KEPT_TOTAL_MAX) {
            json->odd.snapshots++;
            continue;
        }
        json->objects_kept += value.text.count;
        struct arg arg = texts_arg(&json->texts, value);

        arg.key = texts_value(&json->texts, (struct json_value){JSON_STRING, escaped, key});
        sink_arg(json->sink, arg);
    }
}

static bool hex_number(struct str text, uint64_t *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.count; i++) {
        char byte = text.at[i], letter = (char)(byte | 0x20);
        bool digit = byte >= '0' && byte <= '9';

        if (i == 16 || (!digit && (letter < 'a' || letter > 'f')))
            return false;
        value = value << 4 | (uint64_t)(digit ? byte - '0' : letter - 'a' + 10);
    }
    *ret = value;
    return text.count > 0;
}

static void put_totals(struct trace_json *json, int64_t at_ps)
{
    struct json_value dumps = json_member(json->event.raw_args, STR("dumps"));
    struct json totals = json_inside(json_member(dumps, STR("process_totals")), '{');
    name_id memory = sink_name(json->sink, STR("memory"));
    bool first = true;

    for (struct str key; json_next_key(&totals, &first, &key);) {
        struct json_value value = json_value(&totals);
        uint64_t bytes;

        if (value.kind == JSON_STRING && hex_number(value.text, &bytes))
            sink_counter(
                json->sink,
                tracks_counter(json, json->event.pid, memory, texts_name(&json->texts, key), false),
                at_ps, (double)bytes);
    }
}

void objects_event(struct trace_json *json)
{
    const struct event *event = &json->event;
    const char *happened = what_happened(event->phase);
    struct sink_slice slice = {
        .name = event->name, .kind = KIND_OTHER, .flags = SLICE_INSTANT | SLICE_ASYNC};

    tracks_saw(json);
    if (!event_time(json, &slice.start_ps))
        return;
    slice.track = tracks_lane(json, tracks_find_process(json, event->pid),
                              sink_name(json->sink, str_of(lane_name(event->phase))));
    sink_slice(json->sink, slice);
    if (happened != NULL)
        put_text(json, "object", sink_name(json->sink, str_of(happened)));
    if (event->id.kind != JSON_NOTHING)
        put_text(json, "id", texts_value(&json->texts, event->id));
    if (event->cat != 0)
        put_text(json, "cat", event->cat);
    slice_args(json, json->args.args, json->args.count);
    put_members(json);
    if (event->phase == 'v')
        put_totals(json, slice.start_ps);
}
