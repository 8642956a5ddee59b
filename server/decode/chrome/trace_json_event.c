/* SPDX-License-Identifier: Apache-2.0 */
/* One event's members, in any order. Events of a file resemble one another, so keys are not read
 * but recognised: the key that followed last time is compared with what stands there. Numbers
 * and quoted integers are read while their end is looked for. Whatever looks odd takes the long
 * way through the scanner, which knows all of JSON. */
#include <emmintrin.h>

#include "decode/chrome/trace_json.h"

enum { KNOWN_KEYS_MAX = 4096, ARGS_MAX = 4096 };

enum { KEY_OF_EVENT, KEY_OF_ARGS, KEY_BEYOND, KEY_FIRST };

enum field {
    FIELD_ARG, /* no place of its own: kept as an arg */
    FIELD_PHASE,
    FIELD_NAME,
    FIELD_CAT,
    FIELD_TIME,
    FIELD_DURATION,
    FIELD_PID,
    FIELD_TID,
    FIELD_ARGS,
    FIELD_ID,
    FIELD_ID2,
    FIELD_BIND_ID,
    FIELD_BIND_POINT,
    FIELD_FLOW_IN,
    FIELD_FLOW_OUT,
    FIELD_SCOPE,    /* of an instant: thread, process, all */
    FIELD_ID_SCOPE, /* what an id is unique in */
};

static const struct {
    const char *key;
    enum field field;
} fields[] = {
    {"ph", FIELD_PHASE},        {"name", FIELD_NAME},         {"cat", FIELD_CAT},
    {"ts", FIELD_TIME},         {"dur", FIELD_DURATION},      {"pid", FIELD_PID},
    {"tid", FIELD_TID},         {"args", FIELD_ARGS},         {"id", FIELD_ID},
    {"id2", FIELD_ID2},         {"bind_id", FIELD_BIND_ID},   {"bp", FIELD_BIND_POINT},
    {"flow_in", FIELD_FLOW_IN}, {"flow_out", FIELD_FLOW_OUT}, {"s", FIELD_SCOPE},
    {"scope", FIELD_ID_SCOPE},
};

void known_keys_open(struct known_keys *known, struct arena *arena)
{
    *known = (struct known_keys){
        .count = KEY_FIRST,
        .keys = arena_array(arena, struct known_key, KNOWN_KEYS_MAX),
    };
}

void known_keys_close(struct known_keys *known)
{
    pair_table_free(&known->by_name);
}

static enum field field_of(struct str key)
{
    for (size_t i = 0; i < COUNT(fields); i++)
        if (str_equal(key, str_of(fields[i].key)))
            return fields[i].field;
    return FIELD_ARG;
}

/* The key of this text, made if it is new. */
static uint16_t learn_key(struct trace_json *trace, struct str raw, bool of_args)
{
    struct known_keys *known = &trace->known;
    bool escaped = memchr(raw.at, '\\', raw.count) != NULL;
    name_id name = texts_value(&trace->texts, (struct json_value){JSON_STRING, escaped, raw});
    uint32_t *index = pair_table_at(&known->by_name, name, of_args);

    if (*index != PAIR_NONE)
        return (uint16_t)*index;
    if (known->count == KNOWN_KEYS_MAX) {
        pair_table_remove(&known->by_name, name, of_args);
        known->keys[KEY_BEYOND] = (struct known_key){.name = name};
        return KEY_BEYOND;
    }
    *index = known->count++;
    struct known_key *key = &known->keys[*index];

    key->name = name;
    key->field = (uint8_t)(of_args ? FIELD_ARG : field_of(raw));
    if (raw.count + 2 <= sizeof key->text) {
        memcpy(key->text, raw.at, raw.count);
        memcpy(key->text + raw.count, "\":", 2);
        key->count = (uint8_t)(raw.count + 2);
    }
    return (uint16_t)*index;
}

