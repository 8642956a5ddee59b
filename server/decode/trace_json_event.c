/* One event's members. The order is anybody's, so everything is taken down first. */
#include <stdlib.h>

#include "decode/trace_json.h"

enum { MEMBERS_MAX = 4096 };

static bool is(struct str key, const char *name)
{
    return memcmp(key.at, name, key.count) == 0;
}

/* Where a member of its own place goes; NULL: none, it is kept as an arg. */
static struct json_value *place_of(struct event *event, struct str key)
{
    switch (key.count) {
    case 1:
        return is(key, "s") ? &event->scope : NULL;
    case 2:
        return is(key, "ts")   ? &event->ts
               : is(key, "id") ? &event->id
               : is(key, "bp") ? &event->bind_point
                               : NULL;
    case 3:
        return is(key, "dur")   ? &event->dur
               : is(key, "pid") ? &event->pid
               : is(key, "tid") ? &event->tid
               : is(key, "cat") ? &event->cat
                                : NULL;
    case 4:
        return is(key, "name") ? &event->name : NULL;
    case 7:
        return is(key, "bind_id") ? &event->bind_id : NULL;
    default:
        return NULL;
    }
}

static void add_member(struct event *event, struct str key, struct json_value value)
{
    if (event->member_count == MEMBERS_MAX) {
        event->member_left_out++;
        return;
    }
    if (event->member_count == event->member_capacity) {
        event->member_capacity = event->member_capacity == 0 ? 32 : event->member_capacity * 2;
        event->members =
            memory_resize(event->members, event->member_capacity, sizeof *event->members);
    }
    event->members[event->member_count++] = (struct member){.key = key, .value = value};
}

static void read_args(struct json *json, struct event *event)
{
    bool first = true;

    if (json_peek(json) != '{') { /* odd, and kept as it is */
        struct json_value value = json_value(json);

        add_member(event, STR("args"), value);
        return;
    }
    json->at++;
    for (struct str key; json_next_key(json, &first, &key);)
        add_member(event, key, json_value(json));
}

/* {"local": "0x1"} or {"global": "0x1"} */
static void read_id2(struct json *json, struct event *event)
{
    bool first = true;

    if (json_peek(json) != '{') {
        event->id = json_value(json);
        return;
    }
    json->at++;
    for (struct str key; json_next_key(json, &first, &key);) {
        struct json_value value = json_value(json);

        if (str_equal(key, STR("local")))
            event->local_id = value;
        else
            event->id = value;
    }
}

static bool is_true(struct json_value value)
{
    return value.text.count > 0 && (value.text.at[0] == 't' || value.text.at[0] == '1');
}

static void read_member(struct json *json, struct event *event, struct str key)
{
    if (key.count == 4 && is(key, "args")) {
        read_args(json, event);
        return;
    }
    if (key.count == 3 && is(key, "id2")) {
        read_id2(json, event);
        return;
    }
    struct json_value *place = place_of(event, key);
    struct json_value value = json_value(json);

    if (place != NULL)
        *place = value;
    else if (key.count == 2 && is(key, "ph"))
        event->phase = value.text.count > 0 ? value.text.at[0] : 0;
    else if (key.count == 7 && is(key, "flow_in"))
        event->flow_in = is_true(value);
    else if (key.count == 8 && is(key, "flow_out"))
        event->flow_out = is_true(value);
    else
        add_member(event, key, value);
}

bool event_read(struct json *json, struct event *ret)
{
    struct member *members = ret->members;
    uint32_t capacity = ret->member_capacity;
    bool first = true;

    *ret = (struct event){.members = members, .member_capacity = capacity};
    if (!json_take(json, '{', "an event is no object"))
        return false;
    for (struct str key; json_next_key(json, &first, &key); ret->field_count++)
        read_member(json, ret, key);
    return json->state == JSON_OK;
}