static bool stands_at(const struct known_key *key, const char *at)
{
    const __m128i *here = (const __m128i *)(const void *)at;
    const __m128i *text = (const __m128i *)(const void *)key->text;
    __m128i low = _mm_cmpeq_epi8(_mm_loadu_si128(here), _mm_loadu_si128(text));
    __m128i high = _mm_cmpeq_epi8(_mm_loadu_si128(here + 1), _mm_loadu_si128(text + 1));
    uint32_t equal = (uint32_t)_mm_movemask_epi8(low) | (uint32_t)_mm_movemask_epi8(high) << 16;
    uint32_t wanted = (uint32_t)((UINT64_C(1) << key->count) - 1);

    return (equal & wanted) == wanted;
}

/* Behind at most sixteen blanks: Kineto's indentation. */
static const char *skip_indentation(const char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i blank = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                 _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));

    return at + __builtin_ctz(~(unsigned)_mm_movemask_epi8(blank));
}

/* The next member's key, with what stands behind its colon next; NULL at the end of the object or
 * after a failure. `*before` is the key that came before. */
static struct known_key *next_key(struct trace_json *trace, struct json *json, bool *first,
                                  bool of_args, uint16_t *before)
{
    struct known_key *keys = trace->known.keys;
    uint16_t guess = keys[*before].next;
    const char *at = json->at;
    struct str raw;

    if (!*first && *at == ',')
        at++;
    else if (!*first)
        at = "";
    if (*at == ' ' || *at == '\n')
        at = skip_indentation(at);
    if (*at == '"' && keys[guess].count > 0 && stands_at(&keys[guess], at + 1)) {
        json->at = at + 1 + keys[guess].count;
        *first = false;
    } else {
        if (!json_next_key(json, first, &raw))
            return NULL;
        guess = learn_key(trace, raw, of_args);
        keys[*before].next = guess;
    }
    *before = guess;
    return &keys[guess];
}

static bool ends_number(char byte)
{
    return byte == ',' || byte == '}' || byte == ' ' || byte == '\n' || byte == '\r';
}

static const char *skip_blank(const char *at)
{
    return at + (*at == ' ');
}

/* A number without sign, point or exponent, that stands right here. */
static bool read_integer(struct json *json, uint64_t *ret)
{
    const char *at = skip_blank(json->at), *start = at;
    uint64_t value = 0;

    for (; (unsigned char)(*at - '0') <= 9; at++)
        value = value * 10 + (unsigned char)(*at - '0');
    if (at == start || at - start > 18 || !ends_number(*at))
        return false;
    *ret = value;
    json->at = at;
    return true;
}

/* "123", without leading zeros. */
static bool read_digits(struct json *json, uint64_t *ret)
{
    const char *at = skip_blank(json->at), *start = at + 1;
    uint64_t value = 0;

    if (*at != '"' || (unsigned char)(*start - '1') > 8)
        return false;
    for (at = start; (unsigned char)(*at - '0') <= 9; at++)
        value = value * 10 + (unsigned char)(*at - '0');
    if (at - start > 19 || *at != '"')
        return false;
    *ret = value;
    json->at = at + 1;
    return true;
}

/* 12345.678901: at most six digits behind the point. */
static bool read_plain_micros(struct json *json, struct micros *ret, enum spelling *ret_spelling)
{
    static const int32_t scale[] = {1000000, 100000, 10000, 1000, 100, 10, 1};
    const char *at = skip_blank(json->at), *start = at;
    uint64_t whole = 0;
    int32_t ps = 0;

    for (; (unsigned char)(*at - '0') <= 9; at++)
        whole = whole * 10 + (unsigned char)(*at - '0');
    if (at == start || at - start > 18)
        return false;
    *ret_spelling = *at == '.' ? SPELLED_DECIMAL : SPELLED_INTEGER;
    if (*at == '.') {
        for (start = ++at; (unsigned char)(*at - '0') <= 9 && at - start < 7; at++)
            ps = ps * 10 + (*at - '0');
        if (at == start || at - start > 6)
            return false;
        ps *= scale[at - start];
    }
    if (!ends_number(*at))
        return false;
    *ret = (struct micros){.whole = (int64_t)whole, .ps = ps};
    json->at = at;
    return true;
}

static bool read_micros(struct json *json, struct micros *ret, enum spelling *ret_spelling)
{
    if (read_plain_micros(json, ret, ret_spelling))
        return true;
    struct json_value value = json_value(json);

    if (value.kind == JSON_NOTHING)
        return false;
    bool is_integer = memchr(value.text.at, '.', value.text.count) == NULL &&
                      memchr(value.text.at, 'e', value.text.count) == NULL;

    *ret_spelling = value.kind == JSON_STRING ? SPELLED_TEXT
                    : is_integer              ? SPELLED_INTEGER
                                              : SPELLED_DECIMAL;
    return micros_read(value.text, ret);
}

/* A text whose value is mostly the same, or one that came lately. */
static name_id read_name(struct trace_json *trace, struct json *json, struct known_key *key)
{
    struct json_value value = json_value(json);
    struct str last = sink_text(trace->sink, key->last);

    if (value.kind == JSON_NOTHING)
        return 0;
    if (value.escaped || last.count != value.text.count ||
        memcmp(last.at, value.text.at, last.count) != 0)
        key->last = texts_value(&trace->texts, value);
    return key->last;
}

/* A number, quoted or not, is the same thread: Kineto of 2021 wrote both. */
static struct key read_track_key(struct trace_json *trace, struct json *json)
{
    uint64_t integer;
    struct arg number;
    int64_t quoted;

    if (read_integer(json, &integer))
        return (struct key){.value = (int64_t)integer};
    struct json_value value = json_value(json);

    if (value.kind == JSON_NOTHING)
        return (struct key){0};
    if (value.kind == JSON_NUMBER && number_read(value.text, &number) && number.type == ARG_INT64)
        return (struct key){.value = (int64_t)number.bits};
    if (value.kind == JSON_STRING && str_to_i64(value.text, &quoted))
        return (struct key){.value = quoted};
    return (struct key){.is_text = true, .value = texts_value(&trace->texts, value)};
}

static void note_arg(struct trace_json *trace, struct arg arg)
{
    struct event *event = &trace->event;

    if (arg.key == trace->key_correlation) {
        event->correlation = arg.type == ARG_INT64 || arg.type == ARG_DIGITS ? arg.bits : 0;
    } else if (arg.key == trace->key_correlation_id) {
        event->has_correlation = true;
    } else if (arg.key == trace->key_hlo_op) {
        event->has_hlo_op = arg.type == ARG_STRING;
    } else if (arg.key == trace->key_hlo_category && arg.type == ARG_STRING) {
        event->category = (name_id)arg.bits;
    }
}

static struct arg read_value(struct trace_json *trace, struct json *json, struct known_key *key)
{
    struct arg arg = {.type = ARG_DIGITS};

    if (read_digits(json, &arg.bits))
        return arg;
    if (read_integer(json, &arg.bits)) {
        arg.type = ARG_INT64;
        return arg;
    }
    struct json_value value = json_value(json);

    if (value.kind != JSON_STRING || value.escaped || value.text.count == 0 ||
        (value.text.at[0] >= '0' && value.text.at[0] <= '9'))
        return texts_arg(&trace->texts, value);
    struct str last = sink_text(trace->sink, key->last);

    if (last.count != value.text.count || memcmp(last.at, value.text.at, last.count) != 0)
        key->last = texts_name(&trace->texts, value.text);
    return (struct arg){.type = ARG_STRING, .bits = key->last};
}

static void read_arg(struct trace_json *trace, struct json *json, struct known_key *key)
{
    struct arg_list *args = &trace->args;

    if (args->count == ARGS_MAX) {
        trace->event.args_left_out++;
        json_value(json);
        return;
    }
    if (args->count == args->capacity) {
        args->capacity = args->capacity == 0 ? 32 : args->capacity * 2;
        args->args = memory_resize(args->args, args->capacity, sizeof *args->args);
    }
    name_id name = key->name;
    struct arg arg = read_value(trace, json, key);

    if (json->state != JSON_OK)
        return;
    arg.key = name;
    args->args[args->count++] = arg;
    note_arg(trace, arg);
}

static void read_args(struct trace_json *trace, struct json *json, struct known_key *key)
{
    uint16_t before = KEY_OF_ARGS;
    bool first = true;

    if (json_peek(json) != '{') { /* odd, and kept as it is */
        read_arg(trace, json, key);
        return;
    }
    json->at++;
    for (struct known_key *next; (next = next_key(trace, json, &first, true, &before)) != NULL;)
        read_arg(trace, json, next);
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
        event->id = json_value(json);
        event->is_local = str_equal(key, STR("local"));
    }
}

static bool is_true(struct json_value value)
{
    return value.text.count > 0 && (value.text.at[0] == 't' || value.text.at[0] == '1');
}

/* Members that few events have. */
static void read_rare(struct json *json, struct event *event, enum field field)
{
    struct json_value value;

    if (field == FIELD_ID2) {
        read_id2(json, event);
        return;
    }
    value = json_value(json);
    if (field == FIELD_ID)
        event->id = value;
    else if (field == FIELD_ID_SCOPE)
        event->scope = value;
    else if (field == FIELD_BIND_ID)
        event->bind_id = value;
    else if (field == FIELD_BIND_POINT)
        event->binds_enclosing = str_equal(value.text, STR("e"));
    else if (field == FIELD_FLOW_IN)
        event->flow_in = is_true(value);
    else if (field == FIELD_FLOW_OUT)
        event->flow_out = is_true(value);
}

/* Args of other events would fill the name table; whoever needs them reads them. */
static bool has_read_args(char phase)
{
    return phase != 0 && strchr("PNODvVc", phase) == NULL;
}

/* Args that stood before the phase. */
static void read_late_args(struct trace_json *trace, const struct json *json)
{
    struct json_value raw = trace->event.raw_args;

    if (raw.kind == JSON_NOTHING || !has_read_args(trace->event.phase))
        return;
    struct json again = {.at = raw.text.at - (raw.kind == JSON_STRING), .end = json->end};
    read_args(trace, &again, &trace->known.keys[trace->event.args_key]);
}

static void read_member(struct trace_json *trace, struct json *json, struct known_key *key)
{
    struct event *event = &trace->event;
    struct json_value value;

    switch (key->field) {
    case FIELD_PHASE:
        value = json_value(json);
        event->phase = value.text.count > 0 ? value.text.at[0] : 0;
        break;
    case FIELD_NAME:
        event->name = read_name(trace, json, key);
        event->has_name = true;
        break;
    case FIELD_CAT:
        event->cat = read_name(trace, json, key);
        break;
    case FIELD_TIME:
        event->has_time = read_micros(json, &event->time, &event->spelling);
        break;
    case FIELD_DURATION:
        event->has_duration = read_micros(json, &event->duration, &(enum spelling){0});
        break;
    case FIELD_PID:
        event->pid = read_track_key(trace, json);
        break;
    case FIELD_TID:
        event->tid = read_track_key(trace, json);
        break;
    case FIELD_ARGS:
        if (has_read_args(event->phase)) {
            read_args(trace, json, key);
            break;
        }
        event->raw_args = json_value(json);
        event->args_key = (uint16_t)(key - trace->known.keys);
        break;
    case FIELD_ARG:
        read_arg(trace, json, key);
        break;
    default:
        read_rare(json, event, (enum field)key->field);
    }
}

bool event_read(struct trace_json *trace, struct json *json)
{
    uint16_t before = KEY_OF_EVENT;
    bool first = true;

    trace->event = (struct event){0};
    trace->args.count = 0;
    if (!json_take(json, '{', "an event is not an object"))
        return false;
    for (struct known_key *key; (key = next_key(trace, json, &first, false, &before)) != NULL;) {
        read_member(trace, json, key);
        trace->event.field_count++;
    }
    if (json->state == JSON_OK)
        read_late_args(trace, json);
    return json->state == JSON_OK;
}
